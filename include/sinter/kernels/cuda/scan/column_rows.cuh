// Rows of a stripe of columns on their way between memory and shared memory, where they lie alike in 16 bytes. The copy
// engine takes whole vectors of 16 bytes; what is left at the ends goes element by element.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/reduction/rows/warp_meeting.cuh"
#include "sinter/kernels/cuda/scan/column_cluster_parts.cuh"

namespace sinter::cuda::detail {

/// Some warps of a block, `number` of so many, move the rows of a part, each every so many-th.
template <class Body, class Args>
class column_rows {
 public:
  using position = column_cluster_position;

  __device__ __forceinline__ column_rows(const Args& args, const column_cluster_share& share)
      : args_(args), share_(share) {}

  /// From memory into a place. How many bytes the engine brings, which `arrived` counts.
  template <int Warps>
  __device__ __forceinline__ int send(const position& at, unsigned place, unsigned arrived, int number) const {
    int sent = 0;
    each_column_access<column_cluster_facts<Body>, false>([&]<int I>(std::integral_constant<int, I>) {
      sent += send_rows<Warps>(part_rows<I>(*this, at, place), arrived, number);
    });
    return sent;
  }
  /// From a place into memory: one lane has then sent for it.
  template <int Warps>
  __device__ __forceinline__ void store(const position& at, unsigned place, int number) const {
    each_column_access<column_cluster_facts<Body>, true>(
        [&]<int I>(std::integral_constant<int, I>) { store_rows<Warps>(part_rows<I>(*this, at, place), at, number); });
  }

 private:
  const Args& args_;
  const column_cluster_share& share_;

  /// Rows of a part: how many, of how many bytes; where the first one lies in memory and in its place, and how far they
  /// are apart in both.
  template <int I>
  struct part_rows {
    using rows_of = column_cluster_rows<Body, I>;
    int count, bytes, pitch;
    std::int64_t apart;
    unsigned char* first;
    unsigned place;
    __device__ __forceinline__ part_rows(const column_rows& all, const position& at, unsigned begin)
        : count(at.rows(all.args_)),
          bytes(at.count * rows_of::size),
          pitch(rows_of::pitch(all.args_, all.share_)),
          apart(rows_of::apart(all.args_)),
          first(rows_of::in_memory(all.args_, at.first, at.top())),
          place(begin + static_cast<unsigned>(rows_of::before(all.share_) + below(first))) {}
  };

