// What a plan's split reductions need of its workspace: counters, and partial results that one launch combines.
// Constants of the extents, so that a plan's workspace is known without a GPU. SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/kernels/mix_order_split.hpp"
#include "sinter/kernels/scan_split.hpp"
#include "sinter/run/call.hpp"

namespace sinter::detail {

/// A loop with reductions or scans that is a kernel of its own: blocks may also wait for each other.
template <class Body, orientation O, long Rnumel>
struct lone_loop {
  static constexpr bool long_rows =
      Rnumel < 0 || Rnumel >= 2 * split_row_part || is_alone(Rnumel, shared_row_facts<Body>::row_bytes);
  static constexpr bool needs_workspace = split_facts<Body>::can_split || scan_facts<Body>::can_split ||
                                          (shares_rows<Body, O>() && long_rows) ||
                                          (O == orientation::column && shared_column_facts<Body>::possible);
  static constexpr workspace_size workspace(std::int64_t numel, std::int64_t rnumel) {
    if constexpr (body_facts<Body>::has_scan) return scan_workspace<Body, O>(numel, rnumel);
    else return reduction_workspace<Body, O>(numel, rnumel);
  }
};
struct nothing_to_share {
  static constexpr bool needs_workspace = false;
  static constexpr workspace_size workspace(std::int64_t, std::int64_t) { return {}; }
};
/// What one part needs, alone or with others.
template <class Program, int Index, int Part>
constexpr auto scratch_of() {
  using kernel = typename Program::template kernel<Index, Part>;
  constexpr kernel_kind kind = kernel::planned.kind;
  if constexpr (!is_loop(kind) || kind == kernel_kind::pointwise) return nothing_to_share{};
  else if constexpr ((Program::template num_parts<Index>) > 1) return loop_of<kernel>();
  else
    return lone_loop<typename kernel_bodies<kernel>::main, kernel::planned.walk,
                     fixed_or_unknown(kernel::value.space.rnumel)>{};
}

/// `value` maps number sources to values.
template <class Program, int Index, class Value, int... Part>
constexpr workspace_size kernel_workspace(const Value& value, std::integer_sequence<int, Part...>) {
  if constexpr (Program::template is_mix_order<Index>) {
    using rows = typename recipe<Program>::template kernel<Index>;
    using row = typename kernel_bodies<typename Program::template kernel<Index>>::main;
    using column = typename kernel_bodies<typename Program::template kernel<Index, 1>>::main;
    return mix_order_workspace<row, column>(value(rows::numel), value(rows::rnumel));
  } else {
    workspace_size sum;
    const auto add = [&]<class Source>(auto scratch, Source) {
      sum = sum + scratch.workspace(value(Source::numel), value(Source::rnumel));
    };
    (add(scratch_of<Program, Index, Part>(), typename recipe<Program>::template kernel<Index, Part>{}), ...);
    return sum;
  }
}
/// The kernels run one after another and share it.
template <class Program, int... Index, class Value>
constexpr workspace_size shared_workspace(const Value& value) {
  workspace_size most;
  ((most = larger(most, kernel_workspace<Program, Index>(
                            value, std::make_integer_sequence<int, Program::template num_parts<Index>>{}))),
   ...);
  return {round_up(most.counters, workspace_alignment), round_up(most.states, workspace_alignment)};
}

template <class Program, int Index, int... Part>
constexpr bool kernel_needs_scratch(std::integer_sequence<int, Part...>) {
  return Program::template is_mix_order<Index> ||
         (decltype(scratch_of<Program, Index, Part>())::needs_workspace || ...);
}
/// False when no reduction of the plan can be split, whatever the extents.
template <class Program, int... Index>
constexpr bool needs_scratch(std::integer_sequence<int, Index...>) {
  return (kernel_needs_scratch<Program, Index>(std::make_integer_sequence<int, Program::template num_parts<Index>>{}) ||
          ... || false);
}

}  // namespace sinter::detail
