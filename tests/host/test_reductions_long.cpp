// The cases of tests/cases/reductions_long.hpp on the host.
// SPDX-License-Identifier: BSL-1.0
#include "on_host.hpp"

#include "../cases/reductions_long.hpp"
