// Folds of a column's rows as a thread takes them that walks them in order, fewer than 2^31: numbers of 32 bits count
// them, and a later one of equals never wins. No CUDA header is needed here. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/base/math.hpp"
#include "sinter/base/op.hpp"
#include "sinter/base/reduction_ops.hpp"
#include "sinter/kernels/body.hpp"

namespace sinter::cuda::detail {

using walked_m2 = sinter::detail::folds::counted_m2<std::int32_t>;

template <bool Greatest>
struct walked_extreme : sinter::detail::folds::arg_extreme<Greatest, std::int32_t> {
  using base = sinter::detail::folds::arg_extreme<Greatest, std::int32_t>;
  template <class T>
  using state = typename base::template state<T>;

  /// Without a branch but for NaN: of the lanes of a warp some nearly always win. Those that are `in` come first.
  template <class T, int N, class At>
  SINTER_HOST_DEVICE static constexpr void take(state<T>& s, const T (&values)[N], const bool (&in)[N], const At& at) {
    T best = base::template init<T>().value;
    SINTER_UNROLL_ON_DEVICE
    for (int i = 0; i < N; ++i)
      if (in[i]) best = base::extreme(best, values[i]);
    auto place = static_cast<std::int32_t>(at(N - 1));
    SINTER_UNROLL_ON_DEVICE
    for (int i = N - 2; i >= 0; --i)
      if (math::both(in[i], values[i] == best)) place = static_cast<std::int32_t>(at(i));
    const bool begins = math::both(in[0], s.index == limits<std::int32_t>::highest());
    bool wins = math::either(begins, Greatest ? best > s.value : best < s.value);
    if (math::isnan(best)) {
      wins = !math::isnan(s.value);
      SINTER_UNROLL_ON_DEVICE
      for (int i = N - 1; i >= 0; --i)
        if (math::both(in[i], math::isnan(values[i]))) place = static_cast<std::int32_t>(at(i));
    }
    s = {wins ? best : s.value, wins ? place : s.index};
  }
};

/// The same beside a sum of the values, from which their mean follows.
struct summed_m2 {
  template <class T>
  struct state {
    T sum, m2;
    std::int32_t count;

    SINTER_HOST_DEVICE constexpr T total() const { return sum; }
    SINTER_HOST_DEVICE constexpr T mean() const {
      return math::detail::soft_div(sum, static_cast<T>(count == 0 ? 1 : count));
    }
  };
  template <class T>
  SINTER_HOST_DEVICE static constexpr state<T> init() {
    return {T(0), T(0), 0};
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr void step(state<T>& s, T value, std::int64_t) {
    const T d = s.count == 0 ? T(0) : value - s.mean();
    s = {s.sum + value, s.m2, s.count + 1};
    s.m2 += d * (value - s.mean());
  }
  /// Squares of deviations from the mean so far, or from one of the first values.
  template <class T, int N>
  SINTER_HOST_DEVICE static constexpr void take(state<T>& s, const T (&values)[N], const bool (&in)[N]) {
    T from = s.mean(), sum = T(0), squares = T(0);
    int count = 0;
    SINTER_UNROLL_ON_DEVICE
    for (int i = N - 1; i >= 0; --i)
      if (s.count == 0 && in[i]) from = values[i];
    SINTER_UNROLL_ON_DEVICE
    for (int i = 0; i < N; ++i) {
      const T d = in[i] ? values[i] - from : T(0);
      count += in[i];
      sum += in[i] ? values[i] : T(0);
      squares += d * d;
    }
    const T deviations = sum - from * static_cast<T>(count);
    s = {s.sum + sum, s.m2 + squares, s.count + count};
    s.m2 -= deviations * math::detail::soft_div(deviations, static_cast<T>(s.count == 0 ? 1 : s.count));
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr state<T> combine(const state<T>& a, const state<T>& b) {
    const std::int32_t count = a.count + b.count;
    const T share = math::detail::soft_div(static_cast<T>(b.count), static_cast<T>(count == 0 ? 1 : count)),
            d = b.mean() - a.mean();
    return {a.sum + b.sum, a.m2 + b.m2 + d * d * static_cast<T>(a.count) * share, count};
  }
  template <class T, class Lanes>
  SINTER_HOST_DEVICE static constexpr state<T> across(const state<T>& s, const Lanes& lanes) {
    state<T> all{lanes.sum(s.sum), T(0), lanes.sum(s.count)};
    const T d = s.mean() - all.mean();
    all.m2 = lanes.sum(s.m2 + d * static_cast<T>(s.count) * d);
    return all;
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr T finish(const state<T>& s) {
    return s.m2;
  }
};

template <class S>
struct walked_fold {
  using type = S;
};
template <class T, class Result, int A>
struct walked_fold<reduce<ops::argmax, T, Result, A>> {
  using type = reduce<walked_extreme<true>, T, Result, A>;
};
template <class T, class Result, int A>
struct walked_fold<reduce<ops::argmin, T, Result, A>> {
  using type = reduce<walked_extreme<false>, T, Result, A>;
};
template <class T, class Result, int A>
struct walked_fold<reduce<ops::m2, T, Result, A>> {
  using type = reduce<walked_m2, T, Result, A>;
};
/// The body with these folds in place of those that count in 64 bits.
template <class Body>
struct walked_body;
template <class... S>
struct walked_body<body<S...>> {
  using type = body<typename walked_fold<S>::type...>;
};

}  // namespace sinter::cuda::detail
