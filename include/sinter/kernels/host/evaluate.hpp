// Evaluates a body on the host, a block of lanes at a time, statement after statement: those of a phase, of rows or of
// elements. What a statement does is statements.hpp's matter; loops over blocks, rows and phases are the kernels'
// (pointwise, reduction, matmul).
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <utility>

#include "sinter/kernels/body.hpp"
#include "sinter/kernels/host/lanes.hpp"
#include "sinter/kernels/host/layout.hpp"
#include "sinter/kernels/host/reduction_states.hpp"
#include "sinter/kernels/host/statements.hpp"
#include "sinter/kernels/host/storage.hpp"
#include "sinter/kernels/host/width.hpp"

SINTER_WIDE_VECTORS

namespace sinter::cpu::detail {

template <class Indices, class Body, loop_var V, class Args, bool Aligned>
class evaluator_of;

/// Evaluates Body along lane variable V. Aligned: blocks start at multiples of `lanes`.
template <class Body, loop_var V, class Args, bool Aligned = true>
using evaluator = evaluator_of<std::make_integer_sequence<int, Body::size>, Body, V, Args, Aligned>;

template <int... I, class... S, loop_var V, class Args, bool Aligned>
class evaluator_of<std::integer_sequence<int, I...>, body<S...>, V, Args, Aligned>
    : public statements<std::integer_sequence<int, I...>, body<S...>, V, Args, Aligned> {
 public:
  using base = statements<std::integer_sequence<int, I...>, body<S...>, V, Args, Aligned>;
  using facts = typename base::facts;
  using reductions = typename base::reductions;
  using running_folds = typename base::running_folds;
  using finished_folds = typename reductions::finished_folds;
  using row_results = typename reductions::row_results;
  template <int N>
  using statement = typename base::template statement<N>;

  /// Rows that lanes which run across them better fold at once: four if what varies from lane to lane is read and
  /// computed where it is folded, by steps that are vector code.
  static constexpr int rows_at_once = [] {
    const residence_hints hints[] = {hints_of<S, V, base::lanes, Aligned>...};
    for (int s = 0; s < facts::size; ++s) {
      const bool is_fold = facts::facts.info[s].kind == statement_kind::reduce;
      const residence at = base::layout_type::facts.where[s];
      if (is_fold ? !hints[s].is_simple : facts::needed(0, s) && (at == residence::lanes || at == residence::kept))
        return 1;
    }
    return V == loop_var::x && facts::num_phases == 1 ? 4 : 1;
  }();

  using base::base, base::seat;

  /// Whole rows pass here, one after the other: what is costly is computed once, if a row is not too long. `number`:
  /// of the evaluators that take turns.
  void keep_rows(int number = 0) {
    keeps_ = args_.rnumel <= longest_kept_row;
    number_ = number;
  }
  /// Element statements of the last phase, which only writes, for `count` lanes from r of the row where this sits.
  [[gnu::noinline]] void write_block(std::int64_t r, int count) {
    running_folds none;
    seat(x_, r, count);
    elements<facts::num_phases - 1>(none);
  }
  /// Whether some of the results go past the cache.
  bool has_streams() const { return (base::template is_streamed<I>() || ...); }

  /// Row statements of phase P, in order (P < 0: of every phase); without Stores their values only.
  template <int P, bool Stores = true>
  void rows() {
    (row_step<P, I, Stores>(), ...);
  }

  /// Element statements that phase P needs, in order; its reductions fold into `f`.
  template <int P>
  void elements(running_folds& f) {
    (element_step<P, I>(f), ...);
  }
  /// The same of as many rows as there are evaluators, whose lanes run across them: a state is read and written once
  /// for all of them.
  template <int P>
  static void elements_of_rows(evaluator_of (&rows)[rows_at_once], running_folds& f) {
    (element_step_of_rows<P, I>(rows, f), ...);
  }
  /// The same without folding and storing: what a matmul's operand needs.
  template <int P>
  void element_values() {
    (element_value_step<P, I>(), ...);
  }

  /// The results of phase P's reductions as row values, and those of a row's to and from memory; `rows` of them where
  /// lanes run along x.
  template <int P>
  void finish(const finished_folds& f) {
    (finish_fold<P, I, S>(f), ...);
  }
  void export_results(row_results* to, int rows) const { (export_result<I, S>(to, rows), ...); }
  void import_results(const row_results* from) { (import_result<I, S>(from), ...); }

  /// Takes over the row values that are known in phase P from another evaluator of the same row or rows.
  template <int P>
  void copy_rows(const evaluator_of& other) {
    (copy_row<P, I>(other), ...);
  }

 private:
  using base::args_, base::x_, base::keeps_, base::number_;
  template <int N>
  static constexpr residence where = base::layout_type::facts.where[N];
  template <int N>
  static constexpr statement_kind kind = facts::facts.info[N].kind;

  template <int P, int N, bool Stores>
  void row_step() {
    if constexpr (facts::where(N) == scope::row && kind<N> != statement_kind::reduce &&
                  kind<N> != statement_kind::yield && (Stores || kind<N> != statement_kind::store) &&
                  (P < 0 || facts::phase(N) == P)) {
      if constexpr (facts::num_phases == 0) base::template look_ahead<N>();
      base::template evaluate<N>(statement<N>{});
    }
  }
  template <int P, int N>
  void element_step(running_folds& f) {
    if constexpr (facts::needed(P, N)) {
      if constexpr (V == loop_var::r) base::template look_ahead_in<P, N>();
      else base::template look_ahead_down<N>();
      if constexpr (kind<N> == statement_kind::reduce) base::template fold<N>(statement<N>{}, f);
      else if (where<N> == residence::kept && facts::phase(N) < P && keeps_) base::template point_to_row<N>();
      else base::template evaluate<N>(statement<N>{});
    }
  }
  template <int N, class Op, class T, class Result, int A>
  static void fold_rows(reduce<Op, T, Result, A>, const evaluator_of (&rows)[rows_at_once], running_folds& f) {
    reductions::template fold_of<N, statement<N>>(f).template add<rows_at_once>(
        rows[0].count_, rows[0].r_, [first = &rows[0]](int i, int k) { return first[k].template value<A>(i); });
  }
  template <int P, int N>
  static void element_step_of_rows(evaluator_of (&rows)[rows_at_once], running_folds& f) {
    if constexpr (facts::needed(P, N) && kind<N> == statement_kind::reduce) fold_rows<N>(statement<N>{}, rows, f);
    else
      for (evaluator_of& row : rows) row.template element_step<P, N>(f);
  }
  template <int P, int N>
  void element_value_step() {
    constexpr bool has_value =
        kind<N> == statement_kind::source || kind<N> == statement_kind::compute || kind<N> == statement_kind::scan;
    if constexpr (facts::needed(P, N) && has_value) base::template evaluate<N>(statement<N>{});
  }
  template <int P, int N>
  void copy_row(const evaluator_of& other) {
    constexpr bool known = facts::phase(N) + (kind<N> == statement_kind::reduce) <= P;
    if constexpr (facts::where(N) == scope::row && known && where<N> != residence::none &&
                  where<N> != residence::inlined) {
      if constexpr (where<N> == residence::lanes)
        for_lanes(other.count_,
                  [to = base::template at_slot<N>(), from = other.template at_slot<N>()](int i) { to[i] = from[i]; });
      else base::template at_slot<N>() = other.template at_slot<N>();
    }
  }

  template <int P, int N, class Statement>
  void finish_fold(const finished_folds& f) {
    if constexpr (reductions::template reduces<P, N>) {
      using fold = typename fold_slot<N, Statement, reductions::results>::fold;
      base::template fill<N>([s = reductions::template states_of<N, Statement>(f)](int i) {
        return static_cast<typename base::template value_type<N>>(fold::finish(s[i]));
      });
    }
  }

  template <int N, class Statement>
  void export_result(row_results* to, int rows) const {
    if constexpr (kind<N> == statement_kind::reduce)
      for_lanes(rows, [this, to](int i) {
        static_cast<result_slot<N, Statement>&>(to[i]).value = base::template value<N>(i);
      });
  }
  template <int N, class Statement>
  void import_result(const row_results* from) {
    if constexpr (kind<N> == statement_kind::reduce)
      base::template fill<N>([from](int i) { return static_cast<const result_slot<N, Statement>&>(from[i]).value; });
  }
};

}  // namespace sinter::cpu::detail

SINTER_END_WIDE_VECTORS
