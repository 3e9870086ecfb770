// The order in which the statements of a body are evaluated: loads first, then item by item.
// What a statement does is statements.cuh's matter; which indices a thread holds, what is reduced and when anything is
// evaluated is the kernels'.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include "sinter/kernels/cuda/statements.cuh"

namespace sinter::cuda::detail {

/// What is read from memory, and what that needs, goes first, for all items: then all loads of a tile are in flight.
/// The rest goes item by item, which needs few registers; so do all if too many values had to wait.
template <class Which, class Frame>
struct evaluation_order {
  using B = typename Frame::body_type;
  static constexpr int size = B::size;
  template <class Numbers>
  struct staged_of;
  template <std::size_t... I>
  struct staged_of<std::index_sequence<I...>> {
    static constexpr bool values[] = {Frame::tiling::template stages<static_cast<int>(I)>..., false};
  };
  struct table {
    bool first[size + 1]{};
  };
  static constexpr table facts = [] {
    table t{};
    const auto& staged = staged_of<std::make_index_sequence<size>>::values;
    int waiting = 0;
    for (int s = size - 1; s >= 0; --s) {
      const auto& info = body_facts<B>::facts.info[s];
      const bool reads = info.kind == statement_kind::source && (!staged[s] || Frame::tiling::reads_ahead) &&
                         access_facts<B>::at(Frame::tiling::vector, Frame::tiling::width).touches[s].bytes > 0;
      t.first[s] = (t.first[s] || reads) && Which::select(s);
      if (!t.first[s]) continue;
      for (int operand : info.operands)
        if (operand >= 0) t.first[operand] = true;
      if (reads)
        waiting += lane_facts<B, typename Frame::tiling>::lanes(s) *
                   access_facts<B>::at(Frame::tiling::vector, Frame::tiling::width).touches[s].bytes;
    }
    return waiting <= Frame::tiling::most_waiting ? t : table{};
  }();
};
template <class Which, class Frame, std::size_t I>
inline constexpr bool goes_first = Which::select(static_cast<int>(I)) && evaluation_order<Which, Frame>::facts.first[I];
template <class Which, class Frame, std::size_t I>
inline constexpr bool goes_by_item = Which::select(static_cast<int>(I)) && !goes_first<Which, Frame, I>;

template <bool Wanted, int I, class S, class Frame, class Args>
__device__ __forceinline__ void run_item(Frame& f, const tile<typename Frame::tiling>& t, const Args& args, int u,
                                         bool row_writer) {
  if constexpr (Wanted) {
    if (u < lane_shape<I, Frame>::items) run_statement<S>::template run<I>(f, t, args, u, row_writer);
  }
}
template <bool Wanted, int I, class S, class Frame, class Args>
__device__ __forceinline__ void run_items(Frame& f, const tile<typename Frame::tiling>& t, const Args& args,
                                          bool row_writer) {
  if constexpr (Wanted) {
#pragma unroll
    for (int u = 0; u < lane_shape<I, Frame>::items; ++u) run_statement<S>::template run<I>(f, t, args, u, row_writer);
  }
}

struct no_step {
  __device__ __forceinline__ void operator()(int) const {}
};

template <class Which, class Frame, class Args, class Step, class... S, std::size_t... I>
__device__ __forceinline__ void evaluate_statements(body<S...>, std::index_sequence<I...>, Frame& f,
                                                    const tile<typename Frame::tiling>& t, const Args& args,
                                                    bool row_writer, const Step& step) {
  (run_items<goes_first<Which, Frame, I>, static_cast<int>(I), S>(f, t, args, row_writer), ...);
  if constexpr ((goes_by_item<Which, Frame, I> || ...) || !std::is_same_v<Step, no_step>) {
#pragma unroll
    for (int u = 0; u < Frame::tiling::items; ++u) {
      (run_item<goes_by_item<Which, Frame, I>, static_cast<int>(I), S>(f, t, args, u, row_writer), ...);
      step(u);
    }
  }
}

struct every_statement {
  static constexpr bool select(int) { return true; }
};

/// Evaluates the statements that Which::select(s) names, in order. Row values are stored where `row_writer`; step(u)
/// follows when item u is done.
template <class Which, class Frame, class Args, class Step = no_step>
__device__ __forceinline__ void evaluate(Frame& f, const tile<typename Frame::tiling>& t, const Args& args,
                                         bool row_writer = false, const Step& step = {}) {
  using B = typename Frame::body_type;
  evaluate_statements<Which>(B{}, std::make_index_sequence<B::size>{}, f, t, args, row_writer, step);
}

}  // namespace sinter::cuda::detail
