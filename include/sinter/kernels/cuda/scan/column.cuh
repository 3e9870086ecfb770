// Scans across memory (orientation column): the threads of a warp run along x, those of a column take Items elements of
// it each, one after the other, and carry the states from tile to tile. Every phase walks r again.
// Launching, and the choice among variants, is launch.cuh's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/overlap.cuh"
#include "sinter/kernels/cuda/reduction/columns/column.cuh"
#include "sinter/kernels/cuda/scan/chain.cuh"

namespace sinter::cuda {

namespace detail {

template <class Body, int Width>
inline constexpr int scan_column_half = most_stage_bytes<Body>(column_block* Width);

/// Blocks with a part of columns that a multiprocessor shall run at once, for they wait for each other: 80 registers do
/// for light work on four columns of one input, 128 for more.
template <class Body, int Width>
inline constexpr int column_parts_at_once = [] {
  if (scan_least_blocks<Body> != 0 || !phase_facts<Body>::is_light || Width > 4) return 1;
  int accesses = 0;
  for (const touch& one : access_facts<Body>::template along<loop_var::x, 1>.touches) accesses += one.bytes > 0;
  return accesses > 2 || access_facts<Body>::divides ? 2 : 3;
}();

/// How a block's threads share its columns, and the shared memory in which they exchange states, two halves in turn.
template <class Body, int Width>
struct scan_column_block {
  unsigned char* storage;
  int along, turn = 0;
  __device__ __forceinline__ unsigned char* next() { return storage + (turn ^= 1) * scan_column_half<Body, Width>; }
};

/// The scans of one stage for a tile; `chain` knows what came before it.
template <class Body, class Which, int G, int Width, class Frame, class Chain>
__device__ __forceinline__ void scan_column_stage(Frame& f, const tile<typename Frame::tiling>& t,
                                                  scan_column_block<Body, Width>& block, Chain& chain) {
  constexpr int items = Frame::tiling::items;
  const int along = block.along, thread = static_cast<int>(threadIdx.x), x = thread % along, y = thread / along;
  unsigned char* const half = block.next();
  scan_states<Body, Width> before, total, start;  // before: this thread's elements, inside the tile
  each_scan<Which, Body>([&](auto at) {
    using scan = decltype(at);
    constexpr int offset = scan_offset<Body, G, scan::number, column_block * Width>;
    const column_states<typename scan::state> shared{reinterpret_cast<typename scan::state*>(half + offset)};
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
    const column_states<typename scan::state> shared{reinterpret_cast<typename scan::state*>(half + offset)};
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      typename scan::state own = scan::init();
      for (int k = 0; k < column_block / along; ++k) {
        if (k == y) lanes_of<I>(before)[j] = own;
        own = scan::combine(own, shared.of(j, k * along + x));
      }
      lanes_of<I>(total)[j] = own;
    }
  });
  chain.template follow<Which, G>(total, start);
  each_scan<Which, Body>([&](auto at) {
    using scan = decltype(at);
    constexpr int I = scan::number;
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      typename scan::state own = scan::combine(lanes_of<I>(start)[j], lanes_of<I>(before)[j]);
#pragma unroll
      for (int u = 0; u < items; ++u) {
        scan::step(own, lane_of<scan::operand>(f, u * Width + j), t.r(u));
        lanes_of<I>(f)[u * Width + j] = scan::finish(own);
      }
    }
  });
}

template <class Body, int P, int Width, int G = 0, class Frame, class Args, class Chain>
__device__ __forceinline__ void evaluate_column_stages(Frame& f, const tile<typename Frame::tiling>& t,
                                                       const Args& args, scan_column_block<Body, Width>& block,
                                                       Chain& chain) {
  if constexpr (G < scan_facts<Body>::num_stages) {
    using scans = scans_of_stage<Body, P, false, G>;
    evaluate<elements_of_stage<Body, P, false, G>>(f, t, args);
    if constexpr (scans::any) scan_column_stage<Body, scans, G, Width>(f, t, block, chain);
    evaluate_column_stages<Body, P, Width, G + 1>(f, t, args, block, chain);
  }
}

