// What one launch of several independent loops consists of: a tag for each of its parts.
// How they share the launch is the host's and the CUDA kernels' matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/scan_split.hpp"

namespace sinter {

/// A pointwise body over Numel elements; an extent of -1 is known at the call only.
template <class Body, long Numel = -1>
struct pointwise_loop {
  static constexpr bool can_split = false;
  static constexpr workspace_size workspace(std::int64_t, std::int64_t) { return {}; }
};

/// A body with reductions, or scans, over Rnumel elements for each of Numel.
template <class Body, orientation O, long Rnumel = -1, long Numel = -1>
struct reduction_loop {
  static constexpr bool can_split =
      detail::split_facts<Body>::can_split || detail::scan_facts<Body>::can_split ||
      (detail::shares_rows<Body, O>() && (Rnumel < 0 || Rnumel >= 2 * detail::split_row_part)) ||
      (O == orientation::column && detail::shared_column_facts<Body>::possible);
  static constexpr workspace_size workspace(std::int64_t numel, std::int64_t rnumel) {
    if constexpr (body_facts<Body>::has_scan) return scan_workspace<Body, O>(numel, rnumel);
    else return reduction_workspace<Body, O>(numel, rnumel);
  }
};

}  // namespace sinter
