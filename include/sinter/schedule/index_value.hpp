// Index propagation: an integer value that is computed from positions alone (iota, constants, + - * // % and casts) as
// an index form with its range. A gather at such an index reads where a view would; nothing indirect remains.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/schedule/index.hpp"
#include "sinter/schedule/realize.hpp"

namespace sinter::detail {

/// A value between `low` and `high`. `known`: it is this form.
struct index_value_form {
  bool known = false;
  dimension_form form{};
  number low = 0, high = 0;
};

template <class Graph, class Table>
struct index_values {
  const Graph& g;
  const realization<decltype(Graph::nodes)::capacity>& r;
  Table& numbers;

  /// The value of integer node `id` at coordinates `c`.
  constexpr index_value_form operator()(int id, const coordinates& c) const {
    const node& n = g[id];
    index_value_form v{};
    if ((n.type != dtype::i64 && n.type != dtype::i32) || r.is_loaded(id)) return v;
    if (is_view(n.what)) {
      const coordinates through = through_view(g, id, c, numbers);
      return through.failed ? v : (*this)(n.operands[0], through);
    }
    switch (n.what) {
      case op::iota:
        v.known = true;
        v.form = c.dims[n.attr];
        v.high = sum(g.shape(id)[n.attr], -1);
        return v;
      case op::constant: {
        const long value = g.scalars[g[id].attr].integer;
        v.known = is_static(g.scalars[g[id].attr].size + value) && value < limit && value > -limit;
        v.form.offset = v.low = v.high = value;
        return v;
      }
      case op::widen:
      case op::cast:
      case op::clone:
      case op::realize:
        v = (*this)(n.operands[0], c);
        v.known = v.known && (n.type == dtype::i64 || (is_static(v.high) && v.high < limit && v.low > -limit));
        return v;
      case op::abs:
        v = (*this)(n.operands[0], c);
        v.known = v.known && is_static(v.low) && is_static(v.high) && (v.low >= 0 || v.high <= 0);
        return v.known && v.low < 0 ? scaled(v, -1) : v;
      case op::neg: return scaled((*this)(n.operands[0], c), -1);
      case op::add: return added((*this)(n.operands[0], c), (*this)(n.operands[1], c));
      case op::sub: return added((*this)(n.operands[0], c), scaled((*this)(n.operands[1], c), -1));
      case op::mul: {
        const index_value_form a = (*this)(n.operands[0], c), b = (*this)(n.operands[1], c);
        if (is_one_value(a)) return scaled(b, a.low);
        return is_one_value(b) ? scaled(a, b.low) : v;
      }
      case op::floor_divide:
      case op::remainder: {
        const index_value_form a = (*this)(n.operands[0], c), b = (*this)(n.operands[1], c);
        return a.known && is_one_value(b) && b.low > 0 ? divided(a, b.low, n.what == op::remainder) : v;
      }
      default: return v;
    }
  }

  /// The operand of an abs whose sign changes.
  constexpr index_value_form absolute(int id, const coordinates& c) const {
    if (r.is_loaded(id)) return {};
    if (is_view(g[id].what)) {
      const coordinates through = through_view(g, id, c, numbers);
      return through.failed ? index_value_form{} : absolute(g[id].operands[0], through);
    }
    if (g[id].what != op::abs) return {};
    index_value_form v = (*this)(g[id].operands[0], c);
    v.known = v.known && is_static(v.low) && is_static(v.high) && v.low < 0 && v.high > 0;
    return v;
  }
  /// The same where it is not negative.
  static constexpr index_value_form not_below_zero(index_value_form v) {
    v.low = 0;
    return v;
  }

  /// Does it lie in [0, extent)?
  static constexpr bool is_inside(const index_value_form& v, number extent) {
    if (!v.known || !is_static(v.low) || v.low < 0) return false;
    return is_static(v.high) && is_static(extent) ? v.high < extent : sum(v.high, 1) == extent;
  }

  constexpr index_value_form scaled(index_value_form a, number factor) const {
    a.known = a.known && is_static(a.high) && is_static(a.low);
    if (!a.known) return a;
    apply_affine(a.form, factor, 0, numbers);
    const number low = a.low * factor, high = a.high * factor;
    a.low = low < high ? low : high, a.high = low < high ? high : low;
    a.known = a.low > -limit && a.high < limit;
    if (factor == 0) a.form.size = 0;
    return a;
  }

 private:
  static constexpr long limit = 1L << 31;
  static constexpr bool is_one_value(const index_value_form& v) {
    return v.known && v.form.size == 0 && v.low == v.high;
  }

  constexpr index_value_form added(index_value_form a, const index_value_form& b) const {
    const bool has_range = is_one_value(a) || is_one_value(b) || (is_static(a.high) && is_static(b.high));
    a.known = a.known && b.known && is_static(a.low) && is_static(b.low) && has_range;
    if (!a.known) return a;
    accumulate(a.form, b.form, 1, numbers);
    canonicalize(a.form, numbers);
    a.low = sum(a.low, b.low), a.high = sum(a.high, b.high);
    a.known = !a.form.failed;
    return a;
  }
  /// a / divisor or a % divisor, of a value that is not negative: its digits below and above the divisor.
  constexpr index_value_form divided(const index_value_form& a, number divisor, bool rest) const {
    index_value_form v{};
    if (!is_static(a.high) || a.low < 0) return v;
    v.high = rest ? (a.high < divisor ? a.high : divisor - 1) : a.high / divisor;
    if (a.high < divisor) {
      if (rest) return a;
      v.known = true;
      return v;
    }
    if (divisor == 1) {
      v.known = true;
      if (!rest) v.form = a.form;
      return v;
    }
    dimension_form digits[max_rank]{};
    if (!split_into(a.form, extents{2, {a.high / divisor + 1, divisor}}, digits, numbers)) return v;
    v.known = true;
    v.form = digits[rest ? 1 : 0];
    canonicalize(v.form, numbers);
    return v;
  }
};

}  // namespace sinter::detail
