// Columns scanned by blocks that stay, as ring.cuh scans long rows (places.cuh). A block takes a stripe of columns and
// every so many-th part of their rows; or all of them, if there are stripes enough, and then those of the next stripe.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/scan/column_ring_parts.cuh"

namespace sinter::cuda {

namespace detail {

/// The most blocks that share a stripe: a lane reads what all of them have told. One, where it would be of two columns
/// that are no vector.
template <class Body, class Stripe>
inline constexpr int most_sharing = [] {
  if (column_ring_facts<Body, Stripe>::each > 1) return Stripe::width < 4 ? 1 : 8;
  return scan_facts<Body>::most_state <= 4 ? 16 : 8;
}();
/// Of fewer it reads less.
inline constexpr int few_sharing = 4;

template <class Body, class Stripe, class Args>
class column_ring : ring_places<column_ring_facts<Body, Stripe>> {
  using places = ring_places<column_ring_facts<Body, Stripe>>;
  using places::lane;

 public:
  using facts = column_ring_facts<Body, Stripe>;
  using tiling = column_ring_tiling<Body, Stripe, Args>;
  using scans = scans_of_stage<Body, 0, false, 0>;
  using numbers = std::make_index_sequence<Body::size>;
  static constexpr int width = facts::width, columns = facts::columns, deep = facts::deep, items = facts::items,
                       each = facts::each;

  __device__ __forceinline__ column_ring(const Args& a, const column_ring_share& s, unsigned char* memory)
      : places(memory, s.turns.slots, s.blocks_of_stripe > 1), args(a), share(s) {}

  /// Some warps: fill the places in turn.
  __device__ __forceinline__ void send(int number) const {
    int turn = 0;
#pragma unroll 1
    for (position at(share); at.is_there(); at.advance(), ++turn) {
      if (turn >= share.turns.slots) barrier_wait(this->scanned(at.slot), at.odd ^ 1);
      send_part(Body{}, numbers{}, at, number);
      barrier_arrive_after_copies(this->arrived(at.slot));
    }
  }

  /// Some warps: put the workers in order, and tell other blocks what each part folds to.
  __device__ __forceinline__ void tell(int set) const {
    const bool alone = share.blocks_of_stripe == 1;
    const int mine = (set * 32 + lane()) * each;  // the first of this lane's columns
    if (!alone) {
#pragma unroll 1
      for (position at(share); at.is_there(); at.next_stripe())
        each_scan<scans, Body>([&](auto of) {
#pragma unroll 1
          for (int part = at.part; part < share.told; part += share.blocks_of_stripe)
#pragma unroll
            for (int i = 0; i < each; ++i)
              if (mine < at.count) told<decltype(of)>(at, part)[mine + i].clear();
        });
      __syncwarp();
      if (lane() == 0) cleared().come();
    }
    scan_states<Body, each> so_far;
#pragma unroll 1
    for (position at(share); at.is_there(); at.advance()) {
      barrier_wait(this->folded(at.slot), at.odd);
      each_scan<scans, Body>([&](auto of) {
        using scan = decltype(of);
        using state = typename scan::state;
#pragma unroll
        for (int i = 0; i < each; ++i) {
          state* const column = states<scan>(at.slot) + mine + i;
          state own[deep], all = scan::init();
#pragma unroll
          for (int w = 0; w < deep; ++w) own[w] = column[w * columns];
#pragma unroll
          for (int w = 0; w < deep; ++w) {
            column[w * columns] = all;
            all = scan::combine(all, own[w]);
          }
          if (!alone && mine < at.count) told<scan>(at, at.told + at.number())[mine + i].write(all, at.part + 1);
          if (alone) {
            state& before = lanes_of<scan::number>(so_far)[i];
            if (at.part == 0) before = scan::init();
            column[deep * columns] = before;
            before = scan::combine(before, all);
          }
        }
      });
      barrier_arrive_as_warp(this->ready(at.slot));
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
      constexpr int most = most_sharing<Body, Stripe>;
      if constexpr (most > 8)
        if (blocks <= few_sharing) return hear<few_sharing>(at, next_slot, mine);
      hear<most>(at, next_slot, mine);
    });
  }
  /// The other warps.
  __device__ __forceinline__ void work() const {
    this->take_turns(
        position(share), share.turns,
        [&](const position& at) { is_whole(at) ? fold_part<true>(at) : fold_part<false>(at); },
        [&](const position& at) { is_whole(at) ? scan_part<true>(at) : scan_part<false>(at); });
  }