  static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x) % 32; }
  static __device__ __forceinline__ int below(const unsigned char* p) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(p) & 15);
  }
  static __device__ __forceinline__ int above(const unsigned char* p) {
    return static_cast<int>(-reinterpret_cast<std::uintptr_t>(p) & 15);
  }
  /// Whole vectors of 16 bytes.
  struct row_copy {
    unsigned char* memory;
    unsigned shared;
    int bytes;
  };
  /// Of one lane for all: the engine's instructions take what a warp has in common, and a loop for what it has not.
  template <class Copy>
  static __device__ __forceinline__ void each_copy(const row_copy& mine, int lanes, const Copy& copy) {
    const auto address = reinterpret_cast<std::uintptr_t>(mine.memory);
#pragma unroll 4
    for (int k = 0; k < lanes; ++k) {
      const auto low = __shfl_sync(all_lanes, static_cast<unsigned>(address), k),
                 high = __shfl_sync(all_lanes, static_cast<unsigned>(address >> 32), k),
                 shared = __shfl_sync(all_lanes, mine.shared, k);
      const int bytes = __shfl_sync(all_lanes, mine.bytes, k);
      if (is_elected_lane() && bytes > 0)
        copy(reinterpret_cast<unsigned char*>(std::uint64_t(high) << 32 | low), shared, bytes);
    }
  }
  /// For all rows of warp `number`, each of which takes every so many-th: calls pass(row, lanes), where so many lanes
  /// have a row.
  template <int Warps, class Pass>
  static __device__ __forceinline__ void each_pass(int rows, int number, const Pass& pass) {
#pragma unroll 1
    for (int first = number; first < rows; first += 32 * Warps) {
      const int left = (rows - first + Warps - 1) / Warps;
      pass(first + lane() * Warps, left < 32 ? left : 32);
    }
  }

  /// With what else is in the vectors: not in front of the first element of all, or behind the last. How many bytes the
  /// engine brings.
  template <int Warps, int I>
  __device__ __forceinline__ int send_rows(const part_rows<I>& part, unsigned arrived, int number) const {
    using rows_of = column_cluster_rows<Body, I>;
    using T = typename rows_of::type;
    int sent = 0;
    const unsigned char *const begin_of_all = rows_of::in_memory(args_, 0, 0),
                               *const end_of_all = rows_of::in_memory(args_, static_cast<int>(args_.numel) - 1,
                                                                      static_cast<int>(args_.rnumel) - 1) +
                                                   rows_of::size;
    each_pass<Warps>(part.count, number, [&](int i, int lanes) {
      unsigned char *const row = part.first + i * part.apart, *begin = row - below(row), *end = row + part.bytes;
      end += above(end);
      const unsigned to = part.place + static_cast<unsigned>(i * part.pitch);
      if (i < part.count && (begin < begin_of_all || end > end_of_all)) {
        const auto copy = [&](const unsigned char* from, const unsigned char* last) {
#pragma unroll 1
          for (; from < last; from += rows_of::size)
            *static_cast<T*>(__cvta_shared_to_generic(to + static_cast<unsigned>(from - row))) =
                *reinterpret_cast<const T*>(from);
        };
        if (begin < begin_of_all) begin += 16, copy(row, begin < row + part.bytes ? begin : row + part.bytes);
        if (end > end_of_all && end > begin) end -= 16, copy(end > row ? end : row, row + part.bytes);
      }
      const int size = i < part.count && end > begin ? static_cast<int>(end - begin) : 0;
      each_copy({begin, to + static_cast<unsigned>(begin - row), size}, lanes,
                [&](const unsigned char* from, unsigned shared, int n) { copy_bulk(shared, from, n, arrived); });
      sent += static_cast<int>(whole_warp().sum(std::int64_t{size}));  // as counts are: ints would be shuffled
    });
    return sent;
  }

  /// From one sector's begin to another's, but for the ends of columns that adjoin.
  template <int Warps, int I>
  __device__ __forceinline__ void store_rows(const part_rows<I>& part, const position& at, int number) const {
    using rows_of = column_cluster_rows<Body, I>;
    using T = typename rows_of::type;
    const bool cut = share_.beside > 0;
    const int beside = at.begins ? 0 : share_.beside * rows_of::size;
    each_pass<Warps>(part.count, number, [&](int i, int lanes) {
      unsigned char *const row = part.first + i * part.apart, *begin = row + beside, *end = row + part.bytes;
      if (cut && !at.begins) begin -= reinterpret_cast<std::uintptr_t>(begin) & 31;
      if (cut && !at.ends) end -= reinterpret_cast<std::uintptr_t>(end) & 31;
      unsigned char *const inside = begin + above(begin), *const last = end - below(end);
      const int size = i < part.count && last > inside ? static_cast<int>(last - inside) : 0;
      const unsigned from = part.place + static_cast<unsigned>(i * part.pitch);
      each_copy({inside, from + static_cast<unsigned>(inside - row), size}, lanes,
                [](unsigned char* to, unsigned shared, int n) { copy_back(to, shared, n); });
      // What is left at both ends, less than 16 bytes each.
      const auto copy = [&](unsigned char* to, const unsigned char* past) {
#pragma unroll 1
        for (; to < past; to += rows_of::size)
          *reinterpret_cast<T*>(to) =
              *static_cast<const T*>(__cvta_shared_to_generic(from + static_cast<unsigned>(to - row)));
      };
      if (i < part.count && (inside > begin || last < end)) {
        copy(begin, inside < end ? inside : end);
        copy(last > inside ? last : inside, end);
      }
      __syncwarp();
    });
  }
};

}  // namespace sinter::cuda::detail
