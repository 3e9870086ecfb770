// Launches rows that groups of warps share: which can be. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/base/atomic_number.hpp"
#include "sinter/kernels/cuda/cluster_launch.cuh"
#include "sinter/kernels/cuda/kernel_memory.cuh"
#include "sinter/kernels/cuda/reduction/rows/grouped.cuh"
#include "sinter/kernels/cuda/reduction/rows/spread_fold.cuh"

namespace sinter::cuda::detail {

/// Bytes of the shortest rows that are shared so: shorter ones are better staged whole, but weights then come from the
/// L2 with each of them. Fast memory waits for that, and for what is computed again in each phase: of several inputs in
/// rows that begin anywhere, or that keep a value of two of 16 bits and are not in registers (`alone`).
template <class Body>
constexpr std::int64_t least_grouped_bytes(bool fast_memory, bool anywhere, bool alone) {
  constexpr int weights = stream_facts<Body>::shared_loads, loads = stream_facts<Body>::loads;
  constexpr bool keeps = kept_value<Body>::is && stream_facts<Body>::bytes <= 4;
  if (weights == 0) return 78 << 10;
  if (weights == 1 && loads == 1) return 56 << 10;
  const bool early = fast_memory && (weights > 1 || anywhere || (alone && keeps));
  return std::int64_t(early ? 39 : weights > 1 ? 56 : 72) << 10;
}
/// How few, or how little in all, is better shared by all multiprocessors.
inline constexpr std::int64_t least_grouped_rows = 96, least_grouped_total = 24 << 20;
/// Rows of whole vectors that are shorter are better held in registers, if those hold them.
inline constexpr std::int64_t most_held_row_bytes = 72 << 10;
/// Rows of whole vectors, of static length, that are no longer are faster one by one (streamed) where there is one load
/// and no more than one weight comes from the L2: of longer ones a multiprocessor does not have the next beside the one
/// that it works on.
inline constexpr std::int64_t most_streamed_alone = 128 << 10;

/// Can rows of static length, or any (-1), of a body that is walked in phases be shared so?
template <class Body, long Rnumel>
inline constexpr bool groups_rows = [] {
  constexpr int width = shifted_facts<Body>::width > 0 ? shifted_facts<Body>::width : 1;
  using facts = stream_facts<Body>;
  return kernels_overlap && phase_facts<Body>::kept_bytes > 0 && facts::whole_vectors(width) && facts::bytes <= 8 &&
         body_facts<Body>::num_phases <= least_group_warps && reduces_phase<Body, 0> &&
         (Rnumel < 0 || (Rnumel < streamed_limit &&
                         Rnumel * facts::bytes >= least_grouped_bytes<Body>(true, Rnumel % width != 0, false) &&
                         (Rnumel % width != 0 || facts::shared_loads > 1 || facts::loads > 1 ||
                          Rnumel * facts::bytes > most_streamed_alone)));
}();

/// False: nothing was launched. CanSplit: as of split_facts; such rows have one phase.
template <long Rnumel, bool CanSplit, class... S, class Args>
bool launch_grouped(body<S...>, const Args& args, kernel_memory& memory, cudaStream_t stream, const char* name) {
  using B = typename m2_body<body<S...>, spread_m2>::type;
  if constexpr (CanSplit || !groups_rows<B, Rnumel>) {
    return false;
  } else {
    using facts = stream_facts<B>;
    constexpr int width = shifted_facts<B>::width;
    // Weights take registers, each as many as the values beside which they lie, and so do elements of several words,
    // and a second result beside weights.
    constexpr bool many = facts::shared_loads > 1 || facts::bytes > 4 || (facts::has_shared && element_stores<B> >= 2);
    constexpr int items = many ? 2 : 4;
    const std::int64_t bytes = args.rnumel * facts::bytes;
    row_shift shift;
    if (args.numel < least_grouped_rows || args.numel >= narrow_limit || args.rnumel >= streamed_limit ||
        args.numel * bytes < least_grouped_total)
      return false;
    const device_limits limits = limits_of_device(name);
    if (!shifted_facts<B>::find(args, shift) || shift.others < 0) return false;
    const bool anywhere = shift.first != 0 || shift.step != 0 || args.rnumel % width != 0;
    if (bytes < least_grouped_bytes<B>(limits.fast_memory, anywhere, Rnumel < 0)) return false;
    void (*const kernel)(Args, group_share, row_shift) = &reduction_grouped<B, width, items, Args>;
    const auto* const address = reinterpret_cast<const void*>(kernel);
    static constinit sinter::detail::atomic_number<std::uint64_t> asked{0}, known_clusters[64]{};
    allow_shared_memory(address, limits.shared_bytes, asked, name);
    const cluster_counts clusters(address, grouped_threads, limits.shared_bytes, known_clusters, name);
    const auto bytes_of = [](const group_share& share) { return grouped_memory<B, width>(share).all; };
    const bool counted =
        sinter::detail::takes_turns(args.numel, args.rnumel, sinter::detail::shared_row_facts<B>::row_bytes);
    const grouped_rows rows{args.numel, args.rnumel / width, 2 * bytes, warp_meeting<B>::words, counted};
    group_share share = choose_groups(rows, limits.shared_bytes, limits.multiprocessors, bytes_of,
                                      [&](int parts) { return clusters.of(parts); });
    if (share.slots == 0) return false;
    if (counted && args.numel > share.slots * share.teams) share.counter = memory.counters(stream, name);
    const auto grid = dim3(static_cast<unsigned>(share.teams / share.groups * share.parts));
    const auto block = dim3(grouped_threads);
    if (share.parts == 1) launch(kernel, grid, block, bytes_of(share), stream, name, args, share, shift);
    else launch_clusters(kernel, share.parts, grid, block, bytes_of(share), stream, name, args, share, shift);
    return true;
  }
}

}  // namespace sinter::cuda::detail
