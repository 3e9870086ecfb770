// Operands whose extents do not broadcast.
// error: add(a, b): the extents do not broadcast; each pair must be equal or contain a one
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<float, 4, 128>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return a + b; });
