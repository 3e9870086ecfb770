// Statements of a body, each evaluated in the registers of a frame, in the lanes of one item, every loop unrolled.
// In which order they are evaluated is evaluate.cuh's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "sinter/base/op.hpp"
#include "sinter/kernels/body.hpp"
#include "sinter/kernels/cuda/access.hpp"
#include "sinter/kernels/cuda/lane_shape.cuh"
#include "sinter/kernels/cuda/loose_words.cuh"

namespace sinter::cuda::detail {

/// Bytes of the words in which chunks are read. Of a row that is read again and again, which the L1 has, small ones:
/// less has to be shifted.
template <class T, class At>
inline constexpr int loose_unit = sizeof(T) < 4 && loose_at<At>::breaks&& loose_at<At>::size == 1 ? 4 : 16;

/// Is mask M true anywhere in item u?
template <int M, class Frame>
__device__ __forceinline__ bool any_lane(Frame& f, int u) {
  constexpr int width = Frame::tiling::width;
  bool any = false;
#pragma unroll
  for (int j = 0; j < width; ++j) any |= lane_of<M>(f, u * width + j);
  return any;
}

/// Statement I of type S, evaluated in the lanes of one item.
template <class S>
struct run_statement {
  static_assert(sizeof(S) == 0, "kernels: this statement belongs into the body of a matmul");
};

template <int Slot, class T, class At, int Mask>
struct run_statement<load<Slot, T, At, Mask>> {
  template <int I, class Frame, class Args>
  static __device__ __forceinline__ void run(Frame& f, const tile<typename Frame::tiling>& t, const Args& args, int u,
                                             bool) {
    using shape = lane_shape<I, Frame>;
    using memory = typename shape::template memory<T, At>;
    const T* base = static_cast<const T*>(args.pointers[Slot]);
    // Of items that are evenly apart addresses have a division in common, but not if the compiler moves it to where
    // each is read.
    using tiling = typename Frame::tiling;
    constexpr bool from_memory = !tiling::template stages<I> && !tiling::template shifts<I> && !shape::in_shifted_row &&
                                 shape::drifts == drift::none;
    constexpr bool early = from_memory && tiling::even && linear_step<At>::divides_by_size && Mask < 0 &&
                           (shape::width == 1 || shape::touches.where.kind == access::contiguous);
    const T* from = base;
    if constexpr (early) {
      from += memory::offset(0, t, u, args.sizes);
      asm volatile("" : "+l"(from));
      __builtin_assume(__isGlobal(from));
    }
    if constexpr (Frame::tiling::template shifts<I>) {
      if constexpr (Frame::tiling::loose) read_loosely<I>(f, t, base, u, args.sizes);
      else if (t.ok[u]) read_beside<I>(f, t, base, u, args.sizes);
    } else if constexpr (shape::drifts == drift::single) {
#pragma unroll
      for (int j = 0; j < shape::width; ++j)
        lanes_of<I>(f)[u * shape::width + j] = memory::nearest(base, j, t, u, args.numel, args.sizes);
    } else if constexpr (Frame::tiling::template packs<I>) {
      T stored[shape::width];
      if (reads_item<I, At, Frame>(t, u, args.sizes)) {
        if constexpr (early) wide<T, shape::width>::read_stored(stored, from);
        else memory::read_stored(stored, base, t, u, args.sizes);
      } else {
#pragma unroll
        for (int j = 0; j < shape::width; ++j) {
          stored[j] = T::from_bits(0);
          if (shape::in_shifted_row && t.lane_ok(u, j)) stored[j] = memory::element(base, j, t, u, args.sizes);
        }
      }
      put_item<I>(f, u, stored);
    } else if constexpr (Frame::tiling::template stages<I>) {
      compute_t<T> raw[shape::width];
      if constexpr (Frame::tiling::adjoining) t.staging.template read<I, T>(raw, u, t.ok[u]);
      else t.staging.template read<I, T>(raw, u);
#pragma unroll
      for (int j = 0; j < shape::width; ++j) lanes_of<I>(f)[u * shape::width + j] = raw[j];
    } else {
      compute_t<T> raw[shape::width];
      const bool inside = reads_item<I, At, Frame>(t, u, args.sizes);
      const auto on = [&](int j) {
        if constexpr (Mask >= 0) return inside && lane_of<Mask>(f, u * shape::width + j);
        else return shape::in_shifted_row && t.lane_ok(u, j);
      };
      bool all = inside;
      if constexpr (Mask >= 0) {
#pragma unroll
        for (int j = 0; j < shape::width; ++j) all = all && on(j);
      }
#pragma unroll
      for (int j = 0; j < shape::width; ++j) raw[j] = compute_t<T>(0);
      if (all) {
        if constexpr (early) wide<T, shape::width>::read(raw, from);
        else memory::read(raw, base, t, u, args.sizes);
      } else if constexpr (shape::in_shifted_row || (Mask >= 0 && shape::width > 1)) {
#pragma unroll
        for (int j = 0; j < shape::width; ++j)
          if (on(j)) raw[j] = widen<T>(memory::element(base, j, t, u, args.sizes));
      }
#pragma unroll
      for (int j = 0; j < shape::width; ++j) lanes_of<I>(f)[u * shape::width + j] = raw[j];
    }
  }

