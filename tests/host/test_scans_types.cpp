// The cases of tests/cases/scans_types.hpp on the host.
// SPDX-License-Identifier: BSL-1.0
#include "on_host.hpp"

#include "../cases/scans_types.hpp"
