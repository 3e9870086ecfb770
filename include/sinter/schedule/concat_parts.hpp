// Concat in parts: a result that joins matmuls with others is memory into which each writes its part, so that no
// product is copied. Products become assignments to slices, what else there is one more; a second such run would cost
// a kernel.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/schedule/realize.hpp"

namespace sinter::detail {

template <int Capacity>
struct concat_parts {
  const graph<Capacity>& g;
  graph<Capacity> out{};
  short renamed[Capacity]{};
  fixed_vector<short, Capacity> leaves{};

  constexpr int num_users(int id) const {
    int n = 0;
    for (int user = id + 1; user < g.size(); ++user)
      for (int k = 0; k < g[user].num_operands(); ++k) n += g[user].operands[k] == id;
    for (int result : g.outputs) n += result == id;
    return n;
  }
  constexpr bool is_product(int id) const { return g[id].what == op::matmul && num_users(id) == 1; }

  /// The arrays that concat `id` joins, in order: a chain of concats on one axis is one.
  constexpr void find_leaves(int id) {
    fixed_vector<short, Capacity> reversed{};
    int at = id;
    do {
      reversed.push_back(g[at].operands[1]);
      at = g[at].operands[0];
    } while (g[at].what == op::concat && g[at].attr == g[id].attr && num_users(at) == 1);
    reversed.push_back(static_cast<short>(at));
    leaves.count = 0;
    for (int i = reversed.size() - 1; i >= 0; --i) leaves.push_back(reversed[i]);
  }
  constexpr bool is_written_in_parts(int id) {
    if (g[id].what != op::concat || !g.outputs.contains(static_cast<short>(id))) return false;
    find_leaves(id);
    int products = 0, runs = 0;
    for (int i = 0; i < leaves.size(); ++i) {
      products += is_product(leaves[i]);
      runs += !is_product(leaves[i]) && (i == 0 || is_product(leaves[i - 1]));
    }
    const bool fits = g.size() + 4 * leaves.size() < Capacity &&
                      g.lists.size() + 3 * leaves.size() < decltype(g.lists)::capacity;
    return products > 0 && runs <= 1 && fits;
  }

  constexpr short intern(const extents& e) {
    for (int i = 0; i < out.lists.size(); ++i)
      if (out.lists[i] == e) return static_cast<short>(i);
    return static_cast<short>(out.lists.push_back(e));
  }
  constexpr short add(op what, const node& like, const extents& shape, short a = -1, short b = -1) {
    node n{};
    n.what = what, n.type = like.type, n.origin = like.origin;
    n.shape = intern(shape);
    n.operands[0] = a, n.operands[1] = b;
    return static_cast<short>(out.nodes.push_back(n));
  }
  /// Memory, and an assignment to a slice of it for each part. Returns the last version.
  constexpr short write(int id) {
    const node& whole = g[id];
    const int axis = whole.attr;
    extents ones{g.shape(id).rank, {}};
    for (int d = 0; d < ones.rank; ++d) ones[d] = 1;
    short version = add(op::empty, whole, g.shape(id));
    extents starts{ones.rank, {}};
    for (int i = 0; i < leaves.size(); ++i) {
      extents shape = g.shape(leaves[i]);
      short value = renamed[leaves[i]];
      while (!is_product(leaves[i]) && i + 1 < leaves.size() && !is_product(leaves[i + 1])) {
        ++i;
        shape[axis] = out.numbers.sum(shape[axis], g.shape(leaves[i])[axis]);
        value = add(op::concat, whole, shape, value, renamed[leaves[i]]);
        out.nodes[value].attr = whole.attr;
      }
      const short slice = add(op::slice, whole, shape, version);
      out.nodes[slice].list = intern(starts), out.nodes[slice].list2 = intern(ones);
      version = add(op::assign, whole, g.shape(id), slice, value);
      starts[axis] = out.numbers.sum(starts[axis], shape[axis]);
    }
    return version;
  }
};

template <int Capacity>
constexpr graph<Capacity> write_concats_in_parts(const graph<Capacity>& g, const options& o) {
  bool joins = false, multiplies = false;
  for (int id : g.outputs) joins = joins || g[id].what == op::concat;
  for (const node& n : g.nodes) multiplies = multiplies || n.what == op::matmul;
  if (!joins || !multiplies || o.one_kernel_per_op) return g;
  concat_parts<Capacity> p{g};
  p.out.lists = g.lists, p.out.numbers = g.numbers;
  for (int id = 0; id < g.size(); ++id) {
    if (p.is_written_in_parts(id)) {
      p.renamed[id] = p.write(id);
      continue;
    }
    node n = g[id];
    for (short& operand : n.operands)
      if (operand >= 0) operand = p.renamed[operand];
    p.renamed[id] = static_cast<short>(p.out.nodes.push_back(n));
  }
  p.out.scalars = g.scalars, p.out.origins = g.origins, p.out.customs = g.customs;
  for (input_info i : g.inputs) {
    i.node = p.renamed[i.node];
    p.out.inputs.push_back(i);
  }
  for (int id : g.assigns) p.out.assigns.push_back(p.renamed[id]);
  for (int id : g.outputs) p.out.outputs.push_back(p.renamed[id]);
  return p.out;
}

}  // namespace sinter::detail
