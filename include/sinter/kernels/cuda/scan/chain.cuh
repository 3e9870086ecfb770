// What came before a block's tile. Tiles of one block: the block remembers. Parts of a row or column that are many
// blocks': each leaves what it has folded in the workspace and reads what those before it left. Always the same states
// are combined in the same order, so the result does not depend on who came when: a part reads every part of its group
// that comes before it, and what each group before has folded (rows), or the last of the one before handed on
// (columns). SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/reduction/columns/column.cuh"
#include "sinter/kernels/cuda/scan/parts.cuh"

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

/// Part `part` of row `row`.
template <class Body>
struct row_chain {
  static constexpr int group = static_cast<int>(sinter::detail::scan_group(orientation::row)), per_lane = group / 32;
  const scan_split& split;
  std::int64_t row, part;

  /// All threads of the block have the same total. One warp reads what others have folded, for all.
  template <class Which, int G>
  __device__ __forceinline__ void follow(scan_states<Body, 1>& total, scan_states<Body, 1>& before) {
    __shared__ scan_states<Body, 1> found;
    const int thread = static_cast<int>(threadIdx.x), count = static_cast<int>(part % group);
    const int groups = static_cast<int>(part / group);
    if (thread == 0)
      each_scan<Which, Body>([&](auto of) {
        using scan = decltype(of);
        states<scan>()[part].write(lanes_of<scan::number>(total)[0]);
      });
    if (thread < 32)
      each_scan<Which, Body>([&](auto of) {
        using scan = decltype(of);
        auto* const slots = states<scan>();
        const auto in_group = fold<scan>(slots + static_cast<std::int64_t>(groups) * group, count, per_lane);
        if (thread == 0 && count + 1 == group && part + 1 < split.parts)
          slots[split.parts + groups].write(scan::combine(in_group, lanes_of<scan::number>(total)[0]));
        const auto others = fold<scan>(slots + split.parts, groups, (groups + 31) / 32);
        if (thread == 0) lanes_of<scan::number>(found)[0] = scan::combine(others, in_group);
      });
    __syncthreads();
    each_scan<Which, Body>(
        [&](auto of) { lanes_of<decltype(of)::number>(before)[0] = lanes_of<decltype(of)::number>(found)[0]; });
  }

 private:
  template <class Scan>
  __device__ __forceinline__ marked<typename Scan::state>* states() const {
    return reinterpret_cast<marked<typename Scan::state>*>(
               static_cast<unsigned char*>(split.workspace) +
               scan_facts<Body>::offset(Scan::number, orientation::row, split.lines, split.slots, split.numel)) +
           row * split.slots;
  }
  /// `count` states in order, of which a lane takes `each`. As many at a time are on their way as 8 registers hold.
  template <class Scan>
  static __device__ __forceinline__ typename Scan::state fold(const marked<typename Scan::state>* slots, int count,
                                                              int each) {
    using slot = marked<typename Scan::state>;
    constexpr int at_once = slot::count <= 2 ? 4 / slot::count : 1;
    const int mine = static_cast<int>(threadIdx.x) * each, end = mine + each < count ? mine + each : count;
    typename Scan::state own = Scan::init();
#pragma unroll 1
    for (int k = mine; k < end; k += at_once) {
      slot seen[at_once];
      for (bool all = false; !all;) {
        all = true;
#pragma unroll
        for (int i = 0; i < at_once; ++i)
          if (k + i < end) seen[i] = slots[k + i].read();
#pragma unroll
        for (int i = 0; i < at_once; ++i) all &= k + i >= end || seen[i].is_there();
      }
#pragma unroll
      for (int i = 0; i < at_once; ++i)
        if (k + i < end) own = Scan::combine(own, seen[i].value());
    }
    return scan_lanes<Scan>(own, 32).total;
  }
};

/// Part `part` of the columns of line `line`, of which thread (y, x) of the block has Width from `column` on.
template <class Body, int Width>
struct column_chain {
  static constexpr int group = static_cast<int>(sinter::detail::scan_group(orientation::column));
  /// Parts that a thread reads: of the fewest threads that there are for a column.
  static constexpr int most_each = group * static_cast<int>(sinter::detail::scan_column_line) / column_block;
  const scan_split& split;
  std::int64_t line, part, column;
  bool writer;  ///< leaves the states of its columns
  int along;    ///< threads (y, …), no more than a warp has
  unsigned char* storage;

