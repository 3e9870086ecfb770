// Reductions along memory (orientation row) of rows that fill a multiprocessor and begin anywhere: the warps of a block
// form groups, each of which goes from row to row, so that one works while another waits. A row is shared by a group of
// each block of a cluster, a warp has one part of it, and parts of the rows to come arrive in shared memory meanwhile.
// There what all rows share waits as well. Which rows is grouped_launch.cuh's matter. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/overlap.cuh"
#include "sinter/kernels/cuda/reduction/rows/group_share.hpp"
#include "sinter/kernels/cuda/reduction/rows/kept_loads.cuh"
#include "sinter/kernels/cuda/reduction/rows/streamed.cuh"
#include "sinter/kernels/cuda/reduction/rows/vectors.cuh"
#include "sinter/kernels/cuda/reduction/rows/warp_meeting.cuh"

namespace sinter::cuda {

namespace detail {

/// Shared memory of a block: where the groups meet; what all rows share; of each warp its places and their barriers.
template <class Body, int Width>
struct grouped_memory {
  int meeting_bytes, kept, places, warp_bytes, all;

  SINTER_HOST_DEVICE constexpr explicit grouped_memory(const group_share& share)
      : meeting_bytes(warp_meeting<Body>::bytes(share.parts * share.warps())),
        kept(share.groups * meeting_bytes),
        places(kept + kept_loads<Body>::bytes(kept_elements(share))),
        warp_bytes(share.slots * share.vectors * stream_facts<Body>::bytes * Width + (share.slots + 1) / 2 * 16),
        all(places + grouped_threads / 32 * warp_bytes) {}

  /// Of each load, with what may lie beside the block's part of a row.
  SINTER_HOST_DEVICE static constexpr int kept_elements(const group_share& share) {
    return (share.warps() * share.vectors + 6) * Width;
  }
};

/// The warps of a group as the threads of a row.
class group_threads {
 public:
  __device__ __forceinline__ explicit group_threads(const group_share& share) : warps_(share.warps()) {}
  __device__ __forceinline__ int warps() const { return warps_; }
  __device__ __forceinline__ int group() const { return static_cast<int>(threadIdx.x) / 32 / warps_; }
  __device__ __forceinline__ int warp() const { return static_cast<int>(threadIdx.x) / 32 & (warps_ - 1); }
  __device__ __forceinline__ bool leads() const { return (threadIdx.x & (32 * warps_ - 1)) == 0; }
  static __device__ __forceinline__ constexpr int lanes() { return 32; }

 private:
  int warps_;  // a power of two
};

/// Where the lanes of a warp find Items vectors each, and what all rows share beside them: see piece_staging.
template <class Body, int Width, int Items>
struct grouped_staging {
  static constexpr int forms = Width < 4 ? Width : 4, group = Width / forms;
  unsigned place = 0;
  int first = 0, vectors = 0;  // of the part: the lane's vector, and how many there are
  int form = -1, rest = 0;
  kept_loads<Body> others;

  template <int I, class T>
  __device__ __forceinline__ const T* kept() const {
    extern __shared__ __align__(128) unsigned char grouped_rows[];
    return others.template first<I, T>(grouped_rows);
  }
  __device__ __forceinline__ bool aligned() const { return form == forms; }
  static __device__ __forceinline__ constexpr bool anywhere() { return false; }
  template <class T, int Unit>
  __device__ __forceinline__ unsigned shift_of(const T* p) const {
    constexpr unsigned size = sizeof(T);
    if (form < 0) return bytes_past<Unit>(p);
    return ((static_cast<unsigned>(form * group) * size) | (static_cast<unsigned>(rest & (group - 1)) * size)) &
           (Unit - 1);
  }
  template <int I, class T>
  __device__ __forceinline__ void read(compute_t<T> (&out)[Width], int u, bool ok) const {
    constexpr int size = Width * sizeof(T), before = stream_facts<Body>::bytes_before(I) * Width;
    const unsigned from = place + static_cast<unsigned>(before * vectors + first * size);
    unsigned words[size / 4];
#pragma unroll
    for (int c = 0; c < size / 16; ++c) {
      uint4 raw{};
      if (ok) raw = read_shared(from + static_cast<unsigned>(u * 32 * size + c * 16));
      memcpy(words + 4 * c, &raw, 16);
    }
    wide<T, Width>::unpack(out, words);
  }
};

template <class Body, int Width, int Items>
struct grouped_tiling : vectors_tiling<Body, Width, Items> {
  static constexpr bool adjoining = true, keeps = true;
  using staging = grouped_staging<Body, Width, Items>;
};

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
    part_ = static_cast<int>(blockIdx.x) % s.parts;
    row = ahead_ = static_cast<int>(blockIdx.x) / s.parts * s.groups + threads.group();
    rows_ = row + lane() * s.teams;
    const int begin = part_ * threads.warps() * s.vectors;
    first_ = begin + threads.warp() * s.vectors;
    places_ = shared_address(memory) + where.places + threadIdx.x / 32 * where.warp_bytes;
    barriers_ = places_ + s.slots * place_bytes();
    if (lane() == 0) {
#pragma unroll 1
      for (int k = 0; k < s.slots; ++k) barrier_begin(barriers_ + k * 8);
      barriers_begun();
    }
    __syncwarp();
    if (s.parts > 1) arrive_in_cluster();
#pragma unroll 1
    for (slot_ = 0; slot_ < s.slots; ++slot_, ahead_ += s.teams) send_next();
    slot_ = 0;
    if constexpr (facts::has_shared)
      kept_.bring(args, memory, where.kept, max(begin - 2, 0) * width,
                  min((begin + threads.warps() * s.vectors + 4) * width, static_cast<int>(args.rnumel)));
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
  /// Calls visit() for the warp's vectors of the row, where the tile is placed, and visit_one() for the last of them,
  /// one to a lane in `one`.
  template <int P, class Tiling, class One, class Visit, class VisitOne>
  __device__ __forceinline__ void loop(tile<Tiling>& t, const Visit& visit, tile<One>& one, const VisitOne& visit_one) {
    constexpr int lanes = 32 * Tiling::items;
    if (P == 0) barrier_wait(barriers_ + slot_ * 8, odd_);
    const int whole = here_ & ~(lanes - 1);
    const auto walk = [&](int form) {
      prepare(t, form);
#pragma unroll 1
      for (int k = 0; k < whole; k += lanes) {
        place_tile(t, k);
        visit();
      }
    };
    if constexpr (shares_in_phase<Body, P>) with_form(walk);
    else walk(0);
    prepare(one, form_ == staging::forms ? form_ : -1);
#pragma unroll 1
    for (int k = whole; k < here_; k += 32) {
      place_tile(one, k);
      one.ok[0] = k + lane() < here_;
      visit_one();
    }
    if (P == loops - 1) {
      __syncwarp();  // all lanes have read what was here
      send_next();
    }
  }
  __device__ __forceinline__ void next_row() {
    if (lane() == slot_) rows_ = ahead_;
    if (++slot_ == share_.slots) slot_ = 0, odd_ ^= 1;
    row = __shfl_sync(all_lanes, rows_, slot_);
    enter_row();
    if (from_last_ == 0 && share_.slots == 1) fetch_ends(row);
  }

