// What blocks that share columns of several phases tell each other between the phases: the states of their threads
// become those of their warps, of the block and, through memory, of its team. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/kernel_memory.cuh"
#include "sinter/kernels/cuda/reduction/columns/column_greatest.hpp"
#include "sinter/kernels/cuda/reduction/rows/row_threads.cuh"

namespace sinter::cuda {

/// How columns are shared out: in `tiles` sets of `span`, which 2^log_along threads read side by side;
/// `teams` teams of `parts` blocks take one set after another, each block `length` rows.
struct team_share {
  unsigned* counters = nullptr;
  void* states = nullptr;
  std::int64_t tiles = 1, length = 0;
  int span = 1, log_along = 0, parts = 1, teams = 1;
  int places = 0;  // tiles of rows for which shared memory has room
  int pitch = 0;   // bytes of a row's piece there, of rows that begin anywhere
};

namespace detail {

/// Two blocks run on a multiprocessor, of different teams: one waits while the other reads or writes. A thread has 128
/// registers.
inline constexpr int team_threads = 256;

/// Where the warps of a block leave their states: of each column one after another, and a place that is left empty so
/// that columns lie in different banks.
inline constexpr int team_slots = team_threads / 32 + 1;
/// A multiple of 128 bytes: copies to what follows in shared memory take much longer where it is not aligned so.
template <class Body>
inline constexpr int team_storage = static_cast<int>(
    sinter::detail::round_up(largest_phase<Body, team_slots * sinter::detail::shared_column_facts<Body>::span>, 128));

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
  /// The first of a thread's `width` columns. Those past the end have the last ones once more, but write nothing.
  __device__ __forceinline__ int first_of(int width) const {
    const int x = mine() * width;
    return x < count ? x : count - width;
  }
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

/// The reductions of phase P that have states of their own.
template <class Body, int P>
struct states_of_phase {
  template <class F>
  static __device__ __forceinline__ void each(const F& f) {
    reductions_of_phase<Body, P>::each([&]<int N, class S>(std::integral_constant<int, N> n, S s) {
      if constexpr (known_greatest<Body>::template is<N> < 0) f(n, s);
    });
  }
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
  using reductions = states_of_phase<Body, P>;
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
  const int mine = columns.first_of(Width);
  reductions_of_phase<Body, P>::each([&]<int N, class S>(std::integral_constant<int, N> n, S s) {
    constexpr int known = known_greatest<Body>::template is<N>;
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      const int at = (mine + j) * slots;
      if constexpr (known < 0) {
        lanes_of<N>(f)[j] = reduction_of<S>::finish(slots_of(n, s)[at]);
      } else {
        const auto& state =
            slots_of(std::integral_constant<int, known>{}, sinter::detail::statement_of<Body, known>{})[at];
        lanes_of<N>(f)[j] = reduction_of<S>::finish({state.greatest});
      }
    }
  });
  __syncthreads();  // the next phase uses the same storage
}

}  // namespace detail

}  // namespace sinter::cuda
