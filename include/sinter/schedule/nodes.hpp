// Scheduler nodes: one for each buffer that is computed, with its loop and what it reads and writes where.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/schedule/lower.hpp"

namespace sinter::detail {

enum class node_kind : unsigned char { pointwise, reduction, scan, matmul, custom };

struct scheduler_node {
  short root = -1;  ///< the graph node whose buffer this computes
  node_kind kind = node_kind::pointwise;
  loop_space space{};
  short walk = -1;  ///< of a pointwise node with other loops: accesses[walk] is the element it computes at (x, r)
  short first_dependency = 0, num_dependencies = 0;
  short num_recomputed = 0;  ///< behind those: results it computes again where they cannot be had in a register
  bool only_pads = false;
  bool computes_indices = false;  ///< index expressions other than accesses: conditions, grids
};

/// The end of a node's dependencies, including those on what it computes again.
constexpr int end_of_dependencies(const scheduler_node& n) {
  return n.first_dependency + n.num_dependencies + n.num_recomputed;
}

/// A read or a write of a buffer. `own` is the access in the node's (x, r); `joined` the same over x * rnumel + r.
struct dependency {
  short buffer = -1;
  bool write = false;
  bool star = false;  ///< the whole buffer, at indices that cannot be compared
  short own = -1, joined = -1;
  short node = -1;         ///< whose it is
  short same = -1;         ///< the first dependency that touches the same elements in the same order
  std::int64_t bytes = 0;  ///< an element for each iteration, at most the whole buffer
};

template <int Capacity>
inline constexpr int max_dependencies = 4 * Capacity + 64;

/// The nodes of a program in topological order, before any fusion.
template <int Capacity>
struct node_list {
  fixed_vector<scheduler_node, Capacity> nodes{};
  fixed_vector<dependency, max_dependencies<Capacity>> dependencies{};
  fixed_vector<access_form, 2 * Capacity + 32> accesses{};
  fixed_vector<fixed_set<Capacity>, Capacity> origins{};    ///< user-level calls computed by each node
  fixed_vector<fixed_set<Capacity>, Capacity> ancestors{};  ///< nodes that must run before each node
  number_table<2 * Capacity + 128> numbers{};
  realization<Capacity> buffers{};
  bool blocked = false;  ///< a buffer is written where no index expression leads

