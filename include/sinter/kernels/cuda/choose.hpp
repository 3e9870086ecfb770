// Which reduction kernel runs: how many threads share a row, how much of it each holds, whether the row stays in
// registers. Constants where the extents are static, the same functions called at launch where they are not.
// Whether and how a reduced space is split is split.hpp's matter. No CUDA header is needed here.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/access.hpp"
#include "sinter/kernels/split.hpp"

namespace sinter::cuda::detail {

/// Linear indices below this are walked in 32 bits: a tile past the last position must not wrap.
inline constexpr std::int64_t narrow_limit = (std::int64_t(1) << 31) - (1 << 16);

template <class T>
inline constexpr int value_words = sizeof(T) > 4 ? 2 : 1;
template <>
inline constexpr int value_words<void> = 0;

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

  /// 32-bit words per element of a row that are alive between two phases, at worst. 0: nothing is gained by holding it.
  static constexpr int kept_words = [] {
    constexpr int words[] = {value_words<typename statement_facts<S>::value_type>..., 0};
    int most = 0;
    for (int p = 0; p + 1 < phases; ++p) {
      int alive = 0;
      for (int s = 0; s < size; ++s) {
        if (!is_element(s) || first(s) > p) continue;
        bool later = false;
        for (int user = s + 1; user < size; ++user) {
          const int when = is_reduce(user) ? facts::phase(user) : is_element(user) ? first(user) : -1;
          for (int operand : facts::facts.info[user].operands)
            later = later || (operand == s && when > p && when < phases);
        }
        if (later) alive += words[s];
      }
      if (alive > most) most = alive;
    }
    return most;
  }();

  /// Wide loads, and loads of single elements, per Width neighbours along v.
  static constexpr int loads(loop_var v, int width) {
    const auto accesses = access_facts<body<S...>>::at(v, width);
    int count = 0;
    for (int s = 0; s < size; ++s) {
      const auto& now = accesses.touches[s];
      if (now.bytes == 0 || facts::facts.info[s].kind != statement_kind::source) continue;
      if (facts::has_reduction && !is_element(s)) continue;
      if (now.where.kind == access::contiguous) count += now.bytes * width > 16 ? now.bytes * width / 16 : 1;
      if (now.where.kind == access::strided || now.where.kind == access::irregular) count += width;
    }
    return count;
  }
};

struct row_shape {
  bool persistent = false;  // the row's values stay in registers from phase to phase
  int threads = 0;          // per row: a power of two up to 32, or a multiple of 32
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
/// Values of 4 bytes that one thread holds of a row: with 16 the compiler has room to spare, 32 still fit beside one
/// kept value per element, and 1024 threads have 64 registers each.
inline constexpr int few_lanes = 16, many_lanes = 32;

/// Threads of a block that walks a row. One phase: more blocks hide the latency better. Several: the rows that are
/// being walked have to stay in the L2 until their last phase, so as few as fill an SM.
constexpr int looped_block(bool can_split) { return can_split ? 256 : 1024; }

constexpr row_shape row_of(std::int64_t groups, int items) {
  const int threads = threads_for((groups + items - 1) / items);
  return {true, threads, threads < row_block ? row_block / threads : 1, items};
}

/// The shape for a row of rnumel elements, read `width` at a time; kept: phase_facts::kept_words.
constexpr row_shape choose_row(std::int64_t rnumel, int width, int kept, bool can_split) {
  const int lanes = kept <= 2 ? few_lanes : few_lanes / 2;
  const int few = width == 1 ? 4 : lanes > width ? lanes / width : 1;
  const int many = kept <= 1 ? many_lanes / width : few;
  const std::int64_t groups = (rnumel + width - 1) / width;
  const bool splits = can_split && num_splits(orientation::row, 1, rnumel) > 1;  // then the kernel that can is needed
  if (groups > 0 && !splits && rnumel < narrow_limit) {
    struct {
      int items, threads;
    } const candidates[] = {{few, 32}, {many, 32}, {few, 512}, {many, 512}, {few, 1024}, {many, 1024}};
    for (const auto& c : candidates) {
      if ((groups + c.items - 1) / c.items > c.threads) continue;
      row_shape shape = row_of(groups, c.items);
      shape.items = static_cast<int>((groups + shape.threads - 1) / shape.threads);  // what powers of two left over
      return shape;
    }
  }
  return {false, looped_block(can_split), 1, can_split ? (few < 4 && width == 1 ? 4 : few) : 4};
}

/// The persistent kernel for rows of run-time length: this many elements at most.
constexpr int dynamic_items(int width, int kept) {
  const int lanes = kept <= 2 ? few_lanes : few_lanes / 2;
  return width < lanes ? lanes / width : 1;
}
constexpr std::int64_t dynamic_limit(int width, int kept) {
  return std::int64_t(1024) * width * dynamic_items(width, kept);
}

/// Threads along a row of the looped kernel, by the run-time length.
constexpr row_shape loop_shape(std::int64_t rnumel, int width, int items, int max_threads) {
  const std::int64_t groups = (rnumel + width - 1) / width;
  const std::int64_t wanted = (groups + items - 1) / items;
  row_shape shape =
      row_of(wanted < max_threads ? wanted * items : max_threads * static_cast<std::int64_t>(items), items);
  shape.persistent = false;
  return shape;
}

}  // namespace sinter::cuda::detail
