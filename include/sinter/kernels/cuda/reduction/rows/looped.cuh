// Reductions along memory (orientation row) of rows that are walked in tiles, once per phase. A body of one phase may
// split a long row over blocks, the last of which combines.
// Which kernel with which shape is choose.hpp's matter, launching launch.cuh's.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/kernel_memory.cuh"
#include "sinter/kernels/cuda/overlap.cuh"
#include "sinter/kernels/cuda/reduction/rows/row_threads.cuh"
#include "sinter/kernels/cuda/settled.cuh"

namespace sinter::cuda {

/// The part of the reduced space that one block of a split reduction takes, and how the blocks meet; splits == 1: all
/// of it.
struct split_part {
  std::int64_t length = 0;  // of a part; the last may be shorter or empty
  int splits = 1;
  int combiners = 1, along = 1;  // the last so many blocks combine their columns, so many at a time
  unsigned* counters = nullptr;  // of each row, or set of columns
  void* states = nullptr;
};

namespace detail {

/// Leaves the block's states for the others, in words that are marked: neither who leaves them nor who looks for them
/// needs a fence. True in the block that comes last, which then has those of all parts, in the order of the parts: the
/// result does not depend on who came when.
template <int P, class Threads, class Accumulators, class Body>
__device__ __forceinline__ bool last_of_row(Body, Accumulators& acc, const split_part& part, std::int64_t numel,
                                            std::int64_t row, int split, const Threads& threads) {
  using reductions = reductions_of_phase<Body, P>;
  const row_states<Body> states{part.counters, numel, part.splits};
  __shared__ bool last;
  if (threads.thread() == 0) {
    reductions::each([&]<int N, class R>(std::integral_constant<int, N>, R) {
      states.template of<N, typename reduction_of<R>::state>(row)[split].write(lanes_of<N>(acc)[0]);
    });
    const meeting_place place{part.counters + row, static_cast<unsigned>(part.splits)};
    last = place.come_unordered() + 1 == place.all;
  }
  __syncthreads();
  if (!last) return false;
  reductions::each([&]<int N, class R>(std::integral_constant<int, N>, R) {
    using fold = reduction_of<R>;
    using slot = marked<typename fold::state>;
    constexpr int together = slot::count <= 2 ? 4 : slot::count <= 4 ? 2 : 1;  // on their way
    slot* const parts = states.template of<N, typename fold::state>(row);
    auto state = fold::init();
    for (int first = threads.thread(); first < part.splits; first += together * threads.count()) {
      slot seen[together];
      const auto each = [&](const auto& use) {
#pragma unroll
        for (int u = 0; u < together; ++u)
          if (const int k = first + u * threads.count(); k < part.splits) use(seen[u], parts[k]);
      };
      each([](slot& now, const slot& there) { now = there.read(); });
      each([&](slot& now, slot& there) {
        while (!now.is_there()) now = there.read();
        state = fold::combine(state, now.value());
        there.clear();
      });
    }
    lanes_of<N>(acc)[0] = state;
  });
  return true;
}

/// All states of phase P of the row into one, of all parts if there are several; false when another block goes on.
template <int P, int Ways, class Threads, class Accumulators, class Body, class Numbers>
__device__ __forceinline__ bool combine_parts(Body, Numbers numbers, Accumulators& acc, const split_part& part,
                                              std::int64_t numel, std::int64_t row, int split, unsigned char* storage,
                                              const Threads& threads) {
  combine_row<P, Ways>(Body{}, numbers, acc, storage + P % 2 * largest_phase<Body, 32>, threads);
  if constexpr (sinter::detail::split_facts<Body>::can_split) {
    if (part.splits > 1) {
      if (!last_of_row<P>(Body{}, acc, part, numel, row, split, threads)) return false;
      combine_row<P, 1>(Body{}, numbers, acc, storage + (P + 1) % 2 * largest_phase<Body, 32>, threads);
    }
  }
  return true;
}

/// The elements [begin, end) of a row that a block walks.
struct looped_part {
  std::int64_t begin = 0, end;
  template <class Tiling, class Threads>
  __device__ __forceinline__ void place(tile<Tiling>& t, typename Tiling::index r, const Threads& threads) const {
    using index = typename Tiling::index;
    t.template place<0>(r + static_cast<index>(threads.thread() * Tiling::width),
                        static_cast<index>(threads.count() * Tiling::width), static_cast<index>(end) - Tiling::width);
  }
};
template <class Body>
__device__ __forceinline__ looped_part part_of_row(std::int64_t rnumel, const split_part& part, int split) {
  if constexpr (sinter::detail::split_facts<Body>::can_split) {
    const std::int64_t begin = split * part.length, end = begin + part.length;
    return {begin, end < rnumel ? end : rnumel};
  } else {
    return {0, rnumel};
  }
}

/// Phase P of a looped row; false when another block goes on.
template <class Body, int Ways, int P, class Tiling, class Frame, class Args, class Threads>
__device__ __forceinline__ bool looped_phase(Frame& f, tile<Tiling>& t, const Args& args, const split_part& part,
                                             std::int64_t row, bool writer, unsigned char* storage, int split,
                                             const Threads& threads) {
  using numbers = std::make_index_sequence<Body::size>;
  using index = typename Tiling::index;
  constexpr bool can_split = sinter::detail::split_facts<Body>::can_split;
  constexpr bool tail = P == body_facts<Body>::num_phases;
  evaluate<rows_of_phase<Body, P>>(f, t, args, writer && (tail || !can_split || split == 0));
  if constexpr (!tail) {
    accumulators<Body, Ways> acc;
    start<P, Ways>(Body{}, numbers{}, acc);
    const looped_part walked = part_of_row<Body>(args.rnumel, part, split);
    const index step = static_cast<index>(threads.count() * Tiling::size), end = static_cast<index>(walked.end);
    index r = static_cast<index>(walked.begin);
    if constexpr (gathers_ahead<Body, Args>) {  // the first tile is where it was placed then
      if (r < end) evaluate_and_step<elements_beside_settled<Body, Args>, P, Ways>(acc, f, t, args);
      r += step;
    }
    for (; r < end; r += step) {
      walked.place(t, r, threads);
      evaluate_and_step<elements_of_phase<Body, P>, P, Ways>(acc, f, t, args);
    }
    if (!combine_parts<P, Ways>(Body{}, numbers{}, acc, part, args.numel, row, split, storage, threads)) return false;
    finish_row_phase<P>(Body{}, numbers{}, acc, f, threads);
  }
  return true;
}
template <class Body, class Tiling, int Ways, class Frame, class Args, std::size_t... P, class Shared = row_threads<0>>
__device__ __forceinline__ void looped_phases(std::index_sequence<P...>, Frame& f, tile<Tiling>& t, const Args& args,
                                              const split_part& part, std::int64_t row, bool writer,
                                              unsigned char* storage, int split = static_cast<int>(blockIdx.y),
                                              const Shared& threads = {}) {
  (looped_phase<Body, Ways, static_cast<int>(P)>(f, t, args, part, row, writer, storage, split, threads) && ...);
}

/// A tile of a row, or of a part of it: blocks of 1024 threads have 64 registers each.
template <int Width, int Items, class Index>
struct looped_tiling : tiling<loop_var::r, loop_var::r, Width, Items, Index> {
  static constexpr int most_waiting = 128;
};

/// Row `row` (past the end: one that writes nothing), or part number `split` of it, walked in tiles once per phase.
/// Where it gathers ahead, it begins the kernel itself.
template <class Body, int Width, int Items, class Index, class Args, class Threads>
__device__ __forceinline__ void looped_row(const Args& args, const split_part& part, std::int64_t row, int split,
                                           unsigned char* storage, const Threads& threads) {
  using tiling = looped_tiling<Width, Items, Index>;
  const bool row_ok = row < args.numel;
  tile<tiling> tile;
  tile.fixed = static_cast<Index>(row_ok ? row : args.numel - 1);
  tile.fixed_ok = row_ok;
  frame<Body, tiling> frame;
  if constexpr (gathers_ahead<Body, Args>)
    begin_ahead<Args>([&] {
      const looped_part walked = part_of_row<Body>(args.rnumel, part, split);
      if (walked.begin >= walked.end) return;
      walked.place(tile, static_cast<Index>(walked.begin), threads);
      evaluate<settled_loads<Body, Args>>(frame, tile, args);
    });
  looped_phases<Body, tiling, row_ways<Body, tiling>>(std::make_index_sequence<body_facts<Body>::num_phases + 1>{},
                                                      frame, tile, args, part, tile.fixed,
                                                      threads.thread() == 0 && row_ok, storage, split, threads);
}

}  // namespace detail

/// One row per blockDim.x threads, walked in tiles, once per phase; blockIdx.y is the part of a split row (one row per
/// block then). Any rnumel that fits Index. (Left to itself the assembler may spill for more blocks at once.)
template <class Body, int Width, int Items, int MaxBlock, class Index, class Args>
__global__ void __launch_bounds__(MaxBlock, 1) reduction_looped(const Args args, const split_part part) {
  if constexpr (!detail::gathers_ahead<Body, Args>) detail::begin_kernel<Args::next_reads_ahead>();
  alignas(16) __shared__ unsigned char storage[2 * detail::largest_phase<Body, 32>];
  const std::int64_t block = blockIdx.x + static_cast<std::int64_t>(gridDim.x) * blockIdx.z;
  detail::looped_row<Body, Width, Items, Index>(args, part, block * blockDim.y + threadIdx.y,
                                                static_cast<int>(blockIdx.y), storage, detail::row_threads<0>{});
}

}  // namespace sinter::cuda
