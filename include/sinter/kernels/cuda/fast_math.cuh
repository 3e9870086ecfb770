// Functions of 16-bit values on the device. What is declared f16 or bf16 would be rounded to it after every op if it
// were stored, so a function need not be better than a quarter of the dtype's unit in the last place; CUDA's float
// functions cost several times as much, enough to miss the memory's speed. options.exact_math keeps CUDA's.
// An op without a row here is computed as in float. What an op means is base/op_table.hpp's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>

#include "sinter/base/op.hpp"

namespace sinter::cuda::detail {

namespace fast {

__device__ __forceinline__ float exp2(float x) {
  float y = 0;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// For f16 and bf16: relative errors of at most 2^-16 from the exponential, whose argument is below 128 in size.
struct exp {
  static __device__ __forceinline__ float apply(float x) { return exp2(x * 0x1.715476p+0f); }
};
struct sigmoid {
  static __device__ __forceinline__ float apply(float x) { return ::__fdividef(1.0f, 1.0f + exp::apply(-x)); }
};
struct silu {
  static __device__ __forceinline__ float apply(float x) { return ::__fdividef(x, 1.0f + exp::apply(-x)); }
};
struct gelu_tanh {
  static __device__ __forceinline__ float apply(float x) {
    const float u = x * (1.5957691216057308f + 0.07135481627159863f * x * x);  // 2 sqrt(2/pi) (x + 0.044715 x^3)
    return ::__fdividef(x, 1.0f + exp::apply(-u));
  }
};

// For bf16 only: relative errors of at most 2^-11.
struct tanh {
  static __device__ __forceinline__ float apply(float x) {
    float y = 0;
    asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
  }
};
/// x times the normal distribution, which is the logistic function of an odd polynomial: 2^-11.3 for |x| < 5, below
/// which less than 3.2e-7 is left of x.
struct gelu {
  static __device__ __forceinline__ float apply(float x) {
    const float z = ::fminf(x * x, 25.0f);
    float p = 0x1.f28f6p-26f;
    p = ::__fmaf_rn(p, z, -0x1.13898ap-19f);
    p = ::__fmaf_rn(p, z, 0x1.49cbecp-15f);
    p = ::__fmaf_rn(p, z, 0x1.bc8f4cp-11f);
    p = ::__fmaf_rn(p, z, -0x1.b5c082p-4f);
    p = ::__fmaf_rn(p, z, -0x1.267b0ep+1f);
    return ::__fdividef(x, 1.0f + exp2(x * p));
  }
};

}  // namespace fast

/// What computes Op on operands declared as T.
template <class Op, class T>
struct function_of {
  using type = Op;
};
#define SINTER_FAST(name, dtype)         \
  template <>                            \
  struct function_of<ops::name, dtype> { \
    using type = fast::name;             \
  };
#define SINTER_FAST_16_BIT(name) SINTER_FAST(name, f16) SINTER_FAST(name, bf16)
SINTER_FAST_16_BIT(exp)
SINTER_FAST_16_BIT(sigmoid)
SINTER_FAST_16_BIT(silu)
SINTER_FAST_16_BIT(gelu_tanh)
SINTER_FAST(tanh, bf16)
SINTER_FAST(gelu, bf16)
#undef SINTER_FAST_16_BIT
#undef SINTER_FAST

template <class Op, class T>
using function_for = typename function_of<Op, T>::type;

}  // namespace sinter::cuda::detail
