// Generated graphs of f32 on the device; the host runs more of them. See tests/cases/generated.hpp.
// SPDX-License-Identifier: BSL-1.0
#include "on_cuda.cuh"

#include "../../cases/generated.hpp"

TEST_CASE("generated: f32, seeds 0 to 7") { check_seeds<float, 0, 8>(); }
