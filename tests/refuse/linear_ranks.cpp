// A weight that is a vector.
// error: linear(x, weight): the weight is not a matrix; it must be [out, in]
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<float, 64>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::linear(a, b); });
