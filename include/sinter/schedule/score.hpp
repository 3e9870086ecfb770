// How much a fusion is worth: a key, larger is better. Inductor's rule (a pair of one kind counts sixteenfold) as a
// lexicographic key.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/schedule/mix_order.hpp"

namespace sinter {

struct fusion_score {
  int rank = 0;             ///< 3 dual matmul, 2 ordinary, 1 epilogue or nothing shared, 0 prologue
  std::int64_t weight = 0;  ///< bytes saved (mix-order: elements), times 16 if both or neither reduce
  bool same_kind = false;
  int proximity = 0;

  friend constexpr bool operator<(const fusion_score& a, const fusion_score& b) {
    if (a.rank != b.rank) return a.rank < b.rank;
    if (a.weight != b.weight) return a.weight < b.weight;
    if (a.same_kind != b.same_kind) return a.same_kind < b.same_kind;
    return a.proximity < b.proximity;
  }
};

namespace detail {

template <class State>
constexpr fusion_score score(const State& s, int a, int b) {
  constexpr int same_kind_weight = 16;
  const auto& first = s.groups[a];
  const auto& second = s.groups[b];
  const std::int64_t bytes = exchange_loops(s, a, b) ? mix_order_elements(s, a) : s.shared_bytes(a, b);
  fusion_score r{};
  r.rank = first.has_template && second.has_template ? 3 : second.has_template ? 0 : first.has_template || bytes == 0 ? 1 : 2;
  r.same_kind = first.has_reduction == second.has_reduction && bytes > 0;
  r.weight = bytes * (r.same_kind ? same_kind_weight : 1);
  r.proximity = -s.distance(a, b);
  return r;
}

}  // namespace detail
}  // namespace sinter
