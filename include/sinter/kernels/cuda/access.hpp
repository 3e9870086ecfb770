// How a body touches memory when one index variable is walked `width` elements at a time: which accesses are one wide
// load, which are the same element, which are strided, and what must hold at run time for that to be true.
// Host-only constants and one launch-time check; the device code that acts on them is evaluate.cuh.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/body.hpp"
#include "sinter/kernels/cuda/loose_terms.hpp"

namespace sinter::cuda::detail {

using sinter::detail::statement_facts;
using sinter::detail::statement_kind;

/// What `width` neighbours along a variable, starting at a multiple of width, touch.
enum class access : unsigned char {
  uniform,     ///< one element
  contiguous,  ///< width elements in a row, the first at a multiple of width
  strided,     ///< a constant distance apart
  irregular    ///< anything
};

struct pattern {
  access kind = access::irregular;
  long step = 0;  // of strided
};

/// Dynamic numbers (extents, strides, offsets) are taken to be multiples of the width; `holds` checks that at launch.
template <class At>
struct at_pattern;
template <long Offset, class... Terms>
struct at_pattern<at<Offset, Terms...>> {
  static constexpr bool multiple(long number, long width) { return is_dynamic(number) || number % width == 0; }

  static constexpr pattern of([[maybe_unused]] loop_var v, long width) {
    long step = 0;
    bool regular = true, constant_step = true, aligned = multiple(Offset, width);
    (
        [&] {
          using t = term_facts<Terms>;
          if (t::variable == v && t::div == 1) {
            regular = regular && multiple(t::mod, width);
            constant_step = constant_step && !is_dynamic(t::coef);
            step += t::coef;
          } else {
            if (t::variable == v) regular = regular && multiple(t::div, width);
            aligned = aligned && multiple(t::coef, width);
          }
        }(),
        ...);
    if (!regular || !constant_step) return {access::irregular, 0};
    if (step == 0) return {access::uniform, 0};
    if (step == 1 && aligned) return {access::contiguous, 1};
    return {access::strided, step};
  }

  /// Do the dynamic numbers that `of` relied on have the width as a divisor?
  template <class Sizes>
  static bool holds([[maybe_unused]] loop_var v, long width, const Sizes& sizes) {
    const pattern p = of(v, width);
    if (p.kind == access::irregular) return true;
    const auto ok = [&](long number) { return !is_dynamic(number) || sizes[dynamic_slot(number)] % width == 0; };
    bool all = true;
    (
        [&] {
          using t = term_facts<Terms>;
          if (t::variable == v) all = all && ok(t::div == 1 ? t::mod : t::div);
          if (p.kind == access::contiguous && !(t::variable == v && t::div == 1)) all = all && ok(t::coef);
        }(),
        ...);
    return all && (p.kind != access::contiguous || ok(Offset));
  }
};

/// What one statement touches. `bytes` 0: no memory.
struct touch {
  int bytes = 0;
  int slot = -1;
  bool indexed = false;  // has an index expression
  bool gather = false;   // or scatter
  long gather_coef = 0;
  pattern where{};
  int index_operand = 0;  // of a gather or scatter: which operand is its index
  bool only_read = true;  // no statement of the body writes this memory
};

template <class S>
struct touch_of {
  static constexpr bool divides = false;
  static constexpr touch at(loop_var, long) { return {}; }
  template <class Sizes>
  static bool holds(loop_var, long, const Sizes&) {
    return true;
  }
};
template <class At>
struct touch_at {
  static constexpr bool divides = loose_at<At>::breaks;
  template <class Sizes>
  static bool holds(loop_var v, long width, const Sizes& sizes) {
    return at_pattern<At>::holds(v, width, sizes);
  }
};
template <int Slot, class T, class At, int Mask>
struct touch_of<load<Slot, T, At, Mask>> : touch_at<At> {
  static constexpr touch at(loop_var v, long width) {
    return {static_cast<int>(sizeof(T)), Slot, true, false, 0, at_pattern<At>::of(v, width)};
  }
};
template <int Slot, class T, int A, class At, int Mask>
struct touch_of<store<Slot, T, A, At, Mask>> : touch_at<At> {
  static constexpr touch at(loop_var v, long width) {
    return {static_cast<int>(sizeof(T)), Slot, true, false, 0, at_pattern<At>::of(v, width)};
  }
};
template <int Slot, class T, class At, int Index, long Coef, long Bound, int Mask>
struct touch_of<gather_load<Slot, T, At, Index, Coef, Bound, Mask>> : touch_at<At> {
  static constexpr touch at(loop_var v, long width) {
    return {static_cast<int>(sizeof(T)), Slot, true, true, Coef, at_pattern<At>::of(v, width)};
  }
  template <class Sizes>
  static bool holds(loop_var v, long width, const Sizes& sizes) {
    return at_pattern<At>::holds(v, width, sizes) && (!is_dynamic(Coef) || sizes[dynamic_slot(Coef)] % width == 0);
  }
};
template <int Slot, class T, int A, class At, int Index, long Coef, long Bound, int Mask>
struct touch_of<scatter_store<Slot, T, A, At, Index, Coef, Bound, Mask>>
    : touch_of<gather_load<Slot, T, At, Index, Coef, Bound, Mask>> {
  static constexpr touch at(loop_var v, long width) {
    return {static_cast<int>(sizeof(T)), Slot, true, true, Coef, at_pattern<At>::of(v, width), 1};
  }
};
template <class At>
struct touch_of<index_value<At>> : touch_at<At> {
  static constexpr touch at(loop_var v, long width) { return {0, -1, true, false, 0, at_pattern<At>::of(v, width)}; }
};
template <class At, long Low, long High>
struct touch_of<inside<At, Low, High>> : touch_at<At> {
  static constexpr touch at(loop_var v, long width) { return {0, -1, true, false, 0, at_pattern<At>::of(v, width)}; }
};

/// What a statement computes, in halves of an instruction, at least.
template <class S>
inline constexpr int instruction_halves = 0;
template <class Op, class T, class Result, int A, int B, int C>
inline constexpr int instruction_halves<compute<Op, T, Result, A, B, C>> = is_costly(Op::id) ? 16 : 1;

/// The accesses of a whole body for one variable and width.
template <class Body>
struct access_facts;
template <class... S>
struct access_facts<body<S...>> {
  static constexpr int size = sizeof...(S);

