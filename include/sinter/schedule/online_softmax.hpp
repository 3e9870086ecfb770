// Online softmax: sum(exp(x - amax(x))) over the axes of the maximum becomes one fold of x, so that both need one pass
// over the row instead of two. Only for rows that are too long to stay on chip: a row that stays is read once anyway.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/graph/graph.hpp"
#include "sinter/schedule/backend.hpp"
#include "sinter/schedule/options.hpp"

namespace sinter::detail {

/// Does `view` repeat the reduction `reduced`, of an operand of this shape, along the axes it folded?
template <class Graph>
constexpr bool repeats_rows(const Graph& g, int view, int reduced, const extents& shape) {
  if (g[view].what == op::broadcast) view = g[view].operands[0];
  const extents& kept = g.shape(view);
  if (g[view].what == op::reshape) view = g[view].operands[0];
  if (view != reduced) return false;
  for (int d = 0; d < shape.rank; ++d) {
    const int aligned = d - (shape.rank - kept.rank);
    const bool folded = static_cast<unsigned>(g[reduced].attr) >> d & 1;
    if (folded ? aligned >= 0 && kept[aligned] != 1 : aligned < 0 || kept[aligned] != shape[d]) return false;
  }
  return true;
}

/// The x of a sum of exp(x - amax(x)), or -1.
template <class Graph>
constexpr int shifted_by_maximum(const Graph& g, int id) {
  if (g[id].what != op::sum || g[g[id].operands[0]].what != op::exp) return -1;
  const node& shifted = g[g[g[id].operands[0]].operands[0]];
  if (shifted.what != op::sub) return -1;
  const short x = shifted.operands[0];
  int top = shifted.operands[1];
  while (is_view(g[top].what)) top = g[top].operands[0];
  const bool same_row = g[top].what == op::amax && g[top].operands[0] == x && g[top].attr == g[id].attr;
  return same_row && repeats_rows(g, shifted.operands[1], top, g.shape(x)) ? x : -1;
}

/// True if something changed: then what is dead has to go.
template <int Capacity>
constexpr bool merge_online_softmax(graph<Capacity>& g, const options& o) {
  if (!o.online_softmax || o.precise_casts) return false;
  bool changed = false;
  for (int id = 0; id < g.size(); ++id) {
    const int x = shifted_by_maximum(g, id);
    if (x < 0) continue;
    number row = 1;
    const extents reduced = reduced_axes(g.shape(x), static_cast<unsigned>(g[id].attr));
    for (int d = 0; d < reduced.rank; ++d) row = g.numbers.product(row, reduced[d]);
    const std::int64_t length = g.numbers.hint(row);
    if (length <= o.persistent_reduction_limit || length <= backend_of(o.target).row_on_chip) continue;
    g.nodes[id].what = op::sumexp;
    g.nodes[id].operands[0] = static_cast<short>(x);
    changed = true;
  }
  return changed;
}

}  // namespace sinter::detail
