// Scratch memory of split reductions: partial results that one launch combines. Constants of the extents, so that a plan's
// workspace is known without a GPU.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/kernels/split.hpp"
#include "sinter/run/call.hpp"

namespace sinter::detail {

/// `value` maps number sources to values.
template <class Program, int Index, class Value>
constexpr std::int64_t kernel_scratch_bytes(const Value& value) {
  using kernel = typename Program::template kernel<Index>;
  if constexpr (Program::plan.kernels[Index].kind == kernel_kind::reduction ||
                Program::plan.kernels[Index].kind == kernel_kind::persistent_reduction) {
    using body = typename kernel_bodies<kernel>::main;
    return round_up(reduction_workspace_bytes<body, kernel::planned.walk>(value(recipe<Program>::template kernel<Index>::numel), value(recipe<Program>::template kernel<Index>::rnumel)),
                    workspace_alignment);
  } else {
    return 0;
  }
}
/// The kernels run one after another and share it.
template <class Program, int... Index, class Value>
constexpr std::int64_t scratch_bytes(const Value& value) {
  std::int64_t most = 0;
  ((most = kernel_scratch_bytes<Program, Index>(value) > most ? kernel_scratch_bytes<Program, Index>(value) : most), ...);
  return most;
}
/// False when no reduction of the plan can be split, whatever the extents.
template <class Program, int... Index>
constexpr bool needs_scratch(std::integer_sequence<int, Index...>) {
  return ([] {
    if constexpr (Program::plan.kernels[Index].kind == kernel_kind::reduction ||
                  Program::plan.kernels[Index].kind == kernel_kind::persistent_reduction)
      return split_facts<typename kernel_bodies<typename Program::template kernel<Index>>::main>::can_split;
    else
      return false;
  }() || ... || false);
}

}  // namespace sinter::detail
