// Scans along memory (orientation row): the threads of a row walk r together in tiles, each of which is one piece of a
// warp after the other, and a piece Items times 32 vectors in order. Persistent: the row is one tile and stays in
// registers. Looped: every phase walks the row again, tile after tile, and carries the states along.
// Which kernel with which shape is launch.cuh's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/overlap.cuh"
#include "sinter/kernels/cuda/reduction/rows/row_threads.cuh"
#include "sinter/kernels/cuda/scan/chain.cuh"

namespace sinter::cuda {

namespace detail {

/// Shared memory of a block's scans: two halves in turn, so that one synchronisation per stage is enough.
template <class Body>
struct scan_storage {
  static constexpr int half = most_stage_bytes<Body>(32);
  unsigned char* at;
  int turn = 0;
  __device__ __forceinline__ unsigned char* next() { return at + (turn ^= 1) * half; }
};

/// Warps that share a row, at most.
template <class Threads>
inline constexpr int most_row_warps = 32;

/// What the warps before this one have folded, of the tile, and all of them. On entry `tile`: this warp.
template <class Body, class Which, int G, int Items, class Threads>
__device__ __forceinline__ void put_warps_in_order(scan_states<Body, Items>& before, scan_states<Body, 1>& tile,
                                                   scan_storage<Body>& storage, const Threads& threads) {
  const int warps = threads.warps(), warp = threads.thread() / 32, first = threads.row() * warps;
  unsigned char* const half = storage.next();
  if (threads.thread() % 32 == 0)
    each_scan<Which, Body>([&](auto at) {
      using scan = decltype(at);
      constexpr int offset = scan_offset<Body, G, scan::number, 32>;
      reinterpret_cast<typename scan::state*>(half + offset)[first + warp] = lanes_of<scan::number>(tile)[0];
    });
  threads.sync();
  each_scan<Which, Body>([&](auto at) {  // every warp for itself
    using scan = decltype(at);
    constexpr int offset = scan_offset<Body, G, scan::number, 32>;
    const auto* totals = reinterpret_cast<const typename scan::state*>(half + offset) + first;
    lane_prefix<typename scan::state> all{scan::init(), scan::init()};
    if constexpr (most_row_warps<Threads> <= 4) {
#pragma unroll
      for (int w = 0; w < most_row_warps<Threads>; ++w) {
        if (w == warp) all.before = all.total;
        if (w < warps) all.total = scan::combine(all.total, totals[w]);
      }
    } else {
      int slots = 2;
      while (slots < warps) slots *= 2;
      const int slot = threads.thread() & (slots - 1);
      all = scan_lanes<scan>(slot < warps ? totals[slot] : scan::init(), slots);
      all.before = from_lane(all.before, warp, slots);
    }
#pragma unroll
    for (auto& b : lanes_of<scan::number>(before)) b = scan::combine(all.before, b);
    lanes_of<scan::number>(tile)[0] = all.total;
  });
}

/// The scans of one stage for a tile; `chain` knows what came before it.
template <class Body, class Which, int G, class Frame, class Threads, class Chain>
__device__ __forceinline__ void scan_stage(Frame& f, const tile<typename Frame::tiling>& t, scan_storage<Body>& storage,
                                           const Threads& threads, Chain& chain) {
  using tiling = typename Frame::tiling;
  constexpr int width = tiling::width, items = tiling::items;
  scan_states<Body, items> before;  // each vector of this thread, inside the tile
  scan_states<Body, 1> total, start;
  each_scan<Which, Body>([&](auto at) {
    using scan = decltype(at);
    constexpr int I = scan::number;
    auto& running = lanes_of<I>(total)[0];
    running = scan::init();
#pragma unroll
    for (int u = 0; u < items; ++u) {
      typename scan::state own = scan::init();
      each_lane(t, u, [&](int j) { scan::step(own, lane_of<scan::operand>(f, u * width + j), t.r(u) + j); });
      const auto in_warp = scan_lanes<scan>(own, threads.lanes());
      lanes_of<I>(before)[u] = u == 0 ? in_warp.before : scan::combine(running, in_warp.before);
      running = u == 0 ? in_warp.total : scan::combine(running, in_warp.total);
    }
  });
  if (threads.count() > 32) put_warps_in_order<Body, Which, G, items>(before, total, storage, threads);
  chain.template follow<Which, G>(total, start);
  each_scan<Which, Body>([&](auto at) {
    using scan = decltype(at);
    constexpr int I = scan::number;
#pragma unroll
    for (int u = 0; u < items; ++u) {
      typename scan::state own = scan::combine(lanes_of<I>(start)[0], lanes_of<I>(before)[u]);
      each_lane(t, u, [&](int j) {
        scan::step(own, lane_of<scan::operand>(f, u * width + j), t.r(u) + j);
        lanes_of<I>(f)[u * width + j] = scan::finish(own);
      });
    }
  });
}

/// Statements that Done does not name.
template <class Which, class Done>
struct other_statements {
  static constexpr bool select(int s) { return Which::select(s) && !Done::select(s); }
};
struct no_statements {
  static constexpr bool select(int) { return false; }
};
/// Stage by stage, the element statements of phase P for a tile, but for those that are Done.
template <class Body, int P, bool Kept, class Done = no_statements, int G = 0, class Frame, class Args, class Threads,
          class Chain>
__device__ __forceinline__ void evaluate_stages(Frame& f, const tile<typename Frame::tiling>& t, const Args& args,
                                                scan_storage<Body>& storage, const Threads& threads, Chain& chain) {
  if constexpr (G < scan_facts<Body>::num_stages) {
    using scans = scans_of_stage<Body, P, Kept, G>;
    evaluate<other_statements<elements_of_stage<Body, P, Kept, G>, Done>>(f, t, args);
    if constexpr (scans::any) scan_stage<Body, scans, G>(f, t, storage, threads, chain);
    evaluate_stages<Body, P, Kept, Done, G + 1>(f, t, args, storage, threads, chain);
  }
}

/// A tile from r on: each warp has a piece of it in one, of which each lane has a vector in every 32.
template <bool Exact, class Tiling, class Index, class Threads>
__device__ __forceinline__ void place_pieces(tile<Tiling>& t, Index r, Index end, const Threads& threads) {
  const int stride = threads.lanes() * Tiling::width, piece = threads.thread() / threads.lanes();
  const int mine = piece * stride * Tiling::items + threads.thread() % threads.lanes() * Tiling::width;
  t.template place<Exact ? Tiling::items : 0>(r + static_cast<Index>(mine), static_cast<Index>(stride),
                                              end - Tiling::width);
}

/// Phase P of a row: its tiles in order, or the only one, whose values are then kept.
template <class Body, bool Kept, bool Exact, int P, class Tiling, class Frame, class Args, class Threads>
__device__ __forceinline__ void scan_phase(Frame& f, tile<Tiling>& t, const Args& args, bool writer,
                                           scan_storage<Body>& storage, unsigned char* folds, const Threads& threads) {
  using numbers = std::make_index_sequence<Body::size>;
  using index = typename Tiling::index;
  constexpr int ways = row_ways<Body, Tiling>;
  evaluate<rows_of_phase<Body, P>>(f, t, args, writer);
  if constexpr (P < body_facts<Body>::num_phases) {
    accumulators<Body, ways> acc;
    start<P, ways>(Body{}, numbers{}, acc);
    tile_chain<Body, 1> chain;
    const index length = static_cast<index>(threads.count() * Tiling::width * Tiling::items);
    const index end = static_cast<index>(args.rnumel);
    for (index r = 0; r < end; r += length) {
      place_pieces<Exact>(t, r, end, threads);
      evaluate_stages<Body, P, Kept>(f, t, args, storage, threads, chain);
      step_all<Body, P, ways>(acc, f, t);
      if constexpr (Kept) break;
    }
    if constexpr (reduces_phase<Body, P>)
      combine_row<P, ways>(Body{}, numbers{}, acc, folds + P % 2 * largest_phase<Body, 32>, threads);
    finish_row_phase<P>(Body{}, numbers{}, acc, f, threads);
  }
}
template <class Body, bool Kept, bool Exact, class Tiling, class Frame, class Args, class Threads, std::size_t... P>
__device__ __forceinline__ void scan_phases(std::index_sequence<P...>, Frame& f, tile<Tiling>& t, const Args& args,
                                            bool writer, scan_storage<Body>& storage, unsigned char* folds,
                                            const Threads& threads) {
  (scan_phase<Body, Kept, Exact, static_cast<int>(P)>(f, t, args, writer, storage, folds, threads), ...);
}

}  // namespace detail

/// One row per blockDim.x threads (a power of two up to 32, or a multiple of 32). Kept: the row is one tile, 0 < rnumel
/// <= threads * Items * Width, equal to it if Exact. Threads is 0 when known at launch only.
template <class Body, int Width, int Items, int Threads, int MaxBlock, bool Kept, bool Exact, class Index, class Args>
__global__ void __launch_bounds__(MaxBlock, detail::scan_least_blocks<Body>) scan_rows(const Args args) {
  detail::begin_kernel<Args::next_reads_ahead>();
  alignas(16) __shared__ unsigned char shared[2 * detail::scan_storage<Body>::half];
  alignas(16) __shared__ unsigned char folds[2 * detail::largest_phase<Body, 32>];
  using tiling = detail::tiling<loop_var::r, loop_var::r, Width, Items, Index>;
  const std::int64_t block = blockIdx.x + static_cast<std::int64_t>(gridDim.x) * blockIdx.z;
  const std::int64_t row = block * blockDim.y + threadIdx.y;
  const bool row_ok = row < args.numel;
  detail::tile<tiling> tile;
  tile.fixed = static_cast<Index>(row_ok ? row : args.numel - 1);
  tile.fixed_ok = row_ok;
  detail::frame<Body, tiling> frame;
  detail::scan_storage<Body> storage{shared};
  detail::scan_phases<Body, Kept, Exact>(std::make_index_sequence<body_facts<Body>::num_phases + 1>{}, frame, tile,
                                         args, threadIdx.x == 0 && row_ok, storage, folds,
                                         detail::row_threads<Threads>{});
}

/// A part of Threads * Items * Width elements of a row for each block.
template <class Body, int Width, int Items, int Threads, class Index, class Args>
__global__ void __launch_bounds__(Threads, detail::scan_part_blocks<Body>)
    scan_split_rows(const Args args, const scan_split split) {
  detail::begin_kernel<Args::next_reads_ahead>();
  alignas(16) __shared__ unsigned char shared[2 * detail::scan_storage<Body>::half];
  using tiling = detail::tiling<loop_var::r, loop_var::r, Width, Items, Index>;
  using threads = detail::row_threads<Threads>;
  const std::int64_t ticket = detail::take_ticket(split), row = ticket / split.parts, part = ticket % split.parts;
  detail::tile<tiling> tile;
  tile.fixed = static_cast<Index>(row);
  detail::place_pieces<false>(tile, static_cast<Index>(part) * (Threads * Items * Width),
                              static_cast<Index>(args.rnumel), threads{});
  detail::frame<Body, tiling> frame;
  detail::scan_storage<Body> storage{shared};
  detail::row_chain<Body> chain{split, row, part};
  const bool writer = threadIdx.x == 0 && part == 0;
  detail::evaluate<detail::rows_of_phase<Body, 0>>(frame, tile, args, writer);
  detail::evaluate_stages<Body, 0, false>(frame, tile, args, storage, threads{}, chain);
  detail::evaluate<detail::rows_of_phase<Body, 1>>(frame, tile, args, writer);
}

}  // namespace sinter::cuda
