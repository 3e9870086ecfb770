// Matrix products. Transposed operands are views of the operands, so `matmul(a, transpose(b))` reads b as it lies.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/expr/pointwise.hpp"
#include "sinter/expr/view.hpp"

namespace sinter {
namespace detail {

constexpr extents batch_of(const extents& shape) {
  return extents{shape.rank - 2, {shape[0], shape[1], shape[2], shape[3], shape[4], shape[5]}};
}
constexpr extents with_matrix(extents batch, number rows, number columns) {
  extents e{};
  for (int d = 0; d < batch.rank; ++d) e.push_back(batch[d]);
  e.push_back(rows), e.push_back(columns);
  return e;
}

}  // namespace detail

/// Matrix product of the last two dimensions: [..., M, K] × [..., K, N] → [..., M, N]; leading dimensions broadcast.
/// Dtypes promote; f16 and bf16 accumulate in fp32, f64 in fp64, integers in themselves. Errors: rank below two, inner
/// extents or leading dimensions that disagree. Source: torch.matmul.
template <dtype T, extents A, dtype U, extents B>
constexpr auto matmul(expr<T, A> a, expr<U, B> b) {
  constexpr bool ranks_fit = A.rank >= 2 && B.rank >= 2;
  constexpr number m = ranks_fit ? A[A.rank - 2] : 1, n = ranks_fit ? B[B.rank - 1] : 1;
  constexpr number k = ranks_fit ? A[A.rank - 1] : 1, k_of_b = ranks_fit ? B[B.rank - 2] : 1;
  constexpr broadcast_result batch =
      ranks_fit ? broadcast(detail::batch_of(A), detail::batch_of(B)) : broadcast_result{};
  constexpr dtype type = promote(T, U);
  constexpr extents shape = detail::with_matrix(batch.shape, m, n);
  trace* t = a.graph();
  if constexpr (!ranks_fit) detail::matmul_ranks<A.rank, B.rank>();
  if constexpr (!may_equal(k, k_of_b)) detail::matmul_inner_extents<k, k_of_b>();
  if constexpr (!batch.ok) detail::matmul_leading_extents<batch.axis, batch.a, batch.b>();
  if constexpr (!ranks_fit || !may_equal(k, k_of_b) || !batch.ok) {
    t->refused = true;
    return expr<type, shape>(t, t->add(op::constant, type, shape));
  }
  const origin_scope call(t, batch.shape.rank == 0 ? "mm" : "bmm");
  t->require_equal(k, k_of_b);
  const short left = detail::broadcasted(t, detail::widened(t, a.id(), type), detail::with_matrix(batch.shape, m, k));
  const short right = detail::broadcasted(t, detail::widened(t, b.id(), type), detail::with_matrix(batch.shape, k, n));
  return expr<type, shape>(t, t->add(op::matmul, type, shape, left, right));
}

/// x · weightᵀ (+ bias): x [..., in], weight [out, in], bias [out]. Source: torch.nn.functional.linear.
template <dtype T, extents X, dtype U, extents W>
constexpr auto linear(expr<T, X> x, expr<U, W> weight) {
  constexpr bool ranks_fit = X.rank >= 1 && W.rank == 2;
  constexpr number inner = ranks_fit ? X[X.rank - 1] : 1, inner_of_weight = ranks_fit ? W[1] : 1;
  if constexpr (!ranks_fit) detail::linear_ranks<X.rank, W.rank>();
  if constexpr (!may_equal(inner, inner_of_weight)) detail::linear_inner_extents<inner, inner_of_weight>();
  const origin_scope call(x.graph(), "linear");
  if constexpr (!ranks_fit || !may_equal(inner, inner_of_weight)) {
    x.graph()->refused = true;
    return expr<promote(T, U), X>(x.graph(), x.id());
  } else if constexpr (X.rank == 2) {
    return matmul(x, transpose(weight));
  } else {
    constexpr number rows = [] {
      number n = 1;
      for (int d = 0; d + 1 < X.rank; ++d) n = product(n, X[d]);
      return n;
    }();
    number n = 1;
    for (int d = 0; d + 1 < X.rank; ++d) n = x.graph()->numbers.product(n, X[d]);
    auto flat = matmul(detail::reshaped<extents{2, {rows, X[X.rank - 1]}}>(x), transpose(weight));
    constexpr extents shape = [] {
      extents e = X;
      e[X.rank - 1] = W[0];
      return e;
    }();
    return detail::reshaped<shape>(flat);
  }
}
template <dtype T, extents X, dtype U, extents W, dtype V, extents B>
constexpr auto linear(expr<T, X> x, expr<U, W> weight, expr<V, B> bias) {
  const origin_scope call(x.graph(), "linear");
  if constexpr (B.rank != 1 || !may_equal(B[0], W[0])) {
    detail::linear_bias<B.rank, B[0], W[0]>();
    x.graph()->refused = true;
    return linear(x, weight);
  } else {
    return linear(x, weight) + bias;
  }
}

}  // namespace sinter
