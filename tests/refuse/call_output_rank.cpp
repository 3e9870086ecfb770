// An output of another rank.
// error: f(executor, inputs..., outputs...): an output's rank is not the result's; check the shapes
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::sin(a); });
int main() {
  f(si::host, A{}, si::tensor<float, 256>{});
}
