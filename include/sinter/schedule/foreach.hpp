// Lists: the members of a foreach as parts of one kernel. Which nodes they are before the rounds, what may be fused
// into them, and how. Reference: Inductor's ForeachKernelSchedulerNode. Fusing into a list is fusing into its members;
// whether a member may is can_fuse's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/base/refusal.hpp"
#include "sinter/schedule/groups.hpp"

namespace sinter::detail {

/// Joins what the members of a foreach compute: the first buffers of all members are one group, so are the second ones,
/// and so on. Who needs another member's results (two members that assign to one input) stays out: a list whose members
/// need nothing of each other can wait for nothing that waits for it.
template <int Capacity>
constexpr void form_lists(group_state<Capacity>& s) {
  fixed_vector<short, Capacity> positions{};  // the groups of the list so far
  fixed_set<Capacity> in_list{}, in_member{};
  short list = 0, member = -1;
  int at = 0;
  for (int n = 0; n < s.list.nodes.size(); ++n) {
    const origin& call = s.g->call_of(s.list.nodes[n].root);
    if (call.list < list || call.list == 0 || s.list.nodes[n].kind >= node_kind::scan) continue;
    if (call.list > list) positions.count = 0, in_list = {}, member = -1;
    if (call.member != member || call.list > list) in_member = {}, at = 0;
    list = call.list, member = call.member;
    in_list.insert(n), in_member.insert(n);
    bool needs_other = false;
    for (int w = 0; w < in_list.num_words; ++w)
      needs_other = needs_other || (s.list.ancestors[n].words[w] & in_list.words[w] & ~in_member.words[w]) != 0;
    if (needs_other) continue;
    if (at == positions.size()) positions.push_back(s.group_of[n]);
    else positions[at] = static_cast<short>(s.join(positions[at], s.group_of[n], joint::list));
    ++at;
  }
}

/// The part of a list that a plain group needs (or that needs it), as a group; -1: none, or several.
template <class State>
constexpr int touched_part(const State& s, int whole, int plain) {
  int found = -1, count = 0;
  for (int i = 0, p = s.part(whole, 0); i < s.num_parts(whole); ++i, p = s.groups[p].next_part) {
    const bool touches = s.groups[plain].ancestors.intersects(s.groups[p].members) ||
                         s.groups[p].ancestors.intersects(s.groups[plain].members);
    if (touches) found = p, ++count;
  }
  return count == 1 ? found : -1;
}

/// Does a member of one list need another member of the other, so that they cannot be parts of one launch?
template <class State>
constexpr bool members_cross(const State& s, int a, int b) {
  for (int i = 0, p = s.part(a, 0), q = s.part(b, 0); i < s.num_parts(a);
       ++i, p = s.groups[p].next_part, q = s.groups[q].next_part)
    for (int w = 0; w < s.groups[a].members.num_words; ++w) {
      const auto needed = s.groups[q].ancestors.words[w] & s.groups[a].members.words[w];
      if (needed & ~s.groups[p].members.words[w]) return true;
    }
  return false;
}

/// can_fuse where at least one of the two is a list.
template <class State>
constexpr refusal can_fuse_lists(State& s, int a, int b) {
  if (s.groups[a].ancestors.intersects(s.groups[b].members)) return refusal::wrong_direction;
  if (s.is_list(a) && s.is_list(b)) {
    if (s.num_parts(a) != s.num_parts(b)) return refusal::lists_differ;
    if (members_cross(s, a, b)) return refusal::list_members_cross;
    for (int i = 0; i < s.num_parts(a); ++i) {
      const refusal r = can_fuse(s, s.part(a, i), s.part(b, i), false);
      if (r != refusal::none) return r;
    }
  } else {
    const int whole = s.is_list(a) ? a : b, plain = s.is_list(a) ? b : a;
    if (s.groups[plain].has_reduction || s.groups[plain].has_template || s.is_joint(plain))
      return refusal::list_takes_pointwise;
    const int part = touched_part(s, whole, plain);
    if (part < 0) return refusal::list_member_not_one;
    const refusal r = s.is_list(a) ? can_fuse(s, part, plain, false) : can_fuse(s, plain, part, false);
    if (r != refusal::none) return r;
  }
  return s.would_make_cycle(a, b) ? refusal::would_make_cycle : refusal::none;
}

/// Fuses two groups that can_fuse lets pass; `space` is the common loop if neither is a list.
template <class State>
constexpr void fuse_groups(State& s, int a, int b, loop_space space) {
  if (!s.is_list(a) && !s.is_list(b)) return s.fuse(a, b, space);
  const int whole = s.is_list(a) ? a : b;
  if (s.is_list(a) && s.is_list(b)) {
    for (int i = 0; i < s.num_parts(a); ++i) {
      common_space(s, s.part(a, i), s.part(b, i), space);
      s.fuse(s.part(a, i), s.part(b, i), space);
    }
    s.groups[b].alive = false;
  } else {
    const int plain = s.is_list(a) ? b : a, part = touched_part(s, whole, plain);
    common_space(s, part, plain, space);
    s.fuse(part, plain, space);
  }
  s.gather_parts(whole);
}

}  // namespace sinter::detail
