// Reductions along memory (orientation row) of rows that begin and end anywhere, or are too long for registers: each
// waits in shared memory from phase to phase and is read once. While the threads of one wait for its memory, those of
// others compute. Which rows, and where they lie, is staged_rows.hpp's matter, launching launch.cuh's.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/copy_async.cuh"
#include "sinter/kernels/cuda/overlap.cuh"
#include "sinter/kernels/cuda/reduction/row_threads.cuh"
#include "sinter/kernels/cuda/reduction/staged_rows.hpp"
#include "sinter/kernels/cuda/reduction/streamed.cuh"

namespace sinter::cuda {

namespace detail {

/// Width: of vectors that lie well in every row, or what staged_facts has for rows that begin anywhere.
template <class Body, int Width>
struct staged_row_tiling : tiling<loop_var::r, loop_var::r, Width, staged_facts<Body>::lanes(Width) / 32 / Width, int> {
  using held = staged_facts<Body>;
  static constexpr int width = Width;
  static constexpr bool guards = true, early_loads = false, streamed = true, padded = true, reads_ahead = true;
  static constexpr bool shifted = width > 1 && width == held::width;
  static constexpr int most_waiting = 64;
  template <int I>
  static constexpr bool stages = held::facts.bytes[I] > 0;
  struct staging {
    static constexpr bool others_aligned = false;
    unsigned end = 0;                  // of the row
    unsigned char* storage = nullptr;  // of the row
    int start[held::facts.count > 0 ? held::facts.count : 1]{};
    int first = 0;        // where the thread's first element of the tile lies
    bool inside = false;  // the whole tile
    template <int I, class T>
    __device__ __forceinline__ T* item(int u) const {
      constexpr int number = held::facts.number[I];
      return reinterpret_cast<T*>(storage + start[number]) + first + u * (32 * width);
    }
    template <int I, class T>
    __device__ __forceinline__ void read(compute_t<T> (&out)[width], int u) const {
      const T* from = item<I, T>(u);
      // Past the end lies what another row's warps may be writing.
      if (inside) wide<T, width>::template read<false>(out, from);
      else wide<T, width>::read_where(first + u * (32 * width) < static_cast<int>(end), out, from);
    }
    template <int I, class T>
    __device__ __forceinline__ void write(const T (&in)[width], int u) const {
      wide<T, width>::template write<false>(item<I, T>(u), in);
    }
  };
};

/// A row of one access, from the multiple of 16 bytes before it.
template <class T>
struct staged_row {
  static constexpr int bytes = static_cast<int>(sizeof(T));
  unsigned char* memory;
  int lead, end;  // in bytes

  __device__ __forceinline__ staged_row(T* first, int length)
      : memory(reinterpret_cast<unsigned char*>(first)),
        lead(static_cast<int>(reinterpret_cast<std::uintptr_t>(first)) & 15),
        end(lead + length * bytes) {
    memory -= lead;
  }

  /// 16 bytes in which it begins or ends are read with what is around it, but for the first row's and the last one's.
  template <class Threads>
  __device__ __forceinline__ void fetch(unsigned char* to, bool first_of_all, bool last_of_all, copy_arrival& arrival,
                                        const Threads& threads) const {
    const int first = first_of_all && lead > 0 ? 16 : 0, past = (last_of_all ? end : end + 15) & ~15;
    if constexpr (has_copy_engine) {
      if (threads.thread() == 0) arrival.send(to + first, memory + first, past - first);
    } else {
      for (int at = first + threads.thread() * 16; at < past; at += threads.count() * 16)
        copy_async(to + at, memory + at);
    }
    if (first > 0) move(to, memory, lead + threads.thread() * bytes, 16);
    if (past < end) move(to, memory, past + threads.thread() * bytes, end);
  }
  template <class Threads>
  __device__ __forceinline__ void put(const unsigned char* from, const Threads& threads) const {
    const int first = lead > 0 ? 16 : 0, past = end & ~15;
    if constexpr (has_copy_engine) {
      if (threads.thread() == 0) copy_back(memory + first, from + first, past - first);
    } else {
      for (int at = first + threads.thread() * 16; at < past; at += threads.count() * 16)
        *reinterpret_cast<uint4*>(memory + at) = *reinterpret_cast<const uint4*>(from + at);
    }
    if (first > 0) move(memory, from, lead + threads.thread() * bytes, 16);
    move(memory, from, past + threads.thread() * bytes, end);
  }

