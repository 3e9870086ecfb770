// Elementary functions and activations as PyTorch defines them, for the compute types, on host and device. For float,
// device_math.hpp and the host_ files where it matters; otherwise CUDA's functions and the C library's.
// Arithmetic and order are arithmetic.hpp's matter, division with a remainder is remainder.hpp's.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmath>
#include <type_traits>

#include "sinter/base/arithmetic.hpp"
#include "sinter/base/config.hpp"
#include "sinter/base/device_math.hpp"
#include "sinter/base/host_inverse.hpp"
#include "sinter/base/host_math.hpp"
#include "sinter/base/host_math_double.hpp"
#include "sinter/base/host_quick.hpp"
#include "sinter/base/remainder.hpp"

namespace sinter::math {

// ---- functions of the C library ------------------------------------------------------------------------------------

#ifdef __CUDA_ARCH__
#define SINTER_STRAIGHT(name, ...) ::name##f(__VA_ARGS__)
#else
#define SINTER_STRAIGHT(name, ...) straight::name(__VA_ARGS__)
#endif

// Straight-line on the host for float, and where it pays for double.
#ifdef __CUDA_ARCH__
#define SINTER_WIDE_FUNCTION(name) \
  SINTER_HOST_DEVICE inline double name(double x) { return ::name(x); }
#else
#define SINTER_WIDE_FUNCTION(name)                                     \
  SINTER_HOST_DEVICE inline double name(double x) {                    \
    if constexpr (straight::has_fast_double) return straight::name(x); \
    else return ::name(x);                                             \
  }
#endif
#define SINTER_FUNCTION(name)                                                        \
  SINTER_HOST_DEVICE inline float name(float x) { return SINTER_STRAIGHT(name, x); } \
  SINTER_WIDE_FUNCTION(name)
SINTER_FUNCTION(exp)
SINTER_FUNCTION(exp2)
SINTER_FUNCTION(expm1)
SINTER_FUNCTION(log)
SINTER_FUNCTION(log2)
SINTER_FUNCTION(log10)
SINTER_FUNCTION(log1p)
SINTER_FUNCTION(tanh)
#undef SINTER_FUNCTION
#undef SINTER_WIDE_FUNCTION

// Straight-line on the host for float.
#define SINTER_FUNCTION(name)                                                        \
  SINTER_HOST_DEVICE inline float name(float x) { return SINTER_STRAIGHT(name, x); } \
  SINTER_HOST_DEVICE inline double name(double x) { return ::name(x); }
SINTER_FUNCTION(sqrt)
SINTER_FUNCTION(erf)
SINTER_FUNCTION(erfc)
SINTER_FUNCTION(asin)
SINTER_FUNCTION(acos)
SINTER_FUNCTION(atan)
SINTER_FUNCTION(sinh)
SINTER_FUNCTION(cosh)
SINTER_FUNCTION(asinh)
SINTER_FUNCTION(acosh)
SINTER_FUNCTION(atanh)
#undef SINTER_FUNCTION

SINTER_HOST_DEVICE inline float lgamma(float x) { return ::lgammaf(x); }
SINTER_HOST_DEVICE inline double lgamma(double x) { return ::lgamma(x); }

#define SINTER_FUNCTION(name)                                                                    \
  SINTER_HOST_DEVICE inline float name(float x, float y) { return SINTER_STRAIGHT(name, x, y); } \
  SINTER_HOST_DEVICE inline double name(double x, double y) { return ::name(x, y); }
SINTER_FUNCTION(atan2)
SINTER_FUNCTION(hypot)
#undef SINTER_FUNCTION

template <class T>
SINTER_HOST_DEVICE constexpr T pow(T x, T y) {
#ifndef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, float> && straight::has_fast_pow) return straight::pow(x, y);
#endif
  if constexpr (std::is_same_v<T, float>) return ::powf(x, y);
  else if constexpr (std::is_same_v<T, double>) return ::pow(x, y);
  else return integer_pow(x, y);
}

#ifdef __CUDA_ARCH__
#define SINTER_FUNCTION(name) \
  SINTER_HOST_DEVICE inline float name(float x) { return device::name(x); }
#else
#define SINTER_FUNCTION(name)                     \
  SINTER_HOST_DEVICE inline float name(float x) { \
    const float known = quick::name(x);           \
    return known == known ? known : ::name##f(x); \
  }
#endif
SINTER_FUNCTION(sin)
SINTER_FUNCTION(cos)
SINTER_FUNCTION(tan)
#undef SINTER_FUNCTION
SINTER_HOST_DEVICE inline double sin(double x) { return ::sin(x); }
SINTER_HOST_DEVICE inline double cos(double x) { return ::cos(x); }
SINTER_HOST_DEVICE inline double tan(double x) { return ::tan(x); }

// Rounding: integers are what they are.
#define SINTER_FUNCTION(name, c_name)                                          \
  template <class T>                                                           \
  SINTER_HOST_DEVICE constexpr T name(T x) {                                   \
    if constexpr (std::is_same_v<T, float>) return SINTER_STRAIGHT(c_name, x); \
    else if constexpr (std::is_same_v<T, double>) return ::c_name(x);          \
    else return x;                                                             \
  }
SINTER_FUNCTION(floor, floor)
SINTER_FUNCTION(ceil, ceil)
SINTER_FUNCTION(trunc, trunc)
SINTER_FUNCTION(round, rint)  // half to even
#undef SINTER_FUNCTION
#undef SINTER_STRAIGHT

template <class T>
SINTER_HOST_DEVICE constexpr T rsqrt(T x) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, float>) return ::rsqrtf(x);
#endif
  return T(1) / sqrt(x);
}

