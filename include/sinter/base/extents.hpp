// Extents: the shape of an expression as a structural value, static or symbolic in each dimension, and the shape rules
// that need nothing else: broadcasting, element counts, axes.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/base/fixed_string.hpp"
#include "sinter/base/number.hpp"

namespace sinter {

inline constexpr int max_rank = 8;

/// An extent known only at run time, different from every other `dyn`.
inline constexpr long dyn = -1;

/// The value behind `dim<"name">`: an extent known only at run time; one name is one extent everywhere.
struct named_extent {
  char name[32];
  long hint;
  friend constexpr bool operator==(const named_extent&, const named_extent&) = default;
};

namespace detail {
template <std::size_t N>
constexpr named_extent make_named_extent(const fixed_string<N>& name, long hint) {
  static_assert(N <= 32, "dim<name>: the name is longer than 31 characters; choose a shorter one");
  named_extent e{{}, hint};
  for (std::size_t i = 0; i < N && i < 32; ++i) e.name[i] = name.text[i];
  return e;
}
}  // namespace detail

/// `dim<"tokens">`: a named run-time extent. Hint is a typical value for decisions that need one; never a limit.
template <fixed_string Name, long Hint = 0>
inline constexpr named_extent dim = detail::make_named_extent(Name, Hint);

/// Sizes of up to eight dimensions.
struct extents {
  int rank = 0;
  number sizes[max_rank]{};

  constexpr number operator[](int i) const { return sizes[i]; }
  constexpr number& operator[](int i) { return sizes[i]; }
  constexpr void push_back(number n) { sizes[rank++] = n; }
  friend constexpr bool operator==(const extents& a, const extents& b) {
    if (a.rank != b.rank) return false;
    for (int i = 0; i < a.rank; ++i)
      if (a.sizes[i] != b.sizes[i]) return false;
    return true;
  }
};

constexpr number numel(const extents& e) {
  number n = 1;
  for (int i = 0; i < e.rank; ++i) n = product(n, e[i]);
  return n;
}
constexpr bool is_static(const extents& e) { return is_static(numel(e)); }

/// An axis counted from the end when negative; -1 is returned for one out of range.
constexpr int normalize_axis(long axis, int rank) {
  if (axis < 0) axis += rank;
  return axis >= 0 && axis < rank ? static_cast<int>(axis) : -1;
}

struct broadcast_result {
  extents shape{};
  bool ok = true;
  int axis = -1;  ///< the first axis (of the result) that disagrees
  number a = 1, b = 1;  ///< its extents
};
/// Two extents can be one: they are equal, or one is known only at run time (the call then checks).
constexpr bool may_equal(number a, number b) { return a == b || is_symbolic(a) || is_symbolic(b); }
/// Of two extents that must be equal, the one to go on with.
constexpr number unified(number a, number b) { return is_symbolic(a) && is_static(b) ? b : a; }

/// NumPy's rule: right-aligned; equal, or one of them is 1.
constexpr broadcast_result broadcast(const extents& a, const extents& b) {
  broadcast_result r{};
  r.shape.rank = a.rank > b.rank ? a.rank : b.rank;
  for (int i = 0; i < r.shape.rank; ++i) {
    const int ia = i - (r.shape.rank - a.rank), ib = i - (r.shape.rank - b.rank);
    const number x = ia < 0 ? 1 : a[ia], y = ib < 0 ? 1 : b[ib];
    if (!may_equal(x, y) && x != 1 && y != 1 && r.ok) {
      r.ok = false;
      r.axis = i, r.a = x, r.b = y;
    }
    r.shape[i] = x == 1 ? y : y == 1 ? x : unified(x, y);
  }
  return r;
}

}  // namespace sinter
