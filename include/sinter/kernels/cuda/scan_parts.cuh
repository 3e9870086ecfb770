// The parts that every scan kernel is made of: which statements run before and after which scan, a thread's share of a
// scan, and how the lanes of a warp put their shares in order.
// Which elements a thread has is scan.cuh's and scan_column.cuh's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/combine.cuh"

namespace sinter::cuda::detail {

/// Scan statement S: its types and functions, which are those of the reduction with the same fold.
template <class S>
struct scan_of {
  static constexpr bool is = false;
  using state = nothing;
};
template <class Op, class T, class Result, int A>
struct scan_of<scan<Op, T, Result, A>> : reduction_of<reduce<Op, T, Result, A>> {};

/// A scan waits for all its threads. Stage g of a body's element statements runs between two such waits: what needs the
/// results of g scans, one after the other, and then the scans that need no more than that, together.
template <class Body>
struct scan_facts;
template <class... S>
struct scan_facts<body<S...>> {
  using facts = body_facts<body<S...>>;
  static constexpr int size = sizeof...(S);
  static constexpr bool is_scan(int s) { return facts::facts.info[s].kind == statement_kind::scan; }

  struct table {
    int stage[size + 1]{};
    int num_stages = 1;
  };
  static constexpr table stages = [] {
    table t{};
    for (int s = 0; s < size; ++s) {
      for (int operand : facts::facts.info[s].operands) {
        if (operand < 0 || facts::where(operand) != scope::element) continue;
        const int ready = t.stage[operand] + is_scan(operand);
        if (ready > t.stage[s]) t.stage[s] = ready;
      }
      if (t.stage[s] + is_scan(s) + 1 > t.num_stages) t.num_stages = t.stage[s] + is_scan(s) + 1;
    }
    return t;
  }();
  static constexpr int num_stages = stages.num_stages;
  static constexpr int stage(int s) { return stages.stage[s]; }

  /// Bytes of the states of stage g's scans before statement s, with `slots` of each; s = size: of all.
  static constexpr int bytes(int g, int s, int slots) {
    constexpr int each[] = {static_cast<int>(sizeof(typename scan_of<S>::state))..., 0};
    int total = 0;
    for (int i = 0; i < s; ++i)
      if (is_scan(i) && stage(i) == g) total += static_cast<int>(sinter::detail::round_up(each[i] * slots, 16));
    return total;
  }
  static constexpr int most_bytes(int slots) {
    int most = 16;
    for (int g = 0; g < num_stages; ++g)
      if (bytes(g, size, slots) > most) most = bytes(g, size, slots);
    return most;
  }
};

template <class Body, int G, int I, int Slots>
inline constexpr int scan_offset = scan_facts<Body>::bytes(G, I, Slots);

/// Element statements of stage G of phase P, but for the scans.
template <class Body, int P, bool Kept, int G>
struct elements_of_stage {
  static constexpr bool select(int s) {
    return elements_of_phase<Body, P, Kept>::select(s) && !scan_facts<Body>::is_scan(s) &&
           scan_facts<Body>::stage(s) == G;
  }
};
template <class Body, int P, bool Kept, int G>
struct scans_of_stage {
  static constexpr bool select(int s) {
    return elements_of_phase<Body, P, Kept>::select(s) && scan_facts<Body>::is_scan(s) &&
           scan_facts<Body>::stage(s) == G;
  }
  static constexpr bool any = [] {
    for (int s = 0; s < Body::size; ++s)
      if (select(s)) return true;
    return false;
  }();
};

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
template <class Body, int Count>
__device__ __forceinline__ void clear_scans(scan_states<Body, Count>& states) {
  each_scan<every_scan<Body>, Body>([&](auto at) {
    using scan = decltype(at);
    for (auto& s : lanes_of<scan::number>(states)) s = scan::init();
  });
}

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

/// What a group of lanes has folded before each lane's own state, and all of them together.
template <class State>
struct lane_prefix {
  State before, total;
};
template <class Fold>
__device__ __forceinline__ lane_prefix<typename Fold::state> scan_lanes(typename Fold::state own, int lanes) {
  using state = typename Fold::state;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
#pragma unroll
  for (int offset = 1; offset < lanes; offset *= 2) {
    const state below = from_lane_below(own, offset, lanes);
    if (lane >= offset) own = Fold::combine(below, own);
  }
  const state below = from_lane_below(own, 1, lanes);
  return {lane == 0 ? Fold::init() : below, from_lane(own, lanes - 1, lanes)};
}

}  // namespace sinter::cuda::detail
