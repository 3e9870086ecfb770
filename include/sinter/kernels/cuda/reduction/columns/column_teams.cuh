// Reductions across memory (orientation column) in several phases. Teams of blocks take one set of columns after
// another, each block some of the rows, which wait in shared memory from phase to phase; in between the blocks leave
// their states for each other and wait. Each thread copies what it reads itself, and as soon as it has read it for the
// last time sends for the same place of the next set.
// How columns are shared out is split.hpp's matter, launching launch.cuh's. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/copy_async.cuh"
#include "sinter/kernels/cuda/kernel_memory.cuh"
#include "sinter/kernels/cuda/overlap.cuh"
#include "sinter/kernels/cuda/reduction/rows/row_threads.cuh"
#include "sinter/kernels/cuda/reduction/rows/streamed.cuh"

namespace sinter::cuda {

/// How columns are shared out: in `tiles` sets of `span`, which 2^log_along threads read side by side;
/// `teams` teams of `parts` blocks take one set after another, each block `length` rows.
struct team_share {
  unsigned* counters = nullptr;
  void* states = nullptr;
  std::int64_t tiles = 1, length = 0;
  int span = 1, log_along = 0, parts = 1, teams = 1;
  int places = 0;  // tiles of rows for which shared memory has room
};

namespace detail {

/// Two blocks run on a multiprocessor, of different teams: one waits while the other reads or writes. A thread has 128
/// registers.
inline constexpr int team_threads = 256;
/// Bytes of a thread's columns that may wait in shared memory: of all threads 32 KB, which every device has.
inline constexpr int most_team_bytes = 128;
/// Rows that a thread reads at a time: as many as make those bytes and 32 values, or 16 beside results of several
/// phases; of single columns, each of which has an address, 8.
template <class Body, int Width>
inline constexpr int team_items = [] {
  const int bytes = sinter::detail::shared_row_facts<Body>::row_bytes * Width;
  const int items = bytes > 0 ? most_team_bytes / bytes : 1, values = body_facts<Body>::num_phases > 2 ? 16 : 32;
  const int most = Width == 1 ? 8 : values / Width;
  return items < 1 ? 1 : items < most ? items : most;
}();

/// Which loads of vectors of Width columns wait in shared memory: those that copies without registers can move.
template <class Body, int Width, class Numbers = std::make_index_sequence<Body::size>>
struct team_loads;
template <class... S, int Width, std::size_t... I>
struct team_loads<body<S...>, Width, std::index_sequence<I...>> {
  template <class Statement, int N>
  static constexpr int vector_bytes = [] {
    constexpr int bytes = Width * sinter::detail::row_load_bytes<Statement>;
    constexpr auto kind = access_facts<body<S...>>::template along<loop_var::x, Width>.touches[N].where.kind;
    constexpr bool moves = bytes % 16 == 0 || bytes == 4 || bytes == 8;
    constexpr bool fits = Width * sinter::detail::shared_row_facts<body<S...>>::row_bytes <= most_team_bytes;
    return moves && fits && (Width == 1 || kind == access::contiguous) ? bytes : 0;
  }();
  SINTER_HOST_DEVICE static constexpr int bytes_before(int s) {
    int total = 0;
    ((total += static_cast<int>(I) < s ? vector_bytes<S, static_cast<int>(I)> : 0), ...);
    return total;
  }
  static constexpr int bytes = bytes_before(sizeof...(S));
  static constexpr bool stages(int s) { return bytes_before(s + 1) > bytes_before(s); }

  /// Sends for what the thread reads of row r; `place`: of the block's item.
  template <class Args, class Index>
  static __device__ __forceinline__ void send(unsigned char* place, const Args& args, Index x, Index r) {
    (send_one<static_cast<int>(I)>(S{}, place, args, x, r), ...);
  }

 private:
  template <int N, class Statement, class Args, class Index>
  static __device__ __forceinline__ void send_one(Statement, unsigned char*, const Args&, Index, Index) {}
  template <int N, int Slot, class T, class At, class Args, class Index>
  static __device__ __forceinline__ void send_one(load<Slot, T, At, -1>, unsigned char* place, const Args& args,
                                                  Index x, Index r) {
    constexpr int vector = vector_bytes<load<Slot, T, At, -1>, N>, before = bytes_before(N) * team_threads;
    if constexpr (vector > 0)
      copy_async_of<vector>(place + before + static_cast<int>(threadIdx.x) * vector,
                            static_cast<const T*>(args.pointers[Slot]) + offset_of<At>::at_xr(x, r, args.sizes));
  }
};

/// Where a thread finds what it has sent for: of each item, load by load.
template <class Body, int Width>
struct team_staging {
  using loads = team_loads<Body, Width>;
  static constexpr int item_bytes = loads::bytes * team_threads;
  unsigned char* place = nullptr;  // of the tile

