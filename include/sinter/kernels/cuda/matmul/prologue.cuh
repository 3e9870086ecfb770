// What a prologue body consists of: the dtype and orientation of the operand it yields, the statements a tile load
// evaluates, and, if it reduces over k (a normalisation), the row statistics a block computes before its main loop.
// Moving tiles is operand.cuh's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "sinter/kernels/cuda/matmul/chunk.cuh"

namespace sinter::cuda::mm {

template <int I, class S>
struct numbered {};
template <class Indices, class... S>
struct numbered_statements;
template <std::size_t... I, class... S>
struct numbered_statements<std::index_sequence<I...>, S...> : numbered<static_cast<int>(I), S>... {};
template <int I, class S>
S statement_at(numbered<I, S>);

template <class S>
struct yielded {
  static_assert(sizeof(S) == 0, "matmul: an operand's body ends in yield_value");
};
template <class T, int A>
struct yielded<yield_value<T, A>> {
  using type = T;
};

/// Nothing to evaluate: one load of the operand's own type.
template <class Body>
inline constexpr bool is_plain = false;
template <int Slot, class T, class At>
inline constexpr bool is_plain<body<load<Slot, T, At>, yield_value<T, 0>>> = true;

enum class neighbours : unsigned char { none, along_r, along_x };

/// Which variable's neighbours a statement finds next to each other in memory. Loads that miss one of the variables are
/// small and have no say.
template <class S>
struct neighbours_of {
  static constexpr neighbours value = neighbours::none;
};
template <class At>
struct neighbours_at;
template <long Offset, class... Terms>
struct neighbours_at<at<Offset, Terms...>> {
  template <class Term>
  static constexpr bool unit(loop_var v) {
    using t = sinter::detail::term_facts<Term>;
    return t::variable == v && t::div == 1 && t::coef == 1;
  }
  static constexpr bool matrix = sinter::detail::at_facts<at<Offset, Terms...>>::uses(loop_var::x) &&
                                 sinter::detail::at_facts<at<Offset, Terms...>>::uses(loop_var::r);
  static constexpr neighbours value = !matrix                                      ? neighbours::none
                                      : (unit<Terms>(loop_var::r) || ... || false) ? neighbours::along_r
                                      : (unit<Terms>(loop_var::x) || ... || false) ? neighbours::along_x
                                                                                   : neighbours::none;
};
template <int Slot, class T, class At, int Mask>
struct neighbours_of<load<Slot, T, At, Mask>> : neighbours_at<At> {};
template <int Slot, class T, class At, int Index, long Coef, long Bound, int Mask>
struct neighbours_of<gather_load<Slot, T, At, Index, Coef, Bound, Mask>> : neighbours_at<At> {};

template <class Body>
struct prologue_facts;
template <class... S>
struct prologue_facts<body<S...>> {
  using B = body<S...>;
  static constexpr int size = B::size;
  using statements = numbered_statements<std::make_index_sequence<sizeof...(S)>, S...>;
  using dtype = typename yielded<decltype(statement_at<size - 1>(statements{}))>::type;

  /// The variable along which chunks of the operand run.
  static constexpr loop_var along = [] {
    const neighbours all[] = {neighbours_of<S>::value...};
    for (auto n : all)
      if (n != neighbours::none) return n == neighbours::along_x ? loop_var::x : loop_var::r;
    return loop_var::r;
  }();

