// The greatest or the least of values of 16 bits, two at a time, as they lie in memory, and where it is: nothing is
// unpacked. Of bf16 also where a thread holds floats: packed again they are words that lie in memory, so the compiler
// takes those. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/choose.hpp"
#include "sinter/kernels/cuda/evaluate.cuh"

namespace sinter::cuda::detail {

/// Folds that begin with the least value, or with it or the greatest: those numbers, where they are, and exponentials
/// below them.
template <class Op>
inline constexpr bool begins_with_least = is_one_of<Op, ops::amin> || sinter::detail::folds::finds_extreme<Op, false>;
template <class Op>
inline constexpr bool begins_with_extreme =
    begins_with_least<Op> || is_one_of<Op, ops::amax, ops::sumexp, ops::logsumexp> || finds_extreme<Op>;

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
  static __device__ __forceinline__ float half_of(unsigned word, int half) {
    packed_values<A, T, 2> pair{{word}};
    return lane_of(pair, half);
  }
  /// All bits of each half in which they are equal, or in which one is NaN.
  static __device__ __forceinline__ unsigned equal(unsigned a, unsigned b) {
    unsigned bits;
#if __CUDA_ARCH__ >= 900
    if constexpr (std::is_same_v<T, f16>) asm("set.eq.u32.f16x2 %0, %1, %2;" : "=r"(bits) : "r"(a), "r"(b));
    else asm("set.eq.u32.bf16x2 %0, %1, %2;" : "=r"(bits) : "r"(a), "r"(b));
#else
    bits = (half_of(a, 0) == half_of(b, 0) ? 0xffffu : 0) | (half_of(a, 1) == half_of(b, 1) ? 0xffff0000u : 0);
#endif
    return bits;
  }
  static __device__ __forceinline__ unsigned is_nan(unsigned a) {
    unsigned bits;
#if __CUDA_ARCH__ >= 900
    if constexpr (std::is_same_v<T, f16>) asm("set.nan.u32.f16x2 %0, %1, %1;" : "=r"(bits) : "r"(a));
    else asm("set.nan.u32.bf16x2 %0, %1, %1;" : "=r"(bits) : "r"(a));
#else
    bits = (math::isnan(half_of(a, 0)) ? 0xffffu : 0) | (math::isnan(half_of(a, 1)) ? 0xffff0000u : 0);
#endif
    return bits;
  }
  /// The first lane for which is(word) has bits, or -1.
  template <int N, class Is>
  static __device__ __forceinline__ int first_that(const unsigned (&words)[N], const bool (&in)[2 * N], const Is& is) {
    constexpr int at_once = 16;
    int first = -1;
#pragma unroll
    for (int from = (N - 1) / at_once * at_once; from >= 0; from -= at_once) {
      unsigned found = 0;  // a bit for each word, in each half
#pragma unroll
      for (int k = 0; k < at_once && from + k < N; ++k)
        found |=
            is(words[from + k]) & ((in[2 * (from + k)] ? 1u << k : 0) | (in[2 * (from + k) + 1] ? 0x10000u << k : 0));
      const int low = __ffs(static_cast<int>(found & 0xffffu)), high = __ffs(static_cast<int>(found >> 16));
      if (found != 0) first = 2 * from + (high == 0 || (low != 0 && low <= high) ? 2 * low - 2 : 2 * high - 1);
    }
    return first;
  }
  /// The first lane of `best`, or -1.
  template <int N>
  static __device__ __forceinline__ int first_of(float best, const unsigned (&words)[N], const bool (&in)[2 * N]) {
    if (math::isnan(best)) return first_that(words, in, [](unsigned word) { return is_nan(word); });
    const unsigned half = narrow<T>(best).bits, both = half << 16 | half;
    return first_that(words, in, [both](unsigned word) { return equal(word, both); });
  }
};

}  // namespace sinter::cuda::detail
