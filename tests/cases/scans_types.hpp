// Scans of every element type, and of run-time extents. Where the cases run is the including file's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

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

}  // namespace
