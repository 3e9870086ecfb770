// What came before a block's tile. Tiles of one block: the block remembers. Parts of a row or column that are many
// blocks': each leaves what it has folded in the workspace and reads what those before it left. Always the same states
// are combined in the same order, so the result does not depend on who came when: a part reads every part of its group
// that comes before it, and what the last of the group before has handed on.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/reduction_column.cuh"
#include "sinter/kernels/cuda/scan_parts.cuh"

namespace sinter::cuda {

/// How a launch is split: `lines` (rows, or the columns that a block takes) of `parts` each; see scan_facts::offset.
struct scan_split {
  void* workspace;
  std::int64_t lines, parts, slots, numel;
};

namespace detail {

/// One block walks all tiles. N: rows or columns of a thread.
template <class Body, int N>
struct tile_chain {
  scan_states<Body, N> so_far;

  __device__ __forceinline__ tile_chain() {
    each_scan<every_scan<Body>, Body>([&](auto at) {
      using scan = decltype(at);
      for (auto& s : lanes_of<scan::number>(so_far)) s = scan::init();
    });
  }
  /// `before`: what came before the tile, which folds to `total`.
  template <class Which, int G>
  __device__ __forceinline__ void follow(scan_states<Body, N>& total, scan_states<Body, N>& before) {
    each_scan<Which, Body>([&](auto at) {
      using scan = decltype(at);
#pragma unroll
      for (int j = 0; j < N; ++j) {
        auto& state = lanes_of<scan::number>(so_far)[j];
        lanes_of<scan::number>(before)[j] = state;
        state = scan::combine(state, lanes_of<scan::number>(total)[j]);
      }
    });
  }
};

/// The next part that no block has taken: those before it are being worked on, or done.
__device__ __forceinline__ std::int64_t take_ticket(const scan_split& split) {
  __shared__ unsigned taken;
  if (threadIdx.x == 0) taken = atomicAdd(static_cast<unsigned*>(split.workspace), 1u);
  __syncthreads();
  return taken;
}

/// The flags and states of one line.
template <class Body>
struct scan_line {
  const scan_split& split;
  std::int64_t line;

  __device__ __forceinline__ unsigned* flag(int stage, std::int64_t slot) const {
    return static_cast<unsigned*>(split.workspace) + 4 + (stage * split.lines + line) * split.slots + slot;
  }
  template <class Scan>
  __device__ __forceinline__ typename Scan::state* states() const {
    return reinterpret_cast<typename Scan::state*>(
        static_cast<unsigned char*>(split.workspace) +
        scan_facts<Body>::offset(Scan::number, split.lines, split.slots, split.numel));
  }
  /// After the whole block has written states.
  __device__ __forceinline__ void announce(int stage, std::int64_t slot) const {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) asm volatile("st.release.gpu.u32 [%0], 1;" ::"l"(flag(stage, slot)) : "memory");
  }
  __device__ __forceinline__ void wait(int stage, std::int64_t slot) const {
    unsigned seen = 0;
    while (seen == 0) asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(flag(stage, slot)) : "memory");
  }
  /// Threads first, first + 1, … wait for one part each, the next one for the group before.
  __device__ __forceinline__ void wait_for(int stage, std::int64_t first, int count, std::int64_t group) const {
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < count) wait(stage, first + thread);
    else if (thread == count && group > 0) wait(stage, split.parts + group - 1);
    __syncthreads();
  }
};

/// Part `part` of row `line`.
template <class Body>
struct row_chain {
  static constexpr int group = static_cast<int>(sinter::detail::scan_group(orientation::row)), per_lane = group / 32;
  scan_line<Body> row;
  std::int64_t part;

