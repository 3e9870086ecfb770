// Rows that begin anywhere, on their way through shared memory: as row_ring.cuh, but in vectors that are aligned in
// memory and lie within the row. What is done with their ends, and with the pieces, is vectors.cuh's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/reduction/row_ring.cuh"

namespace sinter::cuda::detail {

__device__ __forceinline__ uint4 read_shared(unsigned address) {
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(address)
               : "memory");
  return v;
}

__device__ __forceinline__ void write_shared(unsigned address, const uint4& v) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
}

/// The store of whole rows that goes back through shared memory, in the place of a load that nothing needs afterwards.
template <class S>
inline constexpr int returned_bytes = 0;
template <int Slot, class T, int A, class At>
inline constexpr int returned_bytes<store<Slot, T, A, At, -1>> = bytes_along_rows<T, At>;
template <class Body>
struct return_facts;
template <class... S>
struct return_facts<body<S...>> {
  using B = body<S...>;
  struct table {
    int from = -1, over = -1;  // the store, and the load
  };
  static constexpr table facts = [] {
    table t{};
    constexpr int loaded[] = {streamed_bytes<S>..., 0}, stored[] = {returned_bytes<S>..., 0};
    int count = 0;
    for (int s = 0; s < B::size; ++s) {
      if (stored[s] == 0) continue;
      ++count;
      t = {s, -1};
      for (int l = 0; l < B::size && t.over < 0; ++l)
        if (loaded[l] == stored[s] && body_facts<B>::phase(s) + 1 == body_facts<B>::num_phases) t.over = l;
    }
    if (count != 1 || t.over < 0) t = {};
    return t;
  }();
  static constexpr bool any = facts.over >= 0;
};

/// Where the lanes of a warp find their vectors of a piece: of each load the elements as they lie in memory.
template <class Body, int Width, int Items>
struct piece_staging {
  static constexpr int vectors = 32 * Items;
  unsigned place = 0;
  bool shared_aligned = false;  // what all rows share lies as the vectors do

  template <int I, class T>
  __device__ __forceinline__ void read(compute_t<T> (&out)[Width], int u) const {
    constexpr int before = stream_facts<Body>::bytes_before(I) * Width * vectors, size = Width * sizeof(T);
    const unsigned lane = threadIdx.x % 32;
    unsigned words[size / 4];
#pragma unroll
    for (int c = 0; c < size / 16; ++c) {
      const uint4 raw = read_shared(place + lane * size + static_cast<unsigned>(before + u * 32 * size + c * 16));
      memcpy(words + 4 * c, &raw, 16);
    }
    wide<T, Width>::unpack(out, words);
  }
  /// In the place of the load.
  template <int I, class T>
  __device__ __forceinline__ void write(const T (&in)[Width], int u) const {
    constexpr int load = return_facts<Body>::facts.over, size = Width * sizeof(T);
    constexpr int before = stream_facts<Body>::bytes_before(load) * Width * vectors;
    const unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (int c = 0; c < size / 16; ++c) {
      uint4 raw;
      memcpy(&raw, reinterpret_cast<const unsigned char*>(in) + c * 16, 16);
      write_shared(place + lane * size + static_cast<unsigned>(before + u * 32 * size + c * 16), raw);
    }
  }
};

/// Vectors that wait in shared memory from phase to phase, and lie within the row. What all rows share may lie in any
/// other way.
template <class Body, int Width, int Items>
struct vectors_tiling : tiling<loop_var::r, loop_var::r, Width, Items, int> {
  static constexpr bool streamed = true, guards = true, early_loads = false;
  static constexpr int most_waiting = 128;
  template <int I>
  static constexpr bool stages = stream_facts<Body>::streams(I) || I == return_facts<Body>::facts.from;
  template <int I>
  static constexpr bool shifts = stream_facts<Body>::is_shared(I);
  using staging = piece_staging<Body, Width, Items>;
};
/// Elements at the ends of a row, one by one.
struct row_end_tiling : tiling<loop_var::r, loop_var::r, 1, 1, int> {
  static constexpr bool streamed = true, guards = true, early_loads = false;
};

/// What of a row is taken in whole vectors: `count` of them, the first of which begins with element `first`.
struct whole_vectors {
  int first = 0, count = 0;
};

/// The places of one warp, each for Items vectors of a lane. Barrier number s is complete when what was last sent to
/// place s has arrived.
template <class Body, int Width, int Items>
class vector_ring {
 public:
  static constexpr int vectors = 32 * Items;  // of a piece
  static constexpr int place_bytes = stream_facts<Body>::bytes * Width * vectors, barrier_bytes = 8;

  /// Where a warp is in its ring, and whether it has been there an odd number of times.
  struct position {
    int slot = 0;
    unsigned odd = 0;
  };

  /// `memory`: for each of the warps `slots` places, then barriers; aligned to 128 bytes.
  __device__ __forceinline__ vector_ring(unsigned char* memory, int slots) : slots_(slots) {
    const int warp = static_cast<int>(threadIdx.x) / 32, warps = static_cast<int>(blockDim.x) / 32;
    places_ = shared_address(memory) + static_cast<unsigned>(warp * slots * place_bytes);
    barriers_ = shared_address(memory) + static_cast<unsigned>((warps * place_bytes + warp * barrier_bytes) * slots);
    asm("" : "+r"(places_), "+r"(barriers_));  // to stay in registers
    if constexpr (has_copy_engine) {
      if (first_lane()) {
#pragma unroll 1
        for (int s = 0; s < slots; ++s) barrier_begin(barrier(s));
        barriers_begun();
      }
      __syncwarp();
    }
  }

