// Scans along memory of rows that lie one after another and begin anywhere: a block moves runs of short rows, or part
// after part of a long one, through shared memory 16 bytes at a time, while the next is on its way. There each thread
// has neighbours, however they are aligned, and reads and writes them one by one.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/overlap.cuh"
#include "sinter/kernels/cuda/reduction/rows/short_run.cuh"
#include "sinter/kernels/cuda/scan/scan.cuh"

namespace sinter::cuda {

/// `threads` neighbours in a block share a row. A block takes `rows` whole ones or, if 0, one in parts of so many
/// elements.
struct scan_run_share {
  int threads, rows, part;
};

namespace detail {

/// How a body is scanned in runs of rows of Rnumel elements (-1: known at launch).
template <class Body, long Rnumel>
struct scan_run_facts {
  using accesses = short_facts<Body, Rnumel>;
  /// Does all that runs along a row pass through shared memory? There a thread may read beyond the row's end.
  static constexpr bool staged = [] {
    for (int s = 0; s < Body::size; ++s) {
      const touch& now = access_facts<Body>::template along<loop_var::r, 1>.touches[s];
      const bool along = body_facts<Body>::facts.info[s].reads_r || now.gather;
      if (now.bytes > 0 && along && accesses::facts.bytes[s] == 0) return false;
    }
    return accesses::facts.possible;
  }();
  /// Bytes of shared memory for two runs of so many elements, with what lies around them and the states of warps.
  static constexpr int bytes_of(int elements) {
    const int beside = 32 * accesses::facts.count + 32 * 32;
    return 2 * (elements * accesses::stores.own_bytes + beside) + 2 * most_stage_bytes<Body>(32) + 64;
  }
  /// Neighbours of a thread: an odd number, so that those of a warp's lanes lie in different banks, and few enough that
  /// the shared memory that every kernel may have has room. 0: this body's rows cannot be scanned so.
  static constexpr int width = [] {
    for (int lanes = scan_lanes_held<Body>; lanes >= 8; lanes /= 2)
      if (staged && scan_facts<Body>::can_split && bytes_of(short_block * (lanes + 1)) <= 48 << 10) return lanes + 1;
    return 0;
  }();
  static constexpr bool can = width > 0;

  /// What storage and staging ask of a shape.
  static constexpr bool walks = false, in_place = true;
  static constexpr int capacity = short_block * width;
};

/// Blocks that a multiprocessor shall run at once.
template <class Body>
inline constexpr int scan_run_blocks = takes_large_parts<Body> ? 9 : scan_least_blocks<Body>;

/// Where a thread's neighbours lie, of which it has `count`, Width at most.
template <class Held, long Rnumel, class Shape>
struct scan_run_staging : short_staging<Held, Rnumel, Shape> {
  int count = 0;

  template <int I, class T, int Width>
  __device__ __forceinline__ void read(compute_t<T> (&out)[Width], int, bool) const {
    const T* const from = this->template item<I, T>(0);
    if (count == Width) {
#pragma unroll
      for (int j = 0; j < Width; ++j) out[j] = widen<T>(from[j]);
    } else {
#pragma unroll
      for (int j = 0; j < Width; ++j) out[j] = j < count ? widen<T>(from[j]) : compute_t<T>(0);
    }
  }
  template <int I, class T, int Width>
  __device__ __forceinline__ void write(const T (&in)[Width], int) const {
    T* const to = this->template item<I, T>(0);
    if (count == Width) {
#pragma unroll
      for (int j = 0; j < Width; ++j) to[j] = in[j];
    } else {
#pragma unroll
      for (int j = 0; j < Width; ++j)
        if (j < count) to[j] = in[j];
    }
  }
};

template <class Held, long Rnumel>
struct scan_run_tiling : tiling<loop_var::r, loop_var::r, scan_run_facts<Held, Rnumel>::width, 1, int> {
  using shape = scan_run_facts<Held, Rnumel>;
  using staging = scan_run_staging<Held, Rnumel, shape>;
  using places = typename staging::places;
  using held = typename staging::held;
  static constexpr bool in_words = false, adjoining = true, loose = true;
  template <int I>
  static constexpr bool stages = held::facts.bytes[I] > 0;
};

/// Neighbours in a block that share a row: a power of two below a warp, or whole warps.
struct scan_run_threads {
  int along;
  __device__ __forceinline__ int count() const { return along; }
  __device__ __forceinline__ int row() const { return static_cast<int>(threadIdx.x) / along; }
  __device__ __forceinline__ int thread() const { return static_cast<int>(threadIdx.x) - row() * along; }
  __device__ __forceinline__ int lanes() const { return along < 32 ? along : 32; }
  __device__ __forceinline__ int warps() const { return along / 32; }
  __device__ __forceinline__ void sync() const { __syncthreads(); }
};

/// As many threads to a row as it has neighbours for them, parts of long ones alike.
constexpr scan_run_share share_scan_runs(int rnumel, int width) {
  const int most = short_block * width, parts = (rnumel + most - 1) / most;
  const int one = (rnumel + parts - 1) / parts, groups = (one + width - 1) / width;
  int threads = 1;
  while (threads < groups && threads < 32) threads *= 2;
  if (groups > 32) threads = (groups + 31) / 32 * 32;
  return {threads, parts > 1 ? 0 : short_block / threads, threads * width};
}

/// Part `number` of what the block takes: its rows, of which the first is `row`, and where in it they begin.
struct scan_run_place {
  run_part run;
  int row, rows, begin;

