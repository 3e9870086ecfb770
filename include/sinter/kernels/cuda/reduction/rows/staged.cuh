// Reductions along memory (orientation row) of rows that begin and end anywhere, or are too long for registers: each
// waits in shared memory from phase to phase and is read once. While the threads of one wait for its memory, those of
// others compute. Which rows, and where they lie, is staged_rows.hpp's matter, launching launch.cuh's.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/copied_row.cuh"
#include "sinter/kernels/cuda/overlap.cuh"
#include "sinter/kernels/cuda/reduction/rows/row_threads.cuh"
#include "sinter/kernels/cuda/reduction/rows/rows_ahead.cuh"
#include "sinter/kernels/cuda/reduction/rows/spread.cuh"
#include "sinter/kernels/cuda/reduction/rows/staged_rows.hpp"
#include "sinter/kernels/cuda/reduction/rows/streamed.cuh"

namespace sinter::cuda {

namespace detail {

/// Where a thread is in a row, and where that lies in shared memory.
template <class Body>
struct staged_staging {
  using held = staged_facts<Body>;
  unsigned char* storage = nullptr;  // of the row
  int start[held::facts.count > 0 ? held::facts.count : 1]{};
  int first = 0;                // where the thread's first element of the tile lies
  bool inside = false;          // the whole tile
  bool shared_aligned = false;  // what all rows share lies as the tile does
  template <int I, int Width, class T>
  __device__ __forceinline__ T* item(int u) const {
    constexpr int number = held::facts.number[I];
    return reinterpret_cast<T*>(storage + start[number]) + first + u * (32 * Width);
  }
  template <int I, class T, int Width>
  __device__ __forceinline__ void read(compute_t<T> (&out)[Width], int u, bool on) const {
    const T* from = item<I, Width, T>(u);
    // Past the end lies what another row's warps may be writing.
    if (inside) wide<T, Width>::read(out, from);
    else wide<T, Width>::read_where(on, out, from);
  }
  template <int I, class T, int Width>
  __device__ __forceinline__ void write(const T (&in)[Width], int u) const {
    wide<T, Width>::template write<false>(item<I, Width, T>(u), in);
  }
};

/// Width: of vectors that lie well in every row, or what staged_facts has for rows that begin anywhere. Of two elements
/// those are words as they lie in memory; in a half of one a row may begin or end, of which a thread takes a single.
template <class Body, int Width, int Items = staged_facts<Body>::lanes(Width) / 32 / Width>
struct staged_row_tiling : tiling<loop_var::r, loop_var::r, Width, Items, int> {
  using held = staged_facts<Body>;
  using staging = staged_staging<Body>;
  using single = staged_row_tiling<Body, 1, 1>;
  static constexpr bool guards = true, streamed = true, adjoining = true, reads_ahead = true;
  static constexpr bool in_words = Width == 2 && held::width == 2;
  static constexpr bool loose = in_words, aligns = in_words;  // what all rows share
  static constexpr int most_waiting = 64;
  template <int I>
  static constexpr bool stages = held::facts.bytes[I] > 0;
};

/// Access S of a row.
template <bool Wanted, int I, class S>
struct staged_access {
  template <class Tiling, class Args>
  static __device__ __forceinline__ void begin(tile<Tiling>&, const Args&) {}
  template <class Tiling, class Args, class Threads>
  static __device__ __forceinline__ void fetch(const tile<Tiling>&, const Args&, copy_arrival&, const Threads&) {}
  template <class Tiling, class Args, class Threads>
  static __device__ __forceinline__ void put(const tile<Tiling>&, const Args&, const Threads&) {}
};
template <int I, int Slot, class T, class At>
struct staged_place : staged_access<false, I, void> {
  template <class Tiling, class Args>
  static __device__ __forceinline__ copied_row<T> row(const tile<Tiling>& t, const Args& args) {
    const std::int64_t first = offset_of<At>::at_xr(static_cast<std::int64_t>(t.fixed), std::int64_t(0), args.sizes);
    return copied_row<T>(static_cast<T*>(args.pointers[Slot]) + first, static_cast<int>(args.rnumel));
  }
  template <class Tiling>
  static __device__ __forceinline__ unsigned char* shared(const tile<Tiling>& t, int lead) {
    return t.staging.storage + t.staging.start[Tiling::held::facts.number[I]] - lead;
  }
  template <class Tiling, class Args>
  static __device__ __forceinline__ void begin(tile<Tiling>& t, const Args& args) {
    t.staging.start[Tiling::held::facts.number[I]] += row(t, args).lead;
  }
};
template <int I, int Slot, class T, class At>
struct staged_access<true, I, load<Slot, T, At, -1>> : staged_place<I, Slot, T, At> {
  using place = staged_place<I, Slot, T, At>;
  template <class Tiling, class Args, class Threads>
  static __device__ __forceinline__ void fetch(const tile<Tiling>& t, const Args& args, copy_arrival& arrival,
                                               const Threads& threads) {
    const auto row = place::row(t, args);
    row.fetch(place::shared(t, row.lead), t.fixed == 0, t.fixed + 1 == args.numel, arrival, threads);
  }
};
template <int I, int Slot, class T, int A, class At>
struct staged_access<true, I, store<Slot, T, A, At, -1>> : staged_place<I, Slot, T, At> {
  using place = staged_place<I, Slot, T, At>;
  template <class Tiling, class Args, class Threads>
  static __device__ __forceinline__ void put(const tile<Tiling>& t, const Args& args, const Threads& threads) {
    const auto row = place::row(t, args);
    row.put(place::shared(t, row.lead), threads);
  }
};

/// Warps: of a row, at least one.
struct staged_threads : row_threads<some_warps> {
  static __device__ __forceinline__ void sync_row() {
    if (count() > 32) sync();
    else __syncwarp();
  }
};
template <>
inline constexpr bool count_varies<staged_threads> = true;

/// Is statement I a store that phase P has filled? P == num_phases: any.
template <class Body, int P, std::size_t I>
inline constexpr bool puts_in = staged_facts<Body>::facts.bytes[I] > 0 &&
                                body_facts<Body>::facts.info[I].kind == statement_kind::store &&
                                (P == body_facts<Body>::num_phases || body_facts<Body>::facts.phase[I] == P);

/// Does phase P read what all rows share, element by element?
template <class Body, int P>
inline constexpr bool shares_in = [] {
  for (int s = 0; s < Body::size; ++s)
    if (body_facts<Body>::needed(P, s) && body_facts<Body>::facts.info[s].kind == statement_kind::source &&
        body_facts<Body>::facts.info[s].reads_r && staged_facts<Body>::facts.bytes[s] == 0)
      return true;
  return false;
}();

/// A row's way through shared memory, where it waits from phase to phase.
template <class Body, int Width, class Args, class Numbers = std::make_index_sequence<Body::size>>
class staged_stream;
template <class... S, int Width, class Args, std::size_t... I>
class staged_stream<body<S...>, Width, Args, std::index_sequence<I...>> {
 public:
  using B = body<S...>;
  using tiling = staged_row_tiling<B, Width>;
  using held = staged_facts<B>;
  using places_type = typename held::places;
  static constexpr int phases = body_facts<B>::num_phases;

