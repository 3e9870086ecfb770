// What blocks that share columns have left in the workspace becomes the columns' results, within the same launch: the
// last of them to come divide the columns among them. Every column's states are combined in one order, whoever came
// when.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/combine.cuh"
#include "sinter/kernels/cuda/kernel_memory.cuh"
#include "sinter/kernels/cuda/launch.cuh"
#include "sinter/kernels/cuda/reduction/rows/looped.cuh"

namespace sinter::cuda::detail {

/// The part of each block where `splits` blocks of `block` threads share `numel` columns, `tiles` times. Once all have
/// left their states, the last few combine them, no more than can run at once.
inline split_part share_columns(std::int64_t numel, std::int64_t length, std::int64_t splits, std::int64_t tiles,
                                int block, kernel_memory& memory, cudaStream_t stream, const char* name) {
  split_part part{length, static_cast<int>(splits)};
  part.counters = memory.counters(stream, name), part.states = memory.states();
  int threads = 1;
  while (2 * threads <= block) threads *= 2;
  part.along = threads;  // so that a thread has sixteen states to combine
  while (part.along > 8 && (threads / part.along * 16 < splits || part.along >= 2 * numel)) part.along /= 2;
  const std::int64_t pieces = (numel + part.along - 1) / part.along,
                     most = limits_of_device(name).multiprocessors / tiles, some = pieces < most ? pieces : most;
  part.combiners = static_cast<int>(some < 1 ? 1 : some < splits ? some : splits);
  return part;
}

/// The columns that blocks share, and which of such sets they are.
struct shared_columns {
  std::int64_t set, first, end;
};

template <bool Wanted, int I, class S, int Width, class Body, class Accumulators>
__device__ __forceinline__ void publish_column(Accumulators& acc, const split_part& part, std::int64_t numel,
                                               std::int64_t x, int split) {
  if constexpr (Wanted) {
    auto* states = reinterpret_cast<typename reduction_of<S>::state*>(
        static_cast<unsigned char*>(part.states) + sinter::detail::split_facts<Body>::offset(I, numel, part.splits));
#pragma unroll
    for (int j = 0; j < Width; ++j) states[split * numel + x + j] = lanes_of<I>(acc)[j];
  }
}
/// The states of parts first, first + stride, … of column x.
template <bool Wanted, int I, class S, class Body, class Accumulators>
__device__ __forceinline__ void collect_column(Accumulators& acc, const split_part& part, std::int64_t numel,
                                               std::int64_t x, int first, int stride) {
  if constexpr (Wanted) {
    using fold = reduction_of<S>;
    using state = typename fold::state;
    const auto* states =
        reinterpret_cast<const state*>(static_cast<const unsigned char*>(part.states) +
                                       sinter::detail::split_facts<Body>::offset(I, numel, part.splits)) +
        x;
    state& mine = lanes_of<I>(acc)[0];
    mine = fold::init();
    // As many parts at a time are on their way as 16 registers hold.
    constexpr int words = static_cast<int>(sizeof(state) + 3) / 4, at_once = words < 16 ? 16 / words : 1;
    for (int k = first; k < part.splits; k += stride * at_once) {
      state in[at_once];
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        in[i] = fold::init();
        if (k + i * stride < part.splits)
          in[i] = read_shared_by_blocks(states + static_cast<std::int64_t>(k + i * stride) * numel);
      }
#pragma unroll
      for (int i = 0; i < at_once; ++i) mine = fold::combine(mine, in[i]);
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

/// The results of Width columns.
template <bool Wanted, int I, class S, int Width, class Accumulators, class Frame>
__device__ __forceinline__ void finish_column_of(Accumulators& acc, Frame& f) {
  if constexpr (Wanted) {
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      if constexpr (has_state<S>) lanes_of<I>(f)[j] = reduction_of<S>::finish(lanes_of<I>(acc)[j]);
      else lanes_of<I>(f)[j] = reduction_of<S>::finish_part(lanes_of<part_of<S>>(acc)[j]);
    }
  }
}

/// Where the states of whole columns are left.
template <class... S>
SINTER_HOST_DEVICE split_part whole_of(const split_part& part, std::int64_t numel, body<S...>) {
  using facts = sinter::detail::split_facts<body<S...>>;
  split_part whole;
  whole.states = static_cast<unsigned char*>(part.states) + facts::offset(facts::size, numel, part.splits);
  return whole;
}
template <int Width, class Accumulators, class... S, std::size_t... I>
__device__ __forceinline__ void publish_columns(body<S...>, std::index_sequence<I...>, Accumulators& acc,
                                                const split_part& part, std::int64_t numel, std::int64_t x, int split) {
  using B = body<S...>;
  (publish_column<has_state<S>, static_cast<int>(I), S, Width, B>(acc, part, numel, x, split), ...);
}
/// What follows from the states of one column. Where elements follow, for which all rows are walked again, these states
/// stay behind those of the parts.
template <class Accumulators, class Args, class... S, std::size_t... I>
__device__ __forceinline__ void finish_single_column(body<S...> all, std::index_sequence<I...> numbers,
                                                     const Args& args, Accumulators& acc, const split_part& part,
                                                     std::int64_t x) {
  using Body = body<S...>;
  if constexpr (sinter::detail::reads_columns_twice<Body>)
    return publish_columns<1>(all, numbers, acc, whole_of(part, args.numel, all), args.numel, x, 0);
  using single = tiling<loop_var::x, loop_var::r, 1, 1, std::int64_t>;
  tile<single> tile;
  tile.fixed = x;
  frame<Body, single> f;
  evaluate<rows_of_phase<Body, 0>>(f, tile, args, true);
  (finish_column_of<reduction_of<S>::is, static_cast<int>(I), S, 1>(acc, f), ...);
  evaluate<rows_of_phase<Body, 1>>(f, tile, args, true);
}

/// How many of the blocks that combine have come before this one; below zero: it is none of them. Those return when all
/// have come. For one thread of a block, after and before a barrier.
__device__ __forceinline__ int come_to_meeting(const split_part& part, std::int64_t set) {
  const int alone = part.splits - 1, others = part.combiners - 1;
  const meeting_place place{part.counters + set, static_cast<unsigned>(part.splits),
                            others == 0 ? 0 : static_cast<unsigned>(part.combiners)};
  const int order = static_cast<int>(place.come()) - (alone - others);
  if (others > 0 && order >= 0) place.wait_for_all();
  return order;
}

/// What block number `order` of those that combine makes of the states of columns among `numel`.
template <class Args, class... S, std::size_t... I>
__device__ __forceinline__ void combine_met(body<S...> body, std::index_sequence<I...> numbers, const Args& args,
                                            const split_part& part, std::int64_t numel, const shared_columns& columns,
                                            int order, int thread, unsigned char* storage) {
  using B = sinter::body<S...>;
  const int block = static_cast<int>(blockDim.x * blockDim.y), threads = 1 << (31 - __clz(block));
  const int along = part.along, deep = threads / along;
  for (std::int64_t first = columns.first + static_cast<std::int64_t>(order) * along; first < columns.end;
       first += static_cast<std::int64_t>(part.combiners) * along) {
    const std::int64_t x = first + thread % along;
    const bool ok = x < columns.end;
    accumulators<B, 1> acc;
    if (thread < threads)
      (collect_column<has_state<S>, static_cast<int>(I), S, B>(acc, part, numel, ok ? x : columns.end - 1,
                                                               thread / along, deep),
       ...);
    (combine_collected<has_state<S>, static_cast<int>(I), S>(acc, thread, along, deep, storage), ...);
    if (ok && thread < along) finish_single_column(body, numbers, args, acc, part, x);
  }
}

/// The end of a block that has left its states of columns among `numel`.
template <class Args, class... S, std::size_t... I>
__device__ __forceinline__ void meet_columns(body<S...> body, std::index_sequence<I...> numbers, const Args& args,
                                             const split_part& part, std::int64_t numel, const shared_columns& columns,
                                             int thread, unsigned char* storage) {
  __shared__ int order;
  __syncthreads();
  if (thread == 0) order = come_to_meeting(part, columns.set);
  __syncthreads();
  if (order >= 0) combine_met(body, numbers, args, part, numel, columns, order, thread, storage);
}

}  // namespace sinter::cuda::detail
