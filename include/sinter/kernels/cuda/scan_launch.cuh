// Launches a body with scans: chooses the kernel (a row in registers or in tiles, columns across memory), its shape,
// and the element-by-element variant where extents, strides or pointers do not allow wide accesses.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/reduction_launch.cuh"
#include "sinter/kernels/cuda/scan.cuh"
#include "sinter/kernels/cuda/scan_column.cuh"

namespace sinter::cuda {

namespace detail {

/// Threads of a block that walks a row in tiles; of one that holds a row up to 1024 where later phases need it again.
inline constexpr int scan_block = 512;
/// Of one that takes a part of a row.
inline constexpr int scan_part_block = 256;

/// Values of each statement that a thread holds.
template <class Body>
inline constexpr int scan_lanes_held = 16;
template <class... S>
inline constexpr int scan_lanes_held<body<S...>> =
    ((value_words<typename statement_facts<S>::value_type> > 1 || scan_facts<body<S...>>::most_state > 4) || ...) ? 8
                                                                                                                  : 16;
template <class Body, int Width>
inline constexpr int scan_items = Width == 1 ? 4 : scan_lanes_held<Body> / Width;

/// The same where a block has a part of a row. Single elements take addresses besides.
template <class Body, int Width>
inline constexpr int part_items = Width == 1 ? (takes_large_parts<Body> ? 24 : 8)
                                             : (takes_large_parts<Body> ? 64 : scan_lanes_held<Body>) / Width;

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
void launch_split_rows(body<S...>, const Args& args, void* workspace, cudaStream_t stream, const char* name) {
  constexpr int items = part_items<body<S...>, Width>;
  static_assert(scan_part_block * items * Width >= sinter::detail::scan_row_part);
  const std::int64_t part = scan_part_block * items * Width, parts = (args.rnumel + part - 1) / part;
  const scan_split split =
      make_split<body<S...>>(orientation::row, args.numel, parts, args.numel, workspace, stream, name);
  launch(&scan_split_rows<body<S...>, Width, items, scan_part_block, Index, Args>, grid_of(split),
         dim3(scan_part_block), stream, name, args, split);
}
/// Few long rows by many blocks; false where they are not.
template <int Width, class Index, long StaticRnumel, class Body, class Args>
bool scanned_in_parts(const Args& args, void* workspace, cudaStream_t stream, const char* name) {
  constexpr std::int64_t part = scan_part_block * part_items<Body, Width> * Width;
  if constexpr (scan_facts<Body>::can_split && (StaticRnumel < 0 || StaticRnumel > part)) {
    if (args.rnumel > part && args.numel < sinter::detail::scan_split_lines) {
      launch_split_rows<Width, Index>(Body{}, args, workspace, stream, name);
      return true;
    }
  }
  return false;
}

template <class Body, long StaticRnumel, class Args>
void scan_along_rows(const Args& args, void* workspace, cudaStream_t stream, const char* name) {
  constexpr int width = [] {
    const int widest = access_facts<Body>::vector_width(loop_var::r, StaticRnumel);
    return widest < scan_lanes_held<Body> ? widest : scan_lanes_held<Body>;
  }();
  constexpr int kept = phase_facts<Body>::kept_bytes;
  const bool fits = args.numel < narrow_limit && args.rnumel < narrow_limit &&
                    access_facts<Body>::template fits<width, loop_var::r>(args);
  if (fits) {
    if (scanned_in_parts<width, int, StaticRnumel, Body>(args, workspace, stream, name)) return;
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
    if constexpr (StaticRnumel < narrow_limit) return launch_looped_scan<width, int, Body>(args, stream, name);
  }
  if (scanned_in_parts<1, std::int64_t, StaticRnumel, Body>(args, workspace, stream, name)) return;
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
void launch_scan_columns(body<S...>, const Args& args, [[maybe_unused]] void* workspace, cudaStream_t stream,
                         const char* name) {
  using B = body<S...>;
  const std::int64_t groups = args.numel / Width;
  const int along = threads_for(groups < sinter::detail::scan_column_line ? groups : sinter::detail::scan_column_line);
  const std::int64_t lines = (groups + along - 1) / along;
  if constexpr (scan_facts<B>::can_split) {
    constexpr int items = Width >= 8 ? 4 : 8;
    const std::int64_t part = column_block / along * items, parts = (args.rnumel + part - 1) / part;
    if (lines < sinter::detail::scan_split_lines && parts > 1) {
      const scan_split split = make_split<B>(orientation::column, lines, parts, args.numel, workspace, stream, name);
      return launch(&scan_split_columns<B, Width, items, Index, Args>, grid_of(split), dim3(column_block), stream, name,
                    args, split, along);
    }
  }
  launch(&scan_columns < B, Width, Width >= 8 ? 2 : 4, Index, Args >, dim3(static_cast<unsigned>(lines)),
         dim3(column_block), stream, name, args, along);
}

template <class Body, long StaticNumel, class Args>
void scan_along_columns(const Args& args, void* workspace, cudaStream_t stream, const char* name) {
  constexpr int width = scan_column_width<Body>(StaticNumel);
  if (args.numel < narrow_limit && args.rnumel < narrow_limit &&
      access_facts<Body>::template fits<width, loop_var::x>(args))
    return launch_scan_columns<width, int>(Body{}, args, workspace, stream, name);
  launch_scan_columns<1, std::int64_t>(Body{}, args, workspace, stream, name);
}

}  // namespace detail

/// Runs a body with scans, and perhaps reductions, for every x in [0, numel). O says along which index its loads are
/// contiguous. `workspace`: scan_workspace_bytes<Body, O>(numel, rnumel) bytes, 16-byte aligned, of any content (null
/// if 0). `name` is the kernel's, for errors. Static extents (>= 0; they must be the ones in args) save the user the
/// compilation of variants that cannot be needed.
template <class Body, orientation O, long StaticRnumel = -1, long StaticNumel = -1, class Args>
void scan_kernel(const Args& args, [[maybe_unused]] void* workspace, cudaStream_t stream, const char* name) {
  static_assert(body_facts<Body>::has_scan, "scan: the body scans nothing; use reduction or pointwise");
  if (args.numel <= 0) return;
  if constexpr (O == orientation::row) detail::scan_along_rows<Body, StaticRnumel>(args, workspace, stream, name);
  else detail::scan_along_columns<Body, StaticNumel>(args, workspace, stream, name);
}

}  // namespace sinter::cuda
