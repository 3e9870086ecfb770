// Rewriting a graph once, in program order: constants fold, neutral operations and views that change nothing go, views
// of views join, dead nodes stay behind. Equal nodes become one as they are added again. SPDX-License-Identifier:
// BSL-1.0
#pragma once

#include <limits>

#include "sinter/graph/build.hpp"

namespace sinter {
namespace detail {

template <class Graph>
constexpr fixed_set<decltype(Graph::nodes)::capacity> live_nodes(const Graph& g) {
  fixed_set<decltype(Graph::nodes)::capacity> live{};
  for (int id : g.outputs) live.insert(id);
  for (int id : g.assigns) live.insert(id);
  for (int id = g.size() - 1; id >= 0; --id)
    if (live.contains(id))
      for (int k = 0; k < g[id].num_operands(); ++k) live.insert(g[id].operands[k]);
  for (const input_info& i : g.inputs) live.insert(i.node);
  return live;
}

template <class Graph>
constexpr bool is_constant(const Graph& g, int id, double value) {
  return g[id].what == op::constant && g.scalars[g[id].attr].real == value;
}

/// The node whose memory `id` is, a view of, or a version of.
template <class Graph>
constexpr short memory_behind(const Graph& g, short id) {
  while (is_view(g[id].what) || g[id].what == op::assign) id = g[id].operands[0];
  return id;
}
/// Is `id` memory that an assignment writes after node `now`?
template <class Graph, class Source>
constexpr bool changes_later(const Graph& g, short id, const Source& source, int now) {
  const node& memory = g[memory_behind(g, id)];
  if (memory.what != op::input) return false;
  for (short a : source.assigns)
    if (a > now && source[memory_behind(source, a)].attr == memory.attr) return true;
  return false;
}
/// Does an assignment read the memory it writes, in another order? It would change before it is read.
template <class Graph>
constexpr bool overlaps_target(const Graph& g, const node& assign) {
  const short target = assign.operands[0], value = assign.operands[1];
  const bool in_memory = g[value].what == op::input || g[value].what == op::assign;
  return in_memory && value != target && memory_behind(g, value) == memory_behind(g, target);
}
template <class Builder>
constexpr short copied(Builder& b, short id, short origin) {
  node n{};
  n.what = op::clone, n.type = b.nodes[id].type, n.shape = b.nodes[id].shape;
  n.operands[0] = id, n.origin = origin;
  return b.add(n);
}
/// Does the op's result lie in memory whatever its users are?
constexpr bool has_buffer(op what) {
  return what == op::input || what == op::matmul || what == op::assign || what == op::realize;
}

/// The operand that node n equals, or -1: n changes nothing.
template <class Graph>
constexpr short unchanged(const Graph& g, const node& n) {
  const short a = n.operands[0], b = n.operands[1];
  const auto same = [&](short x) { return x >= 0 && g[x].type == n.type && g[x].shape == n.shape; };
  if (is_view(n.what) && n.what != op::permute && n.what != op::slice) return same(a) ? a : short{-1};
  switch (n.what) {
    case op::clone:
      return same(a) ? a : short{-1};
    case op::realize:
      return same(a) && has_buffer(g[a].what) ? a : short{-1};
    case op::widen:
      return same(a) ? a : short{-1};
    case op::cast:
      return same(a) && n.type != dtype::f16 && n.type != dtype::bf16 ? a : short{-1};
    case op::permute:
      for (int d = 0; d < g.lists[n.list].rank; ++d)
        if (g.lists[n.list][d] != d) return -1;
      return a;
    case op::slice:
      for (int d = 0; d < g.lists[n.list].rank; ++d)
        if (g.lists[n.list][d] != 0 || g.lists[n.list2][d] != 1) return -1;
      return same(a) ? a : short{-1};
    case op::mul:
      if (same(a) && is_constant(g, b, 1)) return a;
      return same(b) && is_constant(g, a, 1) ? b : short{-1};
    case op::add:
      if (same(a) && is_constant(g, b, 0)) return a;
      return same(b) && is_constant(g, a, 0) ? b : short{-1};
    case op::sub:
      return same(a) && is_constant(g, b, 0) ? a : short{-1};
    case op::div:
      return same(a) && is_constant(g, b, 1) ? a : short{-1};
    default:
      return -1;
  }
}

/// Are sums, products and quotients of such values finite? Constant expressions know no others.
constexpr bool is_moderate(double value) { return -1e150 < value && value < 1e150; }

/// Arithmetic on two floating constants, done here and in double.
template <class Builder>
constexpr short folded(Builder& b, const node& n) {
  if (n.num_operands() != 2 || !is_floating(n.type)) return -1;
  const node& x = b.nodes[n.operands[0]];
  const node& y = b.nodes[n.operands[1]];
  if (x.what != op::constant || y.what != op::constant || b.shape(n.operands[0]).rank != 0) return -1;
  const double p = b.scalars[x.attr].real, q = b.scalars[y.attr].real;
  if (!is_moderate(p) || !is_moderate(q)) return -1;
  double value = 0;
  switch (n.what) {
    case op::add:
      value = p + q;
      break;
    case op::sub:
      value = p - q;
      break;
    case op::mul:
      value = p * q;
      break;
    case op::div:
      if (-1e-150 < q && q < 1e-150) return -1;
      value = p / q;
      break;
    case op::maximum:
      value = p > q ? p : q;
      break;
    case op::minimum:
      value = p < q ? p : q;
      break;
    default:
      return -1;
  }
  return b.add_constant(n.type, {value, 0, 0});
}

/// What a reduction of no elements gives.
constexpr scalar_source empty_reduction(op what, dtype type) {
  if (what == op::prod || what == op::all) return {1, 1, 0};
  if (what != op::amax && what != op::amin) return {};
  const double bound = std::numeric_limits<double>::infinity();
  if (is_floating(type)) return {what == op::amin ? bound : -bound, 0, 0};
  const bool has_sign = type == dtype::i8 || type == dtype::i32 || type == dtype::i64;
  const long highest = type == dtype::boolean ? 1 : static_cast<long>(~0ul >> (64 - 8 * item_size(type) + has_sign));
  const long value = what == op::amin ? highest : has_sign ? -highest - 1 : 0;
  return {static_cast<double>(value), value, 0};
}

/// What a reduction of `count` equal elements gives; false if it is not worth knowing.
constexpr bool uniform_reduction(const node& n, dtype type, number count, scalar_source& value) {
  switch (n.what) {
    case op::amax:
    case op::amin:
      return true;
    case op::any:
    case op::all:
      value = {value.real != 0 || value.integer != 0 ? 1. : 0., value.real != 0 || value.integer != 0, 0};
      return true;
    case op::argmax:
    case op::argmin:
      value = {};
      return true;
    case op::sum:
      if (!is_floating(type) || !is_moderate(value.real)) return false;
      value.real *= static_cast<double>(count);
      return true;
    default:
      return false;
  }
}

/// Node n with one constant for all elements.
template <class Builder>
constexpr short filled(Builder& b, const node& n, const scalar_source& constant) {
  const short value = b.add_constant(n.type, constant);
  if (b.nodes[value].shape == n.shape) return value;
  node all{};
  all.what = op::broadcast, all.type = n.type, all.shape = n.shape, all.origin = n.origin;
  all.operands[0] = value;
  return b.add(all);
}

/// What has no elements need not be computed: any constant will do.
template <class Builder>
constexpr short without_elements(Builder& b, const node& n) {
  const op_kind kind = row(n.what).kind;
  const bool computes = kind == op_kind::pointwise || kind == op_kind::indexing || kind == op_kind::reduction ||
                        kind == op_kind::scan || kind == op_kind::matmul;
  return computes && numel(b.lists[n.shape]) == 0 ? filled(b, n, {}) : short{-1};
}

/// Reductions of no elements, or of one constant, are constants; of one element, also those that cannot be unrolled are
/// pointwise.
template <class Builder>
constexpr short trivial_reduction(Builder& b, const node& n) {
  if (!is_reduction(n.what)) return -1;
  const short x = n.operands[0];
  const number count = numel(reduced_axes(b.shape(x), static_cast<unsigned>(n.attr)));
  const auto append = [&](op what, short shape, short p, short q) {
    node made{};
    made.what = what, made.type = n.type, made.shape = shape, made.origin = n.origin;
    made.operands[0] = p, made.operands[1] = q;
    return b.add(made);
  };
  const bool finds = n.what == op::argmax || n.what == op::argmin;
  if (count == 0 || (count == 1 && finds))
    return filled(b, n, count == 0 ? empty_reduction(n.what, n.type) : scalar_source{});
  short source = x;
  while (is_view(b.nodes[source].what)) source = b.nodes[source].operands[0];
  if (b.nodes[source].what == op::constant && is_static(count)) {
    scalar_source value = b.scalars[b.nodes[source].attr];
    if (value.size == 0 && uniform_reduction(n, b.nodes[source].type, count, value)) return filled(b, n, value);
  }
  if (count != 1 || (n.what != op::m2 && n.what != op::sumexp)) return -1;
  const short zero = append(op::sub, b.nodes[x].shape, x, x);  // or NaN
  const short value =
      n.what == op::m2 ? append(op::mul, b.nodes[x].shape, zero, zero) : append(op::exp, b.nodes[x].shape, zero, -1);
  return b.nodes[value].shape == n.shape ? value : append(op::reshape, n.shape, value, -1);
}

/// A scan of at most one element is a copy.
template <class Builder>
constexpr short trivial_scan(Builder& b, const node& n) {
  if (!is_scan(n.what)) return -1;
  const number count = numel(reduced_axes(b.lists[n.shape], static_cast<unsigned>(n.attr)));
  if (count != 0 && count != 1) return -1;
  node copy = n;
  copy.what = op::clone, copy.attr = 0;
  return b.add(copy);
}

}  // namespace detail

template <int Capacity>
constexpr graph<Capacity> rewrite(const graph<Capacity>& g) {
  graph_builder<Capacity> b{};
  b.origins = g.origins;
  b.numbers = g.numbers;
  b.customs = g.customs;
  const auto live = detail::live_nodes(g);
  short renamed[Capacity]{};
  for (const scalar_source& s : g.scalars) b.scalars.push_back(s);
  for (int id = 0; id < g.size(); ++id) {
    if (!live.contains(id)) continue;
    node n = g[id];
    for (short& operand : n.operands)
      if (operand >= 0) operand = renamed[operand];
    n.shape = b.intern(g.lists[n.shape]);
    if (n.list >= 0) n.list = b.intern(g.lists[n.list]);
    if (n.list2 >= 0) n.list2 = b.intern(g.lists[n.list2]);
    // A view of a view of one kind reads through.
    if (n.what == op::reshape && b.nodes[n.operands[0]].what == op::reshape)
      n.operands[0] = b.nodes[n.operands[0]].operands[0];
    if (n.what == op::permute && b.nodes[n.operands[0]].what == op::permute) {
      const node& inner = b.nodes[n.operands[0]];
      extents order = b.lists[n.list];
      for (int d = 0; d < order.rank; ++d) order[d] = b.lists[inner.list][static_cast<int>(order[d])];
      n.operands[0] = inner.operands[0];
      n.list = b.intern(order);
    }
    if (n.what == op::assign && detail::overlaps_target(b, n))
      n.operands[1] = detail::copied(b, n.operands[1], n.origin);
    // A value (not a view) of an input that is written later keeps the old elements.
    short result = detail::unchanged(b, n);
    if (result >= 0 && !is_view(n.what) && detail::changes_later(b, result, g, id)) result = -1;
    if (result < 0) result = detail::folded(b, n);
    if (result < 0) result = detail::without_elements(b, n);
    if (result < 0) result = detail::trivial_reduction(b, n);
    if (result < 0) result = detail::trivial_scan(b, n);
    renamed[id] = result >= 0 ? result : b.add(n);
    if (n.set_apart && !is_leaf(b.nodes[renamed[id]].what)) b.nodes[renamed[id]].set_apart = true;
  }
  for (input_info i : g.inputs) {
    i.node = renamed[i.node];
    b.inputs.push_back(i);
  }
  for (int id : g.assigns) b.assigns.push_back(renamed[id]);
  // Two results that became one node, or a result that became an input, are copied.
  for (int id : g.outputs) {
    short result = renamed[id];
    const op what = b.nodes[result].what;
    if (b.outputs.contains(result) || what == op::input || what == op::constant || what == op::scalar ||
        what == op::assign) {
      node n{};
      n.what = op::clone;
      n.type = b.nodes[result].type;
      n.shape = b.nodes[renamed[id]].shape;
      n.operands[0] = result;
      n.origin = g[id].origin;
      n.attr = static_cast<short>(b.outputs.size());  // each copy is one of its own
      result = b.add(n);
    }
    b.outputs.push_back(result);
  }
  // Dead nodes that folding left behind go with a last renumbering.
  const auto needed = detail::live_nodes(static_cast<const graph<Capacity>&>(b));
  graph<Capacity> out{};
  for (int id = 0; id < b.size(); ++id) {
    if (!needed.contains(id)) continue;
    node n = b.nodes[id];
    for (short& operand : n.operands)
      if (operand >= 0) operand = renamed[operand];
    renamed[id] = static_cast<short>(out.nodes.push_back(n));
  }
  out.lists = b.lists, out.scalars = b.scalars, out.origins = b.origins, out.numbers = b.numbers,
  out.customs = b.customs;
  for (input_info i : b.inputs) {
    i.node = renamed[i.node];
    out.inputs.push_back(i);
  }
  for (int id : b.assigns) out.assigns.push_back(renamed[id]);
  for (int id : b.outputs) out.outputs.push_back(renamed[id]);
  return out;
}

}  // namespace sinter
