// The states of a body's reductions while they run, what is left of them per row, and how these are put together. How a
// block of values is folded into them is fold.hpp's and column_fold.hpp's matter, what the values are evaluate.hpp's.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "sinter/kernels/body.hpp"
#include "sinter/kernels/host/column_fold.hpp"
#include "sinter/kernels/host/fold.hpp"
#include "sinter/kernels/host/layout.hpp"
#include "sinter/kernels/host/width.hpp"

SINTER_WIDE_VECTORS

namespace sinter::cpu::detail {

/// What one reduction has folded, per lane.
template <int I, class Statement, int Lanes>
struct fold_slot {};
template <int I, class Op, class T, class Result, int A, int Lanes>
struct fold_slot<I, reduce<Op, T, Result, A>, Lanes> {
  alignas(64) typename Op::template state<compute_t<T>> states[Lanes];

  /// Op's functions at T.
  struct fold {
    using state = typename Op::template state<compute_t<T>>;
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

/// One reduction while it runs, of a row by all lanes or of one row per lane.
template <int I, class Statement, loop_var V, int Lanes>
struct running_slot {};
template <int I, class Op, class T, class Result, int A, loop_var V, int Lanes>
struct running_slot<I, reduce<Op, T, Result, A>, V, Lanes> {
  std::conditional_t<V == loop_var::r, row_fold<Op, compute_t<T>>, column_fold<Op, compute_t<T>, Lanes>> fold;
};

template <class Indices, class Body, loop_var V>
struct running_folds_of;
template <int... I, class... S, loop_var V>
struct running_folds_of<std::integer_sequence<int, I...>, body<S...>, V>
    : running_slot<I, S, V, lanes_of<body<S...>>>... {};

/// The reductions of a body whose lanes run along V; Indices number its statements.
template <class Indices, class Body, loop_var V>
struct reduction_states;
template <int... I, class... S, loop_var V>
struct reduction_states<std::integer_sequence<int, I...>, body<S...>, V> {
  using indices = std::integer_sequence<int, I...>;
  using facts = body_facts<body<S...>>;
  /// Where lanes run along r each reduction has one state after the loop, otherwise one for each lane.
  static constexpr bool along_r = V == loop_var::r;
  static constexpr int results = along_r ? 1 : lanes_of<body<S...>>;
  using finished_folds = folds<indices, body<S...>, results>;
  using running_folds = running_folds_of<indices, body<S...>, V>;
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
  template <int N, class Statement>
  static auto* states_of(finished_folds& f) {
    return static_cast<fold_slot<N, Statement, results>&>(f).states;
  }
  template <int N, class Statement>
  static const auto* states_of(const finished_folds& f) {
    return static_cast<const fold_slot<N, Statement, results>&>(f).states;
  }
  template <int N, class Statement>
  static auto& fold_of(running_folds& f) {
    return static_cast<running_slot<N, Statement, V, lanes_of<body<S...>>>&>(f).fold;
  }

 private:
  template <int P, int N, class Statement>
  static void clear_one(running_folds& f) {
    if constexpr (reduces<P, N>) fold_of<N, Statement>(f).clear();
  }
  template <int P, int N, class Statement>
  static void collect_one(running_folds& f, finished_folds& into, std::int64_t length) {
    if constexpr (reduces<P, N>) {
      auto* const to = states_of<N, Statement>(into);
      auto& fold = fold_of<N, Statement>(f);
      if constexpr (along_r) *to = fold.total(length);
      else for_lanes(static_cast<int>(length), [&fold, to](int i) { to[i] = fold.state(i); });
    }
  }
  template <int P, int N, class Statement>
  static void combine_one(finished_folds& into, const finished_folds& more, int used) {
    if constexpr (reduces<P, N>) {
      using fold = typename fold_slot<N, Statement, results>::fold;
      for_lanes(along_r ? 1 : used, [to = states_of<N, Statement>(into), from = states_of<N, Statement>(more)](int i) {
        to[i] = fold::combine(to[i], from[i]);
      });
    }
  }
};

}  // namespace sinter::cpu::detail

SINTER_END_WIDE_VECTORS
