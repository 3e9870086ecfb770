// Asking for memory before it is read. The processor itself looks ahead only inside a page, so a walk through memory
// waits at the start of each one; asked for line by line out of four pages side by side, memory gives half as much
// again. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

namespace sinter::cpu::detail {

/// Lines are asked for out of so many bytes side by side: four pages.
inline constexpr std::int64_t page_bytes = 4096, line_bytes = 64, ahead_bytes = 4 * page_bytes;

/// Less stays in the caches from one call to the next.
inline constexpr std::int64_t least_bytes_ahead = 1 << 20;

/// Asks for as many lines as begin in the `bytes` from p, all of which lie `distance` ahead, give or take ahead_bytes:
/// of one page after the other, each line once if all of the memory passes here. `distance` is a multiple of
/// line_bytes.
inline void read_ahead(const void* p, std::int64_t bytes, std::int64_t distance) {
  constexpr std::uintptr_t page = page_bytes, line = line_bytes, all = ahead_bytes, pages = all / page;
  const auto begin = reinterpret_cast<std::uintptr_t>(p) + static_cast<std::uintptr_t>(distance);
  const std::uintptr_t end = begin + static_cast<std::uintptr_t>(bytes);
  for (std::uintptr_t at = (begin + line - 1) & ~(line - 1); at < end; at += line) {
    const std::uintptr_t number = at % all / line;
    const auto* const target =
        reinterpret_cast<const void*>(at - at % all + number % pages * page + number / pages * line);
    if (distance == ahead_bytes) __builtin_prefetch(target, 0, 3);
    else __builtin_prefetch(target, 0, 2);  // not into the innermost cache
  }
  asm volatile("");  // or g++ takes a function that only asks for one without effects, and drops its calls
}

}  // namespace sinter::cpu::detail
