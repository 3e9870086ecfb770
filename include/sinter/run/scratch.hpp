// What a plan's split reductions need of its workspace: counters, and partial results that one launch combines.
// Constants of the extents, so that a plan's workspace is known without a GPU. SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/kernels/split.hpp"
#include "sinter/run/call.hpp"

namespace sinter::detail {

/// What one part needs; `value` maps number sources to values.
template <class Program, int Index, int Part, class Value>
constexpr workspace_size part_workspace(const Value& value) {
  using kernel = typename Program::template kernel<Index, Part>;
  using source = typename recipe<Program>::template kernel<Index, Part>;
  if constexpr (is_loop(kernel::planned.kind))
    return decltype(loop_of<kernel>())::workspace(value(source::numel), value(source::rnumel));
  else return {};
}
template <class Program, int Index, class Value, int... Part>
constexpr workspace_size kernel_workspace(const Value& value, std::integer_sequence<int, Part...>) {
  if constexpr (Program::template is_mix_order<Index>) {
    using rows = typename recipe<Program>::template kernel<Index>;
    using columns = typename kernel_bodies<typename Program::template kernel<Index, 1>>::main;
    return mix_order_workspace<columns>(value(rows::numel), value(rows::rnumel));
  } else {
    workspace_size sum;
    ((sum = sum + part_workspace<Program, Index, Part>(value)), ...);
    return sum;
  }
}
/// The kernels run one after another and share it.
template <class Program, int... Index, class Value>
constexpr workspace_size shared_workspace(const Value& value) {
  workspace_size most;
  const auto use = [&](workspace_size w) {
    most.counters = w.counters > most.counters ? w.counters : most.counters;
    most.states = w.states > most.states ? w.states : most.states;
  };
  (use(kernel_workspace<Program, Index>(value, std::make_integer_sequence<int, Program::template num_parts<Index>>{})),
   ...);
  return {round_up(most.counters, workspace_alignment), round_up(most.states, workspace_alignment)};
}

template <class Program, int Index, int... Part>
constexpr bool kernel_needs_scratch(std::integer_sequence<int, Part...>) {
  return Program::template is_mix_order<Index> || ([] {
           using kernel = typename Program::template kernel<Index, Part>;
           if constexpr (is_loop(kernel::planned.kind)) return decltype(loop_of<kernel>())::can_split;
           else return false;
         }() || ...);
}
/// False when no reduction of the plan can be split, whatever the extents.
template <class Program, int... Index>
constexpr bool needs_scratch(std::integer_sequence<int, Index...>) {
  return (kernel_needs_scratch<Program, Index>(std::make_integer_sequence<int, Program::template num_parts<Index>>{}) ||
          ... || false);
}

}  // namespace sinter::detail
