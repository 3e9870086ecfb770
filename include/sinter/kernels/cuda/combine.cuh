// Reductions as the kernels see them: the states that a thread accumulates, and where those of a block lie in shared
// memory. Who combines them is the kernels' matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/choose.hpp"
#include "sinter/kernels/cuda/evaluate.cuh"
#include "sinter/kernels/cuda/exchange.cuh"
#include "sinter/kernels/cuda/fold_pairs.cuh"

namespace sinter::cuda::detail {

/// The first `count` lanes of a warp, or each group of so many, a power of two.
struct combined_lanes {
  int count;

  template <class T, class Combine>
  __device__ __forceinline__ T all(T own, const Combine& combine) const {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
      if (offset < count) own = combine(own, from_lane_xor(own, offset));
    return own;
  }
  template <class T>
  __device__ __forceinline__ T sum(T own) const {
    return all(own, [](T a, T b) { return a + b; });
  }
  template <class T>
  __device__ __forceinline__ T greatest(T own) const {
    return all(own, [](T a, T b) { return math::maximum(a, b); });
  }
  template <class T>
  __device__ __forceinline__ T least(T own) const {
    return all(own, [](T a, T b) { return math::minimum(a, b); });
  }
};

/// Reduction statement S: its types and its functions.
template <class S>
struct reduction_of {
  static constexpr bool is = false, folds_places = false, folds_arrays = true;
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
  /// Whether a whole tile folds at once, for less than a step per value; and whether it matters where they are.
  static constexpr bool folds_places =
      requires(state & s, const value (&v)[2], const bool (&in)[2], std::int64_t (&at)(int)) {
    Op::template take<value>(s, v, in, at);
  };
  static constexpr bool folds_arrays = folds_places || requires(state & s, const value (&v)[2], const bool (&in)[2]) {
    Op::template take<value>(s, v, in);
  };
  template <int N, class At>
  static __device__ __forceinline__ void take(state& s, const value (&v)[N], const bool (&in)[N], const At& at) {
    if constexpr (folds_places) Op::template take<value>(s, v, in, at);
    else Op::template take<value>(s, v, in);
  }
  /// Whether it then looks at them again, once it knows what they are together.
  static constexpr bool looks_twice = requires(state & s, const value (&v)[2]) {
    Op::template take_again<value>(s, v);
  };
  template <int N>
  static __device__ __forceinline__ void take_again(state& s, const value (&v)[N]) {
    Op::template take_again<value>(s, v);
  }
  /// The same of values whose greatest, or least, is known; find() is where it is first.
  template <int N, class Find, class At>
  static __device__ __forceinline__ void take_best(state& s, value best, const Find& find, const value (&v)[N],
                                                   const bool (&in)[N], const At& at) {
    if constexpr (folds_places) Op::template take_best<value>(s, best, find, at);
    else if constexpr (folds_arrays) Op::template take_best<value>(s, best, v, in);
    else s = combine(s, {best});
  }
  /// Columns side by side have folded as many values: one register counts them, and is divided by once.
  static __device__ __forceinline__ void count_as([[maybe_unused]] state& s, [[maybe_unused]] const state& other) {
    if constexpr (requires { s.count; }) s.count = other.count;
  }
  static __device__ __forceinline__ state combine(state a, state b) { return Op::template combine<value>(a, b); }
  /// All lanes' states into one, in all of them.
  template <class Lanes>
  static __device__ __forceinline__ state across(state s, const Lanes& lanes) {
    if constexpr (combines_across) return Op::template across<value>(s, lanes);
    else return lanes.all(s, combine);
  }
  static __device__ __forceinline__ result finish(state s) {
    return static_cast<result>(Op::template finish<value>(s));
  }
  /// Of the state of which this one is a part.
  template <class Whole>
  static __device__ __forceinline__ result finish_part(const Whole& s) {
    return static_cast<result>(s.total());
  }
  static constexpr bool combines_across = requires(state s, const combined_lanes& lanes) {
    Op::template across<value>(s, lanes);
  };
  /// Plain numbers come out the same in whichever order two lanes combine; of larger states one lane's result counts.
  static constexpr bool same_in_all_lanes = combines_across || sizeof(state) <= sizeof(value);
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
/// The same without stores: what a walk over rows may need of a column.
template <class Body, int P>
struct rows_without_stores {
  static constexpr bool is_store(int s) { return body_facts<Body>::facts.info[s].kind == statement_kind::store; }
  static constexpr bool select(int s) { return rows_of_phase<Body, P>::select(s) && !is_store(s); }
};
template <class Column>
using column_values = rows_without_stores<Column, 0>;
/// Element statements that the loop of phase P needs.
template <class Body, int P>
struct elements_of_phase {
  static constexpr bool select(int s) { return phase_facts<Body>::is_element(s) && body_facts<Body>::needed(P, s); }
};
/// Those of them that a kernel that holds the row has not evaluated before, or computes anew.
template <class Body, int P, bool Anew>
struct elements_of_held_phase {
  static constexpr bool select(int s) {
    return elements_of_phase<Body, P>::select(s) &&
           (phase_facts<Body>::first(s) == P || (Anew && phase_facts<Body>::is_recomputed(s)));
  }
};
template <class Body, int P, std::size_t I>
inline constexpr bool reduces_in =
    phase_facts<Body>::is_reduce(static_cast<int>(I)) && body_facts<Body>::phase(static_cast<int>(I)) == P;
/// Does phase P reduce anything? The last one need not.
template <class Body, int P, class Numbers = std::make_index_sequence<Body::size>>
inline constexpr bool reduces_phase = false;
template <class Body, int P, std::size_t... I>
inline constexpr bool reduces_phase<Body, P, std::index_sequence<I...>> = (reduces_in<Body, P, I> || ...);
/// How many do.
template <class Body, class Phases = std::make_index_sequence<body_facts<Body>::num_phases>>
inline constexpr int reducing_phases = 0;
template <class Body, std::size_t... P>
inline constexpr int reducing_phases<Body, std::index_sequence<P...>> = (reduces_phase<Body, static_cast<int>(P)> +
                                                                         ... + 0);

/// The reduction of whose state reduction S is a part, or -1.
template <class S>
inline constexpr int part_of = -1;
/// Is it a reduction with a state of its own?
template <class S>
inline constexpr bool has_state = reduction_of<S>::is&& part_of<S> < 0;

/// Their numbers, for what is done with each of them.
template <class Body, int P>
struct reductions_of_phase {
  static constexpr auto facts = [] {
    sinter::detail::number_list<Body::size> list;
    for (int s = 0; s < Body::size; ++s)
      if (phase_facts<Body>::is_reduce(s) && body_facts<Body>::phase(s) == P) list.add(s);
    return list;
  }();
  /// f(number, statement) for each that has a state, in order.
  template <class F>
  static __device__ __forceinline__ void each(const F& f) {
    each_of<false>(f, sinter::detail::listed<reductions_of_phase>{});
  }
  /// For each that is a part of another's.
  template <class F>
  static __device__ __forceinline__ void each_part(const F& f) {
    each_of<true>(f, sinter::detail::listed<reductions_of_phase>{});
  }

