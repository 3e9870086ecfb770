// Launches a pointwise body: 16-byte accesses where extents, strides and pointers allow it, element by element
// otherwise, tiles through shared memory where operands are transposed, 64-bit indices past 2^31 elements.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "sinter/kernels/cuda/launch.cuh"
#include "sinter/kernels/cuda/pointwise/loose.cuh"
#include "sinter/kernels/cuda/pointwise/pointwise.cuh"
#include "sinter/kernels/cuda/pointwise/transposed.cuh"

namespace sinter::cuda {

namespace detail {

template <int Width, class Index, class... S, class Args>
void launch_pointwise(body<S...>, const Args& args, cudaStream_t stream, const char* name) {
  using shape = pointwise_shape<body<S...>, Width>;
  const auto grid = dim3(static_cast<unsigned>((args.numel + shape::tile - 1) / shape::tile));
  launch(&sinter::cuda::pointwise<body<S...>, Width, Index, Args>, grid, dim3(shape::threads), stream, name, args);
}

/// Matrices with fewer columns than this gain nothing from tiles. Those with fewer rows have flat ones.
inline constexpr std::int64_t smallest_transposed = 16;

template <class Tile, int Width, class... S, class Args>
void launch_tiles(body<S...>, const Args& args, std::int64_t columns, std::int64_t apart, cudaStream_t stream,
                  const char* name) {
  const std::int64_t between = apart / columns, rows = args.numel / apart;
  const std::int64_t tiles =
      (rows + Tile::rows - 1) / Tile::rows * between * ((columns + Tile::columns - 1) / Tile::columns);
  launch(&sinter::cuda::pointwise_transposed<body<S...>, Tile, Width, int, Args>, dim3(static_cast<unsigned>(tiles)),
         dim3(transposed_threads), stream, name, args);
}

/// Launches by tiles, if the body reads transposed operands and the matrix is worth it. False: it did not.
template <int Width, long StaticNumel, class... S, class Args>
bool launch_transposed(body<S...>, const Args& args, cudaStream_t stream, const char* name) {
  using B = body<S...>;
  constexpr auto facts = transposed_facts<B, square_tile>::facts;
  if constexpr (facts.columns == 0) {
    return false;
  } else {
    const std::int64_t columns = sinter::detail::resolve(facts.columns, args.sizes),
                       apart = sinter::detail::resolve(facts.apart, args.sizes);
    if (columns < smallest_transposed || columns % Width != 0 || apart % columns != 0 || args.numel % apart != 0)
      return false;
    constexpr long known = StaticNumel >= 0 && !is_dynamic(facts.apart) ? StaticNumel / facts.apart : -1;
    const std::int64_t rows = args.numel / apart;
    if constexpr (known < 0 || known >= smallest_transposed) {
      if (rows >= smallest_transposed) {
        constexpr bool may_wide = may_go_wide<B, Width, StaticNumel>,
                       is_wide = may_wide && StaticNumel >= 0 && !is_dynamic(facts.columns);
        if constexpr (may_wide) {
          if (has_many_tiles(args.numel) && cuts_square_tiles(columns)) {
            launch_tiles<wide_tile, Width>(B{}, args, columns, apart, stream, name);
            return true;
          }
        }
        if constexpr (!is_wide) launch_tiles<square_tile, Width>(B{}, args, columns, apart, stream, name);
        return true;
      }
    }
    if constexpr (known < smallest_transposed) {
      if (rows > 1 && columns >= flat_tile::columns) {
        launch_tiles<flat_tile, Width>(B{}, args, columns, apart, stream, name);
        return true;
      }
    }
    return false;
  }
}

/// Chunks are for bodies that memory bounds.
template <class Body>
inline constexpr bool goes_loosely = loose_facts<Body>::width > 0 && !access_facts<Body>::waits_for_arithmetic;

/// Launches what wide accesses do not fit: in chunks, if there are enough and rows are worth it. The indices of single
/// elements are 64 bits wide, as those of many are, where that costs nothing: one kernel less to compile.
template <long StaticNumel = -1, int FewBlocks = 0, class... S, class Args>
void launch_loose(body<S...>, const Args& args, cudaStream_t stream, const char* name) {
  using facts = loose_facts<body<S...>>;
  using accesses = access_facts<body<S...>>;
  using index =
      std::conditional_t < StaticNumel<0 && (!accesses::divides || accesses::waits_for_arithmetic), std::int64_t, int>;
  constexpr bool loosely = goes_loosely<body<S...>>;
  constexpr std::int64_t tile = pointwise_threads * facts::width * loose_turns<body<S...>>, few = FewBlocks * tile;
  if constexpr (loosely && (StaticNumel < 0 || StaticNumel > few)) {
    const auto plan = facts::plan(args);
    if (plan.possible && args.numel > few) {
      const auto go = [&](auto walks, auto knows_shifts) {
        launch(&pointwise_loose<body<S...>, walks(), knows_shifts(), Args>,
               dim3(static_cast<unsigned>((args.numel + plan.lead + tile - 1) / tile)), dim3(pointwise_threads), stream,
               name, args, plan);
      };
      const auto shift = [&](auto walks) {
        if constexpr (facts::may_know_shifts)
          if (plan.knows_shifts) return go(walks, std::true_type{});
        go(walks, std::false_type{});
      };
      if constexpr (facts::may_walk)
        if (plan.walks) return shift(std::true_type{});
      if constexpr (facts::may_be_simple) return shift(std::false_type{});
    }
  }
  if constexpr (!loosely || !facts::is_certain || StaticNumel <= few)
    launch_pointwise<1, index>(body<S...>{}, args, stream, name);
}

}  // namespace detail

/// Runs Body for every x in [0, numel). `name` is the kernel's, for errors. A static extent (StaticNumel >= 0) saves
/// the user the compilation of variants that cannot be needed. Where vectors would make FewBlocks blocks or less
/// (options.few_blocks), elements go one by one: more multiprocessors share the latency.
template <class Body, long StaticNumel = -1, int FewBlocks = 0, class Args>
void pointwise(const Args& args, cudaStream_t stream, const char* name) {
  constexpr int width = detail::access_facts<Body>::pointwise_width(StaticNumel);
  if (args.numel <= 0) return;
  // The tile's last position may lie past numel, and must not wrap.
  constexpr std::int64_t narrow_limit = (std::int64_t(1) << 31) - (1 << 16);
  if constexpr (StaticNumel < narrow_limit) {
    if (args.numel < narrow_limit) {
      const bool fits = detail::access_facts<Body>::template fits<width, loop_var::x>(args);
      if (fits && detail::launch_transposed<width, StaticNumel>(Body{}, args, stream, name)) return;
      if (detail::launch_transposed<1, StaticNumel>(Body{}, args, stream, name)) return;
      if constexpr (width > 1 && !(detail::goes_loosely<Body> && detail::loose_facts<Body>::wanted(width))) {
        constexpr long few = long(FewBlocks) * detail::pointwise_shape<Body, width>::tile;
        if constexpr (StaticNumel < 0 || StaticNumel > few)
          if (fits && args.numel > few) return detail::launch_pointwise<width, int>(Body{}, args, stream, name);
      }
      return detail::launch_loose<StaticNumel, FewBlocks>(Body{}, args, stream, name);
    }
  }
  if constexpr (StaticNumel < 0 || StaticNumel >= narrow_limit)
    detail::launch_pointwise<1, std::int64_t>(Body{}, args, stream, name);
}

}  // namespace sinter::cuda
