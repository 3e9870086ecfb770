// Columns of rows that begin anywhere in memory: of odd width, of a pointer into the middle of something. A thread
// reads vectors that are aligned in memory, so its columns begin up to width - 1 before where they would; as it walks
// rows `width` or a multiple of that apart, they are the same ones in all its rows. Threads whose columns are shifted
// differently meet in shared memory. What the kernel does with it is column_shifted.cuh's matter.
// No CUDA header is needed here. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "sinter/kernels/cuda/reduction/columns/column_greatest.hpp"
#include "sinter/kernels/cuda/shifted.hpp"
#include "sinter/kernels/split.hpp"

namespace sinter::cuda::detail {

/// An index expression with x and r exchanged: columns are to rows that are reduced what rows are to columns.
template <class Term>
struct exchanged_term;
template <loop_var V, long Div, long Mod, long Coef>
struct exchanged_term<term<V, Div, Mod, Coef>> {
  using type = term<V == loop_var::x ? loop_var::r : loop_var::x, Div, Mod, Coef>;
};
template <class S>
struct seen_as_row {
  using type = S;
};
template <int Slot, class T, long Offset, class... Terms>
struct seen_as_row<load<Slot, T, at<Offset, Terms...>, -1>> {
  using type = load<Slot, T, at<Offset, typename exchanged_term<Terms>::type...>, -1>;
};
template <int Slot, class T, int A, long Offset, class... Terms>
struct seen_as_row<store<Slot, T, A, at<Offset, Terms...>, -1>> {
  using type = store<Slot, T, A, at<Offset, typename exchanged_term<Terms>::type...>, -1>;
};

/// Threads of a block that reduces columns.
inline constexpr int column_block = 256;

/// The accesses of statements of columns, seen as those of rows.
template <class... S>
struct column_accesses {
  template <class Statement>
  using access = shifted_access<typename seen_as_row<Statement>::type>;

  /// Are there results for each element?
  static constexpr bool stores = ((access<S>::moves && statement_facts<S>::info.kind == statement_kind::store) || ...);
  /// Elements of a vector, as many as leave room for a block's states; 0: these columns cannot be shifted, or there are
  /// such results although there should be none, or the other way round.
  template <bool Stores>
  static constexpr int width_for(int state_bytes) {
    int smallest = 0, largest = 0;
    const auto take_in = [&]<class A>(A) {
      if constexpr (A::moves) {
        if (smallest == 0 || A::bytes < smallest) smallest = A::bytes;
        if (A::bytes > largest) largest = A::bytes;
      }
    };
    (take_in(access<S>{}), ...);
    if (!(access<S>::allowed && ...) || smallest == 0 || stores != Stores) return 0;
    int w = 16 / smallest * largest <= 32 ? 16 / smallest : 16 / largest;
    while (w * column_block * state_bytes > 32768) w /= 2;
    return w < 2 ? 0 : w;
  }

  /// Wide loads of `width` neighbours: those that move along both are aligned in memory, however rows begin.
  static constexpr int loads(int width) {
    const auto of = [&]<class A>(A, bool is_load) {
      if constexpr (A::moves) return !is_load ? 0 : A::bytes * width > 16 ? A::bytes * width / 16 : 1;
      else return 0;
    };
    return (of(access<S>{}, statement_facts<S>::info.kind == statement_kind::source) + ... + 0);
  }

  template <int Width, class Args>
  static bool find(const Args& args, row_shift& shift) {
    const auto descends = [&]<class A>(A) {
      if constexpr (A::moves) return sinter::detail::resolve(A::place.pitch, args.sizes) > 0;
      else return true;
    };
    return (descends(access<S>{}) && ...) && find_shift<Width, access<S>...>(args, shift);
  }
};

/// Those of a body.
template <class Body>
struct column_accesses_of;
template <class... S>
struct column_accesses_of<body<S...>> : column_accesses<S...> {};

template <class Body>
inline constexpr int all_state_bytes = 0;
template <class... S>
inline constexpr int all_state_bytes<body<S...>> = (sinter::detail::state_bytes<S> + ... + 0);

template <class Body>
struct column_shift_facts;
template <class... S>
struct column_shift_facts<body<S...>> {
  /// One phase, or a phase that reduces and one that stores.
  static constexpr bool once = sinter::detail::split_facts<body<S...>>::can_split,
                        twice = sinter::detail::reads_columns_twice<body<S...>>;
  static constexpr int state_bytes =
      all_state_bytes<std::conditional_t<twice, typename without_known<body<S...>>::type, body<S...>>>;
  static constexpr bool stores = column_accesses<S...>::stores;
  static constexpr bool may_store = twice || stores;
  static constexpr int width = once || twice ? column_accesses<S...>::template width_for<may_store>(state_bytes) : 0;
  static constexpr int loads = column_accesses<S...>::loads(width);

  template <class Args>
  static bool find(const Args& args, row_shift& shift) {
    return column_accesses<S...>::template find<width>(args, shift);
  }
};

/// A column by itself as a row: of loads that move along both, r is what counts.
template <class S>
struct single_column {
  using type = S;
};
template <class S>
requires(sinter::detail::row_load_bytes<S> > 0) struct single_column<S> : seen_as_row<S> {
};

/// How columns are shared out: the threads `along` a row of a block have `span` columns; `splits` blocks have their
/// rows.
struct column_shape {
  int along = 1, span = 1;
  bool whole = false;  // a thread has all rows of its columns, and results lie in vectors
  std::int64_t tiles = 1, splits = 1;
};

/// Blocks that run at once, five on each multiprocessor; fewer than `enough` have too little on its way from memory.
inline constexpr std::int64_t column_blocks = sinter::detail::split_column_blocks, enough_column_blocks = 384;
/// The same where `each` run on one.
constexpr std::int64_t column_blocks_of(int each) { return column_blocks / 5 * each; }

inline constexpr std::int64_t any_places = std::numeric_limits<std::int64_t>::max();

/// For columns that threads walk `width` at a time; from least_along to most_along of them take one row. `blocks` are
/// wanted, of which `places` run at once, if that counts.
constexpr column_shape choose_columns(std::int64_t numel, std::int64_t rnumel, int width, bool shifted,
                                      std::int64_t most_splits, int least_along = 1, int most_along = column_block,
                                      std::int64_t blocks = column_blocks, std::int64_t places = any_places) {
  const std::int64_t groups = shifted ? numel / width + 2 : (numel + width - 1) / width;
  const int deep = shifted && rnumel > 1 ? width : 1;
  const auto span_of = [&](int along) { return shifted ? (along - 1) * width : along * width; };
  const auto tiles_of = [&](int along) { return (numel + span_of(along) - 1) / span_of(along); };
  int along = 1;
  // Beyond a warp only where rows are too few for the others, or columns enough: for as many blocks, or for two to a
  // multiprocessor if more do not all run at once.
  while (along < least_along) along *= 2;
  while (along < groups && 2 * along <= most_along && 2 * along * deep <= column_block &&
         (along < 32 || column_block / along >= 2 * rnumel || groups / (2 * along) >= enough_column_blocks ||
          (tiles_of(along) > places && tiles_of(2 * along) >= column_blocks_of(2))))
    along *= 2;
  column_shape s{along, span_of(along)};
  s.tiles = tiles_of(along);
  const std::int64_t wanted = s.tiles < enough_column_blocks ? blocks / s.tiles : 1;
  s.splits = wanted < 1 ? 1 : wanted < most_splits ? wanted : most_splits;
  return s;
}

}  // namespace sinter::cuda::detail
