// Reductions along memory (orientation row) of rows that fill a multiprocessor and begin anywhere: the warps of a block
// form groups, each of which goes from row to row, so that one works while another waits. A row is shared by a group of
// each block of a cluster, a warp has one part of it, and parts of the rows to come arrive in shared memory meanwhile.
// There what all rows share waits as well. Which rows is grouped_launch.cuh's matter. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/reduction/rows/grouped_parts.cuh"
#include "sinter/kernels/cuda/reduction/rows/streamed.cuh"

namespace sinter::cuda {

namespace detail {

/// Is an element stored before the last phase, maybe to where a later phase would read it?
template <class Body>
inline constexpr bool stores_early = [] {
  for (int s = 0; s < Body::size; ++s)
    for (int p = 0; p + 1 < body_facts<Body>::num_phases; ++p)
      if (body_facts<Body>::facts.info[s].kind == statement_kind::store && phase_facts<Body>::is_element(s) &&
          body_facts<Body>::needed(p, s))
        return true;
  return false;
}();

/// A group's way through its rows, and one ahead of it that sends for those to come.
template <class Body, int Width, class Args>
class grouped_stream {
 public:
  static constexpr int loops = body_facts<Body>::num_phases, width = Width;
  using numbers = std::make_index_sequence<Body::size>;
  using facts = stream_facts<Body>;

  __device__ __forceinline__ grouped_stream(const Args& a, const group_share& s, const row_shift& h,
                                            unsigned char* memory)
      : args(a),
        threads(s),
        meeting_(memory + threads.group() * lies(s).meeting_bytes, s.parts, s.parts * threads.warps(), threads),
        share_(s),
        shift_(h) {
    const grouped_memory<Body, width> where = lies(s);
    part_ = threads.part();
    row = ahead_ = threads.first_row();
    rows_ = row + lane() * s.teams;
    first_ = threads.first_vector(threads.warp()), most_ = threads.first_vector(threads.warp() + 1) - first_;
    places_ = shared_address(memory) + where.places + threadIdx.x / 32 * where.warp_bytes;
    barriers_ = places_ + s.slots * place_bytes();
    if (lane() == 0) {
#pragma unroll 1
      for (int k = 0; k < s.slots; ++k) barrier_begin(barriers_ + k * 8);
      barriers_begun();
    }
    __syncwarp();
    if (s.parts > 1) arrive_in_cluster();
    send_next(), ahead_ += s.teams;
    if constexpr (facts::has_shared)
      kept_.bring(args, memory, where.kept, threads.first_vector(0) * width,
                  min((threads.first_vector(threads.warps()) + 1) * width, static_cast<int>(args.rnumel)));
    from_last_ = part_ == 0 ? threads.warps() - 1 - threads.warp() : -1;
    enter_row();
    if (from_last_ == 0) fetch_ends(row);
    __syncthreads();
    if (s.parts > 1) wait_for_cluster();
  }

  const Args& args;
  const group_threads threads;
  int row;

  /// Which row comes to this row's place next: asked for as a row begins, for the answer takes a microsecond, and told
  /// with its states. Each group is refused once, and with the last refusal the counter is at zero again.
  __device__ __forceinline__ void ask() {
    if (!writes()) return;
    const int rows = static_cast<int>(args.numel), known = share_.slots * share_.teams;
    if (share_.counter == nullptr) told_ = row + known;
    else if (told_ < rows)
      told_ =
          known + static_cast<int>(atomicInc(share_.counter, static_cast<unsigned>(rows - known + share_.teams - 1)));
  }
  template <int P, int Ways, class Accumulators>
  __device__ __forceinline__ void combine(Accumulators& acc) {
    const int word = meeting_.template exchange<P, Ways>(acc, threads, told_);
    if (P == 0) ahead_ = word;
  }

  __device__ __forceinline__ bool writes() const { return part_ == 0 && threads.leads(); }