  struct table {
    bool tile[size]{};        // evaluated on every tile load
    bool kept[size]{};        // computed once per row, read from shared memory by tile loads
    int num_loops = 0;        // over k, for the statistics
    bool loop[size][size]{};  // loop[p][s]: statement s is evaluated in loop p
    bool has_store = false;
  };
  static constexpr table facts = [] {
    table t{};
    const auto& f = body_facts<B>::facts;
    t.tile[size - 1] = true;
    for (int s = size - 1; s >= 0; --s) {
      if (t.tile[s] && s != size - 1 && f.where[s] == scope::row &&
          (f.info[s].kind == statement_kind::reduce || f.phase[s] > 0)) {
        t.tile[s] = false;
        t.kept[s] = true;
      }
      if (t.tile[s])
        for (int operand : f.info[s].operands)
          if (operand >= 0) t.tile[operand] = true;
      t.has_store = t.has_store || f.info[s].kind == statement_kind::store;
      if (f.info[s].kind == statement_kind::reduce && f.phase[s] + 1 > t.num_loops) t.num_loops = f.phase[s] + 1;
    }
    for (int p = 0; p < t.num_loops; ++p)
      for (int s = size - 1; s >= 0; --s) {
        if (f.info[s].kind == statement_kind::reduce && f.phase[s] == p) t.loop[p][s] = true;
        if (!t.loop[p][s]) continue;
        for (int operand : f.info[s].operands)
          if (operand >= 0 && f.where[operand] == scope::element) t.loop[p][operand] = true;
      }
    return t;
  }();
  static_assert(!facts.has_store, "matmul: the body of an operand stores nothing");

  static constexpr bool has_rows = facts.num_loops > 0;
  static constexpr bool is_reduction(int s) { return body_facts<B>::facts.info[s].kind == statement_kind::reduce; }

  struct on_tile {
    template <int I>
    static constexpr bool select = facts.tile[I];
  };
  template <int P>
  struct in_loop {
    template <int I>
    static constexpr bool select = facts.loop[P][I] && !is_reduction(I);
  };
  template <int P>
  struct before_loop {
    template <int I>
    static constexpr bool select = I != size - 1 && body_facts<B>::where(I) == scope::row&& body_facts<B>::phase(I) == P
                                   && !is_reduction(I);
  };

  template <class Indices>
  struct storage;
  template <std::size_t... I>
  struct storage<std::index_sequence<I...>> {
    using rows = slots<slot<static_cast<int>(I),
                            std::conditional_t<facts.kept[I], typename statement_facts<S>::value_type, void>, 1>...>;
  };
  /// What is kept of one row.
  using row_values = typename storage<std::make_index_sequence<sizeof...(S)>>::rows;
};

// ---- row statistics -------------------------------------------------------------------------------------------------

/// The fold behind a reduction; nothing for other statements.
template <class S>
struct fold_of {
  struct state {};
};
template <class Op, class T, class Result, int A>
struct fold_of<reduce<Op, T, Result, A>> {
  using value = compute_t<T>;
  using state = typename Op::template state<value>;
  static constexpr int operand = A;
  static __device__ __forceinline__ state init() { return Op::template init<value>(); }
  static __device__ __forceinline__ void step(state& s, value v, std::int64_t r) { Op::template step<value>(s, v, r); }
  static __device__ __forceinline__ state combine(state a, state b) { return Op::template combine<value>(a, b); }
  static __device__ __forceinline__ compute_t<Result> finish(state s) {
    return static_cast<compute_t<Result>>(Op::template finish<value>(s));
  }
};

/// The same state of another lane, word by word.
template <class State>
__device__ __forceinline__ State exchange(const State& state, int mask) {
  constexpr int words = (static_cast<int>(sizeof(State)) + 3) / 4;
  unsigned raw[words] = {};
  memcpy(raw, &state, sizeof(State));
#pragma unroll
  for (int i = 0; i < words; ++i) raw[i] = __shfl_xor_sync(~0u, raw[i], mask);
  State other;
  memcpy(&other, raw, sizeof(State));
  return other;
}

template <class Body, int Width>
struct row_statistics;
template <class... S, int Width>
struct row_statistics<body<S...>, Width> {
  using B = body<S...>;
  using facts = prologue_facts<B>;
  using walk = chunk<B, Width, loop_var::r>;
  using indices = std::make_index_sequence<sizeof...(S)>;
  template <class Indices>
  struct storage;
  template <std::size_t... I>
  struct storage<std::index_sequence<I...>> {
    using folds = slots<slot<static_cast<int>(I), typename fold_of<S>::state, 1>...>;
  };
  using folds = typename storage<indices>::folds;

