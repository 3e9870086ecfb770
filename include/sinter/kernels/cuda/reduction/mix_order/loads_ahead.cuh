// Loads of a row that are on their way while the row in front waits for its folds, where threads hold one row of those
// that they walk at a time. Values of 16 bits wait as they lie in memory; what both parts read is loaded alike, so that
// it is loaded once.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include "sinter/kernels/cuda/evaluate.cuh"

namespace sinter::cuda::detail {

/// The loads that go ahead: those that move with the rows, whose variable is Rows, are needed first, and whose place
/// nothing that is read decides.
template <class Body, loop_var Rows>
struct loads_ahead {
  static constexpr bool select(int s) {
    using phases = phase_facts<Body>;
    const auto& info = body_facts<Body>::facts.info[s];
    for (int operand : info.operands)
      if (operand >= 0) return false;
    return info.kind == statement_kind::source && phases::stored_bytes(s) > 0 &&
           (Rows == loop_var::x ? info.reads_x : info.reads_r) &&
           (phases::is_row(s) ? body_facts<Body>::phase(s) == 0 : phases::first(s) == 0);
  }
};

/// Bytes per column that wait: those of both parts are the same, as far as they go.
template <class Row, class Column>
inline constexpr int ahead_bytes = [] {
  int of_row = 0, of_column = 0;
  for (int s = 0; s < Row::size; ++s)
    if (loads_ahead<Row, loop_var::x>::select(s) && body_facts<Row>::facts.info[s].reads_r)
      of_row += phase_facts<Row>::stored_bytes(s);
  for (int s = 0; s < Column::size; ++s)
    if (loads_ahead<Column, loop_var::r>::select(s) && body_facts<Column>::facts.info[s].reads_x)
      of_column += phase_facts<Column>::stored_bytes(s);
  return of_row > of_column ? of_row : of_column;
}();

/// A row that has been sent for.
template <class Body, class Tiling>
struct sent_tiling : Tiling {
  template <int I>
  static constexpr bool packs = [] {
    using value = typename statement_facts<sinter::detail::statement_of<Body, I>>::value_type;
    return phase_facts<Body>::stored_bytes(I) == 2 && std::is_same_v<value, float> &&
           lane_facts<Body, Tiling>::lanes(I) > 1;
  }();
};
/// The same row when it is there.
template <class Body, loop_var Rows, class Tiling, bool Ahead>
struct arrived_tiling : Tiling {
  struct staging : Tiling::staging {
    template <class Own>
    __device__ __forceinline__ void recall(Own&, int, bool) const {}
  };
  template <int I>
  static constexpr bool recalls = Ahead&& loads_ahead<Body, Rows>::select(I);
};

/// What waits becomes what is there.
template <int I, class T, int Lanes>
__device__ __forceinline__ void take_lanes(values<I, T, Lanes>& there, const values<I, T, Lanes>& sent) {
  there = sent;
}
template <int I, class T, int Lanes>
__device__ __forceinline__ void take_lanes(values<I, float, Lanes>& there, packed_values<I, T, Lanes>& sent) {
#pragma unroll
  for (int l = 0; l < Lanes; ++l) there.v[l] = lane_in(sent, l);
}
template <int I, class T, int Lanes>
__device__ __forceinline__ void take_lanes(packed_values<I, T, Lanes>& there, const packed_values<I, T, Lanes>& sent) {
  there = sent;
}
template <class There, class Sent, int... S>
__device__ __forceinline__ void take(There& there, Sent& sent, std::integer_sequence<int, S...>) {
  const auto one = [&]<int I>(std::integral_constant<int, I>) {
    if constexpr (There::tiling::template recalls<I>)
      take_lanes(static_cast<typename slot_in<There, I>::type&>(there),
                 static_cast<typename slot_in<Sent, I>::type&>(sent));
  };
  (one(std::integral_constant<int, S>{}), ...);
}

/// The row that a thread walks next. Ahead: or nothing is sent for.
template <class Row, class Column, class RowTiling, class ColumnTiling, bool Ahead>
struct next_row {
  using row_tiling = arrived_tiling<Row, loop_var::x, RowTiling, Ahead>;
  using column_tiling = arrived_tiling<Column, loop_var::r, ColumnTiling, Ahead>;
  using sent_row = sent_tiling<Row, RowTiling>;
  using sent_column = sent_tiling<Column, ColumnTiling>;

  frame<Row, sent_row> row;
  frame<Column, sent_column> column;
  tile<sent_row> row_tile;
  tile<sent_column> column_tile;

  template <class Args>
  __device__ __forceinline__ void send(int number, const Args& args) {
    if constexpr (!Ahead) return;
    row_tile.fixed = column_tile.fixed = number;
    evaluate<loads_ahead<Column, loop_var::r>>(column, column_tile, args);
    evaluate<loads_ahead<Row, loop_var::x>>(row, row_tile, args);
  }
  __device__ __forceinline__ void take(frame<Row, row_tiling>& to_row, frame<Column, column_tiling>& to_column) {
    detail::take(to_row, row, std::make_integer_sequence<int, Row::size>{});
    detail::take(to_column, column, std::make_integer_sequence<int, Column::size>{});
  }
};

}  // namespace sinter::cuda::detail