  /// The elements of the row that lie in no whole vector: in each phase by another warp, which has them from the start
  /// of the row on, or from the row before; or all by one, which has read them before anything is stored.
  template <int P, int Ways, class Frame, class Accumulators>
  __device__ __forceinline__ void walk_ends(Frame& f, Accumulators& acc) {
    constexpr bool early = stores_early<Body>;
    if (from_last_ != (early ? 0 : P)) return;
    if (ends_ > 0) {
      frame<Body, end_tiling> end;
      copy_row_values<Body>(numbers{}, end, f);
      tile<end_tiling> t = tile_of_ends(row);
      t.staging = end_values_;
      evaluate_and_step<elements_of_phase<Body, P>, P, Ways>(acc, end, t, args);
    }
    // Of the next row, if there is a place for it.
    if (P == (early ? loops - 1 : 0) && share_.slots > 1)
      fetch_ends(__shfl_sync(all_lanes, rows_, slot_ + 1 == share_.slots ? 0 : slot_ + 1));
  }
  /// Calls visit(tile) for the warp's vectors of the row: Items to a lane while there are as many, then half of that,
  /// or single ones, and at last one to a lane for those that are too few for a warp.
  template <int P, int Items, class Visit>
  __device__ __forceinline__ void loop(const Visit& visit) {
    if (P == 0) barrier_wait(barriers_ + slot_ * 8, turns_ & 1);
    constexpr bool recalls = P > kept_value<Body>::phase;
    constexpr int least = few_loops<Body> ? Items : 1;
    const int shift = shift_of_row_ == 0 ? 0 : -1;
    int k = 0;
    const auto walk = [&](int known) { k = visit_whole<Items, least, recalls>(k, known, visit); };
    if constexpr (shares_beside_kept<Body, P>) wait_for_kept(), with_shift(walk);
    else walk(0);
    if constexpr (few_loops<Body>) visit_whole<1, 1, recalls>(k, shift, visit);
    if (const int whole = here_ & ~31; whole < here_) {
      tile<grouped_tiling<Body, width, 1, recalls>> last;
      prepare(last, shift);
      place_tile(last, whole);
      last.ok[0] = whole + lane() < here_;
      visit(last);
    }
    if (P == 0 && (slot_ | turns_) == 0) send_rest();
    if (P == loops - 1) {
      if constexpr (kept_value<Body>::is) copy_back_ready();  // what they wrote lies before what is sent for
      __syncwarp();                                           // all lanes have read what was here
      send_next();
    }
  }
  /// What all rows share is waited for once, by all threads of the block, also those that have no row.
  __device__ __forceinline__ void wait_for_kept() {
    if (facts::has_shared && !kept_here_) kept_.wait();
    kept_here_ = true;
  }
  __device__ __forceinline__ void next_row() {
    if (lane() == slot_) rows_ = ahead_;
    if (++slot_ == share_.slots) slot_ = 0, ++turns_;
    row = __shfl_sync(all_lanes, rows_, slot_);
    enter_row();
    if (from_last_ == 0 && share_.slots == 1) fetch_ends(row);
  }

 private:
  using end_tiling = row_end_tiling<Body, width>;
  static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x) % 32; }
  static __device__ __forceinline__ grouped_memory<Body, width> lies(const group_share& s) {
    return grouped_memory<Body, width>(s);
  }
  __device__ __forceinline__ int place_bytes() const { return share_.vectors * (facts::bytes * width); }

