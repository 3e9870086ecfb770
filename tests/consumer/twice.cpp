// The second translation unit: what the headers define must be inline.
#include <sinter/sinter.hpp>

namespace si = sinter;

float elsewhere(float value) {
  using S = si::tensor<float, 1>;
  constexpr auto f = si::fuse<S>([](auto x) { return si::relu(x) + x; });
  float result = 0;
  f(si::host, S{&value}, S{&result});
  return result;
}
