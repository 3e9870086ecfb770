// Sums of squared deviations by a fold that suits the kernel better than ops::m2, of whose state the sum of the same
// values, which a variance's mean takes, is a part: one fold for both. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include "sinter/kernels/cuda/combine.cuh"

namespace sinter::cuda::detail {

/// ops::sum of the values of which statement M folds the squared deviations: its state tells it.
template <int M>
struct sum_of_m2 {
  template <class T>
  struct state {};
};

}  // namespace sinter::cuda::detail

template <int M, class T, class Result, int A>
inline constexpr int sinter::detail::state_bytes<sinter::reduce<sinter::cuda::detail::sum_of_m2<M>, T, Result, A>> = 0;

namespace sinter::cuda::detail {

template <int M, class T, class Result, int A>
inline constexpr int part_of<reduce<sum_of_m2<M>, T, Result, A>> = M;

/// Does S reduce value A, of type T, by Op?
template <class S, class Op, class T, int A>
inline constexpr bool reduces_value = false;
template <class Op, class T, class Result, int A>
inline constexpr bool reduces_value<reduce<Op, T, Result, A>, Op, T, A> = true;

/// The body with M2 in place of ops::m2; or only where a sum of the same values is a part of it, if BesideSum.
template <class Body, class M2, bool BesideSum = false, class Numbers = std::make_index_sequence<Body::size>>
struct m2_body;
template <class... S, class M2, bool BesideSum, std::size_t... I>
struct m2_body<body<S...>, M2, BesideSum, std::index_sequence<I...>> {
  /// The statement that folds the same values so, or -1.
  template <class T, int A>
  static constexpr int m2_of = [] {
    int found = -1;
    ((reduces_value<S, ops::m2, T, A> ? void(found = static_cast<int>(I)) : void()), ...);
    return found;
  }();
  template <class Statement>
  struct folded {
    using type = Statement;
  };
  template <class T, class Result, int A>
  requires(!BesideSum || (reduces_value<S, ops::sum, T, A> || ...)) struct folded<reduce<ops::m2, T, Result, A>> {
    using type = reduce<M2, T, Result, A>;
  };
  template <class T, class Result, int A>
  requires(m2_of<T, A> >= 0) struct folded<reduce<ops::sum, T, Result, A>> {
    using type = reduce<sum_of_m2<m2_of<T, A>>, T, Result, A>;
  };
  using type = body<typename folded<S>::type...>;
};

}  // namespace sinter::cuda::detail