  constexpr short intern(const access_form& f) {
    for (int i = 0; i < accesses.size(); ++i)
      if (accesses[i] == f) return static_cast<short>(i);
    return static_cast<short>(accesses.push_back(f));
  }
  constexpr bool uses_r(const dependency& d) const {
    if (d.own < 0) return false;
    const access_form& f = accesses[d.own];
    for (int t = 0; t < f.size; ++t)
      if (f.terms[t].variable == loop_var::r) return true;
    return false;
  }
  constexpr bool overflowed() const {
    return nodes.overflowed || dependencies.overflowed || accesses.overflowed || numbers.definitions.overflowed;
  }
  short producers[Capacity]{};  ///< the node that computes each buffer, plus one
  constexpr int node_of(int buffer) const { return producers[buffer] - 1; }
};

template <class Graph>
constexpr node_kind kind_of(const Graph& g, int id, bool unrolled) {
  if (g[id].what == op::matmul) return node_kind::matmul;
  if (g[id].what == op::custom) return node_kind::custom;
  if (is_scan(g[id].what)) return node_kind::scan;
  return is_reduction(g[id].what) && !unrolled ? node_kind::reduction : node_kind::pointwise;
}

/// The dimensions a node loops over, without those of one element.
template <class Graph>
constexpr extents loop_extents(const Graph& g, const scheduler_node& n) {
  const extents& all = g.shape(n.kind == node_kind::reduction ? g[n.root].operands[0] : n.root);
  extents e{};
  for (int d = 0; d < all.rank; ++d)
    if (all[d] != 1) e.push_back(all[d]);
  return e;
}

/// Do two nodes read (or write) the same elements in the same order?
template <int Capacity>
constexpr bool same_access(const graph<Capacity>& g, const node_list<Capacity>& list, const dependency& x,
                           const scheduler_node& nx, const dependency& y, const scheduler_node& ny) {
  if (x.star || y.star) return false;
  const bool same_rows = nx.space.numel == ny.space.numel && !list.uses_r(x);
  const bool same_own = x.own == y.own && (nx.space == ny.space || same_rows);
  if (!same_own && x.joined != y.joined) return false;
  if (!same_own && product(nx.space.numel, nx.space.rnumel) != product(ny.space.numel, ny.space.rnumel)) return false;
  if (nx.space.rnumel != 1 || ny.space.rnumel != 1) return true;
  // Pointwise loops of different dimensions walk alike only what they walk once: two broadcasts are two accesses.
  const bool repeats = list.numbers.hint(g.numel(x.buffer)) < list.numbers.hint(nx.space.numel);
  return !repeats || loop_extents(g, nx) == loop_extents(g, ny);
}

/// How much a dependency touches.
template <int Capacity>
constexpr std::int64_t bytes_touched(const graph<Capacity>& g, const node_list<Capacity>& list, const dependency& d,
                                     const scheduler_node& n) {
  const auto& numbers = list.numbers;
  const std::int64_t whole = numbers.hint(g.numel(d.buffer)), size = item_size(g[d.buffer].type);
  if (d.star) return size * whole;
  const std::int64_t touched = numbers.hint(n.space.numel) * (list.uses_r(d) ? numbers.hint(n.space.rnumel) : 1);
  return size * (whole < touched ? whole : touched);
}

/// Fills in what each dependency touches, and with which earlier one it is one.
template <int Capacity>
constexpr void classify_all(const graph<Capacity>& g, node_list<Capacity>& list) {
  short newest[Capacity]{}, older[max_dependencies<Capacity>]{};  // of each buffer: chains of positions plus one
  for (int m = 0; m < list.nodes.size(); ++m) {
    const scheduler_node& n = list.nodes[m];
    for (int k = n.first_dependency; k < end_of_dependencies(n); ++k) {
      dependency& d = list.dependencies[k];
      d.bytes = bytes_touched(g, list, d, n);
      d.node = static_cast<short>(m);
      d.same = static_cast<short>(k);
      for (int i = newest[d.buffer]; i != 0 && d.same == k; i = older[i - 1]) {
        const dependency& e = list.dependencies[i - 1];
        if (same_access(g, list, d, n, e, list.nodes[e.node])) d.same = e.same;
      }
      older[k] = newest[d.buffer];
      newest[d.buffer] = static_cast<short>(k + 1);
    }
  }
}

/// The same for one node whose loops have changed.
template <int Capacity>
constexpr void classify(const graph<Capacity>& g, node_list<Capacity>& list, const scheduler_node& n) {
  for (int k = n.first_dependency; k < end_of_dependencies(n); ++k) {
    dependency& d = list.dependencies[k];
    d.bytes = bytes_touched(g, list, d, n);
    d.node = static_cast<short>(list.node_of(n.root));
    d.same = static_cast<short>(k);
    const auto compare_with = [&](const scheduler_node& other, int end) {
      for (int i = other.first_dependency; i < end && d.same == k; ++i)
        if (list.dependencies[i].buffer == d.buffer && same_access(g, list, d, n, list.dependencies[i], other))
          d.same = list.dependencies[i].same;
    };
    compare_with(n, k);
    for (const scheduler_node& other : list.nodes)
      if (other.root != n.root) compare_with(other, end_of_dependencies(other));
  }
}

/// A matmul or a custom op: only what lies behind its operands is lowered.
template <class Lowering, int Capacity>
constexpr void lower_operands(Lowering& l, const graph<Capacity>& g, node_list<Capacity>& list, scheduler_node& n) {
  const node& root = g[n.root];
  n.space.numel = list.numbers.numel(g.shape(n.root));
  for (int k = 0; n.kind == node_kind::custom && k < root.num_operands(); ++k)
    list.dependencies.push_back({root.operands[k], false, true});
  for (int k = 0; n.kind == node_kind::matmul && k < 2; ++k) {
    const extents& from = g.shape(root.operands[k]);  // views of the operand are indexed by rows and columns
    l.space.rnumel = from[k == 0 ? from.rank - 1 : from.rank - 2];
    l.emit_yield(root.operands[k], l.axes_coordinates(from, 1u << (k == 0 ? from.rank - 1 : from.rank - 2)));
  }
}
template <class Lowering, int Capacity>
constexpr void record_operands(const Lowering& l, const graph<Capacity>& g, node_list<Capacity>& list,
                               const scheduler_node& n) {
  for (const instruction& i : l.code) {  // operands, or what those that loaded nothing found in a view's buffer
    bool known = i.code != opcode::load && i.code != opcode::gather_load;
    for (int k = n.first_dependency; k < list.dependencies.size(); ++k)
      known = known || list.dependencies[k].buffer == i.buffer;
    if (!known) list.dependencies.push_back({i.buffer, false, true});
  }
  const extents& shape = g.shape(n.root);
  const short at = list.intern(offset_of(linear_coordinates(shape, loop_var::x, list.numbers),
                                         row_major_strides(shape, list.numbers), list.numbers));
  list.dependencies.push_back({n.root, true, false, at, at});
}

/// A loop of its own.
template <class Lowering, int Capacity>
constexpr void lower_loop(Lowering& l, const graph<Capacity>& g, node_list<Capacity>& list, scheduler_node& n) {
  const node& root = g[n.root];
  const bool is_scan = n.kind == node_kind::scan, folds = is_scan || n.kind == node_kind::reduction;
  const unsigned mask = folds ? static_cast<unsigned>(root.attr) : 0;
  const extents shape = folds ? g.shape(root.operands[0]) : written_shape(g, n.root);
  if (folds) n.space = {list.numbers.numel(kept_axes(shape, mask)), list.numbers.numel(reduced_axes(shape, mask))};
  else if (n.walk < 0) n.space = {list.numbers.numel(shape), 1};
  l.space = n.space;
  if (is_scan) l.emit_root(n.root, l.axes_coordinates(shape, mask), true);
  else if (n.walk < 0) l.emit_root(n.root, l.root_coordinates(n.root, false), true);
  else l.emit_root(n.root, l.walked_coordinates(shape, list.accesses[n.walk], n.space), true);
}
template <class Lowering, int Capacity>
constexpr void record_loop(const Lowering& l, const graph<Capacity>& g, node_list<Capacity>& list, scheduler_node& n,
                           fixed_set<Capacity>& origins) {
  for (const instruction& i : l.code) {
    const bool write = i.code == opcode::store || i.code == opcode::scatter_store;
    if (!write && i.code != opcode::load && i.code != opcode::gather_load) continue;
    const access_form& own = l.accesses[i.access];
    const bool star = i.code == opcode::gather_load || i.code == opcode::scatter_store || i.mask >= 0;
    const dependency d{i.buffer, write, star, list.intern(own),
                       list.intern(joined_form(own, n.space.rnumel, list.numbers))};
    bool known = false;
    for (int k = n.first_dependency; k < list.dependencies.size(); ++k)
      known = known || (list.dependencies[k].buffer == d.buffer && list.dependencies[k].write == write &&
                        list.dependencies[k].own == d.own && list.dependencies[k].star == star);
    if (!known) list.dependencies.push_back(d);
  }
  const node& root = g[n.root];
  if (root.what == op::scatter) {  // what it does not write stays: a use of the old version, of as many elements
    const dependency written = list.dependencies[list.dependencies.size() - 1];
    list.dependencies.push_back(
        {static_cast<short>(view_base(g, root.operands[0])), false, true, written.own, written.joined});
  }
  for (const auto& m : l.seen)
    if (!is_view(g[m.node].what) && !is_leaf(g[m.node].what) && !list.buffers.is_loaded(m.node))
      origins.insert(g[m.node].origin);
  n.only_pads = root.what == op::pad;
  for (const instruction& i : l.code)
    n.computes_indices = n.computes_indices || i.code == opcode::inside || i.code == opcode::index_value;
}

/// Lowers one node alone and records its dependencies and origins. Returns the view that could not be indexed, or -1.
template <int Capacity>
constexpr int describe(const graph<Capacity>& g, node_list<Capacity>& list, scheduler_node& n,
                       fixed_set<Capacity>& origins, const options& o) {
  n.first_dependency = static_cast<short>(list.dependencies.size());
  lowering<graph<Capacity>, number_table<2 * Capacity + 128>> l{&g, &list.buffers, &list.numbers};
  l.precise = o.precise_casts;
  const bool is_loop = n.kind != node_kind::matmul && n.kind != node_kind::custom;
  if (is_loop) lower_loop(l, g, list, n);
  else lower_operands(l, g, list, n);
  if (l.blocked >= 0) {
    list.dependencies.count = n.first_dependency;
    return l.blocked;
  }
  if (is_loop) record_loop(l, g, list, n, origins);
  else record_operands(l, g, list, n);
  origins.insert(g[n.root].origin);
  n.num_dependencies = static_cast<short>(list.dependencies.size() - n.first_dependency);
  for (const auto& m : l.seen) {
    if (!list.buffers.recomputed.contains(m.node)) continue;
    const access_form own = offset_of(l.coords[m.coords], l.strides_of(m.node), list.numbers);
    if (own.failed) continue;
    list.dependencies.push_back(
        {m.node, false, m.mask >= 0, list.intern(own), list.intern(joined_form(own, n.space.rnumel, list.numbers))});
  }
  n.num_recomputed = static_cast<short>(list.dependencies.size() - n.first_dependency - n.num_dependencies);
  return -1;
}

/// Lowers a node in the loop of the group it belongs to.
template <class Lowering, int Capacity>
constexpr void emit_member(Lowering& l, const node_list<Capacity>& list, int m, bool stored) {
  const scheduler_node& n = list.nodes[m];
  const bool over_elements = n.space.numel != l.space.numel;
  if (n.kind == node_kind::reduction) {
    l.emit_root(n.root, linear_coordinates(l.g->shape(n.root), loop_var::x, *l.numbers), stored);
  } else if (n.kind == node_kind::scan) {
    const node& root = (*l.g)[n.root];
    l.emit_root(n.root, l.axes_coordinates(l.g->shape(n.root), static_cast<unsigned>(root.attr)), stored);
  } else if (n.walk >= 0) {
    l.by_elements = over_elements;
    if (over_elements) l.seen.count = 0;
    l.emit_root(n.root, l.walked_coordinates(written_shape(*l.g, n.root), list.accesses[n.walk], n.space), stored);
    if (over_elements) l.seen.count = 0;
    l.by_elements = false;
  } else if (!over_elements) {
    l.emit_root(n.root, l.root_coordinates(n.root, false), stored);
  } else {
    const Lowering before = l;
    l.emit_root(n.root, l.root_coordinates(n.root, true), stored);
    if (l.blocked >= 0) {  // a reshape's digits straddle rows, its accesses do not
      l = before;
      l.seen.count = 0;
      l.by_elements = true;
      l.emit_root(n.root, l.root_coordinates(n.root, false), stored);
      l.by_elements = false;
      l.seen.count = 0;
    }
  }
}

/// Describes one node per computed buffer. Returns the view that could not be indexed in its reader's loop, or -1.
template <int Capacity>
constexpr int describe_all(const graph<Capacity>& g, node_list<Capacity>& list, const options& o) {
  list.nodes.count = list.dependencies.count = list.accesses.count = list.origins.count = 0;
  list.numbers.definitions.count = 0;
  for (const auto& d : g.numbers.definitions) list.numbers.definitions.push_back(d);
  for (int id = 0; id < g.size(); ++id) {
    if (!list.buffers.realized(id) || g[id].what == op::input || g[id].what == op::empty) continue;
    scheduler_node n{};
    n.root = static_cast<short>(id);
    n.kind = kind_of(g, id, list.buffers.unrolled.contains(id));
    fixed_set<Capacity> origins{};
    const int blocked = describe(g, list, n, origins, o);
    if (blocked >= 0) return blocked;
    list.nodes.push_back(n);
    list.origins.push_back(origins);
  }
  return -1;
}

/// The nodes of a graph. What lies below a view that cannot be indexed gets a buffer; if it has one, the view itself.
template <int Capacity>
constexpr node_list<Capacity> make_nodes(const graph<Capacity>& g, const realization<Capacity>& decided,
                                         const options& o) {
  node_list<Capacity> list{};
  list.buffers = decided;
  for (int blocked = describe_all(g, list, o); blocked >= 0; blocked = describe_all(g, list, o)) {
    const int below = is_view(g[blocked].what) ? g[blocked].operands[0] : blocked;
    list.blocked = list.buffers.realized(below) && list.buffers.realized(blocked);
    if (list.blocked) break;
    list.buffers.buffers.insert(list.buffers.realized(below) ? blocked : below);
  }
  classify_all(g, list);
  for (int i = 0; i < list.nodes.size(); ++i) list.producers[list.nodes[i].root] = static_cast<short>(i + 1);
  // Order: true dependencies, and every reader of an input's old version before the kernel that overwrites it.
  for (int i = 0; i < list.nodes.size(); ++i) {
    fixed_set<Capacity> before{};
    const scheduler_node& n = list.nodes[i];
    for (int k = n.first_dependency; k < end_of_dependencies(n); ++k) {
      const dependency& d = list.dependencies[k];
      if (d.write) continue;
      const int producer = list.node_of(d.buffer);
      if (producer < 0) continue;
      before.insert(producer);
      before.insert(list.ancestors[producer]);
    }
    if (overwrites(g[n.root].what)) {
      const int old = view_base(g, g[n.root].operands[0]);
      for (int j = 0; j < i; ++j)
        for (int k = 0; k < list.nodes[j].num_dependencies; ++k) {
          const dependency& d = list.dependencies[list.nodes[j].first_dependency + k];
          if (d.buffer != old) continue;
          before.insert(j);
          before.insert(list.ancestors[j]);
        }
    }
    list.ancestors.push_back(before);
  }
  return list;
}

}  // namespace sinter::detail
