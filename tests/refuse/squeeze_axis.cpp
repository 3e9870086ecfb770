// Dropping a dimension that does not exist.
// error: squeeze<axis>(x): the axis is out of range; it runs from -rank to rank - 1
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::squeeze<2>(a); });
