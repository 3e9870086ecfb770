// Reductions along memory (orientation row) of short rows: a block moves a run of them through shared memory.
// Which rows are short, and who takes which, is short_rows.hpp's matter, launching launch.cuh's.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/overlap.cuh"
#include "sinter/kernels/cuda/reduction/rows/persistent.cuh"
#include "sinter/kernels/cuda/reduction/rows/rows_ahead.cuh"
#include "sinter/kernels/cuda/reduction/rows/short_run.cuh"
#include "sinter/kernels/cuda/reduction/rows/spread.cuh"

namespace sinter::cuda {

namespace detail {

/// Neighbours within a warp that share a row.
struct short_threads {
  int along;
  __device__ __forceinline__ int count() const { return along < 32 ? along : 32; }
  __device__ __forceinline__ int thread() const { return static_cast<int>(threadIdx.x) & (count() - 1); }
  __device__ __forceinline__ int row() const { return 0; }
  __device__ __forceinline__ int lanes() const { return count(); }
  __device__ __forceinline__ int warps() const { return 1; }
  __device__ __forceinline__ void sync() const {}
};

template <class Held, long Rnumel, int Width, int Items, class Shape>
struct short_tiling : tiling<loop_var::r, loop_var::r, Width, Items, int> {
  using staging = short_staging<Held, Rnumel, Shape>;
  using places = typename staging::places;
  using held = typename staging::held;
  using single = short_tiling<Held, Rnumel, 1, 1, Shape>;
  static constexpr bool anew = computes_anew<Held>(0), guards = true, streamed = Rnumel < 0;
  static constexpr bool reads_ahead = streamed;
  static constexpr bool in_words = Shape::walks && held::width > 1;
  static constexpr int most_waiting = streamed ? 64 : 16;  // what is read from memory are weights, and they are near
  static constexpr bool adjoining = true;
  static constexpr bool loose = in_words;  // what else runs along the row
  template <int I>
  static constexpr bool stages = held::facts.bytes[I] > 0 || (Shape::walks && held::weights.is[I]);
};

/// The elements of a row that a thread walks, as places in the run: from `first` to `end`. A row may begin one later.
struct walked_part {
  int row, first, end;
};
template <class Body, int P, int Ways, class Accumulators, class Frame, class Tiling, class Args>
__device__ __forceinline__ void walk_step(Accumulators& acc, spreads<Body, P, Ways>& known, Frame& f, tile<Tiling>& t,
                                          const Args& args, int row, int place) {
  t.staging.first = place;
#pragma unroll
  for (int u = 0; u < Tiling::items; ++u) t.at[u] = place - row + u * Tiling::width, t.ok[u] = true;
  evaluate_and_spread<Body, P, Ways>(acc, known, f, t, args);
}
template <class Body, int P, int Ways, class Accumulators, class Tiling, class Frame, class Args>
__device__ __forceinline__ void walk_part(Accumulators& acc, spreads<Body, P, Ways>& known, Frame& f, tile<Tiling>& t,
                                          const Args& args, const walked_part& part) {
  // Of a word in which the row begins there is one element, which comes last.
  const bool begins = Tiling::width > 1 && part.first < part.row;
  int place = begins ? part.first + Tiling::width : part.first;
  using single = typename Tiling::single;
  tile<single> one;
  one.fixed = t.fixed, one.fixed_ok = t.fixed_ok, one.staging = t.staging;
  one.staging.first = begins ? part.row : part.first;
  one.at[0] = one.staging.first - part.row, one.ok[0] = part.first < part.end;
  begin_spreads<Body, P, Ways>(known, f, one, args);
#pragma unroll 1
  for (; place <= part.end - Tiling::size; place += Tiling::size)
    walk_step<Body, P, Ways>(acc, known, f, t, args, part.row, place);
  frame<Body, single> g;
  copy_row_values<Body>(std::make_index_sequence<Body::size>{}, g, f);
  const int stop = begins ? part.end + 1 : part.end;
#pragma unroll 1
  for (; place < stop; ++place)
    walk_step<Body, P, Ways>(acc, known, g, one, args, part.row,
                             Tiling::width > 1 && place >= part.end ? part.row : place);
}
/// `before`: what phase P - 1 knows for this one.
template <class Body, int Ways, int P, class Tiling, class Frame, class Args>
__device__ __forceinline__ void walked_phase(Frame& f, tile<Tiling>& t, const Args& args, const walked_part& part,
                                             bool writer, const short_threads& threads,
                                             spreads<Body, P - 1, Ways> before = {}) {
  using numbers = std::make_index_sequence<Body::size>;
  evaluate<rows_of_phase<Body, P>>(f, t, args, writer);
  if constexpr (P < body_facts<Body>::num_phases) {
    accumulators<Body, Ways> acc;
    spreads<Body, P, Ways> known;
    start<P, Ways>(Body{}, numbers{}, acc);
    if constexpr (walks_in<Body, P>) {
      walk_part<Body, P, Ways>(acc, known, f, t, args, part);
      finish_sums<Body, P, Ways>(acc, known);
    } else {
      finish_spreads<Body, P - 1, Ways>(acc, before, f);
    }
    combine_row<P, Ways>(Body{}, numbers{}, acc, nullptr, threads);
    finish_row_phase<P>(Body{}, numbers{}, acc, f, threads);
    walked_phase<Body, Ways, P + 1>(f, t, args, part, writer, threads, known);
  }
}

}  // namespace detail

/// Runs of rows of which short_facts<Body, Rnumel>::holds.
template <class Body, long Rnumel, int Width, int Items, int MinBlocks, int Full, class Shape, class Args>
__global__ void __launch_bounds__(detail::short_block, MinBlocks) reduction_short(const Args args, const Shape given) {
  using tiling = detail::short_tiling<Body, Rnumel, Width, Items, Shape>;
  using numbers = std::make_index_sequence<Body::size>;
  const detail::short_shape shape = given.get();
  const int length = Rnumel >= 0 ? static_cast<int>(Rnumel) : static_cast<int>(args.rnumel);
  const int first = static_cast<int>(blockIdx.x) * shape.rows(), rest = static_cast<int>(args.numel) - first;
  const int rows = rest < shape.rows() ? rest : shape.rows();
  const std::int64_t left = static_cast<std::int64_t>(args.numel - first) * length;
  const detail::run_part run{static_cast<std::int64_t>(first) * length, left, rows * length, length};
  detail::begin_kernel<Args::next_reads_ahead>([&] {
    if (threadIdx.x == 0 &&
        detail::is_early(shape.rows() * length * detail::stream_facts<Body>::bytes, detail::asked_in_runs))
      detail::rows_ahead<Body>::ask(args, first, 0, run.size);
  });
  alignas(16) __shared__ unsigned char storage[tiling::places::bytes];
  __shared__ detail::copy_arrival arrived;
  const detail::block_copies engine(arrived);
  const detail::short_threads threads{shape.threads()};

  detail::tile<tiling> tile;
  tile.staging.storage = storage;
  tile.staging.stride = Shape::walks ? Width : threads.count() * Width;
  detail::read_run<tiling>(Body{}, numbers{}, tile.staging, args, run, engine);
  engine.wait();
  if constexpr (!Shape::walks)
    tile.template place<Full>(threads.thread() * Width, threads.count() * Width, length - Width);
#pragma unroll 1
  for (int turn = 0; turn < shape.turns; ++turn) {
    const int row = shape.row(static_cast<int>(threadIdx.x), turn);
    tile.fixed_ok = row < rows;
    tile.fixed = first + (tile.fixed_ok ? row : 0);
    detail::frame<Body, tiling> frame;
    const bool writer = threads.thread() == 0 && tile.fixed_ok;
    if constexpr (!Shape::walks) {
      using phases = std::make_index_sequence<body_facts<Body>::num_phases + 1>;
      tile.staging.first = detail::kept(row * length + threads.thread() * Width);
      detail::persistent_phases<Body, tiling>(phases{}, frame, tile, args, writer, nullptr, threads);
    } else {
      const int start = tile.staging.half + row * length, last = start + length;
      const int own = start / Width * Width + threads.thread() * shape.items * Width, end = own + shape.items * Width;
      tile.staging.begin_row(start);
      constexpr int ways = detail::row_ways<Body, tiling>;
      const detail::walked_part part{start, own, end < last ? end : last};
      detail::walked_phase<Body, ways, 0>(frame, tile, args, part, writer, threads);
    }
  }
  if constexpr (tiling::held::facts.stores) {
    engine.sync();
    detail::write_run<tiling>(Body{}, numbers{}, tile.staging, args, run, engine);
    engine.finish();
  }
}

}  // namespace sinter::cuda
