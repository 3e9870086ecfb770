// The op table: rows, rules, tags, and what is a constant among the scalar meanings.
// SPDX-License-Identifier: BSL-1.0
#include <cstdint>
#include <type_traits>

#include "sinter/base/op.hpp"

using namespace sinter;

// Rows.
static_assert(static_cast<int>(op::input) == 0 && num_ops == static_cast<int>(op::logcumsumexp) + 1 && num_ops < 256);
static_assert(name(op::floor_divide) == "floor_divide" && row(op::where).arity == 3 && row(op::neg).arity == 1);
static_assert(row(op::permute).kind == op_kind::view && row(op::cast).kind == op_kind::pointwise);
static_assert(is_pointwise(op::silu) && !is_pointwise(op::sum) && is_reduction(op::argmin) &&
              !is_reduction(op::matmul));

constexpr bool names_are_distinct() {
  for (int i = 0; i < num_ops; ++i)
    for (int j = 0; j < i; ++j)
      if (name(static_cast<op>(i)) == name(static_cast<op>(j))) return false;
  return true;
}
static_assert(names_are_distinct());

// Enumerator and tag name each other.
#define SINTER_CHECK(name, ...) \
  static_assert(ops::name::id == op::name && std::is_same_v<op_tag_of<op::name>::type, ops::name>);
SINTER_POINTWISE_OPS(SINTER_CHECK)
SINTER_REDUCTION_OPS(SINTER_CHECK)

// Rules.
constexpr bool infers(op o, dtype common, dtype operands, dtype result) {
  const op_dtypes t = infer_dtypes(o, common);
  return t.valid && t.operands == operands && t.result == result;
}
static_assert(infers(op::add, dtype::boolean, dtype::boolean, dtype::boolean));
static_assert(!infer_dtypes(op::sub, dtype::boolean).valid && infers(op::sub, dtype::u8, dtype::u8, dtype::u8));
static_assert(infers(op::div, dtype::i64, dtype::f32, dtype::f32) &&
              infers(op::exp, dtype::bf16, dtype::bf16, dtype::bf16));
static_assert(infers(op::lt, dtype::f16, dtype::f16, dtype::boolean));
static_assert(infers(op::logical_and, dtype::f32, dtype::boolean, dtype::boolean));
static_assert(!infer_dtypes(op::bitwise_and, dtype::f32).valid &&
              infers(op::bitwise_or, dtype::boolean, dtype::boolean, dtype::boolean));
static_assert(!infer_dtypes(op::bitwise_left_shift, dtype::boolean).valid);
static_assert(infers(op::where, dtype::bf16, dtype::bf16, dtype::bf16));
static_assert(infers(op::sum, dtype::boolean, dtype::boolean, dtype::i64) &&
              infers(op::sum, dtype::f16, dtype::f16, dtype::f16));
static_assert(infers(op::argmax, dtype::f32, dtype::f32, dtype::i64) &&
              infers(op::any, dtype::i32, dtype::i32, dtype::boolean));
static_assert(infers(op::m2, dtype::i32, dtype::f32, dtype::f32));

// Arithmetic is a constant, in its own type.
static_assert(ops::add::apply(2.0f, 3.0f) == 5.0f && ops::where::apply(false, 1, 2) == 2);
static_assert(std::is_same_v<decltype(ops::add::apply(std::int8_t(1), std::int8_t(1))), std::int8_t>);
static_assert(std::is_same_v<decltype(ops::lt::apply(1.0, 2.0)), bool>);
static_assert(ops::add::apply(std::int8_t(127), std::int8_t(1)) == -128 && ops::mul::apply(INT32_MAX, INT32_MAX) == 1);
static_assert(ops::neg::apply(INT64_MIN) == INT64_MIN && ops::abs::apply(std::int8_t(-128)) == -128);
static_assert(ops::neg::apply(std::uint8_t(1)) == 255 && ops::bitwise_not::apply(std::uint8_t(1)) == 254);
static_assert(ops::floor_divide::apply(-7, 2) == -4 && ops::remainder::apply(-7, 2) == 1 &&
              ops::fmod::apply(-7, 2) == -1);
static_assert(ops::floor_divide::apply(7, -2) == -4 && ops::remainder::apply(7, -2) == -1);
static_assert(ops::floor_divide::apply(7, 0) == 0 && ops::remainder::apply(7, 0) == 0 && ops::fmod::apply(7, 0) == 0);
static_assert(ops::floor_divide::apply(INT32_MIN, -1) == INT32_MIN && ops::remainder::apply(INT32_MIN, -1) == 0);
static_assert(ops::pow::apply(3, 4) == 81 && ops::pow::apply(-1, -3) == -1 && ops::pow::apply(2, -1) == 0);
static_assert(ops::bitwise_left_shift::apply(1, 31) == INT32_MIN && ops::bitwise_left_shift::apply(1, 32) == 0);
static_assert(ops::bitwise_left_shift::apply(1, -1) == 0 && ops::bitwise_right_shift::apply(-8, 1) == -4);
static_assert(ops::bitwise_right_shift::apply(-8, 99) == -1 &&
              ops::bitwise_right_shift::apply(std::uint8_t(8), std::uint8_t(9)) == 0);