 private:
  using staging = grouped_staging<Body, Width, 1>;
  using end_tiling = row_end_tiling<Body, width>;
  static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x) % 32; }
  static __device__ __forceinline__ grouped_memory<Body, width> lies(const group_share& s) {
    return grouped_memory<Body, width>(s);
  }
  __device__ __forceinline__ int place_bytes() const { return share_.vectors * (facts::bytes * width); }

  template <class Tiling>
  __device__ __forceinline__ void prepare(tile<Tiling>& t, int form) const {
    t.staging.place = places_ + slot_ * place_bytes();
    t.staging.vectors = share_.vectors;
    t.staging.others = kept_;
    t.staging.form = form;
    t.staging.rest = rest_;
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
  /// What of a row lies in whole vectors, but for those beside whose words of what all rows share others may lie.
  __device__ __forceinline__ whole_vectors vectors_of(int of_row) const {
    const int lead = before(of_row);
    const int margin = facts::has_shared && lead != shift_.others ? 1 : 0, begin = (lead != 0 ? 1 : 0) + margin;
    return {begin * width - lead, (lead + static_cast<int>(args.rnumel)) / width - margin - begin};
  }
  /// The warp's part of them.
  __device__ __forceinline__ int count_of(const whole_vectors& all) const {
    return max(0, min(all.count - first_, share_.vectors));
  }
  __device__ __forceinline__ void enter_row() {
    const whole_vectors all = vectors_of(row);
    here_ = count_of(all);
    begin_ = all.first + first_ * width;
    if constexpr (facts::has_shared) {
      const int by = (shift_.others - before(row)) & (width - 1);
      rest_ = by % staging::group;
      form_ = by == 0 ? staging::forms : by / staging::group;
    }
    ends_ = static_cast<int>(args.rnumel) - all.count * width;
    if (!stores_early<Body> && from_last_ > 0 && from_last_ < loops) fetch_ends(row);
  }
  template <class Visit>
  __device__ __forceinline__ void with_form(const Visit& visit) const {
    [&]<int... Form>(std::integer_sequence<int, Form...>) { (void)((form_ == Form && (visit(Form), true)) || ...); }
    (std::make_integer_sequence<int, staging::forms + 1>{});
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
  int part_, first_;             // of the cluster; the warp's first vector
  int slot_ = 0, odd_ = 0;       // where the row is; how often
  int rows_, ahead_, told_ = 0;  // a lane's: the row in the place of its number; the row that comes here next
  int begin_, here_;             // of the row: the element with which the warp's part begins; its vectors
  int form_ = 0, rest_ = 0;
  int ends_, from_last_;  // elements in no whole vector; which warp it is, from the last on, of the first block, or -1
  typename end_tiling::staging end_values_;
  kept_loads<Body> kept_;
};

/// Items: of phases that read what all rows share; others have registers for four.
template <class Body, int Items, int P, class Stream, class Frame>
__device__ __forceinline__ void grouped_phase(Stream& stream, Frame& f, tile<typename Frame::tiling>& t) {
  using numbers = std::make_index_sequence<Body::size>;
  evaluate<rows_of_phase<Body, P>>(f, t, stream.args, stream.writes());
  if constexpr (P < body_facts<Body>::num_phases) {
    constexpr int items = shares_in_phase<Body, P> || stream_facts<Body>::bytes > 4 ? Items : 4;
    using own_tiling = grouped_tiling<Body, Stream::width, items>;
    constexpr int Ways = row_ways<Body, own_tiling::size>;
    accumulators<Body, Ways> acc;
    start<P, Ways>(Body{}, numbers{}, acc);
    if constexpr (P == 0) stream.ask();
    stream.template walk_ends<P, Ways>(f, acc);
    frame<Body, own_tiling> own;
    copy_row_values<Body>(numbers{}, own, f);
    tile<own_tiling> place;
    place.fixed = t.fixed;
    using elements = elements_of_phase<Body, P>;
    stream.template loop<P>(
        place, [&] { evaluate_and_step<elements, P, Ways>(acc, own, place, stream.args); },  //
        t, [&] { evaluate_and_step<elements, P, Ways>(acc, f, t, stream.args); });
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
  detail::begin_kernel();
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
  }
}

}  // namespace sinter::cuda