  /// `arrival`: the row's own.
  __device__ __forceinline__ staged_stream(const Args& args, const places_type& places, tile<tiling>& tile,
                                           copy_arrival& arrival)
      : args_(args), tile_(tile), arrival_(arrival), length_(static_cast<int>(args.rnumel)) {
    const unsigned far =
        static_cast<unsigned>(places.shift.first) + static_cast<unsigned>(tile.fixed) * places.shift.step;
    before_ = tiling::in_words ? static_cast<int>(far & 1) : 0;
    aligned_ = tiling::in_words && before_ == 0 && places.shift.others_aligned;
#pragma unroll
    for (int k = 0; k < held::facts.count; ++k) tile.staging.start[k] = places.at[k];
    (access<I, S>::begin(tile, args), ...);
    if (threads_.thread() == 0) arrival.begin();
    (access<I, S>::fetch(tile_, args_, arrival_, threads_), ...);
    if (threads_.thread() == 0) arrival.end();
    copy_commit();
    threads_.sync_row();
  }

  /// The tile of an element by itself.
  __device__ __forceinline__ tile<typename tiling::single> single(int at, bool ok) const {
    tile<typename tiling::single> one;
    one.fixed = tile_.fixed, one.fixed_ok = tile_.fixed_ok, one.staging = tile_.staging;
    one.staging.inside = false, one.staging.first = one.at[0] = at, one.ok[0] = ok;
    return one;
  }
  /// The first that is this thread's, if it has any.
  __device__ __forceinline__ tile<typename tiling::single> first() const {
    const int at = first_of_warp() + threads_.thread() % 32 * Width;
    return single(at < 0 ? 0 : at, at + Width <= length_);
  }
  /// Calls visit(tile) at each place of the row that is this warp's. Shares: visit() reads what all rows share.
  template <bool Shares, class Visit>
  __device__ __forceinline__ void walk(const Visit& visit) const {
    constexpr int lanes = 32 * tiling::size;
    const int lane = threads_.thread() % 32 * Width, end = length_;
    const auto go = [&](int first, bool inside) {
      tile_.staging.first = first + lane, tile_.staging.inside = inside;
#pragma unroll
      for (int u = 0; u < tiling::items; ++u) {
        tile_.at[u] = first + lane + u * (32 * Width);
        tile_.ok[u] = inside || (tile_.at[u] >= 0 && tile_.at[u] + Width <= end);
      }
      visit(tile_);
    };
    const int step = threads_.warps() * lanes;
    int first = first_of_warp();
    const auto go_inside = [&](bool aligned) {
      tile_.staging.shared_aligned = aligned;
#pragma unroll 1
      for (; first + lanes <= end; first += step) go(first, true);
      tile_.staging.shared_aligned = false;
    };
#pragma unroll 1
    for (; first < end; first += step) {
      // Most tiles lie within the row: their items are not asked one by one.
      if (first >= 0) {
        if (Shares && aligned_) go_inside(true);
        else go_inside(false);
        if (first >= end) break;
      }
      go(first, false);
    }
    if constexpr (tiling::in_words) {
      const bool begins = threads_.thread() == 0;
      if (threads_.thread() >= 32 || ((before_ | end) & 1) == 0) return;
      visit(single(begins ? 0 : end - 1, begins ? before_ > 0 : threads_.thread() == 1 && ((before_ + end) & 1) != 0));
    }
  }
  __device__ __forceinline__ void wait() const {
    if constexpr (has_copy_engine) arrival_.wait();
    else copy_wait<0>();
    if (!has_copy_engine) threads_.sync_row();  // elements may have come one by one
  }
  /// Writes the row.
  __device__ __forceinline__ void finish() const {
    if constexpr ((puts_in<B, phases, I> || ...)) {
      copy_back_ready();
      threads_.sync_row();
      if (tile_.fixed_ok)
        (staged_access<puts_in<B, phases, I>, static_cast<int>(I), S>::put(tile_, args_, threads_), ...);
      if constexpr (has_copy_engine) __syncwarp();  // who sends comes last
      else threads_.sync_row();
      if (threads_.thread() == 0) copy_back_wait();
    }
  }