/// Phase P of a block's columns.
template <class Body, class Tiling, int P, class Frame, class Args>
__device__ __forceinline__ void scan_column_phase(Frame& f, tile<Tiling>& t, const Args& args, bool writer,
                                                  scan_column_block<Body, Tiling::width>& block, unsigned char* folds) {
  using numbers = std::make_index_sequence<Body::size>;
  using index = typename Tiling::index;
  constexpr int width = Tiling::width, items = Tiling::items;
  evaluate<rows_of_phase<Body, P>>(f, t, args, writer);
  if constexpr (P < body_facts<Body>::num_phases) {
    accumulators<Body, width> acc;
    start<P, width>(Body{}, numbers{}, acc);
    tile_chain<Body, width> chain;
    const int deep = column_block / block.along;
    const index end = static_cast<index>(args.rnumel), length = static_cast<index>(deep * items);
    const index mine = static_cast<index>(static_cast<int>(threadIdx.x) / block.along * items);
    for (index r = 0; r < end; r += length) {
      t.template place<0>(r + mine, 1, end - 1);
      evaluate_column_stages<Body, P, width>(f, t, args, block, chain);
      step_all<Body, P, width>(acc, f, t);
    }
    combine_columns<P, width>(Body{}, numbers{}, acc, block.along, folds);
    finish_columns<P, width>(Body{}, numbers{}, acc, f);
  }
}
template <class Body, class Tiling, class Frame, class Args, std::size_t... P>
__device__ __forceinline__ void scan_column_phases(std::index_sequence<P...>, Frame& f, tile<Tiling>& t,
                                                   const Args& args, bool writer,
                                                   scan_column_block<Body, Tiling::width>& block,
                                                   unsigned char* folds) {
  (scan_column_phase<Body, Tiling, static_cast<int>(P)>(f, t, args, writer, block, folds), ...);
}

/// The first of this thread's columns; past the end: the last ones, which are not `ok`.
template <class Tiling>
struct column_seat {
  std::int64_t x;
  bool ok;

  __device__ __forceinline__ column_seat(tile<Tiling>& t, std::int64_t line, int along, std::int64_t numel)
      : x((line * along + static_cast<int>(threadIdx.x) % along) * Tiling::width), ok(x <= numel - Tiling::width) {
    if (!ok) x = numel - Tiling::width;
    t.fixed = static_cast<typename Tiling::index>(x);
    t.fixed_ok = ok;
  }
};

}  // namespace detail

/// Each block: `along` (a power of two, 32 at most) times Width columns.
template <class Body, int Width, int Items, class Index, class Args>
__global__ void __launch_bounds__(detail::column_block, detail::scan_least_blocks<Body>)
    scan_columns(const Args args, const int along) {
  detail::begin_kernel<Args::next_reads_ahead>();
  alignas(16) __shared__ unsigned char storage[2 * detail::scan_column_half<Body, Width>];
  alignas(16) __shared__ unsigned char folds[detail::column_storage<Body, Width>];
  using tiling = detail::tiling<loop_var::x, loop_var::r, Width, Items, Index>;
  detail::tile<tiling> tile;
  const detail::column_seat<tiling> seat(tile, blockIdx.x, along, args.numel);
  detail::frame<Body, tiling> frame;
  detail::scan_column_block<Body, Width> block{storage, along};
  detail::scan_column_phases<Body, tiling>(std::make_index_sequence<body_facts<Body>::num_phases + 1>{}, frame, tile,
                                           args, seat.ok && static_cast<int>(threadIdx.x) < along, block, folds);
}

/// The same for a part of them, as many elements as the block's threads take at once.
template <class Body, int Width, int Items, class Index, class Args>
__global__ void __launch_bounds__(detail::column_block, detail::column_parts_at_once<Body, Width>)
    scan_split_columns(const Args args, const scan_split split, const int along) {
  detail::begin_kernel<Args::next_reads_ahead>();
  alignas(16) __shared__ unsigned char storage[2 * detail::scan_column_half<Body, Width>];
  alignas(16) __shared__ unsigned char exchanged[detail::scan_column_half<Body, Width>];
  using tiling = detail::tiling<loop_var::x, loop_var::r, Width, Items, Index>;
  const std::int64_t ticket = detail::take_ticket(split), part = ticket / split.lines, line = ticket % split.lines;
  detail::tile<tiling> tile;
  const detail::column_seat<tiling> seat(tile, line, along, args.numel);
  const int y = static_cast<int>(threadIdx.x) / along, deep = detail::column_block / along;
  tile.template place<0>(static_cast<Index>((part * deep + y) * Items), 1, static_cast<Index>(args.rnumel) - 1);
  detail::frame<Body, tiling> frame;
  detail::scan_column_block<Body, Width> block{storage, along};
  detail::column_chain<Body, Width> chain{split, line, part, seat.x, seat.ok && y == 0, along, exchanged};
  const bool writer = seat.ok && y == 0 && part == 0;
  detail::evaluate<detail::rows_of_phase<Body, 0>>(frame, tile, args, writer);
  detail::evaluate_column_stages<Body, 0, Width>(frame, tile, args, block, chain);
  detail::evaluate<detail::rows_of_phase<Body, 1>>(frame, tile, args, writer);
}

}  // namespace sinter::cuda
