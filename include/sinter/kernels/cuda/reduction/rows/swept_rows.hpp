// Rows that are read once and leave little behind: bodies of one phase. They need no place on the chip, wherever they
// begin: each is swept in vectors that are aligned in memory, and its ends element by element. Which accesses there
// are, how many threads share a row and into how many parts a long one is cut is decided here; the kernel is
// swept.cuh. No CUDA header is needed here. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/choose.hpp"
#include "sinter/kernels/cuda/shifted.hpp"
#include "sinter/kernels/cuda/start_rule.hpp"

namespace sinter::cuda::detail {

/// An access that moves with the row; of a body in which none does, which has but one row, all that run along it.
template <bool AnyMoves, class Access>
struct swept_access : Access {
  static constexpr bool moves = AnyMoves ? Access::moves : Access::along_r;
};

/// A load along the row of 16-bit values.
template <class S>
inline constexpr bool is_half_of_row = false;
template <int Slot, class T, class At>
inline constexpr bool is_half_of_row<load<Slot, T, At, -1>> =
    sizeof(T) == 2 && std::is_same_v<compute_t<T>, float>&& sinter::detail::at_facts<At>::uses(loop_var::r);

template <class Body>
struct swept_facts;
template <class... S>
struct swept_facts<body<S...>> {
  using B = body<S...>;
  static constexpr bool any_moves = (shifted_access<S>::moves || ...);
  template <class Statement>
  using access = swept_access<any_moves, shifted_access<Statement>>;

  /// Elements of a vector; 0: these rows cannot be swept so.
  static constexpr int width =
      ((shifted_access<S>::allowed || !statement_facts<S>::info.reads_r) && ...) ? shifted_width<access<S>...> : 0;

  /// What all rows share, neighbour after neighbour.
  SINTER_HOST_DEVICE static constexpr bool is_shared(int s) {
    int i = 0;
    bool shared = false;
    ((shared = shared || (i++ == s && access<S>::along_r && !access<S>::moves)), ...);
    return shared;
  }
  static constexpr bool has_shared = ((access<S>::along_r && !access<S>::moves) || ...);

  static constexpr bool is_half(int s) {
    constexpr bool all[] = {is_half_of_row<S>..., false};
    return all[s];
  }

  /// Values of f16 stay as they lie in memory: nvcc 13.0 would convert them as soon as they are there.
  static constexpr bool keeps_packed(int s) {
    constexpr bool all[] = {is_half_load<S>..., false};
    return all[s] && is_half(s) && !is_shared(s);
  }

