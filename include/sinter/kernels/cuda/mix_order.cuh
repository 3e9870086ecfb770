// Mix-order reductions: rows and columns of one space reduced in one launch that reads memory once. Each block walks
// rows: first the column part of a row, into states that the thread of a column keeps, then the row part, as the
// row-reduction kernels do it. The blocks' states meet in the workspace; the last block of a group combines its group,
// the last group all of them, both in a fixed order: the result does not depend on who came when.
// Row is a body over (x = row, r = column), Column one over (x = column, r = row) whose reductions need one pass.
// Launching, and the choice among variants, is mix_order_launch.cuh's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/overlap.cuh"
#include "sinter/kernels/cuda/reduction_looped.cuh"
#include "sinter/kernels/cuda/reduction_persistent.cuh"

namespace sinter::cuda::detail {

/// The rows of a block walk on independently: each has a barrier of its own (of the 16 that hardware has, for blocks of
/// walk_block threads with more than 32 to a row).
template <int Threads>
struct walk_threads : row_threads<Threads> {
  static __device__ __forceinline__ void sync() {
    using row = row_threads<Threads>;
    asm volatile("bar.sync %0, %1;" ::"r"(row::row() + 1), "r"(row::count()) : "memory");
  }
};

/// The columns of a row that waits in registers. What both parts read is loaded alike, so that it is loaded once.
template <int Width, int Items>
struct walk_tiling : tiling<loop_var::x, loop_var::x, Width, Items, int> {
  static constexpr bool early_loads = false;
};

/// 32-bit words that a thread holds per column from row to row, or from phase to phase of a row.
template <class Row, class Column>
inline constexpr int walk_words = [] {
  int words = (phase_facts<Row>::kept_bytes + 3) / 4;
  for (int bytes : sinter::detail::split_facts<Column>::bytes) words += (bytes + 3) / 4;
  return words;
}();

/// Do 64 registers do for so many columns of a thread, 24 of them for what it holds? Then two blocks of 512 run at
/// once.
template <class Row, class Column>
constexpr bool is_light_walk(int columns) {
  for (int bytes : sinter::detail::split_facts<Column>::bytes)
    if (bytes > 4) return false;  // sums of eight bytes take pairs of registers
  return phase_facts<Row>::is_light && phase_facts<Column>::is_light && columns * walk_words<Row, Column> <= 24;
}

/// Threads of the looped kernel, and of the persistent one where rows are short enough for several in a block.
inline constexpr int walk_block = 256;
static_assert(walk_block / 64 < 16);

/// Neighbouring columns' states, which memory gives and takes as one.
template <class State, int Count>
struct alignas(Count * sizeof(State) % 16 == 0 ? 16 : alignof(State)) state_group {
  State states[Count];
};

/// Where the states of reduction I lie: those of block or group `slot`, column after column.
template <class Column, int I, class S, int Width>
struct partial_sums {
  using state = typename reduction_of<S>::state;
  using group = state_group<state, Width>;
  state* first;
  std::int64_t columns;
  __device__ __forceinline__ partial_sums(void* workspace, std::int64_t columns, const mix_order_share& share)
      : first(reinterpret_cast<state*>(static_cast<unsigned char*>(workspace) +
                                       sinter::detail::mix_order_facts<Column>::offset(I, columns, share))),
        columns(columns) {}
  /// Of Width neighbouring columns, a multiple of which there are.
  __device__ __forceinline__ group* at(int slot, std::int64_t column) const {
    return reinterpret_cast<group*>(first + slot * columns + column);
  }
};

/// The threads of one column that have walked different rows combine: those with threadIdx.y == 0 hold the result.
template <bool Wanted, int I, class S, int Lanes, class Accumulators>
__device__ __forceinline__ void combine_walkers(Accumulators& acc, unsigned char* storage) {
  if constexpr (Wanted) {
    using fold = reduction_of<S>;
    auto& states = lanes_of<I>(acc);
    auto* shared = reinterpret_cast<typename fold::state*>(storage);
    const int threads = static_cast<int>(blockDim.x), y = static_cast<int>(threadIdx.y);
    for (int walkers = static_cast<int>(blockDim.y); walkers > 1;) {
      const int half = (walkers + 1) / 2, others = walkers - half;
      const int place = (y < half ? y : y - half) * threads + static_cast<int>(threadIdx.x);
      __syncthreads();
      if (y >= half && y < walkers) {
#pragma unroll
        for (int l = 0; l < Lanes; ++l) shared[l * others * threads + place] = states[l];
      }
      __syncthreads();
      if (y < others) {
#pragma unroll
        for (int l = 0; l < Lanes; ++l) states[l] = fold::combine(states[l], shared[l * others * threads + place]);
      }
      walkers = half;
    }
  }
}

template <bool Wanted, int I, class S, class Column, class Tiling, class Accumulators>
__device__ __forceinline__ void write_partials(Accumulators& acc, const tile<Tiling>& t, int slot, void* workspace,
                                               std::int64_t columns, const mix_order_share& share) {
  if constexpr (Wanted) {
    using partials = partial_sums<Column, I, S, Tiling::width>;
    const partials sums(workspace, columns, share);
    const auto& states = lanes_of<I>(acc);
#pragma unroll
    for (int u = 0; u < Tiling::items; ++u) {
      if (!t.ok[u]) continue;
      typename partials::group out;
#pragma unroll
      for (int j = 0; j < Tiling::width; ++j) out.states[j] = states[u * Tiling::width + j];
      *sums.at(slot, t.at[u]) = out;
    }
  }
}
/// The states of slots [begin, end), in order, on top of what is there. As many slots at a time are on their way
/// as 32 registers hold.
template <bool Wanted, int I, class S, class Column, class Tiling, class Accumulators>
__device__ __forceinline__ void add_partials(Accumulators& acc, const tile<Tiling>& t, int begin, int end,
                                             void* workspace, std::int64_t columns, const mix_order_share& share) {
  if constexpr (Wanted) {
    const partial_sums<Column, I, S, Tiling::width> sums(workspace, columns, share);
    auto& states = lanes_of<I>(acc);
    constexpr int words = Tiling::size * static_cast<int>(sizeof(states[0])) / 4, at_once = words < 32 ? 32 / words : 1;
#pragma unroll(at_once)
    for (int slot = begin; slot < end; ++slot) {
#pragma unroll
      for (int u = 0; u < Tiling::items; ++u) {  // of places past the end the last columns', which nobody writes back
        const auto in = read_shared_by_blocks(sums.at(slot, t.at[u]));
#pragma unroll
        for (int j = 0; j < Tiling::width; ++j)
          states[u * Tiling::width + j] = reduction_of<S>::combine(states[u * Tiling::width + j], in.states[j]);
      }
    }
  }
}
template <bool Wanted, int I, class S, int Lanes, class Accumulators, class Frame>
__device__ __forceinline__ void finish_sums(Accumulators& acc, Frame& f) {
  if constexpr (Wanted) {
#pragma unroll
    for (int l = 0; l < Lanes; ++l) lanes_of<I>(f)[l] = reduction_of<S>::finish(lanes_of<I>(acc)[l]);
  }
}

template <int Lanes, class Accumulators, class... S, std::size_t... I>
__device__ __forceinline__ void combine_block(body<S...>, std::index_sequence<I...>, Accumulators& acc,
                                              unsigned char* storage) {
  (combine_walkers<reduction_of<S>::is, static_cast<int>(I), S, Lanes>(acc, storage), ...);
}
template <class Tiling, class Accumulators, class... S, std::size_t... I>
__device__ __forceinline__ void write_slot(body<S...>, std::index_sequence<I...>, Accumulators& acc,
                                           const tile<Tiling>& t, int slot, void* workspace, std::int64_t columns,
                                           const mix_order_share& share) {
  (write_partials<reduction_of<S>::is, static_cast<int>(I), S, body<S...>>(acc, t, slot, workspace, columns, share),
   ...);
}
template <class Tiling, class Accumulators, class... S, std::size_t... I>
__device__ __forceinline__ void add_slots(body<S...>, std::index_sequence<I...>, Accumulators& acc,
                                          const tile<Tiling>& t, int begin, int end, void* workspace,
                                          std::int64_t columns, const mix_order_share& share) {
  (add_partials<reduction_of<S>::is, static_cast<int>(I), S, body<S...>>(acc, t, begin, end, workspace, columns, share),
   ...);
}

/// True in the block that raises a counter to `all`, with everything in sight that the others wrote before they did.
__device__ __forceinline__ bool comes_last(unsigned* counter, int all) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    last = atomicAdd(counter, 1u) + 1 == static_cast<unsigned>(all);
    __threadfence();
  }
  __syncthreads();
  return last;
}

