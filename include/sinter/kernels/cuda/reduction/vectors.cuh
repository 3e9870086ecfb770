// Reductions along memory (orientation row) of rows that fill a multiprocessor and begin anywhere: as
// streamed.cuh, but in vectors that are aligned in memory; the elements at a row's ends go one by one.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/overlap.cuh"
#include "sinter/kernels/cuda/reduction/streamed.cuh"
#include "sinter/kernels/cuda/reduction/vector_ring.cuh"

namespace sinter::cuda {

namespace detail {

/// Does phase P read what all rows share?
template <class Body, int P>
inline constexpr bool shares_in_phase = [] {
  for (int s = 0; s < Body::size; ++s)
    if (stream_facts<Body>::is_shared(s) && elements_of_phase<Body, P>::select(s)) return true;
  return false;
}();

/// A block's way through the pieces of its rows, and one ahead of it that sends for those to come.
template <class Body, class Tiling, class Args>
class vector_stream {
 public:
  static constexpr int loops = body_facts<Body>::num_phases, width = Tiling::width, items = Tiling::items;
  using numbers = std::make_index_sequence<Body::size>;
  using ring_type = vector_ring<Body, width, items>;

  __device__ __forceinline__ vector_stream(const Args& a, const stream_share& s, const row_shift& h,
                                           unsigned char* memory)
      : args(a), share(s), shift_(h), ring_(memory, s.slots) {
    const int block = static_cast<int>(blockIdx.x);
    part = block % share.parts;
    row = next_row_ = block / share.parts;
    step_ = static_cast<int>(blockDim.x) * items;
    first_ = part * share.pieces * step_ + static_cast<int>(threadIdx.x) / 32 * ring_type::vectors;
    enter_next();
#pragma unroll 1
    for (int s = 0; s < share.slots; ++s) send_next(s);
  }

  const Args& args;
  const stream_share& share;
  int part, row;

  /// Does what all rows share lie as this row's vectors do?
  __device__ __forceinline__ bool shares_aligned(int of_row) const {
    return before(of_row) == 0 && shift_.others_aligned;
  }
  /// Without those whose words of what all rows share may lie beside that.
  __device__ __forceinline__ whole_vectors vectors_of(int of_row) const {
    const int length = static_cast<int>(args.rnumel);
    const int lead = before(of_row), margin = stream_facts<Body>::has_shared && !shares_aligned(of_row) ? 1 : 0;
    const int begin = (lead != 0 ? 1 : 0) + margin;
    return {begin * width - lead, (lead + length) / width - margin - begin};
  }
  __device__ __forceinline__ void ask() const {}  // rows are shared out evenly
  __device__ __forceinline__ unsigned char* next_half(unsigned char* storage) {
    turn_ ^= 1;
    return storage + turn_ * largest_phase<Body, 32>;
  }

  /// The elements of the row that lie in no whole vector, by the last warp of its first block.
  template <int P, int Ways, class Frame, class Accumulators>
  __device__ __forceinline__ void walk_ends(Frame& f, Accumulators& acc) const {
    if (part != 0 || threadIdx.x / 32 + 1 != blockDim.x / 32) return;
    const whole_vectors vectors = vectors_of(row);
    const int length = static_cast<int>(args.rnumel), head = vectors.first, ends = length - vectors.count * width;
    if (ends == 0) return;
    frame<Body, row_end_tiling> end;
    copy_row_values<Body>(numbers{}, end, f);
    tile<row_end_tiling> t;
    t.fixed = row;
#pragma unroll 1
    for (int k = static_cast<int>(threadIdx.x) % 32; k < ends; k += 32) {
      t.at[0] = k < head ? k : length - ends + k;
      t.ok[0] = true;
      evaluate_and_step<elements_of_phase<Body, P>, P, Ways>(acc, end, t, args);
    }
  }
  /// Calls visit() for the whole vectors of the row in loop P, where the tile is placed.
  template <int P, class Visit>
  __device__ __forceinline__ void loop(tile<Tiling>& t, const Visit& visit) {
    const bool stays = share.stays(), sends = P == loops - 1 || !stays;
    const bool aligned = shares_in_phase<Body, P> && shares_aligned(row);
    const whole_vectors vectors = vectors_of(row);
    const int count = rounds_of(vectors), lane = static_cast<int>(threadIdx.x) % 32;
    const int by = backwards(stays, P) ? -step_ : step_;
    int v = by < 0 ? first_ + (count - 1) * step_ : first_;
    constexpr bool returns = P == loops - 1 && return_facts<Body>::any;
    unsigned char* back = nullptr;
    if constexpr (returns) back = ring_type::find_back(Body{}, numbers{}, args, row, vectors.first);
    auto at = start_;
    int last = -1;  // the place that was put back last, and is not yet filled again
#pragma unroll 1
    for (int i = 0; i < count; ++i, v += by) {
      if (P == 0 || !stays) ring_.wait(at);
      t.staging.place = ring_.place(at.slot);
#pragma unroll
      for (int u = 0; u < items; ++u) {
        t.at[u] = (v + lane + u * 32) * width + vectors.first;
        t.ok[u] = v + lane + u * 32 < vectors.count;
      }
      // Most pieces are whole, and their vectors not asked one by one.
      const auto visit_all = [&](bool shared_aligned) {
        t.staging.shared_aligned = shared_aligned;
#pragma unroll
        for (int u = 0; u < items; ++u) t.ok[u] = true;
        visit();
      };
      if (v + ring_type::vectors > vectors.count) {
        t.staging.shared_aligned = false;
        visit();
      } else if (shares_in_phase<Body, P> && aligned) {
        visit_all(true);
      } else {
        visit_all(false);
      }
      if constexpr (returns) {
        ring_.put_back(back, at.slot, v, vectors.count - v);
        if (last >= 0) {
          ring_.template wait_back<1>();
          send_next(last);
        }
        last = at.slot;
      } else if (sends) {
        send_next(at.slot);
      }
      ring_.advance(at);
    }
    if (returns && last >= 0) {
      ring_.template wait_back<0>();
      send_next(last);
    }
    if (sends) start_ = at;
  }

