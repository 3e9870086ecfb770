// How exact the elementary functions are: over all exponents, signs and special values, those of float against the C
// library in double, those of double against it in long double. The bounds are those the headers state, in units of the
// last place. SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sinter/base/op.hpp"

namespace {

float from_bits(std::uint32_t u) { return __builtin_bit_cast(float, u); }

/// The distance in units of the last place that float has at `exact`; infinite where one is NaN and the other is not.
double ulps(float value, double exact) {
  const auto rounded = static_cast<float>(exact);
  if (std::isnan(exact) || std::isnan(value)) return std::isnan(exact) && std::isnan(value) ? 0 : INFINITY;
  if (std::isinf(rounded) || std::isinf(value)) {
    if (value == rounded) return 0;
    // Beside the largest float, infinity counts as the next float.
    if (std::isinf(exact) || (std::isinf(value) && std::fabs(exact) < 0x1.fffffcp127)) return INFINITY;
    return std::fabs(exact - std::copysign(0x1p128, exact)) / 0x1p104;
  }
  int exponent = 0;
  std::frexp(exact, &exponent);
  return std::fabs(value - exact) / std::ldexp(1.0, (exponent < -125 ? -125 : exponent) - 24);
}

template <class F, class G>
void check(const char* name, double bound, F function, G exact, float low = -INFINITY, float high = INFINITY) {
  double worst = 0;
  float at = 0;
  const auto look = [&](std::uint32_t u) {
    const float x = from_bits(u);
    if (x < low || x > high) return;
    const float value = function(x);
    const double e = exact(static_cast<double>(x));
    const double distance = ulps(value, e);
    if (!(distance <= worst)) worst = distance, at = x;
  };
  // A prime stride meets every exponent with changing fractions; around powers of two everything near.
  for (std::uint64_t u = 0; u <= 0xffffffffu; u += 4099) look(static_cast<std::uint32_t>(u));
  for (std::uint32_t e = 0; e < 512; ++e)
    for (std::uint32_t d = 0; d < 64; ++d) look((e << 23) + d - 32);
  INFO(std::string(name) << ": " << worst << " ulp at " << std::to_string(at));
  CHECK(worst <= bound);
}

}  // namespace

namespace ops = sinter::ops;