/// After every block has left its states: the last of each group combines the group, the last group's the whole, and
/// runs what follows from the columns' results. Width divides the number of columns.
template <int Width, class Index, class Args, class... S, std::size_t... I>
__device__ __forceinline__ void finish_mix_order(body<S...> column, std::index_sequence<I...> numbers, const Args& args,
                                                 void* workspace, const mix_order_share& share) {
  using Column = body<S...>;
  constexpr int width = Width < 4 ? Width : 4;  // 16 bytes of sums
  using tiling = tiling<loop_var::x, loop_var::x, width, 4 / width, Index>;
  const std::int64_t columns = args.rnumel;
  if (columns <= 0) return;
  auto* counters = static_cast<unsigned*>(workspace);
  const int group = static_cast<int>(blockIdx.x) / share.group, begin = group * share.group;
  const int end = begin + share.group < share.blocks ? begin + share.group : share.blocks;
  const int threads = static_cast<int>(blockDim.x * blockDim.y);
  const int mine = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  const auto each_tile = [&](int first_slot, int last_slot, auto then) {
    accumulators<Column, tiling::size> sums;
    tile<tiling> t;
    for (std::int64_t c = mine * width; c < columns; c += std::int64_t(threads) * width * tiling::items) {
      t.template place<0>(static_cast<Index>(c), threads * width, static_cast<Index>(columns) - width);
      start<0, tiling::size>(column, numbers, sums);
      add_slots<tiling>(column, numbers, sums, t, first_slot, last_slot, workspace, columns, share);
      then(sums, t);
    }
  };
  if (!comes_last(counters + group, end - begin)) return;
  each_tile(begin, end, [&](auto& sums, const tile<tiling>& t) {
    write_slot<tiling>(column, numbers, sums, t, share.blocks + group, workspace, columns, share);
  });
  if (!comes_last(counters + share.groups(), share.groups())) return;
  each_tile(share.blocks, share.blocks + share.groups(), [&](auto& sums, const tile<tiling>& t) {
    frame<Column, tiling> f;
    evaluate<rows_of_phase<Column, 0>>(f, t, args);
    (finish_sums<reduction_of<S>::is, static_cast<int>(I), S, tiling::size>(sums, f), ...);
    evaluate<rows_of_phase<Column, 1>>(f, t, args);
  });
}

}  // namespace sinter::cuda::detail

