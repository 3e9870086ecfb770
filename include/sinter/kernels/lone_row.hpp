// A reduction of everything in several phases, as of the one row that it is: all that moves along it moves with rows,
// too, so that blocks share it as they share any few rows. SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/kernels/body.hpp"

namespace sinter::detail {

/// Does nothing depend on x, which is zero then? And is one walk not enough?
template <class Body>
inline constexpr bool is_lone_row = false;
template <class... S>
inline constexpr bool is_lone_row<body<S...>> =
    body_facts<body<S...>>::has_reduction && !body_facts<body<S...>>::has_scan &&
    body_facts<body<S...>>::num_phases > 1 && !(statement_facts<S>::info.reads_x || ...);

/// From a row to the next, if there were one: vectors of any width fit.
inline constexpr long lone_pitch = 64;
template <class At, bool Moves = at_facts<At>::uses(loop_var::r)>
struct with_rows {
  using type = At;
};
template <long Offset, class... Terms>
struct with_rows<at<Offset, Terms...>, true> {
  using type = at<Offset, term<loop_var::x, 1, 0, lone_pitch>, Terms...>;
};

template <class S>
struct of_lone_row {
  using type = S;
};
template <int Slot, class T, class At, int Mask>
struct of_lone_row<load<Slot, T, At, Mask>> {
  using type = load<Slot, T, typename with_rows<At>::type, Mask>;
};
template <int Slot, class T, int A, class At, int Mask>
struct of_lone_row<store<Slot, T, A, At, Mask>> {
  using type = store<Slot, T, A, typename with_rows<At>::type, Mask>;
};

template <class Body, bool IsLone = is_lone_row<Body>>
struct lone_row {
  using type = Body;
};
template <class... S>
struct lone_row<body<S...>, true> {
  using type = body<typename of_lone_row<S>::type...>;
};

}  // namespace sinter::detail
