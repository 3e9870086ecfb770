// Two types for a function of one argument.
// error: fuse<T...>(fn): fn cannot be called with one expression per T; check the number of types
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A, A>([](auto a) { return a + a; });
