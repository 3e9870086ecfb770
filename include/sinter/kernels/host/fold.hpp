// How a row's reduction takes up block after block: one state per lane and a step per value, or, where a step would
// cost a division or an exponential, a lane's or all lanes' part of a block at once. Which values a block has is
// evaluate.hpp's matter.
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
/// What is left of a row is taken in such parts: a vector.
inline constexpr int part_of_lanes = 16;

/// combine(...) of part[0], ..., part[Count - 1], of which `used` count, in a tree. Halves of constant length are
/// vector code down to four lanes.
template <int Count, class T, class Combine>
[[gnu::always_inline]] inline T join_lanes(T* part, std::int64_t used, Combine combine) {
  if constexpr (Count == 1) {
    return part[0];
  } else {
    if (used > Count / 2)
      for_vector<Count / 2>([=](int lane) { part[lane] = combine(part[lane], part[lane + Count / 2]); });
    return join_lanes<Count / 2>(part, used, combine);
  }
}

/// step(states[j], value(i), i) for all i < count; j is i modulo `fold_lanes`.
template <class State, class Step, class Value>
[[gnu::always_inline]] inline void step_lanes(State* states, int count, Step step, Value value) {
  alignas(64) State own[fold_lanes];  // which the compiler can hold in registers
  for_vector<fold_lanes>([&](int lane) { own[lane] = states[lane]; });
  int first = 0;
  for (; first + fold_lanes <= count; first += fold_lanes)
    for_vector<fold_lanes>([&](int lane) { step(own[lane], value(first + lane), first + lane); });
  int lane = 0;
  for (const int rest = count - first; lane + part_of_lanes <= rest; lane += part_of_lanes)
    for_vector<part_of_lanes>([&](int i) { step(own[lane + i], value(first + lane + i), first + lane + i); });
  for (; first + lane < count; ++lane) step(own[lane], value(first + lane), first + lane);
  for_vector<fold_lanes>([&](int lane) { states[lane] = own[lane]; });
  keep_stores();
}

/// combine(...) of value(0), ..., value(count - 1), in `fold_lanes` parts, then in a tree.
template <class T, class Combine, class Value>
[[gnu::always_inline]] inline T fold_values(int count, T identity, Combine combine, Value value) {
  alignas(64) T part[fold_lanes];
  for_vector<fold_lanes>([&](int lane) { part[lane] = identity; });
  step_lanes(
      part, count, [=](T& x, T y, int) { x = combine(x, y); }, value);
  return join_lanes<fold_lanes>(part, fold_lanes, combine);
}

// ---- a row, block by block ------------------------------------------------------------------------------------------

/// The running fold of a row: states side by side; state j takes the elements whose index is j modulo their number.
/// Every block but the last one has a multiple of `fold_lanes` elements.
template <class Op, class T>
class row_fold {
 public:
  using state = typename Op::template state<T>;

  void clear() {
    for_lanes(fold_lanes, [s = states_](int i) { s[i] = Op::template init<T>(); });
  }
  /// Folds value(0), ..., value(count - 1), whose first index is r.
  template <class Value>
  [[gnu::always_inline]] void add(int count, std::int64_t r, Value value) {
    step_lanes(
        states_, count, [=](state& s, T x, int i) { Op::template step<T>(s, x, r + i); }, value);
  }
  /// Of `length` values in all.
  state total(std::int64_t length) {
    return join_lanes<fold_lanes>(states_, length, [](state a, state b) { return Op::template combine<T>(a, b); });
  }

 private:
  alignas(64) state states_[fold_lanes];
};

/// Where the extreme value is: first what it is in a block, and only if that wins also where.
template <class Op, class T>
requires std::is_base_of_v<sinter::detail::folds::argmax, Op> || std::is_base_of_v<sinter::detail::folds::argmin, Op>
class row_fold<Op, T> {
 public:
  using state = typename Op::template state<T>;

  void clear() { state_ = Op::template init<T>(); }
  template <class Value>
  [[gnu::always_inline]] void add(int count, std::int64_t r, Value value) {
    const auto extreme = [](T x, T y) { return Op::template extreme<T>(y, x); };
    const T best = fold_values(count, Op::template init<T>().value, extreme, value);
    const auto find = [=] {
      for (int i = 0; i < count; ++i)
        if (const T x = value(i); x == best || (math::isnan(best) && math::isnan(x))) return i;
      return -1;
    };
    Op::template take_best<T>(state_, best, find, [r](int i) { return r + i; });
  }
  state total(std::int64_t) const { return state_; }

 private:
  state state_;
};

