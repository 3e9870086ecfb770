// An output with strides.
// error: f(executor, inputs..., outputs...): an output has strides; assign into a strided input instead
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::sin(a); });
int main() {
  f(si::host, A{}, si::strided_tensor<float, 4, 64>{});
}
