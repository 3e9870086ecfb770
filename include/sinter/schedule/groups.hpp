// Groups of scheduler nodes while they are being fused: members, loops, ancestors, and the questions the passes ask.
// A joint group is several groups, its parts, that become one kernel, each with loops of its own.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/schedule/nodes.hpp"
#include "sinter/schedule/options.hpp"

namespace sinter::detail {

/// Why groups with loops of their own are one kernel.
enum class joint : unsigned char { none, list, mix_order, combo };

template <int Capacity>
struct basic_group {
  loop_space space{};                                ///< of a joint group: its first part's
  bool has_reduction = false, has_template = false;  ///< a scan folds along r, and so is a reduction here
  bool has_scan = false;
  bool alive = true;  ///< a group of its own: neither fused into another nor a part
  joint how = joint::none;
  short num_parts = 0;  ///< of a joint group; its parts follow each other from first_part by next_part
  short first_part = 0, next_part = 0;
  short size = 1;
  short head = -1, tail = -1;  ///< members in order of execution, linked by group_state::next; a part's end at its tail
  short min_order = 0, max_order = 0;
  fixed_set<Capacity> members{}, ancestors{}, descendants{};
  fixed_set<Capacity> buffers{};                     ///< all that its members read or write
  fixed_set<max_dependencies<Capacity>> accesses{};  ///< and where: dependency::same of each
};

template <int Capacity>
struct group_state {
  using group = basic_group<Capacity>;
  static constexpr int max_groups = Capacity + Capacity / 2;  ///< every node, and joint groups of two at least
  const graph<Capacity>* g = nullptr;
  const options* o = nullptr;
  node_list<Capacity> list{};
  fixed_vector<group, max_groups> groups{};
  short group_of[Capacity]{};
  short next[Capacity]{};
  short num_users[Capacity]{};    ///< of each buffer: nodes that read it; being a result counts as one more
  short newest_read[Capacity]{};  ///< of each buffer: a dependency plus one, and for each the one before
  short older_read[max_dependencies<Capacity>]{};

  constexpr void init() {
    for (int i = 0; i < list.nodes.size(); ++i) {
      group x{};
      const scheduler_node& n = list.nodes[i];
      x.space = n.space;
      x.has_scan = n.kind == node_kind::scan;
      x.has_reduction = n.kind == node_kind::reduction || x.has_scan;
      x.has_template = n.kind == node_kind::matmul || n.kind == node_kind::custom;
      x.head = x.tail = x.min_order = x.max_order = static_cast<short>(i);
      x.members.insert(i);
      x.ancestors = list.ancestors[i];
      group_of[i] = static_cast<short>(groups.push_back(x));
      next[i] = -1;
      short last = -1;
      for (int k = n.first_dependency; k < end_of_dependencies(n); ++k) {
        const dependency& d = list.dependencies[k];
        groups[i].buffers.insert(d.buffer);
        groups[i].accesses.insert(d.same);
        if (!d.write && d.buffer != last) {  // reads of one buffer follow each other or count twice
          ++num_users[d.buffer];
          older_read[k] = newest_read[d.buffer];
          newest_read[d.buffer] = static_cast<short>(k + 1);
        }
        last = d.buffer;
      }
    }
    for (int id : g->outputs) ++num_users[id];
    for (int i = 0; i < list.nodes.size(); ++i)
      list.ancestors[i].each([&](int before) { groups[before].descendants.insert(i); });
  }

  /// Calls f(node) for the members of a, then of b (-1: none).
  template <class F>
  constexpr void each_member(int a, int b, F f) const {
    for (int m = groups[a].head; m >= 0; m = after(a, m)) f(m);
    if (b >= 0)
      for (int m = groups[b].head; m >= 0; m = after(b, m)) f(m);
  }
  /// Calls f for the nodes that read a buffer, some perhaps twice.
  template <class F>
  constexpr void each_reader(int buffer, F f) const {
    for (int k = newest_read[buffer] - 1; k >= 0; k = older_read[k] - 1) f(list.dependencies[k].node);
  }
  /// The member of a that follows m, or -1.
  constexpr int after(int a, int m) const { return m == groups[a].tail ? -1 : next[m]; }
  /// Is the node in group a? (group_of knows no parts.)
  constexpr bool contains(int a, int node) const { return groups[a].members.contains(node); }

