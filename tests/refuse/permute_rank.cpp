// An order that forgets a dimension.
// error: permute<order...>(x): this is not a permutation; name every dimension of x exactly once
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::permute<0>(a); });
