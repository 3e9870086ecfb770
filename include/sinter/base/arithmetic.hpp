// Scalar arithmetic with PyTorch's semantics, for every compute type: integers wrap in their own type, division by zero
// is defined, NaN goes where PyTorch lets it go. Nothing here is undefined behaviour for any operands.
// Transcendental functions are math.hpp's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "sinter/base/config.hpp"
#include "sinter/base/dtype.hpp"

namespace sinter::math {

template <class T>
inline constexpr bool is_float = std::is_floating_point_v<T>;
template <class T>
inline constexpr bool is_bool = std::is_same_v<T, bool>;

/// Where an integer is computed so that it wraps: never narrower than int, or the promotion would be signed again.
template <class T>
using unsigned_t = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

/// && and || without a branch between the operands.
SINTER_HOST_DEVICE constexpr bool both(bool x, bool y) {
  return (sinter::detail::byte_of(x) & sinter::detail::byte_of(y)) != 0;
}
SINTER_HOST_DEVICE constexpr bool either(bool x, bool y) {
  return (sinter::detail::byte_of(x) | sinter::detail::byte_of(y)) != 0;
}

template <class T>
SINTER_HOST_DEVICE constexpr bool truth(T x) {
  if constexpr (is_bool<T>) return sinter::detail::byte_of(x) != 0;
  else return x != T(0);
}
template <class T>
SINTER_HOST_DEVICE constexpr bool logical_not(T x) {
  if constexpr (is_bool<T>) return sinter::detail::byte_of(x) == 0;
  else return x == T(0);
}

/// c ? x : y with both sides evaluated. Of floats by masks: written as a choice, g++ would sink what only one side
/// needs into a branch, and then not vectorise the loop around it.
template <class T>
SINTER_HOST_DEVICE constexpr T select(bool c, T x, T y) {
#ifndef __CUDA_ARCH__
  if constexpr (is_float<T>) {
    using bits = unsigned_t<T>;
    const bits mask = bits(0) - static_cast<bits>(c);
    return __builtin_bit_cast(T, (__builtin_bit_cast(bits, x) & mask) | (__builtin_bit_cast(bits, y) & ~mask));
  }
#endif
  return c ? x : y;
}

/// x < 0, also for types that never are.
template <class T>
SINTER_HOST_DEVICE constexpr bool negative(T x) {
  if constexpr (std::is_signed_v<T>) return x < T(0);
  else return false;
}

// ---- limits --------------------------------------------------------------------------------------------------------

#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define SINTER_HIDES_LIMITS
#endif

namespace detail {

#ifdef SINTER_HIDES_LIMITS
/// Bits of a limit that g++ must not know: it would follow the path of values that are the limit by itself, and give up
/// vector code. A type that no tensor has, so that loops read it once; `used`, or at link time it would be known again.
enum class hidden : std::uint32_t {};
template <std::uint32_t Bits>
[[gnu::used]] inline hidden limit_bits{Bits};
#endif

template <std::uint32_t Bits>
constexpr float limit() {
#ifdef SINTER_HIDES_LIMITS
  if (!__builtin_is_constant_evaluated()) return __builtin_bit_cast(float, limit_bits<Bits>);
#endif
  return __builtin_bit_cast(float, Bits);
}

}  // namespace detail

/// x, or the limit of these bits where x is more, or less. NaN stays: of two numbers that do not compare a processor's
/// minimum gives the second, as the choice does.
template <std::uint32_t Limit>
constexpr float at_most(float x) {
  const float limit = detail::limit<Limit>();
#ifdef __CUDACC__
  return select(limit < x, limit, x);  // the limit is known
#else
  return limit < x ? limit : x;
#endif
}
template <std::uint32_t Limit>
constexpr float at_least(float x) {
  const float limit = detail::limit<Limit>();
#ifdef __CUDACC__
  return select(limit > x, limit, x);
#else
  return limit > x ? limit : x;
#endif
}
#undef SINTER_HIDES_LIMITS

// ---- + - * / -------------------------------------------------------------------------------------------------------

template <class T>
SINTER_HOST_DEVICE constexpr T add(T x, T y) {
  if constexpr (is_float<T> || is_bool<T>) return static_cast<T>(x + y);  // bool: or
  else return static_cast<T>(static_cast<unsigned_t<T>>(x) + static_cast<unsigned_t<T>>(y));
}

template <class T>
SINTER_HOST_DEVICE constexpr T sub(T x, T y) {
  if constexpr (is_float<T>) return x - y;
  else return static_cast<T>(static_cast<unsigned_t<T>>(x) - static_cast<unsigned_t<T>>(y));
}

template <class T>
SINTER_HOST_DEVICE constexpr T mul(T x, T y) {
  if constexpr (is_float<T> || is_bool<T>) return static_cast<T>(x * y);  // bool: and
  else return static_cast<T>(static_cast<unsigned_t<T>>(x) * static_cast<unsigned_t<T>>(y));
}

template <class T>
SINTER_HOST_DEVICE constexpr T neg(T x) {
  if constexpr (is_float<T>) return -x;
  else return sub(T(0), x);
}

/// The lowest integer stays what it is.
template <class T>
SINTER_HOST_DEVICE constexpr T abs(T x) {
  if constexpr (std::is_same_v<T, float>) return __builtin_fabsf(x);
  else if constexpr (std::is_same_v<T, double>) return __builtin_fabs(x);
  else return negative(x) ? neg(x) : x;
}

/// NaN has sign 0, as in PyTorch.
template <class T>
SINTER_HOST_DEVICE constexpr T sign(T x) {
  return sub(select(x > T(0), T(1), T(0)), select(negative(x), T(1), T(0)));
}

template <class T>
SINTER_HOST_DEVICE constexpr T copysign(T x, T y) {
  if constexpr (std::is_same_v<T, float>) return __builtin_copysignf(x, y);
  else return __builtin_copysign(x, y);
}

/// True division; the dtype rule sees to it that operands are floating.
template <class T>
SINTER_HOST_DEVICE constexpr T div(T x, T y) {
  static_assert(is_float<T>, "div(x, y): integers are converted to a floating type first");
  return x / y;
}

template <class T>
SINTER_HOST_DEVICE constexpr T fma(T x, T y, T z) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, float>) return ::fmaf(x, y, z);
  else if constexpr (std::is_same_v<T, double>) return ::fma(x, y, z);
  else