 private:
  const Args& args;
  const column_ring_share& share;

  using position = column_position<columns>;

  __device__ __forceinline__ meeting_place cleared() const {
    return {share.counter, gridDim.x * facts::tellers, gridDim.x * (facts::tellers * facts::listeners)};
  }
  /// Of a place: for workers above each other the states of the columns, then those of all parts and of all turns
  /// before.
  template <class Scan>
  __device__ __forceinline__ typename Scan::state* states(int slot) const {
    constexpr int offset = scan_offset<Body, 0, Scan::number, (deep + 2) * columns>;
    return reinterpret_cast<typename Scan::state*>(this->states_ + slot * facts::states_bytes + offset);
  }
  /// Of the columns of this lane of a worker.
  template <class Scan>
  __device__ __forceinline__ state_group<typename Scan::state, width>& states(int slot, int row) const {
    return *reinterpret_cast<state_group<typename Scan::state, width>*>(states<Scan>(slot) + row * columns + column());
  }
  /// Of a stripe, what its columns fold to in part `number` of those that are told.
  template <class Scan>
  __device__ __forceinline__ marked<typename Scan::state>* told(const position& at, int number) const {
    return reinterpret_cast<marked<typename Scan::state>*>(
               static_cast<unsigned char*>(share.states) +
               scan_facts<Body>::offset(Scan::number, orientation::row, 1, share.told, args.numel)) +
           number * args.numel + at.first;
  }
  /// Of this lane's columns from `mine` on: waits for what all blocks, Most at most, have told of this turn, and says
  /// what comes before this block's part and before the next turn.
  template <int Most>
  __device__ __forceinline__ void hear(const position& at, int next_slot, int mine) const {
    const int before = at.number(), first = at.part - before;
    const int count = share.parts - first < share.blocks_of_stripe ? before : share.blocks_of_stripe;
    each_scan<scans, Body>([&](auto of) {
      using scan = decltype(of);
      using state = typename scan::state;
      marked<state> seen[Most][each];
      // Nothing follows the last turn. Neighbours of a lane all are columns, or none.
      if (mine < at.count) read_told(seen, told<scan>(at, at.told) + mine, first, count);
      barrier_wait(this->carried(at.slot), at.odd);
#pragma unroll
      for (int i = 0; i < each; ++i) {
        state* const column = states<scan>(at.slot) + mine + i;
        state so_far = first == 0 ? scan::init() : column[(deep + 1) * columns];
#pragma unroll
        for (int k = 0; k < Most; ++k) {
          if (k == before) column[deep * columns] = so_far;
          if (k < count) so_far = scan::combine(so_far, seen[k][i].value());
        }
        states<scan>(next_slot)[(deep + 1) * columns + mine + i] = so_far;
      }
    });
  }
  /// What the parts from `first` on fold to.
  template <int Most, class Seen>
  __device__ __forceinline__ void read_told(Seen (&seen)[Most][each], const Seen* from, int first, int count) const {
    for (bool all = false; !all;) {
      all = true;
      const Seen* at = from;
      asm volatile("" : "+l"(at));  // addresses are held for one read only
#pragma unroll
      for (int k = 0; k < Most; ++k, at += args.numel)
#pragma unroll
        for (int i = 0; i < each; ++i)
          if (k < count) seen[k][i] = at[i].read();
#pragma unroll
      for (int k = 0; k < Most; ++k)
#pragma unroll
        for (int i = 0; i < each; ++i) all = all && (k >= count || seen[k][i].is_there(first + k + 1));
    }
  }

