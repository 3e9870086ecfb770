// A function that returns a number.
// error: fuse(fn): fn returns something else than an expression, a std::tuple of them, or what assign returns
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto) { return 1; });
