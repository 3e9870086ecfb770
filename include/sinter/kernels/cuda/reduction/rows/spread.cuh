// Squared deviations of a row's values from a row value (a variance's, from their mean) without a walk of their own:
// while a thread walks for the mean, it also sums how far its values are from the first of them, and the squares of
// that. With d = first - mean they are squares + d * (2 * sum + count * d). As the first is one of them, d^2 is no more
// than what comes out, and what cancels no more than four times what each of the thread's values rounds off.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>

#include "sinter/kernels/cuda/reduction/rows/row_threads.cuh"

namespace sinter::cuda::detail {

/// What a statement may be in a sum of (value - from) * (value - from).
enum class spread_role : unsigned char { none, sum, square, difference };
template <class S>
inline constexpr spread_role spread_role_of = spread_role::none;
template <class T, class Result, int A>
inline constexpr spread_role spread_role_of<reduce<ops::sum, T, Result, A>> = spread_role::sum;
template <class T, class Result, int A>
inline constexpr spread_role spread_role_of<compute<ops::mul, T, Result, A, A>> = spread_role::square;
template <class T, class Result, int A, int B>
inline constexpr spread_role spread_role_of<compute<ops::sub, T, Result, A, B>> = spread_role::difference;

template <class T>
inline constexpr int floating_bytes = 0;
template <>
inline constexpr int floating_bytes<float> = 4;
template <>
inline constexpr int floating_bytes<double> = 8;

template <class Body>
struct spread_facts;
template <class... S>
struct spread_facts<body<S...>> {
  using facts = body_facts<body<S...>>;
  static constexpr int size = sizeof...(S);
  struct table {
    int value[size + 1]{}, from[size + 1]{};  // of a reduction that is known without a walk; or -1
    int sum_of[size + 1]{};                   // of a sum of the same values: that reduction; or -1
    bool walks[size + 1]{};                   // does this phase want anything else?
  };
  static constexpr table found = [] {
    constexpr spread_role roles[] = {spread_role_of<S>..., spread_role::none};
    constexpr int bytes[] = {floating_bytes<typename statement_facts<S>::value_type>..., 0};
    const auto& info = facts::facts.info;
    table t{};
    for (int s = 0; s < size; ++s) {
      t.value[s] = t.from[s] = t.sum_of[s] = -1;
      if (roles[s] != spread_role::sum) continue;
      const int square = info[s].operands[0];
      if (roles[square] != spread_role::square) continue;
      const int difference = info[square].operands[0];
      if (roles[difference] != spread_role::difference) continue;
      const int value = info[difference].operands[0], from = info[difference].operands[1], phase = facts::phase(s);
      if (facts::where(value) == scope::element && facts::where(from) == scope::row && phase > 0 &&
          facts::needed(phase - 1, value) && bytes[value] > 0 && bytes[value] == bytes[from] &&
          bytes[value] == bytes[s])
        t.value[s] = value, t.from[s] = from;
    }
    for (int p = 0; p < facts::num_phases; ++p) {
      t.walks[p] = p == 0 || !t.walks[p - 1];  // who has not walked has seen nothing
      for (int s = 0; s < size; ++s) {
        const bool stores = info[s].kind == statement_kind::store && facts::where(s) == scope::element;
        if (facts::phase(s) == p && (stores || (info[s].kind == statement_kind::reduce && t.value[s] < 0)))
          t.walks[p] = true;
      }
      for (int s = 0; s < size; ++s)
        if (t.walks[p] && facts::phase(s) == p) t.value[s] = -1;
    }
    for (int s = 0; s < size; ++s)
      for (int k = 0; k < size; ++k)
        if (roles[s] == spread_role::sum && t.value[k] >= 0 && t.value[k] == info[s].operands[0] &&
            bytes[k] == bytes[s] && facts::phase(k) == facts::phase(s) + 1)
          t.sum_of[s] = k;
    return t;
  }();
};
template <class Body, int P>
inline constexpr bool walks_in = spread_facts<Body>::found.walks[P];

/// What values are summed from. Infinite it would make the sum a NaN.
template <class T>
__device__ __forceinline__ T spread_from(T value) {
  return value - value == T(0) ? value : T(0);
}

/// What a thread knows of its values.
template <class T, int Ways>
struct spread {
  T first = T(0), sums[Ways]{}, squares[Ways]{};
  int count = 0;

  __device__ __forceinline__ void begin(T value) { first = spread_from(value); }
  __device__ __forceinline__ void add(T value, int way) {
    const T d = value - first;
    sums[way] += d, squares[way] += d * d, ++count;
  }
  __device__ __forceinline__ T sum() const { return total(sums) + static_cast<T>(count) * first; }
  __device__ __forceinline__ T squares_from(T from) const {
    const T d = first - from;
    return total(squares) + d * (2 * total(sums) + static_cast<T>(count) * d);
  }

