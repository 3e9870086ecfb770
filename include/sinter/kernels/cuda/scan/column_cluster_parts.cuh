// Parts of columns that the copy engine moves row by row, both ways (column_clusters.cuh): which bodies can be scanned
// so, how a stripe of columns is cut into parts, where the elements of a part lie in shared memory.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "sinter/kernels/cuda/cluster_launch.cuh"
#include "sinter/kernels/cuda/scan/column_ring_parts.cuh"

namespace sinter::cuda {

/// `stripes` of columns, of `parts` of `rows` each. Columns adjoin up to `inner` of them, which are `stripes_of_inner`.
/// A stripe has `columns`, at most, of which it stores whole sectors: where rows begin anywhere, it scans the `beside`
/// columns in front of them, too, that may be in its first sector. The `blocks` of a cluster share a stripe, or those
/// of `peers` such clusters, which tell each other by `states` in memory, for `told_turns`; `counter` says when those
/// are cleared. Stripes are taken so many `at_once`. Each block has `slots` places for parts.
struct column_cluster_share {
  int inner, stripes_of_inner, stripes, at_once, columns, beside, rows, parts, blocks, peers, slots, told_turns;
  unsigned* counter;
  void* states;
  /// Blocks of a stripe.
  SINTER_HOST_DEVICE constexpr int sharing() const { return blocks * peers; }
  /// Columns of a row in shared memory: a lane without a column has a place as well.
  SINTER_HOST_DEVICE constexpr int places() const { return (columns + beside + 31) / 32 * 32; }
};

namespace detail {

/// The argument that a statement reads or writes, as far as it has elements; -1: none.
template <class S>
inline constexpr int slot_read = -1;
template <int Slot, class T, class At, int Mask>
inline constexpr int slot_read<load<Slot, T, At, Mask>> = Slot;
template <int Slot, class T, class At, int Index, long Coef, long Bound, int Mask>
inline constexpr int slot_read<gather_load<Slot, T, At, Index, Coef, Bound, Mask>> = Slot;
template <class S>
inline constexpr int slot_written = -1;
template <int Slot, class T, int A, class At, int Mask>
inline constexpr int slot_written<store<Slot, T, A, At, Mask>> = Slot;

/// Clusters that share a stripe, at most: a thread holds what all of them have told.
inline constexpr int most_column_peers = 5;

/// Warps of a block: some scan columns, some fold them before, others send for loads, store, put the blocks of a
/// cluster in order, or tell other clusters. Alone: a block shares its stripe with no other.
template <bool Alone>
struct column_cluster_warps {
  static constexpr int scanners = Alone ? 26 : 11, folders = Alone ? 0 : scanners, senders = 2, storers = 2,
                       store_sets = 2, tellers = Alone ? 0 : 2, publishers = tellers;
  static constexpr int threads = (scanners + folders + senders + storers * store_sets + tellers + publishers) * 32;
  static constexpr int most_columns = 32 * scanners;  // a thread has one
};

template <class Body>
struct column_cluster_facts;
template <class... S>
struct column_cluster_facts<body<S...>> : columns_of_body<body<S...>> {
  using B = body<S...>;
  /// Rows of its column that a thread has at once. Parts have a multiple of them.
  static constexpr int items = 8;

