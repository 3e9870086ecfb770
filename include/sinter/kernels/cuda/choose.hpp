// Which reduction kernel runs: how many threads share a row, how much of it each holds, whether the row stays in
// registers. Constants where the extents are static, the same functions called at launch where they are not.
// Whether and how a reduced space is split is split.hpp's matter. No CUDA header is needed here.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/phase_facts.hpp"
#include "sinter/kernels/split.hpp"

namespace sinter::cuda::detail {

/// Linear indices below this are walked in 32 bits: a tile past the last position must not wrap.
inline constexpr std::int64_t narrow_limit = (std::int64_t(1) << 31) - (1 << 16);

/// The same of rows that are streamed: with every block's tiles past the end.
inline constexpr std::int64_t streamed_limit = std::int64_t(1) << 30;

/// Loads of single elements in flight for which 64 registers have room, with their addresses.
inline constexpr int many_singles = 16;

/// Groups of `width` neighbours per thread of the looped kernel: of those wanted, as many as such loads allow.
template <class Body>
constexpr int loop_items(int wanted, int width) {
  const int singles = width > 1 ? phase_facts<Body>::single_loads(loop_var::r, width) : 0;
  while (wanted > 1 && wanted * singles > many_singles) wanted /= 2;
  return wanted;
}

struct row_shape {
  bool persistent = false;  // the row's values stay in registers from phase to phase
  int threads = 0;          // per row and block: a power of two up to 32, or a multiple of 32
  int rows = 1;             // per block
  int items = 1;            // groups of `width` neighbours per thread and tile
  constexpr int block() const { return threads * rows; }
};

constexpr int threads_for(std::int64_t groups) {
  if (groups > 32) return static_cast<int>(sinter::detail::round_up(groups, 32));
  int threads = 1;
  while (threads < groups) threads *= 2;
  return threads;
}

/// Threads of a block when rows are short: enough warps to fill an SM, few enough to end together.
inline constexpr int row_block = 128;

/// Is so much computed of every value, of which nothing is stored, that what a row takes besides counts more than how
/// many threads wait?
template <class Body>
inline constexpr bool folds_long = phase_facts<Body>::long_steps > 1 && element_stores<Body> == 0 && !has_doubles<Body>;
/// Values of a row that one thread holds: with few the compiler has room to spare; most fill half of the 64 registers
/// that a thread of 1024 has, of which weights want their part. `first`: what is tried first of 16-bit values. kept,
/// late: bytes per value, of phase_facts; singles: operands of which every value is a load of its own; long_ones: of
/// folds_long.
inline constexpr int few_lanes = 16;
/// Does a thread that holds so many values compute in every phase what it needs of them?
template <class Body>
constexpr bool computes_anew(int lanes) {
  return phase_facts<Body>::recomputes && (lanes > few_lanes || !phase_facts<Body>::reads_halves);
}
struct held_lanes {
  int few, some, most, kept, first;
};
constexpr held_lanes lanes_of_row(int kept, int late, int singles, bool long_ones) {
  int most = late > 4 ? 32 : 64;
  const int room = kept <= 4 ? 128 : long_ones ? few_lanes * kept : 64;
  while (most > 4 && (most * (kept < 2 ? 4 : kept) > room || most * singles > many_singles)) most /= 2;
  const int few = most < few_lanes ? most : few_lanes;
  return {few, most < 32 ? most : 32, most, kept, few};
}
template <class Body>
inline constexpr held_lanes lanes_of_body = [] {
  using phases = phase_facts<Body>;
  held_lanes lanes = lanes_of_row(phases::held_bytes, phases::late_at_once, phases::single_loads(loop_var::r, 2) / 2,
                                  folds_long<Body>);
  // Blocks that only read end sooner than new ones begin, unless they are of 64 bytes per thread; and weights are
  // waited for by fewer threads with more of the row.
  if (phases::read_bytes < 4 && (element_stores<Body> == 0 || phases::late_bytes > 2)) lanes.first = lanes.some;
  return lanes;
}();
/// The same for rows that are shifted: wherever they begin, they are read wide.
template <class Body>
inline constexpr held_lanes lanes_of_shifted = lanes_of_row(phase_facts<Body>::kept_bytes,
                                                            phase_facts<Body>::late_bytes, 0, folds_long<Body>);
/// What decides how many registers a thread takes that holds a row. kept, unpacked, late: bytes per value, of
/// phase_facts, as company is; loose: not all of its groups lie within every row; computes: row values are made of row
/// values while it holds the row.
struct held_needs {
  int kept = 0, unpacked = kept < 4 ? 4 : kept, late = 0, company = 0;
  bool computes = false, loose = false, shifted = false;
};
template <class Body>
inline constexpr held_needs needs_of_body{.kept = phase_facts<Body>::held_bytes,
                                          .unpacked = phase_facts<Body>::unpacked_bytes,
                                          .late = phase_facts<Body>::late_at_once,
                                          .company = phase_facts<Body>::late_company,
                                          .computes = phase_facts<Body>::row_steps > 3};
/// Registers of a thread that holds so many values.
constexpr int held_registers(int block, int lanes, const held_needs& needs) {
  const bool packed = lanes > few_lanes && needs.kept < 4;
  const int held = lanes > few_lanes ? needs.kept : needs.unpacked;
  const bool roomy = block < 512 && !packed && !needs.computes && held <= 4;
  // Arithmetic of eight bytes takes pairs of registers, and calls functions; the ends of rows take some.
  const int others = (needs.kept > 4  ? 48
                      : needs.shifted ? 32
                      : needs.loose   ? 28
                      : roomy         ? 16
                                      : 24) +
                     8 * needs.company;
  const int wanted = static_cast<int>(sinter::detail::round_up(others + lanes * held / 4 + lanes * needs.late / 8, 8));
  const int least = needs.shifted ? 48 : 32;
  return wanted < least ? least : wanted;
}
inline constexpr int all_registers = 65536;  // of a multiprocessor, whose four parts share a block's warps
/// Blocks that a multiprocessor, of 2048 threads, shall run at once of threads that hold so much.
constexpr int least_blocks(int block, int lanes, const held_needs& needs) {
  const int threads = static_cast<int>(sinter::detail::round_up(block, 128));
  const int blocks = all_registers / held_registers(block, lanes, needs) / threads;
  return block < 256 || blocks < 1 ? 1 : blocks;
}

/// Threads of a block that walks a row. One phase: more blocks hide the latency better. Several: the rows that are
/// being walked have to stay in the L2 until their last phase, so as few as fill an SM.
constexpr int looped_block(bool can_split) { return can_split ? 256 : 1024; }

/// once: the row is read in one phase, and nothing of it is stored. Then a block takes two rows of 96 threads, and six
/// kilobytes of rows of a warp, for a multiprocessor cannot begin as many blocks as its memory has rows for; in several
/// phases these would wait for each other.
constexpr row_shape row_of(std::int64_t groups, int items, bool once = false) {
  const int threads = threads_for((groups + items - 1) / items), least = once && threads == 32 ? 384 : 0;  // groups
  int rows = (row_block + (once ? threads - 1 : 0)) / threads;
  while (rows * groups < least && rows * threads < 512) rows *= 2;
  return {true, threads, rows > 1 ? rows : 1, items};
}
constexpr int items_of(int lanes, int width) { return lanes > width ? lanes / width : 1; }
/// Items that lie within every row of so many groups.
constexpr int full_items(std::int64_t groups, int threads, int items) {
  return groups / threads < items ? static_cast<int>(groups / threads) : items;
}

/// Loads of row values for the first phase.
template <class Body>
inline constexpr int row_inputs = [] {
  using phases = phase_facts<Body>;
  int inputs = 0;
  for (int s = 0; s < phases::size; ++s)
    inputs += phases::is_element(s) && phases::stored_bytes(s) > 0 && phases::first(s) == 0 &&
              phases::facts::facts.info[s].kind == statement_kind::source;
  return inputs;
}();
/// Does a thread hold 32 values of four bytes of one input, or as many as those take as they lie in memory, in 64
/// registers? Where it stores none of them, heavier arithmetic of row values has room, too; where it chooses between
/// them, conditions take registers, and where bytes are folded beside something else, their conversions do.
template <class Body>
inline constexpr bool holds_many =
    !phase_facts<Body>::selects &&
    (phase_facts<Body>::is_light ||
     (phase_facts<Body>::is_light_beside_row && (element_stores<Body> == 0 || computes_anew<Body>(0)))) &&
    (phase_facts<Body>::widest_load != 1 || phase_facts<Body>::late_company == 0) &&
    phase_facts<Body>::held_bytes <= 4 && phase_facts<Body>::late_bytes <= 8 && row_inputs<Body> <= 1;
/// How rows of run-time length are held: by up to four threads with two groups each, if there are several phases, or up
/// to `threads` with `few` or `many`. All have full_of(items) groups at least, so that only the others are asked for
/// one by one.
template <class Body, int Width>
struct dynamic_rows {
  using phases = phase_facts<Body>;
  static constexpr bool stores_of_rows = [] {
    for (int s = 0; s < phases::size; ++s)
      if (phases::is_row(s) && phases::facts::facts.info[s].kind == statement_kind::store) return true;
    return false;
  }();
  // 64 values of 16 bits, and two weights of as many, but then no other register.
  static constexpr bool packs =
      Width <= 8 && holds_many<Body> && phases::held_bytes < 4 && phases::late_bytes <= (stores_of_rows ? 2 : 4);
  static constexpr int threads = folds_long<Body> && phases::held_bytes > 4      ? 256
                                 : holds_many<Body>&& phases::is_light && !packs ? 1024
                                                                                 : 512;
  static constexpr held_lanes lanes = lanes_of_body<Body>;
  static constexpr bool once = phases::phases == 1;
  static constexpr bool several = row_inputs<Body> > 1;  // of which a thread waits for as much in fewer groups
  static constexpr int few = items_of(several ? lanes.few : lanes.some, Width),
                       many = items_of(packs ? 2 * lanes.some : lanes.some, Width);
  static constexpr int full_of(int items) { return items < 8 ? items / 2 : 4; }
  // Few threads ask for 64 bytes of a row at once, so that each line is asked for again and again.
  static constexpr int short_items = few < 2 ? few : 2, short_groups = few < 16 ? 4 * few : 64;
  /// Places for the groups of a row, of which every thread has as many.
  static constexpr std::int64_t places(std::int64_t groups, int items) {
    const std::int64_t own = row_of(groups, items).threads;
    return (groups + own - 1) / own * own;
  }
  /// Fewer threads leave fewer places for groups empty: of one input that counts where eight threads or more are left,
  /// of several where a warp is enough and a fifth is saved, but none if folds take long, of one phase where more
  /// threads would not fill a warp or a tenth is saved.
  static constexpr bool takes_few(std::int64_t groups) {
    if (once) return few == many || (groups > 16 * few && 10 * places(groups, many) > 9 * places(groups, few));
    if (!several) return few == many || groups <= 8 * few;
    if (folds_long<Body> && groups <= threads * few) return few == many;
    return groups > 32 * many || 5 * places(groups, many) > 4 * places(groups, few);
  }
};

/// The shape for a row of rnumel elements, read `width` at a time; kept, late: of phase_facts.
constexpr row_shape choose_row(std::int64_t rnumel, int width, held_lanes lanes, bool can_split) {
  const int few = items_of(lanes.few, width), some = items_of(lanes.some, width), most = items_of(lanes.most, width),
            first = items_of(lanes.first, width);
  const std::int64_t groups = (rnumel + width - 1) / width;
  const bool splits = can_split && num_splits(orientation::row, 1, rnumel) > 1;  // then the kernel that can is needed
  if (groups > 0 && !splits && rnumel < narrow_limit) {
    struct {
      int items, threads;
    } const packed[] = {{first, 32}, {some, 32}, {first, 512}, {some, 512}, {most, 512}, {most, 1024}},
            // Of wider values few to a thread: the registers that are left let more threads run at once.
        whole[] = {{few, 32}, {few, 512}, {few, 1024}, {most, 512}, {most, 512}, {most, 1024}};
    const auto& candidates = lanes.most > 32 || lanes.kept < 4 ? packed : whole;
    row_shape best;
    for (const auto& c : candidates) {
      if ((groups + c.items - 1) / c.items > c.threads) continue;
      row_shape shape = row_of(groups, c.items, can_split);
      // What asks for its last groups by itself takes registers, and blocks: a thread then has more of them.
      if (&candidates == &packed && c.threads > 32 && c.items < some && groups % shape.threads != 0) continue;
      shape.items = static_cast<int>((groups + shape.threads - 1) / shape.threads);  // what powers of two left over
      if (&candidates == &whole) return shape;
      // Then others only if they leave fewer places empty, by a tenth: a warp takes as long for one group as for all.
      const bool fuller = 10 * shape.threads * shape.items < 9 * best.threads * best.items && shape.threads >= 8;
      if (!best.persistent || fuller) best = shape;
    }
    if (best.persistent) return best;
  }
  return {false, looped_block(can_split), 1, can_split ? few : 4};
}

/// How rows are shared out that blocks go through one after another: a team of `parts` blocks takes a row, each of them
/// `tiles` tiles of it.
struct team_shape {
  int tiles = 1, parts = 1, teams = 1;
  bool cluster = false;  // they tell each other their states beside memory
  std::int64_t cost = 0;

