// Squared deviations where every thread of a row holds as many values: each sums those from the mean of its own, and
// two that combine know without counting how much their means add (Chan, Golub and LeVeque 1979). A variance then takes
// one meeting of the threads, not one for the mean and another. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>

#include "sinter/kernels/cuda/reduction/rows/m2_body.cuh"
#include "sinter/kernels/two_pass.hpp"

namespace sinter::cuda::detail {

/// ops::m2 of values that a thread takes all at once. States that combine are of as many values, or the second of none.
struct even_m2 {
  template <class T>
  struct state {
    T sum, squares;  // of the values; of how far they are from their mean
    T half;          // of one by their count; 0: none

    __device__ __forceinline__ T total() const { return sum; }
  };
  template <class T>
  static __device__ __forceinline__ state<T> init() {
    return {T(0), T(0), T(0)};
  }
  template <class T, int N>
  static __device__ __forceinline__ void take(state<T>& s, const T (&values)[N], const bool (&)[N]) {
    s.sum = sum_of(values, [](T v) { return v; });
    s.half = T(0.5) / T(N);
  }
  template <class T, int N>
  static __device__ __forceinline__ void take_again(state<T>& s, const T (&values)[N]) {
    const T mean = s.sum * (T(1) / T(N));
    s.squares = sum_of(values, [mean](T v) { return (v - mean) * (v - mean); });
  }
  template <class T>
  static __device__ __forceinline__ state<T> combine(const state<T>& a, const state<T>& b) {
    if (b.half == T(0)) return a;
    const T far = a.sum - b.sum;
    return {a.sum + b.sum, (a.squares + b.squares) + far * a.half * far, a.half * T(0.5)};
  }
  template <class T, class Lanes>
  static __device__ __forceinline__ state<T> across(const state<T>& s, const Lanes& lanes) {
    struct sums {
      T sum, squares;
    };
    T half = s.half;  // which lanes need not tell each other
    const sums all = lanes.all(sums{s.sum, s.squares}, [&half](const sums& a, const sums& b) {
      const state<T> both = combine<T>({a.sum, a.squares, half}, {b.sum, b.squares, T(1)});
      half = both.half;
      return sums{both.sum, both.squares};
    });
    return {all.sum, all.squares, half};
  }
  template <class T>
  static __device__ __forceinline__ T finish(const state<T>& s) {
    return s.squares;
  }

 private:
  template <class T, int N, class F>
  static __device__ __forceinline__ T sum_of(const T (&values)[N], const F& what) {
    constexpr int ways = N < 4 ? N : 4;  // independent ones
    T sums[ways];
#pragma unroll
    for (int i = 0; i < N; ++i) sums[i % ways] = i < ways ? what(values[i]) : sums[i % ways] + what(values[i]);
#pragma unroll
    for (int k = 1; k < ways; ++k) sums[0] += sums[k];
    return sums[0];
  }
};

/// The body for a kernel that holds rows of Rnumel elements in vectors of Width: this one, or Held, if its threads do
/// not all hold as many, or of what is not packed.
template <class Body, class Held, long Rnumel, int Width>
struct resident_body {
  static constexpr long groups = Rnumel > 0 && Rnumel % Width == 0 ? Rnumel / Width : 0;
  using even = typename m2_body<typename sinter::detail::two_pass<Body, Rnumel, false>::type, even_m2>::type;
  static constexpr bool is_even = groups > 0 && (groups & (groups - 1)) == 0 && phase_facts<even>::folds_evenly;
  using type = std::conditional_t<is_even, even, Held>;
};

}  // namespace sinter::cuda::detail
