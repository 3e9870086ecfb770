// Scans: every op along every axis; rows of one element, of none; NaN. Element types and run-time extents are
// scans_types.hpp's matter, where the cases run the including file's.
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
TEST_CASE("scans: NaN and infinities") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  check<si::tensor<float, 6, 17>>([](auto x) {
    auto y = si::where(x > 1.75f, si::log(-si::abs(x) - 1), si::where(x < -1.5f, -inf, x));
    return std::tuple(si::cummax(y, si::axis<1>), si::cummin(y, si::axis<1>), si::cumsum(y, si::axis<1>), si::logcumsumexp(y, si::axis<1>));
  });
  check<si::tensor<float, 6, 17>>([](auto x) { return si::logcumsumexp(si::where(x > -5, -inf, x), si::axis<1>); });
  check<si::tensor<float, 6, 300>>([](auto x) { return si::logcumsumexp(x * 200, si::axis<1>); });
}

}  // namespace
