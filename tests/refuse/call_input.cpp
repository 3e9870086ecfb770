// An input that is a number.
// error: f(executor, inputs..., outputs...): an input does not convert to its tensor type; check the order of the arguments
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::sin(a); });
int main() {
  f(si::host, 1, A{});
}
