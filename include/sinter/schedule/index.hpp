// Index expressions: where in a buffer an element of the loop lies. Views compose here, once, during scheduling.
//
// A form is offset + sum of coef * ((variable / div) % mod). Every composition of permute, slice, flip, broadcast and
// of reshapes that split or merge whole dimensions stays a form; what does not is reported, and the caller gives the
// view's operand a buffer. Forms are canonical, so equal accesses are equal values. SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/base/extents.hpp"
#include "sinter/base/loop_var.hpp"
#include "sinter/graph/graph.hpp"

namespace sinter::detail {

// Everything starts as zero: g++ 12 loses other initial values of array members in constant expressions.
struct index_term {
  loop_var variable = loop_var::x;
  number div = 0, mod = 0, coef = 0;  ///< mod 0: no modulo
  friend constexpr bool operator==(const index_term&, const index_term&) = default;
};

template <int MaxTerms>
struct index_form {
  number offset = 0;
  int size = 0;
  index_term terms[MaxTerms]{};
  bool failed = false;  ///< not expressible

  constexpr void add(const index_term& t) {
    if (t.coef == 0) return;
    if (size == MaxTerms) failed = true;
    else terms[size++] = t;
  }
  friend constexpr bool operator==(const index_form& a, const index_form& b) {
    if (a.offset != b.offset || a.size != b.size) return false;
    for (int i = 0; i < a.size; ++i)
      if (!(a.terms[i] == b.terms[i])) return false;
    return true;
  }
};

using dimension_form = index_form<5>;  ///< one coordinate
using access_form = index_form<10>;    ///< an element offset

/// One coordinate form per dimension of a node.
struct coordinates {
  int rank = 0;
  bool failed = false;
  dimension_form dims[max_rank]{};
  friend constexpr bool operator==(const coordinates& a, const coordinates& b) {
    if (a.rank != b.rank) return false;
    for (int d = 0; d < a.rank; ++d)
      if (!(a.dims[d] == b.dims[d])) return false;
    return true;
  }
};

/// Joins one pair of neighbouring digits of one variable. False if there is none.
template <class Table, int N>
constexpr bool merge_digits(index_form<N>& f, Table& numbers) {
  for (int i = 0; i < f.size; ++i)
    for (int j = 0; j < f.size; ++j) {
      const index_term outer = f.terms[i], inner = f.terms[j];
      if (i == j || outer.variable != inner.variable) continue;
      if (outer.div == inner.div && outer.mod == inner.mod)  // the same digit twice
        f.terms[i].coef = numbers.sum(outer.coef, inner.coef);
      else if (inner.mod != 0 && outer.div == product(inner.div, inner.mod) &&
               outer.coef == product(inner.coef, inner.mod))
        f.terms[i] = {inner.variable, inner.div, outer.mod == 0 ? 0 : numbers.product(outer.mod, inner.mod),
                      inner.coef};
      else continue;
      for (int k = j + 1; k < f.size; ++k) f.terms[k - 1] = f.terms[k];
      --f.size;
      return true;
    }
  return false;
}

/// Merges neighbouring digits of one variable and sorts: outer digits first, x before r.
template <class Table, int N>
constexpr void canonicalize(index_form<N>& f, Table& numbers) {
  while (merge_digits(f, numbers)) {
  }
  int kept = 0;
  for (int i = 0; i < f.size; ++i)
    if (f.terms[i].coef != 0) f.terms[kept++] = f.terms[i];
  f.size = kept;
  const auto before = [](const index_term& a, const index_term& b) {
    if (a.variable != b.variable) return a.variable < b.variable;
    if (a.div != b.div) return a.div > b.div;
    return a.mod > b.mod;
  };
  for (int i = 1; i < f.size; ++i)
    for (int j = i; j > 0 && before(f.terms[j], f.terms[j - 1]); --j) {
      const index_term t = f.terms[j];
      f.terms[j] = f.terms[j - 1], f.terms[j - 1] = t;
    }
}

/// f becomes f * factor + shift. (In place: g++ 13 fails on the same by value.)
template <class Table, int N>
constexpr void apply_affine(index_form<N>& f, number factor, number shift, Table& numbers) {
  f.offset = numbers.sum(factor == 1 ? f.offset : numbers.product(f.offset, factor), shift);
  if (factor != 1)
    for (int i = 0; i < f.size; ++i) f.terms[i].coef = numbers.product(f.terms[i].coef, factor);
}

/// Adds f * factor to a sum.
template <class Table, int N, int M>
constexpr void accumulate(index_form<N>& total, const index_form<M>& f, number factor, Table& numbers) {
  total.failed = total.failed || f.failed;
  total.offset = numbers.sum(total.offset, numbers.product(f.offset, factor));
  for (int i = 0; i < f.size; ++i) {
    index_term t = f.terms[i];
    t.coef = numbers.product(t.coef, factor);
    total.add(t);
  }
}

/// The first dimension with more than one element.
constexpr int first_wide(const extents& sizes) {
  int d = 0;
  while (d < sizes.rank && sizes[d] == 1) ++d;
  return d;
}

/// The dimensions of a space walked by one linear variable, row-major.
template <class Table>
constexpr coordinates linear_coordinates(const extents& sizes, loop_var variable, Table& numbers) {
  coordinates c{sizes.rank, false, {}};
  number inner = 1;
  for (int d = sizes.rank - 1; d >= 0; --d) {  // the outermost dimension needs no modulo
    if (sizes[d] != 1) c.dims[d].add({variable, inner, d == first_wide(sizes) ? 0 : sizes[d], 1});
    if (sizes[d] != 0) inner = numbers.product(inner, sizes[d]);  // a loop that never runs divides by nothing
  }
  return c;
}

/// A digit of L = x * R + r as digits of x and r. False if it straddles the border unevenly.
template <class Table, int N>
constexpr bool split_digit(const index_term& t, number reduced, index_form<N>& out, Table& numbers) {
  if (t.variable == loop_var::r || reduced == 1) {
    out.add(t);
    return true;
  }
  if (numbers.divides(reduced, t.div)) {
    out.add({loop_var::x, numbers.quotient(t.div, reduced), t.mod, t.coef});
    return true;
  }
  if (!numbers.divides(t.div, reduced)) return false;
  const number q = numbers.quotient(reduced, t.div);  // L / div = x * q + r / div
  if (t.mod != 0 && numbers.divides(t.mod, q)) {
    out.add({loop_var::r, t.div, t.mod == q ? 0 : t.mod, t.coef});
    return true;
  }
  if (t.mod != 0 && !numbers.divides(q, t.mod)) return false;
  out.add({loop_var::x, 1, t.mod == 0 ? 0 : numbers.quotient(t.mod, q), numbers.product(t.coef, q)});
  out.add({loop_var::r, t.div, 0, t.coef});
  return true;
}

/// A form over L as one over x and r, of which there are `numel` and `reduced`.
template <class Table, int N>
constexpr index_form<N> split_form(const index_form<N>& f, number numel, number reduced, Table& numbers) {
  index_form<N> out{};
  out.offset = f.offset;
  out.failed = f.failed;
  for (int i = 0; i < f.size; ++i)
    if (!split_digit(f.terms[i], reduced, out, numbers)) out.failed = true;
  if (numel == 1)  // x is zero
    for (int i = 0; i < out.size; ++i)
      if (out.terms[i].variable == loop_var::x) out.terms[i].coef = 0;
  canonicalize(out, numbers);
  return out;
}

/// The inverse: digits of x and r as digits of L = x * R + r (in variable x).
template <class Table, int N>
constexpr index_form<N> joined_form(const index_form<N>& f, number reduced, Table& numbers) {
  if (reduced == 1) return f;
  index_form<N> out{};
  out.offset = f.offset;
  out.failed = f.failed;
  for (int i = 0; i < f.size; ++i) {
    const index_term& t = f.terms[i];
    if (t.variable == loop_var::x) out.add({loop_var::x, numbers.product(t.div, reduced), t.mod, t.coef});
    else  // the outermost digit of r ends where x begins
      out.add({loop_var::x, t.div, t.mod != 0 ? t.mod : numbers.quotient(reduced, t.div), t.coef});
  }
  canonicalize(out, numbers);
  return out;
}

/// Splits a linear form into the digits of `sizes` (row-major). A digit of the form may span several of `sizes`.
template <class Table>
constexpr bool split_into(const dimension_form& linear, const extents& sizes, dimension_form* out, Table& numbers) {
  int wide = 0, only = -1;
  for (int d = 0; d < sizes.rank; ++d)
    if (sizes[d] != 1) ++wide, only = d;
  if (wide == 0) return true;
  if (wide == 1) {
    out[only] = linear;
    return !linear.failed;
  }
  if (linear.failed) return false;
  if (linear.size == 0) {  // one element: the digits of its position
    number rest = linear.offset;
    for (int d = sizes.rank - 1; d >= 0; --d) {
      if (!is_static(sizes[d]) || !is_static(rest)) return rest == 0;
      out[d].offset = d == first_wide(sizes) ? rest : rest % sizes[d];
      rest /= sizes[d];
    }
    return true;
  }
  if (linear.offset != 0) return false;
  dimension_form rest = linear;
  number border = 1;  // coefficients in [border, border * size) belong to this dimension
  for (int d = sizes.rank - 1; d >= 0; --d) {
    if (sizes[d] == 1) continue;
    const number next = numbers.product(border, sizes[d]);
    number covered = border;  // digits are taken innermost first, without gaps or overlaps
    while (covered != next) {
      int i = 0;
      while (i < rest.size && rest.terms[i].coef != covered) ++i;
      if (i == rest.size) break;
      const index_term t = rest.terms[i];
      for (int k = i + 1; k < rest.size; ++k) rest.terms[k - 1] = rest.terms[k];
      --rest.size;
      const number coef = numbers.quotient(t.coef, border);
      if (t.mod != 0 && numbers.divides(product(t.coef, t.mod), next)) {
        out[d].add({t.variable, t.div, t.mod, coef});
        covered = product(t.coef, t.mod);
      } else if (t.mod == 0 && d == first_wide(sizes)) {
        out[d].add({t.variable, t.div, 0, coef});
        covered = next;
      } else if (numbers.divides(t.coef, next)) {
        const number q = numbers.quotient(next, t.coef);
        if (t.mod != 0 && !numbers.divides(q, t.mod)) return false;
        out[d].add({t.variable, t.div, q, coef});
        rest.add({t.variable, numbers.product(t.div, q), t.mod == 0 ? 0 : numbers.quotient(t.mod, q), next});
        covered = next;
      } else {
        return false;
      }
    }
    if (covered != next)
      for (int i = 0; i < rest.size; ++i)
        if (!numbers.divides(next, rest.terms[i].coef)) return false;
    border = next;
  }
  return rest.size == 0 && !rest.failed;
}

/// Coordinates of a reshape's operand from those of its result: whole groups of dimensions with equal products.
template <class Table>
constexpr coordinates through_reshape(const coordinates& result, const extents& to, const extents& from,
                                      Table& numbers) {
  coordinates c{from.rank, false, {}};
  if (numel(from) == 0) {  // no element is ever read: only on which variables it depends matters, whatever is broadcast
    bool uses[2] = {};
    for (int d = 0; d < to.rank; ++d)
      for (int t = 0; t < result.dims[d].size; ++t) uses[result.dims[d].terms[t].variable == loop_var::r] = true;
    for (int d = 0; d < from.rank; ++d) {
      if (from[d] != 0) continue;
      if (uses[0]) c.dims[d].add({loop_var::x, 1, 0, 1});
      if (uses[1]) c.dims[d].add({loop_var::r, 1, 0, 1});
    }
    return c;
  }
  int i = 0, j = 0;
  while (i < to.rank || j < from.rank) {
    int i_end = i, j_end = j;
    number p = i < to.rank ? to[i_end++] : 1, q = j < from.rank ? from[j_end++] : 1;
    while (p != q && (i_end < to.rank || j_end < from.rank)) {
      const bool left_is_short = is_static(p) && is_static(q) ? p < q : numbers.divides(p, q);
      if (i_end < to.rank && (left_is_short || j_end == from.rank)) p = numbers.product(p, to[i_end++]);
      else q = numbers.product(q, from[j_end++]);
    }
    dimension_form linear{};
    number stride = 1;
    for (int d = i_end - 1; d >= i; --d) {
      accumulate(linear, result.dims[d], stride, numbers);
      stride = numbers.product(stride, to[d]);
    }
    canonicalize(linear, numbers);
    extents sizes{};
    for (int d = j; d < j_end; ++d) sizes.push_back(from[d]);
    if (p != q || !split_into(linear, sizes, c.dims + j, numbers)) c.failed = true;
    i = i_end, j = j_end;
  }
  return c;
}

/// Coordinates of a view's operand from those of its result.
template <class Graph, class Table>
constexpr coordinates through_view(const Graph& g, int view, const coordinates& result, Table& numbers) {
  const node& n = g[view];
  const extents& from = g.shape(n.operands[0]);
  const extents& to = g.shape(view);
  if (n.what == op::reshape) return through_reshape(result, to, from, numbers);
  coordinates c{from.rank, result.failed, {}};
  switch (n.what) {
    case op::permute:
      for (int d = 0; d < to.rank; ++d) c.dims[static_cast<int>(g.lists[n.list][d])] = result.dims[d];
      break;
    case op::broadcast:
      for (int d = 0; d < from.rank; ++d)
        if (from[d] != 1) c.dims[d] = result.dims[d + to.rank - from.rank];
      break;
    case op::slice:
      for (int d = 0; d < from.rank; ++d) {
        c.dims[d] = result.dims[d];
        apply_affine(c.dims[d], g.lists[n.list2][d], g.lists[n.list][d], numbers);
      }
      break;
    default:
      c.failed = true;
  }
  return c;
}

/// Row-major strides.
template <class Table>
constexpr extents row_major_strides(const extents& shape, Table& numbers) {
  extents strides{shape.rank, {}};
  number stride = 1;
  for (int d = shape.rank - 1; d >= 0; --d) {
    strides[d] = stride;
    stride = numbers.product(stride, shape[d]);
  }
  return strides;
}

/// The element offset of coordinates in a buffer with the given strides.
template <class Table>
constexpr access_form offset_of(const coordinates& c, const extents& strides, Table& numbers) {
  access_form f{};
  f.failed = c.failed;
  for (int d = 0; d < c.rank; ++d) accumulate(f, c.dims[d], strides[d], numbers);
  canonicalize(f, numbers);
  return f;
}

}  // namespace sinter::detail
