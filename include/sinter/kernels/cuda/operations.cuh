// What a statement computes from its operands alone, lane by lane, every loop unrolled. An operation is named by its
// types, not by its statement's place in a body or by the frame: all statements that do the same share one function,
// and its name is short. A hundred functions with a body of a hundred statements in each name are what compilers wait
// for. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>

#include "sinter/base/op.hpp"
#include "sinter/kernels/body.hpp"
#include "sinter/kernels/cuda/fast_math.cuh"
#include "sinter/kernels/cuda/frame.cuh"
#include "sinter/kernels/cuda/quotient.cuh"

namespace sinter::cuda::detail {

/// Where a statement is evaluated, of which an operation needs nothing.
struct anywhere {};

/// Item u of an operation whose lanes are Self::value(a, b, c, lane).
template <class Self>
struct operation {
  template <int Width, class T, int Lanes, class A, class B, class C>
  static __device__ __forceinline__ void run(const anywhere&, int u, T (&own)[Lanes], A& a, B& b, C& c) {
    constexpr int width = Lanes < Width ? 1 : Width;
    if (u * width >= Lanes) return;
#pragma unroll
    for (int j = 0; j < width; ++j) {
      const int lane = u * width + j;
      own[lane] = Self::template value<Lanes>(a, b, c, lane);
    }
  }
};

template <class T, long Bits>
struct constantly : operation<constantly<T, Bits>> {
  template <int Lanes, class A, class B, class C>
  static __device__ __forceinline__ compute_t<T> value(A&, B&, C&, int) {
    if constexpr (std::is_floating_point_v<compute_t<T>>)
      return static_cast<compute_t<T>>(__builtin_bit_cast(double, Bits));
    else return static_cast<compute_t<T>>(Bits);
  }
};

/// The value of `To` nearest to one of its compute type. A bf16 is rounded as the upper half of a pair, which is its
/// float: rounded alone it would have to be shifted there.
template <class To>
__device__ __forceinline__ compute_t<To> rounded(compute_t<To> value) {
#if __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<To, bf16>) {
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(value), "f"(0.0f));
    return __uint_as_float(pair);
  }
#endif
  return widen<To>(narrow<To>(value));
}

template <class From, class To>
struct casting : operation<casting<From, To>> {
  template <int Lanes, class A, class B, class C>
  static __device__ __forceinline__ compute_t<To> value(A& a, B&, C&, int lane) {
    return rounded<To>(convert<To, From>(lane_in(a, lane)));
  }
};

template <class From, class To>
struct widening : operation<widening<From, To>> {
  template <int Lanes, class A, class B, class C>
  static __device__ __forceinline__ compute_t<To> value(A& a, B&, C&, int lane) {
    return convert<To, From>(lane_in(a, lane));
  }
};

template <class Op, class T, class Result, int Operands>
struct applying : operation<applying<Op, T, Result, Operands>> {
  template <int Lanes, class A, class B, class C>
  static __device__ __forceinline__ compute_t<Result> value(A& a, B& b, C& c, int lane) {
    using R = compute_t<Result>;
    using F = function_for<Op, T>;
    if constexpr (Operands == 3) return static_cast<R>(F::apply(lane_in(a, lane), lane_in(b, lane), lane_in(c, lane)));
    else if constexpr (Operands == 2) return static_cast<R>(F::apply(lane_in(a, lane), lane_in(b, lane)));
    else return static_cast<R>(F::apply(lane_in(a, lane)));
  }
};

/// Divisions of floats. One divisor has at least four numerators, or, `by_row`, those of a row that is streamed. Rough:
/// of 16-bit values by one of their row's.
template <class T, class Result, bool Rough, bool ByRow>
struct dividing : operation<dividing<T, Result, Rough, ByRow>> {
  template <int Lanes, class A, class D, int Divisors, class C>
  static __device__ __forceinline__ compute_t<Result> value(A& a, D (&b)[Divisors], C&, int lane) {
    using R = compute_t<Result>;
    using divisor = std::conditional_t<Rough && sizeof(T) == 2, rough_reciprocal<(Divisors > 1)>, reciprocal_divisor>;
    if constexpr (Lanes >= 4 * Divisors || ByRow)
      return static_cast<R>(divisor(lane_in(b, lane)).divide(lane_in(a, lane)));
    else return static_cast<R>(function_for<ops::div, T>::apply(lane_in(a, lane), lane_in(b, lane)));
  }
};

/// The operation of a statement; void: it needs to know where it is. ByRow: its second operand is a row's.
template <class S, bool Rough, bool ByRow>
struct operation_of {
  using type = void;
};
template <class T, long Bits, bool Rough, bool ByRow>
struct operation_of<constant<T, Bits>, Rough, ByRow> {
  using type = constantly<T, Bits>;
};
template <class From, class To, int A, bool Rough, bool ByRow>
struct operation_of<cast_to<From, To, A>, Rough, ByRow> {
  using type = casting<From, To>;
};
template <class From, class To, int A, bool Rough, bool ByRow>
struct operation_of<widen_to<From, To, A>, Rough, ByRow> {
  using type = widening<From, To>;
};
template <class Op, class T, class Result, int A, int B, int C, bool Rough, bool ByRow>
struct operation_of<compute<Op, T, Result, A, B, C>, Rough, ByRow> {
  using type = std::conditional_t<std::is_same_v<Op, ops::div> && std::is_same_v<compute_t<T>, float>,
                                  dividing<T, Result, Rough, ByRow>,
                                  applying<Op, T, Result,
                                           (C >= 0   ? 3
                                            : B >= 0 ? 2
                                                     : 1)>>;
};

}  // namespace sinter::cuda::detail
