// Of rows that groups of warps share: which part of which row is a warp's, and where it lies in shared memory.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/reduction/rows/group_share.hpp"
#include "sinter/kernels/cuda/reduction/rows/kept_loads.cuh"
#include "sinter/kernels/cuda/reduction/rows/kept_value.cuh"
#include "sinter/kernels/cuda/reduction/rows/rows_ahead.cuh"
#include "sinter/kernels/cuda/reduction/rows/vectors.cuh"
#include "sinter/kernels/cuda/reduction/rows/warp_meeting.cuh"

namespace sinter::cuda::detail {

/// Shared memory of a block: where the groups meet; what all rows share; of each warp its places and their barriers.
template <class Body, int Width>
struct grouped_memory {
  int meeting_bytes, kept, places, warp_bytes, all;

  SINTER_HOST_DEVICE constexpr explicit grouped_memory(const group_share& share)
      : meeting_bytes(warp_meeting<Body>::bytes(share.parts * share.warps())),
        kept(share.groups * meeting_bytes),
        places(kept + kept_loads<Body>::bytes(kept_elements(share))),
        warp_bytes(share.slots * share.vectors * stream_facts<Body>::bytes * Width + (share.slots + 1) / 2 * 16),
        all(places + grouped_threads / 32 * warp_bytes) {}

  /// Of each load, with what may lie beside the block's part of a row.
  SINTER_HOST_DEVICE static constexpr int kept_elements(const group_share& share) {
    return (share.warps() * share.vectors + 2) * Width;
  }
};

/// The warps of a group as the threads of a row.
class group_threads {
 public:
  __device__ __forceinline__ explicit group_threads(const group_share& share) : share_(share), warps_(share.warps()) {}
  __device__ __forceinline__ int warps() const { return warps_; }
  __device__ __forceinline__ int group() const { return static_cast<int>(threadIdx.x) / 32 / warps_; }
  __device__ __forceinline__ int warp() const { return static_cast<int>(threadIdx.x) / 32 & (warps_ - 1); }
  __device__ __forceinline__ bool leads() const { return (threadIdx.x & (32 * warps_ - 1)) == 0; }
  static __device__ __forceinline__ constexpr int lanes() { return 32; }

  /// Which block of its cluster.
  __device__ __forceinline__ int part() const { return static_cast<int>(blockIdx.x) % share_.parts; }
  __device__ __forceinline__ int first_row() const {
    return static_cast<int>(blockIdx.x) / share_.parts * share_.groups + group();
  }
  /// Of each row: the vector with which the part begins that warp `of` of the block's group has.
  __device__ __forceinline__ int first_vector(int of) const { return share_.vectors_before(part() * warps_ + of); }

 private:
  const group_share& share_;
  int warps_;  // a power of two
};

/// Does phase P, which may find a value, read what all rows share?
template <class Body, int P>
inline constexpr bool shares_beside_kept = reads_shared<Body, elements_beside_kept<Body, P>>;
/// Do several? Then loops that know how each row lies beside it are more than
/// instruction caches hold.
template <class Body>
inline constexpr bool few_loops = [] {
  int phases = 0;
  [&]<int... P>(std::integer_sequence<int, P...>) { ((phases += shares_beside_kept<Body, P>), ...); }
  (std::make_integer_sequence<int, body_facts<Body>::num_phases>{});
  return phases > 1;
}();
/// Elements of which they know how often a row is shifted by them.
template <class Body, int Width>
inline constexpr int known_shift = few_loops<Body>&& Width > 4 ? 2 : 1;

/// Where the lanes of a warp find Items vectors each, and what all rows share beside them.
template <class Body, int Width, int Items>
struct grouped_staging {
  unsigned place = 0;
  int first = 0, vectors = 0;  // of the part: the lane's vector, and how many there are
  int shift = -1;              // elements from a vector of what all rows share to the row's; or unknown
  kept_loads<Body> others;

