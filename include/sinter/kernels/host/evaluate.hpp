// Evaluates a body on the host, a block of lanes at a time: statement after statement, each one simple loop over arrays
// that stay in the L1 cache. Loops over blocks, rows and phases are the kernels' matter (pointwise, reduction, matmul).
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "sinter/base/dtype.hpp"
#include "sinter/kernels/body.hpp"
#include "sinter/kernels/host/lanes.hpp"
#include "sinter/kernels/host/layout.hpp"
#include "sinter/kernels/host/scan.hpp"
#include "sinter/kernels/host/storage.hpp"

namespace sinter::cpu::detail {

template <class Indices, class Body, loop_var V, class Args, bool Aligned>
class evaluator_of;

/// Evaluates Body along lane variable V. Aligned: blocks start at multiples of `lanes`.
template <class Body, loop_var V, class Args, bool Aligned = true>
using evaluator = evaluator_of<std::make_integer_sequence<int, Body::size>, Body, V, Args, Aligned>;

template <int... I, class... S, loop_var V, class Args, bool Aligned>
class evaluator_of<std::integer_sequence<int, I...>, body<S...>, V, Args, Aligned>
    : slot<I, S, layout<body<S...>, V, Aligned>::facts.where[I], lanes_of<body<S...>>>... {
 public:
  using body_type = body<S...>;
  using facts = body_facts<body_type>;
  using indices = std::integer_sequence<int, I...>;
  using layout_type = layout<body_type, V, Aligned>;
  static constexpr loop_var lane_variable = V;
  static constexpr int lanes = lanes_of<body_type>;
  /// States per reduction while a loop over r runs, and what is left of them after it.
  static constexpr int states = V == loop_var::r ? fold_lanes : lanes;
  static constexpr int results = V == loop_var::r ? 1 : lanes;
  using running_folds = folds<indices, body_type, states>;
  using finished_folds = folds<indices, body_type, results>;
  template <int N>
  using statement = decltype(pick<N>(static_cast<numbering<indices, S...>*>(nullptr)));

  explicit evaluator_of(const Args& args) : args_(args) {}

  /// The block at (x, r): `count` lanes of V from there.
  void seat(std::int64_t x, std::int64_t r, int count) {
    x_ = x;
    r_ = r;
    count_ = count;
  }

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
  /// The same without folding and storing: what a matmul's operand needs.
  template <int P>
  void element_values() {
    (element_value_step<P, I>(), ...);
  }

  /// Reductions of phase P: the identity, lanes put together, parts of a row put together, results as row values.
  template <int P>
  static void clear(running_folds& f) {
    (clear_fold<P, I, S>(f), ...);
  }
  template <int P>
  static void collect(running_folds& f, finished_folds& into, int used) {
    (collect_fold<P, I, S>(f, into, used), ...);
  }
  template <int P>
  static void combine(finished_folds& into, const finished_folds& more, int used) {
    (combine_fold<P, I, S>(into, more, used), ...);
  }
  template <int P>
  void finish(const finished_folds& f) {
    (finish_fold<P, I, S>(f), ...);
  }
  /// The results of all reductions of a row, to and from memory; `rows` of them where lanes run along x.
  using row_results = results_of<indices, body_type>;
  void export_results(row_results* to, int rows) const { (export_result<I, S>(to, rows), ...); }
  void import_results(const row_results* from) { (import_result<I, S>(from), ...); }

  /// What the scans have folded so far.
  using scan_states = scans_of<indices, body_type, results>;
  scan_states& scans() { return scans_; }

  /// Where a matmul's sums for this block lie.
  void point_accumulators(const void* first, const void* second) {
    accumulators_[0] = first;
    accumulators_[1] = second;
  }

  /// Takes over the row values that are known in phase P from another evaluator of the same row or rows.
  template <int P>
  void copy_rows(const evaluator_of& other) {
    (copy_row<P, I>(other), ...);
  }

  /// The value of statement N at a lane of the block.
  template <int N>
  [[gnu::always_inline]] auto value(int lane) const {
    if constexpr (where<N> == residence::uniform) return at_slot<N>();
    else if constexpr (where<N> == residence::lanes) return at_slot<N>()[lane];
    else if constexpr (where<N> == residence::memory) return widen(at_slot<N>()[lane]);
    else return result(statement<N>{}, lane);
  }

 private:
  template <int N>
  static constexpr residence where = layout_type::facts.where[N];
  template <int N>
  using value_type = typename statement_facts<statement<N>>::value_type;
  template <int N>
  static constexpr statement_kind kind = facts::facts.info[N].kind;
  template <int P, int N>
  static constexpr bool reduces = kind<N> == statement_kind::reduce&& facts::phase(N) == P;

  template <int N>
  auto& at_slot() {
    return static_cast<slot<N, statement<N>, where<N>, lanes>&>(*this).value;
  }
  template <int N>
  const auto& at_slot() const {
    return static_cast<const slot<N, statement<N>, where<N>, lanes>&>(*this).value;
  }

  // ---- which statements run ----

  template <int P, int N, bool Stores>
  void row_step() {
    if constexpr (facts::where(N) == scope::row && kind<N> != statement_kind::reduce &&
                  kind<N> != statement_kind::yield && (Stores || kind<N> != statement_kind::store) &&
                  (P < 0 || facts::phase(N) == P))
      evaluate<N>(statement<N>{});
  }
  template <int P, int N>
  void element_step(running_folds& f) {
    if constexpr (facts::needed(P, N)) {
      if constexpr (kind<N> == statement_kind::reduce) fold<N>(statement<N>{}, f);
      else evaluate<N>(statement<N>{});
    }
  }
  template <int P, int N>
  void element_value_step() {
    constexpr bool has_value =
        kind<N> == statement_kind::source || kind<N> == statement_kind::compute || kind<N> == statement_kind::scan;
    if constexpr (facts::needed(P, N) && has_value) evaluate<N>(statement<N>{});
  }
  template <int P, int N>
  void copy_row(const evaluator_of& other) {
    constexpr bool known = facts::phase(N) + (kind<N> == statement_kind::reduce) <= P;
    if constexpr (facts::where(N) == scope::row && known && where<N> != residence::none &&
                  where<N> != residence::inlined) {
      if constexpr (where<N> == residence::lanes)
        for_lanes(other.count_, [to = at_slot<N>(), from = other.template at_slot<N>()](int i) { to[i] = from[i]; });
      else at_slot<N>() = other.template at_slot<N>();
    }
  }

  // ---- sources ----

  /// Fills statement N with value(lane), or with value(0) if it is the same for all lanes.
  template <int N, class Value>
  [[gnu::always_inline]] void fill(Value value) {
    if constexpr (where<N> == residence::uniform) at_slot<N>() = value(0);
    else if constexpr (where<N> == residence::lanes)
      for_lanes(count_, [out = at_slot<N>(), value](int i) { out[i] = value(i); });
  }
  template <class At, class F>
  [[gnu::always_inline]] void runs(F f) const {
    for_runs<At, V, lanes, Aligned>(x_, r_, count_, args_.sizes, f);
  }
  template <class At>
  std::int64_t offset() const {
    return at_facts<At>::template offset<std::int64_t>(x_, r_, args_.sizes);
  }
  /// All lanes, none, or some where Mask is true.
  enum class coverage { none, some, all };
  template <int Mask>
  coverage covered() const {
    if constexpr (Mask < 0) {
      return coverage::all;
    } else if constexpr (where<Mask> != residence::uniform) {
      const int lit = count_true(at_slot<Mask>(), count_);
      return lit == 0 ? coverage::none : lit == count_ ? coverage::all : coverage::some;
    } else {
      return at_slot<Mask>() ? coverage::all : coverage::none;
    }
  }

  template <int N, int Slot, class T, class At, int Mask>
  void evaluate(load<Slot, T, At, Mask>) {
    const T* const p = static_cast<const T*>(args_.pointers[Slot]);
    if constexpr (where<N> == residence::memory) {
      at_slot<N>() = p + offset<At>();
    } else {
      const coverage lit = covered<Mask>();
      if (lit == coverage::none) fill<N>([](int) { return compute_t<T>(); });
      else if constexpr (where<N> == residence::uniform) at_slot<N>() = widen(p[offset<At>()]);
      else if (lit == coverage::all)
        runs<At>([out = at_slot<N>(), p](int first, int count, std::int64_t offset, auto step) {
          read_run(out + first, p + offset, count, step);
        });
      else if constexpr (Mask >= 0)
        runs<At>([this, out = at_slot<N>(), p](int first, int count, std::int64_t offset, auto step) {
          for (int i = 0; i < count; ++i)
            out[first + i] = value<Mask>(first + i) ? widen(p[offset + i * std::int64_t(step)]) : compute_t<T>();
          keep_stores();
        });
    }
  }

  template <int N, int Slot, class T, class At, int Index, long Coef, long Bound, int Mask>
  void evaluate(gather_load<Slot, T, At, Index, Coef, Bound, Mask>) {
    const T* const p = static_cast<const T*>(args_.pointers[Slot]);
    const std::int64_t coef = resolve(Coef, args_.sizes), bound = resolve(Bound, args_.sizes);
    const auto gather = [=, this](int lane, std::int64_t offset) {
      bool lit = bound > 0;
      if constexpr (Mask >= 0) lit = lit && value<Mask>(lane);
      if (!lit) return compute_t<T>();
      std::int64_t index = static_cast<std::int64_t>(value<Index>(lane));
      if (index < 0) index += bound;
      // An index out of range is the user's mistake and its result unspecified; memory stays untouched by it.
      index = index < 0 ? 0 : index < bound ? index : bound - 1;
      return widen(p[offset + coef * index]);
    };
    if constexpr (where<N> == residence::uniform) at_slot<N>() = gather(0, offset<At>());
    else
      runs<At>([gather, out = at_slot<N>()](int first, int count, std::int64_t offset, auto step) {
        for (int i = 0; i < count; ++i) out[first + i] = gather(first + i, offset + i * std::int64_t(step));
        keep_stores();
      });
  }

  template <int N, int Slot, class T>
  void evaluate(scalar<Slot, T>) {
    if constexpr (std::is_floating_point_v<compute_t<T>>)
      at_slot<N>() = static_cast<compute_t<T>>(args_.scalars[Slot].d);
    else at_slot<N>() = static_cast<compute_t<T>>(args_.scalars[Slot].i);
  }
  template <int N, class T, long Bits>
  void evaluate(constant<T, Bits>) {
    if constexpr (std::is_floating_point_v<compute_t<T>>)
      at_slot<N>() = static_cast<compute_t<T>>(__builtin_bit_cast(double, Bits));
    else at_slot<N>() = static_cast<compute_t<T>>(Bits);
  }
  template <int N, class T>
  void evaluate(row_length<T>) {
    at_slot<N>() = static_cast<compute_t<T>>(args_.rnumel);
  }
  template <int N, class At>
  void evaluate(index_value<At>) {
    each_offset<N, At>([](std::int64_t offset) { return offset; });
  }
  template <int N, class At, long Low, long High>
  void evaluate(inside<At, Low, High>) {
    const std::int64_t low = resolve(Low, args_.sizes), high = resolve(High, args_.sizes);
    each_offset<N, At>([=](std::int64_t offset) { return sinter::math::both(low <= offset, offset < high); });
  }
  template <int N, class At, class F>
  void each_offset(F f) {
    if constexpr (where<N> == residence::uniform) at_slot<N>() = f(offset<At>());
    else
      runs<At>([f, out = at_slot<N>()](int first, int count, std::int64_t offset, auto step) {
        for_lanes(count, [=](int i) { out[first + i] = f(offset + i * std::int64_t(step)); });
      });
  }
  template <int N, int Which, class T>
  void evaluate(accumulator<Which, T>) {
    if constexpr (where<N> == residence::memory) at_slot<N>() = static_cast<const compute_t<T>*>(accumulators_[Which]);
    else  // integers: their sums are 64 bits wide
      fill<N>([sums = static_cast<const std::uint64_t*>(accumulators_[Which])](int i) {
        return convert<T, std::int64_t>(static_cast<std::int64_t>(sums[i]));
      });
  }

  // ---- computation ----

  template <int N, class Op, class T, class Result, int A, int B, int C>
  void evaluate(compute<Op, T, Result, A, B, C> s) {
    fill<N>([this, s](int i) { return result(s, i); });
  }
  template <int N, class From, class To, int A>
  void evaluate(cast_to<From, To, A> s) {
    fill<N>([this, s](int i) { return result(s, i); });
  }
  template <int N, class From, class To, int A>
  void evaluate(widen_to<From, To, A> s) {
    fill<N>([this, s](int i) { return result(s, i); });
  }

  template <class Op, class T, class Result, int A, int B, int C>
  [[gnu::always_inline]] compute_t<Result> result(compute<Op, T, Result, A, B, C>, int i) const {
    if constexpr (C >= 0) return static_cast<compute_t<Result>>(Op::apply(value<A>(i), value<B>(i), value<C>(i)));
    else if constexpr (B >= 0) return static_cast<compute_t<Result>>(Op::apply(value<A>(i), value<B>(i)));
    else return static_cast<compute_t<Result>>(Op::apply(value<A>(i)));
  }
  template <class From, class To, int A>
  [[gnu::always_inline]] compute_t<To> result(cast_to<From, To, A>, int i) const {
    return widen(narrow<To>(convert<To, From>(value<A>(i))));
  }
  template <class From, class To, int A>
  [[gnu::always_inline]] compute_t<To> result(widen_to<From, To, A>, int i) const {
    return convert<To, From>(value<A>(i));
  }

  template <int N, class Op, class T, class Result, int A>
  void evaluate(scan<Op, T, Result, A> s) {
    const auto operand = [this](int i) { return value<A>(i); };
    scan_block<V, lanes>(state_of<N>(scans_, s), operand, at_slot<N>(), r_, count_);
  }

  // ---- sinks ----

  template <int N, int Slot, class T, int A, class At, int Mask>
  void evaluate(store<Slot, T, A, At, Mask>) {
    T* const p = static_cast<T*>(args_.pointers[Slot]);
    const coverage lit = covered<Mask>();
    if (lit == coverage::none) return;
    if constexpr (!layout_type::facts.varies[N]) {
      p[offset<At>()] = narrow<T>(value<A>(0));
    } else {
      if (lit == coverage::all)
        runs<At>([this, p](int first, int count, std::int64_t offset, auto step) {
          write_run(p + offset, count, step, [this, first](int i) { return value<A>(first + i); });
        });
      else if constexpr (Mask >= 0)
        runs<At>([this, p](int first, int count, std::int64_t offset, auto step) {
          for (int i = 0; i < count; ++i)
            if (value<Mask>(first + i)) p[offset + i * std::int64_t(step)] = narrow<T>(value<A>(first + i));
          keep_stores();
        });
    }
  }

  template <int N, int Slot, class T, int A, class At, int Index, long Coef, long Bound, int Mask>
  void evaluate(scatter_store<Slot, T, A, At, Index, Coef, Bound, Mask>) {
    T* const p = static_cast<T*>(args_.pointers[Slot]);
    const std::int64_t coef = resolve(Coef, args_.sizes), bound = resolve(Bound, args_.sizes);
    const auto scatter = [=, this](int lane, std::int64_t offset) {
      if constexpr (Mask >= 0)
        if (!value<Mask>(lane)) return;
      std::int64_t index = static_cast<std::int64_t>(value<Index>(lane));
      if (index < 0) index += bound;
      if (index >= 0 && index < bound) p[offset + coef * index] = narrow<T>(value<A>(lane));
    };
    if constexpr (!layout_type::facts.varies[N]) scatter(0, offset<At>());
    else
      runs<At>([scatter](int first, int count, std::int64_t offset, auto step) {
        for (int i = 0; i < count; ++i) scatter(first + i, offset + i * std::int64_t(step));
        keep_stores();
      });
  }

  template <int N, class Op, class T, class Result, int A>
  void fold(reduce<Op, T, Result, A>, running_folds& f) {
    auto* const states = states_of<N>(f);
    if constexpr (V == loop_var::x) {
      for_lanes(count_, [this, states](int i) { Op::template step<compute_t<T>>(states[i], value<A>(i), r_); });
    } else {
      // Lane j folds the elements whose r is j modulo `states`, whatever the block.
      const auto step = [this, states](int lane, int i) {
        Op::template step<compute_t<T>>(states[lane], value<A>(i), r_ + i);
      };
      int first = 0;
      for (; first + evaluator_of::states <= count_; first += evaluator_of::states)
        for_lanes(evaluator_of::states, [=](int lane) { step(lane, first + lane); });
      for (int lane = 0; first + lane < count_; ++lane) step(lane, first + lane);
      keep_stores();
    }
  }

  template <int N, int Lanes>
  static auto* states_of(folds<indices, body_type, Lanes>& f) {
    return static_cast<fold_slot<N, statement<N>, Lanes>&>(f).states;
  }
  template <int N, int Lanes>
  static const auto* states_of(const folds<indices, body_type, Lanes>& f) {
    return static_cast<const fold_slot<N, statement<N>, Lanes>&>(f).states;
  }
  template <int P, int N, class Statement>
  static void clear_fold(running_folds& f) {
    if constexpr (reduces<P, N>) {
      using fold = typename fold_slot<N, Statement, states>::fold;
      for_lanes(states, [s = states_of<N>(f)](int i) { s[i] = fold::init(); });
    }
  }
  template <int P, int N, class Statement>
  static void collect_fold(running_folds& f, finished_folds& into, int used) {
    if constexpr (reduces<P, N>) {
      using fold = typename fold_slot<N, Statement, states>::fold;
      auto* const s = states_of<N>(f);
      if constexpr (V == loop_var::r)
        for (int half = states / 2; half > 0; half /= 2)
          if (used > half) for_lanes(half, [s, half](int i) { s[i] = fold::combine(s[i], s[i + half]); });
      for_lanes(V == loop_var::r ? 1 : used, [s, to = states_of<N>(into)](int i) { to[i] = s[i]; });
    }
  }
  template <int P, int N, class Statement>
  static void combine_fold(finished_folds& into, const finished_folds& more, int used) {
    if constexpr (reduces<P, N>) {
      using fold = typename fold_slot<N, Statement, results>::fold;
      for_lanes(V == loop_var::r ? 1 : used,
                [to = states_of<N>(into), from = states_of<N>(more)](int i) { to[i] = fold::combine(to[i], from[i]); });
    }
  }
  template <int P, int N, class Statement>
  void finish_fold(const finished_folds& f) {
    if constexpr (reduces<P, N>) {
      using fold = typename fold_slot<N, Statement, results>::fold;
      fill<N>([s = states_of<N>(f)](int i) { return static_cast<value_type<N>>(fold::finish(s[i])); });
    }
  }

  template <int N, class Statement>
  void export_result(row_results* to, int rows) const {
    if constexpr (kind<N> == statement_kind::reduce)
      for_lanes(rows, [this, to](int i) { static_cast<result_slot<N, Statement>&>(to[i]).value = value<N>(i); });
  }
  template <int N, class Statement>
  void import_result(const row_results* from) {
    if constexpr (kind<N> == statement_kind::reduce)
      fill<N>([from](int i) { return static_cast<const result_slot<N, Statement>&>(from[i]).value; });
  }

  const Args& args_;
  const void* accumulators_[2] = {};
  std::int64_t x_ = 0, r_ = 0;
  int count_ = 0;
  scan_states scans_;
};

}  // namespace sinter::cpu::detail
