// Which accesses of a pointwise body that cross its rows (kernels/crossing.hpp) go through tiles in shared memory, and
// where those lie. The kernel that reads them is transposed.cuh. No CUDA header is needed here.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/crossing.hpp"
#include "sinter/kernels/cuda/access.hpp"

namespace sinter::cuda::detail {

using sinter::detail::crossing;
using sinter::detail::crossing_of;

/// A tile, so many rows by so many columns: its columns of one load after another, each padded by a word so that both
/// directions spread over the banks.
template <int Rows, int Columns>
struct tile_shape {
  static constexpr int rows = Rows, columns = Columns, elements = Rows * Columns;
  template <class T>
  static constexpr int pitch = Rows + (sizeof(T) < 4 ? 4 / static_cast<int>(sizeof(T)) : 1);
};
/// Of a matrix of a few rows it is flat; wide where rows of the result begin anywhere: they share fewer sectors then.
using square_tile = tile_shape<64, 64>;
using wide_tile = tile_shape<64, 128>;
using flat_tile = tile_shape<8, 512>;

template <class T, class At>
struct crossing_tile {
  static constexpr crossing value = crossing_of<At>;
  template <class Tile>
  static constexpr int bytes = Tile::columns* Tile::template pitch<T>* static_cast<int>(sizeof(T));
};
template <class S>
struct crossing_access {
  static constexpr crossing value{};
  template <class Tile>
  static constexpr int bytes = 0;
};
/// Elements of 16 bits and bytes that lie so near together are better read with all that lies between (loose.hpp).
template <class T, class At>
inline constexpr bool crosses_far = sizeof(T) >= 4 || is_dynamic(crossing_of<At>.step) || crossing_of<At>.step > 4;
template <int Slot, class T, class At>
requires crosses_far<T, At>
struct crossing_access<load<Slot, T, At, -1>> : crossing_tile<T, At> {
};
template <int Slot, class T, int A, class At>
struct crossing_access<store<Slot, T, A, At, -1>> : crossing_tile<T, At> {};

/// The accesses of a body that go through tiles in shared memory: those of one matrix shape, as many as fit.
template <class Body, class Tile>
struct transposed_facts;
template <class... S, class Tile>
struct transposed_facts<body<S...>, Tile> {
  static constexpr int storage_limit = 40 * 1024;
  struct table {
    long columns = 0, apart = 0;     // of the matrix, as crossing has them; 0: nothing is transposed
    bool stores = false;             // some are stores
    int count = 0, storage = 0;      // of them; bytes
    int offset[sizeof...(S) + 1]{};  // of an access' tile, plus one; 0: it has none
  };
  static constexpr table facts = [] {
    table t{};
    const crossing all[] = {crossing_access<S>::value..., crossing{}};
    const int bytes[] = {crossing_access<S>::template bytes<Tile>..., 0};
    for (int s = 0; s < static_cast<int>(sizeof...(S)); ++s) {
      if (all[s].columns == 0 || (t.columns != 0 && (all[s].columns != t.columns || all[s].apart != t.apart)) ||
          t.storage + bytes[s] > storage_limit)
        continue;
      t.columns = all[s].columns, t.apart = all[s].apart;
      t.offset[s] = t.storage + 1;
      t.storage += bytes[s], ++t.count;
      t.stores = t.stores || body_facts<body<S...>>::facts.info[s].kind == statement_kind::store;
    }
    return t;
  }();
};
/// Wide tiles are better for matrices of many elements, whose columns would not fill square ones.
constexpr bool has_many_tiles(std::int64_t numel) { return numel >= 1 << 22; }
constexpr bool cuts_square_tiles(std::int64_t columns) {
  return columns > square_tile::columns && columns % square_tile::columns != 0;
}
/// May tiles be wide, as far as is known? All that crosses the rows has room then; vectors of eight were slower.
template <class Body, int Width, long StaticNumel>
inline constexpr bool may_go_wide = [] {
  constexpr auto square = transposed_facts<Body, square_tile>::facts;
  return Width < 8 && transposed_facts<Body, wide_tile>::facts.count == square.count &&
         (StaticNumel < 0 || has_many_tiles(StaticNumel)) &&
         (is_dynamic(square.columns) || cuts_square_tiles(square.columns));
}();

}  // namespace sinter::cuda::detail
