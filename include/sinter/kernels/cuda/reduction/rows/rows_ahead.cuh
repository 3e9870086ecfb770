// The rows that a block reads first, asked for before the kernel in front has ended: its last blocks leave memory idle,
// and what is in the L2 then arrives sooner.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/choose.hpp"
#include "sinter/kernels/cuda/copy_async.cuh"
#include "sinter/kernels/cuda/overlap.cuh"
#include "sinter/kernels/cuda/reduction/rows/stream_share.cuh"

namespace sinter::cuda::detail {

/// Asks for what the loads of a body that follow a row read.
template <class Body>
struct rows_ahead;
template <class... S>
struct rows_ahead<body<S...>> {
  /// `count` elements of each streamed load from element `begin` of a row on.
  template <class Args>
  static __device__ __forceinline__ void ask(const Args& args, std::int64_t row, std::int64_t begin, int count) {
    (ask_load(S{}, args, row, begin, row < args.numel ? count : 0), ...);
  }

 private:
  template <class Statement, class Args>
  static __device__ __forceinline__ void ask_load(Statement, const Args&, std::int64_t, std::int64_t, int) {}
  template <int Slot, class T, class At, class Args>
  static __device__ __forceinline__ void ask_load(load<Slot, T, At, -1>, const Args& args, std::int64_t row,
                                                  std::int64_t begin, int count) {
    constexpr int bytes = bytes_along_rows<T, At>;
    if constexpr (bytes > 0)
      prefetch_bulk(static_cast<const T*>(args.pointers[Slot]) + offset_of<At>::at_xr(row, begin, args.sizes),
                    count * bytes);
  }
};

/// Of each multiprocessor, bytes that the first blocks ask for: of rows in shared memory, in registers, of runs of
/// rows. Of more, what is needed first comes later.
inline constexpr int asked_staged = 128 << 10, asked_held = 48 << 10, asked_in_runs = 64 << 10;

/// Is a block that reads so many bytes at first one of the first, which together have `most` for each of 132
/// multiprocessors? When later ones begin, the kernel in front has ended.
__device__ __forceinline__ bool is_early(int bytes, int most) {
  return static_cast<std::int64_t>(blockIdx.x) * bytes < 132 * most;
}

/// Whether a kernel that walks rows, or holds some, begins so. What only reads leaves no memory idle, and what it asked
/// for would come beside what others wait for.
template <class Body>
inline constexpr bool asks_ahead = element_stores<Body> > 0;

/// Instead of begin_kernel, where a block has a row for each of its threadIdx.y. `most`: see is_early.
template <class Body, class Args, class Threads>
__device__ __forceinline__ void begin_with_rows(const Args& args, const Threads& threads, int most) {
  begin_kernel<Args::next_reads_ahead>([&] {
    const int length = static_cast<int>(args.rnumel), rows = static_cast<int>(blockDim.y);
    const int bytes = length * stream_facts<Body>::bytes;
    if constexpr (asks_ahead<Body>)
      if (bytes >= 512 && is_early(rows * bytes, most))  // some lines are there as soon as they are asked for
        rows_ahead<Body>::ask(args, static_cast<std::int64_t>(blockIdx.x) * rows + threadIdx.y, 0,
                              threads.thread() == 0 ? length : 0);
  });
}

/// The same where blocks stay and a warp has pieces of `piece` elements of its rows: those for half of its places, for
/// of more each would come later. Blocks that all run at once do not begin before the kernel in front has ended.
template <class Body, class Args>
__device__ __forceinline__ void begin_with_pieces(const Args& args, const stream_share& share, int piece) {
  begin_kernel<Args::next_reads_ahead>([&] {
    if (!asks_ahead<Body> || threadIdx.x % 32 != 0 || share.parts != share.cluster) return;
    const int warps = static_cast<int>(blockDim.x) / 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int part = static_cast<int>(blockIdx.x) % share.parts * share.pieces;
    std::int64_t row = static_cast<std::int64_t>(blockIdx.x) / share.parts;
    for (int k = 0, number = 0; 2 * k < share.slots; ++k) {
      const std::int64_t begin = std::int64_t((part + number) * warps + warp) * piece, left = args.rnumel - begin;
      rows_ahead<Body>::ask(args, row, begin, left < piece ? static_cast<int>(left) : piece);
      if (++number == share.pieces) number = 0, row += share.teams;
    }
  });
}

}  // namespace sinter::cuda::detail