namespace sinter::cuda {

/// One row per blockDim.x threads at a time, all of it in registers, as are the states of all columns. Requires
/// 0 < args.rnumel <= blockDim.x * Items * Width, equal to it if Exact. Threads is 0 when known at launch only. A block
/// of more than one row has at most walk_block threads.
template <class Row, class Column, int Width, int Items, int Threads, int MaxBlock, bool Exact, class Args>
__global__ void __launch_bounds__(MaxBlock,
                                  MaxBlock <= 256 || detail::is_light_walk<Row, Column>(Width * Items) ? 2 : 1)
    mix_order_persistent(const Args args, void* const workspace, const mix_order_share share) {
  detail::begin_kernel();
  using row_tiling = detail::held_tiling<Row, Width, Items>;
  using column_tiling = detail::walk_tiling<Width, Items>;
  using numbers = std::make_index_sequence<Column::size>;
  constexpr int lanes = row_tiling::size;
  constexpr int half = detail::walk_block / 2;  // threads that hand their states over; none if a block has but one row
  constexpr int walkers = Threads > half ? 0 : half * lanes * detail::largest_state<Column>;
  constexpr int bytes = walkers > detail::storage_of_turns<Row> ? walkers : detail::storage_of_turns<Row>;
  alignas(16) __shared__ unsigned char storage[bytes];

  const int threads = detail::row_threads<Threads>::count();
  const int first_column = static_cast<int>(threadIdx.x) * Width, last_column = static_cast<int>(args.rnumel) - Width;
  detail::tile<row_tiling> row_tile;
  detail::tile<column_tiling> column_tile;
  row_tile.template place<(Exact ? Items : 0)>(first_column, threads * Width, last_column);
  column_tile.template place<(Exact ? Items : 0)>(first_column, threads * Width, last_column);

  detail::frame<Column, column_tiling> column;
  detail::accumulators<Column, lanes> sums;
  detail::start<0, lanes>(Column{}, numbers{}, sums);
  detail::evaluate<detail::column_values<Column>>(column, column_tile, args);

  const std::int64_t begin = blockIdx.x * share.rows;
  const std::int64_t end = begin + share.rows < args.numel ? begin + share.rows : args.numel;
  int turn = 0;
  for (std::int64_t at = begin; at < end; at += blockDim.y, ++turn) {
    const std::int64_t mine = at + threadIdx.y;
    const bool ok = mine < end;
    row_tile.fixed = column_tile.fixed = static_cast<int>(ok ? mine : end - 1);
    row_tile.fixed_ok = column_tile.fixed_ok = ok;
    detail::evaluate<detail::elements_of_phase<Column, 0>>(column, column_tile, args, false, [&](int u) {
      if (ok) detail::steps_of_phase<Column, 0, lanes>::item(sums, column, column_tile, u);
    });
    detail::frame<Row, row_tiling> row;
    detail::persistent_phases<Row, row_tiling>(
        std::make_index_sequence<body_facts<Row>::num_phases + 1>{}, row, row_tile, args, threadIdx.x == 0 && ok,
        detail::storage_of_turn<Row>(storage, turn), detail::walk_threads<Threads>{});
  }
  detail::combine_block<lanes>(Column{}, numbers{}, sums, storage);
  if (threadIdx.y == 0)
    detail::write_slot<column_tiling>(Column{}, numbers{}, sums, column_tile, static_cast<int>(blockIdx.x), workspace,
                                      args.rnumel, share);
  detail::finish_mix_order<Width, int>(Column{}, numbers{}, args, workspace, share);
}

/// Any extents: a row at a time, walked in tiles once per phase; then, while the rows are in the cache, the columns of
/// a few of them, tile after tile, with their states in the workspace in between.
template <class Row, class Column, int Width, int Items, class Index, class Args>
__global__ void __launch_bounds__(detail::walk_block, detail::is_light_walk<Row, Column>(Width* Items) ? 4 : 2)
    mix_order_looped(const Args args, void* const workspace, const mix_order_share share) {
  detail::begin_kernel();
  using row_tiling = detail::tiling<loop_var::r, loop_var::r, Width, Items, Index>;
  using column_tiling = detail::tiling<loop_var::x, loop_var::x, Width, Items, Index>;
  using numbers = std::make_index_sequence<Column::size>;
  constexpr int lanes = row_tiling::size;
  constexpr int ways = detail::row_ways<Row, lanes>;
  constexpr std::int64_t rows_at_once = 4;
  constexpr Index stride = detail::walk_block * Width;
  alignas(16) __shared__ unsigned char storage[detail::storage_of_turns<Row>];

  detail::tile<row_tiling> row_tile;
  detail::tile<column_tiling> column_tile;
  detail::accumulators<Column, lanes> sums;
  const std::int64_t begin = blockIdx.x * share.rows;
  const std::int64_t end = begin + share.rows < args.numel ? begin + share.rows : args.numel;
  const split_part whole{nullptr, args.rnumel, 1};
  const int slot = static_cast<int>(blockIdx.x);
  int turn = 0;
  std::int64_t at = begin;
  do {
    const std::int64_t stop = at + rows_at_once < end ? at + rows_at_once : end;
    for (std::int64_t x = at; x < stop; ++x, ++turn) {
      row_tile.fixed = static_cast<Index>(x);
      detail::frame<Row, row_tiling> row;
      detail::looped_phases<Row, row_tiling, ways>(std::make_index_sequence<body_facts<Row>::num_phases + 1>{}, row,
                                                   row_tile, args, whole, x, threadIdx.x == 0,
                                                   detail::storage_of_turn<Row>(storage, turn));
    }
    for (Index c = 0; c < static_cast<Index>(args.rnumel); c += stride * Items) {
      column_tile.template place<0>(c + static_cast<Index>(threadIdx.x * Width), stride,
                                    static_cast<Index>(args.rnumel) - Width);
      detail::start<0, lanes>(Column{}, numbers{}, sums);
      if (at != begin)
        detail::add_slots<column_tiling>(Column{}, numbers{}, sums, column_tile, slot, slot + 1, workspace, args.rnumel,
                                         share);
      detail::frame<Column, column_tiling> column;
      detail::evaluate<detail::column_values<Column>>(column, column_tile, args);
      for (std::int64_t x = at; x < stop; ++x) {
        column_tile.fixed = static_cast<Index>(x);
        detail::evaluate_and_step<detail::elements_of_phase<Column, 0>, 0, lanes>(sums, column, column_tile, args);
      }
      detail::write_slot<column_tiling>(Column{}, numbers{}, sums, column_tile, slot, workspace, args.rnumel, share);
    }
    at += rows_at_once;
  } while (at < end);
  detail::finish_mix_order<Width, Index>(Column{}, numbers{}, args, workspace, share);
}

}  // namespace sinter::cuda
