// The rounds: find candidate pairs among the nodes that touch one buffer, ask can_fuse, sort by score, fuse greedily
// with a second look at the current groups; repeat until nothing shrinks; then once more with loops reordered. What is
// left apart may share launches afterwards (combo.hpp).
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/schedule/can_fuse.hpp"
#include "sinter/schedule/combo.hpp"
#include "sinter/schedule/log.hpp"

namespace sinter::detail {

template <int Capacity, class Recorder = last_verdicts<Capacity>>
struct fusion_result {
  group_state<Capacity> state{};
  Recorder log{};
  int rounds = 0;
  bool overflowed = false;  ///< a round had more candidates than it holds
};

/// Why two groups of the finished plan are not one: where in the log their newest refusal is, or -1 if none was asked.
/// (A position, because g++ compares no pointers in constant expressions when it sanitizes.)
template <int Capacity>
constexpr int last_verdict(const fusion_result<Capacity>& r, int a, int b) {
  int last = -1;
  for (int i = 0; i < r.log.size(); ++i) {
    const fusion_verdict& v = r.log[i];
    const int x = r.state.group_of[v.first], y = r.state.group_of[v.second];
    const bool same_pair = (x == a && y == b) || (x == b && y == a);
    if (same_pair && v.reason != refusal::none && (last < 0 || v.round >= r.log[last].round)) last = i;
  }
  return last;
}

struct candidate {
  short a = -1, b = -1;
  fusion_score key{};
};

/// Could reordering help? Only a pointwise group can follow a reduction's loops.
template <class State>
constexpr bool may_reorder_loops(const State& s, int a, int b) {
  if (s.is_joint(a) || s.is_joint(b)) return false;
  return s.groups[a].has_reduction != s.groups[b].has_reduction && !s.groups[a].has_template && !s.groups[b].has_template;
}

/// Gives a pointwise node the loops of a reduction over `axes` of an equal shape (kept dimensions outside).
template <class State>
constexpr bool reorder(State& s, int node_number, unsigned axes) {
  scheduler_node changed = s.list.nodes[node_number];
  changed.by_axes = true;
  changed.axes = static_cast<unsigned char>(axes);
  fixed_set<decltype(s.list.nodes)::capacity> origins{};
  if (describe(*s.g, s.list, changed, origins, *s.o) >= 0) return false;
  s.list.nodes[node_number] = changed;
  return true;
}

/// Reorders the loops of one side so that both walk shared data alike. True if something changed.
template <class State>
constexpr bool reorder_loops(State& s, int a, int b) {
  const bool a_reduces = s.groups[a].has_reduction;
  const int reducing = a_reduces ? a : b, pointwise = a_reduces ? b : a;
  unsigned axes = 0;
  extents shape{};
  s.each_member(reducing, -1, [&](int m) {
    if (s.list.nodes[m].kind != node_kind::reduction) return;
    const node& root = (*s.g)[s.list.nodes[m].root];
    axes = static_cast<unsigned>(root.attr);
    shape = s.g->shape(root.operands[0]);
  });
  bool fits = true;
  s.each_member(pointwise, -1, [&](int m) {
    const node& root = (*s.g)[s.list.nodes[m].root];
    if (s.list.nodes[m].by_axes || overwrites(root.what) || !(s.g->shape(s.list.nodes[m].root) == shape)) fits = false;
  });
  if (!fits) return false;
  bool changed = true;
  s.each_member(pointwise, -1, [&](int m) { changed = reorder(s, m, axes) && changed; });
  if (changed) s.groups[pointwise].space = s.groups[reducing].space;
  return changed;
}

template <class State>
constexpr bool touches(const State& s, int a, int buffer) {
  for (int m = s.groups[a].head; m >= 0; m = s.next[m]) {
    const scheduler_node& n = s.list.nodes[m];
    for (int k = 0; k < n.num_dependencies; ++k)
      if (s.list.dependencies[n.first_dependency + k].buffer == buffer) return true;
  }
  return false;
}

/// One round. Returns how many pairs were fused.
template <int Capacity, class Recorder>
constexpr int fuse_once(fusion_result<Capacity, Recorder>& r, int round, bool may_reorder) {
  auto& s = r.state;
  const options& o = *s.o;
  fixed_vector<candidate, 8 * Capacity> candidates{};
  fixed_set<group_state<Capacity>::max_groups> seen[group_state<Capacity>::max_groups]{};

  const auto note = [&](log_event event, int a, int b, refusal reason, const fusion_score& key) {
    r.log.note({static_cast<short>(round), event, s.groups[a].head, s.groups[b].head, reason, key, s.shared_bytes(a, b)});
  };
  const auto consider = [&](int a, int b) {
    if (seen[a].contains(b)) return;
    seen[a].insert(b);
    refusal verdict = can_fuse(s, a, b);
    if (may_reorder && may_reorder_loops(s, a, b) && (verdict == refusal::no_shared_data || verdict == refusal::index_mismatch ||
                        verdict == refusal::loops_incompatible || verdict == refusal::too_few_shared_bytes)) {
      const auto kept = s;
      if (reorder_loops(s, a, b)) {
        const refusal again = can_fuse(s, a, b);
        if (again == refusal::none)
          verdict = again;
        else
          s = kept;
      }
    }
    int first = a, second = b;
    if (verdict != refusal::none && (s.groups[b].has_template || s.is_list(b))) {
      const refusal reversed = can_fuse(s, b, a);
      if (reversed == refusal::none) verdict = reversed, first = b, second = a;
    }
    if (verdict == refusal::none && s.would_make_cycle(first, second)) verdict = refusal::would_make_cycle;
    fusion_score key{};
    if (verdict == refusal::none || Recorder::wants_scores) key = score(s, first, second);
    note(log_event::considered, first, second, verdict, key);
    if (verdict == refusal::none) candidates.push_back({static_cast<short>(first), static_cast<short>(second), key});
  };

  const fixed_vector<short, Capacity> order = s.execution_order();

  // Candidates: for each buffer, in first-seen order, each group with the next ones that touch it.
  fixed_set<Capacity> visited{};
  for (int ga : order)
    for (int m = s.groups[ga].head; m >= 0; m = s.next[m]) {
      const scheduler_node n = s.list.nodes[m];
      for (int k = 0; k < n.num_dependencies; ++k) {
        const int buffer = s.list.dependencies[n.first_dependency + k].buffer;
        if (visited.contains(buffer)) continue;
        visited.insert(buffer);
        fixed_vector<short, Capacity> users{};
        for (int gb : order)
          if (touches(s, gb, buffer)) users.push_back(static_cast<short>(gb));
        for (int i = 0; i < users.size(); ++i)
          for (int j = i + 1; j < users.size() && j <= i + o.pair_window; ++j) consider(users[i], users[j]);
      }
    }
  if (o.aggressive_fusion)
    for (int i = 0; i < order.size(); ++i)
      for (int j = i + 1; j < order.size() && j <= i + o.pair_window; ++j)
        if (s.groups[order[i]].space == s.groups[order[j]].space) consider(order[i], order[j]);

  // Best first; ties stay in candidate order.
  for (int i = 1; i < candidates.size(); ++i)
    for (int j = i; j > 0 && candidates[j - 1].key < candidates[j].key; --j) {
      const candidate c = candidates[j];
      candidates[j] = candidates[j - 1], candidates[j - 1] = c;
    }

  r.overflowed = r.overflowed || candidates.overflowed;
  int fused = 0;
  for (const candidate& c : candidates) {
    const int a = s.group_of[s.groups[c.a].head], b = s.group_of[s.groups[c.b].head];
    refusal verdict = can_fuse(s, a, b);
    if (verdict == refusal::none && s.would_make_cycle(a, b)) verdict = refusal::would_make_cycle;
    note(verdict == refusal::none ? log_event::fused : log_event::invalidated, c.a, c.b, verdict, c.key);
    if (verdict != refusal::none) continue;
    ++fused;
    if (fuse_mix_order(s, a, b)) continue;
    loop_space space = s.groups[a].has_template ? s.groups[a].space : s.groups[b].space;
    if (!s.groups[a].has_template && !s.groups[b].has_template) common_space(s, a, b, space);
    fuse_groups(s, a, b, space);
  }
  return fused;
}

template <class Recorder, int Capacity>
constexpr fusion_result<Capacity, Recorder> fuse_nodes(const graph<Capacity>& g, const options& o, const node_list<Capacity>& nodes) {
  fusion_result<Capacity, Recorder> r{};
  r.state.g = &g;
  r.state.o = &o;
  r.state.list = nodes;
  r.state.init();
  form_lists(r.state);
  while (r.rounds < o.max_fusion_rounds && fuse_once(r, r.rounds, false) > 0) ++r.rounds;
  while (fuse_once(r, r.rounds, true) > 0) ++r.rounds;
  if (o.combo_kernels) combine_kernels(r.state);
  return r;
}
template <int Capacity>
constexpr fusion_result<Capacity> fuse_nodes(const graph<Capacity>& g, const options& o, const node_list<Capacity>& nodes) {
  return fuse_nodes<last_verdicts<Capacity>>(g, o, nodes);
}

}  // namespace sinter::detail
