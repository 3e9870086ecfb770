// Small squares of a matrix turned in registers: each 16 bytes of a vector are a part of a row of their own, and halves
// of rows are interleaved until they are columns. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "sinter/kernels/host/width.hpp"

SINTER_WIDE_VECTORS

namespace sinter::cpu::detail {

/// to[j * stride + i] = from[i * step + j] for i < across and j < down.
template <int Size>
struct small_turn {
  static constexpr int across = 1, down = 1;
  template <class T>
  static void run(T* to, std::int64_t, const T* from, std::int64_t) {
    *to = *from;
  }
};

#if defined(__GNUC__) && defined(__SSE2__) && !defined(__CUDACC__)
// 16 bytes at an address as part of a vector; compilers load them first and move them then, which shuffles have to wait
// for.
#if defined(__AVX512BW__) && defined(__AVX512VL__)
inline constexpr int turned_bytes = 64;
#define SINTER_LOAD "vmovdqu32 %1, %x0"
#define SINTER_INSERT "vinserti32x4 %3, %2, %1, %0"
#elif defined(__AVX2__)
inline constexpr int turned_bytes = 32;
#define SINTER_LOAD "vmovdqu %1, %x0"
#define SINTER_INSERT "vinserti128 %3, %2, %1, %0"
#else
inline constexpr int turned_bytes = 16;
#define SINTER_LOAD "movdqu %1, %0"
#define SINTER_INSERT ""
#endif

template <class Element>
struct vector_turn {
  static constexpr int down = 16 / static_cast<int>(sizeof(Element)),
                       across = turned_bytes / static_cast<int>(sizeof(Element));
  typedef Element vector __attribute__((vector_size(turned_bytes)));

  template <int Part>
  [[gnu::always_inline]] static void read_part(vector& v, const char* from) {
    const auto& bytes = *reinterpret_cast<const char(*)[16]>(from);
    if constexpr (Part == 0) asm(SINTER_LOAD : "=v"(v) : "m"(bytes));
    else asm(SINTER_INSERT : "=v"(v) : "v"(v), "m"(bytes), "i"(Part));
  }
  /// `down` elements of each of the rows that are `down` apart.
  template <int... Part>
  [[gnu::always_inline]] static vector read(const char* from, std::int64_t row_bytes,
                                            std::integer_sequence<int, Part...>) {
    vector v;
    (read_part<Part>(v, from + Part * down * row_bytes), ...);
    return v;
  }
  /// Of each 16 bytes of both the first half or the second, element by element.
  template <bool Second, int... I>
  [[gnu::always_inline]] static vector interleave(vector a, vector b, std::integer_sequence<int, I...>) {
    return __builtin_shufflevector(a, b,
                                   (I / down * down + I % down / 2 + Second * down / 2 + (I % 2 != 0 ? across : 0))...);
  }
  template <int Parts, int... I>
  [[gnu::always_inline]] static void run(char* to, std::int64_t stride_bytes, const vector (&v)[down],
                                         std::integer_sequence<int, I...> rows) {
    if constexpr (Parts == 1) {
      (std::memcpy(to + I * stride_bytes, &v[I], turned_bytes), ...);
    } else {
      const vector halves[] = {
          interleave<I % 2 != 0>(v[I / 2], v[I / 2 + down / 2], std::make_integer_sequence<int, across>{})...};
      run<Parts / 2>(to, stride_bytes, halves, rows);
    }
  }
  template <int... I>
  [[gnu::always_inline]] static void run(char* to, std::int64_t stride_bytes, const char* from, std::int64_t row_bytes,
                                         std::integer_sequence<int, I...> rows) {
    const vector v[] = {read(from + I * row_bytes, row_bytes, std::make_integer_sequence<int, turned_bytes / 16>{})...};
    run<down>(to, stride_bytes, v, rows);
  }
  template <class T>
  [[gnu::always_inline]] static void run(T* to, std::int64_t stride, const T* from, std::int64_t step) {
    constexpr std::int64_t size = sizeof(T);
    run(reinterpret_cast<char*>(to), stride * size, reinterpret_cast<const char*>(from), step * size,
        std::make_integer_sequence<int, down>{});
  }
};
#undef SINTER_LOAD
#undef SINTER_INSERT
template <>
struct small_turn<1> : vector_turn<std::uint8_t> {};
template <>
struct small_turn<2> : vector_turn<std::uint16_t> {};
template <>
struct small_turn<4> : vector_turn<std::uint32_t> {};
template <>
struct small_turn<8> : vector_turn<std::uint64_t> {};
#endif

}  // namespace sinter::cpu::detail

SINTER_END_WIDE_VECTORS
