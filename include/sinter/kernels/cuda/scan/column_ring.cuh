// Columns scanned by blocks that stay, as ring.cuh scans long rows (places.cuh). A block takes a stripe of
// columns, of which each lane of its warps has a vector, and every so many-th part of their rows; or all of them, if
// there are stripes enough, and then those of the next stripe. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/reduction/columns/column_shift.hpp"
#include "sinter/kernels/cuda/scan/column.cuh"
#include "sinter/kernels/cuda/scan/places.cuh"

namespace sinter::cuda {

/// Stripes of `parts` each, of which so many blocks share one. `told`: parts of a stripe of which is known what they
/// fold to, at least those of as many turns as places, twice.
struct column_ring_share {
  unsigned* counter;
  void* states;
  int stripes, parts, blocks_of_stripe, told;
  ring_turns turns;
  __device__ __forceinline__ int stripes_at_once() const { return static_cast<int>(gridDim.x) / blocks_of_stripe; }
};

namespace detail {

/// The most blocks that share a stripe: a lane reads what all of them have told.
inline constexpr int most_sharing = 8;

/// Bytes of an element of what passes through the ring.
template <class S>
inline constexpr int column_ring_bytes = 0;
template <int Slot, class T, class At>
inline constexpr int column_ring_bytes<load<Slot, T, At, -1>> = [] {
  using access = shifted_access<typename seen_as_row<load<Slot, T, At, -1>>::type>;
  return access::allowed && access::moves ? static_cast<int>(sizeof(T)) : 0;
}();

template <class Body, int Width>
struct column_ring_facts;
template <class... S, int Width>
struct column_ring_facts<body<S...>, Width> {
  using B = body<S...>;
  static constexpr int workers = 8, columns = 32 * Width;
  /// A row of a part is a copy of its own, for which a warp takes a while: several warps send. So many others put the
  /// workers in order, each for some columns of a lane, and sets of as many listen in turn.
  static constexpr int senders = 4, each = Width > 4 ? Width / 4 : 1, tellers = Width / each, listeners = 2;
  static constexpr int threads = (workers + senders + tellers + listeners * tellers) * 32;
  SINTER_HOST_DEVICE static constexpr int bytes_before(int s) {
    int i = 0, total = 0;
    ((total += i++ < s ? column_ring_bytes<S> : 0), ...);
    return total;
  }
  static constexpr int bytes = bytes_before(sizeof...(S));
  SINTER_HOST_DEVICE static constexpr bool stages(int s) { return bytes_before(s + 1) > bytes_before(s); }
  static constexpr bool can = [] {
    bool whole = Width > 1 && bytes > 0 && ((column_ring_bytes<S> * Width % 16 == 0) && ...);
    for (int s = 0; s < B::size; ++s)
      if (stages(s))
        whole =
            whole && access_facts<B>::template along<loop_var::x, Width>.touches[s].where.kind == access::contiguous;
    return whole && scan_facts<B>::can_split && scan_facts<B>::num_stages == 2;
  }();
  /// Rows of a lane in each part.
  static constexpr int items = [] {
    const int most = bytes > 0 ? ring_part_bytes / (workers * columns * bytes) : 1;
    return most < 1 ? 1 : most < 8 ? most : 8;
  }();
  static constexpr int rows = workers * items;
  static constexpr int place_bytes = rows * columns * bytes, barriers_bytes = ring_barriers * 8,
                       states_bytes = stage_bytes<B>(0, B::size, (workers + 2) * columns);
  static constexpr int slot_bytes = place_bytes + barriers_bytes + states_bytes;
};

template <class Body, int Width>
struct column_ring_tiling : tiling<loop_var::x, loop_var::r, Width, column_ring_facts<Body, Width>::items, int> {
  using facts = column_ring_facts<Body, Width>;
  static constexpr bool guards = true;
  template <int I>
  static constexpr bool stages = facts::stages(I);
  struct staging {
    unsigned place = 0;

    template <int I, class T>
    __device__ __forceinline__ void read(compute_t<T> (&out)[Width], int u) const {
      constexpr int before = facts::bytes_before(I) * facts::rows * facts::columns, size = Width * sizeof(T);
      const unsigned vector = (threadIdx.x / 32 * facts::items + static_cast<unsigned>(u)) * 32 + threadIdx.x % 32;
      read_vector<T>(out, place + before + vector * size);
    }
  };
};

template <class Body, int Width, class Args>
class column_ring : ring_places<column_ring_facts<Body, Width>> {
  using places = ring_places<column_ring_facts<Body, Width>>;
  using places::lane;

