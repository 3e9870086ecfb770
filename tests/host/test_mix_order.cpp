// The cases of tests/cases/mix_order.hpp on the host.
// SPDX-License-Identifier: BSL-1.0
#include "on_host.hpp"

#include "../cases/mix_order.hpp"
