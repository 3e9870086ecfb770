// Merging dimensions backwards.
// error: flatten<first, last>(x): the axes are out of range or in the wrong order; both are inclusive
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::flatten<1, 0>(a); });
