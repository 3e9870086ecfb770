// Dropping a dimension that holds elements.
// error: squeeze<axis>(x): the extent of this axis is not one; slice or reduce it first
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::squeeze<0>(a); });
