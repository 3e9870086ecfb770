// Combo kernels: independent groups that are left after the rounds share a launch. Per topological level, in chunks,
// each chunk divided by what its members' loops look like and by how many buffers they take. Reference: Inductor's
// create_combo_kernel_nodes and the partitions of its ComboKernel.
// What a combo kernel runs is its parts' matter: see schedule/groups.hpp.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/schedule/tiling.hpp"

namespace sinter::detail {

/// The buffers that a kernel of this group takes.
template <class State>
constexpr int num_arguments(const State& s, int a) {
  fixed_set<decltype(s.list.nodes)::capacity> counted{};
  int n = 0;
  s.each_member(a, -1, [&](int m) {
    const scheduler_node& member = s.list.nodes[m];
    for (int k = 0; k < member.num_dependencies; ++k) {
      const dependency& d = s.list.dependencies[member.first_dependency + k];
      const int producer = s.list.node_of(d.buffer);
      const bool inside = d.write ? !s.needed_outside(d.buffer, a) : producer >= 0 && s.contains(a, producer);
      if (inside || counted.contains(d.buffer)) continue;
      counted.insert(d.buffer);
      ++n;
    }
  });
  return n;
}

/// How many kernels must have run before group order[i], given the levels of those before it.
template <class State, class Order>
constexpr int level_of(const State& s, const Order& order, const short* levels, int i) {
  int level = 0;
  for (int j = 0; j < i; ++j)
    if (levels[j] >= level && s.groups[order[i]].ancestors.intersects(s.groups[order[j]].members))
      level = levels[j] + 1;
  return level;
}

/// Joins order[first .. last), all of one level, as far as their loops are alike and their buffers few enough.
template <class State, class Order>
constexpr void combine_chunk(State& s, const Order& chunk) {
  for (int tiles = 0; tiles < 2; ++tiles) {
    int whole = -1, arguments = 0;
    for (int a : chunk) {
      if ((tile_of(s, a, -1) != 0) != (tiles == 1)) continue;
      const int more = num_arguments(s, a);
      const bool fits = whole >= 0 && arguments + more <= s.o->max_combo_arguments;
      whole = fits ? s.join(whole, a, joint::combo) : a;
      arguments = fits ? arguments + more : more;
    }
  }
}

template <int Capacity>
constexpr void combine_kernels(group_state<Capacity>& s) {
  const fixed_vector<short, Capacity> order = s.execution_order();
  short levels[Capacity]{};
  int deepest = 0;
  for (int i = 0; i < order.size(); ++i) {
    levels[i] = static_cast<short>(level_of(s, order, levels, i));
    if (levels[i] > deepest) deepest = levels[i];
  }
  for (int level = 0; level <= deepest; ++level) {
    fixed_vector<short, Capacity> chunk{};
    for (int i = 0; i < order.size(); ++i) {
      if (levels[i] != level || s.groups[order[i]].has_template || s.groups[order[i]].has_scan || s.is_joint(order[i]))
        continue;
      chunk.push_back(order[i]);
      if (chunk.size() < s.o->max_combo_size) continue;
      combine_chunk(s, chunk);
      chunk.count = 0;
    }
    combine_chunk(s, chunk);
  }
}

}  // namespace sinter::detail
