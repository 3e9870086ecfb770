// Two inferred extents.
// error: reshape<sizes...>(x): more than one extent is inferred; at most one can be
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::reshape<si::infer, 4, si::infer>(a); });
