// Threads for libraries that leave them to their users: OpenMP over blocks of rows that fit the L2 cache.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <omp.h>

#include <algorithm>

#include "host/bench.hpp"

namespace bench {

inline constexpr long block_elements = 1 << 15;

/// f(first row, count) for blocks of all rows.
template <class F>
void for_blocks(long rows, long columns, F f) {
  const long length = std::max(1L, block_elements / columns), blocks = (rows + length - 1) / length;
#pragma omp parallel for num_threads(threads) if (blocks > 1)
  for (long b = 0; b < blocks; ++b) f(b * length, std::min(length, rows - b * length));
}
/// f(thread, first row, count): one part of the rows for each thread.
template <class F>
void for_parts(long rows, F f) {
#pragma omp parallel for num_threads(threads)
  for (long t = 0; t < threads; ++t) f(t, t * rows / threads, (t + 1) * rows / threads - t * rows / threads);
}
template <class T>
matrix<T> block_of(const matrix<T>& m, long first, long count) {
  return {m.row(first), count, m.columns};
}

}  // namespace bench