 private:
  /// Elements that lie before the row in its first vector.
  __device__ __forceinline__ int before(int of_row) const {
    const unsigned far = static_cast<unsigned>(shift_.first) + static_cast<unsigned>(of_row) * shift_.step;
    return static_cast<int>(far & (width - 1));
  }
  /// What does not stay is walked there and back, so that the L2 has the end of it.
  static __device__ __forceinline__ bool backwards(bool stays, int pass) { return !stays && pass % 2 != 0; }
  /// Pieces of the row that are this warp's.
  __device__ __forceinline__ int rounds_of(const whole_vectors& vectors) const {
    const int rounds = (vectors.count - first_ + step_ - 1) / step_;
    return max(0, min(share.pieces, rounds));
  }

  /// The row and pass from which to send next, if there is one.
  __device__ __forceinline__ void enter_next() {
    left_ = 0;
#pragma unroll 1
    for (; next_row_ < static_cast<int>(args.numel); next_row_ += share.teams) {
      next_ = vectors_of(next_row_);
      left_ = rounds_of(next_);
      if (left_ > 0) break;
    }
    if (left_ == 0) return;
    const bool back = backwards(share.stays(), next_pass_);
    next_vector_ = back ? first_ + (left_ - 1) * step_ : first_;
    next_by_ = back ? -step_ : step_;
    ring_type::find(Body{}, numbers{}, from_, args, next_row_, next_.first);
  }
  __device__ __forceinline__ void send_next(int slot) {
    if (left_ == 0) return;
    ring_.send(Body{}, numbers{}, from_, slot, next_vector_, next_.count - next_vector_);
    next_vector_ += next_by_;
    if (--left_ > 0) return;
    if (share.stays() || ++next_pass_ == loops) next_pass_ = 0, next_row_ += share.teams;
    enter_next();
  }

  const row_shift& shift_;
  ring_type ring_;
  typename ring_type::position start_{};  // of the next loop over the row
  int first_, step_;                      // the warp's first vector of a row, and from there to its next piece
  int turn_ = 0;                          // which half of the storage is next
  // What is sent for next.
  int next_row_, next_pass_ = 0, next_vector_ = 0, next_by_ = 0, left_ = 0;
  whole_vectors next_;
  typename ring_type::sources from_;
};

}  // namespace detail

/// Rows of any length below 2^30, of which as many are on their way as shared memory has places.
template <class Body, int Width, int Items, int Threads, class Args>
__global__ void __launch_bounds__(Threads, 1)
    reduction_vectors(const Args args, const stream_share share, const detail::row_shift shift) {
  detail::begin_kernel();
  using tiling = detail::vectors_tiling<Body, Width, Items>;
  extern __shared__ __align__(128) unsigned char streamed_rows[];
  detail::vector_stream<Body, tiling, Args> stream(args, share, shift, streamed_rows + detail::streamed_storage<Body>);
  constexpr detail::row_threads<0> threads{};
  for (; args.numel > stream.row; stream.row += share.teams) {
    detail::tile<tiling> tile;
    tile.fixed = stream.row;
    detail::frame<Body, tiling> frame;
    detail::streamed_phases<Body, detail::row_ways<Body, tiling::size>>(
        std::make_index_sequence<body_facts<Body>::num_phases + 1>{}, stream, frame, tile,
        threads.thread() == 0 && stream.part == 0, streamed_rows, threads);
  }
}

}  // namespace sinter::cuda
