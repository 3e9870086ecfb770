// Few long rows, scanned by blocks of which each multiprocessor has one that takes every so many-th part of all rows;
// see places.cuh. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/scan/ring_parts.cuh"

namespace sinter::cuda {

namespace detail {

/// A block's ring, and what its warps do.
template <class Body, class Args>
class scan_ring : ring_places<ring_facts<Body>> {
  using places = ring_places<ring_facts<Body>>;
  using places::lane;

 public:
  using facts = ring_facts<Body>;
  using tiling = ring_tiling<Body>;
  using scans = scans_of_stage<Body, 0, false, 0>;
  using numbers = std::make_index_sequence<Body::size>;
  static constexpr int width = facts::width, items = facts::items;

  __device__ __forceinline__ scan_ring(const Args& a, const scan_ring_share& s, const row_shift& h,
                                       unsigned char* memory)
      : places(memory, s.turns.slots, true), args(a), share(s), shift(h) {}

  /// One warp: fills the places in turn.
  __device__ __forceinline__ void send(int) const {
    int turn = 0;
#pragma unroll 1
    for (ring_position at(share); at.is_there(); at.advance(), ++turn) {
      if (turn >= share.turns.slots) barrier_wait(this->scanned(at.slot), at.odd ^ 1);
      const int bytes = send_part(Body{}, numbers{}, at);
      __syncwarp();  // ends of rows are here, too
      if (lane() == 0) barrier_arrive(this->arrived(at.slot), bytes);
      else if (warp_arrivals > 1) barrier_arrive(this->arrived(at.slot));
    }
  }

  /// One warp: tells what each part folds to, and every worker what comes before it.
  __device__ __forceinline__ void tell(int) const {
    each_scan<scans, Body>([&](auto of) {
#pragma unroll 1
      for (int part = static_cast<int>(blockIdx.x) + lane() * static_cast<int>(gridDim.x); part < share.parts;
           part += 32 * static_cast<int>(gridDim.x))
        told<decltype(of)>()[part].clear();
    });
    __syncwarp();
    if (lane() == 0) cleared().come();
#pragma unroll 1
    for (ring_position at(share); at.is_there(); at.advance()) {
      barrier_wait(this->folded(at.slot), at.odd);
      each_scan<scans, Body>([&](auto of) {
        using scan = decltype(of);
        auto* const folds = states<scan>(at.slot);
        const auto all = scan_lanes<scan>(lane() < facts::workers ? folds[lane()] : scan::init(), 32);
        if (lane() == 0) told<scan>()[at.part].write(all.total);
        if (lane() < facts::workers) folds[lane()] = all.before;
      });
      barrier_arrive_as_warp(this->ready(at.slot));
    }
  }

  /// Some warps, in turn: read what others have told of a turn, and hand on what all turns up to it fold to.
  __device__ __forceinline__ void listen(int number) const {
    const int blocks = static_cast<int>(gridDim.x);
    if (lane() == 0) cleared().wait_for_all();
    __syncwarp();
    this->hear_turns(ring_position(share), number, share.turns, [&](const ring_position& at, int next_slot) {
      const int first = at.part - static_cast<int>(blockIdx.x), next = first + blocks;
      const int row_first = at.part - at.in_row, from = row_first > first ? row_first : first;
      const int next_row_first = next - (at.in_row + next - at.part) % share.parts_of_row;
      const bool last = next >= share.parts;
      each_scan<scans, Body>([&](auto of) {
        using scan = decltype(of);
        using state = typename scan::state;
        marked<state> seen[ring_told];
        read_told<scan>(seen, first, from, last ? at.part : next);
        const int mine = first + lane();
        const auto fold = [&](int begin, int end) {
          state here[ring_told];
#pragma unroll
          for (int i = 0; i < ring_told; ++i) {
            const int part = mine + i * 32;
            here[i] = part >= begin && part < end ? seen[i].value() : scan::init();
          }
          return fold_lanes<scan>(here);
        };
        const state before = fold(from, at.part), all = fold(next_row_first > first ? next_row_first : first, next);
        barrier_wait(this->carried(at.slot), at.odd);
        const state carry = states<scan>(at.slot)[facts::workers + 1];
        if (lane() == 0) {
          states<scan>(at.slot)[facts::workers] = row_first < first ? scan::combine(carry, before) : before;
          states<scan>(next_slot)[facts::workers + 1] = next_row_first < first ? scan::combine(carry, all) : all;
        }
      });
    });
  }

