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

/// The square at (row, column). Where rows are no longer than it, lanes run on from one to the next.
template <class Evaluator>
[[gnu::noinline]] void evaluate_square(Evaluator& e, std::int64_t row, std::int64_t column, std::int64_t rows,
                                       std::int64_t columns) {
  const auto part = [](std::int64_t left) { return static_cast<int>(left < square ? left : square); };
  const std::int64_t end = row + part(rows - row);
  const int width = part(columns - column);
  for (std::int64_t x = row * columns + column; row < end;) {
    int height = static_cast<int>(end - row);
    while (!e.moves_by_one(x, columns, height)) height /= 2;
    const bool is_whole = columns <= square;
    e.turn_loads(x, width, height, is_whole);
    const int lines = is_whole ? 1 : height, length = is_whole ? height * width : width;
    for (int i = 0; i < lines; ++i)
      for (int j = 0; j < length; j += Evaluator::lanes) {
        e.seat_in_square(x + i * columns + j, length - j < Evaluator::lanes ? length - j : Evaluator::lanes, i, j);
        e.template rows<0>();
      }
    row += height;
    x += height * columns;
  }
}

/// The same in squares of a matrix of args.numel / columns rows, which some loads cross.
template <class Body, class Args>
void pointwise_squares(const Args& args, std::int64_t columns, int threads) {
  using evaluator = detail::evaluator<Body, loop_var::x, Args, false>;
  const std::int64_t rows = args.numel / columns, across = (columns - 1) / square + 1;
  const std::int64_t grain = columns < square ? square / columns : 1;
  parallel_for(0, ((rows - 1) / square + 1) * across, grain, threads, [&](std::int64_t first, std::int64_t last) {
    evaluator e(args);
    if (columns > square) e.pass_squares(columns);
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
  using crossed_rows = detail::crossed_rows<Body>;
  if constexpr (crossed_rows::columns != 0)
    if (crossed_rows::pays(args.numel, args.sizes))
      return detail::pointwise_squares<Body>(args, sinter::detail::resolve(crossed_rows::columns, args.sizes), threads);
  if (threads <= 0) threads = default_threads();
  const std::int64_t pieces = args.numel / detail::piece_elements / (threads * detail::pieces_per_thread);
  const std::int64_t grain = (pieces < 1 ? 1 : pieces) * detail::piece_elements;
  parallel_for(0, args.numel, grain, threads,
               [&args](std::int64_t first, std::int64_t last) { detail::pointwise_between<Body>(args, first, last); });
}

}  // namespace sinter::cpu

SINTER_END_WIDE_VECTORS
