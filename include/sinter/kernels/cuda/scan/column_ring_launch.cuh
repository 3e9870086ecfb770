// Launches scans of columns through rings, by blocks that stay: which stripes they have, and how many blocks share one.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "sinter/base/atomic_number.hpp"
#include "sinter/kernels/cuda/kernel_memory.cuh"
#include "sinter/kernels/cuda/launch.cuh"
#include "sinter/kernels/cuda/scan/column_ring.cuh"
#include "sinter/kernels/scan_split.hpp"

namespace sinter::cuda::detail {

/// How many blocks share a stripe of columns, and how many parts of it they tell each other; how many have work, the
/// last round counted, too. No blocks: too few would work.
struct stripe_share {
  int blocks = 0, told = 0, busy = 0;
  /// Each tells and reads for longer the more there are that share a stripe, some 2.5 % for each.
  constexpr bool is_better_than(const stripe_share& other) const {
    constexpr int free = 40;
    return busy * (free + other.blocks) > other.busy * (free + blocks);
  }
};
/// As many, up to `most`, as leave few of `all` blocks without work. `places`: of the workspace.
constexpr stripe_share share_stripes(int stripes, std::int64_t parts, int slots, int all, int most,
                                     std::int64_t places) {
  stripe_share best;
  const int least = all * 5 / 8;
  for (int k = 1; k <= most && k <= parts && k <= all; ++k) {
    const int at_once = all / k < stripes ? all / k : stripes, rounds = (stripes + at_once - 1) / at_once;
    const std::int64_t needed = (parts + k - 1) / k * k;
    const int told = needed < 2 * slots * k ? static_cast<int>(needed) : 2 * slots * k;
    const stripe_share now{k, told, stripes * k / rounds};
    if (now.busy > least && (k == 1 || told <= places) && now.is_better_than(best)) best = now;
  }
  return best;
}
/// Parts that a block takes, at least, one after another: fewer do not fill its ring.
inline constexpr int least_ring_turns = 6;

/// Turns of columns. Blocks whose rows share 16 bytes with their neighbours' do not go far ahead: the L2 would
/// have forgotten those before the neighbour comes, and memory would have to put its parts together.
constexpr ring_turns column_turns(int slots, bool is_aligned) {
  if (!is_aligned && slots > 4) slots = 4;
  return {slots, slots / 2, slots / 4};
}

/// What blocks that stay have to do with stripes of one kind; none: these columns cannot pass through their rings.
struct column_ring_work {
  stripe_share stripe;
  int slots = 0, inner = 0, of_inner = 0, stripes = 0, parts = 0;
};
template <class Body, class Stripe, class Args>
column_ring_work work_of_ring(const Args& args, const device_limits& limits) {
  using facts = column_ring_facts<Body, Stripe>;
  column_ring_work work{{}, ring_slots(limits, facts::slot_bytes), static_cast<int>(facts::inner(args))};
  if (work.slots == 0 || work.inner == 0 || !facts::fills(work.inner) || !facts::is_aligned(args, Stripe::unit))
    return work;
  work.of_inner = (work.inner + facts::columns - 1) / facts::columns;
  work.stripes = static_cast<int>(args.numel / work.inner) * work.of_inner;
  work.parts = static_cast<int>((args.rnumel + facts::rows - 1) / facts::rows);
  if (std::int64_t(work.stripes) * work.parts < least_ring_turns * limits.multiprocessors) return work;
  constexpr auto column = orientation::column;
  const std::int64_t most = sinter::detail::most_scan_parts(column, args.numel, args.rnumel);
  work.stripe = share_stripes(work.stripes, work.parts, work.slots, limits.multiprocessors, most_sharing<Body, Stripe>,
                              most > 1 ? sinter::detail::slots_of(column, most) : 0);
  return work;
}
template <class Stripe, class... S, class Args>
void launch_column_ring(body<S...>, const Args& args, const column_ring_work& work, const device_limits& limits,
                        kernel_memory& memory, cudaStream_t stream, const char* name) {
  using B = body<S...>;
  using facts = column_ring_facts<B, Stripe>;
  const stripe_share& stripe = work.stripe;
  const int at_once = limits.multiprocessors / stripe.blocks;
  const ring_turns turns = column_turns(work.slots, facts::is_aligned(args, 16));
  const column_ring_share share{stripe.blocks > 1 ? memory.counters(stream, name) : nullptr,
                                memory.states(),
                                work.inner,
                                work.of_inner,
                                work.stripes,
                                work.parts,
                                stripe.blocks,
                                stripe.told,
                                turns};
  void (*const kernel)(Args, column_ring_share) = &scan_columns_in_ring<B, Stripe, Args>;
  static constinit sinter::detail::atomic_number<std::uint64_t> asked{0};
  allow_shared_memory(reinterpret_cast<const void*>(kernel), limits.shared_bytes, asked, name);
  const int blocks = (at_once < work.stripes ? at_once : work.stripes) * stripe.blocks;
  launch(start_rule::together, kernel, dim3(static_cast<unsigned>(blocks)), dim3(facts::threads),
         turns.slots * facts::slot_bytes, stream, name, args, share);
}

/// Columns by blocks that stay, in stripes of vectors of Width, or single columns. False: nothing was launched.
template <int Width, long StaticNumel, class Body, class Args>
bool launched_column_ring(const Args& args, kernel_memory& memory, cudaStream_t stream, const char* name) {
  using wide = wide_stripe<Body, Width>;
  using first = typename first_stripe<Body, Width>::type;
  const auto can = [](auto facts) {
    return kernels_overlap && facts.can && (StaticNumel < 0 || facts.fills(StaticNumel));
  };
  constexpr bool can_wide = can(column_ring_facts<Body, wide>{}),
                 can_first = !std::is_same_v<first, wide> && can(column_ring_facts<Body, first>{});
  if constexpr (can_wide || can_first) {
    const device_limits limits = limits_of_device(name);
    column_ring_work of_wide, of_first;
    if constexpr (can_wide) of_wide = work_of_ring<Body, wide>(args, limits);
    if constexpr (can_first) {
      of_first = work_of_ring<Body, first>(args, limits);
      if (of_first.stripe.blocks > 0 && !of_wide.stripe.is_better_than(of_first.stripe)) {
        launch_column_ring<first>(Body{}, args, of_first, limits, memory, stream, name);
        return true;
      }
    }
    if constexpr (can_wide)
      if (of_wide.stripe.blocks > 0) {
        launch_column_ring<wide>(Body{}, args, of_wide, limits, memory, stream, name);
        return true;
      }
  }
  return false;
}

}  // namespace sinter::cuda::detail
