// Launches rows that are streamed through shared memory: which can be, in which vectors, and how blocks share them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "sinter/base/atomic_number.hpp"
#include "sinter/kernels/cuda/cluster_launch.cuh"
#include "sinter/kernels/cuda/kernel_memory.cuh"
#include "sinter/kernels/cuda/reduction/rows/streamed.cuh"
#include "sinter/kernels/cuda/reduction/rows/vectors.cuh"

namespace sinter::cuda::detail {

/// How the rows of a body are read, if they are streamed.
struct stream_shape {
  int width = 0;      // 0: they are not
  bool any = false;   // in vectors that lie well in memory, wherever rows begin
  int otherwise = 0;  // the width of those if that is for rows only that begin where `width` does not fit; or 0
};
/// Rows of static length are streamed if registers do not hold them, or only those of a whole multiprocessor as they
/// lie in memory; of run-time length, whenever the kernel can: it takes the place of two that hold rows.
template <class Held, int Width, long Rnumel>
inline constexpr stream_shape stream_shape_of = [] {
  constexpr int wide = shifted_facts<Held>::width > 0 ? shifted_facts<Held>::width : 1;
  constexpr row_shape held = Rnumel >= 0 ? choose_row(Rnumel, Width, lanes_of_body<Held>, false) : row_shape{};
  constexpr bool alone = held.threads > 512 && phase_facts<Held>::reads_halves && phase_facts<Held>::recomputes &&
                         held.items * Width > few_lanes;
  if (phase_facts<Held>::kept_bytes == 0 || stream_facts<Held>::bytes > 16 || Rnumel >= streamed_limit ||
      (held.persistent && !alone))
    return stream_shape{};
  // Where there are several weights of 16 bits, more threads with fewer registers hide what they wait for.
  constexpr bool vectors = stream_facts<Held>::whole_vectors(wide) && (Rnumel < 0 || Rnumel % wide != 0);
  constexpr bool fitting = stream_facts<Held>::whole_vectors(Width) && wide > 4 && stream_facts<Held>::shared_loads > 1;
  if (vectors && !fitting) return stream_shape{wide, true};
  return stream_facts<Held>::whole_vectors(Width) ? stream_shape{Width, false, vectors ? wide : 0} : stream_shape{};
}();

/// Bytes of a row that each of a multiprocessor's two blocks has room for.
inline constexpr std::int64_t most_of_two_blocks = 104 << 10;

/// The most loads, of weights for example, that a loop with a reduction has in registers beside the streamed ones.
template <class Held>
inline constexpr int loads_while_reducing = [] {
  using facts = body_facts<Held>;
  int most = 0;
  for (int p = 0; p < facts::num_phases; ++p) {
    int loads = 0;
    bool reduces = false;
    for (int s = 0; s < Held::size; ++s) {
      const auto& info = facts::facts.info[s];
      reduces = reduces || (info.kind == statement_kind::reduce && facts::phase(s) == p);
      loads +=
          info.kind == statement_kind::source && info.reads_r && facts::needed(p, s) && !stream_facts<Held>::streams(s);
    }
    if (reduces && loads > most) most = loads;
  }
  return most;
}();

/// How a kernel of Piece, with Blocks to a multiprocessor, shares rows out, and with how many places for tiles; no
/// slots: it cannot. Piece says how many warps a block has, what places take in all, and how many elements one has
/// room for; and which kernel it is for.
template <class Piece, int Blocks, class Body, class Args>
class stream_plan {
 public:
  using shared = sinter::detail::shared_row_facts<Body>;

