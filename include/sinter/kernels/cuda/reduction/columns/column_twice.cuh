// Columns of a phase that reduces and one that stores, of rows that begin anywhere and more than the chip holds: blocks
// that all run at once walk all rows as those of column_shifted.cuh do, meet, and walk them again for the elements.
// Then each vector that is aligned in memory is one thread's, which has the same columns in all its rows. Launching is
// launch.cuh's matter. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/reduction/columns/column_shifted.cuh"

namespace sinter::cuda {

/// The elements of columns that are known, in chunks of rows that blocks take in turn.
struct known_share {
  int along = 1, sets = 1;      // threads of a row, whose columns are a set
  int chunk = 1, chunks = 1;    // rows; of a set
  unsigned* counter = nullptr;  // where all blocks meet
};

namespace detail {

template <class Body, int Width>
inline constexpr int known_items = column_accesses_of<Body>::loads(Width) > 1 ? 2 : 4;
/// Of vectors of eight half as many again where states are all that rows leave: two blocks have as much on its way as
/// three.
template <class Body, int Width>
inline constexpr int reduced_items = known_items<Body, Width>*(Width < 8 ? 2 : 3) / 2;

/// Is there a result for each column, too?
template <class Body>
inline constexpr bool stores_rows = [] {
  for (int s = 0; s < Body::size; ++s)
    if (phase_facts<Body>::is_row(s) && rows_without_stores<Body, 0>::is_store(s)) return true;
  return false;
}();

/// Blocks of a multiprocessor: of 80 registers for each thread if those do.
template <class Body, int Width>
inline constexpr int twice_blocks = column_shift_facts<Body>::state_bytes <= 24 && Width == 4 ? 3 : 2;

/// Where the states lie that are known, one for each of numel columns; of a lane beside them the nearest one's.
struct known_columns {
  const void* states;
  int numel;
  __device__ __forceinline__ int of(int x) const { return x < 0 ? 0 : x < numel ? x : numel - 1; }
};

/// What the reductions have left of a column. All have left it before they met, and the L1 has seen none of it before
/// that: plain reads, for all warps of all blocks ask for a few columns, which is too much for the L2.
template <class Body, class Frame, class Known>
__device__ __forceinline__ void find_results(Frame& f, const Known& columns, int x) {
  using left = sinter::detail::split_facts<typename without_known<Body>::type>;
  reductions_of_phase<Body, 0>::each([&]<int N, class S>(std::integral_constant<int, N>, S) {
    constexpr int known = known_greatest<Body>::template is<N>, from = known < 0 ? N : known;
    using state = typename reduction_of<sinter::detail::statement_of<Body, from>>::state;
    const auto* const states = reinterpret_cast<const state*>(static_cast<const unsigned char*>(columns.states) +
                                                              left::offset(from, columns.numel, 1));
#pragma unroll
    for (int j = 0; j < Frame::tiling::width; ++j) {
      const state found = states[columns.of(x + j)];
      if constexpr (known < 0) lanes_of<N>(f)[j] = reduction_of<S>::finish(found);
      else lanes_of<N>(f)[j] = reduction_of<S>::finish({found.greatest});
    }
  });
}

template <class Body, class Args>
__device__ __forceinline__ void store_known_column(const Args& args, const known_columns& known, int x) {
  using single = tiling<loop_var::x, loop_var::r, 1, 1, int>;
  tile<single> tile;
  tile.fixed = x;
  frame<Body, single> f;
  evaluate<rows_of_phase<Body, 0>>(f, tile, args, true);
  find_results<Body>(f, known, x);
  evaluate<rows_of_phase<Body, 1>>(f, tile, args, true);
  evaluate<rows_of_phase<Body, 2>>(f, tile, args, true);
}

/// Rows r, r + stride, … below stop; the first one that is not.
template <class Body, class Tiling, class Args, class Known>
__device__ __forceinline__ int walk_known(const Args& args, const Known& known, int x, unsigned lanes, int r, int stop,
                                          int stride) {
  if (r >= stop) return r;
  asm volatile("" : "+r"(x));  // or addresses that follow from it wait in registers for every piece
  tile<Tiling> tile;
  tile.fixed = x;
  tile.staging = {lanes, (1u << Tiling::width) - 1};
  frame<Body, Tiling> frame;
  evaluate<rows_without_stores<Body, 0>>(frame, tile, args);
  find_results<Body>(frame, known, x);
  evaluate<rows_without_stores<Body, 1>>(frame, tile, args);
  constexpr int items = Tiling::items;
  const int step = items * stride;
#pragma unroll 1
  for (; r + step - stride < stop; r += step) {
    tile.template place<items>(r, stride, stop - 1);
    evaluate<elements_of_phase<Body, 1>>(frame, tile, args);
  }
  if (items > 1 && r < stop) {
    tile.template place<0>(r, stride, stop - 1);
    evaluate<elements_of_phase<Body, 1>>(frame, tile, args);
  }
  return stop + ((r - stop) & (stride - 1));
}

/// All blocks meet.
__device__ __forceinline__ void meet_all(unsigned* counter) {
  if (threadIdx.x == 0) {
    const meeting_place place{counter, gridDim.x, gridDim.x};
    place.come();
    place.wait_for_all();
  }
  __syncthreads();
}

/// Chunk `number` of `rows` rows: from the last rows to the first, because what was read last may still be in the L2.
template <class Body, int Width, int Items, class Args, class Known>
__device__ __forceinline__ void walk_chunk(const Args& args, const Known& known, int rows, const known_share& share,
                                           const row_shift& shift, int number) {
  using vectors = storing_tiling<Width, Items, drift::whole>;
  using elements = storing_tiling<Width, 1, drift::single>;
  const int along = share.along, deep = column_block / along, numel = static_cast<int>(args.numel);
  const int first = (share.chunks - 1 - number / share.sets) * share.chunk, chunk_end = first + share.chunk,
            end = chunk_end < rows ? chunk_end : rows;
  int r = first + static_cast<int>(threadIdx.x) / along;
  const vector_place<Width> place(shift, r, number % share.sets * along * Width, numel, along, numel, rows);
  const unsigned lanes = place.lanes(0, numel);
  if (lanes == 0) return;
#pragma unroll 1
  for (int piece = 0; piece < 3; ++piece) {
    const int stop = piece == 0   ? place.first_whole
                     : piece == 1 ? place.last_whole
                                  : end,
              mine = stop < end ? stop : end;
    if (piece == 1) r = walk_known<Body, vectors>(args, known, place.x, lanes, r, mine, deep);
    else r = walk_known<Body, elements>(args, known, place.x, lanes, r, mine, deep);
  }
}

/// All chunks, and what columns have a result of besides.
template <class Body, class Elements, int Width, int Items, class Args, class Known>
__device__ __forceinline__ void walk_chunks(const Args& args, const Args& elements, const Known& known, int rows,
                                            const known_share& share, const row_shift& shift) {
  const int blocks = static_cast<int>(gridDim.x), block = static_cast<int>(blockIdx.x);
  if constexpr (stores_rows<Body>) {
    for (int x = block * column_block + static_cast<int>(threadIdx.x); x < args.numel; x += blocks * column_block)
      store_known_column<Body>(args, known, x);
  }
#pragma unroll 1
  for (int number = block; number < share.sets * share.chunks; number += blocks)
    walk_chunk<Elements, Width, Items>(elements, known, rows, share, shift, number);
}

}  // namespace detail

/// All blocks run at once, MinBlocks on each multiprocessor at most.
template <class Body, int Width, int Items, int MinBlocks, class Args>
__global__ void __launch_bounds__(detail::column_block, MinBlocks)
    reduction_column_twice(const Args args, const split_part part, const detail::column_shape shape,
                           const known_share share, const detail::row_shift shift) {
  detail::begin_kernel<Args::next_reads_ahead>();
  using first = typename detail::without_known<Body>::type;
  alignas(16) __shared__ unsigned char storage[detail::shifted_storage<first, Width>];
  const int blocks = static_cast<int>(gridDim.x), block = static_cast<int>(blockIdx.x);
  const int sets = static_cast<int>(shape.tiles), units = sets * part.splits;
  // A block has several only of columns that are not split: parts of a set, which wait for each other, run at once.
  for (int unit = block; unit < units; unit += blocks) {
    detail::reduce_shifted_columns<first, Width, detail::reduced_items<Body, Width>>(args, part, shape, shift,
                                                                                     unit % sets, unit / sets, storage);
    __syncthreads();
  }
  detail::meet_all(share.counter);
  const detail::known_columns known{detail::whole_of(part, args.numel, first{}).states, static_cast<int>(args.numel)};
  detail::walk_chunks<Body, Body, Width, Items>(args, args, known, static_cast<int>(args.rnumel), share, shift);
}

}  // namespace sinter::cuda
