// The functions that several benchmark programs measure.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sinter/sinter.hpp>

namespace bench {

namespace si = sinter;

inline constexpr auto chain = [](auto x) { return si::relu(si::tanh(x * 1.5f + 0.5f) - si::sigmoid(x)) * x; };
inline constexpr auto softmax = [](auto x) { return si::softmax(x, si::axis<-1>); };
inline constexpr auto layer_norm = [](auto x, auto weight, auto bias) {
  return si::layer_norm(x, weight, bias, 1e-5f);
};
inline constexpr auto rms_norm = [](auto x, auto weight) { return si::rms_norm(x, weight, 1e-6f); };
inline constexpr auto add_rms_norm = [](auto x, auto residual, auto weight) {
  auto sum = x + residual;
  return std::tuple(sum, si::rms_norm(sum, weight, 1e-6f));
};
inline constexpr auto layer_norm_gelu = [](auto x, auto weight, auto bias) {
  return si::gelu(si::layer_norm(x, weight, bias, 1e-5f));
};
inline constexpr auto masked_softmax = [](auto x, auto mask) { return si::softmax(x * 0.125f + mask, si::axis<-1>); };
inline constexpr auto gated_rms_norm = [](auto x, auto gate, auto weight) {
  return si::rms_norm(x * si::silu(gate), weight, 1e-6f);
};
/// By x, where dy is the gradient by the norm.
inline constexpr auto rms_norm_gradient = [](auto x, auto dy, auto weight) {
  const auto mean = [](auto y) { return si::mean(y, si::axis<-1>, si::keepdim); };
  auto scale = si::rsqrt(mean(x * x) + 1e-6f);
  auto scaled = x * scale;
  auto by_scaled = dy * weight;
  return scale * (by_scaled - scaled * mean(by_scaled * scaled));
};
inline constexpr auto cross_entropy = [](auto logits, auto targets) { return si::cross_entropy(logits, targets); };
inline constexpr auto column_sum = [](auto x) { return si::sum(x, si::axis<0>); };
inline constexpr auto sum_of_squares = [](auto x) { return si::sum(x * x); };
inline constexpr auto row_and_column_sums = [](auto x) {
  return std::tuple(si::sum(x, si::axis<1>), si::sum(x, si::axis<0>));
};
inline constexpr auto row_sum = [](auto x) { return si::sum(x, si::axis<-1>); };

}  // namespace bench
