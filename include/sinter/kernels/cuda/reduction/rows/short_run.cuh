// Runs of short rows in shared memory: where they lie, how they come there and leave, how a thread finds its part.
// What is done with them is short.cuh's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/copy_async.cuh"
#include "sinter/kernels/cuda/memory.cuh"
#include "sinter/kernels/cuda/reduction/rows/short_rows.hpp"

namespace sinter::cuda::detail {

/// Where a run lies in shared memory: one access after another, each as far beyond a multiple of 16 bytes as it is in
/// memory, but for stores that take a load's place; then the weights.
template <class Held, long Rnumel, class Shape>
struct short_storage {
  using held = short_facts<Held, Rnumel>;
  static constexpr auto facts = held::facts;
  static constexpr int capacity = Shape::capacity;
  /// The load whose place statement s takes; -1: none.
  static constexpr int over_of(int s) { return Shape::in_place ? held::stores.over[s] : -1; }
  static constexpr int offset_of(int s) {
    int total = 0;
    for (int i = 0; i < s; ++i)
      if (facts.bytes[i] > 0 && over_of(i) < 0)
        total += static_cast<int>(sinter::detail::round_up(capacity * facts.bytes[i], 16)) + 16;
    return total;
  }
  template <int S>
  static constexpr int over = over_of(S);
  template <int S>
  static constexpr int offset = offset_of(over_of(S) < 0 ? S : over_of(S));
  /// Lanes past the end of the last row read on.
  static constexpr int weights = offset_of(Held::size) + 32 * 32;
  static constexpr int bytes = weights + (Shape::walks ? held::weights.count * weight_bytes(held::weight_element) : 0);
};

/// A number that waits in a register: the compiler would find it anew wherever it is needed.
template <class Number>
__device__ __forceinline__ Number kept(Number n) {
  asm volatile("" : "+r"(n));
  return n;
}

/// Where a thread is in the run, in elements. Where two are taken at once, they are counted from the beginning of the
/// word in which the run begins, `half` of one before it.
template <class Held, long Rnumel, class Shape>
struct short_staging {
  using places = short_storage<Held, Rnumel, Shape>;
  using held = short_facts<Held, Rnumel>;
  unsigned char* storage = nullptr;
  unsigned start[held::facts.count]{};  // the address of that beginning
  int half = 0;
  int first = 0;                               // the element at which the thread's part of its row begins
  int stride = 1;                              // from item to item
  unsigned origin[held::weights.count + 1]{};  // the address of the weights
  unsigned weight[held::weights.count + 1]{}, turn[held::weights.count + 1]{};

  /// At a row that begins at element `start` of the run: for weights, where the word is that would be element 0's, and
  /// how many bits later its weight begins.
  __device__ __forceinline__ void begin_row(int start) {
#pragma unroll
    for (int k = 0; k < held::weights.count; ++k) {
      const unsigned first = origin[k] - static_cast<unsigned>(start * held::weight_element);
      weight[k] = first & ~3u, turn[k] = first % 4 * 8;
    }
  }

  template <int I, class T>
  __device__ __forceinline__ T* item(int u) const {
    constexpr int number = held::facts.number[I];
    return at<T>(start[number], first + u * stride);
  }
  template <int I, class T, int Width>
  __device__ __forceinline__ void read(compute_t<T> (&out)[Width], int u, bool on) const {
    if constexpr (held::facts.bytes[I] > 0) {
      if constexpr (Rnumel < 0 && !Shape::walks) wide<T, Width>::read_where(on, out, item<I, T>(u));
      else wide<T, Width>::read(out, item<I, T>(on ? u : 0));
    } else {
      constexpr int number = held::weights.number[I];
      if constexpr (Width == 1) {
        out[0] = widen<T>(*at<T>(weight[number] + turn[number] / 8, first + u * stride));
      } else {
        const auto* words = reinterpret_cast<const unsigned*>(at<T>(weight[number], first + u * Width));
        const unsigned word = __funnelshift_r(words[0], words[1], turn[number]);
        wide<T, Width>::unpack(out, &word);
      }
    }
  }
  template <int I, class T, int Width>
  __device__ __forceinline__ void write(const T (&in)[Width], int u) const {
    wide<T, Width>::template write<false>(item<I, T>(u), in);
  }

