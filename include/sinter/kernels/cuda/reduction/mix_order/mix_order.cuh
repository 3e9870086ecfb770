// Mix-order reductions: rows and columns of one space reduced in one launch that reads memory once. Each block walks
// rows: first the column part of a row, into states that the thread of a column keeps, then the row part, as the
// row-reduction kernels do it. Blocks take rows in turn, so that all of them read, and write, what lies together. Their
// states meet in memory, where column_parts.cuh combines them.
// Row is a body over (x = row, r = column), Column one over (x = column, r = row) whose reductions need one pass.
// Launching, and the choice among variants, is mix_order_launch.cuh's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/overlap.cuh"
#include "sinter/kernels/cuda/reduction/columns/column_parts.cuh"
#include "sinter/kernels/cuda/reduction/mix_order/row_walk.cuh"
#include "sinter/kernels/cuda/reduction/mix_order/walk_states.cuh"
#include "sinter/kernels/cuda/reduction/rows/looped.cuh"
#include "sinter/kernels/cuda/reduction/rows/persistent.cuh"

namespace sinter::cuda::detail {

/// The columns of a row that waits in registers, and the row. What both parts read is loaded alike, so that it is
/// loaded once. Guards: as tiling's; held_tiling's own would skip items, too, whose first one must be there.
template <int Width, int Items, bool Guards = false>
struct walk_tiling : tiling<loop_var::x, loop_var::x, Width, Items, int> {
  static constexpr bool guards = Guards;
};
template <class Row, int Width, int Items, bool Guards>
struct walked_row_tiling : held_tiling<Row, Width, Items> {
  static constexpr bool guards = Guards;
};

/// 32-bit words that a thread holds per column from row to row, or from phase to phase of a row.
template <class Row, class Column>
inline constexpr int walk_words = [] {
  int words = (phase_facts<Row>::kept_bytes + 3) / 4;
  for (int bytes : sinter::detail::split_facts<Column>::bytes) words += (bytes + 3) / 4;
  return words;
}();

/// Do 64 registers do for so many columns of a thread, `width` at a time? They do for sums of 24 words, for 32 words if
/// some of them are of a row that waits for its folds, and for 16 beside single elements, each with an address and a
/// guard. Then 1024 threads run at once.
template <class Row, class Column>
constexpr bool is_light_walk(int columns, int width) {
  for (int bytes : sinter::detail::split_facts<Column>::bytes)
    if (bytes > 4) return false;  // sums of eight bytes take pairs of registers
  const int most = width == 1 ? 16 : body_facts<Row>::num_phases > 1 ? 32 : 24;
  return phase_facts<Row>::is_light && phase_facts<Column>::is_light && columns * walk_words<Row, Column> <= most;
}

/// Threads that a multiprocessor shall run at once, each of which keeps its columns: they have 128 registers, or 64
/// where those do. And blocks of so many.
template <class Row, class Column>
constexpr int walkers_at_once(int columns, int width) {
  return is_light_walk<Row, Column>(columns, width) ? 1024 : 512;
}
template <class Row, class Column>
constexpr int walks_at_once(int block, int columns, int width) {
  const int blocks = walkers_at_once<Row, Column>(columns, width) / block;
  return blocks > 0 ? blocks : 1;
}
/// Registers of a thread that has so many columns, and the next row's loads on their way: each takes one beside what
/// the row in front keeps, and another for what becomes of it.
template <class Row, class Column>
constexpr int registers_ahead(int columns) {
  return columns * (4 * walk_words<Row, Column> + 2 * ahead_bytes<Row, Column>) / 4 + 16;
}
/// Threads that have so many, as many in each quarter of a multiprocessor; 0: none has.
constexpr int threads_of(int registers) {
  const int threads = 65536 / ((registers + 7) / 8 * 8) / 128 * 128;
  return registers > 128 ? 0 : threads < 1024 ? threads : 1024;
}
/// Do a row's loads go ahead while the row in front waits for its folds? Single elements, each with an address and a
/// guard, find room among 128 registers alone, halves of rows whose threads are counted at launch not even there.
template <class Row, class Column, int Width, int Items, int Threads, int Block>
inline constexpr bool goes_ahead = [] {
  constexpr int columns = Width * Items;
  const int registers = 65536 / (Block * walks_at_once<Row, Column>(Block, columns, Width)) / 8 * 8;
  const bool in_vectors = Width > 1, known = Threads > 0 || !phase_facts<Row>::reads_halves;
  return body_facts<Row>::num_phases > 1 && (in_vectors || (registers >= 128 && known)) &&
         registers_ahead<Row, Column>(columns) <= registers;
}();

/// Threads of a run-time row that has its block for itself, where so many, and not all that could run, leave registers
/// for the next row's loads. 0: there is no such number.
template <class Row, class Column, int Width, int Items>
inline constexpr int walkers_alone = [] {
  constexpr int columns = Width * Items, most = walkers_at_once<Row, Column>(columns, Width),
                fewer = threads_of(registers_ahead<Row, Column>(columns));
  if constexpr (fewer <= most / 2 || fewer >= most || goes_ahead<Row, Column, Width, Items, some_warps, most>) return 0;
  else return goes_ahead<Row, Column, Width, Items, some_warps, fewer> ? fewer : 0;
}();

/// Bytes of its first rows that a block asks for, for each thread of a row: while the blocks of the kernel in front
/// meet, memory is idle.
inline constexpr int asked_walked = 96;
/// Asks for them: a thread's row `mine`, and those `apart` behind one another.
template <class Row, class Args>
__device__ __forceinline__ void ask_walked(const Args& args, std::int64_t mine, int apart) {
  if (threadIdx.x != 0) return;
  const int length = static_cast<int>(args.rnumel);
  const int bytes = length * stream_facts<Row>::bytes, most = asked_walked * static_cast<int>(blockDim.x);
  for (int asked = 0; asked < most && bytes > 0; asked += bytes, mine += apart)
    rows_ahead<Row>::ask(args, mine, 0, length);
}

/// Threads of the looped kernel.
inline constexpr int walk_block = 256;

/// Rows of one phase do not wait for their barrier one by one: each warp leaves what it has of so many of them, and
/// then every warp puts some of the rows together.
inline constexpr int rows_of_batch = 16;
template <class Row, int Threads>
inline constexpr bool rows_in_batches = body_facts<Row>::num_phases == 1 && (Threads == some_warps || Threads > 32);

/// Does a row have one load for each `width` columns, which both parts read?
template <class Row, class Column>
constexpr bool reads_alone(int width) {
  return phase_facts<Row>::loads(loop_var::r, width) == 1 && phase_facts<Column>::loads(loop_var::x, width) == 1;
}
/// Rows that a thread loads at a time: then as many as make four vectors.
template <class Row, class Column, int Width, int Items>
inline constexpr int rows_at_once =
    reads_alone<Row, Column>(Width) && Items < 4 && is_light_walk<Row, Column>(Width* Items, Width) ? 4 / Items : 1;

/// Both parts of a row that a thread has read.
template <class Row, class Column, class RowTiling, class ColumnTiling>
struct walked_row {
  static constexpr int lanes = RowTiling::size;
  frame<Row, RowTiling> row;
  frame<Column, ColumnTiling> column;