  /// A warp computes what is kept of row x; every lane ends with the same.
  template <class Args>
  static __device__ __forceinline__ void of_row(typename facts::row_values& out, const Args& args,
                                                const chunk_access* accesses, std::int64_t x, std::int64_t r_extent) {
    typename walk::values v;
    loops(v, args, accesses, x, r_extent, std::make_index_sequence<facts::facts.num_loops>{});
    walk::template fetch_and_evaluate<typename facts::template before_loop<facts::facts.num_loops>>(
        v, place<Args>{args, accesses, x, 0, Width});
    keep(out, v, indices{});
  }

 private:
  template <class Args, std::size_t... P>
  static __device__ __forceinline__ void loops(typename walk::values& v, const Args& args, const chunk_access* accesses,
                                               std::int64_t x, std::int64_t r_extent, std::index_sequence<P...>) {
    (loop<static_cast<int>(P)>(v, args, accesses, x, r_extent), ...);
  }
  template <int P, class Args>
  static __device__ __forceinline__ void loop(typename walk::values& v, const Args& args, const chunk_access* accesses,
                                              std::int64_t x, std::int64_t r_extent) {
    walk::template fetch_and_evaluate<typename facts::template before_loop<P>>(
        v, place<Args>{args, accesses, x, 0, Width});
    folds f;
    init<P>(f, indices{});
    const int lane_id = static_cast<int>(threadIdx.x) % 32;
#pragma unroll 2
    for (std::int64_t r = lane_id * Width; r < r_extent; r += 32 * Width) {
      const std::int64_t left = r_extent - r;
      const place<Args> at{args, accesses, x, r, left < Width ? static_cast<int>(left) : Width};
      walk::template fetch_and_evaluate<typename facts::template in_loop<P>>(v, at);
      step<P>(f, v, at, indices{});
    }
    combine<P>(f, v, indices{});
  }

  template <int P, int I>
  static constexpr bool folds_here = facts::is_reduction(I) && body_facts<B>::phase(I) == P;
  template <int P, std::size_t... I>
  static __device__ __forceinline__ void init(folds& f, std::index_sequence<I...>) {
    (
        [&] {
          if constexpr (folds_here<P, I>) values_of<static_cast<int>(I)>(f)[0] = fold_of<S>::init();
        }(),
        ...);
  }
  template <int P, class Args, std::size_t... I>
  static __device__ __forceinline__ void step(folds& f, const typename walk::values& v, const place<Args>& at,
                                              std::index_sequence<I...>) {
    (step_one<folds_here<P, I>, static_cast<int>(I), S>(f, v, at), ...);
  }
  template <bool Here, int I, class Statement, class Args>
  static __device__ __forceinline__ void step_one(folds& f, const typename walk::values& v, const place<Args>& at) {
    if constexpr (Here) {
#pragma unroll
      for (int e = 0; e < Width; ++e)
        if (e < at.valid)
          fold_of<Statement>::step(values_of<I>(f)[0], lane<fold_of<Statement>::operand>(v, e), at.r + e);
    }
  }
  template <int P, std::size_t... I>
  static __device__ __forceinline__ void combine(folds& f, typename walk::values& v, std::index_sequence<I...>) {
    (combine_one<folds_here<P, I>, static_cast<int>(I), S>(f, v), ...);
  }
  template <bool Here, int I, class Statement>
  static __device__ __forceinline__ void combine_one(folds& f, typename walk::values& v) {
    if constexpr (Here) {
      auto state = values_of<I>(f)[0];
#pragma unroll
      for (int mask = 16; mask > 0; mask /= 2) state = fold_of<Statement>::combine(state, exchange(state, mask));
      values_of<I>(v)[0] = fold_of<Statement>::finish(state);
    }
  }
  template <std::size_t... I>
  static __device__ __forceinline__ void keep(typename facts::row_values& out, const typename walk::values& v,
                                              std::index_sequence<I...>) {
    (
        [&] {
          if constexpr (facts::facts.kept[I]) values_of<static_cast<int>(I)>(out)[0] = lane<static_cast<int>(I)>(v, 0);
        }(),
        ...);
  }
};

}  // namespace sinter::cuda::mm
