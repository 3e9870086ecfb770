// The order in which the statements of a body are evaluated: loads first, then item by item.
// What a statement does is operations.cuh's and statements.cuh's matter; which indices a thread holds, what is reduced
// and when anything is evaluated is the kernels'. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include "sinter/kernels/cuda/operations.cuh"
#include "sinter/kernels/cuda/phase_facts.hpp"
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
    const auto& touches = access_facts<B>::template along<Frame::tiling::vector, Frame::tiling::width>.touches;
    int waiting = 0;
    for (int s = size - 1; s >= 0; --s) {
      const auto& info = body_facts<B>::facts.info[s];
      const bool reads =
          info.kind == statement_kind::source && (!staged[s] || Frame::tiling::reads_ahead) && touches[s].bytes > 0;
      t.first[s] = (t.first[s] || reads) && Which::select(s);
      if (!t.first[s]) continue;
      for (int operand : info.operands)
        if (operand >= 0) t.first[operand] = true;
      if (reads) waiting += lane_facts<B, typename Frame::tiling>::lanes(s) * touches[s].bytes;
    }
    return waiting <= Frame::tiling::most_waiting ? t : table{};
  }();
};

/// The numbers of the statements that go first, or of the others.
template <class Which, class Frame, bool First>
struct chosen_statements {
  static constexpr auto facts = [] {
    sinter::detail::number_list<Frame::body_type::size> list;
    for (int s = 0; s < Frame::body_type::size; ++s)
      if (Which::select(s) && evaluation_order<Which, Frame>::facts.first[s] == First) list.add(s);
    return list;
  }();
};

/// What a statement may ask for besides its operands.
template <class Frame, class Args>
struct whereabouts : anywhere {
  Frame& f;
  const tile<typename Frame::tiling>& t;
  const Args& args;
  bool row_writer;
};

/// A statement that is no operation.
template <int I, class S>
struct placed_statement {
  template <int Width, class Frame, class Args, class... Lanes>
  static __device__ __forceinline__ void run(const whereabouts<Frame, Args>& at, int u, Lanes&...) {
    if (u < lane_shape<I, Frame>::items) run_statement<S>::template run<I>(at.f, at.t, at.args, u, at.row_writer);
  }
};

/// A value that staging has kept.
template <int I>
struct recalled_value {
  template <int Width, class Frame, class Args, class Own, class... Others>
  static __device__ __forceinline__ void run(const whereabouts<Frame, Args>& at, int u, Own& own, Others&...) {
    at.t.staging.recall(own, u, at.t.ok[u]);
  }
};

/// Statement I of a frame: what runs it, and the slots of its result and operands.
template <class Frame, int I>
struct step_of {
  using B = typename Frame::body_type;
  using S = sinter::detail::statement_of<B, I>;
  template <int K>
  static constexpr int operand = statement_facts<S>::info.operands[K];
  static constexpr bool by_row = [] {
    if constexpr (operand<1> < 0) return false;
    else return body_facts<B>::where(I) == scope::element && body_facts<B>::where(operand<1>) == scope::row;
  }();
  static constexpr bool streamed = Frame::tiling::streamed;
  // Of more values that are stored nvcc 13.0 computes so many quotients at once that registers spill.
  static constexpr bool rough = [] {
    if constexpr (streamed || !by_row) return streamed;
    else return Frame::tiling::size <= 32 || element_stores<B> == 0;
  }();
  using operation = typename operation_of<S, rough, streamed && by_row>::type;
  using type = std::conditional_t<Frame::tiling::template recalls<I>, recalled_value<I>,
                                  std::conditional_t<std::is_void_v<operation>, placed_statement<I, S>, operation>>;
  using own = typename slot_in<Frame, I>::type;
  using a = typename slot_in<Frame, operand<0>>::type;
  using b = typename slot_in<Frame, operand<1>>::type;
  using c = typename slot_in<Frame, operand<2>>::type;
};

/// Item u of the statements I, in order.
template <class Frame, class Args, int... I>
__device__ __forceinline__ void run_statements(std::integer_sequence<int, I...>, const whereabouts<Frame, Args>& at,
                                               int u) {
  (step_of<Frame, I>::type::template run<Frame::tiling::width>(
       at, u, static_cast<typename step_of<Frame, I>::own&>(at.f).lanes(),
       static_cast<typename step_of<Frame, I>::a&>(at.f).lanes(),
       static_cast<typename step_of<Frame, I>::b&>(at.f).lanes(),
       static_cast<typename step_of<Frame, I>::c&>(at.f).lanes()),
   ...);
}

/// All items of the statements I, one statement after another.
template <class Frame, class Args, int... I>
__device__ __forceinline__ void run_items(std::integer_sequence<int, I...>, const whereabouts<Frame, Args>& at) {
  const auto each = [&]<int J>(std::integer_sequence<int, J> only) {
#pragma unroll
    for (int u = 0; u < Frame::tiling::items; ++u) run_statements(only, at, u);
  };
  (each(std::integer_sequence<int, I>{}), ...);
}

struct no_step {
  __device__ __forceinline__ void operator()(int) const {}
};

struct every_statement {
  static constexpr bool select(int) { return true; }
};

/// The statements that go first, of those that Which::select(s) names; what follows them is evaluate_rest's matter.
template <class Which, class Frame, class Args>
__device__ __forceinline__ void evaluate_first(Frame& f, const tile<typename Frame::tiling>& t, const Args& args,
                                               bool row_writer = false) {
  const whereabouts<Frame, Args> at{{}, f, t, args, row_writer};
  run_items(sinter::detail::listed<chosen_statements<Which, Frame, true>>{}, at);
}
/// The others. Row values are stored where `row_writer`; step(u) follows when item u is done.
template <class Which, class Frame, class Args, class Step = no_step>
__device__ __forceinline__ void evaluate_rest(Frame& f, const tile<typename Frame::tiling>& t, const Args& args,
                                              bool row_writer = false, const Step& step = {}) {
  using others = chosen_statements<Which, Frame, false>;
  const whereabouts<Frame, Args> at{{}, f, t, args, row_writer};
  if constexpr (others::facts.count > 0 || !std::is_same_v<Step, no_step>) {
#pragma unroll
    for (int u = 0; u < Frame::tiling::items; ++u) {
      if (Frame::tiling::skips && u > 0 && !t.ok[u]) continue;
      run_statements(sinter::detail::listed<others>{}, at, u);
      step(u);
    }
  }
}
/// Evaluates the statements that Which::select(s) names, in order.
template <class Which, class Frame, class Args, class Step = no_step>
__device__ __forceinline__ void evaluate(Frame& f, const tile<typename Frame::tiling>& t, const Args& args,
                                         bool row_writer = false, const Step& step = {}) {
  evaluate_first<Which>(f, t, args, row_writer);
  evaluate_rest<Which>(f, t, args, row_writer, step);
}

}  // namespace sinter::cuda::detail
