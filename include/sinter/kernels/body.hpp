// The lowered body: facts that follow from its list of statements alone (scopes, phases, what each phase needs). How to
// loop is the kernels' matter. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <utility>

#include "sinter/base/config.hpp"
#include "sinter/base/dtype.hpp"
#include "sinter/base/loop_var.hpp"
#include "sinter/kernels/statements.hpp"

namespace sinter {

// ---- facts about index expressions ----------------------------------------------------------------------------------

namespace detail {

template <class Sizes>
SINTER_HOST_DEVICE constexpr std::int64_t resolve(long value, const Sizes& sizes) {
  return is_dynamic(value) ? sizes[dynamic_slot(value)] : value;
}

template <class Term>
struct term_facts;
template <loop_var V, long Div, long Mod, long Coef>
struct term_facts<term<V, Div, Mod, Coef>> {
  static constexpr loop_var variable = V;
  static constexpr long div = Div, mod = Mod, coef = Coef;
  /// The term's value for linear index `i` (of type Index, 32 or 64 bit).
  template <class Index, class Sizes>
  SINTER_HOST_DEVICE static Index value(Index i, const Sizes& sizes) {
    if constexpr (Div != 1) i /= static_cast<Index>(resolve(Div, sizes));
    if constexpr (Mod != 0) i %= static_cast<Index>(resolve(Mod, sizes));
    if constexpr (Coef == 1) return i;
    else return i * static_cast<Index>(resolve(Coef, sizes));
  }
};

template <class At>
struct at_facts;
template <long Offset, class... Terms>
struct at_facts<at<Offset, Terms...>> {
  static constexpr int size = sizeof...(Terms);
  static constexpr bool uses([[maybe_unused]] loop_var v) {
    return ((term_facts<Terms>::variable == v) || ... || false);
  }

  /// The element offset at (x, r). Index is a signed 32- or 64-bit type wide enough for every offset.
  template <class Index, class Sizes>
  SINTER_HOST_DEVICE static Index offset([[maybe_unused]] Index x, [[maybe_unused]] Index r, const Sizes& sizes) {
    Index sum = static_cast<Index>(resolve(Offset, sizes));
    ((sum += term_facts<Terms>::value(term_facts<Terms>::variable == loop_var::x ? x : r, sizes)), ...);
    return sum;
  }

