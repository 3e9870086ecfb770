// Operands of which the third does not broadcast.
// error: where(a, b, c): the extents do not broadcast; each pair must be equal or contain a one
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<float, 3, 1>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::where(a > 0.f, a, b); });
