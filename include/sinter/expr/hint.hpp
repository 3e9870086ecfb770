// Hints: the user's wishes to the scheduler. They change no value.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/expr/expr.hpp"

namespace sinter {

/// x, computed by a kernel of its own: what x names is written to memory and fused neither with what it is computed
/// from nor with what reads it. Of a view, what it views. An input or a constant is no kernel's result and stays as it
/// is.
template <dtype T, extents S>
constexpr expr<T, S> no_fuse(expr<T, S> x) {
  trace* t = x.graph();
  short id = x.id();
  while (is_view(t->nodes[id].what)) id = t->nodes[id].operands[0];
  if (!is_leaf(t->nodes[id].what) && t->nodes[id].what != op::assign) t->nodes[id].set_apart = true;
  return x;
}

}  // namespace sinter
