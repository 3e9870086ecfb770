// The memory that an index expression walks along a block of lanes: runs of them in equal steps, or, where runs are
// short, the place of each. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "sinter/base/dtype.hpp"
#include "sinter/base/math.hpp"
#include "sinter/kernels/body.hpp"
#include "sinter/kernels/host/lanes.hpp"
#include "sinter/kernels/host/layout.hpp"
#include "sinter/kernels/host/widening.hpp"
#include "sinter/kernels/host/width.hpp"

SINTER_WIDE_VECTORS

namespace sinter::cpu::detail {

/// A constant that is also a type: the step of a run as one where it can be.
template <long Step>
using fixed_step = std::integral_constant<std::int64_t, Step>;
/// Instead of a step, where runs are so short that lanes are better taken one by one: how far each of them lies.
template <class Distance>
struct places {
  const Distance* at;
  friend constexpr bool operator==(places, int) { return false; }
};
template <class Step>
inline constexpr bool is_scattered = false;
template <class Distance>
inline constexpr bool is_scattered<places<Distance>> = true;

/// How far lane i of a run lies.
template <class Step>
[[gnu::always_inline]] inline std::int64_t along(Step step, int i) {
  if constexpr (is_scattered<Step>) return step.at[i];
  else return i * static_cast<std::int64_t>(step);
}

/// What happens every `period` lanes, next after `left` of them: how often before lane n.
class recurrence {
  float shift_, frequency_;

 public:
  recurrence(std::int64_t period, std::int64_t left) {
    constexpr std::int64_t most = 1 << 16;  // far more than a block has
    if (period > most) period = most;
    shift_ = static_cast<float>(left < period ? period - left : 0) + 0.5f;
    frequency_ = 1.0f / static_cast<float>(period);
  }
  int operator()(int n) const { return static_cast<int>((static_cast<float>(n) + shift_) * frequency_); }
};

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
  /// Lanes from one change to the next.
  std::int64_t run() const { return div != 1 ? div : mod != 0 ? mod : INT64_MAX; }
  void advance(std::int64_t count) {
    if (div == 1) value += count;
    if (left == INT64_MAX) return;
    left -= count;
    if (left > 0) return;
    left = div == 1 ? mod : div;
    if (div != 1) ++value;
    if (value == mod) value = 0;
  }
  /// Whether the places of so many lanes lie as near as add_places needs.
  bool is_near(int count) const {
    const std::int64_t most = INT32_MAX / 8, distance = coef < 0 ? -coef : coef;
    return distance < most / count && (mod == 0 || mod - value > count || distance < most / mod);
  }
  /// to[i] += how far lane i lies from the first.
  void add_places(std::int32_t* to, int count) const {
    const auto by = static_cast<std::int32_t>(coef);
    if (mod == 0 && div == 1) return for_lanes(count, [=](int i) { to[i] += i * by; });
    const bool turns_back = mod != 0 && mod - value <= count;
    const recurrence steps(div, left), turns(turns_back ? mod : INT64_MAX, turns_back ? mod - value : INT64_MAX);
    const auto back = static_cast<std::int32_t>(turns_back ? coef * mod : 0);
    if (div == 1) for_lanes(count, [=](int i) { to[i] += i * by - turns(i) * back; });
    else
      for_lanes(count, [=](int i) {
        const int n = steps(i);
        to[i] += n * by - turns(n) * back;
      });
  }
};

/// Runs shorter than this cost more than to say of each lane where it lies; of those that a mask cuts each costs more.
inline constexpr int short_run = 8, short_masked_run = 24;
/// Of runs whose length the compiler knows loops have a constant length, if that is no less and no more than this.
inline constexpr int least_usual_run = 6, longest_usual_run = 32;

template <class At, loop_var V>
struct walk_of;
template <long Offset, class... Terms, loop_var V>
struct walk_of<at<Offset, Terms...>, V> {
  static constexpr int size = (0 + ... + (term_facts<Terms>::variable == V));
  std::int64_t base, step = 0;
  term_walk walks[size + 1];

