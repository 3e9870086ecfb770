// Values of f16 as floats: one instruction for a vector of them, where the processor has it; compilers make ten, in
// every loop that reads them. SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/base/dtype.hpp"
#include "sinter/kernels/host/lanes.hpp"
#include "sinter/kernels/host/width.hpp"

SINTER_WIDE_VECTORS

namespace sinter::cpu::detail {

/// Is a run of T's read faster into an array than value by value where it lies?
template <class T>
inline constexpr bool widens_runs = false;

/// out[i] = p[i].
template <class T>
[[gnu::always_inline]] inline void widen_run(compute_t<T>* out, const T* p, int count) {
  for_lanes(count, [=](int i) { out[i] = widen(p[i]); });
}

#if defined(__F16C__) && defined(__GNUC__) && defined(__x86_64__)
template <>
inline constexpr bool widens_runs<f16> = true;
template <>
[[gnu::always_inline]] inline void widen_run(float* out, const f16* p, int count) {
#if defined(__AVX512F__)
  constexpr int lanes = 16;
#else
  constexpr int lanes = 8;
#endif
  typedef float floats __attribute__((vector_size(lanes * sizeof(float)), may_alias, aligned(sizeof(float))));
  int i = 0;
  for (; i + lanes <= count; i += lanes) {
    floats wide;
    asm("vcvtph2ps %1, %0" : "=v"(wide) : "m"(*reinterpret_cast<const f16(*)[lanes]>(p + i)));
    *reinterpret_cast<floats*>(out + i) = wide;
  }
  for (; i < count; ++i) out[i] = widen(p[i]);
}
#endif

}  // namespace sinter::cpu::detail

SINTER_END_WIDE_VECTORS
