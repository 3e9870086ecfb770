// An inferred extent that does not divide.
// error: reshape<sizes...>(x): the element counts differ; check the extents
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::reshape<63, si::infer>(a); });