  template <int I, class T>
  __device__ __forceinline__ void read(compute_t<T> (&out)[Width], int u) const {
    const auto* values = reinterpret_cast<const T*>(place + u * item_bytes + loads::bytes_before(I) * team_threads);
    wide<T, Width>::template read<false>(out, values + static_cast<int>(threadIdx.x) * Width);
  }
};

template <class Body, int Width, int Items, class Index>
struct team_tiling : tiling<loop_var::x, loop_var::r, Width, Items, Index> {
  static constexpr bool streamed = true, guards = true, even = true;
  using staging = team_staging<Body, Width>;
  template <int I>
  static constexpr bool stages = staging::loads::stages(I);
};

/// Where the warps of a block leave their states: of each column one after another, and a place that is left empty so
/// that columns lie in different banks.
inline constexpr int team_slots = team_threads / 32 + 1;
template <class Body>
inline constexpr int team_storage = largest_phase<Body, team_slots * sinter::detail::shared_column_facts<Body>::span>;

/// The threads of a block and the columns of its set: powers of two of threads read side by side, and combine what is
/// known of one column.
template <int Threads>
class team_columns {
 public:
  int count;           // columns; none: past the end
  std::int64_t first;  // column

  __device__ __forceinline__ team_columns(int span, int log_along, std::int64_t first_column)
      : count(span), first(first_column), log_along_(log_along) {
    while (log_combining_ > 0 && (Threads >> log_combining_) < span) --log_combining_;
  }
  static __device__ __forceinline__ int thread() { return static_cast<int>(threadIdx.x); }
  __device__ __forceinline__ int along() const { return 1 << log_along_; }
  __device__ __forceinline__ int mine() const { return thread() & (along() - 1); }
  __device__ __forceinline__ int row() const { return thread() >> log_along_; }
  __device__ __forceinline__ int rows() const { return Threads >> log_along_; }
  /// Those that read the same columns and share no warp.
  __device__ __forceinline__ int slot() const { return thread() >> (log_along_ > 5 ? log_along_ : 5); }
  __device__ __forceinline__ int slots() const { return Threads >> (log_along_ > 5 ? log_along_ : 5); }
  __device__ __forceinline__ int combining() const { return 1 << log_combining_; }
  /// Calls visit(column of the set, thread of the column) where threads combine; all threads of a warp, also past the
  /// end.
  template <class Visit>
  __device__ __forceinline__ void each(const Visit& visit) const {
    const int c = thread() >> log_combining_, at_once = Threads >> log_combining_;
#pragma unroll 1
    for (int begin = 0; begin < count; begin += at_once) visit(begin + c, thread() & (combining() - 1));
  }

