// What a kernel that holds rows evaluates in which phase, what waits in registers meanwhile, and what is known of the
// registers that its arithmetic takes. No CUDA header is needed here. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>

#include "sinter/base/op.hpp"
#include "sinter/kernels/cuda/access.hpp"

namespace sinter::cuda::detail {

template <class T>
inline constexpr int value_words = sizeof(T) > 4 ? 2 : 1;
template <>
inline constexpr int value_words<void> = 0;

/// Arithmetic whose registers come in pairs: the assembler, left to choose how many blocks run at once, may spill them.
template <class Body>
inline constexpr bool has_doubles = false;
template <class... S>
inline constexpr bool has_doubles<body<S...>> =
    (std::is_same_v<typename sinter::detail::statement_facts<S>::value_type, double> || ...);

template <class Op, class... Others>
inline constexpr bool is_one_of = (std::is_same_v<Op, Others> || ...);
/// Does a statement reduce, by one of these?
template <class S, class... Ops>
inline constexpr bool reduces_by = false;
template <class Op, class T, class Result, int A, class... Ops>
inline constexpr bool reduces_by<reduce<Op, T, Result, A>, Ops...> = is_one_of<Op, Ops...>;
template <class Op>
inline constexpr bool finds_extreme =
    sinter::detail::folds::finds_extreme<Op, true> || sinter::detail::folds::finds_extreme<Op, false>;
/// Does a statement look for a place, and among which 16-bit floating-point values? -1: it does not, or among others.
template <class S>
inline constexpr bool searches = false;
template <class Op, class T, class Result, int A>
inline constexpr bool searches<reduce<Op, T, Result, A>> = finds_extreme<Op>;
template <class S>
inline constexpr int searched_half = -1;
template <class Op, class T, class Result, int A>
inline constexpr int searched_half<reduce<Op, T, Result, A>> = finds_extreme<Op>&& is_one_of<T, bf16, f16> ? A : -1;
template <class S>
inline constexpr bool is_select = false;
template <class T, class Result, int A, int B, int C>
inline constexpr bool is_select<compute<ops::where, T, Result, A, B, C>> = true;
/// Functions and quotients.
template <class S>
inline constexpr bool takes_long = instruction_halves<S> >= 16;
template <class T, class Result, int A, int B, int C>
inline constexpr bool takes_long<compute<ops::div, T, Result, A, B, C>> = true;
/// Operations that take few registers and call no function.
template <class Op>
inline constexpr bool is_light = is_one_of<Op, ops::add, ops::sub, ops::mul, ops::div, ops::neg, ops::abs, ops::exp,
                                           ops::sqrt, ops::rsqrt, ops::square, ops::relu, ops::maximum, ops::minimum,
                                           ops::where, ops::eq, ops::ne, ops::lt, ops::le, ops::gt, ops::ge>;
/// So are the fast forms of functions of 16-bit values (fast_math.cuh), and the GELU of float.
template <class Op, class T>
inline constexpr bool is_light_of =
    is_light<Op> ||
    (sizeof(T) == 2 &&
     is_one_of<Op, ops::gelu_tanh, ops::sigmoid, ops::silu, ops::tanh, ops::expm1, ops::elu, ops::selu, ops::log,
               ops::log2, ops::log10, ops::log1p, ops::softplus, ops::logsigmoid, ops::erf>) ||
    (sizeof(T) <= 4 && is_one_of<Op, ops::gelu>);
/// Those of one value per row may take some more.
template <class Op, class T>
inline constexpr bool is_light_per_row = is_light_of<Op, T> || is_one_of<Op, ops::log, ops::isinf>;
template <class S>
inline constexpr bool is_light_statement = true;
template <class S>
inline constexpr bool is_light_row_statement = true;
template <class Op, class T, class Result, int A, int B, int C>
inline constexpr bool is_light_statement<compute<Op, T, Result, A, B, C>> = is_light_of<Op, T>;
template <class Op, class T, class Result, int A, int B, int C>
inline constexpr bool is_light_row_statement<compute<Op, T, Result, A, B, C>> = is_light_per_row<Op, T>;

/// Of a fold that looks at a thread's values twice (even_fold.cuh), the statement that it folds; otherwise -1.
struct even_m2;
template <class S>
inline constexpr int folded_evenly = -1;
template <class T, class Result, int A>
inline constexpr int folded_evenly<reduce<even_m2, T, Result, A>> = A;

template <class S>
inline constexpr bool is_half_load = false;
template <int Slot, class At, int Mask>
inline constexpr bool is_half_load<load<Slot, f16, At, Mask>> = true;

/// When a kernel that holds a row evaluates which statement.
template <class Body>
struct phase_facts;
template <class... S>
struct phase_facts<body<S...>> {
  using facts = body_facts<body<S...>>;
  static constexpr int size = sizeof...(S);
  static constexpr int phases = facts::num_phases;
  static constexpr bool is_reduce(int s) { return facts::facts.info[s].kind == statement_kind::reduce; }
  static constexpr bool is_element(int s) { return facts::where(s) == scope::element && !is_reduce(s); }
  static constexpr bool is_row(int s) { return facts::where(s) == scope::row && !is_reduce(s); }

