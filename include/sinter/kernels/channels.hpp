// Rows whose elements lie in pieces between those of other rows, as the pixels of a channel do in a batch of images:
// sums over images and pixels, for each channel. Seen as a matrix with one row for each image, whose columns are the
// pixels of all channels, they are columns to reduce, of which those of a channel are combined in the end. How is the
// CUDA kernels' matter. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>

#include "sinter/base/op.hpp"
#include "sinter/kernels/body.hpp"

namespace sinter::detail {

/// How many neighbours of a row a term of its index r counts through, again and again; 0: it does not.
template <class Term>
inline constexpr long pixels_of_term = 0;
template <long Mod, long Coef>
inline constexpr long pixels_of_term<term<loop_var::r, 1, Mod, Coef>> = Mod;
template <class S>
inline constexpr long pixels_of = 0;
template <int Slot, class T, long Offset, class... Terms>
inline constexpr long pixels_of<load<Slot, T, at<Offset, Terms...>, -1>> = [] {
  long found = 0;
  ((found = pixels_of_term<Terms> != 0 ? pixels_of_term<Terms> : found), ...);
  return found;
}();

/// A term of x, a channel, and r = image * Pixels + pixel in an index of x = channel * Pixels + pixel and r, an image.
template <class Term, long Pixels>
struct channel_term {
  using type = Term;
  static constexpr bool ok = false;
};
template <long Coef, long Pixels>
struct channel_term<term<loop_var::x, 1, 0, Coef>, Pixels> {
  using type = term<loop_var::x, Pixels, 0, Coef>;
  static constexpr bool ok = true;
};
template <long Coef, long Pixels>
struct channel_term<term<loop_var::r, 1, Pixels, Coef>, Pixels> {
  using type = term<loop_var::x, 1, Pixels, Coef>;
  static constexpr bool ok = true;
};
template <long Coef, long Pixels>
struct channel_term<term<loop_var::r, Pixels, 0, Coef>, Pixels> {
  using type = term<loop_var::r, 1, 0, Coef>;
  static constexpr bool ok = true;
};

/// The whole index so. `moves`: it is that of a matrix whose columns adjoin; any other must not count both images and
/// columns.
template <class At, long Pixels>
struct channel_index;
template <long Offset, class... Terms, long Pixels>
struct channel_index<at<Offset, Terms...>, Pixels> {
  struct table {
    int channels = 0, pixels = 0, images = 0, others = 0;
    long pitch = 0;
    constexpr bool adjoins() const { return channels == 1 && pixels == 1 && images == 1 && others == 0; }
  };
  static constexpr table facts = [] {
    table t{};
    [[maybe_unused]] const auto add = [&]<class Term>(Term) {
      using f = term_facts<Term>;
      if (f::variable == loop_var::x && f::div == 1 && f::mod == 0 && f::coef == Pixels) ++t.channels;
      else if (f::variable == loop_var::r && f::div == 1 && f::mod == Pixels && f::coef == 1) ++t.pixels;
      else if (f::variable == loop_var::r && f::div == Pixels && f::mod == 0) ++t.images, t.pitch = f::coef;
      else ++t.others;
    };
    (add(Terms{}), ...);
    return t;
  }();
  static constexpr bool moves = facts.adjoins();
  using each = at<Offset, typename channel_term<Terms, Pixels>::type...>;
  using type =
      std::conditional_t<moves, at<Offset, term<loop_var::x, 1, 0, 1>, term<loop_var::r, 1, 0, facts.pitch>>, each>;
  static constexpr bool ok = moves || ((channel_term<Terms, Pixels>::ok && ...) &&
                                       !(at_facts<each>::uses(loop_var::x) && at_facts<each>::uses(loop_var::r)));
};

/// A statement so, and whether that can be; `moving`: of accesses only those that move along both, and results.
template <class S, long Pixels>
struct channel_statement {
  using type = S;
  using moving = S;
  static constexpr bool ok = false, moves = false;
};
template <class S>
struct unchanged_in_channels {
  using type = S;
  using moving = S;
  static constexpr bool ok = true, moves = false;
};
template <int Slot, class T, class At, long Pixels>
struct channel_statement<load<Slot, T, At, -1>, Pixels> {
  using index = channel_index<At, Pixels>;
  using type = load<Slot, T, typename index::type, -1>;
  using moving = std::conditional_t<index::moves, type, constant<float, 0>>;
  static constexpr bool ok = index::ok, moves = index::moves;
};
template <int Slot, class T, long Pixels>
struct channel_statement<scalar<Slot, T>, Pixels> : unchanged_in_channels<scalar<Slot, T>> {};
template <class T, long Bits, long Pixels>
struct channel_statement<constant<T, Bits>, Pixels> : unchanged_in_channels<constant<T, Bits>> {};
template <class T, long Pixels>
struct channel_statement<row_length<T>, Pixels> : unchanged_in_channels<row_length<T>> {};
template <class Op, class T, class Result, int A, int B, int C, long Pixels>
struct channel_statement<compute<Op, T, Result, A, B, C>, Pixels>
    : unchanged_in_channels<compute<Op, T, Result, A, B, C>> {};
template <class From, class To, int A, long Pixels>
struct channel_statement<cast_to<From, To, A>, Pixels> : unchanged_in_channels<cast_to<From, To, A>> {};
template <class From, class To, int A, long Pixels>
struct channel_statement<widen_to<From, To, A>, Pixels> : unchanged_in_channels<widen_to<From, To, A>> {};
/// Where a value is matters to some: they would have to know its pixel.
template <class Op, class T, class Result, int A, long Pixels>
struct channel_statement<reduce<Op, T, Result, A>, Pixels> : unchanged_in_channels<reduce<Op, T, Result, A>> {
  static constexpr bool ok = !folds::finds_extreme<Op, true> && !folds::finds_extreme<Op, false>;
};
template <int Slot, class T, int A, class At, int Mask, long Pixels>
struct channel_statement<store<Slot, T, A, At, Mask>, Pixels> {
  using index = channel_index<At, Pixels>;
  using type = store<Slot, T, A, typename index::type, Mask>;
  using moving = std::conditional_t<index::moves, type, store<Slot, T, A, At, Mask>>;
  static constexpr bool ok = index::ok, moves = false;
};
template <class S>
inline constexpr bool stores_element = false;
template <int Slot, class T, int A, class At, int Mask>
inline constexpr bool stores_element<store<Slot, T, A, At, Mask>> = at_facts<At>::uses(loop_var::r);

/// Of a channel in an image, in a body's loads; 0: its rows do not lie in pieces.
template <class Body>
inline constexpr long pixels_of_body = 0;
template <class... S>
inline constexpr long pixels_of_body<body<S...>> = [] {
  long found = 0;
  ((found = pixels_of<S> != 0 ? pixels_of<S> : found), ...);
  return found;
}();
/// A body so, of as many statements, if that can be: where it folds in one phase and stores no elements, or in several.
template <class Body, long Pixels = pixels_of_body<Body>>
struct channel_facts {
  static constexpr bool can = false, folds = false, has_phases = false;
};
template <class... S, long Pixels>
requires(Pixels != 0) struct channel_facts<body<S...>, Pixels> {
  using facts = body_facts<body<S...>>;
  static constexpr bool can = facts::has_reduction && !facts::has_scan && (channel_statement<S, Pixels>::ok && ...) &&
                              (channel_statement<S, Pixels>::moves || ...);
  static constexpr bool folds = can && facts::num_phases == 1 && !(stores_element<S> || ...),
                        has_phases = can && facts::num_phases > 1;
  using columns = body<typename channel_statement<S, Pixels>::type...>;
  using moving = body<typename channel_statement<S, Pixels>::moving...>;
};

}  // namespace sinter::detail