  /// Tiles that a warp sends for at once, where it holds `slots` of them: many, as long as at most a seventh of the
  /// places is left over and what stays in them is no more than before.
  constexpr int piece(int slots) const {
    const auto suits = [&](int n) {
      const int places = slots / n;
      return n <= tiles && places * n * 7 >= slots * 6 && (tiles > slots || (tiles % n == 0 && tiles / n <= places));
    };
    return suits(4) ? 4 : suits(2) ? 2 : 1;
  }
};
/// For rows of `total` tiles and `blocks` blocks that hold `slots` of them; clusters_of(parts): how many clusters of so
/// many blocks run at once, if any; exchanges: how often blocks tell each other their states for a row. Least is what a
/// team's rows take, in 48ths of the time in which a multiprocessor moves a tile if all are busy. Its threads need as
/// long for a tile; an exchange takes that time in a cluster, and twice that through memory. Of what a row moves and
/// what threads do the longer counts, and a quarter of the other; and an eighth of what does not arrive while they are
/// with the row before. Tiles that a block does not hold are moved again after each exchange, but not stored; all of
/// such a row counts as late, twice if there are more turns. (Measured: of 153 cases the best was 1 % faster.)
template <class ClustersOf>
constexpr team_shape choose_teams(std::int64_t numel, std::int64_t total, int slots, int exchanges, int most_parts,
                                  int blocks, const ClustersOf& clusters_of) {
  const int most = most_parts < blocks ? most_parts : blocks;
  const auto share_out = [&](std::int64_t tiles, bool cluster) {
    team_shape shape{static_cast<int>(tiles), static_cast<int>((total + tiles - 1) / tiles)};
    shape.cluster = cluster && clusters_of(shape.parts) > 0;
    const int teams = shape.cluster ? clusters_of(shape.parts) : blocks / shape.parts;
    shape.teams = static_cast<int>(numel < teams ? numel : teams);
    const int move = shape.teams * shape.parts * 48 / blocks;  // a tile takes less while others are idle
    const std::int64_t over = tiles > slots ? tiles - slots : 0;
    const std::int64_t turns = (numel + shape.teams - 1) / shape.teams, walked = turns > 1 ? 2 * tiles : tiles;
    const std::int64_t late = over > 0 ? walked : 2 * tiles > slots ? 2 * tiles - slots : 0;
    const std::int64_t meeting = shape.parts == 1 ? 0 : shape.cluster ? 48 : 96;
    const std::int64_t busy = tiles * 48 + exchanges * meeting, moving = (2 * tiles + over * exchanges) * move / 2;
    const std::int64_t row = busy > moving ? busy + moving / 4 : moving + busy / 4;
    shape.cost = turns * (row + late * move / 8);
    return shape;
  };
  // Blocks walk what they do not hold: three quarters as much again, unless there are no more blocks.
  const std::int64_t least = (total + most - 1) / most, longest = slots * 7 / 4;
  std::int64_t tiles = least > longest ? least : longest < total ? longest : total;
  team_shape best = share_out(tiles, true);
  for (; tiles >= least; --tiles)
    for (const bool cluster : {true, false})
      if (const team_shape now = share_out(tiles, cluster); now.cost < best.cost) best = now;
  return best;
}

/// Threads along a row of the looped kernel, by the run-time length: as few as need no more turns than the most would,
/// so that the last turn is not one of few threads.
constexpr row_shape loop_shape(std::int64_t rnumel, int width, int items, int max_threads) {
  const std::int64_t groups = (rnumel + width - 1) / width, wanted = (groups + items - 1) / items;
  const std::int64_t turns = wanted > max_threads ? (wanted + max_threads - 1) / max_threads : 1;
  row_shape shape = row_of((wanted + turns - 1) / turns * items, items);
  shape.persistent = false;
  return shape;
}

}  // namespace sinter::cuda::detail
