// Lowering: a node with everything that is inlined into it becomes a list of instructions over the index variables.
// The list is what dependencies are read from, and what a kernel's body is spelled from: there is no other description.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/graph/graph.hpp"
#include "sinter/schedule/instruction.hpp"
#include "sinter/schedule/lower_indexed.hpp"

namespace sinter::detail {

/// A list of instructions under construction.
template <class Graph, class Table>
struct lowering {
  const Graph* g;
  const realization<decltype(Graph::nodes)::capacity>* r;
  Table* numbers;
  loop_space space{};
  bool precise = false;
  bool exact = false;

  fixed_vector<instruction, max_instructions> code{};
  fixed_vector<access_form, 128> accesses{};
  fixed_vector<coordinates, 80> coords{};
  int blocked = -1;  ///< the view that cannot be indexed in this loop, if one was met

  struct memo {
    short node, coords, mask, value;
  };
  fixed_vector<memo, max_instructions * 2> seen{};

  /// Buffers that live in registers: written by this very list, or (in a matmul's prologue) computed where they are
  /// read.
  fixed_set<decltype(Graph::nodes)::capacity> internal{};
  struct product_of {
    short node, access, value;
  };
  fixed_vector<product_of, 96> produced{};
  short accumulators[2] = {-1, -1};  ///< matmul nodes whose values arrive in registers
  bool by_elements = false;  ///< coordinates are over x * rnumel + r in variable x: accesses are split into x and r

  constexpr short intern(const access_form& f) {
    for (int i = 0; i < accesses.size(); ++i)
      if (accesses[i] == f) return static_cast<short>(i);
    return static_cast<short>(accesses.push_back(f));
  }
  /// The position of an index expression of node `id`.
  constexpr short place(access_form f, int id) {
    if (by_elements) f = split_form(f, space.numel, space.rnumel, *numbers);
    if (f.failed && blocked < 0) blocked = id;
    return intern(f);
  }
  constexpr short intern(const coordinates& c) {
    for (int i = 0; i < coords.size(); ++i)
      if (coords[i] == c) return static_cast<short>(i);
    return static_cast<short>(coords.push_back(c));
  }
  constexpr short push(const instruction& i) { return static_cast<short>(code.push_back(i)); }
  constexpr bool overflowed() const {
    return code.overflowed || accesses.overflowed || coords.overflowed || seen.overflowed || produced.overflowed;
  }

  constexpr extents strides_of(int buffer) const {
    const node& n = (*g)[buffer];
    if (n.what == op::input && g->inputs[n.attr].layout.rank > 0) return g->inputs[n.attr].layout;
    if (n.what == op::input && g->inputs[n.attr].strided) {
      extents strides{g->shape(buffer).rank, {}};
      for (int d = 0; d < strides.rank; ++d)
        strides[d] = numbers->define(symbol(static_cast<std::uint64_t>((1 << 20) + n.attr * max_rank + d)),
                                     number_rule::input_stride, n.attr, d);
      return strides;
    }
    if (overwrites(n.what)) return strides_of(view_base(*g, n.operands[0]));
    return row_major_strides(g->shape(buffer), *numbers);
  }
  constexpr short access_of(int buffer, int c) {
    return place(offset_of(coords[c], strides_of(buffer), *numbers), buffer);
  }

  /// The value of `node` at coordinates `c`; memory is touched only where the value `mask` (if any) is true.
  constexpr short emit(int id, short c, short mask = -1) {
    const node& n = (*g)[id];
    if (n.what == op::constant || n.what == op::scalar) c = 0, mask = -1;
    for (const memo& m : seen)
      if (m.node == id && m.coords == c && m.mask == mask) return m.value;
    const short value = r->is_loaded(id) ? emit_buffer(id, c, mask) : emit_lazy(id, c, mask);
    seen.push_back({static_cast<short>(id), c, mask, value});
    return value;
  }

