// Reductions across memory (orientation column): the threads of a warp run along x, the threads of a column divide r
// among them and combine through shared memory. Every phase walks r again; a body of one phase may split a long column
// over blocks, the last of which combines.
// Launching, and the choice among variants, is launch.cuh's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/combine.cuh"
#include "sinter/kernels/cuda/overlap.cuh"
#include "sinter/kernels/cuda/reduction/columns/column_parts.cuh"
#include "sinter/kernels/cuda/reduction/columns/column_shift.hpp"
#include "sinter/kernels/cuda/reduction/rows/looped.cuh"
#include "sinter/kernels/cuda/settled.cuh"

namespace sinter::cuda {

namespace detail {

/// Columns that one thread takes: as wide as accesses allow, as long as a block's states fit its shared memory.
template <class Body>
constexpr int column_width(long static_numel) {
  constexpr int bytes = column_block * largest_state<Body>;
  int width = access_facts<Body>::vector_width(loop_var::x, static_numel);
  while (width > 1 && width * bytes > 32768) width /= 2;
  return width;
}

/// Rows of so many loads that one thread loads at a time: fewer where wide ones have results for each element, too,
/// and of two wide ones of 16 bits as many as of one.
template <class Body>
constexpr int column_items_of(int loads, int width) {
  if (width >= 8 && loads <= 2) return body_facts<Body>::num_phases > 1 ? 2 : 4;
  return width == 1 ? (loads > 2 ? 4 : 8) : loads >= 4 ? 1 : loads >= 2 ? 2 : 4;
}
template <class Body, int Width>
inline constexpr int column_items = column_items_of<Body>(phase_facts<Body>::loads(loop_var::x, Width), Width);

/// The states of a block's columns: [lane of the vector][thread].
template <class State>
struct column_states {
  State* at;
  __device__ __forceinline__ State& of(int lane, int thread) const { return at[lane * column_block + thread]; }
};

/// The threads of a column, `along` apart, combine their states: those of the first one count afterwards.
template <class Fold, int Width>
__device__ __forceinline__ void combine_column(typename Fold::state (&states)[Width], int along,
                                               unsigned char* storage) {
  const column_states<typename Fold::state> shared{reinterpret_cast<typename Fold::state*>(storage)};
  const int thread = static_cast<int>(threadIdx.x), deep = column_block / along, y = thread / along;
  if (deep == 1) return;
#pragma unroll
  for (int j = 0; j < Width; ++j) shared.of(j, thread) = states[j];
  for (int half = deep / 2; half > 0; half /= 2) {
    __syncthreads();
    if (y < half) {
#pragma unroll
      for (int j = 0; j < Width; ++j)
        shared.of(j, thread) = Fold::combine(shared.of(j, thread), shared.of(j, thread + half * along));
    }
  }
  __syncthreads();
#pragma unroll
  for (int j = 0; j < Width; ++j) states[j] = shared.of(j, thread % along);
  __syncthreads();  // the next reduction uses the same storage
}

template <bool Wanted, int I, class S, int Width, class Accumulators>
__device__ __forceinline__ void combine_column_of(Accumulators& acc, int along, unsigned char* storage) {
  if constexpr (Wanted && has_state<S>) combine_column<reduction_of<S>, Width>(lanes_of<I>(acc), along, storage);
}
template <int P, int Width, class Accumulators, class... S, std::size_t... I>
__device__ __forceinline__ void combine_columns(body<S...>, std::index_sequence<I...>, Accumulators& acc, int along,
                                                unsigned char* storage) {
  (combine_column_of<reduces_in<body<S...>, P, I>, static_cast<int>(I), S, Width>(acc, along, storage), ...);
}
template <int P, int Width, class Accumulators, class Frame, class... S, std::size_t... I>
__device__ __forceinline__ void finish_columns(body<S...>, std::index_sequence<I...>, Accumulators& acc, Frame& f) {
  (finish_column_of<reduces_in<body<S...>, P, I>, static_cast<int>(I), S, Width>(acc, f), ...);
}

/// Phase P; false when the last blocks go on. What is folded ahead begins the kernel.
template <class Body, class Tiling, int P, class Frame, class Args>
__device__ __forceinline__ bool column_phase(Frame& f, tile<Tiling>& t, const Args& args, const split_part& part,
                                             bool writer, int along, unsigned char* storage, int split) {
  using numbers = std::make_index_sequence<Body::size>;
  using index = typename Tiling::index;
  constexpr int width = Tiling::width;
  constexpr bool can_split = sinter::detail::split_facts<Body>::can_split;
  constexpr bool tail = P == body_facts<Body>::num_phases, ahead = !tail && folds_ahead<Args>;
  const bool writes = writer && (tail || !can_split || part.splits == 1);
  if constexpr (!ahead) evaluate<rows_of_phase<Body, P>>(f, t, args, writes);
  if constexpr (!tail) {
    accumulators<Body, width> acc;
    start<P, width>(Body{}, numbers{}, acc);
    std::int64_t first = 0, end = args.rnumel;
    if constexpr (can_split) {
      first = split * part.length;
      end = first + part.length < end ? first + part.length : end;
    }
    const index stride = static_cast<index>(column_block / along);
    const index mine = static_cast<index>(static_cast<int>(threadIdx.x) / along);
    const auto walk = [&] {
      for (index r = static_cast<index>(first); r < static_cast<index>(end); r += stride * Tiling::items) {
        t.template place<0>(r + mine, stride, static_cast<index>(end) - 1);
        evaluate_and_step<elements_of_phase<Body, P>, P, width>(acc, f, t, args);
      }
    };
    if constexpr (ahead) {
      begin_ahead<Args>([&] {
        evaluate<rows_before_fold<Body, Args, false>>(f, t, args, false);
        walk();
      });
      evaluate<rows_before_fold<Body, Args, true>>(f, t, args, writes);
    } else {
      walk();
    }
    combine_columns<P, width>(Body{}, numbers{}, acc, along, storage);
    if constexpr (can_split) {
      if (part.splits > 1) {
        if (writer) publish_columns<width>(Body{}, numbers{}, acc, part, args.numel, t.fixed, split);
        return false;
      }
    }
    finish_columns<P, width>(Body{}, numbers{}, acc, f);
  }
  return true;
}
template <class Body, class Tiling, class Frame, class Args, std::size_t... P>
__device__ __forceinline__ void column_phases(std::index_sequence<P...>, Frame& f, tile<Tiling>& t, const Args& args,
                                              const split_part& part, bool writer, int along, unsigned char* storage,
                                              int split) {
  (column_phase<Body, Tiling, static_cast<int>(P)>(f, t, args, part, writer, along, storage, split) && ...);
}

template <class Body, int Width>
inline constexpr int column_storage = column_block* Width* largest_state<Body>;

/// The `columns`-th set of `along` times Width columns, or part number `split` of them.
template <class Body, int Width, int Items, class Index, class Args>
__device__ __forceinline__ void reduce_columns_of(const Args& args, const split_part& part, int along,
                                                  std::int64_t columns, int split, unsigned char* storage) {
  using tiling = tiling<loop_var::x, loop_var::r, Width, Items, Index>;
  const std::int64_t x = (columns * along + static_cast<int>(threadIdx.x) % along) * Width;
  const bool x_ok = x <= args.numel - Width;
  tile<tiling> tile;
  tile.fixed = static_cast<Index>(x_ok ? x : args.numel - Width);
  tile.fixed_ok = x_ok;
  frame<Body, tiling> frame;
  column_phases<Body, tiling>(std::make_index_sequence<body_facts<Body>::num_phases + 1>{}, frame, tile, args, part,
                              x_ok && static_cast<int>(threadIdx.x) < along, along, storage, split);
  if constexpr (sinter::detail::split_facts<Body>::can_split) {
    if (part.splits > 1) {
      const std::int64_t first = columns * along * Width, end = first + along * Width;
      meet_columns(Body{}, std::make_index_sequence<Body::size>{}, args, part, args.numel,
                   {columns, first, end < args.numel ? end : args.numel}, static_cast<int>(threadIdx.x), storage);
    }
  }
}

}  // namespace detail

/// Each block: `along` (a power of two) times Width columns; blockIdx.y is the part of split columns.
template <class Body, int Width, int Items, class Index, class Args>
__global__ void __launch_bounds__(detail::column_block, sizeof(Index) == 8 ? 1 : 0)
    reduction_column(const Args args, const split_part part, const int along) {
  if constexpr (!detail::folds_ahead<Args>) detail::begin_kernel<Args::next_reads_ahead>();
  alignas(16) __shared__ unsigned char storage[detail::column_storage<Body, Width>];
  detail::reduce_columns_of<Body, Width, Items, Index>(args, part, along, blockIdx.x, static_cast<int>(blockIdx.y),
                                                       storage);
}

}  // namespace sinter::cuda
