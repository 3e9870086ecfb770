// Someone else's program: one fused function, called from two translation units.
#include <sinter/sinter.hpp>

namespace si = sinter;

float elsewhere(float value);  // twice.cpp

using V = si::tensor<float, 4>;
constexpr auto f = si::fuse<V>([](auto x) { return si::relu(x) + x; });
static_assert(f.kernel_count() == 1);

int main() {
  float in[4] = {-1, 0, 1, 2}, out[4] = {};
  f(si::host, V{in}, V{out});
  const float expected[4] = {-1, 0, 2, 4};
  for (int i = 0; i < 4; ++i)
    if (out[i] != expected[i] || elsewhere(in[i]) != expected[i]) return 1;
  return 0;
}