  constexpr short emit_buffer(int id, short c, short mask) {
    const node& n = (*g)[id];
    if (n.what == op::input && g->inputs[n.attr].by_value) {
      instruction i{};
      i.code = opcode::scalar, i.type = i.result = n.type, i.buffer = static_cast<short>(-2 - n.attr);
      return push(i);
    }
    const short at = access_of(id, c);
    for (const product_of& p : produced)
      if (p.node == id && p.access == at) return p.value;
    for (short which = 0; which < 2; ++which)
      if (accumulators[which] == id) {
        instruction i{};
        i.code = opcode::accumulator, i.type = i.result = n.type, i.a = which;
        return push(i);
      }
    if (internal.contains(id)) return emit_definition(id, c, mask);
    instruction i{};
    i.code = opcode::load, i.type = i.result = n.type, i.buffer = static_cast<short>(id), i.access = at, i.mask = mask;
    return push(i);
  }

  /// A buffer that is computed here instead of stored.
  constexpr short emit_definition(int id, short c, short mask) {
    if (is_scan((*g)[id].what)) return emit_scan(id, c);
    return is_reduction((*g)[id].what) && !r->unrolled.contains(id) ? emit_reduction(id, c) : emit_lazy(id, c, mask);
  }

  constexpr short emit_reduction(int id, short c) {
    const node& n = (*g)[id];
    const unsigned mask = static_cast<unsigned>(n.attr);
    const extents& shape = g->shape(n.operands[0]);
    const coordinates reduced = linear_coordinates(reduced_axes(shape, mask), loop_var::r, *numbers);
    coordinates inside_row{shape.rank, false, {}};
    for (int d = 0, kept = 0, folded = 0; d < shape.rank; ++d)
      inside_row.dims[d] = (mask >> d & 1) ? reduced.dims[folded++] : coords[c].dims[kept++];
    for (int d = 0; d < coords[c].rank; ++d)
      for (int t = 0; t < coords[c].dims[d].size; ++t)
        if (coords[c].dims[d].terms[t].variable == loop_var::r && blocked < 0)
          blocked = id;  // a row value at an element's index
    instruction i{};
    i.code = opcode::reduce, i.what = n.what, i.type = (*g)[n.operands[0]].type, i.result = n.type;
    i.a = emit(n.operands[0], intern(inside_row));
    return push(i);
  }

  /// In order along r, or not at all.
  constexpr short emit_scan(int id, short c) {
    const node& n = (*g)[id];
    const coordinates own = axes_coordinates(g->shape(id), static_cast<unsigned>(n.attr));
    if (!(coords[c] == own) && blocked < 0) blocked = id;
    instruction i{};
    i.code = opcode::scan, i.what = n.what, i.type = (*g)[n.operands[0]].type, i.result = n.type;
    i.a = emit(n.operands[0], c);
    return push(i);
  }

  constexpr short compute(op what, dtype type, dtype result, short a, short b = -1, short c = -1) {
    instruction i{};
    const auto is_short = [](dtype t) { return t == dtype::f16 || t == dtype::bf16; };
    if (what == op::square) what = op::mul, b = a;  // as users write it: what computes the same is one kernel
    i.code = opcode::compute, i.what = what, i.result = result, i.a = a, i.b = b, i.c = c;
    i.type = exact && is_short(type) ? dtype::f32 : type;  // kernels may compute 16-bit functions with less care
    const short value = push(i);
    if (!precise || !is_short(result)) return value;
    return convert(opcode::cast, result, result, value);
  }
  constexpr short convert(opcode code_, dtype from, dtype to, short a) {
    instruction i{};
    i.code = code_, i.type = from, i.result = to, i.a = a;
    return push(i);
  }
  constexpr short constant(dtype type, short scalar) {
    instruction i{};
    i.code = opcode::constant, i.type = i.result = type, i.buffer = scalar;
    return push(i);
  }
  constexpr short inside(int id, const dimension_form& f, number low, number high) {
    access_form a{};
    accumulate(a, f, 1, *numbers);
    canonicalize(a, *numbers);
    instruction i{};
    i.code = opcode::inside, i.type = i.result = dtype::boolean, i.access = place(a, id), i.low = low, i.high = high;
    return push(i);
  }
  constexpr short both(short a, short b) {
    if (a < 0) return b;
    return b < 0 ? a : compute(op::logical_and, dtype::boolean, dtype::boolean, a, b);
  }

