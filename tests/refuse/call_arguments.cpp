// A call without the output.
// error: f(executor, inputs..., outputs...): the number of arguments is wrong; give every input, then every output
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::sin(a); });
int main() {
  f(si::host, A{});
}
