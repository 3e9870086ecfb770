// Lesson: a normalisation takes along what surrounds it. The residual before a layer norm and the activation after it
// are part of its one kernel, and an extra result of the same rows costs only its writing. SPDX-License-Identifier:
// BSL-1.0
#include <sinter/sinter.hpp>

#include <cmath>
#include <cstdio>
#include <tuple>
#include <vector>

namespace si = sinter;

constexpr int width = 768;
using Tokens = si::tensor<float, si::dim<"tokens">, width>;
using Weight = si::tensor<float, width>;

// The sum goes on to the next layer as well: the kernel writes both.
constexpr auto block = [](auto x, auto residual, auto weight, auto bias) {
  auto sum = x + residual;
  return std::tuple(sum, si::gelu(si::layer_norm(sum, weight, bias, 1e-5f)));
};
constexpr auto f = si::fuse<Tokens, Tokens, Weight, Weight>(block);
static_assert(f.kernel_count() == 1);
static_assert(f.kernel(0).name == "per_fused_add_gelu_layer_norm_0");
static_assert(f.workspace_bytes() == 0);
static_assert(si::fuse<si::eager, Tokens, Tokens, Weight, Weight>(block).kernel_count() == 3);

int main() {
  const int tokens = 11;
  std::vector<float> x(tokens * width), residual(x.size()), weight(width), bias(width), sum(x.size()), out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = std::sin(0.3f * static_cast<float>(i)), residual[i] = std::cos(0.2f * static_cast<float>(i));
  for (int c = 0; c < width; ++c)
    weight[c] = 1 + 0.001f * static_cast<float>(c), bias[c] = 0.01f * static_cast<float>(c % 7);

  f(si::host, x, residual, weight, bias, Tokens(sum), Tokens(out));

  double worst = 0;
  for (int t = 0; t < tokens; ++t) {
    double mean = 0, variance = 0;
    const auto value = [&](int c) { return static_cast<double>(x[t * width + c] + residual[t * width + c]); };
    for (int c = 0; c < width; ++c) mean += value(c) / width;
    for (int c = 0; c < width; ++c) variance += (value(c) - mean) * (value(c) - mean) / width;
    for (int c = 0; c < width; ++c) {
      const double normed = (value(c) - mean) / std::sqrt(variance + 1e-5) * weight[c] + bias[c];
      const double gelu = normed * 0.5 * (1 + std::erf(normed / std::sqrt(2.0)));
      worst = std::fmax(worst, std::fabs(out[t * width + c] - gelu));
      worst = std::fmax(worst, std::fabs(sum[t * width + c] - value(c)));
    }
  }
  std::printf("%slargest error %.2g\n", si::explain(f).c_str(), worst);
  return worst < 1e-5 ? 0 : 1;
}
