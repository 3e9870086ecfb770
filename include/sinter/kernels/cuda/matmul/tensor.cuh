// The tensor-core main loop of f16 and bf16: operand tiles in shared memory, fragments, float accumulators.
// How values get into the tiles is operand.cuh's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/matmul/mma.cuh"
#include "sinter/kernels/cuda/matmul/policy.hpp"
#include "sinter/kernels/cuda/matmul/words.cuh"

namespace sinter::cuda::mm {

/// Extent positions times K values in lines of 16-byte chunks. Along r a line is a position, along x it is a k: as in
/// global memory, so that chunks move as they are. Chunks of a line are permuted (xor with the line) so that eight
/// lines' chunks of one column, which a matrix load reads together, lie in different banks.
template <class T, int Extent, int K, loop_var Along>
struct tensor_layout {
  using element = T;
  static constexpr loop_var along = Along;
  static constexpr int width = 8, depth = K;
  static constexpr int lines = Along == loop_var::r ? Extent : K;
  static constexpr int chunks = (Along == loop_var::r ? K : Extent) / width;
  static constexpr int bytes = lines * chunks * width * static_cast<int>(sizeof(T));
  static_assert(chunks > 0 && (chunks & (chunks - 1)) == 0, "matmul tile: a line is a power of two of 16-byte chunks");

  static __device__ __forceinline__ int index(int line, int chunk) {
    constexpr int spread = chunks < 8 ? chunks : 8;
    return (line * chunks + (chunk ^ (line / (8 / spread) % spread))) * width;
  }
  static __device__ __forceinline__ T convert(compute_t<T> value) { return narrow<T>(value); }
  static __device__ __forceinline__ void store(T* tile, int line, int chunk, const T (&values)[width]) {
    words<T, width>::write(tile + index(line, chunk), values);
  }
  static __device__ __forceinline__ void store(T* tile, int line, int chunk, int e, T value) {
    tile[index(line, chunk) + e] = value;
  }
};

template <class Tile, class T>
struct tensor_mainloop {
  using accumulator = float;
  static constexpr bool asynchronous = true;
  static constexpr int width = 8;  // of the epilogue's chunks
  static constexpr int warp_m = Tile::m / Tile::warps_m, warp_n = Tile::n / Tile::warps_n;
  static constexpr int fragments_m = warp_m / 16, fragments_n = warp_n / 8;
  static_assert(warp_m % 16 == 0 && warp_n % 16 == 0 && Tile::k % 16 == 0, "matmul tile: warps take multiples of 16");

  template <int Extent, loop_var Along>
  using layout = tensor_layout<T, Extent, Tile::k, Along>;

  struct accumulators {
    float c[fragments_m][fragments_n][4];
  };

  static __device__ __forceinline__ void clear(accumulators& acc) {
#pragma unroll
    for (int i = 0; i < fragments_m; ++i)
#pragma unroll
      for (int j = 0; j < fragments_n; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) acc.c[i][j][e] = 0.0f;
  }

  /// acc[i] += a * b[i] for one tile of k.
  template <class LayoutA, class... LayoutB>
  static __device__ __forceinline__ void multiply(accumulators (&acc)[sizeof...(LayoutB)], const T* a,
                                                  const T* const (&b)[sizeof...(LayoutB)]) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int m = warp / Tile::warps_n * warp_m, n = warp % Tile::warps_n * warp_n;
#pragma unroll
    for (int k = 0; k < Tile::k; k += 16) {
      // All of b, then a piece by piece: the fewest registers.
      unsigned fragments_b[sizeof...(LayoutB)][fragments_n / 2][4];
      int which = 0;
      ((load_row<LayoutB>(fragments_b[which], b[which], n, k), ++which), ...);
#pragma unroll
      for (int i = 0; i < fragments_m; ++i) {
        unsigned fragment_a[4];
        load_a<LayoutA>(fragment_a, a, m + 16 * i, k);
#pragma unroll
        for (int w = 0; w < static_cast<int>(sizeof...(LayoutB)); ++w)
#pragma unroll
          for (int j = 0; j < fragments_n; ++j)
            multiply_add<T>(acc[w].c[i][j], fragment_a, fragments_b[w][j / 2][j % 2 * 2],
                            fragments_b[w][j / 2][j % 2 * 2 + 1]);
      }
    }
  }

  /// Accumulators to shared memory, row by row.
  static __device__ __forceinline__ void stage(const accumulators& acc, float* out, int stride) {
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int m = warp / Tile::warps_n * warp_m + lane / 4, n = warp % Tile::warps_n * warp_n + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < fragments_m; ++i)
#pragma unroll
      for (int j = 0; j < fragments_n; ++j) {
        float* p = out + (m + 16 * i) * stride + n + 8 * j;
        *reinterpret_cast<float2*>(p) = float2{acc.c[i][j][0], acc.c[i][j][1]};
        *reinterpret_cast<float2*>(p + 8 * stride) = float2{acc.c[i][j][2], acc.c[i][j][3]};
      }
  }

 private:
  // Matrices in the order of the instruction's registers: rows 0-7 and 8-15 of k 0-7, then of k 8-15.
  template <class Layout>
  static __device__ __forceinline__ void load_a(unsigned (&out)[4], const T* tile, int m, int k) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if constexpr (Layout::along == loop_var::r)
      load_matrices<false>(out, tile + Layout::index(m + lane % 16, k / 8 + lane / 16));
    else load_matrices<true>(out, tile + Layout::index(k + lane / 16 * 8 + lane % 8, m / 8 + lane / 8 % 2));
  }
  // Columns 0-7 with k 0-7 and 8-15, then columns 8-15.
  template <class Layout>
  static __device__ __forceinline__ void load_b(unsigned (&out)[4], const T* tile, int n, int k) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if constexpr (Layout::along == loop_var::r)
      load_matrices<false>(out, tile + Layout::index(n + lane / 16 * 8 + lane % 8, k / 8 + lane / 8 % 2));
    else load_matrices<true>(out, tile + Layout::index(k + lane % 16, n / 8 + lane / 16));
  }
  template <class Layout>
  static __device__ __forceinline__ void load_row(unsigned (&out)[fragments_n / 2][4], const T* tile, int n, int k) {
#pragma unroll
    for (int j = 0; j < fragments_n / 2; ++j) load_b<Layout>(out[j], tile, n + 16 * j, k);
  }
};

}  // namespace sinter::cuda::mm
