// Generated graphs of f32 on the host: seeds 140 to 167. See tests/cases/generated.hpp.
// SPDX-License-Identifier: BSL-1.0
#include "on_host.hpp"

#include "../cases/generated.hpp"

TEST_CASE("generated: f32, seeds 140 to 167") { check_seeds<float, 140, 28>(); }
