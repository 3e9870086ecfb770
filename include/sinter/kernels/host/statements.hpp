// The statements of a body on the host: each one is a simple loop over a block of lanes, from arrays to arrays that
// stay in the L1 cache. Which of them run when is evaluate.hpp's matter. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "sinter/base/dtype.hpp"
#include "sinter/kernels/body.hpp"
#include "sinter/kernels/host/gather.hpp"
#include "sinter/kernels/host/lanes.hpp"
#include "sinter/kernels/host/layout.hpp"
#include "sinter/kernels/host/quick.hpp"
#include "sinter/kernels/host/quotient.hpp"
#include "sinter/kernels/host/reduction_states.hpp"
#include "sinter/kernels/host/runs.hpp"
#include "sinter/kernels/host/scan.hpp"
#include "sinter/kernels/host/storage.hpp"
#include "sinter/kernels/host/turned.hpp"
#include "sinter/kernels/host/width.hpp"

SINTER_WIDE_VECTORS

namespace sinter::cpu::detail {

/// The values of a body's statements at a block of lanes, and how each of them is computed.
template <class Indices, class Body, loop_var V, class Args, bool Aligned>
class statements;
template <int... I, class... S, loop_var V, class Args, bool Aligned>
class statements<std::integer_sequence<int, I...>, body<S...>, V, Args, Aligned>
    : public reduction_states<std::integer_sequence<int, I...>, body<S...>, V>,
      public turned<std::integer_sequence<int, I...>, body<S...>, V, Args, Aligned>,
      slot<I, S, layout<body<S...>, V, Aligned>::facts.where[I], lanes_of<body<S...>>>... {
 public:
  using body_type = body<S...>;
  using facts = body_facts<body_type>;
  using indices = std::integer_sequence<int, I...>;
  using layout_type = layout<body_type, V, Aligned>;
  using base = turned<indices, body_type, V, Args, Aligned>;
  using base::lanes, base::seat;
  using reductions = reduction_states<indices, body_type, V>;
  using running_folds = typename reductions::running_folds;
  template <int N>
  using statement = typename base::template statement<N>;

  explicit statements(const Args& args) : base(args) { (prepare<I>(), ...); }
  statements(const statements&) = delete;
  ~statements() {
    if (has_streamed_) finish_streams();
  }

  /// What the scans have folded so far.
  using scan_states = scans_of<indices, body_type, reductions::results>;
  scan_states& scans() { return scans_; }

  /// Where a matmul's sums for this block lie.
  void point_accumulators(const void* first, const void* second) {
    accumulators_[0] = first;
    accumulators_[1] = second;
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

 protected:
  using base::args_, base::x_, base::r_, base::count_;
  template <class At>
  std::int64_t offset() const {
    return base::template offset<At>();
  }
  template <class At, bool Masked = false, class F>
  [[gnu::always_inline]] void runs(F f) const {
    base::template runs<At, Masked ? short_masked_run : short_run>(f);
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

  // ---- sources ----

  /// Fills statement N with value(lane), or with value(0) if it is the same for all lanes.
  template <int N, class Value>
  [[gnu::always_inline]] void fill(Value value) {
    point_to_row<N>();
    if constexpr (where<N> == residence::uniform) at_slot<N>() = value(0);
    else if constexpr (where<N> == residence::lanes || where<N> == residence::kept)
      for_lanes(count_, [out = at_slot<N>(), value](int i) { out[i] = value(i); });
  }
  /// Where the kept values of this block lie, or are computed again and again.
  template <int N>
  void point_to_row() {
    if constexpr (where<N> == residence::kept) {
      const std::int64_t length = keeps_ ? (args_.rnumel + line_bytes - 1) / line_bytes * line_bytes : lanes;
      // What is computed beside the writing of the row before takes its place, block by block.
      const int number = facts::phase(N) + 2 == facts::num_phases ? 0 : number_;
      at_slot<N>() = row_memory<value_type<N>, N>(max_turns * length) + number * length + (keeps_ ? r_ : 0);
    }
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

  /// The lanes of Mask that are true; null where all are.
  template <int Mask>
  const bool* lit_lanes(coverage lit) const {
    if constexpr (differs<Mask>) return lit == coverage::all ? nullptr : at_slot<Mask>();
    else return nullptr;
  }

  template <int N, int Slot, class T, class At, int Mask>
  void evaluate(load<Slot, T, At, Mask>) {
    const T* const p = static_cast<const T*>(args_.pointers[Slot]);
    if constexpr (where<N> == residence::memory) {
      at_slot<N>() = covered<Mask>() == coverage::all ? p + offset<At>() : zeros<T, lanes>;
    } else {
      if constexpr (base::template turns<N>)
        if (const T* from = base::template turned_lanes<N>())
          return read_run(at_slot<N>(), from, count_, fixed_step<1>{});
      const coverage lit = covered<Mask>();
      point_to_row<N>();
      if (lit == coverage::none) fill<N>([](int) { return compute_t<T>(); });
      else if constexpr (where<N> == residence::uniform) at_slot<N>() = widen(p[offset<At>()]);
      else
        runs<At, differs<Mask>>(
            [p, lit = lit_lanes<Mask>(lit), out = at_slot<N>()](int first, int count, std::int64_t offset, auto step) {
              read_lit<differs<Mask>>(lit, out, p + offset, first, count, step);
            });
    }
  }

  template <int N, int Slot, class T, class At, int Index, long Coef, long Bound, int Mask>
  void evaluate(gather_load<Slot, T, At, Index, Coef, Bound, Mask>) {
    const T* const p = static_cast<const T*>(args_.pointers[Slot]);
    const indexed_axis axis{resolve(Bound, args_.sizes), resolve(Coef, args_.sizes)};
    const coverage lit = axis.extent > 0 ? covered<Mask>() : coverage::none;
    if (lit == coverage::none) return fill<N>([](int) { return compute_t<T>(); });
    if constexpr (where<N> == residence::uniform) {
      at_slot<N>() = widen(p[offset<At>() + axis.offset(static_cast<std::int64_t>(value<Index>(0)))]);
    } else {
      runs<At, differs<Mask>>([=, this, lit = lit_lanes<Mask>(lit), out = at_slot<N>()](
                                  int first, int count, std::int64_t offset, auto step) {
        if constexpr (where<Index> == residence::uniform)
          read_lit<differs<Mask>>(lit, out, p + offset + axis.offset(static_cast<std::int64_t>(value<Index>(0))), first,
                                  count, step);
        else gather_lit<differs<Mask>>(lit, out, p + offset, at_slot<Index>(), first, count, step, axis);
      });
    }
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
        for_lanes(count, [=](int i) { out[first + i] = offset + along(step, i); });
      });
  }
  template <int N, class At, long Low, long High>
  void evaluate(inside<At, Low, High>) {
    const std::int64_t low = resolve(Low, args_.sizes), high = resolve(High, args_.sizes);
    if constexpr (where<N> == residence::uniform) at_slot<N>() = low <= offset<At>() && offset<At>() < high;
    else
      runs<At, true>([=, out = at_slot<N>()](int first, int count, std::int64_t offset, auto step) {
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
    } else if constexpr (quick<Op, compute_t<T>>::exists && where<N> != residence::uniform) {
      point_to_row<N>();
      const auto known = [this](int i) { return result(compute<quick<Op, compute_t<T>>, T, Result, A, B, C>{}, i); };
      fill_quickly(at_slot<N>(), count_, known, [this, s](int i) { return result(s, i); });
    } else {
      fill<N>([this, s](int i) { return result(s, i); });
    }
  }
  template <int N, class Conversion>
  void evaluate(Conversion s) {
    fill<N>([this, s](int i) { return result(s, i); });
  }

  /// Is this a value less the greatest of its row?
  template <class Statement>
  static constexpr bool is_never_positive(Statement) {
    return false;
  }
  template <class T, int A, int B>
  static constexpr bool is_never_positive(compute<ops::sub, T, T, A, B>) {
    return std::is_same_v<statement<B>, reduce<ops::amax, T, T, A>>;
  }
  template <class Op, class T, class Result, int A, int B, int C>
  [[gnu::always_inline]] compute_t<Result> result(compute<Op, T, Result, A, B, C>, int i) const {
    constexpr bool by_one = [] {
      if constexpr (Op::id == op::div) return where<B> == residence::uniform && where<A> != residence::uniform;
      else return false;
    }();
    if constexpr (by_one && std::is_same_v<compute_t<T>, float>)
      return static_cast<compute_t<Result>>(divide_by_same(value<A>(i), value<B>(i)));
    else if constexpr (Op::id == op::exp && is_never_positive(statement<A>{}))
      return static_cast<compute_t<Result>>(math::falling_exp(value<A>(i)));
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
  bool is_streamed() const {
    if constexpr (streaming<statement<N>>::is_possible) return at_slot<N>();
    else return false;
  }

  template <int N>
  void prepare() {
    if constexpr (streaming<statement<N>>::is_possible) at_slot<N>() = streaming<statement<N>>::of(body_type{}, args_);
  }
  /// Past the cache, each line as soon as it is computed: of many at once the memory would not take all, and computing
  /// waits.
  template <int A, class T>
  [[gnu::noinline]] void stream_lanes(T* to, int first, int count) {
    constexpr int line = line_bytes / static_cast<int>(sizeof(T));
    const int head = static_cast<int>(-reinterpret_cast<std::uintptr_t>(to) % line_bytes / sizeof(T));
    const int whole = count < head ? 0 : (count - head) / line * line;
    if (whole != count) stream_parts<A>(to, first, count, head, whole);
    alignas(line_bytes) T values[line];
    for (int at = head; at < head + whole; at += line) {
      write_line<line>(values, [this, from = first + at](int i) { return value<A>(from + i); });
      stream_line(to + at, values);
    }
    has_streamed_ = true;
  }
  /// Of the first and the last line only a part may be ours.
  template <int A, class T>
  [[gnu::noinline]] void stream_parts(T* to, int first, int count, int head, int whole) {
    write_parts(to, count, head, whole, [this, first](int i) { return value<A>(first + i); });
  }
  template <int N, int Slot, class T, int A, class At, int Mask>
  void evaluate(store<Slot, T, A, At, Mask>) {
    T* const p = static_cast<T*>(args_.pointers[Slot]);
    if constexpr (base::template turns<N>)
      if (T* to = base::template turned_lanes<N>())
        return write_run(to, count_, fixed_step<1>{}, [this](int i) { return value<A>(i); });
    const coverage lit = covered<Mask>();
    if (lit == coverage::none) return;
    if constexpr (!layout_type::facts.varies[N]) {
      p[offset<At>()] = narrow<T>(value<A>(0));
    } else {
      runs<At, differs<Mask>>(
          [this, p, lit = lit_lanes<Mask>(lit)](int first, int count, std::int64_t offset, auto step) {
            const auto from = [this, first](int i) { return value<A>(first + i); };
            if constexpr (differs<Mask>)
              if (lit != nullptr) return write_lit(lit + first, p + offset, count, step, from);
            if (at_slot<N>() && step == 1) stream_lanes<A>(p + offset, first, count);
            else write_run(p + offset, count, step, from);
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
    auto& fold = reductions::template fold_of<N, statement<N>>(f);
    if constexpr (V == loop_var::x) fold.template add<1>(count_, r_, [this](int i, int) { return value<A>(i); });
    else fold.add(count_, r_, [this](int i) { return value<A>(i); });
  }

  const void* accumulators_[2] = {};
  int number_ = 0;
  bool keeps_ = false, has_streamed_ = false;
  scan_states scans_;
};

}  // namespace sinter::cpu::detail

SINTER_END_WIDE_VECTORS
