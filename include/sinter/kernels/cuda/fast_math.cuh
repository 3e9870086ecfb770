// Functions of 16-bit values on the device. What is declared f16 or bf16 would be rounded to it after every op if it
// were stored, so a function need not be better than a quarter of the dtype's unit in the last place; CUDA's float
// functions cost several times as much, enough to miss the memory's speed. options.exact_math keeps CUDA's.
// An op without a row here is computed as in float. What an op means is base/op_table.hpp's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>

#include "sinter/base/arithmetic.hpp"
#include "sinter/base/device_math.hpp"
#include "sinter/base/dtype.hpp"
#include "sinter/base/op.hpp"
#include "sinter/kernels/cuda/phase_facts.hpp"

namespace sinter::cuda::detail {

namespace fast {

__device__ __forceinline__ float exp2(float x) {
  float y = 0;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
using math::device::reciprocal;
// For f16 and bf16: relative errors of at most 2^-16 from the exponential, whose argument is below 128 in size.
struct exp {
  static __device__ __forceinline__ float apply(float x) { return exp2(x * 0x1.715476p+0f); }
};
struct sigmoid {
  static __device__ __forceinline__ float apply(float x) { return reciprocal(1.0f + exp::apply(-x)); }
};
struct silu {
  static __device__ __forceinline__ float apply(float x) { return x * reciprocal(1.0f + exp::apply(-x)); }
};
struct gelu_tanh {
  static __device__ __forceinline__ float apply(float x) {
    const float u = x * (1.5957691216057308f + 0.07135481627159863f * x * x);  // 2 sqrt(2/pi) (x + 0.044715 x^3)
    return x * reciprocal(1.0f + exp::apply(-u));
  }
};

template <class T>
struct tanh;
// For bf16: relative errors of at most 2^-11, for f16 2^-14.
template <>
struct tanh<bf16> {
  static __device__ __forceinline__ float apply(float x) {
    float y = 0;
    asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
  }
};
/// One function of the slow units, where an exponential and its reciprocal would be two.
template <>
struct tanh<f16> {
  static __device__ __forceinline__ float apply(float x) {
    if (::fabsf(x) > 5.0f) x = ::copysignf(5.0f, x);  // 1 - 2^-13.4
    const float z = x * x;
    const float p = ::__fmaf_rn(::__fmaf_rn(0x1.5f9ae8p-11f, z, 0x1.a383e4p-4f), z, 0x1.fff944p-1f);
    const float q = ::__fmaf_rn(::__fmaf_rn(0x1.a41b9ap-7f, z, 0x1.bde310p-2f), z, 1.0f);
    return x * p * reciprocal(q);
  }
};

/// max(x, 0) - |x| times the tail of the normal distribution, whose logarithm to base 2 is a polynomial up to 5.9: one
/// function of the slow units. Relative errors of at most 2^-10.2 for bf16, 2^-13.7 for f16, where |x| < 4.2; below
/// -4.2 at most 1.5e-8 absolute besides.
template <class T>
inline constexpr float log2_tail[] = {-0x1.004c1cp+0f, -0x1.2324bep+0f, -0x1.f1813ep-2f, -0x1.1a2338p-5f,
                                      0x1.29295ap-9f};
template <>
inline constexpr float log2_tail<f16>[] = {-0x1.0006d2p+0f, -0x1.2640d0p+0f, -0x1.dab200p-2f,
                                           -0x1.8e89a0p-5f, 0x1.85fd8ep-8f,  -0x1.5d754ep-12f};
template <class T>
struct gelu {
  static __device__ __forceinline__ float apply(float x) {
    const float a = math::minimum(::fabsf(x), 14.0f);  // of infinities a tail would be NaN
    return ::__fmaf_rn(-a, exp2(math::device::horner<log2_tail<T>>(a)), ::fmaxf(x, 0.0f));
  }
};

/// By the same tail; up to one by a polynomial. Relative errors of at most 2^-12.6 for bf16, 2^-15 for f16.
template <class T>
struct erf {
  static constexpr float root[] = {0x1.20db60p+0f, -0x1.8023ccp-2f, 0x1.b9afccp-4f, -0x1.2ceeb8p-6f};
  static __device__ __forceinline__ float apply(float x) {
    const float a = math::minimum(::fabsf(x), 8.0f) * 0x1.6a09e6p+0f;
    const float beyond = ::__fmaf_rn(-2.0f, exp2(math::device::horner<log2_tail<T>>(a)), 1.0f);
    return ::fabsf(x) < 1.0f ? x * math::device::horner<root>(x * x) : ::copysignf(beyond, x);
  }
};

/// Absolute errors of at most 2^-22 from a half to two, elsewhere as small relative ones; of subnormals, too.
__device__ __forceinline__ float log2(float x) {
  float y = 0;
  asm("lg2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
inline constexpr float ln_2 = 0x1.62e430p-1f;

// Relative errors of at most 2^-14.8, where the difference would cancel by a polynomial.
struct expm1 {
  static __device__ __forceinline__ float apply(float x) {
    const float p = ::__fmaf_rn(::__fmaf_rn(::__fmaf_rn(x, 1 / 24.0f, 1 / 6.0f), x, 0.5f), x, 1.0f);
    return ::fabsf(x) < 0.25f ? x * p : exp::apply(x) - 1.0f;
  }
};
struct elu {
  static __device__ __forceinline__ float apply(float x, float alpha) { return x < 0.0f ? alpha * expm1::apply(x) : x; }
};
struct selu {
  static __device__ __forceinline__ float apply(float x) {
    return 1.0507009873554804934f * elu::apply(x, 1.6732632423543772848f);
  }
};
// The same, of at most 2^-16.
struct log1p {
  static __device__ __forceinline__ float apply(float x) {
    const float p = ::__fmaf_rn(::__fmaf_rn(::__fmaf_rn(::__fmaf_rn(x, 0.2f, -0.25f), x, 1 / 3.0f), x, -0.5f), x, 1.0f);
    return ::fabsf(x) < 0.125f ? x * p : log2(1.0f + x) * ln_2;
  }
};
/// PyTorch's threshold of 20.
struct softplus {
  static __device__ __forceinline__ float apply(float x) { return x > 20.0f ? x : log1p::apply(exp::apply(x)); }
};
struct logsigmoid {
  static __device__ __forceinline__ float apply(float x) {
    return math::minimum(x, 0.0f) - log1p::apply(exp::apply(-::fabsf(x)));
  }
};
// Of bf16 values, of which none but one is nearer to one than 2^-8: relative errors of at most 2^-14.
template <int Of>
struct log_to_base {
  static __device__ __forceinline__ float apply(float x) {
    return log2(x) * (Of == 2 ? 1.0f : Of == 10 ? 0x1.344136p-2f : ln_2);
  }
};
/// By the arc tangent of the smaller side by the larger. Relative errors of at most 2^-14.9, where neither is out of
/// the ordinary.
struct atan2 {
  static constexpr float root[] = {0x1.fffc12p-1f, -0x1.53a962p-2f, 0x1.7b525cp-3f, -0x1.788802p-4f, 0x1.86fa62p-6f};
  static __device__ __forceinline__ float apply(float y, float x) {
    const float a = ::fabsf(x), b = ::fabsf(y), larger = ::fmaxf(a, b);
    if (!(larger > 0x1p-100f && larger < 0x1p+100f && a == a && b == b)) return far_atan2(y, x);
    const float r = ::fminf(a, b) * reciprocal(larger);
    float angle = r * math::device::horner<root>(r * r);
    if (b > a) angle = 0x1.921fb6p+0f - angle;
    if (x < 0.0f) angle = 0x1.921fb6p+1f - angle;
    return ::copysignf(angle, y);
  }
  static __device__ __noinline__ float far_atan2(float y, float x) { return ::atan2f(y, x); }
};
/// 2 to the product, for exponents that leave the logarithm's errors small.
struct pow {
  static __device__ __forceinline__ float apply(float x, float y) {
    if (!(::fabsf(y) <= 32.0f)) return ::powf(x, y);
    if (y == 0.0f) return 1.0f;
    const float size = ::fabsf(x), power = exp2(y * log2(size)), whole = ::truncf(y);
    const bool odd = y == whole && (static_cast<int>(whole) & 1) != 0;
    if (x < 0.0f && y != whole && size <= 0x1.fffffep+127f) return ::nanf("");
    return odd ? ::copysignf(power, x) : power;
  }
};

}  // namespace fast

/// What computes Op on operands declared as T.
template <class Op, class T>
struct function_of {
  using type = Op;
};
#define SINTER_FAST(name, dtype, ...)                                                  \
  static_assert(is_light_of<ops::name, dtype>, "phase_facts.hpp names this one, too"); \
  template <>                                                                          \
  struct function_of<ops::name, dtype> {                                               \
    using type = fast::__VA_ARGS__;                                                    \
  };
#define SINTER_FAST_16_BIT(name) SINTER_FAST(name, f16, name) SINTER_FAST(name, bf16, name)
SINTER_FAST_16_BIT(exp)
SINTER_FAST_16_BIT(sigmoid)
SINTER_FAST_16_BIT(silu)
SINTER_FAST_16_BIT(gelu_tanh)
SINTER_FAST(gelu, f16, gelu<f16>)
SINTER_FAST(gelu, bf16, gelu<bf16>)
SINTER_FAST(erf, f16, erf<f16>)
SINTER_FAST(erf, bf16, erf<bf16>)
SINTER_FAST(tanh, f16, tanh<f16>)
SINTER_FAST(tanh, bf16, tanh<bf16>)
SINTER_FAST_16_BIT(expm1)
SINTER_FAST_16_BIT(elu)
SINTER_FAST_16_BIT(selu)
SINTER_FAST_16_BIT(log1p)
SINTER_FAST_16_BIT(softplus)
SINTER_FAST_16_BIT(logsigmoid)
SINTER_FAST(log, bf16, log_to_base<0>)
SINTER_FAST(log2, bf16, log_to_base<2>)
SINTER_FAST(log10, bf16, log_to_base<10>)
// Not light ones: they call functions.
template <class T>
requires(sizeof(T) == 2) struct function_of<ops::pow, T> {
  using type = fast::pow;
};
template <class T>
requires(sizeof(T) == 2) struct function_of<ops::atan2, T> {
  using type = fast::atan2;
};
#undef SINTER_FAST_16_BIT
#undef SINTER_FAST

template <class Op, class T>
using function_for = typename function_of<Op, T>::type;

}  // namespace sinter::cuda::detail