 private:
  int log_along_, log_combining_ = 5;
};

/// Lanes of a warp that have the same column combine, and leave their states for the others.
template <int I, class S, int Width, class Body, class Accumulators, class Columns>
__device__ __forceinline__ void leave_columns(Accumulators& acc, const Columns& columns, unsigned char* storage) {
  using fold = reduction_of<S>;
  auto* slots = reinterpret_cast<typename fold::state*>(storage);
  auto& states = lanes_of<I>(acc);
#pragma unroll 1
  for (int offset = 16; offset >= columns.along(); offset /= 2) {
#pragma unroll
    for (int j = 0; j < Width; ++j) states[j] = fold::combine(states[j], from_lane_xor(states[j], offset));
  }
  if (Columns::thread() % 32 >= columns.along()) return;
#pragma unroll
  for (int j = 0; j < Width; ++j) slots[(columns.mine() * Width + j) * team_slots + columns.slot()] = states[j];
}
/// What read(0), …, read(n - 1) say of a column, in one order, the same in all threads that combine it; so many are on
/// their way at once.
template <class S, int AtOnce, class Read>
__device__ __forceinline__ typename reduction_of<S>::state combine_states(int n, int threads, int thread,
                                                                          const Read& read) {
  using fold = reduction_of<S>;
  auto all = fold::init();
#pragma unroll 1
  for (int k = thread; k < n; k += AtOnce * threads) {
    typename fold::state in[AtOnce];
#pragma unroll
    for (int i = 0; i < AtOnce; ++i)
      if (k + i * threads < n) in[i] = read(k + i * threads);
#pragma unroll
    for (int i = 0; i < AtOnce; ++i)
      if (k + i * threads < n) all = fold::combine(all, in[i]);
  }
#pragma unroll 1
  for (int offset = threads / 2; offset > 0; offset /= 2) all = fold::combine(all, from_lane_xor(all, offset));
  return all;
}

/// The states of phase P of all threads, and of all blocks of the team, become results, in all of them.
template <int P, class Body, int Width, int Threads, class Accumulators, class Frame>
__device__ __forceinline__ void finish_team_phase(Accumulators& acc, Frame& f, const team_columns<Threads>& columns,
                                                  const team_share& share, std::int64_t set, int part,
                                                  std::int64_t numel, unsigned char* storage) {
  using facts = sinter::detail::shared_column_facts<Body>;
  using reductions = reductions_of_phase<Body, P>;
  constexpr int slots = team_slots, places = slots * facts::span;
  const part_states parts{share.states, numel, share.parts};
  const auto slots_of = [&]<int N, class S>(std::integral_constant<int, N>, S) {
    return reinterpret_cast<typename reduction_of<S>::state*>(storage + phase_offset<Body, P, N, places>);
  };
  reductions::each([&]<int N, class S>(std::integral_constant<int, N> n, S s) {
    leave_columns<N, S, Width, Body>(acc, columns, reinterpret_cast<unsigned char*>(slots_of(n, s)));
  });
  __syncthreads();
  reductions::each([&]<int N, class S>(std::integral_constant<int, N> n, S s) {
    columns.each([&](int c, int thread) {
      const bool ok = c < columns.count;
      auto* const states = slots_of(n, s) + (ok ? c : 0) * slots;
      const auto all =
          combine_states<S, 1>(ok ? columns.slots() : 0, columns.combining(), thread, [&](int k) { return states[k]; });
      __syncwarp();
      if (thread != 0 || !ok) return;
      if (share.parts > 1) parts.template of<facts, N, S>(columns.first + c)[part] = all;
      else states[0] = all;
    });
  });
  __syncthreads();
  if (share.parts > 1) {
    if (columns.thread() == 0) {
      const auto all = static_cast<unsigned>(share.parts);
      const meeting_place place{share.counters + set * body_facts<Body>::num_phases + P, all, all};
      place.come();
      place.wait_for_all();
    }
    __syncthreads();
    reductions::each([&]<int N, class S>(std::integral_constant<int, N> n, S s) {
      columns.each([&](int c, int thread) {
        const bool ok = c < columns.count;
        const auto* const states = parts.template of<facts, N, S>(columns.first + (ok ? c : 0));
        const auto all = combine_states<S, 4>(ok ? share.parts : 0, columns.combining(), thread,
                                              [&](int k) { return read_shared_by_blocks(states + k); });
        if (thread == 0 && ok) slots_of(n, s)[c * slots] = all;
      });
    });
    __syncthreads();
  }
  reductions::each([&]<int N, class S>(std::integral_constant<int, N> n, S s) {
#pragma unroll
    for (int j = 0; j < Width; ++j)
      lanes_of<N>(f)[j] = reduction_of<S>::finish(slots_of(n, s)[(columns.mine() * Width + j) * slots]);
  });
  __syncthreads();  // the next phase uses the same storage
}

/// The rows of a block as its threads walk them, tile by tile.
template <class Tiling, class Args>
struct team_rows {
  using index = typename Tiling::index;
  using loads = typename Tiling::staging::loads;
  static constexpr int items = Tiling::items, tile_bytes = items * Tiling::staging::item_bytes;
  const Args& args;
  unsigned char* memory;
  index first, end, stride;  // of this thread
  int count, places;         // tiles, and for how many there is room

