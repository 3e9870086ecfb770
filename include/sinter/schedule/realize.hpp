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
  fixed_set<Capacity> buffers{};   ///< nodes with a buffer (inputs included)
  fixed_set<Capacity> unrolled{};  ///< short reductions that became pointwise
  fixed_set<Capacity> recomputed{};  ///< results that load nothing: users compute them again
  bool overwrites = false;         ///< some node writes into the memory of another

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
  return g.shape(n.what == op::assign ? n.operands[0] : n.what == op::scatter ? n.operands[2] : static_cast<short>(buffer));
}

/// Short static reductions are unrolled into pointwise work (Welford and arg-reductions are not).
template <class Graph>
constexpr bool is_unrolled(const Graph& g, int id, const options& o) {
  const op what = g[id].what;
  if (!is_reduction(what) || what == op::m2 || what == op::sumexp || what == op::argmax || what == op::argmin)
    return false;
  const number n = numel(reduced_axes(g.shape(g[id].operands[0]), static_cast<unsigned>(g[id].attr)));
  return is_static(n) && n >= 1 && n < o.unroll_reductions_threshold;
}

template <int Capacity>
constexpr realization<Capacity> realize(const graph<Capacity>& g, const options& o) {
  realization<Capacity> r{};

  // Users, as Inductor counts them: distinct direct users; and those that need their operand in memory.
  int num_users[Capacity]{};
  fixed_set<Capacity> demanded{};
  fixed_set<Capacity> indexed{};  // read in another order than written: even a view has to be stored
  fixed_vector<short, Capacity> written_over{};  // nodes that overwrite memory
  fixed_set<Capacity> crosses_ops{};  // has a user of another user-level op
  const auto use = [&](int operand, int user) {
    ++num_users[operand];
    if (g[user].origin != g[operand].origin) crosses_ops.insert(operand);
  };
  for (int id = 0; id < g.size(); ++id) {
    const node& n = g[id];
    for (int k = 0; k < n.num_operands(); ++k)
      if (k == 0 || n.operands[k] != n.operands[0]) use(n.operands[k], id);
    // What leaves a list is stored; inside it, and from list to list, the ordinary rules hold.
    for (int k = 0; k < n.num_operands() && g.call_of(id).list == 0; ++k)
      if (const int base = view_base(g, n.operands[k]); g.call_of(base).list > 0) demanded.insert(base);
    if (n.what == op::matmul)  // L1: operands of foreign kernels and templates
      for (int k = 0; k < 2; ++k) demanded.insert(view_base(g, n.operands[k]));
    if (n.what == op::realize) demanded.insert(id);
    if (n.set_apart) indexed.insert(id);
    if (n.what == op::gather) indexed.insert(n.operands[0]);
    if (n.what == op::scatter) indexed.insert(n.operands[0]);
    for (int k = 0; n.what == op::custom && k < n.num_operands(); ++k) indexed.insert(n.operands[k]);
    if (overwrites(n.what)) written_over.push_back(static_cast<short>(id));
    if (n.what == op::assign) demanded.insert(n.operands[1]);
  }
  r.overwrites = !written_over.empty();
  for (int id : g.outputs) demanded.insert(id);
  // A view inherits whatever its users cross, so that eager cuts below it.
  for (int id = g.size() - 1; id >= 0; --id)
    if (is_view(g[id].what) && (crosses_ops.contains(id) || demanded.contains(id))) crosses_ops.insert(g[id].operands[0]);

  // Values read before an assignment of what they read, and used after it, must be kept.
  const auto reads_overwritten = [&](int id, int user, const fixed_set<Capacity>& loads) {
    for (int a : written_over) {
      if (!(id < a && a < user)) continue;
      int base = g[a].operands[0];
      while (is_view(g[base].what)) base = g[base].operands[0];
      if (loads.contains(base)) return true;
    }
    return false;
  };
  // A view whose elements are made of what an assignment of it overwrites would be read while that changes.
  const auto reads_target = [&](int id, const fixed_set<Capacity>& loads) {
    for (int a : g.assigns) {
      if (g[a].operands[1] != id || g[a].operands[0] == id) continue;
      for (int buffer = 0; buffer < id; ++buffer)
        if (loads.contains(buffer) && memory_of(g, buffer) == memory_of(g, a)) return true;
    }
    return false;
  };
  int last_user[Capacity]{};
  for (int id = 0; id < g.size(); ++id)
    for (int k = 0; k < g[id].num_operands(); ++k) last_user[g[id].operands[k]] = id;

  // For each lazy value: the buffers it loads (by the node that indexes them) and the values it computes.
  fixed_set<Capacity> loads[Capacity]{};
  fixed_set<Capacity> values[Capacity]{};
  fixed_set<Capacity> bases[Capacity]{};  // the buffers themselves
  int unrolled_reads[Capacity]{};
  const auto count = [&](const fixed_set<Capacity>& s) {
    int n = 0;
    for (unsigned long w : s.words)
      for (; w != 0; w &= w - 1) ++n;
    return n;
  };

  for (int id = 0; id < g.size(); ++id) {
    const node& n = g[id];
    const bool lazy_kind = is_pointwise(n.what) || n.what == op::concat || n.what == op::pad || n.what == op::gather ||
                           is_unrolled(g, id, o);
    if (n.what == op::input || n.what == op::empty || n.what == op::matmul || n.what == op::custom || overwrites(n.what) ||
        (is_reduction(n.what) && !is_unrolled(g, id, o))) {
      r.buffers.insert(id);
    } else if (lazy_kind || is_view(n.what) || n.what == op::iota) {
      if (is_unrolled(g, id, o)) r.unrolled.insert(id);
      for (int k = 0; k < n.num_operands(); ++k) {
        const int operand = n.operands[k];
        if (r.is_loaded(operand)) {
          loads[id].insert(is_view(n.what) ? id : operand);
          bases[id].insert(operand);
        } else if (is_view(n.what) && is_view(g[operand].what) && !r.is_loaded(operand)) {
          loads[id] = loads[operand];
          bases[id].insert(bases[operand]);
        } else {
          loads[id].insert(loads[operand]);
          bases[id].insert(bases[operand]);
        }
        if (!r.is_loaded(operand)) values[id].insert(values[operand]);
      }
      if (!is_view(n.what)) values[id].insert(id);
      // An unrolled reduction reads its operand once for each element; inside another one, times those.
      for (int k = 0; k < n.num_operands(); ++k)
        if (!r.is_loaded(n.operands[k]) && unrolled_reads[n.operands[k]] > unrolled_reads[id]) unrolled_reads[id] = unrolled_reads[n.operands[k]];
      if (is_unrolled(g, id, o)) {
        const number reads = numel(reduced_axes(g.shape(n.operands[0]), static_cast<unsigned>(n.attr)));
        unrolled_reads[id] = (unrolled_reads[id] > 1 ? unrolled_reads[id] : 1) * static_cast<int>(reads);
      }
      const int num_loads = count(loads[id]), num_ops = count(values[id]) + num_loads;

      bool keep = demanded.contains(id) && !is_view(n.what);                                                 // L1
      if (lazy_kind && num_users[id] > 1 &&
          (num_loads > o.realize_reads_threshold || num_ops > o.realize_ops_threshold)) keep = true;         // L4
      if (lazy_kind && num_loads > 1 &&
          (num_loads > o.realize_accumulated_reads_threshold || num_ops > o.realize_ops_threshold)) keep = true;  // L5
      if (is_unrolled(g, id, o) && unrolled_reads[id] > o.realize_accumulated_reads_threshold) keep = true;               // L5
      if (lazy_kind && num_ops > o.max_inlined_ops) keep = true;                                             // L6
      if (lazy_kind && o.one_kernel_per_op && crosses_ops.contains(id) && num_loads > 0) keep = true;
      if (!written_over.empty() && reads_overwritten(id, last_user[id], bases[id])) keep = true;
      // A constant or an index grid is inlined even if storage was asked for, unless it is a result.
      if (keep && num_loads == 0) keep = false;
      keep = keep || indexed.contains(id) || (is_view(n.what) && reads_target(id, bases[id]));
      for (int out : g.outputs) keep = keep || out == id;
      if (keep) r.buffers.insert(id);
      if (keep && num_loads == 0 && !indexed.contains(id) && o.delay_realize_cheap_outputs) r.recomputed.insert(id);
    }
  }
  return r;
}

}  // namespace sinter::detail
