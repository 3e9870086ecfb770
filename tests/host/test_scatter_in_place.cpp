// The cases of tests/cases/scatter_in_place.hpp on the host.
// SPDX-License-Identifier: BSL-1.0
#include "on_host.hpp"

#include "../cases/scatter_in_place.hpp"
