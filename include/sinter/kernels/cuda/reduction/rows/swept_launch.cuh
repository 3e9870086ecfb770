// Launches rows that are swept wherever they begin, and shares long rows among blocks.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/kernel_memory.cuh"
#include "sinter/kernels/cuda/launch.cuh"
#include "sinter/kernels/cuda/reduction/rows/swept.cuh"

namespace sinter::cuda::detail {

/// The part of each block of a row.
inline split_part share_row(std::int64_t rnumel, std::int64_t splits, kernel_memory& memory, cudaStream_t stream,
                            const char* name) {
  if (splits <= 1) return {rnumel};
  split_part part{sinter::detail::round_up((rnumel + splits - 1) / splits, 256), static_cast<int>(splits)};
  part.counters = memory.counters(stream, name), part.states = memory.states();
  return part;
}

/// Blocks beyond the first grid dimension go to the third, rounded up: kernels check their row.
inline dim3 grid_of(std::int64_t blocks, std::int64_t splits) {
  constexpr std::int64_t most = 0x7fffffff;
  const std::int64_t z = (blocks + most - 1) / most;
  return dim3(static_cast<unsigned>((blocks + z - 1) / z), static_cast<unsigned>(splits), static_cast<unsigned>(z));
}

/// Are such rows of this body swept, if they lie alike?
template <class Body, long StaticRnumel>
inline constexpr bool sweeps_rows = sinter::detail::split_facts<Body>::can_split && (swept_facts<Body>::width > 0) &&
                                    (StaticRnumel < 0 || StaticRnumel >= swept_long);

/// False: nothing was launched, because the rows of several accesses lie differently.
template <class... S, class Args>
bool launch_swept(body<S...>, const Args& args, std::int64_t splits, kernel_memory& memory, cudaStream_t stream,
                  const char* name) {
  using B = body<S...>;
  constexpr int width = swept_facts<B>::width, items = swept_items<B>;
  row_shift shift;
  if (args.numel >= narrow_limit || args.rnumel >= narrow_limit || !swept_facts<B>::find(args, shift)) return false;
  const split_part part = share_row(args.rnumel, splits, memory, stream, name);
  const swept_shape shape = choose_swept(args.numel * part.splits, part.length / width, items, swept_turns<B>,
                                         swept_blocks<B> * (swept_block / 32), swept_few<B>);
  const std::int64_t along = part.splits > 1 ? 1 : shape.rows;
  launch(shape.start, &reduction_swept<B, width, items, Args>,
         dim3(static_cast<unsigned>((args.numel + along - 1) / along), static_cast<unsigned>(part.splits)),
         dim3(static_cast<unsigned>(shape.threads), static_cast<unsigned>(along)), 0, stream, name, args, part, shift);
  return true;
}

}  // namespace sinter::cuda::detail
