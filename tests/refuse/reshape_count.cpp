// A reshape that loses elements.
// error: reshape<sizes...>(x): the element counts differ; check the extents
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::reshape<4, 63>(a); });
