// Which accesses of a pointwise body walk across memory although x goes along it: of a transpose beside what is not.
// Seen as a matrix of `columns` elements a row, x goes along a row, and such an access moves by one from row to row, or
// from each row to the one so many further on, if other axes lie between the two that change places.
// The kernel that takes the matrix in tiles is cuda/pointwise/transposed.cuh; the host has a wider notion
// (host/tile.hpp). SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/kernels/body.hpp"

namespace sinter::detail {

/// The row length (a body's number) in which an index expression walks across memory, and its distance from column to
/// column; 0: it does not. `apart`: the elements of x, whole rows, after which it has moved by one.
struct crossing {
  long columns = 0, step = 0, apart = 0;
};
template <class At>
inline constexpr crossing crossing_of{};
template <long Offset, class... Terms>
inline constexpr crossing crossing_of<at<Offset, Terms...>> = [] {
  crossing c{};
  [[maybe_unused]] const auto column_digit = [&]<class Term>(Term) {
    using t = term_facts<Term>;
    if (t::variable == loop_var::x && t::div == 1 && t::mod != 0 && t::coef != 1) c = {t::mod, t::coef};
  };
  [[maybe_unused]] const auto row_digit = [&]<class Term>(Term) {
    using t = term_facts<Term>;
    if (t::variable == loop_var::x && t::div != 1 && t::coef == 1 && c.apart != c.columns) c.apart = t::div;
  };
  (column_digit(Terms{}), ...);
  if (c.columns != 0) (row_digit(Terms{}), ...);
  return c.apart != 0 ? c : crossing{};
}();

}  // namespace sinter::detail