 public:
  using facts = column_ring_facts<Body, Width>;
  using tiling = column_ring_tiling<Body, Width>;
  using scans = scans_of_stage<Body, 0, false, 0>;
  using numbers = std::make_index_sequence<Body::size>;
  static constexpr int workers = facts::workers, items = facts::items, each = facts::each;

  __device__ __forceinline__ column_ring(const Args& a, const column_ring_share& s, unsigned char* memory)
      : places(memory, s.turns.slots, s.blocks_of_stripe > 1), args(a), share(s) {}

  /// Some warps: fill the places in turn.
  __device__ __forceinline__ void send(int number) const {
    int turn = 0;
#pragma unroll 1
    for (position at(share); at.is_there(); at.advance(), ++turn) {
      if (turn >= share.turns.slots) barrier_wait(this->scanned(at.slot), at.odd ^ 1);
      const int bytes = send_part(Body{}, numbers{}, at, number);
      if (lane() == 0) barrier_arrive(this->arrived(at.slot), bytes);
    }
  }

  /// Some warps: put the workers in order, and tell other blocks what each part folds to.
  __device__ __forceinline__ void tell(int set) const {
    const bool alone = share.blocks_of_stripe == 1;
    const int mine = (set * 32 + lane()) * each;  // the first of this lane's columns
    if (!alone) {
      position at(share);
#pragma unroll 1
      for (; first_column(at) + mine < args.numel; at.stripe += share.stripes_at_once())
        each_scan<scans, Body>([&](auto of) {
#pragma unroll 1
          for (int part = at.part; part < share.told; part += share.blocks_of_stripe)
#pragma unroll
            for (int i = 0; i < each; ++i) told<decltype(of)>(at, part)[mine + i].clear();
        });
      __syncwarp();
      if (lane() == 0) cleared().come();
    }
    scan_states<Body, each> so_far;
#pragma unroll 1
    for (position at(share); at.is_there(); at.advance()) {
      barrier_wait(this->folded(at.slot), at.odd);
      const bool tells = !alone && first_column(at) + mine < args.numel;
      each_scan<scans, Body>([&](auto of) {
        using scan = decltype(of);
        using state = typename scan::state;
#pragma unroll
        for (int i = 0; i < each; ++i) {
          state* const column = states<scan>(at.slot) + mine + i;
          state own[workers], all = scan::init();
#pragma unroll
          for (int w = 0; w < workers; ++w) own[w] = column[w * facts::columns];
#pragma unroll
          for (int w = 0; w < workers; ++w) {
            column[w * facts::columns] = all;
            all = scan::combine(all, own[w]);
          }
          if (tells) told<scan>(at, at.part)[mine + i].write(all, at.part + 1);
          if (alone) {
            state& before = lanes_of<scan::number>(so_far)[i];
            if (at.part == 0) before = scan::init();
            column[workers * facts::columns] = before;
            before = scan::combine(before, all);
          }
        }
      });
      __syncwarp();
      if (lane() == 0) barrier_arrive(this->ready(at.slot));
    }
  }

  /// Sets of warps, in turn, where blocks share a stripe: read what all of them have told of a turn, and hand on what
  /// all turns up to it fold to.
  __device__ __forceinline__ void listen(int number) const {
    const int blocks = share.blocks_of_stripe, turn = number / facts::tellers;
    const int mine = (number % facts::tellers * 32 + lane()) * each;
    if (blocks == 1) return;
    if (lane() == 0) cleared().wait_for_all();
    __syncwarp();
    this->hear_turns(position(share), turn, share.turns, [&](const position& at, int next_slot) {
      const int before = at.part % blocks, first = at.part - before;
      const int count = first + blocks <= share.parts ? blocks : before;  // nothing follows the last turn
      each_scan<scans, Body>([&](auto of) {
        using scan = decltype(of);
        using state = typename scan::state;
        marked<state> seen[most_sharing][each];
        if (first_column(at) + mine < args.numel) read_told(seen, told<scan>(at, first) + mine, first, count);
        barrier_wait(this->carried(at.slot), at.odd);
#pragma unroll
        for (int i = 0; i < each; ++i) {
          state* const column = states<scan>(at.slot) + mine + i;
          state so_far = first == 0 ? scan::init() : column[(workers + 1) * facts::columns];
#pragma unroll
          for (int k = 0; k < most_sharing; ++k) {
            if (k == before) column[workers * facts::columns] = so_far;
            if (k < count) so_far = scan::combine(so_far, seen[k][i].value());
          }
          states<scan>(next_slot)[(workers + 1) * facts::columns + mine + i] = so_far;
        }
      });
    });
  }

