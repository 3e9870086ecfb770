// Exchanging a dimension that does not exist.
// error: transpose<a, b>(x): an axis is out of range; x needs at least two dimensions, and axes run from -rank to rank - 1
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::transpose<0, 2>(a); });
