// The cases of tests/cases/edges_offsets.hpp on the device.
// SPDX-License-Identifier: BSL-1.0
#include "on_cuda.cuh"

#include "../../cases/edges_offsets.hpp"
