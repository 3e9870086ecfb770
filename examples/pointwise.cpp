// Lesson: a chain of pointwise operations is one kernel, whatever its length, as in PyTorch's vocabulary. Extents
// broadcast, dtypes promote, a literal is a run-time argument, and a function may return several results.
// SPDX-License-Identifier: BSL-1.0
#include <sinter/sinter.hpp>

#include <cmath>
#include <cstdio>
#include <tuple>
#include <vector>

namespace si = sinter;

constexpr int rows = 100, columns = 37;
using Matrix = si::tensor<float, rows, columns>;
using Row = si::tensor<float, columns>;
using Mask = si::tensor<bool, rows, 1>;

// Eight operations on three inputs, two results; si::value<float> is a number passed at each call.
constexpr auto f = si::fuse<Matrix, Row, Mask, si::value<float>>([](auto x, auto bias, auto keep, auto temperature) {
  auto y = si::tanh((x + bias) / temperature);
  auto kept = si::where(keep, y * 2.0f, 0.0f);
  return std::tuple(kept, si::abs(kept) > 0.5f);
});
static_assert(f.kernel_count() == 1);
static_assert(f.kernel(0).name == "poi_fused_abs_add_div_gt_mul_tanh_where_0");

// Inputs are read once and results written once; nothing is stored between the operations.
static_assert(f.bytes_read() == 4 * (rows * columns + columns) + rows);
static_assert(f.bytes_written() == 4 * rows * columns + rows * columns);

int main() {
  std::vector<float> x(rows * columns), bias(columns), result(x.size());
  bool keep[rows], large[rows * columns];
  for (int i = 0; i < rows * columns; ++i) x[i] = 0.01f * static_cast<float>(i % 300) - 1.5f;
  for (int c = 0; c < columns; ++c) bias[c] = 0.1f * static_cast<float>(c);
  for (int r = 0; r < rows; ++r) keep[r] = r % 3 != 0;
  const float temperature = 1.7f;

  f(si::host, x, bias, Mask(keep), temperature, Matrix(result), si::tensor<bool, rows, columns>(large));

  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      const int i = r * columns + c;
      const float expected = keep[r] ? 2 * std::tanh((x[i] + bias[c]) / temperature) : 0;
      if (std::fabs(result[i] - expected) > 1e-6f || large[i] != (std::fabs(result[i]) > 0.5f)) {
        std::printf("wrong at %d, %d: %g, expected %g\n", r, c, result[i], expected);
        return 1;
      }
    }
  std::printf("%s", si::explain(f).c_str());
}
