// Scans along memory of rows that lie one after another and begin anywhere: a block moves runs of short rows, or part
// after part of a long one, through shared memory 16 bytes at a time, while the next is on its way. There each thread
// has neighbours, however they are aligned, and reads and writes them one by one or, of 16 bits, two by two: then the
// first thread of a row that begins inside of a word has one element less.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/overlap.cuh"
#include "sinter/kernels/cuda/reduction/rows/short_run.cuh"
#include "sinter/kernels/cuda/scan/scan.cuh"

namespace sinter::cuda {

/// 2^log_threads neighbours in a block share a row, `threads` of which have some of it. A block takes `rows` whole ones
/// or, if 0, one in parts of so many elements.
struct scan_run_share {
  int log_threads, threads, rows, part;
};

namespace detail {

/// Neighbours of a thread, but for one or two: as many as its registers have room for. `smallest`: bytes of an element
/// in memory; of single bytes more are on their way through registers.
template <class Body>
constexpr int scan_run_lanes(int smallest) {
  const bool many = takes_large_parts<Body> && values_across_scans<Body> == 1 && smallest > 1;
  return many && scan_lanes_held<Body> == 16 ? 32 : scan_lanes_held<Body>;
}

/// How a body is scanned in runs of rows of Rnumel elements (-1: known at launch). Few: rows of so few that one thread
/// has them.
template <class Body, long Rnumel, bool Few>
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
  /// Two elements make a word.
  static constexpr bool in_words = accesses::width == 2;
  /// Bytes of shared memory for a run of so many elements, with what lies around them.
  static constexpr int run_bytes(int elements) {
    return elements * accesses::stores.own_bytes + 32 * accesses::facts.count + 32 * 32;
  }
  /// Neighbours of a thread: an odd number of words, so that those of a warp's lanes lie in different banks, and few
  /// enough that the shared memory that every kernel may have has room for two runs. 0: this body's rows cannot be
  /// scanned so.
  static constexpr int width = [] {
    const int states = 2 * most_stage_bytes<Body>(32) + 64;
    for (int lanes = Few ? 8 : scan_run_lanes<Body>(accesses::facts.smallest); lanes >= 8; lanes /= 2) {
      const int neighbours = lanes + (in_words ? 2 : 1);
      if (staged && scan_facts<Body>::can_split && 2 * run_bytes(short_block * neighbours) + states <= 48 << 10)
        return neighbours;
    }
    return 0;
  }();
  static constexpr bool can = width > 0;
  /// Does a thread have room for such a row, wherever it begins?
  static constexpr bool holds(long rnumel) { return rnumel + in_words <= width; }

  /// What storage and staging ask of a shape.
  static constexpr bool walks = false, in_place = true;
  static constexpr int capacity = short_block * width;
  static constexpr int storage_bytes =
      static_cast<int>(sinter::detail::round_up(short_storage<Body, Rnumel, scan_run_facts>::bytes, 16));
};

/// What is read of a run: before anything is written, for a thread may read what lies beside its neighbours.
template <class Body>
struct loads_of_run {
  static constexpr bool select(int s) {
    return elements_to_scan<Body, 0, false>::select(s) &&
           body_facts<Body>::facts.info[s].kind == statement_kind::source;
  }
};
/// Is something written that needs no scan?
template <class Body>
inline constexpr bool stores_before_scans = [] {
  for (int s = 0; s < Body::size; ++s)
    if (elements_of_stage<Body, 0, false, 0>::select(s) &&
        body_facts<Body>::facts.info[s].kind == statement_kind::store)
      return true;
  return false;
}();

/// Blocks that a multiprocessor shall run at once.
template <class Body>
inline constexpr int scan_run_blocks = takes_large_parts<Body> ? 8 : scan_least_blocks<Body>;

/// Where a thread's neighbours lie, up to number `end`; `late`: from number 1 on. `full`: all threads of the warp have
/// Width of them. What lies beside them may be read until all have read.
template <class Held, long Rnumel, class Shape>
struct scan_run_staging : short_staging<Held, Rnumel, Shape> {
  int end = 0;
  bool late = false, full = false;

