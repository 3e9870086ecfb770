// Elementary functions of float for the host as straight-line code: selects instead of branches and no calls, so that
// a loop over any of them is vector code at -O2/-O3. The worst error stands at each function, over all floats (measured
// by tests/host/test_base_math.cpp); infinities, NaN, subnormals and signed zeros are IEEE's. Contraction to fused
// multiply-add is fine, reassociation (-ffast-math) is not.
// Which functions the device runs is math.hpp's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/base/arithmetic.hpp"
#include "sinter/base/dtype.hpp"

namespace sinter::math::straight {

constexpr std::uint32_t bits(float x) { return __builtin_bit_cast(std::uint32_t, x); }
constexpr float from_bits(std::uint32_t u) { return __builtin_bit_cast(float, u); }
constexpr std::uint64_t bits(double x) { return __builtin_bit_cast(std::uint64_t, x); }
constexpr double from_bits(std::uint64_t u) { return __builtin_bit_cast(double, u); }
constexpr float magnitude(float x) { return __builtin_fabsf(x); }
/// |x| with the sign of y.
constexpr float with_sign(float x, float y) { return from_bits((bits(x) & 0x7fffffffu) | (bits(y) & 0x80000000u)); }
/// The same for x >= 0, in one instruction.
constexpr float lend_sign(float x, float y) { return from_bits(bits(x) | (bits(y) & 0x80000000u)); }

/// c[0] + c[1] x + ... by fours: what waits for each other is a third of Horner's chain, and that is what costs.
template <class T>
constexpr T polynomial(T, T a) {
  return a;
}
template <class T>
constexpr T polynomial(T x, T a, T b) {
  return a + x * b;
}
template <class T>
constexpr T polynomial(T x, T a, T b, T c) {
  return (a + x * b) + x * x * c;
}
template <class T, class... C>
constexpr T polynomial(T x, T a, T b, T c, T d, C... rest) {
  const T z = x * x, low = a + x * b, high = c + x * d;
  if constexpr (sizeof...(C) == 0) return low + z * high;
  else if constexpr (sizeof...(C) <= 2)
    return low + z * (high + z * polynomial(x, rest...));  // z * z would not be sooner
  else return (low + z * high) + z * z * polynomial(x, rest...);
}

inline constexpr float infinity = limits<float>::infinity();
inline constexpr float nan = limits<float>::quiet_nan();

// ---- rounding ------------------------------------------------------------------------------------------------------

/// A float of 2^23 or more is an integer already; NaN is compared as not smaller.
constexpr float trunc(float x) {
  const bool fractional = magnitude(x) < 0x1p23f;
  const float whole = static_cast<float>(static_cast<std::int32_t>(select(fractional, x, 0.0f)));
  return select(fractional, with_sign(whole, x), x);
}
constexpr float floor(float x) {
  const float t = trunc(x);
  return select(t > x, t - 1.0f, t);
}
constexpr float ceil(float x) {
  const float t = trunc(x);
  return select(t < x, t + 1.0f, t);
}
constexpr float rint(float x) {
  const float t = trunc(x), rest = magnitude(x - t);
  const bool odd = (static_cast<std::int32_t>(select(magnitude(x) < 0x1p23f, t, 0.0f)) & 1) != 0;
  const float up = select(rest > 0.5f, 1.0f, 0.0f), tie = select(odd, 1.0f, 0.0f);
  return t + with_sign(select(rest == 0.5f, tie, up), x);
}

// ---- exponentials --------------------------------------------------------------------------------------------------

/// x - k ln 2: the first product is exact.
constexpr float rest_of_exp(float x, float k) { return (x - k * 0x1.62e4p-1f) - k * 0x1.7f7d1cp-20f; }
/// The same for |k| < 32: a multiply-add then needs no second part of ln 2.
constexpr float short_rest(float x, float k) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  if (!__builtin_is_constant_evaluated()) return __builtin_fmaf(k, -0x1.62e43p-1f, x);
#endif
  return rest_of_exp(x, k);
}

/// x = n ln 2 + r with |r| <= ln(2)/2: e^r - 1, and a number whose low bits are n + Bias. Short: where |n| < 32.
struct exp_parts {
  float expm1;
  std::uint32_t power;
};
template <int Bias, bool IsShort = false>
constexpr exp_parts split_exp(float x) {
  constexpr float shift = 0x1.8p23f + Bias;  // the sum's last bit is worth one
  const float shifted = x * 0x1.715476p+0f + shift, k = shifted - shift;
  const float r = IsShort ? short_rest(x, k) : rest_of_exp(x, k);
  return {r + r * r * polynomial(r, 0x1.fffffcp-2f, 0x1.55548ap-3f, 0x1.555916p-5f, 0x1.123fc6p-7f, 0x1.6a1a72p-10f),
          bits(shifted)};
}
/// The float whose exponent are the low bits of `power`.
constexpr float two_to(std::uint32_t power) { return from_bits(power << 23); }