  static constexpr int size = static_cast<int>(sizeof...(S));
  static constexpr int bytes_of[size + 1] = {column_access<S>::bytes_of(1)..., 0};
  static constexpr bool stores[size + 1] = {column_access<S>::is_store..., false};
  template <int I>
  static constexpr bool stages = bytes_of[I] > 0;
  /// The loads that pass through shared memory, in order, and the results, each of which lies where the load of the
  /// same number lay.
  struct table {
    int loads = 0, results = 0, bytes = 0;  // bytes: of an element of all loads
    int number[size + 1]{}, before[size + 1]{}, load[size + 1]{};
  };
  static constexpr table facts = [] {
    table t{};
    for (int s = 0; s < size; ++s)
      if (bytes_of[s] > 0 && !stores[s]) {
        t.before[s] = t.bytes, t.load[t.loads] = s;
        t.number[s] = t.loads++, t.bytes += bytes_of[s];
      }
    for (int s = 0; s < size; ++s)
      if (bytes_of[s] > 0 && stores[s]) t.number[s] = t.results++;
    return t;
  }();
  template <int I>
  static constexpr int number = facts.number[I];
  /// Bytes of an element of the loads in front of access I.
  template <int I>
  static constexpr int before = facts.before[facts.load[facts.number[I]]];
  static constexpr int loads = facts.loads, load_bytes = facts.bytes, results = facts.results,
                       state_bytes = stage_bytes<B>(0, size, 4) / 4;
  static constexpr int result_bytes = [] {
    int total = 0;
    for (int s = 0; s < size; ++s) total += stores[s] ? bytes_of[s] : 0;
    return total;
  }();
  static constexpr int smallest = [] {
    int least = 32;
    for (int i = 0; i < size; ++i)
      if (bytes_of[i] > 0 && bytes_of[i] < least) least = bytes_of[i];
    return least;
  }();
  /// Everything that elements write replaces something that is read. Much work, or wide states, would spill.
  static constexpr bool can = [] {
    for (int s = 0; s < size; ++s)
      if (body_facts<B>::facts.info[s].kind == statement_kind::store && body_facts<B>::where(s) == scope::element) {
        if (bytes_of[s] == 0 || facts.number[s] >= loads) return false;
        if (bytes_of[s] != bytes_of[facts.load[facts.number[s]]]) return false;
      }
    return results > 0 && scan_facts<B>::can_split && scan_facts<B>::num_stages == 2 && scan_least_blocks<B> == 0;
  }();

  /// Do rows of each result lie in 16 bytes as those that they replace?
  template <class Args>
  static bool replaces(const Args& args) {
    const column_bytes at[] = {column_access<S>::find(args)...};
    bool all = true;
    for (int s = 0; s < size; ++s)
      all = all && (!stores[s] || bytes_of[s] == 0 || at[s].is_like(at[facts.load[facts.number[s]]], 16));
    return all;
  }
  /// Is something written over what is read?
  template <class Args>
  static bool overwrites(const Args& args) {
    constexpr int read[] = {slot_read<S>...}, written[] = {slot_written<S>...};
    for (int w : written)
      for (int r : read)
        if (w >= 0 && r >= 0 && args.pointers[w] == args.pointers[r]) return true;
    return false;
  }
};

/// How a block's shared memory is shared: places of parts, each with states behind its rows, then barriers of each.
struct column_cluster_storage {
  int states, place;  // bytes of a place in front of its states, and of all of it
  int told;           // columns of which it has states that blocks have told, of those that this one puts in order

  template <class Facts>
  SINTER_HOST_DEVICE static constexpr column_cluster_storage of(const column_cluster_share& s, Facts) {
    column_cluster_storage m{};
    m.states = s.rows * row_bytes(s, Facts::load_bytes, Facts::loads);
    m.told = s.blocks > 1 ? s.places() + 32 * s.blocks : 0;
    m.place = m.states + (s.blocks > 1 ? m.told + s.places() : 0) * Facts::state_bytes;
    return m;
  }
  /// Bytes that a row of some loads takes, at most.
  SINTER_HOST_DEVICE static constexpr int row_bytes(const column_cluster_share& s, int bytes, int loads) {
    return s.places() * bytes + loads * 32;
  }
  SINTER_HOST_DEVICE constexpr int slot_bytes() const { return place + ring_barriers * 8; }
  SINTER_HOST_DEVICE constexpr int bytes(int slots) const { return slots * slot_bytes(); }
  /// Rows of a part for which a place of so many bytes has room.
  template <class Facts>
  static constexpr int most_rows(column_cluster_share s, int bytes, Facts) {
    s.rows = 0;
    const int rows = (bytes - of(s, Facts{}).slot_bytes()) / row_bytes(s, Facts::load_bytes, Facts::loads);
    return rows < Facts::items ? 0 : rows / Facts::items * Facts::items;
  }
};

/// The way of one warp through the parts of its block, which has a rank in its cluster.
struct column_cluster_position : ring_place {
  const column_cluster_share& share;
  int rank, stripe, part, turn = 0;
  int first = 0, count = 0;         // of the stripe's columns, with those beside them
  bool begins = true, ends = true;  // where columns that adjoin do