  /// From vector k on, in turns of Items to a lane, of half of that, … of Least; the first vector that is left.
  template <int Items, int Least, bool Recalls, bool First = true, class Visit>
  __device__ __forceinline__ int visit_whole(int k, int shift, const Visit& visit) const {
    constexpr int vectors = 32 * Items;
    tile<grouped_tiling<Body, width, Items, Recalls>> t;
    prepare(t, shift);
    if constexpr (First) {
#pragma unroll 1
      for (; k + vectors <= here_; k += vectors) place_tile(t, k), visit(t);
    } else if (k + vectors <= here_) {
      place_tile(t, k), visit(t);
      k += vectors;
    }
    if constexpr (Items > Least) return visit_whole<Items / 2, Least, Recalls, false>(k, shift, visit);
    else return k;
  }
  template <class Tiling>
  __device__ __forceinline__ void prepare(tile<Tiling>& t, int shift) const {
    t.fixed = row;
    t.staging.place = places_ + slot_ * place_bytes();
    t.staging.vectors = share_.vectors;
    t.staging.others = kept_;
    t.staging.shift = shift;
  }
  template <class Tiling>
  __device__ __forceinline__ void place_tile(tile<Tiling>& t, int k) const {
    t.staging.first = k + lane();
#pragma unroll
    for (int u = 0; u < Tiling::items; ++u) {
      t.at[u] = begin_ + (k + lane() + u * 32) * width;
      t.ok[u] = true;
    }
  }
  /// Elements that lie before the row in its first vector.
  __device__ __forceinline__ int before(int of_row) const {
    const unsigned far = static_cast<unsigned>(shift_.first) + static_cast<unsigned>(of_row) * shift_.step;
    return static_cast<int>(far & (width - 1));
  }
  /// What of a row lies in whole vectors.
  __device__ __forceinline__ whole_vectors vectors_of(int of_row) const {
    const int lead = before(of_row), begin = lead != 0 ? 1 : 0;
    return {begin * width - lead, (lead + static_cast<int>(args.rnumel)) / width - begin};
  }
  /// The warp's part of them.
  __device__ __forceinline__ int count_of(const whole_vectors& all) const {
    return max(0, min(all.count - first_, most_));
  }
  __device__ __forceinline__ void enter_row() {
    const whole_vectors all = vectors_of(row);
    here_ = count_of(all);
    begin_ = all.first + first_ * width;
    if constexpr (facts::has_shared) shift_of_row_ = (shift_.others - before(row)) & (width - 1);
    ends_ = static_cast<int>(args.rnumel) - all.count * width;
    if (!stores_early<Body> && from_last_ > 0 && from_last_ < loops) fetch_ends(row);
  }
  /// Calls visit(shift_of_row_), which the compiler knows, or all but whether it is odd.
  template <class Visit>
  __device__ __forceinline__ void with_shift(const Visit& visit) const {
    constexpr int unit = known_shift<Body, width>;
    if (unit > 1 && shift_of_row_ == 0) return visit(0);
    const int rest = shift_of_row_ & (unit - 1);
    [&]<int... Shift>(std::integer_sequence<int, Shift...>) {
      (void)((shift_of_row_ / unit == Shift && (visit(Shift * unit + rest), true)) || ...);
    }
    (std::make_integer_sequence<int, width / unit>{});
  }
  __device__ __forceinline__ tile<end_tiling> tile_of_ends(int of_row) const {
    const whole_vectors all = vectors_of(of_row);
    const int beside = static_cast<int>(args.rnumel) - all.count * width;
    tile<end_tiling> t;
    t.fixed = of_row;
#pragma unroll
    for (int u = 0; u < end_tiling::items; ++u) {
      const int k = lane() + 32 * u;
      t.at[u] = k < all.first ? k : all.count * width + k;
      t.ok[u] = k < beside;
    }
    return t;
  }
  __device__ __forceinline__ void fetch_ends(int of_row) {
    if (of_row < static_cast<int>(args.numel)) end_values_.fetch(args, tile_of_ends(of_row));
  }

  /// Sends for the rows behind the first, which would come later beside them.
  __device__ __forceinline__ void send_rest() {
#pragma unroll 1
    for (slot_ = 1; slot_ < share_.slots; ++slot_, ahead_ += share_.teams) send_next();
    slot_ = 0;
  }
  /// Sends for the warp's part of the row that comes to this place next.
  __device__ __forceinline__ void send_next() {
    if (lane() == 0 && ahead_ < static_cast<int>(args.numel)) {
      const whole_vectors all = vectors_of(ahead_);
      const int count = count_of(all);
      const unsigned barrier = barriers_ + slot_ * 8;
      barrier_arrive(barrier, count * (facts::bytes * width));
      if (count > 0) send(Body{}, numbers{}, all.first + first_ * width, count, barrier);
    }
  }
  template <class... S, std::size_t... I>
  __device__ __forceinline__ void send(body<S...>, std::index_sequence<I...>, int begin, int count,
                                       unsigned barrier) const {
    (send_load<static_cast<int>(I)>(S{}, begin, count, barrier), ...);
  }
  template <int I, class S>
  __device__ __forceinline__ void send_load(S, int, int, unsigned) const {}
  template <int I, int Slot, class T, class At>
  __device__ __forceinline__ void send_load(load<Slot, T, At, -1>, int begin, int count, unsigned barrier) const {
    if constexpr (facts::streams(I))
      copy_bulk(places_ + slot_ * place_bytes() + facts::bytes_before(I) * width * share_.vectors,
                static_cast<const T*>(args.pointers[Slot]) + offset_of<At>::at_xr(ahead_, begin, args.sizes),
                count * (width * static_cast<int>(sizeof(T))), barrier);
  }

