// Reductions along memory (orientation row) of bodies of one phase, wherever rows begin: see swept_rows.hpp. Nothing of
// a row stays but the states of its threads. A long row may be split over blocks, the last of which combines.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/loose_words.cuh"
#include "sinter/kernels/cuda/overlap.cuh"
#include "sinter/kernels/cuda/reduction/rows/looped.cuh"
#include "sinter/kernels/cuda/reduction/rows/swept_rows.hpp"

namespace sinter::cuda {

namespace detail {

/// Vectors that lie within the row.
template <class Body, int Width, int Items>
struct swept_tiling : tiling<loop_var::r, loop_var::r, Width, Items, int> {
  static constexpr bool in_vectors = true, guards = true;
  static constexpr int most_waiting = 128;
  template <int I>
  static constexpr bool shifts = swept_facts<Body>::is_shared(I);
  template <int I>
  static constexpr bool packs = swept_facts<Body>::keeps_packed(I);
  struct staging {
    bool shared_aligned = false;  // what all rows share lies as the vectors do
    __device__ __forceinline__ bool aligned() const { return shared_aligned; }
    static __device__ __forceinline__ bool anywhere() { return false; }
    template <class T, int Unit>
    __device__ __forceinline__ unsigned shift_of(const T* p) const {
      return bytes_past<Unit>(p);
    }
  };
};
/// The threads of a row, of whichever number: no register is left to combine whole warps apart.
struct swept_row_threads : row_threads<0> {};

/// Elements at the ends of a row, single ones. Those of 16 bits stay as they are until they are needed: to widen them a
/// thread would wait for them.
template <class Body, int Width>
struct swept_end_tiling : tiling<loop_var::r, loop_var::r, 1, swept_ends<Body, Width>, int> {
  static constexpr bool scattered = true;
  static constexpr bool guards = true;
  template <int I>
  static constexpr bool packs = swept_facts<Body>::is_half(I);
};

/// The vectors of one row that lie within it, but for those beside which words of what all rows share may lie outside
/// of that. What is left at the ends is not much.
template <class Body, int Width>
struct swept_row {
  int length, first, count;  // elements; before the first vector; vectors
  bool shared_aligned;

  __device__ __forceinline__ swept_row(int rnumel, const row_shift& shift, unsigned row) : length(rnumel) {
    const int before = static_cast<int>((static_cast<unsigned>(shift.first) + row * shift.step) & (Width - 1));
    shared_aligned = before == 0 && shift.others_aligned;
    const int margin = swept_facts<Body>::has_shared && !shared_aligned ? 1 : 0;
    const int begin = (before != 0 ? 1 : 0) + margin;
    const int whole = (before + length) / Width - margin - begin;
    count = whole > 0 ? whole : 0;
    first = whole > 0 ? begin * Width - before : length;
  }
  __device__ __forceinline__ int ends() const { return length - count * Width; }
  /// Element number k of those in no vector.
  __device__ __forceinline__ int end(int k) const { return k < first ? k : k + count * Width; }
};

/// Steps through vectors v, v + step, … below `end`, Items at a time.
template <class Body, int Width, int Items, int Ways, class Frame, class Accumulators, class Args>
__device__ __forceinline__ void sweep_vectors(Accumulators& acc, Frame& f, tile<typename Frame::tiling>& t,
                                              const Args& args, int first, int v, int step, int end) {
  using elements = elements_of_phase<Body, 0>;
  const auto place = [&] {
#pragma unroll
    for (int u = 0; u < Items; ++u) t.at[u] = first + (v + u * step) * Width;
  };
#pragma unroll
  for (int u = 0; u < Items; ++u) t.ok[u] = true;
#pragma unroll 1
  for (; v + (Items - 1) * step < end; v += Items * step) {
    place();
    evaluate_and_step<elements, 0, Ways>(acc, f, t, args);
  }
  if (v >= end) return;
  place();
#pragma unroll
  for (int u = 1; u < Items; ++u) t.ok[u] = v + u * step < end;
  evaluate_and_step<elements, 0, Ways>(acc, f, t, args);
}

}  // namespace detail

/// One row per blockDim.x threads; blockIdx.y is the part of a split row (one row per block then).
template <class Body, int Width, int Items, class Args>
__global__ void __launch_bounds__(detail::swept_block, detail::swept_blocks<Body>)
    reduction_swept(const Args args, const split_part part, const detail::row_shift shift) {
  detail::begin_kernel<Args::next_reads_ahead>();
  using tiling = detail::swept_tiling<Body, Width, Items>;
  using numbers = std::make_index_sequence<Body::size>;
  constexpr int ways = detail::row_ways<Body, tiling>;
  constexpr detail::swept_row_threads threads{};
  alignas(16) __shared__ unsigned char storage[2 * detail::largest_phase<Body, 32>];
  const int x = static_cast<int>(blockIdx.x * blockDim.y + threadIdx.y), split = static_cast<int>(blockIdx.y);
  const bool row_ok = x < static_cast<int>(args.numel), writer = threads.thread() == 0 && row_ok;
  detail::tile<tiling> tile;
  tile.fixed = row_ok ? x : static_cast<int>(args.numel) - 1;
  tile.fixed_ok = row_ok;
  detail::frame<Body, tiling> frame;
  detail::evaluate<detail::rows_of_phase<Body, 0>>(frame, tile, args, writer && split == 0);

  const detail::swept_row<Body, Width> row(static_cast<int>(args.rnumel), shift, static_cast<unsigned>(tile.fixed));
  using elements = detail::elements_of_phase<Body, 0>;
  detail::accumulators<Body, ways> acc;
  detail::start<0, ways>(Body{}, numbers{}, acc);

  // The ends are on their way while the vectors are swept.
  const int ends = split == 0 ? row.ends() : 0, count = threads.count();
  using end_tiling = detail::swept_end_tiling<Body, Width>;
  detail::tile<end_tiling> at_end;
  detail::frame<Body, end_tiling> end;
  at_end.fixed = tile.fixed, at_end.fixed_ok = row_ok;
#pragma unroll
  for (int u = 0; u < end_tiling::items; ++u) {
    const int k = threads.thread() + u * count;
    at_end.at[u] = row.end(k), at_end.ok[u] = k < ends;
  }
  detail::copy_row_values<Body>(numbers{}, end, frame);
  if (at_end.ok[0]) detail::evaluate_first<elements>(end, at_end, args);

  const int length = static_cast<int>(part.length) / Width, first = split * length;
  const int stop = first + length < row.count ? first + length : row.count;
  tile.staging.shared_aligned = row.shared_aligned;
  detail::sweep_vectors<Body, Width, Items, ways>(acc, frame, tile, args, row.first, first + threads.thread(), count,
                                                  stop);
  if (at_end.ok[0]) detail::evaluate_rest_and_step<elements, 0, ways>(acc, end, at_end, args);
  if (detail::combine_parts<0, ways>(Body{}, numbers{}, acc, part, args.numel, tile.fixed, split, storage, threads)) {
    detail::finish_row_phase<0>(Body{}, numbers{}, acc, frame, threads);
    detail::evaluate<detail::rows_of_phase<Body, 1>>(frame, tile, args, writer);
  }
}

}  // namespace sinter::cuda
