// A thread's part of a kernel: which indices it has, and a small array of registers per statement of the body (Width
// neighbours times Items).
// What is evaluated in them is evaluate.cuh's matter, which indices a thread gets the kernels'.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <utility>

#include "sinter/kernels/body.hpp"
#include "sinter/kernels/cuda/access.hpp"

namespace sinter::cuda::detail {

/// How a thread's values lie in the index space: Width neighbours along Vector, Items such groups along Item.
/// x, x: pointwise, or the columns of one row at a time. r, r: a reduction along memory, row values are single. x, r: a
/// reduction across memory, row values have Width lanes.
template <loop_var Vector, loop_var Item, int Width, int Items, class Index>
struct tiling {
  static constexpr loop_var vector = Vector, item = Item;
  static constexpr int width = Width, items = Items, size = Width * Items;
  using index = Index;
  struct staging {};  // of loads that do not come from memory: a tiling of another class may have some
  template <int I>
  static constexpr bool stages = false;
};

/// Where a thread is. Positions past the end are moved to a valid one and not `ok`: loads need no branch, only stores
/// and reductions look.
template <class Tiling>
struct tile {
  using index = typename Tiling::index;
  index fixed = 0;  // the variable that items do not walk
  bool fixed_ok = true;
  index at[Tiling::items];
  bool ok[Tiling::items];
  typename Tiling::staging staging;

  __device__ __forceinline__ index x(int item) const { return Tiling::item == loop_var::x ? at[item] : fixed; }
  __device__ __forceinline__ index r(int item) const { return Tiling::item == loop_var::r ? at[item] : fixed; }

  /// Items at first, first + stride, …; `last` is the last valid position.
  template <bool Exact>
  __device__ __forceinline__ void place(index first, index stride, index last) {
#pragma unroll
    for (int u = 0; u < Tiling::items; ++u) {
      const index position = first + static_cast<index>(u) * stride;
      ok[u] = Exact || position <= last;
      at[u] = Exact || position <= last ? position : last;
    }
  }
};

struct nothing {};
template <class T>
struct held {
  using type = T;
};
template <>
struct held<void> {
  using type = nothing;
};

/// Element values exist per (x, r), or per x in a pointwise body; of others there is one, or one per column.
template <class Body, class Tiling>
struct lane_facts {
  static constexpr int size = Body::size;
  struct table {
    int lanes[size + 1]{};
  };
  static constexpr table facts = [] {
    table t{};
    const auto& body = body_facts<Body>::facts;
    bool varies[size + 1]{};
    for (int s = 0; s < size; ++s) {
      varies[s] = body.info[s].reads_x;
      for (int k = 0; k < 4; ++k)
        if (body.info[s].operands[k] >= 0) varies[s] = varies[s] || varies[body.info[s].operands[k]];
      if constexpr (Tiling::item == loop_var::x) t.lanes[s] = varies[s] ? Tiling::size : 1;
      else if (body.where[s] == scope::element) t.lanes[s] = Tiling::size;
      else t.lanes[s] = Tiling::vector == loop_var::x ? Tiling::width : 1;
    }
    return t;
  }();
  static constexpr int lanes(int s) { return facts.lanes[s]; }
};

template <int I, class T, int Lanes>
struct values {
  T v[Lanes];
};

/// The registers of a body.
template <class Body, class Tiling, class Numbers = std::make_index_sequence<Body::size>>
struct frame;
template <class... S, class Tiling, std::size_t... I>
struct frame<body<S...>, Tiling, std::index_sequence<I...>>
    : values<static_cast<int>(I), typename held<typename statement_facts<S>::value_type>::type,
             lane_facts<body<S...>, Tiling>::lanes(static_cast<int>(I))>... {
  using body_type = body<S...>;
  using tiling = Tiling;
};

template <int I, class T, int Lanes>
__device__ __forceinline__ T (&lanes_of(values<I, T, Lanes>& slot))[Lanes] {
  return slot.v;
}
/// Lane l of a statement, as an operand of one with more lanes: an only lane serves all, a column's lane its items.
template <int I, class T, int Lanes>
__device__ __forceinline__ T& lane_of(values<I, T, Lanes>& slot, int lane) {
  return slot.v[lane % Lanes];
}

}  // namespace sinter::cuda::detail
