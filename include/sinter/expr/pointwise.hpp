// Pointwise ops on expressions: one function for each row of the op table, the C++ operators, cast.
// Operands broadcast and promote as PyTorch's do; C++ literals are run-time scalars, `c<2>` is a constant.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/expr/expr.hpp"

namespace sinter {
namespace detail {

/// The element type the operands of `What` promote to; where's condition has no part in it.
template <op What, class A, class... Rest>
constexpr dtype operand_type() {
  if constexpr (row(What).rule != dtype_rule::select) return common_type<A, Rest...>();
  else return common_type<Rest...>();
}

/// The sentences of each op, in functions that are only instantiated to fail; their arguments are the numbers involved.
/// nvcc prints the whole line with the sentence, and all rows of a table are one: the pragma begins a new one for each.
template <op What>
struct refuse;
#define SINTER_OPERANDS_1 "(x): "
#define SINTER_OPERANDS_2 "(a, b): "
#define SINTER_OPERANDS_3 "(a, b, c): "
#define SINTER_DEFINE_REFUSAL(NAME, ARITY, RULE, ...)                                                       \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic pop") template <>                                  \
  struct refuse<op::NAME> {                                                                                 \
    template <int Axis, number A, number B>                                                                 \
    static constexpr void extents() {                                                                       \
      static_assert(A == B, #NAME SINTER_OPERANDS_##ARITY                                                   \
                    "the extents do not broadcast; each pair must be equal or contain a one");              \
    }                                                                                                       \
    template <dtype T>                                                                                      \
    static constexpr void type() {                                                                          \
      constexpr bool takes_bool = dtype_rule::RULE != dtype_rule::numeric;                                  \
      static_assert(takes_bool || T != dtype::boolean, #NAME SINTER_OPERANDS_##ARITY                        \
                    "bool has no arithmetic here; cast the operands or use a logical op");                  \
      static_assert(!takes_bool || T == dtype::boolean || is_integral(T), #NAME SINTER_OPERANDS_##ARITY     \
                    "floating-point operands have no bits to work on; cast them to integers");              \
      static_assert(dtype_rule::RULE != dtype_rule::shift || T != dtype::boolean,                           \
                    #NAME SINTER_OPERANDS_##ARITY "bool cannot be shifted; cast the operands to integers"); \
    }                                                                                                       \
  };
SINTER_POINTWISE_OPS(SINTER_DEFINE_REFUSAL)
#undef SINTER_DEFINE_REFUSAL
#undef SINTER_OPERANDS_1
#undef SINTER_OPERANDS_2
#undef SINTER_OPERANDS_3

template <op What, class... A>
constexpr auto pointwise(const A&... a) {
  constexpr broadcast_result broadcasted = common_shape<A...>();
  constexpr extents shape = broadcasted.shape;
  constexpr op_dtypes types = infer_dtypes(What, operand_type<What, A...>());
  trace* t = graph_of(a...);
  if constexpr (!broadcasted.ok) {
    refuse<What>::template extents<broadcasted.axis, broadcasted.a, broadcasted.b>();
    t->refused = true;
  }
  if constexpr (!types.valid) {
    refuse<What>::template type<types.operands>();
    t->refused = true;
  }
  const origin_scope call(t, row(What).name);
  constexpr int n = sizeof...(A);
  int position = 0;
  short operands[3] = {-1, -1, -1};
  ((operands[position] =
        node_of(t, a, row(What).rule == dtype_rule::select && position == 0 ? dtype::boolean : types.operands, shape),
    ++position),
   ...);
  static_assert(n == row(What).arity);
  return expr<types.result, shape>(t, t->add(What, types.result, shape, operands[0], operands[1], operands[2]));
}

}  // namespace detail

// One function for each pointwise row: relu(x), maximum(a, b), clamp(x, low, high), …
// Shapes: any that broadcast. Dtypes: the row's rule (base/op.hpp). Meaning: the row; source: torch.<name>.
#define SINTER_DEFINE_POINTWISE(NAME, ARITY, ...)                                              \
  template <detail::operand... A>                                                              \
  requires(sizeof...(A) == ARITY && (detail::is_expr<A> || ...)) constexpr auto NAME(A... a) { \
    return detail::pointwise<op::NAME>(a...);                                                  \
  }
SINTER_POINTWISE_OPS(SINTER_DEFINE_POINTWISE)
#undef SINTER_DEFINE_POINTWISE

/// Conversion to element type T that always rounds, also where a kernel would keep more precision. Any dtype.
template <class T, dtype From, extents S>
constexpr auto cast(expr<From, S> x) {
  trace* t = x.graph();
  const origin_scope call(t, "cast");
  return expr<dtype_of<T>, S>(t, t->add(op::cast, dtype_of<T>, S, x.id()));
}

namespace detail::operators {

#define SINTER_DEFINE_BINARY_OPERATOR(SYMBOL, NAME)                                             \
  template <detail::operand A, detail::operand B>                                               \
  requires(detail::is_expr<A> || detail::is_expr<B>) constexpr auto operator SYMBOL(A a, B b) { \
    return detail::pointwise<op::NAME>(a, b);                                                   \
  }
SINTER_DEFINE_BINARY_OPERATOR(+, add)
SINTER_DEFINE_BINARY_OPERATOR(-, sub)
SINTER_DEFINE_BINARY_OPERATOR(*, mul)
SINTER_DEFINE_BINARY_OPERATOR(/, div)
SINTER_DEFINE_BINARY_OPERATOR(%, remainder)
SINTER_DEFINE_BINARY_OPERATOR(==, eq)
SINTER_DEFINE_BINARY_OPERATOR(!=, ne)
SINTER_DEFINE_BINARY_OPERATOR(<, lt)
SINTER_DEFINE_BINARY_OPERATOR(<=, le)
SINTER_DEFINE_BINARY_OPERATOR(>, gt)
SINTER_DEFINE_BINARY_OPERATOR(>=, ge)
SINTER_DEFINE_BINARY_OPERATOR(&&, logical_and)
SINTER_DEFINE_BINARY_OPERATOR(||, logical_or)
SINTER_DEFINE_BINARY_OPERATOR(&, bitwise_and)
SINTER_DEFINE_BINARY_OPERATOR(|, bitwise_or)
SINTER_DEFINE_BINARY_OPERATOR(^, bitwise_xor)
SINTER_DEFINE_BINARY_OPERATOR(<<, bitwise_left_shift)
SINTER_DEFINE_BINARY_OPERATOR(>>, bitwise_right_shift)
#undef SINTER_DEFINE_BINARY_OPERATOR

template <dtype T, extents S>
constexpr auto operator-(expr<T, S> x) {
  return detail::pointwise<op::neg>(x);
}
template <dtype T, extents S>
constexpr auto operator!(expr<T, S> x) {
  return detail::pointwise<op::logical_not>(x);
}
template <dtype T, extents S>
constexpr auto operator~(expr<T, S> x) {
  return detail::pointwise<op::bitwise_not>(x);
}

}  // namespace detail::operators
}  // namespace sinter
