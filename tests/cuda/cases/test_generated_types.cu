// Generated graphs of the other element types on the device. See tests/cases/generated.hpp.
// SPDX-License-Identifier: BSL-1.0
#include "on_cuda.cuh"

#include "../../cases/generated.hpp"

TEST_CASE("generated: f64") { check_seeds<double, 300, 4>(); }
TEST_CASE("generated: f16") { check_seeds<si::f16, 320, 4>(); }
TEST_CASE("generated: bf16") { check_seeds<si::bf16, 340, 4>(); }
