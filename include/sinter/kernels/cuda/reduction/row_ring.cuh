// Rows on their way through shared memory: every warp has a ring of places, each for a piece of a row, which the copy
// engine fills while the warps work on pieces that came before. A warp fills its place again as soon as it has read it
// for the last time; it waits for no other warp.
// What is done with the pieces is streamed.cuh's matter. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/copy_async.cuh"
#include "sinter/kernels/cuda/statements.cuh"

namespace sinter::cuda {

/// How rows are shared out: `teams` teams of `parts` blocks take one row after another, of which each warp has `pieces`
/// of `tiles` each, and `slots` places for them. A part that the places hold is read once, others once in every phase.
/// In turn: a team of one block takes the next row that nobody has.
struct stream_share {
  unsigned* counters = nullptr;
  int slots = 1, pieces = 1, tiles = 1, parts = 1, teams = 1;
  bool in_turn = false;
  SINTER_HOST_DEVICE constexpr bool stays() const { return pieces <= slots; }
};

namespace detail {

/// Bytes of an element of accesses to whole rows, neighbour after neighbour; of others 0.
template <class T, class At>
inline constexpr int bytes_along_rows =
    row_place<At>::facts.plain&& row_place<At>::facts.along_r&& row_place<At>::facts.along_x
        ? static_cast<int>(sizeof(T))
        : 0;
/// Which loads are streamed.
template <class S>
inline constexpr int streamed_bytes = 0;
template <int Slot, class T, class At>
inline constexpr int streamed_bytes<load<Slot, T, At, -1>> = bytes_along_rows<T, At>;
template <class Body>
struct stream_facts;
template <class... S>
struct stream_facts<body<S...>> {
  static constexpr int loads = ((streamed_bytes<S> > 0) + ... + 0);
  /// Bytes per element of the streamed loads before statement s, if any.
  SINTER_HOST_DEVICE static constexpr int bytes_before(int s) {
    int i = 0, total = 0;
    ((total += i++ < s ? streamed_bytes<S> : 0), ...);
    return total;
  }
  SINTER_HOST_DEVICE static constexpr int loads_before(int s) {
    int i = 0, total = 0;
    ((total += i++ < s && streamed_bytes<S> > 0), ...);
    return total;
  }
  static constexpr int bytes = bytes_before(sizeof...(S));
  SINTER_HOST_DEVICE static constexpr bool streams(int s) { return bytes_before(s + 1) > bytes_before(s); }
  /// The copy engine takes multiples of 16 bytes.
  static constexpr bool whole_vectors(int width) { return bytes > 0 && ((streamed_bytes<S> * width % 16 == 0) && ...); }
  /// What all rows share, element by element.
  SINTER_HOST_DEVICE static constexpr bool is_shared(int s) {
    int i = 0;
    bool shared = false;
    ((shared = shared || (i++ == s && shifted_access<S>::along_r && !shifted_access<S>::moves)), ...);
    return shared;
  }
  static constexpr int shared_loads = ((shifted_access<S>::along_r && !shifted_access<S>::moves) + ... + 0);
  static constexpr bool has_shared = shared_loads > 0;
};

/// Which rows a block takes: every so many-th; or, in turn, two of those and then whichever is next. Multiprocessors
/// are not equally far from memory: with as many rows for each, some are done a tenth before others.
class row_order {
 public:
  __device__ __forceinline__ row_order(const stream_share& share, int rows, int* queue)
      : share_(share), rows_(rows), queue_(queue), last_(first() + share.teams) {}
  __device__ __forceinline__ int first() const { return static_cast<int>(blockIdx.x) / share_.parts; }
  /// The row that follows the turn-th, which is `row`. In turn: known after the first phase's barrier of the one
  /// before.
  __device__ __forceinline__ int after(int row, int turn) const {
    return share_.in_turn && turn > 0 ? queue_[(turn + 1) % queue_length] : row + share_.teams;
  }
  /// For the first thread, in the first phase of the turn-th row, before its barrier. Each block is refused once, and
  /// with the last refusal the counter is at zero again.
  __device__ __forceinline__ void ask(int turn) {
    if (!share_.in_turn || threadIdx.x != 0) return;
    if (last_ < rows_)
      last_ = 2 * share_.teams +
              static_cast<int>(atomicInc(share_.counters, static_cast<unsigned>(rows_ - share_.teams - 1)));
    queue_[(turn + 2) % queue_length] = last_;
  }
  static constexpr int queue_length = 4;

 private:
  const stream_share& share_;
  int rows_;
  int* queue_;
  int last_;
};

/// Where the lanes of a warp find their values of a tile: item after item, Width neighbours of each.
template <class Body, int Width, int Items>
struct tile_staging {
  const unsigned char* place = nullptr;  // of the piece
  int tile = 0, tiles = 1;               // of the piece

