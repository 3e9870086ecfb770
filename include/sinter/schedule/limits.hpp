// What fusing must not exceed: nodes in one kernel, memory kept alive, buffers one kernel touches, distance.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/base/refusal.hpp"
#include "sinter/schedule/backend.hpp"
#include "sinter/schedule/score.hpp"

namespace sinter::detail {

/// Is the innermost dimension with more than one element among those reduced? Then a row lies in one piece.
template <class Graph>
constexpr bool reduces_inner_axis(const Graph& g, const node& reduction) {
  const extents& shape = g.shape(reduction.operands[0]);
  int d = shape.rank - 1;
  while (d > 0 && shape[d] == 1) --d;
  return static_cast<unsigned>(reduction.attr) >> (d < 0 ? 0 : d) & 1;
}

/// Would fusing keep more memory alive than it saves? Temporaries that each side alone could have reused: read by one
/// user, of equal dtype and size on both sides. Reference: Inductor's can_fusion_increase_peak_memory.
template <class State>
constexpr bool increases_peak_memory(const State& s, int a, int b, const shared_data& shared) {
  const auto temporaries = [&](int side) {
    fixed_set<decltype(s.list.nodes)::capacity> found{};
    s.groups[side].buffers.each([&](int buffer) {
      const int producer = s.list.node_of(buffer);
      if (producer >= 0 && s.num_users[buffer] == 1 && !s.contains(side, producer)) found.insert(buffer);
    });
    return found;
  };
  const auto of_first = temporaries(a);
  if (of_first.size() == 0) return false;
  const auto of_second = temporaries(b);
  std::int64_t overhead = 0;  // in elements
  fixed_vector<short, decltype(s.list.nodes)::capacity> counted{};
  const auto alike = [&](int x, int y) { return (*s.g)[x].type == (*s.g)[y].type && s.g->numel(x) == s.g->numel(y); };
  of_first.each([&](int x) {
    if (is_symbolic(s.g->numel(x))) return;
    for (int y : counted)
      if (alike(x, y)) return;  // a size counts once
    bool on_both_sides = false;
    of_second.each([&](int y) { on_both_sides = on_both_sides || alike(x, y); });
    if (!on_both_sides) return;
    counted.push_back(static_cast<short>(x));
    overhead += s.g->numel(x);
  });
  return overhead > s.o->peak_memory_factor * shared.bytes();
}

/// Buffers in memory that a kernel of both groups would read or write.
template <class State>
constexpr int num_io_buffers(const State& s, int a, int b) {
  auto all = s.groups[a].buffers;
  all.insert(s.groups[b].buffers);
  auto both = s.groups[a].members;
  both.insert(s.groups[b].members);
  int n = 0;
  all.each([&](int buffer) {
    const int producer = s.list.node_of(buffer);
    bool in_memory =
        producer < 0 || !both.contains(producer) || s.is_output(buffer) || memory_of(*s.g, buffer) != buffer;
    if (!in_memory) s.each_reader(buffer, [&](int reader) { in_memory = in_memory || !both.contains(reader); });
    n += in_memory;
  });
  return n;
}

/// Would one kernel of both be too large?
template <class State>
constexpr refusal within_limits(const State& s, int a, int b, const shared_data& shared) {
  const options& o = *s.o;
  const bool in_list = !s.groups[a].alive || !s.groups[b].alive;
  if (!in_list && s.groups[a].size + s.groups[b].size > o.max_fusion_size) return refusal::too_many_nodes;
  if (increases_peak_memory(s, a, b, shared)) return refusal::peak_memory;
  const bool is_limited = o.max_unique_io_buffers > 0 && o.max_unique_io_buffers < max_kernel_buffers;
  const int most = is_limited ? o.max_unique_io_buffers : max_kernel_buffers;
  const bool may_be_many = s.list.nodes.size() + s.g->inputs.size() > most;
  if (may_be_many && num_io_buffers(s, a, b) > most) return refusal::too_many_buffers;
  return refusal::none;
}

/// Are there a few long rows, as hints say?
template <class State>
constexpr bool has_few_long_rows(const State& s, const loop_space& space) {
  return s.list.numbers.hint(space.numel) <= s.o->split_reduction_rows &&
         s.list.numbers.hint(space.rnumel) >= s.o->split_reduction_length;
}

/// A few long rows are reduced by many blocks, of which the last has the result: work of b on their elements that needs
/// it would leave one block to walk each row alone.
template <class State>
constexpr refusal leaves_reduction_split(const State& s, int a, int b, const loop_space& space) {
  if (!has_few_long_rows(s, space)) return refusal::none;
  bool needed = false;
  s.each_member(a, -1, [&](int reduction) {
    const node& root = (*s.g)[s.list.nodes[reduction].root];
    if (s.list.nodes[reduction].kind != node_kind::reduction || !reduces_inner_axis(*s.g, root)) return;
    s.each_member(b, -1, [&](int m) {
      const bool on_elements =
          s.list.nodes[m].kind == node_kind::reduction || s.list.nodes[m].space.numel != space.numel;
      needed = needed || (on_elements && s.list.ancestors[m].contains(reduction));
    });
  });
  return needed ? refusal::split_reduction : refusal::none;
}

/// A few long rows are scanned by many blocks, each of which needs what those before it have folded and no more.
template <class State>
constexpr bool scans_in_parts(const State& s, int a) {
  return s.groups[a].has_scan && has_few_long_rows(s, s.groups[a].space);
}
template <class State>
constexpr refusal leaves_scan_split(const State& s, int a, int b) {
  if (!scans_in_parts(s, a) && !scans_in_parts(s, b)) return refusal::none;
  bool reduces = false;
  s.each_member(a, b, [&](int m) { reduces = reduces || s.list.nodes[m].kind == node_kind::reduction; });
  return reduces ? refusal::split_scan : refusal::none;
}

/// Siblings have to share enough, to be near enough, and, on some targets, to be few enough.
template <class State>
constexpr refusal can_fuse_horizontal(const State& s, int a, int b, const shared_data& shared) {
  const int most = backend_of(s.o->target).max_siblings;
  if (shared.bytes() < s.o->min_shared_bytes) return refusal::too_few_shared_bytes;
  if (s.distance(a, b) > s.o->max_fusion_distance) return refusal::too_far_apart;
  return most > 0 && s.groups[a].size + s.groups[b].size > most ? refusal::too_many_siblings : refusal::none;
}

}  // namespace sinter::detail
