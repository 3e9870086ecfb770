// Element types: which exist, how each is stored, in which type it is computed, and what mixes to what (PyTorch's
// promotion). Also f16 and bf16 themselves, because neither C++20 nor the host has them.
// Which operands an op accepts is op.hpp's matter; the bits of fp8 and of complex types nobody's yet.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "sinter/base/config.hpp"
#include "sinter/base/string_view.hpp"

namespace sinter {

enum class dtype : unsigned char { boolean, u8, i8, i32, i64, f16, bf16, f32, f64 };

// ---- sixteen-bit floating types ------------------------------------------------------------------------------------

namespace detail {

// Bits in and out of float. Selects instead of branches, and no arithmetic on subnormal floats: a loop over these
// becomes vector code, and gives the same under flush-to-zero.

/// c ? x : y by a mask, as g++ would sink what one side needs into a branch.
SINTER_HOST_DEVICE constexpr std::uint32_t choose(bool c, std::uint32_t x, std::uint32_t y) {
  const std::uint32_t mask = 0u - static_cast<std::uint32_t>(c);
  return (x & mask) | (y & ~mask);
}

SINTER_HOST_DEVICE constexpr float bf16_to_float(std::uint16_t bits) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits) << 16);
}

SINTER_HOST_DEVICE constexpr std::uint16_t float_to_bf16_bitwise(float value) {
  const auto u = __builtin_bit_cast(std::uint32_t, value);
  // A choice of floats: of one between integers g++ computes each side in 16 bits, with three times the instructions.
  const auto rounded = __builtin_bit_cast(float, u + 0x7fffu + ((u >> 16) & 1u));  // half to even, carrying into inf
  const auto quiet = __builtin_bit_cast(float, u | 0x400000u);
  return static_cast<std::uint16_t>(__builtin_bit_cast(std::uint32_t, value == value ? rounded : quiet) >> 16);
}

SINTER_HOST_DEVICE constexpr float f16_to_float_bitwise(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t magnitude = (bits & 0x7fffu) << 13;
  const std::uint32_t normal = magnitude + (112u << 23);  // exponent bias 15 -> 127
  const std::uint32_t special = magnitude | (255u << 23);
  // 2^-14 * (1 + fraction) - 2^-14: exact, and the hardware normalises.
  const auto subnormal =
      __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(float, magnitude + (113u << 23)) - 0x1p-14f);
  const std::uint32_t finite = choose(magnitude < (1u << 23), subnormal, normal);
  return __builtin_bit_cast(float, sign | choose(magnitude >= (31u << 23), special, finite));
}

SINTER_HOST_DEVICE constexpr std::uint16_t float_to_f16_bitwise(float value) {
  const auto u = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t magnitude = u & 0x7fffffffu;
  const std::uint32_t finite = choose(magnitude < (143u << 23), magnitude, 143u << 23);  // 2^16, which gives infinity
  // The sum with 2^13 times the power of two below it, of which one ulp is one of f16: the addition rounds half to even
  // at the right bit. f16's subnormals all have the ulp of 2^-14.
  const std::uint32_t power = choose(finite < (113u << 23), 113u << 23, finite & 0x7f800000u),
                      large = power + (13u << 23);
  const auto sum = __builtin_bit_cast(float, finite) + __builtin_bit_cast(float, large);
  const std::uint32_t half = (power >> 13) - (113u << 10) + (__builtin_bit_cast(std::uint32_t, sum) - large);
  // In the upper half, or g++ would compute some of it in 16 bits, with twice the instructions.
  return static_cast<std::uint16_t>(((u & 0x80000000u) | choose(value == value, half << 16, 0x7e000000u)) >> 16);
}

SINTER_HOST_DEVICE constexpr std::uint16_t float_to_bf16(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if (!__builtin_is_constant_evaluated()) {
    std::uint16_t bits = 0;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
  }
#endif
  return float_to_bf16_bitwise(value);
}

SINTER_HOST_DEVICE constexpr float f16_to_float(std::uint16_t bits) {
#if defined(__CUDA_ARCH__)
  if (!__builtin_is_constant_evaluated()) {
    float value = 0;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
  }
#endif
  return f16_to_float_bitwise(bits);
}

