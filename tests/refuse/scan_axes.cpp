// A cumulative product along two axes.
// error: cumprod(x, axis<k>): this is not one axis of x; a scan runs along one, from -rank to rank - 1
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::cumprod(a, si::axis<0, 1>); });
