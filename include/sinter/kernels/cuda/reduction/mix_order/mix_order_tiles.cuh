// Mix-order reductions whose parts both need one pass, of any extents: blocks have some columns of some rows, as those
// of column_shifted.cuh do, and what the lanes of a row have folds to the state of that piece of the row. Columns meet
// where blocks share them, rows where pieces are several.
// Launching is mix_order_launch.cuh's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/reduction/columns/column_shifted.cuh"

namespace sinter::cuda {

namespace detail {

/// The row part is evaluated as the column part is, as a body over (x = column, r = row).
template <class Row, class Column>
struct walk_tile_facts;
template <class... R, class... C>
struct walk_tile_facts<body<R...>, body<C...>> {
  using across = body<typename seen_as_row<R>::type...>;
  using accesses = column_accesses<typename seen_as_row<R>::type..., C...>;
  /// Elements of a vector; 0: these parts are walked otherwise.
  static constexpr int width =
      sinter::detail::split_facts<body<R...>>::can_split && sinter::detail::split_facts<body<C...>>::can_split
          ? accesses::template width_for<false>(column_shift_facts<body<C...>>::state_bytes)
          : 0;
  static constexpr int loads = column_accesses<C...>::loads(width);
  /// On a multiprocessor: of 64 registers for each thread if those do.
  static constexpr bool is_light =
      phase_facts<body<R...>>::is_light && phase_facts<body<C...>>::is_light &&
      phase_facts<across>::loads(loop_var::x, 1) == 1 && phase_facts<body<C...>>::loads(loop_var::x, 1) == 1 &&
      (sinter::detail::state_bytes<R> + ... + 0) <= 4 && column_shift_facts<body<C...>>::state_bytes <= 4;
  static constexpr int blocks = is_light ? 4 : 2;
};

/// What the loop over rows needs of a row part seen from its columns; what a row has one of is stored at its end.
template <class Across>
struct tile_elements {
  static constexpr bool select(int s) {
    return elements_of_phase<Across, 0>::select(s) && body_facts<Across>::facts.info[s].kind != statement_kind::store;
  }
};

/// Some vectors of each row: those lanes count of which `lanes` has a bit.
struct row_piece {
  unsigned lanes;
  bool edge;  // some thread of the block has some of a vector's
};

/// Some rows of a thread into the states of its columns and of its pieces of them. Whole: all rows are there, and no
/// piece has only some lanes of a vector.
template <bool Whole, class Row, class Sums, class Columns, class Rows, class Tiling, class Args>
__device__ __forceinline__ void fold_rows(Sums& sums, accumulators<Row, 1> (&states)[Tiling::items],
                                          Columns& of_columns, Rows& of_rows, const tile<Tiling>& t, const Args& args,
                                          const row_piece& piece) {
  using column = typename Columns::body_type;
  using across = typename Rows::body_type;
  constexpr int width = Tiling::width;
  evaluate<elements_of_phase<column, 0>>(of_columns, t, args);
  evaluate<tile_elements<across>>(of_rows, t, args);
#pragma unroll
  for (int u = 0; u < Tiling::items; ++u) {
    steps_of_phase<column, 0, width>::item(sums, of_columns, t, u);
    reductions_of_phase<Row, 0>::each([&]<int N, class R>(std::integral_constant<int, N>, R) {
      using fold = reduction_of<R>;
      auto& state = lanes_of<N>(states[u])[0];
      state = fold::init();
#pragma unroll
      for (int j = 0; j < width; ++j)
        if (Whole || (piece.lanes >> j & 1) != 0)
          fold::step(state, lane_of<fold::operand>(of_rows, u * width + j), t.fixed + j);
      if (Whole && piece.lanes == 0) state = fold::init();
    });
  }
  steps_of_phase<column, 0, width>::tile_done(sums, of_columns, t);
}

/// What the lanes of Rows rows have, a power of two and as many lanes at least, becomes what one lane of each has, in
/// rows[0]: each lane gives half of its rows away for what another has of the other half. The row that a lane has then.
template <class Row, int Rows>
__device__ __forceinline__ int share_lanes(accumulators<Row, 1> (&rows)[Rows], int lane, int along) {
  int offset = along / 2, mine = 0;
#pragma unroll
  for (int half = Rows / 2; half > 0; half /= 2, offset /= 2) {
    const bool upper = (lane & offset) != 0;
    mine += upper ? half : 0;
#pragma unroll
    for (int k = 0; k < half; ++k)
      reductions_of_phase<Row, 0>::each([&]<int N, class R>(std::integral_constant<int, N>, R) {
        using state = typename reduction_of<R>::state;
        const words_of<state> low(lanes_of<N>(rows[k])[0]), high(lanes_of<N>(rows[k + half])[0]);
        words_of<state> kept(low), given(high);
#pragma unroll
        for (int w = 0; w < words_of<state>::count; ++w) {
          kept.w[w] = upper ? high.w[w] : low.w[w];
          given.w[w] = __shfl_xor_sync(all_lanes, upper ? low.w[w] : high.w[w], offset);
        }
        lanes_of<N>(rows[k])[0] = reduction_of<R>::combine(kept.value(), given.value());
      });
  }
#pragma unroll
  for (offset = 16 / Rows; offset > 0; offset /= 2) {
    if (2 * offset * Rows > along) continue;
    reductions_of_phase<Row, 0>::each([&]<int N, class R>(std::integral_constant<int, N>, R) {
      auto& state = lanes_of<N>(rows[0])[0];
      state = reduction_of<R>::combine(state, from_lane_xor(state, offset));
    });
  }
  return mine;
}

template <class Tiling>
struct even_tiling : Tiling {
  static constexpr bool even = true;
};

/// Walks rows begin, begin + 1, … below stop; a thread has each so-many-th one. `alike` lies in memory as those do.
template <class Row, class Column, class Tiling, class Accumulators, class Args>
__device__ __forceinline__ void walk_pieces(Accumulators& sums, const Args& args, int x, int begin, int stop, int alike,
                                            const column_shape& shape, const row_piece& piece, const split_part& rows) {
  using across = typename walk_tile_facts<Row, Column>::across;
  using row_numbers = std::make_index_sequence<Row::size>;
  using whole_tiling = even_tiling<Tiling>;
  constexpr int items = Tiling::items;
  if (begin >= stop) return;
  const int along = shape.along, stride = column_block / along, thread = static_cast<int>(threadIdx.x);
  const int lane = thread & (along - 1), y = thread / along;
  const bool leaves = (lane & (along / items - 1)) == 0;
  tile<whole_tiling> whole;
  whole.fixed = x;
  frame<Column, whole_tiling> of_columns;
  frame<across, whole_tiling> of_rows;
  evaluate<column_values<Column>>(of_columns, whole, args);
  evaluate<column_values<across>>(of_rows, whole, args);
  for (int first = begin; first < stop; first += stride * items) {
    accumulators<Row, 1> states[items];
    if (!piece.edge && first + stride * items <= stop) {
#pragma unroll
      for (int u = 0; u < items; ++u) whole.at[u] = first + y + u * stride, whole.ok[u] = true;
      fold_rows<true, Row>(sums, states, of_columns, of_rows, whole, args, piece);
    } else {
      tile<Tiling> some;
      some.fixed = x;
#pragma unroll
      for (int u = 0; u < items; ++u) {
        some.at[u] = first + y + u * stride;
        some.ok[u] = some.at[u] < stop;
        if (!some.ok[u]) some.at[u] = alike;
      }
      frame<Column, Tiling> columns_again;
      frame<across, Tiling> rows_again;
      evaluate<column_values<Column>>(columns_again, some, args);
      evaluate<column_values<across>>(rows_again, some, args);
      fold_rows<false, Row>(sums, states, columns_again, rows_again, some, args, piece);
    }
    const int row = first + y + share_lanes<Row>(states, lane, along) * stride;
    if (leaves && row < stop) {
      if (rows.splits == 1) finish_single_column(Row{}, row_numbers{}, args, states[0], rows, row);
      else publish_columns<1>(Row{}, row_numbers{}, states[0], rows, args.rnumel, row, static_cast<int>(blockIdx.x));
    }
  }
}

}  // namespace detail

/// Over args.numel columns and args.rnumel rows. Each block: shape.span columns, at most a warp's; blockIdx.y is the
/// part of the rows, `columns.length` of them. All blocks meet once: some of the last ones combine `rows`, if their
/// pieces are several, the others `columns`.
template <class Row, class Column, int Width, int Items, int MinBlocks, class Args>
__global__ void __launch_bounds__(detail::column_block, MinBlocks)
    mix_order_tiles(const Args args, const split_part columns, const split_part rows, const split_part meeting,
                    const detail::column_shape shape, const detail::row_shift shift) {
  detail::begin_kernel<Args::next_reads_ahead>();
  using numbers = std::make_index_sequence<Column::size>;
  using row_numbers = std::make_index_sequence<Row::size>;
  using vectors = detail::drifting_tiling<Width, Items, detail::drift::whole>;
  using elements = detail::drifting_tiling<Width, 1, detail::drift::single>;
  constexpr int of_columns = detail::phase_offset<Column, 0, Column::size, Width * detail::column_block>;
  constexpr int of_rows = detail::column_block * detail::largest_state<Row>;
  alignas(16) __shared__ unsigned char storage[of_columns > of_rows ? of_columns : of_rows];
  const int along = shape.along, numel = static_cast<int>(args.numel), thread = static_cast<int>(threadIdx.x);
  const int lane = thread % along, all = static_cast<int>(args.rnumel);
  const int begin = static_cast<int>(blockIdx.y * columns.length);
  const int end = all - begin < columns.length ? all : begin + static_cast<int>(columns.length);
  const int lead = detail::lead_of_row<Width>(shift, thread / along);
  const int last = (numel - 1 + lead) / Width * Width - lead;
  const int wanted = static_cast<int>(blockIdx.x) * shape.span + lane * Width - lead, x = wanted < last ? wanted : last;

  // The vectors at which this block's columns end are those with which the next block's begin.
  const bool shifted = shift.first != 0 || shift.step != 0, at_end = blockIdx.x + 1 == gridDim.x;
  detail::row_piece piece{0, shifted && (blockIdx.x == 0 || at_end)};
  if (wanted <= last && (!shifted || at_end || lane + 1 < along)) {
#pragma unroll
    for (int j = 0; j < Width; ++j) piece.lanes |= x + j >= 0 && x + j < numel ? 1u << j : 0u;
  }

  detail::accumulators<Column, Width> sums;
  detail::start<0, Width>(Column{}, numbers{}, sums);
  // Beside the columns lie other rows, but for those at the ends of memory.
  int whole = shifted && blockIdx.x == 0 && begin == 0 ? Width : begin, rest = end;
  if (shifted && at_end && end > all - Width) rest = (all - Width) / Width * Width;
  if (shifted && rest - whole < Width) rest = whole;  // not even one row that is shifted alike
#pragma unroll 1
  for (int k = 0; k < 3; ++k) {
    const int first = k == 0 ? begin : k == 1 ? whole : rest, next = k == 0 ? whole : k == 1 ? rest : end;
    const int stop = next < end ? next : end, alike = first + (shifted ? thread / along % Width : 0);
    if (k == 1) detail::walk_pieces<Row, Column, vectors>(sums, args, x, first, stop, alike, shape, piece, rows);
    else detail::walk_pieces<Row, Column, elements>(sums, args, x, first, stop, first, shape, piece, rows);
  }

  detail::finish_shifted<Width>(Column{}, numbers{}, sums, args, columns, shape, shift, static_cast<int>(blockIdx.x),
                                static_cast<int>(blockIdx.y), storage);
  if (meeting.splits == 1) return;
  __shared__ int order;
  __syncthreads();
  if (thread == 0) order = detail::come_to_meeting(meeting, 0);
  __syncthreads();
  if (order < 0) return;
  if (order < rows.combiners)
    detail::combine_met(Row{}, row_numbers{}, args, rows, args.rnumel, {0, 0, args.rnumel}, order, thread, storage);
  else
    detail::combine_met(Column{}, numbers{}, args, columns, args.numel, {0, 0, args.numel}, order - rows.combiners,
                        thread, storage);
}

}  // namespace sinter::cuda
