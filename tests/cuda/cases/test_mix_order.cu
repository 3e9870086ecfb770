// The cases of tests/cases/mix_order.hpp on the device.
// SPDX-License-Identifier: BSL-1.0
#include "on_cuda.cuh"

#include "../../cases/mix_order.hpp"
