// What a wrong call throws, always before anything is launched and with no output touched.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/base/error.hpp"

namespace sinter {

/// An argument that cannot be used: null, read-only as an output, overlapping, on the wrong device.
struct argument_error : error {
  using error::error;
};

/// Extents that disagree with the function's or with each other.
struct shape_error : argument_error {
  using argument_error::argument_error;
};

}  // namespace sinter
