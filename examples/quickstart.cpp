// The whole experience: the math once, a plan that the compiler checks, a call, a receipt.
// SPDX-License-Identifier: BSL-1.0
#include <cmath>
#include <iostream>
#include <vector>

// [quickstart]
#include <sinter/sinter.hpp>
namespace si = sinter;

constexpr auto norm_gelu = [](auto x, auto weight) {  // the math, once
  return si::gelu(si::rms_norm(x, weight, 1e-6f));
};

using Tokens = si::tensor<si::bf16, si::dyn, 4096>;  // extents: static, or known at run time
using Weight = si::tensor<si::bf16, 4096>;

constexpr auto f = si::fuse<Tokens, Weight>(norm_gelu);  // scheduled here, by the C++ compiler
static_assert(f.kernel_count() == 1);
static_assert(f.kernel(0).name == "per_fused_gelu_rms_norm_0");
static_assert(f.bytes_read(1000) == (1000 * 4096 + 4096) * 2);  // of 1000 tokens; each is read once
static_assert(f.workspace_bytes() == 0);
// [/quickstart]

int main() {
  const int tokens = 3;
  std::vector<si::bf16> x(tokens * 4096), weight(4096), out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = si::bf16(std::sin(0.1f * static_cast<float>(i)));
  for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = si::bf16(1 + 0.5f * std::cos(static_cast<float>(i)));

  // [call]
  f(si::host, Tokens(x), weight, Tokens(out));  // on the CPU; with a cudaStream_t in its place, on the GPU
  std::cout << si::explain(f);                  // the receipt, in words
  // [/call]

  double worst = 0;
  for (int t = 0; t < tokens; ++t) {
    double squares = 0;
    for (int i = 0; i < 4096; ++i) squares += std::pow(static_cast<float>(x[t * 4096 + i]), 2);
    for (int i = 0; i < 4096; ++i) {
      const double v =
          static_cast<float>(x[t * 4096 + i]) / std::sqrt(squares / 4096 + 1e-6) * static_cast<float>(weight[i]);
      const double gelu = v * 0.5 * (1 + std::erf(v / std::sqrt(2.0)));
      worst = std::fmax(worst, std::fabs(static_cast<float>(out[t * 4096 + i]) - gelu) / (1 + std::fabs(gelu)));
    }
  }
  std::cout << "largest relative error " << worst << " (bf16 rounds to 0.0039)\n";
  return worst < 0.004 ? 0 : 1;
}