  warp_meeting<Body> meeting_;
  const group_share& share_;
  const row_shift& shift_;
  unsigned places_, barriers_;   // of the warp
  int part_, first_, most_;      // of the cluster; the warp's first vector, and how many it has at most
  int slot_ = 0, turns_ = 0;     // where the row is; how often all places were gone through
  int rows_, ahead_, told_ = 0;  // a lane's: the row in the place of its number; the row that comes here next
  int begin_, here_;             // of the row: the element with which the warp's part begins; its vectors
  int shift_of_row_ = 0;         // how many elements its vectors begin after those of what all rows share
  int ends_, from_last_;  // elements in no whole vector; which warp it is, from the last on, of the first block, or -1
  typename end_tiling::staging end_values_;
  kept_loads<Body> kept_;
  bool kept_here_ = false;
};

/// Items: of phases that read what all rows share; others have registers for four.
template <class Body, int Items, int P, class Stream, class Frame>
__device__ __forceinline__ void grouped_phase(Stream& stream, Frame& f, tile<typename Frame::tiling>& t) {
  using numbers = std::make_index_sequence<Body::size>;
  evaluate<rows_of_phase<Body, P>>(f, t, stream.args, stream.writes());
  if constexpr (P < body_facts<Body>::num_phases) {
    constexpr int items = shares_beside_kept<Body, P> || stream_facts<Body>::bytes > 4 ? Items : 4;
    using own_tiling = grouped_tiling<Body, Stream::width, items>;
    using kept = kept_value<Body>;
    using which = elements_beside_kept<Body, P>;
    using steps = steps_of_phase<Body, P, row_ways<Body, own_tiling>>;
    constexpr int Ways = row_ways<Body, own_tiling>;
    accumulators<Body, Ways> acc;
    start<P, Ways>(Body{}, numbers{}, acc);
    if constexpr (P == 0) stream.ask();
    stream.template walk_ends<P, Ways>(f, acc);
    stream.template loop<P, items>([&]<class Tile>(Tile& place) {
      frame<Body, typename Tile::tiling> own;
      copy_row_values<Body>(numbers{}, own, f);
      evaluate<which>(own, place, stream.args, false, [&](int u) {
        steps::item(acc, own, place, u);
        if constexpr (P == kept::phase) place.staging.keep(lanes_of<kept::statement>(own), u, place.ok[u]);
      });
      steps::tile_done(acc, own, place);
    });
    if constexpr (reduces_phase<Body, P>) {
      stream.template combine<P, Ways>(acc);
      finish_row_phase<P>(Body{}, numbers{}, acc, f, stream.threads);
    }
  }
}
template <class Body, int Items, class Stream, class Frame, std::size_t... P>
__device__ __forceinline__ void grouped_phases(std::index_sequence<P...>, Stream& stream, Frame& f,
                                               tile<typename Frame::tiling>& t) {
  (grouped_phase<Body, Items, static_cast<int>(P)>(stream, f, t), ...);
}

}  // namespace detail

/// Rows of any length below 2^30 of which shared memory holds the parts. On devices with clusters and the copy engine.
template <class Body, int Width, int Items, class Args>
__global__ void __launch_bounds__(grouped_threads, 1)
    reduction_grouped(const Args args, const group_share share, const detail::row_shift shift) {
  detail::begin_kernel<Args::next_reads_ahead>([&] { detail::ask_for_first_rows<Body, Width>(args, share); });
  if constexpr (detail::has_copy_engine) {
    using tiling = detail::grouped_tiling<Body, Width, 1>;  // of what a row has one of
    extern __shared__ __align__(128) unsigned char grouped_rows[];
    detail::grouped_stream<Body, Width, Args> stream(args, share, shift, grouped_rows);
    for (; args.numel > stream.row; stream.next_row()) {
      detail::tile<tiling> tile;
      tile.fixed = stream.row;
      detail::frame<Body, tiling> frame;
      detail::grouped_phases<Body, Items>(std::make_index_sequence<body_facts<Body>::num_phases + 1>{}, stream, frame,
                                          tile);
    }
    stream.wait_for_kept();
  }
}

}  // namespace sinter::cuda
