// Reductions along memory (orientation row) of rows that fill a multiprocessor: blocks stay and go from row to row, and
// the pieces of the rows to come arrive in shared memory while this one's are reduced. A row waits there from phase to
// phase and is read once.
// Which kernel with which shape is choose.hpp's matter, launching launch.cuh's.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/cluster.cuh"
#include "sinter/kernels/cuda/kernel_memory.cuh"
#include "sinter/kernels/cuda/reduction/rows/row_ring.cuh"
#include "sinter/kernels/cuda/reduction/rows/row_threads.cuh"
#include "sinter/kernels/cuda/reduction/rows/rows_ahead.cuh"

namespace sinter::cuda {

namespace detail {

/// The threads of a block: half a multiprocessor's registers for its rows' values and addresses. Count: as of
/// row_threads.
inline constexpr int most_streamed_threads = 512;
template <int Count>
struct streamed_threads : row_threads<Count> {};
template <int Count>
inline constexpr int most_warps<streamed_threads<Count>> = most_streamed_threads / 32;
template <>
inline constexpr bool count_varies<streamed_threads<0>> = true;
/// Bytes of shared memory before the ring: two halves for states, then which rows are next.
template <class Body>
inline constexpr int storage_half = largest_phase<Body, most_warps<streamed_threads<0>>>;
template <class Body>
inline constexpr int streamed_storage = static_cast<int>(sinter::detail::round_up(
    2 * storage_half<Body> + row_order::queue_length * sizeof(int) + cluster_meeting<Body>::bytes, 128));
template <class Body>
__device__ __forceinline__ int* row_queue(unsigned char* storage) {
  return reinterpret_cast<int*>(storage + 2 * storage_half<Body>);
}
template <class Body>
__device__ __forceinline__ unsigned char* meeting_memory(unsigned char* storage) {
  return storage + 2 * storage_half<Body> + row_order::queue_length * sizeof(int);
}

/// A block's way through the pieces of its rows, and one ahead of it that sends for those to come. Blocks: of a
/// multiprocessor; those that have one of their own may form clusters where they share rows.
template <class Body, class Tiling, int Blocks, class Args>
struct row_stream {
  static constexpr bool clusters = Blocks == 1 && kernels_overlap;
  static constexpr int loops = body_facts<Body>::num_phases;
  using numbers = std::make_index_sequence<Body::size>;
  using ring_type = row_ring<Body, Tiling>;

  const Args& args;
  const stream_share& share;
  ring_type ring;
  row_order order;
  cluster_meeting<Body> meeting;
  typename ring_type::position start{};  // of the next loop over the row
  int part, row, turn = 0;
  int first, step;  // the first element of the warp's first piece of a row, and from there to the next piece
  int next_row, next_turn = 0, next_piece = 0, next_pass = 0;
  int half = 0;  // of the storage, which is next

  __device__ __forceinline__ row_stream(const Args& a, const stream_share& s, unsigned char* memory, int* queue,
                                        unsigned char* meeting_at)
      : args(a), share(s), ring(memory, s.slots, s.tiles), order(s, static_cast<int>(a.numel), queue) {
    if constexpr (clusters) meeting.begin(meeting_at, s.cluster);
    const int lanes = share.tiles * Tiling::lanes;
    part = static_cast<int>(blockIdx.x) % share.parts;
    row = next_row = order.first();
    step = most_streamed_threads / 32 * lanes;
    first = part * share.pieces * step + static_cast<int>(threadIdx.x) / 32 * lanes;
#pragma unroll 1
    for (int s = 0; s < share.slots; ++s) send_next(s);
    if constexpr (clusters) meeting.wait(share.cluster);
  }

  /// What does not stay is walked there and back, so that the L2 has the end of it.
  static __device__ __forceinline__ bool backwards(bool stays, int pass) { return !stays && pass % 2 != 0; }

  __device__ __forceinline__ void send_next(int slot) {
    if (next_row >= static_cast<int>(args.numel)) return;
    const bool stays = share.stays();
    const int piece = backwards(stays, next_pass) ? share.pieces - 1 - next_piece : next_piece;
    ring.send(Body{}, numbers{}, slot, args, next_row, first + piece * step);
    if (++next_piece < share.pieces) return;
    if (!stays && ++next_pass < loops) {
      next_piece = share.slots;  // those before are there
      return;
    }
    next_piece = next_pass = 0;
    next_row = order.after(next_row, next_turn++);
  }
  __device__ __forceinline__ void advance() { row = order.after(row, turn++); }
  /// Which row is the next but one: as a row begins, and before the barrier of its first phase.
  __device__ __forceinline__ void ask() { order.ask(); }
  __device__ __forceinline__ void pass_on() { order.pass_on(turn); }

