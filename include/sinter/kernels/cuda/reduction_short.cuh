// Reductions along memory (orientation row) of short rows: a block moves a run of them through shared memory.
// Which rows are short, and who takes which, is short_rows.hpp's matter, launching reduction_launch.cuh's.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/copy_async.cuh"
#include "sinter/kernels/cuda/overlap.cuh"
#include "sinter/kernels/cuda/reduction_persistent.cuh"
#include "sinter/kernels/cuda/short_rows.hpp"

namespace sinter::cuda {

namespace detail {

/// Neighbours within a warp that share a row.
struct short_threads {
  int along;
  __device__ __forceinline__ int count() const { return along < 32 ? along : 32; }
  __device__ __forceinline__ int thread() const { return static_cast<int>(threadIdx.x) & (count() - 1); }
  __device__ __forceinline__ int row() const { return 0; }
  __device__ __forceinline__ int lanes() const { return count(); }
  __device__ __forceinline__ int warps() const { return 1; }
  __device__ __forceinline__ void sync() const {}
};

/// Where a run lies in shared memory: one access after another, each as far beyond a multiple of 16 bytes as it is in
/// memory.
template <class Held, long Rnumel, class Shape>
struct short_storage {
  static constexpr auto facts = short_facts<Held, Rnumel>::facts;
  static constexpr int capacity = Shape::capacity;
  template <int S>
  static constexpr int offset = [] {
    int total = 0;
    for (int i = 0; i < S; ++i)
      if (facts.bytes[i] > 0) total += static_cast<int>(sinter::detail::round_up(capacity * facts.bytes[i], 16)) + 16;
    return total;
  }();
  /// Lanes past the end of the last row read on.
  static constexpr int bytes = offset<Held::size> + 32 * 32;
};

/// Where a thread is in the run.
template <class Places, int Width>
struct short_staging {
  unsigned char* storage = nullptr;
  int lead[Places::facts.count]{};
  int first = 0;   // the element of the run at which the thread's part of its row begins
  int stride = 1;  // from item to item
  template <int I, class T>
  __device__ __forceinline__ T* item(int u) const {
    constexpr int offset = Places::template offset<I>, number = Places::facts.number[I];
    return reinterpret_cast<T*>(storage + offset + lead[number]) + first + u * stride;
  }
  template <int I, class T>
  __device__ __forceinline__ void read(compute_t<T> (&out)[Width], int u) const {
    wide<T, Width>::template read<false>(out, item<I, T>(u));
  }
  template <int I, class T>
  __device__ __forceinline__ void write(const T (&in)[Width], int u) const {
    wide<T, Width>::template write<false>(item<I, T>(u), in);
  }
};

template <class Held, long Rnumel, int Width, int Items, class Shape>
struct short_tiling : tiling<loop_var::r, loop_var::r, Width, Items, int> {
  using places = short_storage<Held, Rnumel, Shape>;
  using staging = short_staging<places, Width>;
  using single = short_tiling<Held, Rnumel, Width, 1, Shape>;
  static constexpr bool packed = false, guards = true, early_loads = false, streamed = Rnumel < 0;
  static constexpr bool reads_ahead = streamed;
  static constexpr int most_waiting = streamed ? 64 : 16;  // what is read from memory are weights, and they are near
  template <int I>
  static constexpr bool stages = places::facts.bytes[I] > 0;
};

/// The way of `size` elements between memory and shared memory, where they lie alike in 16 bytes: whole ones at once,
/// what is left at both ends one by one. Both parts are given at the multiple of 16 before the first.
template <class T>
struct run_copy {
  static constexpr int bytes = static_cast<int>(sizeof(T)), unit = 16 / bytes;
  int lead, end;  // in bytes, from that multiple of 16
  __device__ __forceinline__ run_copy(int lead, int size) : lead(lead), end(lead + size * bytes) {}

  __device__ __forceinline__ int whole_begin() const { return lead > 0 ? 16 : 0; }
  __device__ __forceinline__ int whole_bytes() const { return (end & ~15) - whole_begin(); }

