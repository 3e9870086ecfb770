// Evaluates a body on the host, a block of lanes at a time: statement after statement, each one simple loop over arrays
// that stay in the L1 cache. Loops over blocks, rows and phases are the kernels' matter (pointwise, reduction, matmul).
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "sinter/base/dtype.hpp"
#include "sinter/kernels/body.hpp"
#include "sinter/kernels/host/ahead.hpp"
#include "sinter/kernels/host/lanes.hpp"
#include "sinter/kernels/host/layout.hpp"
#include "sinter/kernels/host/quotient.hpp"
#include "sinter/kernels/host/reduction_states.hpp"
#include "sinter/kernels/host/scan.hpp"
#include "sinter/kernels/host/storage.hpp"
#include "sinter/kernels/host/tile.hpp"
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
    : public reduction_states<std::integer_sequence<int, I...>, body<S...>, V>,
      public ahead<std::integer_sequence<int, I...>, body<S...>, V, Args, Aligned>,
      slot<I, S, layout<body<S...>, V, Aligned>::facts.where[I], lanes_of<body<S...>>>...,
      tile_slot<I, S, crosses<S, body<S...>, Aligned>>... {
 public:
  using body_type = body<S...>;
  using facts = body_facts<body_type>;
  using indices = std::integer_sequence<int, I...>;
  using layout_type = layout<body_type, V, Aligned>;
  using base = ahead<indices, body_type, V, Args, Aligned>;
  using base::lanes, base::seat;
  using reductions = reduction_states<indices, body_type, V>;
  using running_folds = typename reductions::running_folds;
  using finished_folds = typename reductions::finished_folds;
  using row_results = typename reductions::row_results;
  template <int N>
  using statement = typename base::template statement<N>;

  explicit evaluator_of(const Args& args) : base(args) { (prepare<I>(), ...); }
  evaluator_of(const evaluator_of&) = delete;
  ~evaluator_of() {
    if (has_streamed_) finish_streams();
  }

  /// Whole rows pass here, one after the other: what is costly is computed once, if a row is not too long.
  void keep_rows() { keeps_ = args_.rnumel <= longest_kept_row; }

  /// Whether the loads that cross rows move by one from row to row all the way to x + (rows - 1) * columns.
  bool moves_by_one(std::int64_t x, std::int64_t columns, int rows) const {
    return (row_to_row<S>::holds(x, x + (rows - 1) * columns, rows - 1, args_.sizes) && ...);
  }
  /// Turns what they read for so many rows of `count` columns at x; blocks of these are then evaluated from that.
  void turn_rows(std::int64_t x, int count, int rows) {
    seat(x, 0, count);
    (turn_load<I>(S{}, rows), ...);
  }
  /// Lanes of a row of those, from so many columns on.
  void seat_in_square(std::int64_t x, int count, int row, int column) {
    seat(x, 0, count);
    row_ = row;
    column_ = column;
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

  /// The results of phase P's reductions as row values, and those of a row's to and from memory; `rows` of them where
  /// lanes run along x.
  template <int P>
  void finish(const finished_folds& f) {
    (finish_fold<P, I, S>(f), ...);
  }
  void export_results(row_results* to, int rows) const { (export_result<I, S>(to, rows), ...); }
  void import_results(const row_results* from) { (import_result<I, S>(from), ...); }

  /// What the scans have folded so far.
  using scan_states = scans_of<indices, body_type, reductions::results>;
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

  template <int N>
  using value_type = typename statement_facts<statement<N>>::value_type;

  /// The value of statement N at a lane of the block.
  template <int N>
  [[gnu::always_inline]] auto value(int lane) const {
    if constexpr (where<N> == residence::uniform) return static_cast<value_type<N>>(at_slot<N>());
    else if constexpr (where<N> == residence::lanes || where<N> == residence::kept) return at_slot<N>()[lane];
    else if constexpr (where<N> == residence::memory) return widen(at_slot<N>()[lane]);
    else return result(statement<N>{}, lane);
  }

 private:
  using base::args_, base::x_, base::r_, base::count_;
  template <class At>
  std::int64_t offset() const {
    return base::template offset<At>();
  }
  template <class At, class F>
  [[gnu::always_inline]] void runs(F f) const {
    base::template runs<At>(f);
  }

  template <int N>
  static constexpr residence where = layout_type::facts.where[N];
  template <int N>
  static constexpr statement_kind kind = facts::facts.info[N].kind;

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
                  (P < 0 || facts::phase(N) == P)) {
      if constexpr (facts::num_phases == 0) base::template look_ahead<N>(ahead_bytes);
      evaluate<N>(statement<N>{});
    }
  }
  template <int P, int N>
  void element_step(running_folds& f) {
    if constexpr (facts::needed(P, N)) {
      if constexpr (V == loop_var::r) base::template look_ahead_in<P, N>();
      else base::template look_ahead_down<N>();
      if constexpr (kind<N> == statement_kind::reduce) fold<N>(statement<N>{}, f);
      else if (where<N> == residence::kept && facts::phase(N) < P && keeps_) point_to_row<N>();
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
    if constexpr (where<N> == residence::kept) point_to_row<N>();
    if constexpr (where<N> == residence::uniform) at_slot<N>() = value(0);
    else if constexpr (where<N> == residence::lanes || where<N> == residence::kept)
      for_lanes(count_, [out = at_slot<N>(), value](int i) { out[i] = value(i); });
  }
  /// Where the kept values of this block lie, or are computed again and again.
  template <int N>
  void point_to_row() {
    if constexpr (where<N> == residence::kept)
      at_slot<N>() = row_memory<value_type<N>, N>(keeps_ ? args_.rnumel : lanes) + (keeps_ ? r_ : 0);
  }
  template <int Mask>
  static constexpr bool differs = [] {  // from lane to lane
    if constexpr (Mask < 0) return false;
    else return where<Mask> != residence::uniform;
  }();
  /// All lanes, none, or some where Mask is true.
  enum class coverage { none, some, all };
  template <int Mask>
  coverage covered() const {
    if constexpr (Mask < 0) {
      return coverage::all;
    } else if constexpr (differs<Mask>) {
      if (end_of_run(at_slot<Mask>(), 0, count_) < count_) return coverage::some;
      return at_slot<Mask>()[0] ? coverage::all : coverage::none;
    } else {
      return at_slot<Mask>() ? coverage::all : coverage::none;
    }
  }

  template <int N, int Slot, class T, class At, int Mask>
  void evaluate(load<Slot, T, At, Mask>) {
    const T* const p = static_cast<const T*>(args_.pointers[Slot]);
    if constexpr (where<N> == residence::memory) {
      at_slot<N>() = covered<Mask>() == coverage::all ? p + offset<At>() : zeros<T, lanes>;
    } else {
      if constexpr (crosses<statement<N>, body_type, Aligned>)
        if (turned<N>() != nullptr)
          return read_run(at_slot<N>(), turned<N>() + row_ * turned_stride<T> + column_, count_, fixed_step<1>{});
      const coverage lit = covered<Mask>();
      point_to_row<N>();
      if (lit == coverage::none) fill<N>([](int) { return compute_t<T>(); });
      else if constexpr (where<N> == residence::uniform) at_slot<N>() = widen(p[offset<At>()]);
      else if (lit == coverage::all)
        runs<At>([out = at_slot<N>(), p](int first, int count, std::int64_t offset, auto step) {
          read_run(out + first, p + offset, count, step);
        });
      else if constexpr (differs<Mask>)
        runs<At>(
            [lanes = at_slot<Mask>(), out = at_slot<N>(), p](int first, int count, std::int64_t offset, auto step) {
              for_equal(lanes + first, count, [=](int i, int n, bool lit) {
                if (lit) read_run(out + first + i, p + offset + i * std::int64_t(step), n, step);
                else for_lanes(n, [to = out + first + i](int j) { to[j] = compute_t<T>(); });
              });
            });
    }
  }

  template <int N>
  auto& turned() {
    return static_cast<tile_slot<N, statement<N>, true>&>(*this).turned;
  }
  template <int N, class Statement>
  void turn_load(Statement, int) {}
  template <int N, int Slot, class T, class At>
  void turn_load(load<Slot, T, At, -1>, int rows) {
    if constexpr (crosses<statement<N>, body_type, Aligned>) {
      T* const to = row_memory<T, N>(square * turned_stride<T>);
      const T* const p = static_cast<const T*>(args_.pointers[Slot]);
      runs<At>([=](int first, int count, std::int64_t offset, auto step) {
        turn(to + first, turned_stride<T>, p + offset, step, count, rows);
      });
      turned<N>() = to;
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
      base::template one_by_one<At>(
          [gather, out = at_slot<N>()](int i, std::int64_t offset) { out[i] = gather(i, offset); });
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
    if constexpr (where<N> == residence::uniform) at_slot<N>() = offset<At>();
    else
      runs<At>([out = at_slot<N>()](int first, int count, std::int64_t offset, auto step) {
        for_lanes(count, [=](int i) { out[first + i] = offset + i * std::int64_t(step); });
      });
  }
  template <int N, class At, long Low, long High>
  void evaluate(inside<At, Low, High>) {
    const std::int64_t low = resolve(Low, args_.sizes), high = resolve(High, args_.sizes);
    if constexpr (where<N> == residence::uniform) at_slot<N>() = low <= offset<At>() && offset<At>() < high;
    else
      runs<At>([=, out = at_slot<N>()](int first, int count, std::int64_t offset, auto step) {
        fill_inside(out + first, count, offset, step, low, high);
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
    constexpr bool is_root = Op::id == op::sqrt || Op::id == op::rsqrt;
    if constexpr (is_root && where<N> == residence::lanes) {
      if constexpr (where<A> == residence::lanes) {
        take_roots(at_slot<N>(), at_slot<A>(), count_);
      } else {
        fill<N>([this](int i) { return value<A>(i); });
        take_roots(at_slot<N>(), at_slot<N>(), count_);
      }
      if constexpr (Op::id == op::rsqrt) fill<N>([p = at_slot<N>()](int i) { return value_type<N>(1) / p[i]; });
    } else {
      fill<N>([this, s](int i) { return result(s, i); });
    }
  }
  template <int N, class Conversion>
  void evaluate(Conversion s) {
    fill<N>([this, s](int i) { return result(s, i); });
  }

  template <class Op, class T, class Result, int A, int B, int C>
  [[gnu::always_inline]] compute_t<Result> result(compute<Op, T, Result, A, B, C>, int i) const {
    constexpr bool by_one = [] {
      if constexpr (Op::id == op::div) return where<B> == residence::uniform && where<A> != residence::uniform;
      else return false;
    }();
    if constexpr (by_one && std::is_same_v<compute_t<T>, float>)
      return static_cast<compute_t<Result>>(divide_by_same(value<A>(i), value<B>(i)));
    else if constexpr (C >= 0) return static_cast<compute_t<Result>>(Op::apply(value<A>(i), value<B>(i), value<C>(i)));
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

  template <int N>
  void prepare() {
    if constexpr (streaming<statement<N>>::is_possible) at_slot<N>() = streaming<statement<N>>::of(body_type{}, args_);
  }
  template <int A, class T>
  [[gnu::noinline]] void stream_lanes(T* to, int first, int count) {
    // Few lines at once: past what the processor buffers, computing waits for the memory.
    constexpr int part = 8 * line_bytes / static_cast<int>(sizeof(T));
    alignas(line_bytes) T stage[part];
    for (int done = 0, length = 0; done < count; done += length) {
      // Up to the end of a line: none but the first and the last one of all is written in parts.
      const auto past = reinterpret_cast<std::uintptr_t>(to + done) % line_bytes / sizeof(T);
      length = part - static_cast<int>(past);
      if (length > count - done) length = count - done;
      write_run(stage, length, fixed_step<1>{}, [this, from = first + done](int i) { return value<A>(from + i); });
      stream_run(to + done, stage, length);
    }
    has_streamed_ = true;
  }
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
          if (at_slot<N>() && step == 1) stream_lanes<A>(p + offset, first, count);
          else write_run(p + offset, count, step, [this, first](int i) { return value<A>(first + i); });
        });
      else if constexpr (differs<Mask>)
        runs<At>([this, p](int first, int count, std::int64_t offset, auto step) {
          for_equal(at_slot<Mask>() + first, count, [=, this](int i, int n, bool lit) {
            if (lit)
              write_run(p + offset + i * std::int64_t(step), n, step,
                        [this, from = first + i](int j) { return value<A>(from + j); });
          });
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
    else base::template one_by_one<At>(scatter);
  }

  template <int N, class Op, class T, class Result, int A>
  void fold(reduce<Op, T, Result, A>, running_folds& f) {
    if constexpr (V == loop_var::x) {
      auto* const states = reductions::template states_of<N, statement<N>>(f);
      for_lanes(count_, [this, states](int i) { Op::template step<compute_t<T>>(states[i], value<A>(i), r_); });
    } else {
      reductions::template fold_of<N, statement<N>>(f).add(count_, r_, [this](int i) { return value<A>(i); });
    }
  }

  template <int P, int N, class Statement>
  void finish_fold(const finished_folds& f) {
    if constexpr (reductions::template reduces<P, N>) {
      using fold = typename fold_slot<N, Statement, reductions::results>::fold;
      fill<N>([s = reductions::template states_of<N, Statement>(f)](int i) {
        return static_cast<value_type<N>>(fold::finish(s[i]));
      });
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

  const void* accumulators_[2] = {};
  int row_ = 0, column_ = 0;
  bool keeps_ = false, has_streamed_ = false;
  scan_states scans_;
};

}  // namespace sinter::cpu::detail

SINTER_END_WIDE_VECTORS
