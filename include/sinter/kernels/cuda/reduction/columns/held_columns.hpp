// Short columns of several phases that the registers of one block hold: how many rows a thread has, how many threads a
// block. Constants where the extents are static, the same functions called at launch where they are not.
// No CUDA header is needed here. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/choose.hpp"

namespace sinter::cuda::detail {

/// A block of so many threads, 2^log_along of which are side by side along a row. No threads: no block holds so much.
struct held_columns {
  int num_threads = 0, log_along_row = 0;
  SINTER_HOST_DEVICE constexpr int threads() const { return num_threads; }
  SINTER_HOST_DEVICE constexpr int log_along() const { return log_along_row; }
};
template <int Threads, int LogAlong>
struct fixed_held_columns {
  SINTER_HOST_DEVICE static constexpr int threads() { return Threads; }
  SINTER_HOST_DEVICE static constexpr int log_along() { return LogAlong; }
};

/// Threads of a block at most, two of which a multiprocessor runs, so that one loads while another stores. Each has 64
/// registers; some more where only the launch knows how many rows there are or how far they are apart.
inline constexpr int held_column_block = 512, loose_column_block = 384;

/// Columns of a set at most, where a thread has some rows of them.
inline constexpr int most_held_columns = 256;

/// Where each has whole columns, and none waits for a neighbour; smaller ones begin too often.
inline constexpr int log_whole_columns = 8, whole_column_block = 1 << log_whole_columns;

/// Threads with `items` rows each for columns of rnumel rows. Side by side along a row 2^log_along threads or, where
/// the rows are too many for that, fewer, but 2^least_log.
constexpr held_columns hold_columns(std::int64_t rnumel, int items, int log_along, int least_log, int most_threads) {
  const std::int64_t rows = (rnumel + items - 1) / items;
  if (rows == 1 && most_threads >= whole_column_block) return {whole_column_block, log_whole_columns};
  for (int log = log_along; rows > 0 && log >= 0 && log >= least_log; --log) {
    const std::int64_t threads = sinter::detail::round_up(rows << log, log > 5 ? 1 << log : 32);
    if (threads <= most_threads) return {static_cast<int>(threads), log};
  }
  return {};
}

/// Sets of columns from which on blocks that take one each keep all multiprocessors busy; of fewer, several blocks
/// share the rows.
constexpr bool fills_device(std::int64_t sets, int multiprocessors) { return sets >= 2 * multiprocessors; }

template <class Body>
inline constexpr bool loads_halves = false;
template <class... S>
inline constexpr bool loads_halves<body<S...>> = (is_half_load<S> || ...);

/// What a thread holds in vectors of Width columns of a held body, of a static number of rows if KnownRows.
template <class Body, int Width, bool KnownRows>
struct held_column_facts {
  using phases = phase_facts<Body>;
  using facts = body_facts<Body>;
  using shared = sinter::detail::shared_column_facts<Body>;
  static constexpr int size = Body::size;

  /// Are addresses a constant apart?
  static constexpr bool is_regular = [] {
    bool regular = true;
    const auto& touches = access_facts<Body>::template along<loop_var::r, 1>.touches;
    for (int s = 0; s < size; ++s)
      regular = regular && (touches[s].bytes == 0 || touches[s].where.kind != access::irregular);
    return regular;
  }();
  /// And is it known which rows there are?
  static constexpr bool is_known = KnownRows && is_regular;

