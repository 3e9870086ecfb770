// The lanes of a statement: how many, how they lie in memory, and which items of a load are read at once.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/body.hpp"
#include "sinter/kernels/cuda/access.hpp"
#include "sinter/kernels/cuda/frame.cuh"
#include "sinter/kernels/cuda/loose.hpp"
#include "sinter/kernels/cuda/memory.cuh"
#include "sinter/kernels/cuda/shifted.hpp"

namespace sinter::cuda::detail {

/// What every statement needs to know about its lanes: `width` neighbours in each of `items`.
template <int I, class Frame>
struct lane_shape {
  using tiling = typename Frame::tiling;
  static constexpr int lanes = lane_facts<typename Frame::body_type, tiling>::lanes(I);
  static constexpr int width = lanes < tiling::width ? 1 : tiling::width;
  static constexpr int items = lanes / width;
  static constexpr auto info = body_facts<typename Frame::body_type>::facts.info[I];
  using facts = access_facts<typename Frame::body_type>;
  /// Of items that begin anywhere it counts how they go on, not where they begin.
  static constexpr int steps = tiling::loose ? 1 : width;
  static constexpr touch touches = facts::template along<tiling::vector, steps>.touches[I];
  /// An access along a row that may begin and end inside of a vector.
  static constexpr bool in_shifted_row =
      tiling::shifted && (tiling::vector == loop_var::r ? info.reads_r : info.reads_x);
  /// Neighbours along a row lie in a vector.
  static constexpr bool in_vectors = in_shifted_row || (tiling::in_vectors && info.reads_r);
  /// An access of lanes that may lie beside the columns: as vectors lie in memory, or of the nearest column for each.
  static constexpr drift drifts = !info.reads_x                                     ? drift::none
                                  : tiling::drifts == drift::whole && !info.reads_r ? drift::single
                                                                                    : tiling::drifts;
  /// Wide accesses are for what lies at multiples of the width; a loose tiling knows which stores do.
  static constexpr bool stays_aligned = !tiling::loose || width == 1 || tiling::template leads<I>;
  template <class T, class At>
  using memory =
      lanes_at<T, At, tiling::vector, width,
               in_vectors || drifts == drift::whole                                               ? access::contiguous
               : width == 1 || drifts == drift::single || (tiling::walks && loose_at<At>::breaks) ? access::irregular
               : !stays_aligned && touches.where.kind == access::contiguous                       ? access::strided
                                                                                                  : touches.where.kind,
               in_vectors ? 1 : touches.where.step>;
  /// One index for all neighbours, and neighbours in memory: a row of an embedding table.
  static constexpr bool by_rows = width > 1 && touches.where.kind == access::contiguous;
};

/// Is item u of load I read at once? In a shifted row also beyond its ends, into its neighbours, as far as memory goes;
/// but what does not move with the row must lie well for that.
template <int I, class At, class Frame, class Sizes>
__device__ __forceinline__ bool reads_item(const tile<typename Frame::tiling>& t, int u, const Sizes& sizes) {
  if constexpr (lane_shape<I, Frame>::in_shifted_row) {
    constexpr auto along = Frame::tiling::vector;
    constexpr auto info = body_facts<typename Frame::body_type>::facts.info[I];
    if constexpr (along == loop_var::r ? info.reads_x : info.reads_r) {
      constexpr long pitch = row_place<At, along>::facts.pitch;
      const std::int64_t step = sinter::detail::resolve(pitch, sizes), first = t.fixed * step + t.at[u];
      const std::int64_t end = t.staging.last_row * step + t.staging.end;
      return t.ok[u] ||
             (t.at[u] < static_cast<int>(t.staging.end) && first >= 0 && first + Frame::tiling::width <= end);
    } else {
      return t.ok[u] && t.staging.others_aligned;
    }
  } else if constexpr (Frame::tiling::guards && lane_shape<I, Frame>::items == Frame::tiling::items) {
    return t.ok[u];
  } else {
    return true;
  }
}

}  // namespace sinter::cuda::detail