#endif
    return add(mul(x, y), z);
}

// ---- order ---------------------------------------------------------------------------------------------------------

/// NaN wins.
template <class T>
SINTER_HOST_DEVICE constexpr T maximum(T x, T y) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<T, float>) {
    if (!__builtin_is_constant_evaluated()) {
      float result = 0;
      asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
      return result;
    }
  }
#endif
  if constexpr (is_float<T>) return select(x != x, x, x > y ? x : y);
  else return x > y ? x : y;
}

template <class T>
SINTER_HOST_DEVICE constexpr T minimum(T x, T y) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<T, float>) {
    if (!__builtin_is_constant_evaluated()) {
      float result = 0;
      asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
      return result;
    }
  }
#endif
  if constexpr (is_float<T>) return select(x != x, x, x < y ? x : y);
  else return x < y ? x : y;
}

/// NaN loses.
template <class T>
SINTER_HOST_DEVICE constexpr T fmax(T x, T y) {
  if constexpr (is_float<T>) return select(y != y, x, x > y ? x : y);
  else return x > y ? x : y;
}

template <class T>
SINTER_HOST_DEVICE constexpr T fmin(T x, T y) {
  if constexpr (is_float<T>) return select(y != y, x, x < y ? x : y);
  else return x < y ? x : y;
}

/// With low > high the result is high.
template <class T>
SINTER_HOST_DEVICE constexpr T clamp(T x, T low, T high) {
  return minimum(maximum(x, low), high);
}

template <class T>
SINTER_HOST_DEVICE constexpr T relu(T x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<T, float>) return maximum(x, 0.0f);
#elif !defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float>) return at_least<0>(x);
#endif
  return select(negative(x), T(0), x);
}

template <class First, class T>
SINTER_HOST_DEVICE constexpr T where(First condition, T x, T y) {
  return select(truth(condition), x, y);
}

template <class T>
SINTER_HOST_DEVICE constexpr T lerp(T x, T y, T weight) {
  // From the nearer end, so that weight 0 gives x and weight 1 gives y exactly.
  const T d = y - x;
  return select(abs(weight) < T(0.5), x + weight * d, y - d * (T(1) - weight));
}

// ---- tests, bits ---------------------------------------------------------------------------------------------------

template <class T>
SINTER_HOST_DEVICE constexpr bool isnan(T x) {
  if constexpr (is_float<T>) return x != x;
  else return false;
}

template <class T>
SINTER_HOST_DEVICE constexpr bool isinf(T x) {
  if constexpr (is_float<T>) return abs(x) == limits<T>::infinity();
  else return false;
}

template <class T>
SINTER_HOST_DEVICE constexpr bool isfinite(T x) {
  if constexpr (is_float<T>) return abs(x) < limits<T>::infinity();
  else return true;
}

template <class T>
SINTER_HOST_DEVICE constexpr T bitwise_not(T x) {
  if constexpr (is_bool<T>) return logical_not(x);
  else return static_cast<T>(~x);
}

/// By a negative amount or by the width and more: all bits leave.
template <class T>
SINTER_HOST_DEVICE constexpr T left_shift(T x, T amount) {
  const bool gone = negative(amount) || amount >= T(8 * sizeof(T));
  const T shifted = static_cast<T>(static_cast<unsigned_t<T>>(x) << (gone ? T(0) : amount));
  return gone ? T(0) : shifted;
}

/// Arithmetic; by a negative amount or by the width and more: only the sign is left.
template <class T>
SINTER_HOST_DEVICE constexpr T right_shift(T x, T amount) {
  constexpr int width = static_cast<int>(8 * sizeof(T));
  const bool gone = negative(amount) || amount >= T(width);
  if constexpr (std::is_signed_v<T>) return static_cast<T>(x >> (gone ? T(width - 1) : amount));
  else return gone ? T(0) : static_cast<T>(x >> (gone ? T(0) : amount));
}

/// Integers by squaring, wrapping; to a negative power 1 and -1 stay what they are and everything else is 0.
template <class T>
SINTER_HOST_DEVICE constexpr T integer_pow(T base, T exponent) {
  if (negative(exponent)) {
    if (base == T(1)) return T(1);
    if (base == T(-1)) return exponent % 2 != 0 ? T(-1) : T(1);
    return T(0);
  }
  T result = T(1);
  for (unsigned_t<T> e = static_cast<unsigned_t<T>>(exponent); e != 0; e >>= 1) {
    if (e & 1) result = mul(result, base);
    base = mul(base, base);
  }
  return result;
}

}  // namespace sinter::math
