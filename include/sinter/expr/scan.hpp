// Scans along one axis: each element of the result is the fold of all elements up to it. The folds are the op table's.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/expr/axes.hpp"
#include "sinter/expr/pointwise.hpp"

namespace sinter {

namespace detail {

template <op What, class Verb, dtype T, extents S, long... Axes>
constexpr auto scan_axis(expr<T, S> x, axis_list<Axes...> axes) {
  constexpr op_dtypes types = infer_dtypes(What, T);
  trace* t = x.graph();
  const origin_scope call(t, row(What).name);
  constexpr dtype type = types.result;
  constexpr bool is_one_axis = sizeof...(Axes) == 1 && distinct_axes<S.rank>(axis_list<Axes...>{});
  if constexpr (!is_one_axis) {
    Verb::template axis<S.rank, Axes...>();
    t->refused = true;
  }
  node n{};
  n.what = What;
  n.type = type;
  n.operands[0] = widened(t, x.id(), row(What).rule == dtype_rule::accumulate ? type : types.operands);
  n.shape = t->intern(S);
  n.attr = static_cast<short>(axis_mask(axes, S.rank));
  return expr<type, S>(t, t->add(n));
}

}  // namespace detail

// cumsum, cumprod, cummax, cummin, logcumsumexp(x, axis<k>): the fold of all elements along axis k up to each one, in
// the shape of x. cumsum, cumprod: integers and bool give i64. cummax, cummin: the values (no indices); NaN wins.
// logcumsumexp: log(cumsum(exp(x))) without overflow; integers and bool are computed in f32. f16 and bf16 accumulate
// in f32. Error: not exactly one axis, or one out of range. Source: torch.<name>.
#define SINTER_DEFINE_SCAN(NAME, ...)                                                                                \
  namespace detail {                                                                                                 \
  struct NAME##_refusal {                                                                                            \
    template <int Rank, long... Axes>                                                                                \
    static constexpr void axis() {                                                                                   \
      static_assert(sizeof...(Axes) == 1 && distinct_axes<Rank>(axis_list<Axes...>{}),                               \
                    #NAME "(x, axis<k>): this is not one axis of x; a scan runs along one, from -rank to rank - 1"); \
    }                                                                                                                \
  };                                                                                                                 \
  }                                                                                                                  \
  template <dtype T, extents S, long... Axes>                                                                        \
  constexpr auto NAME(expr<T, S> x, axis_list<Axes...> axes) {                                                       \
    return detail::scan_axis<op::NAME, detail::NAME##_refusal>(x, axes);                                             \
  }
SINTER_SCAN_OPS(SINTER_DEFINE_SCAN)
#undef SINTER_DEFINE_SCAN

}  // namespace sinter
