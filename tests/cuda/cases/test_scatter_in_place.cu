// The cases of tests/cases/scatter_in_place.hpp on the device.
// SPDX-License-Identifier: BSL-1.0
#include "on_cuda.cuh"

#include "../../cases/scatter_in_place.hpp"
