// Online softmax: sum(exp(x - amax(x))) over the axes of the maximum becomes one fold of x, so that both need one pass
// over the row instead of two; so does log(sum(exp(x))) as logsumexp writes it. Not for rows that stay on chip: those
// are read from memory once anyway. Rows of run-time length may not stay, but it pays to try if they are read again.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/graph/graph.hpp"
#include "sinter/schedule/backend.hpp"
#include "sinter/schedule/options.hpp"

namespace sinter::detail {

/// Node `id`, or, if it is a `view`, what it is a view of.
template <class Graph>
constexpr int before(const Graph& g, int id, op view) {
  return g[id].what == view ? g[id].operands[0] : id;
}

/// Does `view` repeat the reduction `reduced`, of an operand of this shape, along the axes it folded?
template <class Graph>
constexpr bool repeats_rows(const Graph& g, int view, int reduced, const extents& shape) {
  view = before(g, view, op::broadcast);
  const extents& kept = g.shape(view);
  if (before(g, view, op::reshape) != reduced) return false;
  for (int d = 0; d < shape.rank; ++d) {
    const int aligned = d - (shape.rank - kept.rank);
    const bool folded = static_cast<unsigned>(g[reduced].attr) >> d & 1;
    if (folded ? aligned >= 0 && kept[aligned] != 1 : aligned < 0 || kept[aligned] != shape[d]) return false;
  }
  return true;
}

/// Does `view` repeat the maximum of the rows of `x` that sum `id` folds?
template <class Graph>
constexpr bool is_maximum_beside(const Graph& g, int id, int x, int view) {
  int top = view;
  while (is_view(g[top].what)) top = g[top].operands[0];
  const bool same_row = g[top].what == op::amax && g[top].operands[0] == x && g[top].attr == g[id].attr;
  return same_row && repeats_rows(g, view, top, g.shape(x));
}

/// A sum of exp(x - something); x = -1: it is not one.
struct shifted_sum {
  int x = -1, shift = -1;
};
template <class Graph>
constexpr shifted_sum shifted_sum_of(const Graph& g, int id) {
  if (g[id].what != op::sum || g[g[id].operands[0]].what != op::exp) return {};
  const node& shifted = g[g[g[id].operands[0]].operands[0]];
  if (shifted.what != op::sub) return {};
  return {shifted.operands[0], shifted.operands[1]};
}

/// Does anything that follows from node `id` have the shape of its rows? Then they are read again, after all of `id`.
template <int Capacity>
constexpr bool rows_are_read_again(const graph<Capacity>& g, int id, const extents& rows) {
  bool follows[Capacity]{};
  follows[id] = true;
  for (int n = id + 1; n < g.size(); ++n) {
    for (int operand : g[n].operands) follows[n] = follows[n] || (operand >= 0 && follows[operand]);
    if (follows[n] && g.shape(n) == rows) return true;
  }
  return false;
}

/// Rows up to this are in registers for both passes, whatever a plan knows of it; longer ones of 16 bits could be, but
/// those of a whole multiprocessor are faster in one.
inline constexpr std::int64_t longest_held_row = 1 << 15;

/// Does it pay to fold the rows of `x` in one pass, if they are longer than `stay`? `id`: what two passes lead to.
template <int Capacity>
constexpr bool saves_a_pass(graph<Capacity>& g, int id, int sum, int x, std::int64_t stay, const options& o) {
  number row = 1;
  const extents reduced = reduced_axes(g.shape(x), static_cast<unsigned>(g[sum].attr));
  for (int d = 0; d < reduced.rank; ++d) row = g.numbers.product(row, reduced[d]);
  const std::int64_t length = g.numbers.hint(row), cached = backend_of(o.target).row_on_chip;
  if (length > stay && length > cached) return true;
  if (cached > 0 || (is_static(row) && length < o.unroll_reductions_threshold)) return false;
  const bool columns = (static_cast<unsigned>(g[sum].attr) >> (g.shape(x).rank - 1) & 1) == 0;  // no block holds them
  return columns || (!is_static(row) && !rows_are_read_again(g, id, g.shape(x)));
}

/// A sum of exp(x - amax(x)) becomes a fold of x. Kernels that hold rows undo it (kernels/two_pass.hpp).
template <int Capacity>
constexpr bool merge_shifted_sum(graph<Capacity>& g, int id, const options& o) {
  const shifted_sum s = shifted_sum_of(g, id);
  if (s.x < 0 || !is_maximum_beside(g, id, s.x, s.shift) ||
      !saves_a_pass(g, id, id, s.x, o.persistent_reduction_limit, o))
    return false;
  g.nodes[id].what = op::sumexp;
  g.nodes[id].operands[0] = static_cast<short>(s.x);
  return true;
}

/// Is `id` where(isinf(top), 0, top)?
template <class Graph>
constexpr bool is_finite_part(const Graph& g, int id) {
  const node& n = g[id];
  if (n.what != op::where || g[n.operands[0]].what != op::isinf || g[n.operands[1]].what != op::constant) return false;
  const scalar_source& zero = g.scalars[g[n.operands[1]].attr];
  return zero.real == 0 && zero.integer == 0 && zero.size == 0 && g[n.operands[0]].operands[0] == n.operands[2];
}

template <int Capacity>
constexpr bool has_one_user(const graph<Capacity>& g, int id) {
  int users = 0;
  for (const node& n : g.nodes)
    for (int operand : n.operands) users += operand == id;
  for (int output : g.outputs) users += 2 * (output == id);
  return users == 1;
}

/// log(sum(exp(x - top))) + top, where top is the finite part of amax(x), becomes a fold of x, which takes the
/// logarithm's place, and a view of it.
template <int Capacity>
constexpr bool merge_logsumexp(graph<Capacity>& g, int id, const options& o) {
  const node& n = g[id];
  if (n.what != op::add || g[n.operands[0]].what != op::log || !is_finite_part(g, n.operands[1])) return false;
  const short log = n.operands[0], top = n.operands[1];
  const int sum = before(g, g[log].operands[0], op::reshape);
  const shifted_sum s = shifted_sum_of(g, sum);
  if (s.x < 0 || before(g, s.shift, op::broadcast) != top || !has_one_user(g, log)) return false;
  if (!is_maximum_beside(g, sum, s.x, g[top].operands[2]) || !saves_a_pass(g, id, sum, s.x, longest_held_row, o))
    return false;
  node fold = g[sum], view = g[id];
  fold.what = op::logsumexp, fold.operands[0] = static_cast<short>(s.x);
  view.what = op::reshape, view.operands[0] = log, view.operands[1] = -1;
  g.nodes[log] = fold, g.nodes[id] = view;
  return true;
}

/// True if something changed: then what is dead has to go.
template <int Capacity>
constexpr bool merge_online_softmax(graph<Capacity>& g, const options& o) {
  if (!o.online_softmax || o.precise_casts) return false;
  bool changed = false;
  for (int id = 0; id < g.size(); ++id) changed = merge_shifted_sum(g, id, o) || merge_logsumexp(g, id, o) || changed;
  return changed;
}

}  // namespace sinter::detail
