// How the blocks of a stripe of columns (column_clusters.cuh) learn what is before their parts: what lies in shared
// memory, which barriers the warps of a block meet at, what blocks of a cluster tell each other there, and clusters in
// memory. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/reduction/rows/warp_meeting.cuh"
#include "sinter/kernels/cuda/scan/column_cluster_parts.cuh"

namespace sinter::cuda::detail {

/// What all warps of a block share, and the duties of those that tell; `number`: of those that have the same one.
template <class Body, bool Alone>
class column_cluster_telling {
 public:
  using facts = column_cluster_facts<Body>;
  using warps = column_cluster_warps<Alone>;
  using position = column_cluster_position;
  using scans = scans_of_stage<Body, 0, false, 0>;

  __device__ __forceinline__ column_cluster_telling(const column_cluster_share& s, unsigned char* memory)
      : share_(s), storage_(column_cluster_storage::of(s, facts{})), memory_(shared_address(memory)) {
    if (threadIdx.x == 0) {
#pragma unroll 1
      for (int slot = 0; slot < share_.slots; ++slot) {
        barrier_begin(arrived(slot), warp_arrivals * warps::senders);
        barrier_begin(scanned(slot), warp_arrivals * warps::scanners);
        barrier_begin(stored(slot), warp_arrivals * (warps::storers + warps::folders + warps::tellers));
        if constexpr (!Alone) barrier_begin(gathered(slot), warps::tellers), barrier_begin(known(slot));
      }
      barriers_begun();
    }
    __syncthreads();
    meet();
  }
  /// All blocks of the cluster: nobody tells one that has not begun, or has ended.
  __device__ __forceinline__ void meet() const {
    __syncwarp();
    if constexpr (!Alone) arrive_in_cluster(), wait_for_cluster();
  }

  /// From what all blocks' parts of a turn fold to, in the columns that this block puts in order: tells each of the
  /// cluster what is before its part.
  __device__ __forceinline__ void tell(int number) const {
    if (share_.peers > 1) return tell_among(number);
    scan_states<Body, told_each> so_far;
    for_each_turn([&](const position& at) {
      if (at.is_first_turn()) begin_stripe(so_far);
      gather(at, number);
#pragma unroll
      for (int i = 0; i < told_each; ++i) {
        const int column = (i * warps::tellers + number) * 32 + lane();
        if (column >= columns_of(at, at.rank)) break;
        each_scan<scans, Body>([&](auto of) {
          using scan = decltype(of);
          auto& state = lanes_of<scan::number>(so_far)[i];
          state = tell_blocks<scan>(at, column, state);
        });
      }
      barrier_arrive_as_warp(stored(at.slot));
    });
  }

  /// Where clusters share a stripe: tells the others what this one's parts of a turn fold to, in the columns that this
  /// block puts in order.
  __device__ __forceinline__ void publish(int number) const {
    if (share_.peers == 1) return;
    const int column = number * 32 + lane();
    for_each_turn([&](const position& at) {
      if (at.turn < share_.told_turns && column < columns_of(at, at.rank))
        published(at, at.turn, column)[own_peer(at) * share_.places()].clear();
    });
    __syncwarp();
    if (lane() == 0) cleared().come();
    for_each_turn([&](const position& at) {
      gather(at, number);
      if (column >= columns_of(at, at.rank)) return;
      each_scan<scans, Body>([&](auto of) {
        using scan = decltype(of);
        auto all = scan::init();
#pragma unroll 4
        for (int k = 0; k < share_.blocks; ++k) all = scan::combine(all, told_by<scan>(at, k, column));
        published(at, at.turn, column)[own_peer(at) * share_.places()].write(to_word(all), mark_of(at));
      });
    });
  }

 protected:
  const column_cluster_share& share_;
  const column_cluster_storage storage_;
  const unsigned memory_;

