// Lists of two and of one.
// error: foreach(lists..., fn): the lists differ in length; each needs a member for every call of fn
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 64>;
constexpr auto f = si::fuse<A, A>([](auto a, auto b) {
  return si::foreach(std::tuple(a, b), std::tuple(a), [](auto x, auto y) { return x + y; });
});
