// Columns reduced by whole rows, as memory holds them: chunks of rows are folded into sums of all columns, and these
// put together. A walk down each block of columns would find another page at every row. SPDX-License-Identifier:
// BSL-1.0
#pragma once

#include <cstdint>
#include <utility>

#include "sinter/base/owned.hpp"
#include "sinter/kernels/host/chunks.hpp"
#include "sinter/kernels/host/parallel.hpp"
#include "sinter/kernels/host/pointwise.hpp"
#include "sinter/kernels/host/width.hpp"

SINTER_WIDE_VECTORS

namespace sinter::cpu::detail {

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

constexpr std::int64_t rows_of_group(std::int64_t columns) {
  return columns < group_elements ? group_elements / (columns < 1 ? 1 : columns) : 1;
}

template <class Evaluator>
void clear_sums(std::int64_t columns, typename Evaluator::running_folds* sums) {
  for (std::int64_t c = 0; c < columns; c += Evaluator::lanes) Evaluator::template clear<0>(sums[c / Evaluator::lanes]);
}
/// The rows in [first, last) of all columns, by an evaluator for each of those that are taken at once.
template <class Evaluator>
class group_folder {
 public:
  template <class Args>
  explicit group_folder(const Args& args) : group_folder(args, std::make_integer_sequence<int, rows>{}) {}

  /// All columns of a row pass here, then those of the next one.
  void pass_columns() {
    for (Evaluator& e : each_) e.pass_columns();
  }
  void fold(std::int64_t first, std::int64_t last, std::int64_t columns, typename Evaluator::running_folds* sums) {
    constexpr std::int64_t lanes = Evaluator::lanes;
    for (std::int64_t c = 0; c < columns; c += lanes) {
      const int count = static_cast<int>(columns - c < lanes ? columns - c : lanes);
      for (Evaluator& e : each_) {
        e.seat(c, 0, count);
        e.template rows<0, false>();
      }
      std::int64_t r = first;
      for (; last - r >= rows; r += rows) {
        for (int k = 0; k < rows; ++k) each_[k].seat(c, r + k, count);
        Evaluator::template elements_of_rows<0>(each_, sums[c / lanes]);
      }
      for (; r < last; ++r) {
        each_[0].seat(c, r, count);
        each_[0].template elements<0>(sums[c / lanes]);
      }
    }
  }

  static constexpr int rows = Evaluator::rows_at_once;

 private:
  template <class Args, int... K>
  group_folder(const Args& args, std::integer_sequence<int, K...>) : each_{(void(K), Evaluator(args))...} {}

  Evaluator each_[rows];
};

/// The columns at c: the chunks' sums combined, then what follows from them.
template <class Evaluator>
void finish_columns(Evaluator& e, std::int64_t c, int count, typename Evaluator::running_folds* sums,
                    std::int64_t stride, std::int64_t chunks) {
  chunk_tree<Evaluator, 0> tree(count);
  typename Evaluator::finished_folds part;
  for (std::int64_t k = 0; k < chunks; ++k) {
    Evaluator::template collect<0>(sums[k * stride], part, count);
    tree.add(part);
  }
  e.seat(c, 0, count);
  e.template rows<0>();
  e.template finish<0>(tree.total());
  e.template rows<1>();
}

/// Columns that need one pass over the rows; fold(first, last, sums) takes a chunk of them.
template <class Evaluator, class Args, class Fold>
void reduce_columns(const Args& args, std::int64_t rows, std::int64_t columns, int threads, Fold fold) {
  using folds = typename Evaluator::running_folds;
  constexpr std::int64_t lanes = Evaluator::lanes;
  const std::int64_t blocks = (columns + lanes - 1) / lanes, length = rows_of_chunk(rows, columns);
  const std::int64_t chunks = rows <= length ? 1 : (rows + length - 1) / length;
  const sinter::detail::heap_array<folds> sums(new folds[static_cast<std::size_t>(chunks * blocks)]);
  parallel_for(0, chunks, 1, threads, [&](std::int64_t k, std::int64_t) {
    fold(k * length, k + 1 < chunks ? (k + 1) * length : rows, sums.get() + k * blocks);
  });
  parallel_for(0, blocks, 1, threads, [&](std::int64_t b, std::int64_t) {
    Evaluator e(args);
    const std::int64_t c = b * lanes;
    const int count = static_cast<int>(columns - c < lanes ? columns - c : lanes);
    finish_columns(e, c, count, sums.get() + b, blocks, chunks);
  });
}

}  // namespace sinter::cpu::detail

SINTER_END_WIDE_VECTORS
