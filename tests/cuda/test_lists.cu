// The cases of tests/cases/lists.hpp on the device.
// SPDX-License-Identifier: BSL-1.0
#include "on_cuda.cuh"

#include "../cases/lists.hpp"
