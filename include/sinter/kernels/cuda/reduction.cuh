// Reductions along memory (orientation row): the threads of a row walk r together. Persistent: each thread keeps its
// part of the row in registers, every input is read once. Looped: every phase walks the row again; a body of one phase
// may split a long row over blocks, the last of which combines.
// Which kernel with which shape is choose.hpp's matter, launching reduction_launch.cuh's.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/combine.cuh"

namespace sinter::cuda {

/// The part of the reduced space that one block of a split reduction takes; splits == 1: all of it.
struct split_part {
  void* workspace;
  std::int64_t length;  // of a part; the last may be shorter or empty
  int splits;
};

namespace detail {

/// The threads that share a row: blockDim.x of them, or Threads when that is known.
template <int Threads>
struct row_threads {
  static __device__ __forceinline__ int count() { return Threads > 0 ? Threads : static_cast<int>(blockDim.x); }
  static __device__ __forceinline__ bool is_first() { return threadIdx.x == 0; }
  static __device__ __forceinline__ int lanes() { return count() < 32 ? count() : 32; }
  static __device__ __forceinline__ int warps() { return count() / 32; }
};

/// Lanes of a warp combine; then one per warp leaves the warp's state for the others.
template <class Threads, bool Wanted, int P, int I, class S, int Ways, class Body, class Accumulators>
__device__ __forceinline__ void combine_lanes(Accumulators& acc, unsigned char* storage) {
  if constexpr (Wanted) {
    using fold = reduction_of<S>;
    auto& states = lanes_of<I>(acc);
#pragma unroll
    for (int k = 1; k < Ways; ++k) states[0] = fold::combine(states[0], states[k]);
#pragma unroll
    for (int offset = Threads::lanes() / 2; offset > 0; offset /= 2)
      states[0] = fold::combine(states[0], from_lane_xor(states[0], offset));
    if (Threads::count() > 32 && threadIdx.x % 32 == 0) {
      auto* partial = reinterpret_cast<typename fold::state*>(storage + phase_offset<Body, P, I, 32>);
      partial[static_cast<int>(threadIdx.y) * Threads::warps() + static_cast<int>(threadIdx.x) / 32] = states[0];
    }
  }
}
/// Every warp combines the warps' states for itself: no second synchronisation.
template <class Threads, bool Wanted, int P, int I, class S, class Body, class Accumulators>
__device__ __forceinline__ void combine_warps(Accumulators& acc, const unsigned char* storage) {
  if constexpr (Wanted) {
    using fold = reduction_of<S>;
    auto& state = lanes_of<I>(acc)[0];
    const auto* partial = reinterpret_cast<const typename fold::state*>(storage + phase_offset<Body, P, I, 32>) +
                          static_cast<int>(threadIdx.y) * Threads::warps();
    int slots = 1;
    while (slots < Threads::warps()) slots *= 2;
    const int slot = static_cast<int>(threadIdx.x) & (slots - 1);
    state = slot < Threads::warps() ? partial[slot] : fold::init();
#pragma unroll
    for (int offset = slots / 2; offset > 0; offset /= 2) state = fold::combine(state, from_lane_xor(state, offset));
  }
}
template <class Threads, bool Wanted, int I, class S, class Accumulators, class Frame>
__device__ __forceinline__ void finish_row(Accumulators& acc, Frame& f) {
  if constexpr (Wanted) {
    using fold = reduction_of<S>;
    auto result = fold::finish(lanes_of<I>(acc)[0]);
    if constexpr (!fold::same_in_all_lanes) result = from_first_lane(result, Threads::lanes());
    lanes_of<I>(f)[0] = result;
  }
}

/// All partial states of phase P into one, the same in all threads of the row.
template <class Threads, int P, int Ways, class Accumulators, class... S, std::size_t... I>
__device__ __forceinline__ void combine_row(body<S...>, std::index_sequence<I...>, Accumulators& acc,
                                            unsigned char* storage) {
  using B = body<S...>;
  (combine_lanes<Threads, reduces_in<B, P, I>, P, static_cast<int>(I), S, Ways, B>(acc, storage), ...);
  if (Threads::count() > 32) {
    __syncthreads();
    (combine_warps<Threads, reduces_in<B, P, I>, P, static_cast<int>(I), S, B>(acc, storage), ...);
  }
}
template <class Threads, int P, class Accumulators, class Frame, class... S, std::size_t... I>
__device__ __forceinline__ void finish_row_phase(body<S...>, std::index_sequence<I...>, Accumulators& acc, Frame& f) {
  (finish_row<Threads, reduces_in<body<S...>, P, I>, static_cast<int>(I), S>(acc, f), ...);
}

template <bool Wanted, int I, class S, class Body, class Accumulators>
__device__ __forceinline__ void publish_state(Accumulators& acc, const split_part& part, std::int64_t numel,
                                              std::int64_t slot) {
  if constexpr (Wanted) {
    auto* states = reinterpret_cast<typename reduction_of<S>::state*>(
        static_cast<unsigned char*>(part.workspace) + sinter::detail::split_facts<Body>::offset(I, numel, part.splits));
    states[slot] = lanes_of<I>(acc)[0];
  }
}
template <bool Wanted, int I, class S, class Body, class Accumulators>
__device__ __forceinline__ void collect_states(Accumulators& acc, const split_part& part, std::int64_t numel,
                                               std::int64_t row, int thread, int threads) {
  if constexpr (Wanted) {
    using fold = reduction_of<S>;
    const auto* states =
        reinterpret_cast<const typename fold::state*>(static_cast<const unsigned char*>(part.workspace) +
                                                      sinter::detail::split_facts<Body>::offset(I, numel, part.splits));
    auto state = fold::init();
    for (int k = thread; k < part.splits; k += threads)
      state = fold::combine(state, read_shared_by_blocks(states + row * part.splits + k));
    lanes_of<I>(acc)[0] = state;
  }
}

/// Leaves the block's states in the workspace; true in the block that comes last, which then has those of all parts, in
/// the order of the parts: the result does not depend on who came when.
template <class Threads, class Accumulators, class... S, std::size_t... I>
__device__ __forceinline__ bool last_of_row(body<S...>, std::index_sequence<I...>, Accumulators& acc,
                                            const split_part& part, std::int64_t numel, std::int64_t row, int split) {
  using B = body<S...>;
  __shared__ bool last;
  if (threadIdx.x == 0) {
    (publish_state<reduction_of<S>::is, static_cast<int>(I), S, B>(acc, part, numel, row * part.splits + split), ...);
    __threadfence();
    const unsigned before = atomicAdd(static_cast<unsigned*>(part.workspace) + row, 1u);
    last = before + 1 == static_cast<unsigned>(part.splits);
    __threadfence();
  }
  __syncthreads();
  if (!last) return false;
  (collect_states<reduction_of<S>::is, static_cast<int>(I), S, B>(acc, part, numel, row, static_cast<int>(threadIdx.x),
                                                                  Threads::count()),
   ...);
  return true;
}

/// Independent states per thread: more hide the latency of a step, fewer save registers when states are large or many.
template <class Body, int Lanes>
inline constexpr int row_ways = [] {
  const int words = largest_phase<Body, 1> / 4;
  int ways = words <= 4 ? 4 : words <= 8 ? 2 : 1;
  while (ways > Lanes) ways /= 2;
  return ways;
}();

template <class Body, class Tiling, int Threads, bool Exact, int Ways, int P, class Frame, class Args>
__device__ __forceinline__ void persistent_phase(Frame& f, const tile<Tiling>& t, const Args& args, bool writer,
                                                 unsigned char* storage) {
  using numbers = std::make_index_sequence<Body::size>;
  using threads = row_threads<Threads>;
  evaluate<rows_of_phase<Body, P>>(f, t, args, writer);
  if constexpr (P < body_facts<Body>::num_phases) {
    accumulators<Body, Ways> acc;
    start<P, Ways>(Body{}, numbers{}, acc);
    evaluate<elements_of_phase<Body, P, true>>(f, t, args);
    step<P, Ways>(Body{}, numbers{}, acc, f, t);
    // Two halves of the storage in turn: a warp may be one phase ahead of another, not two.
    combine_row<threads, P, Ways>(Body{}, numbers{}, acc, storage + P % 2 * largest_phase<Body, 32>);
    finish_row_phase<threads, P>(Body{}, numbers{}, acc, f);
  }
}
template <class Body, class Tiling, int Threads, bool Exact, int Ways, class Frame, class Args, std::size_t... P>
__device__ __forceinline__ void persistent_phases(std::index_sequence<P...>, Frame& f, const tile<Tiling>& t,
                                                  const Args& args, bool writer, unsigned char* storage) {
  (persistent_phase<Body, Tiling, Threads, Exact, Ways, static_cast<int>(P)>(f, t, args, writer, storage), ...);
}

}  // namespace detail

/// One row per blockDim.x threads (a power of two up to 32, or a multiple of 32), all of it in registers. Requires
/// 0 < rnumel <= threads * Items * Width, equal to it if Exact. Threads is 0 when known at launch only.
template <class Body, int Width, int Items, int Threads, int MaxBlock, bool Exact, class Args>
__global__ void __launch_bounds__(MaxBlock) reduction_persistent(const Args args) {
  using tiling = detail::tiling<loop_var::r, loop_var::r, Width, Items, int>;
  constexpr int ways = detail::row_ways<Body, tiling::size>;
  alignas(16) __shared__ unsigned char storage[2 * detail::largest_phase<Body, 32>];

  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  const bool row_ok = row < args.numel;
  detail::tile<tiling> tile;
  tile.fixed = static_cast<int>(row_ok ? row : args.numel - 1);
  tile.fixed_ok = row_ok;
  const int threads = detail::row_threads<Threads>::count();
  tile.template place<Exact>(static_cast<int>(threadIdx.x) * Width, threads * Width,
                             static_cast<int>(args.rnumel) - Width);

  detail::frame<Body, tiling> frame;
  detail::persistent_phases<Body, tiling, Threads, Exact, ways>(
      std::make_index_sequence<body_facts<Body>::num_phases + 1>{}, frame, tile, args, threadIdx.x == 0 && row_ok,
      storage);
}

namespace detail {

/// Phase P of a looped row; false when another block goes on.
template <class Body, class Tiling, int Ways, int P, class Frame, class Args>
__device__ __forceinline__ bool looped_phase(Frame& f, tile<Tiling>& t, const Args& args, const split_part& part,
                                             std::int64_t row, bool writer, unsigned char* storage) {
  using numbers = std::make_index_sequence<Body::size>;
  using threads = row_threads<0>;
  using index = typename Tiling::index;
  constexpr bool can_split = sinter::detail::split_facts<Body>::can_split;
  constexpr bool tail = P == body_facts<Body>::num_phases;
  evaluate<rows_of_phase<Body, P>>(f, t, args, writer && (tail || !can_split || blockIdx.y == 0));
  if constexpr (!tail) {
    accumulators<Body, Ways> acc;
    start<P, Ways>(Body{}, numbers{}, acc);
    std::int64_t first = 0, end = args.rnumel;
    if constexpr (can_split) {
      first = static_cast<std::int64_t>(blockIdx.y) * part.length;
      end = first + part.length < end ? first + part.length : end;
    }
    const index stride = static_cast<index>(threads::count() * Tiling::width);
    for (index r = static_cast<index>(first); r < static_cast<index>(end); r += stride * Tiling::items) {
      t.template place<false>(r + static_cast<index>(threadIdx.x * Tiling::width), stride,
                              static_cast<index>(end) - Tiling::width);
      evaluate<elements_of_phase<Body, P, false>>(f, t, args);
      step<P, Ways>(Body{}, numbers{}, acc, f, t);
    }
    combine_row<threads, P, Ways>(Body{}, numbers{}, acc, storage + P % 2 * largest_phase<Body, 32>);
    if constexpr (can_split) {
      if (part.splits > 1) {
        if (!last_of_row<threads>(Body{}, numbers{}, acc, part, args.numel, row, static_cast<int>(blockIdx.y)))
          return false;
        combine_row<threads, P, 1>(Body{}, numbers{}, acc, storage + (P + 1) % 2 * largest_phase<Body, 32>);
      }
    }
    finish_row_phase<threads, P>(Body{}, numbers{}, acc, f);
  }
  return true;
}
template <class Body, class Tiling, int Ways, class Frame, class Args, std::size_t... P>
__device__ __forceinline__ void looped_phases(std::index_sequence<P...>, Frame& f, tile<Tiling>& t, const Args& args,
                                              const split_part& part, std::int64_t row, bool writer,
                                              unsigned char* storage) {
  (looped_phase<Body, Tiling, Ways, static_cast<int>(P)>(f, t, args, part, row, writer, storage) && ...);
}

}  // namespace detail

/// One row per blockDim.x threads, walked in tiles, once per phase; blockIdx.y is the part of a split row (one row per
/// block then). Any rnumel that fits Index.
template <class Body, int Width, int Items, int MaxBlock, class Index, class Args>
__global__ void __launch_bounds__(MaxBlock) reduction_looped(const Args args, const split_part part) {
  using tiling = detail::tiling<loop_var::r, loop_var::r, Width, Items, Index>;
  constexpr int ways = detail::row_ways<Body, tiling::size>;
  alignas(16) __shared__ unsigned char storage[2 * detail::largest_phase<Body, 32>];

  const std::int64_t block = blockIdx.x + static_cast<std::int64_t>(gridDim.x) * blockIdx.z;
  const std::int64_t row = block * blockDim.y + threadIdx.y;
  const bool row_ok = row < args.numel;
  detail::tile<tiling> tile;
  tile.fixed = static_cast<Index>(row_ok ? row : args.numel - 1);
  tile.fixed_ok = row_ok;

  detail::frame<Body, tiling> frame;
  detail::looped_phases<Body, tiling, ways>(std::make_index_sequence<body_facts<Body>::num_phases + 1>{}, frame, tile,
                                            args, part, tile.fixed, threadIdx.x == 0 && row_ok, storage);
}

}  // namespace sinter::cuda
