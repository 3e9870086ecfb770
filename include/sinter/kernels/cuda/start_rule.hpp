// When the blocks of a kernel start, beside those of the kernel in front. No CUDA header is needed here.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

namespace sinter::cuda::detail {

/// How a kernel starts: its blocks before the kernel in front has ended; after that, so that they find all places free;
/// or all of them at once or none, because they wait for each other.
enum class start_rule : unsigned char { overlapping, evenly, together };

/// For `blocks` of which `places` can run at once. If they are one wave that leaves places free, they would come early
/// to where the kernel in front leaves some: up to twice as many to one multiprocessor as to another. That costs more
/// than a late start, 1 us, if they have a while to go.
constexpr start_rule start_of(std::int64_t blocks, std::int64_t places, bool takes_long) {
  return takes_long && 16 * blocks <= 15 * places ? start_rule::evenly : start_rule::overlapping;
}

}  // namespace sinter::cuda::detail