  template <class Args>
  __device__ __forceinline__ void read(const frame<Column, ColumnTiling>& values, const tile<RowTiling>& row_tile,
                                       const tile<ColumnTiling>& column_tile, const Args& args, bool writer) {
    column = values;
    evaluate<elements_of_phase<Column, 0>>(column, column_tile, args);
    evaluate<rows_of_phase<Row, 0>>(row, row_tile, args, writer);
    evaluate<elements_of_held_phase<Row, 0, RowTiling::anew>>(row, row_tile, args);
  }
  template <int Ways, class OfRow, class OfColumns>
  __device__ __forceinline__ void step(OfRow& of_row, OfColumns& sums, const tile<RowTiling>& row_tile,
                                       const tile<ColumnTiling>& column_tile, bool ok) {
#pragma unroll
    for (int u = 0; u < RowTiling::items; ++u) {
      if (ok) steps_of_phase<Column, 0, lanes>::item(sums, column, column_tile, u);
      steps_of_phase<Row, 0, Ways>::item(of_row, row, row_tile, u);
    }
    steps_of_phase<Row, 0, Ways>::tile_done(of_row, row, row_tile);
  }
};

/// What is left of a row whose warps have left their states.
template <class Row, class Tiling, class Args, class... S, std::size_t... I, class Threads>
__device__ __forceinline__ void finish_batched_row(body<S...>, std::index_sequence<I...>, const tile<Tiling>& t,
                                                   const Args& args, unsigned char* storage, const Threads& threads) {
  frame<Row, Tiling> row;
  evaluate<column_values<Row>>(row, t, args);
  accumulators<Row, 1> acc;
  (combine_warps<Threads, reduces_in<Row, 0, I>, 0, static_cast<int>(I), S, Row>(acc, storage, threads), ...);
  finish_row_phase<0>(Row{}, std::make_index_sequence<Row::size>{}, acc, row, threads);
  evaluate<rows_of_phase<Row, 1>>(row, t, args, threads.thread() % 32 == 0);
}
template <int Ways, class Accumulators, class... S, std::size_t... I, class Threads>
__device__ __forceinline__ void leave_warps(body<S...>, std::index_sequence<I...>, Accumulators& acc,
                                            unsigned char* storage, const Threads& threads) {
  using B = body<S...>;
  (combine_lanes<Threads, reduces_in<B, 0, I>, 0, static_cast<int>(I), S, Ways, B>(acc, storage, threads), ...);
}

}  // namespace sinter::cuda::detail

