// Split reductions: into how many parts a long reduced space is cut, and the workspace that the parts' partial states
// need. Constants of the extents alone, never of the machine, so that a plan knows its workspace. How a part is reduced
// and who combines is the CUDA kernels' matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/base/orientation.hpp"
#include "sinter/kernels/body.hpp"
#include "sinter/kernels/channels.hpp"
#include "sinter/kernels/lone_row.hpp"
#include "sinter/kernels/two_pass.hpp"

namespace sinter {

/// What kernels need of a workspace: counters that are at zero before and after each, 4 bytes for each row or set of
/// columns whose parts meet (and what blocks that wait for each other leave there), and the parts' states, of any
/// content. Both are multiples of 16 bytes.
struct workspace_size {
  std::int64_t counters = 0, states = 0;
  constexpr std::int64_t total() const { return counters + states; }
  friend constexpr workspace_size operator+(const workspace_size& a, const workspace_size& b) {
    return {a.counters + b.counters, a.states + b.states};
  }
};

namespace detail {

/// Blocks that run at once, four on each of 132 multiprocessors, and few enough that one combines their states quickly.
inline constexpr std::int64_t split_target_blocks = 528;
/// Row orientation: a part shorter than this is not worth a block; of a body that gathers along the row, whose threads
/// wait for memory twice for every few elements, one element to a thread, unless a block asks for all at once.
inline constexpr std::int64_t split_row_part = 8192;
inline constexpr std::int64_t split_gathered_part = 256;
inline constexpr std::int64_t most_gathered_alone = 2048;
/// Column orientation: blocks that run at once (five on each of 132 multiprocessors), the most columns of 16-byte
/// vectors of elements that one covers, and the shortest part.
inline constexpr std::int64_t split_column_blocks = 640;
inline constexpr std::int64_t split_columns = 256;
inline constexpr std::int64_t split_column_part = 64;
/// Into so many sets, each of at least 32 columns, blocks divide columns.
constexpr std::int64_t most_column_tiles(std::int64_t numel) { return (numel + 31) / 32; }

SINTER_HOST_DEVICE constexpr std::int64_t round_up(std::int64_t n, std::int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

/// Enough for both.
constexpr workspace_size larger(const workspace_size& a, const workspace_size& b) {
  return {a.counters > b.counters ? a.counters : b.counters, a.states > b.states ? a.states : b.states};
}
constexpr workspace_size workspace_of(std::int64_t counters, std::int64_t states) {
  return {round_up(counters * 4, 16), states};
}

/// The bytes of one reduction's state; 0 for any other statement.
template <class S>
inline constexpr int state_bytes = 0;
template <class Op, class T, class Result, int A>
inline constexpr int state_bytes<reduce<Op, T, Result, A>> =
    static_cast<int>(sizeof(typename Op::template state<compute_t<T>>));

template <class Body>
struct split_facts;
template <class... S>
struct split_facts<body<S...>> {
  static constexpr int size = sizeof...(S);
  /// Later phases need the whole result of earlier ones, which no block has before the launch ends.
  static constexpr bool can_split = body_facts<body<S...>>::has_reduction && !body_facts<body<S...>>::has_scan &&
                                    body_facts<body<S...>>::num_phases == 1;
  static constexpr int bytes[size + 1] = {state_bytes<S>..., 0};

  /// Where the partial states of statement s begin (s = size: the size of all): for each reduction num_splits states
  /// per row or column.
  SINTER_HOST_DEVICE static constexpr std::int64_t offset(int s, std::int64_t numel, std::int64_t splits) {
    int i = 0;
    std::int64_t total = 0;
    ((total += i++ < s ? round_up(numel * splits * state_bytes<S>, 16) : 0), ...);
    return total;
  }
};

/// Columns of a body that reduces in its first phase and stores in its second: where rows begin anywhere, blocks may
/// walk all rows, meet, and walk them again.
template <class Body>
inline constexpr bool reads_columns_twice = [] {
  using facts = body_facts<Body>;
  bool twice = facts::has_reduction && !facts::has_scan && facts::num_phases == 2;
  for (int s = 0; s < Body::size; ++s) {
    const auto kind = facts::facts.info[s].kind;
    if (kind == statement_kind::reduce) twice = twice && facts::phase(s) == 0;
    if (kind == statement_kind::store && facts::where(s) == scope::element) twice = twice && facts::phase(s) > 0;
  }
  return twice;
}();

template <class S>
inline constexpr bool gathers_along_row = false;
template <int Slot, class T, class At, int Index, long Coef, long Bound, int Mask>
inline constexpr bool gathers_along_row<gather_load<Slot, T, At, Index, Coef, Bound, Mask>> = true;
/// Does a body gather along the row?
template <class Body>
inline constexpr bool gathers_in_rows = false;
template <class... S>
inline constexpr bool gathers_in_rows<body<S...>> = [] {
  constexpr bool gathers[] = {gathers_along_row<S>..., false};
  for (int s = 0; s < static_cast<int>(sizeof...(S)); ++s)
    if (gathers[s] && body_facts<body<S...>>::where(s) == scope::element) return true;
  return false;
}();

/// Bytes that a row's loads move per element.
template <class S>
inline constexpr int row_load_bytes = 0;
template <int Slot, class T, class At>
inline constexpr int row_load_bytes<load<Slot, T, At, -1>> =
    at_facts<At>::uses(loop_var::r) && at_facts<At>::uses(loop_var::x) ? static_cast<int>(sizeof(T)) : 0;

/// Rows that several blocks share: a counter for each, and the parts' states for each reduction, in words of eight
/// bytes with a mark each, which are at zero as counters are.
template <class Body>
struct shared_row_facts;
template <class... S>
struct shared_row_facts<body<S...>> {
  static constexpr int size = sizeof...(S);
  static constexpr int row_bytes = (row_load_bytes<S> + ... + 0);
  /// Words of a part's states of the reductions before statement s (s = size: of all).
  SINTER_HOST_DEVICE static constexpr int words_before(int s) {
    int i = 0, total = 0;
    ((total += i++ < s ? (state_bytes<S> + 3) / 4 : 0), ...);
    return total;
  }
  /// In counters: where the words of the first row are.
  SINTER_HOST_DEVICE static constexpr std::int64_t first_word(std::int64_t numel) { return round_up(numel, 2); }
  static constexpr std::int64_t counters(std::int64_t numel, std::int64_t parts) {
    return first_word(numel) + 2 * numel * parts * words_before(size);
  }
};
/// Bytes of a row that one block holds in shared memory.
inline constexpr std::int64_t most_held_bytes = 192 << 10;
/// The most blocks that share one of so many rows of a body of several phases. Rows that a block holds, if they are
/// enough for the multiprocessors of a GPU, are not shared.
constexpr std::int64_t most_parts(std::int64_t numel, std::int64_t rnumel, int row_bytes) {
  constexpr std::int64_t enough = 128, most = 512;
  if (row_bytes == 0 || (numel >= enough && rnumel * row_bytes <= most_held_bytes)) return 1;
  const std::int64_t parts = rnumel / split_row_part;
  return parts < 1 ? 1 : parts < most ? parts : most;
}

/// Rows so long that a block has one at a time, and so many that blocks take them in turn: by a counter.
constexpr bool is_alone(std::int64_t rnumel, int row_bytes) { return rnumel * row_bytes >= 64 << 10; }
constexpr bool takes_turns(std::int64_t numel, std::int64_t rnumel, int row_bytes) {
  return is_alone(rnumel, row_bytes) && numel >= 256;
}

/// Columns of a body of several phases: blocks form teams, each of which takes one set of columns after another. A
/// block has some rows of the set, few enough that they wait on the chip from phase to phase.
struct column_teams {
  std::int64_t tiles = 0;    // sets of columns
  int parts = 1, teams = 1;  // blocks of a team
};
/// Blocks that run at once, two on each of 132 multiprocessors, and bytes of rows that each has room for, in 227 KB of
/// shared memory for both.
inline constexpr int team_blocks = 264;
inline constexpr std::int64_t team_bytes = 96 << 10;
/// What a meeting of a team takes, in rows.
inline constexpr std::int64_t team_meeting = 256;
/// The shortest part, in rows.
inline constexpr std::int64_t team_part = 32;
/// Sets are `span` columns at most. Blocks beyond what the rows need make parts shorter where sets are few.
constexpr column_teams choose_column_teams(std::int64_t numel, std::int64_t rnumel, int span, int row_bytes) {
  column_teams best{(numel + span - 1) / span};
  const std::int64_t held = (rnumel * span * row_bytes + team_bytes - 1) / team_bytes;
  std::int64_t most = held <= 1 ? team_blocks : held < team_blocks ? team_blocks / held : 1, least = -1;
  if (most > best.tiles) most = best.tiles;
  for (std::int64_t teams = most; teams > 0 && 2 * teams >= most; --teams) {
    const std::int64_t possible = rnumel / team_part, all = team_blocks / teams;
    const std::int64_t parts = possible < 1 ? 1 : all < possible ? all : possible;
    const std::int64_t cost = (best.tiles + teams - 1) / teams * ((rnumel + parts - 1) / parts + team_meeting);
    if (least >= 0 && cost >= least) continue;
    least = cost, best.teams = static_cast<int>(teams), best.parts = static_cast<int>(parts);
  }
  return best;
}

}  // namespace detail

/// Into how many parts the reduced space is cut when the body allows it; 1 is no split. Of columns: at most.
/// least_row_part: of row orientation.
constexpr std::int64_t num_splits(orientation o, std::int64_t numel, std::int64_t rnumel,
                                  std::int64_t least_row_part = detail::split_row_part) {
  using namespace detail;
  if (numel <= 0) return 1;
  const std::int64_t tiles = o == orientation::row ? numel : (numel + split_columns - 1) / split_columns;
  const std::int64_t part = o == orientation::row ? least_row_part : split_column_part;
  const std::int64_t blocks = o == orientation::row ? split_target_blocks : split_column_blocks;
  const std::int64_t wanted = blocks / tiles, possible = rnumel / part;
  const std::int64_t splits = wanted < possible ? wanted : possible;
  return splits < 2 ? 1 : splits;
}

namespace detail {
/// The parts of a row of this body.
template <class Body>
constexpr std::int64_t row_splits(std::int64_t numel, std::int64_t rnumel) {
  constexpr bool gathers = gathers_in_rows<Body>;
  if (!split_facts<Body>::can_split || (gathers && rnumel <= most_gathered_alone)) return 1;
  return num_splits(orientation::row, numel, rnumel, gathers ? split_gathered_part : split_row_part);
}

/// Into how many parts the images are cut at most of which each of numel channels has `rnumel` pixels in all. Images
/// that are larger than a block's columns are in pieces, and those that begin in vectors differently apart.
template <class Body>
constexpr std::int64_t channel_splits(std::int64_t numel, std::int64_t rnumel) {
  constexpr std::int64_t most_columns = 2048, least_columns = 240, least_part = 4;
  constexpr long known = pixels_of_body<Body>, pixels = is_dynamic(known) ? 1 : known;
  constexpr bool large = pixels > most_columns;
  constexpr std::int64_t pieces = large ? (pixels + least_columns - 1) / least_columns : 1, most = large ? 1024 : 128;
  if (numel <= 0) return 1;
  const std::int64_t images = rnumel / pixels / least_part, possible = (large && images < 1 ? 1 : images) * pieces;
  const std::int64_t sets = large ? numel : (numel * pixels + most_columns - 1) / most_columns,
                     shared = split_column_blocks / sets, wanted = shared > pieces ? shared : pieces;
  const std::int64_t splits = wanted < possible ? wanted : possible;
  return splits < 2 ? 1 : splits < most ? splits : most;
}

/// May blocks walk all images twice, of so many pixels in all? Of fewer a cluster holds a channel.
template <class Body>
constexpr bool walks_channels_twice(std::int64_t rnumel) {
  return channel_facts<Body>::has_phases && reads_columns_twice<Body> && rnumel >= 2 * split_row_part;
}

/// Reductions whose rows several blocks may share although the body has several phases.
template <class Body, orientation O>
constexpr bool shares_rows() {
  using facts = body_facts<Body>;
  return O == orientation::row && facts::has_reduction && !facts::has_scan && !split_facts<Body>::can_split;
}

/// Columns that teams of blocks share because the body has several phases: how many, at most, in a set. They are 128
/// bytes of a row, so that memory gives whole lines, and 64 at most; fewer where a block's states take too much room.
template <class Body>
struct shared_column_facts;
template <class... S>
struct shared_column_facts<body<S...>> : split_facts<body<S...>> {
  static constexpr bool possible =
      body_facts<body<S...>>::has_reduction && !body_facts<body<S...>>::has_scan && !split_facts<body<S...>>::can_split;
  static constexpr int row_bytes = shared_row_facts<body<S...>>::row_bytes;
  static constexpr int states = (state_bytes<S> + ... + 0);
  static constexpr int span = [] {
    int smallest = 8;
    ((smallest = row_load_bytes<S> > 0 && row_load_bytes<S> < smallest ? row_load_bytes<S> : smallest), ...);
    int columns = smallest < 2 ? 64 : 128 / smallest;
    while (columns > 1 && columns * states > 2048) columns /= 2;
    return columns;
  }();
  static constexpr column_teams choose(std::int64_t numel, std::int64_t rnumel) {
    return choose_column_teams(numel, rnumel, span, row_bytes);
  }
  /// Do all blocks hold a set at once?
  static constexpr bool holds(std::int64_t rnumel) { return rnumel * span * row_bytes <= team_blocks * team_bytes; }
  /// Is it more than all blocks hold at once?
  static constexpr bool takes_turns(std::int64_t numel, std::int64_t rnumel) {
    return numel * rnumel * row_bytes > team_blocks * team_bytes;
  }
  /// One for each set and phase.
  static constexpr std::int64_t counters(std::int64_t sets) { return sets * body_facts<body<S...>>::num_phases; }
};

}  // namespace detail

/// What parts need whose states the last one combines.
template <class Body, orientation O>
constexpr workspace_size split_workspace(std::int64_t numel, std::int64_t rnumel) {
  using facts = detail::split_facts<Body>;
  workspace_size size;
  if constexpr (facts::can_split) {
    const bool is_row = O == orientation::row || numel == 1;  // a column by itself may be reduced as a row
    const std::int64_t of_row = is_row ? detail::row_splits<Body>(numel, rnumel) : 1,
                       of_column = O == orientation::column ? num_splits(O, numel, rnumel) : 1;
    if (of_row > 1) size = detail::workspace_of(detail::shared_row_facts<Body>::counters(numel, of_row), 0);
    if (of_column > 1)
      size = detail::larger(
          size, detail::workspace_of(detail::most_column_tiles(numel), facts::offset(facts::size, numel, of_column)));
  }
  return size;
}

namespace detail {
/// What parts of the images need: a counter for each set of channels, at most, and the parts' states.
template <class Body>
constexpr workspace_size channel_workspace(std::int64_t numel, std::int64_t rnumel) {
  using facts = split_facts<Body>;
  const std::int64_t splits = channel_splits<Body>(numel, rnumel);
  return splits > 1 ? workspace_of(numel, facts::offset(facts::size, numel, splits)) : workspace_size{};
}
/// The same for blocks that walk all images twice, and meet between.
template <class Body>
constexpr workspace_size channel_twice_workspace(std::int64_t numel, std::int64_t rnumel) {
  using facts = split_facts<Body>;
  if constexpr (!channel_facts<Body>::has_phases) return {};
  else if (!walks_channels_twice<Body>(rnumel)) return {};
  else
    return workspace_of(numel + 1, facts::offset(facts::size, numel, channel_splits<Body>(numel, rnumel)) +
                                       facts::offset(facts::size, numel, 1));
}
/// What blocks need that walk all rows twice: states of parts, and of whole columns; counters of the sets whose parts
/// meet, and one where all blocks do.
template <class Body>
constexpr workspace_size twice_workspace(std::int64_t numel, std::int64_t rnumel) {
  using facts = split_facts<Body>;
  const std::int64_t parts = num_splits(orientation::column, numel, rnumel);
  return workspace_of(most_column_tiles(numel) + 1,
                      facts::offset(facts::size, numel, parts) + facts::offset(facts::size, numel, 1));
}
}  // namespace detail

/// What cuda::reduction<Body, O> needs.
template <class Body, orientation O>
constexpr workspace_size reduction_workspace(std::int64_t numel, std::int64_t rnumel) {
  if constexpr (detail::split_facts<Body>::can_split) {
    const workspace_size size = split_workspace<Body, O>(numel, rnumel);
    if constexpr (O == orientation::row && detail::channel_facts<Body>::folds)
      return detail::larger(size, detail::channel_workspace<Body>(numel, rnumel));
    return size;
  } else if constexpr (detail::shares_rows<Body, O>()) {
    using rows = typename detail::lone_row<Body>::type;
    using shared = detail::shared_row_facts<typename detail::streamed_body<rows, -1>::type>;
    const std::int64_t parts = detail::most_parts(numel, rnumel, shared::row_bytes);
    workspace_size size;
    // Rows may be walked as they are, too.
    if (parts > 1)
      size = detail::larger(detail::workspace_of(shared::counters(numel, parts), 0),
                            detail::workspace_of(detail::shared_row_facts<rows>::counters(numel, parts), 0));
    else if (detail::takes_turns(numel, rnumel, shared::row_bytes)) size = detail::workspace_of(1, 0);
    return detail::larger(size, detail::channel_twice_workspace<Body>(numel, rnumel));
  } else if constexpr (O == orientation::column) {
    using shared = detail::shared_column_facts<Body>;
    if constexpr (shared::possible) {
      const detail::column_teams shape = shared::choose(numel, rnumel);
      workspace_size size;
      if (shape.parts > 1)
        size = detail::workspace_of(shared::counters(shape.tiles), shared::offset(shared::size, numel, shape.parts));
      if (detail::reads_columns_twice<Body> && shared::takes_turns(numel, rnumel))
        size = detail::larger(size, detail::twice_workspace<Body>(numel, rnumel));
      return size;
    }
  }
  return {};
}

}  // namespace sinter
