// The loads of a row, where threads hold one row of those that they walk at a time: all at once, and on their way while
// the row in front waits for its folds if there are registers for that. Values of 16 bits wait as they lie in memory;
// what both parts read is loaded once.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include "sinter/kernels/cuda/evaluate.cuh"

namespace sinter::cuda::detail {

/// Is statement s a load, whose place nothing that is read decides?
template <class Body>
constexpr bool loads_alone(int s) {
  const auto& info = body_facts<Body>::facts.info[s];
  for (int operand : info.operands)
    if (operand >= 0) return false;
  return info.kind == statement_kind::source && phase_facts<Body>::stored_bytes(s) > 0;
}

/// The loads that may go ahead: those that move with the rows, whose variable is Rows, and are needed first.
template <class Body, loop_var Rows>
struct loads_ahead {
  static constexpr bool select(int s) {
    using phases = phase_facts<Body>;
    const auto& info = body_facts<Body>::facts.info[s];
    return loads_alone<Body>(s) && (Rows == loop_var::x ? info.reads_x : info.reads_r) &&
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

/// The loads of a row part that are the same for all rows: threads that keep their columns may hold them.
template <class Row>
struct loads_of_columns {
  static constexpr bool select(int s) {
    return loads_alone<Row>(s) && phase_facts<Row>::is_element(s) && !body_facts<Row>::facts.info[s].reads_x;
  }
};
/// Bytes of them per column.
template <class Row>
inline constexpr int bytes_of_columns = [] {
  int bytes = 0;
  for (int s = 0; s < Row::size; ++s)
    if (loads_of_columns<Row>::select(s)) bytes += phase_facts<Row>::stored_bytes(s);
  return bytes;
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
/// The same row when it is there. Select: what need not be loaded any more.
template <class Tiling, class... Select>
struct arrived_tiling : Tiling {
  struct staging : Tiling::staging {
    template <class Own>
    __device__ __forceinline__ void recall(Own&, int, bool) const {}
  };
  template <int I>
  static constexpr bool recalls = (Select::select(I) || ...);
};

/// Keeps the assembler from copying a row's value before its turn: as soon as there was a register, it would wait for
/// the load in the middle of the row in front.
template <int I, class T, int Lanes>
__device__ __forceinline__ void copy_in_turn(values<I, T, Lanes>& slot) {
  if constexpr (Lanes == 1 && sizeof(T) == 4) {
    unsigned bits;
    memcpy(&bits, slot.v, 4);
    asm("or.b32 %0, %0, %1;" : "+r"(bits) : "r"(blockIdx.z));  // 0, which it does not know
    memcpy(slot.v, &bits, 4);
  }
}
template <int I, class T, int Lanes>
__device__ __forceinline__ void copy_in_turn(packed_values<I, T, Lanes>&) {}

/// What waits becomes what is there.
template <int I, int J, class T, int Lanes>
__device__ __forceinline__ void take_lanes(values<I, T, Lanes>& there, const values<J, T, Lanes>& sent) {
#pragma unroll
  for (int l = 0; l < Lanes; ++l) there.v[l] = sent.v[l];
}
template <int I, int J, class T, int Lanes>
__device__ __forceinline__ void take_lanes(values<I, float, Lanes>& there, packed_values<J, T, Lanes>& sent) {
#pragma unroll
  for (int l = 0; l < Lanes; ++l) there.v[l] = lane_in(sent, l);
}
template <int I, class T, int Lanes>
__device__ __forceinline__ void take_lanes(packed_values<I, T, Lanes>& there, const packed_values<I, T, Lanes>& sent) {
  there = sent;
}

/// Does a load of a column part read what a load of the row part does?
template <class OfColumn, class OfRow>
inline constexpr bool same_load = false;
template <int Slot, class T, class C, class R>
inline constexpr bool same_load<load<Slot, T, C, -1>, load<Slot, T, R, -1>> = [] {
  constexpr auto c = row_place<C, loop_var::x>::facts;
  constexpr auto r = row_place<R, loop_var::r>::facts;
  return c.plain && r.plain && c.along_r == r.along_r && c.along_x == r.along_x && c.offset == r.offset &&
         c.pitch == r.pitch;
}();
/// The number of that one, or -1.
template <class Column, int I, class Row>
inline constexpr int load_of_row = -1;
template <class Column, int I, class... R>
inline constexpr int load_of_row<Column, I, body<R...>> = [] {
  constexpr bool same[] = {same_load<sinter::detail::statement_of<Column, I>, R>..., false};
  for (int s = 0; s < static_cast<int>(sizeof...(R)); ++s)
    if (same[s]) return s;
  return -1;
}();

/// Those of all statements of a column part, of loads that Select names.
template <int Size>
struct load_numbers {
  int of[Size];
};
template <class Row, class Column, class Select, int... I>
constexpr load_numbers<static_cast<int>(sizeof...(I))> twins_of(std::integer_sequence<int, I...>) {
  const auto selected = [](int s) { return s >= 0 && Select::select(s) ? s : -1; };
  return {{selected(load_of_row<Column, I, Row>)...}};
}

struct no_loads {
  static constexpr bool select(int) { return false; }
};

/// The row that a thread walks next. Ahead: sent for before its turn. InTurn: but copied then. Holds: what all rows
/// share stays, too.
template <class Row, class Column, class RowTiling, class ColumnTiling, bool Ahead, bool InTurn, bool Holds = false>
struct next_row {
  static constexpr bool ahead = Ahead;
  using of_row = loads_ahead<Row, loop_var::x>;
  using of_column = loads_ahead<Column, loop_var::r>;
  using shared = std::conditional_t<Holds, loads_of_columns<Row>, no_loads>;
  static constexpr auto twins = twins_of<Row, Column, of_row>(std::make_integer_sequence<int, Column::size>{});
  using row_tiling = arrived_tiling<RowTiling, of_row, shared>;
  using column_tiling = arrived_tiling<ColumnTiling, of_column>;
  /// What the row's loads do not bring.
  struct of_column_alone {
    static constexpr bool select(int s) { return of_column::select(s) && twins.of[s] < 0; }
  };
  using sent_row = sent_tiling<Row, RowTiling>;
  using sent_column = sent_tiling<Column, ColumnTiling>;

  frame<Row, sent_row> row;
  frame<Column, sent_column> column;
  tile<sent_row> row_tile;
  tile<sent_column> column_tile;

  /// Before the first: tiles are placed.
  template <class Args>
  __device__ __forceinline__ void begin(const Args& args) {
    if constexpr (Holds) evaluate<shared>(row, row_tile, args);
  }
  template <class Args>
  __device__ __forceinline__ void send(int number, const Args& args) {
    row_tile.fixed = column_tile.fixed = number;
    evaluate<of_column_alone>(column, column_tile, args);
    evaluate<of_row>(row, row_tile, args);
  }
  __device__ __forceinline__ void take(frame<Row, row_tiling>& to_row, frame<Column, column_tiling>& to_column) {
    take_row(to_row, std::make_integer_sequence<int, Row::size>{});
    take_column(to_column, to_row, std::make_integer_sequence<int, Column::size>{});
  }

 private:
  template <int I, class To, int J, class From>
  static __device__ __forceinline__ void take_one(To& to, From& from) {
    take_lanes(static_cast<typename slot_in<To, I>::type&>(to), static_cast<typename slot_in<From, J>::type&>(from));
  }
  template <int I, class To, class From>
  static __device__ __forceinline__ void take_sent(To& to, From& from) {
    take_one<I, To, I>(to, from);
    if constexpr (InTurn) copy_in_turn(static_cast<typename slot_in<To, I>::type&>(to));
  }
  template <class To, int... I>
  __device__ __forceinline__ void take_row(To& to, std::integer_sequence<int, I...>) {
    const auto one = [&]<int S>(std::integral_constant<int, S>) {
      if constexpr (row_tiling::template recalls<S>) take_sent<S>(to, row);
    };
    (one(std::integral_constant<int, I>{}), ...);
  }
  template <class To, int... I>
  __device__ __forceinline__ void take_column(To& to, frame<Row, row_tiling>& from, std::integer_sequence<int, I...>) {
    const auto one = [&]<int S>(std::integral_constant<int, S>) {
      if constexpr (!column_tiling::template recalls<S>) return;
      else if constexpr (twins.of[S] >= 0 && InTurn) take_one<S, To, twins.of[S]>(to, from);
      else if constexpr (twins.of[S] >= 0) take_one<S, To, twins.of[S]>(to, row);
      else take_sent<S>(to, column);
    };
    (one(std::integral_constant<int, I>{}), ...);
  }
};

}  // namespace sinter::cuda::detail