  __device__ __forceinline__ unsigned place(int slot) const {
    return places_ + static_cast<unsigned>(slot * place_bytes);
  }
  __device__ __forceinline__ void wait(const position& at) const { barrier_wait(barrier(at.slot), at.odd); }
  __device__ __forceinline__ void advance(position& at) const {
    if (++at.slot == slots_) at.slot = 0, at.odd ^= 1;
  }

  /// Where the whole vectors of the streamed loads begin.
  struct sources {
    const unsigned char* row[stream_facts<Body>::loads];
  };
  template <class... S, std::size_t... I, class Args>
  static __device__ __forceinline__ void find(body<S...>, std::index_sequence<I...>, sources& from, const Args& args,
                                              int row, int first) {
    (find_load<static_cast<int>(I)>(S{}, from, args, row, first), ...);
  }
  /// Sends for `count` vectors of such rows, the first of which is number v.
  template <class... S, std::size_t... I>
  __device__ __forceinline__ void send(body<S...>, std::index_sequence<I...>, const sources& from, int slot, int v,
                                       int count) const {
    __syncwarp();  // all lanes have read what was here
    count = count < vectors ? count : vectors;
    if constexpr (has_copy_engine) {
      if (!first_lane()) return;
      barrier_arrive(barrier(slot), count * (stream_facts<Body>::bytes * Width));
      (send_load<static_cast<int>(I), streamed_bytes<S>>(from, slot, v, count), ...);
    } else {
      (send_load<static_cast<int>(I), streamed_bytes<S>>(from, slot, v, count), ...);
      __syncwarp();
    }
  }

  /// Where the whole vectors of the store that goes back begin.
  template <class... S, std::size_t... I, class Args>
  static __device__ __forceinline__ unsigned char* find_back(body<S...>, std::index_sequence<I...>, const Args& args,
                                                             int row, int first) {
    unsigned char* to = nullptr;
    (find_store<static_cast<int>(I)>(S{}, to, args, row, first), ...);
    return to;
  }
  /// Writes `count` vectors of a place, the first of which is number v of the row.
  __device__ __forceinline__ void put_back(unsigned char* to, int slot, int v, int count) const {
    constexpr int load = return_facts<Body>::facts.over;
    constexpr int size = (stream_facts<Body>::bytes_before(load + 1) - stream_facts<Body>::bytes_before(load)) * Width;
    count = count < vectors ? count : vectors;
    const unsigned from = place(slot) + stream_facts<Body>::bytes_before(load) * Width * vectors;
    to += static_cast<std::int64_t>(v) * size;
    copy_back_ready();
    __syncwarp();
    if constexpr (has_copy_engine) {
      if (first_lane()) copy_back_group(to, from, count * size);
    } else {
      for (int b = static_cast<int>(threadIdx.x) % 32 * 16; b < count * size; b += 32 * 16)
        *reinterpret_cast<uint4*>(to + b) = read_shared(from + static_cast<unsigned>(b));
    }
  }
  /// Until all places that were put back, but for the last Pending, may be filled again.
  template <int Pending>
  __device__ __forceinline__ void wait_back() const {
    if (first_lane()) copy_back_wait_for<Pending>();
  }

 private:
  static __device__ __forceinline__ bool first_lane() { return threadIdx.x % 32 == 0; }
  __device__ __forceinline__ unsigned barrier(int slot) const {
    return barriers_ + static_cast<unsigned>(slot * barrier_bytes);
  }
  template <int I, class S, class Args>
  static __device__ __forceinline__ void find_load(S, sources&, const Args&, int, int) {}
  template <int I, int Slot, class T, class At, class Args>
  static __device__ __forceinline__ void find_load(load<Slot, T, At, -1>, sources& from, const Args& args, int row,
                                                   int first) {
    if constexpr (stream_facts<Body>::streams(I))
      from.row[stream_facts<Body>::loads_before(I)] = reinterpret_cast<const unsigned char*>(
          static_cast<const T*>(args.pointers[Slot]) + offset_of<At>::at_xr(row, first, args.sizes));
  }
  template <int I, class S, class Args>
  static __device__ __forceinline__ void find_store(S, unsigned char*&, const Args&, int, int) {}
  template <int I, int Slot, class T, int A, class At, class Args>
  static __device__ __forceinline__ void find_store(store<Slot, T, A, At, -1>, unsigned char*& to, const Args& args,
                                                    int row, int first) {
    if constexpr (I == return_facts<Body>::facts.from)
      to = reinterpret_cast<unsigned char*>(static_cast<T*>(args.pointers[Slot]) +
                                            offset_of<At>::at_xr(row, first, args.sizes));
  }
  template <int I, int Bytes>
  __device__ __forceinline__ void send_load(const sources& from, int slot, int v, int count) const {
    if constexpr (Bytes > 0) {
      constexpr int size = Bytes * Width;
      const unsigned char* const source =
          from.row[stream_facts<Body>::loads_before(I)] + static_cast<std::int64_t>(v) * size;
      const unsigned target = place(slot) + stream_facts<Body>::bytes_before(I) * Width * vectors;
      if constexpr (has_copy_engine) {
        copy_bulk(target, source, count * size, barrier(slot));
      } else {
        for (int b = static_cast<int>(threadIdx.x) % 32 * 16; b < count * size; b += 32 * 16)
          write_shared(target + static_cast<unsigned>(b), *reinterpret_cast<const uint4*>(source + b));
      }
    }
  }

  unsigned places_, barriers_;
  int slots_;
};

}  // namespace sinter::cuda::detail
