// Targets that are a matrix.
// error: cross_entropy(logits, targets): the ranks do not fit; logits are [rows, classes], targets [rows]
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<std::int64_t, 4, 1>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::cross_entropy(a, b); });
