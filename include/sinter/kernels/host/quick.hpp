// Ops whose straight-line code does not know every argument (base/host_quick.hpp): a block is computed by that, and the
// lanes it has answered NaN for are asked again, one by one. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>

#include "sinter/base/op.hpp"
#include "sinter/kernels/host/lanes.hpp"
#include "sinter/kernels/host/width.hpp"

SINTER_WIDE_VECTORS

namespace sinter::cpu::detail {

/// The quick code of an op, as an op.
template <class Op, class T>
struct quick {
  static constexpr bool exists = false;
};
#define SINTER_ROW(name, condition, parameters, arguments)                      \
  template <class T>                                                            \
  requires(condition) struct quick<ops::name, T> {                              \
    static constexpr bool exists = true;                                        \
    static constexpr op id = op::name;                                          \
    static constexpr T apply parameters { return math::quick::name arguments; } \
  };
SINTER_ROW(sin, (std::is_same_v<T, float>), (T x), (x))
SINTER_ROW(cos, (std::is_same_v<T, float>), (T x), (x))
SINTER_ROW(tan, (std::is_same_v<T, float>), (T x), (x))
SINTER_ROW(fmod, math::quick::divides<T>, (T x, T y), (x, y))
SINTER_ROW(remainder, math::quick::divides<T>, (T x, T y), (x, y))
SINTER_ROW(floor_divide, math::quick::divides<T>, (T x, T y), (x, y))
#undef SINTER_ROW

/// out[i] = known(i), or exact(i) where that is NaN.
template <class T, class Known, class Exact>
[[gnu::always_inline]] inline void fill_quickly(T* out, int count, Known known, Exact exact) {
  unsigned unknown = 0;
  for_lanes(count, [=, &unknown](int i) {
    const T value = known(i);
    out[i] = value;
    unknown |= static_cast<unsigned>(value != value);
  });
  if (unknown == 0) return;
  for (int i = 0; i < count; ++i)
    if (out[i] != out[i]) out[i] = exact(i);
}

}  // namespace sinter::cpu::detail

SINTER_END_WIDE_VECTORS
