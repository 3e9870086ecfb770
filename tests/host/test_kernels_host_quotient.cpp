// Division by one float for many: what a division gives, bit by bit, but next to the subnormals, by the function and by
// the kernels that use it. Built for fused multiply-add, if this machine has it.
// SPDX-License-Identifier: BSL-1.0
#include "sinter/kernels/host/quotient.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "sinter/kernels/host/pointwise.hpp"
#include "sinter/kernels/host/reduction.hpp"

using namespace sinter;
using cpu::detail::corrected_quotient;

TEST_CASE("quotients are those of a division") {
  std::mt19937 engine(7);
  std::uniform_int_distribution<std::uint32_t> bits;
  int compared = 0;
  for (int i = 0; i < 2'000'000; ++i) {
    const float a = std::bit_cast<float>(bits(engine)), d = std::bit_cast<float>(bits(engine)), exact = a / d;
    if (!(std::abs(a) > 0x1p-90f && std::abs(a) < 0x1p90f && std::abs(d) < 0x1p90f)) continue;
    if (!(std::abs(exact) > 0x1p-90f && std::abs(exact) < 0x1p120f)) continue;
    ++compared;
    if (corrected_quotient(a, d) != exact) FAIL_CHECK(a << " / " << d << " is " << corrected_quotient(a, d));
  }
  CHECK(compared > 500'000);
}

TEST_CASE("special quotients") {
  constexpr float infinity = std::numeric_limits<float>::infinity(), least = std::numeric_limits<float>::denorm_min();
  for (const float d : {1.0f, -3.0f, 0x1p127f, 0x1p-126f, least, 0.0f, infinity, -infinity})
    for (const float a : {0.0f, 2.0f, -5.0f, infinity, -infinity}) {
      const float exact = a / d, quotient = corrected_quotient(a, d);
      CAPTURE(a);
      CAPTURE(d);
      if (std::isnan(exact)) CHECK(std::isnan(quotient));
      else CHECK(quotient == exact);
    }
  CHECK(std::isnan(corrected_quotient(std::nanf(""), 2.0f)));
  CHECK(std::isnan(corrected_quotient(2.0f, std::nanf(""))));
  CHECK(corrected_quotient(0x1p-130f, 3.0f) == doctest::Approx(0x1p-130f / 3.0f).epsilon(1e-4));
}

namespace {

constexpr std::int64_t rows = 5, columns = 1003;
using square = at<0, term<loop_var::x, 1, 0, columns>, term<loop_var::r, 1, 0, 1>>;
using across = at<0, term<loop_var::x, 1, 0, 1>, term<loop_var::r, 1, 0, columns>>;
using line = at<0, term<loop_var::x, 1, 0, 1>>;
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
constexpr bool corrects = true;
#else
constexpr bool corrects = false;
#endif

/// Numbers of all magnitudes that a quotient by a maximum may have, and both zeros.
template <class T>
std::vector<T> numerators() {
  std::mt19937 engine(11);
  std::uniform_real_distribution<float> mantissa(1, 2);
  std::vector<T> all;
  for (std::int64_t i = 0; i < rows * columns; ++i)
    all.push_back(T(std::ldexp(i % 2 == 0 ? mantissa(engine) : -mantissa(engine), static_cast<int>(engine() % 12))));
  all[3] = T(0.0f), all[700] = T(-0.0f);
  return all;
}

template <class T>
std::uint32_t bits_of(T value) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

/// Is `quotients` what divisions by divisor(i) give? But for -0 by one positive value.
template <class T, class Divisor>
void check_quotients(const std::vector<T>& a, const std::vector<T>& quotients, bool by_one, Divisor divisor) {
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    const auto at = static_cast<std::size_t>(i);
    T exact = T(static_cast<float>(a[at]) / divisor(i));
    if (by_one && corrects && static_cast<float>(a[at]) == 0 && divisor(i) > 0) exact = T(0.0f);
    if (bits_of(quotients[at]) != bits_of(exact))
      FAIL_CHECK(static_cast<float>(a[at]) << " / " << divisor(i) << " is " << static_cast<float>(quotients[at]));
  }
  CHECK(true);
}

template <class T>
float largest(const std::vector<T>& a, std::int64_t first, std::int64_t count, std::int64_t step) {
  float most = 0;
  for (std::int64_t i = 0; i < count; ++i)
    most = std::fmax(most, static_cast<float>(a[static_cast<std::size_t>(first + i * step)]));
  return most;
}

}  // namespace

TEST_CASE_TEMPLATE("kernels divide by a scalar", T, float, bf16, f16) {
  using body_type = body<load<0, T, line>, scalar<0, T>, compute<ops::div, T, T, 0, 1>, store<1, T, 2, line>>;
  std::vector<T> a = numerators<T>(), out(a.size());
  for (const float d : {3.0f, -0.7f, 1e-3f}) {
    cpu::pointwise<body_type>(arguments<2, 1, 0>{{a.data(), out.data()}, {{d, 0}}, {}, rows * columns, 1}, 1);
    check_quotients(a, out, true, [&](std::int64_t) { return d; });
  }
}

TEST_CASE_TEMPLATE("kernels divide rows by a value of theirs, columns each by its own", T, float, bf16, f16) {
  std::vector<T> a = numerators<T>(), out(a.size());
  using by_row =
      body<load<0, T, square>, reduce<ops::amax, T, T, 0>, compute<ops::div, T, T, 0, 1>, store<1, T, 2, square>>;
  cpu::reduction<by_row, orientation::row>(arguments<2, 0, 0>{{a.data(), out.data()}, {}, {}, rows, columns}, 1);
  check_quotients(a, out, true, [&](std::int64_t i) { return largest(a, i / columns * columns, columns, 1); });

  using by_column =
      body<load<0, T, across>, reduce<ops::amax, T, T, 0>, compute<ops::div, T, T, 0, 1>, store<1, T, 2, across>>;
  cpu::reduction<by_column, orientation::column>(arguments<2, 0, 0>{{a.data(), out.data()}, {}, {}, columns, rows}, 1);
  check_quotients(a, out, false, [&](std::int64_t i) { return largest(a, i % columns, rows, columns); });
}
