// The host kernel of a mix-order reduction: rows and columns of one space reduced in one walk over memory. Row is a
// body over (x = row, r = column), Column one over (x = column, r = row) whose reductions need one pass over the rows.
// Rows are taken in groups that stay in the cache: first their row part, then their share of every column. Threads own
// chunks of rows; the chunks' columns are combined in a fixed tree, so results do not depend on the number of threads.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <memory>

#include "sinter/kernels/host/reduction.hpp"
#include "sinter/kernels/host/width.hpp"

SINTER_WIDE_VECTORS

namespace sinter::cpu {

namespace detail {

/// Rows of a chunk at least: its sums of all columns take so much less memory than its elements.
inline constexpr std::int64_t shortest_chunk_of_rows = 16;
/// Elements of a group of rows: read a second time from the L2 cache.
inline constexpr std::int64_t group_elements = 1 << 15;

constexpr std::int64_t rows_of_chunk(std::int64_t rows, std::int64_t columns) {
  const std::int64_t length = (rows + max_chunks - 1) / max_chunks;
  const std::int64_t wanted = columns < 1 ? length : (piece_elements + columns - 1) / columns;
  const std::int64_t shortest = wanted < shortest_chunk_of_rows ? shortest_chunk_of_rows : wanted;
  return length < shortest ? shortest : length;
}

/// Both parts of the rows in [first, last); sums[b] are those of the b-th block of columns.
template <class RowEvaluator, class ColumnEvaluator, class Args>
void mix_order_chunk(const Args& args, std::int64_t first, std::int64_t last, std::int64_t columns,
                     typename ColumnEvaluator::running_folds* sums) {
  constexpr int phases = RowEvaluator::facts::num_phases;
  constexpr std::int64_t lanes = ColumnEvaluator::lanes;
  for (std::int64_t c = 0; c < columns; c += lanes) ColumnEvaluator::template clear<0>(sums[c / lanes]);
  RowEvaluator row(args);
  ColumnEvaluator column(args);
  const std::int64_t group = columns < group_elements ? group_elements / (columns < 1 ? 1 : columns) : 1;
  for (std::int64_t begin = first; begin < last; begin += group) {
    const std::int64_t end = last - begin < group ? last : begin + group;
    for (std::int64_t x = begin; x < end; ++x) {
      run_phases<phases>(row, args, x, 1, 1);
      row.seat(x, 0, 1);
      row.template rows<phases>();
    }
    for (std::int64_t c = 0; c < columns; c += lanes) {
      const int count = static_cast<int>(columns - c < lanes ? columns - c : lanes);
      column.seat(c, 0, count);
      column.template rows<0, false>();
      for (std::int64_t r = begin; r < end; ++r) {
        column.seat(c, r, count);
        column.template elements<0>(sums[c / lanes]);
      }
    }
  }
}

/// The columns at c: the chunks' sums combined, then what follows from them.
template <class ColumnEvaluator>
void mix_order_columns(ColumnEvaluator& e, std::int64_t c, int count, typename ColumnEvaluator::running_folds* sums,
                       std::int64_t stride, std::int64_t chunks) {
  chunk_tree<ColumnEvaluator, 0> tree(count);
  typename ColumnEvaluator::finished_folds part;
  for (std::int64_t k = 0; k < chunks; ++k) {
    ColumnEvaluator::template collect<0>(sums[k * stride], part, count);
    tree.add(part);
  }
  e.seat(c, 0, count);
  e.template rows<0>();
  e.template finish<0>(tree.total());
  e.template rows<1>();
}

}  // namespace detail

/// Runs Row over args.numel rows of args.rnumel elements, and Column over the same elements with x and r exchanged:
/// args.rnumel columns, each reduced over args.numel rows. Neither part may read what the other one writes.
template <class Row, class Column, class Args>
void mix_order(const Args& args, int threads = 0) {
  static_assert(body_facts<Column>::num_phases == 1, "mix_order: the columns need more than one pass over the rows");
  using rows_evaluator = detail::evaluator<Row, loop_var::r, Args>;
  using columns_evaluator = detail::evaluator<Column, loop_var::x, Args>;
  constexpr std::int64_t lanes = columns_evaluator::lanes;
  const std::int64_t rows = args.numel, columns = args.rnumel;
  const std::int64_t blocks = (columns + lanes - 1) / lanes;
  const std::int64_t length = detail::rows_of_chunk(rows, columns);
  const std::int64_t chunks = rows <= length ? 1 : (rows + length - 1) / length;
  const std::unique_ptr<typename columns_evaluator::running_folds[]> sums(
      new typename columns_evaluator::running_folds[static_cast<std::size_t>(chunks * blocks)]);
  parallel_for(0, chunks, 1, threads, [&](std::int64_t k, std::int64_t) {
    const std::int64_t last = k + 1 < chunks ? (k + 1) * length : rows;
    detail::mix_order_chunk<rows_evaluator, columns_evaluator>(args, k * length, last, columns,
                                                               sums.get() + k * blocks);
  });
  parallel_for(0, blocks, 1, threads, [&](std::int64_t b, std::int64_t) {
    columns_evaluator e(args);
    const std::int64_t c = b * lanes;
    detail::mix_order_columns(e, c, static_cast<int>(columns - c < lanes ? columns - c : lanes), sums.get() + b, blocks,
                              chunks);
  });
}

}  // namespace sinter::cpu

SINTER_END_WIDE_VECTORS
