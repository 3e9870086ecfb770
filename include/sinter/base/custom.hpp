// Custom ops: what a kernel of the user's is called with, and the functions that call it. What it computes the library
// does not know, so nothing is fused with it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/base/dtype.hpp"
#include "sinter/base/extents.hpp"
#include "sinter/base/string_view.hpp"

namespace sinter {

/// An array of a custom op's call; strides in elements. Row-major unless it is an input declared with strides.
struct custom_array {
  void* data = nullptr;
  dtype type{};
  int rank = 0;
  std::int64_t extents[max_rank]{};
  std::int64_t strides[max_rank]{};

  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
  constexpr std::int64_t numel() const {
    std::int64_t n = 1;
    for (int d = 0; d < rank; ++d) n *= extents[d];
    return n;
  }
};

inline constexpr int max_custom_operands = 3;

/// What a custom op is called with. `stream` is the cudaStream_t of a call on CUDA.
struct custom_call {
  custom_array operands[max_custom_operands]{};
  custom_array result{};
  void* stream = nullptr;
};

/// A custom op in a graph; a function that is not given is null.
struct custom_function {
  string_view name{};
  void (*host)(const custom_call&) = nullptr;
  void (*cuda)(const custom_call&) = nullptr;
};

}  // namespace sinter
