// Rows that the threads of each walk by themselves, row after row: the column part of a row, into states that the
// thread of a column keeps, then the row part, as the kernels that hold rows do it. SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/kernels/cuda/reduction/mix_order/loads_ahead.cuh"
#include "sinter/kernels/cuda/reduction/rows/persistent.cuh"

namespace sinter::cuda::detail {

/// The threads of a row of which a block has several, each of which walks for itself: in known number, some whole
/// warps, or some of one.
template <int Threads>
struct walking_threads : row_threads<Threads> {
  using all = row_threads<Threads>;
  /// How many rows of its warp are before this thread's.
  static __device__ __forceinline__ int behind() { return threadIdx.y % (32 / all::lanes()); }
  static __device__ __forceinline__ void sync() {
    asm volatile("bar.sync %0, %1;" ::"r"(threadIdx.y + 1), "r"(all::count()) : "memory");
  }
};
template <>
inline constexpr bool count_varies<walking_threads<some_warps>> = true;
template <>
inline constexpr int most_warps<walking_threads<some_threads>> = 1;

/// Rows mine, mine + apart, ... of args: of a block's rows at a time one is `between` after the other. `place` puts a
/// tile at a thread's columns.
template <class Row, class Column, class Next, class Sums, class Args, class Threads, class Place>
__device__ __forceinline__ void walk_rows(Sums& sums, const Args& args, int mine, int between, int apart,
                                          unsigned char* storage, const Threads& walker, const Place& place) {
  using row_tiling = typename Next::row_tiling;
  Next next;
  tile<row_tiling> row_tile;
  tile<typename Next::column_tiling> column_tile;
  place(row_tile), place(column_tile), place(next.row_tile), place(next.column_tile);
  next.begin(args);
  frame<Column, typename Next::column_tiling> column;
  evaluate<column_values<Column>>(column, column_tile, args);
  // A warp that has several rows goes on until the last one is done.
  const int stop = static_cast<int>(args.numel), behind = walker.behind();
  if (Next::ahead && mine - behind < stop) next.send(mine < stop ? mine : stop - 1, args);
  for (int turn = 0; mine - behind < stop; mine += apart, ++turn) {
    const bool ok = walker.in_warps || mine < stop;
    row_tile.fixed = column_tile.fixed = ok ? mine : stop - 1;
    row_tile.fixed_ok = column_tile.fixed_ok = ok;
    frame<Row, row_tiling> row;
    if constexpr (!Next::ahead) next.send(row_tile.fixed, args);
    next.take(row, column);
    if constexpr (Next::ahead) next.send(mine + apart < stop ? mine + apart : row_tile.fixed, args);
    // What lies beside a row is folded, too: nobody hands it on.
    auto folded = column_tile;
#pragma unroll
    for (int u = 0; u < row_tiling::items; ++u) folded.ok[u] = true;
    evaluate<elements_of_phase<Column, 0>>(column, column_tile, args, false, [&](int u) {
      if (ok) steps_of_phase<Column, 0, row_tiling::size>::item(sums, column, folded, u);
    });
    persistent_phases<Row, row_tiling>(std::make_index_sequence<body_facts<Row>::num_phases + 1>{}, row, row_tile, args,
                                       threadIdx.x == 0 && ok,
                                       storage_of_turn<Row>(storage, turn, reducing_phases<Row>), walker);
  }
  // As many barriers for each of a block's rows: racecheck loses count otherwise.
  if (!lies_in_warp<Threads> && walker.count() > 32 && mine - static_cast<int>(threadIdx.y) * between < stop) {
#pragma unroll
    for (int p = 0; p < reducing_phases<Row>; ++p) walker.sync();
  }
}

}  // namespace sinter::cuda::detail
