// Reductions across memory of rows that begin anywhere: see column_shift.hpp. A block's threads walk rows as those of
// column.cuh do, each in vectors that are aligned in memory; in shared memory every column finds its states.
// Launching is launch.cuh's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/reduction/columns/column.cuh"
#include "sinter/kernels/cuda/reduction/columns/column_shift.hpp"

namespace sinter::cuda {

namespace detail {

template <int Width, int Items, drift Drifts>
struct drifting_tiling : tiling<loop_var::x, loop_var::r, Width, Items, int> {
  static constexpr drift drifts = Drifts;
};

/// Which lanes of a thread's vector are its columns, where there are results for each element.
struct column_lanes {
  unsigned lanes = 0, all = 0;
  __device__ __forceinline__ bool whole() const { return lanes == all; }
  __device__ __forceinline__ bool has(int j) const { return (lanes >> j & 1) != 0; }
};
template <int Width, int Items, drift Drifts>
struct storing_tiling : tiling<loop_var::x, loop_var::r, Width, Items, int> {
  static constexpr bool streamed = true, guards = true, even = true;
  static constexpr drift drifts = Drifts;
  using staging = column_lanes;
};

/// Steps through rows r, r + stride, … below stop; the first one that is not.
template <class Body, class Tiling, class Accumulators, class Args>
__device__ __forceinline__ int walk_rows(Accumulators& acc, const Args& args, int x, int r, int stop, int stride) {
  if (r >= stop) return r;
  tile<Tiling> tile;
  tile.fixed = x;
  frame<Body, Tiling> frame;
  if constexpr (folds_ahead<Args>) evaluate<rows_before_fold<Body, Args, false>>(frame, tile, args);
  else evaluate<column_values<Body>>(frame, tile, args);
  // Where elements follow, or a fold would look at each row, reductions take the more steps: without a look.
  if constexpr ((column_shift_facts<Body>::twice || folds_any_items<Body, Tiling>)&&Tiling::items > 1) {
#pragma unroll 1
    for (; r + (Tiling::items - 1) * stride < stop; r += stride * Tiling::items) {
      tile.template place<Tiling::items>(r, stride, stop - 1);
      evaluate_and_step<elements_of_phase<Body, 0>, 0, Tiling::width>(acc, frame, tile, args);
    }
  }
  for (; r < stop; r += stride * Tiling::items) {
#pragma unroll
    for (int u = 0; u < Tiling::items; ++u) {
      tile.ok[u] = r + u * stride < stop;
      tile.at[u] = tile.ok[u] ? r + u * stride : r;  // a row that is shifted alike
    }
    evaluate_and_step<elements_of_phase<Body, 0>, 0, Tiling::width>(acc, frame, tile, args);
  }
  if constexpr (column_shift_facts<Body>::once) return stop + ((r - stop) & (stride - 1));
  else return stop + (r - stop) % stride;
}

/// The same with results for each element of `lanes`, tile by tile: the first begins at row r, the others `apart` below
/// one another. The first one that is not walked because it ends behind `stop`; with `rest` what is above stop is.
template <class Body, class Tiling, class Accumulators, class Args>
__device__ __forceinline__ int walk_storing(Accumulators& acc, const Args& args, int x, unsigned lanes, int r, int stop,
                                            int stride, int apart, bool rest) {
  if (r >= stop) return r;
  tile<Tiling> tile;
  tile.fixed = x;
  tile.staging = {lanes, (1u << Tiling::width) - 1};
  frame<Body, Tiling> frame;
  if constexpr (folds_ahead<Args>) evaluate<rows_before_fold<Body, Args, false>>(frame, tile, args);
  else evaluate<column_values<Body>>(frame, tile, args);
  constexpr int items = Tiling::items;
#pragma unroll 1
  for (; r + (items - 1) * stride < stop; r += apart) {
    tile.template place<items>(r, stride, stop - 1);
    evaluate_and_step<elements_of_phase<Body, 0>, 0, Tiling::width>(acc, frame, tile, args);
  }
  if (items > 1 && rest && r < stop) {
    tile.template place<0>(r, stride, stop - 1);
    evaluate_and_step<elements_of_phase<Body, 0>, 0, Tiling::width>(acc, frame, tile, args);
    r += apart;
  }
  return r;
}

/// Threads of equal lead combine their states, [lane of the vector][thread] for each reduction: `leads` threads of each
/// column are left.
template <bool Wanted, int I, class S, int Width, class Body>
__device__ __forceinline__ column_states<typename reduction_of<S>::state> shifted_states(unsigned char* storage) {
  constexpr int offset = phase_offset<Body, 0, I, Width * column_block>;
  return {reinterpret_cast<typename reduction_of<S>::state*>(storage + offset)};
}
template <bool Wanted, int I, class S, int Width, class Body, class Accumulators>
__device__ __forceinline__ void leave_lanes(Accumulators& acc, unsigned char* storage) {
  if constexpr (Wanted) {
    const auto shared = shifted_states<Wanted, I, S, Width, Body>(storage);
#pragma unroll
    for (int j = 0; j < Width; ++j) shared.of(j, static_cast<int>(threadIdx.x)) = lanes_of<I>(acc)[j];
  }
}
template <bool Wanted, int I, class S, int Width, class Body>
__device__ __forceinline__ void combine_alike(unsigned char* storage, int distance) {
  if constexpr (Wanted) {
    const auto shared = shifted_states<Wanted, I, S, Width, Body>(storage);
    const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int j = 0; j < Width; ++j)
      shared.of(j, thread) = reduction_of<S>::combine(shared.of(j, thread), shared.of(j, thread + distance));
  }
}
/// Column c of the block.
template <bool Wanted, int I, class S, int Width, class Body, class Accumulators>
__device__ __forceinline__ void find_column(Accumulators& acc, unsigned char* storage, int c, int along, int leads,
                                            const row_shift& shift) {
  if constexpr (Wanted) {
    const auto shared = shifted_states<Wanted, I, S, Width, Body>(storage);
    auto& state = lanes_of<I>(acc)[0] = reduction_of<S>::init();
    for (int y = 0; y < leads; ++y) {
      const int at = c + lead_of_row<Width>(shift, y);
      state = reduction_of<S>::combine(state, shared.of(at % Width, y * along + at / Width));
    }
  }
}

/// The results of a thread's columns, which lie as vectors do.
template <int Width, class Body, std::size_t... I, class Accumulators, class Args>
__device__ __forceinline__ void finish_whole(Body body, std::index_sequence<I...> numbers, Accumulators& acc,
                                             const Args& args) {
  tile<tiling<loop_var::x, loop_var::r, Width, 1, int>> tile;
  tile.fixed = (static_cast<int>(blockIdx.x) * column_block + static_cast<int>(threadIdx.x)) * Width;
  if (tile.fixed >= static_cast<int>(args.numel)) return;
  frame<Body, tiling<loop_var::x, loop_var::r, Width, 1, int>> f;
  evaluate<rows_of_phase<Body, 0>>(f, tile, args, true);
  finish_columns<0, Width>(body, numbers, acc, f);
  evaluate<rows_of_phase<Body, 1>>(f, tile, args, true);
}

/// After all rows: threads leave their states, and those of equal lead combine them. So many states of each column are
/// left, which find_column looks for.
template <int Width, class... S, std::size_t... I, class Accumulators>
__device__ __forceinline__ int combine_leads(body<S...>, std::index_sequence<I...>, Accumulators& acc, int along,
                                             const row_shift& shift, unsigned char* storage) {
  using B = sinter::body<S...>;
  const int thread = static_cast<int>(threadIdx.x), period = shift.step == 0 ? 1 : Width;
  int leads = column_block / along;
  (leave_lanes<has_state<S>, static_cast<int>(I), S, Width, B>(acc, storage), ...);
  for (; leads > period; leads /= 2) {
    __syncthreads();
    const int distance = leads / 2 * along;
    if (thread < distance) (combine_alike<has_state<S>, static_cast<int>(I), S, Width, B>(storage, distance), ...);
  }
  __syncthreads();
  return leads;
}

/// Then results, or what a part leaves. The columns of the set.
template <int Width, class... S, std::size_t... I, class Accumulators, class Args>
__device__ __forceinline__ shared_columns finish_shifted(body<S...> body, std::index_sequence<I...> numbers,
                                                         Accumulators& acc, const Args& args, const split_part& part,
                                                         const column_shape& shape, const row_shift& shift, int set,
                                                         int split, unsigned char* storage) {
  using B = sinter::body<S...>;
  const int thread = static_cast<int>(threadIdx.x), along = shape.along;
  const int leads = combine_leads<Width>(body, numbers, acc, along, shift, storage);
  const std::int64_t first = static_cast<std::int64_t>(set) * shape.span;
  const std::int64_t end = first + shape.span < args.numel ? first + shape.span : args.numel;
  for (int c = thread; c < end - first; c += column_block) {
    accumulators<B, 1> one;
    (find_column<has_state<S>, static_cast<int>(I), S, Width, B>(one, storage, c, along, leads, shift), ...);
    if (part.splits > 1) publish_columns<1>(body, numbers, one, part, args.numel, first + c, split);
    else finish_single_column(body, numbers, args, one, part, first + c);
  }
  return {set, first, end};
}

/// Where a thread's vectors lie in rows of a block, `along` of whose threads take one: of the columns from `first` on,
/// of which the last is in front of `end`. Row r is one of the thread's.
template <int Width>
struct vector_place {
  int x, lane;                  // the last one's, if `lane` is a later one
  int first_whole, last_whole;  // rows in front of which, from which on a vector is cut