SINTER_HOST_DEVICE constexpr std::uint16_t float_to_f16(float value) {
#if defined(__CUDA_ARCH__)
  if (!__builtin_is_constant_evaluated()) {
    std::uint16_t bits = 0;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
  }
#endif
  return float_to_f16_bitwise(value);
}

}  // namespace detail

/// IEEE binary16. Storage only: arithmetic happens in float. Out of range rounds to infinity, NaN stays NaN.
struct f16 {
  std::uint16_t bits;

  f16() = default;
  SINTER_HOST_DEVICE explicit constexpr f16(float value) : bits(detail::float_to_f16(value)) {}
  SINTER_HOST_DEVICE explicit constexpr operator float() const { return detail::f16_to_float(bits); }
  SINTER_HOST_DEVICE static constexpr f16 from_bits(std::uint16_t bits) {
    f16 value(0.0f);
    value.bits = bits;
    return value;
  }
  SINTER_HOST_DEVICE friend constexpr bool operator==(f16 a, f16 b) { return float(a) == float(b); }
  SINTER_HOST_DEVICE friend constexpr bool operator<(f16 a, f16 b) { return float(a) < float(b); }
  SINTER_HOST_DEVICE friend constexpr bool operator>(f16 a, f16 b) { return float(a) > float(b); }
  SINTER_HOST_DEVICE friend constexpr bool operator<=(f16 a, f16 b) { return float(a) <= float(b); }
  SINTER_HOST_DEVICE friend constexpr bool operator>=(f16 a, f16 b) { return float(a) >= float(b); }
};

/// The upper half of a binary32. Storage only, as f16.
struct bf16 {
  std::uint16_t bits;

  bf16() = default;
  SINTER_HOST_DEVICE explicit constexpr bf16(float value) : bits(detail::float_to_bf16(value)) {}
  SINTER_HOST_DEVICE explicit constexpr operator float() const { return detail::bf16_to_float(bits); }
  SINTER_HOST_DEVICE static constexpr bf16 from_bits(std::uint16_t bits) {
    bf16 value(0.0f);
    value.bits = bits;
    return value;
  }
  SINTER_HOST_DEVICE friend constexpr bool operator==(bf16 a, bf16 b) { return float(a) == float(b); }
  SINTER_HOST_DEVICE friend constexpr bool operator<(bf16 a, bf16 b) { return float(a) < float(b); }
  SINTER_HOST_DEVICE friend constexpr bool operator>(bf16 a, bf16 b) { return float(a) > float(b); }
  SINTER_HOST_DEVICE friend constexpr bool operator<=(bf16 a, bf16 b) { return float(a) <= float(b); }
  SINTER_HOST_DEVICE friend constexpr bool operator>=(bf16 a, bf16 b) { return float(a) >= float(b); }
};

// ---- C++ types and dtypes ------------------------------------------------------------------------------------------

namespace detail {

/// 255 if T is no element type. The 64-bit integer has two spellings (long, long long) and both count.
template <class T>
constexpr unsigned char dtype_index() {
  using U = std::remove_cv_t<T>;
  constexpr bool integer = std::is_integral_v<U> && !std::is_same_v<U, char> && !std::is_same_v<U, wchar_t> &&
                           !std::is_same_v<U, char8_t> && !std::is_same_v<U, char16_t> && !std::is_same_v<U, char32_t>;
  if constexpr (std::is_same_v<U, bool>) return static_cast<unsigned char>(dtype::boolean);
  else if constexpr (std::is_same_v<U, f16>) return static_cast<unsigned char>(dtype::f16);
  else if constexpr (std::is_same_v<U, bf16>) return static_cast<unsigned char>(dtype::bf16);
  else if constexpr (std::is_same_v<U, float>) return static_cast<unsigned char>(dtype::f32);
  else if constexpr (std::is_same_v<U, double>) return static_cast<unsigned char>(dtype::f64);
  else if constexpr (integer && sizeof(U) == 1)
    return static_cast<unsigned char>(std::is_unsigned_v<U> ? dtype::u8 : dtype::i8);
  else if constexpr (integer && std::is_signed_v<U> && sizeof(U) == 4) return static_cast<unsigned char>(dtype::i32);
  else if constexpr (integer && std::is_signed_v<U> && sizeof(U) == 8) return static_cast<unsigned char>(dtype::i64);
  else return 255;
}

template <class T>
constexpr dtype checked_dtype() {
  static_assert(dtype_index<T>() != 255,
                "tensor<T>: T is no element type; use bool, u8, i8, i32, i64 (the std::int types), f16, bf16, float or "
                "double");
  return static_cast<dtype>(dtype_index<T>());
}

template <dtype D>
struct storage_of;
template <>
struct storage_of<dtype::boolean> {
  using type = bool;
};
template <>
struct storage_of<dtype::u8> {
  using type = std::uint8_t;
};
template <>
struct storage_of<dtype::i8> {
  using type = std::int8_t;
};
template <>
struct storage_of<dtype::i32> {
  using type = std::int32_t;
};
template <>
struct storage_of<dtype::i64> {
  using type = std::int64_t;
};
template <>
struct storage_of<dtype::f16> {
  using type = f16;
};
template <>
struct storage_of<dtype::bf16> {
  using type = bf16;
};
template <>
struct storage_of<dtype::f32> {
  using type = float;
};
template <>
struct storage_of<dtype::f64> {
  using type = double;
};

template <class T>
struct compute_of {
  using type = T;
};
template <>
struct compute_of<f16> {
  using type = float;
};
template <>
struct compute_of<bf16> {
  using type = float;
};

}  // namespace detail

