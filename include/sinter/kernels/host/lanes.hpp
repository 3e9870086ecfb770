// Loops over the lanes of a block that both compilers turn into vector code: over values (for_lanes), and over the
// memory that an index expression walks (for_runs).
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "sinter/kernels/host/layout.hpp"
#include "sinter/kernels/host/width.hpp"

SINTER_WIDE_VECTORS

namespace sinter::cpu::detail {

/// After every loop that writes. g++ 12 may lay a loop's addresses out with a null base (two arrays of one object, of
/// different element sizes, one induction variable), then take them for null accesses, the function around the loop for
/// one without effects, and drop the call. A function with this in it has effects. No instruction comes of it.
[[gnu::always_inline]] inline void keep_stores() {
#ifndef __clang__
  asm volatile("" ::: "memory");
#endif
}

/// f(0), ..., f(Count - 1) as vector code; no lane may use what another one writes. Whoever has called it last in a
/// function calls keep_stores.
template <int Count, class F>
[[gnu::always_inline]] inline void for_vector(F f) {
#ifndef __clang__
#pragma GCC ivdep
#endif
  for (int j = 0; j < Count; ++j) f(j);
}

/// f(i) for every lane; no lane may use what another one writes. g++ at -O2 vectorises only loops of a constant trip
/// count, and wants to be told that lanes are independent; clang unrolls such loops instead, but checks by itself.
template <class F>
[[gnu::always_inline]] inline void for_lanes(int count, F f) {
#ifndef __clang__
// g++ 12 follows a loop one round too far and finds it write past the array.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstringop-overflow"
  constexpr int stride = 32;
  const int rest = count % stride, whole = count - rest;
  for (int i = 0; i < whole; i += stride) for_vector<stride>([=](int j) { f(i + j); });
  for (int j = 0; j < rest; ++j) f(whole + j);
#pragma GCC diagnostic pop
#else
  for (int i = 0; i < count; ++i) f(i);
#endif
  keep_stores();
}

/// A constant that is also a type: for_runs hands over the step as one where it can.
template <long Step>
using fixed_step = std::integral_constant<std::int64_t, Step>;

/// One term of an index expression on its way along the lane variable: `left` more lanes until it does something else.
struct term_walk {
  std::int64_t value, left, div, mod, coef;

  void start(std::int64_t i) {
    value = div == 1 ? i : i / div;
    left = div == 1 ? INT64_MAX : div - (i - value * div);
    if (mod == 0) return;
    value %= mod;
    if (div == 1) left = mod - value;
  }
  void advance(std::int64_t count) {
    if (div == 1) value += count;
    if (left == INT64_MAX) return;
    left -= count;
    if (left > 0) return;
    left = div == 1 ? mod : div;
    if (div != 1) ++value;
    if (value == mod) value = 0;
  }
};

template <class At>
struct walk_of;
template <long Offset, class... Terms>
struct walk_of<at<Offset, Terms...>> {
  static constexpr int size = sizeof...(Terms);

  /// Calls f(first lane, count, offset, step) for runs of lanes over which the offset is offset + k * step.
  template <loop_var V, class Sizes, class F>
  static void run(std::int64_t x, std::int64_t r, int count, const Sizes& sizes, F f) {
    std::int64_t base = resolve(Offset, sizes), step = 0;
    term_walk walks[size + 1];
    int used = 0;
    (
        [&] {
          using t = term_facts<Terms>;
          if constexpr (t::variable != V) {
            base += t::value(V == loop_var::x ? r : x, sizes);
          } else {
            term_walk& w = walks[used++];
            w.div = resolve(t::div, sizes);
            w.mod = resolve(t::mod, sizes);
            w.coef = resolve(t::coef, sizes);
            w.start(V == loop_var::x ? x : r);
            if (w.div == 1) step += w.coef;
          }
        }(),
        ...);
    for (int first = 0; first < count;) {
      std::int64_t length = count - first, offset = base;
      for (int k = 0; k < used; ++k) {
        offset += walks[k].value * walks[k].coef;
        if (walks[k].left < length) length = walks[k].left;
      }
      f(first, static_cast<int>(length), offset, step);
      first += static_cast<int>(length);
      for (int k = 0; k < used; ++k) walks[k].advance(length);
    }
  }
};

/// Runs of `count` lanes of V from (x, r): f(first lane, count, offset, step), step a fixed_step where it is known.
template <class At, loop_var V, int Lanes, bool Aligned, class Sizes, class F>
[[gnu::always_inline]] inline void for_runs(std::int64_t x, std::int64_t r, int count, const Sizes& sizes, F f) {
  constexpr long step = lane_step<At>::of(V, Lanes, Aligned);
  if constexpr (step == at_facts<At>::irregular) walk_of<At>::template run<V>(x, r, count, sizes, f);
  else f(0, count, at_facts<At>::template offset<std::int64_t>(x, r, sizes), fixed_step<step>{});
}

/// out[i] = the value at p[i * step], in its compute type.
template <class T, class Step>
[[gnu::always_inline]] inline void read_run(compute_t<T>* out, const T* p, int count, Step step) {
  if (step == 1) for_lanes(count, [=](int i) { out[i] = widen(p[i]); });
  else if (step == 0) for_lanes(count, [out, value = widen(*p)](int i) { out[i] = value; });
  else for_lanes(count, [=](int i) { out[i] = widen(p[i * static_cast<std::int64_t>(step)]); });
}

/// out[i] = low <= offset + i * step < high, which is so for neighbours.
template <class Step>
void fill_inside(bool* out, int count, std::int64_t offset, Step step, std::int64_t low, std::int64_t high) {
  if (step < 0)
    return for_lanes(count, [=](int i) {
      const std::int64_t at = offset + i * static_cast<std::int64_t>(step);
      out[i] = math::both(low <= at, at < high);
    });
  // The first lane that reaches the bound; where lanes do not move, all do or none.
  const auto reach = [=](std::int64_t bound) {
    const std::int64_t way = bound - offset, stride = step == 0 ? 1 : static_cast<std::int64_t>(step);
    const std::int64_t lanes = way <= 0 ? 0 : step == 0 ? count : stride == 1 ? way : (way - 1) / stride + 1;
    return static_cast<int>(lanes < count ? lanes : count);
  };
  for_lanes(count, [out, begin = reach(low), end = reach(high)](int i) { out[i] = math::both(begin <= i, i < end); });
}

/// The first lane from `first` on that is unlike it.
inline int end_of_run(const bool* lanes, int first, int count) {
  int i = first;
  for (const std::uint64_t like = lanes[first] ? 0x0101010101010101u : 0; i + 8 <= count; i += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, lanes + i, 8);
    if (eight != like) break;
  }
  while (i < count && lanes[i] == lanes[first]) ++i;
  return i;
}
/// f(first, count, value) for runs of equal lanes.
template <class F>
void for_equal(const bool* lanes, int count, F f) {
  for (int first = 0, end = 0; first < count; first = end) {
    end = end_of_run(lanes, first, count);
    f(first, end - first, lanes[first]);
  }
}

}  // namespace sinter::cpu::detail

SINTER_END_WIDE_VECTORS