  // ---- joint groups; a plain group is its own only part
  constexpr bool is_joint(int a) const { return groups[a].num_parts > 0; }
  constexpr bool is_list(int a) const { return groups[a].how == joint::list; }
  constexpr int num_parts(int a) const { return is_joint(a) ? groups[a].num_parts : 1; }
  constexpr int part(int a, int i) const {
    if (!is_joint(a)) return a;
    int p = groups[a].first_part;
    for (; i > 0; --i) p = groups[p].next_part;
    return p;
  }
  constexpr bool is_output(int buffer) const { return g->outputs.contains(static_cast<short>(buffer)); }
  constexpr bool reads(int node, int buffer) const {
    const scheduler_node& n = list.nodes[node];
    for (int k = 0; k < n.num_dependencies; ++k) {
      const dependency& d = list.dependencies[n.first_dependency + k];
      if (!d.write && d.buffer == buffer) return true;
    }
    return false;
  }
  /// Does a node read or write a buffer, or a later version of it?
  constexpr bool touches_memory(int node, int memory) const {
    const scheduler_node& n = list.nodes[node];
    for (int k = 0; k < n.num_dependencies; ++k)
      if (memory_of(*g, list.dependencies[n.first_dependency + k].buffer) == memory) return true;
    return false;
  }
  /// Must the buffer live in memory: is it a result, or read by a node outside group a (and b, if there is one)?
  constexpr bool needed_outside(int buffer, int a, int b = -1) const {
    if (is_output(buffer) || memory_of(*g, buffer) != buffer) return true;
    bool found = false;
    each_reader(buffer, [&](int n) { found = found || (!contains(a, n) && (b < 0 || !contains(b, n))); });
    return found;
  }
  constexpr bool is_custom(int a) const { return list.nodes[groups[a].min_order].kind == node_kind::custom; }
  constexpr int template_node(int a) const {
    for (int m = groups[a].head; m >= 0; m = after(a, m))
      if (list.nodes[m].kind == node_kind::matmul) return m;
    return -1;
  }
  /// Do both groups belong to one user-level call?
  constexpr bool same_call(int a, int b) const {
    fixed_set<Capacity> all{};
    each_member(a, b, [&](int m) { all.insert(list.origins[m]); });
    int n = 0;
    for (unsigned long w : all.words)
      for (; w != 0; w &= w - 1) ++n;
    return n <= 1;
  }
  constexpr std::int64_t bytes_of(int buffer) const {
    return list.numbers.hint(g->numel(buffer)) * item_size((*g)[buffer].type);
  }
  /// Bytes group a reads from buffers it does not write itself.
  constexpr std::int64_t bytes_read(int a) const {
    std::int64_t total = 0;
    fixed_set<Capacity> counted{};
    each_member(a, -1, [&](int m) {
      const scheduler_node& n = list.nodes[m];
      for (int k = 0; k < n.num_dependencies; ++k) {
        const dependency& d = list.dependencies[n.first_dependency + k];
        if (d.write || counted.contains(d.buffer)) continue;
        const int producer = list.node_of(d.buffer);
        if (producer >= 0 && contains(a, producer)) continue;
        counted.insert(d.buffer);
        total += d.bytes;
      }
    });
    return total;
  }

