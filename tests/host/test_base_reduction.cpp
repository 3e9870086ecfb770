// The folds: cut anywhere and combined in any order they give what a plain loop gives.
// SPDX-License-Identifier: BSL-1.0
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include "sinter/base/op.hpp"

using namespace sinter;

namespace {

constexpr float a_nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();

/// Folds `parts` interleaved subsequences and combines them, the last first.
template <class Op, class T>
auto fold(const std::vector<T>& row, int parts = 1) {
  auto total = Op::template init<T>();
  for (int p = parts - 1; p >= 0; --p) {
    auto part = Op::template init<T>();
    for (std::size_t i = static_cast<std::size_t>(p); i < row.size(); i += static_cast<std::size_t>(parts))
      Op::template step<T>(part, row[i], static_cast<std::int64_t>(i));
    total = Op::template combine<T>(total, part);
  }
  return Op::template finish<T>(total);
}

}  // namespace

TEST_CASE("sums and products") {
  CHECK(fold<ops::sum, float>({}) == 0.0f);
  CHECK(fold<ops::prod, float>({}) == 1.0f);
  CHECK(fold<ops::sum, std::uint8_t>({200, 200, 200}, 2) == 600);
  CHECK(fold<ops::sum, bool>({true, true, false}) == 2);
  CHECK(fold<ops::prod, std::int32_t>({INT32_MAX, 2}) == std::int64_t(INT32_MAX) * 2);
  static_assert(std::is_same_v<decltype(fold<ops::sum, std::int32_t>({})), std::int64_t>);
  static_assert(std::is_same_v<decltype(fold<ops::sum, float>({})), float>);
}

TEST_CASE("extremes let NaN through") {
  for (int parts : {1, 2, 3, 5}) {
    CHECK(fold<ops::amax, float>({1, 5, -2, 4}, parts) == 5.0f);
    CHECK(fold<ops::amin, float>({1, 5, -2, 4}, parts) == -2.0f);
    CHECK(std::isnan(fold<ops::amax, float>({1, a_nan, 3}, parts)));
    CHECK(std::isnan(fold<ops::amin, float>({a_nan, 2, 3}, parts)));
    CHECK(fold<ops::amax, float>({-inf, -inf}, parts) == -inf);
    CHECK(fold<ops::amin, std::uint8_t>({9, 7}, parts) == 7);
    CHECK(fold<ops::amax, bool>({false, true}, parts));
  }
  CHECK(fold<ops::amax, std::int32_t>({}) == INT32_MIN);
}

TEST_CASE("sums of exponentials under the greatest") {
  for (int parts : {1, 2, 3, 5}) {
    CHECK(fold<ops::sumexp, double>({1, 3, -2, 3, 700}, parts) == doctest::Approx(1));
    CHECK(fold<ops::sumexp, double>({700, 3, 700, 699}, parts) == doctest::Approx(2 + std::exp(-1.0)));
    CHECK(fold<ops::sumexp, double>({0, 1, 2, 3, 4, 5}, parts) ==
          doctest::Approx((1 - std::exp(-6.0)) / (1 - std::exp(-1.0))));
    CHECK(fold<ops::sumexp, float>({-inf, 1, -inf, 1}, parts) == doctest::Approx(2));
    CHECK(std::isnan(fold<ops::sumexp, float>({1, a_nan, 3}, parts)));
    CHECK(std::isnan(fold<ops::sumexp, float>({1, inf, 3}, parts)));  // inf - inf
    CHECK(std::isnan(fold<ops::sumexp, float>({-inf, -inf}, parts)));
  }
  CHECK(fold<ops::sumexp, float>({}) == 0.0f);
}

TEST_CASE("any and all") {
  CHECK(!fold<ops::any, float>({}));
  CHECK(fold<ops::all, float>({}));
  CHECK(fold<ops::any, float>({0, a_nan}, 2));
  CHECK(!fold<ops::any, std::int32_t>({0, 0, 0}, 2));
  CHECK(!fold<ops::all, std::int32_t>({1, 2, 0}, 2));
  CHECK(fold<ops::all, bool>({true, true}, 2));
}

