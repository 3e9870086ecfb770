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
inline constexpr int scan_lanes_held = 16;

template <int Width>
inline constexpr int scan_items = Width == 1                ? 4
                                  : scan_lanes_held > Width ? scan_lanes_held / Width
                                                            : 1;

/// The shape for a row of rnumel elements, read `width` at a time; `kept`: phase_facts::kept_words.
constexpr row_shape choose_scan_row(std::int64_t rnumel, int width, int items, int kept) {
  const std::int64_t groups = (rnumel + width - 1) / width;
  const std::int64_t most = kept > 0 && kept <= 2 ? 1024 : scan_block;
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
  constexpr int items = scan_items<Width>;
  launch_scan_rows<Width, items, 0, scan_block, false, false, Index>(
      Body{}, args, loop_shape(args.rnumel, Width, items, scan_block), stream, name);
}

template <class Body, long StaticRnumel, class Args>
void scan_along_rows(const Args& args, cudaStream_t stream, const char* name) {
  constexpr int width = access_facts<Body>::vector_width(loop_var::r, StaticRnumel);
  constexpr int kept = phase_facts<Body>::kept_words;
  const bool fits = args.numel < narrow_limit && args.rnumel < narrow_limit &&
                    access_facts<Body>::template fits<width, loop_var::r>(args);
  if (fits) {
    if constexpr (StaticRnumel >= 0) {
      constexpr row_shape shape = choose_scan_row(StaticRnumel, width, scan_items<width>, kept);
      if constexpr (shape.persistent) {
        constexpr bool exact = static_cast<long>(shape.threads) * shape.items * width == StaticRnumel;
        return launch_scan_rows<width, shape.items, shape.threads, shape.block(), true, exact, int>(Body{}, args, shape,
                                                                                                    stream, name);
      }
    } else if constexpr (kept > 0) {  // one phase gains nothing from holding the row
      constexpr int items = scan_items<width>;
      const row_shape shape = choose_scan_row(args.rnumel, width, items, kept);
      if (shape.persistent)
        return launch_scan_rows<width, items, 0, 1024, true, false, int>(
            Body{}, args, row_of(args.rnumel / width, items), stream, name);
    }
    if constexpr (StaticRnumel < narrow_limit) return launch_looped_scan<width, int, Body>(args, stream, name);
  }
  launch_looped_scan<1, std::int64_t, Body>(args, stream, name);
}

/// Columns that one thread takes: as wide as accesses allow, as long as a block's states fit its shared memory.
template <class Body>
constexpr int scan_column_width(long static_numel) {
  int width = column_width<Body>(static_numel);
  while (width > 1 && 2 * scan_facts<Body>::most_bytes(width * column_block) > 16384) width /= 2;
  return width;
}

template <int Width, class Index, class... S, class Args>
void launch_scan_columns(body<S...>, const Args& args, cudaStream_t stream, const char* name) {
  constexpr int items = Width >= 8 ? 2 : 4;
  const std::int64_t groups = args.numel / Width;
  const int along = threads_for(groups < 32 ? groups : 32);
  launch(&scan_columns<body<S...>, Width, items, Index, Args>,
         dim3(static_cast<unsigned>((groups + along - 1) / along)), dim3(column_block), stream, name, args, along);
}

template <class Body, long StaticNumel, class Args>
void scan_along_columns(const Args& args, cudaStream_t stream, const char* name) {
  constexpr int width = scan_column_width<Body>(StaticNumel);
  if (args.numel < narrow_limit && args.rnumel < narrow_limit &&
      access_facts<Body>::template fits<width, loop_var::x>(args))
    return launch_scan_columns<width, int>(Body{}, args, stream, name);
  launch_scan_columns<1, std::int64_t>(Body{}, args, stream, name);
}

}  // namespace detail

/// Runs a body with scans, and perhaps reductions, for every x in [0, numel). O says along which index its loads are
/// contiguous. `name` is the kernel's, for errors. Static extents (>= 0; they must be the ones in args) save the user
/// the compilation of variants that cannot be needed.
template <class Body, orientation O, long StaticRnumel = -1, long StaticNumel = -1, class Args>
void scan_kernel(const Args& args, cudaStream_t stream, const char* name) {
  static_assert(body_facts<Body>::has_scan, "scan: the body scans nothing; use reduction or pointwise");
  if (args.numel <= 0) return;
  if constexpr (O == orientation::row) detail::scan_along_rows<Body, StaticRnumel>(args, stream, name);
  else detail::scan_along_columns<Body, StaticNumel>(args, stream, name);
}

}  // namespace sinter::cuda
