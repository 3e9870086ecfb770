// Integers of a plan: extents, strides, offsets. A number is static, or known only at run time.
//
// A run-time number is represented by a fingerprint: its value at a fixed pseudo-random point of the prime field
// F_p, p = 2^61 - 1. Sums, products and exact quotients of numbers are sums, products and quotients of fingerprints, so
// two polynomials in the run-time extents are the same number iff their fingerprints are equal (up to a chance of about
// 2^-60): `rows * 64 == 64 * rows` is decided in types without any symbolic algebra. How to compute a number at run
// time is recorded once, in a number_table. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/base/fixed_vector.hpp"
#include "sinter/base/string_view.hpp"

namespace sinter {

using number = long;

namespace detail {

__extension__ typedef unsigned __int128 wide;
inline constexpr std::uint64_t field_prime = (std::uint64_t{1} << 61) - 1;
inline constexpr number symbolic_base = -(1L << 61);

constexpr std::uint64_t field_multiply(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>(static_cast<wide>(a) * b % field_prime);
}
constexpr std::uint64_t field_inverse(std::uint64_t a) {  // a^(p-2)
  std::uint64_t result = 1;
  for (std::uint64_t e = field_prime - 2; e != 0; e >>= 1, a = field_multiply(a, a))
    if (e & 1) result = field_multiply(result, a);
  return result;
}

}  // namespace detail

constexpr bool is_symbolic(number n) { return n < -(1L << 60); }
constexpr bool is_static(number n) { return !is_symbolic(n); }

namespace detail {

constexpr std::uint64_t fingerprint(number n) {
  if (is_symbolic(n)) return static_cast<std::uint64_t>(symbolic_base - n);
  const number p = static_cast<number>(field_prime);
  return static_cast<std::uint64_t>((n % p + p) % p);
}
/// Small values (and small negative ones) are numbers again: the symbols cancelled.
constexpr number from_fingerprint(std::uint64_t f) {
  constexpr std::uint64_t small = std::uint64_t{1} << 40;
  if (f < small) return static_cast<number>(f);
  if (field_prime - f < small) return -static_cast<number>(field_prime - f);
  return symbolic_base - static_cast<number>(f);
}

}  // namespace detail

constexpr number product(number a, number b) {
  if (is_static(a) && is_static(b)) return a * b;
  return detail::from_fingerprint(detail::field_multiply(detail::fingerprint(a), detail::fingerprint(b)));
}
constexpr number sum(number a, number b) {
  if (is_static(a) && is_static(b)) return a + b;
  return detail::from_fingerprint((detail::fingerprint(a) + detail::fingerprint(b)) % detail::field_prime);
}
/// a / b where b divides a. Static operands must divide; callers check.
constexpr number quotient(number a, number b) {
  if (is_static(a) && is_static(b)) return b == 0 ? 0 : a / b;
  if (b == 1) return a;
  if (a == b) return 1;
  return detail::from_fingerprint(
      detail::field_multiply(detail::fingerprint(a), detail::field_inverse(detail::fingerprint(b))));
}

/// A fresh run-time number named by any 64-bit key: equal keys are the same number.
constexpr number symbol(std::uint64_t key) {
  std::uint64_t z = key + 0x9e3779b97f4a7c15u;  // splitmix64
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  constexpr std::uint64_t low = std::uint64_t{1} << 41;  // away from the small values
  return detail::symbolic_base - static_cast<number>(low + z % (detail::field_prime - 2 * low));
}
constexpr std::uint64_t hash(string_view text) {  // FNV-1a
  std::uint64_t h = 0xcbf29ce484222325u;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h;
}

/// How a run-time number is computed from the call's arguments.
enum class number_rule : unsigned char { input_extent, input_stride, product, sum, quotient };

struct number_definition {
  number value = 0;  ///< the fingerprint that names it
  number_rule rule = number_rule::product;
  number a = 0, b = 0;  ///< operands; for input_*: argument and dimension
  long hint = 0;        ///< a typical value, for decisions that need one
};

/// What decisions assume of an extent without a hint.
inline constexpr long default_hint = 4096;

/// The run-time numbers of a graph or plan in an order in which they can be computed.
template <int Capacity>
struct number_table {
  fixed_vector<number_definition, Capacity> definitions{};