  /// By `move`, for devices without a copy engine.
  template <class Move>
  __device__ __forceinline__ void move_whole(unsigned char* to, const unsigned char* from, const Move& move) const {
    for (int at = whole_begin() + static_cast<int>(threadIdx.x) * 16; at + 16 <= end; at += short_block * 16)
      move(to + at, from + at);
  }
  /// The first 16 bytes are one thread each's, and the last.
  __device__ __forceinline__ void move_ends(unsigned char* to, const unsigned char* from) const {
    const int thread = static_cast<int>(threadIdx.x);
    const bool first = thread < unit;
    const int at = first ? thread * bytes : (end & ~15) + (thread - unit) * bytes;
    if (thread < 2 * unit && at >= lead && at < end && (first ? lead > 0 : end >= 16 || lead == 0))
      *reinterpret_cast<T*>(to + at) = *reinterpret_cast<const T*>(from + at);
  }
};

/// Rows [first, first + rows) of so many elements each.
struct run_part {
  int first, rows, length;
};

/// Access S of a run.
template <bool Wanted, int I, class S>
struct short_access {
  template <class Tiling, class Args>
  static __device__ __forceinline__ void read(typename Tiling::staging&, const Args&, const run_part&,
                                              const block_copies&) {}
  template <class Tiling, class Args>
  static __device__ __forceinline__ void write(const typename Tiling::staging&, const Args&, const run_part&,
                                               const block_copies&) {}
};
template <int I, int Slot, class T, class At>
struct short_place {
  template <class Args>
  static __device__ __forceinline__ unsigned char* memory(const Args& args, const run_part& run) {
    constexpr long offset = row_place<At>::facts.offset;
    T* start = static_cast<T*>(args.pointers[Slot]) + sinter::detail::resolve(offset, args.sizes);
    return reinterpret_cast<unsigned char*>(start + static_cast<std::int64_t>(run.first) * run.length);
  }
  static __device__ __forceinline__ int lead(const unsigned char* memory) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(memory)) & 15;
  }
  template <class Tiling>
  static __device__ __forceinline__ unsigned char* shared(const typename Tiling::staging& staging) {
    constexpr int offset = Tiling::places::template offset<I>;
    return staging.storage + offset;
  }
};
template <int I, int Slot, class T, class At>
struct short_access<true, I, load<Slot, T, At, -1>> : short_access<false, I, void> {
  using place = short_place<I, Slot, T, At>;
  template <class Tiling, class Args>
  static __device__ __forceinline__ void read(typename Tiling::staging& staging, const Args& args, const run_part& run,
                                              const block_copies& engine) {
    constexpr int number = Tiling::places::facts.number[I];
    const unsigned char* from = place::memory(args, run);
    const int lead = staging.lead[number] = place::lead(from);
    from -= lead;
    unsigned char* to = place::template shared<Tiling>(staging);
    const run_copy<T> copy(lead, run.rows * run.length);
    const int begin = copy.whole_begin();
    if constexpr (has_copy_engine) engine.fetch(to + begin, from + begin, copy.whole_bytes());
    else
      copy.move_whole(to, from, [](unsigned char* target, const unsigned char* whole) { copy_async(target, whole); });
    copy.move_ends(to, from);
  }
};
template <int I, int Slot, class T, int A, class At>
struct short_access<true, I, store<Slot, T, A, At, -1>> {
  using place = short_place<I, Slot, T, At>;
  template <class Tiling, class Args>
  static __device__ __forceinline__ void read(typename Tiling::staging& staging, const Args& args, const run_part& run,
                                              const block_copies&) {
    constexpr int number = Tiling::places::facts.number[I];
    staging.lead[number] = place::lead(place::memory(args, run));
  }
  template <class Tiling, class Args>
  static __device__ __forceinline__ void write(const typename Tiling::staging& staging, const Args& args,
                                               const run_part& run, const block_copies& engine) {
    constexpr int number = Tiling::places::facts.number[I];
    const int lead = staging.lead[number];
    unsigned char* to = place::memory(args, run) - lead;
    const unsigned char* from = place::template shared<Tiling>(staging);
    const run_copy<T> copy(lead, run.rows * run.length);
    const int begin = copy.whole_begin();
    if constexpr (has_copy_engine) engine.put(to + begin, from + begin, copy.whole_bytes());
    else
      copy.move_whole(to, from, [](unsigned char* whole, const unsigned char* source) {
        *reinterpret_cast<uint4*>(whole) = *reinterpret_cast<const uint4*>(source);
      });
    copy.move_ends(to, from);
  }
};
template <class Tiling, class Args, class... S, std::size_t... I>
__device__ __forceinline__ void read_run(body<S...>, std::index_sequence<I...>, typename Tiling::staging& staging,
                                         const Args& args, const run_part& run, const block_copies& engine) {
  (short_access<Tiling::template stages<static_cast<int>(I)>, static_cast<int>(I), S>::template read<Tiling>(
       staging, args, run, engine),
   ...);
}
template <class Tiling, class Args, class... S, std::size_t... I>
__device__ __forceinline__ void write_run(body<S...>, std::index_sequence<I...>,
                                          const typename Tiling::staging& staging, const Args& args,
                                          const run_part& run, const block_copies& engine) {
  (short_access<Tiling::template stages<static_cast<int>(I)>, static_cast<int>(I), S>::template write<Tiling>(
       staging, args, run, engine),
   ...);
}

/// The values of a row that a frame of other lanes has.
template <class Body, class To, class From, std::size_t... I>
__device__ __forceinline__ void copy_row_values(std::index_sequence<I...>, To& to, From& from) {
  const auto copy = [&]<int S>(std::integral_constant<int, S>) {
    if constexpr (body_facts<Body>::facts.where[S] == scope::row) lanes_of<S>(to)[0] = lanes_of<S>(from)[0];
  };
  (copy(std::integral_constant<int, static_cast<int>(I)>{}), ...);
}

