// Folds that do two passes' work in one, undone: the sum of squared deviations becomes the mean first, then a sum of
// squares; the sum of exponentials below the greatest value comes after that value, and so does its logarithm. For
// kernels that hold the row: a pass over values in registers costs little, and plain sums combine for a fraction of
// what those states take. Kernels that walk memory once per pass keep them. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include "sinter/base/op.hpp"
#include "sinter/kernels/body.hpp"
#include "sinter/kernels/narrow_places.hpp"

namespace sinter::detail {

/// Statement S with operand k at To::at(k).
template <class S, class To>
struct renumbered {
  using type = S;
};
template <int Slot, class T, class At, int Mask, class To>
struct renumbered<load<Slot, T, At, Mask>, To> {
  using type = load<Slot, T, At, To::at(Mask)>;
};
template <int Slot, class T, class At, int Index, long Coef, long Bound, int Mask, class To>
struct renumbered<gather_load<Slot, T, At, Index, Coef, Bound, Mask>, To> {
  using type = gather_load<Slot, T, At, To::at(Index), Coef, Bound, To::at(Mask)>;
};
template <class Op, class T, class Result, int A, int B, int C, class To>
struct renumbered<compute<Op, T, Result, A, B, C>, To> {
  using type = compute<Op, T, Result, To::at(A), To::at(B), To::at(C)>;
};
template <class From, class T, int A, class To>
struct renumbered<cast_to<From, T, A>, To> {
  using type = cast_to<From, T, To::at(A)>;
};
template <class From, class T, int A, class To>
struct renumbered<widen_to<From, T, A>, To> {
  using type = widen_to<From, T, To::at(A)>;
};
template <class Op, class T, class Result, int A, class To>
struct renumbered<reduce<Op, T, Result, A>, To> {
  using type = reduce<Op, T, Result, To::at(A)>;
};
template <int Slot, class T, int A, class At, int Mask, class To>
struct renumbered<store<Slot, T, A, At, Mask>, To> {
  using type = store<Slot, T, To::at(A), At, To::at(Mask)>;
};
template <int Slot, class T, int A, class At, int Index, long Coef, long Bound, int Mask, class To>
struct renumbered<scatter_store<Slot, T, A, At, Index, Coef, Bound, Mask>, To> {
  using type = scatter_store<Slot, T, To::at(A), At, To::at(Index), Coef, Bound, To::at(Mask)>;
};

/// A first pass: its fold and its value, and whether its result is of the value's type. Those below need one, which the
/// body may have, and `more` statements.
enum class first_fold : unsigned char { none, sum, amax };
struct pass_facts {
  first_fold is = first_fold::none, needs = first_fold::none;
  int value = -1, more = 0;
  bool plain = false;
};
template <class S>
inline constexpr pass_facts pass_of{};
template <class T, class Result, int A>
inline constexpr pass_facts pass_of<reduce<ops::sum, T, Result, A>>{first_fold::sum, first_fold::none, A, 0,
                                                                    std::is_same_v<compute_t<T>, compute_t<Result>>};
template <class T, class Result, int A>
inline constexpr pass_facts pass_of<reduce<ops::amax, T, Result, A>>{first_fold::amax, first_fold::none, A, 0,
                                                                     std::is_same_v<compute_t<T>, compute_t<Result>>};
template <class T, class Result, int A>
inline constexpr pass_facts pass_of<reduce<ops::m2, T, Result, A>>{first_fold::none, first_fold::sum, A, 4};
template <class T, class Result, int A>
inline constexpr pass_facts pass_of<reduce<ops::sumexp, T, Result, A>>{first_fold::none, first_fold::amax, A, 2};
template <class T, class Result, int A>
inline constexpr pass_facts pass_of<reduce<ops::logsumexp, T, Result, A>>{first_fold::none, first_fold::amax, A, 7};

/// Squares: squared deviations are undone, too.
template <class S, bool Squares>
inline constexpr pass_facts pass_in = pass_of<S>;
template <class T, class Result, int A>
inline constexpr pass_facts pass_in<reduce<ops::m2, T, Result, A>, false>{};

/// The extent of r, if it is static a constant: then it is the one by which the body itself divides.
template <class T, long Rnumel>
struct length_of {
  using type = constant<T, __builtin_bit_cast(long, static_cast<double>(Rnumel))>;
};
template <class T>
struct length_of<T, -1> {
  using type = row_length<T>;
};

template <class Body, long Rnumel, bool Squares, class Numbers = std::make_index_sequence<Body::size>>
struct two_pass;
template <class... S, long Rnumel, bool Squares, std::size_t... I>
struct two_pass<body<S...>, Rnumel, Squares, std::index_sequence<I...>> {
  static constexpr int size = sizeof...(S);
  struct table {
    int known[size + 1]{};  // of a second pass: the statement that is its first one already, or -1
    int later[size + 1]{};  // of a first pass: the second one before it that brings the same, or -1
    int at[size + 1]{};     // where statement s goes
  };
  static constexpr table facts = [] {
    constexpr pass_facts passes[] = {pass_in<S, Squares>..., pass_facts{}};
    table t{};
    int next = 0;
    for (int& s : t.later) s = -1;
    for (int s = 0; s < size; ++s) {
      t.known[s] = -1;
      if (t.later[s] >= 0) {
        t.at[s] = t.at[t.later[s]] - passes[t.later[s]].more - 1;
        continue;
      }
      const bool needs = passes[s].needs != first_fold::none;
      const auto suits = [&](int k) {
        return needs && passes[k].is == passes[s].needs && passes[k].value == passes[s].value;
      };
      for (int k = 0; k < s; ++k)
        if (suits(k)) t.known[s] = k;
      for (int k = s + 1; k < size; ++k)
        if (suits(k) && passes[k].plain && t.known[s] < 0 && t.later[k] < 0) t.later[k] = s;
      next += passes[s].more + (needs && t.known[s] < 0);
      t.at[s] = next++;
    }
    return t;
  }();
  struct places {
    static constexpr int at(int s) { return s < 0 ? s : facts.at[s]; }
  };

