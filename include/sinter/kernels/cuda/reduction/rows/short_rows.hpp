// Rows too short for wide accesses of their own, one after another in memory: a block takes a run of them, which is one
// piece of memory, and moves it through shared memory 16 bytes at a time, however long the rows are and wherever they
// begin. There a few threads share a row. How many they are and which rows they take is decided here; the kernel is
// short.cuh. No CUDA header is needed here. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/choose.hpp"
#include "sinter/kernels/cuda/shifted.hpp"

namespace sinter::cuda::detail {

/// Longer rows of run-time length are no short ones; of those that leave but a few numbers behind, a run has room for
/// somewhat longer ones.
inline constexpr int longest_walked = 1024, longest_folded = 1152;

/// The accesses of a body that go through shared memory: those of whole rows, Rnumel elements (-1: known at launch;
/// any_pitch: that does not matter) from one to the next.
inline constexpr long any_pitch = -2;
template <class Body, long Rnumel>
struct short_facts;
template <class... S, long Rnumel>
struct short_facts<body<S...>, Rnumel> {
  using B = body<S...>;
  static constexpr int size = sizeof...(S);
  template <class Access>
  static constexpr bool follows() {
    if constexpr (Access::moves)
      return Access::allowed &&
             (Rnumel == any_pitch || (Rnumel < 0 ? is_dynamic(Access::place.pitch) : Access::place.pitch == Rnumel));
    else return false;
  }
  template <class Access>
  static constexpr int bytes_of() {
    if constexpr (follows<Access>()) return Access::bytes;
    else return 0;
  }
  template <class Statement, class Access>
  static constexpr bool is_weight() {
    if constexpr (Access::along_r && !Access::moves)
      return Access::place.plain && Access::bytes == weight_element && access_facts<B>::only_reads(Access::slot) &&
             statement_facts<Statement>::info.kind == statement_kind::source;
    else return false;
  }
  struct table {
    int bytes[size + 1]{};                                // of an element of such an access; 0: it is none
    int number[size + 1]{};                               // of the access among them
    int count = 0, largest = 0, smallest = 0, total = 0;  // accesses, and bytes of their elements
    bool stores = false;
    bool possible = false;  // all that moves with the row and along it is such an access
  };
  static constexpr table facts = [] {
    table t{{bytes_of<shifted_access<S>>()..., 0}};
    const touch all[] = {touch_of<S>::at(loop_var::r, 1)..., touch{}};
    bool others = false;
    for (int s = 0; s < size; ++s) {
      const auto& info = body_facts<B>::facts.info[s];
      t.number[s] = t.count;
      if (t.bytes[s] == 0) {
        others = others || (all[s].bytes > 0 && info.reads_x && info.reads_r);
        continue;
      }
      ++t.count;
      t.total += t.bytes[s];
      t.stores = t.stores || info.kind == statement_kind::store;
      if (t.bytes[s] > t.largest) t.largest = t.bytes[s];
      if (t.smallest == 0 || t.bytes[s] < t.smallest) t.smallest = t.bytes[s];
    }
    t.possible = t.count > 0 && !others;
    return t;
  }();

  /// Elements that are taken at once where rows begin anywhere: two of 16 bits are one word, if what else runs along a
  /// row knows its ends.
  static constexpr int width = [] {
    constexpr bool knows_ends[] = {(shifted_access<S>::allowed || !statement_facts<S>::info.reads_r)..., true};
    bool all = facts.largest == 2 && facts.smallest == 2;
    for (bool one : knows_ends) all = all && one;
    return all ? 2 : 1;
  }();
  /// What all rows read alike: one row of 16-bit values, which waits in shared memory, too, where such rows are walked.
  static constexpr int weight_element = width > 1 ? 2 : 0;
  struct weight_table {
    bool is[size + 1]{};
    int number[size + 1]{};
    int count = 0;
  };
  static constexpr weight_table weights = [] {
    weight_table t{{is_weight<S, shifted_access<S>>()..., false}};
    for (int s = 0; s < size; ++s) {
      t.number[s] = t.count;
      t.count += t.is[s];
    }
    return t;
  }();
  /// Rows that are walked, at most; fewer where other weights come one by one, to neighbours that are far from each
  /// other in a row.
  static constexpr int longest =
      ((shifted_access<S>::along_r && !shifted_access<S>::moves && !is_weight<S, shifted_access<S>>()) || ...) ? 768
      : facts.stores || weights.count > 0 ? longest_walked
                                          : longest_folded;
  /// The load whose place in shared memory store s takes: one that nothing reads later. -1: none.
  struct place_table {
    int over[size + 1]{};
    int own_bytes = 0;  // of an element of every access that takes none
  };
  static constexpr place_table stores = [] {
    place_table t{};
    bool taken[size + 1]{};
    t.own_bytes = facts.total;
    t.over[size] = -1;
    for (int s = 0; s < size; ++s) {
      t.over[s] = -1;
      if (facts.bytes[s] == 0 || body_facts<B>::facts.info[s].kind != statement_kind::store) continue;
      for (int load = 0; load < s && t.over[s] < 0; ++load)
        if (facts.bytes[load] == facts.bytes[s] && !taken[load] &&
            body_facts<B>::facts.info[load].kind == statement_kind::source &&
            phase_facts<B>::last(load) <= body_facts<B>::phase(s))
          t.over[s] = load, taken[load] = true, t.own_bytes -= facts.bytes[s];
    }
    return t;
  }();