  __device__ __forceinline__ unsigned char* next_half(unsigned char* storage) {
    half ^= 1;
    return storage + half * storage_half<Body>;
  }

  /// Here rows are whole vectors.
  template <int P, int Ways, class Frame, class Accumulators>
  __device__ __forceinline__ void walk_ends(Frame&, Accumulators&) const {}
  /// Calls visit(tile) for every piece of the row in loop P, where the tile is placed.
  template <int P, class Visit>
  __device__ __forceinline__ void loop(tile<Tiling>& t, const Visit& visit) {
    constexpr int width = Tiling::width, lanes = Tiling::lanes;
    const bool stays = share.stays();
    const int end = static_cast<int>(args.rnumel), lane = static_cast<int>(threadIdx.x) % 32 * width;
    const int by = backwards(stays, P) ? -step : step;
    int begin = first + (by < 0 ? (share.pieces - 1) * step : 0);
    auto at = start;
#pragma unroll 1
    for (int i = 0; i < share.pieces; ++i, begin += by) {
      if (P == 0 || i >= share.slots) ring.wait(at);
      t.staging.place = ring.place(at.slot);
      t.staging.tiles = share.tiles;
      const int tiles = min(share.tiles, (end - begin + lanes - 1) / lanes);  // a row may end inside of a piece
#pragma unroll 1
      for (int k = 0; k < tiles; ++k) {
        t.staging.tile = k;
        const int place = begin + k * lanes + lane;
#pragma unroll
        for (int u = 0; u < Tiling::items; ++u) {
          t.at[u] = place + u * (32 * width);
          t.ok[u] = true;
        }
        // Most tiles are whole, and their vectors not asked one by one; half the registers are too few for both.
        if (Tiling::whole || (Blocks == 1 && begin + (k + 1) * lanes <= end)) {
          visit();
        } else {
#pragma unroll
          for (int u = 0; u < Tiling::items; ++u) t.ok[u] = t.at[u] + width <= end;
          visit();
        }
      }
      if (P == loops - 1 || i + share.slots < share.pieces) send_next(at.slot);
      at.advance(share.slots);
    }
    if (P == loops - 1) {
      start = at;
    } else if (!stays) {  // what is there now is read first in the next loop, backwards
      at.by = -at.by;
      at.advance(share.slots);
      start = at;
    }
  }
};

/// What the blocks of a team leave for each other: of each row and reduction a state of every part.
template <class Body>
struct team_states {
  using facts = sinter::detail::shared_row_facts<Body>;
  const stream_share& share;
  std::int64_t numel;

  template <int I, class State>
  __device__ __forceinline__ marked<State>* of(std::int64_t row) const {
    return reinterpret_cast<marked<State>*>(first_of(row) + facts::words_before(I) * share.parts);
  }
  /// The last block that comes here leaves all of its team's states at zero. For one warp, when the block needs no
  /// more of them.
  __device__ __forceinline__ void leave(int team) const {
    const auto parts = static_cast<unsigned>(share.parts);
    const int lane = static_cast<int>(threadIdx.x) % 32, words = facts::words_before(facts::size) * share.parts;
    unsigned before = 0;
    if (lane == 0) before = meeting_place{share.counters + team, parts}.come();
    if (from_first_lane(before, 32) + 1 != parts) return;
    for (std::int64_t row = team; row < numel; row += share.teams)
      for (int k = lane; k < words; k += 32) first_of(row)[k] = 0;
  }

