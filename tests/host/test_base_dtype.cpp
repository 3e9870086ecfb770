// f16 and bf16 against their definitions: every bit pattern to float and back, rounding of floats of every exponent.
// SPDX-License-Identifier: BSL-1.0
#include <cmath>
#include <cstdint>
#include <initializer_list>

#include <doctest/doctest.h>

#include "sinter/base/dtype.hpp"

using namespace sinter;

namespace {

float from_bits(std::uint32_t u) { return __builtin_bit_cast(float, u); }

/// The value of a binary format with so many exponent and fraction bits, by its definition.
double decode(std::uint32_t bits, int exponent_bits, int fraction_bits) {
  const int exponent = static_cast<int>(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = static_cast<int>(bits) & ((1 << fraction_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double sign = bits >> (exponent_bits + fraction_bits) ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1) return fraction != 0 ? static_cast<double>(NAN) : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
}

/// To nearest, half to even, in such a format: the scaled value is rounded by the machine.
double rounded(double x, int exponent_bits, int fraction_bits) {
  if (std::isnan(x) || std::isinf(x) || x == 0) return x;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  int exponent = 0;
  std::frexp(x, &exponent);
  if (exponent < 2 - bias) exponent = 2 - bias;
  const double r = std::ldexp(std::rint(std::ldexp(x, fraction_bits + 1 - exponent)), exponent - fraction_bits - 1);
  return std::fabs(r) >= std::ldexp(1.0, bias + 1) ? std::copysign(INFINITY, x) : r;
}

template <class T>
void check_format(int exponent_bits, int fraction_bits) {
  int wrong = 0;
  for (std::uint32_t u = 0; u < 0x10000; ++u) {
    const T value = T::from_bits(static_cast<std::uint16_t>(u));
    const float wide = widen(value);
    const double exact = decode(u, exponent_bits, fraction_bits);
    if (std::isnan(exact)) wrong += !std::isnan(wide) || !std::isnan(widen(narrow<T>(wide))) || value == value;
    else
      wrong +=
          wide != exact || std::signbit(wide) != std::signbit(exact) || narrow<T>(wide).bits != u || value != value;
  }
  CHECK(wrong == 0);

  const auto rounds = [&](std::uint32_t u) {
    const float x = from_bits(u), back = widen(narrow<T>(x));
    const double exact = rounded(x, exponent_bits, fraction_bits);
    if (std::isnan(x)) return std::isnan(back);
    return back == exact && std::signbit(back) == std::signbit(x);
  };
  wrong = 0;
  for (std::uint64_t u = 0; u <= 0xffffffffu; u += 4099) wrong += !rounds(static_cast<std::uint32_t>(u));
  // All values and ties of both formats, and their neighbours.
  for (std::uint32_t u = 0; u < 0x100000; ++u)
    for (std::uint32_t d = 0; d < 3; ++d) wrong += !rounds((u << 12) + d - 1);
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("f16 is IEEE binary16") { check_format<f16>(5, 10); }
TEST_CASE("bf16 is the upper half of binary32") { check_format<bf16>(8, 7); }

TEST_CASE("a NaN whose payload does not fit stays NaN") {
  for (std::uint32_t u : {0x7f800001u, 0xff800001u, 0x7fffffffu}) {
    CHECK(std::isnan(widen(bf16(from_bits(u)))));
    CHECK(std::isnan(widen(f16(from_bits(u)))));
  }
}

TEST_CASE("conversions between dtypes are defined for every value") {
  const float nan = NAN, inf = INFINITY;
  CHECK(convert<std::int32_t, float>(-2.9f) == -2);
  CHECK(convert<std::int32_t, float>(0x1p31f) == INT32_MIN);
  CHECK(convert<std::int32_t, float>(-0x1p31f) == INT32_MIN);
  CHECK(convert<std::int32_t, float>(nan) == INT32_MIN);
  CHECK(convert<std::int64_t, double>(0x1p62) == std::int64_t(1) << 62);
  CHECK(convert<std::int64_t, float>(inf) == INT64_MIN);
  CHECK(convert<std::int64_t, bf16>(-inf) == INT64_MIN);
  CHECK(convert<std::uint8_t, float>(257.5f) == 1);
  CHECK(convert<std::int8_t, float>(128.0f) == -128);
  CHECK(convert<std::uint8_t, float>(nan) == 0);
  CHECK(convert<bool, float>(nan));
  CHECK(convert<bool, float>(1e-45f));
  CHECK(!convert<bool, float>(-0.0f));
  CHECK(convert<bool, std::int32_t>(256));
  CHECK(convert<std::int32_t, bool>(true) == 1);
  CHECK(convert<float, std::int64_t>((std::int64_t(1) << 24) + 1) == 0x1p24f);
  CHECK(convert<float, double>(1e300) == inf);
  // No rounding to 16 bits before the store.
  CHECK(convert<bf16, float>(1.001f) == 1.001f);
}
