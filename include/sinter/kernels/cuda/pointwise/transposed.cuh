// The pointwise kernel for bodies with transposed operands or results: a block takes a tile of the matrix. What would
// be read across memory is read along it into shared memory first, and from there across; what would be written across
// memory takes the same way back.
// Which accesses these are is transposed.hpp's matter, launching launch.cuh's.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/kernels/cuda/evaluate.cuh"
#include "sinter/kernels/cuda/overlap.cuh"
#include "sinter/kernels/cuda/pointwise/transposed.hpp"

namespace sinter::cuda {

namespace detail {

inline constexpr int transposed_threads = 256;

/// Threads lie along the columns, `width` neighbours each, and then along the rows; items walk along the tile, and
/// down.
template <class Body, class Tile, int Width, class Index>
struct staged_tiling
    : tiling<loop_var::x, loop_var::x, Width, Tile::rows * Tile::columns / transposed_threads / Width, Index> {
  static constexpr bool guards = true;
  static constexpr int vectors = Tile::columns / Width;
  static constexpr int along = vectors < transposed_threads ? vectors : transposed_threads,
                       rows = transposed_threads / along, across = vectors / along;
  SINTER_HOST_DEVICE static constexpr int row_of(int item) { return item / across * rows; }
  SINTER_HOST_DEVICE static constexpr int column_of(int item) { return item % across * (along * Width); }
  struct staging {
    unsigned char* storage = nullptr;
    int row = 0, column = 0;  // of the thread's first item in the tile
    /// Column `lane` of item `item` of access I.
    template <int I, class T>
    __device__ __forceinline__ T& value(int item, int lane) const {
      constexpr int offset = transposed_facts<Body, Tile>::facts.offset[I] - 1;
      T* tile = reinterpret_cast<T*>(storage + offset);
      return tile[(column + column_of(item) + lane) * Tile::template pitch<T> + row + row_of(item)];
    }
    template <int I, class T>
    __device__ __forceinline__ void read(compute_t<T> (&out)[Width], int item) const {
#pragma unroll
      for (int j = 0; j < Width; ++j) out[j] = widen<T>(value<I, T>(item, j));
    }
    template <int I, class T>
    __device__ __forceinline__ void write(const T (&in)[Width], int item) const {
#pragma unroll
      for (int j = 0; j < Width; ++j) value<I, T>(item, j) = in[j];
    }
  };
  template <int I>
  static constexpr bool stages = transposed_facts<Body, Tile>::facts.offset[I] > 0;
};

/// Where a block's tile lies in the matrix, of which it has every so many-th row: row i of the tile is row
/// (row + i) * apart + beside.
template <class Index>
struct matrix_tile {
  Index row, column, num_rows, num_columns, apart, beside;
  __device__ __forceinline__ Index element(Index i, Index j) const { return (i * apart + beside) * num_columns + j; }
};

/// Between memory and the tile of access I, along memory: each thread has a row of the tile, and every so manieth
/// column.
template <bool Wanted, class Tile, int I, class S>
struct stage {
  template <class Body, class Index, class Args>
  static __device__ __forceinline__ void read(unsigned char*, const matrix_tile<Index>&, const Args&) {}
  template <class Body, class Index, class Args>
  static __device__ __forceinline__ void write(const unsigned char*, const matrix_tile<Index>&, const Args&) {}
};
template <class Tile, int I, class T, class At, class Body>
struct staged {
  static constexpr int count = Tile::rows * Tile::columns / transposed_threads, step = transposed_threads / Tile::rows;
  static constexpr int offset = transposed_facts<Body, Tile>::facts.offset[I] - 1;
  static constexpr int pitch = Tile::template pitch<T>;
  int row, first;
  std::int64_t base, distance;
  template <class Index, class Args>
  __device__ __forceinline__ staged(const matrix_tile<Index>& t, const Args& args)
      : row(static_cast<int>(threadIdx.x) % Tile::rows),
        first(static_cast<int>(threadIdx.x) / Tile::rows),
        base(offset_of<At>::at_xr(t.element(exists(t) ? t.row + row : t.row, t.column), Index(0), args.sizes)),
        distance(sinter::detail::resolve(crossing_of<At>.step, args.sizes)) {}
  template <class Index>
  __device__ __forceinline__ bool exists(const matrix_tile<Index>& t) const {
    return t.row + row < t.num_rows;
  }
  __device__ __forceinline__ int column(int k) const { return first + k * step; }
};
template <class Tile, int I, int Slot, class T, class At>
struct stage<true, Tile, I, load<Slot, T, At, -1>> : stage<false, Tile, I, void> {
  template <class Body, class Index, class Args>
  static __device__ __forceinline__ void read(unsigned char* storage, const matrix_tile<Index>& t, const Args& args) {
    using access = staged<Tile, I, T, At, Body>;
    const access a(t, args);
    if (!a.exists(t)) return;
    const T* from = static_cast<const T*>(args.pointers[Slot]) + a.base;
    T* to = reinterpret_cast<T*>(storage + access::offset) + a.row;
    T values[access::count];
#pragma unroll
    for (int k = 0; k < access::count; ++k)
      if (t.column + a.column(k) < t.num_columns) values[k] = from[a.column(k) * a.distance];
#pragma unroll
    for (int k = 0; k < access::count; ++k) to[a.column(k) * access::pitch] = values[k];
  }
};
template <class Tile, int I, int Slot, class T, int A, class At>
struct stage<true, Tile, I, store<Slot, T, A, At, -1>> : stage<false, Tile, I, void> {
  template <class Body, class Index, class Args>
  static __device__ __forceinline__ void write(const unsigned char* storage, const matrix_tile<Index>& t,
                                               const Args& args) {
    using access = staged<Tile, I, T, At, Body>;
    const access a(t, args);
    if (!a.exists(t)) return;
    const T* from = reinterpret_cast<const T*>(storage + access::offset) + a.row;
    T* to = static_cast<T*>(args.pointers[Slot]) + a.base;
#pragma unroll
    for (int k = 0; k < access::count; ++k)
      if (t.column + a.column(k) < t.num_columns) to[a.column(k) * a.distance] = from[a.column(k) * access::pitch];
  }
};
template <class Tile, class Index, class Args, class... S, std::size_t... I>
__device__ __forceinline__ void stage_loads(body<S...>, std::index_sequence<I...>, unsigned char* storage,
                                            const matrix_tile<Index>& t, const Args& args) {
  using B = body<S...>;
  (stage<(transposed_facts<B, Tile>::facts.offset[I] > 0), Tile, static_cast<int>(I), S>::template read<B>(storage, t,
                                                                                                           args),
   ...);
}
template <class Tile, class Index, class Args, class... S, std::size_t... I>
__device__ __forceinline__ void stage_stores(body<S...>, std::index_sequence<I...>, const unsigned char* storage,
                                             const matrix_tile<Index>& t, const Args& args) {
  using B = body<S...>;
  (stage<(transposed_facts<B, Tile>::facts.offset[I] > 0), Tile, static_cast<int>(I), S>::template write<B>(storage, t,
                                                                                                            args),
   ...);
}

/// What is read where it lies and depends on nothing: under way while tiles are staged, if registers have room for it.
/// A tile larger than a square one fills them.
template <class Body, class Tile, bool Wanted>
struct direct_loads {
  static constexpr bool is_direct(int s) {
    const auto& info = body_facts<Body>::facts.info[s];
    return info.kind == statement_kind::source && transposed_facts<Body, Tile>::facts.offset[s] == 0 &&
           access_facts<Body>::template along<loop_var::x, 1>.touches[s].bytes > 0 && info.operands[0] < 0;
  }
  static constexpr bool are_few = [] {
    int count = 0;
    for (int s = 0; s < Body::size; ++s) count += is_direct(s);
    return count <= (Tile::elements > square_tile::elements ? 0 : 2);
  }();
  static constexpr bool select(int s) { return Wanted == (are_few && is_direct(s)); }
};

}  // namespace detail

/// Body over numel elements, seen as rows of `columns`, in tiles. Requires: as pointwise; Width divides columns, which
/// divide `apart`, which divides numel.
template <class Body, class Tile, int Width, class Index, class Args>
__global__ void __launch_bounds__(detail::transposed_threads) pointwise_transposed(const Args args) {
  detail::begin_kernel<Args::next_reads_ahead>();
  using tiling = detail::staged_tiling<Body, Tile, Width, Index>;
  constexpr auto facts = detail::transposed_facts<Body, Tile>::facts;
  constexpr Index tile_columns = Tile::columns;
  alignas(16) __shared__ unsigned char storage[facts.storage];
  const Index columns = static_cast<Index>(sinter::detail::resolve(facts.columns, args.sizes)),
              apart = static_cast<Index>(sinter::detail::resolve(facts.apart, args.sizes));
  const Index tiles_along = (columns + tile_columns - 1) / tile_columns, between = apart / columns;
  const Index block = static_cast<Index>(blockIdx.x), number = block / tiles_along;
  const detail::matrix_tile<Index> at = {number / between * Tile::rows,
                                         block % tiles_along * tile_columns,
                                         static_cast<Index>(args.numel) / apart,
                                         columns,
                                         between,
                                         number % between};
  const int thread = static_cast<int>(threadIdx.x);
  detail::tile<tiling> tile;
  tile.staging = {storage, thread / tiling::along, thread % tiling::along * Width};
#pragma unroll
  for (int u = 0; u < tiling::items; ++u) {
    const Index i = at.row + tile.staging.row + tiling::row_of(u),
                j = at.column + tile.staging.column + tiling::column_of(u);
    tile.ok[u] = i < at.num_rows && j < columns;
    tile.at[u] = at.element(i, j);
  }
  detail::frame<Body, tiling> frame;
  detail::evaluate<detail::direct_loads<Body, Tile, true>>(frame, tile, args);
  detail::stage_loads<Tile>(Body{}, std::make_index_sequence<Body::size>{}, storage, at, args);
  __syncthreads();
  detail::evaluate<detail::direct_loads<Body, Tile, false>>(frame, tile, args);
  if constexpr (facts.stores) {
    __syncthreads();
    detail::stage_stores<Tile>(Body{}, std::make_index_sequence<Body::size>{}, storage, at, args);
  }
}

}  // namespace sinter::cuda
