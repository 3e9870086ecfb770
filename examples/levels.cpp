// Lesson: the four levels of fusion. A preset is a template argument; the function stays as it is. Here the gated
// feed-forward block of a transformer: 8 kernels, 5, 3, 2, and one result.
// SPDX-License-Identifier: BSL-1.0
#include <sinter/sinter.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

namespace si = sinter;

constexpr auto gated = [](auto x, auto w_gate, auto b_gate, auto w_up, auto b_up, auto w_down) {
  auto normed = si::layer_norm(x, 1e-5f);
  auto gate = si::matmul(normed, w_gate) + b_gate;
  auto up = si::matmul(normed, w_up) + b_up;
  return si::matmul(si::silu(gate) * up, w_down);
};

constexpr int width = 64, inner = 160;
using X = si::tensor<float, si::dyn, width>;
using Up = si::tensor<float, width, inner>;
using Bias = si::tensor<float, inner>;
using Down = si::tensor<float, inner, width>;

template <si::options Preset>
constexpr auto fused_with = si::fuse<Preset, X, Up, Bias, Up, Bias, Down>(gated);

static_assert(fused_with<si::eager>.kernel_count() == 8);         // one kernel per operation
static_assert(fused_with<si::standard>.kernel_count() == 5);      // all but the matmuls, which a library runs
static_assert(fused_with<si::max_autotune>.kernel_count() == 3);  // matmuls with their surroundings, two of them as one
static_assert(fused_with<si::max_fusion>.kernel_count() == 2);    // the layer norm enters the matmul

int main() {
  const int rows = 21, last = (rows - 1) * width;
  std::vector<float> x(rows * width), wg(width * inner), bg(inner), wu(wg), bu(bg), wd(wg);
  float phase = 0;
  for (auto* v : {&x, &wg, &bg, &wu, &bu, &wd})
    for (float& e : *v) e = 0.3f * std::sin(phase += 1.3f);

  // The last row by plain loops, in double.
  double mean = 0, variance = 0, expected[width] = {};
  for (int k = 0; k < width; ++k) mean += x[last + k] / double(width);
  for (int k = 0; k < width; ++k) variance += std::pow(x[last + k] - mean, 2) / width;
  for (int i = 0; i < inner; ++i) {
    double gate = bg[i], up = bu[i];
    for (int k = 0; k < width; ++k) gate += (x[last + k] - mean) / std::sqrt(variance + 1e-5) * wg[k * inner + i];
    for (int k = 0; k < width; ++k) up += (x[last + k] - mean) / std::sqrt(variance + 1e-5) * wu[k * inner + i];
    for (int c = 0; c < width; ++c) expected[c] += gate / (1 + std::exp(-gate)) * up * wd[i * width + c];
  }

  const auto is_right = [&](auto f) {
    std::vector<float> out(x.size());
    f(si::host, x, wg, bg, wu, bu, wd, X(out));
    double error = 0;
    for (int c = 0; c < width; ++c) error = std::fmax(error, std::fabs(out[last + c] - expected[c]));
    std::printf("%d kernels, largest error %.2g\n", f.kernel_count(), error);
    return error < 1e-5;
  };
  const bool right[] = {is_right(fused_with<si::eager>), is_right(fused_with<si::standard>),
                        is_right(fused_with<si::max_autotune>), is_right(fused_with<si::max_fusion>)};
  return right[0] && right[1] && right[2] && right[3] ? 0 : 1;
}
