// How lanes that run across rows fold: each has a state of its own and takes a step per element of its row. States lie
// number by number where a step has several, so that a step is vector code. Which values there are is evaluate.hpp's
// matter, the folds of a row by all lanes together are fold.hpp's.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "sinter/base/op.hpp"
#include "sinter/kernels/host/lanes.hpp"
#include "sinter/kernels/host/width.hpp"

SINTER_WIDE_VECTORS

namespace sinter::cpu::detail {

/// One running state per lane. Between clear() and state() the same lanes take all steps, each in order of its indices.
template <class Op, class T, int Lanes>
class column_fold {
 public:
  using state_type = typename Op::template state<T>;

  void clear() {
    for_lanes(Lanes, [s = states_](int i) { s[i] = Op::template init<T>(); });
  }
  /// Lane i takes value(i, 0), ..., value(i, Rows - 1), whose first index is r: a state is read and written once.
  template <int Rows, class Value>
  [[gnu::always_inline]] void add(int count, std::int64_t r, Value value) {
    for_lanes(count, [=, s = states_](int i) {
      state_type state = s[i];
      for (int k = 0; k < Rows; ++k) Op::template step<T>(state, value(i, k), r + k);
      s[i] = state;
    });
  }
  state_type state(int lane) const { return states_[lane]; }

 private:
  alignas(64) state_type states_[Lanes];
};

/// Where the extreme value is: a later one has to be beyond it, or the first NaN. Places count from the fold's first
/// index, of fewer than 2^31, so that a place is as wide as a float beside it.
template <class Op, class T, int Lanes>
requires std::is_base_of_v<sinter::detail::folds::argmax, Op> || std::is_base_of_v<sinter::detail::folds::argmin, Op>
class column_fold<Op, T, Lanes> {
 public:
  using state_type = typename Op::template state<T>;

  void clear() { first_ = nothing; }
  template <int Rows, class Value>
  [[gnu::always_inline]] void add(int count, std::int64_t r, Value value) {
    if (first_ == nothing) {  // the first value wins, whatever it is
      for_lanes(count, [=, best_of = best_, place_of = place_](int i) { best_of[i] = value(i, 0), place_of[i] = 0; });
      first_ = r;
    }
    for_lanes(count, [=, best_of = best_, place_of = place_, at = static_cast<place>(r - first_)](int i) {
      T best = best_of[i];
      place where = place_of[i];
      for (int k = 0; k < Rows; ++k) {
        const T x = value(i, k);
        const bool wins = math::both(!is_within(x, best), !math::isnan(best));
        best = math::select(wins, x, best);
        where = math::select(wins, at + k, where);
      }
      best_of[i] = best;
      place_of[i] = where;
    });
  }
  state_type state(int lane) const {
    return first_ == nothing ? Op::template init<T>() : state_type{best_[lane], first_ + place_[lane]};
  }

 private:
  using place = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  static constexpr std::int64_t nothing = -1;

  static constexpr bool is_within(T x, T best) {
    if constexpr (std::is_base_of_v<sinter::detail::folds::argmax, Op>) return x <= best;
    else return x >= best;
  }

  alignas(64) T best_[Lanes];
  alignas(64) place place_[Lanes];
  std::int64_t first_;
};

/// Squared deviations: all lanes have as many values, so that a step divides once for all of them.
template <class Op, class T, int Lanes>
requires std::is_base_of_v<sinter::detail::folds::m2, Op>
class column_fold<Op, T, Lanes> {
 public:
  using state_type = typename Op::template state<T>;

  void clear() {
    for_lanes(Lanes, [mean = mean_, squares = squares_](int i) { mean[i] = squares[i] = T(0); });
    num_values_ = 0;
  }
  template <int Rows, class Value>
  [[gnu::always_inline]] void add(int count, std::int64_t, Value value) {
    T share[Rows];
    for (T& one : share) one = T(1) / static_cast<T>(++num_values_);
    for_lanes(count, [=, mean_of = mean_, squares_of = squares_](int i) {
      T mean = mean_of[i], squares = squares_of[i];
      for (int k = 0; k < Rows; ++k) {
        const T x = value(i, k), d = x - mean;
        mean += d * share[k];
        squares += d * (x - mean);
      }
      mean_of[i] = mean;
      squares_of[i] = squares;
    });
  }
  state_type state(int lane) const { return {mean_[lane], squares_[lane], num_values_}; }

 private:
  alignas(64) T mean_[Lanes], squares_[Lanes];
  std::int64_t num_values_;
};

}  // namespace sinter::cpu::detail

SINTER_END_WIDE_VECTORS
