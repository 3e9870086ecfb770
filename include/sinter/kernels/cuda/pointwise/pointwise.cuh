// The pointwise kernel: one loop over x, a tile of Items groups of Width neighbours per thread.
// Launch geometry and the choice among variants are in launch.cuh.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/kernels/cuda/evaluate.cuh"
#include "sinter/kernels/cuda/overlap.cuh"

namespace sinter::cuda {

namespace detail {

/// The most threads of a block. Small blocks make for an even end, but a multiprocessor begins only six or seven of
/// them in a microsecond.
inline constexpr int pointwise_threads = 256;

/// The shape of a pointwise kernel's tile.
template <class Body, int Width>
struct pointwise_shape {
  /// Two to four 16-byte loads of a thread are in flight; other threads see to the rest. A long body is not worth the
  /// code: at most so many statements times elements.
  static constexpr int code_limit = 256;
  static constexpr int loads = [] {
    const auto& facts = access_facts<Body>::template along<loop_var::x, Width>;
    int loads = 0;
    for (int s = 0; s < Body::size; ++s) {
      const auto& now = facts.touches[s];
      if (now.bytes == 0 || body_facts<Body>::facts.info[s].kind != statement_kind::source) continue;
      if (now.where.kind == access::contiguous) loads += now.bytes * Width > 16 ? now.bytes * Width / 16 : 1;
      if (now.where.kind == access::strided || now.where.kind == access::irregular) loads += Width;
    }
    return loads;
  }();
  static constexpr int items = [] {
    int items = loads >= 4 || access_facts<Body>::waits_for_arithmetic ? 1 : 2;
    while (items > 1 && items * Width * Body::size > code_limit) items /= 2;
    return items;
  }();
  /// A thread that waits for two vectors from memory is busy for long enough that half the threads do.
  static constexpr int threads = items > 1 && loose_facts<Body>::reads_all ? pointwise_threads / 2 : pointwise_threads;
  static constexpr int tile = threads * items * Width;
};

/// Threads neighbours' tiles from element `first` on, up to `end`, whole vectors.
template <class Body, int Width, int Threads, class Index, class Args>
__device__ __forceinline__ void pointwise_tiles(const Args& args, Index first, Index end) {
  using tiling = tiling<loop_var::x, loop_var::x, Width, pointwise_shape<Body, Width>::items, Index>;
  tile<tiling> tile;
  tile.template place<0>(first + static_cast<Index>(threadIdx.x) * Width, Threads * Width, end - Width);
  frame<Body, tiling> frame;
  evaluate<every_statement>(frame, tile, args);
}

}  // namespace detail

/// Body over numel elements. Requires: access_facts<Body>::fits<Width, loop_var::x>(args); numel fits Index.
template <class Body, int Width, class Index, class Args>
__global__ void __launch_bounds__(detail::pointwise_shape<Body, Width>::threads) pointwise(const Args args) {
  detail::begin_kernel<Args::next_reads_ahead>();
  static_assert(!body_facts<Body>::has_reduction, "pointwise: the body reduces; use reduction");
  using shape = detail::pointwise_shape<Body, Width>;
  detail::pointwise_tiles<Body, Width, shape::threads, Index>(args, static_cast<Index>(blockIdx.x) * shape::tile,
                                                              static_cast<Index>(args.numel));
}

}  // namespace sinter::cuda
