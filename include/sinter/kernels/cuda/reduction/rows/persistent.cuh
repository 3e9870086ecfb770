// Reductions along memory (orientation row) of rows that stay on chip: the threads of a row keep it in registers, each
// input is read once. Where a thread holds many 16-bit values, it holds them as they lie in memory.
// Which kernel with which shape is choose.hpp's matter, launching launch.cuh's.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/reduction/rows/row_threads.cuh"
#include "sinter/kernels/cuda/reduction/rows/rows_ahead.cuh"
#include "sinter/kernels/cuda/shifted.hpp"

namespace sinter::cuda {

namespace detail {

/// A row that waits in registers from phase to phase.
template <class Body, int Width, int Items, bool Guards = false>
struct held_tiling : tiling<loop_var::r, loop_var::r, Width, Items, int> {
  static constexpr bool anew = computes_anew<Body>(Width * Items);
  static constexpr bool guards = Guards, skips = Guards;
  static constexpr int most_waiting = 64;
  template <int I>
  static constexpr bool packs = anew&& phase_facts<Body>::packs(I);
};

/// The same for a row that may begin and end inside of a vector.
struct shifted_staging {
  unsigned end = 0;  // of the row
  std::int64_t last_row = 0;
  bool others_aligned = true;
};
template <class Body, int Width, int Items>
struct shifted_tiling : held_tiling<Body, Width, Items> {
  static constexpr bool shifted = true;
  using staging = shifted_staging;
};
/// Vectors of one of `threads` where the row begins `before` elements after its first one does; see reduction_shifted.
template <int Full, class Tiling, class Args>
__device__ __forceinline__ void place_shifted(tile<Tiling>& t, const Args& args, int before, bool others_aligned,
                                              int thread, int threads) {
  constexpr int width = Tiling::width;
  const int end = static_cast<int>(args.rnumel);
  t.staging.end = static_cast<unsigned>(end);
  t.staging.last_row = args.numel - 1;
  t.staging.others_aligned = before == 0 && others_aligned;
#pragma unroll
  for (int u = 0; u < Tiling::items; ++u) {
    t.at[u] = thread * width - before + u * (threads * width);
    t.ok[u] = (u > 0 && u < Full) || (t.at[u] >= 0 && t.at[u] + width <= end);
  }
}

/// Does value I wait as it was read for a phase after P?
template <class Frame, int I, int P, class Phases = phase_facts<typename Frame::body_type>>
inline constexpr bool waits_as_read =
    Frame::tiling::anew && (Frame::tiling::template packs<I> || !Phases::reads_halves) && Phases::stays(I, P);
/// Calls visit(value) for those that do.
template <int P, class Frame, class Visit, std::size_t... I>
__device__ __forceinline__ void each_waiting(Frame& f, std::index_sequence<I...>, const Visit& visit) {
  const auto one = [&]<int S>(std::integral_constant<int, S>) {
    if constexpr (waits_as_read<Frame, S, P>) visit(static_cast<typename slot_in<Frame, S>::type&>(f));
  };
  (one(std::integral_constant<int, static_cast<int>(I)>{}), ...);
}

/// Phase P of what registers hold: finish(accumulators) makes results of what each thread has folded, in Ways, and
/// keep(value) has values wait as they were read.
template <int P, class Body, int Ways, class Tiling, class Frame, class Args, class Finish, class Keep>
__device__ __forceinline__ void held_phase(Frame& f, const tile<Tiling>& t, const Args& args, bool writer,
                                           const Finish& finish, const Keep& keep) {
  using numbers = std::make_index_sequence<Body::size>;
  evaluate<rows_of_phase<Body, P>>(f, t, args, writer);
  if constexpr (P < body_facts<Body>::num_phases) {
    accumulators<Body, Ways> acc;
    start<P, Ways>(Body{}, numbers{}, acc);
    evaluate_and_step<elements_of_held_phase<Body, P, Tiling::anew>, P, Ways>(acc, f, t, args);
    finish(acc);
    each_waiting<P>(f, numbers{}, keep);
  }
}
template <class Body, int Ways, int P, class Tiling, class Frame, class Args, class Threads>
__device__ __forceinline__ void persistent_phase(Frame& f, const tile<Tiling>& t, const Args& args, bool writer,
                                                 unsigned char* storage, const Threads& threads) {
  using numbers = std::make_index_sequence<Body::size>;
  held_phase<P, Body, Ways>(
      f, t, args, writer,
      [&](auto& acc) {
        if constexpr (reduces_phase<Body, P>) {
          // Two halves of the storage in turn: a warp may be one phase ahead of another, not two.
          combine_row<P, Ways>(Body{}, numbers{}, acc, storage + P % 2 * largest_phase<Body, 32>, threads);
          finish_row_phase<P>(Body{}, numbers{}, acc, f, threads);
        }
      },
      // blockIdx.z is 0, which the assembler does not know: it is another number after every other phase.
      [](auto& value) { keep_as_read(value, P % 2 == 0 ? blockIdx.z : 0); });
}
/// All phases of the row at which the tile is. `storage`: two halves, storage_of_turn where rows follow each other.
template <class Body, class Tiling, class Frame, class Args, std::size_t... P, class Threads>
__device__ __forceinline__ void persistent_phases(std::index_sequence<P...>, Frame& f, const tile<Tiling>& t,
                                                  const Args& args, bool writer, unsigned char* storage,
                                                  const Threads& threads) {
  (persistent_phase<Body, row_ways<Body, Tiling>, static_cast<int>(P)>(f, t, args, writer, storage, threads), ...);
}

/// Row `row` (past the end: one that writes nothing), all of it in registers.
template <class Body, int Width, int Items, int Full, class Args, class Threads>
__device__ __forceinline__ void persistent_row(const Args& args, std::int64_t row, unsigned char* storage,
                                               const Threads& threads) {
  using tiling = held_tiling<Body, Width, Items, (Full > 0)>;
  const bool row_ok = row < args.numel;
  tile<tiling> tile;
  tile.fixed = static_cast<int>(row_ok ? row : args.numel - 1);
  tile.fixed_ok = row_ok;
  tile.template place<Full>(threads.thread() * Width, threads.count() * Width, static_cast<int>(args.rnumel) - Width);
  frame<Body, tiling> frame;
  persistent_phases<Body, tiling>(std::make_index_sequence<body_facts<Body>::num_phases + 1>{}, frame, tile, args,
                                  threads.thread() == 0 && row_ok, storage, threads);
}

/// The same for rows that are `shift`ed.
template <class Body, int Width, int Items, int Full, class Args, class Threads>
__device__ __forceinline__ void shifted_row(const Args& args, const row_shift& shift, std::int64_t row,
                                            unsigned char* storage, const Threads& threads) {
  using tiling = shifted_tiling<Body, Width, Items>;
  const bool row_ok = row < args.numel;
  tile<tiling> tile;
  tile.fixed = static_cast<int>(row_ok ? row : args.numel - 1);
  tile.fixed_ok = row_ok;
  place_shifted<Full>(tile, args, lead_of_row<Width>(shift, tile.fixed), shift.others_aligned, threads.thread(),
                      threads.count());
  frame<Body, tiling> frame;
  persistent_phases<Body, tiling>(std::make_index_sequence<body_facts<Body>::num_phases + 1>{}, frame, tile, args,
                                  threads.thread() == 0 && row_ok, storage, threads);
}

}  // namespace detail

/// One row per blockDim.x threads (a power of two up to 32, or a multiple of 32), all of it in registers. Requires
/// 0 < rnumel <= threads * Items * Width, no less than that for the first Full items. Threads is 0 when known at launch
/// only.
template <class Body, int Width, int Items, int Threads, int MaxBlock, int MinBlocks, int Full, class Args>
__global__ void __launch_bounds__(MaxBlock, MinBlocks) reduction_persistent(const Args args) {
  detail::begin_with_rows<Body>(args, detail::row_threads<Threads>{}, detail::asked_held);
  alignas(16) __shared__ unsigned char storage[2 * detail::largest_phase<Body, 32>];
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  detail::persistent_row<Body, Width, Items, Full>(args, row, storage, detail::row_threads<Threads>{});
}

/// The same for rows of which shifted_facts<Body>::find says how they are shifted: rnumel may be up to Width - 1 less
/// than what the threads hold.
template <class Body, int Width, int Items, int Threads, int MaxBlock, int MinBlocks, int Full, class Args>
__global__ void __launch_bounds__(MaxBlock, MinBlocks)
    reduction_shifted(const Args args, const detail::row_shift shift) {
  detail::begin_kernel<Args::next_reads_ahead>();  // no register is left to ask
  alignas(16) __shared__ unsigned char storage[2 * detail::largest_phase<Body, 32>];
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  detail::shifted_row<Body, Width, Items, Full>(args, shift, row, storage, detail::row_threads<Threads>{});
}

}  // namespace sinter::cuda
