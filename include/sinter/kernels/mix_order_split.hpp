// How blocks share the rows of a mix-order reduction, which folds them both ways, and what memory that takes. No CUDA
// header is needed here. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/split.hpp"

namespace sinter {

/// Blocks of 256 threads that run at once: four on each of 132 multiprocessors.
inline constexpr std::int64_t walk_blocks = 528;

/// So many blocks share the rows of a mix-order reduction evenly.
constexpr int blocks_of_rows(std::int64_t rows, std::int64_t columns, std::int64_t most_blocks = walk_blocks) {
  // The partial sums are at most a 16th of the elements; of wide rows a 32nd, for they take memory's time as well.
  const std::int64_t least_rows = columns > 4096 ? 32 : 16;
  const std::int64_t possible = (rows + least_rows - 1) / least_rows;
  return static_cast<int>(possible < 1 ? 1 : possible < most_blocks ? possible : most_blocks);
}

namespace detail {
/// Where both parts need one pass, blocks may have some columns of some rows: in sets of so many vectors at least, of
/// which the largest load has 16 bytes, or less where a block's states take too much room.
inline constexpr int least_walk_vectors = 30;
template <class Row, class Column>
struct walk_tile_columns;
template <class... R, class... C>
struct walk_tile_columns<body<R...>, body<C...>> {
  static constexpr std::int64_t least = [] {
    int largest = 2, width = 16;
    for (int bytes : {row_load_bytes<R>..., row_load_bytes<C>...}) largest = bytes > largest ? bytes : largest;
    width /= largest;
    while (width > 1 && width * 256 * (state_bytes<C> + ... + 0) > 32768) width /= 2;
    return least_walk_vectors * width;
  }();
};
/// ... and so many parts of the rows at most: few of them also where sets are many.
constexpr std::int64_t most_walk_splits(std::int64_t columns, std::int64_t rows) {
  constexpr std::int64_t few = 8;
  const std::int64_t possible = rows / split_column_part, splits = num_splits(orientation::column, columns, rows);
  return splits >= few || possible <= splits ? splits : possible < few ? possible : few;
}
}  // namespace detail

/// What cuda::mix_order<Row, Column> needs.
template <class Row, class Column>
constexpr workspace_size mix_order_workspace(std::int64_t rows, std::int64_t columns) {
  using row = detail::split_facts<Row>;
  using column = detail::split_facts<Column>;
  if (columns <= 0) return {};
  workspace_size size = detail::workspace_of(1, column::offset(column::size, columns, blocks_of_rows(rows, columns)));
  if (row::can_split) {
    const std::int64_t tiles = columns / detail::walk_tile_columns<Row, Column>::least + 1,
                       splits = detail::most_walk_splits(columns, rows);
    const std::int64_t states =
        column::offset(column::size, columns, splits) + (tiles > 1 ? row::offset(row::size, rows, tiles) : 0);
    size.states = states > size.states ? states : size.states;
  }
  return size;
}

}  // namespace sinter