 private:
  template <bool Parts, class F, int... I>
  static __device__ __forceinline__ void each_of(const F& f, std::integer_sequence<int, I...>) {
    (one_of<Parts, I>(f), ...);
  }
  template <bool Parts, int I, class F>
  static __device__ __forceinline__ void one_of([[maybe_unused]] const F& f) {
    using statement = sinter::detail::statement_of<Body, I>;
    if constexpr ((part_of<statement> >= 0) == Parts) f(std::integral_constant<int, I>{}, statement{});
  }
};

// ---- steps ----------------------------------------------------------------------------------------------------------

template <bool Wanted, int I, class S, int Ways, class Accumulators>
__device__ __forceinline__ void start_one(Accumulators& acc) {
  if constexpr (Wanted) {
#pragma unroll
    for (int k = 0; k < Ways; ++k) lanes_of<I>(acc)[k] = reduction_of<S>::init();
  }
}
template <int P, int Ways, class Accumulators, class... S, std::size_t... I>
__device__ __forceinline__ void start(body<S...>, std::index_sequence<I...>, Accumulators& acc) {
  reductions_of_phase<body<S...>, P>::each(
      [&]<int N, class R>(std::integral_constant<int, N>, R) { start_one<true, N, R, Ways>(acc); });
}

/// A fold of whole tiles, for less than a step per value; where places matter, of neighbours or where items share an
/// address: the others' take registers.
template <class S, class Body, class Tiling>
inline constexpr bool folds_tile = (Tiling::vector == loop_var::r) && (Tiling::item == loop_var::r) &&
                                   (fold_pairs<S, Body>::template is<Tiling> ||
                                    (reduction_of<S>::folds_arrays &&
                                     (Tiling::width > 1 || Tiling::guards || !reduction_of<S>::folds_places)));

/// The same of a tile across memory, for each of its columns.
template <class S, class Tiling>
inline constexpr bool folds_items =
    Tiling::vector == loop_var::x&& Tiling::item == loop_var::r&& Tiling::items >= 4 && reduction_of<S>::folds_arrays;

template <class Body, class Tiling>
inline constexpr bool folds_any_items = false;
template <class... S, class Tiling>
inline constexpr bool folds_any_items<body<S...>, Tiling> = (folds_items<S, Tiling> || ...);

/// One tile's element values into the states: lane l into state l % Ways, or, where arrays fold for less, all into one.
template <bool Wanted, int I, class S, int Ways, class Accumulators, class Frame>
__device__ __forceinline__ void step_item(Accumulators& acc, Frame& f, const tile<typename Frame::tiling>& t, int u) {
  if constexpr (Wanted) {
    using tiling = typename Frame::tiling;
    using fold = reduction_of<S>;
    if constexpr (!folds_tile<S, typename Frame::body_type, tiling> && !folds_items<S, tiling>) {
      const auto step = [&](int j) {
        const int lane = u * tiling::width + j;
        const std::int64_t r = static_cast<std::int64_t>(t.r(u)) + (tiling::vector == loop_var::r ? j : 0);
        fold::step(lanes_of<I>(acc)[lane % Ways], lane_of<fold::operand>(f, lane), r);
      };
      if (!tiling::many_ends && t.ok[u]) {
#pragma unroll
        for (int j = 0; j < tiling::width; ++j) step(j);
      } else if constexpr (tiling::shifted) {
#pragma unroll
        for (int j = 0; j < tiling::width; ++j)
          if (t.lane_ok(u, j)) step(j);
      }
    }
  }
}
template <bool Wanted, int I, class S, class Accumulators, class Frame>
__device__ __forceinline__ void step_tile(Accumulators& acc, Frame& f, const tile<typename Frame::tiling>& t) {
  if constexpr (Wanted) {
    using tiling = typename Frame::tiling;
    using fold = reduction_of<S>;
    using pairs = fold_pairs<S, typename Frame::body_type>;
    if constexpr (folds_items<S, tiling>) {
      const auto before = lanes_of<I>(acc)[0];
#pragma unroll
      for (int j = 0; j < tiling::width; ++j) {
        typename fold::value v[tiling::items];
#pragma unroll
        for (int u = 0; u < tiling::items; ++u) v[u] = lane_of<fold::operand>(f, u * tiling::width + j);
        fold::count_as(lanes_of<I>(acc)[j], before);
        fold::take(lanes_of<I>(acc)[j], v, t.ok, [&](int u) { return static_cast<std::int64_t>(t.r_of_item(u)); });
      }
    }
    if constexpr (folds_tile<S, typename Frame::body_type, tiling>) {
      bool in[tiling::size];
#pragma unroll
      for (int lane = 0; lane < tiling::size; ++lane) in[lane] = t.lane_ok(lane / tiling::width, lane % tiling::width);
      auto& state = lanes_of<I>(acc)[0];
      typename fold::value v[tiling::size];
#pragma unroll
      for (int lane = 0; lane < tiling::size; ++lane) v[lane] = lane_of<fold::operand>(f, lane);
      const auto at = [&](int lane) { return static_cast<std::int64_t>(t.r_of(lane)); };
      if constexpr (pairs::template is<tiling>) {
        unsigned words[tiling::size / 2];
#pragma unroll
        for (int k = 0; k < tiling::size / 2; ++k) words[k] = pairs::word_of(f, k);
        const auto best = pairs::of(words, in);
        fold::take_best(
            state, best, [&] { return pairs::first_of(best, words, in); }, v, in, at);
      } else {
        fold::take(state, v, in, at);
      }
      if constexpr (fold::looks_twice) {
        auto& slot = static_cast<typename slot_in<Frame, fold::operand>::type&>(f);
        if constexpr (tiling::template packs<fold::operand>) keep_as_read(slot, blockIdx.y);  // which is 0
#pragma unroll
        for (int lane = 0; lane < tiling::size; ++lane) v[lane] = lane_of(slot, lane);
        fold::take_again(state, v);
      }
    }
  }
}

/// Phase P of a body: its reductions' steps, one item after another.
template <class Body, int P, int Ways, class Numbers = std::make_index_sequence<Body::size>>
struct steps_of_phase;
template <class... S, int P, int Ways, std::size_t... I>
struct steps_of_phase<body<S...>, P, Ways, std::index_sequence<I...>> {
  using B = body<S...>;
  template <class Accumulators, class Frame>
  static __device__ __forceinline__ void item(Accumulators& acc, Frame& f, const tile<typename Frame::tiling>& t,
                                              int u) {
    reductions_of_phase<B, P>::each(
        [&]<int N, class R>(std::integral_constant<int, N>, R) { step_item<true, N, R, Ways>(acc, f, t, u); });
  }
  template <class Accumulators, class Frame>
  static __device__ __forceinline__ void tile_done(Accumulators& acc, Frame& f, const tile<typename Frame::tiling>& t) {
    reductions_of_phase<B, P>::each(
        [&]<int N, class R>(std::integral_constant<int, N>, R) { step_tile<true, N, R>(acc, f, t); });
  }
};

/// Evaluates the statements that Which::select(s) names, and steps the reductions of phase P: those that go first are
/// done already.
template <class Which, int P, int Ways, class Accumulators, class Frame, class Args>
__device__ __forceinline__ void evaluate_rest_and_step(Accumulators& acc, Frame& f,
                                                       const tile<typename Frame::tiling>& t, const Args& args) {
  using steps = steps_of_phase<typename Frame::body_type, P, Ways>;
  evaluate_rest<Which>(f, t, args, false, [&](int u) { steps::item(acc, f, t, u); });
  steps::tile_done(acc, f, t);
}
/// All of them.
template <class Which, int P, int Ways, class Accumulators, class Frame, class Args>
__device__ __forceinline__ void evaluate_and_step(Accumulators& acc, Frame& f, const tile<typename Frame::tiling>& t,
                                                  const Args& args) {
  evaluate_first<Which>(f, t, args);
  evaluate_rest_and_step<Which, P, Ways>(acc, f, t, args);
}

}  // namespace sinter::cuda::detail
