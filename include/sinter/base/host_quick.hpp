// Functions of floating types for the host that are straight-line code for the arguments of every day, as
// host_math.hpp's are for all; for others they answer NaN, and whoever wants to know asks the C library. A loop asks
// when it is through with a block (kernels/host/quick.hpp); math.hpp says what a function is. The worst error stands at
// each function (measured by tests/host/test_base_math.cpp).
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "sinter/base/arithmetic.hpp"
#include "sinter/base/dtype.hpp"
#include "sinter/base/host_math.hpp"

namespace sinter::math::quick {

// ---- sine, cosine, tangent -----------------------------------------------------------------------------------------

/// Of arguments from here on the functions know nothing: multiples of the first part of pi are exact below.
inline constexpr float reducible = 0x1p22f;
constexpr float known(float x, float value) { return select(abs(x) < reducible, value, straight::nan); }

inline constexpr double to_integer = 0x1.8p52;  // the last bit of a sum with it is worth one
/// x - k pi/2.
constexpr double rest_of_quadrants(double x, double k) { return (x - k * 0x1.921fb544p0) - k * 0x1.0b4611a626331p-34; }

/// The sine of r in [-pi/2, pi/2] to 2^-27, its sign turned if the last bit of `turns` is set.
constexpr float sine(double r, double turns) {
  const double z = r * r, s = r * (1 + z * straight::polynomial(z, -0x1.55554bc43ebbfp-3, 0x1.110ed2cb8f865p-7,
                                                                -0x1.9f6fdb4c51313p-13, 0x1.5dbbdab087124p-19));
  const std::uint64_t sign = __builtin_bit_cast(std::uint64_t, turns) << 63;
  return static_cast<float>(__builtin_bit_cast(double, __builtin_bit_cast(std::uint64_t, s) ^ sign));
}
/// 0.7 ulp, as the cosine.
constexpr float sin(float x) {
  const auto wide = static_cast<double>(x);
  const double turns = wide * 0x1.45f306dc9c883p-2 + to_integer, k = turns - to_integer;
  return known(x, sine(rest_of_quadrants(wide, 2 * k), turns));
}
/// The sine of what x is away from a middle between two multiples of pi.
constexpr float cos(float x) {
  const auto wide = static_cast<double>(x);
  const double turns = (wide * 0x1.45f306dc9c883p-2 + 0.5) + to_integer, k = turns - to_integer;
  return known(x, sine(rest_of_quadrants(wide, 2 * k - 1), turns));
}

/// 1.9 ulp.
constexpr float tan(float x) {
  const auto wide = static_cast<double>(x);
  const double quadrants = wide * 0x1.45f306dc9c883p-1 + to_integer, k = quadrants - to_integer;
  const double r = rest_of_quadrants(wide, k), z = r * r;
  const auto s = static_cast<float>(
      r * (1 + z * straight::polynomial(z, -0x1.55554596204d8p-3, 0x1.11075f0281fefp-7, -0x1.994e3eb17e6fap-13)));
  const auto c = static_cast<float>(1 + z * straight::polynomial(z, -0x1.ffffffd0b9dbap-2, 0x1.55553e0bde693p-5,
                                                                 -0x1.6c087cae2704bp-10, 0x1.9933bd3675ebdp-16));
  // In odd quadrants -c / s.
  const std::uint32_t odd = 0u - (static_cast<std::uint32_t>(__builtin_bit_cast(std::uint64_t, quadrants)) & 1u);
  const std::uint32_t swap = (straight::bits(s) ^ straight::bits(c)) & odd;
  return known(
      x, straight::from_bits(straight::bits(s) ^ swap ^ (odd << 31)) / straight::from_bits(straight::bits(c) ^ swap));
}

// ---- division with a remainder -------------------------------------------------------------------------------------

// Exact, and so what remainder.hpp's functions give: where the quotient is not large, x less the nearest multiple of y
// is a number of the type.

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
inline constexpr bool has_fma = true;
#else
inline constexpr bool has_fma = false;
#endif
/// Whether there is a way to that difference; for floats double will do.
template <class T>
inline constexpr bool divides = std::is_same_v<T, float> || (std::is_same_v<T, double> && has_fma);

/// x - k y.
inline float difference(float x, float k, float y) {
  if constexpr (has_fma) return __builtin_fmaf(-k, y, x);
  else return static_cast<float>(static_cast<double>(x) - static_cast<double>(k) * static_cast<double>(y));
}
inline double difference(double x, double k, double y) { return __builtin_fma(-k, y, x); }

template <class T>
constexpr T fmod(T x, T y) {
  constexpr T shift = std::is_same_v<T, float> ? T(0x1.8p23) : T(0x1.8p52);  // the sum's last bit is worth one
  const T a = abs(x), b = abs(y);
  const T k = (a * (T(1) / b) + shift) - shift;
  const T nearest = difference(a, k, b);  // at most a little more than half of b, of either sign
  const T rest = nearest + select(nearest < T(0), b, T(0));
  return select(k < shift / 6, copysign(rest, x), limits<T>::quiet_nan());
}

template <class T>
constexpr T remainder(T x, T y) {
  const T m = fmod(x, y);
  return select(m * copysign(T(1), y) < T(0), m + y, m);
}

template <class T>
constexpr T floor_divide(T x, T y) {
  const T m = fmod(x, y);
  const T q = (x - m) / y - select(m * copysign(T(1), y) < T(0), T(1), T(0));
  constexpr T shift = std::is_same_v<T, float> ? T(0x1.8p23) : T(0x1.8p52);
  return copysign((q + shift) - shift, copysign(T(1), x) * y);  // the nearest integer; a zero has the quotient's sign
}

}  // namespace sinter::math::quick