  template <class Args>
  __device__ __forceinline__ scan_run_place(const Args& args, const scan_run_share& share, int number) {
    const int length = static_cast<int>(args.rnumel), all = static_cast<int>(args.numel);
    const bool whole = share.rows > 0;
    row = static_cast<int>(blockIdx.x) * (whole ? share.rows : 1);
    rows = !whole ? 1 : share.rows < all - row ? share.rows : all - row;
    begin = number * share.part;
    const int rest = length - begin;
    run.first = static_cast<std::int64_t>(row) * length + begin;
    run.left = static_cast<std::int64_t>(all - row) * length - begin;
    run.size = whole ? rows * length : rest < share.part ? rest : share.part;
    run.length = length;
  }
};

}  // namespace detail

/// Rows of which short_facts<Body, Rnumel>::holds, fewer than 2^31, and shorter.
template <class Body, long Rnumel, class Args>
__global__ void __launch_bounds__(detail::short_block, detail::scan_run_blocks<Body>)
    scan_in_runs(const Args args, const scan_run_share share) {
  detail::begin_kernel();
  using tiling = detail::scan_run_tiling<Body, Rnumel>;
  using numbers = std::make_index_sequence<Body::size>;
  constexpr int width = tiling::width, bytes = static_cast<int>(sinter::detail::round_up(tiling::places::bytes, 16));
  alignas(16) __shared__ unsigned char storage[2][bytes];
  alignas(16) __shared__ unsigned char states[2 * detail::scan_storage<Body>::half];
  __shared__ detail::copy_arrival arrivals[2];
  const auto engine_of = [&](int number, bool begins = false) {
    return detail::block_copies(arrivals[number % 2], begins);
  };
  engine_of(0, true), engine_of(1, true);
  const auto fetch = [&](int number) {
    typename tiling::staging staging;
    staging.storage = storage[number % 2];
    const detail::scan_run_place at(args, share, number);
    detail::read_run<tiling>(Body{}, numbers{}, staging, args, at.run, engine_of(number));
    return staging;
  };
  const detail::scan_run_threads threads{share.threads};
  const int thread = threads.thread(), own_row = threads.row();
  const int parts = share.rows > 0 ? 1 : (static_cast<int>(args.rnumel) + share.part - 1) / share.part;
  detail::scan_storage<Body> storage_of_states{states};
  detail::tile_chain<Body, 1> chain;

  typename tiling::staging next = fetch(0);
#pragma unroll 1
  for (int number = 0; number < parts; ++number) {
    const detail::block_copies engine = engine_of(number);
    detail::tile<tiling> tile;
    tile.staging = next;
    engine.wait(static_cast<unsigned>(number / 2 % 2));
    if (number + 1 < parts) {
      engine.finish();  // with what was put from where the next one comes
      next = fetch(number + 1);
    }
    const detail::scan_run_place at(args, share, number);
    const int r = at.begin + thread * width, in_run = own_row * at.run.length + thread * width;
    const int rest = (share.rows > 0 ? at.run.length : at.run.size) - thread * width;
    tile.fixed_ok = own_row < at.rows;
    tile.fixed = at.row + (tile.fixed_ok ? own_row : 0);
    tile.staging.count = !tile.fixed_ok || rest < 0 ? 0 : rest < width ? rest : width;
    tile.staging.first = tile.staging.count > 0 ? in_run : 0;
    tile.at[0] = r, tile.ok[0] = tile.staging.count > 0;
    const bool writer = thread == 0 && tile.fixed_ok && number == 0;
    detail::frame<Body, tiling> frame;
    detail::evaluate<detail::rows_of_phase<Body, 0>>(frame, tile, args, writer);
    detail::evaluate_stages<Body, 0, false>(frame, tile, args, storage_of_states, threads, chain);
    detail::evaluate<detail::rows_of_phase<Body, 1>>(frame, tile, args, writer);
    engine.sync();
    detail::write_run<tiling>(Body{}, numbers{}, tile.staging, args, at.run, engine);
  }
  engine_of(0).finish();
}

}  // namespace sinter::cuda
