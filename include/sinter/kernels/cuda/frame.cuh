// A thread's part of a kernel: which indices it has, and a small array of registers per statement of the body (Width
// neighbours times Items). What is evaluated in them is evaluate.cuh's matter, which indices it gets the kernels'.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "sinter/kernels/body.hpp"
#include "sinter/kernels/cuda/access.hpp"

namespace sinter::cuda::detail {

/// Where a column tiling's lanes may lie beside the columns: what moves with the rows is read in whole vectors that are
/// aligned in memory, or one by one; see reduction/columns/column_shift.hpp.
enum class drift : unsigned char { none, whole, single };

/// How a thread's values lie in the index space: Width neighbours along Vector, Items such groups along Item.
/// x, x: pointwise, or the columns of one row at a time. r, r: a reduction along memory, row values are single. x, r: a
/// reduction across memory, row values have Width lanes.
template <loop_var Vector, loop_var Item, int Width, int Items, class Index>
struct tiling {
  static constexpr loop_var vector = Vector, item = Item;
  static constexpr int width = Width, items = Items, size = Width * Items;
  using index = Index;
  struct staging {};  // of loads that do not come from memory: a tiling of another class may have some
  template <int I>
  static constexpr bool stages = false;
  static constexpr bool reads_ahead = false;  // all of a tile's before anything is stored: results lie near
  static constexpr bool guards = false;       // loads look whether an item is `ok`
  static constexpr bool skips = false;        // ... and so does all else; the first item is
  static constexpr bool even = false;         // items are as far apart as the first two, `ok` or not
  static constexpr bool scattered = false;    // items are not evenly apart
  static constexpr bool adjoining = false;    // beside what is staged others may be writing
  static constexpr bool shifted = false;      // rows may begin and end inside of a vector; see shifted.hpp
  static constexpr bool many_ends = false;    // ... and do in so many warps that folds ask for every lane
  static constexpr bool late = false;         // ... or begin at a thread's second element, as staging says
  static constexpr bool in_vectors = false;   // rows begin anywhere, but items are aligned in memory
  static constexpr bool unsplit = false;      // the compiler must not take stores of vectors apart
  static constexpr drift drifts = drift::none;
  static constexpr bool loose = false;         // items may begin anywhere in memory; see loose.hpp
  static constexpr bool walks = false;         // ... and rows end anywhere inside of them
  static constexpr bool knows_shifts = false;  // ... or how far from aligned words the compiler knows
  static constexpr bool keeps = false;         // what all rows share waits in shared memory; see kept_loads.cuh
  static constexpr bool in_halves = false;     // ... from half a word on of which the compiler knows
  static constexpr bool aligns = false;        // ... but where staging says so, what all rows share lies in vectors
  template <int I>
  static constexpr bool shifts = false;  // this load is shifted into place
  template <int I>
  static constexpr bool leads = false;      // this store is aligned in spite of that
  static constexpr bool streamed = false;   // rows pass through shared memory; see reduction/rows/vectors.cuh
  static constexpr int most_waiting = 256;  // bytes that a thread loads before it computes anything
  template <int I>
  static constexpr bool packs = false;  // the values of this load stay as they lie in memory
  template <int I>
  static constexpr bool recalls = false;  // this value is there, where an earlier phase left it
};

/// Where a thread is. Items past the end are not `ok`, and moved to a valid place: loads need no branch, only stores
/// and reductions look. Where loads are guarded instead, they stay, so that all items share an address.
template <class Tiling>
struct tile {
  using tiling = Tiling;
  using index = typename Tiling::index;
  index fixed = 0;  // the variable that items do not walk
  bool fixed_ok = true;
  index at[Tiling::items];
  bool ok[Tiling::items];
  typename Tiling::staging staging;

  __device__ __forceinline__ index x(int item) const { return Tiling::item == loop_var::x ? at[item] : fixed; }
  __device__ __forceinline__ index r(int item) const { return Tiling::item == loop_var::r ? at[item] : fixed; }

