// Scans across memory (orientation column) of so many columns that each thread has some of its own: it walks them, and
// neither waits for others nor tells them anything. Every phase walks r again.
// The choice among variants is launch.cuh's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/scan/column.cuh"

namespace sinter::cuda {

namespace detail {

/// Elements of a column that a thread asks for at once. Rnumel: all there are, or -1.
template <int Width, long Rnumel>
inline constexpr int own_column_items = [] {
  const long most = Width < 4 ? 8 : 32 / Width;
  return static_cast<int>(Rnumel > 0 && Rnumel < most ? Rnumel : most);
}();

template <class Body, int P, int G, class Frame, class Args, int Width>
__device__ __forceinline__ void evaluate_own_stages(Frame& f, const tile<typename Frame::tiling>& t, const Args& args,
                                                    scan_states<Body, Width>& so_far) {
  if constexpr (G < scan_facts<Body>::num_stages) {
    evaluate<elements_of_stage<Body, P, false, G>>(f, t, args);
    each_scan<scans_of_stage<Body, P, false, G>, Body>([&](auto at) {
      using scan = decltype(at);
#pragma unroll
      for (int j = 0; j < Width; ++j) {
        auto& own = lanes_of<scan::number>(so_far)[j];
#pragma unroll
        for (int u = 0; u < Frame::tiling::items; ++u) {
          scan::step(own, lane_of<scan::operand>(f, u * Width + j), t.r(u));
          lanes_of<scan::number>(f)[u * Width + j] = scan::finish(own);
        }
      }
    });
    evaluate_own_stages<Body, P, G + 1>(f, t, args, so_far);
  }
}

template <class Body, class Tiling, int P, class Frame, class Args>
__device__ __forceinline__ void scan_own_phase(Frame& f, tile<Tiling>& t, const Args& args) {
  using numbers = std::make_index_sequence<Body::size>;
  using index = typename Tiling::index;
  constexpr int width = Tiling::width;
  evaluate<rows_of_phase<Body, P>>(f, t, args, t.fixed_ok);
  if constexpr (P < body_facts<Body>::num_phases) {
    accumulators<Body, width> acc;
    start<P, width>(Body{}, numbers{}, acc);
    tile_chain<Body, width> chain;
    const index end = static_cast<index>(args.rnumel);
    for (index r = 0; r < end; r += Tiling::items) {
      t.template place<0>(r, 1, end - 1);
      evaluate_own_stages<Body, P, 0>(f, t, args, chain.so_far);
      step_all<Body, P, width>(acc, f, t);
    }
    finish_columns<P, width>(Body{}, numbers{}, acc, f);
  }
}
template <class Body, class Tiling, class Frame, class Args, std::size_t... P>
__device__ __forceinline__ void scan_own_phases(std::index_sequence<P...>, Frame& f, tile<Tiling>& t,
                                                const Args& args) {
  (scan_own_phase<Body, Tiling, static_cast<int>(P)>(f, t, args), ...);
}

}  // namespace detail

/// Each thread: Width columns.
template <class Body, int Width, int Items, class Index, class Args>
__global__ void __launch_bounds__(detail::column_block) scan_own_columns(const Args args) {
  detail::begin_kernel<Args::next_reads_ahead>();
  using tiling = detail::tiling<loop_var::x, loop_var::r, Width, Items, Index>;
  detail::tile<tiling> tile;
  const detail::column_seat<tiling> seat(tile, blockIdx.x, detail::column_block, args.numel);
  if (!seat.ok) return;
  detail::frame<Body, tiling> frame;
  detail::scan_own_phases<Body, tiling>(std::make_index_sequence<body_facts<Body>::num_phases + 1>{}, frame, tile,
                                        args);
}

namespace detail {

/// Threads of a multiprocessor with columns of their own that keep memory busy; and elements of a column, of four bytes
/// or more, of which others do not keep it busier.
inline constexpr int least_own_threads = 256;
inline constexpr std::int64_t most_own_elements = 32;
/// False: nothing was launched, because columns are too few for each thread to have its own.
template <int Width, long StaticRnumel, class Index, class... S, class Args>
bool launch_own_columns(body<S...>, const Args& args, cudaStream_t stream, const char* name) {
  const std::int64_t threads = args.numel / Width;
  if (threads < std::int64_t(least_own_threads) * limits_of_device(name).multiprocessors) return false;
  launch(&scan_own_columns<body<S...>, Width, own_column_items<Width, StaticRnumel>, Index, Args>,
         dim3(static_cast<unsigned>((threads + column_block - 1) / column_block)), dim3(column_block), stream, name,
         args);
  return true;
}

}  // namespace detail

}  // namespace sinter::cuda