  template <class... S, std::size_t... I>
  __device__ __forceinline__ void send_part(body<S...>, std::index_sequence<I...>, const position& at,
                                            int number) const {
    (send_load<static_cast<int>(I)>(S{}, at, number), ...);
  }
  template <int I, class S>
  __device__ __forceinline__ void send_load(S, const position&, int) const {}
  /// Lanes beside each other send for 16 bytes each; where one vector more may begin in a row, a lane sends for it.
  template <int I, int Slot, class T, class At>
  __device__ __forceinline__ void send_load(load<Slot, T, At, -1>, const position& at, int number) const {
    if constexpr (facts::template stages<I>) {
      using rows = column_ring_rows<Body, Stripe, I>;
      const int top = at.part * facts::rows;
      const part_rows part{this->memory_ + at.slot * facts::place_bytes + facts::template place_before<I> +
                               rows::begin(args, at.first, top),
                           rows::in_memory(args, at.first, top),
                           rows::apart(args),
                           rows::pitch(args),
                           static_cast<int>(args.rnumel) - top,
                           at.count * static_cast<int>(sizeof(T))};
      constexpr int vectors = columns * static_cast<int>(sizeof(T)) / 16, beside = vectors < 32 ? vectors : 32,
                    at_once = 32 / beside;
      if constexpr (!rows::exact)
        if ((top == 0 || part.count < facts::rows + 16) && passes_ends<rows>(part))  // rows may be a byte apart
          return send_at_ends<rows, T>(part, number);
#pragma unroll
      for (int v = 0; v < vectors; v += beside)
        send_vectors<rows>(part, number * at_once + lane() / beside, at_once * facts::senders, v + lane() % beside);
      if constexpr (!rows::exact) {
        const int row = number + lane() * facts::senders, before = part.before(row);
        if (row < facts::rows && row < part.count && 16 * vectors - before < part.bytes)
          send_vector<rows>(part.to(row), part.from(row), 16 * vectors);
      }
    }
  }
  /// Rows of a part: where the first one goes and comes from, how far they are apart in memory and in shared memory,
  /// how many follow, and bytes of each. Both lie alike in 16 bytes.
  struct part_rows {
    unsigned char* target;
    const unsigned char* source;
    std::int64_t apart;
    int pitch, count, bytes;

    __device__ __forceinline__ const unsigned char* from(int row) const { return source + row * apart; }
    __device__ __forceinline__ int before(int row) const {
      return static_cast<int>(reinterpret_cast<std::uintptr_t>(from(row))) & 15;
    }
    __device__ __forceinline__ unsigned to(int row) const {
      return shared_address(target) + static_cast<unsigned>(row * pitch);
    }
  };
  /// 16 bytes of a row, which are so far from the last multiple of 16 before it.
  template <class Rows>
  static __device__ __forceinline__ void send_vector(unsigned to, const unsigned char* from, int far) {
    constexpr unsigned below = Rows::exact ? 0 : 15;
    const auto at = reinterpret_cast<std::uintptr_t>(from) & ~std::uintptr_t{below};
    copy_async((to & ~below) + static_cast<unsigned>(far),
               reinterpret_cast<const void*>(at + static_cast<unsigned>(far)));
  }
  /// Of rows first, first + step, ... one of the vectors that have some of them.
  template <class Rows>
  static __device__ __forceinline__ void send_vectors(const part_rows& part, int first, int step, int vector) {
    if (16 * vector >= part.bytes + (Rows::exact ? 0 : 15)) return;
    const unsigned char* from = part.from(first);
    unsigned to = part.to(first);
    asm volatile("" : "+l"(from));  // otherwise every row's address waits in registers from part to part
#pragma unroll
    for (int k = 0; k < facts::rows;
         k += step, from += step * part.apart, to += static_cast<unsigned>(step * part.pitch))
      if (first + k < part.count) send_vector<Rows>(to, from, 16 * vector);
  }
  /// The first element of all, and past the last one.
  template <class Rows>
  __device__ __forceinline__ const unsigned char* begin_of_all() const {
    return Rows::in_memory(args, 0, 0);
  }
  template <class Rows>
  __device__ __forceinline__ const unsigned char* end_of_all() const {
    return Rows::in_memory(args, static_cast<int>(args.numel) - 1, static_cast<int>(args.rnumel) - 1) + Rows::size;
  }
  /// Would a vector begin before the first element of all, or end after the last one?
  template <class Rows>
  __device__ __forceinline__ bool passes_ends(const part_rows& part) const {
    const int last = (part.count < facts::rows ? part.count : facts::rows) - 1;
    return part.source - part.before(0) < begin_of_all<Rows>() ||
           part.from(last) + (part.bytes + 15) > end_of_all<Rows>();
  }
  /// There less is read.
  template <class Rows, class T>
  __device__ __forceinline__ void send_at_ends(const part_rows& part, int number) const {
    constexpr int size = static_cast<int>(sizeof(T)), senders = facts::senders;
    const unsigned char *const begin = begin_of_all<Rows>(), *const end = end_of_all<Rows>();
#pragma unroll 1
    for (int row = number; row < facts::rows && row < part.count; row += senders) {
      const unsigned char* const source = part.from(row);
      unsigned char* const target = part.target + row * part.pitch;
#pragma unroll 1
      for (int from = 16 * lane() - part.before(row); from < part.bytes; from += 16 * 32) {
        if (source + from < begin) {
          for (int i = 0; i < from + 16 && i < part.bytes; i += size)
            *reinterpret_cast<T*>(target + i) = *reinterpret_cast<const T*>(source + i);
          __threadfence_block();
        } else if (source + (from + 16) > end) {
          copy_async_some(target + from, source + from, part.bytes - from);
        } else {
          copy_async(target + from, source + from);
        }
      }
    }
  }

