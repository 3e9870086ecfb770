// Sums and sums of squared deviations of the same values, which a variance's mean and its m2 are, as one fold: how far
// the values are from one of them, and the squares of that. For threads that have few values of a row, so that what
// cancels is little: see spread.cuh. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <utility>

#include "sinter/base/math.hpp"
#include "sinter/kernels/cuda/reduction/rows/spread.cuh"

namespace sinter::cuda::detail {

/// ops::m2 of few values, by how far they are from the first of them that comes.
struct spread_m2 {
  template <class T>
  struct state {
    T from, sum, squares;  // of the values less `from`
    int count;

    /// Of the values themselves.
    __device__ __forceinline__ T total() const { return static_cast<T>(count) * from + sum; }
  };
  template <class T>
  static __device__ __forceinline__ state<T> init() {
    return {T(0), T(0), T(0), 0};
  }
  template <class T, int N>
  static __device__ __forceinline__ void take(state<T>& s, const T (&values)[N], const bool (&in)[N]) {
    if (s.count == 0) {
#pragma unroll
      for (int i = N - 1; i >= 0; --i)
        if (in[i]) s.from = values[i];
      s.from = spread_from(s.from);
    }
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const T d = in[i] ? values[i] - s.from : T(0);
      s.count += in[i];
      s.sum += d;
      s.squares += d * d;
    }
  }
  template <class T>
  static __device__ __forceinline__ state<T> combine(state<T> a, state<T> b) {
    const T from = spread_from(a.count > 0 ? a.from : b.from);
    const auto moved = [&](const state<T>& s) {
      const T d = s.from - from, far = static_cast<T>(s.count) * d;
      return state<T>{from, s.sum + far, s.squares + d * (T(2) * s.sum + far), s.count};
    };
    const state<T> x = moved(a), y = moved(b);
    return {from, x.sum + y.sum, x.squares + y.squares, x.count + y.count};
  }
  /// As deviations from the mean, so that their sum is nothing.
  template <class T, class Lanes>
  static __device__ __forceinline__ state<T> across(state<T> s, const Lanes& lanes) {
    const int count = static_cast<int>(lanes.sum(std::int64_t(s.count)));
    const T own = static_cast<T>(s.count);
    const T each = math::detail::soft_div(T(1), static_cast<T>(count == 0 ? 1 : count));
    const T mean = lanes.sum(own * each * s.from + each * s.sum), d = s.from - mean;
    return {mean, T(0), lanes.sum(s.squares + d * (T(2) * s.sum + own * d)), count};
  }
  /// Of a state that `across` made.
  template <class T>
  static __device__ __forceinline__ T finish(state<T> s) {
    return s.squares;
  }
};

/// ops::sum of the values that statement M, a spread_m2, folds: its state tells it.
template <int M>
struct sum_of_spread {
  template <class T>
  struct state {};
};

template <int M, class T, class Result, int A>
inline constexpr int part_of<reduce<sum_of_spread<M>, T, Result, A>> = M;

template <class S, class T, int A>
inline constexpr bool is_m2_of = false;
template <class T, class Result, int A>
inline constexpr bool is_m2_of<reduce<ops::m2, T, Result, A>, T, A> = true;

/// The body with such folds.
template <class Body, class Numbers = std::make_index_sequence<Body::size>>
struct spread_body;
template <class... S, std::size_t... I>
struct spread_body<body<S...>, std::index_sequence<I...>> {
  /// The statement that folds the same values so, or -1.
  template <class T, int A>
  static constexpr int m2_of = [] {
    int found = -1;
    ((is_m2_of<S, T, A> ? void(found = static_cast<int>(I)) : void()), ...);
    return found;
  }();
  template <class Statement>
  struct folded {
    using type = Statement;
  };
  template <class T, class Result, int A>
  struct folded<reduce<ops::m2, T, Result, A>> {
    using type = reduce<spread_m2, T, Result, A>;
  };
  template <class T, class Result, int A>
  requires(m2_of<T, A> >= 0) struct folded<reduce<ops::sum, T, Result, A>> {
    using type = reduce<sum_of_spread<m2_of<T, A>>, T, Result, A>;
  };
  using type = body<typename folded<S>::type...>;
};

}  // namespace sinter::cuda::detail
