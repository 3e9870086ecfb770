// Division of many floats by one: the row value of a softmax, a scalar. A processor divides a vector in the time of
// twenty other operations. On CUDA it is cuda/quotient.cuh's matter. SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/base/arithmetic.hpp"

namespace sinter::cpu::detail {

/// a / d by the reciprocal of d, which a loop whose lanes have one d computes once: three operations correct the
/// product to what a division gives. Only where numerator or quotient are next to the subnormals may the last bit
/// differ, and -0 by a positive d is 0.
[[gnu::always_inline]] inline float corrected_quotient(float a, float d) {
  const float scale = math::abs(d) < 0x1p-100f ? 0x1p32f : 1.0f;  // a reciprocal of what is nearly zero would overflow
  const float by = d * scale, r = 1.0f / by, x = a * scale, q = x * r;
  const float corrected = __builtin_fmaf(__builtin_fmaf(-q, by, x), r, q);
  return math::select(corrected == corrected, corrected, q);  // infinities and zeros have no correction
}

/// a / d, where d is the same in all lanes of a loop.
[[gnu::always_inline]] inline float divide_by_same(float a, float d) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return corrected_quotient(a, d);
#else
  return a / d;
#endif
}

}  // namespace sinter::cpu::detail
