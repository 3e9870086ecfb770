// Realize or inline: which nodes get a buffer. Most of the fusing is decided here, because a value without a buffer is
// recomputed inside each of its users. Rules L1 to L6 of TorchInductor's graph lowering; the thresholds are options.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/graph/graph.hpp"
#include "sinter/schedule/options.hpp"

namespace sinter::detail {

/// What realize decided.
template <int Capacity>
struct realization {
  fixed_set<Capacity> buffers{};     ///< nodes with a buffer (inputs included)
  fixed_set<Capacity> unrolled{};    ///< short reductions that became pointwise
  fixed_set<Capacity> recomputed{};  ///< results that load nothing: users compute them again
  bool overwrites = false;           ///< some node writes into the memory of another

  constexpr bool realized(int node) const { return buffers.contains(node); }
  constexpr bool is_loaded(int node) const { return buffers.contains(node) && !recomputed.contains(node); }
};

/// The buffer behind a chain of views.
template <class Graph>
constexpr int view_base(const Graph& g, int node) {
  while (is_view(g[node].what)) node = g[node].operands[0];
  return node;
}

/// Whose memory a buffer lies in: that of the input or buffer it is a version of, or its own.
template <class Graph>
constexpr int memory_of(const Graph& g, int buffer) {
  while (overwrites(g[buffer].what)) buffer = view_base(g, g[buffer].operands[0]);
  return buffer;
}
/// The extents a buffer's loop runs over: those of what is written where that is only a part.
template <class Graph>
constexpr const extents& written_shape(const Graph& g, int buffer) {
  const node& n = g[buffer];
  return g.shape(n.what == op::assign    ? n.operands[0]
                 : n.what == op::scatter ? n.operands[2]
                                         : static_cast<short>(buffer));
}

/// Folds with more to remember than a value.
constexpr bool has_wide_state(op what) {
  return what == op::m2 || what == op::sumexp || what == op::logsumexp || what == op::argmax || what == op::argmin;
}

/// Short static reductions are unrolled into pointwise work (Welford and arg-reductions are not).
template <class Graph>
constexpr bool is_unrolled(const Graph& g, int id, const options& o) {
  const op what = g[id].what;
  if (!is_reduction(what) || has_wide_state(what)) return false;
  const number n = numel(reduced_axes(g.shape(g[id].operands[0]), static_cast<unsigned>(g[id].attr)));
  return is_static(n) && n >= 1 && n < o.unroll_reductions_threshold;
}

/// The users of each value, as Inductor counts them: distinct direct ones; and what some need in memory.
template <int Capacity>
struct value_users {
  int count[Capacity]{}, last[Capacity]{};
  fixed_set<Capacity> demanded{};
  fixed_set<Capacity> indexed{};                 ///< read in another order than written: even a view has to be stored
  fixed_set<Capacity> crosses_ops{};             ///< has a user of another user-level op
  fixed_set<Capacity> computed_with{};           ///< has a user that is not a view of it
  fixed_vector<short, Capacity> written_over{};  ///< nodes that overwrite memory
};

template <int Capacity>
constexpr void find_users(const graph<Capacity>& g, value_users<Capacity>& u) {
  for (int id = 0; id < g.size(); ++id) {
    const node& n = g[id];
    for (int k = 0; k < n.num_operands(); ++k) {
      const int operand = n.operands[k];
      u.last[operand] = id;
      if (k > 0 && operand == n.operands[0]) continue;
      ++u.count[operand];
      if (!is_view(n.what)) u.computed_with.insert(operand);
      if (n.origin != g[operand].origin) u.crosses_ops.insert(operand);
    }
    // What leaves a list is stored; inside it, and from list to list, the ordinary rules hold.
    for (int k = 0; k < n.num_operands() && g.call_of(id).list == 0; ++k)
      if (const int base = view_base(g, n.operands[k]); g.call_of(base).list > 0) u.demanded.insert(base);
    for (int k = 0; n.what == op::matmul && k < 2; ++k) u.demanded.insert(view_base(g, n.operands[k]));
    for (int k = 0; n.what == op::custom && k < n.num_operands(); ++k) u.indexed.insert(n.operands[k]);
    if (n.what == op::realize) u.demanded.insert(id);
    if (n.what == op::assign) u.demanded.insert(n.operands[1]);
    if (n.what == op::gather || n.what == op::scatter) u.indexed.insert(n.operands[0]);
    if (n.set_apart) u.indexed.insert(id);
    if (overwrites(n.what)) u.written_over.push_back(static_cast<short>(id));
  }
  for (int id : g.outputs) u.demanded.insert(id);
  // A view inherits whatever its users cross, so that eager cuts below it.
  for (int id = g.size() - 1; id >= 0; --id)
    if (is_view(g[id].what) && (u.crosses_ops.contains(id) || u.demanded.contains(id)))
      u.crosses_ops.insert(g[id].operands[0]);
}

/// What computing each lazy value takes where it is inlined.
template <int Capacity>
struct inlined_work {
  fixed_set<Capacity> loads[Capacity]{};   ///< loads, by the node that indexes the buffer
  fixed_set<Capacity> bases[Capacity]{};   ///< the buffers themselves
  fixed_set<Capacity> values[Capacity]{};  ///< values computed
  int unrolled_reads[Capacity]{};          ///< of unrolled reductions: an element each, or those of other rows inside
  short unrolled[Capacity]{};              ///< the reduction that reads so much
};

template <int Capacity>
constexpr void add_work(const graph<Capacity>& g, int id, const realization<Capacity>& r, inlined_work<Capacity>& w) {
  const node& n = g[id];
  for (int k = 0; k < n.num_operands(); ++k) {
    const int operand = n.operands[k];
    if (r.is_loaded(operand)) {
      w.loads[id].insert(is_view(n.what) ? id : operand);
      w.bases[id].insert(operand);
      continue;
    }
    if (is_view(n.what) && is_view(g[operand].what)) w.loads[id] = w.loads[operand];
    else w.loads[id].insert(w.loads[operand]);
    w.bases[id].insert(w.bases[operand]);
    w.values[id].insert(w.values[operand]);
    if (w.unrolled_reads[operand] <= w.unrolled_reads[id]) continue;
    w.unrolled_reads[id] = w.unrolled_reads[operand];
    w.unrolled[id] = w.unrolled[operand];
  }
  if (!is_view(n.what)) w.values[id].insert(id);
  if (!r.unrolled.contains(id)) return;
  const extents& rows = g.shape(n.operands[0]);
  const node& inner = g[w.unrolled[id]];
  const bool same_rows = w.unrolled_reads[id] > 0 && inner.attr == n.attr && g.shape(inner.operands[0]) == rows;
  const int each = w.unrolled_reads[id] > 0 && !same_rows ? w.unrolled_reads[id] : w.loads[id].size() > 0;
  w.unrolled_reads[id] = each * static_cast<int>(numel(reduced_axes(rows, static_cast<unsigned>(n.attr))));
  w.unrolled[id] = static_cast<short>(id);
}

/// Is a value made of what is overwritten before its last user? Then it must be kept.
template <int Capacity>
constexpr bool reads_overwritten(const graph<Capacity>& g, int id, const value_users<Capacity>& u,
                                 const fixed_set<Capacity>& bases) {
  for (int a : u.written_over)
    if (id < a && a < u.last[id] && bases.contains(view_base(g, g[a].operands[0]))) return true;
  return false;
}
/// Does an assignment write this value, or views of it, and is it made of what that overwrites? It would be read while
/// it changes. (Below a view the value is kept; the view only if there is none, because it lies over memory.)
template <int Capacity>
constexpr bool reads_target(const graph<Capacity>& g, int id, const fixed_set<Capacity>& bases) {
  for (int a : g.assigns) {
    const int value = g[a].operands[1];
    if ((value != id && view_base(g, value) != id) || g[a].operands[0] == id) continue;
    for (int buffer = 0; buffer < id; ++buffer)
      if (bases.contains(buffer) && memory_of(g, buffer) == memory_of(g, a)) return true;
  }
  return false;
}

/// Does a lazy value become a buffer? L1 to L6 are the rows of Inductor's table.
template <int Capacity>
constexpr bool wants_buffer(const graph<Capacity>& g, int id, const options& o, const realization<Capacity>& r,
                            const value_users<Capacity>& u, const inlined_work<Capacity>& w) {
  const bool view = is_view(g[id].what), lazy = !view && g[id].what != op::iota;
  const int loads = w.loads[id].size(), ops = w.values[id].size() + loads;
  bool keep = u.demanded.contains(id) && !view;  // L1
  keep =
      keep || (lazy && u.count[id] > 1 && (loads > o.realize_reads_threshold || ops > o.realize_ops_threshold));  // L4
  keep = keep ||
         (lazy && loads > 1 && (loads > o.realize_accumulated_reads_threshold || ops > o.realize_ops_threshold));  // L5
  keep = keep || (r.unrolled.contains(id) && w.unrolled_reads[id] > o.realize_accumulated_reads_threshold);        // L5
  keep = keep || (lazy && ops > o.max_inlined_ops);                                                                // L6
  keep = keep || (lazy && o.one_kernel_per_op && u.crosses_ops.contains(id));
  keep = keep || (!u.written_over.empty() && reads_overwritten(g, id, u, w.bases[id]));
  // A constant or an index grid is inlined even if storage was asked for, unless it is a result.
  keep = keep && loads > 0;
  return keep || u.indexed.contains(id) || reads_target(g, id, w.bases[id]) ||
         g.outputs.contains(static_cast<short>(id));
}

template <int Capacity>
constexpr realization<Capacity> realize(const graph<Capacity>& g, const options& o) {
  realization<Capacity> r{};
  value_users<Capacity> users{};
  find_users(g, users);
  r.overwrites = !users.written_over.empty();
  inlined_work<Capacity> work{};
  for (int id = 0; id < g.size(); ++id) {
    const op what = g[id].what;
    const bool unrolled = is_unrolled(g, id, o);
    if (what == op::constant || what == op::scalar) continue;
    if (what == op::input || what == op::empty || what == op::matmul || what == op::custom || overwrites(what) ||
        is_scan(what) || (is_reduction(what) && !unrolled)) {
      r.buffers.insert(id);
      continue;
    }
    if (unrolled) r.unrolled.insert(id);
    add_work(g, id, r, work);
    if (!wants_buffer(g, id, o, r, users, work)) continue;
    r.buffers.insert(id);
    const bool loads_nothing = work.loads[id].size() == 0 && !users.indexed.contains(id);
    if (loads_nothing && users.computed_with.contains(id) && o.delay_realize_cheap_outputs) r.recomputed.insert(id);
  }
  return r;
}

}  // namespace sinter::detail
