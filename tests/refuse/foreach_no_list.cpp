// Expressions where lists belong.
// error: foreach(lists..., fn): no argument is a list; give at least one std::tuple
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 64>;
constexpr auto f = si::fuse<A, A>([](auto a, auto b) {
  return si::foreach(a, b, [](auto x, auto y) { return x + y; });
});