  /// The other warps.
  __device__ __forceinline__ void work() const {
    this->take_turns(
        position(share), share.turns, [&](const position& at) { fold_part(at); },
        [&](const position& at) { scan_part(at); });
  }

 private:
  const Args& args;
  const column_ring_share& share;

  /// The way of one warp through a block's parts, and through the ring.
  struct position : ring_place {
    const column_ring_share& share;
    int stripe, part;
    __device__ __forceinline__ explicit position(const column_ring_share& s)
        : share(s),
          stripe(static_cast<int>(blockIdx.x) / s.blocks_of_stripe),
          part(static_cast<int>(blockIdx.x) % s.blocks_of_stripe) {}
    __device__ __forceinline__ bool is_there() const { return stripe < share.stripes; }
    __device__ __forceinline__ void advance() {
      part += share.blocks_of_stripe;
      if (part >= share.parts) {
        part %= share.blocks_of_stripe;
        stripe += share.stripes_at_once();
      }
      this->pass(share.turns.slots);
    }
  };

  __device__ __forceinline__ meeting_place cleared() const {
    return {share.counter, gridDim.x * facts::tellers, gridDim.x * (facts::tellers * facts::listeners)};
  }
  static __device__ __forceinline__ int first_column(const position& at) { return at.stripe * facts::columns; }
  /// Of a lane of a worker: its first one.
  static __device__ __forceinline__ int column_of(const position& at) { return first_column(at) + lane() * Width; }
  /// Of a place: for each worker the states of the columns, then those of all parts and of all turns before.
  template <class Scan>
  __device__ __forceinline__ typename Scan::state* states(int slot) const {
    constexpr int offset = scan_offset<Body, 0, Scan::number, (workers + 2) * facts::columns>;
    return reinterpret_cast<typename Scan::state*>(this->states_ + slot * facts::states_bytes + offset);
  }
  template <class Scan>
  __device__ __forceinline__ state_group<typename Scan::state, Width>& states(int slot, int worker) const {
    return reinterpret_cast<state_group<typename Scan::state, Width>*>(states<Scan>(slot))[worker * 32 + lane()];
  }
  /// What the columns of a stripe fold to in a part; of those of one turn one after the other.
  template <class Scan>
  __device__ __forceinline__ marked<typename Scan::state>* told(const position& at, int part) const {
    return reinterpret_cast<marked<typename Scan::state>*>(
               static_cast<unsigned char*>(share.states) +
               scan_facts<Body>::offset(Scan::number, orientation::row, 1, share.told, args.numel)) +
           part % share.told * args.numel + first_column(at);
  }
  template <class Seen>
  __device__ __forceinline__ void read_told(Seen (&seen)[most_sharing][each], const Seen* from, int first,
                                            int count) const {
    for (bool all = false; !all;) {
      all = true;
#pragma unroll
      for (int k = 0; k < most_sharing; ++k)
#pragma unroll
        for (int i = 0; i < each; ++i)
          if (k < count) seen[k][i] = from[k * args.numel + i].read();
#pragma unroll
      for (int k = 0; k < most_sharing; ++k)
#pragma unroll
        for (int i = 0; i < each; ++i) all = all && (k >= count || seen[k][i].is_there(first + k + 1));
    }
  }