  stream_plan(const Args& args, const char* name) : args_(args), name_(name) {
    const device_limits limits = limits_of_device(name);
    constexpr int reserved = 1024;  // of a multiprocessor for each block
    const int room = (limits.shared_bytes + reserved) / Blocks - reserved, blocks = limits.multiprocessors * Blocks;
    int slots = 0;  // for tiles
    while (streamed_storage<Body> + Piece::bytes(slots + 1) <= room) ++slots;
    if (slots < 1) return;
    const std::int64_t tiles = (args.rnumel / Piece::width * Piece::width + Piece::lanes - 1) / Piece::lanes;
    const std::int64_t most = sinter::detail::most_parts(args.numel, args.rnumel, shared::row_bytes);
    bytes_ = streamed_storage<Body> + Piece::bytes(slots);
    static constinit sinter::detail::atomic_number<std::uint64_t> asked{0};
    allow_shared_memory(reinterpret_cast<const void*>(kernel), limits.shared_bytes, asked, name);
    cluster_counts clusters;
    // Two blocks of a multiprocessor hide what they wait for; those of a cluster wait less.
    if (Blocks == 1 && kernels_overlap && most > 1)
      clusters = {reinterpret_cast<const void*>(kernel), 32 * Piece::warps, bytes_, known_clusters_, name};
    teams_ = choose_teams(args.numel, tiles, slots, body_facts<Body>::num_phases - 1, static_cast<int>(most), blocks,
                          [&](int parts) { return clusters.of(parts); });
    slots_ = slots;
  }
  explicit operator bool() const { return slots_ > 0; }
  std::int64_t cost() const { return teams_.cost; }
  /// Does each block have a row, and hold it?
  bool is_whole() const { return teams_.parts == 1 && teams_.tiles <= slots_; }

  void launch_rows(const row_shift& shift, kernel_memory& memory, cudaStream_t stream) const {
    const int piece = Piece::together ? teams_.piece(slots_) : 1, pieces = (teams_.tiles + piece - 1) / piece;
    stream_share share{nullptr, slots_ / piece, pieces, piece, teams_.parts, teams_.teams};
    const auto grid = dim3(static_cast<unsigned>(teams_.teams * teams_.parts)), block = dim3(32 * Piece::warps);
    const int least = Piece::least_pieces(static_cast<int>(args_.rnumel), pieces);
    if (teams_.parts == 1 && least > 0 && sinter::detail::takes_turns(args_.numel, args_.rnumel, shared::row_bytes)) {
      const int known = share.slots / least + 1;  // rows that places are filled for, and the one that follows
      const int ahead = known < 2 ? 2 : known;
      if (ahead <= row_order::most_ahead && args_.numel > ahead * teams_.teams) share.ahead = ahead;
    }
    if (teams_.cluster) {
      share.cluster = teams_.parts;
      return launch_clusters(kernel, share.cluster, grid, block, bytes_, stream, name_, args_, share, shift);
    }
    if (share.ahead > 0 || teams_.parts > 1) share.counters = memory.counters(stream, name_);
    if (teams_.parts == 1) return launch(kernel, grid, block, bytes_, stream, name_, args_, share, shift);
    launch(start_rule::together, kernel, grid, block, bytes_, stream, name_, args_, share, shift);
  }

