// Reductions across memory (orientation column) of short columns, in several phases, that stay in registers: a block
// has one set of neighbouring columns, whole, each of its threads some rows of a few of them, which it reads once.
// Blocks are small, so that some load while others store, and begin as others end.
// How many rows a thread has is held_columns.hpp's matter, launching launch.cuh's. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/overlap.cuh"
#include "sinter/kernels/cuda/reduction/columns/column.cuh"
#include "sinter/kernels/cuda/reduction/columns/held_columns.hpp"
#include "sinter/kernels/cuda/reduction/rows/persistent.cuh"
#include "sinter/kernels/cuda/reduction/rows/streamed.cuh"

namespace sinter::cuda {

namespace detail {

/// Columns that wait in registers from phase to phase. Loose: a thread may have far fewer rows than Items, of which
/// those of 16 bits are not computed.
template <class Body, int Width, int Items, bool Loose>
struct held_column_tiling : tiling<loop_var::x, loop_var::r, Width, Items, int> {
  static constexpr bool anew = computes_anew<Body>(Width * Items);
  static constexpr bool guards = true, skips = Loose && anew && phase_facts<Body>::reads_halves, even = true,
                        streamed = true;
  static constexpr int most_waiting = 128;
  template <int I>
  static constexpr bool packs = anew&& phase_facts<Body>::packs(I);
};

/// Of shared memory for each slot: two halves in turn, for a warp may be one phase ahead of another, not two.
template <class Body, int Columns>
inline constexpr int held_column_bytes = 2 * largest_phase<Body, Columns>;

/// Where the threads of a block are in a set of columns.
template <class Shape, int Width>
struct held_threads {
  Shape shape;
  int number;

