// Scans across memory (orientation column): the threads of a warp run along x, those of a column take Items elements of
// it each, one after the other, and carry the states from tile to tile. Every phase walks r again.
// Launching, and the choice among variants, is scan_launch.cuh's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/reduction_column.cuh"
#include "sinter/kernels/cuda/scan_parts.cuh"

namespace sinter::cuda {

namespace detail {

template <class Body, int Width>
inline constexpr int scan_column_half = scan_facts<Body>::most_bytes(column_block* Width);

/// The scans of one stage for a tile; `carried` as in scan.cuh, for each of the thread's columns.
template <class Body, class Which, int G, int Width, class Frame>
__device__ __forceinline__ void scan_column_stage(Frame& f, const tile<typename Frame::tiling>& t,
                                                  scan_states<Body, Width>& carried, int along,
                                                  unsigned char* storage) {
  constexpr int items = Frame::tiling::items;
  const int thread = static_cast<int>(threadIdx.x), x = thread % along, y = thread / along, deep = column_block / along;
  each_scan<Which, Body>([&](auto at) {
    using scan = decltype(at);
    constexpr int I = scan::number, offset = scan_offset<Body, G, I, column_block * Width>;
    const column_states<typename scan::state> shared{reinterpret_cast<typename scan::state*>(storage + offset)};
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      typename scan::state own = scan::init();
#pragma unroll
      for (int u = 0; u < items; ++u)
        if (t.ok[u]) scan::step(own, lane_of<scan::operand>(f, u * Width + j), t.r(u));
      shared.of(j, thread) = own;
    }
  });
  __syncthreads();
  each_scan<Which, Body>([&](auto at) {
    using scan = decltype(at);
    constexpr int I = scan::number, offset = scan_offset<Body, G, I, column_block * Width>;
    const column_states<typename scan::state> shared{reinterpret_cast<typename scan::state*>(storage + offset)};
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      auto& carry = lanes_of<I>(carried)[j];
      typename scan::state own = carry;
      for (int k = 0; k < deep; ++k) {
        if (k == y) own = carry;
        carry = scan::combine(carry, shared.of(j, k * along + x));
      }
#pragma unroll
      for (int u = 0; u < items; ++u) {
        scan::step(own, lane_of<scan::operand>(f, u * Width + j), t.r(u));
        lanes_of<I>(f)[u * Width + j] = scan::finish(own);
      }
    }
  });
}

template <class Body, int P, int Width, int G = 0, class Frame, class Args>
__device__ __forceinline__ void evaluate_column_stages(Frame& f, const tile<typename Frame::tiling>& t,
                                                       const Args& args, scan_states<Body, Width>& carried, int along,
                                                       unsigned char* storage, int& turn) {
  if constexpr (G < scan_facts<Body>::num_stages) {
    using scans = scans_of_stage<Body, P, false, G>;
    evaluate<elements_of_stage<Body, P, false, G>>(f, t, args);
    if constexpr (scans::any)
      scan_column_stage<Body, scans, G, Width>(f, t, carried, along,
                                               storage + (turn ^= 1) * scan_column_half<Body, Width>);
    evaluate_column_stages<Body, P, Width, G + 1>(f, t, args, carried, along, storage, turn);
  }
}

/// Phase P of a block's columns.
template <class Body, class Tiling, int P, class Frame, class Args>
__device__ __forceinline__ void scan_column_phase(Frame& f, tile<Tiling>& t, const Args& args, bool writer, int along,
                                                  unsigned char* storage, unsigned char* folds, int& turn) {
  using numbers = std::make_index_sequence<Body::size>;
  using index = typename Tiling::index;
  constexpr int width = Tiling::width, items = Tiling::items;
  evaluate<rows_of_phase<Body, P>>(f, t, args, writer);
  if constexpr (P < body_facts<Body>::num_phases) {
    accumulators<Body, width> acc;
    start<P, width>(Body{}, numbers{}, acc);
    scan_states<Body, width> carried;
    clear_scans<Body>(carried);
    const index end = static_cast<index>(args.rnumel), length = static_cast<index>(column_block / along * items);
    const index mine = static_cast<index>(static_cast<int>(threadIdx.x) / along * items);
    for (index r = 0; r < end; r += length) {
      t.template place<false>(r + mine, 1, end - 1);
      evaluate_column_stages<Body, P, width>(f, t, args, carried, along, storage, turn);
      step<P, width>(Body{}, numbers{}, acc, f, t);
    }
    combine_columns<P, width>(Body{}, numbers{}, acc, along, folds);
    finish_columns<P, width>(Body{}, numbers{}, acc, f);
  }
}
template <class Body, class Tiling, class Frame, class Args, std::size_t... P>
__device__ __forceinline__ void scan_column_phases(std::index_sequence<P...>, Frame& f, tile<Tiling>& t,
                                                   const Args& args, bool writer, int along, unsigned char* storage,
                                                   unsigned char* folds) {
  int turn = 0;
  (scan_column_phase<Body, Tiling, static_cast<int>(P)>(f, t, args, writer, along, storage, folds, turn), ...);
}

}  // namespace detail

/// Each block: `along` (a power of two, 32 at most) times Width columns.
template <class Body, int Width, int Items, class Index, class Args>
__global__ void __launch_bounds__(detail::column_block) scan_columns(const Args args, const int along) {
  alignas(16) __shared__ unsigned char storage[2 * detail::scan_column_half<Body, Width>];
  alignas(16) __shared__ unsigned char folds[detail::column_storage<Body, Width>];
  using tiling = detail::tiling<loop_var::x, loop_var::r, Width, Items, Index>;
  const std::int64_t x =
      (static_cast<std::int64_t>(blockIdx.x) * along + static_cast<int>(threadIdx.x) % along) * Width;
  const bool x_ok = x <= args.numel - Width;
  detail::tile<tiling> tile;
  tile.fixed = static_cast<Index>(x_ok ? x : args.numel - Width);
  tile.fixed_ok = x_ok;
  detail::frame<Body, tiling> frame;
  detail::scan_column_phases<Body, tiling>(std::make_index_sequence<body_facts<Body>::num_phases + 1>{}, frame, tile,
                                           args, x_ok && static_cast<int>(threadIdx.x) < along, along, storage, folds);
}

}  // namespace sinter::cuda
