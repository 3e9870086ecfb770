// Neural-network compositions. Each is written in primitives and remembers only its name: fusing softmax into one
// kernel is the scheduler's work. SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/expr/custom.hpp"
#include "sinter/expr/index.hpp"
#include "sinter/expr/matmul.hpp"
#include "sinter/expr/reduction.hpp"
#include "sinter/expr/scan.hpp"
#include "sinter/expr/scatter.hpp"
#include "sinter/expr/select.hpp"

namespace sinter {

/// exp(x - max) / sum over the given axes. Integers are computed in f32. Source: torch.softmax.
template <dtype T, extents S, long... Axes>
constexpr auto softmax(expr<T, S> x, axis_list<Axes...> axes) {
  const origin_scope call(x.graph(), "softmax");
  if constexpr (!detail::distinct_axes<S.rank>(decltype(axes){})) {
    detail::softmax_axes<S.rank, Axes...>();
    x.graph()->refused = true;
    return exp(x);
  } else {
    auto e = exp(x - amax(x, axes, keepdim));
    return e / sum(e, axes, keepdim);
  }
}

template <dtype T, extents S>
constexpr auto softmax(expr<T, S> x) {
  return softmax(x, axis<-1>);
}

/// x - logsumexp(x) over the given axes. Source: torch.log_softmax.
template <dtype T, extents S, long... Axes>
constexpr auto log_softmax(expr<T, S> x, axis_list<Axes...> axes) {
  const origin_scope call(x.graph(), "log_softmax");
  if constexpr (!detail::distinct_axes<S.rank>(decltype(axes){})) {
    detail::log_softmax_axes<S.rank, Axes...>();
    x.graph()->refused = true;
    return exp(x);
  } else {
    auto shifted = x - amax(x, axes, keepdim);
    return shifted - log(sum(exp(shifted), axes, keepdim));
  }
}

template <dtype T, extents S>
constexpr auto log_softmax(expr<T, S> x) {
  return log_softmax(x, axis<-1>);
}

namespace detail {
/// Whether a weight of extents W fits the last axis of x.
constexpr bool fits_last_axis(const extents& x, const extents& w) {
  return x.rank >= 1 && w.rank == 1 && may_equal(x[x.rank - 1], w[0]);
}
}  // namespace detail

/// (x - mean) / sqrt(var + epsilon) [* weight [+ bias]] over the last axis. Source: torch.nn.functional.layer_norm.
template <dtype T, extents S, detail::scalar_operand E>
constexpr auto layer_norm(expr<T, S> x, E epsilon) {
  const origin_scope call(x.graph(), "layer_norm");
  if constexpr (S.rank == 0) {
    detail::layer_norm_rank<S.rank>();
    x.graph()->refused = true;
    return rsqrt(x);
  } else {
    auto centre = mean(x, axis<-1>, keepdim);
    auto variance = var<0>(x, axis<-1>, keepdim);
    return (x - centre) * rsqrt(variance + epsilon);
  }
}
template <dtype T, extents S, dtype U, extents W, detail::scalar_operand E>
constexpr auto layer_norm(expr<T, S> x, expr<U, W> weight, E epsilon) {
  const origin_scope call(x.graph(), "layer_norm");
  if constexpr (!detail::fits_last_axis(S, W) && S.rank > 0) {
    detail::layer_norm_weight<W.rank, S[S.rank - 1], W[0]>();
    x.graph()->refused = true;
    return layer_norm(x, epsilon);
  } else {
    return layer_norm(x, epsilon) * weight;
  }
}
template <dtype T, extents S, dtype U, extents W, dtype V, extents B, detail::scalar_operand E>
constexpr auto layer_norm(expr<T, S> x, expr<U, W> weight, expr<V, B> bias, E epsilon) {
  const origin_scope call(x.graph(), "layer_norm");
  if constexpr (!detail::fits_last_axis(S, B) && S.rank > 0) {
    detail::layer_norm_weight<B.rank, S[S.rank - 1], B[0]>();
    x.graph()->refused = true;
    return layer_norm(x, weight, epsilon);
  } else {
    return layer_norm(x, weight, epsilon) + bias;
  }
}

/// x / sqrt(mean(x²) + epsilon) [* weight] over the last axis. Source: torch.nn.functional.rms_norm.
template <dtype T, extents S, detail::scalar_operand E>
constexpr auto rms_norm(expr<T, S> x, E epsilon) {
  const origin_scope call(x.graph(), "rms_norm");
  if constexpr (S.rank == 0) {
    detail::rms_norm_rank<S.rank>();
    x.graph()->refused = true;
    return rsqrt(x);
  } else {
    return x * rsqrt(mean(square(x), axis<-1>, keepdim) + epsilon);
  }
}
template <dtype T, extents S, dtype U, extents W, detail::scalar_operand E>
constexpr auto rms_norm(expr<T, S> x, expr<U, W> weight, E epsilon) {
  const origin_scope call(x.graph(), "rms_norm");
  if constexpr (!detail::fits_last_axis(S, W) && S.rank > 0) {
    detail::rms_norm_weight<W.rank, S[S.rank - 1], W[0]>();
    x.graph()->refused = true;
    return rms_norm(x, epsilon);
  } else {
    return rms_norm(x, epsilon) * weight;
  }
}

/// mean((a - b)²), a rank-0 result; a and b broadcast and promote. Source: torch.nn.functional.mse_loss.
template <dtype T, extents A, dtype U, extents B>
constexpr auto mse_loss(expr<T, A> a, expr<U, B> b) {
  const origin_scope call(a.graph(), "mse_loss");
  return mean(square(a - b));
}

namespace detail {
/// Whether targets J of type I name a class in each row of S.
constexpr bool names_classes(const extents& s, const extents& j, dtype i) {
  return s.rank == 2 && j.rank == 1 && may_equal(s[0], j[0]) && is_integral(i);
}
/// Of each row, the element that its target names.
template <dtype T, extents S, dtype I, extents J>
constexpr auto at_targets(expr<T, S> rows, expr<I, J> targets) {
  return squeeze<-1>(gather<-1>(rows, unsqueeze<-1>(targets)));
}
}  // namespace detail

/// Mean over rows of -log_probs[target]: log_probs [rows, classes], integer targets [rows]; a rank-0 result in the
/// dtype of log_probs. Source: torch.nn.functional.nll_loss.
template <dtype T, extents S, dtype I, extents J>
constexpr auto nll_loss(expr<T, S> log_probs, expr<I, J> targets) {
  const origin_scope call(log_probs.graph(), "nll_loss");
  if constexpr (!detail::names_classes(S, J, I)) {
    detail::nll_loss_operands<S, J, I>();
    log_probs.graph()->refused = true;
    return mean(log_probs);
  } else {
    return -mean(detail::at_targets(log_probs, targets));
  }
}

/// Mean over rows of -log softmax(logits)[target]: logits [rows, classes], integer targets [rows]; a rank-0 result in
/// the logits' dtype. Source: torch.nn.functional.cross_entropy.
template <dtype T, extents S, dtype I, extents J>
constexpr auto cross_entropy(expr<T, S> logits, expr<I, J> targets) {
  const origin_scope call(logits.graph(), "cross_entropy");
  if constexpr (!detail::names_classes(S, J, I)) {
    detail::cross_entropy_operands<S, J, I>();
    logits.graph()->refused = true;
    return mean(logits);
  } else {
    return mean(logsumexp(logits, axis<-1>) - detail::at_targets(logits, targets));
  }
}

}  // namespace sinter
