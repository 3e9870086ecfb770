// Rows that do not begin where wide accesses may: of odd length, of a pointer into the middle of something. Each row is
// then walked in vectors that are aligned in memory: its first one begins up to width - 1 elements before the row, its
// last one ends after it, and only those two are read and written element by element. All accesses that move with the
// row must be shifted alike. What the kernel does with it is reduction/rows/persistent.cuh's matter.
// No CUDA header is needed here. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/access.hpp"

namespace sinter::cuda::detail {

/// The shift of row x: (first + x * step) % width elements. What does not move with the row (weights) is aligned as
/// rows are that are not shifted, or not; or all of it is shifted by `others` elements (-1: not alike).
struct row_shift {
  int first = 0, step = 0, others = 0;
  bool others_aligned = true;
};

/// Elements by which the vectors of a row begin early.
template <int Width>
SINTER_HOST_DEVICE constexpr int lead_of_row(const row_shift& shift, int row) {
  return static_cast<int>((static_cast<unsigned>(shift.first) + static_cast<unsigned>(row) * shift.step) & (Width - 1));
}

/// Of an index expression Offset + x * pitch + r, its two numbers; otherwise `plain` is false. Along: r, or x where
/// columns of rows are seen, which then change places.
template <class At, loop_var Along = loop_var::r>
struct row_place;
template <long Offset, class... Terms, loop_var Along>
struct row_place<at<Offset, Terms...>, Along> {
  struct table {
    bool plain = true, along_r = false, along_x = false;
    long offset = Offset, pitch = 0;
  };
  static constexpr table facts = [] {
    table t{};
    [[maybe_unused]] const auto add = [&]<class Term>(Term) {
      using f = term_facts<Term>;
      constexpr bool along = f::variable == Along;
      bool& seen = along ? t.along_r : t.along_x;
      if (seen || f::div != 1 || f::mod != 0 || (along && f::coef != 1)) t.plain = false;
      seen = true;
      if (!along) t.pitch = f::coef;
    };
    (add(Terms{}), ...);
    return t;
  }();
};

/// What one statement asks of the shift. `allowed`: it may be evaluated beyond the ends of a row, or knows them.
template <class S>
struct shifted_access {
  static constexpr bool allowed = false, moves = false, along_r = false;
};
template <bool Allowed>
struct shiftless {
  static constexpr bool allowed = Allowed, moves = false, along_r = false;
};
template <int Slot_, class T, class At>
struct shifted_memory {
  static constexpr auto place = row_place<At>::facts;
  static constexpr bool along_r = place.along_r, moves = place.along_r && place.along_x;
  static constexpr bool allowed = place.plain || !place.along_r;
  static constexpr int slot = Slot_, bytes = sizeof(T);
};
template <int Slot, class T, class At>
struct shifted_access<load<Slot, T, At, -1>> : shifted_memory<Slot, T, At> {};
template <int Slot, class T, int A, class At>
struct shifted_access<store<Slot, T, A, At, -1>> : shifted_memory<Slot, T, At> {};
template <int Slot, class T>
struct shifted_access<scalar<Slot, T>> : shiftless<true> {};
template <class T, long Bits>
struct shifted_access<constant<T, Bits>> : shiftless<true> {};
template <class T>
struct shifted_access<row_length<T>> : shiftless<true> {};
template <class Op, class T, class Result, int A, int B, int C>
struct shifted_access<compute<Op, T, Result, A, B, C>> : shiftless<true> {};
template <class From, class To, int A>
struct shifted_access<cast_to<From, To, A>> : shiftless<true> {};
template <class From, class To, int A>
struct shifted_access<widen_to<From, To, A>> : shiftless<true> {};
template <class Op, class T, class Result, int A>
struct shifted_access<reduce<Op, T, Result, A>> : shiftless<true> {};
template <class Op, class T, class Result, int A>
struct shifted_access<scan<Op, T, Result, A>> : shiftless<true> {};

/// The shift of vectors of Width elements that all accesses have in common; false: there is none. One row has no step.
template <int Width, class... Access, class Args>
bool find_shift(const Args& args, row_shift& shift, bool one_row = false) {
  bool any = false, same = true, other = false;
  const auto agree = [&]<class A>(A) {
    if constexpr (A::along_r) {
      const auto address = reinterpret_cast<std::uintptr_t>(args.pointers[A::slot]);
      const auto number = [&](long n) { return sinter::detail::resolve(n, args.sizes); };
      const auto first = static_cast<std::int64_t>(address / A::bytes) + number(A::place.offset);
      const int now = static_cast<int>(first & (Width - 1));
      const bool whole = address % A::bytes == 0;
      if constexpr (!A::moves) {
        shift.others_aligned = shift.others_aligned && now == 0 && whole;
        shift.others = whole && (!other || now == shift.others) ? now : -1;
        other = true;
      } else {
        const std::int64_t pitch = one_row ? 0 : number(A::place.pitch);
        const int step = static_cast<int>(pitch & (Width - 1));
        same = same && whole && pitch >= 0 && (!any || (now == shift.first && step == shift.step));
        shift.first = now, shift.step = step;
        any = true;
      }
    }
  };
  (agree(Access{}), ...);
  return any && same;
}

/// Elements of the vectors in which rows are read by accesses that move with them: 16 bytes of the smallest, unless
/// that is too much of the largest; 0: none moves.
template <class... Access>
inline constexpr int shifted_width = [] {
  int smallest = 0, largest = 0;
  const auto take_in = [&]<class A>(A) {
    if constexpr (A::moves) {
      if (smallest == 0 || A::bytes < smallest) smallest = A::bytes;
      if (A::bytes > largest) largest = A::bytes;
    }
  };
  (take_in(Access{}), ...);
  if (smallest == 0) return 0;
  return 16 / smallest * largest <= 32 ? 16 / smallest : 16 / largest;
}();

template <class Body>
struct shifted_facts;
template <class... S>
struct shifted_facts<body<S...>> {
  /// Elements of a vector; 0: this body's rows cannot be shifted.
  static constexpr int width = (shifted_access<S>::allowed && ...) ? shifted_width<shifted_access<S>...> : 0;

  /// The shift that all accesses have in common; false: there is none.
  template <class Args>
  static bool find(const Args& args, row_shift& shift) {
    return find_shift<width, shifted_access<S>...>(args, shift);
  }
};

}  // namespace sinter::cuda::detail
