// Slicing backwards.
// error: slice<axis, start, stop, step>(x): the step is not positive; flip reverses an axis
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::slice<1, 0, 64, -1>(a); });
