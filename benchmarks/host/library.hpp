// sinter as a library of the host benchmarks.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sinter/sinter.hpp>

#include "cases.hpp"

namespace bench {

struct sinter_library {
  static constexpr const char* name = "sinter";

  template <class Function, class... I, class... O>
  static void run(Function, in<I...>, out<O...>, const matrix<typename I::element>&... inputs,
                  const matrix<typename O::element>&... outputs) {
    static constexpr auto fused = si::fuse<Function::options, typename I::tensor...>(Function{});
    fused(si::host_executor{threads}, I::view(inputs)..., O::view(outputs)...);
  }
};

}  // namespace bench
