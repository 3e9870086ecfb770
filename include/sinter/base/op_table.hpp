// The op table: one row per op, from which everything else follows (enumerators, names, tags, the users' functions,
// shape and dtype inference, host and CUDA kernels). Adding a pointwise op is one row here and one test.
// What a scalar function computes is math.hpp's and arithmetic.hpp's matter; how a reduction folds reduction_ops.hpp's.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/base/arithmetic.hpp"
#include "sinter/base/math.hpp"

// X(name, arity, kind): what a graph is made of besides pointwise ops and reductions.
#define SINTER_STRUCTURAL_OPS(X) \
  X(input, 0, source)            \
  X(constant, 0, source)         \
  X(scalar, 0, source)           \
  X(iota, 0, source)             \
  X(empty, 0, source)            \
  X(cast, 1, pointwise)          \
  X(widen, 1, pointwise)         \
  X(permute, 1, view)            \
  X(reshape, 1, view)            \
  X(slice, 1, view)              \
  X(broadcast, 1, view)          \
  X(gather, 2, indexing)         \
  X(concat, 2, indexing)         \
  X(pad, 2, indexing)            \
  X(assign, 2, memory)           \
  X(scatter, 3, memory)          \
  X(matmul, 2, matmul)           \
  X(custom, 3, custom)