  struct table {
    touch touches[size + 1]{};
    bool uniform[size + 1]{};  // the value is one and the same for the width neighbours
    int bytes = 0;             // one item of `width` elements moves this much by wide accesses, each counted up to 16
    int largest = 0, smallest = 0;  // element sizes among wide accesses
  };

  static constexpr table at(loop_var v, long width) {
    table t{};
    const touch all[] = {touch_of<S>::at(v, width)..., touch{}};
    for (int s = 0; s < size; ++s) {
      const auto& info = body_facts<body<S...>>::facts.info[s];
      touch& now = t.touches[s] = all[s];
      bool uniform = !now.indexed || now.where.kind == access::uniform;
      for (int k = 0; k < 4; ++k)
        if (info.operands[k] >= 0) uniform = uniform && t.uniform[info.operands[k]];
      if (info.kind == statement_kind::reduce && v == loop_var::r) uniform = true;
      if (info.kind == statement_kind::scan) uniform = false;
      t.uniform[s] = uniform;
      for (int other = 0; now.slot >= 0 && other < size; ++other)
        if (all[other].slot == now.slot && body_facts<body<S...>>::facts.info[other].kind == statement_kind::store)
          now.only_read = false;
      if (now.gather && !t.uniform[info.operands[now.index_operand]]) now.where.kind = access::irregular;
      if (now.gather && now.where.kind == access::contiguous && !is_dynamic(now.gather_coef) &&
          now.gather_coef % width != 0)
        now.where = {access::strided, 1};
      if (now.bytes == 0 || now.where.kind != access::contiguous) continue;
      const int bytes = now.bytes * static_cast<int>(width);
      t.bytes += bytes < 16 ? bytes : 16;
      if (now.bytes > t.largest) t.largest = now.bytes;
      if (t.smallest == 0 || now.bytes < t.smallest) t.smallest = now.bytes;
    }
    return t;
  }

  /// The same as one constant, evaluated once.
  template <loop_var V, long Width>
  static constexpr table along = at(V, Width);

