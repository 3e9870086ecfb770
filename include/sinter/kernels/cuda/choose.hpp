// Which reduction kernel runs: how many threads share a row, how much of it each holds, whether the row stays in
// registers. Constants where the extents are static, the same functions called at launch where they are not.
// Whether and how a reduced space is split is split.hpp's matter. No CUDA header is needed here.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "sinter/base/op.hpp"
#include "sinter/kernels/cuda/access.hpp"
#include "sinter/kernels/split.hpp"

namespace sinter::cuda::detail {

/// Linear indices below this are walked in 32 bits: a tile past the last position must not wrap.
inline constexpr std::int64_t narrow_limit = (std::int64_t(1) << 31) - (1 << 16);

/// The same of rows that are streamed: with every block's tiles past the end.
inline constexpr std::int64_t streamed_limit = std::int64_t(1) << 30;

template <class T>
inline constexpr int value_words = sizeof(T) > 4 ? 2 : 1;
template <>
inline constexpr int value_words<void> = 0;

/// Arithmetic whose registers come in pairs: the assembler, left to choose how many blocks run at once, may spill them.
template <class Body>
inline constexpr bool has_doubles = false;
template <class... S>
inline constexpr bool has_doubles<body<S...>> =
    (std::is_same_v<typename sinter::detail::statement_facts<S>::value_type, double> || ...);

template <class Op, class... Others>
inline constexpr bool is_one_of = (std::is_same_v<Op, Others> || ...);
/// Operations that take few registers and call no function.
template <class Op>
inline constexpr bool is_light = is_one_of<Op, ops::add, ops::sub, ops::mul, ops::div, ops::neg, ops::exp, ops::sqrt,
                                           ops::rsqrt, ops::square, ops::relu, ops::maximum, ops::minimum>;
template <class S>
inline constexpr bool is_light_statement = true;
template <class Op, class T, class Result, int A, int B, int C>
inline constexpr bool is_light_statement<compute<Op, T, Result, A, B, C>> = is_light<Op>;

template <class S>
inline constexpr bool is_half_load = false;
template <int Slot, class At, int Mask>
inline constexpr bool is_half_load<load<Slot, f16, At, Mask>> = true;

/// When a kernel that holds a row evaluates which statement.
template <class Body>
struct phase_facts;
template <class... S>
struct phase_facts<body<S...>> {
  using facts = body_facts<body<S...>>;
  static constexpr int size = sizeof...(S);
  static constexpr int phases = facts::num_phases;
  static constexpr bool is_reduce(int s) { return facts::facts.info[s].kind == statement_kind::reduce; }
  static constexpr bool is_element(int s) { return facts::where(s) == scope::element && !is_reduce(s); }
  static constexpr bool is_row(int s) { return facts::where(s) == scope::row && !is_reduce(s); }

  /// The first loop over r that needs element statement s; there it is evaluated if it is kept.
  static constexpr int first(int s) {
    for (int p = 0; p < phases; ++p)
      if (facts::needed(p, s)) return p;
    return phases;
  }

  static constexpr int stored_bytes(int s) {
    constexpr int bytes[] = {touch_of<S>::at(loop_var::r, 1).bytes..., 0};
    return bytes[s];
  }
  /// The last loop over r that needs element statement s.
  static constexpr int last(int s) {
    int p = phases - 1;
    while (p > 0 && !facts::needed(p, s)) --p;
    return p;
  }
  /// A row of 16-bit values is held as it is, in half the registers, and what few steps make of it is computed again in
  /// every phase.
  static constexpr bool recomputes = [] {
    int again = 0;
    for (int s = 0; s < size; ++s) {
      const auto& info = facts::facts.info[s];
      if (info.kind == statement_kind::source && info.reads_x && is_element(s) && stored_bytes(s) > 2) return false;
      if (info.kind == statement_kind::compute && is_element(s))
        for (int p = first(s) + 1; p < phases; ++p) again += facts::needed(p, s);
    }
    return again <= 8;
  }();
  /// A load whose values wait as they lie in memory: for a later phase, and of f16 also for others of their own,
  /// because nvcc 13.0 converts f16 as soon as it is there, but bf16 where it is used.
  static constexpr bool packs(int s) {
    constexpr bool is_half[] = {is_half_load<S>..., false};
    const auto& info = facts::facts.info[s];
    return recomputes && info.kind == statement_kind::source && is_element(s) && info.operands[0] < 0 &&
           stored_bytes(s) == 2 && (last(s) > first(s) || is_half[s]);
  }
  /// Does a later phase need what phase p knows of such a load?
  static constexpr bool stays_packed(int s, int p) { return packs(s) && first(s) <= p && last(s) > p; }
  static constexpr bool is_recomputed(int s) {
    return recomputes && is_element(s) && facts::facts.info[s].kind == statement_kind::compute;
  }

