// What blocks that share columns have left in the workspace becomes the columns' results, within the same launch: the
// last blocks to come wait for each other and divide the columns among them. Every column's states are combined in one
// order, whoever came when.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/combine.cuh"
#include "sinter/kernels/cuda/launch.cuh"
#include "sinter/kernels/cuda/reduction_looped.cuh"

namespace sinter::cuda::detail {

/// The last `blocks` blocks, no more than can run at once, combine `along` columns at a time with `threads` threads.
/// Both are powers of two.
struct column_meeting {
  int blocks = 0, along = 1, threads = 1;
};

/// For `parts` states of each column, that all blocks of a launch have left; its first word counts those that have
/// come.
inline column_meeting meet(std::int64_t numel, std::int64_t parts, int block, void* workspace, cudaStream_t stream,
                           const char* name) {
  check(cudaMemsetAsync(workspace, 0, 4, stream), "cudaMemsetAsync", name);
  column_meeting m;
  while (2 * m.threads <= block) m.threads *= 2;
  m.along = m.threads;  // so that a thread has sixteen states to combine
  while (m.along > 8 && (m.threads / m.along * 16 < parts || m.along >= 2 * numel)) m.along /= 2;
  const std::int64_t pieces = (numel + m.along - 1) / m.along, most = limits_of_device(name).multiprocessors;
  m.blocks = static_cast<int>(pieces < most ? pieces : most);
  return m;
}

template <bool Wanted, int I, class S, int Width, class Body, class Accumulators>
__device__ __forceinline__ void publish_column(Accumulators& acc, const split_part& part, std::int64_t numel,
                                               std::int64_t x, int split) {
  if constexpr (Wanted) {
    auto* states = reinterpret_cast<typename reduction_of<S>::state*>(
        static_cast<unsigned char*>(part.workspace) + sinter::detail::split_facts<Body>::offset(I, numel, part.splits));
#pragma unroll
    for (int j = 0; j < Width; ++j) states[split * numel + x + j] = lanes_of<I>(acc)[j];
  }
}
/// The states of parts first, first + stride, …
template <bool Wanted, int I, class S, int Width, class Body, class Accumulators>
__device__ __forceinline__ void collect_column(Accumulators& acc, const split_part& part, std::int64_t numel,
                                               std::int64_t x, int first, int stride) {
  if constexpr (Wanted) {
    using fold = reduction_of<S>;
    const auto* states =
        reinterpret_cast<const typename fold::state*>(static_cast<const unsigned char*>(part.workspace) +
                                                      sinter::detail::split_facts<Body>::offset(I, numel, part.splits));
    auto& mine = lanes_of<I>(acc);
#pragma unroll
    for (int j = 0; j < Width; ++j) mine[j] = fold::init();
    // As many parts at a time are on their way as 16 registers hold.
    constexpr int words = Width * static_cast<int>(sizeof(mine[0]) + 3) / 4, at_once = words < 16 ? 16 / words : 1;
    for (int k = first; k < part.splits; k += stride * at_once) {
      typename fold::state in[at_once][Width];
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
#pragma unroll
        for (int j = 0; j < Width; ++j) {
          in[i][j] = fold::init();
          if (k + i * stride < part.splits)
            in[i][j] = read_shared_by_blocks(states + static_cast<std::int64_t>(k + i * stride) * numel + x + j);
        }
      }
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
#pragma unroll
        for (int j = 0; j < Width; ++j) mine[j] = fold::combine(mine[j], in[i][j]);
      }
    }
  }
}
/// What `deep` threads of a column, `along` apart, have becomes what the first of them has.
template <bool Wanted, int I, class S, class Accumulators>
__device__ __forceinline__ void combine_collected(Accumulators& acc, int thread, int along, int deep,
                                                  unsigned char* storage) {
  if constexpr (Wanted) {
    using fold = reduction_of<S>;
    auto& state = lanes_of<I>(acc)[0];
    auto* shared = reinterpret_cast<typename fold::state*>(storage);
    for (int half = deep / 2; half > 0; half /= 2) {
      __syncthreads();
      if (thread >= half * along && thread < 2 * half * along) shared[thread] = state;
      __syncthreads();
      if (thread < half * along) state = fold::combine(state, shared[thread + half * along]);
    }
  }
}

