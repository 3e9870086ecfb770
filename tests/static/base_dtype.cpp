// Element types and their promotion, as constants.
// SPDX-License-Identifier: BSL-1.0
#include <cstdint>
#include <type_traits>

#include "sinter/base/dtype.hpp"

using namespace sinter;

// Types.
static_assert(sizeof(f16) == 2 && sizeof(bf16) == 2);
static_assert(std::is_trivially_copyable_v<f16> && std::is_trivially_default_constructible_v<bf16>);
static_assert(dtype_of<bool> == dtype::boolean && dtype_of<const float> == dtype::f32);
static_assert(dtype_of<long> == dtype::i64 && dtype_of<long long> == dtype::i64);
static_assert(dtype_of<signed char> == dtype::i8 && dtype_of<unsigned char> == dtype::u8);
static_assert(!is_element<char> && !is_element<unsigned> && !is_element<long double> && !is_element<void*>);
static_assert(is_element<const bf16>);
static_assert(std::is_same_v<storage_t<dtype::bf16>, bf16> && std::is_same_v<storage_t<dtype::i64>, std::int64_t>);
static_assert(std::is_same_v<compute_t<f16>, float> && std::is_same_v<compute_t<const bf16>, float>);
static_assert(std::is_same_v<compute_t<std::int8_t>, std::int8_t> && std::is_same_v<compute_t<double>, double>);
static_assert(name(dtype::boolean) == "bool" && name(dtype::bf16) == "bf16" && name(dtype::f64) == "f64");
static_assert(item_size(dtype::boolean) == 1 && item_size(dtype::f16) == 2 && item_size(dtype::i64) == 8);

// Conversion.
static_assert(float(bf16(1.5f)) == 1.5f && float(f16(-0.25f)) == -0.25f);
static_assert(bf16(1.5f) == bf16(1.5f) && f16(1.0f) < f16(2.0f) && f16::from_bits(0x7e00) != f16::from_bits(0x7e00));
static_assert(f16(65519.0f).bits == 0x7bff && f16(65520.0f).bits == 0x7c00 && f16(-1e30f).bits == 0xfc00);
static_assert(f16(0x1p-24f).bits == 1 && f16(0x1p-25f).bits == 0 && f16(0x1.8p-24f).bits == 2);
static_assert(bf16(0x1.fffffep127f).bits == 0x7f80);  // rounds to infinity
static_assert(convert<std::uint8_t, float>(300.0f) == 44 && convert<std::uint8_t, float>(-1.0f) == 255);
static_assert(convert<std::int32_t, float>(-2.75f) == -2 && convert<std::int32_t, float>(3e9f) == INT32_MIN);
static_assert(convert<std::int32_t, double>(-2147483648.5) == INT32_MIN);
static_assert(convert<std::int32_t, double>(2147483647.5) == INT32_MAX);
static_assert(convert<bool, float>(0.5f) && !convert<bool, float>(-0.0f));
static_assert(convert<float, bool>(true) == 1.0f && convert<std::int8_t, std::int32_t>(200) == -56);
static_assert(std::is_same_v<decltype(convert<bf16, double>(1.0)), float>);

// Bounds.
static_assert(limits<std::int8_t>::lowest() == -128 && limits<std::int8_t>::highest() == 127);
static_assert(limits<std::uint8_t>::lowest() == 0 && limits<std::uint8_t>::highest() == 255);
static_assert(limits<std::int64_t>::lowest() == INT64_MIN && limits<std::int64_t>::highest() == INT64_MAX);
static_assert(minus_infinity<float>() < limits<float>::lowest() && minus_infinity<std::int32_t>() == INT32_MIN);

// Promotion: the table of torch.promote_types, without the types we lack.
constexpr dtype dtypes[] = {dtype::boolean, dtype::u8,   dtype::i8,  dtype::i32, dtype::i64,
                            dtype::f16,     dtype::bf16, dtype::f32, dtype::f64};
constexpr dtype b = dtype::boolean, u1 = dtype::u8, i1 = dtype::i8, i4 = dtype::i32, i8 = dtype::i64;
constexpr dtype f2 = dtype::f16, bf = dtype::bf16, f4 = dtype::f32, f8 = dtype::f64;
constexpr dtype expected[9][9] = {
    {b, u1, i1, i4, i8, f2, bf, f4, f8},   //
    {u1, u1, i4, i4, i8, f2, bf, f4, f8},  // u8 with i8: torch has i16
    {i1, i4, i1, i4, i8, f2, bf, f4, f8},  //
    {i4, i4, i4, i4, i8, f2, bf, f4, f8},  //
    {i8, i8, i8, i8, i8, f2, bf, f4, f8},  //
    {f2, f2, f2, f2, f2, f2, f4, f4, f8},  //
    {bf, bf, bf, bf, bf, f4, bf, f4, f8},  //
    {f4, f4, f4, f4, f4, f4, f4, f4, f8},  //
    {f8, f8, f8, f8, f8, f8, f8, f8, f8},
};
constexpr bool promotion_is_as_expected() {
  for (int r = 0; r < 9; ++r)
    for (int c = 0; c < 9; ++c)
      if (promote(dtypes[r], dtypes[c]) != expected[r][c]) return false;
  return true;
}
static_assert(promotion_is_as_expected());
static_assert(promote_scalar(dtype::bf16, category::floating) == dtype::bf16);
static_assert(promote_scalar(dtype::f16, category::integral) == dtype::f16);
static_assert(promote_scalar(dtype::i32, category::floating) == dtype::f32);
static_assert(promote_scalar(dtype::u8, category::integral) == dtype::u8);
static_assert(promote_scalar(dtype::boolean, category::integral) == dtype::i64);
static_assert(promote_scalar(dtype::boolean, category::boolean) == dtype::boolean);
