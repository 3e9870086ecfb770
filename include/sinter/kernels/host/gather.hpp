// Values read where indices say: rows of a table, each by one index, are copied; other values are found one by one.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <cstring>

#include "sinter/base/dtype.hpp"
#include "sinter/kernels/host/lanes.hpp"
#include "sinter/kernels/host/layout.hpp"
#include "sinter/kernels/host/runs.hpp"
#include "sinter/kernels/host/width.hpp"

SINTER_WIDE_VECTORS

namespace sinter::cpu::detail {

/// The axis that indices count along, and how far its elements are from one another.
struct indexed_axis {
  std::int64_t extent, distance;

  /// How far the element lies from the first. An index out of range is the user's mistake and its result unspecified;
  /// memory stays untouched by it.
  [[gnu::always_inline]] std::int64_t offset(std::int64_t index) const {
    index += extent & -std::int64_t(index < 0);
    index &= ~-std::int64_t(index < 0);
    return (index < extent ? index : extent - 1) * distance;
  }
};

/// out[first + i] = the value that indices[first + i] finds from p[i * step] on, where lanes are lit as in read_lit.
template <bool Differs, class T, class Index, class Step>
void gather_lit(const bool* lit, compute_t<T>* out, const T* p, const Index* indices, int first, int count, Step step,
                indexed_axis axis) {
  indices += first;
  const auto offset = [=](int i) { return axis.offset(static_cast<std::int64_t>(indices[i])); };
  if constexpr (!is_scattered<Step>)  // neighbours often have one index
    if (indices[0] == indices[count - 1] &&
        std::memcmp(indices, indices + 1, static_cast<std::size_t>(count - 1) * sizeof(Index)) == 0)
      return read_lit<Differs>(lit, out, p + offset(0), first, count, step);
  alignas(64) std::int64_t at[most_lanes];
  for_lanes(count, [=, to = at](int i) { to[i] = offset(i) + along(step, i); });
  read_lit<Differs>(lit, out, p, first, count, places<std::int64_t>{at});
}

}  // namespace sinter::cpu::detail

SINTER_END_WIDE_VECTORS
