// The cases of tests/cases/edges_offsets.hpp and edges_strides.hpp on the host.
// SPDX-License-Identifier: BSL-1.0
#include "on_host.hpp"

#include "../cases/edges_offsets.hpp"
#include "../cases/edges_strides.hpp"
