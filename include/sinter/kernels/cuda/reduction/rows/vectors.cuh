// Reductions along memory (orientation row) of rows that fill a multiprocessor and begin anywhere: blocks stay and go
// from row to row, and the pieces of the rows to come arrive in shared memory while this one's are reduced. A row waits
// there from phase to phase and is read once. It is taken in vectors that are aligned in memory; the elements at its
// ends go one by one. Which rows is streamed_launch.cuh's matter. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/reduction/rows/streamed.cuh"
#include "sinter/kernels/cuda/reduction/rows/vector_ring.cuh"

namespace sinter::cuda {

namespace detail {

/// Do the statements that Which::select(s) names read what all rows share? Do those of phase P?
template <class Body, class Which>
inline constexpr bool reads_shared = [] {
  for (int s = 0; s < Body::size; ++s)
    if (stream_facts<Body>::is_shared(s) && Which::select(s)) return true;
  return false;
}();
template <class Body, int P>
inline constexpr bool shares_in_phase = reads_shared<Body, elements_of_phase<Body, P>>;

/// A block's way through the pieces of its rows, and one ahead of it that sends for those to come.
template <class Body, class Tiling, class Args>
class vector_stream {
 public:
  static constexpr int loops = body_facts<Body>::num_phases, width = Tiling::width, items = Tiling::items;
  static constexpr bool clusters = kernels_overlap;
  using numbers = std::make_index_sequence<Body::size>;
  using ring_type = vector_ring<Body, width>;

  __device__ __forceinline__ vector_stream(const Args& a, const stream_share& s, const row_shift& h,
                                           unsigned char* memory, int* queue, unsigned char* meeting_at)
      : args(a), share(s), shift_(h), ring_(memory, s.slots), order_(s, static_cast<int>(a.numel), queue) {
    if constexpr (clusters) meeting.begin(meeting_at, s.cluster);
    part = static_cast<int>(blockIdx.x) % share.parts;
    row = next_row_ = order_.first();
    first_ = part * share.pieces * step() + static_cast<int>(threadIdx.x) / 32 * ring_type::vectors;
    fetch_ends(row);
    enter_next();
#pragma unroll 1
    for (int s = 0; s < share.slots; ++s) send_next(s);
    if constexpr (clusters) meeting.wait(share.cluster);
  }

  const Args& args;
  const stream_share& share;
  cluster_meeting<Body> meeting;
  int part, row;

  /// Does what all rows share lie as this row's vectors do?
  __device__ __forceinline__ bool shares_aligned(int of_row) const { return before(of_row) == shift_.others; }
  /// Without those whose words of what all rows share may lie beside that.
  __device__ __forceinline__ whole_vectors vectors_of(int of_row) const {
    const int length = static_cast<int>(args.rnumel);
    const int lead = before(of_row), margin = stream_facts<Body>::has_shared && !shares_aligned(of_row) ? 1 : 0;
    const int begin = (lead != 0 ? 1 : 0) + margin;
    return {begin * width - lead, (lead + length) / width - margin - begin};
  }
  __device__ __forceinline__ void advance() { row = order_.after(row, turn_++); }
  /// Which row is the next but one: as a row begins, and before the barrier of its first phase.
  __device__ __forceinline__ void ask() { order_.ask(); }
  __device__ __forceinline__ void pass_on() { order_.pass_on(turn_); }
  __device__ __forceinline__ unsigned char* next_half(unsigned char* storage) {
    half_ ^= 1;
    return storage + half_ * storage_half<Body>;
  }