  /// The other warps.
  __device__ __forceinline__ void work() const {
    this->take_turns(
        ring_position(share), share.turns, [&](const ring_position& at) { fold_part(at); },
        [&](const ring_position& at) { scan_part(at); });
  }

 private:
  const Args& args;
  const scan_ring_share& share;
  const row_shift& shift;

  /// Where blocks say that nothing is marked any more where they will tell.
  __device__ __forceinline__ meeting_place cleared() const {
    return {share.counter, gridDim.x, gridDim.x * facts::listeners};
  }

  /// Of a place: one state for each worker, then those of all parts and of all turns before.
  template <class Scan>
  __device__ __forceinline__ typename Scan::state* states(int slot) const {
    constexpr int offset = scan_offset<Body, 0, Scan::number, facts::workers + 2>;
    return reinterpret_cast<typename Scan::state*>(this->states_ + slot * facts::states_bytes + offset);
  }
  /// What parts fold to.
  template <class Scan>
  __device__ __forceinline__ marked<typename Scan::state>* told() const {
    return reinterpret_cast<marked<typename Scan::state>*>(
        static_cast<unsigned char*>(share.states) +
        scan_facts<Body>::offset(Scan::number, orientation::row, 1, share.parts, 1));
  }
  /// Of the parts from `first` on, every 32nd for a lane, those of [begin, end).
  template <class Scan, class Seen>
  __device__ __forceinline__ void read_told(Seen (&seen)[ring_told], int first, int begin, int end) const {
    const int mine = first + lane();
    const auto* const from = told<Scan>() + mine;
    bool missing[ring_told];
#pragma unroll
    for (int i = 0; i < ring_told; ++i) missing[i] = mine + i * 32 >= begin && mine + i * 32 < end;
    for (bool any = true; any;) {
      any = false;
#pragma unroll
      for (int i = 0; i < ring_told; ++i)
        if (missing[i]) seen[i] = from[i * 32].read();
#pragma unroll
      for (int i = 0; i < ring_told; ++i) missing[i] = missing[i] && !seen[i].is_there(), any = any || missing[i];
    }
    __syncwarp();
  }

  /// Where a part begins in its row: at most width - 1 elements before it.
  __device__ __forceinline__ int first_of(const ring_position& at) const {
    return at.in_row * facts::part - lead_of_row<width>(shift, at.row);
  }

  template <class... S, std::size_t... I>
  __device__ __forceinline__ int send_part(body<S...>, std::index_sequence<I...>, const ring_position& at) const {
    const int first = first_of(at);
    if (first >= static_cast<int>(args.rnumel)) return 0;
    return (send_load<static_cast<int>(I)>(S{}, at.slot, at.row, first) + ...);
  }
  template <int I, class S>
  __device__ __forceinline__ int send_load(S, int, int, int) const {
    return 0;
  }
  /// The bytes that will arrive: whole vectors. Those in which a row begins or ends have some of its neighbours'
  /// elements as well; where it has no neighbour, elements are moved one by one.
  template <int I, int Slot, class T, class At>
  __device__ __forceinline__ int send_load(load<Slot, T, At, -1>, int slot, int row, int first) const {
    if constexpr (!facts::stages(I)) {
      return 0;
    } else {
      constexpr long step = row_place<At>::facts.pitch;
      const bool apart = step != 0 && sinter::detail::resolve(step, args.sizes) >= width;
      const int rest = static_cast<int>(args.rnumel) - first;
      const int begin = first < 0 && !(apart && row > 0) ? width : 0;
      const int beyond = apart && row + 1 < static_cast<int>(args.numel) ? width - 1 : 0;
      const int end = rest < facts::part ? (rest + beyond) & -width : facts::part;
      const T* const source = static_cast<const T*>(args.pointers[Slot]) + offset_of<At>::at_xr(row, first, args.sizes);
      T* const target =
          reinterpret_cast<T*>(this->memory_ + slot * facts::place_bytes + facts::bytes_before(I) * facts::part);
      if (begin > 0 || end < (rest < facts::part ? rest : facts::part)) {
        if (lane() < begin && first + lane() >= 0) target[lane()] = source[lane()];
        if (end < facts::part && end + lane() < rest) target[end + lane()] = source[end + lane()];
        copy_back_ready();  // the engine writes here next time
      }
      const int bytes = (end - begin) * static_cast<int>(sizeof(T));
      if (bytes <= 0) return 0;
      if (lane() == 0) copy_bulk(target + begin, source + begin, bytes, this->arrived(slot));
      return bytes;
    }
  }

