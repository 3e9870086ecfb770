// Folds of a column's rows as a thread takes them that walks them in order, fewer than 2^31: numbers of 32 bits count
// them, and a later one of equals never wins. No CUDA header is needed here. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

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
