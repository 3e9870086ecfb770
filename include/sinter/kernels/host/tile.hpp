// What memory holds across the lanes is turned first, a whole cache line at once, and evaluated from the copy, which
// the L2 cache holds: squares of a matrix whose rows some loads of a pointwise body cross (along a row they walk memory
// in steps, from row to row they move by one), and short rows, each of which is one lane's. Which squares and rows
// there are is pointwise.hpp's and reduction.hpp's matter. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/body.hpp"
#include "sinter/kernels/host/lanes.hpp"
#include "sinter/kernels/host/layout.hpp"
#include "sinter/kernels/host/runs.hpp"
#include "sinter/kernels/host/turn.hpp"
#include "sinter/kernels/host/width.hpp"

SINTER_WIDE_VECTORS

namespace sinter::cpu::detail {

/// Rows and columns of a square: parts of a row so long that memory moves whole pieces of pages.
inline constexpr int square = 256;
/// Fewer rows that move by one are read as they lie: their lines stay in the cache for so long.
inline constexpr int least_rows = 8;
/// From row to row of a turned square: another set of the cache for each.
template <class T>
inline constexpr int turned_stride = square + 64 / static_cast<int>(sizeof(T));

/// The row length in which an index expression crosses, if at run time it is a matrix of such rows at all; 0: it does
/// not.
template <class At>
inline constexpr long row_crossed = 0;
template <long Offset, class... Terms>
inline constexpr long row_crossed<at<Offset, Terms...>> = [] {
  long columns = 0;
  bool walks = false;
  [[maybe_unused]] const auto look = [&]<class Term>(Term) {
    using t = term_facts<Term>;
    if (t::variable != loop_var::x) return;
    walks = walks || (t::div == 1 && t::mod != 0 && t::coef != 1);
    if (t::div != 1 && t::coef == 1) columns = t::div;
  };
  (look(Terms{}), ...);
  return walks ? columns : 0;
}();
template <class Statement>
inline constexpr long columns_crossed = 0;
template <int Slot, class T, class At>
inline constexpr long columns_crossed<load<Slot, T, At, -1>> = row_crossed<At>;
/// That of a body's first such load; others of its row length share its tiles.
template <class Body>
struct crossed_rows;
template <class... S>
struct crossed_rows<body<S...>> {
  static constexpr long columns = [] {
    long first = 0;
    ((first = first != 0 ? first : columns_crossed<S>), ...);
    return first;
  }();

  /// Whether `numel` elements are better taken in tiles: there is something to turn, and each of these loads walks all
  /// rows alike.
  template <class Sizes>
  static bool pays(std::int64_t numel, const Sizes& sizes) {
    const std::int64_t length = resolve(columns, sizes);
    return length > 1 && numel / length >= least_rows && (splits(S{}, length, sizes) && ...);
  }

 private:
  template <class Statement, class Sizes>
  static bool splits(Statement, std::int64_t, const Sizes&) {
    return true;
  }
  template <int Slot, class T, long Offset, class... Terms, class Sizes>
  static bool splits(load<Slot, T, at<Offset, Terms...>, -1>, std::int64_t length, const Sizes& sizes) {
    [[maybe_unused]] const auto splits_term = [&]<class Term>(Term) {
      using t = term_facts<Term>;
      const std::int64_t div = resolve(t::div, sizes), mod = resolve(t::mod, sizes);
      if (t::variable != loop_var::x) return true;
      if (t::div == columns && t::coef == 1) return mod == 0 || mod >= least_rows;
      return div % length == 0 || (mod != 0 && length % (div * mod) == 0);  // a digit of the row or of the column
    };
    return columns_crossed<load<Slot, T, at<Offset, Terms...>, -1>> != columns || (splits_term(Terms{}) && ...);
  }
};

/// Whether a statement reads or writes one row after the other, neighbours in memory.
template <class Statement>
inline constexpr bool walks_rows = false;
template <int Slot, class T, class At>
inline constexpr bool walks_rows<load<Slot, T, At, -1>> =
    at_facts<At>::uses(loop_var::x) && lane_step<At>::of(loop_var::r, 1, false) == 1;
template <int Slot, class T, int A, class At>
inline constexpr bool walks_rows<store<Slot, T, A, At, -1>> = walks_rows<load<Slot, T, At, -1>>;

/// Only blocks that start anywhere are turned.
template <class Statement, class Body, loop_var V, bool Aligned>
inline constexpr bool can_turn =
    !Aligned && V == loop_var::x &&
    (body_facts<Body>::num_phases > 0
         ? walks_rows<Statement>
         : columns_crossed<Statement> != 0 && columns_crossed<Statement> == crossed_rows<Body>::columns);

/// Lines are asked for so many tiles before they are turned: more than a processor's window reaches.
inline constexpr int tiles_ahead = 4;

/// to[row * stride + i] = from[i * step + row] for so many columns i, `rows` elements each, in tiles of whole lines.
template <class T, class Step>
void turn(T* to, std::int64_t stride, const T* from, Step step, int columns, int rows) {
  constexpr int line = 64 / static_cast<int>(sizeof(T));
  using small = small_turn<sizeof(T)>;
  const auto least = [](int a, int b) { return a < b ? a : b; };
  const auto at = [=](int i, int row) { return from + i * static_cast<std::int64_t>(step) + row; };
  const int down = (rows + line - 1) / line, tiles = (columns + line - 1) / line * down;
  for (int tile = 0; tile < tiles; ++tile) {
    if (const int next = tile + tiles_ahead; next < tiles)
      for (int i = next / down * line, end = least(i + line, columns); i < end; ++i)
        __builtin_prefetch(at(i, next % down * line));
    const int i = tile / down * line, row = tile % down * line;
    const int width = least(line, columns - i), height = least(line, rows - row);
    T* const corner = to + row * stride + i;
    if (width == line && height == line) {
      for (int c = 0; c < line; c += small::across)
        for (int r = 0; r < line; r += small::down)
          small::run(corner + r * stride + c, stride, at(i + c, row + r), static_cast<std::int64_t>(step));
    } else {
      const int across = width / small::across * small::across, below = height / small::down * small::down;
      for (int c = 0; c < across; c += small::across)
        for (int r = 0; r < below; r += small::down)
          small::run(corner + r * stride + c, stride, at(i + c, row + r), static_cast<std::int64_t>(step));
      for (int c = 0; c < width; ++c)
        for (int r = c < across ? below : 0; r < height; ++r) corner[r * stride + c] = *at(i + c, row + r);
    }
  }
  keep_stores();
}

/// Whether a load that crosses moves by one from row to row, all the way from x to `last`, that is by so many `rows`.
template <class Statement>
struct row_to_row {
  template <class Sizes>
  static bool holds(std::int64_t, std::int64_t, int, const Sizes&) {
    return true;
  }
};
template <int Slot, class T, class At>
struct row_to_row<load<Slot, T, At, -1>> {
  template <class Sizes>
  static bool holds(std::int64_t x, std::int64_t last, int rows, const Sizes& sizes) {
    using facts = at_facts<At>;
    return row_crossed<At> == 0 ||
           facts::template offset<std::int64_t>(last, 0, sizes) - facts::template offset<std::int64_t>(x, 0, sizes) ==
               rows;
  }
};

}  // namespace sinter::cpu::detail

SINTER_END_WIDE_VECTORS
