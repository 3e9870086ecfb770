// The host kernel of a mix-order reduction: rows and columns of one space reduced in one walk over memory. Row is a
// body over (x = row, r = column), Column one over (x = column, r = row) whose reductions need one pass over the rows.
// Rows are taken in groups that stay in the cache: first their row part, then their share of every column. Threads own
// chunks of rows; the chunks' columns are combined in a fixed tree, so results do not depend on the number of threads.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/host/columns.hpp"
#include "sinter/kernels/host/reduction.hpp"
#include "sinter/kernels/host/width.hpp"

SINTER_WIDE_VECTORS

namespace sinter::cpu {

namespace detail {

/// Both parts of the rows in [first, last); sums[b] are those of the b-th block of columns.
template <class RowEvaluator, class ColumnEvaluator, class Args>
void mix_order_chunk(const Args& args, std::int64_t first, std::int64_t last, std::int64_t columns,
                     typename ColumnEvaluator::running_folds* sums) {
  constexpr int phases = RowEvaluator::facts::num_phases;
  clear_sums<ColumnEvaluator>(columns, sums);
  RowEvaluator row(args);
  group_folder<ColumnEvaluator> column(args);
  const std::int64_t group = rows_of_group(columns);
  for (std::int64_t begin = first; begin < last; begin += group) {
    const std::int64_t end = last - begin < group ? last : begin + group;
    for (std::int64_t x = begin; x < end; ++x) {
      run_phases<phases>(row, args, x, 1, 1);
      row.seat(x, 0, 1);
      row.template rows<phases>();
    }
    column.fold(begin, end, columns, sums);
  }
}

}  // namespace detail

/// Runs Row over args.numel rows of args.rnumel elements, and Column over the same elements with x and r exchanged:
/// args.rnumel columns, each reduced over args.numel rows. Neither part may read what the other one writes.
template <class Row, class Column, class Args>
void mix_order(const Args& args, int threads = 0) {
  static_assert(body_facts<Column>::num_phases == 1, "mix_order: the columns need more than one pass over the rows");
  using rows_evaluator = detail::evaluator<Row, loop_var::r, Args>;
  using columns_evaluator = detail::evaluator<Column, loop_var::x, Args>;
  detail::reduce_columns<columns_evaluator>(
      args, args.numel, args.rnumel, threads,
      [&](std::int64_t first, std::int64_t last, typename columns_evaluator::running_folds* sums) {
        detail::mix_order_chunk<rows_evaluator, columns_evaluator>(args, first, last, args.rnumel, sums);
      });
}

}  // namespace sinter::cpu

SINTER_END_WIDE_VECTORS