  template <int I, class T, int Width>
  __device__ __forceinline__ void read(compute_t<T> (&out)[Width], int, bool) const {
    const T* const from = this->template item<I, T>(0);
    if constexpr (Shape::in_words) {
      unsigned words[Width / 2];
#pragma unroll
      for (int k = 0; k < Width / 2; ++k) words[k] = reinterpret_cast<const unsigned*>(from)[k];
      wide<T, Width>::unpack(out, words);
    } else {
#pragma unroll
      for (int j = 0; j < Width; ++j) out[j] = widen<T>(from[j]);
    }
  }
  template <int I, class T, int Width>
  __device__ __forceinline__ void write(const T (&in)[Width], int) const {
    T* const to = this->template item<I, T>(0);
    if constexpr (Shape::in_words) {
      unsigned words[Width / 2];
      memcpy(words, in, sizeof words);
      auto* const whole = reinterpret_cast<unsigned*>(to);
      if (full) {
#pragma unroll
        for (int k = 0; k < Width / 2; ++k) whole[k] = words[k];
      } else {
        if (late) to[1] = in[1];
#pragma unroll
        for (int k = 0; k < Width / 2; ++k) {
          if (2 * k + 1 < end && (k > 0 || !late)) whole[k] = words[k];
          if (2 * k + 1 == end) to[2 * k] = in[2 * k];
        }
      }
    } else if (full) {
#pragma unroll
      for (int j = 0; j < Width; ++j) to[j] = in[j];
    } else {
#pragma unroll
      for (int j = 0; j < Width; ++j)
        if (j < end) to[j] = in[j];
    }
  }
};

template <class Held, long Rnumel, bool Few>
struct scan_run_tiling : tiling<loop_var::r, loop_var::r, scan_run_facts<Held, Rnumel, Few>::width, 1, int> {
  using shape = scan_run_facts<Held, Rnumel, Few>;
  using staging = scan_run_staging<Held, Rnumel, shape>;
  using places = typename staging::places;
  using held = typename staging::held;
  static constexpr bool in_words = shape::in_words, late = in_words, adjoining = true, loose = true;
  template <int I>
  static constexpr bool stages = held::facts.bytes[I] > 0;
};

/// Neighbours in a block that share a row.
struct scan_run_threads {
  const scan_run_share& share;
  __device__ __forceinline__ int count() const { return share.threads; }
  __device__ __forceinline__ int row() const { return static_cast<int>(threadIdx.x) >> share.log_threads; }
  __device__ __forceinline__ int thread() const {
    return static_cast<int>(threadIdx.x) & ((1 << share.log_threads) - 1);
  }
  __device__ __forceinline__ int lanes() const { return share.threads < 32 ? share.threads : 32; }
  __device__ __forceinline__ int warps() const { return share.threads / 32; }
  __device__ __forceinline__ void sync() const { __syncthreads(); }
};
template <>
inline constexpr int most_row_warps<scan_run_threads> = short_warps;

/// As many threads to a row as it has neighbours for them, a power of two below a warp, or whole warps; parts of long
/// ones alike. A row that begins inside of a word has a place more.
constexpr scan_run_share share_scan_runs(int rnumel, int width, bool in_words) {
  const int places = rnumel + in_words, most = short_block * width, parts = (places + most - 1) / most;
  const int one = (places + parts - 1) / parts, groups = (one + width - 1) / width;
  int log_threads = 0;
  while (1 << log_threads < groups) ++log_threads;
  const int threads = groups > 32 ? (groups + 31) / 32 * 32 : 1 << log_threads;
  return {log_threads, threads, parts > 1 ? 0 : short_block >> log_threads, threads * width};
}

/// Part `number` of what the block takes: its rows, of which the first is `row`, and where in it they begin. `inside`:
/// of a word does a row begin that is taken in parts; the others then do not.
struct scan_run_place {
  run_part run;
  int row, rows, begin;

  template <class Args>
  __device__ __forceinline__ scan_run_place(const Args& args, const scan_run_share& share, int number, int inside) {
    const int length = static_cast<int>(args.rnumel), all = static_cast<int>(args.numel);
    const bool whole = share.rows > 0;
    row = static_cast<int>(blockIdx.x) * (whole ? share.rows : 1);
    rows = !whole ? 1 : share.rows < all - row ? share.rows : all - row;
    begin = number > 0 ? number * share.part - inside : 0;
    const int next = (number + 1) * share.part - inside;
    run.first = static_cast<std::int64_t>(row) * length + begin;
    run.left = static_cast<std::int64_t>(all - row) * length - begin;
    run.size = whole ? rows * length : (next < length ? next : length) - begin;
    run.length = length;
  }
};

}  // namespace detail

