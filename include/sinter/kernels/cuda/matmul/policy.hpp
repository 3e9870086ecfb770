// The tiles of a matmul: how large, how many threads, how many stages in flight; which one a problem takes; and in
// which order blocks walk the tiles. What is done with a tile is matmul.cuh's matter. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "sinter/kernels/body.hpp"

namespace sinter::cuda::mm {

/// One block's share of the result, M x N, walked K at a time by WarpsM x WarpsN warps, Stages buffers deep.
template <int M, int N, int K, int WarpsM, int WarpsN, int Stages>
struct tile {
  static constexpr int m = M, n = N, k = K, warps_m = WarpsM, warps_n = WarpsN, stages = Stages;
  static constexpr int warps = WarpsM * WarpsN, threads = 32 * warps;
};

/// Tensor cores multiply the 16-bit types, the cores everything else.
template <class T>
inline constexpr bool uses_tensor_cores = std::is_same_v<T, f16> || std::is_same_v<T, bf16>;

/// Registers set the tile: 64 accumulators per thread, so two matmuls share one tile's worth of columns. Eight bytes
/// take two registers.
template <class T, int NumMatmuls>
struct tiles {
  using large = std::conditional_t<
      uses_tensor_cores<T>,
      std::conditional_t<NumMatmuls == 1, tile<128, 128, 32, 2, 4, 4>, tile<128, 64, 32, 4, 2, 4>>,
      std::conditional_t<sizeof(T) == 8, tile<64, 64, 8, 4, 2, 2>,
                         std::conditional_t<NumMatmuls == 1, tile<128, 128, 16, 4, 2, 2>, tile<128, 64, 16, 4, 2, 2>>>>;
  using small =
      std::conditional_t<uses_tensor_cores<T>, tile<64, 64, 64, 2, 2, NumMatmuls == 1 ? 4 : 3>,
                         std::conditional_t<sizeof(T) == 8, tile<32, 32, 16, 2, 2, 2>, tile<64, 64, 16, 4, 2, 2>>>;
};

SINTER_HOST_DEVICE constexpr std::int64_t num_tiles(std::int64_t extent, int size) {
  return (extent + size - 1) / size;
}

/// Large tiles read less memory, but only if there are enough of them to occupy a device. A number of today's devices'
/// size, not a query: the choice is the same everywhere.
inline constexpr std::int64_t occupying_tiles = 96;

template <class Tile>
constexpr bool occupies(const matmul_extents& e) {
  return e.m > Tile::m / 2 && e.n > Tile::n / 2 &&
         e.batch * num_tiles(e.m, Tile::m) * num_tiles(e.n, Tile::n) >= occupying_tiles;
}

/// The extents, those that are not known (negative) being `instead`. The larger they are, the sooner they occupy.
constexpr matmul_extents filled(const matmul_extents& e, std::int64_t instead) {
  const auto fill = [&](std::int64_t extent) { return extent < 0 ? instead : extent; };
  return {fill(e.batch), fill(e.m), fill(e.n), fill(e.k)};
}

/// A tile, counted in tiles: three registers that live through the main loop.
template <class Tile>
struct tile_place {
  unsigned batch, tile_m, tile_n;
  SINTER_HOST_DEVICE std::int64_t m() const { return static_cast<std::int64_t>(tile_m) * Tile::m; }
  SINTER_HOST_DEVICE std::int64_t n() const { return static_cast<std::int64_t>(tile_n) * Tile::n; }
};

/// Tiles in an order that keeps the ones running together close: `group` rows of tiles are walked column by column, so
/// that the rows of A and the columns of B they need fit the cache. A struct of its own so that other orders can come.
struct tile_scheduler {
  unsigned tiles_m, tiles_n, group, total;

  template <class Tile>
  static tile_scheduler of(const matmul_extents& e) {
    const auto m = static_cast<unsigned>(num_tiles(e.m, Tile::m)), n = static_cast<unsigned>(num_tiles(e.n, Tile::n));
    return {m, n, m < 8 ? m : 8, static_cast<unsigned>(e.batch) * m * n};
  }

  template <class Tile>
  SINTER_HOST_DEVICE tile_place<Tile> at(unsigned index) const {
    const unsigned per_batch = tiles_m * tiles_n;
    const unsigned batch = index / per_batch, in_batch = index - batch * per_batch;
    const unsigned per_group = group * tiles_n;
    const unsigned g = in_batch / per_group, in_group = in_batch - g * per_group;
    const unsigned left = tiles_m - g * group, rows = left < group ? left : group;
    const unsigned column = in_group / rows;
    return {batch, g * group + (in_group - column * rows), column};
  }
};

}  // namespace sinter::cuda::mm
