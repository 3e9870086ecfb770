// Division of many floats by one: the row value of a softmax, a scalar. Elementwise division is base's matter.
// A division with its special cases costs about twelve instructions and a branch, more than a row at memory speed has.
// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace sinter::cuda::detail {

/// Many quotients by one float: its reciprocal once, then three operations make of the product what a division gives.
/// Only where numerator or quotient are next to the subnormals may the last bit differ, and -0 by a positive d is 0.
class reciprocal_divisor {
 public:
  __device__ __forceinline__ explicit reciprocal_divisor(float d)
      : scale_(::fabsf(d) < 0x1p-100f ? 0x1p32f : 1.0f), d_(d * scale_), r_(1.0f / d_) {}
  __device__ __forceinline__ float divide(float a) const {
    const float x = a * scale_;  // a reciprocal of what is nearly zero would overflow
    const float q = x * r_;
    const float corrected = ::fmaf(::fmaf(-q, d_, x), r_, q);
    return corrected == corrected ? corrected : q;  // infinities and zeros have no correction
  }

 private:
  float scale_, d_, r_;
};

/// The same for f16 and bf16: relative errors of at most 2^-22, by two operations. Moves: out of a loop, which the
/// compiler may not do with what it does not know.
template <bool Moves>
class rough_reciprocal {
 public:
  __device__ __forceinline__ explicit rough_reciprocal(float d) : scale_(scale_of(::fabsf(d))) {
    if constexpr (Moves) r_ = __fdividef(1.0f, d * scale_);
    else asm("rcp.approx.f32 %0, %1;" : "=f"(r_) : "f"(d * scale_));
  }
  __device__ __forceinline__ float divide(float a) const { return a * scale_ * r_; }

 private:
  /// The quick division gives 0 where a reciprocal is subnormal.
  static __device__ __forceinline__ float scale_of(float size) {
    if (Moves && size > 0x1p100f) return 0x1p-32f;
    return size < 0x1p-100f ? 0x1p32f : 1.0f;
  }

  float scale_, r_ = 0;
};

}  // namespace sinter::cuda::detail