TEST_CASE("arg extremes: NaN first, then the value, then the smallest index") {
  for (int parts : {1, 2, 3, 4, 7}) {
    CHECK(fold<ops::argmax, float>({1, 5, 5, 4, 5}, parts) == 1);
    CHECK(fold<ops::argmin, float>({3, 2, 7, 2}, parts) == 1);
    CHECK(fold<ops::argmax, float>({1, a_nan, inf, a_nan}, parts) == 1);
    CHECK(fold<ops::argmin, float>({-inf, 2, a_nan}, parts) == 2);
    CHECK(fold<ops::argmax, float>({-inf, -inf}, parts) == 0);
    CHECK(fold<ops::argmin, float>({inf, inf}, parts) == 0);
    CHECK(fold<ops::argmax, std::int32_t>({INT32_MIN, INT32_MIN}, parts) == 0);
    CHECK(fold<ops::argmin, std::uint8_t>({255, 255, 3, 3}, parts) == 2);
    CHECK(fold<ops::argmax, bool>({false, true, true}, parts) == 1);
  }
  CHECK(fold<ops::argmax, float>({}) == 0);
}

TEST_CASE("m2 does not cancel and does not care how it is cut") {
  std::vector<float> row;
  for (int i = 0; i < 1000; ++i) row.push_back(10000.0f + static_cast<float>((i * 7919) % 1000) * 0.001f);
  double mean = 0, exact = 0;
  for (float x : row) mean += x;
  mean /= 1000;
  for (float x : row) exact += (x - mean) * (x - mean);
  for (int parts : {1, 2, 32, 999, 1000, 1500})
    CHECK(fold<ops::m2>(row, parts) == doctest::Approx(exact).epsilon(2e-3));
  CHECK(fold<ops::m2, float>({}) == 0.0f);
  CHECK(fold<ops::m2, float>({3}, 4) == 0.0f);
  CHECK(fold<ops::m2, double>({1, 2, 3, 4}, 3) == doctest::Approx(5.0));
  CHECK(std::isnan(fold<ops::m2, float>({1, a_nan}, 2)));
}

// Arrays fold to what their elements do one by one.
template <class Op, class T, int N>
void check_array(const T (&values)[N], const bool (&in)[N]) {
  auto expected = Op::template init<T>();
  for (int i = 0; i < N; ++i)
    if (in[i]) Op::template step<T>(expected, values[i], i);
  auto taken = Op::template init<T>();
  Op::template take<T>(taken, values, in);
  const auto found = Op::template finish<T>(taken);
  const auto wanted = Op::template finish<T>(expected);
  INFO("found " << found << ", one by one " << wanted);
  CHECK((std::isnan(wanted) ? std::isnan(found) : found == doctest::Approx(wanted).epsilon(1e-5)));
  // In the company of other states too.
  auto one = Op::template init<T>();
  Op::template step<T>(one, T(2), 0);
  const auto both = Op::template finish<T>(Op::template combine<T>(one, expected));
  Op::template take<T>(one, values, in);
  const auto joined = Op::template finish<T>(one);
  CHECK((std::isnan(both) ? std::isnan(joined) : joined == doctest::Approx(both).epsilon(1e-5)));
}

TEST_CASE("arrays fold to what their elements do one by one") {
  const bool all[] = {true, true, true, true}, none[] = {false, false, false, false},
             some[] = {true, true, false, false};
  const float rows[][4] = {{1, 2, 3, 4},
                           {-5, 700, 3, 3},
                           {10000.25f, 10000.5f, 10000, 10001},
                           {-inf, -inf, -inf, -inf},
                           {-inf, 1, 2, -inf},
                           {1, inf, 3, 4},
                           {1, a_nan, 3, 4},
                           {1, 2, a_nan, inf},
                           {0, 0, 0, 0},
                           {-inf, -inf, 5, a_nan}};
  for (const auto& row : rows)
    for (const auto* in : {&all, &none, &some}) {
      check_array<ops::m2>(row, *in);
      check_array<ops::sumexp>(row, *in);
    }
}
