// The rounds: find candidate pairs among the nodes that touch one buffer, ask can_fuse, sort by score, fuse greedily
// with a second look at the current groups; repeat until nothing shrinks; then once more with loops reordered. What is
// left apart may share launches afterwards (combo.hpp).
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/schedule/backend.hpp"
#include "sinter/schedule/combo.hpp"
#include "sinter/schedule/log.hpp"
#include "sinter/schedule/reorder.hpp"

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

/// A pair that may be fused. In Inductor prologues whose template also has an epilogue wait for everything else.
struct candidate {
  short a = 0, b = 0;
  short priority = 0;
  bool reordered = false, set_aside = false;
  fusion_score key{};

  friend constexpr bool operator<(const candidate& x, const candidate& y) {
    return x.set_aside != y.set_aside ? x.set_aside : x.key < y.key;
  }
};

/// A round: what is asked, what may be, and what is done. One object for all, since making it is work for a compiler.
template <int Capacity, class Recorder>
struct fusion_round {
  fusion_result<Capacity, Recorder>& r;
  bool may_reorder = false;
  fixed_vector<candidate, 8 * Capacity> candidates{};
  fixed_set<group_state<Capacity>::max_groups> seen[group_state<Capacity>::max_groups]{};

  constexpr void note(log_event event, int a, int b, refusal reason, const fusion_score& key,
                      const shared_data& shared) {
    const auto& groups = r.state.groups;
    r.log.note({static_cast<short>(r.rounds), event, groups[a].head, groups[b].head, reason, key, shared.bytes()});
  }

  /// Asks about a pair, once in a round.
  constexpr void consider(int a, int b) {
    auto& s = r.state;
    if (seen[a].contains(b)) return;
    seen[a].insert(b);
    loop_space space{};
    shared_data shared = shared_by(s, a, b);
    refusal verdict = can_fuse(s, a, b, shared, space);
    const bool reordered = ask_reordered(verdict, a, b, shared, space, false);
    if (reordered) verdict = refusal::none;
    int first = a, second = b;
    const bool may_turn = s.groups[b].has_template || s.is_list(b);
    if (verdict != refusal::none && may_turn && can_fuse(s, b, a, shared, space) == refusal::none)
      verdict = refusal::none, first = b, second = a;
    fusion_score key{};
    if (verdict == refusal::none || Recorder::wants_scores) key = score(s, first, second, shared);
    note(log_event::considered, first, second, verdict, key, shared);
    if (verdict != refusal::none) return;
    const bool vertical = s.groups[second].ancestors.intersects(s.groups[first].members);
    const int priority = backend_of(s.o->target).fusion_priority(vertical, s.groups[first].has_reduction);
    candidates.push_back(
        {static_cast<short>(first), static_cast<short>(second), static_cast<short>(priority), reordered, false, key});
  }

  /// A refusal that other loops could lift is asked about again with those; they stay only if they are kept.
  constexpr bool ask_reordered(refusal verdict, int a, int b, shared_data& shared, loop_space& space, bool keep) {
    auto& s = r.state;
    if (!is_about_loops(verdict) || !backend_of(s.o->target).reorders_loops) return false;
    kept_loops<Capacity> kept{};
    if (!can_fuse_reordered(s, a, b, may_reorder, shared, space, kept)) return false;
    if (!keep) put_back(s, kept);
    return true;
  }

  /// For each buffer in first-seen order, each group with the next ones that touch it; in aggressive mode then each
  /// with the next ones of equal loops.
  constexpr void find_candidates() {
    auto& s = r.state;
    const fixed_vector<short, Capacity> order = s.execution_order();
    const auto pair_up = [&](const fixed_vector<short, Capacity>& list) {
      for (int i = 0; i < list.size(); ++i)
        for (int j = i + 1; j < list.size() && j <= i + s.o->pair_window; ++j) consider(list[i], list[j]);
    };
    // The groups that touch each buffer, as chains of positions plus one.
    fixed_vector<short, max_dependencies<Capacity>> users{};
    short first_user[Capacity]{}, next_user[max_dependencies<Capacity>]{};
    for (int i = order.size() - 1; i >= 0; --i)
      s.groups[order[i]].buffers.each([&](int buffer) {
        const int at = users.push_back(order[i]);
        next_user[at] = first_user[buffer];
        first_user[buffer] = static_cast<short>(at + 1);
      });
    for (int group : order) {
      // (Not the group's set: that is in another order.)
      for (int m = s.groups[group].head; m >= 0; m = s.after(group, m))
        for (int k = s.list.nodes[m].first_dependency; k < end_of_dependencies(s.list.nodes[m]); ++k) {
          short& first = first_user[s.list.dependencies[k].buffer];
          fixed_vector<short, Capacity> list{};
          for (int at = first - 1; at >= 0; at = next_user[at] - 1) list.push_back(users[at]);
          pair_up(list);
          first = 0;  // once is enough
        }
    }
    if (!s.o->aggressive_fusion) return;
    fixed_set<group_state<Capacity>::max_groups> grouped{};
    for (int i = 0; i < order.size(); ++i) {
      if (grouped.contains(order[i])) continue;
      fixed_vector<short, Capacity> alike{};
      for (int j = i; j < order.size(); ++j)
        if (s.groups[order[j]].space == s.groups[order[i]].space) alike.push_back(order[j]), grouped.insert(order[j]);
      pair_up(alike);
    }
  }