 private:
  template <std::size_t K, class Statement>
  using access = staged_access<tiling::template stages<static_cast<int>(K)>, static_cast<int>(K), Statement>;

  __device__ __forceinline__ int first_of_warp() const {
    return threads_.thread() / 32 * (32 * tiling::size) - before_;
  }

  const Args& args_;
  tile<tiling>& tile_;
  copy_arrival& arrival_;
  staged_threads threads_;
  int length_, before_;
  bool aligned_;
};

/// `before`: what phase P - 1 knows for this one.
template <class Body, int Ways, int P, class Stream, class Frame, class Args>
__device__ __forceinline__ void staged_phase(Stream& stream, Frame& f, tile<typename Frame::tiling>& t,
                                             const Args& args, bool writer, unsigned char* storage,
                                             spreads<Body, P - 1, Ways> before = {}) {
  using numbers = std::make_index_sequence<Body::size>;
  constexpr staged_threads threads{};
  evaluate<rows_of_phase<Body, P>>(f, t, args, writer);
  if constexpr (P < body_facts<Body>::num_phases) {
    accumulators<Body, Ways> acc;
    spreads<Body, P, Ways> known;
    start<P, Ways>(Body{}, numbers{}, acc);
    if constexpr (P == 0) stream.wait();
    if constexpr (walks_in<Body, P>) {
      begin_spreads<Body, P, Ways>(known, f, stream.first(), args);
      stream.template walk<shares_in<Body, P>>([&]<class Tile>(const Tile& at) {
        if constexpr (std::is_same_v<typename Tile::tiling, typename Frame::tiling>) {
          evaluate_and_spread<Body, P, Ways>(acc, known, f, at, args);
        } else {
          frame<Body, typename Tile::tiling> single;
          copy_row_values<Body>(numbers{}, single, f);
          evaluate_and_spread<Body, P, Ways>(acc, known, single, at, args);
        }
      });
      finish_sums<Body, P, Ways>(acc, known);
    } else {
      finish_spreads<Body, P - 1, Ways>(acc, before, f);
    }
    if constexpr (reduces_phase<Body, P>) {
      // Two halves of the storage in turn: a warp may be one phase ahead of another, not two.
      combine_row<P, Ways>(Body{}, numbers{}, acc, storage + P % 2 * largest_phase<Body, 32>, threads);
      finish_row_phase<P>(Body{}, numbers{}, acc, f, threads);
    }
    staged_phase<Body, Ways, P + 1>(stream, f, t, args, writer, storage, known);
  }
}

}  // namespace detail

/// One row per blockDim.x threads, a multiple of 32, of which staged_facts<Body>::place says where they lie.
template <class Body, int Width, int MinBlocks, class Args>
__global__ void __launch_bounds__(detail::staged_block<Body>, MinBlocks)
    reduction_staged(const Args args, const typename detail::staged_facts<Body>::places places) {
  detail::begin_with_rows<Body>(args, detail::staged_threads{}, detail::asked_staged);
  using tiling = detail::staged_row_tiling<Body, Width>;
  extern __shared__ __align__(16) unsigned char staged_memory[];
  alignas(16) __shared__ unsigned char storage[2 * detail::largest_phase<Body, 32>];
  __shared__ detail::copy_arrival arrivals[detail::short_warps];
  constexpr detail::staged_threads threads{};
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;

  detail::tile<tiling> tile;
  tile.fixed_ok = row < args.numel;
  tile.fixed = static_cast<int>(tile.fixed_ok ? row : args.numel - 1);
  tile.staging.storage = staged_memory + threads.row() * places.row_bytes;
  detail::staged_stream<Body, Width, Args> stream(args, places, tile, arrivals[threads.row()]);
  detail::frame<Body, tiling> frame;
  detail::staged_phase<Body, detail::row_ways<Body, tiling>, 0>(stream, frame, tile, args,
                                                                threads.thread() == 0 && tile.fixed_ok, storage);
  stream.finish();
}

}  // namespace sinter::cuda