/// e^x for x that is not positive.
template <class T>
constexpr T falling_exp(T x) {
  if constexpr (std::is_same_v<T, float>) return straight::falling_exp(x);
  else return exp(x);
}

// ---- activations ---------------------------------------------------------------------------------------------------

namespace detail {

/// x / y for y >= 1 to two ulp: on the device a few instructions instead of a call. Past 2^126 the quotient is 0 there.
template <class T>
SINTER_HOST_DEVICE constexpr T soft_div(T x, T y) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, float>) return ::__fdividef(x, y);
#endif
  return x / y;
}

template <class T>
SINTER_HOST_DEVICE constexpr T one_plus_exp_minus(T x) {
#ifndef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, float>) return straight::one_plus_exp_minus(x);
#endif
  return T(1) + exp(-x);
}

}  // namespace detail

template <class T>
SINTER_HOST_DEVICE constexpr T sigmoid(T x) {
  return detail::soft_div(T(1), detail::one_plus_exp_minus(x));
}

template <class T>
SINTER_HOST_DEVICE constexpr T silu(T x) {
  return detail::soft_div(x, detail::one_plus_exp_minus(x));
}

template <class T>
SINTER_HOST_DEVICE constexpr T gelu(T x) {
  if constexpr (std::is_same_v<T, float>) {
#ifdef __CUDA_ARCH__
    return device::gelu(x);
#else
    return straight::gelu(x);
#endif
  } else {
    return T(0.5) * x * (T(1) + erf(x * T(0.70710678118654752440)));
  }
}

/// (1 + tanh(u)) / 2 is sigmoid(2u): one exponential, and no cancellation for negative x.
template <class T>
SINTER_HOST_DEVICE constexpr T gelu_tanh(T x) {
  const T u = T(0.79788456080286535588) * (x + T(0.044715) * x * x * x);
  return detail::soft_div(x, detail::one_plus_exp_minus(T(2) * u));
}

template <class T>
SINTER_HOST_DEVICE constexpr T elu(T x, T alpha) {
  return select(x < T(0), alpha * expm1(x), x);
}

template <class T>
SINTER_HOST_DEVICE constexpr T selu(T x) {
  return T(1.0507009873554804934) * elu(x, T(1.6732632423543772848));
}

/// PyTorch's threshold of 20 with beta 1.
template <class T>
SINTER_HOST_DEVICE constexpr T softplus(T x) {
  return select(x > T(20), x, log1p(exp(x)));
}

template <class T>
SINTER_HOST_DEVICE constexpr T logsigmoid(T x) {
  return minimum(x, T(0)) - log1p(exp(-abs(x)));
}

/// x tanh(softplus(x)), where tanh(log(1 + e)) = e (e + 2) / (e (e + 2) + 2).
template <class T>
SINTER_HOST_DEVICE constexpr T mish(T x) {
  const T e = exp(minimum(x, T(20)));
  const T n = e * (e + T(2));
  return select(x > T(20), x, x * detail::soft_div(n, n + T(2)));
}

template <class T>
SINTER_HOST_DEVICE constexpr T hardsigmoid(T x) {
  return clamp(x + T(3), T(0), T(6)) * T(1.0 / 6.0);
}

}  // namespace sinter::math
