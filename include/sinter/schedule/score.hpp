// How much a fusion is worth: the bytes two groups have in common, and the key by which the candidates of a round are
// sorted. Whether the fusion may be is can_fuse's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/schedule/groups.hpp"

namespace sinter {

/// Larger is better, part by part. Inductor compares memory only if it differs sixteenfold, then type before memory;
/// this plain key orders all pairs alike.
struct fusion_score {
  int rank = 0;              ///< 3 two matmuls, 2 ordinary, 1 epilogue or nothing exactly shared, 0 prologue
  std::int64_t weight = 0;   ///< bytes both access at equal indices, times 16 if both or neither reduce
  bool same_kind = false;    ///< both or neither reduce, and they share something
  std::int64_t overlap = 0;  ///< bytes both read, at different indices
  int proximity = 0;         ///< minus the distance in the program

  friend constexpr bool operator<(const fusion_score& a, const fusion_score& b) {
    if (a.rank != b.rank) return a.rank < b.rank;
    if (a.weight != b.weight) return a.weight < b.weight;
    if (a.same_kind != b.same_kind) return a.same_kind < b.same_kind;
    if (a.overlap != b.overlap) return a.overlap < b.overlap;
    return a.proximity < b.proximity;
  }
};

namespace detail {

/// What two groups have in common.
struct shared_data {
  std::int64_t exact = 0;    ///< bytes accessed at equal indices
  std::int64_t overlap = 0;  ///< or, if there are none, bytes read at different ones
  constexpr std::int64_t bytes() const { return exact + overlap; }
};

/// Bytes that both groups access at equal indices.
template <class State>
constexpr std::int64_t exactly_shared(const State& s, int a, int b) {
  std::int64_t total = 0;
  const int num_words = (s.list.dependencies.size() + 63) / 64;  // the rest is empty, and this is asked of every pair
  for (int w = 0; w < num_words; ++w)
    for (unsigned long rest = s.groups[a].accesses.words[w] & s.groups[b].accesses.words[w]; rest; rest &= rest - 1)
      total += s.list.dependencies[w * 64 + std::countr_zero(rest)].bytes;
  return total;
}

/// A template's accesses are compared by buffer.
template <class State>
constexpr std::int64_t shared_by_name(const State& s, int a, int b) {
  std::int64_t total = 0;
  s.groups[a].accesses.each([&](int i) {
    const dependency& x = s.list.dependencies[i];
    if (!s.groups[b].buffers.contains(x.buffer)) return;
    s.groups[b].accesses.each([&](int j) {
      const dependency& y = s.list.dependencies[j];
      if (x.buffer == y.buffer) total += x.bytes > y.bytes ? x.bytes : y.bytes;
    });
  });
  return total;
}

/// Do both groups compute operands of one template, which should take them in instead?
template <class State>
constexpr bool feed_one_template(const State& s, int a, int b) {
  if (!s.o->matmul_template || !s.o->prologue_fusion || !s.o->epilogue_fusion) return false;
  for (const scheduler_node& n : s.list.nodes) {
    if (n.kind != node_kind::matmul) continue;
    bool reads_a = false, reads_b = false;
    for (int k = 0; k < n.num_dependencies; ++k) {
      const dependency& d = s.list.dependencies[n.first_dependency + k];
      const int producer = d.write ? -1 : s.list.node_of(d.buffer);
      if (producer < 0) continue;
      reads_a = reads_a || s.contains(a, producer);
      reads_b = reads_b || s.contains(b, producer);
    }
    if (reads_a && reads_b) return true;
  }
  return false;
}

/// Bytes that two pointwise groups read of the same buffers, if that is a good part of what one of them reads.
template <class State>
constexpr std::int64_t overlapping(const State& s, int a, int b) {
  constexpr int lopsided = 4;  // Inductor does not look closer at such a pair
  const int num_first = s.groups[a].accesses.size(), num_second = s.groups[b].accesses.size();
  if (num_first > lopsided * num_second || num_second > lopsided * num_first) return 0;
  const auto is_read_by = [&](int side, int buffer) {
    const int producer = s.list.node_of(buffer);
    return s.groups[side].buffers.contains(buffer) && (producer < 0 || !s.contains(side, producer));
  };
  std::int64_t all = 0, common = 0;  // of the side that reads more
  for (const int side : {a, b}) {
    std::int64_t all_here = 0, common_here = 0;
    s.groups[side].accesses.each([&](int k) {
      const dependency& d = s.list.dependencies[k];
      if (!is_read_by(side, d.buffer)) return;
      all_here += d.bytes;
      if (is_read_by(side == a ? b : a, d.buffer)) common_here += d.bytes;
    });
    if (all_here > all) all = all_here;
    if (common_here > common) common = common_here;
  }
  return common * 100 >= all * s.o->min_overlap_percent && !feed_one_template(s, a, b) ? common : 0;
}

/// Reference: score_fusion_memory.
template <class State>
constexpr shared_data shared_by(const State& s, int a, int b) {
  const auto& first = s.groups[a];
  const auto& second = s.groups[b];
  if (!first.buffers.intersects(second.buffers)) return {};
  if (first.has_template || second.has_template) return {shared_by_name(s, a, b), 0};
  const std::int64_t exact = exactly_shared(s, a, b);
  if (exact != 0 || first.has_reduction || second.has_reduction || a == b) return {exact, 0};
  return {0, overlapping(s, a, b)};
}

template <class State>
constexpr fusion_score score(const State& s, int a, int b, const shared_data& shared) {
  constexpr int same_kind_weight = 16;
  const auto& first = s.groups[a];
  const auto& second = s.groups[b];
  fusion_score r{};
  if (second.has_template)
    r.rank = first.has_template ? 3 : 0;
  else
    r.rank = 1 + (first.has_template == s.o->epilogue_fusion_first && shared.exact > 0);
  r.same_kind = first.has_reduction == second.has_reduction && shared.exact > 0;
  r.weight = shared.exact * (r.same_kind ? same_kind_weight : 1);
  r.overlap = shared.overlap;
  r.proximity = -s.distance(a, b);
  return r;
}

}  // namespace detail
}  // namespace sinter
