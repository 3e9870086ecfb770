// Custom ops: a kernel of the user's among fused ones, with operands of every kind. Where the cases run is the including
// file's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string_view>

#include "check.hpp"

namespace {

namespace si = sinter;
using checks::check;
using W = si::tensor<float, 6, 8>;

/// What a custom op computes here: each row's running sums, where a row is the last dimension.
template <class T>
void running_sums(const si::custom_array& x, const si::custom_array& out) {
  const std::int64_t columns = x.rank == 0 ? 1 : x.extents[x.rank - 1], rows = columns == 0 ? 0 : x.numel() / columns;
  for (std::int64_t r = 0; r < rows; ++r) {
    T total = 0;
    for (std::int64_t c = 0; c < columns; ++c) {
      std::int64_t at = x.rank == 0 ? 0 : c * x.strides[x.rank - 1], rest = r;
      for (int d = x.rank - 2; d >= 0; rest /= x.extents[d--]) at += rest % x.extents[d] * x.strides[d];
      out.as<T>()[r * columns + c] = total += x.as<T>()[at];
    }
  }
}
struct running_sum {
  static constexpr std::string_view name = "running_sum";
  static void host(const si::custom_call& call) {
    call.result.type == si::dtype::i64 ? running_sums<std::int64_t>(call.operands[0], call.result)
                                       : running_sums<float>(call.operands[0], call.result);
  }
};
/// a * b summed into one number, times a scalar: another dtype and shape than the operands'.
struct dot {
  static constexpr std::string_view name = "dot";
  static constexpr auto like(auto a, auto, auto) { return si::cast<double>(si::sum(a)); }
  static void host(const si::custom_call& call) {
    const auto& [a, b, scale] = call.operands;
    double total = 0;
    for (std::int64_t i = 0; i < a.numel(); ++i) total += static_cast<double>(a.as<float>()[i]) * static_cast<double>(b.as<float>()[i]);
    *call.result.as<double>() = total * static_cast<double>(*scale.as<float>());
  }
};
constexpr auto sums = [](auto x) { return si::custom<running_sum>(x); };

TEST_CASE("custom ops: between fused kernels") {
  check<W>([](auto x) { return sums(x); });
  check<W>([](auto x) { return si::exp(sums(si::sin(x)) * 0.1f) + x; });
  check<W>([](auto x) { auto y = sums(x); return std::tuple(y, sums(y), y + 1, sums(x)); });
  check<si::tensor<std::int64_t, 5>>([](auto x) { return sums(x) * 2; });
  check<si::tensor<float, 0, 4>>([](auto x) { return sums(x) + 1; });
  check<si::tensor<float, si::dyn, 3>>([](auto x) { return sums(x) + si::sum(x); }, {{4}, {}});
}

TEST_CASE("custom ops: operands that need memory") {
  check<W>([](auto x) { return std::tuple(sums(si::transpose(x)), sums(si::slice<1, 2, 5>(x)), sums(si::flip<0>(x) * 2)); });
  check<W>([](auto x) { return std::tuple(sums(si::iota<1>(x)), sums(si::full_like(x, 2.f)), sums(si::sum(x, si::axis<0>))); });
  check<si::strided_tensor<float, 6, 8>>([](auto x) { return sums(x) + x; });
  check<W, W, si::value<float>>([](auto x, auto y, auto s) { return std::tuple(si::custom<dot>(x, y * 2, s), si::custom<dot>(x, x, si::sum(y))); });
  check<si::tensor<float, 6, 6>>([](auto x) { return sums(si::matmul(x, sums(x))); });
}

TEST_CASE("custom ops: beside writes in place") {
  check<W>([](auto x) { auto y = sums(x); si::assign(x, x * 0.5f); return std::tuple(y, sums(x)); });
  check<W>([](auto x) { return std::tuple(si::assign(x, sums(x)), x + 1); });
  check<W, si::tensor<std::int64_t, 3>>([](auto x, auto i) { auto y = sums(x); return si::index_put(y, i, 0.f) + sums(x); }, {{}, {{}, {0, 5}}});
}

}  // namespace