  /// r of a lane that is known at run time only: of one that is `ok`.
  __device__ __forceinline__ index r_of(int lane) const {
    if constexpr (Tiling::scattered) {
      index found = at[0];
#pragma unroll
      for (int u = 1; u < Tiling::items; ++u)
        if (lane / Tiling::width == u) found = at[u];
      return found + lane % Tiling::width;
    }
    return r_of_item(lane / Tiling::width) + lane % Tiling::width;
  }

  /// r of an item that is known at run time only: of one that is `ok`, all before which are.
  __device__ __forceinline__ index r_of_item(int u) const {
    return at[0] + u * (at[Tiling::items > 1 ? 1 : 0] - at[0]);
  }

  /// Is lane j of an item inside the row?
  __device__ __forceinline__ bool lane_ok(int item, int j) const {
    if constexpr (Tiling::shifted)
      return (!Tiling::many_ends && ok[item]) || static_cast<unsigned>(at[item] + j) < staging.end;
    else return ok[item];
  }

  /// Items at first, first + stride, …; `last` is the last valid position, which the first Full items do not pass.
  template <int Full>
  __device__ __forceinline__ void place(index first, index stride, index last) {
#pragma unroll
    for (int u = 0; u < Tiling::items; ++u) {
      const index position = first + static_cast<index>(u) * stride;
      ok[u] = u < Full || position <= last;
      at[u] = Tiling::guards || ok[u] ? position : last;
    }
  }
};

struct nothing {};
template <class T>
struct held {
  using type = T;
};
template <>
struct held<void> {
  using type = nothing;
};

/// Element values exist per (x, r), or per x in a pointwise body; of others there is one, or one per column.
template <class Body, class Tiling>
struct lane_facts {
  static constexpr int size = Body::size;
  struct table {
    int lanes[size + 1]{};
  };
  static constexpr table facts = [] {
    table t{};
    const auto& body = body_facts<Body>::facts;
    bool varies[size + 1]{};
    for (int s = 0; s < size; ++s) {
      varies[s] = body.info[s].reads_x;
      for (int k = 0; k < 4; ++k)
        if (body.info[s].operands[k] >= 0) varies[s] = varies[s] || varies[body.info[s].operands[k]];
      if constexpr (Tiling::item == loop_var::x) t.lanes[s] = varies[s] ? Tiling::size : 1;
      else if (body.where[s] == scope::element) t.lanes[s] = Tiling::size;
      else t.lanes[s] = Tiling::vector == loop_var::x ? Tiling::width : 1;
    }
    return t;
  }();
  static constexpr int lanes(int s) { return facts.lanes[s]; }
};

template <int I, class T, int Lanes>
struct values {
  T v[Lanes];
  __device__ __forceinline__ T (&lanes())[Lanes] { return v; }
};

/// The same for values of 16 bits, two to a word.
template <int I, class T, int Lanes>
struct packed_values {
  unsigned words[(Lanes + 1) / 2];
  unsigned zero = 0;  // as far as the assembler knows, another number after each keep_as_read
  __device__ __forceinline__ packed_values& lanes() { return *this; }
};

template <int I, class S, bool Packed, int Lanes>
struct slot_of {
  using type = values<I, typename held<typename statement_facts<S>::value_type>::type, Lanes>;
};
template <int I, int Slot, class T, class At, int Mask, int Lanes>
struct slot_of<I, load<Slot, T, At, Mask>, true, Lanes> {
  using type = packed_values<I, T, Lanes>;
};

/// The registers of a body; what is no operand has number -1.
template <class Body, class Tiling, class Numbers = std::make_index_sequence<Body::size>>
struct frame;
template <class... S, class Tiling, std::size_t... I>
struct frame<body<S...>, Tiling, std::index_sequence<I...>>
    : values<-1, nothing, 1>,
      slot_of<static_cast<int>(I), S, Tiling::template packs<static_cast<int>(I)>,
              lane_facts<body<S...>, Tiling>::lanes(static_cast<int>(I))>::type... {
  using body_type = body<S...>;
  using tiling = Tiling;
};

/// The lanes of value I, found by its type: among a hundred bases that takes a compiler less than deducing it.
template <class Frame, int I>
struct slot_in
    : slot_of<I, sinter::detail::statement_of<typename Frame::body_type, I>, Frame::tiling::template packs<I>,
              lane_facts<typename Frame::body_type, typename Frame::tiling>::lanes(I)> {};
template <class Frame>
struct slot_in<Frame, -1> {
  using type = values<-1, nothing, 1>;
};

/// Lane l of an operand for a statement with more lanes: an only lane serves all, a column's lane its items.
template <class T, int Lanes>
__device__ __forceinline__ T& lane_in(T (&lanes)[Lanes], int lane) {
  return lanes[lane % Lanes];
}
template <int I, class T, int Lanes>
__device__ __forceinline__ float lane_in(packed_values<I, T, Lanes>& slot, int lane) {
  const unsigned word = slot.words[lane % Lanes / 2];
  if constexpr (std::is_same_v<T, bf16>) {
    return __uint_as_float(__byte_perm(word, slot.zero, lane % 2 == 0 ? 0x1044 : 0x3244));
  } else {
    const unsigned short bits = static_cast<unsigned short>(lane % 2 == 0 ? word : word >> 16);
    return widen<T>(T::from_bits(bits));
  }
}
/// Item u of a load, as it lies in memory. In whole words: of halves put together lane by lane nvcc 13.0 takes the
/// wrong ones where items of several loads follow each other.
template <int I, class T, int Lanes, int Width>
__device__ __forceinline__ void put_item(packed_values<I, T, Lanes>& slot, int u, const T (&stored)[Width]) {
  if constexpr (Width % 2 == 0) {
#pragma unroll
    for (int k = 0; k < Width / 2; ++k) memcpy(&slot.words[u * (Width / 2) + k], stored + 2 * k, 4);
  } else {
    static_assert(Width == 1);
    unsigned& word = slot.words[u / 2];
    word = u % 2 == 0 ? stored[0].bits : word | static_cast<unsigned>(stored[0].bits) << 16;
  }
}

/// Value I of a frame as an operand.
template <int I, class T, int Lanes>
__device__ __forceinline__ T (&lanes_of(values<I, T, Lanes>& slot))[Lanes] {
  return slot.v;
}
template <int I, class T, int Lanes>
__device__ __forceinline__ T& lane_of(values<I, T, Lanes>& slot, int lane) {
  return lane_in(slot.v, lane);
}
template <int I, class T, int Lanes>
__device__ __forceinline__ float lane_of(packed_values<I, T, Lanes>& slot, int lane) {
  return lane_in(slot, lane);
}

/// Makes the compiler unpack a value again where it is needed next: it would hold it unpacked, in twice the registers.
/// `zero`: a number that is 0, which it must not know.
template <int I, class T, int Lanes>
__device__ __forceinline__ void keep_as_read(packed_values<I, T, Lanes>& slot, unsigned zero) {
#pragma unroll
  for (int k = 0; k < (Lanes + 1) / 2; ++k)
    asm volatile("" : "+r"(slot.words[k]));  // of a range nvcc 13.0 unrolls a part
  slot.zero = zero;
}
/// The same for what is computed of a value: it would be held beside it.
template <int I, class T, int Lanes>
__device__ __forceinline__ void keep_as_read(values<I, T, Lanes>& slot, unsigned) {
  if constexpr (std::is_same_v<T, float>) {
#pragma unroll
    for (int k = 0; k < Lanes; ++k) asm volatile("" : "+f"(slot.v[k]));
  }
}

}  // namespace sinter::cuda::detail