  /// The same, as far as the compiler knows another one: what follows from it need not wait in registers.
  __device__ __forceinline__ held_threads anew() const {
    held_threads other = *this;
    asm volatile("" : "+r"(other.number));
    return other;
  }
  __device__ __forceinline__ int thread() const { return number; }
  __device__ __forceinline__ int along() const { return 1 << shape.log_along(); }
  /// The first of the thread's columns in the set.
  __device__ __forceinline__ int column() const { return (thread() & (along() - 1)) * Width; }
  __device__ __forceinline__ int row() const { return thread() >> shape.log_along(); }
  __device__ __forceinline__ int rows() const { return shape.threads() >> shape.log_along(); }
  /// Those that have the same columns and share no warp.
  __device__ __forceinline__ int log_slot() const { return shape.log_along() > 5 ? shape.log_along() : 5; }
  __device__ __forceinline__ int slot() const { return thread() >> log_slot(); }
  __device__ __forceinline__ int slots() const { return shape.threads() >> log_slot(); }
};

/// Lanes that have the same columns combine: of two, `offset` apart, each goes on with half of the columns, as long as
/// there are several. What they then know of the columns from `column` on they leave in the warp's slot.
template <class Fold, int Count>
__device__ __forceinline__ void leave_states(const typename Fold::state (&states)[Count], int column, int along,
                                             int offset, typename Fold::state* slot) {
  using state = typename Fold::state;
  if (offset < along) {
#pragma unroll
    for (int j = 0; j < Count; ++j) slot[column + j] = states[j];
    return;
  }
  const bool upper = (threadIdx.x & static_cast<unsigned>(offset)) != 0;
  if constexpr (Count > 1) {
    constexpr int half = Count / 2;
    state mine[half];
#pragma unroll
    for (int j = 0; j < half; ++j) {
      const state other = from_lane_xor(either(upper, states[j], states[j + half]), offset);
      mine[j] = Fold::combine(either(upper, states[j + half], states[j]), other);
    }
    leave_states<Fold, half>(mine, column + (upper ? half : 0), along, offset / 2, slot);
  } else {
    state all = states[0];
    const int others = 2 * offset - along;  // lanes that know the same in the end
#pragma unroll 1
    for (; offset >= along; offset /= 2) all = Fold::combine(all, from_lane_xor(all, offset));
    if ((static_cast<int>(threadIdx.x) & others) == 0) slot[column] = all;
  }
}

/// Words that are f16 become others, as far as the assembler knows: it would convert them once for all phases.
template <int I, class T, int Lanes>
__device__ __forceinline__ void keep_words(packed_values<I, T, Lanes>& slot, unsigned zero) {
  keep_as_read(slot, zero);
  if constexpr (std::is_same_v<T, f16>) {
#pragma unroll
    for (int k = 0; k < (Lanes + 1) / 2; ++k) asm volatile("or.b32 %0, %0, %1;" : "+r"(slot.words[k]) : "r"(zero));
  }
}
template <int I, class T, int Lanes>
__device__ __forceinline__ void keep_words(values<I, T, Lanes>& slot, unsigned zero) {
  keep_as_read(slot, zero);
}
/// The states of all threads become results, in all of them: each combines those of its columns for itself, or has
/// them.
template <int P, class Body, int Columns, int Width, class Accumulators, class Frame, class Threads>
__device__ __forceinline__ void finish_held_phase(Accumulators& acc, Frame& f, const Threads& all_threads,
                                                  unsigned char* storage) {
  if (all_threads.rows() == 1) return finish_columns<P, Width>(Body{}, std::make_index_sequence<Body::size>{}, acc, f);
  const Threads threads = all_threads.anew();
  unsigned char* const half = storage + P % 2 * (held_column_bytes<Body, Columns> / 2) * threads.slots();
  const auto states_of = [&]<int N, class S>(std::integral_constant<int, N>, S) {
    return reinterpret_cast<typename reduction_of<S>::state*>(half +
                                                              phase_offset<Body, P, N, Columns> * threads.slots());
  };
  reductions_of_phase<Body, P>::each([&]<int N, class S>(std::integral_constant<int, N> n, S s) {
    leave_states<reduction_of<S>, Width>(lanes_of<N>(acc), threads.column(), threads.along(), 16,
                                         states_of(n, s) + threads.slot() * Columns);
  });
  __syncthreads();
  reductions_of_phase<Body, P>::each([&]<int N, class S>(std::integral_constant<int, N> n, S s) {
    using fold = reduction_of<S>;
    using group = state_group<typename fold::state, Width>;
    const auto* const states = states_of(n, s) + threads.column();
    const auto read = [&](int slot) { return *reinterpret_cast<const group*>(states + slot * Columns); };
    group all = read(0);
#pragma unroll(Width > 1 ? 2 : 4)
    for (int slot = 1; slot < threads.slots(); ++slot) {
      const group other = read(slot);
#pragma unroll
      for (int j = 0; j < Width; ++j) all.states[j] = fold::combine(all.states[j], other.states[j]);
    }
#pragma unroll
    for (int j = 0; j < Width; ++j) lanes_of<N>(f)[j] = fold::finish(all.states[j]);
  });
}

template <int P, class Body, int Columns, class Tiling, class Frame, class Args, class Threads>
__device__ __forceinline__ void held_column_phase(Frame& f, const tile<Tiling>& t, const Args& args, bool writer,
                                                  const Threads& threads, unsigned char* storage) {
  held_phase<P, Body, Tiling::width>(
      f, t, args, writer,
      [&](auto& acc) {
        if constexpr (reduces_phase<Body, P>)
          finish_held_phase<P, Body, Columns, Tiling::width>(acc, f, threads, storage);
      },
      // blockIdx.y and z are 0, which the assembler does not know: another number in each of three phases.
      [](auto& value) { keep_words(value, P % 2 == 0 ? blockIdx.z : blockIdx.y); });
}
template <class Body, int Columns, class Tiling, class Frame, class Args, class Threads, int... P>
__device__ __forceinline__ void held_column_phases(std::integer_sequence<int, P...>, Frame& f, const tile<Tiling>& t,
                                                   const Args& args, bool writer, const Threads& threads,
                                                   unsigned char* storage) {
  (held_column_phase<P, Body, Columns>(f, t, args, writer, threads, storage), ...);
}

}  // namespace detail

/// Set blockIdx.x, Columns at most, fewer than 2^31 in all, whole vectors of Width. Requires 0 < rnumel <= rows of
/// threads * Items, no less than that for the first Full items. Dynamic shared memory: held_column_bytes for each slot.
template <class Body, int Columns, int Width, int Items, int Full, int MaxBlock, int MinBlocks, class Shape, class Args>
__global__ void __launch_bounds__(MaxBlock, MinBlocks) reduction_column_held(const Args args, const Shape shape) {
  detail::begin_kernel<Args::next_reads_ahead>();
  extern __shared__ __align__(128) unsigned char column_memory[];
  using tiling = detail::held_column_tiling<Body, Width, Items, (Full == 0)>;
  const detail::held_threads<Shape, Width> threads{shape, static_cast<int>(threadIdx.x)};
  const int x = static_cast<int>(blockIdx.x) * (threads.along() * Width) + threads.column();
  const bool is_there = x < args.numel;
  detail::tile<tiling> tile;
  tile.fixed_ok = is_there;
  // The last ones once more where there are no others, which are not stored.
  tile.fixed = is_there ? x : static_cast<int>(args.numel) - Width;
  tile.template place<Full>(threads.row(), threads.rows(), static_cast<int>(args.rnumel) - 1);
  detail::frame<Body, tiling> frame;
  detail::held_column_phases<Body, Columns>(std::make_integer_sequence<int, body_facts<Body>::num_phases + 1>{}, frame,
                                            tile, args, is_there && threads.row() == 0, threads, column_memory);
}

}  // namespace sinter::cuda
