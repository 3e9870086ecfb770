// Split scans: a few long rows, or columns, are scanned by many blocks, a part each, which tell each other what they
// have folded. Which scans need which others, which bodies can be split, and the workspace that takes: constants of the
// extents alone, never of the machine, so that a plan knows its workspace.
// How blocks follow each other is the CUDA kernels' matter (kernels/cuda/scan/chain.cuh).
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/split.hpp"

namespace sinter {

namespace detail {

/// Elements of a row that one block takes, at least, and how few rows are split: more fill a device by themselves.
inline constexpr std::int64_t scan_row_part = 2048;
inline constexpr std::int64_t scan_split_lines = 512;
/// Of a column a block takes this many elements at least; it takes 32 columns at least, if there are so many.
inline constexpr std::int64_t scan_column_part = 32;
inline constexpr std::int64_t scan_column_line = 32;
/// Parts in a group, each of which every later one of the group reads. Of rows, all later groups read what it folds to;
/// of columns, the next one reads what it hands on with all before it.
constexpr std::int64_t scan_group(orientation o) { return o == orientation::row ? 128 : 32; }

/// The bytes of one scan's state; 0 for any other statement.
template <class S>
inline constexpr int scan_state_bytes = 0;
template <class Op, class T, class Result, int A>
inline constexpr int scan_state_bytes<scan<Op, T, Result, A>> =
    static_cast<int>(sizeof(typename Op::template state<compute_t<T>>));

/// A scan waits for all its threads. Stage g of a body's element statements runs between two such waits: what needs the
/// results of g scans, one after the other, and then the scans that need no more than that, together.
template <class Body>
struct scan_facts;
template <class... S>
struct scan_facts<body<S...>> {
  using facts = body_facts<body<S...>>;
  static constexpr int size = sizeof...(S);
  static constexpr int state_bytes[size + 1] = {scan_state_bytes<S>..., 0};
  static constexpr int most_state = [] {
    int most = 0;
    for (int bytes : state_bytes)
      if (bytes > most) most = bytes;
    return most;
  }();
  static constexpr bool is_scan(int s) { return facts::facts.info[s].kind == statement_kind::scan; }

  struct table {
    int stage[size + 1]{};
    int num_stages = 1;
    bool reduces = false;
  };
  static constexpr table stages = [] {
    table t{};
    for (int s = 0; s < size; ++s) {
      const auto& info = facts::facts.info[s];
      t.reduces = t.reduces || info.kind == statement_kind::reduce;
      for (int operand : info.operands) {
        if (operand < 0 || facts::facts.where[operand] != scope::element) continue;
        const int ready = t.stage[operand] + (facts::facts.info[operand].kind == statement_kind::scan);
        if (ready > t.stage[s]) t.stage[s] = ready;
      }
      const int after = t.stage[s] + (info.kind == statement_kind::scan);
      if (after + 1 > t.num_stages) t.num_stages = after + 1;
    }
    return t;
  }();
  static constexpr int num_stages = stages.num_stages;
  static constexpr int stage(int s) { return stages.stage[s]; }
  /// What is reduced is known only after all blocks.
  static constexpr bool can_split = facts::has_scan && !stages.reduces;

  /// Where the states of scan s begin in the workspace (s = size: its total size): a ticket, then, of columns, for each
  /// stage and line a flag per part and per group, then for each scan as many states for each of numel rows or columns.
  /// A line is a row, or the columns that one block takes. The states of rows have a mark in every word instead.
  SINTER_HOST_DEVICE static constexpr std::int64_t num_counters(orientation o, std::int64_t lines, std::int64_t slots) {
    return 4 + (o == orientation::row ? 0 : num_stages * lines * slots);
  }
  SINTER_HOST_DEVICE static constexpr std::int64_t offset(int s, orientation o, std::int64_t lines, std::int64_t slots,
                                                          std::int64_t numel) {
    int i = 0;
    std::int64_t total = round_up(num_counters(o, lines, slots) * 4, 16);
    const auto bytes = [&](std::int64_t one) { return o == orientation::row ? (one + 3) / 4 * 8 : one; };
    ((total += i++ < s ? round_up(numel * slots * bytes(scan_state_bytes<S>), 16) : 0), ...);
    return total;
  }
};

constexpr std::int64_t slots_of(orientation o, std::int64_t parts) {
  return parts + (parts + scan_group(o) - 1) / scan_group(o);
}

constexpr std::int64_t scan_lines_of(orientation o, std::int64_t numel) {
  return o == orientation::row ? numel : (numel + scan_column_line - 1) / scan_column_line;
}
/// The most parts that the workspace is for; 1: blocks share no line.
constexpr std::int64_t most_scan_parts(orientation o, std::int64_t numel, std::int64_t rnumel) {
  const std::int64_t part = o == orientation::row ? scan_row_part : scan_column_part;
  if (numel <= 0 || scan_lines_of(o, numel) >= scan_split_lines * (o == orientation::row ? 1 : 16)) return 1;
  return (rnumel + part - 1) / part;
}

}  // namespace detail

/// What cuda::scan_kernel<Body, O> needs.
template <class Body, orientation O>
constexpr workspace_size scan_workspace(std::int64_t numel, std::int64_t rnumel) {
  using facts = detail::scan_facts<Body>;
  if constexpr (facts::can_split) {
    const std::int64_t parts = detail::most_scan_parts(O, numel, rnumel);
    if (parts <= 1) return {};
    const std::int64_t lines = detail::scan_lines_of(O, numel), slots = detail::slots_of(O, parts);
    const std::int64_t states = facts::offset(facts::size, O, lines, slots, numel),
                       marked = facts::offset(facts::size, orientation::row, 1, slots, numel);
    return detail::workspace_of(1, detail::round_up(states > marked ? states : marked, 16));
  } else {
    return {};
  }
}

}  // namespace sinter
