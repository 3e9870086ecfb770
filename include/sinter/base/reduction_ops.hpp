// The folds behind the reduction ops: identity, step, combination, result. A fold may be cut anywhere and its parts
// combined in any order, which is what lets kernels split rows over lanes, warps and blocks. Where many values at hand
// cost less than as many steps, `take` folds an array: those of its elements that are `in`. Where the states of many
// lanes cost less number by number than two by two, `across` combines them: lanes.sum, greatest and least are those of
// all lanes. How a row is split is the kernels' matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "sinter/base/arithmetic.hpp"
#include "sinter/base/config.hpp"
#include "sinter/base/dtype.hpp"
#include "sinter/base/math.hpp"

namespace sinter::detail::folds {

/// Sums of integers and bool run, and end, in 64 bits.
template <class T>
using accumulator_t = std::conditional_t<std::is_floating_point_v<T>, T, std::int64_t>;

struct sum {
  template <class T>
  struct state {
    accumulator_t<T> value;
  };
  template <class T>
  SINTER_HOST_DEVICE static constexpr state<T> init() {
    return {accumulator_t<T>(0)};
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr void step(state<T>& s, T value, std::int64_t) {
    s.value = math::add(s.value, static_cast<accumulator_t<T>>(value));
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr state<T> combine(state<T> a, state<T> b) {
    return {math::add(a.value, b.value)};
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr auto finish(state<T> s) {
    return s.value;
  }
};

struct prod {
  template <class T>
  struct state {
    accumulator_t<T> value;
  };
  template <class T>
  SINTER_HOST_DEVICE static constexpr state<T> init() {
    return {accumulator_t<T>(1)};
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr void step(state<T>& s, T value, std::int64_t) {
    s.value = math::mul(s.value, static_cast<accumulator_t<T>>(value));
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr state<T> combine(state<T> a, state<T> b) {
    return {math::mul(a.value, b.value)};
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr auto finish(state<T> s) {
    return s.value;
  }
};

/// The greatest; NaN wins.
struct amax {
  template <class T>
  struct state {
    T value;
  };
  template <class T>
  SINTER_HOST_DEVICE static constexpr state<T> init() {
    return {minus_infinity<T>()};
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr void step(state<T>& s, T value, std::int64_t) {
    s.value = math::maximum(value, s.value);  // in this order the next step waits for one comparison only
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr state<T> combine(state<T> a, state<T> b) {
    return {math::maximum(a.value, b.value)};
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr auto finish(state<T> s) {
    return s.value;
  }
};

struct amin {
  template <class T>
  struct state {
    T value;
  };
  template <class T>
  SINTER_HOST_DEVICE static constexpr state<T> init() {
    return {limits<T>::infinity()};
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr void step(state<T>& s, T value, std::int64_t) {
    s.value = math::minimum(value, s.value);
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr state<T> combine(state<T> a, state<T> b) {
    return {math::minimum(a.value, b.value)};
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr auto finish(state<T> s) {
    return s.value;
  }
};

struct any {
  template <class T>
  struct state {
    bool value;
  };
  template <class T>
  SINTER_HOST_DEVICE static constexpr state<T> init() {
    return {false};
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr void step(state<T>& s, T value, std::int64_t) {
    s.value = math::either(s.value, value != T(0));
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr state<T> combine(state<T> a, state<T> b) {
    return {math::either(a.value, b.value)};
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr auto finish(state<T> s) {
    return s.value;
  }
};

struct all {
  template <class T>
  struct state {
    bool value;
  };
  template <class T>
  SINTER_HOST_DEVICE static constexpr state<T> init() {
    return {true};
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr void step(state<T>& s, T value, std::int64_t) {
    s.value = math::both(s.value, value != T(0));
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr state<T> combine(state<T> a, state<T> b) {
    return {math::both(a.value, b.value)};
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr auto finish(state<T> s) {
    return s.value;
  }
};

/// Where the extreme value is. NaN is more extreme than any number; of equals the first wins. Place: an integer that
/// counts a row's values.
template <bool Greatest, class Place = std::int64_t>
struct arg_extreme {
  template <class T>
  struct state {
    T value;
    Place index;
  };
  template <class T>
  SINTER_HOST_DEVICE static constexpr state<T> init() {
    return {Greatest ? minus_infinity<T>() : limits<T>::infinity(), limits<Place>::highest()};
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr state<T> combine(state<T> a, state<T> b) {
    const bool a_nan = math::isnan(a.value), b_nan = math::isnan(b.value);
    const bool better = Greatest ? (a.value) > b.value : (a.value) < b.value;  // (else "a.value <" begins a template)
    const bool tie = math::either(a.value == b.value, math::both(a_nan, b_nan));
    const bool a_wins = math::either(math::both(a_nan, !b_nan), math::both(better, !b_nan));
    return math::either(a_wins, math::both(tie, a.index < b.index)) ? a : b;
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr void step(state<T>& s, T value, std::int64_t index) {
    s = combine<T>(s, state<T>{value, static_cast<Place>(index)});
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr T extreme(T a, T b) {
    return Greatest ? math::maximum(a, b) : math::minimum(a, b);
  }
  /// The extreme value first; where it is only if it may win. at(i) is the place of values[i], and grows with i.
  template <class T, int N, class At>
  SINTER_HOST_DEVICE static constexpr void take(state<T>& s, const T (&values)[N], const bool (&in)[N], const At& at) {
    T best = init<T>().value;
    SINTER_UNROLL_ON_DEVICE
    for (int i = 0; i < N; ++i)
      if (in[i]) best = extreme(best, values[i]);
    take_best(
        s, best, [&] { return first_of(best, values, in); }, at);
  }
  /// find() is the first i of `best`, or -1.
  template <class T, class Find, class At>
  SINTER_HOST_DEVICE static constexpr void take_best(state<T>& s, T best, const Find& find, const At& at) {
    if (Greatest ? best < s.value : best > s.value) return;  // (nothing is so beside a NaN)
    if (const int where = find(); where >= 0) s = combine<T>(s, state<T>{best, static_cast<Place>(at(where))});
  }
  template <class T, int N>
  SINTER_HOST_DEVICE static constexpr int first_of(T best, const T (&values)[N], const bool (&in)[N]) {
    int where = -1;
    SINTER_UNROLL_ON_DEVICE
    for (int i = N - 1; i >= 0; --i)
      if (math::both(in[i], values[i] == best)) where = i;
    if (math::isnan(best)) {
      SINTER_UNROLL_ON_DEVICE
      for (int i = N - 1; i >= 0; --i)
        if (math::both(in[i], math::isnan(values[i]))) where = i;
    }
    return where;
  }
  template <class T, class Lanes>
  SINTER_HOST_DEVICE static constexpr state<T> across(state<T> s, const Lanes& lanes) {
    const T best = Greatest ? lanes.greatest(s.value) : lanes.least(s.value);
    const bool wins = math::either(s.value == best, math::both(math::isnan(s.value), math::isnan(best)));
    return {best, lanes.least(wins ? s.index : limits<Place>::highest())};
  }
  /// Of an empty row the index is 0.
  template <class T>
  SINTER_HOST_DEVICE static constexpr std::int64_t finish(state<T> s) {
    return s.index == limits<Place>::highest() ? 0 : s.index;
  }
};
struct argmax : arg_extreme<true> {};
struct argmin : arg_extreme<false> {};
/// Does Op find the greatest, or the least?
template <class Op, bool Greatest>
inline constexpr bool finds_extreme =
    std::is_base_of_v<arg_extreme<Greatest>, Op> || std::is_base_of_v<arg_extreme<Greatest, std::int32_t>, Op>;

/// The sum of squared deviations from the mean: Welford's update, Chan's combination. No cancellation, one pass.
/// Count: an integer that counts a row's values; a float would stop at 2^24.
template <class Count>
struct counted_m2 {
  template <class T>
  struct state {
    T mean, m2;
    Count count;
  };
  template <class T>
  SINTER_HOST_DEVICE static constexpr state<T> init() {
    return {T(0), T(0), 0};
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr void step(state<T>& s, T value, std::int64_t) {
    ++s.count;
    const T d = value - s.mean;
    s.mean += d / static_cast<T>(s.count);
    s.m2 += d * (value - s.mean);
  }
  /// Sums of deviations, and of their squares, from the mean so far, or from one of the first values: one division for
  /// all of them.
  template <class T, int N>
  SINTER_HOST_DEVICE static constexpr void take(state<T>& s, const T (&values)[N], const bool (&in)[N]) {
    T first = s.mean, sum = T(0), squares = T(0);
    int count = 0;
    SINTER_UNROLL_ON_DEVICE
    for (int i = N - 1; i >= 0; --i)
      if (in[i]) first = values[i];
    const T from = s.count == 0 ? first : s.mean;
    SINTER_UNROLL_ON_DEVICE
    for (int i = 0; i < N; ++i) {
      const T d = in[i] ? values[i] - from : T(0);
      count += in[i];
      sum += d;
      squares += d * d;
    }
    s.count += count;
    const T shift = math::detail::soft_div(sum, static_cast<T>(s.count == 0 ? 1 : s.count));
    s.mean = from + shift;
    s.m2 += squares - sum * shift;
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr state<T> combine(state<T> a, state<T> b) {
    const Count count = a.count + b.count;
    const T share = math::detail::soft_div(static_cast<T>(b.count), static_cast<T>(count == 0 ? 1 : count));
    const T d = b.mean - a.mean;
    return {a.mean + d * share, a.m2 + b.m2 + d * d * static_cast<T>(a.count) * share, count};
  }
  template <class T, class Lanes>
  SINTER_HOST_DEVICE static constexpr state<T> across(state<T> s, const Lanes& lanes) {
    const Count count = lanes.sum(s.count);
    const T own = static_cast<T>(s.count);
    const T mean = lanes.sum(s.mean * math::detail::soft_div(own, static_cast<T>(count == 0 ? 1 : count)));
    const T d = s.mean - mean;
    return {mean, lanes.sum(s.m2 + d * own * d), count};
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr auto finish(state<T> s) {
    return s.m2;
  }
};
struct m2 : counted_m2<std::int64_t> {};

/// The sum of exp(x - greatest x) in one pass: what came before is scaled when a greater value comes.
struct sumexp {
  template <class T>
  SINTER_HOST_DEVICE static constexpr T quick_exp(T x) {
#ifdef __CUDA_ARCH__
    if constexpr (std::is_same_v<T, float>) {
      float power;  // beside a sum of at least 1 what is subnormal may be nothing: three instructions less
      asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x * 0x1.715476p+0f));
      return power;
    }
#endif
    return math::exp(x);
  }
  template <class T>
  struct state {
    T greatest, sum;
  };
  template <class T>
  SINTER_HOST_DEVICE static constexpr state<T> init() {
    return {minus_infinity<T>(), T(0)};
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr state<T> combine(state<T> a, state<T> b) {
    const bool b_is_greater = b.greatest > a.greatest;
    // The lesser side's scale; of equals, infinite ones too, it is one.
    const T scale = math::select(a.greatest == b.greatest, T(1), math::exp(-math::abs(a.greatest - b.greatest)));
    return {math::maximum(a.greatest, b.greatest),
            math::select(b_is_greater, a.sum * scale + b.sum, a.sum + b.sum * scale)};
  }
  template <class T>
  SINTER_HOST_DEVICE static constexpr void step(state<T>& s, T value, std::int64_t) {
    s = combine<T>(s, state<T>{value, T(1)});
  }
  /// One exponential per value, a quick one: the error of a term e^x, x <= 0, is |x| e^x 2^-24 beside a sum of at
  /// least 1.
  template <class T, int N>
  SINTER_HOST_DEVICE static constexpr void take(state<T>& s, const T (&values)[N], const bool (&in)[N]) {
    T greatest = minus_infinity<T>();
    SINTER_UNROLL_ON_DEVICE
    for (int i = 0; i < N; ++i)
      if (in[i]) greatest = math::maximum(greatest, values[i]);
    take_best(s, greatest, values, in);
  }
  /// `greatest`: of the values.
  template <class T, int N>
  SINTER_HOST_DEVICE static constexpr void take_best(state<T>& s, T greatest, const T (&values)[N],
                                                     const bool (&in)[N]) {
    const T top = math::maximum(s.greatest, greatest);
    const bool nothing_greater = top == minus_infinity<T>();
    const T from = nothing_greater ? T(0) : top;
    T sum = T(0);
    int count = 0;
    SINTER_UNROLL_ON_DEVICE
    for (int i = 0; i < N; ++i) {
      sum += in[i] ? quick_exp(values[i] - from) : T(0);
      count += in[i];
    }
    if (nothing_greater) sum = static_cast<T>(count);
    // A quick one as well: what it errs, |x| e^x 2^-24 of the sum before, is beside a sum of at least 1, too.
    s = {top, s.sum * math::select(s.greatest == top, T(1), quick_exp(s.greatest - top)) + sum};
  }
  /// What a sum of exponentials below `greatest` is multiplied by for those below `top`; if both are infinite, one.
  template <class T>
  SINTER_HOST_DEVICE static constexpr T scale_to(T greatest, T top) {
    return math::select(greatest == top, T(1), math::exp(greatest - top));
  }
  template <class T, class Lanes>
  SINTER_HOST_DEVICE static constexpr state<T> across(state<T> s, const Lanes& lanes) {
    const T top = lanes.greatest(s.greatest);
    return {top, lanes.sum(s.sum * scale_to(s.greatest, top))};
  }
  /// As the two passes have it: a row whose greatest value is infinite is NaN.
  template <class T>
  SINTER_HOST_DEVICE static constexpr auto finish(state<T> s) {
    return math::select(math::both(math::isinf(s.greatest), s.sum > T(0)), s.greatest - s.greatest, s.sum);
  }
};

/// log(sum(exp(x))) in one pass. The greatest value may be infinite: the result is it.
struct logsumexp : sumexp {
  template <class T>
  SINTER_HOST_DEVICE static constexpr auto finish(state<T> s) {
    return math::select(math::isinf(s.greatest), s.greatest, s.greatest + math::log(s.sum));
  }
};

}  // namespace sinter::detail::folds
