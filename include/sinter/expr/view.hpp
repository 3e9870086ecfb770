// Views: transpose, permute, reshape, slice, flip, broadcast_to, squeeze, unsqueeze. They move no data; the scheduler
// composes them into the index expressions of loads.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/expr/expr.hpp"

namespace sinter {

/// Axes of an op, counted from the end when negative: `sum(x, axis<-1>)`, `amax(x, axis<0, 1>)`.
template <long... Axes>
struct axis_list {};
template <long... Axes>
inline constexpr axis_list<Axes...> axis{};

/// In reshape: the extent that follows from the others (at most one).
inline constexpr long infer = -1;

namespace detail {

constexpr extents identity_order(int rank) {
  extents order{rank, {}};
  for (int d = 0; d < rank; ++d) order[d] = d;
  return order;
}
template <long... Axes>
constexpr unsigned axis_mask(axis_list<Axes...>, int rank) {
  return (0u | ... | (normalize_axis(Axes, rank) < 0 ? 0u : 1u << normalize_axis(Axes, rank)));
}
template <int Rank, long... Axes>
constexpr void check_axes(axis_list<Axes...>) {
  static_assert(((normalize_axis(Axes, Rank) >= 0) && ...),
                "axis<...>: an axis is out of range for this rank; axes run from -rank to rank - 1");
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
  if constexpr (Shape == S)
    return x;
  else
    return {x.graph(), add_view(x.graph(), op::reshape, x.id(), Shape)};
}

}  // namespace detail

/// Reorders dimensions: result dimension i is dimension Order[i] of x. Any dtype. Error: not a permutation.
template <long... Order, dtype T, extents S>
constexpr auto permute(expr<T, S> x) {
  constexpr extents order{sizeof...(Order), {normalize_axis(Order, S.rank)...}};
  constexpr unsigned mask = detail::axis_mask(axis<Order...>, S.rank);
  static_assert(sizeof...(Order) == S.rank && mask == (1u << S.rank) - 1,
                "permute<order...>(x): the order must name every dimension of x exactly once");
  constexpr extents shape = detail::permuted(S, order);
  return expr<T, shape>(x.graph(), detail::add_permute(x.graph(), x.id(), shape, order));
}

/// Exchanges two dimensions; without arguments the last two. Any dtype. Error: rank below two, axis out of range.
template <long A = -2, long B = -1, dtype T, extents S>
constexpr auto transpose(expr<T, S> x) {
  static_assert(normalize_axis(A, S.rank) >= 0 && normalize_axis(B, S.rank) >= 0,
                "transpose<a, b>(x): an axis is out of range; x needs at least two dimensions");
  constexpr int a = normalize_axis(A, S.rank), b = normalize_axis(B, S.rank);
  constexpr auto exchanged = [](extents e) {
    const number kept = e[a];
    e[a] = e[b], e[b] = kept;
    return e;
  };
  constexpr extents shape = exchanged(S);
  return expr<T, shape>(x.graph(), detail::add_permute(x.graph(), x.id(), shape, exchanged(detail::identity_order(S.rank))));
}

namespace detail {
template <extents S, long... Sizes>
constexpr extents inferred_shape() {
  extents shape{sizeof...(Sizes), {Sizes...}};
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
  static_assert(inferred <= 1, "reshape<sizes...>(x): at most one extent can be inferred");
  constexpr extents shape = detail::inferred_shape<S, Sizes...>();
  static_assert(numel(shape) == numel(S), "reshape<sizes...>(x): the element counts differ; check the extents");
  if constexpr (inferred == 1 && !is_static(numel(S))) {
    number known = 1;
    for (long size : {Sizes...})
      if (size != infer) known = product(known, size);
    x.graph()->numbers.quotient(numel(S), known);
  }
  return detail::reshaped<shape>(x);
}
/// The extents of another expression: `reshape_as(x, y)`.
template <dtype T, extents S, dtype U, extents Shape>
constexpr expr<T, Shape> reshape_as(expr<T, S> x, expr<U, Shape>) {
  static_assert(numel(Shape) == numel(S), "reshape_as(x, y): the element counts differ");
  return detail::reshaped<Shape>(x);
}

/// Merges dimensions First..Last (inclusive) into one. Any dtype.
template <long First = 0, long Last = -1, dtype T, extents S>
constexpr auto flatten(expr<T, S> x) {
  static_assert(normalize_axis(First, S.rank) >= 0 && normalize_axis(Last, S.rank) >= normalize_axis(First, S.rank),
                "flatten<first, last>(x): the axes are out of range or in the wrong order");
  constexpr extents shape = [] {
    extents e{};
    for (int d = 0; d < S.rank; ++d)
      if (d > normalize_axis(First, S.rank) && d <= normalize_axis(Last, S.rank))
        e[e.rank - 1] = product(e[e.rank - 1], S[d]);
      else
        e.push_back(S[d]);
    return e;
  }();
  number merged = 1;
  for (int d = normalize_axis(First, S.rank); d <= normalize_axis(Last, S.rank); ++d)
    merged = x.graph()->numbers.product(merged, S[d]);
  return detail::reshaped<shape>(x);
}

/// A new dimension of extent one at position Axis of the result. Any dtype.
template <long Axis, dtype T, extents S>
constexpr auto unsqueeze(expr<T, S> x) {
  static_assert(normalize_axis(Axis, S.rank + 1) >= 0 && S.rank < max_rank,
                "unsqueeze<axis>(x): the axis is out of range, or the rank would exceed 8");
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

/// Drops dimension Axis, which must have extent one. Any dtype.
template <long Axis, dtype T, extents S>
constexpr auto squeeze(expr<T, S> x) {
  static_assert(normalize_axis(Axis, S.rank) >= 0, "squeeze<axis>(x): the axis is out of range");
  static_assert(S[normalize_axis(Axis, S.rank)] == 1, "squeeze<axis>(x): the extent of this axis is not one");
  return detail::reshaped<kept_axes(S, 1u << normalize_axis(Axis, S.rank))>(x);
}

/// Repeats size-1 (and missing leading) dimensions up to the extents of `like`. Any dtype.
template <dtype T, extents S, dtype U, extents Shape>
constexpr expr<T, Shape> broadcast_to(expr<T, S> x, expr<U, Shape>) {
  static_assert(broadcast(S, Shape).ok && broadcast(S, Shape).shape == Shape,
                "broadcast_to(x, like): an extent of x is neither one nor that of the target");
  return {x.graph(), detail::broadcasted(x.graph(), x.id(), Shape)};
}
/// The same with the extents spelled out: `broadcast_to<4, 10>(x)`.
template <long... Sizes, dtype T, extents S>
constexpr auto broadcast_to(expr<T, S> x) {
  constexpr extents shape{sizeof...(Sizes), {Sizes...}};
  static_assert(broadcast(S, shape).ok && broadcast(S, shape).shape == shape,
                "broadcast_to<sizes...>(x): an extent of x is neither one nor the given size");
  return expr<T, shape>(x.graph(), detail::broadcasted(x.graph(), x.id(), shape));
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
  static_assert(normalize_axis(Axis, S.rank) >= 0, "slice<axis, start, stop, step>(x): the axis is out of range");
  static_assert(Step >= 1, "slice<axis, start, stop, step>(x): the step must be positive; flip reverses an axis");
  constexpr int a = normalize_axis(Axis, S.rank);
  static_assert(is_static(S[a]) || (Start >= 0 && Stop == end && Step == 1),
                "slice<axis, start, stop, step>(x): this extent is known only at run time; only slice<axis, start> works");
  constexpr detail::slice_bounds bounds = detail::slice_range(S[a], Start, Stop, Step);
  constexpr extents shape = [] {
    extents e = S;
    e[a] = detail::slice_range(S[a], Start, Stop, Step).size;
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
  detail::check_axes<S.rank>(axis<Axes...>);
  static_assert((is_static(S[normalize_axis(Axes, S.rank)]) && ...), "flip<axes...>(x): a reversed extent is known only at run time");
  extents starts{S.rank, {}}, steps{S.rank, {}};
  for (int d = 0; d < S.rank; ++d) {
    const bool reversed = detail::axis_mask(axis<Axes...>, S.rank) >> d & 1;
    starts[d] = reversed ? S[d] - 1 : 0;
    steps[d] = reversed ? -1 : 1;
  }
  return {x.graph(), detail::add_slice(x.graph(), x.id(), S, starts, steps)};
}

}  // namespace sinter
