// Growing a graph: nodes are appended in program order, equal nodes are one node (common subexpressions), shapes are
// interned, each node remembers the user-level call it came from, and assigned inputs have versions.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/graph/graph.hpp"

namespace sinter {

/// A graph under construction, with its current user-level call and the versions of assigned inputs.
template <int Capacity>
struct graph_builder : graph<Capacity> {
  using base = graph<Capacity>;
  using base::lists, base::nodes, base::numbers, base::origins, base::scalars;

  string_view call{};              ///< the outermost user-level op being traced, empty between calls
  short call_origin = -1;          ///< its origin, made with its first new node
  short num_lists = 0;             ///< calls of foreach so far
  short list = 0, member = 0;      ///< the one that is being traced, counted from 1, and its member
  bool refused = false;            ///< an op could not be: the compiler has said why, and nothing is planned
  bool assigned_to_value = false;  ///< the same for assign, whose target only the trace knows

  struct equality {
    number a, b;
  };
  fixed_vector<equality, 64> equalities{};  ///< run-time extents that meet where only one extent can be

  /// Notes that two extents must be equal at run time.
  constexpr void require_equal(number a, number b) {
    if (a == b) return;
    for (const equality& e : equalities)
      if ((e.a == a && e.b == b) || (e.a == b && e.b == a)) return;
    equalities.push_back({a, b});
  }
  constexpr void require_equal(const extents& from, const extents& to) {
    for (int d = from.rank > to.rank ? from.rank - to.rank : 0; d < from.rank; ++d)  // (a refused op may have more)
      if (from[d] != 1) require_equal(from[d], to[d + to.rank - from.rank]);
  }

  struct version {
    short older, newer;
  };
  fixed_vector<version, Capacity / 4 + 32> versions{};

  constexpr short intern(const extents& e) {
    for (int i = 0; i < lists.size(); ++i)
      if (lists[i] == e) return static_cast<short>(i);
    return static_cast<short>(lists.push_back(e));
  }

  /// The node, appended unless an equal one is there.
  constexpr short add(node n) {
    short& newest = newest_node[bucket(n)];
    for (int i = newest - 1; i >= 0; i = older_node[i] - 1)
      if (same_value(nodes[i], n)) return static_cast<short>(i);
    if (nodes.size() == Capacity) return static_cast<short>(nodes.push_back(n));
    if (n.origin < 0) n.origin = current_origin(n.what);
    const short id = static_cast<short>(nodes.push_back(n));
    older_node[id] = newest;
    newest = static_cast<short>(id + 1);
    return id;
  }

  constexpr short add(op what, dtype type, const extents& shape, short a = -1, short b = -1, short c = -1) {
    node n{};
    n.what = what;
    n.type = type;
    n.shape = intern(shape);
    n.operands[0] = a, n.operands[1] = b, n.operands[2] = c;
    return add(n);
  }

  constexpr short add_constant(dtype type, scalar_source value) {
    node n{};
    n.what = op::constant;
    n.type = type;
    value.integer = type == dtype::boolean ? value.real != 0 || value.integer != 0 : value.integer;
    n.shape = intern(extents{});
    int at = 0;
    while (at < scalars.size() && !(scalars[at] == value)) ++at;
    n.attr = static_cast<short>(at < scalars.size() ? at : scalars.push_back(value));
    return add(n);
  }
  /// A run-time argument: each literal of the program is one of its own, so that its value never shapes the graph.
  constexpr short add_scalar(dtype type, scalar_source value) {
    node n{};
    n.what = op::scalar;
    n.type = type;
    value.integer = type == dtype::boolean ? value.real != 0 || value.integer != 0 : value.integer;
    n.shape = intern(extents{});
    n.attr = static_cast<short>(scalars.push_back(value));
    return add(n);
  }

  /// The newest version of what `id` names: an input that was assigned, or a view of one.
  constexpr short current(short id) {
    if (versions.empty()) return id;
    for (const version& v : versions)
      if (v.older == id) id = v.newer;
    node n = nodes[id];
    if (!is_view(n.what)) return id;
    const short operand = current(n.operands[0]);
    if (operand == n.operands[0]) return id;
    n.operands[0] = operand;
    return add(n);
  }

 private:
  // Equal nodes are found by a hash: chains of positions plus one, so that zero is the end.
  static constexpr int num_buckets = Capacity < 256 ? Capacity : 256;
  short newest_node[num_buckets]{};
  short older_node[Capacity]{};

  static constexpr int bucket(const node& n) {
    const unsigned key = static_cast<unsigned>(n.what) * 7u + static_cast<unsigned>(n.operands[0] + 1) * 31u +
                         static_cast<unsigned>(n.operands[1] + 1) * 17u + static_cast<unsigned>(n.attr) * 3u;
    return static_cast<int>(key % num_buckets);
  }

  constexpr short current_origin(op what) {
    if (call.empty()) return make_origin(row(what).name);
    if (call_origin < 0) call_origin = make_origin(call);
    return call_origin;
  }
  constexpr short make_origin(string_view name) {
    short instance = 0;
    for (int i = origins.size() - 1; i >= 0 && instance == 0; --i)
      if (origins[i].name == name) instance = static_cast<short>(origins[i].instance + 1);
    return static_cast<short>(origins.push_back({name, instance, list, list > 0 ? member : short{0}}));
  }
};

using trace = graph_builder<max_nodes>;

/// While one lives, nodes belong to the user-level op `name`; calls inside calls belong to the outermost.
class origin_scope {
 public:
  constexpr origin_scope(trace* t, string_view name) : trace_(t), outermost_(t->call.empty()) {
    if (outermost_) t->call = name, t->call_origin = -1;
  }
  constexpr ~origin_scope() {
    if (outermost_) trace_->call = {}, trace_->call_origin = -1;
  }
  origin_scope(const origin_scope&) = delete;
  origin_scope& operator=(const origin_scope&) = delete;

 private:
  trace* trace_;
  bool outermost_;
};

/// While one lives, user-level calls are members of one list; lists inside calls belong to those.
class list_scope {
 public:
  constexpr explicit list_scope(trace* t) : trace_(t), outermost_(t->call.empty() && t->list == 0) {
    if (outermost_) t->list = ++t->num_lists;
  }
  constexpr ~list_scope() {
    if (outermost_) trace_->list = 0;
  }
  list_scope(const list_scope&) = delete;
  list_scope& operator=(const list_scope&) = delete;

 private:
  trace* trace_;
  bool outermost_;
};

/// The same graph in a smaller value.
template <int To, int From>
constexpr graph<To> resize(const graph<From>& from) {
  graph<To> to{};
  for (const auto& x : from.nodes) to.nodes.push_back(x);
  for (const auto& x : from.lists) to.lists.push_back(x);
  for (const auto& x : from.scalars) to.scalars.push_back(x);
  for (const auto& x : from.origins) to.origins.push_back(x);
  for (const auto& x : from.inputs) to.inputs.push_back(x);
  for (const auto& x : from.outputs) to.outputs.push_back(x);
  for (const auto& x : from.assigns) to.assigns.push_back(x);
  for (const auto& x : from.customs) to.customs.push_back(x);
  for (const auto& x : from.numbers.definitions) to.numbers.definitions.push_back(x);
  return to;
}

}  // namespace sinter