  /// Where a worker's piece of a part begins in its row.
  __device__ __forceinline__ int piece_of(const ring_position& at) const {
    return first_of(at) + static_cast<int>(threadIdx.x) / 32 * facts::piece;
  }
  __device__ __forceinline__ bool is_whole(int piece) const {
    return piece >= 0 && piece + facts::piece <= static_cast<int>(args.rnumel);
  }
  /// Whole: the piece lies within the row.
  template <bool Whole>
  __device__ __forceinline__ void place(tile<tiling>& t, const ring_position& at, int piece) const {
    const int first = piece + lane() * width, end = static_cast<int>(args.rnumel);
    t.fixed = at.row;
    t.staging.end = static_cast<unsigned>(end);
    t.staging.place = shared_address(this->memory_) + static_cast<unsigned>(at.slot * facts::place_bytes);
#pragma unroll
    for (int u = 0; u < items; ++u) {
      t.at[u] = first + u * (32 * width);
      t.ok[u] = Whole || (t.at[u] >= 0 && t.at[u] + width <= end);
    }
  }

  __device__ __forceinline__ void fold_part(const ring_position& at) const {
    const int piece = piece_of(at);
    barrier_wait(this->arrived(at.slot), at.odd);
    if (is_whole(piece)) fold_piece<true>(at, piece);
    else fold_piece<false>(at, piece);
    barrier_arrive_as_warp(this->folded(at.slot));
  }
  template <bool Whole>
  __device__ __forceinline__ void fold_piece(const ring_position& at, int piece) const {
    tile<tiling> t;
    frame<Body, tiling> f;
    place<Whole>(t, at, piece);
    evaluate<rows_of_phase<Body, 0>>(f, t, args, false);
    evaluate<statements_before_scans<Body>>(f, t, args);
    each_scan<scans, Body>([&](auto of) {
      using scan = decltype(of);
      typename scan::state own[items];
#pragma unroll
      for (int u = 0; u < items; ++u) {
        own[u] = scan::init();
        each_lane(t, u, [&](int j) { scan::step(own[u], lane_of<scan::operand>(f, u * width + j), t.r(u) + j); });
      }
      const auto all = fold_lanes<scan>(own);
      if (lane() == 0) states<scan>(at.slot)[threadIdx.x / 32] = all;
    });
  }

  /// Where a worker's piece begins, as scan_stage asks for it.
  struct piece_start {
    const scan_ring& ring;
    int slot;
    unsigned odd;
    template <class Which, int G>
    __device__ __forceinline__ void follow(scan_states<Body, 1>&, scan_states<Body, 1>& start) const {
      barrier_wait(ring.ready(slot), odd);
      each_scan<Which, Body>([&](auto of) {
        using scan = decltype(of);
        const auto* const known = ring.states<scan>(slot);
        lanes_of<scan::number>(start)[0] = scan::combine(known[facts::workers], known[threadIdx.x / 32]);
      });
    }
  };

  __device__ __forceinline__ void scan_part(const ring_position& at) const {
    const int piece = piece_of(at);
    if (is_whole(piece)) scan_piece<true>(at, piece);
    else scan_piece<false>(at, piece);
    barrier_arrive_as_warp(this->scanned(at.slot));
  }
  template <bool Whole>
  __device__ __forceinline__ void scan_piece(const ring_position& at, int piece) const {
    const bool writer = threadIdx.x == 0 && at.in_row == 0;
    tile<tiling> t;
    frame<Body, tiling> f;
    place<Whole>(t, at, piece);
    evaluate<rows_of_phase<Body, 0>>(f, t, args, writer);
    piece_start start{*this, at.slot, at.odd};
    scan_storage<Body> none{nullptr};
    evaluate_stages<Body, 0, false>(f, t, args, none, row_threads<32>{}, start);
    evaluate<rows_of_phase<Body, 1>>(f, t, args, writer);
  }
};

}  // namespace detail

/// Rows below 2^31 elements that are shifted alike in all accesses. All blocks run at once.
template <class Body, class Args>
__global__ void __launch_bounds__(detail::ring_facts<Body>::threads, 1)
    scan_in_ring(const Args args, const scan_ring_share share, const detail::row_shift shift) {
  detail::begin_kernel<Args::next_reads_ahead>();
  extern __shared__ __align__(128) unsigned char ring_memory[];
  const detail::scan_ring<Body, Args> ring(args, share, shift, ring_memory);
  detail::run_duties<detail::ring_facts<Body>>(ring);
}

}  // namespace sinter::cuda
