// Slabs of columns (column_slabs.cuh): which bodies can be reduced so, how a slab is shared out, and where its rows and
// its columns' states lie in shared memory. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/column_access.cuh"
#include "sinter/kernels/cuda/phase_facts.hpp"
#include "sinter/kernels/cuda/reduction/columns/column_greatest.hpp"
#include "sinter/kernels/split.hpp"

namespace sinter::cuda {

/// Loads of a body that wait in shared memory, at most.
inline constexpr int most_slab_loads = 4;

/// Columns adjoin up to `inner` of them, whose rows are a slab: `stripes` of so many columns, or one, with which others
/// follow that lie behind it in memory. `blocks` of a cluster share a stripe, each with so many rows; `deep` threads of
/// a block share a column. All rows are `length`. So many columns beside each other, a channel's pixels, may be reduced
/// together.
struct column_slab_share {
  int inner = 0, stripes = 1, columns = 0, blocks = 1, rows = 0, deep = 1, length = 0, pixels = 1;
  int place[most_slab_loads]{}, pitch[most_slab_loads]{};  // bytes: where rows of each load begin, how far apart
  int left = 0, told = 0;  // where threads leave their states, and blocks tell each other
  /// Columns for whose states there is room: their arrays begin at multiples of 16 bytes.
  SINTER_HOST_DEVICE constexpr int state_columns() const { return (columns + 15) / 16 * 16; }
  /// Columns that each block of a cluster puts together.
  SINTER_HOST_DEVICE constexpr int told_columns() const { return ((columns + blocks - 1) / blocks + 3) / 4 * 4; }
};

namespace detail {

/// Bytes of shared memory in front of all else: three barriers.
inline constexpr int slab_header = 32;
/// And between two rows that move by themselves at least: either may share its last vector of 16 bytes with others.
inline constexpr int slab_row_ends = 30;

template <class Body>
struct column_slab_facts;
template <class... S>
struct column_slab_facts<body<S...>> : columns_of_body<body<S...>> {
  using B = body<S...>;
  using facts = body_facts<B>;
  using states = sinter::detail::split_facts<typename without_known<B>::type>;
  static constexpr int size = static_cast<int>(sizeof...(S)), last = facts::num_phases - 1;

  /// The loads that wait in shared memory, in order, and the results of the last phase, each of which lies where such a
  /// load of as many bytes in front of it lay, one with the same index if there is one; nobody reads that any more
  /// then.
  struct table {
    int loads = 0, load[most_slab_loads]{}, of[size + 1]{};
    bool fits = true;
  };
  static constexpr bool stores[size + 1] = {column_access<S>::is_store..., false};
  static constexpr table table_of = [] {
    constexpr int bytes[] = {column_access<S>::bytes_of(1)..., 0};
    constexpr long index[][4] = {
        {column_access<S>::offset, column_access<S>::inner, column_access<S>::pitch, column_access<S>::apart}..., {}};
    const auto is_alike = [&](int a, int b) {
      for (int i = 0; i < 4; ++i)
        if (index[a][i] != index[b][i]) return false;
      return true;
    };
    table t{};
    for (int s = 0; s < size; ++s) {
      t.of[s] = -1;
      if (bytes[s] == 0 || stores[s]) continue;
      t.fits = t.fits && t.loads < most_slab_loads;
      if (t.fits) t.load[t.loads] = s, t.of[s] = t.loads++;
    }
    bool taken[most_slab_loads]{};
    for (const bool alike : {true, false})
      for (int s = 0; s < size; ++s) {
        if (bytes[s] == 0 || !stores[s] || phase_facts<B>::first(s) != last) continue;
        for (int k = 0; k < t.loads && t.of[s] < 0; ++k) {
          const int other = t.load[k];
          if (!taken[k] && other < s && bytes[other] == bytes[s] && (!alike || is_alike(other, s)))
            taken[k] = true, t.of[s] = k;
        }
      }
    return t;
  }();
  static constexpr int loads = table_of.loads;
  /// All that is read of a row, from there or from memory.
  static constexpr int reads = [] {
    int total = 0;
    for (int s = 0; s < size; ++s)
      total += facts::facts.info[s].kind == statement_kind::source && facts::facts.info[s].reads_r;
    return total;
  }();
  /// Which load statement I is, or replaces; -1: it does not pass through shared memory.
  template <int I>
  static constexpr int number = table_of.of[I];
  template <int I>
  static constexpr bool stages = number<I> >= 0;
  /// Bytes of an element of load k.
  static constexpr int bytes_of(int k) {
    constexpr int bytes[] = {column_access<S>::bytes_of(1)..., 0};
    return bytes[table_of.load[k]];
  }
  /// Does a result lie where load k lay?
  static constexpr bool is_replaced(int k) {
    for (int s = 0; s < size; ++s)
      if (table_of.of[s] == k && s != table_of.load[k]) return true;
    return false;
  }
  /// Bytes of an element: of all loads, of these and the results, of the smallest load.
  static constexpr int load_bytes = [] {
    int total = 0;
    for (int k = 0; k < loads; ++k) total += bytes_of(k);
    return total;
  }();
  static constexpr int moved_bytes = [] {
    int total = 0;
    for (int k = 0; k < loads; ++k) total += (is_replaced(k) ? 2 : 1) * bytes_of(k);
    return total;
  }();
  static constexpr int smallest = [] {
    int least = bytes_of(0);
    for (int k = 1; k < loads; ++k) least = bytes_of(k) < least ? bytes_of(k) : least;
    return least;
  }();