  /// The first loop over r that needs element statement s; there it is evaluated if it is kept.
  static constexpr int first(int s) {
    for (int p = 0; p < phases; ++p)
      if (facts::needed(p, s)) return p;
    return phases;
  }

  static constexpr int stored_bytes(int s) {
    constexpr int bytes[] = {touch_of<S>::at(loop_var::r, 1).bytes..., 0};
    return bytes[s];
  }
  /// The last loop over r that needs element statement s.
  static constexpr int last(int s) {
    int p = phases - 1;
    while (p > 0 && !facts::needed(p, s)) --p;
    return p;
  }
  /// Bytes of the widest load of the row itself.
  static constexpr int widest_load = [] {
    int widest = 0;
    for (int s = 0; s < size; ++s) {
      const auto& info = facts::facts.info[s];
      if (info.kind == statement_kind::source && info.reads_x && is_element(s) && stored_bytes(s) > widest)
        widest = stored_bytes(s);
    }
    return widest;
  }();
  static constexpr bool reads_halves = widest_load <= 2;
  static constexpr bool is_element_compute(int s) {
    return is_element(s) && facts::facts.info[s].kind == statement_kind::compute;
  }
  /// Does what phase p knows of element statement s wait for a later one, if what is computed is computed again, or
  /// not? Loads of a row of 16 bits are counted where they are packed; bytes beside them were not found to matter.
  static constexpr bool waits(int s, int p, bool again) {
    if (!is_element(s) || first(s) > p || (again && is_element_compute(s))) return false;
    if (again && widest_load != 2) return last(s) > p;
    for (int user = s + 1; user < size; ++user) {
      const int when = is_reduce(user) ? facts::phase(user) : is_element(user) ? first(user) : -1;
      for (int operand : facts::facts.info[user].operands)
        if (operand == s && when > p && when < phases) return true;
    }
    return false;
  }
  static constexpr int value_bytes(int s) {
    constexpr int words[] = {value_words<typename statement_facts<S>::value_type>..., 0};
    return 4 * words[s];
  }
  /// Bytes of an element that wait between two phases, at worst, none of them packed.
  static constexpr int waiting_bytes(bool again) {
    int most = 0;
    for (int p = 0; p + 1 < phases; ++p) {
      int waiting = 0;
      for (int s = 0; s < size; ++s) waiting += waits(s, p, again) ? value_bytes(s) : 0;
      if (waiting > most) most = waiting;
    }
    return most;
  }
  /// Element statements that write.
  static constexpr int stores = [] {
    int stores = 0;
    for (int s = 0; s < size; ++s) stores += facts::facts.info[s].kind == statement_kind::store && is_element(s);
    return stores;
  }();
  /// What few steps make of a held row is computed again in every phase, so that nothing but the row waits: 16-bit
  /// values as they lie in memory, in half the registers, and wider ones if more would wait otherwise, and memory
  /// leaves time because elements are stored.
  static constexpr bool recomputes = [] {
    int again = 0;
    for (int s = 0; s < size; ++s)
      if (is_element_compute(s))
        for (int p = first(s) + 1; p < phases; ++p) again += facts::needed(p, s);
    return again <= 8 && (reads_halves || (stores > 0 && waiting_bytes(true) < waiting_bytes(false)));
  }();
  /// Is it where a value is that counts?
  static constexpr bool finds_place = (searches<S> || ...);
  /// Does it choose between values of a row that waits?
  static constexpr bool selects = [] {
    constexpr bool select[] = {is_select<S>..., false};
    for (int s = 0; s < size; ++s)
      if (phases > 1 && is_element(s) && select[s]) return true;
    return false;
  }();
  /// Is it a variance?
  static constexpr bool folds_squares = (reduces_by<S, ops::m2> || ...);
  static constexpr bool is_seen_twice(int s) { return ((folded_evenly<S> == s) || ...); }
  /// A load whose values wait as they lie in memory: for a later phase or a second look, for all folds of the only
  /// phase, and of f16 also for others of their own, because nvcc 13.0 converts f16 as soon as it is there, but bf16
  /// where it is used.
  static constexpr bool packs(int s) {
    constexpr bool is_half[] = {is_half_load<S>..., false};
    const auto& info = facts::facts.info[s];
    return info.kind == statement_kind::source && is_element(s) && info.operands[0] < 0 && stored_bytes(s) == 2 &&
           (last(s) > first(s) || is_seen_twice(s) || phases == 1 || is_half[s]) && reads_halves && recomputes;
  }
  /// Is a place looked for among values that wait as such? Others are found among words that wait as they lie in
  /// memory.
  static constexpr bool finds_in_values = ((searches<S> && !(searched_half<S> >= 0 && packs(searched_half<S>))) || ...);
  /// Is there a fold that looks twice, and all of them at what waits so?
  static constexpr bool folds_evenly =
      ((folded_evenly<S> >= 0) || ...) && ((folded_evenly<S> < 0 || packs(folded_evenly<S>)) && ...);
  static constexpr bool is_recomputed(int s) { return is_element_compute(s) && recomputes; }
  /// Does a load wait for a later phase after phase p?
  static constexpr bool stays(int s, int p) {
    return is_element(s) && facts::facts.info[s].kind == statement_kind::source && first(s) <= p && last(s) > p;
  }

