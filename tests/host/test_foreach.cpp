// The cases of tests/cases/foreach.hpp on the host.
// SPDX-License-Identifier: BSL-1.0
#include "on_host.hpp"

#include "../cases/foreach.hpp"
