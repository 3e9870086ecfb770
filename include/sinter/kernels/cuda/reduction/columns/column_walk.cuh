// How a block's threads walk columns of rows that begin anywhere (column_shifted.cuh): how many rows at a time, how
// many blocks to a multiprocessor, when these start, and how they share columns that are walked again.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/reduction/columns/column_shifted.cuh"
#include "sinter/kernels/cuda/reduction/columns/column_twice.cuh"
#include "sinter/kernels/cuda/reduction/columns/column_walked.hpp"
#include "sinter/kernels/cuda/reduction/rows/m2_body.cuh"
#include "sinter/kernels/cuda/start_rule.hpp"

namespace sinter::cuda::detail {

/// A body of one phase, with folds that suit a walk, and sums that are a part of a variance's state.
template <class Body>
using walking_body = typename walked_body<typename m2_body<Body, summed_m2, true>::type>::type;

/// Values of each of its columns that a thread holds while it walks.
template <class Body>
inline constexpr int held_of_column = [] {
  int held = 0;
  for (int s = 0; s < Body::size; ++s)
    held += column_values<Body>::select(s) && body_facts<Body>::facts.info[s].kind == statement_kind::source &&
            body_facts<Body>::facts.info[s].reads_x;
  return held;
}();

/// Registers that a reduction's state takes for each column of a thread, which counts for all of them alike.
template <class S>
inline constexpr int state_words = [] {
  using state = typename reduction_of<S>::state;
  if constexpr (!has_state<S>) return 0;
  else if constexpr (requires(state s) { s.count; }) return static_cast<int>(sizeof(state) - sizeof(state::count)) / 4;
  else return static_cast<int>(sizeof(state) + 3) / 4;
}();

/// Of a body with so many wide loads of Width elements.
template <class Body, int Width, int Loads>
struct column_walk;
template <class... S, int Width, int Loads>
struct column_walk<body<S...>, Width, Loads> {
  using B = body<S...>;
  static constexpr int items = column_items_of<B>(Loads, Width);
  /// Registers of the states.
  static constexpr int words = (0 + ... + state_words<S>)*Width;
  /// Blocks of a multiprocessor, for which there are registers; 1: as many as the assembler finds.
  static constexpr int blocks = [] {
    constexpr bool many = Loads > 1, small = all_state_bytes<B> <= 4, holds = held_of_column<B> != 0;
    constexpr int folds = (0 + ... + (has_state<S> ? 1 : 0));
    if (!phase_facts<B>::is_light || (!small && folds > 1 && words > 20)) return 1;
    if (Width > 8) return 2;                                      // a register for each byte
    if (column_shift_facts<B>::stores) return Width > 4 ? 2 : 3;  // what is stored waits, too
    if (small) return !many ? 4 : holds ? 2 : 3;
    return many || Width >= 8 || (folds > 1 && words > 12) ? 3 : 4;
  }();
};
/// Left to itself the assembler has two of them run at once.
constexpr int column_blocks_at_once(int blocks) { return blocks == 1 ? 2 : blocks; }
/// For `all` blocks, so many to a multiprocessor, of whose threads each takes `rows` rows. Those that fold ahead walk
/// while others would wait. Of three to a multiprocessor even a full wave starts evenly.
template <class Args>
start_rule start_of_columns(std::int64_t all, int blocks, int multiprocessors, std::int64_t rows) {
  const std::int64_t places = std::int64_t(multiprocessors) * blocks;
  if (folds_ahead<Args> || blocks == 1) return start_rule::overlapping;
  return blocks < 4 && all <= places && rows >= 32 ? start_rule::evenly : start_of(all, places, rows >= 32);
}

/// Chunks of so many tiles of rows that `blocks` blocks have done with those of all sets soonest, which they take in
/// turn.
inline int tiles_of_chunk(std::int64_t tiles, std::int64_t sets, std::int64_t blocks) {
  constexpr int most = 32;
  int best = 1;
  std::int64_t least = -1;
  for (int some = 1; some <= most && some <= tiles; ++some) {
    const std::int64_t chunks = (tiles + some - 1) / some * sets;
    const std::int64_t cost = (chunks + blocks - 1) / blocks * (2 * some + 1);  // half a tile, to find the columns
    if (least < 0 || cost < least) best = some, least = cost;
  }
  return best;
}
/// How `blocks` blocks share so many rows of columns that are known, in vectors of `width`, `items` rows at a time.
inline known_share share_known(int width, int items, std::int64_t columns, std::int64_t rows, std::int64_t blocks,
                               unsigned* counter) {
  known_share share;
  share.counter = counter;
  while (share.along < 32 && 2 * share.along * width <= column_block && share.along * width < columns) share.along *= 2;
  const std::int64_t span = share.along * width, sets = (columns + span - 1) / span,
                     tile = items * (column_block / share.along);
  share.sets = static_cast<int>(sets);
  share.chunk = static_cast<int>(tile) * tiles_of_chunk((rows + tile - 1) / tile, sets, blocks);
  share.chunks = static_cast<int>((rows + share.chunk - 1) / share.chunk);
  return share;
}

}  // namespace sinter::cuda::detail