/// 1.0 ulp.
constexpr float exp(float input) {
  const float x = at_least<bits(-104.0f)>(at_most<bits(89.0f)>(input));
  const exp_parts e = split_exp<126>(x);
  // 2^(n-1), and 2^(n+63) where n is small: so that it is a normal float, and only the last product is not.
  const std::uint32_t small = 0u - static_cast<std::uint32_t>(input < -86.0f);
  const float s = two_to(e.power + (small & 64u));
  return (s + s * e.expm1) * from_bits(bits(2.0f) - (small & (64u << 23)));
}

/// The same for x that is not positive: 2^(n+64) is a normal float for every n.
constexpr float falling_exp(float x) {
  const exp_parts e = split_exp<127 + 64>(at_least<bits(-104.0f)>(x));
  const float s = two_to(e.power);
  return (s + s * e.expm1) * 0x1p-64f;
}

/// 1 + e^-x to 1.5 ulp, infinite below -88.7: what a sigmoid divides by.
constexpr float one_plus_exp_minus(float x) {
  const exp_parts e = split_exp<126>(-at_most<bits(20.0f)>(at_least<bits(-89.0f)>(x)));
  const float half = two_to(e.power);
  return 1.0f + 2.0f * (half + half * e.expm1);
}

/// 1.5 ulp.
constexpr float exp2(float input) {
  const float x = at_least<bits(-151.0f)>(at_most<bits(128.0f)>(input));
  constexpr float shift = 0x1.8p23f + 126;
  const float shifted = x + shift, r = x - (shifted - shift);
  const float p =
      polynomial(r, 0x1.62e43p-1f, 0x1.ebfbep-3f, 0x1.c6aedp-5f, 0x1.3b29aap-7f, 0x1.5f47bp-10f, 0x1.448fcp-13f);
  const std::uint32_t small = 0u - static_cast<std::uint32_t>(input < -124.0f);
  const float s = two_to(bits(shifted) + (small & 64u));
  return (s + s * (r * p)) * from_bits(bits(2.0f) - (small & (64u << 23)));
}

/// 1.6 ulp.
constexpr float expm1(float input) {
  const exp_parts e = split_exp<126>(at_least<bits(-20.0f)>(at_most<bits(89.0f)>(input)));
  const float half = two_to(e.power);  // 2^(n-1): n may be 128
  return with_sign(2.0f * (half * e.expm1 + (half - 0.5f)), input);
}

// ---- logarithms ----------------------------------------------------------------------------------------------------

/// f - (this) is log(1 + f) for -1/3 <= f <= 1/3.
constexpr float log_correction(float f) {
  const float z = f * f;
  return 0.5f * z - z * f *
                        polynomial(f, 0x1.555506p-2f, -0x1.fffefp-3f, 0x1.99d028p-3f, -0x1.559dccp-3f, 0x1.1ed718p-3f,
                                   -0x1.f3113cp-4f, 0x1.1e66b8p-3f, -0x1.080592p-3f);
}

/// x = 2^exponent (1 + f) with 2/3 <= 1 + f < 4/3, for positive finite x.
struct log_parts {
  float exponent, f;
};
constexpr log_parts split_log(float x) {
  const bool subnormal = x < 0x1p-126f;
  const std::uint32_t u = bits(select(subnormal, x * 0x1p23f, x)) - 0x3f2aaaabu;
  const std::int32_t e = static_cast<std::int32_t>(u) >> 23;
  return {static_cast<float>(e) - select(subnormal, 23.0f, 0.0f), from_bits((u & 0x7fffffu) + 0x3f2aaaabu) - 1.0f};
}
/// What every logarithm says of its special arguments.
constexpr float log_special(float x, float result) {
  const float low = select(x < 0.0f, nan, -infinity);
  const float usual = select(x > 0.0f, result, low);
  return select(x < infinity, usual, x);  // inf and NaN
}

