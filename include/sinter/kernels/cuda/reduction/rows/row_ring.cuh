// Rows on their way through shared memory: every warp has a ring of places, each for a piece of a row, which the copy
// engine fills while the warps work on pieces that came before. A warp fills its place again as soon as it has read it
// for the last time; it waits for no other warp.
// What is done with the pieces is streamed.cuh's matter. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/copy_async.cuh"
#include "sinter/kernels/cuda/reduction/rows/stream_share.cuh"

namespace sinter::cuda {

namespace detail {

/// Where the lanes of a warp find their values of a tile: item after item, Width neighbours of each.
template <class Body, int Width, int Items>
struct tile_staging {
  const unsigned char* place = nullptr;  // of the piece
  int tile = 0, tiles = 1;               // of the piece

  template <int I, class T>
  __device__ __forceinline__ void read(compute_t<T> (&out)[Width], int u) const {
    constexpr int lanes = 32 * Width * Items, before = stream_facts<Body>::bytes_before(I) * lanes;
    const T* values = reinterpret_cast<const T*>(place + before * tiles) + tile * lanes;
    wide<T, Width>::read(out, values + (u * 32 + static_cast<int>(threadIdx.x) % 32) * Width);
  }
};

/// A tile that waits in shared memory from phase to phase. Whole: no row ends inside of one.
template <class Body, int Width, int Items, bool Whole>
struct streamed_tiling : tiling<loop_var::r, loop_var::r, Width, Items, int> {
  static constexpr int lanes = 32 * Width * Items, bytes = stream_facts<Body>::bytes * lanes;  // of a warp
  static constexpr bool streamed = true, whole = Whole, guards = true;
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

  /// Where a warp is in its ring, and which way it goes.
  struct position {
    int slot = 0, by = 1;
    __device__ __forceinline__ void advance(int slots) {
      slot += by;
      if (slot == slots) slot = 0;
      if (slot < 0) slot = slots - 1;
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

  __device__ __forceinline__ void wait(const position& at) {
    barrier_wait(barrier(at.slot), odd_ >> at.slot & 1);
    odd_ ^= 1u << at.slot;
  }

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
      const int bytes = (min(first + lanes_, static_cast<int>(args.rnumel)) - first) * static_cast<int>(sizeof(T));
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
  unsigned barriers_, odd_ = 0;  // of each place, whether it has been filled an odd number of times
};

}  // namespace detail
}  // namespace sinter::cuda