  constexpr short emit_lazy(int id, short c, short mask) {
    const node& n = (*g)[id];
    if (is_view(n.what)) {
      const coordinates through = through_view(*g, id, coords[c], *numbers);
      if (through.failed && blocked < 0) blocked = id;
      return emit(n.operands[0], intern(through), mask);
    }
    switch (n.what) {
      case op::constant:
        return constant(n.type, n.attr);
      case op::scalar: {
        instruction i{};
        i.code = opcode::scalar, i.type = i.result = n.type, i.buffer = n.attr;
        return push(i);
      }
      case op::iota: {
        access_form a{};
        accumulate(a, coords[c].dims[n.attr], 1, *numbers);
        canonicalize(a, *numbers);
        instruction i{};
        i.code = opcode::index_value, i.type = i.result = dtype::i64, i.access = place(a, id);
        return push(i);
      }
      case op::cast:
        return convert(opcode::cast, (*g)[n.operands[0]].type, n.type, emit(n.operands[0], c, mask));
      case op::widen:
        return convert(opcode::widen, (*g)[n.operands[0]].type, n.type, emit(n.operands[0], c, mask));
      case op::concat:
        return emit_concat(id, c, mask);
      case op::pad:
        return emit_pad(id, c, mask);
      case op::gather:
        return emit_gather(*this, id, c, mask);
      default:
        break;
    }
    if (is_reduction(n.what)) return emit_unrolled(id, c, mask);
    const short a = emit(n.operands[0], c, mask);
    const short b = n.operands[1] < 0 ? short{-1} : emit(n.operands[1], c, mask);
    const short d = n.operands[2] < 0 ? short{-1} : emit(n.operands[2], c, mask);
    if (n.what == op::clone || n.what == op::realize) return a;
    return compute(n.what, (*g)[n.operands[row(n.what).rule == dtype_rule::select ? 1 : 0]].type, n.type, a, b, d);
  }

  /// index < size of a ? a[index] : b[index - size of a]; what is not chosen is not read.
  constexpr short emit_concat(int id, short c, short mask) {
    const node& n = (*g)[id];
    const number first = g->shape(n.operands[0])[n.attr];
    const short in_first = inside(id, coords[c].dims[n.attr], 0, first);
    const short in_second = compute(op::logical_not, dtype::boolean, dtype::boolean, in_first);
    const short a = emit(n.operands[0], c, both(mask, in_first));
    coordinates shifted = coords[c];
    apply_affine(shifted.dims[n.attr], 1, numbers->product(first, -1), *numbers);
    const short b = emit(n.operands[1], intern(shifted), both(mask, in_second));
    return compute(op::where, n.type, n.type, in_first, a, b);
  }

  constexpr short emit_pad(int id, short c, short mask) {
    const node& n = (*g)[id];
    const extents& from = g->shape(n.operands[0]);
    coordinates shifted = coords[c];
    short in_source = -1;
    for (int d = 0; d < from.rank; ++d) {
      const number before = g->lists[n.list][d];
      if (before == 0 && from[d] == g->shape(id)[d]) continue;
      in_source = both(in_source, inside(id, coords[c].dims[d], before, numbers->sum(from[d], before)));
      apply_affine(shifted.dims[d], 1, -before, *numbers);
    }
    const short fill = emit(n.operands[1], c, mask);
    if (in_source < 0) return emit(n.operands[0], c, mask);
    const short value = emit(n.operands[0], intern(shifted), both(mask, in_source));
    return compute(op::where, n.type, n.type, in_source, value, fill);
  }

  constexpr short emit_unrolled(int id, short c, short mask) {
    const node& n = (*g)[id];
    const unsigned axes = static_cast<unsigned>(n.attr);
    const extents& shape = g->shape(n.operands[0]);
    const extents reduced = reduced_axes(shape, axes);
    const dtype from = (*g)[n.operands[0]].type;
    const number total = numel(reduced);
    short value = -1;
    for (number k = 0; k < total; ++k) {
      coordinates at{shape.rank, false, {}};
      number rest = k;
      int folded = reduced.rank, kept = g->shape(id).rank;
      for (int d = shape.rank - 1; d >= 0; --d)
        if (axes >> d & 1) {
          --folded;
          at.dims[d].offset = rest % reduced[folded];
          rest /= reduced[folded];
        } else {
          at.dims[d] = coords[c].dims[--kept];
        }
      short element = emit(n.operands[0], intern(at), mask);
      if (from != n.type) element = convert(opcode::widen, from, n.type, element);
      value = value < 0 ? element : compute(fold_of(n.what), n.type, n.type, value, element);
    }
    return value;
  }
  static constexpr op fold_of(op reduction) {
    switch (reduction) {
      case op::sum:
        return op::add;
      case op::prod:
        return op::mul;
      case op::amax:
        return op::maximum;
      case op::amin:
        return op::minimum;
      case op::any:
        return op::logical_or;
      default:
        return op::logical_and;
    }
  }

