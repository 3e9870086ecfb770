// Rows that are walked, few of them: where a multiprocessor would have none, blocks share a row, tile by tile in turn,
// through all its phases, and meet between. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/launch.cuh"
#include "sinter/kernels/cuda/reduction/rows/looped.cuh"
#include "sinter/kernels/cuda/reduction/rows/streamed.cuh"

namespace sinter::cuda {

namespace detail {

/// The threads of all blocks of a team share a row.
template <class Body>
struct looped_team {
  const stream_share& share;
  std::int64_t rows;

  __device__ __forceinline__ int row() const { return static_cast<int>(blockIdx.x) / share.parts; }
  __device__ __forceinline__ int count() const { return share.parts * static_cast<int>(blockDim.x); }
  __device__ __forceinline__ int thread() const {
    return static_cast<int>(blockIdx.x) % share.parts * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x);
  }
  static __device__ __forceinline__ int lanes() { return 32; }
};
/// Each phase uses both halves of the storage.
template <int P, int Ways, class Accumulators, class... S, std::size_t... I>
__device__ __forceinline__ void combine_row(body<S...> b, std::index_sequence<I...> numbers, Accumulators& acc,
                                            unsigned char* storage, const looped_team<body<S...>>& threads) {
  using B = body<S...>;
  if constexpr (reduces_phase<B, P>) {
    constexpr int half = largest_phase<B, 32>;
    constexpr row_threads<0> own{};
    unsigned char* const halves = storage - P % 2 * half;
    const team_states<B> states{threads.share, threads.rows};
    combine_row<P, Ways>(b, numbers, acc, halves, own);
    exchange_in_team<P>(b, acc, states, threads.row(), own);
    combine_row<P, 1>(b, numbers, acc, halves + half, own);
    if (!reduces_later<B, P> && threadIdx.x < 32) states.leave(threads.row());
  }
}

/// Threads of a multiprocessor.
inline constexpr int looped_team_size = 1024;

}  // namespace detail

/// One row per team of share.parts blocks.
template <class Body, int Width, int Items, int MaxBlock, class Index, class Args>
__global__ void __launch_bounds__(MaxBlock, detail::looped_team_size / MaxBlock)
    reduction_looped_teams(const Args args, const stream_share share) {
  detail::begin_kernel<Args::next_reads_ahead>();
  alignas(16) __shared__ unsigned char storage[2 * detail::largest_phase<Body, 32>];
  const detail::looped_team<Body> threads{share, args.numel};
  detail::looped_row<Body, Width, Items, Index>(args, {args.rnumel}, threads.row(), 0, storage, threads);
}

namespace detail {

/// As many blocks to a row as run at once. False: one, for rows are not so few that multiprocessors would be idle, or
/// are short.
template <int Width, int Items, int MaxBlock, class Index, class... S, class Args>
bool launch_looped_teams(body<S...>, const Args& args, kernel_memory& memory, cudaStream_t stream, const char* name) {
  using shared = sinter::detail::shared_row_facts<body<S...>>;
  const std::int64_t blocks = limits_of_device(name).multiprocessors * (looped_team_size / MaxBlock),
                     most = sinter::detail::most_parts(args.numel, args.rnumel, shared::row_bytes),
                     each = args.numel < blocks ? blocks / args.numel : 1, parts = most < each ? most : each;
  if (parts <= 1) return false;
  stream_share share;
  share.counters = memory.counters(stream, name);
  share.parts = static_cast<int>(parts), share.teams = static_cast<int>(args.numel);
  launch(start_rule::together, &reduction_looped_teams<body<S...>, Width, Items, MaxBlock, Index, Args>,
         dim3(static_cast<unsigned>(parts * args.numel)), dim3(MaxBlock), 0, stream, name, args, share);
  return true;
}

/// Few long rows of several phases that cannot be streamed. False: it was not launched.
template <class Body, int Width, long Rnumel, class Args>
bool share_walked(const Args& args, bool fits, kernel_memory& memory, cudaStream_t stream, const char* name) {
  constexpr bool can = sinter::detail::shares_rows<Body, orientation::row>() && !gathers_ahead<Body, Args> &&
                       !sinter::detail::channel_facts<Body>::has_phases &&
                       (Rnumel < 0 || Rnumel >= 2 * sinter::detail::split_row_part);
  if constexpr (can && Width > 1)
    if (fits) return launch_looped_teams<Width, 2, 512, int>(Body{}, args, memory, stream, name);
  if constexpr (can) return launch_looped_teams<1, 4, 512, std::int64_t>(Body{}, args, memory, stream, name);
  return false;
}

}  // namespace detail

}  // namespace sinter::cuda
