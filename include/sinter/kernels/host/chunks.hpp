// The chunks into which a long reduction falls, and the tree in which their results are combined: both depend on the
// extents alone. Who folds a chunk is reduction.hpp's and columns.hpp's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/host/pointwise.hpp"

namespace sinter::cpu::detail {

/// A row has at most so many chunks: bounds the space for their states and the threads that can share one row.
inline constexpr int max_chunks = 64;
inline constexpr int max_levels = 7;  // 1 + log2(max_chunks)

/// A row that is no longer has one chunk.
inline constexpr std::int64_t shortest_row_in_chunks = 128;

constexpr std::int64_t chunk_length(std::int64_t rnumel, int lanes, bool along_r) {
  if (rnumel <= shortest_row_in_chunks) return shortest_row_in_chunks;
  const std::int64_t shortest = along_r ? piece_elements : piece_elements / lanes;
  const std::int64_t length = (rnumel + max_chunks - 1) / max_chunks;
  const std::int64_t rounded = along_r ? (length + lanes - 1) / lanes * lanes : length;
  return rounded < shortest ? shortest : rounded;
}

/// Combines states of chunks in a fixed tree: chunk i meets its neighbours as bits of i carry.
template <class Evaluator, int P>
class chunk_tree {
 public:
  using folds = typename Evaluator::finished_folds;

  explicit chunk_tree(int used) : used_(used) {}

  void add(folds& chunk) {
    int level = 0;
    for (; (filled_ >> level & 1) != 0; ++level) {
      Evaluator::template combine<P>(levels_[level], chunk, used_);
      chunk = levels_[level];
    }
    levels_[level] = chunk;
    ++filled_;
  }
  /// Of at least one chunk.
  folds& total() {
    int level = 0;
    while ((filled_ >> level & 1) == 0) ++level;
    folds& sum = levels_[level];
    for (++level; level < max_levels; ++level)
      if ((filled_ >> level & 1) != 0) {
        Evaluator::template combine<P>(levels_[level], sum, used_);
        sum = levels_[level];
      }
    return sum;
  }

 private:
  folds levels_[max_levels];
  int used_;
  unsigned filled_ = 0;
};

}  // namespace sinter::cpu::detail
