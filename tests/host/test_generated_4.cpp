// Generated graphs of f32 on the host: seeds 112 to 139. See tests/cases/generated.hpp.
// SPDX-License-Identifier: BSL-1.0
#include "on_host.hpp"

#include "../cases/generated.hpp"

TEST_CASE("generated: f32, seeds 112 to 139") { check_seeds<float, 112, 28>(); }