  __device__ __forceinline__ explicit column_cluster_position(const column_cluster_share& s)
      : share(s),
        rank(static_cast<int>(blockIdx.x) % s.blocks),
        stripe(static_cast<int>(blockIdx.x) / s.sharing()),
        part(static_cast<int>(blockIdx.x) % s.sharing()) {
    find_columns();
  }
  __device__ __forceinline__ bool is_there() const { return stripe < share.stripes; }
  /// The first row; there may be none in the last turn of a stripe.
  __device__ __forceinline__ int top() const { return part * share.rows; }
  template <class Args>
  __device__ __forceinline__ int rows(const Args& args) const {
    const int left = static_cast<int>(args.rnumel) - top();
    return left < share.rows ? left : share.rows;
  }
  __device__ __forceinline__ bool is_first_turn() const { return turn == 0; }
  /// Of the block, among all of its stripe.
  __device__ __forceinline__ int number() const { return part - turn * share.sharing(); }
  __device__ __forceinline__ void advance() {
    ++turn, part += share.sharing();
    if (turn * share.sharing() >= share.parts) {
      part = number(), turn = 0, stripe += share.at_once;
      find_columns();
    }
    pass(share.slots);
  }

 private:
  __device__ __forceinline__ void find_columns() {
    const int before = static_cast<int>(static_cast<unsigned>(stripe) / static_cast<unsigned>(share.stripes_of_inner)),
              inside = (stripe - before * share.stripes_of_inner) * share.columns, left = share.inner - inside;
    begins = inside == 0, ends = left <= share.columns;
    const int beside = begins ? 0 : share.beside;
    first = before * share.inner + inside - beside, count = (ends ? left : share.columns) + beside;
  }
};

/// Where the rows of access I lie in memory; in shared memory they are as far apart, modulo 16.
template <class Body, int I>
struct column_cluster_rows : column_rows_of<sinter::detail::statement_of<Body, I>> {
  using in_memory_rows = column_rows_of<sinter::detail::statement_of<Body, I>>;
  using facts = column_cluster_facts<Body>;
  template <class Args>
  static __device__ __forceinline__ int pitch(const Args& args, const column_cluster_share& s) {
    return s.places() * in_memory_rows::size + 16 + static_cast<int>(in_memory_rows::apart(args) & 15);
  }
  /// Bytes of a place in front of the rows of this access.
  static __device__ __forceinline__ int before(const column_cluster_share& s) {
    return s.rows * column_cluster_storage::row_bytes(s, facts::template before<I>, facts::template number<I>);
  }
};

/// A lane's column in several rows, which come from shared memory and go there.
template <class Body>
struct column_cluster_tiling : tiling<loop_var::x, loop_var::r, 1, column_cluster_facts<Body>::items, int> {
  using facts = column_cluster_facts<Body>;
  static constexpr bool guards = true, reads_ahead = true;
  template <int I>
  static constexpr bool stages = facts::template stages<I>;
  struct staging : items_of_column<facts> {
    unsigned column[facts::loads]{};                      // where the lane's column begins in a place ...
    unsigned low[facts::loads]{}, apart[facts::loads]{};  // ... and the low bits of its stripe's first address

    /// Of a part whose first row is `top`.
    __device__ __forceinline__ void begin_part(unsigned place, int top) {
#pragma unroll
      for (int k = 0; k < facts::loads; ++k)
        this->at[k] = place + column[k] + ((low[k] + static_cast<unsigned>(top) * apart[k]) & 15u);
    }
    template <int I, class T>
    __device__ __forceinline__ void read(compute_t<T> (&out)[1], int u) const {
      read_vector<T>(out, this->template address<I>(u));
    }
  };
};

}  // namespace detail
}  // namespace sinter::cuda