 private:
  template <class T>
  static __device__ __forceinline__ T* at(unsigned address, int element) {
    return static_cast<T*>(__cvta_shared_to_generic(address + static_cast<unsigned>(element) * sizeof(T)));
  }
};

/// `size` elements of rows of `length` each, from element `first` of all on; `left`: of all, from there on.
struct run_part {
  std::int64_t first, left;
  int size, length;
};

/// The way of `size` elements between memory and shared memory, where they lie alike in 16 bytes: whole ones at once,
/// what is left at both ends one by one. Both parts are given at the multiple of 16 before the first. The 16 bytes in
/// which a part to be read begins or ends are read as a whole, too, if all of them belong to the tensor.
template <class T>
struct run_copy {
  static constexpr int bytes = static_cast<int>(sizeof(T)), unit = 16 / bytes;
  int lead, end;               // in bytes, from that multiple of 16
  int whole_begin, whole_end;  // of what is moved at once
  __device__ __forceinline__ run_copy(int lead, int size)
      : lead(lead), end(lead + size * bytes), whole_begin(lead > 0 ? 16 : 0), whole_end(end & ~15) {}
  __device__ __forceinline__ run_copy(int lead, const run_part& run) : run_copy(lead, run.size) {
    if (run.first * bytes >= lead) whole_begin = 0;
    const int beyond = (end + 15) & ~15;
    if ((run.left - run.size) * bytes >= beyond - end) whole_end = beyond;
  }

  __device__ __forceinline__ int whole_bytes() const { return whole_end - whole_begin; }

  /// By `move`, for devices without a copy engine.
  template <class Move>
  __device__ __forceinline__ void move_whole(unsigned char* to, const unsigned char* from, const Move& move) const {
    for (int at = whole_begin + static_cast<int>(threadIdx.x) * 16; at < whole_end; at += short_block * 16)
      move(to + at, from + at);
  }
  /// The first 16 bytes are one thread each's, and the last.
  __device__ __forceinline__ void move_ends(unsigned char* to, const unsigned char* from) const {
    const int thread = static_cast<int>(threadIdx.x);
    const bool first = thread < unit;
    const int at = first ? thread * bytes : (end & ~15) + (thread - unit) * bytes;
    const bool wanted = first ? at < whole_begin : at >= whole_end && at >= whole_begin;
    if (thread < 2 * unit && at >= lead && at < end && wanted)
      *reinterpret_cast<T*>(to + at) = *reinterpret_cast<const T*>(from + at);
  }
};

/// With a copy engine the first warp does it all: the others skip what that takes.
__device__ __forceinline__ bool copies_runs() { return !has_copy_engine || threadIdx.x < 32; }

/// All of it, from 16 bytes on to 16 bytes that it lies alike in.
template <class T>
__device__ __forceinline__ void fetch_run(unsigned char* to, const unsigned char* from, int lead, const run_part& run,
                                          const block_copies& engine) {
  if (!copies_runs()) return;
  const run_copy<T> copy(lead, run);
  const int begin = copy.whole_begin;
  if constexpr (has_copy_engine) engine.fetch(to + begin, from + begin, copy.whole_bytes());
  else copy.move_whole(to, from, [](unsigned char* target, const unsigned char* whole) { copy_async(target, whole); });
  copy.move_ends(to, from);
}
template <class T>
__device__ __forceinline__ void put_run(unsigned char* to, const unsigned char* from, int lead, int size,
                                        const block_copies& engine) {
  if (!copies_runs()) return;
  const run_copy<T> copy(lead, size);
  const int begin = copy.whole_begin;
  if constexpr (has_copy_engine) engine.put(to + begin, from + begin, copy.whole_bytes());
  else
    copy.move_whole(to, from, [](unsigned char* whole, const unsigned char* source) {
      *reinterpret_cast<uint4*>(whole) = *reinterpret_cast<const uint4*>(source);
    });
  copy.move_ends(to, from);
}
/// One by one, from anywhere to anywhere.
template <class T>
__device__ __forceinline__ void move_run(unsigned char* to, const unsigned char* from, int size) {
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < size; i += short_block)
    reinterpret_cast<T*>(to)[i] = reinterpret_cast<const T*>(from)[i];
}

