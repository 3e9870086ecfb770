// Mix-order reductions: a reduction of the rows and one of the columns of one tensor as one kernel of two parts, which
// reads the tensor once. Decides which pairs may, which side takes the rows, and what may join such a kernel later.
// The gates that all pairs pass are can_fuse's matter, how both walk together the kernels' (kernels/*/mix_order).
// Reference: Inductor's MixOrderReduction and FusedMixOrderReductions.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/schedule/score.hpp"
#include "sinter/schedule/vertical.hpp"

namespace sinter::detail {

/// What such a pair shares, as its score counts it: elements, not bytes.
template <class State>
constexpr std::int64_t mix_order_elements(const State& s, int a) {
  const loop_space& space = s.groups[a].space;
  return s.list.numbers.hint(space.numel) * s.list.numbers.hint(space.rnumel);
}

/// Calls f(dependency, node) for what the members of a read.
template <class State, class F>
constexpr void each_read(State& s, int a, F f) {
  s.each_member(a, -1, [&](int m) {
    const scheduler_node n = s.list.nodes[m];
    for (int k = 0; k < n.num_dependencies; ++k) {
      const dependency d = s.list.dependencies[n.first_dependency + k];
      if (!d.write && d.own >= 0) f(d, n);
    }
  });
}

/// Does a loop over `space` with this access touch as many elements as it has iterations? (A broadcast does not.)
template <class Table>
constexpr bool walks_all(const access_form& f, const loop_space& space, const Table& numbers) {
  std::int64_t touched = 1;
  for (int t = 0; t < f.size; ++t) {
    const index_term& i = f.terms[t];
    const std::int64_t whole = numbers.hint(i.variable == loop_var::x ? space.numel : space.rnumel);
    const std::int64_t div = numbers.hint(i.div);
    touched *= i.mod != 0 ? numbers.hint(i.mod) : div == 0 ? 1 : (whole + div - 1) / div;
  }
  return touched >= numbers.hint(space.numel) * numbers.hint(space.rnumel);
}
template <class State>
constexpr bool share_a_walk(State& s, int a, int b) {
  bool found = false;
  each_read(s, a, [&](const dependency& x, const scheduler_node& nx) {
    if (found || !walks_all(s.list.accesses[x.own], nx.space, s.list.numbers)) return;
    each_read(s, b, [&](const dependency& y, const scheduler_node& ny) {
      found = found || (x.buffer == y.buffer && walks_all(s.list.accesses[y.own], ny.space, s.list.numbers));
    });
  });
  return found;
}

/// Are neighbours in r neighbours in memory, or one element, in every access of a in a loop over `space`?
template <class State>
constexpr bool reads_rows(State& s, int a, const loop_space& space) {
  bool contiguous = true;
  each_read(s, a, [&](const dependency& d, const scheduler_node& n) {
    const access_form f = access_in(d, n, space, s.list);
    for (int t = 0; t < f.size; ++t)
      if (f.terms[t].variable == loop_var::r && f.terms[t].div == 1 && f.terms[t].coef != 1) contiguous = false;
  });
  return contiguous;
}

/// Do both reduce, one what the other keeps, and neither waits for the other? Of fusible pairs only those of a
/// mix-order reduction. Over a square both loops are alike; which side walks along memory tells them apart.
template <class State>
constexpr bool exchange_loops(State& s, int a, int b) {
  const auto& x = s.groups[a];
  const auto& y = s.groups[b];
  if (x.has_scan || y.has_scan || !x.has_reduction || !y.has_reduction || s.is_joint(a) || s.is_joint(b)) return false;
  if (x.space.numel != y.space.rnumel || x.space.rnumel != y.space.numel) return false;
  if (x.ancestors.intersects(y.members) || y.ancestors.intersects(x.members)) return false;
  if (x.space.numel != x.space.rnumel) return true;
  return s.o->mix_order_rows_per_column <= 1 && reads_rows(s, a, x.space) != reads_rows(s, b, y.space);
}

/// Does a, which reduces columns, read a tensor whose neighbouring columns are neighbours in memory?
template <class State>
constexpr bool reads_columns(State& s, int a) {
  bool found = false;
  each_read(s, a, [&](const dependency& d, const scheduler_node& n) {
    const access_form f = access_in(d, n, s.groups[a].space, s.list);
    if (!walks_all(f, s.groups[a].space, s.list.numbers)) return;
    for (int t = 0; t < f.size; ++t) {
      const index_term& i = f.terms[t];
      found = found || (i.variable == loop_var::x && i.div == 1 && (i.coef == 1 || i.coef == -1));
    }
  });
  return found;
}

/// Does one pass over its loops finish a (with b, unless -1)?
template <class State>
constexpr bool takes_one_pass(const State& s, int a, int b) {
  bool possible = true;
  s.each_member(a, b, [&](int m) {
    const scheduler_node& n = s.list.nodes[m];
    if (n.kind != node_kind::reduction && n.space.numel == s.groups[a].space.numel && n.space.rnumel == 1) return;
    s.each_member(a, b, [&](int before) {  // what happens to every element must not wait for a reduction's result
      if (s.list.nodes[before].kind == node_kind::reduction && s.list.ancestors[m].contains(before)) possible = false;
    });
  });
  return possible;
}

/// Can a (with b, unless -1) be the column part: sums and products that one pass over the rows finishes?
template <class State>
constexpr bool reduces_columns(const State& s, int a, int b) {
  bool possible = true;
  s.each_member(a, b, [&](int m) {
    const scheduler_node& n = s.list.nodes[m];
    const op what = (*s.g)[n.root].what;
    if (n.kind == node_kind::reduction && what != op::sum && what != op::prod) possible = false;
  });
  return possible && takes_one_pass(s, a, b);
}

/// Of extents without a hint nothing is asked, if the row part takes one pass, too: then one kernel is never much
/// slower than two, whatever they turn out to be. Others are taken for what is assumed of them.
template <class State>
constexpr refusal check_extents(const State& s, const loop_space& row, bool one_pass) {
  const options& o = *s.o;
  const auto& numbers = s.list.numbers;
  const std::int64_t rows = numbers.hint(row.numel), columns = numbers.hint(row.rnumel);
  const bool any_rows = one_pass && numbers.is_guess(row.numel), any_columns = one_pass && numbers.is_guess(row.rnumel);
  const bool large = any_rows || any_columns ||
                     (rows * columns >= o.mix_order_min_elements && rows >= o.mix_order_rows_per_column * columns);
  const bool tall = any_rows || rows >= o.mix_order_min_rows,
             narrow = any_columns || columns <= o.mix_order_max_columns;
  return large && tall && narrow ? refusal::none : refusal::mix_order_extents;
}

/// Do members of a overwrite memory that b touches, or the other way round? Parts of a kernel run side by side.
template <class State>
constexpr bool overwrite_each_other(const State& s, int a, int b) {
  if (!s.list.buffers.overwrites) return false;
  bool found = false;
  s.each_member(a, b, [&](int writer) {
    const int root = s.list.nodes[writer].root;
    if (!overwrites((*s.g)[root].what)) return;
    s.each_member(s.contains(a, writer) ? b : a, -1,
                  [&](int other) { found = found || s.touches_memory(other, memory_of(*s.g, root)); });
  });
  return found;
}

/// Which of two groups that exchange loops takes the rows, or -1.
template <class State>
constexpr int row_side(State& s, int a, int b) {
  if (reads_rows(s, a, s.groups[a].space)) return a;
  return reads_rows(s, b, s.groups[b].space) ? b : -1;
}

/// May two groups that exchange loops, neither of which waits for the other, become one kernel?
template <class State>
constexpr refusal can_mix_order(State& s, int a, int b) {
  const options& o = *s.o;
  if (!share_a_walk(s, a, b)) return refusal::no_shared_data;
  if (!o.mix_order_reduction) return refusal::mix_order_off;
  const int row = row_side(s, a, b), column = row == a ? b : a;
  if (row < 0 || !reads_columns(s, column)) return refusal::mix_order_strided;
  const refusal extents = check_extents(s, s.groups[row].space, takes_one_pass(s, row, -1));
  if (extents != refusal::none) return extents;
  if (!reduces_columns(s, column, -1)) return refusal::mix_order_columns;
  return overwrite_each_other(s, a, b) ? refusal::overwrites_operand : refusal::none;
}

/// The usual gates (can_fuse.hpp).
template <class State>
constexpr refusal can_fuse(State& s, int a, int b, bool may_mix = true);

/// May x join part p of a mix-order reduction whose other part is q?
template <class State>
constexpr refusal can_join_part(State& s, int whole, int p, int q, int x) {
  const refusal usual = can_fuse(s, p, x, false);
  if (usual != refusal::none) return usual;
  const auto& other = s.groups[x];
  const bool is_row_part = p == s.part(whole, 0);
  if (is_row_part && !reads_rows(s, x, s.groups[p].space)) return refusal::mix_order_strided;
  if (!is_row_part && !reduces_columns(s, p, x)) return refusal::mix_order_columns;
  if (is_row_part) {
    const refusal extents = check_extents(s, s.groups[p].space, takes_one_pass(s, p, x));
    if (extents != refusal::none) return extents;
  }
  if (other.ancestors.intersects(s.groups[q].members) || s.groups[q].ancestors.intersects(other.members))
    return refusal::mix_order_both_parts;
  if (other.has_reduction && shared_by(s, p, x).bytes() < mix_order_elements(s, p))
    return refusal::too_few_shared_bytes;
  return overwrite_each_other(s, q, x) ? refusal::overwrites_operand : refusal::none;
}

/// The part of a mix-order reduction that x joins, or -1 with the reason; the row part is asked first. Another
/// mix-order reduction joins part by part.
template <class State>
constexpr int part_to_join(State& s, int whole, int x, refusal& reason) {
  const int row = s.part(whole, 0), column = s.part(whole, 1);
  const bool both = s.groups[x].how == joint::mix_order;
  reason = can_join_part(s, whole, row, column, both ? s.part(x, 0) : x);
  if (!both && reason == refusal::none) return row;
  if (both && reason != refusal::none) return -1;
  const refusal second = can_join_part(s, whole, column, row, both ? s.part(x, 1) : x);
  if (both || second == refusal::none || reason == refusal::no_shared_data) reason = second;
  return reason == refusal::none ? column : -1;
}

/// Fuses a legal pair of which one is, or both become, a mix-order reduction. False: the pair is an ordinary one.
template <class State>
constexpr bool fuse_mix_order(State& s, int a, int b) {
  if (exchange_loops(s, a, b)) {
    const int row = row_side(s, a, b);
    s.join(row, row == a ? b : a, joint::mix_order);
    return true;
  }
  if (s.groups[a].how != joint::mix_order) return false;
  if (s.groups[b].how == joint::mix_order) {
    const int row = s.part(b, 0), column = s.part(b, 1);
    s.fuse(s.part(a, 0), row, s.groups[row].space);
    s.fuse(s.part(a, 1), column, s.groups[column].space);
    s.groups[b].alive = false;
  } else {
    refusal reason{};
    const int part = part_to_join(s, a, b, reason);
    loop_space space{};
    common_space(s, part, b, space);
    s.fuse(part, b, space);
  }
  s.gather_parts(a);
  return true;
}

}  // namespace sinter::detail
