// Generated graphs of f32 on the host: seeds 84 to 111. See tests/cases/generated.hpp.
// SPDX-License-Identifier: BSL-1.0
#include "on_host.hpp"

#include "../cases/generated.hpp"

TEST_CASE("generated: f32, seeds 84 to 111") { check_seeds<float, 84, 28>(); }