template <int Width, class Accumulators, class... S, std::size_t... I>
__device__ __forceinline__ void publish_columns(body<S...>, std::index_sequence<I...>, Accumulators& acc,
                                                const split_part& part, std::int64_t numel, std::int64_t x, int split) {
  using B = body<S...>;
  (publish_column<reduction_of<S>::is, static_cast<int>(I), S, Width, B>(acc, part, numel, x, split), ...);
}
template <int Width, class Accumulators, class... S, std::size_t... I>
__device__ __forceinline__ void collect_columns(body<S...>, std::index_sequence<I...>, Accumulators& acc,
                                                const split_part& part, std::int64_t numel, std::int64_t x, int first,
                                                int stride) {
  using B = body<S...>;
  (collect_column<reduction_of<S>::is, static_cast<int>(I), S, Width, B>(acc, part, numel, x, first, stride), ...);
}

/// What follows from the states of one column.
template <class Accumulators, class Args, class... S, std::size_t... I>
__device__ __forceinline__ void finish_single_column(body<S...>, std::index_sequence<I...>, const Args& args,
                                                     Accumulators& acc, std::int64_t x) {
  using Body = body<S...>;
  using single = tiling<loop_var::x, loop_var::r, 1, 1, std::int64_t>;
  tile<single> tile;
  tile.fixed = x;
  frame<Body, single> f;
  evaluate<rows_of_phase<Body, 0>>(f, tile, args, true);
  const auto finish = [&]<int N, class Reduction>() {
    if constexpr (Reduction::is) lanes_of<N>(f)[0] = Reduction::finish(lanes_of<N>(acc)[0]);
  };
  (finish.template operator()<static_cast<int>(I), reduction_of<S>>(), ...);
  evaluate<rows_of_phase<Body, 1>>(f, tile, args, true);
}

/// How many blocks have come before this one that are among the last; below zero: it is not.
__device__ __forceinline__ int come_to_meeting(void* workspace, int thread, const column_meeting& meeting) {
  __shared__ int order;
  __syncthreads();
  if (thread == 0) {
    __threadfence();  // for all that the block has written
    auto* const counter = static_cast<unsigned*>(workspace);
    const unsigned all = gridDim.x * gridDim.y;
    order = static_cast<int>(atomicAdd(counter, 1u)) - static_cast<int>(all) + meeting.blocks;
    unsigned here = 0;
    while (order >= 0 && here < all)
      asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(here) : "l"(counter) : "memory");
  }
  __syncthreads();
  return order;
}

/// The end of a launch whose blocks have left the states of `numel` columns.
template <class Args, class... S, std::size_t... I>
__device__ __forceinline__ void meet_columns(body<S...> body, std::index_sequence<I...> numbers, const Args& args,
                                             const split_part& part, std::int64_t numel, int thread,
                                             const column_meeting& meeting, unsigned char* storage) {
  using B = sinter::body<S...>;
  const int order = come_to_meeting(part.workspace, thread, meeting);
  if (order < 0) return;
  const int all = static_cast<int>(gridDim.x * gridDim.y), blocks = meeting.blocks < all ? meeting.blocks : all;
  const int mine = meeting.blocks < all ? order : order - (meeting.blocks - all);
  const int along = meeting.along, deep = meeting.threads / along;
  for (std::int64_t first = static_cast<std::int64_t>(mine) * along; first < numel;
       first += static_cast<std::int64_t>(blocks) * along) {
    const std::int64_t x = first + thread % along;
    const bool ok = x < numel;
    accumulators<B, 1> acc;
    if (thread < meeting.threads)
      collect_columns<1>(body, numbers, acc, part, numel, ok ? x : numel - 1, thread / along, deep);
    (combine_collected<reduction_of<S>::is, static_cast<int>(I), S>(acc, thread, along, deep, storage), ...);
    if (ok && thread < along) finish_single_column(body, numbers, args, acc, x);
  }
}

}  // namespace sinter::cuda::detail
