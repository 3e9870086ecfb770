// The graph: the constexpr value everything meets at. Nodes in topological order with interned shapes; a node refers to
// earlier nodes by position. It says what is computed, never how.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/base/custom.hpp"
#include "sinter/base/dtype.hpp"
#include "sinter/base/extents.hpp"
#include "sinter/base/fixed_vector.hpp"
#include "sinter/base/number.hpp"
#include "sinter/base/op.hpp"
#include "sinter/base/string_view.hpp"

namespace sinter {

/// One op applied to operands. `list` and `list2` are positions in graph::lists, their meaning depends on the op:
///
///   input      attr = argument number
///   constant   attr = position in graph::scalars (a value the rewriter may fold)
///   scalar     attr = position in graph::scalars (a run-time argument: never folded, never compared)
///   iota       attr = axis
///   empty      memory without elements yet, written by assigns
///   permute    list: result dimension i is operand dimension list[i]
///   reshape    (row-major order of elements is kept)
///   broadcast  right-aligned, size-1 dimensions repeat
///   slice      list = starts, list2 = steps (negative steps walk backwards: flip)
///   gather     a = source, b = index; list: source dimension d is result dimension list[d], or -1: from the index
///   concat     a, b joined along attr
///   pad        a = source, b = fill value; list = elements before, per dimension
///   reductions attr = bit mask of the reduced axes; the result drops them
///   scans      attr = bit mask of the one axis; the result keeps it
///   matmul     a = [batch..., M, K], b = [batch..., K, N]
///   custom     up to three operands, row-major in memory; attr = position in graph::customs
///   assign     a = the written view (of an input, or of its newest version), b = value; result: the whole new input
///   scatter    a = target, b = value, c = index of the value's extents; list: target dimension d is value dimension
///              list[d], or -1: taken from the index (-2: the index is a position in this dimension and the next);
///              result: the target with those elements replaced
struct node {
  op what{};
  dtype type{};
  short operands[3] = {-1, -1, -1};
  short shape = 0;  ///< position in graph::lists
  short attr = 0, list = -1, list2 = -1;
  short origin = -1;
  bool set_apart = false;  ///< no_fuse: it has a buffer, and the kernel that computes it does nothing else

  constexpr int num_operands() const { return operands[0] < 0 ? 0 : operands[1] < 0 ? 1 : operands[2] < 0 ? 2 : 3; }
  /// Same value for sure? (The origin does not count, nor does set_apart.)
  friend constexpr bool same_value(const node& a, const node& b) {
    return a.what == b.what && a.operands[0] == b.operands[0] && a.operands[1] == b.operands[1] &&
           a.operands[2] == b.operands[2] && a.type == b.type && a.shape == b.shape && a.attr == b.attr &&
           a.list == b.list && a.list2 == b.list2;
  }
};

/// A user-level call that nodes come from: `softmax`, `mm`, `add`.
struct origin {
  string_view name{};
  short instance = 0;  ///< counts calls of that name: label "mm_0"
  short list = 0;      ///< the foreach whose member this is, counted from 1; 0 if none
  short member = 0;
};

/// A scalar of the program: a literal, or the value of a run-time number (`size`).
struct scalar_source {
  double real = 0;
  long integer = 0;
  number size = 0;  ///< symbolic: the value is this number at the call
  friend constexpr bool operator==(const scalar_source&, const scalar_source&) = default;
};

struct input_info {
  short node = 0;
  bool strided = false;   ///< strides are run-time numbers of the call
  bool by_value = false;  ///< a run-time scalar argument, not memory
  extents layout{};       ///< strides known at compile time, if it has a rank
};

template <int Capacity>
struct graph {
  fixed_vector<node, Capacity> nodes{};
  fixed_vector<extents, Capacity / 2 + 32> lists{};
  fixed_vector<scalar_source, Capacity / 2 + 16> scalars{};
  fixed_vector<origin, Capacity> origins{};
  fixed_vector<input_info, Capacity / 4 + 32> inputs{};
  fixed_vector<short, Capacity / 4 + 32> outputs{};
  fixed_vector<short, Capacity / 4 + 32> assigns{};  ///< in program order
  fixed_vector<custom_function, Capacity / 16 + 8> customs{};
  number_table<Capacity / 2 + 64> numbers{};

  constexpr int size() const { return nodes.size(); }
  constexpr const node& operator[](int id) const { return nodes[id]; }
  constexpr const extents& shape(int id) const { return lists[nodes[id].shape]; }
  constexpr number numel(int id) const { return sinter::numel(shape(id)); }
  /// The user-level call that a node belongs to.
  constexpr const origin& call_of(int id) const { return origins[nodes[id].origin]; }
  constexpr bool overflowed() const {
    return nodes.overflowed || lists.overflowed || scalars.overflowed || origins.overflowed || inputs.overflowed ||
           outputs.overflowed || assigns.overflowed || customs.overflowed || numbers.definitions.overflowed;
  }
};

inline constexpr int max_nodes = 1024;

constexpr bool is_view(op what) {
  return what == op::permute || what == op::reshape || what == op::broadcast || what == op::slice;
}
/// Writes into the memory of its first operand: the result is a new version of it. (A scatter of a traced graph is only
/// a value; schedule/reinplace.hpp gives it memory to write into.)
constexpr bool overwrites(op what) { return what == op::assign || what == op::scatter; }
constexpr bool is_leaf(op what) {
  return what == op::input || what == op::constant || what == op::scalar || what == op::iota;
}

/// The dimensions that remain after a reduction over the axes in `mask`, and those that go.
constexpr extents kept_axes(const extents& shape, unsigned mask) {
  extents kept{};
  for (int d = 0; d < shape.rank; ++d)
    if (!(mask >> d & 1)) kept.push_back(shape[d]);
  return kept;
}
constexpr extents reduced_axes(const extents& shape, unsigned mask) {
  extents reduced{};
  for (int d = 0; d < shape.rank; ++d)
    if (mask >> d & 1) reduced.push_back(shape[d]);
  return reduced;
}

}  // namespace sinter