/// Access S of a run.
enum class run_role : unsigned char { none, rows, weights };
template <run_role Role, int I, class S>
struct short_access {
  template <class Tiling, class Args>
  static __device__ __forceinline__ void read(typename Tiling::staging&, const Args&, const run_part&,
                                              const block_copies&) {}
  template <class Tiling, class Args>
  static __device__ __forceinline__ void write(const typename Tiling::staging&, const Args&, const run_part&,
                                               const block_copies&) {}
};
template <int I, int Slot, class T, class At>
struct short_place : short_access<run_role::none, I, void> {
  template <class Args>
  static __device__ __forceinline__ unsigned char* memory(const Args& args, std::int64_t first) {
    constexpr long offset = row_place<At>::facts.offset;
    T* start = static_cast<T*>(args.pointers[Slot]) + sinter::detail::resolve(offset, args.sizes);
    return reinterpret_cast<unsigned char*>(start + first);
  }
  static __device__ __forceinline__ int lead(const unsigned char* memory) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(memory)) & 15;
  }
  /// Where the run begins in 16 bytes of shared memory.
  template <class Tiling>
  static __device__ __forceinline__ int own_lead(const typename Tiling::staging& staging) {
    constexpr int number = Tiling::held::facts.number[I];
    return static_cast<int>(staging.start[number] & 15) + 2 * staging.half;
  }
  /// The first access says with which half of a word all begin.
  template <class Tiling>
  static __device__ __forceinline__ void settle(typename Tiling::staging& staging, int lead) {
    constexpr int number = Tiling::held::facts.number[I], over = Tiling::places::template over<I>;
    if constexpr (over >= 0) {
      constexpr int load = Tiling::held::facts.number[over];
      staging.start[number] = staging.start[load];
    } else {
      if (Tiling::in_words && number == 0) staging.half = lead / 2 & 1;
      staging.start[number] = kept(shared_address(shared<Tiling>(staging)) + (Tiling::in_words ? lead & ~2 : lead));
    }
  }
  template <class Tiling>
  static __device__ __forceinline__ unsigned char* shared(const typename Tiling::staging& staging) {
    constexpr int offset = Tiling::places::template offset<I>;
    return staging.storage + offset;
  }
};
template <int I, int Slot, class T, class At>
struct short_access<run_role::rows, I, load<Slot, T, At, -1>> : short_place<I, Slot, T, At> {
  using place = short_place<I, Slot, T, At>;
  template <class Tiling, class Args>
  static __device__ __forceinline__ void read(typename Tiling::staging& staging, const Args& args, const run_part& run,
                                              const block_copies& engine) {
    const unsigned char* from = place::memory(args, run.first);
    const int lead = place::lead(from);
    place::template settle<Tiling>(staging, lead);
    const int own = place::template own_lead<Tiling>(staging);
    unsigned char* to = place::template shared<Tiling>(staging);
    if (!Tiling::in_words || own == lead) fetch_run<T>(to, from - lead, lead, run, engine);
    else move_run<T>(to + own, from, run.size);
  }
};
template <int I, int Slot, class T, int A, class At>
struct short_access<run_role::rows, I, store<Slot, T, A, At, -1>> : short_place<I, Slot, T, At> {
  using place = short_place<I, Slot, T, At>;
  template <class Tiling, class Args>
  static __device__ __forceinline__ void read(typename Tiling::staging& staging, const Args& args, const run_part& run,
                                              const block_copies&) {
    place::template settle<Tiling>(staging, place::lead(place::memory(args, run.first)));
  }
  template <class Tiling, class Args>
  static __device__ __forceinline__ void write(const typename Tiling::staging& staging, const Args& args,
                                               const run_part& run, const block_copies& engine) {
    unsigned char* to = place::memory(args, run.first);
    const int lead = place::lead(to), own = place::template own_lead<Tiling>(staging);
    const unsigned char* from = place::template shared<Tiling>(staging);
    constexpr bool alike = !Tiling::in_words && Tiling::places::template over<I> < 0;
    if (alike || own == lead) put_run<T>(to - lead, from, lead, run.size, engine);
    else move_run<T>(to, from + own, run.size);
  }
};
/// The same for all rows.
template <int I, int Slot, class T, class At>
struct short_access<run_role::weights, I, load<Slot, T, At, -1>> : short_place<I, Slot, T, At> {
  using place = short_place<I, Slot, T, At>;
  template <class Tiling, class Args>
  static __device__ __forceinline__ void read(typename Tiling::staging& staging, const Args& args, const run_part& run,
                                              const block_copies&) {
    constexpr int number = Tiling::held::weights.number[I];
    constexpr int offset = Tiling::places::weights + number * weight_bytes(sizeof(T));
    const unsigned char* from = place::memory(args, std::int64_t(0));
    const int lead = place::lead(from);
    unsigned char* to = staging.storage + offset;
    staging.origin[number] = kept(shared_address(to) + lead);
    // By threads, through the L1: the engine would ask the L2 for the same lines from every block.
    const run_copy<T> copy(lead, run.length);
    copy.move_whole(to, from - lead, [](unsigned char* target, const unsigned char* whole) {
      *reinterpret_cast<uint4*>(target) = *reinterpret_cast<const uint4*>(whole);
    });
    copy.move_ends(to, from - lead);
  }
};
template <class Tiling, int I>
inline constexpr run_role role_of = !Tiling::template stages<I>        ? run_role::none
                                    : Tiling::held::facts.bytes[I] > 0 ? run_role::rows
                                                                       : run_role::weights;
template <class Tiling, class Args, class... S, std::size_t... I>
__device__ __forceinline__ void read_run(body<S...>, std::index_sequence<I...>, typename Tiling::staging& staging,
                                         const Args& args, const run_part& run, const block_copies& engine) {
  (short_access<role_of<Tiling, static_cast<int>(I)>, static_cast<int>(I), S>::template read<Tiling>(staging, args, run,
                                                                                                     engine),
   ...);
}
template <class Tiling, class Args, class... S, std::size_t... I>
__device__ __forceinline__ void write_run(body<S...>, std::index_sequence<I...>,
                                          const typename Tiling::staging& staging, const Args& args,
                                          const run_part& run, const block_copies& engine) {
  (short_access<role_of<Tiling, static_cast<int>(I)>, static_cast<int>(I), S>::template write<Tiling>(staging, args,
                                                                                                      run, engine),
   ...);
}

}  // namespace sinter::cuda::detail
