// Reductions over any set of axes: the primitive folds of the op table, and what is written in terms of them.
// Without axes the whole array is reduced; `keepdim` keeps reduced axes with extent one.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/expr/pointwise.hpp"
#include "sinter/expr/view.hpp"

namespace sinter {

struct keepdim_tag {};
inline constexpr keepdim_tag keepdim{};

namespace detail {

/// Of a mask that names an axis which is not there: the reduction is refused.
inline constexpr unsigned refused_mask = 1u << 30;

template <class Verb, int Rank, long... Axes>
constexpr unsigned reduced_mask(axis_list<Axes...> axes) {
  if constexpr (!distinct_axes<Rank>(axes)) {
    Verb::template axes<Rank, Axes...>();
    return axis_mask(axes, Rank) | refused_mask;
  } else {
    return sizeof...(Axes) == 0 ? (1u << Rank) - 1 : axis_mask(axes, Rank);
  }
}

// The sentence about axes of each reduction, in a function that is only instantiated to fail.
#define SINTER_DEFINE_AXES_REFUSAL(NAME)                                                                              \
  struct NAME##_refusal {                                                                                             \
    template <int Rank, long... Axes>                                                                                 \
    static constexpr void axes() {                                                                                    \
      static_assert(distinct_axes<Rank>(axis_list<Axes...>{}),                                                        \
                    #NAME "(x, axis<...>): an axis is out of range or named twice; axes run from -rank to rank - 1"); \
    }                                                                                                                 \
  };

constexpr extents with_ones(extents shape, unsigned mask) {
  for (int d = 0; d < shape.rank; ++d)
    if (mask >> d & 1) shape[d] = 1;
  return shape;
}

template <unsigned Mask, bool KeepDim, dtype T, extents S, extents Input>
constexpr auto keep_axes(expr<T, S> reduced, constant_operand<Input>) {
  if constexpr (KeepDim) return reshaped<with_ones(Input, Mask)>(reduced);
  else return reduced;
}

/// The primitive: folds the axes in Mask.
template <op What, unsigned Mask, bool KeepDim, dtype T, extents S>
constexpr auto reduce_axes(expr<T, S> x) {
  constexpr extents shape = kept_axes(S, Mask);
  constexpr op_dtypes types = infer_dtypes(What, T);
  constexpr dtype type = types.result;
  trace* t = x.graph();
  const origin_scope call(t, row(What).name);
  if constexpr (Mask & refused_mask) t->refused = true;
  constexpr int num_axes = S.rank - shape.rank;
  if constexpr ((What == op::argmax || What == op::argmin) && num_axes != S.rank && num_axes != 1 &&
                !(Mask & refused_mask)) {
    arg_reduction_axes<What, S.rank, num_axes>();
    t->refused = true;
  }
  node n{};
  n.what = What;
  n.type = type;
  n.operands[0] = widened(t, x.id(), row(What).rule == dtype_rule::accumulate ? type : types.operands);
  n.shape = t->intern(shape);
  n.attr = static_cast<short>(Mask);
  return keep_axes<Mask, KeepDim>(expr<type, shape>(t, t->add(n)), c<S>);
}

/// How many elements each result of a reduction over Mask folds, as an operand of element type T.
template <unsigned Mask, dtype T, dtype U, extents S>
constexpr auto reduced_count(expr<U, S> x) {
  constexpr number count = numel(reduced_axes(S, Mask));
  trace* t = x.graph();
  if constexpr (is_static(count)) {
    return expr<T, extents{}>(t, t->add_constant(T, {static_cast<double>(count), count, 0}));
  } else {
    number n = 1;
    for (int d = 0; d < S.rank; ++d)
      if (Mask >> d & 1) n = t->numbers.product(n, S[d]);
    return expr<T, extents{}>(t, t->add_scalar(T, {0, 0, n}));
  }
}

}  // namespace detail

// sum, prod, amax, amin, any, all, argmax, argmin(x[, axis<...>][, keepdim]).
// sum, prod: integers and bool give i64. any, all: bool. argmax, argmin: i64, one axis (or all: the flat index), the
// first of equals, NaN wins. amax, amin: NaN wins. Error: an axis out of range. Source: torch.<name>.
#define SINTER_DEFINE_REDUCTION(NAME)                                                                            \
  namespace detail {                                                                                             \
  SINTER_DEFINE_AXES_REFUSAL(NAME)                                                                               \
  }                                                                                                              \
  template <dtype T, extents S, long... Axes>                                                                    \
  constexpr auto NAME(expr<T, S> x, axis_list<Axes...> axes = axis<>) {                                          \
    return detail::reduce_axes<op::NAME, detail::reduced_mask<detail::NAME##_refusal, S.rank>(decltype(axes){}), \
                               false>(x);                                                                        \
  }                                                                                                              \
  template <dtype T, extents S, long... Axes>                                                                    \
  constexpr auto NAME(expr<T, S> x, axis_list<Axes...> axes, keepdim_tag) {                                      \
    return detail::reduce_axes<op::NAME, detail::reduced_mask<detail::NAME##_refusal, S.rank>(decltype(axes){}), \
                               true>(x);                                                                         \
  }                                                                                                              \
  template <dtype T, extents S>                                                                                  \
  constexpr auto NAME(expr<T, S> x, keepdim_tag) {                                                               \
    return detail::reduce_axes<op::NAME, detail::reduced_mask<detail::NAME##_refusal, S.rank>(axis<>), true>(x); \
  }
SINTER_DEFINE_REDUCTION(sum)
SINTER_DEFINE_REDUCTION(prod)
SINTER_DEFINE_REDUCTION(amax)
SINTER_DEFINE_REDUCTION(amin)
SINTER_DEFINE_REDUCTION(any)
SINTER_DEFINE_REDUCTION(all)
SINTER_DEFINE_REDUCTION(argmax)
SINTER_DEFINE_REDUCTION(argmin)
#undef SINTER_DEFINE_REDUCTION

namespace detail {

template <unsigned Mask, bool KeepDim, dtype T, extents S>
constexpr auto mean_axes(expr<T, S> x) {
  const origin_scope call(x.graph(), "mean");
  constexpr dtype type = is_floating(T) ? T : dtype::f32;
  const expr<type, S> values(x.graph(), widened(x.graph(), x.id(), type));
  return reduce_axes<op::sum, Mask, KeepDim>(values) / reduced_count<Mask, type>(x);
}

/// Sum of squared deviations over (count - Correction).
template <unsigned Mask, bool KeepDim, long Correction, dtype T, extents S>
constexpr auto var_axes(expr<T, S> x, string_view name) {
  const origin_scope call(x.graph(), name);
  auto m2 = reduce_axes<op::m2, Mask, KeepDim>(x);
  constexpr dtype type = decltype(m2)::type;
  if constexpr (Correction == 0) return m2 / reduced_count<Mask, type>(x);
  else return m2 / maximum(reduced_count<Mask, type>(x) - c<Correction>, c<0>);
}

template <unsigned Mask, bool KeepDim, long Correction, dtype T, extents S>
constexpr auto std_axes(expr<T, S> x) {
  const origin_scope call(x.graph(), "std");
  return sqrt(var_axes<Mask, KeepDim, Correction>(x, "std"));
}

template <unsigned Mask, bool KeepDim, dtype T, extents S>
constexpr auto norm_axes(expr<T, S> x) {
  const origin_scope call(x.graph(), "norm");
  return sqrt(reduce_axes<op::sum, Mask, KeepDim>(square(x)));
}

template <unsigned Mask, bool KeepDim, dtype T, extents S>
constexpr auto logsumexp_axes(expr<T, S> x) {
  const origin_scope call(x.graph(), "logsumexp");
  auto top = reduce_axes<op::amax, Mask, true>(x);
  auto safe = where(isinf(top), c<0>, top);  // rows of -inf or inf: no inf - inf
  auto total = reduce_axes<op::sum, Mask, true>(exp(x - safe));
  auto result = log(total) + safe;
  if constexpr (KeepDim) return result;
  else return reshaped<kept_axes(S, Mask)>(result);
}

}  // namespace detail

// mean, norm (Euclidean), logsumexp(x[, axis<...>][, keepdim]). Integers and bool are computed in f32. Source: torch.
#define SINTER_DEFINE_DERIVED_REDUCTION(NAME)                                                                     \
  namespace detail {                                                                                              \
  SINTER_DEFINE_AXES_REFUSAL(NAME)                                                                                \
  }                                                                                                               \
  template <dtype T, extents S, long... Axes>                                                                     \
  constexpr auto NAME(expr<T, S> x, axis_list<Axes...> axes = axis<>) {                                           \
    return detail::NAME##_axes<detail::reduced_mask<detail::NAME##_refusal, S.rank>(decltype(axes){}), false>(x); \
  }                                                                                                               \
  template <dtype T, extents S, long... Axes>                                                                     \
  constexpr auto NAME(expr<T, S> x, axis_list<Axes...> axes, keepdim_tag) {                                       \
    return detail::NAME##_axes<detail::reduced_mask<detail::NAME##_refusal, S.rank>(decltype(axes){}), true>(x);  \
  }                                                                                                               \
  template <dtype T, extents S>                                                                                   \
  constexpr auto NAME(expr<T, S> x, keepdim_tag) {                                                                \
    return detail::NAME##_axes<detail::reduced_mask<detail::NAME##_refusal, S.rank>(axis<>), true>(x);            \
  }
SINTER_DEFINE_DERIVED_REDUCTION(mean)
SINTER_DEFINE_DERIVED_REDUCTION(norm)
SINTER_DEFINE_DERIVED_REDUCTION(logsumexp)
#undef SINTER_DEFINE_DERIVED_REDUCTION

namespace detail {
SINTER_DEFINE_AXES_REFUSAL(var)
SINTER_DEFINE_AXES_REFUSAL(std_dev)
}  // namespace detail
#undef SINTER_DEFINE_AXES_REFUSAL

/// Variance, divided by count - Correction (1: unbiased, as PyTorch's default), by Welford's method.
template <long Correction = 1, dtype T, extents S, long... Axes>
constexpr auto var(expr<T, S> x, axis_list<Axes...> axes = axis<>) {
  return detail::var_axes<detail::reduced_mask<detail::var_refusal, S.rank>(decltype(axes){}), false, Correction>(
      x, "var");
}
template <long Correction = 1, dtype T, extents S, long... Axes>
constexpr auto var(expr<T, S> x, axis_list<Axes...> axes, keepdim_tag) {
  return detail::var_axes<detail::reduced_mask<detail::var_refusal, S.rank>(decltype(axes){}), true, Correction>(x,
                                                                                                                 "var");
}
/// Standard deviation: the square root of var.
template <long Correction = 1, dtype T, extents S, long... Axes>
constexpr auto std_dev(expr<T, S> x, axis_list<Axes...> axes = axis<>) {
  return detail::std_axes<detail::reduced_mask<detail::std_dev_refusal, S.rank>(decltype(axes){}), false, Correction>(
      x);
}
template <long Correction = 1, dtype T, extents S, long... Axes>
constexpr auto std_dev(expr<T, S> x, axis_list<Axes...> axes, keepdim_tag) {
  return detail::std_axes<detail::reduced_mask<detail::std_dev_refusal, S.rank>(decltype(axes){}), true, Correction>(x);
}

}  // namespace sinter