  /// Bytes of registers per element of a row that are alive between two phases, at worst. 0: nothing is gained by
  /// holding it.
  static constexpr int kept_bytes = [] {
    constexpr int words[] = {value_words<typename statement_facts<S>::value_type>..., 0};
    int most = 0;
    for (int p = 0; p + 1 < phases; ++p) {
      int alive = 0;
      for (int s = 0; s < size; ++s) {
        if (!is_element(s) || first(s) > p || is_recomputed(s)) continue;
        if (packs(s)) {
          alive += stays_packed(s, p) ? 2 : 0;
          continue;
        }
        bool later = false;
        for (int user = s + 1; user < size; ++user) {
          const int when = is_reduce(user) ? facts::phase(user) : is_element(user) ? first(user) : -1;
          for (int operand : facts::facts.info[user].operands)
            later = later || (operand == s && when > p && when < phases);
        }
        if (later) alive += 4 * words[s];
      }
      if (alive > most) most = alive;
    }
    return most;
  }();

  /// Is it known how many registers the arithmetic takes?
  static constexpr bool is_light = (is_light_statement<S> && ...);

  /// Bytes per element that are read when the row is already held: of weights.
  static constexpr int late_bytes = [] {
    constexpr bool is_half[] = {is_half_load<S>..., false};
    int bytes = 0;
    for (int s = 0; s < size; ++s)
      if (facts::facts.info[s].kind == statement_kind::source && is_element(s) && first(s) > 0)
        bytes += is_half[s] && !packs(s) ? 4 : stored_bytes(s);
    return bytes;
  }();

  /// Wide loads, and loads of single elements, per Width neighbours along v.
  static constexpr int loads(loop_var v, int width) { return loads(v, width, true); }
  /// Those of single elements alone.
  static constexpr int single_loads(loop_var v, int width) { return loads(v, width, false); }

