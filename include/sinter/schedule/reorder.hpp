// Other loops for a pointwise group: it may compute its elements in the order in which another group walks a buffer
// that both touch. Asking changes nothing: loops that do not lead to a fusion are put back.
// Reference: Inductor's loop reordering (the pointwise side follows the strides of shared data) and index inversion (a
// copy of one buffer into another reads in order and writes out of order). Both are one rule here: where the group
// reads f(x) and the other g(x, r), its element number becomes f^-1(g(x, r)).
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/schedule/can_fuse.hpp"

namespace sinter::detail {

/// Writes out the modulo of the outermost digits, which canonical forms leave away.
template <class Table>
constexpr void bound_digits(access_form& f, const loop_space& space, Table& numbers) {
  for (int t = 0; t < f.size; ++t) {
    index_term& digit = f.terms[t];
    const number extent = digit.variable == loop_var::x ? space.numel : space.rnumel;
    if (digit.mod == 0) digit.mod = numbers.quotient(extent, digit.div);
  }
}

/// Do the digits of one variable make up all of it, each once?
template <class Table>
constexpr bool uses_all_of(const access_form& f, loop_var variable, number extent, Table& numbers) {
  int unused = 0;
  for (int t = 0; t < f.size; ++t) unused += f.terms[t].variable == variable;
  number covered = 1;
  for (bool found = true; found && covered != extent;) {
    found = false;
    for (int t = 0; t < f.size && !found; ++t)
      if (f.terms[t].variable == variable && f.terms[t].div == covered && f.terms[t].mod != 1) {
        covered = numbers.product(covered, f.terms[t].mod);
        --unused, found = true;
      }
  }
  return covered == extent && unused == 0;
}

/// f^-1(g): the x at which f is what g is at (x, r). Digits of equal coefficients are matched, the longer one split.
/// Fails unless both forms walk the same elements, each once.
template <class Table>
constexpr access_form walk_like(access_form f, number numel, access_form g, const loop_space& space, Table& numbers) {
  access_form walk{};
  bound_digits(f, {numel, 1}, numbers);
  bound_digits(g, space, numbers);
  walk.failed = f.failed || g.failed || f.offset != g.offset || !uses_all_of(f, loop_var::x, numel, numbers) ||
                !uses_all_of(g, loop_var::x, space.numel, numbers) ||
                !uses_all_of(g, loop_var::r, space.rnumel, numbers);
  const auto drop_low = [&](access_form& form, int t, number low) {
    index_term& digit = form.terms[t];
    if (digit.mod == low) {
      for (int k = t + 1; k < form.size; ++k) form.terms[k - 1] = form.terms[k];
      --form.size;
    } else {
      digit.div = numbers.product(digit.div, low);
      digit.coef = numbers.product(digit.coef, low);
      digit.mod = numbers.quotient(digit.mod, low);
    }
  };
  while (f.size > 0 && !walk.failed) {
    int i = 0, j = g.size;
    for (; i < f.size; ++i) {
      for (j = 0; j < g.size && g.terms[j].coef != f.terms[i].coef;) ++j;
      if (j < g.size) break;
    }
    const number whole_f = i < f.size ? f.terms[i].mod : 0, whole_g = i < f.size ? g.terms[j].mod : 0;
    const bool split_f = i < f.size && numbers.divides(whole_g, whole_f);
    const bool split_g = i < f.size && numbers.divides(whole_f, whole_g);
    if (!split_f && !split_g) {
      walk.failed = true;
      break;
    }
    const number low = split_f ? whole_g : whole_f;
    walk.add({g.terms[j].variable, g.terms[j].div, low, f.terms[i].div});
    drop_low(f, i, low);
    drop_low(g, j, low);
  }
  if (g.size > 0) walk.failed = true;
  return walk;
}

/// What a change of loops has to put back.
template <int Capacity>
struct kept_loops {
  short group = -1;
  loop_space space{};
  fixed_set<max_dependencies<Capacity>> accesses{};
  short num_dependencies = 0;
  fixed_vector<scheduler_node, Capacity> nodes{};  ///< the members, in order
};

template <int Capacity>
constexpr void put_back(group_state<Capacity>& s, const kept_loops<Capacity>& kept) {
  s.groups[kept.group].space = kept.space;
  s.groups[kept.group].accesses = kept.accesses;
  s.list.dependencies.count = kept.num_dependencies;
  int i = 0;
  s.each_member(kept.group, -1, [&](int m) { s.list.nodes[m] = kept.nodes[i++]; });
}

/// Gives a pointwise group other loops: at (x, r) its members compute their element number walk(x, r).
template <int Capacity>
constexpr bool change_loops(group_state<Capacity>& s, int a, const access_form& walk, const loop_space& space,
                            kept_loops<Capacity>& kept) {
  kept.group = static_cast<short>(a);
  kept.space = s.groups[a].space;
  kept.accesses = s.groups[a].accesses;
  kept.num_dependencies = static_cast<short>(s.list.dependencies.size());
  kept.nodes.count = 0;
  s.each_member(a, -1, [&](int m) { kept.nodes.push_back(s.list.nodes[m]); });
  bool possible = true;
  s.groups[a].space = space;
  s.groups[a].accesses = {};
  s.each_member(a, -1, [&](int m) {
    scheduler_node n = s.list.nodes[m];
    n.walk = s.list.intern(walk);
    n.space = space;
    fixed_set<Capacity> origins{};
    possible = possible && describe(*s.g, s.list, n, origins, *s.o) < 0;
    if (!possible) return;
    classify(*s.g, s.list, n);
    s.list.nodes[m] = n;
    for (int k = n.first_dependency; k < end_of_dependencies(n); ++k)
      s.groups[a].accesses.insert(s.list.dependencies[k].same);
  });
  if (!possible) put_back(s, kept);
  return possible;
}

/// May the loops of this group change? It walks its elements in order, and overwrites no input.
template <class State>
constexpr bool has_free_loops(const State& s, int a) {
  const auto& x = s.groups[a];
  if (x.has_reduction || x.has_template || s.is_joint(a) || x.space.rnumel != 1) return false;
  bool free = true;
  s.each_member(a, -1, [&](int m) {
    free = free && s.list.nodes[m].walk < 0 && s.list.nodes[m].space.numel == s.groups[a].space.numel &&
           !overwrites((*s.g)[s.list.nodes[m].root].what);
  });
  return free;
}

/// The order in which group b walks the largest buffer that a walks in another; failed if there is none.
template <class State>
constexpr access_form walk_of_shared(State& s, int a, int b, loop_space& space) {
  access_form best{};
  best.failed = true;
  std::int64_t most = 0;
  s.groups[a].buffers.each([&](int buffer) {
    if (!s.groups[b].buffers.contains(buffer)) return;
    each_access(s, a, buffer, [&](const dependency& d, const scheduler_node& n) {
      each_access(s, b, buffer, [&](const dependency& e, const scheduler_node& m) {
        if (d.star || e.star || d.bytes <= most) return;
        const loop_space loops{m.space.numel, s.list.uses_r(e) ? m.space.rnumel : 1};
        const access_form& mine = s.list.accesses[d.own];
        const access_form walk = walk_like(mine, n.space.numel, s.list.accesses[e.own], loops, s.list.numbers);
        if (walk.failed) return;
        best = walk, space = loops, most = d.bytes;
      });
    });
  });
  return best;
}

/// The order in which a reduction or a scan walks an operand of the shape that all of group a have.
template <class State>
constexpr access_form walk_of_operand(State& s, int a, int b, loop_space& space) {
  access_form walk{};
  walk.failed = true;
  s.each_member(b, -1, [&](int m) {
    if (s.list.nodes[m].kind != node_kind::reduction && s.list.nodes[m].kind != node_kind::scan) return;
    const node& root = (*s.g)[s.list.nodes[m].root];
    const extents& shape = s.g->shape(root.operands[0]);
    lowering<std::remove_cvref_t<decltype(*s.g)>, decltype(s.list.numbers)> l{s.g, &s.list.buffers, &s.list.numbers};
    const coordinates element = l.axes_coordinates(shape, static_cast<unsigned>(root.attr));
    walk = offset_of(element, row_major_strides(shape, s.list.numbers), s.list.numbers);
    space = s.groups[b].space;
    bound_digits(walk, space, s.list.numbers);
    s.each_member(a, -1,
                  [&](int other) { walk.failed = walk.failed || !(s.g->shape(s.list.nodes[other].root) == shape); });
  });
  return walk;
}

/// Asks again about a pair, with other loops for the group `changed`. If the answer is yes they are kept.
template <int Capacity>
constexpr bool can_fuse_with(group_state<Capacity>& s, int a, int b, int changed, const access_form& walk,
                             const loop_space& loops, shared_data& shared, loop_space& space,
                             kept_loops<Capacity>& kept) {
  if (walk.failed || !change_loops(s, changed, walk, loops, kept)) return false;
  shared_data shared_now = shared_by(s, a, b);
  if (can_fuse(s, a, b, shared_now, space) == refusal::none) {
    shared = shared_now;
    return true;
  }
  put_back(s, kept);
  return false;
}

/// Is b a copy of what a computes, read out of order: one access each way, of every element once?
template <class State>
constexpr bool is_permuted_copy(const State& s, int a, int b) {
  const scheduler_node& n = s.list.nodes[s.groups[b].head];
  if (s.groups[b].size != 1 || n.num_dependencies != 2) return false;
  bool reads_a = false;
  for (int k = 0; k < 2; ++k) {
    const dependency& d = s.list.dependencies[n.first_dependency + k];
    reads_a = reads_a || (!d.write && s.list.node_of(d.buffer) >= 0 && s.contains(a, s.list.node_of(d.buffer)));
  }
  return reads_a;
}

/// Could other loops lift this refusal?
constexpr bool is_about_loops(refusal r) {
  return r == refusal::no_shared_data || r == refusal::index_mismatch || r == refusal::loops_incompatible ||
         r == refusal::too_few_shared_bytes;
}

/// The same question with other loops: in the reordering round for either side, before it for a permuted copy.
template <int Capacity>
constexpr bool can_fuse_reordered(group_state<Capacity>& s, int a, int b, bool may_reorder, shared_data& shared,
                                  loop_space& space, kept_loops<Capacity>& kept) {
  loop_space loops{};
  if (s.is_joint(a) || s.is_joint(b)) return false;
  if (!may_reorder) {
    if (!s.o->index_inversion || !is_permuted_copy(s, a, b) || !has_free_loops(s, b)) return false;
    const access_form walk = walk_of_shared(s, b, a, loops);
    return can_fuse_with(s, a, b, b, walk, loops, shared, space, kept);
  }
  for (const int changed : {a, b}) {
    if (!has_free_loops(s, changed)) continue;
    const int other = changed == a ? b : a;
    access_form walk = walk_of_shared(s, changed, other, loops);
    if (can_fuse_with(s, a, b, changed, walk, loops, shared, space, kept)) return true;
    walk = walk_of_operand(s, changed, other, loops);
    if (can_fuse_with(s, a, b, changed, walk, loops, shared, space, kept)) return true;
  }
  return false;
}

}  // namespace sinter::detail
