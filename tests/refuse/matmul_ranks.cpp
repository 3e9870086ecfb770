// A matrix product with a vector.
// error: matmul(a, b): an operand has fewer than two dimensions; unsqueeze a vector
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<float, 64>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::matmul(a, b); });