  template <int N, class Statement>
  struct rewritten {
    using type = body<typename renumbered<Statement, places>::type>;
  };
  template <int N, class Statement>
  requires(facts.later[N] >= 0) struct rewritten<N, Statement> {
    using type = body<>;
  };
  /// The first pass goes before the second, unless the body has it there.
  template <int N, class First, class Second>
  struct both_passes {
    using type = Second;
  };
  template <int N, class First, class... P>
  requires(facts.known[N] < 0) struct both_passes<N, First, body<P...>> {
    using type = body<First, P...>;
  };
  template <int N>
  static constexpr int first_pass(int inserted) {
    if constexpr (facts.known[N] >= 0) return facts.at[facts.known[N]];
    else return facts.at[N] - inserted - 1;
  }
  template <int N, class T, class Result, int A>
  requires Squares struct rewritten<N, reduce<ops::m2, T, Result, A>> {
    using C = compute_t<T>;
    static constexpr int here = facts.at[N], value = places::at(A), sum = first_pass<N>(4);
    using type =
        typename both_passes<N, reduce<ops::sum, C, C, value>,
                             body<typename length_of<C, Rnumel>::type, compute<ops::div, C, C, sum, here - 4>,
                                  compute<ops::sub, C, C, value, here - 3>, compute<ops::mul, C, C, here - 2, here - 2>,
                                  reduce<ops::sum, C, Result, here - 1>>>::type;
  };
  template <int N, class T, class Result, int A>
  struct rewritten<N, reduce<ops::sumexp, T, Result, A>> {
    static constexpr int here = facts.at[N], value = places::at(A), greatest = first_pass<N>(2);
    using type = typename both_passes<N, reduce<ops::amax, T, T, value>,
                                      body<compute<ops::sub, T, T, value, greatest>, compute<ops::exp, T, T, here - 2>,
                                           reduce<ops::sum, T, Result, here - 1>>>::type;
  };
  /// Of rows whose greatest value is infinite, that value: no difference of infinities.
  template <int N, class T, class Result, int A>
  struct rewritten<N, reduce<ops::logsumexp, T, Result, A>> {
    static constexpr int here = facts.at[N], value = places::at(A), greatest = first_pass<N>(7), finite = here - 5;
    using type = typename both_passes<
        N, reduce<ops::amax, T, T, value>,
        body<compute<ops::isinf, T, bool, greatest>, constant<T, 0>,
             compute<ops::where, T, T, here - 7, here - 6, greatest>, compute<ops::sub, T, T, value, finite>,
             compute<ops::exp, T, T, here - 4>, reduce<ops::sum, T, T, here - 3>, compute<ops::log, T, T, here - 2>,
             compute<ops::add, T, Result, here - 1, finite>>>::type;
  };

  template <class... Lists>
  struct joined;
  template <class... A, class... B, class... Rest>
  struct joined<body<A...>, body<B...>, Rest...> : joined<body<A..., B...>, Rest...> {};
  template <class... A>
  struct joined<body<A...>> {
    using type = body<A...>;
  };
  using type = typename joined<body<>, typename rewritten<static_cast<int>(I), S>::type...>::type;
};

/// The body for a kernel that holds its rows, of Rnumel elements (-1: known at launch only).
template <class Body, long Rnumel>
struct held_body {
  using type = typename narrow_places<typename two_pass<Body, Rnumel, true>::type>::type;
};

/// A sum of exp(x - amax(x)) of one body as a fold of x, in the phase of that greatest value: the other way round.
template <class S>
inline constexpr int exponent = -1;
template <class T, int A>
inline constexpr int exponent<compute<ops::exp, T, T, A, -1, -1>> = A;
template <class S>
struct difference {
  static constexpr int of = -1, from = -1;
};
template <class T, int A, int B>
struct difference<compute<ops::sub, T, T, A, B, -1>> {
  static constexpr int of = A, from = B;
};
template <class Body, class S>
struct one_pass {
  using type = S;
};
template <class... S, class T, class Result, int A>
struct one_pass<body<S...>, reduce<ops::sum, T, Result, A>> {
  template <int I>
  static constexpr auto at() {
    if constexpr (I >= 0) return statement_of<body<S...>, I>{};
  }
  using shifted = difference<decltype(at<exponent<decltype(at<A>())>>())>;
  static constexpr pass_facts greatest = pass_of<decltype(at<shifted::from>())>;
  static constexpr bool is = shifted::of >= 0 && greatest.is == first_fold::amax && greatest.value == shifted::of;
  using type =
      std::conditional_t<is, reduce<ops::sumexp, T, Result, is ? shifted::of : A>, reduce<ops::sum, T, Result, A>>;
};

/// The body for a kernel in which rows wait in shared memory, and in which all threads meet after each pass:
/// exponentials in the first one, while the row arrives, and squared deviations, unless Squares.
template <class Held>
struct one_pass_of;
template <class... S>
struct one_pass_of<body<S...>> {
  using type = body<typename one_pass<body<S...>, S>::type...>;
};
template <class Body, long Rnumel, bool Squares = false>
struct streamed_body {
  using type = typename one_pass_of<typename two_pass<Body, Rnumel, Squares>::type>::type;
};

}  // namespace sinter::detail
