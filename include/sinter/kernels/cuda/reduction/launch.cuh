// Launches a reduction body along memory or across it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/kernels/cuda/reduction/columns/channel_launch.cuh"
#include "sinter/kernels/cuda/reduction/columns/launch.cuh"
#include "sinter/kernels/cuda/reduction/rows/launch.cuh"

namespace sinter::cuda {

/// Runs a body with reductions for every x in [0, numel). O says along which index its loads are contiguous.
/// `memory`: reduction_workspace<Body, O>(numel, rnumel) of it, 16-byte aligned. `name` is the kernel's, for errors.
/// Static extents (>= 0; they must be the ones in args) save the user the compilation of variants that cannot be
/// needed. Rows: how they are reduced.
template <class Body, orientation O, long StaticRnumel = -1, long StaticNumel = -1,
          row_kernel Rows = row_kernel::chosen, class Args>
void reduction(const Args& args, kernel_memory& memory, cudaStream_t stream, const char* name) {
  static_assert(body_facts<Body>::has_reduction, "reduction: the body reduces nothing; use pointwise");
  if (args.numel <= 0) return;
  if constexpr (O == orientation::row && Rows == row_kernel::chosen)
    if (detail::reduce_channels<Body, StaticRnumel>(args, memory, stream, name)) return;
  if constexpr (O == orientation::column)
    detail::reduce_columns<Body, StaticRnumel, StaticNumel>(args, memory, stream, name);
  else if constexpr (detail::gathers_ahead<Body, Args> && Rows == row_kernel::chosen)
    detail::reduce_gathered<Body>(args, memory, stream, name);
  else detail::reduce_rows<Body, StaticRnumel, Rows>(args, memory, stream, name);
}

}  // namespace sinter::cuda
