// The host kernel of a group without reductions: one loop over x in blocks, on all cores.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/body.hpp"
#include "sinter/kernels/host/evaluate.hpp"
#include "sinter/kernels/host/parallel.hpp"
#include "sinter/kernels/host/width.hpp"

SINTER_WIDE_VECTORS

namespace sinter::cpu {

namespace detail {

/// Elements of one piece of work. A piece of some ten microseconds hides what it costs to hand one out (about one).
inline constexpr std::int64_t piece_elements = 16384;
/// Long loops have larger pieces, for memory likes long walks: so many even out what disturbs a thread.
inline constexpr std::int64_t pieces_per_thread = 32;

/// Body for x in [first, last); first is a multiple of the evaluator's lanes.
template <class Body, class Args>
void pointwise_between(const Args& args, std::int64_t first, std::int64_t last) {
  using evaluator = detail::evaluator<Body, loop_var::x, Args>;
  static_assert(piece_elements % evaluator::lanes == 0);
  evaluator e(args);
  for (std::int64_t x = first; x < last; x += evaluator::lanes) {
    e.seat(x, 0, last - x < evaluator::lanes ? static_cast<int>(last - x) : evaluator::lanes);
    e.template rows<0>();
  }
}

/// Tiles are taken in squares of so many rows and columns: their pages, one for each row of each tensor, are looked up
/// once and stay known to the processor, where a strip across the matrix would look up each of them again for each
/// tile.
inline constexpr std::int64_t square = 256;
static_assert(square % crossed_rows == 0 && square % crossed_columns == 0);

/// The tiles of the square at (row, column).
template <class Evaluator>
[[gnu::noinline]] void evaluate_square(Evaluator& e, std::int64_t row, std::int64_t column, std::int64_t rows,
                                       std::int64_t columns) {
  const auto least = [](std::int64_t a, std::int64_t b) { return a < b ? a : b; };
  const std::int64_t last_row = least(row + square, rows), last_column = least(column + square, columns);
  for (std::int64_t i = row; i < last_row; i += crossed_rows)
    for (std::int64_t j = column; j < last_column; j += crossed_columns) {
      const std::int64_t x = i * columns + j;
      const int height = static_cast<int>(least(last_row - i, crossed_rows));
      const int count = static_cast<int>(least(last_column - j, crossed_columns));
      const int together = e.fits_tile(x, columns, height) ? height : 0;
      const bool has_next = j + 2 * crossed_columns <= last_column;
      for (int k = 0; k < height; ++k) {
        if (has_next) e.look_ahead_in_tile(x + k * columns + crossed_columns, count, k, height);
        e.seat_in_tile(x + k * columns, count, k, together);
        e.template rows<0>();
      }
    }
}

/// The same in tiles of a matrix of args.numel / columns rows, which some loads cross.
template <class Body, class Args>
void pointwise_tiles(const Args& args, std::int64_t columns, int threads) {
  using evaluator = detail::evaluator<Body, loop_var::x, Args, false>;
  static_assert(crossed_columns <= evaluator::lanes);
  const std::int64_t rows = args.numel / columns, across = (columns - 1) / square + 1;
  parallel_for(0, ((rows - 1) / square + 1) * across, 1, threads, [&](std::int64_t first, std::int64_t last) {
    evaluator e(args);
    for (std::int64_t s = first; s < last; ++s)
      evaluate_square(e, s / across * square, s % across * square, rows, columns);
  });
}

}  // namespace detail

/// Evaluates Body for every x in [0, args.numel). `threads`: at most so many; 0 is one per core.
template <class Body, class Args>
void pointwise(const Args& args, int threads = 0) {
  static_assert(body_facts<Body>::num_phases == 0,
                "sinter::cpu::pointwise: the body has a loop over r; sinter::cpu::reduction runs such bodies");
  if constexpr (constexpr long columns = detail::tiled_columns<Body>; columns != 0) {
    const std::int64_t length = sinter::detail::resolve(columns, args.sizes);
    if (length > 1 && args.numel > length) return detail::pointwise_tiles<Body>(args, length, threads);
  }
  if (threads <= 0) threads = default_threads();
  const std::int64_t pieces = args.numel / detail::piece_elements / (threads * detail::pieces_per_thread);
  const std::int64_t grain = (pieces < 1 ? 1 : pieces) * detail::piece_elements;
  parallel_for(0, args.numel, grain, threads,
               [&args](std::int64_t first, std::int64_t last) { detail::pointwise_between<Body>(args, first, last); });
}

}  // namespace sinter::cpu

SINTER_END_WIDE_VECTORS