#define SINTER_CHECK(name, bound) \
  check(                          \
      #name, bound, [](float x) { return ops::name::apply(x); }, [](double x) { return std::name(x); })

TEST_CASE("elementary functions are within their bounds over all floats") {
  SINTER_CHECK(exp, 1.0);
  check(
      "falling_exp", 1.0, [](float x) { return sinter::math::falling_exp(x); }, [](double x) { return std::exp(x); },
      -INFINITY, 0);
  SINTER_CHECK(exp2, 1.5);
  SINTER_CHECK(expm1, 1.6);
  SINTER_CHECK(log, 0.9);
  SINTER_CHECK(log2, 2.3);
  SINTER_CHECK(log10, 2.3);
  SINTER_CHECK(log1p, 1.6);
  SINTER_CHECK(tanh, 2.3);
  SINTER_CHECK(erf, 2.0);
  SINTER_CHECK(sqrt, 0.5);
  SINTER_CHECK(sin, 0.7);
  SINTER_CHECK(cos, 0.7);
  SINTER_CHECK(tan, 1.9);
  SINTER_CHECK(asin, 2.5);
  SINTER_CHECK(acos, 2.5);
  SINTER_CHECK(atan, 2.5);
  SINTER_CHECK(sinh, 2.5);
  SINTER_CHECK(cosh, 2.5);
  SINTER_CHECK(asinh, 0.6);
  SINTER_CHECK(acosh, 0.6);
  SINTER_CHECK(atanh, 0.6);
  SINTER_CHECK(erfc, 0.7);
  SINTER_CHECK(floor, 0);
  SINTER_CHECK(ceil, 0);
  SINTER_CHECK(trunc, 0);
  check(
      "round", 0, [](float x) { return ops::round::apply(x); }, [](double x) { return std::rint(x); });
  check(
      "rsqrt", 1.5, [](float x) { return ops::rsqrt::apply(x); }, [](double x) { return 1 / std::sqrt(x); });
}

template <class F, class G>
static void check_pairs(const char* name, double bound, F function, G exact) {
  std::vector<float> values;
  for (std::uint32_t e = 0; e < 256; e += 3)
    for (std::uint32_t fraction : {0x0u, 0x1u, 0x34567u, 0x3504f3u, 0x400000u, 0x654321u, 0x7fffffu})
      values.push_back(from_bits((e << 23) + fraction));
  for (float x = 0; x <= 4; x += 0.09375f) values.push_back(x), values.push_back(x + 0x1p-20f);
  for (float x : {5.0f, 126.0f, 127.0f, 149.0f, 0x1.fffffep23f, 0x1p24f, FLT_MAX, INFINITY, NAN}) values.push_back(x);
  for (std::size_t i = 0, n = values.size(); i < n; ++i) values.push_back(-values[i]);
  double worst = 0;
  float at_x = 0, at_y = 0;
  for (float x : values)
    for (float y : values) {
      const float value = function(x, y);
      const double e = exact(static_cast<double>(x), static_cast<double>(y));
      const bool signs_agree = std::isnan(e) || std::signbit(value) == std::signbit(e);
      const double distance = signs_agree ? ulps(value, e) : static_cast<double>(INFINITY);
      if (!(distance <= worst)) worst = distance, at_x = x, at_y = y;
    }
  INFO(std::string(name) << ": " << worst << " ulp at " << at_x << ", " << at_y);
  CHECK(worst <= bound);
}
TEST_CASE("functions of two floats are within their bounds, their special values exact") {
  namespace straight = sinter::math::straight;
  check_pairs("pow", 0.6, straight::pow, [](double x, double y) { return std::pow(x, y); });
  check_pairs("atan2", 2.5, straight::atan2, [](double x, double y) { return std::atan2(x, y); });
  check_pairs("hypot", 0.6, straight::hypot, [](double x, double y) { return std::hypot(x, y); });
}

TEST_CASE("quick sine, cosine and tangent know the floats up to 2^22") {
  namespace quick = sinter::math::quick;
  const float last = 0x1.fffffep21f;
  check(
      "sin", 0.7, quick::sin, [](double x) { return std::sin(x); }, -last, last);
  check(
      "cos", 0.7, quick::cos, [](double x) { return std::cos(x); }, -last, last);
  check(
      "tan", 1.9, quick::tan, [](double x) { return std::tan(x); }, -last, last);
  for (float x : {0x1p22f, -0x1p22f, 1e30f, INFINITY, -INFINITY, NAN}) {
    CHECK(std::isnan(quick::sin(x)));
    CHECK(std::isnan(quick::cos(x)));
    CHECK(std::isnan(quick::tan(x)));
  }
}

/// Whether two values have the same bits, or are both NaN.
template <class T>
static bool same(T x, T y) {
  return x == y ? std::signbit(x) == std::signbit(y) : x != x && y != y;
}

template <class T>
static void check_quick_division(int steps) {
  namespace quick = sinter::math::quick;
  if constexpr (quick::divides<T>) {
    std::vector<T> values;
    for (int e = -steps; e <= steps; ++e)
      for (double d : {0x1p0, 0x1p0 + 0x1p-23, 0x1.8p0, 0x1.fffffep0, 0x1.921fb6p0, 0x1.999999999999ap0})
        for (double sign : {1.0, -1.0}) values.push_back(static_cast<T>(sign * std::ldexp(d, e)));
    using bounds = std::numeric_limits<T>;
    for (T special :
         {T(0), bounds::denorm_min(), bounds::min(), bounds::max(), bounds::infinity(), bounds::quiet_NaN()})
      for (T sign : {T(1), T(-1)}) values.push_back(sign * special);
    long wrong = 0, known = 0;
    const auto look = [&](T value, T exact) {
      known += value == value;
      wrong += value == value && !same(value, exact);
    };
    const auto look_at = [&](T x, T y) {
      look(quick::fmod(x, y), sinter::math::fmod(x, y));
      look(quick::remainder(x, y), sinter::math::remainder(x, y));
      look(quick::floor_divide(x, y), sinter::math::floor_divide(x, y));
    };
    for (T x : values)
      for (T y : values) look_at(x, y);
    CHECK(known > static_cast<long>(values.size() * values.size()));
    // Next to multiples and to the middle between them, where the nearest multiple is in doubt.
    for (T y : values)
      for (int k = 1; k < 60; ++k)
        for (int d = -3; d <= 3; ++d) {
          T x = y * static_cast<T>(k) / 2;
          for (int step = d; step != 0; step += step < 0 ? 1 : -1) x = std::nextafter(x, step < 0 ? T(0) : 4 * x);
          look_at(x, y);
        }
    CHECK(wrong == 0);
  }
}
TEST_CASE("quick division with a remainder is exact where it knows the answer") {
  check_quick_division<float>(30);
  check_quick_division<double>(60);
}

TEST_CASE("signed zeros survive the odd functions and the roundings") {
  const float zero = -0.0f;
  CHECK(std::signbit(ops::expm1::apply(zero)));
  CHECK(std::signbit(ops::log1p::apply(zero)));
  CHECK(std::signbit(ops::tanh::apply(zero)));
  CHECK(std::signbit(ops::erf::apply(zero)));
  CHECK(std::signbit(ops::sqrt::apply(zero)));
  CHECK(std::signbit(ops::sin::apply(zero)));
  CHECK(std::signbit(ops::tan::apply(zero)));
  CHECK(std::signbit(ops::asin::apply(zero)));
  CHECK(std::signbit(ops::atan::apply(zero)));
  CHECK(std::signbit(ops::sinh::apply(zero)));
  CHECK(std::signbit(ops::asinh::apply(zero)));
  CHECK(std::signbit(ops::atanh::apply(zero)));
  for (float x : {-0.0f, -0.25f}) {
    CHECK(std::signbit(ops::ceil::apply(x)));
    CHECK(std::signbit(ops::trunc::apply(x)));
    CHECK(std::signbit(ops::round::apply(x)));
  }
  CHECK(!std::signbit(ops::floor::apply(0.0f)));
}

TEST_CASE("activations are within their bounds") {
  // Up to the point where e^-x overflows; below it the results vanish.
  check(
      "sigmoid", 3.0, [](float x) { return ops::sigmoid::apply(x); }, [](double x) { return 1 / (1 + std::exp(-x)); },
      -87);
  check(
      "silu", 3.0, [](float x) { return ops::silu::apply(x); }, [](double x) { return x / (1 + std::exp(-x)); }, -83,
      3e38f);
  check(
      "softplus", 4.0, [](float x) { return ops::softplus::apply(x); },
      [](double x) { return x > 20 ? x : std::log1p(std::exp(x)); });
  check(
      "logsigmoid", 4.0, [](float x) { return ops::logsigmoid::apply(x); },
      [](double x) { return std::fmin(x, 0.0) - std::log1p(std::exp(-std::fabs(x))) + (x - x); }, -3e38f, 3e38f);
  check(
      "mish", 6.0, [](float x) { return ops::mish::apply(x); },
      [](double x) { return x > 20 ? x : x * std::tanh(std::log1p(std::exp(x))); }, -80);
  check(
      "elu", 2.5, [](float x) { return ops::elu::apply(x, 1.0f); }, [](double x) { return x < 0 ? std::expm1(x) : x; });
  check(
      "relu6", 0, [](float x) { return ops::relu6::apply(x); },
      [](double x) { return std::isnan(x) ? x : std::fmin(std::fmax(x, 0.0), 6.0); });
}

TEST_CASE("gelu is exact relative to its argument") {
  for (float x = -12; x <= 12; x += 0.0009765625f) {
    const double exact = 0.5 * x * std::erfc(-x * 0.70710678118654752440);
    CHECK(std::fabs(ops::gelu::apply(x) - exact) <= 1.5e-7 * std::fabs(x));
    const double u = 0.79788456080286535588 * (x + 0.044715 * x * x * x);
    const double exact_tanh = x / (1 + std::exp(-2 * u));
    CHECK(std::fabs(ops::gelu_tanh::apply(x) - exact_tanh) <=
          1e-6 * std::fabs(exact_tanh) * (1 + std::fabs(u)) + 1e-37);
  }
}

/// Against long double, over all exponents and densely around zero.
template <class F, class G>
static void check_wide(const char* name, double bound, F function, G exact) {
  double worst = 0, at = 0;
  const auto look = [&](std::uint64_t u) {
    const double x = __builtin_bit_cast(double, u), value = function(x);
    const long double e = exact(static_cast<long double>(x));
    const auto rounded = static_cast<double>(e);
    double distance = same(value, rounded) ? 0 : static_cast<double>(INFINITY);
    if (std::isfinite(rounded) && std::isfinite(value) && std::signbit(value) == std::signbit(rounded)) {
      int exponent = 0;
      std::frexp(rounded, &exponent);
      distance = static_cast<double>(std::fabs(value - e) / std::ldexp(1.0L, std::max(exponent, -1021) - 53));
    }
    if (!(distance <= worst)) worst = distance, at = x;
  };
  for (std::uint64_t e = 0; e < 4096; ++e)
    for (std::uint64_t d = 0; d < 64; ++d) look((e << 52) + d - 32), look((e << 52) + d * 0x3d70a3d70a3d7);
  const double step = 0.0001220703125 + 0x1p-45;
  for (int i = -200000; i < 200000; ++i) look(__builtin_bit_cast(std::uint64_t, i * step));
  for (int i = -80000; i < 80000; ++i) look(__builtin_bit_cast(std::uint64_t, i * (0.01 + 0x1p-45)));
  INFO(std::string(name) << ": " << worst << " ulp at " << at);
  CHECK(worst <= bound);
}
#define SINTER_CHECK_WIDE(name, bound)                                        \
  check_wide(                                                                 \
      #name, bound, [](double x) { return sinter::math::straight::name(x); }, \
      [](long double x) { return std::name(x); })

TEST_CASE("functions of double are within their bounds") {
  if (LDBL_MANT_DIG < 64) return;
  SINTER_CHECK_WIDE(exp, 1.1);
  SINTER_CHECK_WIDE(exp2, 1.2);
  SINTER_CHECK_WIDE(expm1, 2.4);
  SINTER_CHECK_WIDE(log, 0.9);
  SINTER_CHECK_WIDE(log2, 2.3);
  SINTER_CHECK_WIDE(log10, 2.5);
  SINTER_CHECK_WIDE(log1p, 1.6);
  SINTER_CHECK_WIDE(tanh, 2.7);
}

TEST_CASE("other functions of double go through the C library") {
  for (double x : {-3.5, -0.5, 0.1, 1.0, 2.5}) {
    CHECK(ops::exp::apply(x) == doctest::Approx(std::exp(x)).epsilon(1e-15));
    CHECK(ops::erf::apply(x) == std::erf(x));
    CHECK(ops::round::apply(x) == std::rint(x));
    CHECK(ops::pow::apply(2.0, x) == std::pow(2.0, x));
    CHECK(ops::silu::apply(x) == doctest::Approx(x / (1 + std::exp(-x))));
  }
}
