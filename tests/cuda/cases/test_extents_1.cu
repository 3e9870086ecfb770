// Rows and columns of static extents drawn at random. See tests/cuda/test_extents.cuh. SPDX-License-Identifier: BSL-1.0
#include "../test_extents.cuh"

TEST_CASE("extents drawn at random: seed 1") { extents::check_drawn<1>(std::make_integer_sequence<unsigned, 4>{}); }
