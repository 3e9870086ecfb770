// One loop for two groups: which loop that is, whether the second reads what the first writes where it is written, and
// whether writes in place keep their order. Index expressions are compared in the common loop, which is why that is
// found first. Reference: can_fuse_vertical, and the backend's comparison of (numel, rnumel).
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/base/refusal.hpp"
#include "sinter/schedule/groups.hpp"

namespace sinter::detail {

/// A dependency's access in the loop of a group it joins. `failed`: the node's loop cannot be split that way.
template <int Capacity>
constexpr access_form access_in(const dependency& d, const scheduler_node& n, const loop_space& space,
                                node_list<Capacity>& list) {
  const access_form& own = list.accesses[d.own];
  if (n.space == space || n.space.rnumel != 1 || n.space.numel == space.numel) return own;
  return split_form(own, space.numel, space.rnumel, list.numbers);
}

/// Can a pointwise member be computed in the rows and elements of a reduction?
template <class State>
constexpr bool splits_into(State& s, int m, const loop_space& space) {
  const scheduler_node& n = s.list.nodes[m];
  for (int k = 0; k < n.num_dependencies; ++k)
    if (access_in(s.list.dependencies[n.first_dependency + k], n, space, s.list).failed) return false;
  if (!n.computes_indices) return true;
  constexpr int capacity = decltype(s.list.nodes)::capacity;
  lowering<graph<capacity>, decltype(s.list.numbers)> l{s.g, &s.list.buffers, &s.list.numbers, space};
  emit_member(l, s.list, m, true);
  return l.blocked < 0;
}

/// The loop of the union, or a refusal: (numel, rnumel) must agree, or the pointwise side must split into the
/// reduction's.
template <class State>
constexpr refusal common_space(State& s, int a, int b, loop_space& space) {
  const auto& first = s.groups[a];
  const auto& second = s.groups[b];
  if (first.has_reduction == second.has_reduction) {
    space = first.space;
    if (first.space == second.space) return refusal::none;
    return first.has_reduction ? refusal::reduced_extents_differ : refusal::extents_differ;
  }
  const auto& reducing = first.has_reduction ? first : second;
  const auto& pointwise = first.has_reduction ? second : first;
  space = reducing.space;
  if (pointwise.space == space) return refusal::none;
  if (pointwise.space.rnumel != 1) return refusal::extents_differ;
  if (pointwise.space.numel == space.numel) return refusal::none;  // it runs before or after the reduced loop
  if (pointwise.space.numel != s.list.numbers.product(space.numel, space.rnumel)) return refusal::extents_differ;
  bool splits = true;
  s.each_member(first.has_reduction ? b : a, -1, [&](int m) { splits = splits && splits_into(s, m, space); });
  return splits ? refusal::none : refusal::loops_incompatible;
}

/// Calls f(dependency, node) for the accesses of group a to a buffer.
template <class State, class F>
constexpr void each_access(const State& s, int a, int buffer, F f) {
  s.each_member(a, -1, [&](int m) {
    const scheduler_node& n = s.list.nodes[m];
    for (int k = 0; k < n.num_dependencies; ++k) {
      const dependency& d = s.list.dependencies[n.first_dependency + k];
      if (d.buffer == buffer) f(d, n);
    }
  });
}

/// b reads what a writes: each element in the iteration that writes it. Loops around those of the write do not count,
/// and so a row's sum is read by a loop over the row's elements.
template <class State>
constexpr refusal reads_match(State& s, int a, int b, const loop_space& space) {
  bool match = true;
  s.each_member(a, -1, [&](int writer) {
    const scheduler_node& w = s.list.nodes[writer];
    if (!s.groups[b].buffers.contains(w.root)) return;
    access_form written{};
    for (int k = 0; k < w.num_dependencies; ++k) {
      const dependency& d = s.list.dependencies[w.first_dependency + k];
      if (d.write) written = access_in(d, w, space, s.list), match = match && !d.star;
    }
    each_access(s, b, w.root, [&](const dependency& d, const scheduler_node& n) {
      if (d.star || !match) {
        match = false;
        return;
      }
      const access_form read = access_in(d, n, space, s.list);
      match = !read.failed && !written.failed && read == written;
    });
  });
  return match ? refusal::none : refusal::index_mismatch;
}

/// Does b need the result of another node that needs a's?
template <class State>
constexpr refusal nothing_between(const State& s, int a, int b) {
  auto between = s.groups[a].descendants;
  between.keep(s.groups[b].ancestors);
  between.erase(s.groups[a].members), between.erase(s.groups[b].members);
  return between.size() > 0 ? refusal::intermediate_nodes : refusal::none;
}

/// Which loop over r each member of the union runs in: one after every reduction that it needs.
template <class State, class Phases>
constexpr void find_phases(const State& s, int a, int b, Phases& phase) {
  for (int m = 0; m < s.list.nodes.size(); ++m) {
    if (!s.contains(a, m) && !s.contains(b, m)) continue;
    const scheduler_node& n = s.list.nodes[m];
    for (int k = 0; k < n.num_dependencies; ++k) {
      const dependency& d = s.list.dependencies[n.first_dependency + k];
      const int p = d.write ? -1 : s.list.node_of(d.buffer);
      if (p < 0 || (!s.contains(a, p) && !s.contains(b, p))) continue;
      const int after = phase[p] + (s.list.nodes[p].kind == node_kind::reduction);
      if (after > phase[m]) phase[m] = after;
    }
  }
}

/// No member may overwrite an element that another member reads or writes in another iteration: of an input's earlier
/// versions, each iteration touches only what it overwrites itself, and a matmul's operands none. Nor may a
/// later loop over r follow, which would load the new elements, or after which an earlier version would be stored.
/// (Inductor's weak dependencies. Every iteration overwrites another element: assign refuses what repeats.)
template <class State>
constexpr refusal overwrites_are_safe(State& s, int a, int b, const loop_space& space) {
  if (!s.list.buffers.overwrites) return refusal::none;
  bool safe = true;
  int phase[decltype(s.list.nodes)::capacity]{};
  if (s.groups[a].has_reduction || s.groups[b].has_reduction) find_phases(s, a, b, phase);
  s.each_member(a, b, [&](int writer) {
    const node& root = (*s.g)[s.list.nodes[writer].root];
    if (!overwrites(root.what)) return;
    const int memory = memory_of(*s.g, s.list.nodes[writer].root);
    const scheduler_node& w = s.list.nodes[writer];
    access_form written{};
    for (int k = 0; k < w.num_dependencies; ++k) {
      const dependency& d = s.list.dependencies[w.first_dependency + k];
      if (d.write) written = access_in(d, w, space, s.list);
    }
    s.each_member(a, b, [&](int other) {
      if (other == writer && root.what == op::scatter) return;
      const scheduler_node& n = s.list.nodes[other];
      bool before_product = false;
      s.each_member(a, b, [&](int m) {
        if (s.list.nodes[m].kind == node_kind::matmul && !s.list.ancestors[other].contains(m)) before_product = true;
      });
      const bool later = phase[other] > phase[writer];
      const bool once_per_row = n.space.numel == space.numel && n.space.rnumel == 1;  // its loads wait for no loop
      if (later && !once_per_row) safe = false;
      for (int k = 0; k < n.num_dependencies; ++k) {
        const dependency& d = s.list.dependencies[n.first_dependency + k];
        if (d.buffer >= w.root || memory_of(*s.g, d.buffer) != memory) continue;
        const bool elsewhere = d.star || !(access_in(d, n, space, s.list) == written);
        if (elsewhere || root.what == op::scatter || before_product || (later && d.write)) safe = false;
      }
    });
  });
  return safe ? refusal::none : refusal::overwrites_operand;
}

}  // namespace sinter::detail