  /// The shift that all accesses have in common; false: there is none.
  template <class Args>
  static bool find(const Args& args, row_shift& shift) {
    return find_shift<width, access<S>...>(args, shift);
  }
};

/// Loads along the row.
template <class Body>
inline constexpr int swept_loads = [] {
  int loads = 0;
  for (int s = 0; s < Body::size; ++s)
    loads += phase_facts<Body>::is_element(s) && phase_facts<Body>::stored_bytes(s) > 0 &&
             phase_facts<Body>::facts::facts.info[s].kind == statement_kind::source;
  return loads;
}();
/// Vectors of a thread whose loads are in flight together: 64 bytes, or 32 values.
template <class Body>
inline constexpr int swept_items = [] {
  const int values = swept_facts<Body>::width * (swept_loads<Body> > 1 ? swept_loads<Body> : 1), items = 32 / values;
  return items > 4 ? 4 : items > 1 ? items : 1;
}();
/// Light arithmetic on what one load brings.
template <class Body>
inline constexpr bool sweeps_one = phase_facts<Body>::is_light && !has_doubles<Body> && swept_loads<Body> <= 1;
/// Is a number all that a thread keeps, too?
template <class Body>
inline constexpr bool sweeps_all = [] {
  int states = 0;
  for (int s = 0; s < Body::size; ++s) states += sinter::detail::split_facts<Body>::bytes[s];
  return sweeps_one<Body> && states <= 4;
}();
/// Elements of the shortest row that is swept; `aligned`: if wide accesses of the usual kind fit, too. Shorter ones are
/// better held, or wait in shared memory: memory leaves values of 16 bits half the time that it leaves others, fast
/// memory less, and a swept row takes the fewest instructions, but waits for itself.
inline constexpr long swept_long = 32768;
template <class Body>
constexpr std::int64_t swept_least(bool aligned, bool fast_memory) {
  constexpr int width = swept_facts<Body>::width;
  if (!sweeps_one<Body> || element_stores<Body> != 0) return aligned && !sweeps_all<Body> ? narrow_limit : swept_long;
  if (!aligned && (width == 8 || width == 4)) {
    if (phase_facts<Body>::finds_place) return 300;  // of a run's neighbours each costs a look at its place
    if (phase_facts<Body>::folds_squares) return width == 4 || fast_memory ? 8000 : 16384;
    if (width == 4) return 641;  // of shorter ones a run has room for four
    return sweeps_all<Body> ? 4096 : fast_memory ? 1000 : 8000;
  }
  if (sweeps_all<Body>) return width == 8 ? 4096 : 16384;
  if (!aligned) return 8192;
  return width == 8 ? 2048 : width == 4 && phase_facts<Body>::folds_squares ? 20480 : swept_long;
}
/// Tiles of a thread, where rows are many: what a row takes besides, 400 instructions in each of its warps, is half of
/// what memory leaves time for where two tiles of 16-bit values are folded.
template <class Body>
inline constexpr int swept_turns = !sweeps_all<Body> && swept_facts<Body>::width == 8 ? 8 : 4;

/// Threads of a block at most, and such blocks that a multiprocessor shall run at once: three where a number is all
/// that a thread keeps, two where tiles are folded, which takes a register for each value, or written.
inline constexpr int swept_block = 512;
template <class Body>
inline constexpr int swept_blocks = [] {
  if (!phase_facts<Body>::is_light || has_doubles<Body>) return 1;
  int states = 0;
  for (int s = 0; s < Body::size; ++s) states += sinter::detail::split_facts<Body>::bytes[s];
  return sweeps_all<Body> && element_stores<Body> == 0 && swept_facts<Body>::width <= 8 ? 3 : states <= 32 ? 2 : 1;
}();

/// Threads of a block of several rows: fewer leave fewer places empty when the last of them run. Of one warp a
/// multiprocessor runs 32 at once.
template <class Body>
inline constexpr int swept_few = swept_blocks<Body>* swept_block <= 32 * 32 ? 32 : 64;

/// Threads of a row at least: a line of memory to each of their loads.
inline constexpr int swept_threads = 8;
/// Elements of a row that lie in no vector, for each thread at most: of the vectors in which it begins and ends, and of
/// one more on either side beside which words of what all rows share may lie outside of that.
template <class Body, int Width>
inline constexpr int swept_ends = ((swept_facts<Body>::has_shared ? 4 : 2) * Width + swept_threads - 1) / swept_threads;

/// How rows of so many vectors, or parts of them, are shared out.
struct swept_shape {
  int threads = 0, rows = 1;  // of a row; rows of a block
  start_rule start = start_rule::overlapping;
};
/// Blocks that can all run at once, on each of 132 multiprocessors as many as the others, are as large as there is room
/// for, `warps` in all, if they take most of it; otherwise of usual size, or of several rows if those have less than
/// `few` threads.
constexpr swept_shape choose_swept(std::int64_t rows, std::int64_t vectors, int items, int turns, int warps, int few) {
  constexpr int multiprocessors = 132, places = 64, usual = 8, long_sweep = 16;
  const std::int64_t together = (rows + multiprocessors - 1) / multiprocessors, room = warps / together;
  const bool fill = room * together * 4 >= 3 * warps;
  const int most = !fill ? usual : room > swept_block / 32 ? swept_block / 32 : static_cast<int>(room);
  const int tile = (fill ? 2 : turns) * items, wanted = threads_for((vectors + tile - 1) / tile),
            wide = wanted < swept_threads ? swept_threads : wanted, threads = wide < 32 * most ? wide : 32 * most;
  const bool takes_long = fill && vectors >= long_sweep * threads;
  return {threads, threads < few ? few / threads : 1, start_of(rows, multiprocessors * (places / most), takes_long)};
}

}  // namespace sinter::cuda::detail
