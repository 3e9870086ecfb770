// What a target answers where its rules differ: which fusions wait for which, and what no kernel of it may exceed.
// Reference: Inductor's backends, Triton and C++. A program has one plan on the host and on CUDA, that of
// options.target: a test on the host then speaks for both.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/schedule/options.hpp"

namespace sinter::detail {

struct backend {
  bool reorders_loops = false;    ///< the round after the last one may change loops, and indices may be inverted
  bool delays_reductions = false; ///< what follows a reduction in its outer loop waits until nothing else is left
  int max_siblings = 0;           ///< nodes in a kernel of siblings; 0: as many as options.max_fusion_size
  int row_on_chip = 0;            ///< a row up to this stays on chip, and up to options.persistent_reduction_limit

  /// Of the candidates of a round only those with the smallest priority survive it.
  constexpr int fusion_priority(bool vertical, bool first_reduces) const {
    return delays_reductions && vertical && first_reduces ? 1 : 0;
  }
};

constexpr backend backend_of(target t) {
  switch (t) {
    case target::cuda: return {true, false, 0, 0};
    // cpp.max_horizontal_fusion_size; values of a row beside the row itself, in half an L2 cache of 1 MiB
    case target::cpu: return {false, true, 16, 1 << 16};
  }
  return {};
}

inline constexpr int max_kernel_buffers = 96;  ///< pointers a kernel's parameters hold, on every target

}  // namespace sinter::detail
