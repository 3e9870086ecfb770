// The pointwise kernel for rows of odd length and data off its alignment: a thread takes chunks of Width neighbours as
// pointwise.cuh does, but they begin where stores are aligned, and loads are shifted into place. What is left, the
// chunks in which a row ends and those at the ends of memory, a warp takes together, element by element.
// Which accesses can do that is loose.hpp's matter. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include "sinter/kernels/cuda/choose.hpp"
#include "sinter/kernels/cuda/evaluate.cuh"
#include "sinter/kernels/cuda/overlap.cuh"
#include "sinter/kernels/cuda/pointwise/pointwise.cuh"

namespace sinter::cuda {

namespace detail {

template <class Body>
using loose_plan_of = loose_plan<loose_facts<Body>::num_loads>;

/// A thread has one chunk. Of several, which must all be simple to be read at once, more would go element by element.
template <class Body, bool Walks, bool KnowsShifts>
struct loose_tiling : tiling<loop_var::x, loop_var::x, loose_facts<Body>::width, 1, int> {
  static constexpr bool loose = true, walks = Walks, knows_shifts = KnowsShifts;
  template <int I>
  static constexpr bool shifts = loose_facts<Body>::shifts[I] && !(Walks && loose_facts<Body>::breaks[I]);
  template <int I>
  static constexpr bool leads = loose_facts<Body>::leads[I];
  struct staging {
    const loose_plan_of<Body>* plan = nullptr;
    template <int I>
    __device__ __forceinline__ const loose_range& range() const {
      return plan->ranges[loose_facts<Body>::template number<I>];
    }
  };
};

/// The numbers of a launch, of which `Number` divides by a multiplication; and its arguments with them.
template <long Number, class Sizes>
struct divided_sizes {
  const Sizes& all;
  const divisor& by;
  __device__ __forceinline__ std::int64_t operator[](int slot) const { return all[slot]; }
  template <long N>
  requires(N == Number && is_dynamic(N)) __device__ __forceinline__ unsigned quotient(unsigned n) const {
    return __umulhi(2 * n, by.factor) >> by.shift;
  }
};
template <long Number, class Args>
struct divided_args {
  const decltype(Args::pointers)& pointers;
  const decltype(Args::scalars)& scalars;
  divided_sizes<Number, decltype(Args::sizes)> sizes;
  std::int64_t numel, rnumel;
};

template <class Body, bool Masks>
struct masks_or_others {
  static constexpr bool select(int s) { return loose_facts<Body>::masks.needed[s] == Masks; }
};

/// Loads that decide whether a chunk is left: those with masks, and those that may leave memory. What begins anew
/// nowhere leaves it only at the ends of x.
template <class Body>
struct deciding_loads;
template <class... S>
struct deciding_loads<body<S...>> {
  static constexpr auto facts = [] {
    constexpr bool looks = !loose_facts<body<S...>>::keeps_away;
    const bool decides[] = {
        (loose_access<S>::masked || (loose_access<S>::loads && loose_access<S>::breaks && looks))..., false};
    sinter::detail::number_list<sizeof...(S)> list;
    for (int s = 0; s < static_cast<int>(sizeof...(S)); ++s)
      if (decides[s]) list.add(s);
    return list;
  }();
};

/// May the words around load I of the chunk at x be read, or does its mask let in nothing of it? And does the mask let
/// in all or nothing, if it has to?
template <class Body, int I, class Frame, class Args>
__device__ __forceinline__ bool is_readable(Frame& f, int x, const Args& args, const loose_plan_of<Body>& plan) {
  using access = loose_access<sinter::detail::statement_of<Body, I>>;
  if constexpr (Frame::tiling::template shifts<I> && !loose_facts<Body>::keeps_away &&
                (access::masked || access::breaks)) {
    const loose_range& range = plan.ranges[loose_facts<Body>::template number<I>];
    bool inside;
    if constexpr (access::breaks) {
      using T = typename access::element;
      constexpr int width = Frame::tiling::width;
      const std::int64_t first =
          offset_of<typename access::at>::at_xr(x, 0, args.sizes) - access::template below<width>;
      inside = loose_words<T, width * access::reach>::lie_in(
          range, static_cast<const T*>(args.pointers[access::slot]) + first);
    } else {
      inside = (x >= range.low) & (x <= range.high);
    }
    if constexpr (access::masked) {
      bool alike = true;
      if constexpr (!Frame::tiling::walks && !loose_facts<Body>::masks_may_differ) {
        auto& mask = lanes_of<access::mask>(f);
#pragma unroll
        for (int j = 1; j < Frame::tiling::width; ++j) {
          alike &= mask[j] == mask[0];
          mask[j] = mask[0];
        }
      }
      return alike & (inside | !any_lane<access::mask>(f, 0));
    }
    return inside;
  }
  return true;
}

/// Does the chunk at x lie inside of memory, with what else its words hold, and if it is not walked inside of a row?
/// The frame has the masks.
template <class Body, int... I, class Frame, class Args>
__device__ __forceinline__ bool fits_in(std::integer_sequence<int, I...>, Frame& f, int x, const Args& args,
                                        const loose_plan_of<Body>& plan) {
  using facts = loose_facts<Body>;
  constexpr int width = facts::width, around = facts::keeps_away ? width : 0;
  bool inside = (x >= width) & (x <= static_cast<int>(args.numel) - 2 * width);
  if constexpr (!Frame::tiling::walks && facts::period != facts::no_period) {
    unsigned period, rest;
    if constexpr (facts::period == facts::planned_period) {
      period = static_cast<unsigned>(plan.period), rest = static_cast<unsigned>(x) % period;
    } else {
      period = static_cast<unsigned>(sinter::detail::resolve(facts::period, args.sizes));
      rest = rest_by<facts::period>(static_cast<unsigned>(x), args.sizes);
    }
    inside &= rest - around <= period - (width + 2 * around);
  }
  return (inside & ... & is_readable<Body, I>(f, x, args, plan));
}

/// Of a warp's chunks, the first of which begins at `first`, those that `others` has a bit of, element by element.
template <class Body, class Args>
__device__ __forceinline__ void take_elements(const Args& args, unsigned others, int first) {
  constexpr int width = loose_facts<Body>::width, at_once = 32 / width;
  using single = tiling<loop_var::x, loop_var::x, 1, 1, int>;
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll 1
  while (others != 0) {
    unsigned mine = 0;
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const unsigned lowest = others & -others;
      if (k == lane / width) mine = lowest;
      others ^= lowest;
    }
    const int x = first + (__ffs(static_cast<int>(mine)) - 1) * width + lane % width;
    tile<single> tile;
    tile.ok[0] = mine != 0 && x >= 0 && x < args.numel;
    tile.at[0] = tile.ok[0] ? x : 0;
    frame<Body, single> frame;
    evaluate<every_statement>(frame, tile, args);
  }
}

/// Chunks that a thread takes one after another: two where it hardly reads, or there were too many blocks to begin.
template <class Body>
inline constexpr int loose_turns = loose_facts<Body>::reads_all ? 1 : 2;

/// The chunk at x. False: it is left.
template <class Body, bool Walks, bool KnowsShifts, class Args>
__device__ __forceinline__ bool take_chunk(const Args& args, const loose_plan_of<Body>& plan, int x) {
  using tiling = loose_tiling<Body, Walks, KnowsShifts>;
  tile<tiling> tile;
  tile.staging.plan = &plan;
  tile.at[0] = x, tile.ok[0] = true;
  frame<Body, tiling> frame;
  evaluate<masks_or_others<Body, true>>(frame, tile, args);
  const bool taken = fits_in<Body>(sinter::detail::listed<deciding_loads<Body>>{}, frame, x, args, plan);
  if (taken) evaluate<masks_or_others<Body, false>>(frame, tile, args);
  return taken;
}

/// Blocks that a multiprocessor shall run at once; 0 leaves that to the assembler, which may spill what takes pairs of
/// registers, doubles and chunks of elements of several sizes, and chunks of many loads.
template <class Body>
inline constexpr int loose_blocks =
    has_doubles<Body> || loose_facts<Body>::mixed || loose_facts<Body>::num_loads > 6 ? 1 : 0;

}  // namespace detail

/// Body over numel elements. Requires: numel fits int; the plan is loose_facts<Body>::plan(args), Walks and KnowsShifts
/// are what it says.
template <class Body, bool Walks, bool KnowsShifts, class Args>
__global__ void __launch_bounds__(detail::pointwise_threads, detail::loose_blocks<Body>)
    pointwise_loose(const Args given, const detail::loose_plan_of<Body> plan) {
  detail::begin_kernel<Args::next_reads_ahead>();
  const detail::divided_args<detail::loose_facts<Body>::period, Args> args{
      given.pointers, given.scalars, {given.sizes, plan.length}, given.numel, given.rnumel};
  constexpr int width = detail::loose_facts<Body>::width, turns = detail::loose_turns<Body>;
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll 1
  for (int k = 0; k < turns; ++k) {
    const int block = static_cast<int>(blockIdx.x) * turns + k;
    const int first = block * (detail::pointwise_threads * width) - plan.lead;
    const bool taken = detail::take_chunk<Body, Walks, KnowsShifts>(args, plan, first + thread * width);
    detail::take_elements<Body>(args, __ballot_sync(0xffffffffu, !taken), first + thread / 32 * 32 * width);
  }
}

}  // namespace sinter::cuda