  /// All threads of a column have the same total. They share what the group has folded between them.
  template <class Which, int G>
  __device__ __forceinline__ void follow(scan_states<Body, Width>& total, scan_states<Body, Width>& before) {
    const std::int64_t parts = split.parts;
    const int thread = static_cast<int>(threadIdx.x), x = thread % along, y = thread / along;
    const int deep = column_block / along, each = deep < group ? group / deep : 1;
    const int count = static_cast<int>(part % group), readers = (count + each - 1) / each;
    const std::int64_t group_number = part / group, first = part - count;
    leave<Which>(G, part, total);
    wait_for(G, first, count, group_number);
    each_scan<Which, Body>([&](auto of) {
      using scan = decltype(of);
      using state = typename scan::state;
      const column_states<state> shared{reinterpret_cast<state*>(storage)};
      state_group<state, Width> in[most_each];
#pragma unroll
      for (int k = 0; k < most_each; ++k) {
#pragma unroll
        for (state& s : in[k].states) s = scan::init();
        if (k < each && y * each + k < count) in[k] = read_shared_by_blocks(states<scan>(first + y * each + k));
      }
      state_group<state, Width> handed_on;
      if (group_number > 0) handed_on = read_shared_by_blocks(states<scan>(parts + group_number - 1));
#pragma unroll
      for (int j = 0; j < Width; ++j) {
        state own = in[0].states[j];
#pragma unroll
        for (int k = 1; k < most_each; ++k) own = scan::combine(own, in[k].states[j]);
        shared.of(j, thread) = own;
      }
      __syncthreads();
#pragma unroll
      for (int j = 0; j < Width; ++j) {
        state own = group_number > 0 ? handed_on.states[j] : scan::init();
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
    leave<Which>(G, parts + group_number, all);
  }

 private:
  __device__ __forceinline__ unsigned* flag(int stage, std::int64_t slot) const {
    return static_cast<unsigned*>(split.workspace) + 4 + (stage * split.lines + line) * split.slots + slot;
  }
  /// Of the thread's columns. Width divides the number of all columns.
  template <class Scan>
  __device__ __forceinline__ state_group<typename Scan::state, Width>* states(std::int64_t slot) const {
    using state = typename Scan::state;
    return reinterpret_cast<state_group<state, Width>*>(
        reinterpret_cast<state*>(
            static_cast<unsigned char*>(split.workspace) +
            scan_facts<Body>::offset(Scan::number, orientation::column, split.lines, split.slots, split.numel)) +
        slot * split.numel + column);
  }
  /// The writers are of one warp, the first of which says for all that they have written.
  template <class Which>
  __device__ __forceinline__ void leave(int stage, std::int64_t slot, scan_states<Body, Width>& from) {
    if (threadIdx.x >= 32) return;
    if (writer)
      each_scan<Which, Body>([&](auto of) {
        using scan = decltype(of);
        state_group<typename scan::state, Width> out;
#pragma unroll
        for (int j = 0; j < Width; ++j) out.states[j] = lanes_of<scan::number>(from)[j];
        *states<scan>(slot) = out;
      });
    __syncwarp();
    if (threadIdx.x == 0) asm volatile("st.release.gpu.u32 [%0], 1;" ::"l"(flag(stage, slot)) : "memory");
  }
  __device__ __forceinline__ void wait(int stage, std::int64_t slot) const {
    unsigned seen = 0;
    while (seen == 0) asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(flag(stage, slot)) : "memory");
  }
  /// Threads first, first + 1, … wait for one part each, the next one for the group before.
  __device__ __forceinline__ void wait_for(int stage, std::int64_t first, int count, std::int64_t group_number) const {
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < count) wait(stage, first + thread);
    else if (thread == count && group_number > 0) wait(stage, split.parts + group_number - 1);
    __syncthreads();
  }
};

}  // namespace detail
}  // namespace sinter::cuda