  /// Bytes of the states before statement s of a column: of phase p, or of all for -1.
  static constexpr int state_bytes(int s, int p = -1) {
    int total = 0;
    for (int i = 0; i < s; ++i)
      if (p < 0 || facts::phase(i) == p) total += states::bytes[i];
    return total;
  }
  template <int N, int P = -1>
  static constexpr int states_before = state_bytes(N, P);
  static constexpr int largest_phase = [] {
    int most = 0;
    for (int p = 0; p <= last; ++p) most = state_bytes(size, p) > most ? state_bytes(size, p) : most;
    return most;
  }();

  /// States pass between blocks word by word.
  static constexpr bool in_words = [] {
    for (const int bytes : states::bytes)
      if (bytes % 4 != 0) return false;
    return true;
  }();
  /// Columns of several phases whose rows copies can bring.
  static constexpr bool can =
      sinter::detail::shared_column_facts<B>::possible && table_of.fits && loads > 0 && in_words && !has_doubles<B>;

  /// How many columns adjoin in all that waits, and lie in 16 bytes as what replaces them; 0: that differs.
  template <class Args>
  static std::int64_t inner(const Args& args) {
    const column_bytes at[] = {column_access<S>::find(args)...};
    for (int s = 0; s < size; ++s)
      if (table_of.of[s] >= 0 && !at[s].is_like(at[table_of.load[table_of.of[s]]], 16)) return 0;
    return columns_of_body<B>::inner(args);
  }
  /// Bytes from row to row in memory, of each load.
  template <class Args>
  static void find_pitches(const Args& args, std::int64_t (&pitches)[most_slab_loads]) {
    const column_bytes at[] = {column_access<S>::find(args)...};
    for (int k = 0; k < loads; ++k) pitches[k] = at[table_of.load[k]].pitch;
  }
  /// Do slabs of so many columns lie behind each other in all that waits, and in what replaces it?
  template <class Args>
  static bool adjoin(const Args& args, std::int64_t inner, std::int64_t rows) {
    constexpr int bytes[] = {column_access<S>::bytes_of(1)..., 0};
    const column_bytes at[] = {column_access<S>::find(args)...};
    for (int s = 0; s < size; ++s)
      if (table_of.of[s] >= 0 && (at[s].pitch != inner * bytes[s] || at[s].apart != at[s].pitch * rows)) return false;
    return true;
  }
};

}  // namespace detail

}  // namespace sinter::cuda