  // ---- whole nodes
  // ----------------------------------------------------------------------------------------------------

  /// Coordinates of a node's own elements in this list's loop; a loop over all (x, r) splits into both.
  constexpr coordinates root_coordinates(int root, bool over_elements) {
    coordinates c = linear_coordinates(written_shape(*g, root), loop_var::x, *numbers);
    if (over_elements && space.rnumel != 1)
      for (int d = 0; d < c.rank; ++d) {
        c.dims[d] = split_form(c.dims[d], space.numel, space.rnumel, *numbers);
        if (c.dims[d].failed) c.failed = true;
      }
    return c;
  }
  /// The same for a loop whose reduced axes are `mask` of a node of equal shape: kept dimensions from x, reduced from
  /// r.
  constexpr coordinates axes_coordinates(const extents& shape, unsigned mask) {
    const coordinates kept = linear_coordinates(kept_axes(shape, mask), loop_var::x, *numbers);
    const coordinates reduced = linear_coordinates(reduced_axes(shape, mask), loop_var::r, *numbers);
    coordinates c{shape.rank, false, {}};
    for (int d = 0, k = 0, j = 0; d < shape.rank; ++d) c.dims[d] = (mask >> d & 1) ? reduced.dims[j++] : kept.dims[k++];
    return c;
  }
  /// The same where the loop computes element number walk(x, r); see schedule/reorder.hpp.
  constexpr coordinates walked_coordinates(const extents& shape, const access_form& walk, const loop_space& loops) {
    coordinates c{shape.rank, false, {}};
    dimension_form element{};
    accumulate(element, walk, 1, *numbers);
    c.failed = !split_into(element, shape, c.dims, *numbers);
    for (int d = 0; d < c.rank; ++d) {
      canonicalize(c.dims[d], *numbers);
      for (int t = 0; t < c.dims[d].size; ++t) {  // outermost digits need no modulo
        index_term& digit = c.dims[d].terms[t];
        if (numbers->product(digit.div, digit.mod) == (digit.variable == loop_var::x ? loops.numel : loops.rnumel))
          digit.mod = 0;
      }
    }
    return c;
  }

  /// Computes buffer `root` at `c`; stores it if `stored`; users in this list read the register.
  constexpr void emit_root(int root, const coordinates& c, bool stored) {
    if (c.failed && blocked < 0) blocked = root;
    const short at = intern(c);
    const node& n = (*g)[root];
    if (n.what == op::scatter) return emit_scatter(*this, root, at);
    const bool is_assign = n.what == op::assign;
    const short value = is_assign ? emit(n.operands[1], at) : emit_definition(root, at, -1);
    short where = -1;
    if (is_assign) {
      coordinates target = c;
      int v = n.operands[0];
      for (; is_view(g->nodes[v].what); v = g->nodes[v].operands[0]) target = through_view(*g, v, target, *numbers);
      where = place(offset_of(target, strides_of(v), *numbers), root);
    } else {
      where = access_of(root, at);
    }
    produced.push_back({static_cast<short>(root), where, value});
    if (!stored) return;
    instruction i{};
    i.code = opcode::store, i.type = i.result = n.type, i.buffer = static_cast<short>(root), i.access = where,
    i.a = value;
    push(i);
  }
  constexpr void emit_yield(int operand, const coordinates& c) {
    instruction i{};
    i.code = opcode::yield, i.type = i.result = (*g)[operand].type, i.a = emit(operand, intern(c));
    push(i);
  }
};

}  // namespace sinter::detail