  template <int I, class T>
  __device__ __forceinline__ void read(compute_t<T> (&out)[Width], int u) const {
    constexpr int lanes = 32 * Width * Items, before = stream_facts<Body>::bytes_before(I) * lanes;
    const T* values = reinterpret_cast<const T*>(place + before * tiles) + tile * lanes;
    wide<T, Width>::template read<false>(out, values + (u * 32 + static_cast<int>(threadIdx.x) % 32) * Width);
  }
};

/// A tile that waits in shared memory from phase to phase. Whole: all of them lie within their rows.
template <class Body, int Width, int Items, bool Whole>
struct streamed_tiling : tiling<loop_var::r, loop_var::r, Width, Items, int> {
  static constexpr int lanes = 32 * Width * Items, bytes = stream_facts<Body>::bytes * lanes;  // of a warp
  static constexpr bool streamed = true, whole = Whole, guards = true, early_loads = false;
  static constexpr int most_waiting = 128;
  template <int I>
  static constexpr bool stages = stream_facts<Body>::streams(I);
  using staging = tile_staging<Body, Width, Items>;
};

/// The places of one warp. Barrier number s is complete when what was last sent to place s has arrived.
template <class Body, class Tiling>
class row_ring {
 public:
  static constexpr int barrier_bytes = 8;

  /// Where a warp is in its ring, and whether it has been there an odd number of times.
  struct position {
    int slot = 0;
    unsigned odd = 0;
    __device__ __forceinline__ void advance(int slots) {
      if (++slot == slots) slot = 0, odd ^= 1;
    }
  };

  /// `memory`: for each of the warps `slots` places of `tiles` tiles, and barriers; aligned to 128 bytes.
  __device__ __forceinline__ row_ring(unsigned char* memory, int slots, int tiles)
      : lanes_(tiles * Tiling::lanes), bytes_(tiles * Tiling::bytes) {
    const int warp = static_cast<int>(threadIdx.x) / 32, warps = static_cast<int>(blockDim.x) / 32;
    places_ = memory + warp * slots * bytes_;
    barriers_ = shared_address(memory + warps * slots * bytes_) + static_cast<unsigned>(warp * slots * barrier_bytes);
    if constexpr (has_copy_engine) {
      if (first_lane()) {
#pragma unroll 1
        for (int s = 0; s < slots; ++s) barrier_begin(barrier(s));
        barriers_begun();
      }
      __syncwarp();
    }
  }

  __device__ __forceinline__ const unsigned char* place(int slot) const { return places_ + slot * bytes_; }

  __device__ __forceinline__ void wait(const position& at) const { barrier_wait(barrier(at.slot), at.odd); }

  /// Sends for the piece of row `row` whose first element is number `first` of the row.
  template <class... S, std::size_t... I, class Args>
  __device__ __forceinline__ void send(body<S...>, std::index_sequence<I...>, int slot, const Args& args, int row,
                                       int first) const {
    __syncwarp();  // all lanes have read what was here
    if constexpr (has_copy_engine) {
      if (!first_lane()) return;
      const int bytes = (send_load<static_cast<int>(I)>(S{}, slot, args, row, first) + ...);
      barrier_arrive(barrier(slot), bytes);
    } else {
      (send_load<static_cast<int>(I)>(S{}, slot, args, row, first), ...);
      __syncwarp();
    }
  }

 private:
  static __device__ __forceinline__ bool first_lane() { return threadIdx.x % 32 == 0; }
  __device__ __forceinline__ unsigned barrier(int slot) const {
    return barriers_ + static_cast<unsigned>(slot * barrier_bytes);
  }

  /// The bytes that will arrive.
  template <int I, class S, class Args>
  __device__ __forceinline__ int send_load(S, int, const Args&, int, int) const {
    return 0;
  }
  template <int I, int Slot, class T, class At, class Args>
  __device__ __forceinline__ int send_load(load<Slot, T, At, -1>, int slot, const Args& args, int row,
                                           int first) const {
    if constexpr (!stream_facts<Body>::streams(I)) {
      return 0;
    } else {
      int to = first + lanes_;
      if constexpr (!Tiling::whole) to = min(to, static_cast<int>(args.rnumel));
      const int bytes = (to - first) * static_cast<int>(sizeof(T));
      if (bytes <= 0) return 0;
      const T* source = static_cast<const T*>(args.pointers[Slot]) + offset_of<At>::at_xr(row, first, args.sizes);
      unsigned char* target = places_ + slot * bytes_ + stream_facts<Body>::bytes_before(I) * lanes_;
      if constexpr (has_copy_engine) {
        copy_bulk(target, source, bytes, barrier(slot));
      } else {
        for (int b = static_cast<int>(threadIdx.x) % 32 * 16; b < bytes; b += 32 * 16)
          *reinterpret_cast<uint4*>(target + b) =
              *reinterpret_cast<const uint4*>(reinterpret_cast<const unsigned char*>(source) + b);
      }
      return bytes;
    }
  }

  int lanes_, bytes_;  // of a place
  unsigned char* places_;
  unsigned barriers_;
};

}  // namespace detail
}  // namespace sinter::cuda
