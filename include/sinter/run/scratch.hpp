// Scratch memory of split reductions: partial results that one launch combines. Constants of the extents, so that a
// plan's workspace is known without a GPU. SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/kernels/split.hpp"
#include "sinter/run/call.hpp"

namespace sinter::detail {

/// One part's scratch memory; `value` maps number sources to values.
template <class Program, int Index, int Part, class Value>
constexpr std::int64_t part_scratch_bytes(const Value& value) {
  using kernel = typename Program::template kernel<Index, Part>;
  using source = typename recipe<Program>::template kernel<Index, Part>;
  if constexpr (is_loop(kernel::planned.kind))
    return decltype(loop_of<kernel>())::workspace_bytes(value(source::numel), value(source::rnumel));
  else return 0;
}
template <class Program, int Index, class Value, int... Part>
constexpr std::int64_t kernel_scratch_bytes(const Value& value, std::integer_sequence<int, Part...>) {
  if constexpr (Program::template is_mix_order<Index>) {
    using rows = typename recipe<Program>::template kernel<Index>;
    using columns = typename kernel_bodies<typename Program::template kernel<Index, 1>>::main;
    return round_up(mix_order_workspace_bytes<columns>(value(rows::numel), value(rows::rnumel)), workspace_alignment);
  } else {
    return round_up((part_scratch_bytes<Program, Index, Part>(value) + ...), workspace_alignment);
  }
}
/// The kernels run one after another and share it.
template <class Program, int... Index, class Value>
constexpr std::int64_t scratch_bytes(const Value& value) {
  std::int64_t most = 0;
  const auto use = [&](std::int64_t bytes) { most = bytes > most ? bytes : most; };
  (use(kernel_scratch_bytes<Program, Index>(value,
                                            std::make_integer_sequence<int, Program::template num_parts<Index>>{})),
   ...);
  return most;
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