 private:
  static __device__ __forceinline__ T total(const T (&of)[Ways]) {
    T all = of[0];
#pragma unroll
    for (int k = 1; k < Ways; ++k) all += of[k];
    return all;
  }
};

/// Those that phase P has to know for the next one.
template <class Body, int P>
struct spreads_of_phase {
  static constexpr auto facts = [] {
    sinter::detail::number_list<Body::size> list;
    for (int s = 0; s < Body::size; ++s)
      if (spread_facts<Body>::found.value[s] >= 0 && body_facts<Body>::phase(s) == P + 1) list.add(s);
    return list;
  }();
};
template <class Body, int Ways, class Numbers>
struct spreads_in;
template <class Body, int Ways, int... I>
struct spreads_in<Body, Ways, std::integer_sequence<int, I...>>
    : values<I, spread<typename statement_facts<sinter::detail::statement_of<Body, I>>::value_type, Ways>, 1>... {
  /// f(the number of a reduction, what is known for it) for each.
  template <class F>
  __device__ __forceinline__ void each([[maybe_unused]] const F& f) {
    (f(std::integral_constant<int, I>{}, lanes_of<I>(*this)[0]), ...);
  }
};
template <class Body, int P, int Ways>
using spreads = spreads_in<Body, Ways, sinter::detail::listed<spreads_of_phase<Body, P>>>;

/// Statement V and what it is made of, of every element.
template <class Body, int V>
struct elements_of_value {
  struct table {
    bool of[Body::size + 1]{};
  };
  static constexpr table needed = [] {
    table t{};
    t.of[V] = true;
    for (int s = V; s >= 0; --s)
      for (int operand : body_facts<Body>::facts.info[s].operands)
        if (t.of[s] && operand >= 0 && body_facts<Body>::where(operand) == scope::element) t.of[operand] = true;
    return t;
  }();
  static constexpr bool select(int s) { return needed.of[s]; }
};
/// Before the walk. `first`: a tile of one element, the thread's first one; if it has none, any other.
template <class Body, int P, int Ways, class Frame, class Single, class Args>
__device__ __forceinline__ void begin_spreads(spreads<Body, P, Ways>& known, Frame& f, const tile<Single>& first,
                                              const Args& args) {
  known.each([&]<int N, class Known>(std::integral_constant<int, N>, Known& own) {
    constexpr int value = spread_facts<Body>::found.value[N];
    frame<Body, Single> single;
    copy_row_values<Body>(std::make_index_sequence<Body::size>{}, single, f);
    evaluate<elements_of_value<Body, value>>(single, first, args);
    own.begin(lane_of<value>(single, 0));
  });
}
/// As evaluate_and_step.
template <class Body, int P, int Ways, class Accumulators, class Frame, class Args>
__device__ __forceinline__ void evaluate_and_spread(Accumulators& acc, spreads<Body, P, Ways>& known, Frame& f,
                                                    const tile<typename Frame::tiling>& t, const Args& args) {
  using which = elements_of_phase<Body, P>;
  using tiling = typename Frame::tiling;
  using found = spread_facts<Body>;
  evaluate_first<which>(f, t, args);
  evaluate_rest<which>(f, t, args, false, [&](int u) {
    reductions_of_phase<Body, P>::each([&]<int N, class R>(std::integral_constant<int, N>, R) {
      step_item<(found::found.sum_of[N] < 0), N, R, Ways>(acc, f, t, u);
    });
    known.each([&]<int N, class Known>(std::integral_constant<int, N>, Known& own) {
      constexpr int value = found::found.value[N];
#pragma unroll
      for (int j = 0; j < tiling::width; ++j)
        if (t.lane_ok(u, j)) own.add(lane_of<value>(f, u * tiling::width + j), (u * tiling::width + j) % Ways);
    });
  });
  steps_of_phase<Body, P, Ways>::tile_done(acc, f, t);
}
/// After the walk: sums of the same values.
template <class Body, int P, int Ways, class Accumulators>
__device__ __forceinline__ void finish_sums(Accumulators& acc, spreads<Body, P, Ways>& known) {
  reductions_of_phase<Body, P>::each([&]<int N, class R>(std::integral_constant<int, N>, R) {
    constexpr int of = spread_facts<Body>::found.sum_of[N];
    if constexpr (of >= 0) lanes_of<N>(acc)[0].value = lanes_of<of>(known)[0].sum();
  });
}
/// Instead of a walk: the states of the phase after P.
template <class Body, int P, int Ways, class Accumulators, class Frame>
__device__ __forceinline__ void finish_spreads(Accumulators& acc, spreads<Body, P, Ways>& known, Frame& f) {
  known.each([&]<int N, class Known>(std::integral_constant<int, N>, Known& own) {
    lanes_of<N>(acc)[0].value = own.squares_from(lane_of<spread_facts<Body>::found.from[N]>(f, 0));
  });
}

}  // namespace sinter::cuda::detail