  /// Bytes of the states of so many columns in one phase, in multiples of 4.
  static constexpr int state_bytes(int columns) {
    int most = 0;
    for (int p = 0; p < facts::num_phases; ++p) {
      int all = 0;
      for (int s = 0; s < size; ++s)
        if (phases::is_reduce(s) && facts::phase(s) == p)
          all += static_cast<int>(sinter::detail::round_up(shared::bytes[s] * columns, 4));
      if (all > most) most = all;
    }
    return most;
  }
  /// Values of a column that elements need, and its states in one phase, in words.
  static constexpr int column_words = [] {
    int words = 0;
    for (int s = 0; s < size; ++s) {
      const auto& info = facts::facts.info[s];
      const bool varies = info.kind == statement_kind::reduce || info.kind == statement_kind::compute || info.reads_x;
      bool used = false;
      for (int user = s + 1; user < size; ++user)
        for (int operand : facts::facts.info[user].operands)
          used = used || (operand == s && (phases::is_element(user) || phases::is_reduce(user)));
      if (!phases::is_element(s) && varies && used) words += has_doubles<Body> ? 2 : 1;
    }
    return words + state_bytes(1) / 4;
  }();
  static constexpr int kept_bytes = phases::kept_bytes < 4 && !phases::recomputes ? 4 : phases::kept_bytes;
  /// Bytes of registers per row that wait at once: held, with what comes later beside it, or just read. All columns of
  /// a row share what does not depend on them.
  static constexpr int row_bytes = [] {
    int waiting = Width * kept_bytes;
    for (int s = 0; s < size; ++s) {
      const auto& info = facts::facts.info[s];
      if (info.kind != statement_kind::source || !phases::is_element(s) || phases::first(s) == 0) continue;
      const int stored = phases::stored_bytes(s);
      const bool whole = !phases::packs(s) && (Width == 1 || !info.reads_x || loads_halves<Body>);
      const int bytes = whole && stored < 4 ? 4 : stored;
      waiting += info.reads_x ? Width * bytes : bytes;
    }
    return waiting > Width * phases::read_bytes ? waiting : Width * phases::read_bytes;
  }();
  /// Rows of a thread, of at most 128 bytes and 32 loads, for which so many registers have room. The functions of
  /// doubles take many.
  static constexpr int items_in(int registers) {
    int items = Width == 1 && !is_known ? many_singles : 32;
    while (items > 1 && (items * row_bytes > (has_doubles<Body> ? 64 : 128) ||
                         items * row_bytes / 4 + Width * column_words > registers))
      items /= 2;
    return items;
  }
  static constexpr bool has_large_states = [] {
    for (int bytes : shared::bytes)
      if (bytes > 4) return true;
    return false;
  }();
  /// Of 64 registers, or of 128 where those are too few, or nobody knows how many the arithmetic takes; the others are
  /// for addresses and what is being computed. To unpack takes more, of f16 or beside addresses.
  static constexpr int few = loads_halves<Body> && !is_regular                     ? 36
                             : !is_known && (loads_halves<Body> || kept_bytes < 4) ? 40
                             : loads_halves<Body>                                  ? 44
                                                                                   : 48,
                       many = 80;
  /// Where addresses are known, nvcc 13.0 unpacks all pairs at once, and f16 beside a column's divisions.
  static constexpr bool unpacks_at_once =
      is_known && kept_bytes < 4 &&
      ((Width == 2 && items_in(few) == 32) || (loads_halves<Body> && phases::row_steps > 0));
  static constexpr bool is_small = phases::is_light_beside_row && kept_bytes <= 4 && !has_doubles<Body> &&
                                   !has_large_states && !unpacks_at_once && items_in(few) * Width >= few_lanes;
  static constexpr int items = items_in(is_small ? few : many);

  /// Warps whose states of so many columns, of one phase, have room in 48 KB, twice.
  static constexpr int warps_for(int columns) { return (24 << 10) / (state_bytes(columns) + 128); }
  /// Threads side by side along a line of memory; and along so many columns that few sectors of a row are shared with
  /// other blocks, each of which would write a part, if their states have room.
  static constexpr int log_line = [] {
    int log = 0;
    while ((2 * Width << log) <= shared::span) ++log;
    return log;
  }();
  static constexpr int log_along = [] {
    int log = log_line;
    while ((2 * Width << log) <= most_held_columns && 32 * warps_for(2 * Width << log) >= held_column_block) ++log;
    return log;
  }();
  /// Columns of a set at most.
  static constexpr int columns = Width << log_along;
  /// Is something gained, and have a block's states room?
  static constexpr bool possible = shared::possible && phases::kept_bytes > 0 && items > 1 && Width <= shared::span;
  /// Threads of a block at most; and of all blocks that a multiprocessor shall run at once.
  static constexpr int most_warps = warps_for(columns),
                       roomy_block = is_known || !is_small ? held_column_block : loose_column_block,
                       most_threads = 32 * most_warps < roomy_block ? 32 * most_warps : roomy_block,
                       resident = is_small ? 2 * roomy_block : roomy_block;
  /// Does one thread hold all rows of its columns?
  static constexpr bool holds_whole(std::int64_t rnumel) {
    return possible && rnumel <= items && most_threads >= whole_column_block;
  }
  /// Does a block hold a static number of rows of so many columns that few sectors are shared with other blocks?
  static constexpr bool holds_wide(std::int64_t rnumel) {
    constexpr int least = 64;
    const held_columns shape = choose(rnumel, log_along);
    return is_known && possible && shape.threads() > 0 && Width << shape.log_along() >= least;
  }
  /// `log`: of threads side by side, at most.
  static constexpr held_columns choose(std::int64_t rnumel, int log) {
    return hold_columns(rnumel, items, log, log_line - 1, most_threads);
  }
};

}  // namespace sinter::cuda::detail
