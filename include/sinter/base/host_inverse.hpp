// The inverse and the hyperbolic functions of float for the host, powers, hypotenuses and erfc, as straight-line code
// like host_math.hpp's: what is simplest in double is computed in double and rounded once. The worst error stands at
// each function (measured by tests/host/test_base_math.cpp). SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "sinter/base/arithmetic.hpp"
#include "sinter/base/host_math.hpp"

namespace sinter::math::straight {

// ---- parts in double -----------------------------------------------------------------------------------------------

/// The square root of a normal number or zero to an ulp of float or better: no function that sets errno.
template <class T>
constexpr T near_root(T v) {
  constexpr auto magic = static_cast<unsigned_t<T>>(sizeof(T) == 4 ? 0x5f375a86u : 0x5fe6eb50c7b537a9u);
  T y = from_bits(magic - (bits(v) >> 1));  // about 1 / sqrt(v)
  for (int i = 0; i < 3; ++i) y = y * (T(1.5) - (T(0.5) * v) * y * y);
  const T s = v * y;
  return s + (v - s * s) * (T(0.5) * y);
}

/// log2 of a positive normal number to 2^-41, relative to the result: 2^e m with 2/3 <= m < 4/3, and
/// log(m) = 2 artanh(s).
constexpr double near_log2(double x) {
  constexpr std::uint64_t low = 0x3fe5555555555555u, fraction = 0xfffffffffffffu;
  const std::uint64_t u = bits(x) - low + (std::uint64_t(1024) << 52);
  const double e = from_bits((u >> 52) | bits(0x1p52)) - (0x1p52 + 1024);
  const double f = from_bits((u & fraction) + low) - 1.0, s = f / (2.0 + f), z = s * s;
  return e +
         s * (0x1.71547652b82fep+1 + z * polynomial(z, 0x1.ec709dc913e58p-1, 0x1.2776bd912f140p-1, 0x1.a61e0eac99628p-2,
                                                    0x1.47008f87166a4p-2, 0x1.2952bb83492ccp-2));
}

/// 2^x to 2^-28, for |x| up to 1000.
constexpr double near_exp2(double x) {
  constexpr double shift = 0x1.8p52;
  const double shifted = x + shift, r = x - (shifted - shift);
  const double p = 1.0 + r * polynomial(r, 0x1.62e430d07986cp-1, 0x1.ebfbe0460cc0bp-3, 0x1.c6aecc0a7de9fp-5,
                                        0x1.3b2a1b516ca7fp-7, 0x1.5f48ee5d03a91p-10, 0x1.44401fae30efep-13);
  return from_bits(bits(p) + (bits(shifted) << 52));
}

// ---- inverse trigonometric functions -------------------------------------------------------------------------------

/// The arc tangent of t in [0, 1].
constexpr float first_atan(float t) {
  const float z = t * t;
  return t + t * z *
                 polynomial(z, -0x1.55553ep-2f, 0x1.9991fep-3f, -0x1.2421b6p-3f, 0x1.c09a02p-4f, -0x1.58349cp-4f,
                            0x1.daca04p-5f, -0x1.fed19ap-6f, 0x1.65a694p-7f, -0x1.d63048p-10f);
}
/// quarters * pi/2 + x, for 0, 1 or 2 of them.
constexpr float from_quarters(float quarters, float x) {
  return quarters * 0x1.921fb6p+0f + (x - quarters * 0x1.777a5cp-25f);
}

/// 2.0 ulp.
constexpr float atan(float x) {
  const float a = magnitude(x);
  const bool large = a > 1.0f;
  const float r = first_atan(select(large, 1.0f / a, a));
  return with_sign(select(large, from_quarters(1.0f, -r), r), x);
}

/// 2.5 ulp.
constexpr float atan2(float y, float x) {
  const float a = magnitude(x), b = magnitude(y);
  const bool steep = b > a, left = static_cast<std::int32_t>(bits(x)) < 0;
  const float quotient = select(steep, a, b) / select(steep, b, a);
  const float equal = select(b == 0.0f, 0.0f, 1.0f);  // zeros and infinities too
  const float r = first_atan(select(a == b, equal, quotient));
  const float quarters = select(steep, 1.0f, select(left, 2.0f, 0.0f));
  const float turned = select(steep, -r, r);
  return with_sign(from_quarters(quarters, select(left, -turned, turned)), y);
}

/// For |x| <= 1/2 its arc sine and 0, otherwise that of the root of (1 - |x|) / 2, twice of which pi/2 - |arc sine| is.
struct asin_parts {
  float value;
  bool is_far;
};
constexpr asin_parts split_asin(float x) {
  const float a = magnitude(x);
  const bool far = a > 0.5f;
  const float z = select(far, 0.5f - 0.5f * a, a * a), s = select(far, near_root(z), a);
  const float p = polynomial(z, 0x1.5555c8p-3f, 0x1.3301e4p-4f, 0x1.747e4ap-5f, 0x1.8c2828p-6f, 0x1.596d44p-5f);
  return {select(a <= 1.0f, s + s * z * p, nan), far};
}
/// 2.0 ulp.
constexpr float asin(float x) {
  const asin_parts p = split_asin(x);
  return with_sign(select(p.is_far, from_quarters(1.0f, -2.0f * p.value), p.value), x);
}
/// 2.0 ulp.
constexpr float acos(float x) {
  const asin_parts p = split_asin(x);
  const float twice = 2.0f * p.value, far = select(x < 0.0f, from_quarters(2.0f, -twice), twice);
  return select(p.is_far, far, from_quarters(1.0f, -with_sign(p.value, x)));
}

// ---- hyperbolic functions and their inverses -----------------------------------------------------------------------

/// A quarter of 2^n, and of 2^n (e^r - 1), where |x| = n ln 2 + r; past 89.42 sinh and cosh are infinite.
struct quarter_exp {
  float scale, rest;
};
constexpr quarter_exp split_quarter_exp(float x) {
  const exp_parts e = split_exp<125>(at_most<bits(89.5f)>(magnitude(x)));
  const float quarter = two_to(e.power);
  return {quarter, quarter * e.expm1};
}
/// 2.5 ulp. h + h / (2h + 1), where h = (e^|x| - 1) / 2.
constexpr float sinh(float x) {
  const quarter_exp e = split_quarter_exp(x);
  const float half = e.rest + (e.scale - 0.25f), h = 2.0f * half, s = h + half / (h + 0.5f);
  return select(magnitude(x) < 0x1p-12f, x, with_sign(s, x));
}
/// 2.0 ulp.
constexpr float cosh(float x) {
  const quarter_exp e = split_quarter_exp(x);
  const float h = 2.0f * (e.scale + e.rest);  // e^|x| / 2
  return h + 0.25f / h;
}

/// Small |x|: x + coefficient x^3; what the logarithm would lose.
constexpr float near_zero(float x, double coefficient, double value) {
  const auto wide = static_cast<double>(x);
  return static_cast<float>(select(magnitude(x) < 0x1p-8f, wide + wide * wide * wide * coefficient, value));
}
inline constexpr double ln2 = 0x1.62e42fefa39efp-1;

/// 0.6 ulp.
constexpr float asinh(float x) {
  const auto a = static_cast<double>(magnitude(x));
  const double r = ln2 * near_log2(a + near_root(a * a + 1.0));
  return select(magnitude(x) < infinity, with_sign(near_zero(magnitude(x), -1.0 / 6, r), x), x);
}
/// 0.6 ulp.
constexpr float acosh(float x) {
  const auto a = static_cast<double>(at_least<bits(1.0f)>(x));
  const auto r = static_cast<float>(ln2 * near_log2(a + near_root(a * a - 1.0)));
  return select(x < 1.0f, nan, select(x < infinity, r, x));
}
/// 0.6 ulp.
constexpr float atanh(float x) {
  const auto a = static_cast<double>(magnitude(x));
  const double r = 0.5 * ln2 * near_log2((1.0 + a) / (1.0 - a));
  const float at_one = select(magnitude(x) == 1.0f, infinity, nan);
  return with_sign(select(magnitude(x) < 1.0f, near_zero(magnitude(x), 1.0 / 3, r), at_one), x);
}

// ---- complementary error function ----------------------------------------------------------------------------------

/// 0.7 ulp. e^-a^2 / (1 + 2a) times what changes little with a, a polynomial in (a - 3) / (a + 3).
constexpr float erfc(float x) {
  const auto a = static_cast<double>(at_most<bits(10.5f)>(magnitude(x)));
  const double n = 1.0 + 2.0 * a, d = 1.0 / ((a + 3.0) * n), t = (a - 3.0) * n * d;
  const double p =
      polynomial(t, 0x1.40c522dd3f334p+0, -0x1.15c0899bd2291p-3, -0x1.85a1ab8156d18p-5, 0x1.0984186e1785dp-3,
                 -0x1.e887eae075055p-4, 0x1.17bd4f0f174e3p-4, -0x1.85f6caa7ece53p-6, 0x1.500fda41821a3p-9,
                 0x1.072721e14909bp-9, -0x1.9295caff4b810p-11, -0x1.1533146fb8985p-12);
  const double value = near_exp2(-0x1.71547652b82fep0 * a * a) * ((a + 3.0) * d) * p;
  return static_cast<float>(select(x < 0.0f, 2.0 - value, value));
}

// ---- powers, hypotenuses -------------------------------------------------------------------------------------------

/// Whether it is worth it: without AVX2 g++ makes no vectors of its choices in double.
#if defined(__x86_64__) && !defined(__AVX2__)
inline constexpr bool has_fast_pow = false;
#else
inline constexpr bool has_fast_pow = true;
#endif
/// 0.6 ulp.
constexpr float pow(float x, float y) {
  const float a = magnitude(x);
  const auto wide = static_cast<double>(a);
  const double l = select(a > 0.0f, near_log2(wide), -limits<double>::infinity());
  const double e = static_cast<double>(y) * select(a < infinity, l, wide);
  const double limited = select(e < -160.0, -160.0, select(e > 160.0, 160.0, e));  // NaN stays
  const auto p = static_cast<float>(near_exp2(limited));
  const float half = 0.5f * y;
  const bool is_whole = trunc(y) == y;
  // The sign is that of x where y is odd.
  const float turned = with_sign(p, select(is_whole, select(trunc(half) == half, 0.0f, x), 0.0f));
  const float of_negative = select(x > -infinity, select(is_whole, turned, nan), turned);
  const float usual = select(x < 0.0f, of_negative, turned);
  const float of_minus_one = select(magnitude(y) == infinity, 1.0f, usual);
  return select(y == 0.0f, 1.0f, select(x == 1.0f, 1.0f, select(x == -1.0f, of_minus_one, usual)));
}

/// 0.6 ulp.
constexpr float hypot(float x, float y) {
  const auto a = static_cast<double>(x), b = static_cast<double>(y);
  const float r = static_cast<float>(near_root(a * a + b * b));
  return select(magnitude(x) == infinity, infinity, select(magnitude(y) == infinity, infinity, r));
}

}  // namespace sinter::math::straight