template <class T>
inline constexpr bool is_element = detail::dtype_index<T>() != 255;
template <class T>
inline constexpr dtype dtype_of = detail::checked_dtype<T>();
/// How a dtype lies in memory.
template <dtype D>
using storage_t = typename detail::storage_of<D>::type;
/// The type in which values of T are computed: float for the 16-bit types, otherwise T.
template <class T>
using compute_t = typename detail::compute_of<std::remove_cv_t<T>>::type;

constexpr int item_size(dtype d) {
  constexpr int sizes[] = {1, 1, 1, 4, 8, 2, 2, 4, 8};
  return sizes[static_cast<int>(d)];
}

constexpr string_view name(dtype d) {
  constexpr string_view names[] = {"bool", "u8", "i8", "i32", "i64", "f16", "bf16", "f32", "f64"};
  return names[static_cast<int>(d)];
}

constexpr bool is_floating(dtype d) { return d >= dtype::f16; }
/// Integers; bool is none.
constexpr bool is_integral(dtype d) { return d >= dtype::u8 && d <= dtype::i64; }

// ---- promotion -----------------------------------------------------------------------------------------------------

/// PyTorch's three categories of numbers, low to high.
enum class category : unsigned char { boolean, integral, floating };

constexpr category category_of(dtype d) {
  return is_floating(d) ? category::floating : is_integral(d) ? category::integral : category::boolean;
}

/// The common dtype of two tensors, as torch.promote_types. One entry differs: u8 with i8 is i32, as there is no i16.
constexpr dtype promote(dtype a, dtype b) {
  if (a == b) return a;
  const category ca = category_of(a), cb = category_of(b);
  if (ca != cb) return ca > cb ? a : b;
  const dtype low = a < b ? a : b, high = a < b ? b : a;
  if (low == dtype::u8 && high == dtype::i8) return dtype::i32;
  if (low == dtype::f16 && high == dtype::bf16) return dtype::f32;
  return high;
}

/// A scalar changes a tensor's dtype only by being of a higher category: then int64 or float32, PyTorch's defaults.
constexpr dtype promote_scalar(dtype tensor, category scalar) {
  if (category_of(tensor) >= scalar) return tensor;
  return scalar == category::integral ? dtype::i64 : dtype::f32;
}

// ---- values --------------------------------------------------------------------------------------------------------

/// Storage to compute type.
template <class T>
SINTER_HOST_DEVICE constexpr compute_t<T> widen(T value) {
  return static_cast<compute_t<T>>(value);
}

/// Compute type to storage: to nearest, half to even; past f16's range to infinity; NaN stays NaN.
template <class T>
SINTER_HOST_DEVICE constexpr T narrow(compute_t<T> value) {
  return static_cast<T>(value);
}

