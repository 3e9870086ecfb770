// The end of a tile: accumulators lie in shared memory, threads walk the tile in chunks along n and evaluate the
// epilogue body, so that its loads and stores are wide and coalesced whatever the main loop's fragments look like.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/matmul/chunk.cuh"
#include "sinter/kernels/cuda/matmul/policy.hpp"

namespace sinter::cuda::mm {

/// The accumulators of one chunk: those of matmul number Which follow at a distance.
template <class Accumulator>
struct staged_accumulators {
  const Accumulator* first;
  int distance;

  template <int Which, class T, int Lanes>
  __device__ __forceinline__ void read(compute_t<T> (&out)[Lanes]) const {
    Accumulator raw[Lanes];
    if constexpr (Lanes > 1) words<Accumulator, Lanes>::read(raw, first + Which * distance);
    else raw[0] = first[Which * distance];
#pragma unroll
    for (int e = 0; e < Lanes; ++e) {
      if constexpr (std::is_same_v<compute_t<T>, bool>) out[e] = raw[e] != 0;
      else out[e] = static_cast<compute_t<T>>(raw[e]);
    }
  }
};

struct everything {
  template <int>
  static constexpr bool select = true;
};

template <class Body, class Tile, class Mainloop>
struct epilogue {
  using accumulator = typename Mainloop::accumulator;
  static constexpr int width = Mainloop::width;
  static constexpr int stride = Tile::n + 32 / static_cast<int>(sizeof(accumulator));  // rows start in other banks
  static constexpr int elements = Tile::m * stride;                                    // of one matmul
  static_assert(!body_facts<Body>::has_reduction, "matmul: an epilogue reduces nothing");
  static_assert(Tile::n % width == 0 && Tile::m * Tile::n / width % Tile::threads == 0);

  template <class Args>
  static __device__ __forceinline__ void run(const accumulator* staged, const Args& args,
                                             const chunk_accesses<Body>& accesses, const matmul_extents& extents,
                                             const tile_place<Tile>& at) {
    if (memory_facts<Body>::template always_regular<loop_var::x> || accesses.regular)
      walk<width>(staged, args, accesses, extents, at);
    else if constexpr (!memory_facts<Body>::template always_regular<loop_var::x>)
      walk<1>(staged, args, accesses, extents, at);
  }

 private:
  template <int Width, class Args>
  static __device__ __forceinline__ void walk(const accumulator* staged, const Args& args,
                                              const chunk_accesses<Body>& accesses, const matmul_extents& extents,
                                              const tile_place<Tile>& at) {
    using one = chunk<Body, Width, loop_var::x>;
    constexpr int per_row = Tile::n / Width;
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x); i < Tile::m * per_row; i += Tile::threads) {
      const int row = i / per_row, column = i % per_row * Width;
      const std::int64_t m = at.m() + row, n = at.n() + column, left = extents.n - n;
      if (m >= extents.m || left <= 0) continue;
      const place<Args> where{args, accesses.at, (at.batch * extents.m + m) * extents.n + n, 0,
                              left < Width ? static_cast<int>(left) : Width};
      typename one::fetched raw;
      typename one::values v;
      one::template fetch<everything>(raw, where);
      one::template evaluate<everything>(v, raw, where,
                                         staged_accumulators<accumulator>{staged + row * stride + column, elements});
    }
  }
};

}  // namespace sinter::cuda::mm
