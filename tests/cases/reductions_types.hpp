// Reductions: dtypes; empty rows; NaN. Where the cases run is the including file's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <limits>

#include "check.hpp"
#include "folds.hpp"

namespace {

namespace si = sinter;
using checks::check;

TEST_CASE("reductions: element types") {
  check<si::tensor<double, 6, 17>>(folds<1>);
  check<si::tensor<double, 6, 17>>(derived_folds<0>);
  check<si::tensor<si::f16, 6, 17>>(folds<0>, {{}, {{0.75, 1.25}}});
  check<si::tensor<si::bf16, 6, 17>>(folds<1>, {{}, {{0.75, 1.25}}});
  check<si::tensor<si::bf16, 6, 17>>(derived_folds<1>);
  check<si::tensor<std::int32_t, 6, 17>>(folds<1>, {{}, {{-3, 3}}});
  check<si::tensor<std::int64_t, 17, 6>>(folds<0>, {{}, {{-9e17, 9e17}}});
  check<si::tensor<std::int8_t, 6, 17>>(folds<>, {{}, {{-100, 100}}});
  check<si::tensor<std::uint8_t, 6, 17>>(folds<1>, {{}, {{0, 255}}});
  check<si::tensor<std::uint8_t, 6, 17>>(logical_folds<1>, {{}, {{0, 255}}});
  check<si::tensor<std::int8_t, 6, 3>>(folds<1>, {{}, {{-100, 100}}});
  check<si::tensor<std::int32_t, 6, 17>>(derived_folds<1>, {{}, {{-30, 30}}});
  check<si::tensor<bool, 6, 17>>(folds<1>);
  check<si::tensor<bool, 6, 3>>(folds<1>);
}
TEST_CASE("reductions: a mean of more elements than f16 can count") {
  check<si::tensor<si::f16, 70000>>([](auto x) { return std::tuple(si::mean(x), si::var(x)); }, {{}, {{0.5, 1}}});
}
TEST_CASE("reductions: empty rows, no rows") {
  check<si::tensor<float, 4, 0>>(folds<1>);
  check<si::tensor<float, 4, 0>>(derived_folds<1>);
  check<si::tensor<float, 0, 4>>(folds<1>);
  check<si::tensor<float, 0, 9>>(folds<0>);
  check<si::tensor<float, 0>>(folds<>);
  check<si::tensor<std::int32_t, 4, 0>>([](auto x) { return std::tuple(si::sum(x, si::axis<1>), si::amax(x, si::axis<1>), si::amin(x, si::axis<1>), si::any(x, si::axis<1>), si::all(x, si::axis<1>)); });
  check<si::tensor<float, 4, 0, 3>>([](auto x) { return std::tuple(si::sum(x, si::axis<1>) + 1, si::softmax(x, si::axis<1>), si::sum(x, si::axis<0, 2>)); });
  check<si::tensor<float>>(folds<>);
  check<si::tensor<float>>([](auto x) { return std::tuple(si::var<0>(x), si::argmax(x), si::softmax(si::unsqueeze<0>(x))); });
}
TEST_CASE("reductions: NaN and infinities") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  check<si::tensor<float, 6, 17>>([](auto x) {
    auto y = si::where(x > 1.5f, si::log(-si::abs(x) - 1), si::where(x < -1.5f, -inf, x));
    return std::tuple(si::amax(y, si::axis<1>), si::amin(y, si::axis<1>), si::argmax(y, si::axis<1>), si::argmin(y, si::axis<1>), si::sum(y, si::axis<0>));
  });
  check<si::tensor<float, 6, 17>>([](auto x) { auto y = si::where(x > -5, -inf, x); return std::tuple(si::logsumexp(y, si::axis<1>), si::amax(y, si::axis<1>)); });
  check<si::tensor<float, 6, 9>>([](auto x) { return std::tuple(si::argmax(si::floor(x), si::axis<1>), si::argmin(si::floor(x), si::axis<0>)); });
}

}  // namespace