 private:
  static constexpr void (*kernel)(Args, stream_share, row_shift) = Piece::template kernel<Args>;
  static inline constinit sinter::detail::atomic_number<std::uint64_t> known_clusters_[64]{};
  const Args& args_;
  const char* name_;
  int slots_ = 0, bytes_ = 0;
  team_shape teams_;
};

/// Two: for two blocks of a multiprocessor, each of which works while the other waits; or the same as Alone. False:
/// nothing was launched.
template <class Alone, class Two, class... S, class Args>
bool launch_stream(body<S...>, const Args& args, const row_shift& shift, kernel_memory& memory, cudaStream_t stream,
                   const char* name) {
  const stream_plan<Alone, 1, body<S...>, Args> alone(args, name);
  if constexpr (!std::is_same_v<Alone, Two>) {
    const stream_plan<Two, 2, body<S...>, Args> two(args, name);
    if (two && (two.is_whole() || !alone || two.cost() < alone.cost()))
      return two.launch_rows(shift, memory, stream), true;
  }
  if (!alone) return false;
  alone.launch_rows(shift, memory, stream);
  return true;
}

/// Rows whose vectors fit: tiles of Items vectors to a lane.
template <class Body, int Width, int Items, int Blocks, long Rnumel>
struct fitting_piece {
  static constexpr bool whole = Rnumel > 0 && Rnumel % (32 * Items * Width) == 0, together = true;
  static constexpr int width = Width;
  using tiling = streamed_tiling<Body, Width, Items, whole>;
  static constexpr int warps = most_streamed_threads / 32, lanes = warps * tiling::lanes;
  static constexpr int bytes(int slots) {
    return slots * warps * (tiling::bytes + row_ring<Body, tiling>::barrier_bytes);
  }
  /// Of each warp.
  static constexpr int least_pieces(int, int pieces) { return pieces; }
  template <class Args>
  static constexpr auto kernel = &reduction_streamed<Body, Width, Items, whole, Blocks, Args>;
};
/// Rows that begin anywhere. One kernel for one block of a multiprocessor and for two, of half the threads.
template <class Body, int Width, int Blocks>
struct vector_piece {
  static constexpr int width = Width;
  // Weights take registers, each as many as the values beside which they lie, and so do elements of several words, and
  // a second result beside weights.
  static constexpr int weights = stream_facts<Body>::shared_loads;
  static constexpr int items = weights * Width > 8 || stream_facts<Body>::bytes > 4 ||
                                       (weights > 0 && element_stores<Body> > 1)
                                   ? 2
                                   : 4;
  using ring = vector_ring<Body, Width>;
  static constexpr bool together = false;
  static constexpr int warps = most_streamed_threads / Blocks / 32, lanes = warps * ring::vectors * Width;
  static constexpr int bytes(int slots) { return warps * ring::bytes_of(slots); }
  /// Of each warp: up to three vectors of a row are not whole, or lie beside what all rows share.
  static constexpr int least_pieces(int rnumel, int) {
    constexpr int step = warps * ring::vectors;
    return (rnumel / Width - 3 + ring::vectors - 1) / step;
  }
  template <class Args>
  static constexpr auto kernel = &reduction_vectors<Body, Width, items, Args>;
};

template <class Held>
inline constexpr bool light_stream =
    phase_facts<Held>::is_light&& phase_facts<Held>::kept_bytes <= 4 && loads_while_reducing<Held> <= 1;

template <int Width, class... S, class Args>
bool launch_vectors(body<S...>, const Args& args, kernel_memory& memory, cudaStream_t stream, const char* name) {
  using B = body<S...>;
  row_shift shift;
  if (args.rnumel < 4 * Width || !shifted_facts<B>::find(args, shift)) return false;
  using alone = vector_piece<B, Width, 1>;
  using two = std::conditional_t<light_stream<B>, vector_piece<B, Width, 2>, alone>;
  return launch_stream<alone, two>(B{}, args, shift, memory, stream, name);
}

/// `fits`: vectors of the body's own width do. False: nothing was launched, because these rows cannot be streamed.
template <stream_shape Shape, long Rnumel, class... S, class Args>
bool launch_streamed(body<S...>, const Args& args, bool fits, kernel_memory& memory, cudaStream_t stream,
                     const char* name) {
  using B = body<S...>;
  if (args.numel >= narrow_limit || args.rnumel <= 0 || args.rnumel >= streamed_limit) return false;
  if constexpr (Shape.any) {
    return launch_vectors<Shape.width>(B{}, args, memory, stream, name);
  } else {
    constexpr bool light = light_stream<B>;
    // A warp's vector takes more than 512 bytes, or a thread's unpacked more than 8 registers.
    constexpr bool large = 32 * Shape.width * stream_facts<B>::bytes > 512 || Shape.width > 8;
    using two = fitting_piece<B, Shape.width, large ? 1 : 2, 2, Rnumel>;
    using alone = fitting_piece<B, Shape.width, large ? 1 : light ? 4 : 2, 1, Rnumel>;
    if (!fits) {
      if constexpr (Shape.otherwise > 0) return launch_vectors<Shape.otherwise>(B{}, args, memory, stream, name);
      return false;
    }
    constexpr bool both = light && (Rnumel < 0 || Rnumel * stream_facts<B>::bytes <= most_of_two_blocks);
    return launch_stream<alone, std::conditional_t<both, two, alone>>(B{}, args, row_shift{}, memory, stream, name);
  }
}

}  // namespace sinter::cuda::detail
