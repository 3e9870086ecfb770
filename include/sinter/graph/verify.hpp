// Invariants of a graph: operands come first, inputs and results exist.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/graph/graph.hpp"

namespace sinter::detail {

template <int Capacity>
constexpr bool verify(const graph<Capacity>& g) {
  for (int id = 0; id < g.size(); ++id)
    for (int k = 0; k < g[id].num_operands(); ++k)
      if (g[id].operands[k] < 0 || g[id].operands[k] >= id) return false;
  for (const input_info& i : g.inputs)
    if (i.node >= g.size() || g[i.node].what != op::input) return false;
  for (int id : g.outputs)
    if (id >= g.size()) return false;
  return !g.overflowed();
}

}  // namespace sinter::detail
