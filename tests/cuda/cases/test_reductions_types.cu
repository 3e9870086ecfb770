// The cases of tests/cases/reductions_types.hpp on the device.
// SPDX-License-Identifier: BSL-1.0
#include "on_cuda.cuh"

#include "../../cases/reductions_types.hpp"
