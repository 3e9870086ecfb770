// The two index variables of a kernel.
// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace sinter {

/// x: the linear (row-major) index over the kept space of numel elements; r: over the reduced space of rnumel elements.
enum class loop_var : unsigned char { x, r };

}  // namespace sinter
