// The states of a body's reductions while they run, what is left of them per row, and how these are put together. How a
// block of values is folded into them is fold.hpp's matter, what the values are evaluate.hpp's.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <utility>

#include "sinter/kernels/body.hpp"
#include "sinter/kernels/host/fold.hpp"
#include "sinter/kernels/host/layout.hpp"
#include "sinter/kernels/host/width.hpp"

SINTER_WIDE_VECTORS

namespace sinter::cpu::detail {

/// The states of one reduction, one per lane that folds.
template <int I, class Statement, int Lanes>
struct fold_slot {};
template <int I, class Op, class T, class Result, int A, int Lanes>
struct fold_slot<I, reduce<Op, T, Result, A>, Lanes> {
  alignas(64) typename Op::template state<compute_t<T>> states[Lanes];

  /// Op's functions at T.
  struct fold {
    using op = Op;
    using state = typename Op::template state<compute_t<T>>;
    static state init() { return Op::template init<compute_t<T>>(); }
    static state combine(state a, state b) { return Op::template combine<compute_t<T>>(a, b); }
    static auto finish(state s) { return Op::template finish<compute_t<T>>(s); }
  };
};

/// The result of one reduction of one row.
template <int I, class Statement>
struct result_slot {};
template <int I, class Op, class T, class Result, int A>
struct result_slot<I, reduce<Op, T, Result, A>> {
  compute_t<Result> value;
};

template <class Indices, class Body>
struct results_of;
template <int... I, class... S>
struct results_of<std::integer_sequence<int, I...>, body<S...>> : result_slot<I, S>... {};

template <class Indices, class Body, int Lanes>
struct folds;
template <int... I, class... S, int Lanes>
struct folds<std::integer_sequence<int, I...>, body<S...>, Lanes> : fold_slot<I, S, Lanes>... {};

/// The reductions of a body whose lanes run along V; Indices number its statements.
template <class Indices, class Body, loop_var V>
struct reduction_states;
template <int... I, class... S, loop_var V>
struct reduction_states<std::integer_sequence<int, I...>, body<S...>, V> {
  using indices = std::integer_sequence<int, I...>;
  using facts = body_facts<body<S...>>;
  /// States per reduction while a loop over r runs, and what is left of them after it.
  static constexpr int states = V == loop_var::r ? fold_lanes : lanes_of<body<S...>>;
  static constexpr int results = V == loop_var::r ? 1 : lanes_of<body<S...>>;
  using running_folds = folds<indices, body<S...>, states>;
  using finished_folds = folds<indices, body<S...>, results>;
  /// The results of all reductions of a row.
  using row_results = results_of<indices, body<S...>>;

  /// Reductions of phase P: the identity, lanes put together after so many values (V == x: for so many rows), parts of
  /// a row put together.
  template <int P>
  static void clear(running_folds& f) {
    (clear_one<P, I, S>(f), ...);
  }
  template <int P>
  static void collect(running_folds& f, finished_folds& into, std::int64_t length) {
    (collect_one<P, I, S>(f, into, length), ...);
  }
  template <int P>
  static void combine(finished_folds& into, const finished_folds& more, int used) {
    (combine_one<P, I, S>(into, more, used), ...);
  }

 protected:
  template <int P, int N>
  static constexpr bool reduces = facts::facts.info[N].kind ==
                                  sinter::detail::statement_kind::reduce&& facts::phase(N) == P;
  template <int N, class Statement, int Lanes>
  static auto* states_of(folds<indices, body<S...>, Lanes>& f) {
    return static_cast<fold_slot<N, Statement, Lanes>&>(f).states;
  }
  template <int N, class Statement, int Lanes>
  static const auto* states_of(const folds<indices, body<S...>, Lanes>& f) {
    return static_cast<const fold_slot<N, Statement, Lanes>&>(f).states;
  }

 private:
  template <int P, int N, class Statement>
  static void clear_one(running_folds& f) {
    if constexpr (reduces<P, N>) {
      using fold = typename fold_slot<N, Statement, states>::fold;
      for_lanes(states, [s = states_of<N, Statement>(f)](int i) { s[i] = fold::init(); });
    }
  }
  template <int P, int N, class Statement>
  static void collect_one(running_folds& f, finished_folds& into, std::int64_t length) {
    if constexpr (reduces<P, N>) {
      auto* const s = states_of<N, Statement>(f);
      if constexpr (V == loop_var::r) join_states<typename fold_slot<N, Statement, states>::fold>(s, length);
      for_lanes(V == loop_var::r ? 1 : static_cast<int>(length),
                [s, to = states_of<N, Statement>(into)](int i) { to[i] = s[i]; });
    }
  }
  template <int P, int N, class Statement>
  static void combine_one(finished_folds& into, const finished_folds& more, int used) {
    if constexpr (reduces<P, N>) {
      using fold = typename fold_slot<N, Statement, results>::fold;
      for_lanes(V == loop_var::r ? 1 : used, [to = states_of<N, Statement>(into), from = states_of<N, Statement>(more)](
                                                 int i) { to[i] = fold::combine(to[i], from[i]); });
    }
  }
};

}  // namespace sinter::cpu::detail

SINTER_END_WIDE_VECTORS
