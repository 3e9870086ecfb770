// Columns scanned by blocks that stay. The copy engine moves whole rows of a stripe of columns in both directions; a
// stripe is as wide as it takes for all multiprocessors to have as much to do. A block has a stripe alone, or those of
// a cluster take its parts in turn: each folds its own and learns from the others, through their shared memory, what is
// before it; or those of several clusters, which tell each other in memory what all their parts of a turn fold to. A
// thread has a column and walks down the rows of a part.
// Warps have different duties, and those of a block meet at barriers in shared memory only: some send for parts, some
// fold them, some put the blocks in order, some tell other clusters, some scan, some store. The same states are always
// combined in the same order.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/scan/column_rows.cuh"

namespace sinter::cuda {

namespace detail {

/// A block's work, by the duties of its warps, `number` of those that have it.
template <class Body, bool Alone, class Args>
class column_clusters {
 public:
  using facts = column_cluster_facts<Body>;
  using warps = column_cluster_warps<Alone>;
  using position = column_cluster_position;
  using tiling = column_cluster_tiling<Body>;
  using scans = scans_of_stage<Body, 0, false, 0>;
  static constexpr int items = facts::items;

  __device__ __forceinline__ column_clusters(const Args& a, const column_cluster_share& s, unsigned char* memory)
      : args_(a),
        share_(s),
        rows_(a, s),
        storage_(column_cluster_storage::of(s, facts{})),
        memory_(shared_address(memory)) {
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

  /// Fills the places in turn.
  __device__ __forceinline__ void send(int number) const {
    int turn = 0;
    for_each_turn([&](const position& at) {
      if (turn++ >= share_.slots) barrier_wait(stored(at.slot), at.odd ^ 1);
      const int bytes = rows_.template send<warps::senders>(at, place(at.slot), arrived(at.slot), number);
      if (lane() == 0) barrier_expect(arrived(at.slot), bytes);
      barrier_arrive_as_warp(arrived(at.slot));
    });
  }

  /// Scans the warp's columns, part after part.
  __device__ __forceinline__ void scan(int number) const {
    scanner own(*this, number);
    for_each_turn([&](const position& at) { own.take(at); });
  }
  /// Folds them, ahead of that, and tells what they fold to.
  __device__ __forceinline__ void fold(int number) const {
    folder own(*this, number);
    for_each_turn([&](const position& at) { own.take(at); });
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

  /// Empties them, once they are scanned. Sets of warps do so in turn: one waits until its place has been read while
  /// the next one sends what is in the next.
  __device__ __forceinline__ void store(int number) const {
    const int set = number / warps::storers;
    int turn = 0;
    for_each_turn([&](const position& at) {
      if (turn++ % warps::store_sets != set) return;
      barrier_wait(scanned(at.slot), at.odd);
      rows_.template store<warps::storers>(at, place(at.slot), number % warps::storers);
      if (is_elected_lane()) copy_back_wait();
      barrier_arrive_as_warp(stored(at.slot));
    });
  }

 private:
  const Args& args_;
  const column_cluster_share& share_;
  const column_rows<Body, Args> rows_;
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

  // ---- columns -----------------------------------------------------------------------------------------------------

  /// A lane's column, in a stripe.
  struct lane_column {
    const column_clusters& all;
    const int warp, column;
    tile<tiling> t;
    frame<Body, tiling> f;

    __device__ __forceinline__ lane_column(const column_clusters& c, int number)
        : all(c), warp(number), column(number * 32 + lane()) {}
    /// Has one of the warp's lanes a column?
    __device__ __forceinline__ bool has_work(const position& at) const { return warp * 32 < at.count; }

    __device__ __forceinline__ void begin_stripe(const position& at) {
      t.fixed_ok = column < at.count;
      t.fixed = at.first + (t.fixed_ok ? column : at.count - 1);
      each_column_access<column_cluster_facts<Body>, false>([&]<int I>(std::integral_constant<int, I>) {
        using rows_of = column_cluster_rows<Body, I>;
        constexpr int k = facts::template number<I>;
        t.staging.step[k] = rows_of::pitch(all.args_, all.share_);
        t.staging.column[k] = static_cast<unsigned>(rows_of::before(all.share_) + column * rows_of::size);
        t.staging.low[k] =
            static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(rows_of::in_memory(all.args_, at.first, 0)));
        t.staging.apart[k] = static_cast<unsigned>(rows_of::apart(all.args_));
      });
    }
    __device__ __forceinline__ void begin_part(const position& at) {
      t.staging.begin_part(all.place(at.slot), at.top());
    }
    /// Calls f() for every few rows of a part, at which it puts the tile.
    template <class F>
    __device__ __forceinline__ void each_rows(const position& at, const F& each) {
      const int rows = at.rows(all.args_), top = at.top();
      const auto walk = [&]<int Full>(std::integral_constant<int, Full>) {
#pragma unroll 1
        for (int row = 0; row < rows; row += items, t.staging.advance(items)) {
          t.template place<Full>(top + row, 1, static_cast<int>(all.args_.rnumel) - 1);
          each();
        }
      };
      if (rows == all.share_.rows) walk(std::integral_constant<int, items>{});
      else walk(std::integral_constant<int, 0>{});
    }
  };

  /// Tells what a column of a part folds to: the block of the cluster that puts it in order.
  struct folder : lane_column {
    using lane_column::all;
    using lane_column::column;
    using lane_column::f;
    using lane_column::lane_column;
    using lane_column::t;
    unsigned owner = 0;
    int number = 0, theirs = 0;  // of the column among the owner's, and how many those are

    __device__ __forceinline__ void take(const position& at) {
      if (at.is_first_turn() && this->has_work(at)) begin_stripe(at);
      barrier_wait(all.arrived(at.slot), at.odd);
      if (this->warp == 0 && lane() == 0) barrier_arrive(all.known(at.slot), at.count * facts::state_bytes);
      if (this->has_work(at)) tell_part(at);
      barrier_arrive_as_warp(all.stored(at.slot));  // without work, too: no warp may fall behind by a ring
    }

   private:
    __device__ __forceinline__ void tell_part(const position& at) {
      this->begin_part(at);
      scan_states<Body, 1> own;
      each_scan<scans, Body>([&](auto of) { lanes_of<decltype(of)::number>(own)[0] = decltype(of)::init(); });
      this->each_rows(at, [&] {
        evaluate<statements_before_scans<Body>>(f, t, all.args_);
        each_scan<scans, Body>([&](auto of) {
          using scan = decltype(of);
#pragma unroll
          for (int u = 0; u < items; ++u)
            if (t.ok[u]) scan::step(lanes_of<scan::number>(own)[0], lane_of<scan::operand>(f, u), t.r(u));
        });
      });
      if (!t.fixed_ok) return;
      each_scan<scans, Body>([&](auto of) {
        using scan = decltype(of);
        send_state(lanes_of<scan::number>(own)[0],
                   in_block(all.template told<scan>(at.slot, at.rank * theirs + number), owner),
                   in_block(all.gathered(at.slot), owner));
      });
    }
    __device__ __forceinline__ void begin_stripe(const position& at) {
      lane_column::begin_stripe(at);
      evaluate<column_values<Body>>(f, t, all.args_);
      const int own = t.fixed_ok ? column : 0;
      owner = (static_cast<unsigned>(own + 1) * static_cast<unsigned>(all.share_.blocks) - 1) /
              static_cast<unsigned>(at.count);
      const int begin = all.begin_of(at, static_cast<int>(owner));
      number = own - begin, theirs = all.columns_of(at, static_cast<int>(owner));
    }
  };

  /// Scans a column of a part of which is known what is before it.
  struct scanner : lane_column {
    using lane_column::all;
    using lane_column::column;
    using lane_column::f;
    using lane_column::lane_column;
    using lane_column::t;
    scan_states<Body, 1> so_far;

    __device__ __forceinline__ void take(const position& at) {
      if (at.is_first_turn() && this->has_work(at)) begin_stripe(at);
      barrier_wait(all.arrived(at.slot), at.odd);
      if (this->has_work(at)) {
        if constexpr (!Alone) {
          wait_for_words(all.known(at.slot), at.odd);
          each_scan<scans, Body>([&](auto of) {
            using scan = decltype(of);
            lanes_of<scan::number>(so_far)[0] =
                read_state<typename scan::state>(all.template before<scan>(at.slot, column));
          });
        }
        this->begin_part(at);
        this->each_rows(at, [&] {
          evaluate<elements_of_stage<Body, 0, false, 0>>(f, t, all.args_);
          each_scan<scans, Body>([&](auto of) {
            using scan = decltype(of);
            auto& own = lanes_of<scan::number>(so_far)[0];
#pragma unroll
            for (int u = 0; u < items; ++u) {
              scan::step(own, lane_of<scan::operand>(f, u), t.r(u));
              lanes_of<scan::number>(f)[u] = scan::finish(own);
            }
          });
          evaluate<elements_of_stage<Body, 0, false, 1>>(f, t, all.args_);
        });
        copy_back_ready();
      }
      barrier_arrive_as_warp(all.scanned(at.slot));
    }

   private:
    __device__ __forceinline__ void begin_stripe(const position& at) {
      lane_column::begin_stripe(at);
      const bool writer = at.number() == 0 && t.fixed_ok;
      evaluate<rows_of_phase<Body, 0>>(f, t, all.args_, writer);
      evaluate<rows_of_phase<Body, 1>>(f, t, all.args_, writer);
      each_scan<scans, Body>([&](auto of) { lanes_of<decltype(of)::number>(so_far)[0] = decltype(of)::init(); });
    }
  };
};

}  // namespace detail

/// Dynamic shared memory: column_cluster_storage. Blocks: clusters of share.blocks; of one, if Alone. If clusters share
/// a stripe, all must run at once.
template <class Body, bool Alone, class Args>
__global__ void __launch_bounds__(detail::column_cluster_warps<Alone>::threads, 1)
    scan_columns_in_clusters(const Args args, const column_cluster_share share) {
  detail::begin_kernel<Args::next_reads_ahead>();
  extern __shared__ __align__(128) unsigned char cluster_memory[];
  using warps = detail::column_cluster_warps<Alone>;
  const detail::column_clusters<Body, Alone, Args> columns(args, share, cluster_memory);
  int duty = __shfl_sync(detail::all_lanes, static_cast<int>(threadIdx.x) / 32, 0);
  const auto is = [&](int count) {
    if (duty >= 0 && duty < count) return true;
    duty -= count;
    return false;
  };
  if (is(warps::scanners)) {
    columns.scan(duty);
  } else if (is(warps::storers * warps::store_sets)) {
    columns.store(duty);
  } else if (is(warps::senders)) {
    columns.send(duty);
  } else if constexpr (!Alone) {
    if (is(warps::tellers)) columns.tell(duty);
    else if (is(warps::publishers)) columns.publish(duty);
    else columns.fold(duty);
  }
  columns.meet();
}

}  // namespace sinter::cuda
