// Pieces of rows that begin anywhere, as they wait in shared memory for columns of several phases: they come 16 bytes
// at a time, with what is around them, and threads find their columns in them one by one.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/copy_async.cuh"
#include "sinter/kernels/cuda/memory.cuh"
#include "sinter/kernels/split.hpp"

namespace sinter::cuda::detail {

/// May this statement belong to such a body? Not a load whose columns do not lie side by side.
template <class S>
inline constexpr bool lies_in_pieces = true;
template <int Slot, class T, class At>
inline constexpr bool lies_in_pieces<load<Slot, T, At, -1>> = sinter::detail::row_load_bytes<load<Slot, T, At, -1>> ==
                                                                  0 ||
                                                              (linear_step<At>::known(loop_var::x) &&
                                                               linear_step<At>::of(loop_var::x) == 1);

template <class Body, class Numbers = std::make_index_sequence<Body::size>>
struct row_pieces;
template <class... S, std::size_t... I>
struct row_pieces<body<S...>, std::index_sequence<I...>> {
  template <class Statement>
  static constexpr int bytes_of = sinter::detail::row_load_bytes<Statement>;
  static constexpr int count = ((bytes_of<S> > 0) + ... + 0);
  static constexpr int largest = [] {
    int most = 1;
    ((most = bytes_of<S> > most ? bytes_of<S> : most), ...);
    return most;
  }();
  /// Elements of four bytes are as well copied one by one. Up to 16 bytes of a row, a thread has eight rows of a tile,
  /// so that a tile has as many as lie differently, or a multiple of that.
  static constexpr bool possible =
      ((bytes_of<S> > 0 && bytes_of<S> < 4) || ...) && (bytes_of<S> + ... + 0) <= 16 && (lies_in_pieces<S> && ...);

  /// Bytes of so many columns, wherever they begin.
  static constexpr int pitch(int columns) { return (columns * largest + 31 - largest) / 16 * 16; }
  /// Loads before statement s.
  SINTER_HOST_DEVICE static constexpr int before(int s) {
    int total = 0;
    ((total += static_cast<int>(I) < s && bytes_of<S> > 0), ...);
    return total;
  }

  /// `columns` of `rows` rows, from (x, r) on, for all threads of a block. There is room for most_rows of each load.
  template <class Args>
  static __device__ __forceinline__ void send(unsigned char* place, const Args& args, std::int64_t x, int columns,
                                              std::int64_t r, int rows, int most_rows, int pitch) {
    (send_one<static_cast<int>(I)>(S{}, place, args, x, columns, r, rows, most_rows, pitch), ...);
  }
  /// Where the element at (x, r) of load N, a statement, lies in the piece of a row that begins at `first`.
  template <class Statement, class Args>
  static __device__ __forceinline__ int element(Statement, const Args& args, std::int64_t first, std::int64_t r,
                                                int x) {
    return element_of(Statement{}, args, first, r, x);
  }
  /// f(ordinal of the load, the same) for each load.
  template <class F>
  static __device__ __forceinline__ void each(const F& f) {
    (each_one<static_cast<int>(I)>(S{}, f), ...);
  }

 private:
  template <class T>
  static __device__ __forceinline__ int lead_of(const T* first) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(first)) & 15;
  }
  template <int N, class Statement, class F>
  static __device__ __forceinline__ void each_one(Statement s, const F& f) {
    if constexpr (bytes_of<Statement> != 0) f(before(N), s);
  }
  template <int Slot, class T, class At, class Args>
  static __device__ __forceinline__ int element_of(load<Slot, T, At, -1>, const Args& args, std::int64_t first,
                                                   std::int64_t r, int x) {
    return lead_of(static_cast<const T*>(args.pointers[Slot]) + offset_of<At>::at_xr(first, r, args.sizes)) +
           x * static_cast<int>(sizeof(T));
  }
  template <int N, class Statement, class... Rest>
  static __device__ __forceinline__ void send_one(Statement, unsigned char*, const Rest&...) {}
  template <int N, int Slot, class T, class At, class Args>
  static __device__ __forceinline__ void send_one(load<Slot, T, At, -1>, unsigned char* place, const Args& args,
                                                  std::int64_t x, int columns, std::int64_t r, int rows, int most_rows,
                                                  int pitch) {
    if constexpr (bytes_of < load < Slot, T, At, -1 >>> 0) {
      constexpr int bytes = static_cast<int>(sizeof(T));
      const int log_along = pitch > 128 ? 4 : pitch > 64 ? 3 : pitch > 32 ? 2 : 1;  // threads of a row
      const int chunk = (static_cast<int>(threadIdx.x) & ((1 << log_along) - 1)) * 16;
      place += before(N) * most_rows * pitch;
      // Memory may begin with the first row, and end with the last one; so near to either others may be no longer.
      constexpr int near = 16 / bytes;
      const bool still = offset_of<At>::at_xr(x, r, args.sizes) == offset_of<At>::at_xr(x, r + 1, args.sizes);
#pragma unroll 1
      for (int row = static_cast<int>(threadIdx.x) >> log_along; row < rows;
           row += static_cast<int>(blockDim.x) >> log_along) {
        const T* first = static_cast<const T*>(args.pointers[Slot]) + offset_of<At>::at_xr(x, r + row, args.sizes);
        const int lead = lead_of(first), end = lead + columns * bytes;
        const auto* const from = reinterpret_cast<const unsigned char*>(first) - lead;
        unsigned char* const to = place + row * pitch;
        const bool edge = still || r + row < near || r + row + near >= args.rnumel;
#pragma unroll 1
        for (int at = chunk; at < end; at += 16 << log_along) {
          if (edge && (at < lead || at + 16 > end)) {
            for (int j = at < lead ? lead : at; j < at + 16 && j < end; j += bytes)
              *reinterpret_cast<T*>(to + j) = *reinterpret_cast<const T*>(from + j);
          } else {
            copy_async(to + at, from + at);
          }
        }
      }
    }
  }
};

}  // namespace sinter::cuda::detail
