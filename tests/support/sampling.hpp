// One run in so many, for tools under which a kernel runs a thousand times slower.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstdlib>

/// Is this run one of those that SINTER_TEST_SAMPLING, one in so many, leaves over?
inline bool is_sampled() {
  static const char* const sampling = std::getenv("SINTER_TEST_SAMPLING");
  static int turn = 0;
  return sampling == nullptr || turn++ % std::max(1, std::atoi(sampling)) == 0;
}