/// 0.9 ulp.
constexpr float log(float x) {
  const log_parts l = split_log(x);
  const float rest = l.exponent * 0x1.7f7d1cp-20f - log_correction(l.f);
  return log_special(x, l.exponent * 0x1.62e4p-1f + (l.f + rest));
}
/// 2.3 ulp.
constexpr float log2(float x) {
  const log_parts l = split_log(x);
  return log_special(x, l.exponent + (l.f - log_correction(l.f)) * 0x1.715476p+0f);
}
/// 2.3 ulp.
constexpr float log10(float x) {
  const log_parts l = split_log(x);
  const float rest = (l.f - log_correction(l.f)) * 0x1.bcb7b2p-2f + l.exponent * 0x1.3509f8p-18f;
  return log_special(x, l.exponent * 0x1.344p-2f + rest);
}
/// 1.6 ulp.
constexpr float log1p(float x) {
  const float u = 1.0f + x;
  const log_parts l = split_log(u);
  // f from x itself, not from the rounded sum; past 2^24 the sum is x, and 2^-e would leave the range.
  const bool large = u > 0x1p24f;
  const auto e = static_cast<std::int32_t>(select(large, 0.0f, l.exponent));
  const float down = from_bits(static_cast<std::uint32_t>(127 - e) << 23);
  const float f = select(large, l.f, x * down + (down - 1.0f));
  const float rest = l.exponent * 0x1.7f7d1cp-20f - log_correction(f);
  return with_sign(log_special(u, l.exponent * 0x1.62e4p-1f + (f + rest)), x);
}

// ---- tanh, erf -----------------------------------------------------------------------------------------------------

/// 2.3 ulp. e / (e + 1), where e = (exp(2 |x|) - 1) / 2 without cancellation.
constexpr float tanh(float x) {
  const float a = magnitude(x);
  const exp_parts parts = split_exp<126, true>(2.0f * at_most<bits(9.02f)>(a));
  const float half = two_to(parts.power), e = half * parts.expm1 + (half - 0.5f);
  return lend_sign(e / (e + 1.0f), x);
}

/// 2.0 ulp. 1 - e^-g, where g = -log(erfc(|x|)) is a smooth function; past 4 the result is 1.
constexpr float erf(float x) {
  const float a = magnitude(x), b = at_most<bits(4.0f)>(a);
  const float g =
      b + b * polynomial(b, 0x1.06eba8p-3f, 0x1.45f2fap-1f, 0x1.a4fa5ep-4f, -0x1.39cdc6p-6f, -0x1.506006p-13f,
                         0x1.b50052p-10f, -0x1.4bc9eep-11f, 0x1.ed6c5ep-14f, -0x1.3696b8p-17f);
  const exp_parts e = split_exp<127>(-g);
  const float s = two_to(e.power);
  return with_sign(s * e.expm1 + (s - 1.0f), x);
}

/// Of gelu: where erf is 1, and the polynomial before.
inline constexpr float gelu_end = 5.5437f;
inline constexpr float gelu_root[] = {0x1.98844ep-4f,  0x1.1d353p-5f,   0x1.8286ecp-11f, -0x1.aeff62p-10f,
                                      -0x1.31781p-15f, 0x1.14903cp-14f, -0x1.17319p-17f, 0x1.72223ep-22f};
/// x / 2 (1 + erf(x / sqrt 2)) to 1.5e-7 |x|. erf = 1 - (1 - r)^8, where r / |x| is the polynomial: three squarings
/// cost less than an exponential, and never lead past 1.
constexpr float gelu(float x) {
  const float half = 0.5f * x, a = magnitude(x), b = at_most<bits(gelu_end)>(a);
  const auto& c = gelu_root;
  float e = b * polynomial(b, c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]);
  e = (e + e) - e * e;
  e = (e + e) - e * e;
  e = (e + e) - e * e;
  return half + magnitude(half) * e;
}

// ---- square root ---------------------------------------------------------------------------------------------------

/// Correctly rounded. The compiler's own sqrt would be one instruction, but for errno, which makes it a call.
constexpr float sqrt(float x) {
#if defined(__NO_MATH_ERRNO__)
  if (!__builtin_is_constant_evaluated()) return __builtin_sqrtf(x);
#endif
  const bool subnormal = x < 0x1p-126f;
  const float v = select(subnormal, x * 0x1p24f, x);
  float y = from_bits(0x5f375a86u - (bits(v) >> 1));  // about 1 / sqrt(v)
  for (int i = 0; i < 3; ++i) y = y * (1.5f - (0.5f * v) * y * y);
  const float s = v * y;
  const double error = static_cast<double>(v) - static_cast<double>(s) * static_cast<double>(s);  // exact
  const auto root = static_cast<float>(static_cast<double>(s) + error * (0.5 * static_cast<double>(y)));
  const float scaled = select(subnormal, root * 0x1p-12f, root);
  const float special = select(x < 0.0f, nan, x);  // zeros, infinity, NaN
  return select(x > 0.0f, select(x < infinity, scaled, x), special);
}

}  // namespace sinter::math::straight
