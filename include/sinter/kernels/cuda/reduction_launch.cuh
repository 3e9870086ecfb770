// Launches a reduction body: chooses the kernel (persistent, looped or split along memory; columns across memory), its
// shape, and the element-by-element variant where extents, strides or pointers do not allow wide accesses.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/launch.cuh"
#include "sinter/kernels/cuda/reduction_column.cuh"
#include "sinter/kernels/cuda/reduction_looped.cuh"
#include "sinter/kernels/cuda/reduction_persistent.cuh"
#include "sinter/kernels/two_pass.hpp"

namespace sinter::cuda {

namespace detail {

/// The part for each block, and the counters at zero for a split reduction. The memset can be captured into a graph.
inline split_part make_part(std::int64_t rnumel, std::int64_t splits, std::int64_t granule, void* workspace,
                            std::int64_t counters, cudaStream_t stream, const char* name) {
  if (splits <= 1) return {nullptr, rnumel, 1};
  check(cudaMemsetAsync(workspace, 0, static_cast<std::size_t>(counters) * 4, stream), "cudaMemsetAsync", name);
  return {workspace, sinter::detail::round_up((rnumel + splits - 1) / splits, granule), static_cast<int>(splits)};
}

/// Blocks beyond the first grid dimension go to the third, rounded up: kernels check their row.
inline dim3 grid_of(std::int64_t blocks, std::int64_t splits) {
  constexpr std::int64_t most = 0x7fffffff;
  const std::int64_t z = (blocks + most - 1) / most;
  return dim3(static_cast<unsigned>((blocks + z - 1) / z), static_cast<unsigned>(splits), static_cast<unsigned>(z));
}

/// Threads is 0 where only `shape` knows.
template <int Width, int Items, int Threads, int MaxBlock, int Full, class... S, class Args>
void launch_persistent(body<S...>, const Args& args, const row_shape& shape, cudaStream_t stream, const char* name) {
  using phases = phase_facts<body<S...>>;
  constexpr int blocks = least_blocks(MaxBlock, Width * Items, phases::kept_bytes, phases::late_bytes);
  constexpr auto kernel = &reduction_persistent<body<S...>, Width, Items, Threads, MaxBlock,
                                                blocks, Full, Args>;
  launch(kernel, dim3(static_cast<unsigned>((args.numel + shape.rows - 1) / shape.rows)),
         dim3(static_cast<unsigned>(shape.threads), static_cast<unsigned>(shape.rows)), stream, name, args);
}

template <int Width, int Items, int MaxBlock, class Index, class... S, class Args>
void launch_looped(body<S...>, const Args& args, std::int64_t splits, void* workspace, cudaStream_t stream,
                   const char* name) {
  const split_part part = make_part(args.rnumel, splits, 256, workspace, args.numel, stream, name);
  row_shape shape = loop_shape(args.rnumel, Width, Items, MaxBlock);
  if (splits > 1) shape = {false, MaxBlock, 1, Items};
  launch(&reduction_looped<body<S...>, Width, Items, MaxBlock, Index, Args>,
         grid_of((args.numel + shape.rows - 1) / shape.rows, splits),
         dim3(static_cast<unsigned>(shape.threads), static_cast<unsigned>(shape.rows)), stream, name, args, part);
}

template <int Width, class Index, class... S, class Args>
void launch_column(body<S...>, const Args& args, std::int64_t splits, void* workspace, cudaStream_t stream,
                   const char* name) {
  constexpr int items = column_items<body<S...>, Width>;
  const std::int64_t groups = args.numel / Width;
  const int along = threads_for(groups < 32 ? groups : 32);
  const std::int64_t tiles = (groups + along - 1) / along;
  const split_part part = make_part(args.rnumel, splits, 1, workspace, tiles, stream, name);
  launch(&reduction_column<body<S...>, Width, items, Index, Args>,
         dim3(static_cast<unsigned>(tiles), static_cast<unsigned>(splits)), dim3(column_block), stream, name, args,
         part, along);
}

template <class Body, long StaticRnumel, class Args>
void reduce_rows(const Args& args, void* workspace, cudaStream_t stream, const char* name) {
  using held = typename sinter::detail::held_body<Body>::type;
  constexpr int width = access_facts<Body>::vector_width(loop_var::r, StaticRnumel);
  constexpr held_lanes lanes = lanes_of_body<held>;
  constexpr bool can_split = sinter::detail::split_facts<Body>::can_split;
  const std::int64_t splits = can_split ? num_splits(orientation::row, args.numel, args.rnumel) : 1;
  const bool fits = args.numel < narrow_limit && args.rnumel < narrow_limit &&
                    access_facts<Body>::template fits<width, loop_var::r>(args);
  if constexpr (StaticRnumel >= 0) {
    constexpr row_shape shape = choose_row(StaticRnumel, width, lanes, can_split);
    if (fits) {
      if constexpr (shape.persistent) {
        constexpr int full = full_items(StaticRnumel / width, shape.threads, shape.items);
        return launch_persistent<width, shape.items, shape.threads, shape.block(), full>(
            held{}, args, shape, stream, name);
      } else if constexpr (StaticRnumel < narrow_limit) {
        return launch_looped<width, shape.items, shape.threads, int>(Body{}, args, splits, workspace, stream, name);
      }
    }
  } else {
    constexpr row_shape looped = choose_row(narrow_limit, width, lanes, can_split);
    if (fits) {
      // One phase gains nothing from holding the row.
      if constexpr (phase_facts<held>::kept_bytes > 0) {
        constexpr int few = items_of(lanes.few, width), most = items_of(lanes.most, width);
        const std::int64_t groups = args.rnumel / width;
        if (groups > 0 && groups <= 512 * few)
          return launch_persistent<width, few, 0, 512, 0>(held{}, args, row_of(groups, few), stream, name);
        if (groups > 0 && groups <= 1024 * most)
          return launch_persistent<width, most, 0, 1024, 0>(held{}, args, row_of(groups, most), stream, name);
      }
      if constexpr (width > 1)
        return launch_looped<width, looped.items, looped.threads, int>(Body{}, args, splits, workspace, stream, name);
    }
  }
  launch_looped<1, 4, looped_block(can_split), std::int64_t>(Body{}, args, splits, workspace, stream, name);
}

template <class Body, long StaticNumel, class Args>
void reduce_columns(const Args& args, void* workspace, cudaStream_t stream, const char* name) {
  constexpr int width = column_width<Body>(StaticNumel);
  constexpr bool can_split = sinter::detail::split_facts<Body>::can_split;
  const std::int64_t splits = can_split ? num_splits(orientation::column, args.numel, args.rnumel) : 1;
  if (args.numel < narrow_limit && args.rnumel < narrow_limit &&
      access_facts<Body>::template fits<width, loop_var::x>(args))
    return launch_column<width, int>(Body{}, args, splits, workspace, stream, name);
  launch_column<1, std::int64_t>(Body{}, args, splits, workspace, stream, name);
}

}  // namespace detail

/// Runs a body with reductions for every x in [0, numel). O says along which index its loads are contiguous.
/// `workspace`: reduction_workspace_bytes<Body, O>(numel, rnumel) bytes, 16-byte aligned, of any content (null if 0);
/// its counters are cleared here, in the stream, by one cudaMemsetAsync. `name` is the kernel's, for errors. Static
/// extents
/// (>= 0; they must be the ones in args) save the user the compilation of variants that cannot be needed.
template <class Body, orientation O, long StaticRnumel = -1, long StaticNumel = -1, class Args>
void reduction(const Args& args, void* workspace, cudaStream_t stream, const char* name) {
  static_assert(body_facts<Body>::has_reduction, "reduction: the body reduces nothing; use pointwise");
  if (args.numel <= 0) return;
  if constexpr (O == orientation::row) detail::reduce_rows<Body, StaticRnumel>(args, workspace, stream, name);
  else detail::reduce_columns<Body, StaticNumel>(args, workspace, stream, name);
}

}  // namespace sinter::cuda
