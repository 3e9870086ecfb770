// Counting from the end of a run-time extent.
// error: slice<axis, start, stop, step>(x): the extent is known only at run time; there only slice<axis, start> with start >= 0 works
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, si::dyn, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::slice<0, -8>(a); });