  /// Do rows follow each other without gaps, at addresses that their elements may have?
  template <class Args>
  static bool holds(const Args& args) {
    const auto holds_for = [&]<class Access>(Access) {
      if constexpr (follows<Access>())
        return sinter::detail::resolve(Access::place.pitch, args.sizes) == args.rnumel &&
               reinterpret_cast<std::uintptr_t>(args.pointers[Access::slot]) % Access::bytes == 0;
      else return true;
    };
    return (holds_for(shifted_access<S>{}) && ...);
  }
};

/// Threads of a block, in whose run neighbours of `threads` share a row.
inline constexpr int short_block = 128, short_warps = short_block / 32;
/// Blocks that a multiprocessor shall run at once, of whose threads each has `values` of a row, so many neighbours at a
/// time: if the arithmetic is light ten, with 48 registers for a thread, or eight, with 64. Values of 16 bits wait as
/// floats; addresses and what is being computed take 16 registers, weights those of the neighbours and four.
template <class Body>
constexpr int short_blocks(int neighbours, int values) {
  using phases = phase_facts<Body>;
  if (!phases::is_light || phases::kept_bytes > 4) return 1;
  const int waiting = values * (phases::unpacked_bytes > 4 || phases::few_waiting_bytes > 4 ? 2 : 1),
            weights = phases::late_bytes > 0 ? 4 + neighbours * ((phases::late_bytes + 3) / 4) : 0,
            registers = 16 + waiting + weights;
  return registers <= 48 ? 10 : registers <= 64 ? 8 : 1;
}
/// Bytes of a run of the widest elements: with 2048 threads on a multiprocessor, four times what its share of the
/// memory's speed takes in flight.
inline constexpr int short_run_bytes = 10240;
/// Registers of a thread for its values of one row.
inline constexpr int short_words = 32;

struct short_shape {
  int items = 0;        // groups of `width` neighbours that a thread has of a row, at most; 0: rows are not short
  int log_threads = 0;  // of those that share a row, up to 32
  int turns = 1;        // rows that they take one after another
  bool apart = false;   // rows of one warp are as far from each other as they can be, not neighbours

