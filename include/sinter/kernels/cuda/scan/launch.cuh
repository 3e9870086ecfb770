// Launches a body with scans: chooses the kernel (a row in registers or in tiles, columns across memory), its shape,
// and the element-by-element variant where extents, strides or pointers do not allow wide accesses.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "sinter/base/atomic_number.hpp"
#include "sinter/kernels/cuda/reduction/launch.cuh"
#include "sinter/kernels/cuda/scan/column.cuh"
#include "sinter/kernels/cuda/scan/column_cluster_launch.cuh"
#include "sinter/kernels/cuda/scan/column_own.cuh"
#include "sinter/kernels/cuda/scan/column_ring_launch.cuh"
#include "sinter/kernels/cuda/scan/ring.cuh"
#include "sinter/kernels/cuda/scan/runs.cuh"
#include "sinter/kernels/cuda/scan/scan.cuh"

namespace sinter::cuda {

namespace detail {

/// Threads of a block that walks a row in tiles; of one that holds a row up to 1024 where later phases need it again.
inline constexpr int scan_block = 512;
/// Of one that takes a part of a row.
inline constexpr int scan_part_block = 256;

template <class Body, int Width>
inline constexpr int scan_items = Width == 1 ? 4 : scan_lanes_held<Body> / Width;

/// The same where a block has a part of a row. Narrow vectors take more addresses besides.
template <class Body, int Width>
inline constexpr int part_items = [] {
  if (!takes_large_parts<Body>) return Width == 1 ? 8 : scan_lanes_held<Body> / Width;
  const int values = Width == 1 ? 24 : Width == 2 ? 48 : 64;
  return values / Width / (values_across_scans<Body> > 1 ? 2 : 1);
}();

/// The shape for a row of rnumel elements, read `width` at a time; `kept`: phase_facts::kept_bytes.
constexpr row_shape choose_scan_row(std::int64_t rnumel, int width, int items, int kept) {
  const std::int64_t groups = (rnumel + width - 1) / width;
  const std::int64_t most = kept > 0 && kept <= 8 ? 1024 : scan_block;
  if (groups == 0 || (groups + items - 1) / items > most) return {false, scan_block, 1, items};
  row_shape shape = row_of(groups, items);
  shape.items = static_cast<int>((groups + shape.threads - 1) / shape.threads);
  return shape;
}

template <int Width, int Items, int Threads, int MaxBlock, bool Kept, bool Exact, class Index, class... S, class Args>
void launch_scan_rows(body<S...>, const Args& args, const row_shape& shape, cudaStream_t stream, const char* name) {
  launch(&scan_rows<body<S...>, Width, Items, Threads, MaxBlock, Kept, Exact, Index, Args>,
         grid_of((args.numel + shape.rows - 1) / shape.rows, 1),
         dim3(static_cast<unsigned>(shape.threads), static_cast<unsigned>(shape.rows)), stream, name, args);
}

template <int Width, class Index, class Body, class Args>
void launch_looped_scan(const Args& args, cudaStream_t stream, const char* name) {
  constexpr int items = scan_items<Body, Width>;
  launch_scan_rows<Width, items, 0, scan_block, false, false, Index>(
      Body{}, args, loop_shape(args.rnumel, Width, items, scan_block), stream, name);
}

/// `parts` of each of `lines`, with ticket, flags and marks at zero. The memset can be captured into a graph.
template <class Body>
scan_split make_split(orientation o, std::int64_t lines, std::int64_t parts, std::int64_t numel, void* workspace,
                      cudaStream_t stream, const char* name) {
  const std::int64_t slots = sinter::detail::slots_of(o, parts);
  const auto bytes = o == orientation::row ? scan_facts<Body>::offset(Body::size, o, lines, slots, numel)
                                           : scan_facts<Body>::num_counters(o, lines, slots) * 4;
  check(cudaMemsetAsync(workspace, 0, static_cast<std::size_t>(bytes), stream), "cudaMemsetAsync", name);
  return {workspace, lines, parts, slots, numel};
}
inline dim3 grid_of(const scan_split& split) { return dim3(static_cast<unsigned>(split.lines * split.parts)); }

template <int Width, class Index, class... S, class Args>
void launch_split_rows(body<S...>, const Args& args, kernel_memory& memory, cudaStream_t stream, const char* name) {
  constexpr int items = part_items<body<S...>, Width>;
  static_assert(scan_part_block * items * Width >= sinter::detail::scan_row_part);
  const std::int64_t part = scan_part_block * items * Width, parts = (args.rnumel + part - 1) / part;
  const scan_split split =
      make_split<body<S...>>(orientation::row, args.numel, parts, args.numel, memory.states(), stream, name);
  launch(&scan_split_rows<body<S...>, Width, items, scan_part_block, Index, Args>, grid_of(split),
         dim3(scan_part_block), stream, name, args, split);
}
/// Places of a ring in shared memory; 0: too few to be worth it.
inline int ring_slots(const device_limits& limits, int slot_bytes) {
  constexpr int least = 5;
  const int room = limits.shared_bytes / slot_bytes, most = ring_most_slots;
  return room < least ? 0 : room < most ? room : most;
}

/// Blocks that take every so many-th part of all rows. A part in which a row begins or ends takes longer: did the same
/// blocks have one in each turn, or in one of a few, all others would wait for them. So these are one block less.
constexpr int ring_blocks(int most, std::int64_t parts, std::int64_t parts_of_row, bool all_whole) {
  const auto turns = [&](int blocks) {  // until a block comes to the same part of a row again, if few
    int after = 1;
    while (after < 8 && after * blocks % parts_of_row != 0) ++after;
    return after;
  };
  if (parts <= most) return static_cast<int>(parts);
  return all_whole || parts == parts_of_row || turns(most - 1) <= turns(most) ? most : most - 1;
}

/// By blocks that stay, on devices with a copy engine. False: nothing was launched, because these rows cannot pass
/// through a ring.
template <class... S, class Args>
bool launch_scan_ring(body<S...>, const Args& args, kernel_memory& memory, cudaStream_t stream, const char* name) {
  using B = body<S...>;
  using facts = ring_facts<B>;
  row_shift shift;
  if (args.rnumel >= narrow_limit || !facts::find(args, shift)) return false;
  const device_limits limits = limits_of_device(name);
  const int slots = ring_slots(limits, facts::slot_bytes);
  const bool shifted = shift.first != 0 || shift.step != 0;
  const int before = shifted ? facts::width - 1 : 0;  // at most
  const std::int64_t parts = (args.rnumel + before + facts::part - 1) / facts::part, all = args.numel * parts;
  if (slots == 0 || all >= narrow_limit) return false;
  const scan_ring_share share{memory.counters(stream, name),
                              memory.states(),
                              static_cast<int>(all),
                              static_cast<int>(parts),
                              {slots, slots * 5 / 8, slots / 3}};
  void (*const kernel)(Args, scan_ring_share, row_shift) = &scan_in_ring<B, Args>;
  static constinit sinter::detail::atomic_number<std::uint64_t> asked{0};
  allow_shared_memory(reinterpret_cast<const void*>(kernel), limits.shared_bytes, asked, name);
  const int most = limits.multiprocessors < most_ring_blocks ? limits.multiprocessors : most_ring_blocks;
  const int blocks = ring_blocks(most, all, parts, !shifted && args.rnumel % facts::part == 0);
  launch(start_rule::together, kernel, dim3(static_cast<unsigned>(blocks)), dim3(facts::threads),
         slots * facts::slot_bytes, stream, name, args, share, shift);
  return true;
}
/// Few long rows by many blocks; false where they are not.
template <int Width, class Index, long StaticRnumel, class Body, class Args>
bool scanned_in_parts(const Args& args, kernel_memory& memory, cudaStream_t stream, const char* name) {
  constexpr std::int64_t part = scan_part_block * part_items<Body, Width> * Width;
  if constexpr (scan_facts<Body>::can_split && (StaticRnumel < 0 || StaticRnumel > part)) {
    if (args.rnumel > part && args.numel < sinter::detail::scan_split_lines) {
      if constexpr (kernels_overlap && ring_facts<Body>::can) {
        if (launch_scan_ring(Body{}, args, memory, stream, name)) return true;
        if constexpr (Width > 1)
          return scanned_in_parts<1, std::int64_t, StaticRnumel, Body>(args, memory, stream, name);
      }
      launch_split_rows<Width, Index>(Body{}, args, memory, stream, name);
      return true;
    }
  }
  return false;
}

/// Shorter rows of narrow vectors leave threads idle where registers hold them.
inline constexpr long least_held_row = 256;

/// Rows that lie one after another, wherever they begin. False: nothing was launched.
template <long StaticRnumel, bool Few = true, class... S, class Args>
bool launch_scan_runs(body<S...>, const Args& args, cudaStream_t stream, const char* name) {
  using B = body<S...>;
  using facts = scan_run_facts<B, StaticRnumel, Few>;
  if constexpr (!facts::can) {
    return false;
  } else if constexpr (Few && StaticRnumel >= 0 && !facts::holds(StaticRnumel)) {
    return launch_scan_runs<StaticRnumel, false>(B{}, args, stream, name);
  } else {
    if (Few && StaticRnumel < 0 && !facts::holds(args.rnumel))
      return launch_scan_runs<StaticRnumel, false>(B{}, args, stream, name);
    if (args.numel >= narrow_limit || args.rnumel <= 0 || args.rnumel >= narrow_limit || !facts::accesses::holds(args))
      return false;
    const scan_run_share share = share_scan_runs(static_cast<int>(args.rnumel), facts::width, facts::in_words);
    const int rows = share.rows > 0 ? share.rows : 1;
    const int bytes = (share.rows > 0 ? 1 : 2) * facts::storage_bytes;
    // Of rows that wait for shared memory, which is known; of others blocks are many.
    const device_limits limits = limits_of_device(name);
    const int fit = (limits.shared_bytes + 1024) / (bytes + 2 * scan_storage<B>::half + 1024),
              each = fit < scan_run_blocks<B> ? fit : scan_run_blocks<B>;
    const bool takes_long = share.rows == 0 && args.rnumel >= 4 * share.part;
    const std::int64_t blocks = (args.numel + rows - 1) / rows;
    launch(start_of(blocks, std::int64_t(each) * limits.multiprocessors, takes_long),
           &scan_in_runs<B, StaticRnumel, Few, Args>, dim3(static_cast<unsigned>(blocks)), dim3(short_block), bytes,
           stream, name, args, share);
    return true;
  }
}
/// Rows of vectors from so many elements on, of which two make a word in runs, are better scanned there, too, if they
/// come and go in one place each.
inline constexpr long least_aligned_run = 2049;
template <class Body, long StaticRnumel>
inline constexpr bool runs_if_aligned =
    scan_run_facts<Body, StaticRnumel, false>::in_words&& scan_run_facts<Body, StaticRnumel, false>::accesses::stores
        .own_bytes == 2;

template <class Body, long StaticRnumel, class Args>
void scan_along_rows(const Args& args, kernel_memory& memory, cudaStream_t stream, const char* name) {
  constexpr int width = [] {
    const int widest = access_facts<Body>::vector_width(loop_var::r, StaticRnumel);
    return widest < scan_lanes_held<Body> ? widest : scan_lanes_held<Body>;
  }();
  constexpr int kept = phase_facts<Body>::kept_bytes;
  const bool fits = args.numel < narrow_limit && args.rnumel < narrow_limit &&
                    access_facts<Body>::template fits<width, loop_var::r>(args);
  // Rows whose vectors are small, or single elements, are better scanned in runs unless registers hold them; those that
  // a few threads hold, too.
  constexpr bool narrow =
      StaticRnumel >= 0 && width * scan_run_facts<Body, StaticRnumel, false>::accesses::facts.smallest < 16;
  constexpr bool in_runs = narrow && (width == 1 || StaticRnumel < least_held_row ||
                                      !choose_scan_row(StaticRnumel, width, scan_items<Body, width>, kept).persistent);
  if (fits) {
    if (scanned_in_parts<width, int, StaticRnumel, Body>(args, memory, stream, name)) return;
    if constexpr (in_runs)
      if (launch_scan_runs<StaticRnumel>(Body{}, args, stream, name)) return;
    if constexpr (StaticRnumel >= 0) {
      constexpr row_shape shape = choose_scan_row(StaticRnumel, width, scan_items<Body, width>, kept);
      if constexpr (shape.persistent) {
        constexpr bool exact = static_cast<long>(shape.threads) * shape.items * width == StaticRnumel;
        return launch_scan_rows<width, shape.items, shape.threads, shape.block(), true, exact, int>(Body{}, args, shape,
                                                                                                    stream, name);
      }
    } else if constexpr (kept > 0) {  // one phase gains nothing from holding the row
      constexpr int items = scan_items<Body, width>;
      const row_shape shape = choose_scan_row(args.rnumel, width, items, kept);
      if (shape.persistent)
        return launch_scan_rows<width, items, 0, 1024, true, false, int>(
            Body{}, args, row_of(args.rnumel / width, items), stream, name);
    }
    if constexpr (runs_if_aligned<Body, StaticRnumel>)
      if (args.rnumel >= least_aligned_run && launch_scan_runs<StaticRnumel, false>(Body{}, args, stream, name)) return;
    if constexpr (StaticRnumel < narrow_limit) return launch_looped_scan<width, int, Body>(args, stream, name);
  }
  if (scanned_in_parts<1, std::int64_t, StaticRnumel, Body>(args, memory, stream, name)) return;
  if constexpr (!in_runs)
    if (launch_scan_runs<StaticRnumel>(Body{}, args, stream, name)) return;
  if constexpr (StaticRnumel < 0 && kept > 0) {
    constexpr int items = scan_lanes_held<Body>, threads = 512;
    if (args.numel < narrow_limit && args.rnumel > 0 && args.rnumel <= items * threads)
      return launch_scan_rows<1, items, 0, threads, true, false, int>(Body{}, args, row_of(args.rnumel, items), stream,
                                                                      name);
  }
  launch_looped_scan<1, std::int64_t, Body>(args, stream, name);
}

/// Columns that one thread takes: as wide as accesses allow, as long as a block's states fit its shared memory.
template <class Body>
constexpr int scan_column_width(long static_numel) {
  int width = column_width<Body>(static_numel);
  while (width > 1 && most_stage_bytes<Body>(width * column_block) > 8192) width /= 2;
  return width;
}

template <int Width, class Index, class... S, class Args>
void launch_scan_columns(body<S...>, const Args& args, [[maybe_unused]] kernel_memory& memory, cudaStream_t stream,
                         const char* name) {
  using B = body<S...>;
  const std::int64_t groups = args.numel / Width;
  const int along = threads_for(groups < sinter::detail::scan_column_line ? groups : sinter::detail::scan_column_line);
  const std::int64_t lines = (groups + along - 1) / along;
  if constexpr (scan_facts<B>::can_split) {
    constexpr int items = Width >= 8 ? 4 : 8;
    const std::int64_t part = column_block / along * items, parts = (args.rnumel + part - 1) / part;
    if (lines < sinter::detail::scan_split_lines && parts > 1) {
      const scan_split split =
          make_split<B>(orientation::column, lines, parts, args.numel, memory.states(), stream, name);
      return launch(&scan_split_columns<B, Width, items, Index, Args>, grid_of(split), dim3(column_block), stream, name,
                    args, split, along);
    }
  }
  launch(&scan_columns < B, Width, Width >= 8 ? 2 : 4, Index, Args >, dim3(static_cast<unsigned>(lines)),
         dim3(column_block), stream, name, args, along);
}

template <class Body, long StaticRnumel, long StaticNumel, class Args>
void scan_along_columns(const Args& args, kernel_memory& memory, cudaStream_t stream, const char* name) {
  constexpr int width = scan_column_width<Body>(StaticNumel);
  constexpr int held = width < 4 ? width : 4;  // of more, a multiprocessor would run one block at once
  const bool narrow = args.numel < narrow_limit && args.rnumel < narrow_limit;
  const auto own = [&] {
    return narrow && access_facts<Body>::template fits<width, loop_var::x>(args) &&
           launch_own_columns<width, StaticRnumel, int>(Body{}, args, stream, name);
  };
  const bool own_first =
      args.rnumel <= most_own_elements || access_facts<Body>::template along<loop_var::x, width>.smallest < 4;
  if (own_first && own()) return;
  if (narrow && launch_column_clusters(Body{}, args, memory, stream, name)) return;
  if (narrow && access_facts<Body>::template fits<width, loop_var::x>(args)) {
    if (launched_column_ring<width, StaticNumel, Body>(args, memory, stream, name)) return;
    if (own()) return;
    return launch_scan_columns<held, int>(Body{}, args, memory, stream, name);
  }
  if constexpr (width > 1 && StaticNumel < 0)
    if (narrow && launched_column_ring<1, StaticNumel, Body>(args, memory, stream, name)) return;
  if (launch_own_columns<1, StaticRnumel, std::int64_t>(Body{}, args, stream, name)) return;
  launch_scan_columns<1, std::int64_t>(Body{}, args, memory, stream, name);
}

}  // namespace detail

/// Runs a body with scans, and perhaps reductions, for every x in [0, numel). O says along which index its loads are
/// contiguous. `memory`: as large as scan_workspace<Body, O>(numel, rnumel), 16-byte aligned. `name` is the kernel's,
/// for errors. Static extents (>= 0; they must be the ones in args) save the user the compilation of variants that
/// cannot be needed.
template <class Body, orientation O, long StaticRnumel = -1, long StaticNumel = -1, class Args>
void scan_kernel(const Args& args, [[maybe_unused]] kernel_memory& memory, cudaStream_t stream, const char* name) {
  static_assert(body_facts<Body>::has_scan, "scan: the body scans nothing; use reduction or pointwise");
  if (args.numel <= 0) return;
  if constexpr (O == orientation::row) detail::scan_along_rows<Body, StaticRnumel>(args, memory, stream, name);
  else detail::scan_along_columns<Body, StaticRnumel, StaticNumel>(args, memory, stream, name);
}

}  // namespace sinter::cuda
