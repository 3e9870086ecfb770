// What "equal" means for each element type, in one place: |found - expected| may be at most
// tolerance(type) * (|expected| + largest), where largest is the largest finite magnitude of the array, at least 1.
// The unit roundoffs are 2^-53, 2^-24, 2^-11 and 2^-8; a graph of some dozens of ops, with sums of some hundred terms and
// roundings wherever a value lies in memory between kernels, stays below these figures.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/base/dtype.hpp"

namespace reference {

constexpr double tolerance(sinter::dtype type) {
  switch (type) {
    case sinter::dtype::f64: return 1e-12;
    case sinter::dtype::f32: return 1e-5;
    case sinter::dtype::f16: return 3e-3;
    case sinter::dtype::bf16: return 2e-2;
    default: return 0;  // integers and bool are exact
  }
}

}  // namespace reference
