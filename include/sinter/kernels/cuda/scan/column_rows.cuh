// Rows of a stripe of columns on their way between memory and shared memory, where they lie alike in 16 bytes. The copy
// engine takes whole vectors of 16 bytes; what is left at the ends goes element by element.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/scan/column_cluster_parts.cuh"

namespace sinter::cuda::detail {

/// Some warps of a block, `number` of so many, move the rows of a part, each every so many-th.
template <class Body, class Args>
class column_rows {
 public:
  using facts = column_cluster_facts<Body>;
  using position = column_cluster_position;

  __device__ __forceinline__ column_rows(const Args& args, const column_cluster_share& share)
      : args_(args), share_(share) {}

  /// From memory into a place. How many bytes the engine brings, which `arrived` counts.
  template <int Warps>
  __device__ __forceinline__ int send(const position& at, unsigned place, unsigned arrived, int number) const {
    return each_access(
        [&]<int I>(std::integral_constant<int, I>) { return send_rows<I, Warps>(at, place, arrived, number); });
  }
  /// From a place into memory: one lane has then sent for it.
  template <int Warps>
  __device__ __forceinline__ void store(const position& at, unsigned place, int number) const {
    each_access([&]<int I>(std::integral_constant<int, I>) {
      store_rows<I, Warps>(at, place, number);
      return 0;
    });
  }

 private:
  const Args& args_;
  const column_cluster_share& share_;

  template <class F>
  static __device__ __forceinline__ int each_access(const F& f) {
    return call_each(f, std::make_index_sequence<Body::size>{});
  }
  template <class F, std::size_t... I>
  static __device__ __forceinline__ int call_each(const F& f, std::index_sequence<I...>) {
    return (f(std::integral_constant<int, static_cast<int>(I)>{}) + ...);
  }

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
  static __device__ __forceinline__ int sum_of_lanes(int n) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(all_lanes, n);
#else
    return n;  // nothing is sent
#endif
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
  template <int I, int Warps>
  __device__ __forceinline__ int send_rows(const position& at, unsigned place, unsigned arrived, int number) const {
    int sent = 0;
    if constexpr (facts::template stages<I> && !facts::stores[I]) {
      using rows_of = column_cluster_rows<Body, I>;
      using T = typename rows_of::type;
      const int rows = at.rows(args_), bytes = at.count * rows_of::size, pitch = rows_of::pitch(args_, share_);
      const std::int64_t apart = rows_of::apart(args_);
      unsigned char* const first = rows_of::in_memory(args_, at.first, at.top());
      const unsigned target = place + static_cast<unsigned>(rows_of::before(share_) + below(first));
      const unsigned char *const begin_of_all = rows_of::in_memory(args_, 0, 0),
                                 *const end_of_all = rows_of::in_memory(args_, static_cast<int>(args_.numel) - 1,
                                                                        static_cast<int>(args_.rnumel) - 1) +
                                                     rows_of::size;
      each_pass<Warps>(rows, number, [&](int i, int lanes) {
        unsigned char *const row = first + i * apart, *begin = row - below(row), *end = row + bytes;
        end += above(end);
        const unsigned to = target + static_cast<unsigned>(i * pitch);
        if (i < rows && (begin < begin_of_all || end > end_of_all)) {
          const auto copy = [&](const unsigned char* from, const unsigned char* last) {
#pragma unroll 1
            for (; from < last; from += rows_of::size)
              *static_cast<T*>(__cvta_shared_to_generic(to + static_cast<unsigned>(from - row))) =
                  *reinterpret_cast<const T*>(from);
          };
          if (begin < begin_of_all) begin += 16, copy(row, begin < row + bytes ? begin : row + bytes);
          if (end > end_of_all && end > begin) end -= 16, copy(end > row ? end : row, row + bytes);
        }
        const int size = i < rows && end > begin ? static_cast<int>(end - begin) : 0;
        each_copy({begin, to + static_cast<unsigned>(begin - row), size}, lanes,
                  [&](const unsigned char* from, unsigned shared, int n) { copy_bulk(shared, from, n, arrived); });
        sent += sum_of_lanes(size);
      });
    }
    return sent;
  }

  /// From one sector's begin to another's, but for the ends of columns that adjoin.
  template <int I, int Warps>
  __device__ __forceinline__ void store_rows(const position& at, unsigned place, int number) const {
    if constexpr (facts::template stages<I> && facts::stores[I]) {
      using rows_of = column_cluster_rows<Body, I>;
      using T = typename rows_of::type;
      const int rows = at.rows(args_), bytes = at.count * rows_of::size, pitch = rows_of::pitch(args_, share_);
      const std::int64_t apart = rows_of::apart(args_);
      unsigned char* const first = rows_of::in_memory(args_, at.first, at.top());
      const unsigned source = place + static_cast<unsigned>(rows_of::before(share_) + below(first));
      const bool cut = share_.beside > 0;
      const int beside = at.begins ? 0 : share_.beside * rows_of::size;
      each_pass<Warps>(rows, number, [&](int i, int lanes) {
        unsigned char *const row = first + i * apart, *begin = row + beside, *end = row + bytes;
        if (cut && !at.begins) begin -= reinterpret_cast<std::uintptr_t>(begin) & 31;
        if (cut && !at.ends) end -= reinterpret_cast<std::uintptr_t>(end) & 31;
        unsigned char *const inside = begin + above(begin), *const last = end - below(end);
        const int size = i < rows && last > inside ? static_cast<int>(last - inside) : 0;
        const unsigned from = source + static_cast<unsigned>(i * pitch);
        each_copy({inside, from + static_cast<unsigned>(inside - row), size}, lanes,
                  [](unsigned char* to, unsigned shared, int n) { copy_back(to, shared, n); });
        // What is left at both ends, less than 16 bytes each.
        const auto copy = [&](unsigned char* to, const unsigned char* past) {
#pragma unroll 1
          for (; to < past; to += rows_of::size)
            *reinterpret_cast<T*>(to) =
                *static_cast<const T*>(__cvta_shared_to_generic(from + static_cast<unsigned>(to - row)));
        };
        if (i < rows && (inside > begin || last < end)) {
          copy(begin, inside < end ? inside : end);
          copy(last > inside ? last : inside, end);
        }
        __syncwarp();
      });
    }
  }
};

}  // namespace sinter::cuda::detail
