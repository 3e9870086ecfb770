// A function of one argument for two lists.
// error: foreach(lists..., fn): fn cannot be called with one member of each list, in their order
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 64>;
constexpr auto f = si::fuse<A, A>([](auto a, auto b) {
  return si::foreach(std::tuple(a, b), std::tuple(b, a), [](auto x) { return x; });
});
