// The cases of tests/cases/matmul_chains.hpp on the device.
// SPDX-License-Identifier: BSL-1.0
#include "on_cuda.cuh"

#include "../../cases/matmul_chains.hpp"
