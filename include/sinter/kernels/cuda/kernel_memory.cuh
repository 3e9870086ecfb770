// What the kernels of a call have of its memory: states of blocks that reduce together, and the counters by which those
// know that others have come. Every kernel finds the counters at zero and leaves them so, so that they are cleared once
// for a call, or once in the life of the memory. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/error.cuh"
#include "sinter/kernels/split.hpp"

namespace sinter::cuda {

class kernel_memory {
 public:
  /// One piece of any content, as large as `size` says: the counters are cleared in front of the first kernel that
  /// needs them.
  kernel_memory(void* workspace, const workspace_size& size)
      : kernel_memory(workspace, size.counters, static_cast<char*>(workspace) + size.counters, false) {}
  /// `at_zero`: the counters are.
  kernel_memory(void* counters, std::int64_t counter_bytes, void* states, bool at_zero)
      : states_(static_cast<unsigned char*>(states)),
        counters_(static_cast<unsigned*>(counters)),
        counter_bytes_(counter_bytes),
        at_zero_(at_zero) {}

  void* states() const { return states_; }
  /// At zero when what is launched next into this stream begins. The memset can be captured into a graph.
  unsigned* counters(cudaStream_t stream, const char* name) {
    if (!at_zero_)
      detail::check(cudaMemsetAsync(counters_, 0, static_cast<std::size_t>(counter_bytes_), stream), "cudaMemsetAsync",
                    name);
    at_zero_ = true;
    return counters_;
  }

 private:
  unsigned char* states_;
  unsigned* counters_;
  std::int64_t counter_bytes_;
  bool at_zero_;
};

namespace detail {

/// Where `all` blocks meet. The last `waiting` of them may wait for each other, if they can run at once. All count
/// themselves in, those that have waited count themselves out, and with the last the counter is at zero again. For one
/// thread of a block, after and before a barrier: what the others have written, those who come later can read.
struct meeting_place {
  unsigned* counter;
  unsigned all, waiting = 0;

  /// How many came before.
  __device__ __forceinline__ unsigned come() const {
    unsigned before;
    asm volatile("atom.acq_rel.gpu.inc.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(counter), "r"(all + waiting - 1)
                 : "memory");
    return before;
  }
  /// The same where what the others have written says itself that it is there.
  __device__ __forceinline__ unsigned come_unordered() const {
    unsigned before;
    asm volatile("atom.relaxed.gpu.inc.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(counter), "r"(all + waiting - 1)
                 : "memory");
    return before;
  }
  __device__ __forceinline__ void wait_for_all() const {
    unsigned here = 0;
    while (here < all) asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(here) : "l"(counter) : "memory");
    asm volatile("red.relaxed.gpu.inc.u32 [%0], %1;" ::"l"(counter), "r"(all + waiting - 1) : "memory");
  }
};

}  // namespace detail

}  // namespace sinter::cuda
