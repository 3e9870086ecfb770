// Rows that are walked, few of them: the blocks of a cluster share one, tile by tile in turn, through all its phases.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/base/atomic_number.hpp"
#include "sinter/kernels/cuda/cluster.cuh"
#include "sinter/kernels/cuda/cluster_launch.cuh"
#include "sinter/kernels/cuda/reduction/rows/looped.cuh"

namespace sinter::cuda {

namespace detail {

/// The threads of all blocks of a cluster share a row.
template <class Body>
struct cluster_threads {
  unsigned char* memory;  // where they meet
  int blocks;
  mutable cluster_meeting<Body> meeting{};

  __device__ __forceinline__ int count() const { return blocks * static_cast<int>(blockDim.x); }
  __device__ __forceinline__ int thread() const {
    return static_cast<int>(rank_in_cluster() * blockDim.x + threadIdx.x);
  }
  static __device__ __forceinline__ int lanes() { return 32; }
};
template <int P, int Ways, class Accumulators, class... S, std::size_t... I>
__device__ __forceinline__ void combine_row(body<S...> b, std::index_sequence<I...> numbers, Accumulators& acc,
                                            unsigned char* storage, const cluster_threads<body<S...>>& threads) {
  combine_row<P, Ways>(b, numbers, acc, storage, row_threads<0>{});
  threads.meeting.template exchange<P>(acc, threads.memory, threads.blocks);
}

}  // namespace detail

/// One row per cluster of so many blocks.
template <class Body, int Width, int Items, int MaxBlock, class Index, class Args>
__global__ void __launch_bounds__(MaxBlock, 1) reduction_looped_clusters(const Args args, const int blocks) {
  using meeting = detail::cluster_meeting<Body>;
  detail::begin_kernel<Args::next_reads_ahead>();
  alignas(16) __shared__ unsigned char storage[2 * detail::largest_phase<Body, 32>];
  alignas(16) __shared__ unsigned char words[meeting::bytes];
  meeting::begin(words, blocks);
  meeting::wait(blocks);
  detail::looped_row<Body, Width, Items, Index>(args, {args.rnumel}, blockIdx.x / static_cast<unsigned>(blocks), 0,
                                                storage, detail::cluster_threads<Body>{words, blocks});
}

namespace detail {

/// As many blocks to a row as run at once, each with a tile at least. False: one, for rows are not so few that
/// multiprocessors would be idle, or are short, or there are no clusters.
template <int Width, int Items, int MaxBlock, class Index, class... S, class Args>
bool launch_looped_clusters(body<S...>, const Args& args, cudaStream_t stream, const char* name) {
  void (*const kernel)(Args, int) = &reduction_looped_clusters<body<S...>, Width, Items, MaxBlock, Index, Args>;
  static constinit sinter::detail::atomic_number<std::uint64_t> known[64]{};
  const cluster_counts counts(reinterpret_cast<const void*>(kernel), MaxBlock, 0, known, name);
  constexpr std::int64_t tile = MaxBlock * Width * Items;
  int blocks = most_cluster_blocks;
  while (blocks > 1 && (counts.of(blocks) < args.numel || (blocks - 1) * tile >= args.rnumel)) --blocks;
  if (blocks == 1) return false;
  launch_clusters(kernel, blocks, dim3(static_cast<unsigned>(args.numel * blocks)), dim3(MaxBlock), 0, stream, name,
                  args, blocks);
  return true;
}

}  // namespace detail

}  // namespace sinter::cuda
