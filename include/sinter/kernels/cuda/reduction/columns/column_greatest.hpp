// A softmax's greatest value is part of the state of its sum of exponentials, so it needs no state of its own.
// No CUDA header is needed here. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include "sinter/kernels/cuda/phase_facts.hpp"

namespace sinter::cuda::detail {

/// A greatest value beside the sum of exponentials below it: the reduction in whose state it is, or -1.
template <class Body>
struct known_greatest;
template <class... S>
struct known_greatest<body<S...>> {
  using facts = body_facts<body<S...>>;
  template <int N>
  static constexpr int is = [] {
    constexpr bool greatest[] = {reduces_by<S, ops::amax>..., false}, has[] = {reduces_by<S, ops::sumexp>..., false};
    for (int k = 0; k < static_cast<int>(sizeof...(S)); ++k)
      if (greatest[N] && has[k] && facts::facts.info[k].operands[0] == facts::facts.info[N].operands[0] &&
          facts::facts.phase[k] == facts::facts.phase[N])
        return k;
    return -1;
  }();
};
/// The body without reductions whose results are part of other ones' states.
template <class Body, class Numbers = std::make_index_sequence<Body::size>>
struct without_known;
template <class... S, std::size_t... I>
struct without_known<body<S...>, std::index_sequence<I...>> {
  using type = body<std::conditional_t<(known_greatest<body<S...>>::template is<static_cast<int>(I)> >= 0),
                                       constant<float, 0>, S>...>;
};

}  // namespace sinter::cuda::detail
