// The families of the other programs at extents that nobody chose for them: how their names and sizes are made.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdlib>

#include "bench.cuh"
#include "functions.cuh"

namespace bench {

template <class T>
inline const char* name_of = std::is_same_v<T, float>     ? "f32"
                             : std::is_same_v<T, si::f16> ? "f16"
                                                          : "bf16";

/// "softmax_bf16_63936x1001"
template <class T>
std::string named(const char* family, std::int64_t rows, std::int64_t columns) {
  return std::string(family) + "_" + name_of<T> + "_" + std::to_string(rows) + "x" + std::to_string(columns);
}

/// Bytes of an input whose number of rows nobody chose: SINTER_SHAPES_MB says otherwise.
inline std::int64_t shape_bytes() {
  const char* const asked = std::getenv("SINTER_SHAPES_MB");
  return (asked == nullptr ? 128 : std::atoll(asked)) * 1'000'000;
}
/// How many rows of so many elements that is.
template <class T>
std::int64_t rows_of(std::int64_t columns) {
  return shape_bytes() / static_cast<std::int64_t>(sizeof(T)) / columns;
}

inline constexpr long odd_widths[] = {1000,  1001,  2047,  3001,  5000,  10007, 12289,
                                      30522, 32000, 50257, 65535, 65536, 65537};

}  // namespace bench