namespace sinter::cuda {

/// One row per blockDim.x threads at a time, all of it in registers, as are the states of all columns. Requires
/// 0 < args.rnumel <= blockDim.x * Items * Width, equal to it if Exact. Threads is some_threads or some_warps when
/// known at launch only.
template <class Row, class Column, int Width, int Items, int Threads, int MaxBlock, bool Exact, class Args>
__global__ void __launch_bounds__(MaxBlock, detail::walks_at_once<Row, Column>(MaxBlock, Width* Items, Width))
    mix_order_persistent(const Args args, const split_part part) {
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * blockDim.y, end = args.numel;
  const int apart = static_cast<int>(gridDim.x * blockDim.y);
  detail::begin_kernel<Args::next_reads_ahead>([&] { detail::ask_walked<Row>(args, begin + threadIdx.y, apart); });
  // Loads are guarded, so that a thread's items share an address, and what a warp has lies side by side, so that the
  // compiler knows how far apart they are. Rows in batches have no registers for guards.
  constexpr bool guards = !Exact && Items > 1 && body_facts<Row>::num_phases > 1;
  constexpr bool side_by_side = guards && Threads == detail::some_warps;
  using row_tiling = detail::walked_row_tiling<Row, Width, Items, guards>;
  using column_tiling = detail::walk_tiling<Width, Items, guards>;
  using numbers = std::make_index_sequence<Column::size>;
  constexpr int lanes = row_tiling::size;
  constexpr bool in_batches = detail::rows_in_batches<Row, Threads>;
  constexpr int row_bytes = detail::largest_phase<Row, 32>, batch_bytes = detail::rows_of_batch * row_bytes;
  constexpr int rows_bytes = in_batches ? 2 * batch_bytes : detail::storage_of_turns<Row>;
  alignas(16) __shared__ unsigned char storage[detail::walk_storage<Column, lanes, Threads, MaxBlock, rows_bytes>];

  const int threads = detail::row_threads<Threads>::count();
  const int thread = static_cast<int>(threadIdx.x), last_column = static_cast<int>(args.rnumel) - Width;
  const int first_column = (side_by_side ? thread / 32 * (32 * Items) + thread % 32 : thread) * Width;
  const int stride = (side_by_side ? 32 : threads) * Width;
  detail::tile<row_tiling> row_tile;
  detail::tile<column_tiling> column_tile;
  row_tile.template place<(Exact ? Items : 0)>(first_column, stride, last_column);
  column_tile.template place<(Exact ? Items : 0)>(first_column, stride, last_column);

  detail::frame<Column, column_tiling> column;
  detail::accumulators<Column, lanes> sums;
  detail::start<0, lanes>(Column{}, numbers{}, sums);
  detail::evaluate<detail::column_values<Column>>(column, column_tile, args);

  const detail::row_threads<Threads> walkers_of_row;
  int turn = 0;
  if (in_batches && threads > 32) {
    if constexpr (in_batches) {
      using row_numbers = std::make_index_sequence<Row::size>;
      constexpr int ways = detail::row_ways<Row, row_tiling>, at_once = detail::rows_at_once<Row, Column, Width, Items>;
      for (std::int64_t first = begin; first < end; first += detail::rows_of_batch * apart, turn ^= 1) {
        unsigned char* const batch = storage + turn * batch_bytes;
        const std::int64_t at = first + threadIdx.y, left = (end - at + apart - 1) / apart;
        const int count = left < detail::rows_of_batch ? static_cast<int>(left) : detail::rows_of_batch;
        for (int k = 0; k < count; k += at_once) {
          detail::walked_row<Row, Column, row_tiling, column_tiling> rows[at_once];
#pragma unroll
          for (int q = 0; q < at_once; ++q) {
            const bool ok = k + q < count;
            row_tile.fixed = column_tile.fixed = static_cast<int>(at) + (ok ? k + q : k) * apart;
            row_tile.fixed_ok = column_tile.fixed_ok = ok;
            rows[q].read(column, row_tile, column_tile, args, threadIdx.x == 0 && ok);
          }
#pragma unroll
          for (int q = 0; q < at_once; ++q) {
            detail::accumulators<Row, ways> acc;
            detail::start<0, ways>(Row{}, row_numbers{}, acc);
            rows[q].template step<ways>(acc, sums, row_tile, column_tile, k + q < count);
            detail::leave_warps<ways>(Row{}, row_numbers{}, acc, batch + (k + q) * row_bytes, walkers_of_row);
          }
        }
        walkers_of_row.sync();
        for (int k = walkers_of_row.thread() / 32; k < count; k += walkers_of_row.warps()) {
          row_tile.fixed = static_cast<int>(at) + k * apart;
          detail::finish_batched_row<Row>(Row{}, row_numbers{}, row_tile, args, batch + k * row_bytes, walkers_of_row);
        }
      }
    }
  } else if constexpr (!in_batches || Threads == detail::some_warps) {
    constexpr bool ahead = detail::goes_ahead<Row, Column, Width, Items, Threads, MaxBlock>;
    constexpr bool in_turn = ahead && Threads == detail::some_warps;  // of known number some spill registers then
    detail::walk_rows<Row, Column, detail::next_row<Row, Column, row_tiling, column_tiling, ahead, in_turn>>(
        sums, args, static_cast<int>(begin + threadIdx.y), 1, apart, storage, detail::walking_threads<Threads>{},
        [&](auto& t) { t.template place<(Exact ? Items : 0)>(first_column, stride, last_column); });
  }
  detail::combine_block<lanes>(Column{}, numbers{}, sums, storage);
  if (threadIdx.y == 0)
    detail::write_slot<column_tiling>(Column{}, numbers{}, sums, column_tile, static_cast<int>(blockIdx.x), part,
                                      args.rnumel);
  if (args.rnumel > 0)
    detail::meet_columns(Column{}, numbers{}, args, part, args.rnumel, {0, 0, args.rnumel},
                         static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x), storage);
}

