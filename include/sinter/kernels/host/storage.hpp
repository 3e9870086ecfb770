// The memory of an evaluator: a slot per statement as its layout says, the states of running reductions, the results of
// finished ones. What is computed into it is evaluate.hpp's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include "sinter/base/dtype.hpp"
#include "sinter/kernels/body.hpp"
#include "sinter/kernels/host/layout.hpp"

namespace sinter::cpu::detail {

/// Lanes that a row's fold runs in side by side (V == r): four vectors of eight floats, enough to hide an addition.
inline constexpr int fold_lanes = 32;

template <int I, class Statement, residence Where, int Lanes>
struct slot {};
template <int I, class Statement, int Lanes>
struct slot<I, Statement, residence::uniform, Lanes> {
  typename statement_facts<Statement>::value_type value;
};
template <int I, class Statement, int Lanes>
struct slot<I, Statement, residence::lanes, Lanes> {
  alignas(64) typename statement_facts<Statement>::value_type value[Lanes];
};
template <int I, int Slot, class T, class At, int Lanes>
struct slot<I, load<Slot, T, At, -1>, residence::memory, Lanes> {
  const T* value;
};
template <int I, int Which, class T, int Lanes>
struct slot<I, accumulator<Which, T>, residence::memory, Lanes> {
  const compute_t<T>* value;
};

/// The states of one reduction, one per lane that folds.
template <int I, class Statement, int Lanes>
struct fold_slot {};
template <int I, class Op, class T, class Result, int A, int Lanes>
struct fold_slot<I, reduce<Op, T, Result, A>, Lanes> {
  alignas(64) typename Op::template state<compute_t<T>> states[Lanes];

  /// Op's functions at T.
  struct fold {
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

/// Statement number N of a list, found by one overload resolution.
template <int I, class S>
struct numbered {};
template <class Indices, class... S>
struct numbering;
template <int... I, class... S>
struct numbering<std::integer_sequence<int, I...>, S...> : numbered<I, S>... {};
template <int I, class S>
S pick(numbered<I, S>*);

}  // namespace sinter::cpu::detail
