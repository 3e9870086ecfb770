// What one launch of several independent loops consists of: a tag for each of its parts.
// How they share the launch is the host's and the CUDA kernels' matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/split.hpp"

namespace sinter {

/// A pointwise body over Numel elements; an extent of -1 is known at the call only.
template <class Body, long Numel = -1>
struct pointwise_loop {};

/// A body with reductions over Rnumel elements for each of Numel. Blocks wait for nobody: others' may come in between.
template <class Body, orientation O, long Rnumel = -1, long Numel = -1>
struct reduction_loop {
  static constexpr bool needs_workspace = detail::split_facts<Body>::can_split;
  static constexpr workspace_size workspace(std::int64_t numel, std::int64_t rnumel) {
    return split_workspace<Body, O>(numel, rnumel);
  }
};

}  // namespace sinter
