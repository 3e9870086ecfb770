// States of columns that the threads of a block have walked: combined in the block, left in memory for the other
// blocks, and read back. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/reduction/columns/column_parts.cuh"

namespace sinter::cuda::detail {

/// Shared memory of a walk, whose rows take so much: for the threads that hand their columns' states over, of which
/// there are none if a block has but one row, and for the meeting.
template <class Column, int Lanes, int Threads, int MaxBlock, int OfRows>
inline constexpr int walk_storage = [] {
  constexpr int half = MaxBlock / 2, handed = Threads > half ? 0 : half * Lanes * largest_state<Column>;
  constexpr int of_meeting = MaxBlock * largest_state<Column>, least = handed > of_meeting ? handed : of_meeting;
  return OfRows > least ? OfRows : least;
}();

/// Where the states of reduction I lie: those of block `slot`, column after column.
template <class Column, int I, class S, int Width>
struct partial_sums {
  using state = typename reduction_of<S>::state;
  using group = state_group<state, Width>;
  state* first;
  std::int64_t columns;
  __device__ __forceinline__ partial_sums(const split_part& part, std::int64_t columns)
      : first(reinterpret_cast<state*>(static_cast<unsigned char*>(part.states) +
                                       sinter::detail::split_facts<Column>::offset(I, columns, part.splits))),
        columns(columns) {}
  /// Of Width neighbouring columns, a multiple of which there are.
  __device__ __forceinline__ group* at(int slot, std::int64_t column) const {
    return reinterpret_cast<group*>(first + slot * columns + column);
  }
};

/// The threads of one column that have walked different rows combine: those with threadIdx.y == 0 hold the result.
template <bool Wanted, int I, class S, int Lanes, class Accumulators>
__device__ __forceinline__ void combine_walkers(Accumulators& acc, unsigned char* storage) {
  if constexpr (Wanted) {
    using fold = reduction_of<S>;
    auto& states = lanes_of<I>(acc);
    auto* shared = reinterpret_cast<typename fold::state*>(storage);
    const int threads = static_cast<int>(blockDim.x), y = static_cast<int>(threadIdx.y);
    for (int walkers = static_cast<int>(blockDim.y); walkers > 1;) {
      const int half = (walkers + 1) / 2, others = walkers - half;
      const int place = (y < half ? y : y - half) * threads + static_cast<int>(threadIdx.x);
      __syncthreads();
      if (y >= half && y < walkers) {
#pragma unroll
        for (int l = 0; l < Lanes; ++l) shared[l * others * threads + place] = states[l];
      }
      __syncthreads();
      if (y < others) {
#pragma unroll
        for (int l = 0; l < Lanes; ++l) states[l] = fold::combine(states[l], shared[l * others * threads + place]);
      }
      walkers = half;
    }
  }
}

template <bool Wanted, int I, class S, class Column, class Tiling, class Accumulators>
__device__ __forceinline__ void write_partials(Accumulators& acc, const tile<Tiling>& t, int slot,
                                               const split_part& part, std::int64_t columns) {
  if constexpr (Wanted) {
    using partials = partial_sums<Column, I, S, Tiling::width>;
    const partials sums(part, columns);
    const auto& states = lanes_of<I>(acc);
#pragma unroll
    for (int u = 0; u < Tiling::items; ++u) {
      if constexpr (Tiling::shifted) {
#pragma unroll
        for (int j = 0; j < Tiling::width; ++j)
          if (t.lane_ok(u, j)) sums.first[slot * columns + t.at[u] + j] = states[u * Tiling::width + j];
      } else if (t.ok[u]) {
        typename partials::group out;
#pragma unroll
        for (int j = 0; j < Tiling::width; ++j) out.states[j] = states[u * Tiling::width + j];
        *sums.at(slot, t.at[u]) = out;
      }
    }
  }
}
/// The states of slots [begin, end), in order, on top of what is there. As many slots at a time are on their way
/// as 32 registers hold.
template <bool Wanted, int I, class S, class Column, class Tiling, class Accumulators>
__device__ __forceinline__ void add_partials(Accumulators& acc, const tile<Tiling>& t, int begin, int end,
                                             const split_part& part, std::int64_t columns) {
  if constexpr (Wanted) {
    const partial_sums<Column, I, S, Tiling::width> sums(part, columns);
    auto& states = lanes_of<I>(acc);
    constexpr int words = Tiling::size * static_cast<int>(sizeof(states[0])) / 4, at_once = words < 32 ? 32 / words : 1;
#pragma unroll(at_once)
    for (int slot = begin; slot < end; ++slot) {
#pragma unroll
      for (int u = 0; u < Tiling::items; ++u) {  // of places past the end the last columns', which nobody writes back
        const auto in = read_shared_by_blocks(sums.at(slot, t.at[u]));
#pragma unroll
        for (int j = 0; j < Tiling::width; ++j)
          states[u * Tiling::width + j] = reduction_of<S>::combine(states[u * Tiling::width + j], in.states[j]);
      }
    }
  }
}

template <int Lanes, class Accumulators, class... S, std::size_t... I>
__device__ __forceinline__ void combine_block(body<S...>, std::index_sequence<I...>, Accumulators& acc,
                                              unsigned char* storage) {
  (combine_walkers<reduction_of<S>::is, static_cast<int>(I), S, Lanes>(acc, storage), ...);
}
template <class Tiling, class Accumulators, class... S, std::size_t... I>
__device__ __forceinline__ void write_slot(body<S...>, std::index_sequence<I...>, Accumulators& acc,
                                           const tile<Tiling>& t, int slot, const split_part& part,
                                           std::int64_t columns) {
  (write_partials<reduction_of<S>::is, static_cast<int>(I), S, body<S...>>(acc, t, slot, part, columns), ...);
}
template <class Tiling, class Accumulators, class... S, std::size_t... I>
__device__ __forceinline__ void add_slots(body<S...>, std::index_sequence<I...>, Accumulators& acc,
                                          const tile<Tiling>& t, int begin, int end, const split_part& part,
                                          std::int64_t columns) {
  (add_partials<reduction_of<S>::is, static_cast<int>(I), S, body<S...>>(acc, t, begin, end, part, columns), ...);
}

}  // namespace sinter::cuda::detail
