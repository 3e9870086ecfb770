// Elements chosen by a mask or by their place: masked_fill, tril, triu, one_hot. Written with where and iota, which a
// kernel computes and nobody stores.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/expr/index.hpp"

namespace sinter {

/// `value` where the mask is true, x elsewhere, in x's dtype; mask and x broadcast. Source: torch.masked_fill.
template <dtype T, extents S, dtype M, extents N, detail::scalar_operand V>
constexpr auto masked_fill(expr<T, S> x, expr<M, N> mask, V value) {
  trace* t = x.graph();
  const origin_scope call(t, "masked_fill");
  return where(mask, expr<T, extents{}>(t, detail::node_of(t, value, T, extents{})), x);
}

/// x up to diagonal K of its last two axes, zero above it. Any dtype. Source: torch.tril.
template <long K = 0, dtype T, extents S>
constexpr expr<T, S> tril(expr<T, S> x) {
  const origin_scope call(x.graph(), "tril");
  if constexpr (S.rank < 2) {
    detail::tril_rank<S.rank>();
    x.graph()->refused = true;
    return x;
  } else {
    return where(iota<-1>(x) - iota<-2>(x) <= c<K>, x, full_like(x, c<0>));
  }
}
/// x from diagonal K of its last two axes on, zero below it. Any dtype. Source: torch.triu.
template <long K = 0, dtype T, extents S>
constexpr expr<T, S> triu(expr<T, S> x) {
  const origin_scope call(x.graph(), "triu");
  if constexpr (S.rank < 2) {
    detail::triu_rank<S.rank>();
    x.graph()->refused = true;
    return x;
  } else {
    return where(iota<-1>(x) - iota<-2>(x) >= c<K>, x, full_like(x, c<0>));
  }
}

/// i64 [extents of index, Classes]: one at the class that an integer index names, zero elsewhere; all zero where there
/// is no such class. Source: torch.nn.functional.one_hot.
template <long Classes, dtype I, extents J>
constexpr auto one_hot(expr<I, J> index) {
  trace* t = index.graph();
  constexpr bool fits = Classes > 0 && J.rank < max_rank;
  if constexpr (!fits) detail::one_hot_extents<Classes, J.rank>();
  if constexpr (!is_integral(I)) detail::one_hot_index_type<I>();
  const origin_scope call(t, "one_hot");
  if constexpr (!fits || !is_integral(I)) {
    t->refused = true;
    return cast<std::int64_t>(index);
  } else {
    constexpr extents shape = [] {
      extents e = J;
      e.push_back(Classes);
      return e;
    }();
    auto column = unsqueeze<-1>(index);
    return cast<std::int64_t>(column == iota<-1>(expr<I, shape>(t, detail::expanded(t, column.id(), shape))));
  }
}

}  // namespace sinter
