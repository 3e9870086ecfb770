// Launches mix-order reductions: chooses between rows in registers and rows walked in tiles, how many threads share a
// row, and the variants where extents, strides or pointers do not allow wide accesses: in vectors that rows begin and
// end inside of, or element by element.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/kernel_memory.cuh"
#include "sinter/kernels/cuda/launch.cuh"
#include "sinter/kernels/cuda/reduction/columns/column_parts.cuh"
#include "sinter/kernels/cuda/reduction/mix_order/mix_order.cuh"
#include "sinter/kernels/cuda/reduction/mix_order/mix_order_shifted.cuh"
#include "sinter/kernels/cuda/reduction/mix_order/mix_order_tiles.cuh"
#include "sinter/kernels/mix_order_split.hpp"

namespace sinter::cuda {

namespace detail {

constexpr int power_of_two_below(int n) {
  int p = 1;
  while (2 * p <= n) p *= 2;
  return p;
}

/// Columns that one thread takes, `width` at a time: few, so that registers are left for the rows that are on their
/// way, but 32 bytes of vectors, for each thread of a row takes part in its sum; and three quarters of 64 registers
/// where a row would not fit otherwise.
template <class Row, class Column>
constexpr int few_columns(int width) {
  constexpr int words = walk_words<Row, Column>, few = power_of_two_below(words <= 2 ? 8 : 32 / words);
  return width > 1 && few * stream_facts<Row>::bytes < 32 && reads_alone<Row, Column>(width) &&
                 is_light_walk<Row, Column>(2 * few, width)
             ? 2 * few
             : few;
}
/// The same in accesses of so many.
template <class Row, class Column>
constexpr int few_items(int width) {
  const int few = few_columns<Row, Column>(width);
  return few > width ? few / width : 1;
}
constexpr int many_columns(int words) { return power_of_two_below(words == 0 ? 32 : 48 / words); }

/// The width of all accesses of both parts: what each would choose alone, as far as registers reach.
template <class Row, class Column>
constexpr int walk_width(long static_columns) {
  const int row = access_facts<Row>::vector_width(loop_var::r, static_columns);
  const int column = access_facts<Column>::vector_width(loop_var::x, static_columns);
  int width = row < column ? row : column;
  while (width > 1 && width > many_columns(walk_words<Row, Column>)) width /= 2;
  return width;
}

/// Rows share as large a block as runs at once, if what its threads hand over fits 32 KB: the fewer blocks, the fewer
/// states. Those whose sums do not meet in batches wait for themselves alone, at barriers of their own, of which a
/// block has fifteen beside the common one.
template <class Row, class Column>
constexpr row_shape walk_of(std::int64_t groups, int items, int width) {
  row_shape shape = row_of(groups, items);
  const int columns = items * width, sharing = 65536 / (columns * largest_state<Column>);
  const int most = walkers_at_once<Row, Column>(columns, width), block = most < sharing ? most : sharing;
  shape.rows = shape.threads < block ? block / shape.threads : 1;
  if (shape.rows > 15 && shape.threads > 32 && !rows_in_batches<Row, some_warps>) shape.rows /= 2;
  return shape;
}

/// Where tiles (mix_order_tiles.cuh) can walk, too: whole rows are faster if each thread reads 32 bytes of a row, and
/// seven eighths of a multiprocessor's threads run.
template <class Row>
constexpr bool reads_enough(int columns) {
  return columns * stream_facts<Row>::bytes >= 32;
}
template <class Row, class Column>
constexpr bool fills(const row_shape& shape, int width) {
  const int at_once = walks_at_once<Row, Column>(shape.block(), shape.items * width, width) * shape.block();
  return at_once >= 896 && reads_enough<Row>(shape.items * width);
}
/// And if there are enough of them for all multiprocessors.
constexpr bool fill_device(std::int64_t rows, std::int64_t columns) {
  return 8 * blocks_of_rows(rows, columns) >= 7 * walk_blocks / 4;
}

/// The shape for rows of so many columns: as few threads to a row as their registers allow, so that many rows are on
/// their way at once.
template <class Row, class Column>
constexpr row_shape choose_walk(std::int64_t columns, int width) {
  constexpr int words = walk_words<Row, Column>;
  const std::int64_t groups = (columns + width - 1) / width;
  if (columns <= 0 || columns >= narrow_limit) return {};
  row_shape first;
  const int few = few_columns<Row, Column>(width),
            more = width > 1 && is_light_walk<Row, Column>(2 * few, width) ? 2 * few : few;
  for (const int lanes : {few, more, many_columns(words)}) {
    row_shape shape = walk_of<Row, Column>(groups, lanes > width ? lanes / width : 1, width);
    shape.items = static_cast<int>((groups + shape.threads - 1) / shape.threads);
    if (shape.threads > walkers_at_once<Row, Column>(shape.items * width, width)) continue;
    if (fills<Row, Column>(shape, width)) return shape;
    if (!first.persistent) first = shape;
  }
  return first;
}

inline split_part share_walk(std::int64_t rows, std::int64_t columns, std::int64_t most_blocks, int block,
                             kernel_memory& memory, cudaStream_t stream, const char* name) {
  split_part part;
  part.splits = blocks_of_rows(rows, columns, most_blocks);
  if (columns > 0) part = share_columns(columns, 0, part.splits, 1, block, memory, stream, name);
  return part;
}
template <int Width, int Items, int Threads, int MaxBlock, bool Exact, class... R, class... C, class Args>
void launch_walk(body<R...>, body<C...>, const Args& args, const row_shape& shape, kernel_memory& memory,
                 cudaStream_t stream, const char* name) {
  const std::int64_t blocks =
      walk_blocks / 4 * walks_at_once<body<R...>, body<C...>>(shape.block(), Width * Items, Width);
  const split_part part = share_walk(args.numel, args.rnumel, blocks < walk_blocks ? blocks : walk_blocks,
                                     shape.block(), memory, stream, name);
  launch(&mix_order_persistent<body<R...>, body<C...>, Width, Items, Threads, MaxBlock, Exact, Args>,
         dim3(static_cast<unsigned>(part.splits)),
         dim3(static_cast<unsigned>(shape.threads), static_cast<unsigned>(shape.rows)), stream, name, args, part);
}
template <int Width, int Items, class Index, class... R, class... C, class Args>
void launch_looped_walk(body<R...>, body<C...>, const Args& args, kernel_memory& memory, cudaStream_t stream,
                        const char* name) {
  const split_part part = share_walk(args.numel, args.rnumel, walk_blocks, walk_block, memory, stream, name);
  launch(&mix_order_looped<body<R...>, body<C...>, Width, Items, Index, Args>, dim3(static_cast<unsigned>(part.splits)),
         dim3(walk_block), stream, name, args, part);
}

/// Rows of several phases that begin anywhere, in vectors. False: it was not launched.
template <long StaticColumns, class... R, class... C, class Args>
bool launch_shifted_walk(body<R...>, body<C...>, const Args& args, kernel_memory& memory, cudaStream_t stream,
                         const char* name) {
  using row = body<R...>;
  using column = body<C...>;
  constexpr int width = shifted_walk_width<row, column>, items = few_items<row, column>(width),
                most = shifted_walkers<row, column>(width * items);
  const auto shape_of = [](std::int64_t columns) {
    const std::int64_t groups = (columns + 2 * width - 2) / width;
    row_shape shape{true, threads_for((groups + items - 1) / items), 1, items};
    shape.persistent = shape.threads >= 32 && shape.threads <= most;
    if (shape.persistent) shape.rows = most / shape.threads;
    if (shape.rows > 15) shape.rows = 15;  // a barrier each, beside the common one
    return shape;
  };
  constexpr row_shape known = shape_of(StaticColumns);
  if constexpr (most > 0 && (StaticColumns < 0 || known.persistent)) {
    shifted_walk walk;
    row_shift columns;
    const row_shape shape = shape_of(args.rnumel);
    if (!shape.persistent || args.rnumel >= narrow_limit || !shifted_facts<row>::find(args, walk.shift) ||
        !column_accesses_of<column>::template find<width>(args, columns) || columns.first != walk.shift.first ||
        columns.step != walk.shift.step)
      return false;
    walk.columns_aligned = columns.others_aligned;
    while (walk.period * walk.shift.step % width != 0) walk.period *= 2;
    const int blocks = blocks_of_rows(args.numel, args.rnumel, walk_blocks / 4) / walk.period * walk.period;
    if (blocks == 0) return false;
    const split_part part = share_columns(args.rnumel, 0, blocks, 1, shape.block(), memory, stream, name);
    constexpr int threads = StaticColumns < 0 ? some_warps : known.threads,
                  block = StaticColumns < 0 ? most : known.block();
    launch(&mix_order_shifted<row, column, width, items, threads, block, Args>, dim3(static_cast<unsigned>(blocks)),
           dim3(static_cast<unsigned>(shape.threads), static_cast<unsigned>(shape.rows)), stream, name, args, part,
           walk);
    return true;
  }
  return false;
}

/// The column part's extents are the row part's, exchanged.
template <class Args>
Args exchanged(Args args) {
  const std::int64_t rows = args.numel;
  args.numel = args.rnumel;
  args.rnumel = rows;
  return args;
}

/// What `combiners` blocks combine: of each of `numel` columns, or rows, the states of `splits` parts.
inline split_part share_combining(std::int64_t length, std::int64_t numel, std::int64_t splits, std::int64_t combiners,
                                  void* states) {
  split_part part{length, static_cast<int>(splits), static_cast<int>(combiners), column_block, nullptr, states};
  // So that a thread has sixteen states, and every block some columns.
  while (part.along > 8 && (column_block / part.along * 16 < splits || part.along / 2 * combiners >= numel))
    part.along /= 2;
  return part;
}

/// Parts of one pass. False: it was not launched.
template <class... R, class... C, class Args>
bool launch_tiles(body<R...>, body<C...>, const Args& args, kernel_memory& memory, cudaStream_t stream,
                  const char* name) {
  using row = body<R...>;
  using column = body<C...>;
  using facts = walk_tile_facts<row, column>;
  if constexpr (facts::width > 0) {
    constexpr int width = facts::width, items = column_items_of<column>(facts::loads, width), blocks = facts::blocks;
    row_shift shift;
    if (args.numel <= 0 || args.rnumel <= 0 || args.numel >= narrow_limit || args.rnumel >= narrow_limit ||
        !facts::accesses::template find<width>(exchanged(args), shift))
      return false;
    const std::int64_t most = sinter::detail::most_walk_splits(args.rnumel, args.numel);
    column_shape shape;
    // Is it one wave of so many blocks to a multiprocessor, of which at most a quarter is left over?
    const auto choose = [&](int each) {
      const std::int64_t at_once = each * walk_blocks / 4;
      shape =
          choose_columns(args.rnumel, args.numel, width, shift.first != 0 || shift.step != 0, most, items, 32, at_once);
      const std::int64_t all = shape.tiles * shape.splits;
      return all <= at_once && 4 * all >= 3 * at_once;
    };
    // Of several sets of columns each better has fewer blocks, which meet sooner.
    const bool several_sets = blocks == 4 && args.rnumel > 2 * 32 * width;
    const bool one_wave = (several_sets && choose(3)) || choose(blocks);
    if (!one_wave) {  // so many that the last ones are short
      const std::int64_t wanted = blocks * walk_blocks / shape.tiles + 1;
      shape.splits = wanted < most ? wanted : most;
    }
    const std::int64_t deep = column_block / shape.along, parts = shape.tiles * shape.splits;
    split_part columns{sinter::detail::round_up((args.numel + shape.splits - 1) / shape.splits, deep)}, rows, meeting;
    if (parts > 1) {
      const std::int64_t most = 2 * limits_of_device(name).multiprocessors, some = parts < most ? parts : most;
      const std::int64_t of_rows = shape.tiles == 1 ? 0 : shape.splits == 1 ? some : some / 2;
      meeting = {0, static_cast<int>(parts), static_cast<int>(some), 1, memory.counters(stream, name)};
      columns = share_combining(columns.length, args.rnumel, shape.splits, some - of_rows, memory.states());
      rows = share_combining(
          0, args.numel, shape.tiles, of_rows,
          static_cast<unsigned char*>(memory.states()) +
              (shape.splits > 1 ? sinter::detail::split_facts<column>::offset(column::size, args.rnumel, shape.splits)
                                : 0));
    }
    const bool long_walk = one_wave && columns.length >= 32 * deep;  // then even a full wave starts evenly
    launch(long_walk ? start_rule::evenly : start_rule::overlapping,
           &mix_order_tiles<row, column, width, items, blocks, Args>,
           dim3(static_cast<unsigned>(shape.tiles), static_cast<unsigned>(shape.splits)), dim3(column_block), 0, stream,
           name, exchanged(args), columns, rows, meeting, shape, shift);
    return true;
  }
  return false;
}

}  // namespace detail

/// Runs Row over args.numel rows of args.rnumel elements, and Column over the same elements with x and r exchanged:
/// args.rnumel columns, each reduced over args.numel rows, in one pass. Neither part may read what the other writes.
/// `memory`: mix_order_workspace<Row, Column>(rows, columns) of it, 16-byte aligned. `name` is the kernel's, for
/// errors. StaticColumns (>= 0; it must be args.rnumel) saves the user the compilation of variants that cannot be
/// needed.
template <class Row, class Column, long StaticColumns = -1, class Args>
void mix_order(const Args& args, kernel_memory& memory, cudaStream_t stream, const char* name) {
  static_assert(body_facts<Row>::has_reduction && body_facts<Column>::has_reduction,
                "mix_order: a part reduces nothing");
  static_assert(body_facts<Column>::num_phases == 1, "mix_order: the columns need more than one pass over the rows");
  if (args.numel <= 0 && args.rnumel <= 0) return;
  constexpr int width = detail::walk_width<Row, Column>(StaticColumns),
                shifted_width = detail::shifted_walk_width<Row, Column>;
  constexpr bool tiles = detail::walk_tile_facts<Row, Column>::width > 0;
  const bool narrow = args.numel < detail::narrow_limit && args.rnumel < detail::narrow_limit,
             fits = narrow && detail::access_facts<Row>::template fits<width, loop_var::r>(args) &&
                    detail::access_facts<Column>::template fits<width, loop_var::x>(detail::exchanged(args));
  // Whole rows, if they are not too long, whose vectors are aligned; or of single elements, where tiles are not for
  // them.
  const auto walk_whole = [&]<int Width>(std::integral_constant<int, Width>) {
    if constexpr (StaticColumns >= 0) {
      constexpr detail::row_shape shape = detail::choose_walk<Row, Column>(StaticColumns, Width);
      if constexpr (shape.persistent && (!tiles || detail::fills<Row, Column>(shape, Width))) {
        constexpr bool exact = static_cast<long>(shape.threads) * shape.items * Width == StaticColumns;
        detail::launch_walk<Width, shape.items, shape.threads, shape.block(), exact>(Row{}, Column{}, args, shape,
                                                                                     memory, stream, name);
        return true;
      }
    } else if constexpr (!tiles ||
                         (Width > 1 && detail::reads_enough<Row>(Width * detail::few_items<Row, Column>(Width)))) {
      constexpr int items = detail::few_items<Row, Column>(Width);
      constexpr int most = detail::walkers_at_once<Row, Column>(Width * items, Width);
      const detail::row_shape shape = detail::walk_of<Row, Column>((args.rnumel + Width - 1) / Width, items, Width);
      constexpr int alone = detail::walkers_alone<Row, Column, Width, items>;
      const auto walk = [&]<int Threads, int Block>() {
        detail::launch_walk<Width, items, Threads, Block, false>(Row{}, Column{}, args, shape, memory, stream, name);
        return true;
      };
      if constexpr (alone > 0)
        if (shape.threads > most / 2 && shape.threads <= alone)
          return walk.template operator()<detail::some_warps, alone>();
      if (args.rnumel > 0 && shape.threads <= most && (!tiles || detail::fills<Row, Column>(shape, Width)))
        return shape.threads < 32 ? walk.template operator()<detail::some_threads, most>()
                                  : walk.template operator()<detail::some_warps, most>();
    }
    return false;
  };
  // Of known length only those that cannot be aligned: others are, unless pointers are not.
  if constexpr (shifted_width > (StaticColumns < 0 ? 1 : width)) {
    const bool aligned = StaticColumns < 0 && fits;
    if (narrow && !aligned && detail::launch_shifted_walk<StaticColumns>(Row{}, Column{}, args, memory, stream, name))
      return;
  }
  if (fits && (!tiles || detail::fill_device(args.numel, args.rnumel)) &&
      walk_whole(std::integral_constant<int, width>{}))
    return;
  if constexpr (tiles) {
    if (detail::launch_tiles(Row{}, Column{}, args, memory, stream, name)) return;
  } else if constexpr (width > 1) {
    if (!fits && narrow && walk_whole(std::integral_constant<int, 1>{})) return;
    if constexpr (StaticColumns < 0 || !detail::choose_walk<Row, Column>(StaticColumns, width).persistent)
      if (fits)
        return detail::launch_looped_walk<width, detail::few_items<Row, Column>(width), int>(Row{}, Column{}, args,
                                                                                             memory, stream, name);
  }
  detail::launch_looped_walk<1, 4, std::int64_t>(Row{}, Column{}, args, memory, stream, name);
}

}  // namespace sinter::cuda
