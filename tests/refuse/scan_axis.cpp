// A cumulative sum along an axis that does not exist.
// error: cumsum(x, axis<k>): this is not one axis of x; a scan runs along one, from -rank to rank - 1
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::cumsum(a, si::axis<2>); });
