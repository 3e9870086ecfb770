// Reductions across memory (orientation column) in several phases. Teams of blocks take one set of columns after
// another, each block some of the rows, which wait in shared memory from phase to phase; in between the blocks leave
// their states for each other and wait. Each thread copies what it reads itself, and as soon as it has read it for the
// last time sends for the same place of the next set.
// How columns are shared out is split.hpp's matter, launching launch.cuh's. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/copy_async.cuh"
#include "sinter/kernels/cuda/overlap.cuh"
#include "sinter/kernels/cuda/reduction/columns/column_pieces.cuh"
#include "sinter/kernels/cuda/reduction/columns/column_team_states.cuh"
#include "sinter/kernels/cuda/reduction/rows/streamed.cuh"

namespace sinter::cuda {

namespace detail {

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
  /// Single columns wait as pieces of rows.
  static constexpr bool in_pieces = Width == 1 && row_pieces<body<S...>>::possible;
  template <class Statement, int N>
  static constexpr int vector_bytes = [] {
    constexpr int bytes = Width * sinter::detail::row_load_bytes<Statement>;
    constexpr auto kind = access_facts<body<S...>>::template along<loop_var::x, Width>.touches[N].where.kind;
    constexpr bool moves = bytes % 16 == 0 || bytes == 4 || bytes == 8;
    constexpr bool fits = Width * sinter::detail::shared_row_facts<body<S...>>::row_bytes <= most_team_bytes;
    return in_pieces ? bytes : moves && fits && (Width == 1 || kind == access::contiguous) ? bytes : 0;
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

/// Where a thread finds what it has sent for, of each item, load by load; or what all have.
template <class Body, int Width>
struct team_staging {
  using loads = team_loads<Body, Width>;
  using pieces = row_pieces<Body>;
  static constexpr int item_bytes = loads::bytes * team_threads;
  unsigned char* place = nullptr;  // of the tile
  int elements[loads::in_pieces ? pieces::count : 1][team_items<Body, Width>];

  template <int I, class T>
  __device__ __forceinline__ void read(compute_t<T> (&out)[Width], int u) const {
    if constexpr (loads::in_pieces) {
      wide<T, 1>::read(out, reinterpret_cast<const T*>(place + elements[pieces::before(I)][u]));
    } else {
      const auto* values = reinterpret_cast<const T*>(place + u * item_bytes + loads::bytes_before(I) * team_threads);
      wide<T, Width>::read(out, values + static_cast<int>(threadIdx.x) * Width);
    }
  }
  /// Finds the thread's column x of those from `first` on, in its rows of a tile, which lie alike in all tiles.
  template <class Args>
  __device__ __forceinline__ void find(const Args& args, std::int64_t first, int x, std::int64_t r, int row, int stride,
                                       int pitch) {
    if constexpr (loads::in_pieces) {
      pieces::each([&](int number, auto load) {
#pragma unroll
        for (int u = 0; u < team_items<Body, Width>; ++u) {
          const int at = row + u * stride;
          elements[number][u] =
              (number * team_items<Body, Width> * stride + at) * pitch + pieces::element(load, args, first, r + at, x);
        }
      });
    }
  }
};

template <class Body, int Width, int Items, class Index>
struct team_tiling : tiling<loop_var::x, loop_var::r, Width, Items, Index> {
  static constexpr bool streamed = true, guards = true, even = true;
  using staging = team_staging<Body, Width>;
  template <int I>
  static constexpr bool stages = staging::loads::stages(I);
};

/// Columns as a thread sees them: its own, of a set of `count` from `first` on. None: there is no such set.
template <class Index>
struct columns_ahead {
  Index x = 0, first = 0;
  int count = 0;
};

/// A team's columns, and those that follow.
template <class Index>
struct team_sets {
  columns_ahead<Index> now, next;
};

/// The rows of a block as its threads walk them, tile by tile.
template <class Tiling, class Args>
struct team_rows {
  using index = typename Tiling::index;
  using ahead = columns_ahead<index>;
  using staging = typename Tiling::staging;
  using loads = typename staging::loads;
  static constexpr int items = Tiling::items;
  const Args& args;
  unsigned char* memory;
  index begin, end;
  int mine, stride;   // the thread's first row, and how far they are apart
  int count, places;  // tiles, and for how many there is room
  int pitch;

  __device__ __forceinline__ bool stays() const { return count <= places; }
  __device__ __forceinline__ index row(int k) const { return begin + mine + k * items * stride; }
  __device__ __forceinline__ unsigned char* place(int slot) const {
    if constexpr (loads::in_pieces) return memory + slot * (staging::pieces::count * items * stride * pitch);
    else return memory + slot * (items * staging::item_bytes);
  }
  /// A group of copies: tile k, if there are such columns.
  __device__ __forceinline__ void send(int k, int slot, const ahead& columns) const {
    unsigned char* at = place(slot);
    if (columns.count > 0) {
      if constexpr (loads::in_pieces) {
        const int rows = items * stride;
        const index first = begin + k * rows, left = end - first;
        staging::pieces::send(at, args, columns.first, columns.count, first,
                              left < rows ? static_cast<int>(left) : rows, rows, pitch);
      } else if constexpr (loads::bytes > 0) {
#pragma unroll
        for (int u = 0; u < items; ++u, at += staging::item_bytes)
          if (row(k) + u * stride < end) loads::send(at, args, columns.x, static_cast<index>(row(k) + u * stride));
      }
    }
    copy_commit();
  }
  /// The first set, if it stays.
  __device__ __forceinline__ void begin_sets(const ahead& columns) const {
    if (!stays()) return;
#pragma unroll 1
    for (int k = 0; k < count; ++k) send(k, k, columns);
  }
  /// Until tile k has come: those after it may be on their way.
  __device__ __forceinline__ void wait(int k) const {
    const int later = count - 1 - k;
    if (later >= 4) copy_wait<4>();
    else if (later == 3) copy_wait<3>();
    else if (later == 2) copy_wait<2>();
    else if (later == 1) copy_wait<1>();
    else copy_wait<0>();
    if (loads::in_pieces) __syncthreads();
  }
  /// Calls visit() for each tile, where it is placed. Last: the same rows of the columns that follow come into its
  /// place afterwards. What does not stay comes anew in every phase.
  template <bool First, bool Last, class Visit>
  __device__ __forceinline__ void walk(tile<Tiling>& t, const team_sets<index>& sets, const Visit& visit) const {
    const int whole = static_cast<int>((end - begin) / (items * stride)), at_once = stays() ? count : places;
#pragma unroll 1
    for (int first = 0; first < count; first += at_once) {
      const int stop = count - first < at_once ? count : first + at_once, inside = whole < stop ? whole : stop;
      if (!stays()) {
        if (loads::in_pieces) __syncthreads();
#pragma unroll 1
        for (int k = first; k < stop; ++k) send(k, k - first, sets.now);
        copy_wait<0>();
        if (loads::in_pieces) __syncthreads();
      }
      const auto go = [&]<bool Whole>(std::bool_constant<Whole>, int k) {
        if (First && stays()) wait(k);
        t.staging.place = place(k - first);
        t.template place<Whole ? items : 0>(row(k), stride, end - 1);
        visit();
        if (Last && stays()) {
          if (loads::in_pieces) __syncthreads();
          send(k, k - first, sets.next);
        }
      };
      // In loops of their own what all their tiles have in common is computed once.
      int k = first;
#pragma unroll 1
      for (; k < inside; ++k) go(std::true_type{}, k);
#pragma unroll 1
      for (; k < stop; ++k) go(std::false_type{}, k);
    }
  }
};

template <int P, class Body, class Tiling, class Frame, class Args, class Columns>
__device__ __forceinline__ void team_phase(Frame& f, tile<Tiling>& t, const team_rows<Tiling, Args>& rows,
                                           const team_sets<typename Tiling::index>& sets, bool writer,
                                           const Columns& columns, const team_share& share, std::int64_t set, int part,
                                           unsigned char* storage) {
  constexpr int width = Tiling::width, phases = body_facts<Body>::num_phases;
  evaluate<rows_of_phase<Body, P>>(f, t, rows.args, writer);
  if constexpr (P < phases) {
    accumulators<Body, width> acc;
    start<P, width>(Body{}, std::make_index_sequence<Body::size>{}, acc);
    rows.template walk<P == 0, P == phases - 1>(t, sets, [&] {
      using which = elements_of_phase<Body, P>;
      evaluate_first<which>(f, t, rows.args);
      evaluate_rest<which>(f, t, rows.args, false, [&](int u) {
        states_of_phase<Body, P>::each(
            [&]<int N, class S>(std::integral_constant<int, N>, S) { step_item<true, N, S, width>(acc, f, t, u); });
      });
      states_of_phase<Body, P>::each(
          [&]<int N, class S>(std::integral_constant<int, N>, S) { step_tile<true, N, S>(acc, f, t); });
    });
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
  detail::begin_kernel<Args::next_reads_ahead>();
  using tiling = detail::team_tiling<Body, Width, Items, Index>;
  alignas(128) __shared__ unsigned char storage[detail::team_storage<Body>];
  extern __shared__ __align__(128) unsigned char team_memory[];
  const int part = static_cast<int>(blockIdx.x) % share.parts;
  const auto begin = static_cast<Index>(part * share.length);
  const std::int64_t last = begin + share.length;
  const Index end = static_cast<Index>(last < args.rnumel ? last : args.rnumel);
  const auto columns_of = [&](std::int64_t set) {
    const std::int64_t first = set * share.span, left = args.numel - first;
    return detail::team_columns<detail::team_threads>(left < share.span ? static_cast<int>(left) : share.span,
                                                      share.log_along, first);
  };
  const auto ahead_of = [](const auto& columns) {
    const auto first = static_cast<Index>(columns.first);
    return detail::columns_ahead<Index>{first + columns.first_of(Width), first, columns.count};
  };
  std::int64_t set = static_cast<int>(blockIdx.x) / share.parts;
  auto columns = columns_of(set);
  const int stride = columns.rows(), step = Items * stride;
  const detail::team_rows<tiling, Args> rows{
      args,         team_memory, begin, end, columns.row(), stride, static_cast<int>((end - begin + step - 1) / step),
      share.places, share.pitch};
  detail::team_sets<Index> sets{ahead_of(columns), {}};
  rows.begin_sets(sets.now);
  for (; set < share.tiles; set += share.teams) {
    const auto next_columns = columns_of(set + share.teams);
    sets.next = ahead_of(next_columns);
    detail::tile<tiling> tile;
    tile.fixed = sets.now.x;
    tile.fixed_ok = columns.mine() * Width < columns.count;
    tile.staging.find(args, sets.now.first, static_cast<int>(sets.now.x - sets.now.first), begin, columns.row(), stride,
                      share.pitch);
    detail::frame<Body, tiling> frame;
    const bool writer = part == 0 && tile.fixed_ok && columns.row() == 0;
    detail::team_phases<Body>(std::make_index_sequence<body_facts<Body>::num_phases + 1>{}, frame, tile, rows, sets,
                              writer, columns, share, set, part, storage);
    columns = next_columns;
    sets.now = sets.next;
  }
}

}  // namespace sinter::cuda
