// Repeating a dimension that is not one.
// error: broadcast_to(x, like): an extent of x is neither one nor that of the target; check the shapes
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::broadcast_to<8, 64>(a); });
