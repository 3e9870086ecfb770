// Pointwise ops on the host; the cases are tests/cases/ops.hpp.
// SPDX-License-Identifier: BSL-1.0
#include "on_host.hpp"

#include "../cases/ops.hpp"