/// Squared deviations: each lane's part of a block in two passes, then added to what the lane has as two samples are.
template <class Op, class T>
requires std::is_base_of_v<sinter::detail::folds::m2, Op>
class row_fold<Op, T> {
 public:
  using state = typename Op::template state<T>;

  void clear() {
    for_vector<fold_lanes>([this](int lane) { mean_[lane] = squares_[lane] = T(0); });
    keep_stores();
    rounds_ = 0;
    rest_ = 0;
  }
  template <class Value>
  [[gnu::always_inline]] void add(int count, std::int64_t, Value value) {
    const int rounds = count / fold_lanes, whole = rounds * fold_lanes;
    rest_ = count - whole;
    if (rounds > 0) {
      alignas(64) T mean[fold_lanes], squares[fold_lanes];
      for_vector<fold_lanes>([&](int lane) { mean[lane] = squares[lane] = T(0); });
      for (int first = 0; first < whole; first += fold_lanes)
        for_vector<fold_lanes>([&](int lane) { mean[lane] += value(first + lane); });
      const T part = T(1) / static_cast<T>(rounds);
      for_vector<fold_lanes>([&](int lane) { mean[lane] *= part; });
      for (int first = 0; first < whole; first += fold_lanes)
        for_vector<fold_lanes>([&](int lane) {
          const T d = value(first + lane) - mean[lane];
          squares[lane] += d * d;
        });
      const T share = static_cast<T>(rounds) / static_cast<T>(rounds_ + rounds),
              weight = static_cast<T>(rounds_) * share;
      for_vector<fold_lanes>([&](int lane) {
        const T d = mean[lane] - mean_[lane];
        mean_[lane] += d * share;
        squares_[lane] += squares[lane] + d * (d * weight);
      });
      keep_stores();
      rounds_ += rounds;
    }
    const T share = T(1) / static_cast<T>(rounds_ + 1);
    for_lanes(rest_, [=, this](int lane) {
      const T d = value(whole + lane) - mean_[lane];
      mean_[lane] += d * share;
      squares_[lane] += d * (value(whole + lane) - mean_[lane]);
    });
  }
  state total(std::int64_t length) const {
    const auto weight = [this](int lane) { return static_cast<T>(rounds_ + (lane < rest_)); };
    const auto add = [](T x, T y) { return x + y; };
    const T mean = fold_values(fold_lanes, T(0), add, [&](int lane) { return mean_[lane] * weight(lane); }) /
                   static_cast<T>(length < 1 ? 1 : length);
    const T squares = fold_values(fold_lanes, T(0), add, [&](int lane) {
      const T d = mean_[lane] - mean;
      return squares_[lane] + d * (d * weight(lane));
    });
    return {mean, squares, length};
  }

 private:
  alignas(64) T mean_[fold_lanes], squares_[fold_lanes];
  std::int64_t rounds_;  // a lane has so many values
  int rest_;             // and so many lanes one more
};

/// Exponentials beside the greatest value so far. Blocks in which it does not rise, nearly all of them, wait for
/// nothing but their values; where it rises, what every lane has is scaled.
template <class Op, class T>
requires std::is_base_of_v<sinter::detail::folds::sumexp, Op>
class row_fold<Op, T> {
 public:
  using state = typename Op::template state<T>;

  void clear() {
    greatest_ = minus_infinity<T>();
    for_vector<fold_lanes>([this](int lane) { sums_[lane] = T(0); });
    keep_stores();
  }
  template <class Value>
  [[gnu::always_inline]] void add(int count, std::int64_t, Value value) {
    const auto maximum = [](T x, T y) { return math::maximum(y, x); };  // as amax::step
    const T most = fold_values(count, minus_infinity<T>(), maximum, value);
    if (!(most <= greatest_)) {
      const T scale = math::exp(greatest_ - most);
      for_vector<fold_lanes>([this, scale](int lane) { sums_[lane] *= scale; });
      keep_stores();
      greatest_ = most;
    }
    if (greatest_ == minus_infinity<T>()) {
      sums_[0] += static_cast<T>(count);  // not nothing
      return;
    }
    const T from = greatest_;
    step_lanes(
        sums_, count, [=](T& sum, T x, int) { sum += math::falling_exp(x - from); }, value);
  }
  state total(std::int64_t) {
    return {greatest_, join_lanes<fold_lanes>(sums_, fold_lanes, [](T x, T y) { return x + y; })};
  }

 private:
  alignas(64) T sums_[fold_lanes];
  T greatest_;
};

}  // namespace sinter::cpu::detail

SINTER_END_WIDE_VECTORS
