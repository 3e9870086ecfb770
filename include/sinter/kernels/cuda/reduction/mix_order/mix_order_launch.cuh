// Launches mix-order reductions: chooses between rows in registers and rows walked in tiles, how many threads share a
// row, and the element-by-element variant where extents, strides or pointers do not allow wide accesses.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/kernel_memory.cuh"
#include "sinter/kernels/cuda/launch.cuh"
#include "sinter/kernels/cuda/reduction/columns/column_parts.cuh"
#include "sinter/kernels/cuda/reduction/mix_order/mix_order.cuh"
#include "sinter/kernels/cuda/reduction/mix_order/mix_order_tiles.cuh"

namespace sinter::cuda {

namespace detail {

constexpr int power_of_two_below(int n) {
  int p = 1;
  while (2 * p <= n) p *= 2;
  return p;
}

/// Columns that one thread takes: few, so that registers are left for the rows that are on their way, and three
/// quarters of 64 registers where a row would not fit otherwise.
constexpr int few_columns(int words) { return power_of_two_below(words <= 2 ? 8 : 32 / words); }
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

constexpr row_shape walk_of(std::int64_t groups, int items) {
  row_shape shape = row_of(groups, items);
  shape.rows = shape.threads <= walk_block / 2 ? walk_block / shape.threads : 1;
  return shape;
}

/// The most threads of a block that keeps its columns: each has 128 registers, or 64 where those do.
inline constexpr int walk_limit = 512;
constexpr int most_walkers(bool light) { return light ? 2 * walk_limit : walk_limit; }

/// The shape for rows of so many columns: as few threads to a row as their registers allow, so that many rows are on
/// their way at once.
template <class Row, class Column>
constexpr row_shape choose_walk(std::int64_t columns, int width) {
  constexpr int words = walk_words<Row, Column>;
  const std::int64_t groups = (columns + width - 1) / width;
  if (columns <= 0 || columns >= narrow_limit) return {};
  for (const int lanes : {few_columns(words), many_columns(words)}) {
    row_shape shape = walk_of(groups, lanes > width ? lanes / width : 1);
    shape.items = static_cast<int>((groups + shape.threads - 1) / shape.threads);
    if (shape.threads <= most_walkers(is_light_walk<Row, Column>(shape.items * width))) return shape;
  }
  return {};
}

inline split_part share_walk(std::int64_t rows, std::int64_t columns, std::int64_t most_blocks, int block,
                             kernel_memory& memory, cudaStream_t stream, const char* name) {
  split_part part;
  part.splits = blocks_of_rows(rows, columns, most_blocks);
  if (columns > 0) part = share_columns(columns, 0, part.splits, 1, block, memory, stream, name);
  part.length = rows / part.splits;
  return part;
}
template <int Width, int Items, int Threads, int MaxBlock, bool Exact, class... R, class... C, class Args>
void launch_walk(body<R...>, body<C...>, const Args& args, const row_shape& shape, kernel_memory& memory,
                 cudaStream_t stream, const char* name) {
  constexpr int threads = most_walkers(is_light_walk<body<R...>, body<C...>>(Width * Items));  // that run at once
  const std::int64_t blocks = walk_blocks / 4 * threads / shape.block();
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
    constexpr int width = facts::width, items = column_items<column, width>, blocks = facts::blocks;
    row_shift shift;
    if (args.numel <= 0 || args.rnumel <= 0 || args.numel >= narrow_limit || args.rnumel >= narrow_limit ||
        !facts::accesses::template find<width>(exchanged(args), shift))
      return false;
    constexpr std::int64_t at_once = blocks * walk_blocks / 4;
    const std::int64_t most = sinter::detail::most_walk_splits(args.rnumel, args.numel);
    column_shape shape =
        choose_columns(args.rnumel, args.numel, width, shift.first != 0 || shift.step != 0, most, items, 32, at_once);
    // Where one wave of blocks would be half empty, or begin another, they are so many that the last ones are short.
    if (4 * shape.tiles * shape.splits < 3 * at_once || shape.tiles * shape.splits > at_once) {
      const std::int64_t wanted = 4 * at_once / shape.tiles + 1;
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
    launch(&mix_order_tiles<row, column, width, items, blocks, Args>,
           dim3(static_cast<unsigned>(shape.tiles), static_cast<unsigned>(shape.splits)), dim3(column_block), stream,
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
  if constexpr (StaticColumns < 0 && detail::walk_tile_facts<Row, Column>::width > 0) {
    if (detail::launch_tiles(Row{}, Column{}, args, memory, stream, name)) return;
  } else {
    constexpr int width = detail::walk_width<Row, Column>(StaticColumns);
    constexpr int few = detail::few_columns(detail::walk_words<Row, Column>);
    constexpr int items = few > width ? few / width : 1;
    if (args.numel < detail::narrow_limit && args.rnumel < detail::narrow_limit &&
        detail::access_facts<Row>::template fits<width, loop_var::r>(args) &&
        detail::access_facts<Column>::template fits<width, loop_var::x>(detail::exchanged(args))) {
      if constexpr (StaticColumns >= 0) {
        constexpr detail::row_shape shape = detail::choose_walk<Row, Column>(StaticColumns, width);
        if constexpr (shape.persistent) {
          constexpr bool exact = static_cast<long>(shape.threads) * shape.items * width == StaticColumns;
          return detail::launch_walk<width, shape.items, shape.threads, shape.block(), exact>(
              Row{}, Column{}, args, shape, memory, stream, name);
        }
      } else if (constexpr int most = detail::most_walkers(detail::is_light_walk<Row, Column>(width * items));
                 args.rnumel > 0 && args.rnumel <= std::int64_t(most) * width * items) {
        return detail::launch_walk<width, items, 0, most, false>(
            Row{}, Column{}, args, detail::walk_of(args.rnumel / width, items), memory, stream, name);
      }
      if constexpr (width > 1)
        return detail::launch_looped_walk<width, items, int>(Row{}, Column{}, args, memory, stream, name);
    }
  }
  detail::launch_looped_walk<1, 4, std::int64_t>(Row{}, Column{}, args, memory, stream, name);
}

}  // namespace sinter::cuda
