// Another number of targets than rows.
// error: nll_loss(log_probs, targets): the number of rows differs; log_probs are [rows, classes], targets [rows]
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<std::int64_t, 5>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::nll_loss(a, b); });
