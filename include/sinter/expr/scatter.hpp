// Writing at computed places: index_put and scatter give a new array, their target with some elements replaced. Whether
// the target is copied or written over is the scheduler's matter; `assign(x, index_put(x, i, v))` writes in place.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/expr/index.hpp"
#include "sinter/expr/reduction.hpp"

namespace sinter {
namespace detail {

/// Target dimension d is value dimension map[d]; the one with -1 is taken from the index.
template <extents Shape, dtype T, extents S, dtype I, extents J, operand V>
constexpr expr<T, S> scattered(expr<T, S> x, expr<I, J> index, const V& value, const extents& map) {
  trace* t = x.graph();
  node n{};
  n.what = op::scatter;
  n.type = T;
  n.operands[0] = x.id();
  n.operands[1] = node_of(t, value, T, Shape);
  n.operands[2] = broadcasted(t, widened(t, index.id(), dtype::i64), Shape);
  n.shape = t->intern(S);
  n.list = t->intern(map);
  return {t, t->add(n)};
}

/// Says why a value does not broadcast to what it replaces; false then.
template <class Verb, extents Shape, operand V>
constexpr bool replaces() {
  if constexpr (is_expr<V>) {
    constexpr extents given = V::shape;  // (as in assign)
    constexpr int conflict = broadcast_conflict(given, Shape);
    if constexpr (given.rank > Shape.rank) Verb::template rank<Shape.rank, given.rank>();
    if constexpr (conflict >= 0)
      Verb::template extent<conflict, Shape[conflict], given[conflict - (Shape.rank - given.rank)]>();
    return given.rank <= Shape.rank && conflict < 0;
  } else {
    return true;
  }
}

/// The extents of x[..., index, ...].
constexpr extents indexed_shape(const extents& x, int axis, const extents& index) {
  extents e{};
  for (int d = 0; d < x.rank; ++d)
    if (d != axis)
      e.push_back(x[d]);
    else
      for (int k = 0; k < index.rank; ++k) e.push_back(index[k]);
  return e;
}

/// The dimensions of a from `first` on; those of a, then those of b.
constexpr extents kept_last(const extents& a, int first) {
  extents e{};
  for (int d = first; d < a.rank; ++d) e.push_back(a[d]);
  return e;
}
constexpr extents joined(extents a, const extents& b) {
  for (int d = 0; d < b.rank; ++d) a.push_back(b[d]);
  return a;
}

}  // namespace detail

/// x with x[index] = value along Axis, where index is an integer array of any rank: value broadcasts to x's extents
/// with those of the index in the place of Axis. Negative indices count from the end, those out of range write nothing;
/// which value a place named twice gets is not said. Source: torch.index_put, torch.index_copy, torch.index_fill.
template <long Axis = 0, dtype T, extents S, dtype I, extents J, detail::operand V>
constexpr expr<T, S> index_put(expr<T, S> x, expr<I, J> index, V value) {
  constexpr bool fits = normalize_axis(Axis, S.rank) >= 0 && S.rank + J.rank - 1 <= max_rank;
  constexpr int axis_number = detail::axis_or_first(Axis, S.rank);
  if constexpr (!fits) detail::index_put_axis<Axis, S.rank, J.rank>();
  if constexpr (!is_integral(I)) detail::index_put_index_type<I>();
  if constexpr (fits && is_integral(I)) {
    constexpr extents shape = detail::indexed_shape(S, axis_number, J);
    constexpr extents aligned = [] {
      extents e = J;
      for (int d = axis_number + 1; d < S.rank; ++d) e.push_back(1);
      return e;
    }();
    if constexpr (detail::replaces<detail::index_put_refusal, shape, V>()) {
      const origin_scope call(x.graph(), "index_put");
      extents map{S.rank, {}};
      for (int d = 0; d < S.rank; ++d) map[d] = d < axis_number ? d : d == axis_number ? -1 : d + J.rank - 1;
      return detail::scattered<shape>(x, detail::reshaped<aligned>(index), value, map);
    }
  }
  x.graph()->refused = true;
  return x;
}

/// x with x[i, j] = value: two integer arrays that broadcast, of any rank; the rest as above. Source: torch.index_put.
template <dtype T, extents S, dtype I, extents J, dtype K, extents L, detail::operand V>
constexpr expr<T, S> index_put(expr<T, S> x, expr<I, J> i, expr<K, L> j, V value) {
  constexpr broadcast_result both = broadcast(J, L);
  constexpr bool fits =
      S.rank >= 2 && S.rank + both.shape.rank - 2 <= max_rank && both.ok && is_integral(I) && is_integral(K);
  if constexpr (!fits) {
    detail::index_put_pair<S.rank, both.shape.rank, both.ok, I, K>();
  } else {
    constexpr extents aligned = detail::joined(both.shape, detail::with_ones(detail::kept_last(S, 2), ~0u));
    constexpr extents shape = detail::joined(both.shape, detail::kept_last(S, 2));
    if constexpr (detail::replaces<detail::index_put_refusal, shape, V>()) {
      trace* t = x.graph();
      const origin_scope call(t, "index_put");
      const auto rows = detail::reduced_count<1, dtype::i64>(x), columns = detail::reduced_count<2, dtype::i64>(x);
      const auto from_start = [](auto index, auto extent) { return where(index < c<0>, index + extent, index); };
      const auto row = from_start(expr<dtype::i64, J>(t, detail::widened(t, i.id(), dtype::i64)), rows);
      const auto column = from_start(expr<dtype::i64, L>(t, detail::widened(t, j.id(), dtype::i64)), columns);
      const auto is_there = row >= c<0> && row < rows && column >= c<0> && column < columns;
      const auto past_end = rows * columns;  // nothing is written there
      const auto position = where(is_there, row * columns + column, past_end);
      extents map{S.rank, {-2, -1}};
      for (int d = 2; d < S.rank; ++d) map[d] = both.shape.rank + d - 2;
      return detail::scattered<shape>(x, detail::reshaped<aligned>(position), value, map);
    }
  }
  x.graph()->refused = true;
  return x;
}

/// out[..., index[..., i, ...], ...] = value[..., i, ...] along Axis, elsewhere x; index has the rank of x and extents
/// that agree with x on the other axes, value broadcasts to those of the index. Source: torch.scatter.
template <long Axis, dtype T, extents S, dtype I, extents J, detail::operand V>
constexpr expr<T, S> scatter(expr<T, S> x, expr<I, J> index, V value) {
  constexpr bool axis_fits = J.rank == S.rank && normalize_axis(Axis, S.rank) >= 0;
  constexpr int conflict = axis_fits ? detail::other_axis_conflict(S, J, normalize_axis(Axis, S.rank)) : -1;
  if constexpr (!axis_fits) detail::scatter_axis<Axis, S.rank, J.rank>();
  if constexpr (conflict >= 0)
    detail::scatter_extents<conflict, S[conflict < 0 ? 0 : conflict], J[conflict < 0 ? 0 : conflict]>();
  if constexpr (!is_integral(I)) detail::scatter_index_type<I>();
  if constexpr (axis_fits && conflict < 0 && is_integral(I)) {
    if constexpr (detail::replaces<detail::scatter_refusal, J, V>()) {
      const origin_scope call(x.graph(), "scatter");
      extents map{S.rank, {}};
      for (int d = 0; d < S.rank; ++d) {
        map[d] = d == normalize_axis(Axis, S.rank) ? -1 : d;
        if (map[d] >= 0) x.graph()->require_equal(S[d], J[d]);
      }
      return detail::scattered<J>(x, index, value, map);
    }
  }
  x.graph()->refused = true;
  return x;
}

}  // namespace sinter
