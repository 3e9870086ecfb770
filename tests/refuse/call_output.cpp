// An output that is a number.
// error: f(executor, inputs..., outputs...): an output is not a tensor; give a tensor over the memory to write
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::sin(a); });
int main() {
  f(si::host, A{}, 1);
}
