// Matrix products. Transposed operands are views of the operands, so `matmul(a, transpose(b))` reads b as it lies.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/expr/pointwise.hpp"
#include "sinter/expr/view.hpp"

namespace sinter {
namespace detail {

constexpr extents batch_of(const extents& shape) { return extents{shape.rank - 2, {shape[0], shape[1], shape[2], shape[3], shape[4], shape[5]}}; }
constexpr extents with_matrix(extents batch, number rows, number columns) {
  extents e{};
  for (int d = 0; d < batch.rank; ++d) e.push_back(batch[d]);
  e.push_back(rows), e.push_back(columns);
  return e;
}

/// The message's numbers: inner extents of a and b (symbolic ones print as large negative numbers).
template <number InnerA, number InnerB>
struct matmul_inner_extents {
  static_assert(may_equal(InnerA, InnerB),
                "matmul(a, b): inner extents differ; transpose an operand or check the shapes");
};

}  // namespace detail

/// Matrix product of the last two dimensions: [..., M, K] × [..., K, N] → [..., M, N]; leading dimensions broadcast.
/// Dtypes promote; f16 and bf16 accumulate in fp32, f64 in fp64, integers in themselves. Errors: rank below two, inner
/// extents or leading dimensions that disagree. Source: torch.matmul.
template <dtype T, extents A, dtype U, extents B>
constexpr auto matmul(expr<T, A> a, expr<U, B> b) {
  static_assert(A.rank >= 2 && B.rank >= 2, "matmul(a, b): both operands need at least two dimensions; unsqueeze a vector");
  constexpr bool ranks_fit = A.rank >= 2 && B.rank >= 2;
  constexpr number m = ranks_fit ? A[A.rank - 2] : 1, k = ranks_fit ? A[A.rank - 1] : 1, n = ranks_fit ? B[B.rank - 1] : 1;
  constexpr detail::matmul_inner_extents<k, ranks_fit ? B[B.rank - 2] : k> inner{};
  (void)inner;
  constexpr broadcast_result batch = ranks_fit ? broadcast(detail::batch_of(A), detail::batch_of(B)) : broadcast_result{};
  static_assert(batch.ok, "matmul(a, b): the leading dimensions do not broadcast");
  constexpr dtype type = promote(T, U);
  constexpr extents shape = detail::with_matrix(batch.shape, m, n);
  trace* t = a.graph();
  const origin_scope call(t, batch.shape.rank == 0 ? "mm" : "bmm");
  t->require_equal(k, B[B.rank - 2]);
  const short left = detail::broadcasted(t, detail::widened(t, a.id(), type), detail::with_matrix(batch.shape, m, k));
  const short right = detail::broadcasted(t, detail::widened(t, b.id(), type), detail::with_matrix(batch.shape, k, n));
  return expr<type, shape>(t, t->add(op::matmul, type, shape, left, right));
}

/// x · weightᵀ (+ bias): x [..., in], weight [out, in], bias [out]. Source: torch.nn.functional.linear.
template <dtype T, extents X, dtype U, extents W>
constexpr auto linear(expr<T, X> x, expr<U, W> weight) {
  static_assert(W.rank == 2, "linear(x, weight): the weight must be [out, in]");
  const origin_scope call(x.graph(), "linear");
  if constexpr (X.rank == 2) {
    return matmul(x, transpose(weight));
  } else {
    static_assert(X.rank >= 2, "linear(x, weight): x needs at least two dimensions; unsqueeze a vector");
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
  static_assert(B.rank == 1 && B[0] == W[0], "linear(x, weight, bias): the bias must have one element per row of the weight");
  const origin_scope call(x.graph(), "linear");
  return linear(x, weight) + bias;
}

}  // namespace sinter