  static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x) % 32; }

  template <class Turn>
  __device__ __forceinline__ void for_each_turn(const Turn& turn) const {
#pragma unroll 1
    for (position at(share_); at.is_there(); at.advance()) turn(at);
  }

  // ---- shared memory -----------------------------------------------------------------------------------------------

  __device__ __forceinline__ unsigned place(int slot) const {
    return memory_ + static_cast<unsigned>(slot * storage_.place);
  }
  /// Barriers say that a part is there; that what all blocks told of it is, and what is before it; that it was scanned;
  /// that it was folded and has left. Warps of all duties wait at one and arrive at another in each turn, also those
  /// that have no column in it: none may fall behind by as many turns as there are places.
  __device__ __forceinline__ unsigned arrived(int slot) const {
    return place(share_.slots) + static_cast<unsigned>(slot * ring_barriers * 8);
  }
  __device__ __forceinline__ unsigned gathered(int slot) const { return arrived(slot) + 8; }
  __device__ __forceinline__ unsigned known(int slot) const { return arrived(slot) + 16; }
  __device__ __forceinline__ unsigned scanned(int slot) const { return arrived(slot) + 24; }
  __device__ __forceinline__ unsigned stored(int slot) const { return arrived(slot) + 32; }

  /// What blocks have told of a column that this one puts in order, and what is before a column's part.
  template <class Scan>
  __device__ __forceinline__ unsigned told(int slot, int number) const {
    return state_of<Scan>(slot, 0, storage_.told, number);
  }
  template <class Scan>
  __device__ __forceinline__ unsigned before(int slot, int column) const {
    return state_of<Scan>(slot, storage_.told, share_.places(), column);
  }
  template <class Scan>
  __device__ __forceinline__ unsigned state_of(int slot, int in_front, int columns, int number) const {
    constexpr int others = scan_offset<Body, 0, Scan::number, 4> / 4, own = words_of<typename Scan::state>::count * 4;
    return place(slot) +
           static_cast<unsigned>(storage_.states + in_front * facts::state_bytes + columns * others + number * own);
  }
  template <class State>
  static __device__ __forceinline__ State read_state(unsigned at) {
    words_of<State> words(State{});
#pragma unroll
    for (int i = 0; i < words.count; ++i) words.w[i] = static_cast<const unsigned*>(__cvta_shared_to_generic(at))[i];
    return words.value();
  }
  template <class State>
  static __device__ __forceinline__ void send_state(const State& state, unsigned at, unsigned its_barrier) {
    const words_of<State> from(state);
#pragma unroll
    for (int i = 0; i < from.count; ++i) send_word(at + 4 * i, from.w[i], its_barrier);
  }

  // ---- what blocks tell --------------------------------------------------------------------------------------------

  /// Columns that a lane of a teller has, at most: those of one block of two.
  static constexpr int told_each = (warps::most_columns / 2 + 32 * warps::tellers - 1) / (32 * warps::tellers);

  template <class States>
  static __device__ __forceinline__ void begin_stripe(States& so_far) {
    each_scan<scans, Body>([&](auto of) {
      for (auto& state : lanes_of<decltype(of)::number>(so_far)) state = decltype(of)::init();
    });
  }
  /// Until all blocks have told what their parts fold to. For publishers, if clusters share a stripe, else for tellers.
  __device__ __forceinline__ void gather(const position& at, int number) const {
    __syncwarp();
    if (lane() == 0)
      barrier_arrive(gathered(at.slot), number == 0 ? columns_of(at, at.rank) * share_.blocks * facts::state_bytes : 0);
    wait_for_words(gathered(at.slot), at.odd);
  }
  /// What a block has told of one of the columns that this one puts in order.
  template <class Scan>
  __device__ __forceinline__ typename Scan::state told_by(const position& at, int block, int column) const {
    return read_state<typename Scan::state>(told<Scan>(at.slot, block * columns_of(at, at.rank) + column));
  }
  /// Tells each block what is before its part, from what is before the first; what is behind the last.
  template <class Scan>
  __device__ __forceinline__ typename Scan::state tell_blocks(const position& at, int column,
                                                              typename Scan::state state) const {
    const int begin = begin_of(at, at.rank);
#pragma unroll 1
    for (int k = 0; k < share_.blocks; ++k) {
      // Read first: a block that knows what is before it may tell the next.
      const auto own = told_by<Scan>(at, k, column);
      send_state(state, in_block(before<Scan>(at.slot, begin + column), static_cast<unsigned>(k)),
                 in_block(known(at.slot), static_cast<unsigned>(k)));
      state = Scan::combine(state, own);
    }
    return state;
  }

  /// The state of the body's one scan, as clusters tell it each other, marked by its turn.
  using word = marked<unsigned>;
  template <class State>
  static __device__ __forceinline__ unsigned to_word(const State& state) {
    static_assert(words_of<State>::count == 1);
    return words_of<State>(state).w[0];
  }
  template <class Scan>
  static __device__ __forceinline__ typename Scan::state from_word(unsigned word) {
    words_of<typename Scan::state> state(Scan::init());
    state.w[0] = word;
    return state.value();
  }

  static_assert(Alone || (warps::publishers == warps::tellers &&
                          warps::most_columns <= 32 * warps::tellers * most_cluster_blocks));
  /// tell, where clusters share a stripe: a lane has one column, and asks a turn ahead for what the clusters have
  /// published of it.
  __device__ __forceinline__ void tell_among(int number) const {
    if (lane() == 0) cleared().wait_for_all();
    __syncwarp();
    const int column = number * 32 + lane();
    scan_states<Body, 1> so_far;
    word seen[most_column_peers];
    for_each_turn([&](const position& at) {
      wait_for_words(gathered(at.slot), at.odd);
      if (column < columns_of(at, at.rank)) tell_column(at, column, so_far, seen);
      barrier_arrive_as_warp(stored(at.slot));
    });
  }
  __device__ __forceinline__ void tell_column(const position& at, int column, scan_states<Body, 1>& so_far,
                                              word (&seen)[most_column_peers]) const {
    if (at.is_first_turn()) begin_stripe(so_far), ask(seen, published(at, 0, column));
    while (!are_there(seen, mark_of(at))) ask(seen, published(at, at.turn, column));
    unsigned words[most_column_peers];
#pragma unroll
    for (int k = 0; k < most_column_peers; ++k) words[k] = k < share_.peers ? seen[k].value() : 0;
    if ((at.turn + 1) * share_.sharing() < share_.parts) ask(seen, published(at, at.turn + 1, column));
    each_scan<scans, Body>([&](auto of) {
      using scan = decltype(of);
      auto &after = lanes_of<scan::number>(so_far)[0], before = after;
#pragma unroll
      for (int k = 0; k < most_column_peers; ++k) {
        if (k == own_peer(at)) before = after;
        if (k < share_.peers) after = scan::combine(after, from_word<scan>(words[k]));
      }
      tell_blocks<scan>(at, column, before);
    });
  }
  __device__ __forceinline__ void ask(word (&seen)[most_column_peers], const word* from) const {
#pragma unroll
    for (int k = 0; k < most_column_peers; ++k)
      if (k < share_.peers) seen[k] = from[k * share_.places()].read();
  }
  __device__ __forceinline__ bool are_there(const word (&seen)[most_column_peers], unsigned mark) const {
    bool all = true;
#pragma unroll
    for (int k = 0; k < most_column_peers; ++k) all = all && (k >= share_.peers || seen[k].is_there(mark));
    return all;
  }
  static __device__ __forceinline__ unsigned mark_of(const position& at) { return static_cast<unsigned>(at.turn + 1); }
  /// Which of the clusters of its stripe this one is.
  __device__ __forceinline__ int own_peer(const position& at) const { return at.number() / share_.blocks; }
  /// What the first of them publishes of a column; others follow, share.places() apart.
  __device__ __forceinline__ word* published(const position& at, int turn, int column) const {
    const std::int64_t line = std::int64_t(at.stripe) * share_.told_turns + turn % share_.told_turns;
    return static_cast<word*>(share_.states) + line * share_.peers * share_.places() + begin_of(at, at.rank) + column;
  }
  __device__ __forceinline__ meeting_place cleared() const {
    return {share_.counter, gridDim.x * warps::publishers, gridDim.x * warps::tellers};
  }

  /// How many of a stripe's columns a block puts in order.
  __device__ __forceinline__ int columns_of(const position& at, int rank) const {
    return begin_of(at, rank + 1) - begin_of(at, rank);
  }
  /// The first of them.
  __device__ __forceinline__ int begin_of(const position& at, int rank) const {
    return static_cast<int>(static_cast<unsigned>(rank * at.count) / static_cast<unsigned>(share_.blocks));
  }
};

}  // namespace sinter::cuda::detail