  __device__ __forceinline__ bool stays() const { return count <= places; }
  __device__ __forceinline__ index row(int k) const { return first + k * items * stride; }
  __device__ __forceinline__ bool is_whole(int k) const { return row(k) + (items - 1) * stride < end; }
  template <bool Whole>
  __device__ __forceinline__ void send(int k, int slot, index x) const {
    if constexpr (loads::bytes > 0) {
      unsigned char* place = memory + slot * tile_bytes;
#pragma unroll
      for (int u = 0; u < items; ++u, place += Tiling::staging::item_bytes)
        if (Whole || row(k) + u * stride < end) loads::send(place, args, x, static_cast<index>(row(k) + u * stride));
    }
  }
  /// Tiles k, …, as many as there is room for.
  __device__ __forceinline__ void send_all(int k, index x) const {
#pragma unroll 1
    for (int slot = 0; slot < places && k + slot < count; ++slot) send<false>(k + slot, slot, x);
  }
  /// Calls visit() for each tile, where it is placed. Last: the rows of column `next` come into its place afterwards,
  /// if there is one. What does not stay comes anew in every phase.
  template <bool First, bool Last, class Visit>
  __device__ __forceinline__ void walk(tile<Tiling>& t, index next, const Visit& visit) const {
    int slot = 0;
#pragma unroll 1
    for (int k = 0; k < count; ++k) {
      if (slot == 0 && (First || !stays())) {
        if (!stays()) send_all(k, t.fixed);
        copy_commit();
        copy_wait<0>();
      }
      t.staging.place = memory + slot * tile_bytes;
      const bool comes = Last && next >= 0 && stays();
      if (is_whole(k)) {
        t.template place<items>(row(k), stride, end - 1);
        visit();
        if (comes) send<true>(k, slot, next);
      } else {
        t.template place<0>(row(k), stride, end - 1);
        visit();
        if (comes) send<false>(k, slot, next);
      }
      if (++slot == places) slot = 0;
    }
  }
};

template <int P, class Body, class Tiling, class Frame, class Args, class Columns>
__device__ __forceinline__ void team_phase(Frame& f, tile<Tiling>& t, const team_rows<Tiling, Args>& rows,
                                           typename Tiling::index next, bool writer, const Columns& columns,
                                           const team_share& share, std::int64_t set, int part,
                                           unsigned char* storage) {
  constexpr int width = Tiling::width, phases = body_facts<Body>::num_phases;
  evaluate<rows_of_phase<Body, P>>(f, t, rows.args, writer);
  if constexpr (P < phases) {
    accumulators<Body, width> acc;
    start<P, width>(Body{}, std::make_index_sequence<Body::size>{}, acc);
    rows.template walk<P == 0, P == phases - 1>(
        t, next, [&] { evaluate_and_step<elements_of_phase<Body, P>, P, width>(acc, f, t, rows.args); });
    if constexpr (reduces_phase<Body, P>)
      finish_team_phase<P, Body, width>(acc, f, columns, share, set, part, rows.args.numel, storage);
  }
}
template <class Body, class Frame, class... Rest, std::size_t... P>
__device__ __forceinline__ void team_phases(std::index_sequence<P...>, Frame& f, Rest&... rest) {
  (team_phase<static_cast<int>(P), Body>(f, rest...), ...);
}

}  // namespace detail

/// All blocks run at once if a team has several. x: whole vectors of Width columns.
template <class Body, int Width, int Items, class Index, class Args>
__global__ void __launch_bounds__(detail::team_threads, 2)
    reduction_column_teams(const Args args, const team_share share) {
  detail::begin_kernel();
  using tiling = detail::team_tiling<Body, Width, Items, Index>;
  alignas(16) __shared__ unsigned char storage[detail::team_storage<Body>];
  extern __shared__ __align__(16) unsigned char team_memory[];
  const int part = static_cast<int>(blockIdx.x) % share.parts;
  const std::int64_t begin = part * share.length, last = begin + share.length;
  const Index end = static_cast<Index>(last < args.rnumel ? last : args.rnumel);
  const auto columns_of = [&](std::int64_t set) {
    const std::int64_t first = set * share.span, left = args.numel - first;
    return detail::team_columns<detail::team_threads>(left < share.span ? static_cast<int>(left) : share.span,
                                                      share.log_along, first);
  };
  const auto column_of = [](const auto& columns) {
    const int x = columns.mine() * Width;
    return static_cast<Index>(columns.first) + (x < columns.count ? x : columns.count - Width);
  };
  std::int64_t set = static_cast<int>(blockIdx.x) / share.parts;
  auto columns = columns_of(set);
  const Index stride = columns.rows(), step = Items * stride;
  const detail::team_rows<tiling, Args> rows{
      args,        team_memory, static_cast<Index>(begin) + columns.row(),
      end,         stride,      static_cast<int>((end - static_cast<Index>(begin) + step - 1) / step),
      share.places};
  Index x = column_of(columns);
  if (rows.stays()) rows.send_all(0, x);
  for (; set < share.tiles; set += share.teams) {
    detail::tile<tiling> tile;
    tile.fixed = x;
    tile.fixed_ok = columns.mine() * Width < columns.count;
    const auto next_columns = columns_of(set + share.teams);
    x = next_columns.count > 0 ? column_of(next_columns) : -1;
    detail::frame<Body, tiling> frame;
    const bool writer = part == 0 && tile.fixed_ok && columns.row() == 0;
    detail::team_phases<Body>(std::make_index_sequence<body_facts<Body>::num_phases + 1>{}, frame, tile, rows, x,
                              writer, columns, share, set, part, storage);
    columns = next_columns;
  }
}

}  // namespace sinter::cuda
