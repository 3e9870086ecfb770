// Loops over the lanes of a block that both compilers turn into vector code.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/kernels/host/width.hpp"

SINTER_WIDE_VECTORS

namespace sinter::cpu::detail {

/// After every loop that writes. g++ 12 may lay a loop's addresses out with a null base (two arrays of one object, of
/// different element sizes, one induction variable), then take them for null accesses, the function around the loop for
/// one without effects, and drop the call. A function with this in it has effects. No instruction comes of it.
[[gnu::always_inline]] inline void keep_stores() {
#ifndef __clang__
  asm volatile("" ::: "memory");
#endif
}

/// f(0), ..., f(Count - 1) as vector code; no lane may use what another one writes. Whoever has called it last in a
/// function calls keep_stores.
template <int Count, class F>
[[gnu::always_inline]] inline void for_vector(F f) {
#ifndef __clang__
#pragma GCC ivdep
#endif
  for (int j = 0; j < Count; ++j) f(j);
}

/// f(i) for every lane; no lane may use what another one writes. g++ at -O2 vectorises only loops of a constant trip
/// count, and wants to be told that lanes are independent; clang unrolls such loops instead, but checks by itself.
template <class F>
[[gnu::always_inline]] inline void for_lanes(int count, F f) {
#ifndef __clang__
// g++ 12 follows a loop one round too far and finds it write past the array.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstringop-overflow"
  constexpr int stride = 32;
  const int rest = count % stride, whole = count - rest;
  for (int i = 0; i < whole; i += stride) for_vector<stride>([=](int j) { f(i + j); });
  for (int j = 0; j < rest; ++j) f(whole + j);
#pragma GCC diagnostic pop
#else
  for (int i = 0; i < count; ++i) f(i);
#endif
  keep_stores();
}

}  // namespace sinter::cpu::detail

SINTER_END_WIDE_VECTORS
