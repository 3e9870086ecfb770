// How a matmul operand lies in memory: one stride per row, column and batch, if it is a plain buffer and they exist.
// A foreign matmul needs them; an operand without them goes to the template.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/schedule/lower_group.hpp"

namespace sinter::detail {

/// Strides in elements: `outer` along the operand's kept dimension (rows of the left, columns of the right operand),
/// `inner` along the reduced one.
struct operand_layout {
  bool ok = false;
  short slot = -1;
  number offset = 0, outer = 0, inner = 0, batch = 0;

  /// One stride is one and the other steps over that whole dimension, as BLAS wants it: no flip, no broadcast.
  constexpr bool is_blas(number kept, number reduced) const {
    return ok && ((inner == 1 && (kept == 1 || steps_over(outer, reduced))) ||
                  (outer == 1 && (reduced == 1 || steps_over(inner, kept))));
  }

 private:
  static constexpr bool steps_over(number stride, number extent) {
    return stride == extent || (is_static(stride) && is_static(extent) && stride >= extent);
  }
};

/// The layout of the operand that section `index` loads; `kept` is its extent along the kept dimension.
template <class Kernel>
constexpr operand_layout layout_of(const Kernel& k, int index, number kept) {
  operand_layout l{};
  const section& s = k.sections[index];
  if (s.count != 2 || k.code[s.first].code != opcode::load || k.code[s.first].mask >= 0) return l;  // more than a load
  const access_form& f = k.accesses[k.code[s.first].access];
  l.slot = k.code[s.first].buffer;
  l.offset = f.offset;
  l.ok = true;
  int outer_terms = 0, inner_terms = 0, batch_terms = 0;
  for (int i = 0; i < f.size; ++i) {
    const index_term& t = f.terms[i];
    if (t.variable == loop_var::r) {
      l.inner = t.coef;
      l.ok = l.ok && ++inner_terms == 1 && t.div == 1 && t.mod == 0;
    } else if (t.div == 1 && (t.mod == kept || k.batch == 1)) {
      l.outer = t.coef;
      l.ok = l.ok && ++outer_terms == 1 && (t.mod == 0 || t.mod == kept);
    } else if (t.div == 1 && t.mod == 0) {  // batches follow each other without a gap
      l.outer = t.coef;
      l.batch = product(t.coef, kept);
      l.ok = l.ok && ++outer_terms == 1 && ++batch_terms == 1;
    } else {
      l.batch = t.coef;
      l.ok = l.ok && t.div == kept && t.mod == 0 && ++batch_terms == 1;
    }
  }
  return l;
}

/// Does the epilogue do nothing but store the product?
template <class Kernel>
constexpr bool stores_plainly(const Kernel& k) {
  const section& s = k.sections[k.sections.size() - 1];
  return k.sections.size() == 3 && s.count == 2 && k.code[s.first].code == opcode::accumulator &&
         k.code[s.first + 1].code == opcode::store;
}

}  // namespace sinter::detail