 private:
  static __device__ __forceinline__ void move(unsigned char* to, const unsigned char* from, int at, int limit) {
    if (at < limit) *reinterpret_cast<T*>(to + at) = *reinterpret_cast<const T*>(from + at);
  }
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
  static __device__ __forceinline__ staged_row<T> row(const tile<Tiling>& t, const Args& args) {
    const std::int64_t first = offset_of<At>::at_xr(static_cast<std::int64_t>(t.fixed), std::int64_t(0), args.sizes);
    return staged_row<T>(static_cast<T*>(args.pointers[Slot]) + first, static_cast<int>(args.rnumel));
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
struct staged_threads : row_threads<0> {
  static __device__ __forceinline__ int lanes() { return 32; }
  static __device__ __forceinline__ void sync_row() {
    if (count() > 32) sync();
    else __syncwarp();
  }
};

/// Is statement I a store that phase P has filled? P == num_phases: any.
template <class Body, int P, std::size_t I>
inline constexpr bool puts_in = staged_facts<Body>::facts.bytes[I] > 0 &&
                                body_facts<Body>::facts.info[I].kind == statement_kind::store &&
                                (P == body_facts<Body>::num_phases || body_facts<Body>::facts.phase[I] == P);

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
    before_ = tiling::shifted ? static_cast<int>(far & (Width - 1)) : 0;
    tile.staging.end = static_cast<unsigned>(length_);
#pragma unroll
    for (int k = 0; k < held::facts.count; ++k) tile.staging.start[k] = places.at[k];
    (access<I, S>::begin(tile, args), ...);
    if (threads_.thread() == 0) arrival.begin();
    (access<I, S>::fetch(tile_, args_, arrival_, threads_), ...);
    if (threads_.thread() == 0) arrival.end();
    copy_commit();
    threads_.sync_row();
  }

  /// Calls visit() with the tile at each place of the row that is this warp's.
  template <int P, class Visit>
  __device__ __forceinline__ void walk(const Visit& visit) {
    if (P == 0) wait();
    visit_tiles(visit);
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

  __device__ __forceinline__ void wait() const {
    if constexpr (has_copy_engine) arrival_.wait();
    else copy_wait<0>();
    if (!has_copy_engine) threads_.sync_row();  // elements may have come one by one
  }

  template <class Visit>
  __device__ __forceinline__ void visit_tiles(const Visit& visit) const {
    constexpr int lanes = 32 * tiling::size;
    const int lane = threads_.thread() % 32 * Width, end = length_;
    int first = threads_.thread() / 32 * lanes - before_;
    const auto go = [&](bool inside) {
      tile_.staging.first = first + lane, tile_.staging.inside = inside;
#pragma unroll
      for (int u = 0; u < tiling::items; ++u) {
        tile_.at[u] = first + lane + u * (32 * Width);
        tile_.ok[u] = inside || (!tiling::shifted && tile_.at[u] < end);  // of a shifted row lanes are asked
      }
      visit();
    };
#pragma unroll 1
    for (; first < end; first += threads_.warps() * lanes) {
      // Most tiles lie within the row: their items are not asked one by one.
      if (first >= 0 && first + lanes <= end) go(true);
      else go(false);
    }
  }

  const Args& args_;
  tile<tiling>& tile_;
  copy_arrival& arrival_;
  staged_threads threads_;
  int length_, before_;
};

template <class Body, int Ways, int P, class Stream, class Frame, class Args>
__device__ __forceinline__ void staged_phase(Stream& stream, Frame& f, tile<typename Frame::tiling>& t,
                                             const Args& args, bool writer, unsigned char* storage) {
  using numbers = std::make_index_sequence<Body::size>;
  constexpr staged_threads threads{};
  evaluate<rows_of_phase<Body, P>>(f, t, args, writer);
  if constexpr (P < body_facts<Body>::num_phases) {
    accumulators<Body, Ways> acc;
    start<P, Ways>(Body{}, numbers{}, acc);
    stream.template walk<P>([&] { evaluate_and_step<elements_of_phase<Body, P>, P, Ways>(acc, f, t, args); });
    if constexpr (reduces_phase<Body, P>) {
      // Two halves of the storage in turn: a warp may be one phase ahead of another, not two.
      combine_row<P, Ways>(Body{}, numbers{}, acc, storage + P % 2 * largest_phase<Body, 32>, threads);
      finish_row_phase<P>(Body{}, numbers{}, acc, f, threads);
    }
  }
}
template <class Body, class Stream, class Frame, class Args, std::size_t... P>
__device__ __forceinline__ void staged_phases(std::index_sequence<P...>, Stream& stream, Frame& f,
                                              tile<typename Frame::tiling>& t, const Args& args, bool writer,
                                              unsigned char* storage) {
  (staged_phase<Body, row_ways<Body, Frame::tiling::size>, static_cast<int>(P)>(stream, f, t, args, writer, storage),
   ...);
}

}  // namespace detail

/// One row per blockDim.x threads, a multiple of 32, of which staged_facts<Body>::place says where they lie.
template <class Body, int Width, int MinBlocks, class Args>
__global__ void __launch_bounds__(detail::staged_block<Body>, MinBlocks)
    reduction_staged(const Args args, const typename detail::staged_facts<Body>::places places) {
  detail::begin_kernel();
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
  detail::staged_phases<Body>(std::make_index_sequence<body_facts<Body>::num_phases + 1>{}, stream, frame, tile, args,
                              threads.thread() == 0 && tile.fixed_ok, storage);
  stream.finish();
}

}  // namespace sinter::cuda