  __device__ __forceinline__ vector_place(const row_shift& shift, int r, int first, int end, int along, int numel,
                                          int rows) {
    const int begin = first - lead_of_row<Width>(shift, r), last = begin + (end - 1 - begin) / Width * Width;
    lane = begin + static_cast<int>(threadIdx.x) % along * Width;
    x = lane < last ? lane : last;
    // Beside the columns lie other rows, but for those at the ends of memory.
    first_whole = x < 0 ? Width - 1 : 0;
    last_whole = x + Width > numel ? rows - (Width - 1) : rows;
  }
  /// Those that are of these columns.
  __device__ __forceinline__ unsigned lanes(int first, int end) const {
    unsigned all = 0;
#pragma unroll
    for (int j = 0; j < Width; ++j) all |= lane + j >= first && lane + j < end ? 1u << j : 0;
    return all;
  }
};

/// Steps through rows `top`, top + apart, … below `stop`, or those of them that are one block's of so many that take
/// them in turn, as many as a column has threads. Of rows that are shifted, and more than one, Width threads or
/// more share a column, or as many as it takes for them to be shifted alike, or all rows are.
template <class Body, int Width, int Items, class Accumulators, class Args>
__device__ __forceinline__ void walk_columns(Accumulators& acc, const Args& args, int rows, int along,
                                             const row_shift& shift, int first, int end, int top, int stop,
                                             int apart = 1, int blocks = 1) {
  const int stride = column_block / along * apart * blocks;
  int r = top + static_cast<int>(threadIdx.x) / along * apart;
  const vector_place<Width> place(shift, r, first, end, along, static_cast<int>(args.numel), rows);
  start<0, Width>(Body{}, std::make_index_sequence<Body::size>{}, acc);
  const auto walk = [&] {
#pragma unroll 1
    for (int piece = 0; piece < 3; ++piece) {
      const int until = piece == 0   ? place.first_whole
                        : piece == 1 ? place.last_whole
                                     : stop,
                mine = until < stop ? until : stop;
      using vectors = drifting_tiling<Width, Items, drift::whole>;
      using elements = drifting_tiling<Width, 1, drift::single>;
      if (piece == 1) r = walk_rows<Body, vectors>(acc, args, place.x, r, mine, stride);
      else r = walk_rows<Body, elements>(acc, args, place.x, r, mine, stride);
    }
  };
  if constexpr (folds_ahead<Args>) begin_ahead<Args>(walk);
  else walk();
}

/// The same with results for each element, in tiles of Items * column_block / along rows that begin `apart` below one
/// another.
template <class Body, int Width, int Items, class Accumulators, class Args>
__device__ __forceinline__ void walk_storing_columns(Accumulators& acc, const Args& args, int rows, int along,
                                                     const row_shift& shift, int first, int end, int top, int stop,
                                                     int apart) {
  using vectors = storing_tiling<Width, Items, drift::whole>;
  using elements = storing_tiling<Width, 1, drift::single>;
  const int stride = column_block / along, of_tile = static_cast<int>(threadIdx.x) / along;
  int r = top + of_tile;
  const vector_place<Width> place(shift, r, first, end, along, static_cast<int>(args.numel), rows);
  const unsigned lanes = place.lanes(first, end);
  start<0, Width>(Body{}, std::make_index_sequence<Body::size>{}, acc);
  const bool whole = place.first_whole == 0 && place.last_whole == rows;
  const int first_whole = place.first_whole < stop ? place.first_whole : stop,
            last_whole = place.last_whole < stop ? place.last_whole : stop;
  const auto walk = [&] {
    if (lanes == 0) return;
#pragma unroll 1
    for (int piece = 0; piece < 3; ++piece) {  // a warp's threads walk the second one together
      if (piece == 1) {
        r = walk_storing<Body, vectors>(acc, args, place.x, lanes, r, last_whole, stride, apart, whole);
        continue;
      }
#pragma unroll 1
      for (; r < (piece == 0 ? first_whole : stop); r += apart) {
        const int next = r - of_tile + Items * stride;
        walk_storing<Body, elements>(acc, args, place.x, lanes, r, next < stop ? next : stop, stride, stride, false);
      }
    }
  };
  if constexpr (folds_ahead<Args>) begin_ahead<Args>(walk);
  else walk();
}

/// Columns shape.span * set, … or, where they are split, part number `split` of them, a multiple of the threads of a
/// column long.
template <class Body, int Width, int Items, class Args>
__device__ __forceinline__ void reduce_shifted_columns(const Args& args, const split_part& part,
                                                       const column_shape& shape, const row_shift& shift, int set,
                                                       int split, unsigned char* storage) {
  using numbers = std::make_index_sequence<Body::size>;
  using facts = column_shift_facts<Body>;
  accumulators<Body, Width> acc;
  const int rows = static_cast<int>(args.rnumel), top = static_cast<int>(split * part.length),
            stop = static_cast<int>(top + part.length < rows ? top + part.length : rows);
  const int first = set * shape.span, all = static_cast<int>(args.numel), next = first + shape.span,
            end = facts::stores && next < all ? next : all;
  [[maybe_unused]] const int deep = column_block / shape.along;
  [[maybe_unused]] const bool may_turn = rows < 1 << 30;  // or numbers of rows to come would overflow
  if constexpr (facts::once && facts::stores) {
    // Parts of long columns take tiles in turn: what is read and written at a time lies together, as in a copy. Of 16
    // tiles and more, one that some have more than others is little.
    const int tile = Items * deep;
    const bool in_turn = may_turn && part.length >= 16 * tile;
    walk_storing_columns<Body, Width, Items>(acc, args, rows, shape.along, shift, first, end,
                                             in_turn ? split * tile : top, in_turn ? rows : stop,
                                             in_turn ? part.splits * tile : tile);
  } else if constexpr (facts::once) {
    walk_columns<Body, Width, Items>(acc, args, rows, shape.along, shift, first, end, top, stop);
  } else {  // whose elements are stored in turn
    walk_columns<Body, Width, Items>(acc, args, rows, shape.along, shift, first, end, may_turn ? split * deep : top,
                                     may_turn ? rows : stop, 1, may_turn ? part.splits : 1);
  }
  if constexpr (facts::once)
    if (shape.whole) return finish_whole<Width>(Body{}, numbers{}, acc, args);
  const shared_columns columns =
      finish_shifted<Width>(Body{}, numbers{}, acc, args, part, shape, shift, set, split, storage);
  if (part.splits > 1)
    meet_columns(Body{}, numbers{}, args, part, args.numel, columns, static_cast<int>(threadIdx.x), storage);
}

template <class Body, int Width>
inline constexpr int shifted_storage = phase_offset<Body, 0, Body::size, Width * column_block>;

}  // namespace detail

/// blockIdx.y is the part of split columns.
template <class Body, int Width, int Items, int MinBlocks, class Args>
__global__ void __launch_bounds__(detail::column_block, MinBlocks)
    reduction_column_shifted(const Args args, const split_part part, const detail::column_shape shape,
                             const detail::row_shift shift) {
  if constexpr (!detail::folds_ahead<Args>) detail::begin_kernel<Args::next_reads_ahead>();
  alignas(16) __shared__ unsigned char storage[detail::shifted_storage<Body, Width>];
  detail::reduce_shifted_columns<Body, Width, Items>(args, part, shape, shift, static_cast<int>(blockIdx.x),
                                                     static_cast<int>(blockIdx.y), storage);
}

}  // namespace sinter::cuda
