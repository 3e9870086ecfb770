// Partial states of reductions, combined across the lanes of a warp, the warps of a row, the threads of a column.
// States are plain structs: lanes exchange them word by word.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/choose.hpp"
#include "sinter/kernels/cuda/evaluate.cuh"

namespace sinter::cuda::detail {

inline constexpr unsigned all_lanes = 0xffffffffu;

template <class T>
struct words_of {
  static constexpr int count = (static_cast<int>(sizeof(T)) + 3) / 4;
  unsigned w[count];
  __device__ __forceinline__ explicit words_of(const T& value) {
    w[count - 1] = 0;
    memcpy(w, &value, sizeof(T));
  }
  __device__ __forceinline__ T value() const {
    T v;
    memcpy(&v, w, sizeof(T));
    return v;
  }
};

template <class T>
__device__ __forceinline__ T from_lane_xor(const T& value, int offset) {
  words_of<T> words(value);
#pragma unroll
  for (unsigned& w : words.w) w = __shfl_xor_sync(all_lanes, w, offset);
  return words.value();
}

/// The value of lane 0 of each group of `lanes`.
template <class T>
__device__ __forceinline__ T from_first_lane(const T& value, int lanes) {
  words_of<T> words(value);
#pragma unroll
  for (unsigned& w : words.w) w = __shfl_sync(all_lanes, w, 0, lanes);
  return words.value();
}

/// Reads what another block wrote: past the L1 cache, which nobody invalidates.
template <class T>
__device__ __forceinline__ T read_shared_by_blocks(const T* p) {
  T v;
  if constexpr (sizeof(T) % 4 == 0 && alignof(T) >= 4) {
    unsigned w[sizeof(T) / 4];
#pragma unroll
    for (int i = 0; i < static_cast<int>(sizeof(T) / 4); ++i) w[i] = __ldcg(reinterpret_cast<const unsigned*>(p) + i);
    memcpy(&v, w, sizeof(T));
  } else {
    unsigned char b[sizeof(T)];
#pragma unroll
    for (int i = 0; i < static_cast<int>(sizeof(T)); ++i) b[i] = __ldcg(reinterpret_cast<const unsigned char*>(p) + i);
    memcpy(&v, b, sizeof(T));
  }
  return v;
}

/// Reduction statement S: its types and its three functions.
template <class S>
struct reduction_of {
  static constexpr bool is = false;
  using state = nothing;
};
template <class Op, class T, class Result, int A>
struct reduction_of<reduce<Op, T, Result, A>> {
  static constexpr bool is = true;
  static constexpr int operand = A;
  using value = compute_t<T>;
  using result = compute_t<Result>;
  using state = typename Op::template state<value>;
  static __device__ __forceinline__ state init() { return Op::template init<value>(); }
  static __device__ __forceinline__ void step(state& s, value v, std::int64_t r) { Op::template step<value>(s, v, r); }
  /// Whether a whole tile folds at once, for less than a step per value.
  static constexpr bool folds_arrays = requires(const value (&v)[2], const bool (&in)[2]) {
    Op::template of<value>(v, in);
  };
  template <int N>
  static __device__ __forceinline__ state of(const value (&v)[N], const bool (&in)[N]) {
    return Op::template of<value>(v, in);
  }
  static __device__ __forceinline__ state combine(state a, state b) { return Op::template combine<value>(a, b); }
  static __device__ __forceinline__ result finish(state s) {
    return static_cast<result>(Op::template finish<value>(s));
  }
  /// A plain number comes out the same in whichever order two lanes combine; of larger states one lane's result counts.
  static constexpr bool same_in_all_lanes = sizeof(state) <= sizeof(value);
};

/// The partial states of a thread: Ways independent ones per reduction, so that steps do not wait for each other.
template <class Body, int Ways, class Numbers = std::make_index_sequence<Body::size>>
struct accumulators;
template <class... S, int Ways, std::size_t... I>
struct accumulators<body<S...>, Ways, std::index_sequence<I...>>
    : values<static_cast<int>(I), typename reduction_of<S>::state, reduction_of<S>::is ? Ways : 1>... {};

/// Bytes that the states of phase p's reductions before statement s take, with `slots` of each.
template <class Body>
constexpr int phase_bytes(int p, int s, int slots) {
  int total = 0;
  for (int i = 0; i < s; ++i)
    if (phase_facts<Body>::is_reduce(i) && body_facts<Body>::phase(i) == p)
      total += static_cast<int>(sinter::detail::round_up(sinter::detail::split_facts<Body>::bytes[i] * slots, 16));
  return total;
}
template <class Body, int P, int I, int Slots>
inline constexpr int phase_offset = phase_bytes<Body>(P, I, Slots);
template <class Body, int Slots>
inline constexpr int largest_phase = [] {
  int most = 16;
  for (int p = 0; p < body_facts<Body>::num_phases; ++p)
    if (phase_bytes<Body>(p, Body::size, Slots) > most) most = phase_bytes<Body>(p, Body::size, Slots);
  return most;
}();
template <class Body>
inline constexpr int largest_state = [] {
  int most = 1;
  for (int i = 0; i < Body::size; ++i)
    if (sinter::detail::split_facts<Body>::bytes[i] > most) most = sinter::detail::split_facts<Body>::bytes[i];
  return most;
}();

// ---- which statements run when -------------------------------------------------------------------------------------

/// Row statements of phase P; P == num_phases is the tail.
template <class Body, int P>
struct rows_of_phase {
  static constexpr bool select(int s) { return phase_facts<Body>::is_row(s) && body_facts<Body>::phase(s) == P; }
};
/// Element statements of the loop of phase P: all it needs, or, where values are kept, what no earlier phase evaluated.
template <class Body, int P, bool Kept>
struct elements_of_phase {
  static constexpr bool select(int s) {
    return phase_facts<Body>::is_element(s) && body_facts<Body>::needed(P, s) &&
           (!Kept || phase_facts<Body>::first(s) == P);
  }
};
template <class Body, int P, std::size_t I>
inline constexpr bool reduces_in =
    phase_facts<Body>::is_reduce(static_cast<int>(I)) && body_facts<Body>::phase(static_cast<int>(I)) == P;

// ---- steps
// ------------------------------------------------------------------------------------------------------------

template <bool Wanted, int I, class S, int Ways, class Accumulators>
__device__ __forceinline__ void start_one(Accumulators& acc) {
  if constexpr (Wanted) {
#pragma unroll
    for (int k = 0; k < Ways; ++k) lanes_of<I>(acc)[k] = reduction_of<S>::init();
  }
}
template <int P, int Ways, class Accumulators, class... S, std::size_t... I>
__device__ __forceinline__ void start(body<S...>, std::index_sequence<I...>, Accumulators& acc) {
  (start_one<reduces_in<body<S...>, P, I>, static_cast<int>(I), S, Ways>(acc), ...);
}

/// One tile's element values into the states: lane l into state l % Ways, or, where arrays fold for less, all into one.
template <bool Wanted, int I, class S, int Ways, class Accumulators, class Frame>
__device__ __forceinline__ void step_one(Accumulators& acc, Frame& f, const tile<typename Frame::tiling>& t) {
  if constexpr (Wanted) {
    using tiling = typename Frame::tiling;
    using fold = reduction_of<S>;
    auto& states = lanes_of<I>(acc);
    if constexpr (fold::folds_arrays && tiling::vector == loop_var::r && tiling::item == loop_var::r) {
      typename fold::value v[tiling::size];
      bool in[tiling::size];
#pragma unroll
      for (int lane = 0; lane < tiling::size; ++lane) {
        v[lane] = lane_of<fold::operand>(f, lane);
        in[lane] = t.ok[lane / tiling::width];
      }
      states[0] = fold::combine(states[0], fold::of(v, in));
    } else {
#pragma unroll
      for (int u = 0; u < tiling::items; ++u) {
        if (!t.ok[u]) continue;
#pragma unroll
        for (int j = 0; j < tiling::width; ++j) {
          const int lane = u * tiling::width + j;
          const std::int64_t r = static_cast<std::int64_t>(t.r(u)) + (tiling::vector == loop_var::r ? j : 0);
          fold::step(states[lane % Ways], lane_of<fold::operand>(f, lane), r);
        }
      }
    }
  }
}
template <int P, int Ways, class Accumulators, class Frame, class... S, std::size_t... I>
__device__ __forceinline__ void step(body<S...>, std::index_sequence<I...>, Accumulators& acc, Frame& f,
                                     const tile<typename Frame::tiling>& t) {
  (step_one<reduces_in<body<S...>, P, I>, static_cast<int>(I), S, Ways>(acc, f, t), ...);
}

}  // namespace sinter::cuda::detail