/// Rows of which short_facts<Body, Rnumel>::holds, fewer than 2^31, and shorter. Dynamic shared memory: storage of a
/// run or, of rows in parts, of two.
template <class Body, long Rnumel, bool Few, class Args>
__global__ void __launch_bounds__(detail::short_block, detail::scan_run_blocks<Body>)
    scan_in_runs(const Args args, const scan_run_share share) {
  detail::begin_kernel<Args::next_reads_ahead>();
  using tiling = detail::scan_run_tiling<Body, Rnumel, Few>;
  using numbers = std::make_index_sequence<Body::size>;
  constexpr int width = tiling::width, bytes = tiling::shape::storage_bytes;
  extern __shared__ __align__(16) unsigned char run_memory[];
  alignas(16) __shared__ unsigned char states[2 * detail::scan_storage<Body>::half];
  __shared__ detail::copy_arrival arrivals[2];
  const auto engine_of = [&](int number, bool begins = false) {
    return detail::block_copies(arrivals[number % 2], begins);
  };
  engine_of(0, true), engine_of(1, true);
  int inside = 0;
  const auto fetch = [&](int number) {
    typename tiling::staging staging;
    staging.storage = run_memory + number % 2 * bytes;
    const detail::scan_run_place at(args, share, number, inside);
    detail::read_run<tiling>(Body{}, numbers{}, staging, args, at.run, engine_of(number));
    return staging;
  };
  const detail::scan_run_threads threads{share};
  const int thread = threads.thread(), own_row = threads.row();
  detail::scan_storage<Body> storage_of_states{states};
  detail::tile_chain<Body, 1> chain;

  typename tiling::staging next = fetch(0);
  inside = next.half;
  bool more = true;
#pragma unroll 1
  for (int number = 0; more; ++number) {
    const detail::block_copies engine = engine_of(number);
    detail::tile<tiling> tile;
    tile.staging = next;
    more = share.rows == 0 && (number + 1) * share.part - inside < static_cast<int>(args.rnumel);
    if (more) engine.finish();  // with what was put from where the next one comes; in front of a barrier, for all
    engine.wait(static_cast<unsigned>(number / 2 % 2));
    if (more) next = fetch(number + 1);
    const detail::scan_run_place at(args, share, number, inside);
    const int row_begin = tile.staging.half + own_row * at.run.length;
    const int before = tiling::in_words ? row_begin & 1 : 0, mine = thread * width - before;
    const int rest = (share.rows > 0 ? at.run.length : at.run.size) - mine;
    tile.fixed_ok = own_row < at.rows;
    tile.fixed = at.row + (tile.fixed_ok ? own_row : 0);
    tile.ok[0] = tile.fixed_ok && rest > 0;
    tile.at[0] = at.begin + mine;
    tile.staging.first = tile.ok[0] ? row_begin + mine : 0;
    tile.staging.end = rest < width ? rest : width;
    tile.staging.late = mine < 0;
    tile.staging.full = __all_sync(detail::all_lanes, tile.ok[0] && rest >= width && mine >= 0);
    const bool writer = thread == 0 && tile.fixed_ok && number == 0;
    detail::frame<Body, tiling> frame;
    detail::evaluate<detail::rows_of_phase<Body, 0>>(frame, tile, args, writer);
    using loads = detail::loads_of_run<Body>;
    detail::evaluate<loads>(frame, tile, args);
    if (detail::stores_before_scans<Body> || threads.count() <= 32) __syncthreads();  // otherwise warps meet to scan
    detail::evaluate_stages<Body, 0, false, loads>(frame, tile, args, storage_of_states, threads, chain);
    detail::evaluate<detail::rows_of_phase<Body, 1>>(frame, tile, args, writer);
    engine.sync();
    detail::write_run<tiling>(Body{}, numbers{}, tile.staging, args, at.run, engine);
  }
  engine_of(0).finish();
}

}  // namespace sinter::cuda
