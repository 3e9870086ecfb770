// Invariants of a plan: every node is in one kernel, every kernel runs after those it depends on.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/schedule/plan.hpp"

namespace sinter::detail {

template <int Capacity>
constexpr bool verify(const plan<Capacity>& p) {
  const auto& s = p.fusion.state;
  fixed_set<Capacity> done{};
  int num_nodes = 0;
  for (const planned_kernel& k : p.kernels) {
    const auto& x = s.groups[k.group];
    for (int w = 0; w < done.num_words; ++w)
      if (x.ancestors.words[w] & ~done.words[w]) return false;
    if (done.intersects(x.members)) return false;
    done.insert(x.members);
    num_nodes += x.size;
  }
  return num_nodes == s.list.nodes.size();
}

}  // namespace sinter::detail
