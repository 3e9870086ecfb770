// Where a matmul's result lies if it is written by rows: one stride for rows, one for batches, columns next to each
// other. A foreign matmul can write so into a part of a larger array.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/schedule/index.hpp"

namespace sinter::detail {

/// Strides; 0: rows, or batches, follow each other without a gap.
struct product_layout {
  bool ok = false;
  number offset = 0, row = 0, batch = 0;
};

/// The layout of a store at `f` in x, the linear index over [batch, rows, columns].
template <class Table>
constexpr product_layout layout_of_product(const access_form& f, number rows, number columns, const Table& numbers) {
  if (rows == 0 || columns == 0) return {true, 0, 0, 0};  // nothing is stored
  product_layout l{true, f.offset, 0, 0};
  bool has_columns = columns == 1;
  for (int i = 0; i < f.size; ++i) {
    const index_term& t = f.terms[i];
    const number end = t.mod == 0 ? 0 : product(t.div, t.mod);  // 0: to the outermost
    if (t.variable != loop_var::x) {
      l.ok = false;
    } else if (t.div == 1 && !has_columns) {  // columns, and whatever follows them without a gap
      has_columns = true;
      l.ok = l.ok && t.coef == 1 && (end == 0 || end == columns || end == product(rows, columns));
    } else if (t.div == columns) {
      l.row = t.coef;
      l.ok = l.ok && (end == 0 || end == product(rows, columns));
    } else if (t.div == product(rows, columns)) {
      l.batch = t.coef;
      l.ok = l.ok && end == 0;
    } else {
      l.ok = false;
    }
  }
  const bool is_longer = numbers.is_natural(sum(l.row, product(columns, -1)));
  const bool steps_over = l.row == 0 || rows == 1 || is_longer;
  l.ok = l.ok && !f.failed && steps_over;
  return l;
}

}  // namespace sinter::detail
