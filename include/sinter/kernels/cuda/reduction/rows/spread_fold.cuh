// Sums and sums of squared deviations of the same values, which a variance's mean and its m2 are, as one fold: how far
// the values are from one of them, and the squares of that. For threads that have few values of a row, so that what
// cancels is little: see spread.cuh. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/base/math.hpp"
#include "sinter/kernels/cuda/reduction/rows/m2_body.cuh"
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

}  // namespace sinter::cuda::detail
