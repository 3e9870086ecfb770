// An output of another element type.
// error: f(executor, inputs..., outputs...): an output's element type is not the result's; cast the result or the tensor
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::sin(a); });
int main() {
  f(si::host, A{}, si::tensor<double, 4, 64>{});
}
