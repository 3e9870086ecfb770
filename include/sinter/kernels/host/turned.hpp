// What an evaluator reads and writes through turned copies: squares of rows that some loads cross, and short rows that
// lanes run across. Which accesses these are is tile.hpp's matter. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "sinter/kernels/body.hpp"
#include "sinter/kernels/host/ahead.hpp"
#include "sinter/kernels/host/storage.hpp"
#include "sinter/kernels/host/tile.hpp"
#include "sinter/kernels/host/width.hpp"

SINTER_WIDE_VECTORS

namespace sinter::cpu::detail {

/// The turned copy of what a statement reads or writes; without one it goes to memory itself.
template <int I, class Statement, bool CanTurn>
struct tile_slot {};
template <int I, int Slot, class T, class At, int Mask>
struct tile_slot<I, load<Slot, T, At, Mask>, true> {
  const T* turned = nullptr;
};
template <int I, int Slot, class T, int A, class At, int Mask>
struct tile_slot<I, store<Slot, T, A, At, Mask>, true> {
  T* turned = nullptr;
};

/// A block of lanes some of whose accesses go through such copies.
template <class Indices, class Body, loop_var V, class Args, bool Aligned>
class turned;
template <int... I, class... S, loop_var V, class Args, bool Aligned>
class turned<std::integer_sequence<int, I...>, body<S...>, V, Args, Aligned>
    : public ahead<std::integer_sequence<int, I...>, body<S...>, V, Args, Aligned>,
      tile_slot<I, S, can_turn<S, body<S...>, V, Aligned>>... {
 public:
  using base = ahead<std::integer_sequence<int, I...>, body<S...>, V, Args, Aligned>;
  using base::base, base::seat;
  template <int N>
  using statement = typename base::template statement<N>;

  /// Whether the loads that cross rows move by one from row to row all the way to x + (rows - 1) * columns.
  bool moves_by_one(std::int64_t x, std::int64_t columns, int rows) const {
    return (row_to_row<S>::holds(x, x + (rows - 1) * columns, rows - 1, args_.sizes) && ...);
  }
  /// Turns what loads read of so many rows of `count` columns at x (whole rows become one), or of `count` short rows of
  /// so many elements. Blocks of these are then evaluated from the copies.
  void turn_loads(std::int64_t x, int count, int rows, bool are_whole = false) {
    seat(x, 0, count);
    (turn_load<I>(S{}, rows, are_whole ? count : 0), ...);
  }
  /// What `count` short rows at x store goes to copies, until turn_stores; meanwhile their memory is asked for.
  void hold_stores(std::int64_t x, int count, int length) {
    seat(x, 0, count);
    (hold_store<I>(S{}, length), ...);
  }
  void turn_stores(std::int64_t x, int count, int length) {
    seat(x, 0, count);
    (turn_store<I>(S{}, length), ...);
  }
  /// Lanes of a row of those, from so many columns on.
  void seat_in_square(std::int64_t x, int count, int row, int column) {
    seat(x, 0, count);
    row_ = row;
    column_ = column;
  }

 protected:
  using base::args_, base::r_;

  template <int N>
  static constexpr bool turns = can_turn<statement<N>, body<S...>, V, Aligned>;
  /// This block's part of the copy; null where there is none.
  template <int N>
  auto turned_lanes() {
    auto* const from = copy<N>();
    using element = std::remove_const_t<std::remove_pointer_t<decltype(from)>>;
    return from == nullptr ? from : from + (row_ + r_) * turned_stride<element> + column_;
  }

 private:
  template <int N>
  auto& copy() {
    return static_cast<tile_slot<N, statement<N>, true>&>(*this).turned;
  }
  template <int N, class Statement>
  void turn_load(Statement, int, int) {}
  template <int N, int Slot, class T, class At, int Mask>
  void turn_load(load<Slot, T, At, Mask>, int rows, int width) {
    if constexpr (turns<N>) {
      T* const to = row_memory<T, N>(square * turned_stride<T>);
      const T* const p = static_cast<const T*>(args_.pointers[Slot]);
      base::template runs<At, 0>([=](int first, int count, std::int64_t offset, auto step) {
        turn(to + first, width != 0 ? width : turned_stride<T>, p + offset, step, count, rows);
      });
      copy<N>() = to;
    }
  }
  template <int N, class Statement>
  void hold_store(Statement, int) {}
  template <int N, int Slot, class T, int A, class At, int Mask>
  void hold_store(store<Slot, T, A, At, Mask>, int length) {
    if constexpr (turns<N>) {
      copy<N>() = row_memory<T, N>(square * turned_stride<T>);
      const T* const p = static_cast<const T*>(args_.pointers[Slot]);
      base::template runs<At, 0>([=](int, int count, std::int64_t offset, auto step) {
        const std::int64_t elements = (count - 1) * static_cast<std::int64_t>(step) + length;
        if (step == length) ask_for<true>(p + offset, elements * static_cast<std::int64_t>(sizeof(T)));
      });
    }
  }
  template <int N, class Statement>
  void turn_store(Statement, int) {}
  template <int N, int Slot, class T, int A, class At, int Mask>
  void turn_store(store<Slot, T, A, At, Mask>, int rows) {
    if constexpr (turns<N>) {
      T* const p = static_cast<T*>(args_.pointers[Slot]);
      base::template runs<At, 0>([=, from = copy<N>()](int first, int count, std::int64_t offset, auto step) {
        turn(p + offset, step, from + first, turned_stride<T>, rows, count);
      });
    }
  }

  int row_ = 0, column_ = 0;
};

}  // namespace sinter::cpu::detail

SINTER_END_WIDE_VECTORS