  /// The offset moves by this much when v goes from a multiple of `width` to its successor, for every step inside
  /// [multiple, multiple + width): 0 uniform, 1 contiguous, other strides as they are; `irregular` if it is not
  /// constant.
  static constexpr long irregular = -(1L << 60);
  static constexpr long step([[maybe_unused]] loop_var v, [[maybe_unused]] long width) {
    long total = 0;
    bool regular = true;
    (
        [&] {
          using t = term_facts<Terms>;
          if (t::variable != v) return;
          if (t::div == 1) {
            if (t::mod != 0 && (is_dynamic(t::mod) || t::mod % width != 0)) regular = false;
            if (is_dynamic(t::coef)) regular = false;
            total += t::coef;
          } else if (is_dynamic(t::div) || t::div % width != 0) {
            regular = false;
          }
        }(),
        ...);
    return regular ? total : irregular;
  }
  /// True when the offset at every multiple of `width` of v (and anything of the other variable) is a multiple of it
  /// too.
  static constexpr bool aligned([[maybe_unused]] loop_var v, [[maybe_unused]] long width) {
    bool ok = !is_dynamic(Offset) && Offset % width == 0;
    (
        [&] {
          using t = term_facts<Terms>;
          if (t::variable == v && t::div == 1 && t::coef == 1) return;
          if (is_dynamic(t::coef) || t::coef % width != 0) ok = false;
        }(),
        ...);
    return ok;
  }
};

// ---- facts about one statement --------------------------------------------------------------------------------------

enum class statement_kind : unsigned char { source, compute, reduce, scan, store, yield };

struct statement_info {
  statement_kind kind = statement_kind::source;
  int operands[4] = {-1, -1, -1, -1};
  bool reads_r = false;  // its index expression uses r, or it is a scan
  bool reads_x = false;  // the same of x
};

template <class Statement>
struct statement_facts;
template <int Slot, class T, class At, int Mask>
struct statement_facts<load<Slot, T, At, Mask>> {
  static constexpr statement_info info{
      statement_kind::source, {Mask, -1, -1, -1}, at_facts<At>::uses(loop_var::r), at_facts<At>::uses(loop_var::x)};
  using value_type = compute_t<T>;
};
template <int Slot, class T, class At, int Index, long Coef, long Bound, int Mask>
struct statement_facts<gather_load<Slot, T, At, Index, Coef, Bound, Mask>> {
  static constexpr statement_info info{
      statement_kind::source, {Index, Mask, -1, -1}, at_facts<At>::uses(loop_var::r), at_facts<At>::uses(loop_var::x)};
  using value_type = compute_t<T>;
};
template <int Slot, class T>
struct statement_facts<scalar<Slot, T>> {
  static constexpr statement_info info{};
  using value_type = compute_t<T>;
};
template <class T, long Bits>
struct statement_facts<constant<T, Bits>> {
  static constexpr statement_info info{};
  using value_type = compute_t<T>;
};
template <class T>
struct statement_facts<row_length<T>> {
  static constexpr statement_info info{};
  using value_type = compute_t<T>;
};
template <class At>
struct statement_facts<index_value<At>> {
  static constexpr statement_info info{
      statement_kind::source, {-1, -1, -1, -1}, at_facts<At>::uses(loop_var::r), at_facts<At>::uses(loop_var::x)};
  using value_type = std::int64_t;
};
template <class At, long Low, long High>
struct statement_facts<inside<At, Low, High>> {
  static constexpr statement_info info{
      statement_kind::source, {-1, -1, -1, -1}, at_facts<At>::uses(loop_var::r), at_facts<At>::uses(loop_var::x)};
  using value_type = bool;
};
template <class Op, class T, class Result, int A, int B, int C>
struct statement_facts<compute<Op, T, Result, A, B, C>> {
  static constexpr statement_info info{statement_kind::compute, {A, B, C, -1}};
  using value_type = compute_t<Result>;
};
template <class From, class To, int A>
struct statement_facts<cast_to<From, To, A>> {
  static constexpr statement_info info{statement_kind::compute, {A, -1, -1, -1}};
  using value_type = compute_t<To>;
};
template <class From, class To, int A>
struct statement_facts<widen_to<From, To, A>> {
  static constexpr statement_info info{statement_kind::compute, {A, -1, -1, -1}};
  using value_type = compute_t<To>;
};
template <class Op, class T, class Result, int A>
struct statement_facts<reduce<Op, T, Result, A>> {
  static constexpr statement_info info{statement_kind::reduce, {A, -1, -1, -1}};
  using value_type = compute_t<Result>;
};
template <class Op, class T, class Result, int A>
struct statement_facts<scan<Op, T, Result, A>> {
  static constexpr statement_info info{statement_kind::scan, {A, -1, -1, -1}, true, true};
  using value_type = compute_t<Result>;
};
template <int Slot, class T, int A, class At, int Mask>
struct statement_facts<store<Slot, T, A, At, Mask>> {
  static constexpr statement_info info{
      statement_kind::store, {A, Mask, -1, -1}, at_facts<At>::uses(loop_var::r), at_facts<At>::uses(loop_var::x)};
  using value_type = void;
};
template <int Slot, class T, int A, class At, int Index, long Coef, long Bound, int Mask>
struct statement_facts<scatter_store<Slot, T, A, At, Index, Coef, Bound, Mask>> {
  static constexpr statement_info info{
      statement_kind::store, {A, Index, Mask, -1}, at_facts<At>::uses(loop_var::r), at_facts<At>::uses(loop_var::x)};
  using value_type = void;
};
template <int Which, class T>
struct statement_facts<accumulator<Which, T>> {
  static constexpr statement_info info{statement_kind::source, {-1, -1, -1, -1}, false, true};
  using value_type = compute_t<T>;
};
template <class T, int A>
struct statement_facts<yield_value<T, A>> {
  static constexpr statement_info info{statement_kind::yield, {A, -1, -1, -1}};
  using value_type = compute_t<T>;
};

}  // namespace detail

enum class scope : unsigned char { row, element };

namespace detail {

template <int I, class S>
struct numbered_statement {
  using type = S;
};
template <class Body, class Numbers = std::make_index_sequence<Body::size>>
struct numbered_statements;
template <class... S, std::size_t... I>
struct numbered_statements<body<S...>, std::index_sequence<I...>> : numbered_statement<static_cast<int>(I), S>... {};
template <int I, class S>
numbered_statement<I, S> statement_at(numbered_statement<I, S>);

/// Statement I of a body; a class, so that each is looked for once.
template <class Body, int I>
struct statement {
  using type = typename decltype(statement_at<I>(numbered_statements<Body>{}))::type;
};
template <class Body, int I>
using statement_of = typename statement<Body, I>::type;

/// Some numbers of up to `Most` statements; List::facts is one, listed<List> its numbers as a sequence of integers.
template <int Most>
struct number_list {
  int count = 0, of[Most + 1]{};
  constexpr void add(int number) { of[count++] = number; }
};
template <class List, std::size_t... K>
std::integer_sequence<int, List::facts.of[K]...> list_numbers(std::index_sequence<K...>);
template <class List>
using listed = decltype(list_numbers<List>(std::make_index_sequence<List::facts.count>{}));

}  // namespace detail

// ---- facts about a body ---------------------------------------------------------------------------------------------

/// Scopes and phases of a body.
///
/// A reduction kernel runs phases 0 … num_phases-1, then the tail. Phase p:
///   1. row statements with phase(s) == p, in order (all operands are known by then);
///   2. one loop over r that evaluates the element statements `needed(p, s)`, in order; reductions with phase(s) == p
///      accumulate, element stores with phase(s) == p store;
///   3. the reductions of phase p finish: their values are row values from phase p+1 on.
/// The tail runs row statements with phase(s) == num_phases. A kernel that keeps a row on chip may keep the value of an
/// element statement from its own phase(s) instead of evaluating it again.
/// A scan is an element statement whose value at r depends on the elements before: each loop over r that needs it goes
/// upwards, or knows otherwise what came before.
/// A pointwise body has no reduction and no r: everything is one loop over x.
template <class Body>
struct body_facts;
template <class... S>
struct body_facts<body<S...>> {
  static constexpr int size = sizeof...(S);

