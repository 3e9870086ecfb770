// Views: transpose, permute, reshape, slice, flip, broadcast_to, squeeze, unsqueeze. They move no data; the scheduler
// composes them into the index expressions of loads.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/expr/expr.hpp"
#include "sinter/expr/refuse.hpp"

namespace sinter {

namespace detail {

constexpr extents identity_order(int rank) {
  extents order{rank, {}};
  for (int d = 0; d < rank; ++d) order[d] = d;
  return order;
}
/// A view node, with shape and up to two lists.
constexpr short add_view(trace* t, op what, short id, const extents& shape) {
  node n{};
  n.what = what;
  n.type = t->nodes[id].type;
  n.operands[0] = id;
  n.shape = t->intern(shape);
  return t->add(n);
}
constexpr short add_permute(trace* t, short id, const extents& shape, const extents& order) {
  node n{};
  n.what = op::permute;
  n.type = t->nodes[id].type;
  n.operands[0] = id;
  n.shape = t->intern(shape);
  n.list = t->intern(order);
  return t->add(n);
}
constexpr short add_slice(trace* t, short id, const extents& shape, const extents& starts, const extents& steps) {
  node n{};
  n.what = op::slice;
  n.type = t->nodes[id].type;
  n.operands[0] = id;
  n.shape = t->intern(shape);
  n.list = t->intern(starts), n.list2 = t->intern(steps);
  return t->add(n);
}

constexpr extents permuted(const extents& shape, const extents& order) {
  extents e{};
  for (int i = 0; i < order.rank; ++i) e.push_back(shape[static_cast<int>(order[i])]);
  return e;
}

template <extents Shape, dtype T, extents S>
constexpr expr<T, Shape> reshaped(expr<T, S> x) {
  if constexpr (Shape == S) return x;
  else return {x.graph(), add_view(x.graph(), op::reshape, x.id(), Shape)};
}

}  // namespace detail

/// Reorders dimensions: result dimension i is dimension Order[i] of x. Any dtype. Error: not a permutation.
template <long... Order, dtype T, extents S>
constexpr auto permute(expr<T, S> x) {
  constexpr bool is_permutation = sizeof...(Order) == S.rank && detail::distinct_axes<S.rank>(axis<Order...>);
  if constexpr (!is_permutation) {
    detail::permute_order<S.rank, Order...>();
    x.graph()->refused = true;
  }
  constexpr extents order =
      is_permutation ? extents{sizeof...(Order), {normalize_axis(Order, S.rank)...}} : detail::identity_order(S.rank);
  constexpr extents shape = detail::permuted(S, order);
  return expr<T, shape>(x.graph(), detail::add_permute(x.graph(), x.id(), shape, order));
}

/// Exchanges two dimensions; without arguments the last two. Any dtype. Error: rank below two, axis out of range.
template <long A = -2, long B = -1, dtype T, extents S>
constexpr auto transpose(expr<T, S> x) {
  if constexpr (normalize_axis(A, S.rank) < 0 || normalize_axis(B, S.rank) < 0) {
    detail::transpose_axes<S.rank, A, B>();
    x.graph()->refused = true;
  }
  constexpr int a = detail::axis_or_first(A, S.rank), b = detail::axis_or_first(B, S.rank);
  constexpr auto exchanged = [](extents e) {
    const number kept = e[a];
    e[a] = e[b], e[b] = kept;
    return e;
  };
  constexpr extents shape = exchanged(S);
  return expr<T, shape>(x.graph(),
                        detail::add_permute(x.graph(), x.id(), shape, exchanged(detail::identity_order(S.rank))));
}

namespace detail {
template <extents S, long... Sizes>
constexpr extents inferred_shape() {
  if (sizeof...(Sizes) > max_rank || !((Sizes >= infer) && ...)) return extents{};
  extents shape{};
  (shape.push_back(Sizes), ...);
  number known = 1;
  for (int d = 0; d < shape.rank; ++d)
    if (shape[d] != infer) known = product(known, shape[d]);
  for (int d = 0; d < shape.rank; ++d)
    if (shape[d] == infer) shape[d] = quotient(numel(S), known);
  return shape;
}
}  // namespace detail

/// The same elements in row-major order under other extents; one of them may be `infer`. Any dtype. Errors: element
/// counts differ; more than one inferred extent. A run-time extent divides evenly or the call throws shape_error.
template <long... Sizes, dtype T, extents S>
constexpr auto reshape(expr<T, S> x) {
  constexpr int inferred = (0 + ... + (Sizes == infer ? 1 : 0));
  constexpr extents shape = detail::inferred_shape<S, Sizes...>();
  if constexpr (inferred > 1 || numel(shape) != numel(S) || shape.rank != sizeof...(Sizes)) {
    detail::reshape_sizes<numel(S), Sizes...>();
    x.graph()->refused = true;
  }
  if constexpr (inferred == 1 && !is_static(numel(S))) {
    number known = 1;
    for (long size : {Sizes...})
      if (size != infer) known = product(known, size);
    x.graph()->numbers.quotient(x.graph()->numbers.numel(S), known);
  }
  return detail::reshaped<shape>(x);
}
/// The extents of another expression: `reshape_as(x, y)`.
template <dtype T, extents S, dtype U, extents Shape>
constexpr expr<T, Shape> reshape_as(expr<T, S> x, expr<U, Shape>) {
  if constexpr (numel(Shape) != numel(S)) {
    detail::reshape_as_elements<numel(S), numel(Shape)>();
    x.graph()->refused = true;
  }
  return detail::reshaped<Shape>(x);
}

/// Merges dimensions First..Last (inclusive) into one. Any dtype.
template <long First = 0, long Last = -1, dtype T, extents S>
constexpr auto flatten(expr<T, S> x) {
  if constexpr (normalize_axis(First, S.rank) < 0 || normalize_axis(Last, S.rank) < normalize_axis(First, S.rank)) {
    detail::flatten_axes<S.rank, First, Last>();
    x.graph()->refused = true;
    return x;
  } else {
    constexpr extents shape = [] {
      extents e{};
      for (int d = 0; d < S.rank; ++d)
        if (d > normalize_axis(First, S.rank) && d <= normalize_axis(Last, S.rank))
          e[e.rank - 1] = product(e[e.rank - 1], S[d]);
        else e.push_back(S[d]);
      return e;
    }();
    number merged = 1;
    for (int d = normalize_axis(First, S.rank); d <= normalize_axis(Last, S.rank); ++d)
      merged = x.graph()->numbers.product(merged, S[d]);
    return detail::reshaped<shape>(x);
  }
}

/// A new dimension of extent one at position Axis of the result. Any dtype.
template <long Axis, dtype T, extents S>
constexpr auto unsqueeze(expr<T, S> x) {
  if constexpr (normalize_axis(Axis, S.rank + 1) < 0 || S.rank == max_rank) {
    detail::unsqueeze_axis<S.rank, Axis>();
    x.graph()->refused = true;
    return x;
  } else {
    constexpr extents shape = [] {
      extents e{};
      for (int d = 0; d <= S.rank; ++d) {
        if (d == normalize_axis(Axis, S.rank + 1)) e.push_back(1);
        if (d < S.rank) e.push_back(S[d]);
      }
      return e;
    }();
    return detail::reshaped<shape>(x);
  }
}

/// Drops dimension Axis, which must have extent one. Any dtype.
template <long Axis, dtype T, extents S>
constexpr auto squeeze(expr<T, S> x) {
  constexpr int a = detail::axis_or_first(Axis, S.rank);
  if constexpr (normalize_axis(Axis, S.rank) < 0) detail::squeeze_axis<S.rank, Axis>();
  else if constexpr (S[a] != 1) detail::squeeze_extent<Axis, S[a]>();
  if constexpr (normalize_axis(Axis, S.rank) < 0 || S[a] != 1) x.graph()->refused = true;
  return detail::reshaped<kept_axes(S, 1u << a)>(x);
}

namespace detail {
/// The first axis of `to` that `from` cannot be repeated to; -1: there is none, or the ranks do not allow it.
constexpr int broadcast_conflict(const extents& from, const extents& to) {
  for (int d = 0; d < from.rank && from.rank <= to.rank; ++d)
    if (from[d] != 1 && !may_equal(from[d], to[d + to.rank - from.rank])) return d + to.rank - from.rank;
  return -1;
}
template <extents Shape, dtype T, extents S>
constexpr expr<T, Shape> repeated_to(expr<T, S> x) {
  constexpr int conflict = broadcast_conflict(S, Shape);
  if constexpr (S.rank > Shape.rank) broadcast_to_rank<S.rank, Shape.rank>();
  if constexpr (conflict >= 0) broadcast_to_extent<conflict, S[conflict - (Shape.rank - S.rank)], Shape[conflict]>();
  if constexpr (S.rank > Shape.rank || conflict >= 0) {
    x.graph()->refused = true;
    return {x.graph(), x.id()};
  }
  return {x.graph(), expanded(x.graph(), x.id(), Shape)};
}
/// `to`, where dyn stands for the extent that is there.
constexpr extents kept_where_dyn(const extents& from, extents to) {
  for (int d = to.rank - 1, s = from.rank - 1; d >= 0 && s >= 0; --d, --s)
    if (to[d] == dyn) to[d] = from[s];
  return to;
}
constexpr bool has_dyn(const extents& e) {
  for (int d = 0; d < e.rank; ++d)
    if (e[d] == dyn) return true;
  return false;
}
}  // namespace detail

/// Repeats size-1 (and missing leading) dimensions up to the extents of `like`. Any dtype.
template <dtype T, extents S, dtype U, extents Shape>
constexpr expr<T, Shape> broadcast_to(expr<T, S> x, expr<U, Shape>) {
  return detail::repeated_to<Shape>(x);
}
/// The same with the extents spelled out: `broadcast_to<4, 10>(x)`; dyn is that of x.
template <long... Sizes, dtype T, extents S>
constexpr auto broadcast_to(expr<T, S> x) {
  constexpr extents shape = detail::kept_where_dyn(S, extents{sizeof...(Sizes), {Sizes...}});
  if constexpr (detail::has_dyn(shape)) {
    detail::broadcast_to_dyn<detail::has_dyn(shape)>();
    x.graph()->refused = true;
    return x;
  } else {
    return detail::repeated_to<shape>(x);
  }
}

/// In slice: up to the end of the axis.
inline constexpr long end = 1L << 40;

namespace detail {
struct slice_bounds {
  number start = 0, size = 0;
};
/// Python's start:stop:step on an extent; step > 0. Run-time extents allow a static start >= 0 up to the end, step 1.
constexpr slice_bounds slice_range(number extent, long start, long stop, long step) {
  if (is_symbolic(extent)) return {start, sum(extent, -start)};
  if (start < 0) start += extent;
  if (stop < 0) stop += extent;
  if (start < 0) start = 0;
  if (start > extent) start = extent;
  if (stop > extent) stop = extent;
  if (stop < start) stop = start;
  return {start, (stop - start + step - 1) / step};
}
}  // namespace detail

/// Elements Start, Start + Step, … below Stop of one axis, as Python slices (negative bounds count from the end). Any
/// dtype. Errors: step below one; on a run-time extent only `slice<axis, start>` with a static start is known.
template <long Axis, long Start, long Stop = end, long Step = 1, dtype T, extents S>
constexpr auto slice(expr<T, S> x) {
  constexpr int a = detail::axis_or_first(Axis, S.rank);
  constexpr bool axis_is_there = normalize_axis(Axis, S.rank) >= 0;
  constexpr bool bounds_are_known = is_static(S[a]) || (Start >= 0 && Stop == end && Step == 1);
  if constexpr (!axis_is_there) detail::slice_axis<S.rank, Axis>();
  else if constexpr (Step < 1) detail::slice_step<Step>();
  else if constexpr (!bounds_are_known) detail::slice_of_run_time_extent<Start, Stop, Step>();
  if constexpr (!axis_is_there || Step < 1 || !bounds_are_known) x.graph()->refused = true;
  constexpr detail::slice_bounds bounds = detail::slice_range(S[a], Start, Stop, Step < 1 ? 1 : Step);
  constexpr extents shape = [] {
    extents e = S;
    e[a] = bounds.size;
    return e;
  }();
  extents starts{S.rank, {}}, steps{S.rank, {}};
  for (int d = 0; d < S.rank; ++d) steps[d] = 1;
  starts[a] = bounds.start, steps[a] = Step;
  if constexpr (!is_static(S[a])) x.graph()->numbers.sum(S[a], -bounds.start);
  return expr<T, shape>(x.graph(), detail::add_slice(x.graph(), x.id(), shape, starts, steps));
}

/// Reverses the given axes. Any dtype. Error: a reversed extent known only at run time.
template <long... Axes, dtype T, extents S>
constexpr expr<T, S> flip(expr<T, S> x) {
  constexpr bool axes_are_there = detail::distinct_axes<S.rank>(axis<Axes...>);
  constexpr bool extents_are_known = (is_static(S[detail::axis_or_first(Axes, S.rank)]) && ...);
  if constexpr (!axes_are_there) detail::flip_axes<S.rank, Axes...>();
  else if constexpr (!extents_are_known) detail::flip_of_run_time_extent<Axes...>();
  if constexpr (!axes_are_there || !extents_are_known) x.graph()->refused = true;
  extents starts{S.rank, {}}, steps{S.rank, {}};
  for (int d = 0; d < S.rank; ++d) {
    const bool reversed = detail::axis_mask(axis<Axes...>, S.rank) >> d & 1;
    starts[d] = reversed ? S[d] - 1 : 0;
    steps[d] = reversed ? -1 : 1;
  }
  return {x.graph(), detail::add_slice(x.graph(), x.id(), S, starts, steps)};
}

}  // namespace sinter
