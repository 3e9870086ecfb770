// The greatest or the least of values of 16 bits, two at a time, as they lie in memory: nothing is unpacked. Of bf16
// also where a thread holds floats: packed again they are words that lie in memory, so the compiler takes those.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/choose.hpp"
#include "sinter/kernels/cuda/evaluate.cuh"

namespace sinter::cuda::detail {

/// Folds that begin with the least value, or with it or the greatest: those numbers, where they are, and exponentials
/// below them.
template <class Op>
inline constexpr bool begins_with_least = is_one_of<Op, ops::amin, ops::argmin>;
template <class Op>
inline constexpr bool begins_with_extreme =
    begins_with_least<Op> || is_one_of<Op, ops::amax, ops::argmax, ops::sumexp, ops::logsumexp>;

template <class S, class Body>
struct fold_pairs {
  template <class Tiling>
  static constexpr bool is = false;
};
template <class Op, class T, class Result, int A, class Body>
requires(begins_with_extreme<Op>&& is_one_of<T, bf16, f16>) struct fold_pairs<reduce<Op, T, Result, A>, Body> {
  using one = std::conditional_t<begins_with_least<Op>, ops::amin, ops::amax>;
  static constexpr bool is_loaded =
      body_facts<Body>::facts.info[A].kind == statement_kind::source && phase_facts<Body>::stored_bytes(A) == 2;
  template <class Tiling>
  static constexpr bool is = is_loaded&& Tiling::size % 2 == 0 &&
                             (std::is_same_v<T, bf16> || Tiling::template packs<A>);

  /// Lanes 2k and 2k + 1.
  template <int Lanes>
  static __device__ __forceinline__ unsigned word_of(const packed_values<A, T, Lanes>& slot, int k) {
    return slot.words[k];
  }
  template <int Lanes>
  static __device__ __forceinline__ unsigned word_of(const values<A, float, Lanes>& slot, int k) {
    return __float_as_uint(slot.v[2 * k]) >> 16 | (__float_as_uint(slot.v[2 * k + 1]) & 0xffff0000u);
  }
  static __device__ __forceinline__ float either(unsigned word) {
    packed_values<A, T, 2> pair{{word}};
    return one::template combine<float>({lane_of(pair, 0)}, {lane_of(pair, 1)}).value;
  }
  static __device__ __forceinline__ unsigned combine(unsigned a, unsigned b) {
    unsigned word;
#if __CUDA_ARCH__ >= 800
    if constexpr (std::is_same_v<T, f16>) {
      if constexpr (!begins_with_least<Op>) asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(word) : "r"(a), "r"(b));
      else asm("min.NaN.f16x2 %0, %1, %2;" : "=r"(word) : "r"(a), "r"(b));
    } else {
      if constexpr (!begins_with_least<Op>) asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(word) : "r"(a), "r"(b));
      else asm("min.NaN.bf16x2 %0, %1, %2;" : "=r"(word) : "r"(a), "r"(b));
    }
#else
    const auto half = [](unsigned x, unsigned y) -> unsigned { return narrow<T>(either(x | y << 16)).bits; };
    word = half(a & 0xffffu, b & 0xffffu) | half(a >> 16, b >> 16) << 16;
#endif
    return word;
  }
  template <int N>
  static __device__ __forceinline__ float of(const unsigned (&words)[N], const bool (&in)[2 * N]) {
    constexpr int ways = N >= 8 ? 4 : 1;  // independent ones
    const unsigned none = narrow<T>(one::template init<float>().value).bits;
    unsigned all[ways];
#pragma unroll
    for (int k = 0; k < N; ++k) {
      const unsigned low = in[2 * k] ? words[k] & 0xffffu : none,
                     high = in[2 * k + 1] ? words[k] & 0xffff0000u : none << 16;
      all[k % ways] = k < ways ? low | high : combine(all[k % ways], low | high);
    }
#pragma unroll
    for (int k = 1; k < ways; ++k) all[0] = combine(all[0], all[k]);
    return either(all[0]);
  }
  /// The first lane of `best`, or -1.
  template <int N>
  static __device__ __forceinline__ int first_of(float best, const unsigned (&words)[N], const float (&v)[2 * N],
                                                 const bool (&in)[2 * N]) {
#if __CUDA_ARCH__ >= 900
    if constexpr (N <= 16) {
      const unsigned half = narrow<T>(best).bits, both = half << 16 | half;
      unsigned found = 0;  // a bit for each word, in each half
#pragma unroll
      for (int k = 0; k < N; ++k) {
        unsigned same;
        if constexpr (std::is_same_v<T, f16>)
          asm("set.eq.u32.f16x2 %0, %1, %2;" : "=r"(same) : "r"(words[k]), "r"(both));
        else asm("set.eq.u32.bf16x2 %0, %1, %2;" : "=r"(same) : "r"(words[k]), "r"(both));
        found |= same & ((in[2 * k] ? 1u << k : 0) | (in[2 * k + 1] ? 0x10000u << k : 0));
      }
      if (found != 0) {
        const int low = __ffs(static_cast<int>(found & 0xffffu)), high = __ffs(static_cast<int>(found >> 16));
        return high == 0 || (low != 0 && low <= high) ? 2 * low - 2 : 2 * high - 1;
      }
    }
#endif
    return ops::argmax::first_of(best, v, in);
  }
};

}  // namespace sinter::cuda::detail