// X(name, arity, rule, meaning): the operands are x, y, z, in compute types. The rules are explained at dtype_rule.
#define SINTER_POINTWISE_OPS(X)                                           \
  X(clone, 1, keep, x)                                                    \
  X(realize, 1, keep, x)                                                  \
  /* arithmetic */                                                        \
  X(add, 2, keep, math::add(x, y))                                        \
  X(sub, 2, numeric, math::sub(x, y))                                     \
  X(mul, 2, keep, math::mul(x, y))                                        \
  X(div, 2, floating, math::div(x, y))                                    \
  X(floor_divide, 2, numeric, math::floor_divide(x, y))                   \
  X(remainder, 2, numeric, math::remainder(x, y))                         \
  X(fmod, 2, numeric, math::fmod(x, y))                                   \
  X(pow, 2, numeric, math::pow(x, y))                                     \
  X(atan2, 2, floating, math::atan2(x, y))                                \
  X(hypot, 2, floating, math::hypot(x, y))                                \
  X(copysign, 2, floating, math::copysign(x, y))                          \
  X(minimum, 2, keep, math::minimum(x, y))                                \
  X(maximum, 2, keep, math::maximum(x, y))                                \
  X(fmin, 2, keep, math::fmin(x, y))                                      \
  X(fmax, 2, keep, math::fmax(x, y))                                      \
  X(neg, 1, numeric, math::neg(x))                                        \
  X(abs, 1, numeric, math::abs(x))                                        \
  X(sign, 1, keep, math::sign(x))                                         \
  X(square, 1, numeric, math::mul(x, x))                                  \
  X(reciprocal, 1, floating, math::div(T(1), x))                          \
  X(clamp, 3, numeric, math::clamp(x, y, z))                              \
  X(where, 3, select, math::where(x, y, z))                               \
  X(lerp, 3, floating, math::lerp(x, y, z))                               \
  X(fma, 3, numeric, math::fma(x, y, z))                                  \
  /* comparisons, logic, bits */                                          \
  X(eq, 2, comparison, x == y)                                            \
  X(ne, 2, comparison, x != y)                                            \
  X(lt, 2, comparison, x < y)                                             \
  X(le, 2, comparison, x <= y)                                            \
  X(gt, 2, comparison, x > y)                                             \
  X(ge, 2, comparison, x >= y)                                            \
  X(isnan, 1, comparison, math::isnan(x))                                 \
  X(isinf, 1, comparison, math::isinf(x))                                 \
  X(isfinite, 1, comparison, math::isfinite(x))                           \
  X(logical_and, 2, logical, math::both(math::truth(x), math::truth(y)))  \
  X(logical_or, 2, logical, math::either(math::truth(x), math::truth(y))) \
  X(logical_xor, 2, logical, math::truth(x) != math::truth(y))            \
  X(logical_not, 1, logical, math::logical_not(x))                        \
  X(bitwise_and, 2, bitwise, static_cast<T>(x & y))                       \
  X(bitwise_or, 2, bitwise, static_cast<T>(x | y))                        \
  X(bitwise_xor, 2, bitwise, static_cast<T>(x ^ y))                       \
  X(bitwise_not, 1, bitwise, math::bitwise_not(x))                        \
  X(bitwise_left_shift, 2, shift, math::left_shift(x, y))                 \
  X(bitwise_right_shift, 2, shift, math::right_shift(x, y))               \
  /* elementary functions */                                              \
  X(sqrt, 1, floating, math::sqrt(x))                                     \
  X(rsqrt, 1, floating, math::rsqrt(x))                                   \
  X(exp, 1, floating, math::exp(x))                                       \
  X(exp2, 1, floating, math::exp2(x))                                     \
  X(expm1, 1, floating, math::expm1(x))                                   \
  X(log, 1, floating, math::log(x))                                       \
  X(log2, 1, floating, math::log2(x))                                     \
  X(log10, 1, floating, math::log10(x))                                   \
  X(log1p, 1, floating, math::log1p(x))                                   \
  X(sin, 1, floating, math::sin(x))                                       \
  X(cos, 1, floating, math::cos(x))                                       \
  X(tan, 1, floating, math::tan(x))                                       \
  X(asin, 1, floating, math::asin(x))                                     \
  X(acos, 1, floating, math::acos(x))                                     \
  X(atan, 1, floating, math::atan(x))                                     \
  X(sinh, 1, floating, math::sinh(x))                                     \
  X(cosh, 1, floating, math::cosh(x))                                     \
  X(tanh, 1, floating, math::tanh(x))                                     \
  X(asinh, 1, floating, math::asinh(x))                                   \
  X(acosh, 1, floating, math::acosh(x))                                   \
  X(atanh, 1, floating, math::atanh(x))                                   \
  X(erf, 1, floating, math::erf(x))                                       \
  X(erfc, 1, floating, math::erfc(x))                                     \
  X(lgamma, 1, floating, math::lgamma(x))                                 \
  X(floor, 1, numeric, math::floor(x))                                    \
  X(ceil, 1, numeric, math::ceil(x))                                      \
  X(round, 1, numeric, math::round(x))                                    \
  X(trunc, 1, numeric, math::trunc(x))                                    \
  X(frac, 1, floating, x - math::trunc(x))                                \
  /* activations */                                                       \
  X(relu, 1, numeric, math::relu(x))                                      \
  X(relu6, 1, numeric, math::clamp(x, T(0), T(6)))                        \
  X(leaky_relu, 2, floating, math::select(x > T(0), x, x * y))            \
  X(elu, 2, floating, math::elu(x, y))                                    \
  X(selu, 1, floating, math::selu(x))                                     \
  X(gelu, 1, floating, math::gelu(x))                                     \
  X(gelu_tanh, 1, floating, math::gelu_tanh(x))                           \
  X(sigmoid, 1, floating, math::sigmoid(x))                               \
  X(silu, 1, floating, math::silu(x))                                     \
  X(logsigmoid, 1, floating, math::logsigmoid(x))                         \
  X(softplus, 1, floating, math::softplus(x))                             \
  X(mish, 1, floating, math::mish(x))                                     \
  X(hardsigmoid, 1, floating, math::hardsigmoid(x))                       \
  X(hardswish, 1, floating, x* math::hardsigmoid(x))                      \
  X(hardtanh, 3, numeric, math::clamp(x, y, z))                           \
  X(softsign, 1, floating, math::div(x, T(1) + math::abs(x)))             \
  X(tanhshrink, 1, floating, x - math::tanh(x))

// X(name, rule): the folds are in reduction_ops.hpp.
#define SINTER_REDUCTION_OPS(X) \
  X(sum, accumulate)            \
  X(prod, accumulate)           \
  X(amax, keep)                 \
  X(amin, keep)                 \
  X(any, comparison)            \
  X(all, comparison)            \
  X(argmax, index)              \
  X(argmin, index)              \
  X(m2, floating)               \
  X(sumexp, floating)           \
  X(logsumexp, floating)

// X(name, rule, fold): a scan's element is the fold of all up to it; the folds are in reduction_ops.hpp.
#define SINTER_SCAN_OPS(X)     \
  X(cumsum, accumulate, sum)   \
  X(cumprod, accumulate, prod) \
  X(cummax, keep, amax)        \
  X(cummin, keep, amin)        \
  X(logcumsumexp, floating, logsumexp)
