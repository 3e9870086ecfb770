// The pointwise kernel for bodies that read transposed operands: a block takes a tile of the matrix. What would be read
// across memory is read along it into shared memory first, and from there across.
// Which loads these are is transposed.hpp's matter, launching pointwise_launch.cuh's.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/kernels/cuda/evaluate.cuh"
#include "sinter/kernels/cuda/transposed.hpp"

namespace sinter::cuda {

namespace detail {

inline constexpr int transposed_threads = 256;

/// Threads lie along the columns, `width` neighbours each, and then along the rows; items walk down the tile.
template <class Body, int Width, class Index>
struct staged_tiling
    : tiling<loop_var::x, loop_var::x, Width, tile_rows * tile_columns / transposed_threads / Width, Index> {
  static constexpr int along = tile_columns / Width, rows = transposed_threads / along;
  struct staging {
    const unsigned char* storage = nullptr;
    int row = 0, column = 0;  // of the thread's first item in the tile
    /// Column `lane` of item `item` of load I.
    template <int I, class T>
    __device__ __forceinline__ T value(int item, int lane) const {
      constexpr int offset = transposed_facts<Body>::facts.offset[I] - 1;
      const T* tile = reinterpret_cast<const T*>(storage + offset);
      return tile[(column + lane) * tile_pitch<T> + row + item * rows];
    }
  };
  template <int I>
  static constexpr bool stages = transposed_facts<Body>::facts.offset[I] > 0;
};

/// Reads the tile at (row, column) of load S along memory.
template <class S>
struct stage_load {
  template <int I, class Body, class Index, class Args>
  static __device__ __forceinline__ void run(unsigned char*, Index, Index, Index, Index, const Args&) {}
};
template <int Slot, class T, class At>
struct stage_load<load<Slot, T, At, -1>> {
  template <int I, class Body, class Index, class Args>
  static __device__ __forceinline__ void run(unsigned char* storage, Index row, Index column, Index num_rows,
                                             Index num_columns, const Args& args) {
    if constexpr (transposed_facts<Body>::facts.offset[I] > 0) {
      constexpr int count = tile_rows * tile_columns / transposed_threads, step = transposed_threads / tile_rows;
      const int i = static_cast<int>(threadIdx.x) % tile_rows, first = static_cast<int>(threadIdx.x) / tile_rows;
      if (row + i >= num_rows) return;
      const std::int64_t distance = sinter::detail::resolve(crossing_of<At>.step, args.sizes);
      const T* from = static_cast<const T*>(args.pointers[Slot]) +
                      offset_of<At>::at_xr((row + i) * num_columns + column, Index(0), args.sizes);
      T* to = reinterpret_cast<T*>(storage + (transposed_facts<Body>::facts.offset[I] - 1)) + i;
      T values[count];
#pragma unroll
      for (int k = 0; k < count; ++k)
        if (column + first + k * step < num_columns) values[k] = from[(first + k * step) * distance];
#pragma unroll
      for (int k = 0; k < count; ++k) to[(first + k * step) * tile_pitch<T>] = values[k];
    }
  }
};
template <class Index, class Args, class... S, std::size_t... I>
__device__ __forceinline__ void stage_loads(body<S...>, std::index_sequence<I...>, unsigned char* storage, Index row,
                                            Index column, Index num_rows, Index num_columns, const Args& args) {
  (stage_load<S>::template run<static_cast<int>(I), body<S...>>(storage, row, column, num_rows, num_columns, args),
   ...);
}

}  // namespace detail

/// Body over numel elements, seen as rows of `columns`. Requires: as pointwise; Width divides columns.
template <class Body, int Width, class Index, class Args>
__global__ void __launch_bounds__(detail::transposed_threads) pointwise_transposed(const Args args) {
  using tiling = detail::staged_tiling<Body, Width, Index>;
  constexpr auto facts = detail::transposed_facts<Body>::facts;
  alignas(16) __shared__ unsigned char storage[facts.storage];
  const Index columns = static_cast<Index>(sinter::detail::resolve(facts.columns, args.sizes));
  const Index rows = static_cast<Index>(args.numel) / columns;
  const Index tiles_along = (columns + detail::tile_columns - 1) / detail::tile_columns;
  const Index row = static_cast<Index>(blockIdx.x) / tiles_along * detail::tile_rows;
  const Index column = static_cast<Index>(blockIdx.x) % tiles_along * detail::tile_columns;
  detail::stage_loads(Body{}, std::make_index_sequence<Body::size>{}, storage, row, column, rows, columns, args);
  __syncthreads();

  const int thread = static_cast<int>(threadIdx.x);
  detail::tile<tiling> tile;
  tile.staging = {storage, thread / tiling::along, thread % tiling::along * Width};
#pragma unroll
  for (int u = 0; u < tiling::items; ++u) {
    const Index i = row + tile.staging.row + u * tiling::rows, j = column + tile.staging.column;
    tile.ok[u] = i < rows && j < columns;
    tile.at[u] = tile.ok[u] ? i * columns + j : 0;
  }
  detail::frame<Body, tiling> frame;
  detail::evaluate<detail::every_statement>(frame, tile, args);
}

}  // namespace sinter::cuda
