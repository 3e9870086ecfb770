// A ninth dimension.
// error: unsqueeze<axis>(x): the rank would exceed eight; flatten some dimensions first
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 1, 2, 1, 2, 1, 2, 1, 2>;
constexpr auto f = si::fuse<A>([](auto a) { return si::unsqueeze<0>(a); });
