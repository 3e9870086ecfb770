// The threads that share a row, and how their partial states become one: lanes of a warp, then warps.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/combine.cuh"

namespace sinter::cuda::detail {

/// The values of a row that a frame of other lanes has.
template <class Body, class To, class From, std::size_t... I>
__device__ __forceinline__ void copy_row_values(std::index_sequence<I...>, To& to, From& from) {
  const auto copy = [&]<int S>(std::integral_constant<int, S>) {
    if constexpr (body_facts<Body>::facts.where[S] == scope::row) lanes_of<S>(to)[0] = lanes_of<S>(from)[0];
  };
  (copy(std::integral_constant<int, static_cast<int>(I)>{}), ...);
}

/// In place of how many threads share a row where that is known at launch only: any number of them, or whole warps.
inline constexpr int some_threads = 0, some_warps = -1;

/// The threads that share a row: blockDim.x of them, or Threads when that is known. Where a block has another shape,
/// another class with the same members says how its threads share rows.
template <int Threads>
struct row_threads {
  static constexpr bool in_warps = Threads == some_warps || Threads >= 32;
  static __device__ __forceinline__ int count() { return Threads > 0 ? Threads : static_cast<int>(blockDim.x); }
  static __device__ __forceinline__ int thread() { return static_cast<int>(threadIdx.x); }  ///< of the row
  static __device__ __forceinline__ int row() { return static_cast<int>(threadIdx.y); }     ///< of the block
  static __device__ __forceinline__ int lanes() { return in_warps || count() >= 32 ? 32 : count(); }
  static __device__ __forceinline__ int warps() { return count() / 32; }
  static __device__ __forceinline__ void sync() { __syncthreads(); }  ///< those of the row at least
};

/// Warps that may share a row, each of which has a place for its states.
template <class Threads>
inline constexpr int most_warps = 32;
template <class Threads>
inline constexpr bool lies_in_warp = most_warps<Threads> == 1;

/// Is it known at launch only how many share a row, whole warps or less than one?
template <class Threads>
inline constexpr bool count_varies = false;
template <>
inline constexpr bool count_varies<row_threads<some_threads>> = true;
template <>
inline constexpr bool count_varies<row_threads<some_warps>> = true;

/// Threads whose count varies, where they are whole warps: these combine as if there were as many as may be, so that no
/// exchange needs a branch.
template <class Threads>
struct whole_warps : Threads {
  static __device__ __forceinline__ int lanes() { return 32; }
};
template <class Threads>
inline constexpr int most_warps<whole_warps<Threads>> = most_warps<Threads>;
/// How many warps' states, a power of two, are combined; 0: those that there are.
template <class Threads>
inline constexpr int combined_slots = 0;
template <class Threads>
inline constexpr int combined_slots<whole_warps<Threads>> = most_warps<Threads>;

/// Lanes of a warp combine; then each warp leaves its state for the others.
template <class Threads, bool Wanted, int P, int I, class S, int Ways, class Body, class Accumulators>
__device__ __forceinline__ void combine_lanes(Accumulators& acc, unsigned char* storage, const Threads& threads) {
  if constexpr (Wanted) {
    using fold = reduction_of<S>;
    auto& states = lanes_of<I>(acc);
#pragma unroll
    for (int k = 1; k < Ways; ++k) states[0] = fold::combine(states[0], states[k]);
    states[0] = fold::across(states[0], combined_lanes{threads.lanes()});
    if (!lies_in_warp<Threads> && threads.count() > 32 && threads.thread() % 32 == 0) {
      auto* partial = reinterpret_cast<typename fold::state*>(storage + phase_offset<Body, P, I, most_warps<Threads>>);
      partial[threads.row() * threads.warps() + threads.thread() / 32] = states[0];
    }
  }
}
/// Every warp combines the warps' states for itself: no second synchronisation.
template <class Threads, bool Wanted, int P, int I, class S, class Body, class Accumulators>
__device__ __forceinline__ void combine_warps(Accumulators& acc, const unsigned char* storage, const Threads& threads) {
  if constexpr (Wanted) {
    using fold = reduction_of<S>;
    auto& state = lanes_of<I>(acc)[0];
    const auto* partial =
        reinterpret_cast<const typename fold::state*>(storage + phase_offset<Body, P, I, most_warps<Threads>>) +
        threads.row() * threads.warps();
    int slots = combined_slots<Threads>;
    if constexpr (combined_slots<Threads> == 0)
      for (slots = 1; slots < threads.warps();) slots *= 2;
    const int slot = threads.thread() & (slots - 1);
    state = fold::across(slot < threads.warps() ? partial[slot] : fold::init(), combined_lanes{slots});
  }
}
template <class Threads, bool Wanted, int I, class S, class Accumulators, class Frame>
__device__ __forceinline__ void finish_row(Accumulators& acc, Frame& f, const Threads& threads) {
  if constexpr (Wanted) {
    using fold = reduction_of<S>;
    auto result = fold::finish(lanes_of<I>(acc)[0]);
    if constexpr (!fold::same_in_all_lanes) result = from_first_lane(result, threads.lanes());
    lanes_of<I>(f)[0] = result;
  }
}

/// All partial states of phase P into one, the same in all threads of the row.
template <int P, int Ways, class Threads, class Accumulators, class... S, std::size_t... I>
__device__ __forceinline__ void combine_row(body<S...> b, std::index_sequence<I...> numbers, Accumulators& acc,
                                            unsigned char* storage, const Threads& threads) {
  using B = body<S...>;
  using reductions = reductions_of_phase<B, P>;
  if constexpr (count_varies<Threads>)
    if (threads.lanes() == 32) return combine_row<P, Ways>(b, numbers, acc, storage, whole_warps<Threads>{threads});
  reductions::each([&]<int N, class R>(std::integral_constant<int, N>, R) {
    combine_lanes<Threads, true, P, N, R, Ways, B>(acc, storage, threads);
  });
  if constexpr (!count_varies<Threads>) {
    if (!lies_in_warp<Threads> && threads.count() > 32) {
      threads.sync();
      reductions::each([&]<int N, class R>(std::integral_constant<int, N>, R) {
        combine_warps<Threads, true, P, N, R, B>(acc, storage, threads);
      });
    }
  }
}
template <int P, class Threads, class Accumulators, class Frame, class... S, std::size_t... I>
__device__ __forceinline__ void finish_row_phase(body<S...>, std::index_sequence<I...>, Accumulators& acc, Frame& f,
                                                 const Threads& threads) {
  using reductions = reductions_of_phase<body<S...>, P>;
  reductions::each(
      [&]<int N, class R>(std::integral_constant<int, N>, R) { finish_row<Threads, true, N, R>(acc, f, threads); });
  reductions::each_part([&]<int N, class R>(std::integral_constant<int, N>, R) {
    lanes_of<N>(f)[0] = reduction_of<R>::finish_part(lanes_of<part_of<R>>(acc)[0]);
  });
}

/// Where the blocks that share rows leave their states for each other: words with marks, behind the rows' counters.
template <class Body>
struct row_states {
  using facts = sinter::detail::shared_row_facts<Body>;
  unsigned* counters;
  std::int64_t numel;
  int parts;