  /// Keeps those of the smallest priority, best first; ties stay in the order in which they were found.
  constexpr void sort_candidates() {
    int smallest = 0;
    for (int i = 0; i < candidates.size(); ++i)
      if (i == 0 || candidates[i].priority < smallest) smallest = candidates[i].priority;
    int kept = 0;
    for (int i = 0; i < candidates.size(); ++i)
      if (candidates[i].priority == smallest) candidates[kept++] = candidates[i];
    candidates.count = kept;
    const auto& groups = r.state.groups;
    for (candidate* c = candidates.items; c != candidates.items + kept; ++c)
      if (groups[c->b].has_template && !groups[c->a].has_template)
        for (const candidate& other : candidates)
          c->set_aside = c->set_aside || (other.a == c->b && !groups[other.b].has_template);
    for (int i = 1; i < kept; ++i)
      for (int j = i; j > 0 && candidates[j - 1] < candidates[j]; --j) {
        const candidate c = candidates[j];
        candidates[j] = candidates[j - 1], candidates[j - 1] = c;
      }
  }

  /// Fuses greedily, each pair after a second look at the groups as they are by now. Returns how many.
  constexpr int apply() {
    auto& s = r.state;
    int fused = 0;
    for (const candidate& c : candidates) {
      const int a = s.group_of[s.groups[c.a].head], b = s.group_of[s.groups[c.b].head];
      loop_space space{};
      shared_data shared = shared_by(s, a, b);
      refusal verdict = can_fuse(s, a, b, shared, space);
      if (c.reordered && ask_reordered(verdict, a, b, shared, space, true)) verdict = refusal::none;
      note(verdict == refusal::none ? log_event::fused : log_event::invalidated, c.a, c.b, verdict, c.key, shared);
      if (verdict != refusal::none) continue;
      ++fused;
      if (!fuse_mix_order(s, a, b)) fuse_groups(s, a, b, space);
    }
    return fused;
  }

  /// Returns whether anything was fused.
  constexpr bool run(bool reorder) {
    may_reorder = reorder;
    candidates.count = 0;
    for (int a = 0; a < r.state.groups.size(); ++a) seen[a] = {};
    find_candidates();
    sort_candidates();
    r.overflowed = r.overflowed || candidates.overflowed || r.state.list.overflowed();
    return apply() > 0;
  }
};

template <class Recorder, int Capacity>
constexpr fusion_result<Capacity, Recorder> fuse_nodes(const graph<Capacity>& g, const options& o,
                                                       const node_list<Capacity>& nodes) {
  fusion_result<Capacity, Recorder> r{};
  r.state.g = &g;
  r.state.o = &o;
  r.state.list = nodes;
  r.state.init();
  form_lists(r.state);
  fusion_round<Capacity, Recorder> round{r};
  for (bool shrinks = true; shrinks && r.rounds < o.max_fusion_rounds; ++r.rounds) shrinks = round.run(false);
  if (o.loop_ordering && backend_of(o.target).reorders_loops)
    for (bool shrinks = true; shrinks; ++r.rounds) shrinks = round.run(true);
  if (o.combo_kernels) combine_kernels(r.state);
  return r;
}
template <int Capacity>
constexpr fusion_result<Capacity> fuse_nodes(const graph<Capacity>& g, const options& o,
                                             const node_list<Capacity>& nodes) {
  return fuse_nodes<last_verdicts<Capacity>>(g, o, nodes);
}

}  // namespace sinter::detail
