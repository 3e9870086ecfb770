// Generated graphs of the other floating types on the host. See tests/cases/generated.hpp.
// SPDX-License-Identifier: BSL-1.0
#include "on_host.hpp"

#include "../cases/generated.hpp"

TEST_CASE("generated: f64") { check_seeds<double, 300, 8>(); }
TEST_CASE("generated: f16") { check_seeds<si::f16, 320, 8>(); }
TEST_CASE("generated: bf16") { check_seeds<si::bf16, 340, 8>(); }
