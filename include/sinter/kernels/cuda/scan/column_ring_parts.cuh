// Parts of columns in rings (places.cuh): which loads pass through the ring, how a stripe of columns is cut into parts,
// where the elements of a part lie. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "sinter/kernels/cuda/column_access.cuh"
#include "sinter/kernels/cuda/scan/places.cuh"

namespace sinter::cuda {

/// `stripes` of `parts` each, of which so many blocks share one. Columns adjoin up to `inner` of them, which are
/// `stripes_of_inner`. `told`: parts of a stripe of which is known what they fold to, at least those of as many turns
/// as places, twice.
struct column_ring_share {
  unsigned* counter;
  void* states;
  int inner, stripes_of_inner, stripes, parts, blocks_of_stripe, told;
  ring_turns turns;
  __device__ __forceinline__ int stripes_at_once() const { return static_cast<int>(gridDim.x) / blocks_of_stripe; }
};

namespace detail {

/// What a load does in a ring of columns, of which a lane has some.
template <class S>
struct column_ring_load : column_access<void> {};
template <int Slot, class T, class At>
struct column_ring_load<load<Slot, T, At, -1>> : column_access<load<Slot, T, At, -1>> {};

/// Neighbouring columns that one block takes, so many of them to a lane. Rows begin at multiples of `unit` bytes.
template <int Width, int Columns, int Unit = 1>
struct column_stripe {
  static constexpr int width = Width, columns = Columns, unit = Unit;
};
/// What the loads that pass through a ring have in common: bytes of an element, at most; and may rows begin at
/// multiples of so many bytes?
template <class Body>
struct column_ring_loads;
template <class... S>
struct column_ring_loads<body<S...>> {
  static constexpr int most_bytes = [] {
    int most = 1;
    for (const int b : {0, column_ring_load<S>::bytes_of(1)...})
      if (b > most) most = b;
    return most;
  }();
  static constexpr bool may_align(int unit) {
    return ((is_dynamic(column_ring_load<S>::pitch) ||
             column_ring_load<S>::pitch % unit * column_ring_load<S>::bytes_of(1) % unit == 0) &&
            ...);
  }
};
/// Columns of a lane of a wide stripe, where accesses allow `width`: four, or eight bytes; more only of bodies that
/// hold so much that addresses would spill.
template <class Body>
constexpr int wide_ring_width(int width) {
  constexpr int bytes = column_ring_loads<Body>::most_bytes, most = bytes < 2 ? 8 : 4;
  return scan_least_blocks<Body> == 0 && width > most ? most : width;
}
constexpr int wide_ring_columns(int width) { return width < 4 ? 128 : 32 * width; }
template <class Body, int Width>
using wide_stripe = column_stripe<wide_ring_width<Body>(Width), wide_ring_columns(wide_ring_width<Body>(Width))>;
/// The stripe that is taken unless a wide one leaves fewer blocks idle. Where rows are multiples of 32 bytes it is
/// narrow, 256 bytes: more of its rows wait at once, so that fewer blocks share it. Other rows share sectors with the
/// stripes beside them: of single columns and pairs it is twice as wide, up to a kilobyte, and nobody shares it.
template <class Body, int Width>
struct first_stripe {
  static constexpr int bytes = column_ring_loads<Body>::most_bytes, unit = 32, width = wide_ring_width<Body>(Width),
                       columns = wide_ring_columns(width);
  static constexpr bool has_room = scan_least_blocks<Body> == 0,
                        is_narrow = Width * bytes == 16 && has_room && column_ring_loads<Body>::may_align(unit),
                        is_wider = width < 4 && 2 * columns * bytes <= 1024 && has_room;
  using type = std::conditional_t<is_narrow, column_stripe<8 / bytes, 256 / bytes, unit>,
                                  column_stripe<width, is_wider ? 2 * columns : columns>>;
};

template <class Body, class Stripe>
struct column_ring_facts;
template <class... S, class Stripe>
struct column_ring_facts<body<S...>, Stripe> {
  using B = body<S...>;
  static constexpr int width = Stripe::width, columns = Stripe::columns;
  /// So many workers take the columns beside each other, and so many of those below each other. Rows of a part are
  /// apart, and too short for the copy engine: lanes send for 16 bytes each. So many other warps put the workers in
  /// order, each for some columns of a lane, and sets of as many listen in turn.
  static constexpr int workers = 8, across = columns / (32 * width), deep = workers / across, senders = 2,
                       tellers = columns < 128 ? columns / 32 : 4, listeners = 2, each = columns / (32 * tellers);
  static constexpr int arrivals = senders * 32;  // for a part to be there
  static constexpr int threads = (workers + senders + tellers + listeners * tellers) * 32;

  static constexpr int bytes_of[sizeof...(S) + 1] = {column_ring_load<S>::bytes_of(width)..., 0};
  static constexpr int bytes = [] {
    int total = 0;
    for (const int b : bytes_of) total += b;
    return total;
  }();
  template <int I>
  static constexpr bool stages = bytes_of[I] > 0;
  /// Vectors of 16 bytes begin where copies do.
  static constexpr bool exact(int size) { return width * size % 16 == 0; }
  /// Bytes of a row of a part in shared memory, at most: otherwise copies begin up to 15 bytes before the row, and rows
  /// are as far apart, modulo 16, as in memory.
  static constexpr int row_bytes(int size) { return size == 0 ? 0 : columns * size + (exact(size) ? 0 : 32); }

