// Rows on their way through shared memory, in vectors that are aligned in memory and lie within the row: every warp has
// a ring of places, each for a piece of a row, which the copy engine fills while the warps work on pieces that came
// before. A warp fills its place again as soon as it has read it for the last time; it waits for no other warp. What is
// done with the pieces, and with the ends of rows, is vectors.cuh's matter. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/copy_async.cuh"
#include "sinter/kernels/cuda/loose_words.cuh"
#include "sinter/kernels/cuda/reduction/rows/stream_share.cuh"

namespace sinter::cuda::detail {

__device__ __forceinline__ uint4 read_shared(unsigned address) {
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(address)
               : "memory");
  return v;
}

/// Fewer bytes of shared memory, aligned to their number.
__device__ __forceinline__ void read_shared(unsigned address, uint2& v) {
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(address) : "memory");
}
__device__ __forceinline__ void read_shared(unsigned address, unsigned& v) {
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(address) : "memory");
}
__device__ __forceinline__ void read_shared(unsigned address, unsigned short& v) {
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(v) : "r"(address) : "memory");
}
__device__ __forceinline__ void read_shared(unsigned address, unsigned char& v) {
  unsigned word;
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(word) : "r"(address) : "memory");
  v = static_cast<unsigned char>(word);
}

__device__ __forceinline__ void write_shared(unsigned address, const uint4& v) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
}

/// Vectors of a piece: four to a lane of a warp.
inline constexpr int piece_vectors = 128;

/// Where the lanes of a warp find Items vectors each of a piece: of each load the elements as they lie in memory.
template <class Body, int Width, int Items>
struct piece_staging {
  /// What all rows share lies as the vectors do (forms), or begins form * group + rest elements after a vector of its
  /// own, so that where its words lie is known but for the rest; or anywhere (-1).
  static constexpr int forms = Width < 4 ? Width : 4, group = Width / forms;
  unsigned place = 0;
  int first = 0;  // vector of the piece
  int form = -1, rest = 0;

  __device__ __forceinline__ bool aligned() const { return form == forms; }
  __device__ __forceinline__ bool anywhere() const { return form < 0; }
  /// So many bytes after a multiple of the unit it lies.
  template <class T, int Unit>
  __device__ __forceinline__ unsigned shift_of(const T*) const {
    constexpr unsigned size = sizeof(T);
    return ((static_cast<unsigned>(form * group) * size) | (static_cast<unsigned>(rest & (group - 1)) * size)) &
           (Unit - 1);
  }

  template <int I, class T>
  __device__ __forceinline__ void read(compute_t<T> (&out)[Width], int u) const {
    constexpr int size = Width * sizeof(T);
    const unsigned from = vector_of<I, size>();
    unsigned words[size / 4];
#pragma unroll
    for (int c = 0; c < size / 16; ++c) {
      const uint4 raw = read_shared(from + static_cast<unsigned>(u * 32 * size + c * 16));
      memcpy(words + 4 * c, &raw, 16);
    }
    wide<T, Width>::unpack(out, words);
  }

 private:
  /// The lane's first.
  template <int I, int Size>
  __device__ __forceinline__ unsigned vector_of() const {
    constexpr int before = stream_facts<Body>::bytes_before(I) * Width * piece_vectors;
    return place + static_cast<unsigned>((static_cast<int>(threadIdx.x) % 32 + first) * Size + before);
  }
};

