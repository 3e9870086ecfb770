// Offsets and memory accesses of one body statement: element offsets from index expressions, 16-byte loads and stores,
// lane-by-lane ones where the access is strided or irregular. Which kind it is was decided in access.hpp.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/access.hpp"

namespace sinter::cuda::detail {

/// The part of an offset that comes from the terms of one variable. The linear index may be 32 bits wide (divisions are
/// then cheap), the offset never is: strides times indices may pass 2^31 long before the index does.
template <class At>
struct offset_of;
template <long Offset, class... Terms>
struct offset_of<at<Offset, Terms...>> {
  template <class Term, class Index, class Sizes>
  static __device__ __forceinline__ std::int64_t term(Index i, const Sizes& sizes) {
    using t = term_facts<Term>;
    using wide = std::conditional_t<sizeof(Index) == 8, std::uint64_t, std::uint32_t>;
    wide u = static_cast<wide>(i);  // never negative; unsigned division is cheaper
    if constexpr (t::div != 1) u /= static_cast<wide>(sinter::detail::resolve(t::div, sizes));
    if constexpr (t::mod != 0) u %= static_cast<wide>(sinter::detail::resolve(t::mod, sizes));
    const Index value = static_cast<Index>(u);
    constexpr bool narrow_coef = !is_dynamic(t::coef) && t::coef > -(1L << 31) && t::coef < (1L << 31);
    if constexpr (t::coef == 1) return value;
    else if constexpr (narrow_coef)
      return static_cast<std::int64_t>(value) * static_cast<int>(t::coef);  // one wide multiplication
    else return static_cast<std::int64_t>(value) * sinter::detail::resolve(t::coef, sizes);
  }

  template <class Index, class Sizes>
  static __device__ __forceinline__ std::int64_t at_xr(Index x, Index r, const Sizes& sizes) {
    std::int64_t sum = sinter::detail::resolve(Offset, sizes);
    ((sum += term<Terms>(term_facts<Terms>::variable == loop_var::x ? x : r, sizes)), ...);
    return sum;
  }
};

template <int Bytes>
struct word;
template <>
struct word<1> {
  using type = unsigned char;
};
template <>
struct word<2> {
  using type = unsigned short;
};
template <>
struct word<4> {
  using type = unsigned;
};
template <>
struct word<8> {
  using type = uint2;
};
template <>
struct word<16> {
  using type = uint4;
};

/// Width neighbours, the first aligned to their size or to 16 bytes. Values are read in compute type.
template <class T, int Width>
struct wide {
  static constexpr int bytes = Width * static_cast<int>(sizeof(T));
  static constexpr int chunk = bytes < 16 ? bytes : 16;
  static constexpr int per_chunk = chunk / static_cast<int>(sizeof(T));
  using unit = typename word<chunk>::type;

  static __device__ __forceinline__ void read(compute_t<T> (&out)[Width], const T* p) {
#pragma unroll
    for (int c = 0; c < bytes / chunk; ++c) {
      const unit raw = reinterpret_cast<const unit*>(p)[c];
      if constexpr (std::is_same_v<T, bf16> && chunk >= 4) {
        // The upper half of a word is a float but for the lower bits: one operation, where shifting it out takes two.
        unsigned words[chunk / 4];
        memcpy(words, &raw, chunk);
#pragma unroll
        for (int k = 0; k < chunk / 4; ++k) {
          out[c * per_chunk + 2 * k] = __uint_as_float(words[k] << 16);
          out[c * per_chunk + 2 * k + 1] = __uint_as_float(words[k] & 0xffff0000u);
        }
      } else {
        T elements[per_chunk];
        memcpy(elements, &raw, chunk);
#pragma unroll
        for (int k = 0; k < per_chunk; ++k) out[c * per_chunk + k] = widen<T>(elements[k]);
      }
    }
  }
  static __device__ __forceinline__ void write(T* p, const T (&in)[Width]) {
#pragma unroll
    for (int c = 0; c < bytes / chunk; ++c) {
      unit raw;
      memcpy(&raw, &in[c * per_chunk], chunk);
      reinterpret_cast<unit*>(p)[c] = raw;
    }
  }
};

/// The Width neighbours along Vector that begin at (x, r). Extra is added to every offset (a gather's own part).
template <class T, class At, loop_var Vector, int Width, access Kind, long Step>
struct lanes_at {
  template <class Index, class Sizes>
  static __device__ __forceinline__ std::int64_t offset(int lane, Index x, Index r, const Sizes& sizes) {
    if constexpr (Kind == access::irregular)
      return offset_of<At>::at_xr(static_cast<Index>(Vector == loop_var::x ? x + lane : x),
                                  static_cast<Index>(Vector == loop_var::r ? r + lane : r), sizes);
    else return offset_of<At>::at_xr(x, r, sizes) + lane * Step;
  }

  template <class Index, class Sizes>
  static __device__ __forceinline__ void read(compute_t<T> (&out)[Width], const T* base, Index x, Index r,
                                              const Sizes& sizes) {
    if constexpr (Kind == access::contiguous) {
      wide<T, Width>::read(out, base + offset(0, x, r, sizes));
    } else if constexpr (Kind == access::uniform) {
      const compute_t<T> value = widen<T>(base[offset(0, x, r, sizes)]);
#pragma unroll
      for (int j = 0; j < Width; ++j) out[j] = value;
    } else {
#pragma unroll
      for (int j = 0; j < Width; ++j) out[j] = widen<T>(base[offset(j, x, r, sizes)]);
    }
  }
  template <class Index, class Sizes>
  static __device__ __forceinline__ void write(T* base, const T (&in)[Width], Index x, Index r, const Sizes& sizes) {
    if constexpr (Kind == access::contiguous) {
      wide<T, Width>::write(base + offset(0, x, r, sizes), in);
    } else {
#pragma unroll
      for (int j = 0; j < Width; ++j) base[offset(j, x, r, sizes)] = in[j];
    }
  }
};

}  // namespace sinter::cuda::detail
