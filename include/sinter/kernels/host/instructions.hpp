// What processors do in one instruction and compilers do not make of a loop: square roots (std::sqrt has to set errno,
// and base/host_math.hpp's straight-line root costs ten times as much), stores that go past the cache (an ordinary
// store first reads the line that it overwrites), and rounding to f16 and bf16 (seven instructions in integers and
// more). Where there is no such instruction, plain code stands in. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "sinter/base/dtype.hpp"
#include "sinter/base/math.hpp"
#include "sinter/kernels/host/lanes.hpp"
#include "sinter/kernels/host/runs.hpp"
#include "sinter/kernels/host/width.hpp"

SINTER_WIDE_VECTORS

namespace sinter::cpu::detail {

// A vector of the processor's, and the spellings of its instructions.
#if defined(__GNUC__) && defined(__x86_64__)
inline constexpr bool has_vector_instructions = true;
#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif
#if defined(__AVX__)
#define SINTER_ROOT(type) asm("vsqrtp" type " %0, %0" : "+v"(v))
#define SINTER_STREAM asm volatile("vmovntps %1, %0" : "=m"(to) : "v"(v))
#else
#define SINTER_ROOT(type) asm("sqrtp" type " %0, %0" : "+x"(v))
#define SINTER_STREAM asm volatile("movntps %1, %0" : "=m"(to) : "x"(v))
#endif
// At any address of their element type.
typedef float vector_of_float __attribute__((vector_size(vector_bytes), may_alias, aligned(sizeof(float))));
typedef double vector_of_double __attribute__((vector_size(vector_bytes), may_alias, aligned(sizeof(double))));

[[gnu::always_inline]] inline void root_of_vector(float* to, const float* from) {
  vector_of_float v = *reinterpret_cast<const vector_of_float*>(from);
  SINTER_ROOT("s");
  *reinterpret_cast<vector_of_float*>(to) = v;
}
[[gnu::always_inline]] inline void root_of_vector(double* to, const double* from) {
  vector_of_double v = *reinterpret_cast<const vector_of_double*>(from);
  SINTER_ROOT("d");
  *reinterpret_cast<vector_of_double*>(to) = v;
}
/// To an address that is a multiple of vector_bytes.
template <class T>
[[gnu::always_inline]] inline void stream_vector(T* destination, const T* from) {
  vector_of_float v;
  std::memcpy(&v, from, sizeof(v));
  // An array of T, or a loop would read anew what it keeps of its uniforms.
  auto& to = *reinterpret_cast<T(*)[vector_bytes / sizeof(T)]>(destination);
  SINTER_STREAM;
}
/// Before another thread may read what was streamed.
inline void finish_streams() { asm volatile("sfence" ::: "memory"); }
#undef SINTER_ROOT
#undef SINTER_STREAM
#else
inline constexpr bool has_vector_instructions = false;
inline constexpr int vector_bytes = 16;
inline void root_of_vector(float*, const float*) {}
inline void root_of_vector(double*, const double*) {}
template <class T>
inline void stream_vector(T*, const T*) {}
inline void finish_streams() {}
#endif

// A line of floats as sixteen bits: to[i] = T(from[i]) for `rounded_at_once<T>` of them; false, and nothing is written,
// where the instruction does not know all of them.
template <class T>
inline constexpr int rounded_at_once = 0;
template <class T>
inline bool round_vectors(T*, const float*) {
  return false;
}
#if defined(__F16C__) && defined(__GNUC__) && defined(__x86_64__)
template <>
inline constexpr int rounded_at_once<f16> = 32;
[[gnu::always_inline]] inline bool round_vectors(f16* to, const float* from) {
#if defined(__AVX512F__)
#define SINTER_HALF "t"
#define SINTER_JOIN "vinsertf64x4"
#else
#define SINTER_HALF "x"
#define SINTER_JOIN "vinsertf128"
#endif
  constexpr int lanes = vector_bytes / static_cast<int>(sizeof(float));
  for (int k = 0; k < rounded_at_once<f16>; k += 2 * lanes) {
    vector_of_float low = *reinterpret_cast<const vector_of_float*>(from + k),
                    high = *reinterpret_cast<const vector_of_float*>(from + k + lanes);
    asm("vcvtps2ph $0, %0, %" SINTER_HALF "0" : "+v"(low));
    asm("vcvtps2ph $0, %0, %" SINTER_HALF "0" : "+v"(high));
    // Stored as one: what reads a whole vector would wait for two halves to reach the cache.
    asm(SINTER_JOIN " $1, %" SINTER_HALF "1, %0, %0" : "+v"(low) : "v"(high));
    *reinterpret_cast<vector_of_float*>(to + k) = low;
  }
#undef SINTER_HALF
#undef SINTER_JOIN
  return true;
}
#endif
#if defined(__AVX512BF16__) && defined(__AVX512DQ__) && defined(__GNUC__) && defined(__x86_64__)
template <>
inline constexpr int rounded_at_once<bf16> = 32;
/// Two vectors at once, none of which may be subnormal: the instruction takes these for zeros.
[[gnu::always_inline]] inline bool round_vectors(bf16* to, const float* from) {
  const vector_of_float low = *reinterpret_cast<const vector_of_float*>(from),
                        high = *reinterpret_cast<const vector_of_float*>(from + 16);
  unsigned short is_low = 0, is_high = 0;
  asm("vfpclassps $0x20, %1, %0" : "=Yk"(is_low) : "v"(low));
  asm("vfpclassps $0x20, %1, %0" : "=Yk"(is_high) : "v"(high));
  if ((is_low | is_high) != 0) return false;
  vector_of_float both;
  asm("vcvtne2ps2bf16 %1, %2, %0" : "=v"(both) : "v"(low), "v"(high));
  std::memcpy(to, &both, sizeof(both));  // at any address of bf16
  return true;
}
#endif

/// p[j] = value(j), rounded to T, for a whole line.
template <int Count, class T, class Value>
[[gnu::always_inline]] inline void write_line(T* p, Value value) {
  if constexpr (rounded_at_once<T> == Count) {
    alignas(64) float wide[Count];
    for_vector<Count>([&](int j) { wide[j] = value(j); });
    if (!round_vectors(p, wide)) for_vector<Count>([&](int j) { p[j] = narrow<T>(wide[j]); });
  } else {
    for_vector<Count>([&](int j) { p[j] = narrow<T>(value(j)); });
  }
}
/// p[i * step] = value(i), rounded to T.
template <class T, class Step, class Value>
[[gnu::always_inline]] inline void write_run(T* p, int count, Step step, Value value) {
  int done = 0;
  if constexpr (constexpr int at_once = rounded_at_once<T>; at_once > 0)
    if (step == 1)
      for (; done + at_once <= count; done += at_once)
        write_line<at_once>(p + done, [=](int j) { return value(done + j); });
  if (step == 1) for_lanes(count - done, [=](int i) { p[done + i] = narrow<T>(value(done + i)); });
  else for_lanes(count, [=](int i) { p[along(step, i)] = narrow<T>(value(i)); });
}

/// p[i * step] = value(i), rounded to T, where lanes are lit.
template <class T, class Step, class Value>
void write_lit(const bool* lit, T* p, int count, Step step, Value value) {
  if constexpr (is_scattered<Step>) {
    for (int i = 0; i < count; ++i)
      if (lit[i]) p[along(step, i)] = narrow<T>(value(i));
    keep_stores();
  } else {
    for_equal(lit, count, [=](int first, int n, bool lit) {
      if (lit) write_run(p + along(step, first), n, step, [=](int i) { return value(first + i); });
    });
  }
}

/// to[i] = sqrt(from[i]), T float or double; both may be the same.
template <class T>
void take_roots(T* to, const T* from, int count) {
  int i = 0;
  if constexpr (has_vector_instructions)
    for (constexpr int lanes = vector_bytes / static_cast<int>(sizeof(T)); i + lanes <= count; i += lanes)
      root_of_vector(to + i, from + i);
  for (; i < count; ++i) to[i] = math::sqrt(from[i]);
  keep_stores();
}

/// A line of 64 bytes past the cache, from one to one.
template <class T>
[[gnu::always_inline]] inline void stream_line(T* to, const T* from) {
  constexpr int lanes = vector_bytes / static_cast<int>(sizeof(T));
  for (int k = 0; k < 64 / static_cast<int>(sizeof(T)); k += lanes) stream_vector(to + k, from + k);
}

/// Lanes [begin, end) of the line that begins at `to`: from[i] goes to lane i + shift.
template <class T>
[[gnu::always_inline]] inline void write_part(T* to, const T* from, int shift, int begin, int end) {
#if defined(__AVX512BW__) && defined(__GNUC__) && defined(__x86_64__)
  // One store that stays inside the line: such stores are slow where they leave it.
  constexpr int size = static_cast<int>(sizeof(T)), lanes = 64 / size;
  alignas(64) T lines[3 * lanes];
  std::memcpy(lines + lanes + shift, from, 64);
  vector_of_float v;
  std::memcpy(&v, lines + lanes, 64);
  const std::uint64_t mask = (~std::uint64_t(0) >> (64 - (end - begin) * size)) << begin * size;
  auto& line = *reinterpret_cast<T(*)[lanes]>(to);  // as in stream_vector
  asm volatile("vmovdqu8 %1, %0%{%2%}" : "+m"(line) : "v"(v), "Yk"(mask));
#else
  std::memcpy(to + begin, from + begin - shift, static_cast<std::size_t>(end - begin) * sizeof(T));
#endif
}

/// to[i] = value(i) for i in [0, head) and from head + whole to count: parts of lines before and after so many elements
/// in whole lines.
template <class T, class Value>
[[gnu::always_inline]] inline void write_parts(T* to, int count, int head, int whole, Value value) {
  constexpr int line = 64 / static_cast<int>(sizeof(T));
  if (count < line) return write_run(to, count, fixed_step<1>{}, value);
  // The next block will write the rest of the last line: it is fetched meanwhile.
  if (head + whole != count) __builtin_prefetch(to + count, 1);
  const int parts[2][2] = {{0, head}, {head + whole, count}};
  for (const auto& [begin, end] : parts) {
    if (begin == end) continue;
    const int from = begin + line <= count ? begin : count - line, start = begin == 0 ? head - line : begin;
    alignas(64) T part[line];
    write_line<line>(part, [=](int i) { return value(from + i); });
    write_part(to + start, part, from - start, begin - start, end - start);
  }
}

}  // namespace sinter::cpu::detail

SINTER_END_WIDE_VECTORS