 private:
  static constexpr int loads(loop_var v, int width, bool wide_too) {
    const auto accesses = access_facts<body<S...>>::at(v, width);
    int count = 0;
    for (int s = 0; s < size; ++s) {
      const auto& now = accesses.touches[s];
      if (now.bytes == 0 || facts::facts.info[s].kind != statement_kind::source) continue;
      if (facts::has_reduction && !is_element(s)) continue;
      if (now.where.kind == access::contiguous && wide_too)
        count += now.bytes * width > 16 ? now.bytes * width / 16 : 1;
      if (now.where.kind == access::strided || now.where.kind == access::irregular) count += width;
    }
    return count;
  }
};

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
/// Values of a row that one thread holds: with few the compiler has room to spare; most fill half of the 64 registers
/// that a thread of 1024 has, of which weights want their part. kept, late: bytes per value, of phase_facts; singles:
/// operands of which every value is a load of its own.
inline constexpr int few_lanes = 16;
struct held_lanes {
  int few, some, most, kept;
};
constexpr held_lanes lanes_of_row(int kept, int late, int singles) {
  int most = late > 2 ? 32 : 64;
  const int room = kept > 4 ? 64 : 128;
  while (most > 4 && (most * (kept < 2 ? 4 : kept) > room || most * singles > many_singles)) most /= 2;
  return {most < few_lanes ? most : few_lanes, most < 32 ? most : 32, most, kept};
}
template <class Body>
inline constexpr held_lanes lanes_of_body = lanes_of_row(phase_facts<Body>::kept_bytes, phase_facts<Body>::late_bytes,
                                                         phase_facts<Body>::single_loads(loop_var::r, 2) / 2);
/// The same for rows that are shifted: wherever they begin, they are read wide.
template <class Body>
inline constexpr held_lanes lanes_of_shifted = lanes_of_row(phase_facts<Body>::kept_bytes,
                                                            phase_facts<Body>::late_bytes, 0);
/// Registers of a thread that holds so much.
constexpr int held_registers(int block, int lanes, int kept, int late, bool loose, bool shifted) {
  // Arithmetic of eight bytes takes pairs of registers, and calls functions; the ends of rows take some.
  const int others = kept > 4 ? 48 : shifted ? 32 : loose ? 28 : block < 512 ? 16 : 24;
  const int held = lanes <= few_lanes && kept < 4 ? 4 : kept;  // few are not packed
  const int wanted = static_cast<int>(sinter::detail::round_up(others + lanes * held / 4 + lanes * late / 8, 8));
  const int least = shifted ? 48 : 32;
  return wanted < least ? least : wanted;
}
inline constexpr int all_registers = 65536;  // of a multiprocessor
/// Blocks that a multiprocessor, of 2048 threads, shall run at once of threads that hold so much.
constexpr int least_blocks(int block, int lanes, int kept, int late, bool loose, bool shifted) {
  const int blocks = all_registers / held_registers(block, lanes, kept, late, loose, shifted) / block;
  return block < 256 || blocks < 1 ? 1 : blocks;
}

/// Threads of a block that walks a row. One phase: more blocks hide the latency better. Several: the rows that are
/// being walked have to stay in the L2 until their last phase, so as few as fill an SM.
constexpr int looped_block(bool can_split) { return can_split ? 256 : 1024; }

constexpr row_shape row_of(std::int64_t groups, int items) {
  const int threads = threads_for((groups + items - 1) / items);
  return {true, threads, threads < row_block ? row_block / threads : 1, items};
}
constexpr int items_of(int lanes, int width) { return lanes > width ? lanes / width : 1; }
/// Items that lie within every row of so many groups.
constexpr int full_items(std::int64_t groups, int threads, int items) {
  return groups / threads < items ? static_cast<int>(groups / threads) : items;
}

/// Element statements that write.
template <class Body>
inline constexpr int element_stores = [] {
  int stores = 0;
  for (int s = 0; s < Body::size; ++s)
    stores += body_facts<Body>::facts.info[s].kind == statement_kind::store && phase_facts<Body>::is_element(s);
  return stores;
}();
/// Does a thread hold 32 values of four bytes of one input, or as many as those take as they lie in memory, in 64
/// registers?
template <class Body>
inline constexpr bool holds_many = [] {
  using phases = phase_facts<Body>;
  int inputs = 0;
  for (int s = 0; s < phases::size; ++s)
    inputs += phases::is_element(s) && phases::stored_bytes(s) > 0 && phases::first(s) == 0 &&
              phases::facts::facts.info[s].kind == statement_kind::source;
  return phases::is_light && phases::kept_bytes <= 4 && phases::late_bytes <= 8 && inputs <= 1;
}();
/// How rows of run-time length are held: short ones by few lanes of a warp, others in up to few_threads threads with
/// `few` groups each, longer ones in up to `threads` with `many`: fewer warps wait for each other (so few_threads is
/// the least for which only two of eight groups are not whole). Every row has as many groups as there are threads for
/// the first few_full or full of each, so that only the others are asked for one by one.
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
      holds_many<Body> && phases::kept_bytes < 4 && phases::late_bytes <= (stores_of_rows ? 2 : 4);
  static constexpr int some = lanes_of_body<Body>.some, few_threads = 144;
  static constexpr int threads = holds_many<Body> && !packs ? 1024 : 512;
  static constexpr int few = items_of(some, Width), many = items_of(packs ? 2 * some : some, Width);
  static constexpr int few_full = few < 8 ? few / 2 : 4;
  // Of rows that would have up to four threads, which ask for 64 bytes of a row at once, so that each line is asked for
  // again and again, a thread has two groups.
  static constexpr int short_items = few < 2 ? few : 2, short_groups = few < 16 ? 4 * few : 64;
  static constexpr int full = [] {
    constexpr int least = few_threads * few + 1;
    int whole = many;
    for (int count = row_of(least, many).threads; count <= threads; count += 32) {
      const int shortest = (count - 32) * many + 1;  // of the rows of so many threads
      const int now = full_items(shortest < least ? least : shortest, count, many);
      whole = now < whole ? now : whole;
    }
    return whole;
  }();
};

/// The shape for a row of rnumel elements, read `width` at a time; kept, late: of phase_facts.
constexpr row_shape choose_row(std::int64_t rnumel, int width, held_lanes lanes, bool can_split) {
  const int few = items_of(lanes.few, width), some = items_of(lanes.some, width), most = items_of(lanes.most, width);
  const std::int64_t groups = (rnumel + width - 1) / width;
  const bool splits = can_split && num_splits(orientation::row, 1, rnumel) > 1;  // then the kernel that can is needed
  if (groups > 0 && !splits && rnumel < narrow_limit) {
    struct {
      int items, threads;
    } const packed[] = {{few, 32}, {some, 32}, {few, 512}, {some, 512}, {most, 512}, {most, 1024}},
            // Of wider values few to a thread: the registers that are left let more threads run at once.
        whole[] = {{few, 32}, {few, 512}, {few, 1024}, {most, 512}, {most, 512}, {most, 1024}};
    const auto& candidates = lanes.most > 32 || lanes.kept < 4 ? packed : whole;
    for (const auto& c : candidates) {
      if ((groups + c.items - 1) / c.items > c.threads) continue;
      row_shape shape = row_of(groups, c.items);
      // What asks for its last groups by itself takes registers, and blocks: a thread then has more of them.
      if (&candidates == &packed && c.threads > 32 && c.items < some && groups % shape.threads != 0) continue;
      shape.items = static_cast<int>((groups + shape.threads - 1) / shape.threads);  // what powers of two left over
      return shape;
    }
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