  template <class Sizes>
  walk_of(std::int64_t x, std::int64_t r, const Sizes& sizes) : base(resolve(Offset, sizes)) {
    [[maybe_unused]] int n = 0;
    (
        [&] {
          using t = term_facts<Terms>;
          if constexpr (t::variable != V) {
            base += t::value(V == loop_var::x ? r : x, sizes);
          } else {
            term_walk& w = walks[n++];
            w.div = resolve(t::div, sizes);
            w.mod = resolve(t::mod, sizes);
            w.coef = resolve(t::coef, sizes);
            w.start(V == loop_var::x ? x : r);
            if (w.div == 1) step += w.coef;
          }
        }(),
        ...);
  }

  /// Whether some term does something else after a few lanes.
  bool has_runs_below(int shortest) const {
    for (int k = 0; k < size; ++k)
      if (walks[k].run() < shortest) return true;
    return false;
  }
  static constexpr bool may_have_runs_below(int shortest) {
    const auto may = [=]<class Term>(Term) {
      using t = term_facts<Term>;
      const long run = t::div == 1 ? t::mod : t::div;  // 0: without end; less: known when it runs
      return t::variable == V && run != 0 && run < shortest;
    };
    return (may(Terms{}) || ...);
  }

  /// The length of most runs, if the compiler knows it: what divides all lengths after which a term does
  /// something else.
  static constexpr long usual_length = [] {
    long length = 0;
    [[maybe_unused]] const auto divide = [&length](long by) {
      if (is_dynamic(by)) by = 1;
      for (; by != 0; length = std::exchange(by, length % by)) continue;
    };
    (
        [&] {
          using t = term_facts<Terms>;
          if (t::variable == V) divide(t::div != 1 ? t::div : t::mod);
        }(),
        ...);
    return length;
  }();
  static constexpr bool has_usual_length = usual_length >= least_usual_run && usual_length <= longest_usual_run;

  /// Calls f(first lane, count, offset, step) for runs of lanes over which the offset is offset + k * step.
  template <class F>
  void run(int count, F f) {
    for (int first = 0; first < count;) {
      std::int64_t length = count - first, offset = base;
      for (int k = 0; k < size; ++k) {
        offset += walks[k].value * walks[k].coef;
        if (walks[k].left < length) length = walks[k].left;
      }
      if (has_usual_length && length == usual_length) f(first, usual_length, offset, step);
      else f(first, static_cast<int>(length), offset, step);
      first += static_cast<int>(length);
      for (int k = 0; k < size; ++k) walks[k].advance(length);
    }
  }
  bool is_near(int count) const {
    for (int k = 0; k < size; ++k)
      if (!walks[k].is_near(count)) return false;
    return true;
  }
  /// f(0, count, offset, places) for all lanes at once.
  template <int Lanes, class F>
  void scatter(int count, F f) const {
    alignas(64) std::int32_t to[Lanes];
    for_lanes(count, [=, to = +to](int i) { to[i] = 0; });
    std::int64_t offset = base;
    for (int k = 0; k < size; ++k) {
      offset += walks[k].value * walks[k].coef;
      walks[k].add_places(to, count);
    }
    f(0, count, offset, places<std::int32_t>{to});
  }
};

/// Runs of `count` lanes of V from (x, r): f(first lane, count, offset, step), step a fixed_step where it is known, or
/// `places` where there may be runs below the Shortest.
template <class At, loop_var V, int Lanes, bool Aligned, int Shortest, class Sizes, class F>
[[gnu::always_inline]] inline void for_runs(std::int64_t x, std::int64_t r, int count, const Sizes& sizes, F f) {
  constexpr long step = lane_step<At>::of(V, Lanes, Aligned);
  if constexpr (step != at_facts<At>::irregular) {
    f(0, count, at_facts<At>::template offset<std::int64_t>(x, r, sizes), fixed_step<step>{});
  } else {
    using walk_type = walk_of<At, V>;
    constexpr bool is_masked = Shortest > short_run;
    walk_type walk(x, r, sizes);
    if constexpr (Shortest > 0 && walk_type::may_have_runs_below(Shortest) &&
                  (is_masked || !walk_type::has_usual_length))
      if (walk.has_runs_below(Shortest) && walk.is_near(count)) return walk.template scatter<Lanes>(count, f);
    walk.run(count, f);
  }
}

