// The cases of tests/cases/combo.hpp on the device.
// SPDX-License-Identifier: BSL-1.0
#include "on_cuda.cuh"

#include "../cases/combo.hpp"
