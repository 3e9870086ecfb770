// Reinplace: gives each scatter the memory it writes into. That of its target if nothing reads the target later: of a
// computed value, or of an input to which the result is assigned at once. Otherwise a copy of the target. Scalars that
// a custom op reads get memory, too.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/schedule/realize.hpp"

namespace sinter::detail {

/// Is `target` read by a node after `position` other than `except`, also through views, or is it a result?
template <class Graph>
constexpr bool read_after(const Graph& g, int target, int position, int except) {
  for (int id : g.outputs)
    if (view_base(g, id) == target) return true;
  for (int id = position + 1; id < g.size(); ++id)
    for (int k = 0; id != except && !is_view(g[id].what) && k < g[id].num_operands(); ++k)
      if (view_base(g, g[id].operands[k]) == target) return true;
  return false;
}

/// The assignment of a scatter's result to the very input (not to a view of it) it was made of, or -1.
template <class Graph>
constexpr int assigned_back(const Graph& g, int scatter) {
  const short target = g[scatter].operands[0];
  for (int a : g.assigns)
    if (g[a].operands[1] == scatter && g[a].operands[0] == target && !is_view(g[target].what)) return a;
  return -1;
}

/// May a scatter lie in the input that it is assigned to? Not if it is read after that input changes again.
template <class Graph>
constexpr bool fits_input(const Graph& g, int scatter, int assign) {
  bool changes_again = false;
  for (int a : g.assigns) changes_again = changes_again || (a > assign && memory_of(g, a) == memory_of(g, assign));
  const bool is_result = g.outputs.contains(static_cast<short>(scatter));
  return !is_result && !(changes_again && read_after(g, scatter, scatter, assign));
}
/// Is it a computed value, whose memory is the plan's?
template <class Graph>
constexpr bool is_temporary(const Graph& g, int id) {
  const op what = g[memory_of(g, id)].what;
  return !is_view(what) && !is_leaf(what);
}

/// The nodes that `target` has a part in.
template <class Graph>
constexpr fixed_set<decltype(Graph::nodes)::capacity> nodes_made_of(const Graph& g, int target) {
  fixed_set<decltype(Graph::nodes)::capacity> made{};
  made.insert(target);
  for (int id = target + 1; id < g.size(); ++id)
    for (int k = 0; k < g[id].num_operands(); ++k)
      if (made.contains(g[id].operands[k])) made.insert(id);
  return made;
}

template <int Capacity>
constexpr graph<Capacity> reinplace(const graph<Capacity>& g) {
  bool needed = false;
  for (const node& n : g.nodes) needed = needed || n.what == op::scatter || n.what == op::custom;
  if (!needed) return g;

  graph<Capacity> out{};
  short renamed[Capacity]{};
  const auto stored = [&](op what, short operand, short origin) {  // a node of its own, not merged with an equal one
    node n{};
    n.what = what;
    n.type = out[operand].type;
    n.shape = out[operand].shape;
    n.operands[0] = operand;
    n.origin = origin;
    return static_cast<short>(out.nodes.push_back(n));
  };
  for (int id = 0; id < g.size(); ++id) {
    node n = g[id];
    for (short& operand : n.operands)
      if (operand >= 0) operand = renamed[operand];
    if (n.what == op::assign && out[n.operands[1]].what == op::scatter &&
        memory_of(out, n.operands[1]) == memory_of(out, n.operands[0])) {  // it is there already
      renamed[id] = n.operands[1];
      continue;
    }
    for (int k = 0; n.what == op::custom && k < n.num_operands(); ++k) {
      const node& operand = g[g[id].operands[k]];
      const bool by_value = operand.what == op::input && g.inputs[operand.attr].by_value;
      if (by_value || operand.what == op::constant || operand.what == op::scalar)
        n.operands[k] = stored(op::clone, n.operands[k], n.origin);
    }
    if (n.what == op::scatter) {
      const int target = g[id].operands[0], back = assigned_back(g, id);
      const node& memory = g[memory_of(g, target)];
      const bool strided =
          memory.what == op::input && (g.inputs[memory.attr].strided || g.inputs[memory.attr].layout.rank > 0);
      const bool fits = !strided || g.lists[g[id].list][0] != -2;  // positions in two dimensions take them as one
      const bool has_memory = back >= 0 ? fits_input(g, id, back) : is_temporary(out, n.operands[0]);
      if (fits && has_memory && !read_after(g, target, id, back)) {
        // What is written must not depend on what is there while it is written.
        const auto made = nodes_made_of(g, target);
        for (int k = 1; k < 3; ++k)
          if (made.contains(g[id].operands[k])) n.operands[k] = stored(op::realize, n.operands[k], n.origin);
      } else {
        n.operands[0] = stored(op::clone, n.operands[0], n.origin);
      }
    }
    renamed[id] = static_cast<short>(out.nodes.push_back(n));
  }
  out.lists = g.lists, out.scalars = g.scalars, out.origins = g.origins;
  out.numbers = g.numbers, out.customs = g.customs;
  for (input_info i : g.inputs) {
    i.node = renamed[i.node];
    out.inputs.push_back(i);
  }
  for (int id : g.assigns) out.assigns.push_back(renamed[id]);
  for (int id : g.outputs) out.outputs.push_back(renamed[id]);
  return out;
}

}  // namespace sinter::detail
