// Parts of long rows in rings (places.cuh): which bodies can be scanned so, how their rows are cut, where the
// elements of a part lie. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/scan/places.cuh"
#include "sinter/kernels/cuda/shifted.hpp"

namespace sinter::cuda {

/// `parts` of all rows, of which each has `parts_of_row`.
struct scan_ring_share {
  unsigned* counter;
  void* states;
  int parts, parts_of_row;
  ring_turns turns;
};

namespace detail {

/// Blocks that tell each other in one turn: a lane reads what so many have told.
inline constexpr int ring_told = 5, most_ring_blocks = 32 * ring_told;

/// Bytes of an element of what passes through the ring.
template <class S>
inline constexpr int ring_bytes = 0;
template <int Slot, class T, class At>
inline constexpr int ring_bytes<load<Slot, T, At, -1>> = row_place<At>::facts.plain&& row_place<At>::facts.along_r
                                                             ? static_cast<int>(sizeof(T))
                                                             : 0;

/// What is the same for every row passes through the ring as well: every row is shifted as it is.
template <class S>
struct ring_access : shifted_access<S> {
  static constexpr bool moves = shifted_access<S>::along_r;
};

template <class Body>
struct ring_facts;
template <class... S>
struct ring_facts<body<S...>> {
  using B = body<S...>;
  /// Bytes per element before statement s.
  SINTER_HOST_DEVICE static constexpr int bytes_before(int s) {
    int i = 0, total = 0;
    ((total += i++ < s ? ring_bytes<S> : 0), ...);
    return total;
  }
  static constexpr int bytes = bytes_before(sizeof...(S));
  SINTER_HOST_DEVICE static constexpr bool stages(int s) { return bytes_before(s + 1) > bytes_before(s); }

  /// Elements of a vector, of which the copy engine takes whole ones only; 0: this body's rows cannot pass.
  static constexpr int width = [] {
    constexpr int widest = shifted_width<ring_access<S>...>;
    const bool fits = bytes > 0 && widest > 1 && ((ring_bytes<S> * widest % 16 == 0) && ...);
    const bool one_stage = scan_facts<B>::can_split && scan_facts<B>::num_stages == 2;
    return fits && one_stage && (shifted_access<S>::allowed && ...) ? widest : 0;
  }();
  static constexpr bool can = width > 0;
  /// Warps of a block: so many workers that some work while others wait, and listeners, each of which reads what others
  /// have told in less than the time of two parts. Large states would cost registers.
  static constexpr bool is_small = scan_least_blocks<B> == 0;
  static constexpr int workers = is_small ? 16 : 8, senders = 1, tellers = 1, listeners = is_small ? 3 : 2;
  static constexpr int arrivals = senders * warp_arrivals;  // for a part to be there
  static constexpr int threads = (workers + senders + tellers + listeners) * 32;
  /// Vectors of a lane in each part.
  static constexpr int items = [] {
    if (width == 0) return 1;
    const int most = ring_part_bytes / (workers * 32 * width * bytes), held = 32 / width;
    return most < 1 ? 1 : most < held ? most : held;
  }();
  static constexpr int piece = 32 * width * items, part = workers * piece;  // elements
  /// And what the workers have folded, all parts before, and all turns before.
  static constexpr int place_bytes = part * bytes, barriers_bytes = ring_barriers * 8,
                       states_bytes = stage_bytes<B>(0, B::size, workers + 2);
  static constexpr int slot_bytes = place_bytes + barriers_bytes + states_bytes;

  /// The shift that all vectors have in common; false: there is none.
  template <class Args>
  static bool find(const Args& args, row_shift& shift) {
    return find_shift<width, ring_access<S>...>(args, shift, args.numel <= 1);
  }
};

/// Vectors in the ring, which lie as in memory.
template <class Body>
struct ring_tiling : tiling<loop_var::r, loop_var::r, ring_facts<Body>::width, ring_facts<Body>::items, int> {
  using facts = ring_facts<Body>;
  static constexpr bool guards = true, shifted = true;
  template <int I>
  static constexpr bool stages = facts::stages(I);
  struct staging {
    unsigned end = 0, place = 0;  // of the row; of the part
    std::int64_t last_row = 0;
    static constexpr bool others_aligned = false;

    template <int I, class T>
    __device__ __forceinline__ void read(compute_t<T> (&out)[facts::width], int u) const {
      constexpr int before = facts::bytes_before(I) * facts::part, size = facts::width * sizeof(T);
      const unsigned vector = threadIdx.x / 32 * (32 * facts::items) + static_cast<unsigned>(u * 32) + threadIdx.x % 32;
      read_vector<T>(out, place + before + vector * size);
    }
  };
};

/// The way of one warp through a block's parts, and through the ring.
struct ring_position : ring_place {
  const scan_ring_share& share;
  int part, row = 0, in_row;

  __device__ __forceinline__ explicit ring_position(const scan_ring_share& s)
      : share(s), part(static_cast<int>(blockIdx.x)), in_row(part) {
    find_row();
  }
  __device__ __forceinline__ bool is_there() const { return part < share.parts; }
  __device__ __forceinline__ void advance() {
    part += static_cast<int>(gridDim.x), in_row += static_cast<int>(gridDim.x);
    find_row();
    pass(share.turns.slots);
  }

 private:
  __device__ __forceinline__ void find_row() {
    if (in_row < share.parts_of_row) return;
    const int rows = static_cast<int>(static_cast<unsigned>(in_row) / static_cast<unsigned>(share.parts_of_row));
    row += rows, in_row -= rows * share.parts_of_row;
  }
};

}  // namespace detail
}  // namespace sinter::cuda
