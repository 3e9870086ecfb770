// A matmul for a foreign library: plain operands in memory, by their strides. Whether an operand lies so is the plan's
// matter (schedule/operand_layout.hpp), the call the CUDA side's.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/base/dtype.hpp"
#include "sinter/kernels/body.hpp"

namespace sinter {

/// out[b, m, n] = sum over k of a[b, m, k] * b[b, k, n]; all of one floating element type; strides in elements.
struct foreign_matmul {
  matmul_extents extents{};
  dtype type{};
  const void* a = nullptr;
  const void* b = nullptr;
  void* out = nullptr;  ///< row-major
  std::int64_t a_row = 0, a_col = 0, a_batch = 0;
  std::int64_t b_row = 0, b_col = 0, b_batch = 0;
  std::int64_t out_row = 0, out_batch = 0;  ///< 0: rows and batches follow each other without gaps
};

namespace detail {

/// BLAS walks one dimension with stride 1 and the other with a stride that does not overlap it. A dimension of one
/// element has any stride.
constexpr bool is_blas_matrix(std::int64_t rows, std::int64_t cols, std::int64_t row, std::int64_t col) {
  const bool row_major = (col == 1 || cols == 1) && (row >= cols || rows == 1);
  const bool col_major = (row == 1 || rows == 1) && (col >= rows || cols == 1);
  return row_major || col_major;
}

}  // namespace detail

constexpr bool is_blas_layout(const foreign_matmul& m) {
  return detail::is_blas_matrix(m.extents.m, m.extents.k, m.a_row, m.a_col) &&
         detail::is_blas_matrix(m.extents.k, m.extents.n, m.b_row, m.b_col);
}

}  // namespace sinter