  /// Bytes of registers per element of a row that are alive between two phases or looks, at worst, if packed values
  /// take so many. 0: nothing is gained by holding it.
  static constexpr int alive_bytes(int packed) {
    int most = folds_evenly ? packed : 0;
    for (int p = 0; p + 1 < phases; ++p) {
      int alive = 0;
      for (int s = 0; s < size; ++s)
        if (packs(s)) alive += stays(s, p) ? packed : 0;
        else if (waits(s, p, recomputes)) alive += value_bytes(s);
      if (alive > most) most = alive;
    }
    return most;
  }
  static constexpr int kept_bytes = alive_bytes(2);

  /// Bytes of registers per element of a row that wait at once in a kernel that holds it: between two phases, or until
  /// all of the only one has come. What looks for places among values looks at them twice.
  static constexpr int held_bytes = [] {
    constexpr int words[] = {value_words<typename statement_facts<S>::value_type>..., 0};
    if (phases != 1) return kept_bytes;
    int waiting = 0;
    for (int s = 0; s < size; ++s)
      if (facts::facts.info[s].kind == statement_kind::source && is_element(s) && stored_bytes(s) > 0)
        waiting += packs(s) || stored_bytes(s) == 1 ? 2 : 4 * words[s];
    return finds_in_values && waiting < 4 ? 4 : waiting;
  }();
  /// The same where they are few: of halves nvcc 13.0 unpacks all at once then, and what is computed waits, too, of
  /// which it finds room for some unless elements are stored.
  static constexpr int few_waiting_bytes = waiting_bytes(recomputes && !reads_halves);
  static constexpr int unpacked_bytes = [] {
    if (phases == 1) return held_bytes < 4 ? 4 : held_bytes;
    const int loads = alive_bytes(4);
    return stores > 0 && few_waiting_bytes > loads ? few_waiting_bytes : loads;
  }();

