// Launches reductions across memory: how blocks share columns, and which kernel walks them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <limits>

#include "sinter/base/atomic_number.hpp"
#include "sinter/kernels/cuda/kernel_memory.cuh"
#include "sinter/kernels/cuda/launch.cuh"
#include "sinter/kernels/cuda/reduction/columns/column_held.cuh"
#include "sinter/kernels/cuda/reduction/columns/column_parts.cuh"
#include "sinter/kernels/cuda/reduction/columns/column_shifted.cuh"
#include "sinter/kernels/cuda/reduction/columns/column_slab_launch.cuh"
#include "sinter/kernels/cuda/reduction/columns/column_teams.cuh"
#include "sinter/kernels/cuda/reduction/columns/column_twice.cuh"
#include "sinter/kernels/cuda/reduction/columns/column_walk.cuh"
#include "sinter/kernels/cuda/reduction/columns/column_walked.hpp"
#include "sinter/kernels/cuda/reduction/rows/swept_launch.cuh"

namespace sinter::cuda::detail {

/// The part of each block of columns; in sets of `span`.
inline split_part share_columns(std::int64_t numel, std::int64_t rnumel, const column_shape& shape,
                                kernel_memory& memory, cudaStream_t stream, const char* name) {
  const std::int64_t deep = column_block / shape.along;
  if (shape.splits <= 1) return {sinter::detail::round_up(rnumel, deep)};
  return share_columns(shape.span < numel ? shape.span : numel,
                       sinter::detail::round_up((rnumel + shape.splits - 1) / shape.splits, deep), shape.splits,
                       shape.tiles, column_block, memory, stream, name);
}
template <int Width, class Index, class... S, class Args>
void launch_column(body<S...>, const Args& args, std::int64_t most_splits, kernel_memory& memory, cudaStream_t stream,
                   const char* name) {
  constexpr int items = column_items<sinter::body<S...>, Width>;
  const column_shape shape = choose_columns(args.numel, args.rnumel, Width, false, most_splits);
  const split_part part = share_columns(args.numel, args.rnumel, shape, memory, stream, name);
  launch(&reduction_column<sinter::body<S...>, Width, items, Index, Args>,
         dim3(static_cast<unsigned>(shape.tiles), static_cast<unsigned>(shape.splits)), dim3(column_block), stream,
         name, args, part, shape.along);
}
/// Columns of rows that begin anywhere.
template <class... S, class Args>
void launch_shifted_columns(body<S...>, const Args& args, const row_shift& shift, std::int64_t most_splits,
                            kernel_memory& memory, cudaStream_t stream, const char* name) {
  using B = sinter::body<S...>;
  using facts = column_shift_facts<B>;
  constexpr int width = facts::width;
  using walk = column_walk<B, width, facts::loads>;
  const bool shifted = shift.first != 0 || shift.step != 0;
  // Of several sets of columns each better has fewer blocks, which meet sooner, and write while fewer read.
  constexpr bool may_be_fewer = walk::blocks == 4 || (walk::blocks == 3 && facts::stores);
  const bool several_sets = may_be_fewer && args.numel > 2 * 32 * width;
  constexpr std::int64_t at_once = column_blocks_of(column_blocks_at_once(walk::blocks));
  column_shape shape = choose_columns(args.numel, args.rnumel, width, shifted, most_splits, 1, column_block,
                                      several_sets ? column_blocks_of(walk::blocks - 1) : at_once, at_once);
  shape.whole = shape.splits == 1 && shape.along == column_block && !shifted &&
                access_facts<B>::template fits<width, loop_var::x>(args);
  const split_part part = share_columns(args.numel, args.rnumel, shape, memory, stream, name);
  const start_rule rule =
      start_of_columns<Args>(shape.tiles * shape.splits, walk::blocks, limits_of_device(name).multiprocessors,
                             part.length / (column_block / shape.along));
  launch(rule, &reduction_column_shifted<B, width, walk::items, walk::blocks, Args>,
         dim3(static_cast<unsigned>(shape.tiles), static_cast<unsigned>(shape.splits)), dim3(column_block), 0, stream,
         name, args, part, shape, shift);
}

/// Columns of a phase that reduces and one that stores, of rows that begin anywhere.
template <class... S, class Args>
void launch_columns_twice(body<S...>, const Args& args, const row_shift& shift, kernel_memory& memory,
                          cudaStream_t stream, const char* name) {
  using B = sinter::body<S...>;
  constexpr int width = column_shift_facts<B>::width, items = known_items<B, width>, most = twice_blocks<B, width>;
  const bool shifted = shift.first != 0 || shift.step != 0;
  const std::int64_t places = limits_of_device(name).multiprocessors * most,
                     splits = num_splits(orientation::column, args.numel, args.rnumel);
  const column_shape shape = choose_columns(args.numel, args.rnumel, width, shifted, splits, 1, column_block, places);
  split_part part = share_columns(args.numel, args.rnumel, shape, memory, stream, name);
  part.states = memory.states();
  const known_share share = share_known(width, items, args.numel + (shifted ? width - 1 : 0), args.rnumel, places,
                                        memory.counters(stream, name) + shape.tiles);  // behind those of the sets
  const std::int64_t units = shape.tiles * shape.splits, chunks = std::int64_t(share.sets) * share.chunks,
                     wanted = units > chunks ? units : chunks;
  launch(start_rule::together, &reduction_column_twice<B, width, items, most, Args>,
         dim3(static_cast<unsigned>(wanted < places ? wanted : places)), dim3(column_block), 0, stream, name, args,
         part, shape, share, shift);
}

/// A long column by itself, by the kernel of long rows. False: nothing was launched.
template <class... S, class Args>
bool launch_single_column(body<S...>, const Args& args, kernel_memory& memory, cudaStream_t stream, const char* name) {
  using row = body<typename single_column<S>::type...>;
  if constexpr (sweeps_rows<row, -1> && sweeps_all<row>) {
    const std::int64_t splits = sinter::detail::row_splits<row>(args.numel, args.rnumel);
    const auto adjoins = [&]<class A>(A) {
      if constexpr (A::moves) return sinter::detail::resolve(A::place.pitch, args.sizes) == 1;
      else return true;
    };
    return args.numel == 1 && splits > 1 && (adjoins(shifted_access<typename single_column<S>::type>{}) && ...) &&
           launch_swept(row{}, args, splits, memory, stream, name);
  }
  return false;
}

/// Short columns of several phases in vectors of Width, each set of them in the registers of one block, if there are
/// enough of them for so many multiprocessors, or a thread has whole ones. False: nothing was launched. StaticRnumel:
/// -1 if it is known at launch only.
template <int Width, long StaticRnumel, class... S, class Args>
bool launch_column_held(body<S...>, const Args& args, int multiprocessors, cudaStream_t stream, const char* name) {
  using held = body<S...>;
  using facts = held_column_facts<held, Width, (StaticRnumel >= 0)>;
  const auto start = [&]<int Items, int Full, int MaxBlock>(const auto& shape) {
    using threads = std::remove_cvref_t<decltype(shape)>;
    const std::int64_t span = Width << shape.log_along(), sets = (args.numel + span - 1) / span;
    const bool is_whole = shape.threads() >> shape.log_along() == 1;  // so nobody could help
    if (!is_whole && !fills_device(sets, multiprocessors)) return false;
    constexpr int blocks = facts::resident / MaxBlock;
    const int slots = shape.threads() >> (shape.log_along() > 5 ? shape.log_along() : 5);
    launch(&reduction_column_held<held, facts::columns, Width, Items, Full, MaxBlock, blocks, threads, Args>,
           dim3(static_cast<unsigned>(sets)), dim3(static_cast<unsigned>(shape.threads())),
           slots * held_column_bytes<held, facts::columns>, stream, name, args, shape);
    return true;
  };
  // Of few columns smaller sets leave fewer multiprocessors without work.
  const auto start_at_most = [&]<int Log>(std::integral_constant<int, Log>) {
    if constexpr (facts::is_known) {
      constexpr held_columns shape = facts::choose(StaticRnumel, Log);
      if constexpr (shape.threads() > 0) {
        constexpr int rows = shape.threads() >> shape.log_along(), full = static_cast<int>(StaticRnumel / rows),
                      items = full + (StaticRnumel % rows > 0);
        return start.template operator()<items, full, shape.threads()>(
            fixed_held_columns<shape.threads(), shape.log_along()>{});
      }
    } else {
      const held_columns shape = facts::choose(args.rnumel, Log);
      if (shape.threads() > 0) return start.template operator()<facts::items, 0, facts::most_threads>(shape);
    }
    return false;
  };
  if constexpr (facts::possible)
    return start_at_most(std::integral_constant<int, facts::log_along>{}) ||
           start_at_most(std::integral_constant<int, facts::log_line>{});
  return false;
}

/// Columns of several phases.
template <int Width, class Index, class... S, class Args>
void launch_column_teams(body<S...>, const Args& args, kernel_memory& memory, cudaStream_t stream, const char* name) {
  using B = sinter::body<S...>;
  using shared = sinter::detail::shared_column_facts<B>;
  using loads = team_loads<B, Width>;
  using pieces = row_pieces<B>;
  constexpr int items = team_items<B, Width>, reserved = 1024;  // of a multiprocessor for each block
  const auto log_of = [](int span) {
    int log = 0;
    while ((Width << log) < span ||
           (loads::in_pieces && pieces::count * pieces::pitch(span) * (team_threads >> log) * items > 32 << 10))
      ++log;
    return log;
  };
  const auto rows_of = [&](int span) { return items * (team_threads >> log_of(span)); };
  const auto bytes_of = [&](int span) -> std::int64_t {  // of a tile
    return loads::in_pieces ? pieces::count * rows_of(span) * pieces::pitch(span)
                            : items * team_staging<B, Width>::item_bytes;
  };
  const auto tiles_of = [&](int span, std::int64_t length) { return (length + rows_of(span) - 1) / rows_of(span); };
  const device_limits limits = limits_of_device(name);
  const int of_two = (limits.shared_bytes + reserved) / 2 - reserved - team_storage<B>;
  const bool two = of_two >= 32 << 10;
  const int most = two ? of_two : limits.shared_bytes - team_storage<B>,
            blocks = (two ? 2 : 1) * limits.multiprocessors;
  void (*const kernel)(Args, team_share) = &reduction_column_teams<B, Width, items, Index, Args>;
  static constinit sinter::detail::atomic_number<std::uint64_t> asked{0};
  if (loads::bytes > 0) allow_shared_memory(reinterpret_cast<const void*>(kernel), most, asked, name);
  const sinter::detail::column_teams shape = shared::choose(args.numel, args.rnumel);
  team_share share{nullptr, memory.states(), shape.tiles};
  share.parts = shape.parts < blocks ? shape.parts : blocks;
  share.teams = shape.teams < blocks / share.parts ? shape.teams : blocks / share.parts;
  share.span = static_cast<int>(sinter::detail::round_up((args.numel + shape.tiles - 1) / shape.tiles, Width));
  share.length = (args.rnumel + share.parts - 1) / share.parts;
  share.log_along = log_of(share.span);
  share.pitch = pieces::pitch(share.span);
  const std::int64_t wanted = tiles_of(share.span, share.length), tile_bytes = bytes_of(share.span);
  const std::int64_t room = tile_bytes > 0 ? most / tile_bytes : std::numeric_limits<int>::max();
  share.places = static_cast<int>(wanted < room ? wanted : room);
  const int bytes = static_cast<int>(share.places * tile_bytes);
  const auto grid = dim3(static_cast<unsigned>(share.teams * share.parts)), block = dim3(team_threads);
  if (share.parts == 1) return launch(kernel, grid, block, bytes, stream, name, args, share);
  share.counters = memory.counters(stream, name);
  launch(start_rule::together, kernel, grid, block, bytes, stream, name, args, share);
}

template <class Body, long StaticRnumel, long StaticNumel, class Args>
void reduce_columns(const Args& args, kernel_memory& memory, cudaStream_t stream, const char* name) {
  const bool is_short = args.numel < narrow_limit && args.rnumel < narrow_limit;
  using shared = sinter::detail::shared_column_facts<Body>;
  if constexpr (shared::possible) {
    constexpr int wide = column_width<Body>(StaticNumel), most = shared::span;
    constexpr int width = wide < most ? wide : most;
    const bool fits = is_short && access_facts<Body>::template fits<width, loop_var::x>(args);
    // Wider vectors would leave their columns' values no registers.
    using held = typename sinter::detail::held_body<Body, StaticRnumel>::type;
    constexpr bool whole = StaticRnumel > 0 && held_column_facts<held, width, true>::holds_whole(StaticRnumel);
    constexpr int narrow = whole || width < 4 ? width : 4;
    const bool vectors = is_short && access_facts<Body>::template fits<narrow, loop_var::x>(args);
    const auto hold = [&] {
      const int multiprocessors = limits_of_device(name).multiprocessors;
      if (!is_short) return false;
      if constexpr (narrow > 1)
        if (vectors) return launch_column_held<narrow, StaticRnumel>(held{}, args, multiprocessors, stream, name);
      return launch_column_held<1, StaticRnumel>(held{}, args, multiprocessors, stream, name);
    };
    const auto walk_twice = [&] {
      if constexpr (column_shift_facts<Body>::width > 0) {
        row_shift shift;
        if (is_short && shared::takes_turns(args.numel, args.rnumel) && args.numel >= column_shift_facts<Body>::width &&
            column_shift_facts<Body>::find(args, shift)) {
          launch_columns_twice(Body{}, args, shift, memory, stream, name);
          return true;
        }
      }
      return false;
    };
    const column_slab_launch<slab_body<Body, StaticRnumel>, StaticRnumel, Args> slabs(args, name);
    constexpr bool wide_sets = StaticRnumel > 0 && held_column_facts<held, 1, true>::holds_wide(StaticRnumel);
    if (slabs.is_first(narrow > 1 && vectors, wide_sets)) return slabs.launch_columns(stream);
    if (hold()) return;
    if (slabs.is_last() && walk_twice()) return;
    if (slabs) return slabs.launch_columns(stream);
    // Teams that walk sets, too, or whose sets are short lines of memory, are slower.
    if ((!shared::holds(args.rnumel) || shared::row_bytes < 4) && walk_twice()) return;
    if constexpr (width > 1)
      if (fits) return launch_column_teams<width, int>(Body{}, args, memory, stream, name);
    if (walk_twice()) return;
    if constexpr (width == 1)
      if (fits) return launch_column_teams<1, int>(Body{}, args, memory, stream, name);
    return launch_column_teams<1, std::int64_t>(Body{}, args, memory, stream, name);
  } else {
    using walked = walking_body<Body>;
    using shifted = column_shift_facts<walked>;
    constexpr int width = column_width<walked>(StaticNumel);
    const std::int64_t splits = num_splits(orientation::column, args.numel, args.rnumel);
    if constexpr (shifted::width > 0) {
      if constexpr (StaticNumel < 2)
        if (launch_single_column(Body{}, args, memory, stream, name)) return;
      row_shift shift;
      if (is_short && args.numel > 1 && shifted::find(args, shift))
        return launch_shifted_columns(walked{}, args, shift, splits, memory, stream, name);
    } else {
      if (is_short && access_facts<walked>::template fits<width, loop_var::x>(args))
        return launch_column<width, int>(walked{}, args, splits, memory, stream, name);
    }
    launch_column<1, std::int64_t>(Body{}, args, splits, memory, stream, name);
  }
}

}  // namespace sinter::cuda::detail
