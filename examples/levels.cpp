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

// Any field of a preset can be changed; the change is part of the function's type.
constexpr si::options single_matmuls = [] {
  si::options o = si::max_autotune;
  o.dual_matmul = false;
  return o;
}();
static_assert(fused_with<single_matmuls>.kernel_count() == 4);

int main() {
  const int rows = 21;
  unsigned state = 1;
  const auto random = [&](std::size_t count, float scale) {
    std::vector<float> values(count);
    for (float& v : values) v = scale * (static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) / 8388608.0f - 1);
    return values;
  };
  auto x = random(rows * width, 2), wg = random(width * inner, 0.2f), bg = random(inner, 1), wu = random(width * inner, 0.2f),
       bu = random(inner, 1), wd = random(inner * width, 0.2f);
  const auto run = [&](auto f) {
    std::vector<float> out(x.size());
    f(si::host, x, wg, bg, wu, bu, wd, X(out));
    return out;
  };
  const std::vector<float> expected = run(fused_with<si::eager>);
  double worst = 0;
  for (const auto& out : {run(fused_with<si::standard>), run(fused_with<si::max_autotune>), run(fused_with<si::max_fusion>), run(fused_with<single_matmuls>)})
    for (std::size_t i = 0; i < out.size(); ++i) worst = std::fmax(worst, std::fabs(out[i] - expected[i]));
  std::printf("%s\nlargest difference between the levels %.2g\n", si::explain(fused_with<si::max_fusion>).c_str(), worst);
  return worst < 1e-4 ? 0 : 1;
}
