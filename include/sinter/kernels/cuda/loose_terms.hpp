// Where an index expression of x begins anew, and which values it takes: where a mask lets it, if there is one.
// No CUDA header is needed here. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "sinter/base/op.hpp"
#include "sinter/kernels/body.hpp"

namespace sinter::cuda::detail {

using sinter::detail::term_facts;

/// [low, high) of an index variable or of a term's value.
struct interval {
  std::int64_t low, high;
  constexpr bool operator==(const interval&) const = default;
  constexpr void narrow(std::int64_t to_low, std::int64_t to_high) {
    if (to_low > low) low = to_low;
    if (to_high < high) high = to_high;
  }
};

/// (x / div) % mod with its numbers known, and the values that it takes.
struct loose_term {
  std::int64_t div, mod, coef;
  interval values;

  /// (x / d) % m is known to lie in `seen`; false: that says nothing about this term.
  constexpr bool learn(std::int64_t d, std::int64_t m, const interval& seen) {
    if (m != 0 && mod == 0 && d % div == 0) {
      narrow_to_periods(seen.low * (d / div), seen.high * (d / div), m * (d / div));
      return true;
    }
    if (m == 0 ? mod != 0 : mod * div != m * d) return false;  // they must begin anew together
    if (div % d == 0) values.narrow(seen.low * d / div, (seen.high - 1) * d / div + 1);
    else if (d % div == 0) values.narrow(seen.low * (d / div), seen.high * (d / div));
    else return false;
    return true;
  }

 private:
  /// Of each `period` values only [low, high) are there.
  constexpr void narrow_to_periods(std::int64_t low, std::int64_t high, std::int64_t period) {
    const std::int64_t first = values.low % period, last = (values.high - 1) % period;
    values.low += first < low ? low - first : first < high ? 0 : period + low - first;
    values.high += last >= high ? high - 1 - last : last >= low ? 0 : high - 1 - last - period;
  }
};

template <class At>
struct loose_at;
template <long Offset, class... Terms>
struct loose_at<at<Offset, Terms...>> {
  static constexpr int size = sizeof...(Terms);
  static constexpr long offset = Offset;
  static constexpr bool breaks = ((term_facts<Terms>::div != 1 || term_facts<Terms>::mod != 0) || ... || false);

  /// The numbers at whose multiples the expression begins anew; the last is none.
  static constexpr long numbers[size + 1] = {
      (term_facts<Terms>::div != 1 ? term_facts<Terms>::div : term_facts<Terms>::mod)..., 0};

  struct terms {
    std::int64_t offset;
    loose_term of[size + 1];
  };
  template <class Args>
  static terms resolve_in(const Args& args) {
    const auto number = [&](long n) { return sinter::detail::resolve(n, args.sizes); };
    terms t{number(Offset),
            {loose_term{number(term_facts<Terms>::div),
                        number(term_facts<Terms>::mod),
                        number(term_facts<Terms>::coef),
                        {0, 0}}...,
             loose_term{}}};
    for (int i = 0; i < size; ++i) {
      const std::int64_t quotients = (args.numel - 1) / t.of[i].div + 1, mod = t.of[i].mod;
      t.of[i].values = {0, mod != 0 && mod < quotients ? mod : quotients};
    }
    return t;
  }
};

/// What mask M says of a load's terms; false: something of it was not understood.
template <class Body, int M>
struct mask_of {
  template <class S, class Terms, class Args>
  static bool narrow(S, bool, Terms&, int, const Args&) {
    return false;
  }
  template <class At, long Low, long High, class Terms, class Args>
  static bool narrow(inside<At, Low, High>, bool negated, Terms& t, int size, const Args& args) {
    if constexpr (loose_at<At>::size != 1) {
      return false;
    } else {
      const auto mask = loose_at<At>::resolve_in(args);
      const loose_term& m = mask.of[0];
      if (m.coef != 1) return false;
      interval seen = {sinter::detail::resolve(Low, args.sizes) - mask.offset,
                       sinter::detail::resolve(High, args.sizes) - mask.offset};
      if (negated && seen.low <= m.values.low) seen = {seen.high, m.values.high};
      else if (negated && seen.high >= m.values.high) seen = {m.values.low, seen.low};
      else if (negated) return false;
      seen.narrow(m.values.low, m.values.high);
      bool any = false;
      for (int i = 0; i < size; ++i) any = t.of[i].learn(m.div, m.mod, seen) || any;
      return any;
    }
  }
  template <class Op, class T, class Result, int A, int B, class Terms, class Args>
  static bool narrow(compute<Op, T, Result, A, B, -1>, bool negated, Terms& t, int size, const Args& args) {
    if constexpr (std::is_same_v<Op, ops::logical_not>) return mask_of<Body, A>::narrow(!negated, t, size, args);
    else if constexpr (std::is_same_v<Op, ops::logical_and>)
      return !negated && mask_of<Body, A>::narrow(false, t, size, args) &&
             mask_of<Body, B>::narrow(false, t, size, args);
    else return false;
  }
  template <class Terms, class Args>
  static bool narrow(bool negated, Terms& t, int size, const Args& args) {
    return narrow(sinter::detail::statement_of<Body, M>{}, negated, t, size, args);
  }
};

}  // namespace sinter::cuda::detail
