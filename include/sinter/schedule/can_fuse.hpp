// May two groups be one kernel? Every gate in order, each with its own refusal. Legality only: what is worth more is
// score's matter, and what is done fuse's. All groups are of one device, which is not a gate: a plan is for one.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/base/refusal.hpp"
#include "sinter/schedule/foreach.hpp"
#include "sinter/schedule/limits.hpp"
#include "sinter/schedule/mix_order.hpp"
#include "sinter/schedule/product_layout.hpp"
#include "sinter/schedule/templates.hpp"
#include "sinter/schedule/tiling.hpp"
#include "sinter/schedule/vertical.hpp"

namespace sinter::detail {

/// Does b nothing but store a's product, by rows? Then a foreign matmul writes there itself.
template <class State>
constexpr bool stores_product(const State& s, int a, int b) {
  if (s.groups[a].size != 1 || s.groups[b].size != 1 || s.groups[b].has_template) return false;
  const scheduler_node& matmul = s.list.nodes[s.groups[a].head];
  const scheduler_node& store = s.list.nodes[s.groups[b].head];
  const node& root = (*s.g)[store.root];
  if (root.what != op::assign || root.operands[1] != matmul.root || s.needed_outside(matmul.root, a, b)) return false;
  const extents& shape = s.g->shape(matmul.root);
  for (int k = 0; k < store.num_dependencies; ++k) {
    const dependency& d = s.list.dependencies[store.first_dependency + k];
    if (!d.write) continue;
    const access_form& at = s.list.accesses[d.own];
    if (!layout_of_product(at, shape[shape.rank - 2], shape[shape.rank - 1], s.list.numbers).ok) return false;
  }
  return true;
}

/// What takes no part in fusing: user-level calls of eager, foreign kernels.
template <class State>
constexpr refusal special_nodes(const State& s, int a, int b) {
  if (s.o->one_kernel_per_op && !s.same_call(a, b)) return refusal::different_ops;
  if (s.is_custom(a) || s.is_custom(b)) return refusal::custom_op;
  if (s.groups[a].has_template && !s.o->matmul_template)
    return stores_product(s, a, b) ? refusal::none : refusal::producer_is_foreign;
  if (s.groups[b].has_template && !s.o->matmul_template) return refusal::consumer_is_foreign;
  return refusal::none;
}

/// Did the user say no_fuse of what one of them computes? Such a node is never fused, so it is a group of its own.
template <class State>
constexpr bool is_set_apart(const State& s, int a) {
  return s.groups[a].size == 1 && (*s.g)[s.list.nodes[s.groups[a].head].root].set_apart;
}

/// Do they share data, or may they do without? What b reads of a's results at other indices is reads_match's to refuse.
template <class State>
constexpr refusal share_data(const State& s, int a, int b, const shared_data& shared) {
  if (shared.bytes() > 0) return refusal::none;
  bool reads_result = false;
  s.groups[b].buffers.each([&](int buffer) {
    const int producer = s.list.node_of(buffer);
    reads_result = reads_result || (producer >= 0 && s.contains(a, producer));
  });
  if (reads_result) return refusal::none;
  const bool reduces = s.groups[a].has_reduction || s.groups[b].has_reduction;
  return s.o->aggressive_fusion && !reduces ? refusal::none : refusal::no_shared_data;
}

/// a is a mix-order reduction: may b join one of its parts?
template <class State>
constexpr refusal can_fuse_into_parts(State& s, int a, int b) {
  refusal reason{};
  part_to_join(s, a, b, reason);
  if (reason != refusal::none) return reason;
  return s.would_make_cycle(a, b) ? refusal::would_make_cycle : refusal::none;
}

/// May group a (placed first) and group b, which have `shared` in common, become one kernel? `space`: its loop.
/// `may_mix`: also as rows and columns of what they share, each in a loop of its own; `shared` then counts elements.
template <class State>
constexpr refusal can_fuse(State& s, int a, int b, shared_data& shared, loop_space& space, bool may_mix = true) {
  if (a == b) return refusal::same_kernel;
  const auto& first = s.groups[a];
  const auto& second = s.groups[b];
  const bool vertical = second.ancestors.intersects(first.members);
  refusal reason = refusal::none;
  const auto passes = [&](refusal next) { return (reason = next) == refusal::none; };

  if (!passes(special_nodes(s, a, b))) return reason;
  if (s.is_list(a) || s.is_list(b)) return can_fuse_lists(s, a, b);
  if (first.ancestors.intersects(second.members)) return refusal::wrong_direction;
  if (first.how == joint::mix_order) return can_fuse_into_parts(s, a, b);
  if (second.how == joint::mix_order) return refusal::before_mix_order;
  if ((first.has_template || second.has_template) && !passes(template_takes(s, a, b))) return reason;
  if (is_set_apart(s, a) || is_set_apart(s, b)) return refusal::set_apart;
  const bool mixes = may_mix && exchange_loops(s, a, b);
  if (mixes && !passes(can_mix_order(s, a, b))) return reason;
  if (mixes) shared = {mix_order_elements(s, a), 0};
  if (!mixes && !passes(share_data(s, a, b, shared))) return reason;
  if (!passes(within_limits(s, a, b, shared))) return reason;
  if (second.has_template) {
    space = second.space;
    if (!first.has_template && !prologue_is_expressible(s, a, b)) return refusal::prologue_not_expressible;
  } else if (!mixes) {
    if (!vertical && !passes(can_fuse_horizontal(s, a, b, shared))) return reason;
    if (!passes(common_space(s, a, b, space))) return reason;
    if (!passes(tiles_agree(s, a, b, space))) return reason;
    if (vertical && !passes(reads_match(s, a, b, space))) return reason;
    if (vertical && !passes(leaves_reduction_split(s, a, b, space))) return reason;
    if (!passes(leaves_scan_split(s, a, b))) return reason;
  }
  if (vertical && !passes(nothing_between(s, a, b))) return reason;
  if (!mixes && !passes(overwrites_are_safe(s, a, b, space))) return reason;
  return s.would_make_cycle(a, b) ? refusal::would_make_cycle : refusal::none;
}
template <class State>
constexpr refusal can_fuse(State& s, int a, int b, bool may_mix) {
  shared_data shared = shared_by(s, a, b);
  loop_space space{};
  return can_fuse(s, a, b, shared, space, may_mix);
}

}  // namespace sinter::detail