 private:
  /// What all rows share, of a vector of one of them: as other rows, it may lie well or not.
  template <int I, class Frame, class Sizes>
  static __device__ __forceinline__ void read_beside(Frame& f, const tile<typename Frame::tiling>& t, const T* base,
                                                     int u, const Sizes& sizes) {
    using shape = lane_shape<I, Frame>;
    using memory = typename shape::template memory<T, At>;
    using vector = wide<T, shape::width>;
    if constexpr (Frame::tiling::keeps) base = t.staging.template kept<I, T>();
    const T* first = base + memory::offset(0, t, u, sizes);
    compute_t<T> raw[shape::width];
    if (t.staging.aligned()) {
      vector::read(raw, first);
    } else if (vector::bytes < 4 || t.staging.anywhere()) {
#pragma unroll
      for (int j = 0; j < shape::width; ++j) raw[j] = widen<T>(first[j]);
    } else if constexpr (vector::bytes >= 4) {
      loose_words<T, shape::width> around;
      around.fetch(first, t.staging.template shift_of<T, loose_words<T, shape::width>::unit_bytes>(first));
      around.template read<Frame::tiling::in_halves>(raw);
    }
#pragma unroll
    for (int j = 0; j < shape::width; ++j) lanes_of<I>(f)[u * shape::width + j] = raw[j];
  }
  /// A chunk that lies anywhere, with what is between its elements and what its mask keeps out.
  template <int I, class Frame, class Sizes>
  static __device__ __forceinline__ void read_loosely(Frame& f, const tile<typename Frame::tiling>& t, const T* base,
                                                      int u, const Sizes& sizes) {
    using shape = lane_shape<I, Frame>;
    using memory = typename shape::template memory<T, At>;
    using tiling = typename Frame::tiling;
    constexpr int width = shape::width, step = static_cast<int>(shape::touches.where.step);
    constexpr int reach = step < 0 ? -step : step, below = step < 0 ? (width - 1) * reach : 0;
    const T* first = base + memory::offset(0, t, u, sizes) - below;
    using words = loose_words<T, width * reach, loose_unit<T, At>>;
    constexpr int unit = words::unit_bytes / static_cast<int>(sizeof(T));
    constexpr int known_shift = tiling::knows_shifts ? (loose_at<At>::offset % unit + unit) % unit : 0;
    if constexpr (Mask >= 0) {  // no branch: other loads need not wait
      if (!any_lane<Mask>(f, u)) first = reinterpret_cast<const T*>(t.staging.template range<I>().first) + known_shift;
    }
    words around;
    if constexpr (tiling::knows_shifts) around.fetch(first, known_shift * static_cast<int>(sizeof(T)));
    else around.fetch(first);
    compute_t<T> raw[width * reach];
    around.read(raw);
#pragma unroll
    for (int j = 0; j < width; ++j) {
      auto& lane = lanes_of<I>(f)[u * width + j];
      lane = raw[below + j * step];
      if constexpr (Mask >= 0) lane = lane_of<Mask>(f, u * width + j) ? lane : compute_t<T>(0);
    }
  }
};

template <int Slot, class T, class At, int Index, long Coef, long Bound, int Mask>
struct run_statement<gather_load<Slot, T, At, Index, Coef, Bound, Mask>> {
  template <int I, class Frame, class Args>
  static __device__ __forceinline__ void run(Frame& f, const tile<typename Frame::tiling>& t, const Args& args, int u,
                                             bool) {
    using shape = lane_shape<I, Frame>;
    using memory = typename shape::template memory<T, At>;
    const T* base = static_cast<const T*>(args.pointers[Slot]);
    const std::int64_t coef = sinter::detail::resolve(Coef, args.sizes);
    const std::int64_t bound = sinter::detail::resolve(Bound, args.sizes);
    const auto row_of = [&](int lane) {
      const std::int64_t row = static_cast<std::int64_t>(lane_of<Index>(f, lane));
      return row < 0 ? row + bound : row;
    };
    compute_t<T> raw[shape::width];
    const bool inside = reads_item<I, At, Frame>(t, u, args.sizes);
    bool all = inside;
    if constexpr (Mask >= 0) {
#pragma unroll
      for (int j = 0; j < shape::width; ++j) all = all && lane_of<Mask>(f, u * shape::width + j);
    }
    if (shape::by_rows && all) {
      memory::read(raw, base + row_of(u * shape::width) * coef, t, u, args.sizes);
    } else {
#pragma unroll
      for (int j = 0; j < shape::width; ++j) {
        const int lane = u * shape::width + j;
        bool on = inside;
        if constexpr (Mask >= 0) on = on && lane_of<Mask>(f, lane);
        raw[j] = compute_t<T>(0);
        if (on) raw[j] = widen<T>(memory::element(base + row_of(lane) * coef, j, t, u, args.sizes));
      }
    }
#pragma unroll
    for (int j = 0; j < shape::width; ++j) lanes_of<I>(f)[u * shape::width + j] = raw[j];
  }
};

/// A statement whose lanes are all computed in the same way: Self::value<I>(f, t, args, lane).
template <class Self>
struct run_by_lane {
  template <int I, class Frame, class Args>
  static __device__ __forceinline__ void run(Frame& f, const tile<typename Frame::tiling>& t, const Args& args, int u,
                                             bool) {
    using shape = lane_shape<I, Frame>;
#pragma unroll
    for (int j = 0; j < shape::width; ++j) {
      const int lane = u * shape::width + j;
      lanes_of<I>(f)[lane] = Self::template value<I>(f, t, args, lane);
    }
  }
};

template <int Slot, class T>
struct run_statement<scalar<Slot, T>> : run_by_lane<run_statement<scalar<Slot, T>>> {
  template <int I, class Frame, class Args>
  static __device__ __forceinline__ compute_t<T> value(const Frame&, const tile<typename Frame::tiling>&,
                                                       const Args& args, int) {
    if constexpr (std::is_floating_point_v<compute_t<T>>) return static_cast<compute_t<T>>(args.scalars[Slot].d);
    else return static_cast<compute_t<T>>(args.scalars[Slot].i);
  }
};

template <class T>
struct run_statement<row_length<T>> : run_by_lane<run_statement<row_length<T>>> {
  template <int I, class Frame, class Args>
  static __device__ __forceinline__ compute_t<T> value(const Frame&, const tile<typename Frame::tiling>&,
                                                       const Args& args, int) {
    return static_cast<compute_t<T>>(args.rnumel);
  }
};

template <class At>
struct run_statement<index_value<At>> : run_by_lane<run_statement<index_value<At>>> {
  template <int I, class Frame, class Args>
  static __device__ __forceinline__ std::int64_t value(const Frame&, const tile<typename Frame::tiling>& t,
                                                       const Args& args, int lane) {
    using shape = lane_shape<I, Frame>;
    const int u = lane / shape::width, j = lane % shape::width;
    return shape::template memory<char, At>::offset(j, t, u, args.sizes);
  }
};

template <class At, long Low, long High>
struct run_statement<inside<At, Low, High>> : run_by_lane<run_statement<inside<At, Low, High>>> {
  template <int I, class Frame, class Args>
  static __device__ __forceinline__ bool value(const Frame& f, const tile<typename Frame::tiling>& t, const Args& args,
                                               int lane) {
    // Of neighbours that begin and end at a multiple of the width, as Low and High are, all are inside or none.
    using shape = lane_shape<I, Frame>;
    constexpr bool alike = !Frame::tiling::loose && shape::width > 1 &&
                           shape::touches.where.kind == access::contiguous && !is_dynamic(Low) && !is_dynamic(High) &&
                           Low % shape::width == 0 && High % shape::width == 0;
    if constexpr (alike) lane = lane / shape::width * shape::width;
    const std::int64_t index = run_statement<index_value<At>>::template value<I>(f, t, args, lane);
    return sinter::detail::resolve(Low, args.sizes) <= index && index < sinter::detail::resolve(High, args.sizes);
  }
};

/// Does this thread write item u of statement I? One thread writes what a row has one of.
template <int I, class Frame>
__device__ __forceinline__ bool writes_item(int u, const tile<typename Frame::tiling>& t, bool row_writer) {
  constexpr bool per_row =
      Frame::tiling::item == loop_var::r && body_facts<typename Frame::body_type>::facts.where[I] == scope::row;
  if constexpr (per_row) return row_writer;
  else return (Frame::tiling::shifted || t.ok[u]) && (Frame::tiling::template stages<I> || t.fixed_ok);
}

template <int Slot, class T, int A, class At, int Mask>
struct run_statement<store<Slot, T, A, At, Mask>> {
  template <int I, class Frame, class Args>
  static __device__ __forceinline__ void run(Frame& f, const tile<typename Frame::tiling>& t, const Args& args, int u,
                                             bool row_writer) {
    using shape = lane_shape<I, Frame>;
    using memory = typename shape::template memory<T, At>;
    T* base = static_cast<T*>(args.pointers[Slot]);
    // Of items that are evenly apart addresses have much in common, but not if the compiler moves it to where they are
    // written, one by one.
    constexpr bool beside = shape::drifts != drift::none;  // lanes may lie beside the columns, where others write
    constexpr bool early =
        Frame::tiling::even &&
        (beside ? shape::drifts == drift::whole : shape::width == 1 || shape::touches.where.kind == access::contiguous);
    T* to = base;
    if constexpr (early) {
      to += memory::offset(0, t, u, args.sizes);
      asm volatile("" : "+l"(to));
      __builtin_assume(__isGlobal(to));
    }
    if (!writes_item<I, Frame>(u, t, row_writer)) return;
    T raw[shape::width];
    bool all = true;
#pragma unroll
    for (int j = 0; j < shape::width; ++j) {
      raw[j] = narrow<T>(lane_of<A>(f, u * shape::width + j));
      if constexpr (Mask >= 0) all = all && lane_of<Mask>(f, u * shape::width + j);
    }
    if constexpr (Frame::tiling::template stages<I>) {
      t.staging.template write<I, T>(raw, u);
    } else if (shape::in_shifted_row && !t.ok[u]) {
#pragma unroll
      for (int j = 0; j < shape::width; ++j)
        if (t.lane_ok(u, j)) base[memory::offset(j, t, u, args.sizes)] = raw[j];
    } else if constexpr (beside) {
      if (early && t.staging.whole()) {
        wide<T, shape::width>::template write<false>(to, raw);
      } else {
#pragma unroll
        for (int j = 0; j < shape::width; ++j)
          if (t.staging.has(j)) (early ? to + j : base + memory::offset(j, t, u, args.sizes))[0] = raw[j];
      }
    } else if (all && shape::stays_aligned) {
      if constexpr (early) wide<T, shape::width>::template write<false>(to, raw);
      else memory::write(base, raw, t, u, args.sizes);
    } else if constexpr ((Mask >= 0 || !shape::stays_aligned) && shape::width > 1) {
#pragma unroll
      for (int j = 0; j < shape::width; ++j) {
        bool on = true;
        if constexpr (Mask >= 0) on = lane_of<Mask>(f, u * shape::width + j);
        if (on) base[memory::offset(j, t, u, args.sizes)] = raw[j];
      }
    }
  }
};

template <int Slot, class T, int A, class At, int Index, long Coef, long Bound, int Mask>
struct run_statement<scatter_store<Slot, T, A, At, Index, Coef, Bound, Mask>> {
  template <int I, class Frame, class Args>
  static __device__ __forceinline__ void run(Frame& f, const tile<typename Frame::tiling>& t, const Args& args, int u,
                                             bool row_writer) {
    using shape = lane_shape<I, Frame>;
    using memory = typename shape::template memory<T, At>;
    if (!writes_item<I, Frame>(u, t, row_writer)) return;
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
    T raw[shape::width];
#pragma unroll
    for (int j = 0; j < shape::width; ++j) raw[j] = narrow<T>(lane_of<A>(f, u * shape::width + j));
    if constexpr (shape::by_rows && Mask < 0) {
      const std::int64_t row = row_of(u * shape::width);
      if (row >= 0) memory::write(base + row * coef, raw, t, u, args.sizes);
    } else {
#pragma unroll
      for (int j = 0; j < shape::width; ++j) {
        const std::int64_t row = row_of(u * shape::width + j);
        if (row >= 0) base[memory::offset(j, t, u, args.sizes) + row * coef] = raw[j];
      }
    }
  }
};

/// Reductions accumulate in the kernel.
template <class Op, class T, class Result, int A>
struct run_statement<reduce<Op, T, Result, A>> {
  template <int I, class Frame, class Args>
  static __device__ __forceinline__ void run(Frame&, const tile<typename Frame::tiling>&, const Args&, int, bool) {}
};

}  // namespace sinter::cuda::detail