  constexpr int find(number n) const {
    for (int i = 0; i < definitions.size(); ++i)
      if (definitions[i].value == n) return i;
    return -1;
  }
  constexpr number define(number value, number_rule rule, number a, number b, long hint = default_hint) {
    if (is_symbolic(value) && find(value) < 0) definitions.push_back({value, rule, a, b, hint});
    return value;
  }
  /// The number of elements of a shape.
  template <class Extents>
  constexpr number numel(const Extents& e) {
    number n = 1;
    for (int d = 0; d < e.rank; ++d) n = product(n, e[d]);
    return n;
  }
  /// A typical value of n.
  constexpr long hint(number n) const {
    if (is_static(n)) return n;
    const int i = find(n);
    if (i < 0) return default_hint;
    const number_definition& d = definitions[i];
    switch (d.rule) {
      case number_rule::product:
        return hint(d.a) * hint(d.b);
      case number_rule::sum:
        return hint(d.a) + hint(d.b);
      case number_rule::quotient:
        return hint(d.b) == 0 ? 0 : hint(d.a) / hint(d.b);
      default:
        return d.hint;
    }
  }
  /// Does that rest on an extent of which nothing was said?
  constexpr bool is_guess(number n) const {
    const int i = is_static(n) ? -1 : find(n);
    if (i < 0) return !is_static(n);
    const number_definition& d = definitions[i];
    const bool of_two = d.rule == number_rule::product || d.rule == number_rule::sum || d.rule == number_rule::quotient;
    return of_two ? is_guess(d.a) || is_guess(d.b) : d.hint == default_hint;
  }
  constexpr number product(number a, number b) {
    if (a == 1) return b;
    return b == 1 ? a : define(sinter::product(a, b), number_rule::product, a, b);
  }
  constexpr number sum(number a, number b) {
    if (a == 0) return b;
    return b == 0 ? a : define(sinter::sum(a, b), number_rule::sum, a, b);
  }
  constexpr number quotient(number a, number b) {
    return b == 1 ? a : define(sinter::quotient(a, b), number_rule::quotient, a, b);
  }

  /// A static factor that certainly divides n.
  constexpr number factor(number n) const {
    if (is_static(n)) return n;
    const int i = find(n);
    if (i < 0) return 1;
    const number_definition& d = definitions[i];
    if (d.rule == number_rule::product) return factor(d.a) * factor(d.b);
    if (d.rule != number_rule::sum) return 1;
    if (d.a == d.b) return 2 * factor(d.a);
    number a = factor(d.a), b = factor(d.b);
    while (b != 0) {
      const number rest = a % b;
      a = b, b = rest;
    }
    return a < 0 ? -a : a == 0 ? 1 : a;
  }
  /// True when n is certainly not negative: extents are not, nor what is made of them without a negative number.
  constexpr bool is_natural(number n) const {
    if (is_static(n)) return n >= 0;
    const int i = find(n);
    if (i < 0 || definitions[i].rule == number_rule::input_stride) return false;
    return definitions[i].rule == number_rule::input_extent ||
           (is_natural(definitions[i].a) && is_natural(definitions[i].b));
  }
  /// True when d certainly divides n.
  constexpr bool divides(number d, number n) const {
    if (d == 1 || d == n) return true;
    if (d == 0) return false;
    if (is_static(d)) return factor(n) % d == 0;
    if (n == 0) return true;
    const number q = sinter::quotient(n, d);
    return is_static(q) ? q > 0 : find(q) >= 0;
  }
};

/// The value of n once the table's numbers are known. `values[i]` belongs to definition i.
template <int Capacity>
constexpr std::int64_t evaluate(number n, const number_table<Capacity>& table, const std::int64_t* values) {
  const int at = is_static(n) ? -1 : table.find(n);
  return at < 0 ? n : values[at];
}

}  // namespace sinter