  template <int I, class T>
  __device__ __forceinline__ const T* kept() const {
    extern __shared__ __align__(128) unsigned char grouped_rows[];
    return others.template first<I, T>(grouped_rows);
  }
  __device__ __forceinline__ bool aligned() const { return shift == 0; }
  static __device__ __forceinline__ constexpr bool anywhere() { return false; }
  template <class T, int Unit>
  __device__ __forceinline__ unsigned shift_of(const T* p) const {
    return shift < 0 ? bytes_past<Unit>(p) : static_cast<unsigned>(shift) * sizeof(T) & (Unit - 1);
  }
  template <int I, class T>
  __device__ __forceinline__ void read(compute_t<T> (&out)[Width], int u, bool ok) const {
    constexpr int size = Width * sizeof(T), before = stream_facts<Body>::bytes_before(I) * Width;
    const unsigned from = place + static_cast<unsigned>(before * vectors + first * size);
    unsigned words[size / 4];
#pragma unroll
    for (int c = 0; c < size / 16; ++c) {
      uint4 raw{};
      if (ok) raw = read_shared(from + static_cast<unsigned>(u * 32 * size + c * 16));
      memcpy(words + 4 * c, &raw, 16);
    }
    wide<T, Width>::unpack(out, words);
  }

  /// The body's value, of item u: leaves it, finds it.
  template <int Lanes>
  __device__ __forceinline__ void keep(const float (&values)[Lanes], int u, bool ok) const {
    each_part(
        [&]<int C>(std::integral_constant<int, C>, unsigned at) {
          uint4 raw;
          memcpy(&raw, values + u * Width + 4 * C, 16);
          if (ok) write_shared(at, raw);
        },
        u);
  }
  template <int Lanes>
  __device__ __forceinline__ void recall(float (&values)[Lanes], int u, bool ok) const {
    each_part(
        [&]<int C>(std::integral_constant<int, C>, unsigned at) {
          uint4 raw{};
          if (ok) raw = read_shared(at);
          memcpy(values + u * Width + 4 * C, &raw, 16);
        },
        u);
  }

 private:
  /// visit(number, address) for each 16 bytes of the value's vector.
  template <class Visit>
  __device__ __forceinline__ void each_part(const Visit& visit, int u) const {
    [&]<int... C>(std::integer_sequence<int, C...>) {
      (visit(std::integral_constant<int, C>{}, part_of_kept<C>(u)), ...);
    }
    (std::make_integer_sequence<int, Width / 4>{});
  }
  template <int C>
  __device__ __forceinline__ unsigned part_of_kept(int u) const {
    constexpr auto where = kept_value<Body>::template place_of<C, Width>;
    constexpr int before = stream_facts<Body>::bytes_before(where.load) * Width,
                  size = stream_facts<Body>::bytes_before(where.load + 1) * Width - before;
    return place + static_cast<unsigned>(before * vectors + (first + u * 32) * size + where.part * 16);
  }
};

/// In a phase behind that which leaves a value, if Recalls.
template <class Body, int Width, int Items, bool Recalls = false>
struct grouped_tiling : vectors_tiling<Body, Width, Items> {
  static constexpr bool adjoining = true, keeps = true, in_halves = known_shift<Body, Width> == 1;
  template <int I>
  static constexpr bool recalls = Recalls&& I == kept_value<Body>::statement;
  using staging = grouped_staging<Body, Width, Items>;
};

/// Each warp its part of its first row: of more of them, each would come later.
template <class Body, int Width, class Args>
__device__ __forceinline__ void ask_for_first_rows(const Args& args, const group_share& share) {
  const group_threads threads(share);
  const int first = threads.first_vector(threads.warp());
  const std::int64_t begin = std::int64_t(first) * Width, left = args.rnumel - begin;
  const int most = (threads.first_vector(threads.warp() + 1) - first) * Width;
  if (threadIdx.x % 32 == 0)
    rows_ahead<Body>::ask(args, threads.first_row(), begin, left < most ? static_cast<int>(left) : most);
}

}  // namespace sinter::cuda::detail
