// The parts that every scan kernel is made of: which statements run before and after which scan, a thread's share of a
// scan, and how the lanes of a warp put their shares in order.
// Which elements a thread has is scan.cuh's and column.cuh's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/combine.cuh"
#include "sinter/kernels/scan_split.hpp"

namespace sinter::cuda::detail {

/// Scan statement S: its types and functions, which are those of the reduction with the same fold.
template <class S>
struct scan_of {
  static constexpr bool is = false;
  using state = nothing;
};
template <class Op, class T, class Result, int A>
struct scan_of<scan<Op, T, Result, A>> : reduction_of<reduce<Op, T, Result, A>> {};

using sinter::detail::scan_facts;

/// Bytes of the states of stage g's scans before statement s, with `slots` of each; s = size: of all.
template <class Body>
constexpr int stage_bytes(int g, int s, int slots) {
  using facts = scan_facts<Body>;
  int total = 0;
  for (int i = 0; i < s; ++i)
    if (facts::is_scan(i) && facts::stage(i) == g)
      total += static_cast<int>(sinter::detail::round_up(facts::state_bytes[i] * slots, 16));
  return total;
}
template <class Body>
constexpr int most_stage_bytes(int slots) {
  int most = 16;
  for (int g = 0; g < scan_facts<Body>::num_stages; ++g)
    if (stage_bytes<Body>(g, Body::size, slots) > most) most = stage_bytes<Body>(g, Body::size, slots);
  return most;
}
template <class Body, int G, int I, int Slots>
inline constexpr int scan_offset = stage_bytes<Body>(G, I, Slots);

/// Element statements of phase P; where the row is held (Kept), those that no earlier phase has evaluated.
template <class Body, int P, bool Kept>
struct elements_to_scan {
  static constexpr bool select(int s) {
    return elements_of_phase<Body, P>::select(s) && (!Kept || phase_facts<Body>::first(s) == P);
  }
};
/// Those of stage G, but for the scans.
template <class Body, int P, bool Kept, int G>
struct elements_of_stage {
  static constexpr bool select(int s) {
    return elements_to_scan<Body, P, Kept>::select(s) && !scan_facts<Body>::is_scan(s) &&
           scan_facts<Body>::stage(s) == G;
  }
};
template <class Body, int P, bool Kept, int G>
struct scans_of_stage {
  static constexpr bool select(int s) {
    return elements_to_scan<Body, P, Kept>::select(s) && scan_facts<Body>::is_scan(s) &&
           scan_facts<Body>::stage(s) == G;
  }
  static constexpr bool any = [] {
    for (int s = 0; s < Body::size; ++s)
      if (select(s)) return true;
    return false;
  }();
};

/// Blocks that a multiprocessor shall run at once: ptxas may choose, but not for much work, which it would spill.
template <class Body>
inline constexpr int scan_least_blocks = [] {
  int scans = 0, wide = 0;
  for (int s = 0; s < Body::size; ++s) {
    scans += scan_facts<Body>::is_scan(s);
    wide += scan_facts<Body>::state_bytes[s] > 4;
  }
  return scans > 1 || wide > 0 || body_facts<Body>::num_phases > 1 || Body::size > 16 ? 1 : 0;
}();

/// Values of each statement that a thread holds.
template <class Body>
inline constexpr int scan_lanes_held = 16;
template <class... S>
inline constexpr int scan_lanes_held<body<S...>> =
    ((value_words<typename statement_facts<S>::value_type> > 1 || scan_facts<body<S...>>::most_state > 4) || ...) ? 8
                                                                                                                  : 16;

/// Values of each element that wait for what scans give.
template <class Body>
inline constexpr int values_across_scans = [] {
  using before = elements_of_stage<Body, 0, false, 0>;
  bool waits[Body::size + 1]{};
  for (int s = 0; s < Body::size; ++s)
    if (scan_facts<Body>::is_scan(s) || (body_facts<Body>::where(s) == scope::element && !before::select(s)))
      for (int operand : body_facts<Body>::facts.info[s].operands)
        if (operand >= 0 && before::select(operand)) waits[operand] = true;
  int count = 0;
  for (bool one : waits) count += one;
  return count;
}();

/// Does a thread with a part of a row hold much of it? Blocks that wait for each other need much on its way.
template <class Body>
inline constexpr bool takes_large_parts =
    scan_least_blocks<Body> == 0 && phase_facts<Body>::is_light&& scan_facts<Body>::most_state <= 4;
/// Blocks with such parts that a multiprocessor shall run at once.
template <class Body>
inline constexpr int scan_part_blocks = takes_large_parts<Body> ? 2 : scan_least_blocks<Body>;

/// The reductions of phase P, for all items of a tile.
template <class Body, int P, int Ways, class Accumulators, class Frame>
__device__ __forceinline__ void step_all(Accumulators& acc, Frame& f, const tile<typename Frame::tiling>& t) {
  using steps = steps_of_phase<Body, P, Ways>;
#pragma unroll
  for (int u = 0; u < Frame::tiling::items; ++u) steps::item(acc, f, t, u);
  steps::tile_done(acc, f, t);
}

/// Calls f(j) for the lanes of item u that lie inside the row, or for all, if those beyond it do not come first.
template <class Tiling, class F>
__device__ __forceinline__ void each_lane(const tile<Tiling>& t, int u, F f) {
  if constexpr (Tiling::late) {
    if (!t.staging.late) f(0);
#pragma unroll
    for (int j = 1; j < Tiling::width; ++j) f(j);
  } else if (!Tiling::shifted || t.ok[u]) {
#pragma unroll
    for (int j = 0; j < Tiling::width; ++j) f(j);
  } else {
#pragma unroll
    for (int j = 0; j < Tiling::width; ++j)
      if (t.lane_ok(u, j)) f(j);
  }
}

/// One state for each scan of a body, or Count of them.
template <class Body, int Count, class Numbers = std::make_index_sequence<Body::size>>
struct scan_states;
template <class... S, int Count, std::size_t... I>
struct scan_states<body<S...>, Count, std::index_sequence<I...>>
    : values<static_cast<int>(I), typename scan_of<S>::state, scan_of<S>::is ? Count : 1>... {};

/// A scan of a body: which statement it is, and its functions.
template <int I, class Statement>
struct scan_at : scan_of<Statement> {
  static constexpr int number = I;
};
template <bool Wanted, int I, class Statement, class F>
__device__ __forceinline__ void call_if(F& f) {
  if constexpr (Wanted) f(scan_at<I, Statement>{});
}
template <class Which, int I>
inline constexpr bool selects = Which::select(I);
/// Calls f(scan_at) for the scans that Which names.
template <class Which, class F, class... S, std::size_t... I>
__device__ __forceinline__ void each_scan(body<S...>, std::index_sequence<I...>, F f) {
  (call_if<selects<Which, static_cast<int>(I)>, static_cast<int>(I), S>(f), ...);
}
template <class Which, class Body, class F>
__device__ __forceinline__ void each_scan(F f) {
  each_scan<Which>(Body{}, std::make_index_sequence<Body::size>{}, f);
}

template <class Body>
struct every_scan {
  static constexpr bool select(int s) { return scan_facts<Body>::is_scan(s); }
};
/// The value of the lane `offset` below in its group of `lanes`; its own where there is none.
template <class T>
__device__ __forceinline__ T from_lane_below(const T& value, int offset, int lanes) {
  words_of<T> words(value);
#pragma unroll
  for (unsigned& w : words.w) w = __shfl_up_sync(all_lanes, w, static_cast<unsigned>(offset), lanes);
  return words.value();
}
template <class T>
__device__ __forceinline__ T from_lane(const T& value, int lane, int lanes) {
  words_of<T> words(value);
#pragma unroll
  for (unsigned& w : words.w) w = __shfl_sync(all_lanes, w, lane, lanes);
  return words.value();
}

/// The value of the lane `offset` above; of any other where there is none.
template <class T>
__device__ __forceinline__ T from_lane_above(const T& value, int offset) {
  words_of<T> words(value);
#pragma unroll
  for (unsigned& w : words.w) w = __shfl_down_sync(all_lanes, w, static_cast<unsigned>(offset));
  return words.value();
}
/// What the lanes of a warp fold to, in order, for lane 0: of Count states at once, and then of those.
template <class Fold, int Count>
__device__ __forceinline__ typename Fold::state fold_lanes(typename Fold::state (&own)[Count]) {
#pragma unroll
  for (int offset = 1; offset < 32; offset *= 2)
#pragma unroll
    for (int i = 0; i < Count; ++i) own[i] = Fold::combine(own[i], from_lane_above(own[i], offset));
  typename Fold::state all = own[0];
#pragma unroll
  for (int i = 1; i < Count; ++i) all = Fold::combine(all, own[i]);
  return all;
}

/// What a group of lanes, a power of two, has folded before each lane's own state, and all of them together.
template <class State>
struct lane_prefix {
  State before, total;
};
template <class Fold>
__device__ __forceinline__ lane_prefix<typename Fold::state> scan_lanes(typename Fold::state own, int lanes) {
  using state = typename Fold::state;
  const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
#pragma unroll
  for (int offset = 1; offset < 32; offset *= 2) {
    if (offset >= lanes) break;
    const state below = from_lane_below(own, offset, lanes);
    if (lane >= offset) own = Fold::combine(below, own);
  }
  const state below = from_lane_below(own, 1, lanes);
  return {lane == 0 ? Fold::init() : below, from_lane(own, lanes - 1, lanes)};
}

}  // namespace sinter::cuda::detail
