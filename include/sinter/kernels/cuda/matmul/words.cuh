// Raw memory for the matmul: neighbours moved 16 bytes at a time, and element offsets split by variable.
// Which accesses may be wide chunk_access.hpp has decided.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "sinter/kernels/body.hpp"

namespace sinter::cuda::mm {

template <int Bytes>
using word = std::conditional_t<
    Bytes == 16, uint4,
    std::conditional_t<
        Bytes == 8, uint2,
        std::conditional_t<Bytes == 4, unsigned, std::conditional_t<Bytes == 2, unsigned short, unsigned char>>>>;

/// Size neighbours of type T as they lie in memory; the first is aligned to their bytes, or to 16.
template <class T, int Size>
struct words {
  static constexpr int bytes = Size * static_cast<int>(sizeof(T));
  static constexpr int word_bytes = bytes < 16 ? bytes : 16;
  static constexpr int per_word = word_bytes / static_cast<int>(sizeof(T));
  using unit = word<word_bytes>;
  static_assert(sizeof(unit) == word_bytes && bytes % word_bytes == 0);

  static __device__ __forceinline__ void read(T (&out)[Size], const T* p) {
#pragma unroll
    for (int i = 0; i < bytes / word_bytes; ++i) {
      const unit raw = reinterpret_cast<const unit*>(p)[i];
      memcpy(&out[i * per_word], &raw, word_bytes);
    }
  }
  static __device__ __forceinline__ void write(T* p, const T (&in)[Size]) {
#pragma unroll
    for (int i = 0; i < bytes / word_bytes; ++i) {
      unit raw;
      memcpy(&raw, &in[i * per_word], word_bytes);
      reinterpret_cast<unit*>(p)[i] = raw;
    }
  }
};

template <class At>
struct offset_of;
template <long Offset, class... Terms>
struct offset_of<at<Offset, Terms...>> {
  /// The share of variable V in the element offset; the constant counts as x's.
  template <loop_var V, class Sizes>
  static __device__ __forceinline__ std::int64_t part(std::int64_t i, const Sizes& sizes) {
    std::int64_t sum = V == loop_var::x ? sinter::detail::resolve(Offset, sizes) : 0;
    ((sum += share<V, Terms>(i, sizes)), ...);
    return sum;
  }
  template <class Sizes>
  static __device__ __forceinline__ std::int64_t at_xr(std::int64_t x, std::int64_t r, const Sizes& sizes) {
    return part<loop_var::x>(x, sizes) + part<loop_var::r>(r, sizes);
  }

  /// Whether r's share of r + k is the sum of its shares of r and of k.
  static constexpr bool is_linear_in_r =
      ((sinter::detail::term_facts<Terms>::variable != loop_var::r ||
        (sinter::detail::term_facts<Terms>::div == 1 && sinter::detail::term_facts<Terms>::mod == 0)) &&
       ... && true);

 private:
  template <loop_var V, class Term, class Sizes>
  static __device__ __forceinline__ std::int64_t share([[maybe_unused]] std::int64_t i,
                                                       [[maybe_unused]] const Sizes& sizes) {
    using t = sinter::detail::term_facts<Term>;
    if constexpr (t::variable != V) {
      return 0;
    } else {
      if constexpr (t::div != 1) i = quotient(i, sinter::detail::resolve(t::div, sizes));
      if constexpr (t::mod != 0) {
        const std::int64_t mod = sinter::detail::resolve(t::mod, sizes);
        i -= quotient(i, mod) * mod;
      }
      return i * sinter::detail::resolve(t::coef, sizes);
    }
  }
  /// Neither is negative. Almost all are 32-bit numbers; the others divide bit by bit, because the compiler's 64-bit
  /// division is a call, which would cost the main loop its registers.
  static __device__ __forceinline__ std::int64_t quotient(std::int64_t i, std::int64_t by) {
    if (((i | by) >> 32) == 0) return static_cast<unsigned>(i) / static_cast<unsigned>(by);
    const auto divisor = static_cast<std::uint64_t>(by);
    std::uint64_t bits = static_cast<std::uint64_t>(i), rest = 0;  // quotient bits enter where the dividend's leave
#pragma unroll 1
    for (int n = 0; n < 64; ++n) {
      rest = rest << 1 | bits >> 63;
      bits <<= 1;
      if (rest >= divisor) rest -= divisor, bits |= 1;
    }
    return static_cast<std::int64_t>(bits);
  }
};

}  // namespace sinter::cuda::mm
