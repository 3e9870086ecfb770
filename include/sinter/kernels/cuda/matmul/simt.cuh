// The main loop without tensor cores: float with true float products, double, and integers that wrap. Every thread
// keeps a register tile; operands lie in shared memory with positions contiguous, whichever way global memory has them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "sinter/kernels/cuda/matmul/policy.hpp"
#include "sinter/kernels/cuda/matmul/words.cuh"

namespace sinter::cuda::mm {

/// Integers accumulate unsigned: wrapping is defined, and narrowing at the end gives what any wrapping order would.
template <class T>
using simt_accumulator = std::conditional_t<std::is_floating_point_v<T>, T,
                                            std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>;

/// K lines of Extent positions. Lines and chunks count as in global memory: along r a line is a position.
template <class T, int Extent, int K, loop_var Along>
struct simt_layout {
  using element = simt_accumulator<T>;
  static constexpr loop_var along = Along;
  static constexpr int width = 16 / static_cast<int>(sizeof(element));
  static constexpr int depth = K;
  static constexpr int lines = Along == loop_var::r ? Extent : K;
  static constexpr int chunks = (Along == loop_var::r ? K : Extent) / width;
  static constexpr int stride = Extent + width;  // keeps 16-byte alignment, moves lines to other banks
  static constexpr int bytes = K * stride * static_cast<int>(sizeof(element));

  static __device__ __forceinline__ element convert(T value) { return static_cast<element>(value); }
  static __device__ __forceinline__ void store(element* tile, int line, int chunk, const element (&values)[width]) {
    if constexpr (Along == loop_var::r) {
#pragma unroll
      for (int e = 0; e < width; ++e) tile[(chunk * width + e) * stride + line] = values[e];
    } else {
      words<element, width>::write(tile + line * stride + chunk * width, values);
    }
  }
  static __device__ __forceinline__ void store(element* tile, int line, int chunk, int e, element value) {
    tile[Along == loop_var::r ? (chunk * width + e) * stride + line : line * stride + chunk * width + e] = value;
  }
};

__device__ __forceinline__ void add_product(float& c, float a, float b) { c = __fmaf_rn(a, b, c); }
__device__ __forceinline__ void add_product(double& c, double a, double b) { c = __fma_rn(a, b, c); }
__device__ __forceinline__ void add_product(std::uint32_t& c, std::uint32_t a, std::uint32_t b) { c += a * b; }
__device__ __forceinline__ void add_product(std::uint64_t& c, std::uint64_t a, std::uint64_t b) { c += a * b; }

template <class Tile, class T>
struct simt_mainloop {
  using accumulator = simt_accumulator<T>;
  static constexpr bool asynchronous = false;
  static constexpr int width = 16 / static_cast<int>(sizeof(accumulator));
  // A warp is 4 x 8 threads; a thread has groups of `width` neighbours, spread over the tile.
  static constexpr int threads_m = 4 * Tile::warps_m, threads_n = 8 * Tile::warps_n;
  static constexpr int groups_m = Tile::m / (threads_m * width), groups_n = Tile::n / (threads_n * width);
  static constexpr int thread_m = groups_m * width, thread_n = groups_n * width;
  static_assert(groups_m > 0 && groups_n > 0 && thread_m * threads_m == Tile::m && thread_n * threads_n == Tile::n,
                "matmul tile: every thread has whole groups of 16 bytes");

  template <int Extent, loop_var Along>
  using layout = simt_layout<T, Extent, Tile::k, Along>;

  struct accumulators {
    accumulator c[thread_m][thread_n];
  };

  static __device__ __forceinline__ void clear(accumulators& acc) {
#pragma unroll
    for (int i = 0; i < thread_m; ++i)
#pragma unroll
      for (int j = 0; j < thread_n; ++j) acc.c[i][j] = 0;
  }

  template <class LayoutA, class... LayoutB>
  static __device__ __forceinline__ void multiply(accumulators (&acc)[sizeof...(LayoutB)], const accumulator* a,
                                                  const accumulator* const (&b)[sizeof...(LayoutB)]) {
    const place at;
#pragma unroll 2
    for (int k = 0; k < Tile::k; ++k) {
      accumulator row[thread_m];
      read<groups_m, threads_m>(row, a + k * LayoutA::stride, at.m);
      int which = 0;
      ((multiply_one(acc[which], row, b[which] + k * LayoutB::stride, at.n), ++which), ...);
    }
  }

  static __device__ __forceinline__ void stage(const accumulators& acc, accumulator* out, int stride) {
    const place at;
#pragma unroll
    for (int i = 0; i < thread_m; ++i)
#pragma unroll
      for (int g = 0; g < groups_n; ++g) {
        accumulator group[width];
#pragma unroll
        for (int e = 0; e < width; ++e) group[e] = acc.c[i][g * width + e];
        const int row = (i / width * threads_m + at.m) * width + i % width;
        words<accumulator, width>::write(out + row * stride + (g * threads_n + at.n) * width, group);
      }
  }

 private:
  struct place {
    int m, n;
    __device__ __forceinline__ place() {
      const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
      m = warp / Tile::warps_n * 4 + lane / 8;
      n = warp % Tile::warps_n * 8 + lane % 8;
    }
  };

  template <int Groups, int Threads, int Size>
  static __device__ __forceinline__ void read(accumulator (&out)[Size], const accumulator* line, int thread) {
#pragma unroll
    for (int g = 0; g < Groups; ++g) {
      accumulator group[width];
      words<accumulator, width>::read(group, line + (g * Threads + thread) * width);
#pragma unroll
      for (int e = 0; e < width; ++e) out[g * width + e] = group[e];
    }
  }
  static __device__ __forceinline__ void multiply_one(accumulators& acc, const accumulator (&a)[thread_m],
                                                      const accumulator* line, int n) {
    accumulator b[thread_n];
    read<groups_n, threads_n>(b, line, n);
#pragma unroll
    for (int i = 0; i < thread_m; ++i)
#pragma unroll
      for (int j = 0; j < thread_n; ++j) add_product(acc.c[i][j], a[i], b[j]);
  }
};

}  // namespace sinter::cuda::mm
