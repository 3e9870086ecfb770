// Evaluates the statements of a body in the registers of a frame, every loop over their lanes unrolled. Statement by
// statement, so that all loads of a tile are in flight first.
// Which indices a thread holds, what is reduced and when anything is evaluated is the kernels' matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "sinter/base/op.hpp"
#include "sinter/kernels/body.hpp"
#include "sinter/kernels/cuda/access.hpp"
#include "sinter/kernels/cuda/fast_math.cuh"
#include "sinter/kernels/cuda/frame.cuh"
#include "sinter/kernels/cuda/memory.cuh"
#include "sinter/kernels/cuda/quotient.cuh"

namespace sinter::cuda::detail {

/// Statement I of type S, evaluated in all its lanes.
template <class S>
struct run_statement {
  static_assert(sizeof(S) == 0, "kernels: this statement belongs into the body of a matmul");
};

/// What every statement that touches indices needs to know about its lanes.
template <int I, class Frame>
struct lane_shape {
  using tiling = typename Frame::tiling;
  static constexpr int lanes = lane_facts<typename Frame::body_type, tiling>::lanes(I);
  static constexpr int width = lanes < tiling::width ? 1 : tiling::width;
  static constexpr int items = lanes / width;
  static constexpr touch touches = access_facts<typename Frame::body_type>::at(tiling::vector, width).touches[I];
  template <class T, class At>
  using memory =
      lanes_at<T, At, tiling::vector, width, width == 1 ? access::irregular : touches.where.kind, touches.where.step>;
};

/// The value of an index expression in each lane.
template <class At, int I, class Frame, class Sizes>
__device__ __forceinline__ std::int64_t index_at(int lane, const tile<typename Frame::tiling>& t, const Sizes& sizes) {
  using shape = lane_shape<I, Frame>;
  const int u = lane / shape::width, j = lane % shape::width;
  return shape::template memory<char, At>::offset(j, t.x(u), t.r(u), sizes);
}

template <int Slot, class T, class At, int Mask>
struct run_statement<load<Slot, T, At, Mask>> {
  template <int I, class Frame, class Args>
  static __device__ __forceinline__ void run(Frame& f, const tile<typename Frame::tiling>& t, const Args& args, bool) {
    using shape = lane_shape<I, Frame>;
    using memory = typename shape::template memory<T, At>;
    auto& out = lanes_of<I>(f);
    const T* base = static_cast<const T*>(args.pointers[Slot]);
#pragma unroll
    for (int u = 0; u < shape::items; ++u) {
      compute_t<T> raw[shape::width];
      if constexpr (Frame::tiling::template stages<I>) {
#pragma unroll
        for (int j = 0; j < shape::width; ++j)
          out[u * shape::width + j] = widen<T>(t.staging.template value<I, T>(u, j));
      } else if constexpr (Mask < 0) {
        memory::read(raw, base, t.x(u), t.r(u), args.sizes);
#pragma unroll
        for (int j = 0; j < shape::width; ++j) out[u * shape::width + j] = raw[j];
      } else {
        bool all = true;
#pragma unroll
        for (int j = 0; j < shape::width; ++j) all = all && lane_of<Mask>(f, u * shape::width + j);
#pragma unroll
        for (int j = 0; j < shape::width; ++j) out[u * shape::width + j] = compute_t<T>(0);
        if (all) {
          memory::read(raw, base, t.x(u), t.r(u), args.sizes);
#pragma unroll
          for (int j = 0; j < shape::width; ++j) out[u * shape::width + j] = raw[j];
        } else if constexpr (shape::width > 1) {
#pragma unroll
          for (int j = 0; j < shape::width; ++j)
            if (lane_of<Mask>(f, u * shape::width + j))
              out[u * shape::width + j] = widen<T>(base[memory::offset(j, t.x(u), t.r(u), args.sizes)]);
        }
      }
    }
  }
};

template <int Slot, class T, class At, int Index, long Coef, long Bound, int Mask>
struct run_statement<gather_load<Slot, T, At, Index, Coef, Bound, Mask>> {
  template <int I, class Frame, class Args>
  static __device__ __forceinline__ void run(Frame& f, const tile<typename Frame::tiling>& t, const Args& args, bool) {
    using shape = lane_shape<I, Frame>;
    using memory = typename shape::template memory<T, At>;
    auto& out = lanes_of<I>(f);
    const T* base = static_cast<const T*>(args.pointers[Slot]);
    const std::int64_t coef = sinter::detail::resolve(Coef, args.sizes);
    const std::int64_t bound = sinter::detail::resolve(Bound, args.sizes);
#pragma unroll
    for (int u = 0; u < shape::items; ++u) {
      bool all = true, any = true;
      if constexpr (Mask >= 0) {
        any = false;
#pragma unroll
        for (int j = 0; j < shape::width; ++j) {
          const bool on = lane_of<Mask>(f, u * shape::width + j);
          all = all && on;
          any = any || on;
        }
      }
      // One index for all neighbours, and neighbours in memory: a row of an embedding table.
      constexpr bool by_rows = shape::width > 1 && shape::touches.where.kind == access::contiguous;
      if (by_rows && all) {
        std::int64_t row = static_cast<std::int64_t>(lane_of<Index>(f, u * shape::width));
        if (row < 0) row += bound;
        compute_t<T> raw[shape::width];
        memory::read(raw, base + row * coef, t.x(u), t.r(u), args.sizes);
#pragma unroll
        for (int j = 0; j < shape::width; ++j) out[u * shape::width + j] = raw[j];
      } else {
#pragma unroll
        for (int j = 0; j < shape::width; ++j) {
          const int lane = u * shape::width + j;
          bool on = any;
          if constexpr (Mask >= 0) on = lane_of<Mask>(f, lane);
          out[lane] = compute_t<T>(0);
          if (!on) continue;
          std::int64_t row = static_cast<std::int64_t>(lane_of<Index>(f, lane));
          if (row < 0) row += bound;
          out[lane] = widen<T>(base[memory::offset(j, t.x(u), t.r(u), args.sizes) + row * coef]);
        }
      }
    }
  }
};

template <int Slot, class T>
struct run_statement<scalar<Slot, T>> {
  template <int I, class Frame, class Args>
  static __device__ __forceinline__ void run(Frame& f, const tile<typename Frame::tiling>&, const Args& args, bool) {
    using C = compute_t<T>;
    C value;
    if constexpr (std::is_floating_point_v<C>) value = static_cast<C>(args.scalars[Slot].d);
    else value = static_cast<C>(args.scalars[Slot].i);
    for (auto& v : lanes_of<I>(f)) v = value;
  }
};

template <class T, long Bits>
struct run_statement<constant<T, Bits>> {
  template <int I, class Frame, class Args>
  static __device__ __forceinline__ void run(Frame& f, const tile<typename Frame::tiling>&, const Args&, bool) {
    using C = compute_t<T>;
    C value;
    if constexpr (std::is_floating_point_v<C>) value = static_cast<C>(__builtin_bit_cast(double, Bits));
    else value = static_cast<C>(Bits);
    for (auto& v : lanes_of<I>(f)) v = value;
  }
};

template <class At>
struct run_statement<index_value<At>> {
  template <int I, class Frame, class Args>
  static __device__ __forceinline__ void run(Frame& f, const tile<typename Frame::tiling>& t, const Args& args, bool) {
    auto& out = lanes_of<I>(f);
#pragma unroll
    for (int l = 0; l < lane_shape<I, Frame>::lanes; ++l) out[l] = index_at<At, I, Frame>(l, t, args.sizes);
  }
};

template <class At, long Low, long High>
struct run_statement<inside<At, Low, High>> {
  template <int I, class Frame, class Args>
  static __device__ __forceinline__ void run(Frame& f, const tile<typename Frame::tiling>& t, const Args& args, bool) {
    auto& out = lanes_of<I>(f);
    const std::int64_t low = sinter::detail::resolve(Low, args.sizes), high = sinter::detail::resolve(High, args.sizes);
#pragma unroll
    for (int l = 0; l < lane_shape<I, Frame>::lanes; ++l) {
      const std::int64_t value = index_at<At, I, Frame>(l, t, args.sizes);
      out[l] = low <= value && value < high;
    }
  }
};

template <class Op, class T, class Result, int A, int B, int C>
struct run_statement<compute<Op, T, Result, A, B, C>> {
  template <int I, class Frame, class Args>
  static __device__ __forceinline__ void run(Frame& f, const tile<typename Frame::tiling>&, const Args&, bool) {
    using lanes = lane_facts<typename Frame::body_type, typename Frame::tiling>;
    using R = compute_t<Result>;
    constexpr int own = lanes::facts.lanes[I], divisors = lanes::facts.lanes[B >= 0 ? B : I];
    auto& out = lanes_of<I>(f);
    if constexpr (std::is_same_v<Op, ops::div> && std::is_same_v<compute_t<T>, float> && own >= 4 * divisors) {
#pragma unroll
      for (int d = 0; d < divisors; ++d) {
        const reciprocal_divisor by(lanes_of<B>(f)[d]);
#pragma unroll
        for (int l = d; l < own; l += divisors) out[l] = static_cast<R>(by.divide(lane_of<A>(f, l)));
      }
    } else {
#pragma unroll
      for (int l = 0; l < own; ++l) {
        using F = function_for<Op, T>;
        if constexpr (C >= 0) out[l] = static_cast<R>(F::apply(lane_of<A>(f, l), lane_of<B>(f, l), lane_of<C>(f, l)));
        else if constexpr (B >= 0) out[l] = static_cast<R>(F::apply(lane_of<A>(f, l), lane_of<B>(f, l)));
        else out[l] = static_cast<R>(F::apply(lane_of<A>(f, l)));
      }
    }
  }
};

template <class From, class To, int A>
struct run_statement<cast_to<From, To, A>> {
  template <int I, class Frame, class Args>
  static __device__ __forceinline__ void run(Frame& f, const tile<typename Frame::tiling>&, const Args&, bool) {
    auto& out = lanes_of<I>(f);
#pragma unroll
    for (int l = 0; l < lane_shape<I, Frame>::lanes; ++l)
      out[l] = widen<To>(narrow<To>(convert<To, From>(lane_of<A>(f, l))));
  }
};

template <class From, class To, int A>
struct run_statement<widen_to<From, To, A>> {
  template <int I, class Frame, class Args>
  static __device__ __forceinline__ void run(Frame& f, const tile<typename Frame::tiling>&, const Args&, bool) {
    auto& out = lanes_of<I>(f);
#pragma unroll
    for (int l = 0; l < lane_shape<I, Frame>::lanes; ++l) out[l] = convert<To, From>(lane_of<A>(f, l));
  }
};

/// Does this thread write item u of statement I? One thread writes what a row has one of.
template <int I, class Frame>
__device__ __forceinline__ bool writes_item(int u, const tile<typename Frame::tiling>& t, bool row_writer) {
  constexpr bool per_row =
      Frame::tiling::item == loop_var::r && body_facts<typename Frame::body_type>::facts.where[I] == scope::row;
  if constexpr (per_row) return row_writer;
  else return t.ok[u] && t.fixed_ok;
}

template <int Slot, class T, int A, class At, int Mask>
struct run_statement<store<Slot, T, A, At, Mask>> {
  template <int I, class Frame, class Args>
  static __device__ __forceinline__ void run(Frame& f, const tile<typename Frame::tiling>& t, const Args& args,
                                             bool row_writer) {
    using shape = lane_shape<I, Frame>;
    using memory = typename shape::template memory<T, At>;
    T* base = static_cast<T*>(args.pointers[Slot]);
#pragma unroll
    for (int u = 0; u < shape::items; ++u) {
      if (!writes_item<I, Frame>(u, t, row_writer)) continue;
      T raw[shape::width];
      bool all = true;
#pragma unroll
      for (int j = 0; j < shape::width; ++j) {
        raw[j] = narrow<T>(lane_of<A>(f, u * shape::width + j));
        if constexpr (Mask >= 0) all = all && lane_of<Mask>(f, u * shape::width + j);
      }
      if constexpr (Frame::tiling::template stages<I>) {
#pragma unroll
        for (int j = 0; j < shape::width; ++j) t.staging.template value<I, T>(u, j) = raw[j];
      } else if (all) {
        memory::write(base, raw, t.x(u), t.r(u), args.sizes);
      } else if constexpr (Mask >= 0 && shape::width > 1) {
#pragma unroll
        for (int j = 0; j < shape::width; ++j)
          if (lane_of<Mask>(f, u * shape::width + j)) base[memory::offset(j, t.x(u), t.r(u), args.sizes)] = raw[j];
      }
    }
  }
};

template <int Slot, class T, int A, class At, int Index, long Coef, long Bound, int Mask>
struct run_statement<scatter_store<Slot, T, A, At, Index, Coef, Bound, Mask>> {
  template <int I, class Frame, class Args>
  static __device__ __forceinline__ void run(Frame& f, const tile<typename Frame::tiling>& t, const Args& args,
                                             bool row_writer) {
    using shape = lane_shape<I, Frame>;
    using memory = typename shape::template memory<T, At>;
    T* base = static_cast<T*>(args.pointers[Slot]);
    const std::int64_t coef = sinter::detail::resolve(Coef, args.sizes);
    const std::int64_t bound = sinter::detail::resolve(Bound, args.sizes);
    const auto row_of = [&](int lane) {
      std::int64_t row = static_cast<std::int64_t>(lane_of<Index>(f, lane));
      if (row < 0) row += bound;
      bool on = row >= 0 && row < bound;
      if constexpr (Mask >= 0) on = on && lane_of<Mask>(f, lane);
      return on ? row : std::int64_t(-1);
    };
#pragma unroll
    for (int u = 0; u < shape::items; ++u) {
      if (!writes_item<I, Frame>(u, t, row_writer)) continue;
      T raw[shape::width];
#pragma unroll
      for (int j = 0; j < shape::width; ++j) raw[j] = narrow<T>(lane_of<A>(f, u * shape::width + j));
      // One index for all neighbours, and neighbours in memory: a row of a table.
      constexpr bool by_rows = Mask < 0 && shape::width > 1 && shape::touches.where.kind == access::contiguous;
      if constexpr (by_rows) {
        const std::int64_t row = row_of(u * shape::width);
        if (row >= 0) memory::write(base + row * coef, raw, t.x(u), t.r(u), args.sizes);
      } else {
#pragma unroll
        for (int j = 0; j < shape::width; ++j) {
          const std::int64_t row = row_of(u * shape::width + j);
          if (row >= 0) base[memory::offset(j, t.x(u), t.r(u), args.sizes) + row * coef] = raw[j];
        }
      }
    }
  }
};

/// Reductions accumulate in the kernel.
template <class Op, class T, class Result, int A>
struct run_statement<reduce<Op, T, Result, A>> {
  template <int I, class Frame, class Args>
  static __device__ __forceinline__ void run(Frame&, const tile<typename Frame::tiling>&, const Args&, bool) {}
};

/// Loads that depend on nothing go first, as long as their lanes are few enough to wait in registers.
template <class Which, class Frame>
struct evaluation_order {
  using B = typename Frame::body_type;
  static constexpr bool is_early(int s) {
    const auto& info = body_facts<B>::facts.info[s];
    return info.kind == statement_kind::source && info.operands[0] < 0 && info.operands[1] < 0;
  }
  static constexpr bool hoist = [] {
    int waiting = 0;
    for (int s = 0; s < B::size; ++s)
      if (Which::select(s) && is_early(s)) waiting += lane_facts<B, typename Frame::tiling>::lanes(s);
    return waiting <= 64;
  }();
};
/// The turn in which statement I runs; 0: not at all.
template <class Which, class Frame, std::size_t I>
inline constexpr int turn =
    !Which::select(static_cast<int>(I))                                                                      ? 0
    : evaluation_order<Which, Frame>::hoist && evaluation_order<Which, Frame>::is_early(static_cast<int>(I)) ? 1
                                                                                                             : 2;

template <bool Wanted, int I, class S, class Frame, class Args>
__device__ __forceinline__ void run_if(Frame& f, const tile<typename Frame::tiling>& t, const Args& args,
                                       bool row_writer) {
  if constexpr (Wanted) run_statement<S>::template run<I>(f, t, args, row_writer);
}

template <class Which, class Frame, class Args, class... S, std::size_t... I>
__device__ __forceinline__ void evaluate_statements(body<S...>, std::index_sequence<I...>, Frame& f,
                                                    const tile<typename Frame::tiling>& t, const Args& args,
                                                    bool row_writer) {
  (run_if<turn<Which, Frame, I> == 1, static_cast<int>(I), S>(f, t, args, row_writer), ...);
  (run_if<turn<Which, Frame, I> == 2, static_cast<int>(I), S>(f, t, args, row_writer), ...);
}

struct every_statement {
  static constexpr bool select(int) { return true; }
};

/// Evaluates the statements that Which::select(s) names, in order. Row values are stored where `row_writer`.
template <class Which, class Frame, class Args>
__device__ __forceinline__ void evaluate(Frame& f, const tile<typename Frame::tiling>& t, const Args& args,
                                         bool row_writer = false) {
  using B = typename Frame::body_type;
  evaluate_statements<Which>(B{}, std::make_index_sequence<B::size>{}, f, t, args, row_writer);
}

}  // namespace sinter::cuda::detail
