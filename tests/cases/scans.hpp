// Scans: every op along every axis; dtypes; what surrounds them in one kernel; rows of all lengths, long ones, empty ones,
// ones of one element; NaN. Where the cases run is the including file's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <limits>

#include "check.hpp"

namespace {

namespace si = sinter;
using checks::check;

template <long Axis>
constexpr auto scans = [](auto x) {
  constexpr auto a = si::axis<Axis>;
  return std::tuple(si::cumsum(x, a), si::cumprod(x, a), si::cummax(x, a), si::cummin(x, a), si::logcumsumexp(x, a));
};
template <long Axis>
constexpr auto exact_scans = [](auto x) {
  constexpr auto a = si::axis<Axis>;
  return std::tuple(si::cumsum(x, a), si::cumprod(x, a), si::cummax(x, a), si::cummin(x, a));
};
template <long Axis>
constexpr auto cumsum = [](auto x) { return si::cumsum(x, si::axis<Axis>); };

TEST_CASE("scans: rows, columns, an axis in the middle") {
  check<si::tensor<float, 6, 17>>(scans<1>);
  check<si::tensor<float, 6, 17>>(scans<0>);
  check<si::tensor<float, 6, 17>>(scans<-1>);
  check<si::tensor<float, 3, 9, 10>>(scans<1>);
  check<si::tensor<float, 3, 9, 2, 10>>(scans<-2>);
  check<si::tensor<float, 40>>(scans<0>);
  check<si::tensor<float, 1, 40>>(scans<1>);
  check<si::tensor<float, 40, 1>>(scans<0>);
}
TEST_CASE("scans: of one element, of none") {
  check<si::tensor<float, 6, 1>>(scans<1>);
  check<si::tensor<float, 1, 6>>(scans<0>);
  check<si::tensor<std::int32_t, 1, 6>>([](auto x) { return si::cumsum(x, si::axis<0>) + 1; });
  check<si::tensor<float, 6, 0>>(scans<1>);
  check<si::tensor<float, 0, 6>>(scans<1>);
  check<si::tensor<float, 0, 6>>(scans<0>);
}
TEST_CASE("scans: element types") {
  check<si::tensor<double, 6, 17>>(scans<1>);
  check<si::tensor<double, 6, 17>>(scans<0>);
  check<si::tensor<si::f16, 6, 17>>(scans<1>, {{}, {{0.75, 1.25}}});
  check<si::tensor<si::bf16, 6, 48>>(scans<1>, {{}, {{0.9, 1.1}}});
  check<si::tensor<si::bf16, 17, 16>>(scans<0>, {{}, {{0.75, 1.25}}});
  check<si::tensor<std::int32_t, 6, 17>>(exact_scans<1>, {{}, {{-3, 3}}});
  check<si::tensor<std::int64_t, 17, 6>>(exact_scans<0>, {{}, {{-9e17, 9e17}}});
  check<si::tensor<std::int8_t, 6, 64>>(exact_scans<1>, {{}, {{-100, 100}}});
  check<si::tensor<std::uint8_t, 6, 64>>(exact_scans<1>, {{}, {{0, 255}}});
  check<si::tensor<bool, 6, 17>>(exact_scans<1>);
  check<si::tensor<std::int32_t, 6, 17>>([](auto x) { return si::logcumsumexp(x, si::axis<1>); }, {{}, {{-30, 30}}});
}
TEST_CASE("scans: run-time extents") {
  using Rows = si::tensor<float, si::dyn, 40>;
  using Both = si::tensor<float, si::dyn, si::dyn>;
  for (const std::int64_t n : {0, 1, 2, 33}) {
    check<Rows>(scans<1>, {{n}, {}});
    check<Rows>(scans<0>, {{n}, {}});
  }
  for (const std::int64_t length : {0, 1, 5, 31, 32, 129, 1000}) {
    check<Both>(scans<1>, {{3, length}, {{-1, 1}}});
    check<Both>(scans<0>, {{length, 3}, {{-1, 1}}});
  }
  check<si::tensor<si::bf16, si::dyn, si::dyn>>(cumsum<1>, {{4, 2056}, {{0, 1}}});
  check<si::strided_tensor<float, si::dyn, 17>>(scans<1>, {{9}, {}});
  check<si::strided_tensor<float, 6, 17>>(scans<0>);
}
TEST_CASE("scans: with what surrounds them") {
  using X = si::tensor<float, 12, 40>;
  check<X>([](auto x) { return si::exp(si::cumsum(x * 0.25f, si::axis<1>) - 3) + x; });
  check<X>([](auto x) { return si::exp(si::cumsum(x * 0.25f, si::axis<0>) - 3) + x; });
  check<X>([](auto x) { return std::tuple(si::cumsum(x, si::axis<1>), si::sum(x, si::axis<1>), si::cummax(x * x, si::axis<1>)); });
  check<X>([](auto x) { return std::tuple(si::cumsum(x, si::axis<0>), si::sum(x, si::axis<0>), si::cummax(x * x, si::axis<0>)); });
  check<X>([](auto x) { return si::softmax(si::cumsum(x, si::axis<1>), si::axis<1>); });
  check<X>([](auto x) { return si::softmax(si::cumsum(x, si::axis<0>), si::axis<0>); });
  check<X>([](auto x) { return si::cumsum(si::softmax(x, si::axis<1>), si::axis<1>); });
  check<X>([](auto x) { return si::cumsum(x / si::sum(x * x, si::axis<0>, si::keepdim), si::axis<0>); });
  check<X>([](auto x) { return si::cumsum(si::cummax(si::cumsum(x, si::axis<1>) + 1, si::axis<1>) * x, si::axis<1>); });
  check<X>([](auto x) { return si::cumsum(si::cummax(si::cumsum(x, si::axis<0>) + 1, si::axis<0>) * x, si::axis<0>); });
  check<X>([](auto x) { return si::cumsum(si::cumsum(x, si::axis<0>), si::axis<1>); });
  check<X>([](auto x) { return si::flip<1>(si::cumsum(si::flip<1>(x), si::axis<1>)); });
  check<X>([](auto x) { return si::transpose(si::cumsum(si::transpose(x), si::axis<0>)) - si::cumsum(x, si::axis<0>); });
  check<X>([](auto x) { auto c = si::cumsum(x, si::axis<1>); return si::reshape<24, 20>(c) + si::sum(c); });
  check<X>([](auto x) { auto c = si::cumsum(x, si::axis<1>); return c - si::sum(x, si::axis<1>, si::keepdim) + si::slice<1, 39>(c); });
  check<X, si::tensor<float, 40>>([](auto x, auto w) { return si::cumsum(x * w, si::axis<1>) * w + si::cumsum(w, si::axis<0>); });
  check<X>([](auto x) { return si::cumsum(si::where(x > 0.5f, 1, 0), si::axis<1>); });
  check<si::tensor<bool, 12, 40>>([](auto m) { return si::where(m, si::cumsum(m, si::axis<1>) - 1, -1); });
  check<si::tensor<float, 5, 8>>([](auto x) { return si::cumsum(si::broadcast_to(si::slice<1, 0, 1>(x), x), si::axis<1>); });
  check<si::tensor<float, 6, 16>, si::tensor<float, 16, 8>>([](auto x, auto w) { return si::matmul(si::cumsum(x, si::axis<1>), w) + si::cumsum(si::matmul(x, w), si::axis<1>); });
  check<X>([](auto x) { return std::tuple(si::cumsum(x, si::axis<1>), si::cumsum(x, si::axis<0>), si::cumsum(x + 1, si::axis<0>)); });
}
TEST_CASE("scans: assigned, gathered at, concatenated") {
  using X = si::tensor<float, 12, 40>;
  check<X>([](auto x) { return std::tuple(si::assign(x, si::cumsum(x, si::axis<1>)), x * 2); });
  check<X>([](auto x) { return si::assign(x, si::cumsum(x, si::axis<0>)); });
  check<X, si::tensor<bool, 12>>([](auto x, auto m) { return si::embedding(x, si::cumsum(m, si::axis<0>) - 1); });
  check<X>([](auto x) { return si::concat<1>(si::cumsum(x, si::axis<1>), x); });
  check<X>([](auto x) { return si::pad<1, 2, 3>(si::cumsum(si::pad<1, 1, 0>(x), si::axis<1>)); });
}
TEST_CASE("scans: NaN and infinities") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  check<si::tensor<float, 6, 17>>([](auto x) {
    auto y = si::where(x > 1.75f, si::log(-si::abs(x) - 1), si::where(x < -1.5f, -inf, x));
    return std::tuple(si::cummax(y, si::axis<1>), si::cummin(y, si::axis<1>), si::cumsum(y, si::axis<1>), si::logcumsumexp(y, si::axis<1>));
  });
  check<si::tensor<float, 6, 17>>([](auto x) { return si::logcumsumexp(si::where(x > -5, -inf, x), si::axis<1>); });
  check<si::tensor<float, 6, 300>>([](auto x) { return si::logcumsumexp(x * 200, si::axis<1>); });
}
TEST_CASE("scans: long rows and columns") {
  const checks::data small{{}, {{0, 1}}};
  check<si::tensor<float, 3, 4096>>(scans<1>, {{}, {{0.999, 1.001}}});
  check<si::tensor<float, 3, 20011>>(cumsum<1>, small);
  check<si::tensor<float, 3, 20012>>(cumsum<1>, small);
  check<si::tensor<float, 20011, 3>>(cumsum<0>, small);
  check<si::tensor<float, 5000, 40>>(cumsum<0>, small);
  check<si::tensor<std::int64_t, 70001>>(cumsum<0>, {{}, {{-9e17, 9e17}}});
  check<si::tensor<float, 300000>>([](auto x) { return si::exp(-si::cumsum(x, si::axis<0>)) + x; }, small);
  check<si::tensor<float, 2, 20000>>([](auto x) { return std::tuple(si::softmax(si::cumsum(x - 0.5f, si::axis<1>) * 0.01f), si::cummax(x, si::axis<1>)); }, small);
  check<si::tensor<float, 2, 20000>>([](auto x) { return si::cumsum(si::cumsum(x, si::axis<1>) * 0.001f, si::axis<1>); }, small);
  check<si::tensor<float, 20000, 2>>([](auto x) { return si::cumsum(si::cumsum(x, si::axis<0>) * 0.001f, si::axis<0>); }, small);
  check<si::tensor<si::bf16, 2, 40000>>([](auto x) { return si::cumsum(x, si::axis<1>) / 100; }, small);
  check<si::tensor<std::int32_t, si::dyn>>(cumsum<0>, {{1 << 17}, {{-9, 9}}});
}

}  // namespace
