// Generated graphs of f32 on the host: seeds 56 to 83. See tests/cases/generated.hpp.
// SPDX-License-Identifier: BSL-1.0
#include "on_host.hpp"

#include "../cases/generated.hpp"

TEST_CASE("generated: f32, seeds 56 to 83") { check_seeds<float, 56, 28>(); }
