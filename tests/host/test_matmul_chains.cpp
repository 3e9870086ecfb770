// The cases of tests/cases/matmul_chains.hpp on the host.
// SPDX-License-Identifier: BSL-1.0
#include "on_host.hpp"

#include "../cases/matmul_chains.hpp"
