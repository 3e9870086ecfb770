// A function that captures a run-time value.
// error: fuse(fn): the function has captures or state; pass run-time values as value<T> or tensor arguments
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
int main() {
  float scale = 2;
  auto f = si::fuse<A>([scale](auto a) { return a * scale; });
  return f.kernel_count();
}