  SINTER_HOST_DEVICE constexpr int threads() const { return 1 << log_threads; }
  SINTER_HOST_DEVICE constexpr int rows() const { return (short_block >> log_threads) * turns; }
  /// The place in the run of the row that this thread has a part of in this turn.
  SINTER_HOST_DEVICE constexpr int row(int thread, int turn) const {
    const int group = (thread & 31) >> log_threads, n = turn * short_warps + (thread >> 5);
    return apart ? group * (short_warps * turns) + n : n * (32 >> log_threads) + group;
  }
};

/// The most of a warp's lanes that want different words of one bank when `threads` read neighbours of each row and rows
/// are so many bytes apart.
constexpr int bank_conflicts(int threads, int bytes, int distance) {
  int most = 0, in_bank[32]{}, last = -1;
  for (int lane = 0; lane < 32; ++lane) {
    const int word = (lane / threads * distance + lane % threads * bytes) / 4;
    if (word != last && ++in_bank[word % 32] > most) most = in_bank[word % 32];
    last = word;
  }
  return most;
}

/// Rows that threads take in turn, and which, of rows that have so many bytes, in elements or groups of `unit`.
constexpr short_shape share_run(short_shape s, int row, int unit, int run) {
  const int turn = (short_block >> s.log_threads) * row;
  s.turns = run > turn ? run / turn : 1;
  s.apart = bank_conflicts(s.threads(), unit, row * short_warps * s.turns) < bank_conflicts(s.threads(), unit, row);
  return s;
}

/// The threads that share a row of so many groups of `width`: those that take the fewest instructions. `run`: bytes.
constexpr short_shape choose_short(int groups, int width, int bytes, int phases, int run) {
  short_shape best;
  int least = 0;
  for (int steps = 0; steps <= 5; ++steps) {
    const int items = (groups + (1 << steps) - 1) >> steps;
    if (items * width * (bytes > 4 ? 2 : 1) > short_words) continue;
    // Some twelve for an element, four for a step of a reduction over lanes, a division and addresses for a row.
    const int cost = (12 * items * width + 4 * steps * phases + 24) << steps;
    if (best.items > 0 && cost >= least) continue;
    best.items = items, best.log_threads = steps, least = cost;
  }
  return best.items == 0 ? best : share_run(best, groups * width * bytes, width * bytes, run);
}

/// A shape that is known to the compiler; how many elements its runs have.
template <int Items, int LogThreads, int Turns, bool Apart, long Rnumel>
struct fixed_short {
  static constexpr bool walks = false, in_place = false;
  SINTER_HOST_DEVICE static constexpr short_shape get() { return {Items, LogThreads, Turns, Apart}; }
  static constexpr int capacity = get().rows() * static_cast<int>(Rnumel);
};
/// One that is known at launch: a thread walks its part of a row in shared memory, `walked` neighbours at a time, again
/// in every phase.
inline constexpr int walked = 4;
template <int Capacity>
struct loose_short {
  static constexpr bool walks = true, in_place = true;
  static constexpr int capacity = Capacity;
  short_shape shape;
  SINTER_HOST_DEVICE constexpr short_shape get() const { return shape; }
};
/// Rows of which a thread holds one: what a part of them would cost besides is more than their elements do.
inline constexpr int few_elements = 8;
template <int Capacity>
struct single_short {
  static constexpr bool walks = false, in_place = true;
  static constexpr int capacity = Capacity;
  int turns;
  SINTER_HOST_DEVICE constexpr short_shape get() const { return {few_elements, 0, turns}; }
};
/// Room for a row of weights, of so many bytes each: after it a word may be read with what lies behind it.
SINTER_HOST_DEVICE constexpr int weight_bytes(int element) { return longest_walked * element + 48; }
/// Blocks that leave no multiprocessor idle: two turns of ten on each of 132. Of fewer rows each takes less.
inline constexpr int enough_blocks = 2600;
/// Of as few threads to a row as fill a run. An odd number of groups of `width` spreads them over the banks; more
/// threads take a row if still more than two of a warp's want different words of one: those of shorter rows never do.
constexpr short_shape choose_loose_short(std::int64_t numel, int rnumel, int width, int bytes, int capacity) {
  const int groups = rnumel / width + (width > 1 ? 1 : 0);  // where rows begin and end inside of one
  const int row = rnumel * bytes;
  const auto conflicts = [&](const short_shape& s) {
    const int unit = s.items * width * bytes;
    const short_shape run = share_run(s, row, unit, capacity * bytes);
    return bank_conflicts(run.threads(), unit, run.apart ? row * short_warps * run.turns : row);
  };
  short_shape s{groups};
  while (s.log_threads <= 5 &&
         (s.rows() * rnumel > capacity || (width > 1 && s.log_threads > 0 && s.log_threads < 5 && conflicts(s) > 2))) {
    ++s.log_threads;
    s.items = (((groups - 1) >> s.log_threads) + 1) | 1;
  }
  if (s.log_threads > 5) return {};
  const std::int64_t most = numel * rnumel / enough_blocks, least = static_cast<std::int64_t>(s.rows()) * rnumel;
  if (most < capacity) capacity = static_cast<int>(most > least ? most : least);
  return share_run(s, row, s.items * width * bytes, capacity * bytes);
}

/// Elements of a run: less where there are many accesses.
template <class Facts>
constexpr int run_elements(const Facts& facts) {
  const int together = 40 * 1024 / facts.total, alone = short_run_bytes / facts.largest;
  return together < alone ? together : alone;
}
/// Of one where stores take a load's place: there is room for twice as many, but for weights.
template <class Held, long Rnumel>
inline constexpr int walked_elements = [] {
  using f = short_facts<Held, Rnumel>;
  const int weights = f::weights.count * weight_bytes(f::weight_element);
  const int together = (40 * 1024 - weights) / f::stores.own_bytes;
  const int alone = f::stores.own_bytes < f::facts.total ? (2 * short_run_bytes - weights) / f::facts.largest
                                                         : short_run_bytes / f::facts.largest;
  return together < alone ? together : alone;
}();

/// Do runs of so many elements fit into the shared memory that every kernel may have, of 48 KB, with what lies around
/// them? `total`: bytes of an element of every access.
constexpr bool run_fits(int elements, int total) { return elements * total <= 46 * 1024; }

/// Rows of a static length that is no multiple of 16 bytes; longer ones have enough whole vectors.
inline constexpr long short_most = 1024;
template <class Held, long Rnumel>
inline constexpr short_shape short_of = [] {
  constexpr auto facts = short_facts<Held, Rnumel>::facts;
  if constexpr (Rnumel <= 0 || Rnumel > short_most || !facts.possible) return short_shape{};
  else {
    constexpr int width = access_facts<Held>::vector_width(loop_var::r, Rnumel);
    constexpr short_shape shape = choose_short(static_cast<int>(Rnumel) / width, width, facts.largest,
                                               body_facts<Held>::num_phases, run_elements(facts) * facts.largest);
    const bool whole = Rnumel * facts.smallest % 16 == 0;
    return !whole && run_fits(shape.rows() * static_cast<int>(Rnumel), facts.total) ? shape : short_shape{};
  }
}();

}  // namespace sinter::cuda::detail