  /// The elements of the row that lie in no whole vector, by the last warp of its first block. Those of the next row
  /// are on their way from the last phase on: in registers, for a way through the L2 in each phase would be waited for.
  template <int P, int Ways, class Frame, class Accumulators>
  __device__ __forceinline__ void walk_ends(Frame& f, Accumulators& acc) {
    if (has_ends(row)) {
      frame<Body, end_tiling> end;
      copy_row_values<Body>(numbers{}, end, f);
      tile<end_tiling> t = ends_of(row);
      t.staging = ends_;
      evaluate_and_step<elements_of_phase<Body, P>, P, Ways>(acc, end, t, args);
    }
    if constexpr (P == loops - 1) fetch_ends(order_.after(row, turn_));
  }
  /// Calls visit() for the whole vectors of the row in loop P, where the tile is placed.
  template <int P, class Visit>
  __device__ __forceinline__ void loop(tile<Tiling>& t, const Visit& visit) {
    const int form = shares_in_phase<Body, P> ? form_of(row, t.staging) : 0;
    const whole_vectors vectors = vectors_of(row);
    const int count = rounds_of(vectors);
    const bool stays = count <= share.slots;
    const int by = step_of(stays, P);
    int v = by < 0 ? first_ + (count - 1) * step() : first_;
    auto at = start_;
#pragma unroll 1
    for (int i = 0; i < count; ++i, v += by) {
      if (P == 0 || i >= share.slots) ring_.wait(at);
      t.staging.place = ring_.place(at.slot);
      const int here = min(vectors.count - v, ring_type::vectors);
#pragma unroll 1
      for (int k = 0; k < here; k += 32 * items) visit_tile<P>(t, v, k, vectors, form, visit);
      if (P == loops - 1 || i + share.slots < count) send_next(at.slot);
      ring_.advance(at);
    }
    if (P == loops - 1) {
      start_ = at;
    } else if (!stays) {  // what is there now is read first in the next loop, backwards
      at.by = -at.by;
      ring_.advance(at);
      start_ = at;
    }
  }

 private:
  using staging = typename Tiling::staging;
  using end_tiling = row_end_tiling<Body, width>;

  /// The lanes' vectors from number k of the piece on that begins with vector v.
  template <int P, class Visit>
  static __device__ __forceinline__ void visit_tile(tile<Tiling>& t, int v, int k, const whole_vectors& vectors,
                                                    int form, const Visit& visit) {
    const int first = v + k + static_cast<int>(threadIdx.x) % 32;
    t.staging.first = k;
#pragma unroll
    for (int u = 0; u < items; ++u) {
      t.at[u] = (first + u * 32) * width + vectors.first;
      t.ok[u] = first + u * 32 < vectors.count;
    }
    // Most pieces are whole, and their vectors not asked one by one.
    const auto visit_all = [&](int of_form) {
      t.staging.form = of_form;
#pragma unroll
      for (int u = 0; u < items; ++u) t.ok[u] = true;
      visit();
    };
    if (v + k + 32 * items > vectors.count || form < 0) {
      t.staging.form = -1;
      visit();
    } else if constexpr (shares_in_phase<Body, P>) {
      with_form(form, visit_all);
    } else {
      visit_all(0);
    }
  }

  __device__ __forceinline__ int ends_beside(const whole_vectors& vectors) const {
    return static_cast<int>(args.rnumel) - vectors.count * width;
  }
  __device__ __forceinline__ bool has_ends(int of_row) const {
    return part == 0 && threadIdx.x / 32 + 1 == blockDim.x / 32 && ends_beside(vectors_of(of_row)) > 0;
  }
  __device__ __forceinline__ tile<end_tiling> ends_of(int of_row) const {
    const whole_vectors vectors = vectors_of(of_row);
    const int length = static_cast<int>(args.rnumel), ends = ends_beside(vectors);
    tile<end_tiling> t;
    t.fixed = of_row;
#pragma unroll
    for (int u = 0; u < end_tiling::items; ++u) {
      const int k = static_cast<int>(threadIdx.x) % 32 + 32 * u;
      t.at[u] = k < vectors.first ? k : length - ends + k;
      t.ok[u] = k < ends;
    }
    return t;
  }
  __device__ __forceinline__ void fetch_ends(int of_row) {
    if (of_row < static_cast<int>(args.numel) && has_ends(of_row)) ends_.fetch(args, ends_of(of_row));
  }
  /// How what all rows share lies beside the vectors of a row: see piece_staging. -1: not all in the same way.
  __device__ __forceinline__ int form_of(int of_row, staging& s) const {
    if (shift_.others < 0) return -1;
    const int by = (shift_.others - before(of_row)) & (width - 1);
    s.rest = by % staging::group;
    return by == 0 ? staging::forms : by / staging::group;
  }
  template <class Visit, int... Form>
  static __device__ __forceinline__ void with_form(int form, const Visit& visit, std::integer_sequence<int, Form...>) {
    (void)((form == Form && (visit(Form), true)) || ...);
  }
  template <class Visit>
  static __device__ __forceinline__ void with_form(int form, const Visit& visit) {
    with_form(form, visit, std::make_integer_sequence<int, staging::forms + 1>{});
  }
  /// Elements that lie before the row in its first vector.
  __device__ __forceinline__ int before(int of_row) const {
    const unsigned far = static_cast<unsigned>(shift_.first) + static_cast<unsigned>(of_row) * shift_.step;
    return static_cast<int>(far & (width - 1));
  }
  /// From a warp's piece of a row to its next one: what does not stay is walked there and back, so that the L2 has the
  /// end of it.
  static __device__ __forceinline__ int step() {
    return static_cast<int>(not_before(blockDim.x)) * (ring_type::vectors / 32);
  }
  __device__ __forceinline__ int step_of(bool stays, int pass) const {
    return !stays && pass % 2 != 0 ? -step() : step();
  }
  /// Pieces of the row that are this warp's.
  __device__ __forceinline__ int rounds_of(const whole_vectors& vectors) const {
    const int rounds = (vectors.count - first_ + step() - 1) >> (__ffs(step()) - 1);  // a power of two
    return max(0, min(share.pieces, rounds));
  }