template <class Body, int P, int Ways, class Accumulators, class Frame, class Tiling, class Args>
__device__ __forceinline__ void walk_step(Accumulators& acc, Frame& f, tile<Tiling>& t, const Args& args, int row,
                                          int place) {
  t.staging.first = place;
#pragma unroll
  for (int u = 0; u < Tiling::items; ++u) t.at[u] = place - row + u, t.ok[u] = true;
  evaluate_and_step<elements_of_phase<Body, P>, P, Ways>(acc, f, t, args);
}
/// Phase P of the row that begins at element `row` of the run; the thread has those from `first` to `end`.
template <class Body, int P, class Tiling, class Frame, class Args>
__device__ __forceinline__ void walked_phase(Frame& f, tile<Tiling>& t, const Args& args, int row, int first, int end,
                                             bool writer, const short_threads& threads) {
  using numbers = std::make_index_sequence<Body::size>;
  evaluate<rows_of_phase<Body, P>>(f, t, args, writer);
  if constexpr (P < body_facts<Body>::num_phases) {
    constexpr int ways = row_ways<Body, Tiling::size>;
    accumulators<Body, ways> acc;
    start<P, ways>(Body{}, numbers{}, acc);
    int place = first;
#pragma unroll 1
    for (; place <= end - Tiling::items; place += Tiling::items) walk_step<Body, P, ways>(acc, f, t, args, row, place);
    using single = typename Tiling::single;
    tile<single> one;
    one.fixed = t.fixed, one.fixed_ok = t.fixed_ok, one.staging = t.staging;
    frame<Body, single> g;
    copy_row_values<Body>(numbers{}, g, f);
#pragma unroll 1
    for (; place < end; ++place) walk_step<Body, P, ways>(acc, g, one, args, row, place);
    combine_row<P, ways>(Body{}, numbers{}, acc, nullptr, threads);
    finish_row_phase<P>(Body{}, numbers{}, acc, f, threads);
  }
}
template <class Body, class Tiling, class Frame, class Args, std::size_t... P>
__device__ __forceinline__ void walked_phases(std::index_sequence<P...>, Frame& f, tile<Tiling>& t, const Args& args,
                                              int row, int first, int end, bool writer, const short_threads& threads) {
  (walked_phase<Body, static_cast<int>(P)>(f, t, args, row, first, end, writer, threads), ...);
}

}  // namespace detail

/// Runs of rows of which short_facts<Body, Rnumel>::holds.
template <class Body, long Rnumel, int Width, int Items, int MinBlocks, int Full, class Shape, class Args>
__global__ void __launch_bounds__(detail::short_block, MinBlocks) reduction_short(const Args args, const Shape given) {
  detail::begin_kernel();
  using tiling = detail::short_tiling<Body, Rnumel, Width, Items, Shape>;
  using numbers = std::make_index_sequence<Body::size>;
  alignas(16) __shared__ unsigned char storage[tiling::places::bytes];
  __shared__ detail::copy_arrival arrived;
  const detail::block_copies engine(arrived);
  const detail::short_shape shape = given.get();
  const detail::short_threads threads{shape.threads()};
  const int length = Rnumel >= 0 ? static_cast<int>(Rnumel) : static_cast<int>(args.rnumel);
  const int first = static_cast<int>(blockIdx.x) * shape.rows(), left = static_cast<int>(args.numel) - first;
  const detail::run_part run{first, left < shape.rows() ? left : shape.rows(), length};

  detail::tile<tiling> tile;
  tile.staging.storage = storage;
  if constexpr (Rnumel >= 0) tile.staging.stride = threads.count() * Width;
  detail::read_run<tiling>(Body{}, numbers{}, tile.staging, args, run, engine);
  engine.wait();
  if constexpr (Rnumel >= 0)
    tile.template place<Full>(threads.thread() * Width, threads.count() * Width, length - Width);
#pragma unroll 1
  for (int turn = 0; turn < shape.turns; ++turn) {
    const int row = shape.row(static_cast<int>(threadIdx.x), turn);
    tile.fixed_ok = row < run.rows;
    tile.fixed = run.first + (tile.fixed_ok ? row : 0);
    detail::frame<Body, tiling> frame;
    using phases = std::make_index_sequence<body_facts<Body>::num_phases + 1>;
    const bool writer = threads.thread() == 0 && tile.fixed_ok;
    if constexpr (Rnumel >= 0) {
      tile.staging.first = row * length + threads.thread() * Width;
      detail::persistent_phases<Body, tiling>(phases{}, frame, tile, args, writer, nullptr, threads);
    } else {
      const int start = row * length, own = start + threads.thread() * shape.items, last = start + length;
      detail::walked_phases<Body>(phases{}, frame, tile, args, start, own,
                                  own + shape.items < last ? own + shape.items : last, writer, threads);
    }
  }
  if constexpr (tiling::places::facts.stores) {
    engine.sync();
    detail::write_run<tiling>(Body{}, numbers{}, tile.staging, args, run, engine);
    engine.finish();
  }
}

}  // namespace sinter::cuda