  /// Does the body leave the memory of this slot alone?
  static constexpr bool only_reads(int slot) {
    for (const touch& one : along<loop_var::x, 1>.touches)
      if (one.slot == slot && !one.only_read) return false;
    return true;
  }

  /// Is an index divided? In 64 bits that takes long.
  static constexpr bool divides = (touch_of<S>::divides || ...);

  /// Does memory hardly matter, for all there is to compute? At its speed there are 28 instructions to an access of
  /// four bytes, and here four times as many. A product and its sum are one instruction.
  static constexpr bool waits_for_arithmetic = [] {
    int halves = 0, accesses = 0;
    for (int s = 0; s < size; ++s) accesses += along<loop_var::x, 1>.touches[s].bytes > 0;
    ((halves += instruction_halves<S>), ...);
    return halves > 2 * 4 * 28 * accesses;
  }();

  /// Bytes of the largest element that is stored for each (x, r), or each x of a pointwise body; or 0.
  static constexpr int largest_stored = [] {
    using facts = body_facts<body<S...>>;
    int most = 0;
    for (int s = 0; s < size; ++s) {
      const int bytes = along<loop_var::x, 1>.touches[s].bytes;
      const bool each = !facts::has_reduction || facts::where(s) == scope::element;
      if (facts::facts.info[s].kind == statement_kind::store && each && bytes > most) most = bytes;
    }
    return most;
  }();

  /// Elements per access along v: the smallest element type moves at most 16 bytes at once, the largest at most 32, and
  /// among such widths the one that moves most. Stores are at most 16 bytes: of more the lanes of a warp would write
  /// half a sector at a time. `extent` of v is -1 when it is known at launch only.
  static constexpr int vector_width(loop_var v, long extent) {
    int best = 1, most = 0;
    for (int width = 2; width <= 16; width *= 2) {
      if (extent >= 0 && (extent == 0 || extent % width != 0)) break;
      const table t = at(v, width);
      if (t.bytes == 0 || width * t.smallest > 16 || width * t.largest > 32 || width * largest_stored > 16) continue;
      if (t.bytes >= most) best = width, most = t.bytes;
    }
    return best;
  }

  /// What the accesses of a warp cost for each element, in vectors of `width` along x: one for each that is sent, one
  /// for each line of 128 bytes that it touches. What does not lie together is sent one by one, and taken to be in one
  /// line.
  struct request_cost {
    double each = 0;
    bool scattered = false;
  };
  static constexpr request_cost requests(int width) {
    const table t = at(loop_var::x, width);
    request_cost cost;
    for (int s = 0; s < size; ++s) {
      const touch& now = t.touches[s];
      if (now.bytes == 0) continue;
      const bool wide = now.where.kind == access::contiguous, together = wide || now.where.kind == access::uniform;
      const double lines = wide && width * now.bytes > 4 ? width * now.bytes / 4.0 : 1;
      cost.each += (1 + lines) / (together ? width : 1);
      cost.scattered = cost.scattered || !together;
    }
    return cost;
  }
  /// vector_width of x where little but accesses takes time: less if neighbours lie together only then, as those of
  /// pairs do, and that takes less than three fifths.
  static constexpr int pointwise_width(long extent) {
    int best = vector_width(loop_var::x, extent);
    for (int width = best / 2; width > 1; width /= 2)
      if (!requests(width).scattered && 5 * requests(width).each < 3 * requests(best).each) best = width;
    return best;
  }

  /// May the kernel of this width run: extent, pointers and dynamic numbers fit?
  template <int Width, loop_var V, class Args>
  static bool fits(const Args& args) {
    if constexpr (Width == 1) {
      return true;
    } else {
      constexpr const table& facts = along<V, Width>;
      if ((V == loop_var::x ? args.numel : args.rnumel) % Width != 0) return false;
      if (!(touch_of<S>::holds(V, Width, args.sizes) && ...)) return false;
      for (int s = 0; s < size; ++s) {
        const touch& now = facts.touches[s];
        if (now.bytes == 0 || now.where.kind != access::contiguous) continue;
        const int bytes = now.bytes * Width < 16 ? now.bytes * Width : 16;
        if (reinterpret_cast<std::uintptr_t>(args.pointers[now.slot]) % static_cast<unsigned>(bytes) != 0) return false;
      }
      return true;
    }
  }
};

}  // namespace sinter::cuda::detail
