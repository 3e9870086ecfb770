// The scalar meaning of ops at run time: NaN, infinities, division, order, and that nothing is undefined.
// Elementary functions are test_base_math's matter, constants tests/static/base_op's.
// SPDX-License-Identifier: BSL-1.0
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "sinter/base/op.hpp"

using namespace sinter;

namespace {
constexpr float a_nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
}

TEST_CASE("NaN wins in minimum, maximum, clamp and relu, and loses in fmin and fmax") {
  CHECK(ops::maximum::apply(2.0f, 3.0f) == 3.0f);
  CHECK(ops::minimum::apply(2.0f, 3.0f) == 2.0f);
  CHECK(std::isnan(ops::maximum::apply(a_nan, 1.0f)));
  CHECK(std::isnan(ops::maximum::apply(1.0f, a_nan)));
  CHECK(std::isnan(ops::minimum::apply(a_nan, 1.0f)));
  CHECK(std::isnan(ops::minimum::apply(1.0f, a_nan)));
  CHECK(ops::fmax::apply(a_nan, 1.0f) == 1.0f);
  CHECK(ops::fmax::apply(1.0f, a_nan) == 1.0f);
  CHECK(ops::fmin::apply(a_nan, -inf) == -inf);
  CHECK(ops::fmin::apply(1.0, double(a_nan)) == 1.0);
  CHECK(std::isnan(ops::clamp::apply(a_nan, 0.0f, 1.0f)));
  CHECK(std::isnan(ops::clamp::apply(0.5f, a_nan, 1.0f)));
  CHECK(ops::clamp::apply(5.0f, 3.0f, 1.0f) == 1.0f);
  CHECK(ops::clamp::apply(-5, -3, 3) == -3);
  CHECK(std::isnan(ops::relu::apply(a_nan)));
  CHECK(ops::relu::apply(-inf) == 0.0f);
  CHECK(ops::relu::apply(std::int8_t(-3)) == 0);
  CHECK(std::isnan(ops::relu6::apply(a_nan)));
  CHECK(std::isnan(ops::hardswish::apply(a_nan)));
  CHECK(std::isnan(ops::leaky_relu::apply(a_nan, 0.1f)));
  CHECK(std::isnan(ops::elu::apply(a_nan, 1.0f)));
}

TEST_CASE("floating division rounds towards minus infinity and its remainder has the divisor's sign") {
  CHECK(ops::floor_divide::apply(7.0f, 2.0f) == 3.0f);
  CHECK(ops::floor_divide::apply(-7.0f, 2.0f) == -4.0f);
  CHECK(ops::floor_divide::apply(1.0, 0.1) == 9.0);  // 0.1 is a little more than a tenth
  CHECK(ops::floor_divide::apply(1.0f, 0.0f) == inf);
  CHECK(std::isnan(ops::floor_divide::apply(0.0f, 0.0f)));
  CHECK(std::signbit(ops::floor_divide::apply(0.0f, -3.0f)));
  CHECK(!std::signbit(ops::floor_divide::apply(1.0f, 3.0f)));
  CHECK(ops::floor_divide::apply(-1.0f, inf) == -1.0f);
  CHECK(ops::remainder::apply(-7.0f, 3.0f) == 2.0f);
  CHECK(ops::remainder::apply(7.0f, -3.0f) == -2.0f);
  CHECK(ops::fmod::apply(-7.0f, 3.0f) == -1.0f);
  CHECK(std::isnan(ops::remainder::apply(1.0f, 0.0f)));
}

TEST_CASE("integer division agrees with its law for every pair of bytes") {
  int wrong = 0;
  for (int x = -128; x < 128; ++x)
    for (int y = -128; y < 128; ++y) {
      const auto a = static_cast<std::int8_t>(x), b = static_cast<std::int8_t>(y);
      const int q = ops::floor_divide::apply(a, b), r = ops::remainder::apply(a, b), m = ops::fmod::apply(a, b);
      if (y == 0) {
        wrong += q != 0 || r != 0 || m != 0;
      } else {
        wrong += q != static_cast<std::int8_t>(static_cast<int>(std::floor(static_cast<double>(x) / y))) || m != x % y;
        wrong += r != x - y * static_cast<int>(std::floor(static_cast<double>(x) / y));
      }
      const auto u = static_cast<std::uint8_t>(x), v = static_cast<std::uint8_t>(y);
      wrong += v != 0 && (ops::floor_divide::apply(u, v) != u / v || ops::remainder::apply(u, v) != u % v);
    }
  CHECK(wrong == 0);
}

