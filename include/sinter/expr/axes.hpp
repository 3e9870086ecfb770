// Axes in the text of a program: lists of them, counted from the end when negative, and what makes a list valid.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/base/extents.hpp"

namespace sinter {

/// Axes of an op, counted from the end when negative: `sum(x, axis<-1>)`, `amax(x, axis<0, 1>)`.
template <long... Axes>
struct axis_list {};
template <long... Axes>
inline constexpr axis_list<Axes...> axis{};

/// In reshape: the extent that follows from the others (at most one).
inline constexpr long infer = -1;

namespace detail {

template <long... Axes>
constexpr unsigned axis_mask(axis_list<Axes...>, [[maybe_unused]] int rank) {
  return (0u | ... | (normalize_axis(Axes, rank) < 0 ? 0u : 1u << normalize_axis(Axes, rank)));
}
/// Every axis is there, and named once.
template <int Rank, long... Axes>
constexpr bool distinct_axes(axis_list<Axes...>) {
  unsigned mask = 0;
  bool distinct = true;
  [[maybe_unused]] const auto visit = [&](int a) {
    distinct = distinct && a >= 0 && !(mask >> a & 1);
    if (distinct) mask |= 1u << a;
  };
  (visit(normalize_axis(Axes, Rank)), ...);
  return distinct;
}
/// An axis to go on with where the right one is missing.
constexpr int axis_or_first(long axis, int rank) {
  return normalize_axis(axis, rank) < 0 ? 0 : normalize_axis(axis, rank);
}

}  // namespace detail
}  // namespace sinter