  template <int I, class State>
  __device__ __forceinline__ marked<State>* of(std::int64_t row) const {
    auto* const first = reinterpret_cast<std::uint64_t*>(counters + facts::first_word(numel));
    return reinterpret_cast<marked<State>*>(first +
                                            (row * facts::words_before(facts::size) + facts::words_before(I)) * parts);
  }
};
/// The same in any content, as Facts::offset says: of split.hpp.
struct part_states {
  void* memory;
  std::int64_t numel;
  int parts;

  template <class Facts, int I, class S>
  __device__ __forceinline__ typename reduction_of<S>::state* of(std::int64_t row) const {
    return reinterpret_cast<typename reduction_of<S>::state*>(static_cast<unsigned char*>(memory) +
                                                              Facts::offset(I, numel, parts)) +
           row * parts;
  }
};
/// Independent states per thread: more hide the latency of a step, fewer save registers when states are large or many.
/// One where each reduction folds tiles.
template <class Body, class Tiling>
inline constexpr int row_ways = 1;
template <class... S, class Tiling>
inline constexpr int row_ways<body<S...>, Tiling> = [] {
  using B = body<S...>;
  if (((!reduction_of<S>::is || folds_tile<S, B, Tiling>)&&...)) return 1;
  const int words = largest_phase<B, 1> / 4;
  int ways = words <= 4 ? 4 : words <= 8 ? 2 : 1;
  while (ways > Tiling::size) ways /= 2;
  return ways;
}();

/// Reductions reuse their storage in turn: where an odd number of `phases` waits for all threads every other turn
/// begins with the other half, so that a warp that is one phase ahead of another never writes what that one reads.
template <class Body>
inline constexpr int storage_of_turns = 3 * largest_phase<Body, 32>;
template <class Body>
__device__ __forceinline__ unsigned char* storage_of_turn(unsigned char* storage, int turn, int phases) {
  return storage + (turn & phases & 1) * largest_phase<Body, 32>;
}

}  // namespace sinter::cuda::detail