  /// The row and pass from which to send next, if there is one.
  __device__ __forceinline__ void enter_next() {
    int rounds = 0;
    whole_vectors next;
#pragma unroll 1
    for (; next_row_ < static_cast<int>(args.numel); next_row_ = order_.after(next_row_, next_turn_++)) {
      next = vectors_of(next_row_);
      rounds = rounds_of(next);
      if (rounds > 0) break;
    }
    next_end_ = 0, next_vector_ = first_;
    if (rounds == 0) return;
    next_end_ = next.count;
    next_stays_ = rounds <= share.slots;
    const int by = step_of(next_stays_, next_pass_);
    if (by < 0) next_vector_ += (rounds - 1) * step();
    if (next_pass_ > 0) next_vector_ += share.slots * by;  // those before are there
    ring_type::find(Body{}, numbers{}, from_, args, next_row_, next.first);
  }
  __device__ __forceinline__ void send_next(int slot) {
    if (next_end_ == 0) return;
    ring_.send(Body{}, numbers{}, from_, slot, next_vector_, next_end_ - next_vector_);
    const int by = step_of(next_stays_, next_pass_);
    next_vector_ += by;
    if (by < 0 ? next_vector_ >= first_ : next_vector_ < min(next_end_, first_ + share.pieces * step())) return;
    if (next_stays_ || ++next_pass_ == loops) next_pass_ = 0, next_row_ = order_.after(next_row_, next_turn_++);
    enter_next();
  }

  const row_shift& shift_;
  ring_type ring_;
  row_order order_;
  typename ring_type::position start_{};  // of the next loop over the row
  int first_;                             // the warp's first vector of a row
  int turn_ = 0, half_ = 0;               // of the storage, which is next
  typename end_tiling::staging ends_;     // of the row
  // What is sent for next.
  int next_row_, next_turn_ = 0, next_pass_ = 0, next_vector_ = 0, next_end_ = 0;
  bool next_stays_ = true;
  typename ring_type::sources from_;
};

}  // namespace detail

/// Rows of any length below 2^30, of which as many are on their way as shared memory has places.
template <class Body, int Width, int Items, class Args>
__global__ void __launch_bounds__(detail::most_streamed_threads, 1)
    reduction_vectors(const Args args, const stream_share share, const detail::row_shift shift) {
  detail::begin_with_pieces<Body>(args, share, detail::vector_ring<Body, Width>::vectors * Width);
  using tiling = detail::vectors_tiling<Body, Width, Items>;
  extern __shared__ __align__(128) unsigned char streamed_rows[];
  detail::vector_stream<Body, tiling, Args> stream(args, share, shift, streamed_rows + detail::streamed_storage<Body>,
                                                   detail::row_queue<Body>(streamed_rows),
                                                   detail::meeting_memory<Body>(streamed_rows));
  constexpr detail::streamed_threads<0> threads{};
  for (; args.numel > stream.row; stream.advance()) {
    detail::tile<tiling> tile;
    tile.fixed = stream.row;
    detail::frame<Body, tiling> frame;
    detail::streamed_phases<Body, detail::row_ways<Body, tiling>>(
        std::make_index_sequence<body_facts<Body>::num_phases + 1>{}, stream, frame, tile,
        threads.thread() == 0 && stream.part == 0, streamed_rows, threads);
  }
}

}  // namespace sinter::cuda
