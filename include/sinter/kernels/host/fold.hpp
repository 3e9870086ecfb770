// How a reduction's states take up a block of a row: one state per lane and a step per value, or, where a step would
// cost a division or an exponential, the whole block into one state. Which values a block has is evaluate.hpp's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "sinter/base/op.hpp"
#include "sinter/kernels/host/lanes.hpp"
#include "sinter/kernels/host/width.hpp"

SINTER_WIDE_VECTORS

namespace sinter::cpu::detail {

/// Lanes that a row's fold runs in side by side: four vectors of sixteen floats, enough to hide a maximum.
inline constexpr int fold_lanes = 64;

/// combine(...) of value(0), ..., value(count - 1), in `fold_lanes` parts, then in a tree.
template <class T, class Combine, class Value>
[[gnu::always_inline]] inline T fold_values(int count, T identity, Combine combine, Value value) {
  alignas(64) T part[fold_lanes];
  for_vector<fold_lanes>([&](int lane) { part[lane] = identity; });
  int first = 0;
  for (; first + fold_lanes <= count; first += fold_lanes)
    for_vector<fold_lanes>([&](int lane) { part[lane] = combine(part[lane], value(first + lane)); });
  for (int lane = 0; first + lane < count; ++lane) part[lane] = combine(part[lane], value(first + lane));
  for_vector<32>([&](int lane) { part[lane] = combine(part[lane], part[lane + 32]); });
  for_vector<16>([&](int lane) { part[lane] = combine(part[lane], part[lane + 16]); });
  for_vector<8>([&](int lane) { part[lane] = combine(part[lane], part[lane + 8]); });
  for_vector<4>([&](int lane) { part[lane] = combine(part[lane], part[lane + 4]); });
  return combine(combine(part[0], part[2]), combine(part[1], part[3]));
}

// ---- folds of a block ----------------------------------------------------------------------------------------------

template <class Op>
inline constexpr bool folds_blocks =
    std::is_base_of_v<sinter::detail::folds::m2, Op> || std::is_base_of_v<sinter::detail::folds::sumexp, Op>;

template <class T, class Value>
typename sinter::detail::folds::m2::state<T> fold_block(sinter::detail::folds::m2, int count, Value value) {
  const auto add = [](T x, T y) { return x + y; };
  const T mean = fold_values(count, T(0), add, value) / static_cast<T>(count);
  const auto squared = [=](int i) { return (value(i) - mean) * (value(i) - mean); };
  return {mean, fold_values(count, T(0), add, squared), count};
}

template <class T, class Value>
typename sinter::detail::folds::sumexp::state<T> fold_block(sinter::detail::folds::sumexp, int count, Value value) {
  const auto maximum = [](T x, T y) { return math::maximum(y, x); };  // as amax::step
  const T greatest = fold_values(count, minus_infinity<T>(), maximum, value);
  if (greatest == minus_infinity<T>()) return {greatest, static_cast<T>(count)};
  const auto add = [](T x, T y) { return x + y; };
  return {greatest, fold_values(count, T(0), add, [=](int i) { return math::exp(value(i) - greatest); })};
}

// ---- a block of a row ----------------------------------------------------------------------------------------------

/// Folds value(0), ..., value(count - 1), whose first index is r. Where states are one per lane, lane j has the
/// elements whose index is j modulo their number, whatever the block.
template <class Op, class T, class State, class Value>
[[gnu::always_inline]] inline void fold_row(State* states, int count, std::int64_t r, Value value) {
  if constexpr (folds_blocks<Op>) {
    states[0] = Op::template combine<T>(states[0], fold_block<T>(Op{}, count, value));
  } else {
    alignas(64) State own[fold_lanes];  // which the compiler can hold in registers
    for_vector<fold_lanes>([&](int lane) { own[lane] = states[lane]; });
    int first = 0;
    for (; first + fold_lanes <= count; first += fold_lanes)
      for_vector<fold_lanes>([&](int lane) { Op::template step<T>(own[lane], value(first + lane), r + first + lane); });
    for (int lane = 0; first + lane < count; ++lane)
      Op::template step<T>(own[lane], value(first + lane), r + first + lane);
    for_vector<fold_lanes>([&](int lane) { states[lane] = own[lane]; });
    keep_stores();
  }
}

/// Puts the states of a row together in the first one, after `length` values.
template <class Fold>
void join_states(typename Fold::state* states, std::int64_t length) {
  if constexpr (!folds_blocks<typename Fold::op>)
    for (int half = fold_lanes / 2; half > 0; half /= 2)
      if (length > half) for_lanes(half, [=](int i) { states[i] = Fold::combine(states[i], states[i + half]); });
}

}  // namespace sinter::cpu::detail

SINTER_END_WIDE_VECTORS
