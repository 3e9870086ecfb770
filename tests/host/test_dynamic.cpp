// The cases of tests/cases/dynamic.hpp on the host.
// SPDX-License-Identifier: BSL-1.0
#include "on_host.hpp"

#include "../cases/dynamic.hpp"