  /// Is it known how many registers the arithmetic takes? And where a thread holds its part of a row and no more?
  static constexpr bool is_light = (is_light_statement<S> && ...);
  static constexpr bool is_light_beside_row = [] {
    constexpr bool light[] = {is_light_statement<S>..., true}, per_row[] = {is_light_row_statement<S>..., true};
    for (int s = 0; s < size; ++s)
      if (!(is_row(s) ? per_row[s] : light[s])) return false;
    return true;
  }();

  /// Bytes per element that are read when the row is already held: of weights.
  static constexpr int late_bytes = [] {
    constexpr bool is_half[] = {is_half_load<S>..., false};
    int bytes = 0;
    for (int s = 0; s < size; ++s)
      if (facts::facts.info[s].kind == statement_kind::source && is_element(s) && first(s) > 0)
        bytes += is_half[s] && !packs(s) ? 4 : stored_bytes(s);
    return bytes;
  }();
  /// Those that come at once: beside a fold that looks twice, weights of 16 bits come item by item.
  static constexpr int late_at_once = folds_evenly && late_bytes <= 4 ? 0 : late_bytes;

  /// Functions and quotients of each element.
  static constexpr int long_steps = [] {
    constexpr bool all[] = {takes_long<S>..., false};
    int steps = 0;
    for (int s = 0; s < size; ++s) steps += is_element(s) && all[s];
    return steps;
  }();

  /// Operations on values of the row.
  static constexpr int row_steps = [] {
    int steps = 0;
    for (int s = 0; s < size; ++s) steps += is_row(s) && facts::facts.info[s].kind == statement_kind::compute;
    return steps;
  }();

  /// Folds and stores of elements that later phases do beside another one, in the phase that does most.
  static constexpr int late_company = [] {
    int most = 0;
    for (int p = 1; p < phases; ++p) {
      int sinks = 0;
      for (int s = 0; s < size; ++s)
        sinks += facts::phase(s) == p &&
                 (is_reduce(s) || (is_element(s) && facts::facts.info[s].kind == statement_kind::store));
      if (sinks - 1 > most) most = sinks - 1;
    }
    return most;
  }();

  /// Bytes per element that are read for the first phase: of the row itself.
  static constexpr int read_bytes = [] {
    int bytes = 0;
    for (int s = 0; s < size; ++s)
      if (facts::facts.info[s].kind == statement_kind::source && is_element(s) && first(s) == 0)
        bytes += stored_bytes(s);
    return bytes;
  }();

  /// Wide loads, and loads of single elements, per Width neighbours along v.
  static constexpr int loads(loop_var v, int width) { return loads(v, width, true); }
  /// Those of single elements alone.
  static constexpr int single_loads(loop_var v, int width) { return loads(v, width, false); }

 private:
  static constexpr int loads(loop_var v, int width, bool wide_too) {
    const auto accesses = access_facts<body<S...>>::at(v, width);
    int count = 0;
    for (int s = 0; s < size; ++s) {
      const auto& now = accesses.touches[s];
      if (now.bytes == 0 || facts::facts.info[s].kind != statement_kind::source) continue;
      if (facts::has_reduction && !is_element(s)) continue;
      if (now.where.kind == access::contiguous && wide_too)
        count += now.bytes * width > 16 ? now.bytes * width / 16 : 1;
      if (now.where.kind == access::strided || now.where.kind == access::irregular) count += width;
    }
    return count;
  }
};

template <class Body>
inline constexpr int element_stores = phase_facts<Body>::stores;

}  // namespace sinter::cuda::detail