  /// Rows of a lane in each part.
  static constexpr int items = [] {
    const int most = bytes > 0 ? ring_part_bytes / (deep * columns * bytes) : 1,
              values = values_across_scans<B> > 1 ? 24 : 32, held = width < 8 ? values / width : 4;
    return most < 1 ? 1 : most < held ? most : held;
  }();
  static constexpr int rows = deep * items;
  /// Of a place, in front of load I.
  template <int I>
  static constexpr int place_before = [] {
    int total = 0;
    for (int i = 0; i < I; ++i) total += rows * row_bytes(bytes_of[i]);
    return total;
  }();
  static constexpr int place_bytes = place_before<static_cast<int>(sizeof...(S))>, barriers_bytes = ring_barriers * 8,
                       states_bytes = stage_bytes<B>(0, B::size, (deep + 2) * columns);
  static constexpr int slot_bytes = place_bytes + barriers_bytes + states_bytes;
  /// Do stripes have work for most of their lanes, where so many columns adjoin?
  static constexpr bool fills(std::int64_t inner) {
    return 4 * inner >= 3 * ((inner + columns - 1) / columns * columns);
  }
  /// Many scans, or wide states, of columns that are no whole vectors would spill.
  static constexpr bool can = [] {
    const auto is_wide = [](long inner) { return inner == 0 || is_dynamic(inner) || fills(inner); };
    bool all_exact = true;
    for (const int b : bytes_of) all_exact = all_exact && (b == 0 || exact(b));
    return bytes > 0 && scan_facts<B>::can_split && scan_facts<B>::num_stages == 2 &&
           (all_exact || scan_least_blocks<B> == 0) && (is_wide(column_ring_load<S>::inner) && ...);
  }();

  /// How many columns adjoin in all loads that pass through the ring; 0: that differs, or rows do not ascend.
  template <class Args>
  static std::int64_t inner(const Args& args) {
    std::int64_t inner = args.numel;
    return (column_ring_load<S>::template agrees<width>(args, inner) && ...) ? inner : 0;
  }
  template <class Args>
  static bool is_aligned(const Args& args, int unit) {
    return (column_ring_load<S>::template is_aligned<width>(args, unit) && ...);
  }
};

/// The way of one warp through a block's parts, and through the ring.
template <int Columns>
struct column_position : ring_place {
  const column_ring_share& share;
  int stripe, part;
  int first = 0, count = 0;  // of the stripe's columns
  int told = 0;              // where what the parts of this turn fold to begins, of what is told of a stripe

  __device__ __forceinline__ explicit column_position(const column_ring_share& s)
      : share(s), stripe(static_cast<int>(blockIdx.x) / s.blocks_of_stripe), part(number()) {
    find_columns();
  }
  /// Of the block among those that share its stripe.
  __device__ __forceinline__ int number() const { return static_cast<int>(blockIdx.x) % share.blocks_of_stripe; }
  __device__ __forceinline__ bool is_there() const { return stripe < share.stripes; }
  __device__ __forceinline__ void advance() {
    part += share.blocks_of_stripe;
    told += share.blocks_of_stripe;
    if (told == share.told) told = 0;
    if (part >= share.parts) {
      part = number();
      told = 0;
      next_stripe();
    }
    pass(share.turns.slots);
  }
  __device__ __forceinline__ void next_stripe() {
    stripe += share.stripes_at_once();
    find_columns();
  }

 private:
  __device__ __forceinline__ void find_columns() {
    const int before = static_cast<int>(static_cast<unsigned>(stripe) / static_cast<unsigned>(share.stripes_of_inner));
    const int inside = (stripe - before * share.stripes_of_inner) * Columns, left = share.inner - inside;
    first = before * share.inner + inside, count = left < Columns ? left : Columns;
  }
};

/// Where load I of a stripe lies: in memory, and in shared memory from where its part of a place begins.
template <class Body, class Stripe, int I>
struct column_ring_rows : column_rows_of<sinter::detail::statement_of<Body, I>> {
  using in_memory_rows = column_rows_of<sinter::detail::statement_of<Body, I>>;
  using facts = column_ring_facts<Body, Stripe>;
  static constexpr int size = in_memory_rows::size;
  static constexpr bool exact = facts::exact(size);

  /// Of a part whose first element is at `x`, `r`.
  template <class Args>
  static __device__ __forceinline__ int begin(const Args& args, int x, int r) {
    return exact ? 0 : static_cast<int>(reinterpret_cast<std::uintptr_t>(in_memory_rows::in_memory(args, x, r)) & 15);
  }
  /// Bytes from one row to the next, in shared memory.
  template <class Args>
  static __device__ __forceinline__ int pitch(const Args& args) {
    constexpr int bytes = facts::columns * size;
    return exact ? bytes : bytes + 16 + static_cast<int>(in_memory_rows::apart(args) & 15);
  }
};

/// A lane's columns of several rows, which lie in shared memory.
template <class Body, class Stripe, class Args>
struct column_ring_tiling
    : tiling<loop_var::x, loop_var::r, Stripe::width, column_ring_facts<Body, Stripe>::items, int> {
  using facts = column_ring_facts<Body, Stripe>;
  static constexpr bool guards = true, even = Stripe::width < 4;
  template <int I>
  static constexpr bool stages = facts::template stages<I>;
  struct staging {
    const Args* args = nullptr;
    unsigned place = 0;
    int column = 0, row = 0;       // of the lane, in its part
    int first_x = 0, first_r = 0;  // of the part

    template <int I, class T>
    __device__ __forceinline__ void read(compute_t<T> (&out)[Stripe::width], int u) const {
      using rows = column_ring_rows<Body, Stripe, I>;
      const int at = facts::template place_before<I> + rows::begin(*args, first_x, first_r) +
                     (row + u) * rows::pitch(*args) + column * static_cast<int>(sizeof(T));
      read_vector<T>(out, place + static_cast<unsigned>(at));
    }
  };
};

}  // namespace detail
}  // namespace sinter::cuda
