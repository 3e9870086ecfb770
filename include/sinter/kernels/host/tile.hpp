// Tiles of a matrix whose rows some loads of a pointwise body cross (kernels/crossing.hpp): a column's part of the tile
// is read at once, while its cache lines are there, and rows are then evaluated from the copy. Which tiles there are is
// pointwise.hpp's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/body.hpp"
#include "sinter/kernels/crossing.hpp"
#include "sinter/kernels/host/lanes.hpp"
#include "sinter/kernels/host/width.hpp"

SINTER_WIDE_VECTORS

namespace sinter::cpu::detail {

using sinter::detail::crossing_of;

inline constexpr int crossed_rows = 32, crossed_columns = 64;

/// The row length in which a load crosses; 0: it does not.
template <class Statement>
inline constexpr long columns_crossed = 0;
template <int Slot, class T, class At>
inline constexpr long columns_crossed<load<Slot, T, At, -1>> = crossing_of<At>.columns;
/// That of a body's first such load; others of its row length share its tiles.
template <class Body>
inline constexpr long tiled_columns = 0;
template <class... S>
inline constexpr long tiled_columns<body<S...>> = [] {
  long columns = 0;
  ((columns = columns != 0 ? columns : columns_crossed<S>), ...);
  return columns;
}();

/// Only blocks that start anywhere are taken in tiles.
template <class Statement, class Body, bool Aligned>
inline constexpr bool crosses =
    !Aligned && columns_crossed<Statement> != 0 && columns_crossed<Statement> == tiled_columns<Body>;

/// The tile of a load that crosses rows.
template <int I, class Statement, bool Crosses>
struct tile_slot {};
template <int I, int Slot, class T, class At, int Mask>
struct tile_slot<I, load<Slot, T, At, Mask>, true> {
  alignas(64) T tile[crossed_rows][crossed_columns];
};

/// Copies the columns [first, first + count) of a tile: `rows` elements from p + i * step on are column i's.
template <class T, class Step>
void read_columns(T (&tile)[crossed_rows][crossed_columns], int first, int count, int rows, const T* p, Step step) {
  for (int i = 0; i < count; ++i) {
    const T* const column = p + i * static_cast<std::int64_t>(step);
    for (int row = 0; row < rows; ++row) tile[row][first + i] = column[row];
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
    return crossing_of<At>.columns == 0 ||
           facts::template offset<std::int64_t>(last, 0, sizes) - facts::template offset<std::int64_t>(x, 0, sizes) ==
               rows;
  }
};

}  // namespace sinter::cpu::detail

SINTER_END_WIDE_VECTORS