 private:
  __device__ __forceinline__ std::uint64_t* first_of(std::int64_t row) const {
    return reinterpret_cast<std::uint64_t*>(share.counters + facts::first_word(numel)) +
           row * share.parts * facts::words_before(facts::size);
  }
};

/// What follows from x is computed where it is needed: it does not wait in registers, of which few are left.
__device__ __forceinline__ unsigned not_before(unsigned x) {
  asm volatile("" : "+r"(x));
  return x;
}

/// The blocks of a team exchange their states of phase P. All of them run at once; always the same states are combined
/// in the same order.
template <int P, class Threads, class Accumulators, class Body>
__device__ __forceinline__ void exchange_in_team(Body, Accumulators& acc, const team_states<Body>& states,
                                                 std::int64_t row, const Threads& threads) {
  using reductions = reductions_of_phase<Body, P>;
  const unsigned part = not_before(blockIdx.x) % static_cast<unsigned>(states.share.parts);
  reductions::each([&]<int N, class R>(std::integral_constant<int, N>, R) {
    if (threads.thread() == 0)
      states.template of<N, typename reduction_of<R>::state>(row)[part].write(lanes_of<N>(acc)[0]);
  });
  reductions::each([&]<int N, class R>(std::integral_constant<int, N>, R) {
    using fold = reduction_of<R>;
    const auto* parts = states.template of<N, typename fold::state>(row);
    auto state = fold::init();
    for (int k = threads.thread(); k < states.share.parts; k += threads.count()) {
      auto seen = parts[k].read();
      while (!seen.is_there()) seen = parts[k].read();
      state = fold::combine(state, seen.value());
    }
    lanes_of<N>(acc)[0] = state;
  });
}

/// Does a later phase reduce, too?
template <class Body, int P>
inline constexpr bool reduces_later = [] {
  for (int s = 0; s < Body::size; ++s)
    if (phase_facts<Body>::is_reduce(s) && body_facts<Body>::phase(s) > P) return true;
  return false;
}();

template <class Body, int Ways, int P, class Stream, class Frame, class Threads>
__device__ __forceinline__ void streamed_phase(Stream& stream, Frame& f, tile<typename Frame::tiling>& t, bool writer,
                                               unsigned char* storage, const Threads& threads) {
  using numbers = std::make_index_sequence<Body::size>;
  evaluate<rows_of_phase<Body, P>>(f, t, stream.args, writer);
  if constexpr (P < body_facts<Body>::num_phases) {
    accumulators<Body, Ways> acc;
    start<P, Ways>(Body{}, numbers{}, acc);
    if constexpr (P == 0) stream.ask();
    stream.template walk_ends<P, Ways>(f, acc);
    stream.template loop<P>(t, [&] { evaluate_and_step<elements_of_phase<Body, P>, P, Ways>(acc, f, t, stream.args); });
    if constexpr (P == 0) stream.pass_on();
    if constexpr (reduces_phase<Body, P>) {
      // Two halves of the storage in turn: a warp may be one phase ahead of another, not two.
      combine_row<P, Ways>(Body{}, numbers{}, acc, stream.next_half(storage), threads);
      if (Stream::clusters && stream.share.cluster > 1) {
        stream.meeting.template exchange<P>(acc, meeting_memory<Body>(storage), stream.share.cluster);
      } else if (stream.share.parts > 1) {
        const team_states<Body> states{stream.share, not_before(static_cast<unsigned>(stream.args.numel))};
        exchange_in_team<P>(Body{}, acc, states, stream.row, threads);
        combine_row<P, 1>(Body{}, numbers{}, acc, stream.next_half(storage), threads);
        if (!reduces_later<Body, P> && stream.row + stream.share.teams >= stream.args.numel && threads.thread() < 32)
          states.leave(stream.row % stream.share.teams);
      }
      finish_row_phase<P>(Body{}, numbers{}, acc, f, threads);
    }
  }
}
template <class Body, int Ways, class Stream, class Frame, std::size_t... P, class Threads>
__device__ __forceinline__ void streamed_phases(std::index_sequence<P...>, Stream& stream, Frame& f,
                                                tile<typename Frame::tiling>& t, bool writer, unsigned char* storage,
                                                const Threads& threads) {
  (streamed_phase<Body, Ways, static_cast<int>(P)>(stream, f, t, writer, storage, threads), ...);
}

}  // namespace detail

/// Rows of whole vectors, below 2^30 elements, of which as many are on their way as shared memory has places. Blocks:
/// of a multiprocessor. (What rows are shifted by is reduction_vectors' matter; one launch calls both.)
template <class Body, int Width, int Items, bool Whole, int Blocks, class Args>
__global__ void __launch_bounds__(detail::most_streamed_threads, Blocks)
    reduction_streamed(const Args args, const stream_share share, const detail::row_shift) {
  using tiling = detail::streamed_tiling<Body, Width, Items, Whole>;
  if constexpr (Blocks == 1) detail::begin_with_pieces<Body>(args, share, share.tiles * tiling::lanes);
  else detail::begin_kernel<Args::next_reads_ahead>();  // of 64 registers none is left to ask
  extern __shared__ __align__(128) unsigned char streamed_rows[];
  detail::row_stream<Body, tiling, Blocks, Args> stream(args, share, streamed_rows + detail::streamed_storage<Body>,
                                                        detail::row_queue<Body>(streamed_rows),
                                                        detail::meeting_memory<Body>(streamed_rows));
  constexpr detail::streamed_threads<detail::most_streamed_threads> threads{};
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