  struct table {
    detail::statement_info info[size > 0 ? size : 1]{};
    scope where[size > 0 ? size : 1]{};
    int phase[size > 0 ? size : 1]{};  // the phase in which the statement runs
    bool has_reduction = false;        // of r, or scans along it
    bool has_scan = false;
    int num_phases = 0;  // loops over r
  };

  static constexpr table facts = [] {
    table t{};
    const detail::statement_info all[] = {detail::statement_facts<S>::info..., detail::statement_info{}};
    int ready[size + 1] = {};  // the phase from which a value may be used
    for (int s = 0; s < size; ++s) {
      t.info[s] = all[s];
      bool element = all[s].reads_r;
      int p = 0;
      for (int operand : all[s].operands) {
        if (operand < 0) continue;
        if (t.where[operand] == scope::element && t.info[operand].kind != detail::statement_kind::reduce)
          element = true;
        if (ready[operand] > p) p = ready[operand];
      }
      const bool is_reduce = all[s].kind == detail::statement_kind::reduce;
      t.where[s] = is_reduce || !element ? scope::row : scope::element;
      t.phase[s] = p;
      ready[s] = is_reduce ? p + 1 : p;
      t.has_scan = t.has_scan || all[s].kind == detail::statement_kind::scan;
      t.has_reduction = t.has_reduction || t.has_scan || is_reduce;
      const bool in_loop = is_reduce || t.where[s] == scope::element;
      if (in_loop && p + 1 > t.num_phases) t.num_phases = p + 1;
    }
    return t;
  }();

  /// What each phase needs; apart from the other facts, which compilers copy whenever a constant reads one of them.
  struct needs {
    bool of[facts.num_phases + 1][size + 1]{};
  };
  /// The same if phases from number `since` on find the value of statement `known`.
  static constexpr needs needs_beside(int known, int since) {
    needs n{};
    for (int p = 0; p < facts.num_phases; ++p)
      for (int s = size - 1; s >= 0; --s) {
        const auto kind = facts.info[s].kind;
        const bool sink =
            facts.phase[s] == p && (kind == detail::statement_kind::reduce ||
                                    (facts.where[s] == scope::element &&
                                     (kind == detail::statement_kind::store || kind == detail::statement_kind::yield)));
        if (sink) n.of[p][s] = true;
        if (!n.of[p][s] || (s == known && p >= since)) continue;
        for (int operand : facts.info[s].operands)
          if (operand >= 0 && facts.where[operand] == scope::element) n.of[p][operand] = true;
      }
    return n;
  }
  static constexpr needs needs_of_phases = needs_beside(-1, 0);

  static constexpr bool has_reduction = facts.has_reduction;
  static constexpr bool has_scan = facts.has_scan;
  static constexpr int num_phases = facts.num_phases;
  static constexpr scope where(int s) { return facts.where[s]; }
  static constexpr int phase(int s) { return facts.phase[s]; }
  static constexpr bool needed(int p, int s) { return needs_of_phases.of[p][s]; }
};

}  // namespace sinter
