// The innermost loop of a host matmul: a small tile of C kept in registers while one packed panel of A meets one of B.
// Which instruction set runs it is decided once per process, so that users need no -march; how panels and tiles are cut
// is matmul.hpp's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>

namespace sinter::cpu::detail {

/// Accumulators and packed panels: floating types as they are, integers and bool in 64 bits that wrap.
template <class T>
using accumulator_t = std::conditional_t<std::is_floating_point_v<T>, T, std::uint64_t>;

/// c[rows][columns] (+)= a[depth][rows]^T * b[depth][columns]. Successive k of `a` are `stride_a` apart; `add` keeps
/// what c holds.
template <class T>
using micro_function = void (*)(std::int64_t depth, const T* a, std::int64_t stride_a, const T* b, T* c,
                                std::int64_t stride_c, bool add);

/// A tile of `rows` x `columns`, and functions for all its rows, for some_rows of them and for one: what is left at
/// the lower edge of a matrix is put together from these.
template <class T>
struct micro_kernel {
  static constexpr int some_rows = 4;
  int rows, columns;
  micro_function<T> full, some, one;
};

template <class T, int Bytes>
struct vector_of;
#define SINTER_VECTOR(type, bytes)                                                            \
  template <>                                                                                 \
  struct vector_of<type, bytes> {                                                             \
    typedef type value __attribute__((vector_size(bytes), may_alias, aligned(sizeof(type)))); \
  };
SINTER_VECTOR(float, 16)
SINTER_VECTOR(float, 32)
SINTER_VECTOR(float, 64)
SINTER_VECTOR(double, 16)
SINTER_VECTOR(double, 32)
SINTER_VECTOR(double, 64)
SINTER_VECTOR(std::uint64_t, 16)
SINTER_VECTOR(std::uint64_t, 32)
SINTER_VECTOR(std::uint64_t, 64)
#undef SINTER_VECTOR

#ifdef __CUDACC__  // nvcc's front end hands GCC's pragma on without knowing it
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1675
#endif
#ifdef __clang__
#define SINTER_UNROLL _Pragma("unroll")
#else
#define SINTER_UNROLL _Pragma("GCC unroll 16")
#endif

// A macro, because a template cannot take the attribute that selects the instruction set as a parameter.
#define SINTER_MICRO_KERNEL(name, attribute)                                                                          \
  template <class T, int Bytes, int Rows>                                                                             \
  attribute void name(std::int64_t depth, const T* a, std::int64_t stride_a, const T* b, T* c, std::int64_t stride_c, \
                      bool add) {                                                                                     \
    using vector = typename vector_of<T, Bytes>::value;                                                               \
    constexpr int width = Bytes / static_cast<int>(sizeof(T));                                                        \
    vector sum[Rows][2];                                                                                              \
    SINTER_UNROLL for (int i = 0; i < Rows; ++i) sum[i][0] = sum[i][1] = vector{};                                    \
    for (std::int64_t k = 0; k < depth; ++k, a += stride_a, b += 2 * width) {                                         \
      const vector b0 = *reinterpret_cast<const vector*>(b), b1 = *reinterpret_cast<const vector*>(b + width);        \
      SINTER_UNROLL for (int i = 0; i < Rows; ++i) {                                                                  \
        sum[i][0] += a[i] * b0;                                                                                       \
        sum[i][1] += a[i] * b1;                                                                                       \
      }                                                                                                               \
    }                                                                                                                 \
    SINTER_UNROLL for (int i = 0; i < Rows; ++i) {                                                                    \
      vector* const c0 = reinterpret_cast<vector*>(c + i * stride_c);                                                 \
      vector* const c1 = reinterpret_cast<vector*>(c + i * stride_c + width);                                         \
      *c0 = add ? *c0 + sum[i][0] : sum[i][0];                                                                        \
      *c1 = add ? *c1 + sum[i][1] : sum[i][1];                                                                        \
    }                                                                                                                 \
  }
// Rows: twice as many accumulators as rows, two vectors of B and one of A have to fit the registers (16, AVX-512: 32).
#define SINTER_MICRO_KERNEL_OF(name, bytes, rows)                                                                    \
  {                                                                                                                  \
    rows, 2 * bytes / static_cast<int>(sizeof(T)), name<T, bytes, rows>, name<T, bytes, micro_kernel<T>::some_rows>, \
        name<T, bytes, 1>                                                                                            \
  }

SINTER_MICRO_KERNEL(micro_baseline, )
#if defined(__AVX512F__)
inline constexpr int baseline_bytes = 64, baseline_rows = 12;
#elif defined(__AVX__)
inline constexpr int baseline_bytes = 32, baseline_rows = 6;
#else
inline constexpr int baseline_bytes = 16, baseline_rows = 6;
#endif
#if defined(__x86_64__) && !defined(__AVX512F__)
#define SINTER_MICRO_DISPATCH
SINTER_MICRO_KERNEL(micro_avx512, __attribute__((target("avx512f"))))
#ifndef __AVX2__
SINTER_MICRO_KERNEL(micro_avx2, __attribute__((target("avx2,fma"))))
#endif
#endif

/// The best tile for this process's processor.
template <class T>
const micro_kernel<T>& choose_micro_kernel() {
  static const micro_kernel<T> chosen = []() -> micro_kernel<T> {
#ifdef SINTER_MICRO_DISPATCH
    if constexpr (std::is_floating_point_v<T>) {
      if (__builtin_cpu_supports("avx512f")) return SINTER_MICRO_KERNEL_OF(micro_avx512, 64, 12);
#ifndef __AVX2__
      if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return SINTER_MICRO_KERNEL_OF(micro_avx2, 32, 6);
#endif
    }
#endif
    return SINTER_MICRO_KERNEL_OF(micro_baseline, baseline_bytes, baseline_rows);
  }();
  return chosen;
}

#undef SINTER_MICRO_KERNEL
#undef SINTER_MICRO_KERNEL_OF
#undef SINTER_MICRO_DISPATCH
#undef SINTER_UNROLL
#ifdef __CUDACC__
#pragma nv_diagnostic pop
#endif

}  // namespace sinter::cpu::detail
