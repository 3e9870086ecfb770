// Division with a remainder. Of integers, x by zero is 0 with remainder 0 (PyTorch throws, which a kernel cannot), and
// the lowest one by -1 wraps to the lowest. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "sinter/base/arithmetic.hpp"
#include "sinter/base/config.hpp"
#include "sinter/base/device_math.hpp"

namespace sinter::math {

namespace detail {

/// Towards zero.
template <class T>
SINTER_HOST_DEVICE constexpr T quotient(T x, T y) {
  const bool trivial = y == T(0) || (std::is_signed_v<T> && y == T(-1));
  const T safe = trivial ? T(1) : y;
  const T q = static_cast<T>(x / safe);
  return y == T(0) ? T(0) : trivial ? neg(x) : q;
}

}  // namespace detail

#ifndef __CUDA_ARCH__
// The same of integers without branches, so that a loop is vector code. Those of 64 bits are divided one by one.
namespace straight {

template <class T>
constexpr T choose(bool c, T x, T y) {
  using bits = unsigned_t<T>;
  const bits mask = bits(0) - static_cast<bits>(c);
  return static_cast<T>((static_cast<bits>(x) & mask) | (static_cast<bits>(y) & ~mask));
}
template <class T>
constexpr T quotient(T x, T y) {
  const bool trivial = either(y == T(0), std::is_signed_v<T> && y == T(-1));
  const T by = choose(trivial, T(1), y);
  T q;
  if constexpr (sizeof(T) <= 4) {
    // Of floating numbers, as processors divide no vectors of integers: |x| + 1/2 lies between the same multiples of y
    // as |x|, and farther from both than roundings lead.
    using real = std::conditional_t<sizeof(T) == 1, float, double>;
    const auto a = static_cast<real>(x);
    q = static_cast<T>(static_cast<std::int32_t>((a + copysign(real(0.5), a)) * (real(1) / static_cast<real>(by))));
  } else {
    q = x / by;
  }
  return choose(trivial, mul(x, y), q);
}
template <class T>
constexpr T fmod(T x, T y) {
  return choose(y == T(0), T(0), sub(x, mul(quotient(x, y), y)));
}
/// Whether a remainder that is not zero has another sign than y.
template <class T>
constexpr bool crosses(T m, T y) {
  return negative(choose(negative(y), neg(m), m));
}
template <class T>
constexpr T remainder(T x, T y) {
  const T m = fmod(x, y);
  return choose(crosses(m, y), add(m, y), m);
}
template <class T>
constexpr T floor_divide(T x, T y) {
  const T q = quotient(x, y);
  return choose(crosses(fmod(x, y), y), sub(q, T(1)), q);
}

}  // namespace straight
#define SINTER_INTEGERS_STRAIGHT(name) \
  if constexpr (!is_float<T>) return straight::name(x, y)
#else
#define SINTER_INTEGERS_STRAIGHT(name)
#endif

/// Sign of the dividend.
template <class T>
SINTER_HOST_DEVICE constexpr T fmod(T x, T y) {
  SINTER_INTEGERS_STRAIGHT(fmod);
  if constexpr (std::is_same_v<T, float>) {
#ifdef __CUDA_ARCH__
    return device::fmod(x, y);
#else
    return ::fmodf(x, y);
#endif
  } else if constexpr (std::is_same_v<T, double>) return ::fmod(x, y);
  else return y == T(0) ? T(0) : sub(x, mul(detail::quotient(x, y), y));
}

/// Sign of the divisor, as Python's %.
template <class T>
SINTER_HOST_DEVICE constexpr T remainder(T x, T y) {
  SINTER_INTEGERS_STRAIGHT(remainder);
  const T m = fmod(x, y);
  return m != T(0) && negative(m) != negative(y) ? add(m, y) : m;
}

namespace detail {

/// x // y such that x == (x // y) * y + x % y; x / y alone may round up to the next integer.
template <class T>
SINTER_HOST_DEVICE constexpr T floor_by_fmod(T x, T y) {
  const T m = fmod(x, y);
  T q = (x - m) / y;
  if (m != T(0) && negative(m) != negative(y)) q -= T(1);
  T whole;
  if constexpr (std::is_same_v<T, float>) whole = ::floorf(q);
  else whole = ::floor(q);
  if (q - whole > T(0.5)) whole += T(1);
  if (y == T(0)) return x / y;
  return q == T(0) ? x / y * T(0) : whole;  // a zero with the quotient's sign
}
#ifdef __CUDACC__
__device__ __noinline__ inline float far_floor(float x, float y) { return floor_by_fmod(x, y); }
#endif

}  // namespace detail

/// Towards minus infinity, as Python's //.
template <class T>
SINTER_HOST_DEVICE constexpr T floor_divide(T x, T y) {
  SINTER_INTEGERS_STRAIGHT(floor_divide);
  if constexpr (is_float<T>) {
#ifdef __CUDA_ARCH__
    if constexpr (std::is_same_v<T, float>) {
      const device::division d = device::divide(x, y);
      return d.known ? device::floor_of(d, x, y) : detail::far_floor(x, y);
    }
#endif
    return detail::floor_by_fmod(x, y);
  } else {
    const T q = detail::quotient(x, y);
    const T m = fmod(x, y);
    return m != T(0) && negative(m) != negative(y) ? sub(q, T(1)) : q;
  }
}
#undef SINTER_INTEGERS_STRAIGHT

}  // namespace sinter::math
