// Lesson: fusion is derived. The library has no softmax kernel: written from primitives, two reductions and three
// pointwise operations are one kernel that reads each row once, and si::softmax is the same text.
// SPDX-License-Identifier: BSL-1.0
#include <sinter/sinter.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace si = sinter;

constexpr auto softmax = [](auto x) {
  auto e = si::exp(x - si::amax(x, si::axis<-1>, si::keepdim));
  return e / si::sum(e, si::axis<-1>, si::keepdim);
};

constexpr int columns = 1000;
using Scores = si::tensor<float, si::dyn, columns>;

constexpr auto f = si::fuse<Scores>(softmax);
static_assert(f.kernel_count() == 1);
static_assert(f.kernel(0).kind == si::kernel_kind::persistent_reduction);  // a row stays on chip: read once
static_assert(f.bytes_read(64) == 4 * 64 * columns && f.bytes_written(64) == 4 * 64 * columns);

// What a framework without fusion runs: one kernel for each operation, and three times the memory traffic.
constexpr auto unfused = si::fuse<si::eager, Scores>(softmax);
static_assert(unfused.kernel_count() == 5);
static_assert(unfused.bytes_read(64) + unfused.bytes_written(64) > 3 * (f.bytes_read(64) + f.bytes_written(64)));

// The name that PyTorch's users know, with what comes before and after it: still one kernel.
constexpr auto scaled =
    si::fuse<Scores, si::value<float>>([](auto x, auto scale) { return si::softmax(x * scale) * 100.0f; });
static_assert(scaled.kernel_count() == 1 && scaled.kernel(0).name == "per_fused_mul_softmax_0");

int main() {
  const int rows = 9;
  std::vector<float> x(rows * columns), y(x.size()), percent(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 5 * std::sin(0.7f * static_cast<float>(i));

  f(si::host, x, Scores(y));
  scaled(si::host, x, 1.0f, Scores(percent));

  double worst = 0;
  for (int r = 0; r < rows; ++r) {
    const float* row = x.data() + r * columns;
    const double top = *std::max_element(row, row + columns);
    double total = 0;
    for (int c = 0; c < columns; ++c) total += std::exp(row[c] - top);
    for (int c = 0; c < columns; ++c) {
      const double expected = std::exp(row[c] - top) / total;
      worst = std::fmax(worst, std::fabs(y[r * columns + c] - expected) / expected);
      worst = std::fmax(worst, std::fabs(percent[r * columns + c] / 100 - expected) / expected);
    }
  }
  std::printf("%d kernel, %d in eager; largest relative error %.2g\n", f.kernel_count(), unfused.kernel_count(), worst);
  return worst < 1e-5 ? 0 : 1;
}
