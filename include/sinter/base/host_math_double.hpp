// Exponentials, logarithms and the hyperbolic tangent of double for the host as straight-line code: host_math.hpp's
// formulas with the constants of double. The worst error stands at each function (measured by
// tests/host/test_base_math.cpp). SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/base/arithmetic.hpp"
#include "sinter/base/dtype.hpp"
#include "sinter/base/host_math.hpp"

namespace sinter::math::straight {

/// Whether they are worth it: with vectors of two the C library is as fast.
#if defined(__AVX2__)
inline constexpr bool has_fast_double = true;
#else
inline constexpr bool has_fast_double = false;
#endif

/// x, limited; NaN stays.
constexpr double within(double x, double low, double high) { return select(x < low, low, select(x > high, high, x)); }
inline constexpr double ln2_high = 0x1.62e42feep-1;  ///< exact times exponents
inline constexpr double ln2_low = 0x1.a39ef35793c76p-33;

// ---- exponentials --------------------------------------------------------------------------------------------------

/// e^r - 1 for |r| <= ln(2)/2.
constexpr double short_expm1(double r) {
  return r + r * r *
                 polynomial(r, 0x1.0000000000005p-1, 0x1.5555555555539p-3, 0x1.55555555522a1p-5, 0x1.1111111118fe2p-7,
                            0x1.6c16c17ee1d5fp-10, 0x1.a01a017505655p-13, 0x1.a019a75ba6c49p-16, 0x1.71de881d7f822p-19,
                            0x1.28a1f46ea523cp-22, 0x1.ae6b9be0c103bp-26);
}
/// x = n ln 2 + r with |r| <= ln(2)/2: e^r - 1, and a number whose low bits are n + 1022.
struct wide_exp_parts {
  double expm1;
  std::uint64_t power;
};
inline constexpr double to_power = 0x1.8p52 + 1022;  // the last bit of a sum with it is worth one
constexpr wide_exp_parts split_exp(double x) {
  const double shifted = x * 0x1.71547652b82fep+0 + to_power, k = shifted - to_power;
  return {short_expm1((x - k * ln2_high) - k * ln2_low), bits(shifted)};
}
constexpr double two_to(std::uint64_t power) { return from_bits(power << 52); }

/// 2^n (1 + expm1), a subnormal number if is_small.
constexpr double join_exp(wide_exp_parts e, bool is_small) {
  // 2^(n-1), and 2^(n+63) where n is small: so that it is a normal number, and only the last product is not.
  const std::uint64_t small = 0u - static_cast<std::uint64_t>(is_small);
  const double s = two_to(e.power + (small & 64u));
  return (s + s * e.expm1) * from_bits(bits(2.0) - (small & (std::uint64_t(64) << 52)));
}

/// 1.1 ulp.
constexpr double exp(double x) { return join_exp(split_exp(within(x, -746.0, 710.0)), x < -700.0); }
/// 1.2 ulp.
constexpr double exp2(double input) {
  const double x = within(input, -1080.0, 1024.0), shifted = x + to_power, r = x - (shifted - to_power);
  return join_exp({short_expm1(r * 0x1.62e42fefa39efp-1), bits(shifted)}, input < -1010.0);
}
/// 2.4 ulp.
constexpr double expm1(double input) {
  const wide_exp_parts e = split_exp(within(input, -40.0, 710.0));
  const double half = two_to(e.power);  // 2^(n-1): n may be 1024
  return copysign(2.0 * (half * e.expm1 + (half - 0.5)), input);
}

/// 2.7 ulp. e / (e + 1), where e = (exp(2 |x|) - 1) / 2 without cancellation.
constexpr double tanh(double x) {
  const double a = abs(x);
  const wide_exp_parts parts = split_exp(2.0 * select(a > 20.0, 20.0, a));
  const double half = two_to(parts.power), e = half * parts.expm1 + (half - 0.5);
  return copysign(e / (e + 1.0), x);
}

// ---- logarithms ----------------------------------------------------------------------------------------------------

/// x = 2^exponent (1 + f) with 2/3 <= 1 + f < 4/3, for positive finite x; `inverse` is 2^-exponent.
struct wide_log_parts {
  double exponent, inverse, f;
};
constexpr wide_log_parts split_log(double x) {
  constexpr std::uint64_t low = 0x3fe5555555555555u, fraction = 0xfffffffffffffu;
  const bool subnormal = x < 0x1p-1022;
  const std::uint64_t u = bits(select(subnormal, x * 0x1p54, x)) - low + (std::uint64_t(1024) << 52);
  const double e = from_bits((u >> 52) | bits(0x1p52)) - (0x1p52 + 1024);
  return {e - select(subnormal, 54.0, 0.0), from_bits((2047 - (u >> 52)) << 52), from_bits((u & fraction) + low) - 1.0};
}
/// f - log(1 + f), less `more`.
constexpr double log_correction(double f, double more) {
  const double s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
  const double p =
      z * polynomial(z, 0x1.555555555577dp-1, 0x1.99999998eedb8p-2, 0x1.249249b38338cp-2, 0x1.c71c007d4ae29p-3,
                     0x1.747508789eceap-3, 0x1.384fd6ebe792bp-3, 0x1.3ad5d38cd27d4p-3);
  return half - (s * (half + p) + more);
}
/// exponent ln 2 + log(1 + f).
constexpr double join_log(double exponent, double f) {
  return exponent * ln2_high + (f - log_correction(f, exponent * ln2_low));
}
/// What every logarithm says of its special arguments.
constexpr double log_special(double x, double result) {
  constexpr double inf = limits<double>::infinity();
  const double low = select(x < 0.0, limits<double>::quiet_nan(), -inf);
  return select(x < inf, select(x > 0.0, result, low), x);  // inf and NaN
}

/// 0.9 ulp.
constexpr double log(double x) {
  const wide_log_parts l = split_log(x);
  return log_special(x, join_log(l.exponent, l.f));
}
/// 2.3 ulp.
constexpr double log2(double x) {
  const wide_log_parts l = split_log(x);
  return log_special(x, l.exponent + (l.f - log_correction(l.f, 0.0)) * 0x1.71547652b82fep+0);
}
/// 2.5 ulp.
constexpr double log10(double x) {
  const wide_log_parts l = split_log(x);
  const double rest = (l.f - log_correction(l.f, 0.0)) * 0x1.bcb7b1526e50ep-2 + l.exponent * 0x1.cff7988f8959bp-41;
  return log_special(x, l.exponent * 0x1.34413509f4000p-2 + rest);
}
/// 1.6 ulp.
constexpr double log1p(double x) {
  const double u = 1.0 + x;
  const wide_log_parts l = split_log(u);
  // f from x itself, not from the rounded sum; past 2^54 the sum is x, and 2^-e would leave the range.
  const double f = select(u > 0x1p54, l.f, x * l.inverse + (l.inverse - 1.0));
  return copysign(log_special(u, join_log(l.exponent, f)), x);
}

}  // namespace sinter::math::straight
