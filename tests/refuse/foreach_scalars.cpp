// A list of numbers alone.
// error: foreach(lists..., fn): no list has an expression among its members; there is nothing to compute
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 64>;
constexpr auto f = si::fuse<A, A>([](auto a, auto b) {
  return std::tuple(a + b, si::foreach(std::tuple(1.f, 2.f), [](auto x) { return x; }));
});