  constexpr int distance(int a, int b) const {
    const int d1 = groups[a].min_order - groups[b].max_order, d2 = groups[b].min_order - groups[a].max_order;
    const int x = d1 < 0 ? -d1 : d1, y = d2 < 0 ? -d2 : d2;
    return x > y ? x : y;
  }
  /// Does a path lead from the union of a and b through another group back into it? What follows a member of a group
  /// follows all of it.
  constexpr bool would_make_cycle(int a, int b) const {
    fixed_set<Capacity> both = groups[a].members, before = groups[a].ancestors, after = groups[a].descendants;
    both.insert(groups[b].members), before.insert(groups[b].ancestors), after.insert(groups[b].descendants);
    before.erase(both), after.erase(both);
    if (after.intersects(before)) return true;
    fixed_set<max_groups> visited{};
    for (bool changed = true; changed;) {
      changed = false;
      int c = -1;
      for (const group& x : groups) {
        ++c;
        if (!x.alive || x.size == 1 || c == a || c == b || visited.contains(c)) continue;
        if (!x.members.intersects(after)) continue;
        if (x.members.intersects(before)) return true;
        visited.insert(c);
        after.insert(x.descendants);
        changed = true;
      }
      if (after.intersects(before)) return true;
    }
    return false;
  }
  /// The live groups in an order in which they can run: by first node, each after the groups it depends on.
  constexpr fixed_vector<short, Capacity> execution_order() const {
    fixed_vector<short, Capacity> order{}, waiting{};
    fixed_set<Capacity> done{};
    const auto runs = [&](int a) {
      for (int w = 0; w < done.num_words; ++w)
        if (groups[a].ancestors.words[w] & ~done.words[w]) return false;
      order.push_back(static_cast<short>(a));
      done.insert(groups[a].members);
      return true;
    };
    for (int i = 0; i < list.nodes.size(); ++i) {
      const int a = group_of[i];
      if (groups[a].min_order != i) continue;
      if (!runs(a)) {
        waiting.push_back(static_cast<short>(a));
        continue;
      }
      for (int k = 0; k < waiting.size(); ++k)  // the first that no longer waits runs, and may let others run
        if (runs(waiting[k])) waiting.erase(k), k = -1;
    }
    return order;  // a cycle leaves groups waiting: verify reports it
  }
  /// x becomes what x and y are together; in which order their members run is the caller's matter.
  static constexpr void take_in(group& x, const group& y) {
    x.has_reduction = x.has_reduction || y.has_reduction;
    x.has_scan = x.has_scan || y.has_scan;
    x.has_template = x.has_template || y.has_template;
    x.size = static_cast<short>(x.size + y.size);
    x.members.insert(y.members);
    x.buffers.insert(y.buffers);
    x.accesses.insert(y.accesses);
    x.ancestors.insert(y.ancestors);
    x.descendants.insert(y.descendants);
    x.ancestors.erase(x.members), x.descendants.erase(x.members);
    x.min_order = x.min_order < y.min_order ? x.min_order : y.min_order;
    x.max_order = x.max_order > y.max_order ? x.max_order : y.max_order;
  }
  /// b joins a, in one loop; a keeps its number.
  constexpr void fuse(int a, int b, const loop_space& space) {
    group& x = groups[a];
    group& y = groups[b];
    for (int m = y.head; m >= 0; m = after(b, m)) group_of[m] = static_cast<short>(a);
    next[x.tail] = y.head;
    x.tail = y.tail;
    x.space = space;
    take_in(x, y);
    y.alive = false;
  }

  /// a and b become one kernel in which each keeps its loops: the parts of a, then those of b. Returns the joint group.
  constexpr int join(int a, int b, joint how) {
    int whole = a;
    if (!is_joint(a)) {
      group x{};
      x.alive = true;
      x.how = how;
      whole = groups.push_back(x);
      groups[a].alive = false;
      add_part(whole, a);
    }
    groups[b].alive = false;
    for (int p = part(b, 0), left = num_parts(b); left > 0; --left, p = groups[p].next_part) add_part(whole, p);
    return whole;
  }
  /// What a joint group is as a whole, after its parts have changed.
  constexpr void gather_parts(int whole) {
    const int count = groups[whole].num_parts;
    groups[whole].num_parts = 0;
    for (int p = groups[whole].first_part, left = count; left > 0; --left, p = groups[p].next_part) add_part(whole, p);
  }
  /// Group p becomes the last part of a joint group.
  constexpr void add_part(int whole, int p) {
    group& x = groups[whole];
    const group& y = groups[p];
    if (x.num_parts == 0) {
      x.first_part = static_cast<short>(p);
      x.space = y.space, x.head = y.head, x.min_order = y.min_order, x.max_order = y.max_order;
      x.has_reduction = x.has_template = x.has_scan = false, x.size = 0;
      x.members = {}, x.ancestors = {}, x.descendants = {}, x.buffers = {}, x.accesses = {};
    } else {
      groups[part(whole, x.num_parts - 1)].next_part = static_cast<short>(p);
      next[x.tail] = y.head;
    }
    ++x.num_parts;
    x.tail = y.tail;
    next[x.tail] = -1;
    each_member(p, -1, [&](int m) { group_of[m] = static_cast<short>(whole); });
    take_in(x, y);
  }
};

}  // namespace sinter::detail