/// Vectors that wait in shared memory from phase to phase, and lie within the row. What all rows share may lie in any
/// other way.
template <class Body, int Width, int Items>
struct vectors_tiling : tiling<loop_var::r, loop_var::r, Width, Items, int> {
  static constexpr bool streamed = true, in_vectors = true, guards = true;
  static constexpr int most_waiting = 128;
  template <int I>
  static constexpr bool stages = stream_facts<Body>::streams(I);
  template <int I>
  static constexpr bool shifts = stream_facts<Body>::is_shared(I);
  using staging = piece_staging<Body, Width, Items>;
};
/// What is streamed of the elements at the ends of a row, and what all rows share beside them, as it lies in memory.
template <class S>
inline constexpr bool is_fetched = streamed_bytes<S> > 0 || shared_bytes<S> > 0;
template <int I, class S, bool Fetched, int Items>
struct end_slot {
  template <class Tile, class Args>
  __device__ __forceinline__ void fetch(const Args&, const Tile&) {}
};
template <int I, int Slot, class T, class At, int Items>
struct end_slot<I, load<Slot, T, At, -1>, true, Items> {
  T element[Items];
  template <class Tile, class Args>
  __device__ __forceinline__ void fetch(const Args& args, const Tile& t) {
    const T* const base = static_cast<const T*>(args.pointers[Slot]);
#pragma unroll
    for (int u = 0; u < Items; ++u)
      if (t.ok[u]) element[u] = base[offset_of<At>::at_xr(t.fixed, t.at[u], args.sizes)];
  }
};
template <class Body, int Items, class Numbers = std::make_index_sequence<Body::size>>
struct end_staging;
template <class... S, int Items, std::size_t... I>
struct end_staging<body<S...>, Items, std::index_sequence<I...>>
    : end_slot<static_cast<int>(I), S, is_fetched<S>, Items>... {
  template <class Tile, class Args>
  __device__ __forceinline__ void fetch(const Args& args, const Tile& t) {
    (end_slot<static_cast<int>(I), S, is_fetched<S>, Items>::fetch(args, t), ...);
  }
  template <int N, class T>
  __device__ __forceinline__ void read(compute_t<T> (&out)[1], int u) const {
    using slot = end_slot<N, sinter::detail::statement_of<body<S...>, N>, true, Items>;
    out[0] = widen<T>(static_cast<const slot&>(*this).element[u]);
  }
};
/// Lanes of a warp have them one by one: at either end less than two vectors.
template <class Body, int Width>
struct row_end_tiling : tiling<loop_var::r, loop_var::r, 1, (4 * Width - 2 + 31) / 32, int> {
  static constexpr bool streamed = true, guards = true;
  template <int I>
  static constexpr bool stages = is_fetched<sinter::detail::statement_of<Body, I>>;
  using staging = end_staging<Body, (4 * Width - 2 + 31) / 32>;
};

/// What of a row is taken in whole vectors: `count` of them, the first of which begins with element `first`.
struct whole_vectors {
  int first = 0, count = 0;
};

/// The places of one warp, each for a piece. Barrier number s is complete when what was last sent to place s has
/// arrived.
template <class Body, int Width>
class vector_ring {
 public:
  static constexpr int vectors = piece_vectors;
  static constexpr int place_bytes = stream_facts<Body>::bytes * Width * vectors;
  /// Of one warp: its places, then its barriers.
  SINTER_HOST_DEVICE static constexpr int bytes_of(int slots) { return slots * place_bytes + (slots + 1) / 2 * 16; }

  /// Where a warp is in its ring, and which way it goes.
  struct position {
    int slot = 0, by = 1;
  };

  /// `memory`: of all warps, aligned to 128 bytes.
  __device__ __forceinline__ vector_ring(unsigned char* memory, int slots) : slots_(slots) {
    places_ = shared_address(memory) + static_cast<unsigned>(static_cast<int>(threadIdx.x) / 32 * bytes_of(slots));
    asm("" : "+r"(places_));  // to stay in a register
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
  __device__ __forceinline__ void wait(const position& at) {
    barrier_wait(barrier(at.slot), odd_ >> at.slot & 1);
    odd_ ^= 1u << at.slot;
  }
  __device__ __forceinline__ void advance(position& at) const {
    at.slot += at.by;
    if (at.slot == slots_) at.slot = 0;
    if (at.slot < 0) at.slot = slots_ - 1;
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

 private:
  static __device__ __forceinline__ bool first_lane() { return threadIdx.x % 32 == 0; }
  __device__ __forceinline__ unsigned barrier(int slot) const {
    return places_ + static_cast<unsigned>(slots_ * place_bytes + slot * 8);
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

  unsigned places_, odd_ = 0;  // of each place, whether it has been filled an odd number of times
  int slots_;
};

}  // namespace sinter::cuda::detail