  /// All threads of the block have the same total. One warp reads what the group has folded, for all.
  template <class Which, int G>
  __device__ __forceinline__ void follow(scan_states<Body, 1>& total, scan_states<Body, 1>& before) {
    __shared__ scan_states<Body, 1> found;
    const std::int64_t at = row.line * row.split.slots;
    const int thread = static_cast<int>(threadIdx.x), count = static_cast<int>(part % group);
    const std::int64_t group_number = part / group, first = part - count;
    if (thread == 0) leave<Which>(at + part, total);
    row.announce(G, part);
    row.wait_for(G, first, count, group_number);
    if (thread < 32)
      each_scan<Which, Body>([&](auto of) {
        using scan = decltype(of);
        const auto* states = row.template states<scan>() + at;
        typename scan::state own = scan::init();
#pragma unroll
        for (int k = 0; k < per_lane; ++k)
          if (const int j = thread * per_lane + k; j < count)
            own = scan::combine(own, read_shared_by_blocks(states + first + j));
        own = scan_lanes<scan>(own, 32).total;
        if (group_number > 0)
          own = scan::combine(read_shared_by_blocks(states + row.split.parts + group_number - 1), own);
        if (thread == 0) lanes_of<scan::number>(found)[0] = own;
      });
    __syncthreads();
    each_scan<Which, Body>(
        [&](auto of) { lanes_of<decltype(of)::number>(before)[0] = lanes_of<decltype(of)::number>(found)[0]; });
    if (count + 1 < group || part + 1 == row.split.parts) return;
    scan_states<Body, 1> all;
    each_scan<Which, Body>([&](auto of) {
      using scan = decltype(of);
      lanes_of<scan::number>(all)[0] =
          scan::combine(lanes_of<scan::number>(before)[0], lanes_of<scan::number>(total)[0]);
    });
    if (thread == 0) leave<Which>(at + row.split.parts + group_number, all);
    row.announce(G, row.split.parts + group_number);
  }

 private:
  template <class Which>
  __device__ __forceinline__ void leave(std::int64_t slot, scan_states<Body, 1>& states) {
    each_scan<Which, Body>([&](auto of) {
      using scan = decltype(of);
      row.template states<scan>()[slot] = lanes_of<scan::number>(states)[0];
    });
  }
};

/// Part `part` of the columns of line `line`, of which thread (y, x) of the block has Width from `column` on.
template <class Body, int Width>
struct column_chain {
  static constexpr int group = static_cast<int>(sinter::detail::scan_group(orientation::column));
  scan_line<Body> columns;
  std::int64_t part, column;
  bool writer;  ///< leaves the states of its columns
  int along;    ///< threads (y, …)
  unsigned char* storage;

  /// All threads of a column have the same total. They share what the group has folded between them.
  template <class Which, int G>
  __device__ __forceinline__ void follow(scan_states<Body, Width>& total, scan_states<Body, Width>& before) {
    const std::int64_t numel = columns.split.numel, parts = columns.split.parts;
    const int thread = static_cast<int>(threadIdx.x), x = thread % along, y = thread / along;
    const int deep = static_cast<int>(blockDim.x) / along, each = deep < group ? group / deep : 1;
    const int count = static_cast<int>(part % group), readers = (count + each - 1) / each;
    const std::int64_t group_number = part / group, first = part - count;
    if (writer) leave<Which>(part, total);
    columns.announce(G, part);
    columns.wait_for(G, first, count, group_number);
    each_scan<Which, Body>([&](auto of) {
      using scan = decltype(of);
      const auto* states = columns.template states<scan>() + column;
      const column_states<typename scan::state> shared{reinterpret_cast<typename scan::state*>(storage)};
#pragma unroll
      for (int j = 0; j < Width; ++j) {
        typename scan::state own = scan::init();
        for (int k = y * each; k < y * each + each && k < count; ++k)
          own = scan::combine(own, read_shared_by_blocks(states + (first + k) * numel + j));
        shared.of(j, thread) = own;
      }
      __syncthreads();
#pragma unroll
      for (int j = 0; j < Width; ++j) {
        typename scan::state own = scan::init();
        if (group_number > 0) own = read_shared_by_blocks(states + (parts + group_number - 1) * numel + j);
        for (int k = 0; k < readers; ++k) own = scan::combine(own, shared.of(j, k * along + x));
        lanes_of<scan::number>(before)[j] = own;
      }
      __syncthreads();  // the next scan uses the same storage
    });
    if (count + 1 < group || part + 1 == parts) return;
    scan_states<Body, Width> all;
    each_scan<Which, Body>([&](auto of) {
      using scan = decltype(of);
#pragma unroll
      for (int j = 0; j < Width; ++j)
        lanes_of<scan::number>(all)[j] =
            scan::combine(lanes_of<scan::number>(before)[j], lanes_of<scan::number>(total)[j]);
    });
    if (writer) leave<Which>(parts + group_number, all);
    columns.announce(G, parts + group_number);
  }

 private:
  template <class Which>
  __device__ __forceinline__ void leave(std::int64_t slot, scan_states<Body, Width>& states) {
    each_scan<Which, Body>([&](auto of) {
      using scan = decltype(of);
#pragma unroll
      for (int j = 0; j < Width; ++j)
        columns.template states<scan>()[slot * columns.split.numel + column + j] = lanes_of<scan::number>(states)[j];
    });
  }
};

}  // namespace detail
}  // namespace sinter::cuda
