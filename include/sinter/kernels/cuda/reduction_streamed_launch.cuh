// Launches rows that are streamed through shared memory: which can be, in which vectors, and how blocks share them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstdint>

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

/// `fits`: vectors of the body's own width do. Shared: blocks may share rows; otherwise a row stays in one, or nothing
/// is launched. False: nothing was, because these rows cannot be streamed.
template <stream_shape Shape, long Rnumel, bool Shared, class... S, class Args>
bool launch_streamed(body<S...>, const Args& args, bool fits, void* workspace, cudaStream_t stream, const char* name) {
  using B = body<S...>;
  using shared = sinter::detail::shared_row_facts<B>;
  constexpr int width = Shape.width;
  constexpr bool light = phase_facts<B>::is_light && phase_facts<B>::kept_bytes <= 4 && loads_while_reducing<B> <= 1;
  // Vectors of a thread and tile; of a warp 1 to 2 KB. The code at the ends of shifted ones takes registers and time:
  // more threads hide it.
  constexpr int items = 32 * width * stream_facts<B>::bytes > 512 ? 1 : light && !Shape.shifted ? 4 : 2;
  constexpr int threads = light && Shape.shifted ? 1024 : 512, warps = threads / 32;  // with 64 or 128 registers
  constexpr bool whole = Rnumel > 0 && !Shape.shifted && Rnumel % (32 * items * width) == 0;
  using tiling = streamed_tiling<B, width, items, Shape.shifted, whole>;
  constexpr int place = warps * (tiling::bytes + row_ring<B, tiling>::barrier_bytes);

  row_shift shift;
  if (args.numel >= narrow_limit || args.rnumel <= 0 || args.rnumel >= streamed_limit) return false;
  if constexpr (Shape.shifted) fits = shifted_facts<B>::find(args, shift);
  if (!fits) return false;

  void (*const kernel)(Args, stream_share, row_shift) =
      &reduction_streamed<B, width, items, Shape.shifted, whole, threads, Args>;
  const device_limits limits = limits_of_device(name);
  static constinit std::atomic<std::uint64_t> asked{0};
  allow_shared_memory(reinterpret_cast<const void*>(kernel), limits.shared_bytes, asked, name);

  const int slots = (limits.shared_bytes - streamed_storage<B>) / place;  // for tiles
  if (slots < 1) return false;
  const std::int64_t tile = warps * tiling::lanes, longest = args.rnumel + (Shape.shifted ? width - 1 : 0);
  const std::int64_t tiles = (longest + tile - 1) / tile;
  if (!Shared && tiles > slots) return false;
  const std::int64_t most = Shared ? sinter::detail::most_parts(args.numel, args.rnumel, shared::row_bytes) : 1;
  const team_shape teams = choose_teams(args.numel, tiles, slots, body_facts<B>::num_phases - 1, static_cast<int>(most),
                                        limits.multiprocessors);
  const int piece = teams.piece(slots), pieces = (teams.tiles + piece - 1) / piece;
  const stream_share share{workspace, slots / piece, pieces, piece, teams.parts, teams.teams};
  const auto grid = dim3(static_cast<unsigned>(teams.teams * teams.parts));
  const int bytes = streamed_storage<B> + slots * place;
  if (teams.parts == 1) {
    launch(kernel, grid, dim3(threads), bytes, stream, name, args, share, shift);
  } else {
    check(cudaMemsetAsync(workspace, 0, static_cast<std::size_t>(shared::counters(args.numel)) * 4, stream),
          "cudaMemsetAsync", name);
    launch<start_rule::together>(kernel, grid, dim3(threads), bytes, stream, name, args, share, shift);
  }
  return true;
}

}  // namespace sinter::cuda::detail
