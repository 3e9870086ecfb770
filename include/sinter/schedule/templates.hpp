// Work inside a matmul template: pointwise work on its loads (prologue) and before its store (epilogue), and two
// matmuls of one left operand. Reference: Inductor's check_prologue_fusion_heuristics_fusable, and the template gates
// of can_fuse. SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/base/refusal.hpp"
#include "sinter/schedule/groups.hpp"

namespace sinter::detail {

/// Who reads what a prologue would compute. `result` is the member that the template reads.
struct prologue_uses {
  bool inner_is_shared = false, result_is_shared = false;
  int result = -1, num_results = 0;
};
template <class State>
constexpr prologue_uses uses_of_prologue(const State& s, int a, int b) {
  prologue_uses u{};
  s.each_member(a, -1, [&](int m) {
    const int buffer = s.list.nodes[m].root;
    bool outside = s.is_output(buffer), in_template = false;
    s.each_reader(buffer, [&](int reader) {
      if (s.contains(a, reader)) return;
      (s.contains(b, reader) && s.list.nodes[reader].kind == node_kind::matmul ? in_template : outside) = true;
    });
    if (in_template) u.result = m, ++u.num_results;
    bool& shared = in_template ? u.result_is_shared : u.inner_is_shared;
    shared = shared || outside;
  });
  return u;
}

/// Can an operand of one of b's matmuls be indexed with group a computed on the template's loads?
template <class State>
constexpr bool operand_is_expressible(State& s, int a, int b, const node& matmul, int side) {
  constexpr int capacity = decltype(s.list.nodes)::capacity;
  lowering<graph<capacity>, number_table<2 * capacity + 128>> l{s.g, &s.list.buffers, &s.list.numbers};
  s.each_member(a, b, [&](int m) { l.internal.insert(s.list.nodes[m].root); });
  const extents& shape = s.g->shape(matmul.operands[side]);
  const int inner = side == 0 ? shape.rank - 1 : shape.rank - 2;
  l.space.rnumel = shape[inner];
  l.emit_yield(matmul.operands[side], l.axes_coordinates(shape, 1u << inner));
  return l.blocked < 0 && !l.overflowed();
}
template <class State>
constexpr bool prologue_is_expressible(State& s, int a, int b) {
  bool expressible = true;
  s.each_member(b, -1, [&](int m) {
    const node& root = (*s.g)[s.list.nodes[m].root];
    for (int side = 0; side < 2 && root.what == op::matmul; ++side)
      expressible = expressible && operand_is_expressible(s, a, b, root, side);
  });
  return expressible;
}

/// b is a template, a runs on its loads. Ours: a normalisation of the left operand's rows, with options.norm_prologue.
/// That a prologue computes in fp32 refuses none: every template converts what it loads, and does so on the way.
template <class State>
constexpr refusal can_be_prologue(State& s, int a, int b) {
  const auto& producer = s.groups[a];
  const options& o = *s.o;
  if (!o.prologue_fusion) return refusal::prologue_off;
  if (producer.has_scan || (producer.has_reduction && !o.norm_prologue)) return refusal::prologue_not_pointwise;
  bool writes_input = false;
  s.each_member(a, -1, [&](int m) { writes_input = writes_input || overwrites((*s.g)[s.list.nodes[m].root].what); });
  if (writes_input) return refusal::prologue_overwrites;
  const prologue_uses uses = uses_of_prologue(s, a, b);
  if (uses.inner_is_shared) return refusal::prologue_inner_is_shared;
  if (uses.result_is_shared || uses.num_results != 1) return refusal::prologue_result_is_shared;
  const scheduler_node& result = s.list.nodes[uses.result];
  if (producer.has_reduction) {
    const node& matmul = (*s.g)[s.list.nodes[s.template_node(b)].root];
    const extents& left = s.g->shape(matmul.operands[0]);
    const bool normalises_rows = matmul.operands[0] == result.root && producer.space.rnumel == left[left.rank - 1];
    return normalises_rows && result.kind != node_kind::reduction ? refusal::none : refusal::prologue_not_expressible;
  }
  const std::int64_t read = s.bytes_read(a), written = s.bytes_of(result.root);
  if (read * 100 > written * o.prologue_read_ratio_percent) return refusal::prologue_reads_more;
  return result.only_pads && producer.size == 1 ? refusal::prologue_only_pads : refusal::none;
}

/// Both are templates: one left operand, equal extents and dtype, at most two.
template <class State>
constexpr refusal can_be_dual(const State& s, int a, int b) {
  const int size = s.groups[a].size + s.groups[b].size;
  const bool vertical = s.groups[b].ancestors.intersects(s.groups[a].members);
  if (!s.o->dual_matmul || size > 2 || vertical) return refusal::templates_differ;
  const node& first = (*s.g)[s.list.nodes[s.template_node(a)].root];
  const node& second = (*s.g)[s.list.nodes[s.template_node(b)].root];
  const bool alike =
      first.operands[0] == second.operands[0] && first.shape == second.shape && first.type == second.type;
  return alike ? refusal::none : refusal::templates_differ;
}

/// Would a sibling of a template rather enter another one, as its prologue? (Ours: Inductor takes what comes first.)
template <class State>
constexpr bool feeds_another_template(State& s, int a, int b) {
  for (int m = 0; m < s.list.nodes.size(); ++m) {
    const int c = s.group_of[m];
    if (s.list.nodes[m].kind != node_kind::matmul || c == a || c == b) continue;
    if (s.groups[c].ancestors.intersects(s.groups[b].members) && can_be_prologue(s, b, c) == refusal::none) return true;
  }
  return false;
}

/// What a template takes in, if one of the groups has one.
template <class State>
constexpr refusal template_takes(State& s, int a, int b) {
  const auto& first = s.groups[a];
  const auto& second = s.groups[b];
  if (first.has_template && second.has_template) return can_be_dual(s, a, b);
  if (second.has_template) return can_be_prologue(s, a, b);
  if (!first.has_template) return refusal::none;
  if (!s.o->epilogue_fusion) return refusal::epilogue_off;
  if (second.has_reduction) return refusal::epilogue_not_pointwise;
  const bool vertical = second.ancestors.intersects(first.members);
  return !vertical && feeds_another_template(s, a, b) ? refusal::epilogue_is_prologue : refusal::none;
}

}  // namespace sinter::detail
