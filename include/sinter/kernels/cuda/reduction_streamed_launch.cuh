// Launches rows that are streamed through shared memory: which can be, in which vectors, and how blocks share them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstdint>

#include "sinter/kernels/cuda/kernel_memory.cuh"
#include "sinter/kernels/cuda/launch.cuh"
#include "sinter/kernels/cuda/reduction_streamed.cuh"

namespace sinter::cuda::detail {

/// How the rows of a body are read, if they are streamed.
struct stream_shape {
  int width = 0;  // 0: they are not
  bool shifted = false;
};
/// Rows of static length are streamed if registers do not hold them, or only those of a whole multiprocessor as they
/// lie in memory; of run-time length, whenever the kernel can: it takes the place of two that hold rows. A body whose
/// rows could be split has one phase if it is not held: what does not stay in shared memory is better walked so.
template <class Held, int Width, long Rnumel, bool CanSplit>
inline constexpr stream_shape stream_shape_of = [] {
  constexpr int wide = shifted_facts<Held>::width > 0 ? shifted_facts<Held>::width : 1;
  constexpr row_shape held = Rnumel >= 0 ? choose_row(Rnumel, Width, lanes_of_body<Held>, false) : row_shape{};
  constexpr bool alone = held.threads > 512 && phase_facts<Held>::recomputes;
  constexpr bool too_long = CanSplit && Rnumel * stream_facts<Held>::bytes > sinter::detail::most_held_bytes;
  if (phase_facts<Held>::kept_bytes == 0 || stream_facts<Held>::bytes > 16 || Rnumel >= streamed_limit || too_long ||
      (held.persistent && !alone))
    return stream_shape{};
  if (stream_facts<Held>::whole_vectors(wide) && (Rnumel < 0 || Rnumel % wide != 0)) return stream_shape{wide, true};
  return stream_facts<Held>::whole_vectors(Width) ? stream_shape{Width, false} : stream_shape{};
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

/// Vectors of a thread and tile, threads of a block, and blocks of a multiprocessor.
struct stream_block {
  int items, threads, blocks;
};

/// False: nothing was launched. Shared: blocks may share rows; otherwise, or where a multiprocessor has two blocks, a
/// row stays in one.
template <stream_shape Shape, stream_block Block, long Rnumel, bool Shared, class... S, class Args>
bool launch_stream(body<S...>, const Args& args, const row_shift& shift, kernel_memory& memory, cudaStream_t stream,
                   const char* name) {
  using B = body<S...>;
  using shared = sinter::detail::shared_row_facts<B>;
  constexpr int width = Shape.width, items = Block.items, warps = Block.threads / 32;
  constexpr bool whole = Rnumel > 0 && !Shape.shifted && Rnumel % (32 * items * width) == 0;
  using tiling = streamed_tiling<B, width, items, Shape.shifted, whole>;
  constexpr int place = warps * (tiling::bytes + row_ring<B, tiling>::barrier_bytes);

  const device_limits limits = limits_of_device(name);
  constexpr int reserved = 1024;  // of a multiprocessor for each block
  const int room = (limits.shared_bytes + reserved) / Block.blocks - reserved;
  const int slots = (room - streamed_storage<B>) / place;  // for tiles
  if (slots < 1) return false;
  const std::int64_t tile = warps * tiling::lanes, longest = args.rnumel + (Shape.shifted ? width - 1 : 0);
  const std::int64_t tiles = (longest + tile - 1) / tile;
  const std::int64_t most = Shared ? sinter::detail::most_parts(args.numel, args.rnumel, shared::row_bytes) : 1;
  if ((!Shared || Block.blocks > 1) && (tiles > slots || most > 1)) return false;
  const team_shape teams = choose_teams(args.numel, tiles, slots, body_facts<B>::num_phases - 1, static_cast<int>(most),
                                        limits.multiprocessors * Block.blocks);
  const int piece = teams.piece(slots), pieces = (teams.tiles + piece - 1) / piece;
  stream_share share{nullptr, memory.states(), slots / piece, pieces, piece, teams.parts, teams.teams};

  void (*const kernel)(Args, stream_share, row_shift) =
      &reduction_streamed<B, width, items, Shape.shifted, whole, Block.threads, Block.blocks, Args>;
  static constinit std::atomic<std::uint64_t> asked{0};
  allow_shared_memory(reinterpret_cast<const void*>(kernel), limits.shared_bytes, asked, name);
  const auto grid = dim3(static_cast<unsigned>(teams.teams * teams.parts));
  const int bytes = streamed_storage<B> + slots * place;
  if (teams.parts == 1) {
    launch(kernel, grid, dim3(Block.threads), bytes, stream, name, args, share, shift);
  } else {
    share.counters = memory.counters(stream, name);
    launch<start_rule::together>(kernel, grid, dim3(Block.threads), bytes, stream, name, args, share, shift);
  }
  return true;
}

/// `fits`: vectors of the body's own width do. False: nothing was launched, because these rows cannot be streamed.
template <stream_shape Shape, long Rnumel, bool Shared, class... S, class Args>
bool launch_streamed(body<S...>, const Args& args, bool fits, kernel_memory& memory, cudaStream_t stream,
                     const char* name) {
  using B = body<S...>;
  constexpr bool light = phase_facts<B>::is_light && phase_facts<B>::kept_bytes <= 4 && loads_while_reducing<B> <= 1;
  // A warp's vector takes more than 512 bytes, or a thread's unpacked more than 8 registers.
  constexpr bool large = 32 * Shape.width * stream_facts<B>::bytes > 512 || Shape.width > 8;
  // The code at the ends of shifted vectors takes registers and time: more threads hide it.
  constexpr stream_block alone = {large ? 1 : light && !Shape.shifted ? 4 : 2, light && Shape.shifted ? 1024 : 512, 1};
  constexpr stream_block two = {large ? 1 : 2, 512, 2};
  row_shift shift;
  if (args.numel >= narrow_limit || args.rnumel <= 0 || args.rnumel >= streamed_limit) return false;
  if constexpr (Shape.shifted) fits = shifted_facts<B>::find(args, shift);
  if (!fits) return false;
  if constexpr (light && (Rnumel < 0 || Rnumel * stream_facts<B>::bytes <= most_of_two_blocks))
    if (launch_stream<Shape, two, Rnumel, Shared>(B{}, args, shift, memory, stream, name)) return true;
  return launch_stream<Shape, alone, Rnumel, Shared>(B{}, args, shift, memory, stream, name);
}

}  // namespace sinter::cuda::detail
