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

template <class Held, long Rnumel, int Width, int Items, class Shape>
struct short_tiling : tiling<loop_var::r, loop_var::r, Width, Items, int> {
  using places = short_storage<Held, Rnumel, Shape>;
  static constexpr bool packed = false, guards = true, early_loads = false;
  static constexpr int most_waiting = 16;  // what is read from memory are weights, and they are near
  struct staging {
    unsigned char* storage = nullptr;
    int lead[places::facts.count]{};
    int first = 0;   // the element of the run at which the thread's part of its row begins
    int stride = 0;  // from item to item
    template <int I, class T>
    __device__ __forceinline__ T* item(int u) const {
      constexpr int offset = places::template offset<I>, number = places::facts.number[I];
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
  template <int I>
  static constexpr bool stages = places::facts.bytes[I] > 0;
};

/// The way of `size` elements between memory and shared memory, where they lie alike in 16 bytes: whole ones at once,
/// by `whole`, what is left at both ends one by one. Capacity: the most elements there are.
template <class T, int Capacity>
struct run_copy {
  static constexpr int bytes = static_cast<int>(sizeof(T)), unit = 16 / bytes;
  static constexpr int rounds = (Capacity + 2 * unit - 1) / unit / short_block + 1;
  int lead, end;  // in bytes, from the multiple of 16 before the first
  __device__ __forceinline__ run_copy(int lead, int size) : lead(lead), end(lead + size * bytes) {}

  /// The ends of both parts are given at that multiple of 16.
  template <class Whole>
  __device__ __forceinline__ void run(unsigned char* to, const unsigned char* from, const Whole& whole) const {
    const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int k = 0; k < rounds; ++k) {
      const int at = (thread + k * short_block) * 16;
      if (at >= lead && at + 16 <= end) whole(to + at, from + at);
    }
    // The first 16 bytes are one thread each's, and the last.
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
  static __device__ __forceinline__ void read(typename Tiling::staging&, const Args&, const run_part&) {}
  template <class Tiling, class Args>
  static __device__ __forceinline__ void write(const typename Tiling::staging&, const Args&, const run_part&) {}
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
  template <class Tiling>
  using copy = run_copy<T, Tiling::places::capacity>;
};
template <int I, int Slot, class T, class At>
struct short_access<true, I, load<Slot, T, At, -1>> : short_access<false, I, void> {
  using place = short_place<I, Slot, T, At>;
  template <class Tiling, class Args>
  static __device__ __forceinline__ void read(typename Tiling::staging& staging, const Args& args,
                                              const run_part& run) {
    constexpr int number = Tiling::places::facts.number[I];
    const unsigned char* from = place::memory(args, run);
    const int lead = staging.lead[number] = place::lead(from);
    typename place::template copy<Tiling>(lead, run.rows * run.length)
        .run(place::template shared<Tiling>(staging), from - lead,
             [](unsigned char* to, const unsigned char* whole) { copy_async(to, whole); });
  }
};
template <int I, int Slot, class T, int A, class At>
struct short_access<true, I, store<Slot, T, A, At, -1>> {
  using place = short_place<I, Slot, T, At>;
  template <class Tiling, class Args>
  static __device__ __forceinline__ void read(typename Tiling::staging& staging, const Args& args,
                                              const run_part& run) {
    constexpr int number = Tiling::places::facts.number[I];
    staging.lead[number] = place::lead(place::memory(args, run));
  }
  template <class Tiling, class Args>
  static __device__ __forceinline__ void write(const typename Tiling::staging& staging, const Args& args,
                                               const run_part& run) {
    constexpr int number = Tiling::places::facts.number[I];
    const int lead = staging.lead[number];
    typename place::template copy<Tiling>(lead, run.rows * run.length)
        .run(place::memory(args, run) - lead, place::template shared<Tiling>(staging),
             [](unsigned char* whole, const unsigned char* from) {
               *reinterpret_cast<uint4*>(whole) = *reinterpret_cast<const uint4*>(from);
             });
  }
};
template <class Tiling, class Args, class... S, std::size_t... I>
__device__ __forceinline__ void read_run(body<S...>, std::index_sequence<I...>, typename Tiling::staging& staging,
                                         const Args& args, const run_part& run) {
  (short_access<Tiling::template stages<static_cast<int>(I)>, static_cast<int>(I), S>::template read<Tiling>(staging,
                                                                                                             args, run),
   ...);
}
template <class Tiling, class Args, class... S, std::size_t... I>
__device__ __forceinline__ void write_run(body<S...>, std::index_sequence<I...>,
                                          const typename Tiling::staging& staging, const Args& args,
                                          const run_part& run) {
  (short_access<Tiling::template stages<static_cast<int>(I)>, static_cast<int>(I), S>::template write<Tiling>(
       staging, args, run),
   ...);
}

}  // namespace detail

/// Runs of rows of which short_facts<Body, Rnumel>::holds.
template <class Body, long Rnumel, int Width, int Items, int MinBlocks, int Full, class Shape, class Args>
__global__ void __launch_bounds__(detail::short_block, MinBlocks) reduction_short(const Args args, const Shape given) {
  detail::begin_kernel();
  using tiling = detail::short_tiling<Body, Rnumel, Width, Items, Shape>;
  using numbers = std::make_index_sequence<Body::size>;
  alignas(16) __shared__ unsigned char storage[tiling::places::bytes];
  const detail::short_shape shape = given.get();
  const detail::short_threads threads{shape.threads()};
  const int length = Rnumel >= 0 ? static_cast<int>(Rnumel) : static_cast<int>(args.rnumel);
  const int first = static_cast<int>(blockIdx.x) * shape.rows(), left = static_cast<int>(args.numel) - first;
  const detail::run_part run{first, left < shape.rows() ? left : shape.rows(), length};

  detail::tile<tiling> tile;
  tile.staging.storage = storage;
  tile.staging.stride = threads.count() * Width;
  detail::read_run<tiling>(Body{}, numbers{}, tile.staging, args, run);
  detail::copy_commit();
  detail::copy_wait<0>();
  __syncthreads();
  tile.template place<Full>(threads.thread() * Width, threads.count() * Width, length - Width);
#pragma unroll 1
  for (int turn = 0; turn < shape.turns; ++turn) {
    const int row = shape.row(static_cast<int>(threadIdx.x), turn);
    tile.fixed_ok = row < run.rows;
    tile.fixed = run.first + (tile.fixed_ok ? row : 0);
    tile.staging.first = row * length + threads.thread() * Width;
    detail::frame<Body, tiling> frame;
    detail::persistent_phases<Body, tiling>(std::make_index_sequence<body_facts<Body>::num_phases + 1>{}, frame, tile,
                                            args, threads.thread() == 0 && tile.fixed_ok, nullptr, threads);
  }
  if constexpr (tiling::places::facts.stores) {
    __syncthreads();
    detail::write_run<tiling>(Body{}, numbers{}, tile.staging, args, run);
  }
}

}  // namespace sinter::cuda
