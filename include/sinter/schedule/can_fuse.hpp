// May two groups be one kernel? Every gate in order, each with its own refusal. Legality only: what is worth more is
// score's matter, and what is done fuse's.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/base/refusal.hpp"
#include "sinter/schedule/foreach.hpp"
#include "sinter/schedule/mix_order.hpp"

namespace sinter::detail {

/// True when every read of `buffer` by `reader` is at the index at which `writer` writes it.
template <class State>
constexpr bool reads_match(State& s, int buffer, int writer, int reader, const loop_space& space) {
  if (!s.reads(reader, buffer)) return true;
  access_form written{};
  const scheduler_node& w = s.list.nodes[writer];
  for (int k = 0; k < w.num_dependencies; ++k) {
    const dependency& d = s.list.dependencies[w.first_dependency + k];
    if (!d.write || d.buffer != buffer) continue;
    if (d.star) return false;
    written = access_in(d, w, space, s.list);
  }
  const scheduler_node& n = s.list.nodes[reader];
  for (int k = 0; k < n.num_dependencies; ++k) {
    const dependency& d = s.list.dependencies[n.first_dependency + k];
    if (d.write || d.buffer != buffer) continue;
    if (d.star) return false;
    const access_form read = access_in(d, n, space, s.list);
    if (read.failed || written.failed || !(read == written)) return false;
  }
  return true;
}

/// No member may overwrite an element that another member reads or writes in another iteration: of an input's earlier
/// versions, each iteration touches only what it overwrites itself, and a matmul's operands none.
template <class State>
constexpr bool overwrites_are_safe(State& s, int a, int b, const loop_space& space) {
  if (!s.list.buffers.overwrites) return true;
  bool safe = true;
  s.each_member(a, b, [&](int writer) {
    const node& root = (*s.g)[s.list.nodes[writer].root];
    if (!overwrites(root.what)) return;
    const int memory = memory_of(*s.g, s.list.nodes[writer].root);
    const scheduler_node& w = s.list.nodes[writer];
    access_form written{};
    for (int k = 0; k < w.num_dependencies; ++k)
      if (s.list.dependencies[w.first_dependency + k].write) written = access_in(s.list.dependencies[w.first_dependency + k], w, space, s.list);
    s.each_member(a, b, [&](int other) {
      if (other == writer && root.what == op::scatter) return;
      const scheduler_node& n = s.list.nodes[other];
      bool before_product = false;
      s.each_member(a, b, [&](int m) {
        if (s.list.nodes[m].kind == node_kind::matmul && !s.list.ancestors[other].contains(m)) before_product = true;
      });
      for (int k = 0; k < n.num_dependencies; ++k) {
        const dependency& d = s.list.dependencies[n.first_dependency + k];
        if (d.buffer >= w.root || memory_of(*s.g, d.buffer) != memory) continue;
        if (d.star || root.what == op::scatter || before_product || !(access_in(d, n, space, s.list) == written)) safe = false;
      }
    });
  });
  return safe;
}

/// The loop of the union, or a refusal: (numel, rnumel) must agree, or the pointwise side must split into the reduction's.
template <class State>
constexpr refusal common_space(State& s, int a, int b, loop_space& space) {
  const auto& first = s.groups[a];
  const auto& second = s.groups[b];
  if (first.has_reduction && second.has_reduction) {
    space = first.space;
    return first.space == second.space ? refusal::none : refusal::reduced_extents_differ;
  }
  if (!first.has_reduction && !second.has_reduction) {
    space = first.space;
    return first.space == second.space ? refusal::none : refusal::extents_differ;
  }
  const auto& reducing = first.has_reduction ? first : second;
  const auto& pointwise = first.has_reduction ? second : first;
  space = reducing.space;
  if (pointwise.space == space) return refusal::none;
  if (pointwise.space.rnumel != 1) return refusal::extents_differ;
  if (pointwise.space.numel == space.numel) return refusal::none;
  if (pointwise.space.numel != s.list.numbers.product(space.numel, space.rnumel)) return refusal::extents_differ;
  bool splits = true;
  s.each_member(first.has_reduction ? b : a, -1, [&](int m) {
    const scheduler_node& n = s.list.nodes[m];
    for (int k = 0; k < n.num_dependencies; ++k)
      if (access_in(s.list.dependencies[n.first_dependency + k], n, space, s.list).failed) splits = false;
  });
  return splits ? refusal::none : refusal::loops_incompatible;
}

/// b reads what a writes: at the same indices, and nothing else has to run in between.
template <class State>
constexpr refusal can_fuse_vertical(State& s, int a, int b, const loop_space& space) {
  bool matches = true;
  s.each_member(a, -1, [&](int writer) {
    s.each_member(b, -1, [&](int reader) {
      if (!reads_match(s, s.list.nodes[writer].root, writer, reader, space)) matches = false;
    });
  });
  if (!matches) return refusal::index_mismatch;
  return refusal::none;
}

/// Would fusing keep more memory alive than it saves? Temporaries that each side alone could have reused: read by one
/// user, of equal dtype and size on both sides. Reference: Inductor's can_fusion_increase_peak_memory.
template <class State>
constexpr bool increases_peak_memory(const State& s, int a, int b, std::int64_t shared_bytes) {
  std::int64_t overhead = 0;  // in elements
  fixed_set<decltype(s.list.nodes)::capacity> counted{};
  const auto temporaries = [&](int side, auto f) {
    s.each_member(side, -1, [&](int m) {
      const scheduler_node& n = s.list.nodes[m];
      for (int k = 0; k < n.num_dependencies; ++k) {
        const dependency& d = s.list.dependencies[n.first_dependency + k];
        const int producer = s.list.node_of(d.buffer);
        if (!d.write && producer >= 0 && !s.contains(side, producer) && s.num_users[d.buffer] == 1) f(d.buffer);
      }
    });
  };
  temporaries(a, [&](int x) {
    temporaries(b, [&](int y) {
      const node& first = (*s.g)[x];
      const node& second = (*s.g)[y];
      if (counted.contains(x) || first.type != second.type || s.g->numel(x) != s.g->numel(y) || is_symbolic(s.g->numel(x))) return;
      counted.insert(x);
      overhead += s.g->numel(x);
    });
  });
  return overhead > s.o->peak_memory_factor * shared_bytes;
}

/// n2 is a matmul template and n1 runs on its loads.
template <class State>
constexpr refusal can_fuse_prologue(State& s, int a, int b) {
  const auto& producer = s.groups[a];
  const options& o = *s.o;
  if (!o.prologue_fusion) return refusal::prologue_off;
  if (producer.has_template) return refusal::templates_differ;
  if (producer.has_reduction && !o.norm_prologue) return refusal::prologue_not_pointwise;
  // Only the last member's result leaves, and only into this template.
  bool shared = false;
  int result = -1, num_results = 0;
  bool writes_input = false;
  s.each_member(a, -1, [&](int m) {
    const int buffer = s.list.nodes[m].root;
    if (overwrites((*s.g)[buffer].what)) writes_input = true;
    bool outside = s.is_output(buffer), in_template = false;
    for (int other = 0; other < s.list.nodes.size(); ++other) {
      if (!s.reads(other, buffer) || s.contains(a, other)) continue;
      (s.contains(b, other) ? in_template : outside) = true;
    }
    if (outside) shared = true;
    if (in_template) result = m, ++num_results;
  });
  if (writes_input) return refusal::prologue_not_pointwise;
  if (shared || num_results != 1) return refusal::prologue_result_is_shared;
  const int buffer = s.list.nodes[result].root;
  if (!producer.has_reduction) {
    const std::int64_t read = s.bytes_read(a), written = s.bytes_of(buffer);
    if (read * 100 > written * o.prologue_read_ratio_percent) return refusal::prologue_reads_more;
    if (s.list.nodes[result].only_pads && s.groups[a].size == 1) return refusal::prologue_only_pads;
  } else {
    // A normalisation: rows of the left operand, reduced over the inner extent.
    const int matmul = s.template_node(b);
    const int left = (*s.g)[s.list.nodes[matmul].root].operands[0];
    const extents& shape = s.g->shape(left);
    if (left != buffer || producer.space.rnumel != shape[shape.rank - 1] || s.list.nodes[result].kind == node_kind::reduction)
      return refusal::prologue_not_expressible;
  }
  if (!overwrites_are_safe(s, a, b, s.groups[b].space)) return refusal::overwrites_operand;
  return s.prologue_is_expressible(a, b) ? refusal::none : refusal::prologue_not_expressible;
}

/// Both are templates: one left operand, equal extents and dtype, at most two.
template <class State>
constexpr refusal can_fuse_templates(State& s, int a, int b) {
  if (!s.o->dual_matmul || s.num_templates(a) + s.num_templates(b) > 2 || s.groups[a].size + s.groups[b].size > 2) return refusal::templates_differ;
  const node& first = (*s.g)[s.list.nodes[s.template_node(a)].root];
  const node& second = (*s.g)[s.list.nodes[s.template_node(b)].root];
  return first.operands[0] == second.operands[0] && first.shape == second.shape && first.type == second.type
             ? refusal::none
             : refusal::templates_differ;
}

/// a is a mix-order reduction: may b join one of its parts?
template <class State>
constexpr refusal can_fuse_into_parts(State& s, int a, int b) {
  refusal reason{};
  part_to_join(s, a, b, reason);
  if (reason != refusal::none) return reason;
  return s.would_make_cycle(a, b) ? refusal::would_make_cycle : refusal::none;
}

/// May group a (placed first) and group b become one kernel? `may_mix`: also as rows and columns, each in its own loop.
template <class State>
constexpr refusal can_fuse(State& s, int a, int b, bool may_mix) {
  const auto& first = s.groups[a];
  const auto& second = s.groups[b];
  const options& o = *s.o;
  if (a == b) return refusal::same_kernel;
  if (s.is_list(a) || s.is_list(b)) return can_fuse_lists(s, a, b);
  if (o.one_kernel_per_op && !s.same_call(a, b)) return refusal::different_ops;
  if (first.has_template && !o.matmul_template) return refusal::producer_is_foreign;
  if (second.has_template && !o.matmul_template) return refusal::consumer_is_foreign;
  if (first.ancestors.intersects(second.members)) return refusal::wrong_direction;
  if (first.how == joint::mix_order) return can_fuse_into_parts(s, a, b);
  if (second.how == joint::mix_order) return refusal::before_mix_order;
  const bool vertical = second.ancestors.intersects(first.members);
  if (first.has_template && second.has_template) return vertical ? refusal::templates_differ : can_fuse_templates(s, a, b);
  if (second.has_template) {
    if (!vertical) return refusal::no_shared_data;
    return can_fuse_prologue(s, a, b);
  }
  if (first.has_template) {
    if (!o.epilogue_fusion) return refusal::epilogue_off;
    if (second.has_reduction) return refusal::epilogue_not_pointwise;
  }
  const bool exchanged = may_mix && !vertical && exchange_loops(s, a, b);
  const refusal mixed = exchanged ? can_mix_order(s, a, b) : refusal::no_shared_data;
  const bool mixes = mixed == refusal::none;
  const std::int64_t shared = mixes ? mix_order_elements(s, a) : s.shared_bytes(a, b);
  if (shared == 0 && !vertical && (!o.aggressive_fusion || first.has_reduction || second.has_reduction)) return mixed;
  if (first.alive && second.alive && first.size + second.size > o.max_fusion_size) return refusal::too_many_nodes;
  if (increases_peak_memory(s, a, b, shared)) return refusal::peak_memory;
  if (mixes) return s.would_make_cycle(a, b) ? refusal::would_make_cycle : refusal::none;
  loop_space space{};
  if (vertical) {
    const refusal loops = common_space(s, a, b, space);
    if (loops != refusal::none) return loops;
    const refusal r = can_fuse_vertical(s, a, b, space);
    if (r != refusal::none) return r;
  } else {
    if (first.has_template) return refusal::no_shared_data;
    if (shared < o.min_shared_bytes && !o.aggressive_fusion) return refusal::too_few_shared_bytes;
    if (s.distance(a, b) > o.max_fusion_distance) return refusal::too_far_apart;
    const refusal loops = common_space(s, a, b, space);
    if (loops != refusal::none) return loops;
  }
  if (!overwrites_are_safe(s, a, b, space)) return refusal::overwrites_operand;
  if (s.would_make_cycle(a, b)) return vertical ? refusal::intermediate_nodes : refusal::would_make_cycle;
  return refusal::none;
}

}  // namespace sinter::detail