  /// Of this lane of a worker, in its stripe.
  static __device__ __forceinline__ int column() {
    return (static_cast<int>(threadIdx.x) / 32 % facts::across * 32 + lane()) * width;
  }
  static __device__ __forceinline__ int row() { return static_cast<int>(threadIdx.x) / 32 / facts::across; }
  /// Are all rows of a part there? Single columns, of which a lane has many rows, are quicker if that is known.
  __device__ __forceinline__ bool is_whole(const position& at) const {
    return width < 4 && (at.part + 1) * facts::rows <= static_cast<int>(args.rnumel);
  }
  /// Of a lane past the last column: one that is not `ok`.
  template <bool Whole>
  __device__ __forceinline__ void place(tile<tiling>& t, const position& at) const {
    const int mine = column(), last = at.count - width;
    t.fixed = at.first + (mine < last ? mine : last);
    t.fixed_ok = mine <= last;
    t.staging = {&args,    shared_address(this->memory_) + static_cast<unsigned>(at.slot * facts::place_bytes),
                 mine,     row() * items,
                 at.first, at.part * facts::rows};
    t.template place<Whole ? items : 0>(t.staging.first_r + row() * items, 1, static_cast<int>(args.rnumel) - 1);
  }

  template <bool Whole>
  __device__ __forceinline__ void fold_part(const position& at) const {
    tile<tiling> t;
    frame<Body, tiling> f;
    place<Whole>(t, at);
    evaluate<column_values<Body>>(f, t, args);
    barrier_wait(this->arrived(at.slot), at.odd);
    evaluate<statements_before_scans<Body>>(f, t, args);
    each_scan<scans, Body>([&](auto of) {
      using scan = decltype(of);
      state_group<typename scan::state, width> own;
#pragma unroll
      for (int j = 0; j < width; ++j) {
        own.states[j] = scan::init();
#pragma unroll
        for (int u = 0; u < items; ++u)
          if (t.ok[u]) scan::step(own.states[j], lane_of<scan::operand>(f, u * width + j), t.r(u));
      }
      states<scan>(at.slot, row()) = own;
    });
    barrier_arrive_as_warp(this->folded(at.slot));
  }

  template <bool Whole>
  __device__ __forceinline__ void scan_part(const position& at) const {
    const bool writer = row() == 0 && at.part == 0 && column() < at.count;
    tile<tiling> t;
    frame<Body, tiling> f;
    place<Whole>(t, at);
    evaluate<rows_of_phase<Body, 0>>(f, t, args, writer);
    evaluate<elements_of_stage<Body, 0, false, 0>>(f, t, args);
    barrier_wait(this->ready(at.slot), at.odd);
    each_scan<scans, Body>([&](auto of) {
      using scan = decltype(of);
      const auto start = states<scan>(at.slot, deep), before = states<scan>(at.slot, row());
#pragma unroll
      for (int j = 0; j < width; ++j) {
        typename scan::state own = scan::combine(start.states[j], before.states[j]);
#pragma unroll
        for (int u = 0; u < items; ++u) {
          scan::step(own, lane_of<scan::operand>(f, u * width + j), t.r(u));
          lanes_of<scan::number>(f)[u * width + j] = scan::finish(own);
        }
      }
    });
    evaluate<elements_of_stage<Body, 0, false, 1>>(f, t, args);
    evaluate<rows_of_phase<Body, 1>>(f, t, args, writer);
    barrier_arrive_as_warp(this->scanned(at.slot));
  }
};

}  // namespace detail

/// All blocks run at once.
template <class Body, class Stripe, class Args>
__global__ void __launch_bounds__(detail::column_ring_facts<Body, Stripe>::threads, 1)
    scan_columns_in_ring(const Args args, const column_ring_share share) {
  detail::begin_kernel<Args::next_reads_ahead>();
  extern __shared__ __align__(128) unsigned char ring_memory[];
  const detail::column_ring<Body, Stripe, Args> ring(args, share, ring_memory);
  using facts = detail::column_ring_facts<Body, Stripe>;
  detail::run_duties<facts>(ring);
}

}  // namespace sinter::cuda
