// Lowering what reads or writes at computed places. A gather at positions that are known is an ordinary read; any other
// gather, and every scatter, is an instruction that takes the index as a value.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/schedule/index_value.hpp"
#include "sinter/schedule/instruction.hpp"

namespace sinter::detail {

template <class Graph, class Table>
struct lowering;

/// Where a gather reads or a scatter writes, but for the index: its dimension's stride and extent are handed back.
template <class Graph, class Table>
constexpr short place_indexed(lowering<Graph, Table>& l, int id, const extents& strides, short c, number& stride,
                              number& extent) {
  const node& n = (*l.g)[id];
  const extents& from = l.g->shape(n.operands[0]);
  coordinates at{from.rank, false, {}};
  extent = 1;
  for (int d = 0; d < from.rank; ++d)
    if (l.g->lists[n.list][d] < 0) stride = strides[d], extent = l.numbers->product(extent, from[d]);
    else at.dims[d] = l.coords[c].dims[static_cast<int>(l.g->lists[n.list][d])];
  return l.place(offset_of(at, strides, *l.numbers), id);
}

/// A gather at a place that is known: an ordinary read, or -1.
template <class Graph, class Table>
constexpr short emit_direct(lowering<Graph, Table>& l, int id, index_value_form index, short c, short mask) {
  const node& n = (*l.g)[id];
  const extents& from = l.g->shape(n.operands[0]);
  int indexed = 0;
  while (l.g->lists[n.list][indexed] >= 0) ++indexed;
  if (index.known && is_static(from[indexed]) && is_static(index.high) && index.high < 0 && is_static(index.low)) {
    index.form.offset = l.numbers->sum(index.form.offset, from[indexed]);  // negative throughout: from the end
    index.low += from[indexed], index.high += from[indexed];
  }
  if (!index_values<Graph, Table>::is_inside(index, from[indexed])) return -1;
  coordinates at{from.rank, false, {}};
  for (int d = 0; d < from.rank; ++d)
    at.dims[d] = d == indexed ? index.form : l.coords[c].dims[static_cast<int>(l.g->lists[n.list][d])];
  if (offset_of(at, l.strides_of(n.operands[0]), *l.numbers).failed) return -1;
  return l.emit(n.operands[0], l.intern(at), mask);
}

template <class Graph, class Table>
constexpr short emit_gather(lowering<Graph, Table>& l, int id, short c, short mask) {
  const node& n = (*l.g)[id];
  const index_values<Graph, Table> values{*l.g, *l.r, *l.numbers};
  if (const short direct = emit_direct(l, id, values(n.operands[1], l.coords[c]), c, mask); direct >= 0) return direct;
  const index_value_form signed_index = values.absolute(n.operands[1], l.coords[c]);
  if (signed_index.known) {  // abs: two ordinary reads, of which one counts
    const index_value_form negated = values.scaled(signed_index, -1);
    const short is_positive = l.inside(id, signed_index.form, 0, signed_index.high + 1);
    const short is_negative = l.compute(op::logical_not, dtype::boolean, dtype::boolean, is_positive);
    const short a = emit_direct(l, id, values.not_below_zero(signed_index), c, l.both(mask, is_positive));
    const short b = emit_direct(l, id, values.not_below_zero(negated), c, l.both(mask, is_negative));
    if (a >= 0 && b >= 0) return l.compute(op::where, n.type, n.type, is_positive, a, b);
  }
  // What is read anywhere has to lie in memory.
  if (l.internal.contains(n.operands[0]) && l.blocked < 0) l.blocked = id;
  const short index = l.emit(n.operands[1], c, mask);
  instruction i{};
  i.code = opcode::gather_load, i.type = i.result = n.type, i.buffer = n.operands[0], i.a = index, i.mask = mask;
  i.access = place_indexed(l, id, l.strides_of(n.operands[0]), c, i.low, i.high);
  return l.push(i);
}

template <class Graph, class Table>
constexpr void emit_scatter(lowering<Graph, Table>& l, int root, short c) {
  const node& n = (*l.g)[root];
  instruction i{};
  i.code = opcode::scatter_store, i.type = i.result = n.type, i.buffer = static_cast<short>(root);
  i.a = l.emit(n.operands[1], c);
  i.b = l.emit(n.operands[2], c);
  i.access = place_indexed(l, root, l.strides_of(root), c, i.low, i.high);
  l.push(i);
}

}  // namespace sinter::detail
