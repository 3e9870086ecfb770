// Rows and columns of one space reduced in one launch, as mix_order.cuh has it, where rows begin anywhere in memory and
// take several phases. A block walks only rows that begin alike, `period` or a multiple of that apart: in vectors that
// are aligned in memory, of which its threads keep the same columns in all of them. Launching is
// mix_order_launch.cuh's matter. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/reduction/columns/column_shift.hpp"
#include "sinter/kernels/cuda/reduction/mix_order/mix_order.cuh"

namespace sinter::cuda {

namespace detail {

/// A row that may begin and end inside of a vector, and its columns.
template <class Row, int Width, int Items>
struct shifted_walk_row : shifted_tiling<Row, Width, Items> {
  static constexpr bool many_ends = true, unsplit = true;
};
template <int Width, int Items>
struct shifted_walk_tiling : walk_tiling<Width, Items> {
  static constexpr bool shifted = true;
  using staging = shifted_staging;
};

/// Elements of the vectors in which both parts can be walked so; 0: there are none, or single elements are as good,
/// those of 32 bits, or one phase walks tiles.
template <class Row, class Column>
inline constexpr int shifted_walk_width = [] {
  constexpr int row = shifted_facts<Row>::width,
                column = column_accesses_of<Column>::template width_for<column_accesses_of<Column>::stores>(0);
  return phase_facts<Row>::reads_halves && body_facts<Row>::num_phases > 1 && row == column ? row : 0;
}();

/// Threads of a multiprocessor, in one block, that find room for columns and the next row's loads, for what all rows
/// share, and for addresses and guards of what may lie beside a row. 0: there is none.
template <class Row, class Column>
constexpr int shifted_walkers(int columns) {
  return threads_of(registers_ahead<Row, Column>(columns) + columns * bytes_of_columns<Row> / 4 + 12);
}

/// How rows lie: the columns of row x begin (first + x * step) % width after a vector.
struct shifted_walk {
  row_shift shift;
  int period = 1;               // rows so far apart begin alike
  bool columns_aligned = true;  // what all rows share lies as vectors of the column part do
};

}  // namespace detail

/// One row per blockDim.x threads at a time, at least a warp. Requires 0 < args.rnumel, up to Width - 1 less than what
/// they hold, and gridDim.x a multiple of the period. Threads is some_warps when known at launch only.
template <class Row, class Column, int Width, int Items, int Threads, int MaxBlock, class Args>
__global__ void __launch_bounds__(MaxBlock, 1)
    mix_order_shifted(const Args args, const split_part part, const detail::shifted_walk walk) {
  const int set = static_cast<int>(blockIdx.x) % walk.period, rows = static_cast<int>(blockDim.y);
  const int mine =
      set + walk.period * (static_cast<int>(blockIdx.x) / walk.period * rows + static_cast<int>(threadIdx.y));
  const int apart = static_cast<int>(gridDim.x) * rows;
  detail::begin_kernel<Args::next_reads_ahead>([&] { detail::ask_walked<Row>(args, mine, apart); });
  using row_tiling = detail::shifted_walk_row<Row, Width, Items>;
  using column_tiling = detail::shifted_walk_tiling<Width, Items>;
  using numbers = std::make_index_sequence<Column::size>;
  constexpr int lanes = Width * Items;
  alignas(16) __shared__ unsigned char
      storage[detail::walk_storage<Column, lanes, Threads, MaxBlock, detail::storage_of_turns<Row>>];

  const int before = detail::lead_of_row<Width>(walk.shift, set);
  const detail::walking_threads<Threads> walker;
  const auto place = [&]<class Tiling>(detail::tile<Tiling>& t) {
    const bool aligned = Tiling::vector == loop_var::r ? walk.shift.others_aligned : walk.columns_aligned;
    detail::place_shifted<0>(t, args, before, aligned, walker.thread(), walker.count());
  };
  detail::accumulators<Column, lanes> sums;
  detail::start<0, lanes>(Column{}, numbers{}, sums);
  detail::walk_rows<Row, Column, detail::next_row<Row, Column, row_tiling, column_tiling, true, true, true>>(
      sums, args, mine, walk.period, apart, storage, walker, place);

  detail::combine_block<lanes>(Column{}, numbers{}, sums, storage);
  detail::tile<column_tiling> columns;
  place(columns);
  if (threadIdx.y == 0)
    detail::write_slot<column_tiling>(Column{}, numbers{}, sums, columns, static_cast<int>(blockIdx.x), part,
                                      args.rnumel);
  detail::meet_columns(Column{}, numbers{}, args, part, args.rnumel, {0, 0, args.rnumel},
                       static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x), storage);
}

}  // namespace sinter::cuda
