// Targets that are probabilities.
// error: nll_loss(log_probs, targets): the targets have no integer element type; they are class numbers
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<float, 4>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::nll_loss(a, b); });