/// Any extents: a row at a time, walked in tiles once per phase; then, while the rows are in the cache, the columns of
/// a few of them, tile after tile, with their states in memory in between.
template <class Row, class Column, int Width, int Items, class Index, class Args>
__global__ void __launch_bounds__(detail::walk_block, 2) mix_order_looped(const Args args, const split_part part) {
  detail::begin_kernel<Args::next_reads_ahead>();
  using row_tiling = detail::tiling<loop_var::r, loop_var::r, Width, Items, Index>;
  using column_tiling = detail::tiling<loop_var::x, loop_var::x, Width, Items, Index>;
  using numbers = std::make_index_sequence<Column::size>;
  constexpr int lanes = row_tiling::size;
  constexpr int ways = detail::row_ways<Row, row_tiling>;
  constexpr std::int64_t rows_at_once = 4;
  constexpr Index stride = detail::walk_block * Width;
  constexpr int row_bytes = detail::storage_of_turns<Row>;
  constexpr int meeting_bytes = detail::walk_block * detail::largest_state<Column>;
  alignas(16) __shared__ unsigned char storage[row_bytes > meeting_bytes ? row_bytes : meeting_bytes];

  detail::tile<row_tiling> row_tile;
  detail::tile<column_tiling> column_tile;
  detail::accumulators<Column, lanes> sums;
  const std::int64_t begin = blockIdx.x * rows_at_once, end = args.numel;
  const split_part whole{args.rnumel};
  const int slot = static_cast<int>(blockIdx.x);
  int turn = 0;
  std::int64_t at = begin;
  do {
    const std::int64_t stop = at + rows_at_once < end ? at + rows_at_once : end;
    for (std::int64_t x = at; x < stop; ++x, ++turn) {
      row_tile.fixed = static_cast<Index>(x);
      detail::frame<Row, row_tiling> row;
      detail::looped_phases<Row, row_tiling, ways>(
          std::make_index_sequence<body_facts<Row>::num_phases + 1>{}, row, row_tile, args, whole, x, threadIdx.x == 0,
          detail::storage_of_turn<Row>(storage, turn, body_facts<Row>::num_phases));
    }
    for (Index c = 0; c < static_cast<Index>(args.rnumel); c += stride * Items) {
      column_tile.template place<0>(c + static_cast<Index>(threadIdx.x * Width), stride,
                                    static_cast<Index>(args.rnumel) - Width);
      detail::start<0, lanes>(Column{}, numbers{}, sums);
      if (at != begin)
        detail::add_slots<column_tiling>(Column{}, numbers{}, sums, column_tile, slot, slot + 1, part, args.rnumel);
      detail::frame<Column, column_tiling> column;
      detail::evaluate<detail::column_values<Column>>(column, column_tile, args);
      for (std::int64_t x = at; x < stop; ++x) {
        column_tile.fixed = static_cast<Index>(x);
        detail::evaluate_and_step<detail::elements_of_phase<Column, 0>, 0, lanes>(sums, column, column_tile, args);
      }
      detail::write_slot<column_tiling>(Column{}, numbers{}, sums, column_tile, slot, part, args.rnumel);
    }
    at += gridDim.x * rows_at_once;
  } while (at < end);
  if (args.rnumel > 0)
    detail::meet_columns(Column{}, numbers{}, args, part, args.rnumel, {0, 0, args.rnumel},
                         static_cast<int>(threadIdx.x), storage);
}

}  // namespace sinter::cuda
