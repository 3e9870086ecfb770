// Scans by blocks that stay, each of which takes every so many-th part of what there is to scan. Parts wait in a ring
// of places in shared memory: some are on their way from memory, some are folded and wait until other blocks have told
// what they have folded, some are scanned and stored. A part is folded several turns before it is scanned, so that
// nobody waits for what others tell, and loads, waits and stores go on all the time.
// Warps have different duties: workers fold and scan their piece of each part, others send for parts, tell what a part
// folds to, or read what other blocks have told. They meet at barriers in shared memory only. The same states are
// always combined in the same order. What is in a part is ring.cuh's and column_ring.cuh's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/copy_async.cuh"
#include "sinter/kernels/cuda/kernel_memory.cuh"
#include "sinter/kernels/cuda/reduction/rows/vector_ring.cuh"
#include "sinter/kernels/cuda/scan/scan.cuh"

namespace sinter::cuda {

/// A ring has so many places. A part is scanned `lag` turns after it was folded; `pace` turns after that, what other
/// blocks have told is read.
struct ring_turns {
  int slots, lag, pace;
};

namespace detail {

/// Of a part, so that shared memory has room for a dozen; the most of them, and the barriers of each.
inline constexpr int ring_part_bytes = 16 << 10, ring_most_slots = 16, ring_barriers = 5;

/// The statements that scans need, evaluated when a part is folded, and again when it is scanned.
template <class Body>
struct statements_before_scans {
  struct table {
    bool needed[Body::size + 1]{};
  };
  static constexpr table facts = [] {
    table t{};
    for (int s = Body::size - 1; s >= 0; --s)
      if (scan_facts<Body>::is_scan(s) || t.needed[s])
        for (int operand : body_facts<Body>::facts.info[s].operands)
          if (operand >= 0) t.needed[operand] = true;
    return t;
  }();
  static constexpr bool select(int s) { return facts.needed[s] && elements_of_stage<Body, 0, false, 0>::select(s); }
};

/// Neighbours that lie in shared memory as they did in memory: in vectors of 16 bytes, or in one that is smaller.
template <class T, int Width>
__device__ __forceinline__ void read_vector(compute_t<T> (&out)[Width], unsigned address) {
  constexpr int bytes = Width * static_cast<int>(sizeof(T));
  if constexpr (bytes % 16 == 0) {
    unsigned words[bytes / 4];
#pragma unroll
    for (int c = 0; c < bytes / 16; ++c) {
      const uint4 raw = read_shared(address + static_cast<unsigned>(c * 16));
      memcpy(words + 4 * c, &raw, 16);
    }
    wide<T, Width>::unpack(out, words);
  } else {
    typename wide<T, Width>::unit raw;
    read_shared(address, raw);
    T stored[Width];
    memcpy(stored, &raw, bytes);
    wide<T, Width>::convert(out, stored);
  }
}

/// Where a warp is in its block's ring. Its ways through the parts, ring.cuh's and column_ring.cuh's, also know whether
/// one is left (is_there) and which is next (advance).
struct ring_place {
  int slot = 0;
  unsigned odd = 0;  // has the warp been in this place an odd number of times?

  __device__ __forceinline__ int next(int slots) const { return slot + 1 == slots ? 0 : slot + 1; }
  __device__ __forceinline__ void pass(int slots) {
    slot = next(slots);
    if (slot == 0) odd ^= 1;
  }
};

/// The places of a block's ring. Of each, barriers say that it has arrived, that the workers have folded it, that
/// they know what comes before it, and that they have scanned it; and that the listener of its turn knows what all
/// turns before that fold to.
template <class Facts>
class ring_places {
 public:
  /// `exchanges`: other blocks are listened to.
  __device__ __forceinline__ ring_places(unsigned char* memory, int slots, bool exchanges)
      : memory_(memory),
        states_(memory + slots * Facts::place_bytes),
        barriers_(shared_address(states_ + slots * Facts::states_bytes)) {
    if (threadIdx.x == 0) {
#pragma unroll 1
      for (int slot = 0; slot < slots; ++slot) {
        barrier_begin(arrived(slot), Facts::arrivals);
        barrier_begin(folded(slot), warp_arrivals * Facts::workers);
        barrier_begin(ready(slot), warp_arrivals * Facts::tellers * (exchanges ? 2 : 1));
        barrier_begin(scanned(slot), warp_arrivals * Facts::workers);
        barrier_begin(carried(slot), warp_arrivals * Facts::tellers);
      }
      barriers_begun();
    }
    __syncthreads();
  }

 protected:
  __device__ __forceinline__ unsigned arrived(int slot) const {
    return barriers_ + static_cast<unsigned>(slot * Facts::barriers_bytes);
  }
  __device__ __forceinline__ unsigned folded(int slot) const { return arrived(slot) + 8; }
  __device__ __forceinline__ unsigned ready(int slot) const { return arrived(slot) + 16; }
  __device__ __forceinline__ unsigned scanned(int slot) const { return arrived(slot) + 24; }
  __device__ __forceinline__ unsigned carried(int slot) const { return arrived(slot) + 32; }

  static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x) % 32; }

  /// A worker: folds the next part, then scans the one that was folded `lag` turns ago.
  template <class Position, class Fold, class Scan>
  static __device__ __forceinline__ void take_turns(const Position& first, const ring_turns& turns, const Fold& fold,
                                                    const Scan& scan) {
    Position next = first, at = first;
#pragma unroll 1
    for (int turn = 0; at.is_there(); ++turn) {
      if (next.is_there()) fold(next), next.advance();
      if (turn >= turns.lag) scan(at), at.advance();
    }
  }
  /// One of the warps that listen in turn, the first of them to the turn at `first`: as soon as this block is `pace`
  /// turns further, `hear` reads what others have told, and leaves what is before the part at its position and, in the
  /// next place, what all turns up to it fold to.
  template <class Position, class Hear>
  __device__ __forceinline__ void hear_turns(const Position& first, int number, const ring_turns& turns,
                                             const Hear& hear) const {
    Position at = first, ahead = first;
    if (number == 0) barrier_arrive_as_warp(carried(0));  // nothing is before the first turn
#pragma unroll 1
    for (int k = 0; k < number; ++k) at.advance();
#pragma unroll 1
    for (int k = 0; k < number + turns.pace; ++k) ahead.advance();
#pragma unroll 1
    while (at.is_there()) {
      if (ahead.is_there()) barrier_wait(folded(ahead.slot), ahead.odd);
      const int next_slot = at.next(turns.slots);
      hear(at, next_slot);
      barrier_arrive_as_warp(carried(next_slot));
      barrier_arrive_as_warp(ready(at.slot));
#pragma unroll 1
      for (int k = 0; k < Facts::listeners; ++k) at.advance(), ahead.advance();
    }
  }

  unsigned char *memory_, *states_;
  unsigned barriers_;
};

/// Each warp of a block has its duty.
template <class Facts, class Ring>
__device__ __forceinline__ void run_duties(const Ring& ring) {
  const int duty = static_cast<int>(threadIdx.x) / 32 - Facts::workers;
  if (duty < 0) ring.work();
  else if (duty < Facts::senders) ring.send(duty);
  else if (duty < Facts::senders + Facts::tellers) ring.tell(duty - Facts::senders);
  else ring.listen(duty - Facts::senders - Facts::tellers);
}

}  // namespace detail
}  // namespace sinter::cuda
