// Indexing ops: iota, full, gather, embedding, concat, stack, pad, assign.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/expr/pointwise.hpp"
#include "sinter/expr/view.hpp"

namespace sinter {

/// The index along one axis, with the shape of `like`; i64. `iota<-1>(x)` is 0, 1, 2, … in each row.
template <long Axis = -1, dtype T, extents S>
constexpr auto iota(expr<T, S> like) {
  trace* t = like.graph();
  if constexpr (normalize_axis(Axis, S.rank) < 0) {
    detail::iota_axis<Axis, S.rank>();
    t->refused = true;
  }
  const origin_scope call(t, "iota");
  node n{};
  n.what = op::iota;
  n.type = dtype::i64;
  n.shape = t->intern(S);
  n.attr = static_cast<short>(normalize_axis(Axis, S.rank));
  return expr<dtype::i64, S>(t, t->add(n));
}

/// An array with the element type and extents of `like`, filled with a value. Source: torch.full_like.
template <dtype T, extents S, detail::scalar_operand V>
constexpr expr<T, S> full_like(expr<T, S> like, V value) {
  trace* t = like.graph();
  const origin_scope call(t, "full");
  const short scalar = detail::node_of(t, value, T, extents{});
  return {t, detail::expanded(t, scalar, S)};
}

namespace detail {
/// The first axis other than `axis` on which two shapes of one rank differ; -1: none.
constexpr int other_axis_conflict(const extents& a, const extents& b, int axis) {
  for (int d = 0; d < a.rank; ++d)
    if (d != axis && !may_equal(a[d], b[d])) return d;
  return -1;
}
/// Source dimension d is result dimension map[d]; the one with -1 is taken from the index.
template <extents Shape, dtype T, extents S, dtype I, extents J>
constexpr expr<T, Shape> gathered(expr<T, S> source, expr<I, J> index, const extents& map) {
  trace* t = source.graph();
  node n{};
  n.what = op::gather;
  n.type = T;
  n.operands[0] = source.id();
  n.operands[1] = broadcasted(t, widened(t, index.id(), dtype::i64), Shape);
  n.shape = t->intern(Shape);
  n.list = t->intern(map);
  return {t, t->add(n)};
}
}  // namespace detail

/// out[..., i, ...] = x[..., index[..., i, ...], ...] along Axis; index has the rank of x and extents that agree with x
/// on the other axes. Integer index; negative values count from the end; out of range is undefined on CUDA. Source:
/// torch.gather.
template <long Axis, dtype T, extents S, dtype I, extents J>
constexpr auto gather(expr<T, S> x, expr<I, J> index) {
  constexpr bool axis_fits = J.rank == S.rank && normalize_axis(Axis, S.rank) >= 0;
  constexpr int conflict = axis_fits ? detail::other_axis_conflict(S, J, normalize_axis(Axis, S.rank)) : -1;
  if constexpr (!axis_fits) detail::gather_axis<Axis, S.rank, J.rank>();
  if constexpr (conflict >= 0)
    detail::gather_extents<conflict, S[conflict < 0 ? 0 : conflict], J[conflict < 0 ? 0 : conflict]>();
  if constexpr (!is_integral(I)) detail::gather_index_type<I>();
  if constexpr (!axis_fits || conflict >= 0 || !is_integral(I)) {
    x.graph()->refused = true;
    return expr<T, J>(x.graph(), x.id());
  }
  const origin_scope call(x.graph(), "gather");
  for (int d = 0; d < S.rank; ++d)
    if (d != normalize_axis(Axis, S.rank)) x.graph()->require_equal(S[d], J[d]);
  extents map{S.rank, {}};
  for (int d = 0; d < S.rank; ++d) map[d] = d == normalize_axis(Axis, S.rank) ? -1 : d;
  return detail::gathered<J>(x, index, map);
}

/// Rows of weight [count, ...] chosen by an integer index of any shape: [index..., ...]. Source:
/// torch.nn.functional.embedding, weight[index].
template <dtype T, extents W, dtype I, extents J>
constexpr auto embedding(expr<T, W> weight, expr<I, J> index) {
  constexpr bool ranks_fit = W.rank >= 1 && J.rank + W.rank - 1 <= max_rank;
  if constexpr (!ranks_fit) detail::embedding_ranks<W.rank, J.rank>();
  if constexpr (!is_integral(I)) detail::embedding_index_type<I>();
  constexpr extents shape = [] {
    extents e = J;
    for (int d = 1; d < W.rank && ranks_fit; ++d) e.push_back(W[d]);
    return e;
  }();
  constexpr extents aligned = [] {
    extents e = J;
    for (int d = 1; d < W.rank && ranks_fit; ++d) e.push_back(1);
    return e;
  }();
  if constexpr (!ranks_fit || !is_integral(I)) {
    weight.graph()->refused = true;
    return expr<T, shape>(weight.graph(), weight.id());
  }
  const origin_scope call(weight.graph(), "embedding");
  extents map{W.rank, {-1}};
  for (int d = 1; d < W.rank; ++d) map[d] = J.rank + d - 1;
  return detail::gathered<shape>(weight, detail::reshaped<aligned>(index), map);
}

/// Joins arrays along Axis; the other extents must agree, dtypes promote. Source: torch.cat.
template <long Axis, dtype T, extents S>
constexpr expr<T, S> concat(expr<T, S> x) {
  return x;
}
template <long Axis, dtype T, extents A, dtype U, extents B, class... Rest>
constexpr auto concat(expr<T, A> a, expr<U, B> b, Rest... rest) {
  constexpr bool axis_fits = A.rank == B.rank && normalize_axis(Axis, A.rank) >= 0;
  constexpr int axis_number = detail::axis_or_first(Axis, A.rank);
  constexpr int conflict = axis_fits ? detail::other_axis_conflict(A, B, axis_number) : -1;
  if constexpr (!axis_fits) detail::concat_ranks<Axis, A.rank, B.rank>();
  if constexpr (conflict >= 0)
    detail::concat_extents<conflict, A[conflict < 0 ? 0 : conflict], B[conflict < 0 ? 0 : conflict]>();
  constexpr dtype type = promote(T, U);
  constexpr extents shape = [] {
    extents e = A;
    e[axis_number] = sum(A[axis_number], B[axis_number]);
    return e;
  }();
  trace* t = a.graph();
  if constexpr (!axis_fits || conflict >= 0) {
    t->refused = true;
    return expr<type, A>(t, a.id());
  } else {
    const origin_scope call(t, "cat");
    t->numbers.sum(A[axis_number], B[axis_number]);
    for (int d = 0; d < A.rank; ++d)
      if (d != axis_number) t->require_equal(A[d], B[d]);
    node n{};
    n.what = op::concat;
    n.type = type;
    n.operands[0] = detail::widened(t, a.id(), type), n.operands[1] = detail::widened(t, b.id(), type);
    n.shape = t->intern(shape);
    n.attr = static_cast<short>(axis_number);
    return concat<Axis>(expr<type, shape>(t, t->add(n)), rest...);
  }
}

/// Joins arrays of equal extents along a new axis at position Axis of the result; dtypes promote. Source: torch.stack.
template <long Axis, dtype T, extents S, class... Rest>
constexpr auto stack(expr<T, S> x, Rest... rest) {
  const origin_scope call(x.graph(), "stack");
  return concat<Axis>(unsqueeze<Axis>(x), unsqueeze<Axis>(rest)...);
}

/// Adds Before and After elements of `value` on one axis. Source: torch.nn.functional.pad (constant mode).
template <long Axis, long Before, long After, dtype T, extents S, detail::scalar_operand V>
constexpr auto pad(expr<T, S> x, V value) {
  constexpr bool axis_is_there = normalize_axis(Axis, S.rank) >= 0;
  if constexpr (!axis_is_there) detail::pad_axis<Axis, S.rank>();
  if constexpr (Before < 0 || After < 0) detail::pad_counts<Before, After>();
  if constexpr (!axis_is_there || Before < 0 || After < 0) x.graph()->refused = true;
  constexpr int a = detail::axis_or_first(Axis, S.rank);
  constexpr extents shape = [] {
    extents e = S;
    e[a] = sum(S[a], Before + After);
    return e;
  }();
  trace* t = x.graph();
  const origin_scope call(t, "pad");
  t->numbers.sum(S[a], Before + After);
  extents before{S.rank, {}};
  before[a] = Before;
  node n{};
  n.what = op::pad;
  n.type = T;
  n.operands[0] = x.id(), n.operands[1] = detail::node_of(t, value, T, extents{});
  n.shape = t->intern(shape);
  n.list = t->intern(before);
  return expr<T, shape>(t, t->add(n));
}
template <long Axis, long Before, long After, dtype T, extents S>
constexpr auto pad(expr<T, S> x) {
  return pad<Axis, Before, After>(x, c<0>);
}

namespace detail {

/// The input, or the version of one, behind a chain of views.
constexpr short assigned_base(const trace& t, short view) {
  while (is_view(t.nodes[view].what) && t.nodes[view].what != op::broadcast) view = t.nodes[view].operands[0];
  return view;
}
constexpr bool is_assignable(const trace& t, short view) {
  const op base = t.nodes[assigned_base(t, view)].what;
  return base == op::input || base == op::assign;
}
/// Writes `stored`, of the view's dtype and shape, into the view.
constexpr void add_assign(trace* t, short view, short stored) {
  const short base = assigned_base(*t, view);
  const short written = t->add(op::assign, t->nodes[view].type, t->shape(base), view, stored);
  t->versions.push_back({base, written});
  t->assigns.push_back(written);
}

}  // namespace detail

/// Writes value into an input (or a view of one), in place: reads of that input that follow, also through views taken
/// earlier, see the new elements; reads that came before saw the old ones. The value is converted to the input's dtype
/// and broadcasts to the target. Errors: the target is not an input or a view of one; a broadcast view.
template <dtype T, extents S, detail::operand V>
constexpr assigned assign(expr<T, S> target, V value) {
  trace* t = target.graph();
  const origin_scope call(t, "assign");
  if constexpr (detail::is_expr<V>) {
    constexpr extents given = V::shape;  // V::shape in the calls themselves costs nvcc's front end half a gigabyte
    constexpr int conflict = detail::broadcast_conflict(given, S);
    if constexpr (given.rank > S.rank) detail::assign_rank<S.rank, given.rank>();
    if constexpr (conflict >= 0)
      detail::assign_extent<conflict, S[conflict], given[conflict - (S.rank - given.rank)]>();
    if constexpr (given.rank > S.rank || conflict >= 0) {
      t->refused = true;
      return {};
    }
  }
  const short view = target.id();
  if (!detail::is_assignable(*t, view)) {
    t->assigned_to_value = true;
    return {};
  }
  detail::add_assign(t, view, detail::node_of(t, value, T, S));
  return {};
}

}  // namespace sinter