  template <class... S, std::size_t... I>
  __device__ __forceinline__ int send_part(body<S...>, std::index_sequence<I...>, const position& at,
                                           int number) const {
    return (send_load<static_cast<int>(I)>(S{}, at, number) + ...);
  }
  template <int I, class S>
  __device__ __forceinline__ int send_load(S, const position&, int) const {
    return 0;
  }
  template <int I, int Slot, class T, class At>
  __device__ __forceinline__ int send_load(load<Slot, T, At, -1>, const position& at, int number) const {
    if constexpr (!facts::stages(I)) {
      return 0;
    } else {
      const int x = first_column(at), left = static_cast<int>(args.numel) - x;
      const int size = (left < facts::columns ? left : facts::columns) * static_cast<int>(sizeof(T));
      const int first = at.part * facts::rows, below = static_cast<int>(args.rnumel) - first;
      const int count = below < facts::rows ? below : facts::rows;
      unsigned char* const target =
          this->memory_ + at.slot * facts::place_bytes + facts::bytes_before(I) * (facts::rows * facts::columns);
#pragma unroll 1
      for (int k = number + lane() * facts::senders; k < count; k += 32 * facts::senders)
        copy_bulk(target + k * (facts::columns * static_cast<int>(sizeof(T))),
                  static_cast<const T*>(args.pointers[Slot]) + offset_of<At>::at_xr(x, first + k, args.sizes), size,
                  this->arrived(at.slot));
      __syncwarp();
      return (count - number + facts::senders - 1) / facts::senders * size;
    }
  }

  /// Of a lane past the last column: one that is not `ok`.
  __device__ __forceinline__ void place(tile<tiling>& t, const position& at) const {
    const int x = column_of(at), last = static_cast<int>(args.numel) - Width;
    const int first = at.part * facts::rows + static_cast<int>(threadIdx.x) / 32 * items;
    t.fixed = x < last ? x : last;
    t.fixed_ok = x <= last;
    t.staging.place = shared_address(this->memory_) + static_cast<unsigned>(at.slot * facts::place_bytes);
    t.template place<0>(first, 1, static_cast<int>(args.rnumel) - 1);
  }

  __device__ __forceinline__ void fold_part(const position& at) const {
    tile<tiling> t;
    frame<Body, tiling> f;
    place(t, at);
    evaluate<column_values<Body>>(f, t, args);
    barrier_wait(this->arrived(at.slot), at.odd);
    evaluate<statements_before_scans<Body>>(f, t, args);
    each_scan<scans, Body>([&](auto of) {
      using scan = decltype(of);
      state_group<typename scan::state, Width> own;
#pragma unroll
      for (int j = 0; j < Width; ++j) {
        own.states[j] = scan::init();
#pragma unroll
        for (int u = 0; u < items; ++u)
          if (t.ok[u]) scan::step(own.states[j], lane_of<scan::operand>(f, u * Width + j), t.r(u));
      }
      states<scan>(at.slot, static_cast<int>(threadIdx.x) / 32) = own;
    });
    __syncwarp();
    if (lane() == 0) barrier_arrive(this->folded(at.slot));
  }

  __device__ __forceinline__ void scan_part(const position& at) const {
    const bool writer = threadIdx.x < 32 && at.part == 0 && column_of(at) < args.numel;
    tile<tiling> t;
    frame<Body, tiling> f;
    place(t, at);
    evaluate<rows_of_phase<Body, 0>>(f, t, args, writer);
    evaluate<elements_of_stage<Body, 0, false, 0>>(f, t, args);
    barrier_wait(this->ready(at.slot), at.odd);
    each_scan<scans, Body>([&](auto of) {
      using scan = decltype(of);
      const auto start = states<scan>(at.slot, workers), before = states<scan>(at.slot, threadIdx.x / 32);
#pragma unroll
      for (int j = 0; j < Width; ++j) {
        typename scan::state own = scan::combine(start.states[j], before.states[j]);
#pragma unroll
        for (int u = 0; u < items; ++u) {
          scan::step(own, lane_of<scan::operand>(f, u * Width + j), t.r(u));
          lanes_of<scan::number>(f)[u * Width + j] = scan::finish(own);
        }
      }
    });
    evaluate<elements_of_stage<Body, 0, false, 1>>(f, t, args);
    evaluate<rows_of_phase<Body, 1>>(f, t, args, writer);
    __syncwarp();
    if (lane() == 0) barrier_arrive(this->scanned(at.slot));
  }
};

}  // namespace detail

/// Whole vectors of columns. All blocks run at once.
template <class Body, int Width, class Args>
__global__ void __launch_bounds__(detail::column_ring_facts<Body, Width>::threads, 1)
    scan_columns_in_ring(const Args args, const column_ring_share share) {
  detail::begin_kernel();
  extern __shared__ __align__(128) unsigned char ring_memory[];
  const detail::column_ring<Body, Width, Args> ring(args, share, ring_memory);
  using facts = detail::column_ring_facts<Body, Width>;
  detail::run_duties<facts>(ring);
}

}  // namespace sinter::cuda