namespace detail {

/// g++ makes vector code of loops that read bool as a byte, not of those that read it as bool beside wider types.
SINTER_HOST_DEVICE constexpr unsigned char byte_of(bool value) { return __builtin_bit_cast(unsigned char, value); }

/// Truncation. NaN and what does not fit the 32-bit (i64: 64-bit) integer give that integer's lowest value, everywhere
/// the same; 8-bit targets then keep the low bits, so 300.f is 44 as u8 and -1.f is 255.
template <class To, class From>
SINTER_HOST_DEVICE constexpr To truncate(From value) {
  using wide = std::conditional_t<sizeof(To) == 8, std::int64_t, std::int32_t>;
  constexpr From limit = sizeof(To) == 8 ? From(0x1p63) : From(0x1p31);
  constexpr wide lowest = sizeof(To) == 8 ? wide(std::int64_t(1) << 63) : wide(-2147483647 - 1);
  // double reaches past -2^31 without a step of 1; those values truncate to -2^31 as well, so the bound is the same.
  const bool fits = value >= -limit && value < limit;
  const wide whole = static_cast<wide>(fits ? value : From(0));
  return static_cast<To>(fits ? whole : lowest);
}

}  // namespace detail

/// The value of dtype From as dtype To, in compute types: no rounding to 16 bits. Anything to bool is `!= 0` (NaN is
/// true), integers wrap, floating to integer truncates (see detail::truncate for what does not fit; never undefined).
template <class To, class From>
SINTER_HOST_DEVICE constexpr compute_t<To> convert(compute_t<From> value) {
  using C = compute_t<To>;
  if constexpr (std::is_same_v<C, compute_t<From>>) return value;
  else if constexpr (std::is_same_v<C, bool>) return value != compute_t<From>(0);
  else if constexpr (std::is_integral_v<C> && std::is_floating_point_v<compute_t<From>>)
    return detail::truncate<C>(value);
  else if constexpr (std::is_same_v<compute_t<From>, bool>) return static_cast<C>(detail::byte_of(value));
  else return static_cast<C>(value);
}

/// Bounds of compute types; std::numeric_limits cannot be called on the device.
template <class T>
struct limits;
template <>
struct limits<float> {
  SINTER_HOST_DEVICE static constexpr float lowest() { return -0x1.fffffep127f; }
  SINTER_HOST_DEVICE static constexpr float highest() { return 0x1.fffffep127f; }
  SINTER_HOST_DEVICE static constexpr float infinity() { return __builtin_bit_cast(float, 0x7f800000u); }
  SINTER_HOST_DEVICE static constexpr float quiet_nan() { return __builtin_bit_cast(float, 0x7fc00000u); }
};
template <>
struct limits<double> {
  SINTER_HOST_DEVICE static constexpr double lowest() { return -0x1.fffffffffffffp1023; }
  SINTER_HOST_DEVICE static constexpr double highest() { return 0x1.fffffffffffffp1023; }
  SINTER_HOST_DEVICE static constexpr double infinity() { return __builtin_bit_cast(double, 0x7ff0000000000000ull); }
  SINTER_HOST_DEVICE static constexpr double quiet_nan() { return __builtin_bit_cast(double, 0x7ff8000000000000ull); }
};
/// Integers have no infinity: what stands for it, as the identity of a maximum, is the bound itself.
template <class T>
requires std::is_integral_v<T>
struct limits<T> {
  SINTER_HOST_DEVICE static constexpr T lowest() {
    return std::is_signed_v<T> ? static_cast<T>(std::uint64_t(1) << (8 * sizeof(T) - 1)) : T(0);
  }
  SINTER_HOST_DEVICE static constexpr T highest() { return static_cast<T>(~lowest()); }
  SINTER_HOST_DEVICE static constexpr T infinity() { return highest(); }
};
template <>
struct limits<bool> {
  SINTER_HOST_DEVICE static constexpr bool lowest() { return false; }
  SINTER_HOST_DEVICE static constexpr bool highest() { return true; }
  SINTER_HOST_DEVICE static constexpr bool infinity() { return true; }
};

/// What a maximum starts from: below or equal to every value, minus infinity where it exists.
template <class T>
SINTER_HOST_DEVICE constexpr T minus_infinity() {
  if constexpr (std::is_floating_point_v<T>) return -limits<T>::infinity();
  else return limits<T>::lowest();
}

}  // namespace sinter
