// Which accesses of a pointwise body that cross its rows (kernels/crossing.hpp) go through tiles in shared memory, and
// where those lie. The kernel that reads them is transposed.cuh. No CUDA header is needed here.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/kernels/crossing.hpp"
#include "sinter/kernels/cuda/access.hpp"

namespace sinter::cuda::detail {

using sinter::detail::crossing;
using sinter::detail::crossing_of;

/// A tile: its columns of one load after another, each padded by a word so that both directions spread over the banks.
/// Of a matrix of a few rows it is flat.
inline constexpr int square_rows = 64, few_rows = 8;
template <int Rows>
inline constexpr int tile_columns = 4096 / Rows;
template <int Rows, class T>
inline constexpr int tile_pitch = Rows + (sizeof(T) < 4 ? 4 / static_cast<int>(sizeof(T)) : 1);

template <class T, class At>
struct crossing_tile {
  static constexpr crossing value = crossing_of<At>;
  template <int Rows>
  static constexpr int bytes = tile_columns<Rows>* tile_pitch<Rows, T>* static_cast<int>(sizeof(T));
};
template <class S>
struct crossing_access {
  static constexpr crossing value{};
  template <int Rows>
  static constexpr int bytes = 0;
};
template <int Slot, class T, class At>
struct crossing_access<load<Slot, T, At, -1>> : crossing_tile<T, At> {};
template <int Slot, class T, int A, class At>
struct crossing_access<store<Slot, T, A, At, -1>> : crossing_tile<T, At> {};

/// The accesses of a body that go through tiles of so many rows in shared memory: those of one matrix shape, as many as
/// fit.
template <class Body, int Rows>
struct transposed_facts;
template <class... S, int Rows>
struct transposed_facts<body<S...>, Rows> {
  static constexpr int storage_limit = 40 * 1024;
  struct table {
    long columns = 0, apart = 0;     // of the matrix, as crossing has them; 0: nothing is transposed
    bool stores = false;             // some are stores
    int storage = 0;                 // bytes
    int offset[sizeof...(S) + 1]{};  // of an access' tile, plus one; 0: it has none
  };
  static constexpr table facts = [] {
    table t{};
    const crossing all[] = {crossing_access<S>::value..., crossing{}};
    const int bytes[] = {crossing_access<S>::template bytes<Rows>..., 0};
    for (int s = 0; s < static_cast<int>(sizeof...(S)); ++s) {
      if (all[s].columns == 0 || (t.columns != 0 && (all[s].columns != t.columns || all[s].apart != t.apart)) ||
          t.storage + bytes[s] > storage_limit)
        continue;
      t.columns = all[s].columns, t.apart = all[s].apart;
      t.offset[s] = t.storage + 1;
      t.storage += bytes[s];
      t.stores = t.stores || body_facts<body<S...>>::facts.info[s].kind == statement_kind::store;
    }
    return t;
  }();
};

}  // namespace sinter::cuda::detail