TEST_CASE("integer division agrees with its law for integers of 32 bits, and wraps as its type does") {
  std::vector<std::int32_t> values{0, 46340, 46341, 715827882, -715827883};
  for (int shift = 0; shift < 32; ++shift)
    for (std::int64_t d = -2; d <= 2; ++d)
      for (std::int64_t sign : {1, -1})
        values.push_back(static_cast<std::int32_t>(sign * (std::int64_t(1) << shift) + d));
  std::uint32_t state = 1;
  for (int i = 0; i < 600; ++i) {
    state = state * 1664525u + 1013904223u;
    values.push_back(static_cast<std::int32_t>(state) >> (i % 28));
  }
  long wrong = 0;
  for (std::int64_t x : values)
    for (std::int64_t y : values) {
      const auto a = static_cast<std::int32_t>(x), b = static_cast<std::int32_t>(y);
      const auto q = ops::floor_divide::apply(a, b), r = ops::remainder::apply(a, b), m = ops::fmod::apply(a, b);
      if (y == 0) {
        wrong += q != 0 || r != 0 || m != 0;
      } else {
        const std::int64_t rest = x % y, floored = rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
        wrong += m != rest || r != floored || q != static_cast<std::int32_t>((x - floored) / y);
      }
    }
  CHECK(wrong == 0);
}

TEST_CASE("integers wrap") {
  volatile std::int32_t highest = INT32_MAX, lowest = INT32_MIN;
  CHECK(ops::add::apply<std::int32_t>(highest, 1) == INT32_MIN);
  CHECK(ops::sub::apply<std::int32_t>(lowest, 1) == INT32_MAX);
  CHECK(ops::square::apply<std::int32_t>(lowest) == 0);
  CHECK(ops::abs::apply<std::int32_t>(lowest) == INT32_MIN);
  CHECK(ops::fma::apply<std::int32_t, std::int32_t>(highest, 2, 3) == 1);
  CHECK(ops::pow::apply<std::int32_t>(3, 40) == static_cast<std::int32_t>(12157665459056928801ull));
  CHECK(ops::pow::apply<std::int64_t>(0, 0) == 1);
  CHECK(ops::sign::apply<std::int64_t>(INT64_MIN) == -1);
  CHECK(ops::sign::apply<std::uint8_t>(9) == 1);
}

TEST_CASE("bool adds as or, multiplies as and") {
  for (bool x : {false, true}) {
    for (bool y : {false, true}) {
      CHECK(ops::add::apply(x, y) == (x || y));
      CHECK(ops::mul::apply(x, y) == (x && y));
      CHECK(ops::logical_xor::apply(x, y) == (x != y));
      CHECK(ops::logical_and::apply(x, y) == (x && y));
      CHECK(ops::bitwise_or::apply(x, y) == (x || y));
      CHECK(ops::maximum::apply(x, y) == (x || y));
    }
    CHECK(ops::logical_not::apply(x) == !x);
    CHECK(ops::bitwise_not::apply(x) == !x);
  }
}

TEST_CASE("comparisons and tests") {
  CHECK(!ops::eq::apply(a_nan, a_nan));
  CHECK(ops::ne::apply(a_nan, a_nan));
  CHECK(!ops::ge::apply(a_nan, 1.0f));
  CHECK(ops::le::apply(-0.0f, 0.0f));
  CHECK(ops::isnan::apply(a_nan));
  CHECK(!ops::isnan::apply(3));
  CHECK(ops::isinf::apply(-inf));
  CHECK(!ops::isfinite::apply(a_nan));
  CHECK(ops::isfinite::apply(3));
  CHECK(ops::isfinite::apply(1e300));
  CHECK(ops::sign::apply(a_nan) == 0.0f);
  CHECK(ops::sign::apply(-inf) == -1.0f);
}

TEST_CASE("where takes one side only") {
  CHECK(ops::where::apply(true, 1.0f, a_nan) == 1.0f);
  CHECK(ops::where::apply(false, a_nan, -0.0f) == 0.0f);
  CHECK(ops::where::apply(true, 1.0, double(inf)) == 1.0);
  CHECK(ops::where::apply(false, std::uint8_t(1), std::uint8_t(2)) == 2);
}

TEST_CASE("lerp meets both ends exactly") {
  CHECK(ops::lerp::apply(0.1f, 0.7f, 0.0f) == 0.1f);
  CHECK(ops::lerp::apply(0.1f, 0.7f, 1.0f) == 0.7f);
  CHECK(ops::lerp::apply(2.0f, 4.0f, 0.5f) == 3.0f);
}

TEST_CASE("activations at their ends") {
  CHECK(ops::sigmoid::apply(-inf) == 0.0f);
  CHECK(ops::sigmoid::apply(inf) == 1.0f);
  CHECK(ops::silu::apply(inf) == inf);
  CHECK(ops::softplus::apply(-inf) == 0.0f);
  CHECK(ops::softplus::apply(inf) == inf);
  CHECK(ops::mish::apply(inf) == inf);
  CHECK(ops::logsigmoid::apply(-inf) == -inf);
  CHECK(ops::logsigmoid::apply(inf) == 0.0f);
  CHECK(ops::hardsigmoid::apply(3.0f) == 1.0f);
  CHECK(ops::hardswish::apply(-3.0f) == 0.0f);
  CHECK(ops::gelu::apply(20.0f) == 20.0f);
  CHECK(ops::softsign::apply(1.0f) == 0.5f);
  CHECK(ops::selu::apply(1.0f) == doctest::Approx(1.0507009873554805));
  CHECK(ops::hardtanh::apply(3.0f, -1.0f, 2.0f) == 2.0f);
  CHECK(ops::frac::apply(-1.25f) == -0.25f);
}
