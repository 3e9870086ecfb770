// Along which index a reduction's loads are contiguous. The scheduler decides it, host and CUDA kernels follow it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace sinter {

enum class orientation : unsigned char {
  row,    // neighbours in r are neighbours in memory: vectors, lanes and warps run along r
  column  // neighbours in x are: they run along x, and r is a loop
};

}  // namespace sinter