// The C library's: of a loop over a few lanes compilers make string instructions, which take long to begin.
[[gnu::noinline]] inline void copy_bytes(void* to, const void* from, std::size_t count) {
  std::memcpy(to, from, count);
}
[[gnu::noinline]] inline void clear_bytes(void* to, std::size_t count) { std::memset(to, 0, count); }

template <class T>
void clear_lanes(T* out, int count) {
  clear_bytes(out, static_cast<std::size_t>(count) * sizeof(T));
}

/// out[i] = the value at p[i * step], in its compute type.
template <class T, class Step>
[[gnu::always_inline]] inline void read_run(compute_t<T>* out, const T* p, int count, Step step) {
  if (step == 1) {
    if constexpr (std::is_same_v<T, compute_t<T>>) copy_bytes(out, p, static_cast<std::size_t>(count) * sizeof(T));
    else widen_run(out, p, count);
  } else if (step == 0) for_lanes(count, [out, value = widen(*p)](int i) { out[i] = value; });
  else for_lanes(count, [=](int i) { out[i] = widen(p[along(step, i)]); });
}

/// out[i] = low <= offset + i * step < high, which is so for neighbours.
template <class Step>
void fill_inside(bool* out, int count, std::int64_t offset, Step step, std::int64_t low, std::int64_t high) {
  const auto compare = [=](int i) {
    const std::int64_t at = offset + along(step, i);
    out[i] = math::both(low <= at, at < high);
  };
  if constexpr (is_scattered<Step>) {
    for_lanes(count, compare);
  } else {
    if (step < 0) return for_lanes(count, compare);
    // The first lane that reaches the bound; where lanes do not move, all do or none.
    const auto reach = [=](std::int64_t bound) {
      const std::int64_t way = bound - offset, stride = step == 0 ? 1 : static_cast<std::int64_t>(step);
      const std::int64_t lanes = way <= 0 ? 0 : step == 0 ? count : stride == 1 ? way : (way - 1) / stride + 1;
      return static_cast<int>(lanes < count ? lanes : count);
    };
    for_lanes(count, [out, begin = reach(low), end = reach(high)](int i) { out[i] = math::both(begin <= i, i < end); });
  }
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

/// out[i] = the value at p[along(step, i)] where lanes are lit, else zero, without a branch: the others read what the
/// first one of these does.
template <class T, class Distance>
void read_scattered(const bool* lit, compute_t<T>* out, const T* p, int count, places<Distance> step) {
  const int first = lit[0] ? 0 : end_of_run(lit, 0, count);
  if (first == count) return clear_lanes(out, count);
  alignas(64) Distance at[most_lanes];
  for_lanes(count, [=, to = at, other = step.at[first]](int i) {
    const Distance chosen = -static_cast<Distance>(lit[i]);
    to[i] = other + ((step.at[i] - other) & chosen);
  });
  for_lanes(count, [=, from = at](int i) { out[i] = math::select(lit[i], widen(p[from[i]]), compute_t<T>()); });
}

/// out[first + i] = the value at p[i * step] where lanes are lit, else zero; all are where `lit` is null.
template <bool Differs, class T, class Step>
[[gnu::always_inline]] inline void read_lit([[maybe_unused]] const bool* lit, compute_t<T>* out, const T* p, int first,
                                            int count, Step step) {
  out += first;
  if constexpr (Differs)
    if (lit != nullptr) {
      lit += first;
      if constexpr (is_scattered<Step>) return read_scattered(lit, out, p, count, step);
      else
        return for_equal(lit, count, [=](int i, int n, bool lit) {
          if (lit) read_run(out + i, p + along(step, i), n, step);
          else clear_lanes(out + i, n);
        });
    }
  read_run(out, p, count, step);
}

}  // namespace sinter::cpu::detail

SINTER_END_WIDE_VECTORS
