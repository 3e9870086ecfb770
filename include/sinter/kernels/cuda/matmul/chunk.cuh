// Evaluates a body on a chunk: `Width` neighbours along one index variable, in registers. Loads that depend on nothing
// can be fetched first and used later, which is how a matmul's prologue overlaps its memory with the multiplications.
// Which chunks exist, and what becomes of the values, is the matmul's matter; how a chunk lies in memory
// chunk_access.hpp's. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "sinter/kernels/body.hpp"
#include "sinter/kernels/cuda/fast_math.cuh"
#include "sinter/kernels/cuda/matmul/chunk_access.hpp"
#include "sinter/kernels/cuda/matmul/words.cuh"

namespace sinter::cuda::mm {

using sinter::detail::statement_facts;
using sinter::detail::statement_kind;

/// The values of statement I; void values take no room.
template <int I, class T, int Lanes>
struct slot {
  T v[Lanes];
};
template <int I, int Lanes>
struct slot<I, void, Lanes> {};
template <class... Slots>
struct slots : Slots... {};

template <int I, class T, int Lanes>
__device__ __forceinline__ T (&values_of(slot<I, T, Lanes>& s))[Lanes] {
  return s.v;
}
template <int I, class T, int Lanes>
__device__ __forceinline__ T lane(const slot<I, T, Lanes>& s, int e) {
  return s.v[Lanes == 1 ? 0 : e];
}

/// How many lanes each statement has: one where the value is the same for the whole chunk.
template <class Body, int Width, loop_var Along>
struct lane_facts {
  static constexpr bool reads(const sinter::detail::statement_info& info) {
    return Along == loop_var::x ? info.reads_x : info.reads_r;
  }
  struct table {
    int lanes[Body::size + 1]{};
  };
  static constexpr table facts = [] {
    table t{};
    for (int s = 0; s < Body::size; ++s) {
      const auto& info = body_facts<Body>::facts.info[s];
      bool uniform = !reads(info);
      for (int operand : info.operands)
        if (operand >= 0) uniform = uniform && t.lanes[operand] == 1;
      if (info.kind == statement_kind::reduce) uniform = Along == loop_var::r;
      t.lanes[s] = uniform ? 1 : Width;
    }
    return t;
  }();
};

/// What is fetched before it is used: unmasked loads.
template <class S>
struct early_load {
  using type = void;
};
template <int Slot, class T, class At>
struct early_load<load<Slot, T, At, -1>> {
  using type = T;
};

/// The part of a launch that a chunk needs. X and r are those of its first element; elements past `valid` do not exist:
/// their loads give zero, their stores nothing.
template <class Args>
struct place {
  const Args& args;
  const chunk_access* accesses;
  std::int64_t x, r;
  int valid;

  template <int Memory, class At>
  __device__ __forceinline__ std::int64_t offset() const {
    return offset_of<At>::at_xr(x, r, args.sizes);
  }
};

template <class Body, int Width, loop_var Along>
struct chunk;
template <class... S, int Width, loop_var Along>
struct chunk<body<S...>, Width, Along> {
  using body_type = body<S...>;
  static constexpr int width = Width;
  template <int I>
  static constexpr int lanes = lane_facts<body_type, Width, Along>::facts.lanes[I];
  template <int I>  // its own index expression runs along the chunk
  static constexpr bool moves = lane_facts<body_type, Width, Along>::reads(body_facts<body_type>::facts.info[I]);
  template <int I>
  static constexpr int memory = memory_facts<body_type>::number_of(I);

  template <class Indices>
  struct storage;
  template <std::size_t... I>
  struct storage<std::index_sequence<I...>> {
    using values = slots<slot<static_cast<int>(I), typename statement_facts<S>::value_type, lanes<I>>...>;
    using fetched = slots<slot<static_cast<int>(I), typename early_load<S>::type, lanes<I>>...>;
  };
  using indices = std::make_index_sequence<sizeof...(S)>;
  using values = typename storage<indices>::values;
  using fetched = typename storage<indices>::fetched;

  /// Issues the loads that Which::select names and that depend on nothing.
  template <class Which, class Place>
  static __device__ __forceinline__ void fetch(fetched& raw, const Place& at) {
    fetch_each<Which>(raw, at, indices{});
  }
  /// Evaluates what Which::select names, in order, from fetched loads. Sources: what accumulators read.
  template <class Which, class Place, class Sources>
  static __device__ __forceinline__ void evaluate(values& v, const fetched& raw, const Place& at,
                                                  const Sources& sources) {
    evaluate_each<Which>(v, raw, at, sources, indices{});
  }
  template <class Which, class Place>
  static __device__ __forceinline__ void fetch_and_evaluate(values& v, const Place& at) {
    fetched raw;
    fetch<Which>(raw, at);
    evaluate<Which>(v, raw, at, 0);
  }

 private:
  template <class Which, class Place, std::size_t... I>
  static __device__ __forceinline__ void fetch_each(fetched& raw, const Place& at, std::index_sequence<I...>) {
    (fetch_if<Which::template select<I>, static_cast<int>(I)>(S{}, raw, at), ...);
  }
  template <class Which, class Place, class Sources, std::size_t... I>
  static __device__ __forceinline__ void evaluate_each(values& v, const fetched& raw, const Place& at,
                                                       const Sources& sources, std::index_sequence<I...>) {
    (run_if<Which::template select<I>, static_cast<int>(I)>(S{}, v, raw, at, sources), ...);
  }
  template <bool Wanted, int I, class Statement, class Place>
  static __device__ __forceinline__ void fetch_if(Statement s, fetched& raw, const Place& at) {
    if constexpr (Wanted && !std::is_void_v<typename early_load<Statement>::type>) read<I>(s, values_of<I>(raw), at);
  }
  template <bool Wanted, int I, class Statement, class Place, class Sources>
  static __device__ __forceinline__ void run_if(Statement s, values& v, const fetched& raw, const Place& at,
                                                const Sources& sources) {
    if constexpr (Wanted) run<I>(s, v, raw, at, sources);
  }

  // Distance of element e from the first, without irregular chunks, which are evaluated with Width 1.
  template <int I, class Place>
  static __device__ __forceinline__ std::int64_t distance(int e, const Place& at) {
    if constexpr (lanes<I> == 1) return 0;
    else return e * at.accesses[memory<I>].step;
  }
  template <int I, class Place>
  static __device__ __forceinline__ bool is_vector(const Place& at) {
    if constexpr (lanes<I> == 1) return false;
    else return at.accesses[memory<I>].kind == chunk_kind::vector && at.valid == Width;
  }
  template <int I>
  static __device__ __forceinline__ bool exists(int e, int valid) {
    return lanes<I> == 1 ? valid > 0 : e < valid;
  }

  template <int I, int Slot, class T, class At, int Lanes, class Place>
  static __device__ __forceinline__ void read(load<Slot, T, At, -1>, T (&raw)[Lanes], const Place& at) {
    const T* p = static_cast<const T*>(at.args.pointers[Slot]) + at.template offset<memory<I>, At>();
    if (is_vector<I>(at)) {
      words<T, Lanes>::read(raw, p);
    } else {
#pragma unroll
      for (int e = 0; e < Lanes; ++e) raw[e] = exists<I>(e, at.valid) ? p[distance<I>(e, at)] : T{};
    }
  }

  template <int I, int Slot, class T, class At, class Place, class Sources>
  static __device__ __forceinline__ void run(load<Slot, T, At, -1>, values& v, const fetched& raw, const Place&,
                                             const Sources&) {
#pragma unroll
    for (int e = 0; e < lanes<I>; ++e) values_of<I>(v)[e] = widen<T>(lane<I>(raw, e));
  }

  template <int I, int Slot, class T, class At, int Mask, class Place, class Sources>
  static __device__ __forceinline__ void run(load<Slot, T, At, Mask>, values& v, const fetched&, const Place& at,
                                             const Sources&) {
    const T* p = static_cast<const T*>(at.args.pointers[Slot]) + at.template offset<memory<I>, At>();
#pragma unroll
    for (int e = 0; e < lanes<I>; ++e) {
      const bool wanted = exists<I>(e, at.valid) && lane<Mask>(v, e);
      values_of<I>(v)[e] = widen<T>(wanted ? p[distance<I>(e, at)] : T{});
    }
  }

  template <int I, int Slot, class T, class At, int Index, long Coef, long Bound, int Mask, class Place, class Sources>
  static __device__ __forceinline__ void run(gather_load<Slot, T, At, Index, Coef, Bound, Mask>, values& v,
                                             const fetched&, const Place& at, const Sources&) {
    const T* p = static_cast<const T*>(at.args.pointers[Slot]);
    const std::int64_t start = at.template offset<memory<I>, At>();
    const std::int64_t coef = sinter::detail::resolve(Coef, at.args.sizes);
    const std::int64_t bound = sinter::detail::resolve(Bound, at.args.sizes);
#pragma unroll
    for (int e = 0; e < lanes<I>; ++e) {
      bool wanted = exists<I>(e, at.valid);
      if constexpr (Mask >= 0) wanted = wanted && lane<Mask>(v, e);
      std::int64_t index = static_cast<std::int64_t>(lane<Index>(v, e));
      if (index < 0) index += bound;
      std::int64_t moved = start + coef * index;
      if constexpr (moves<I>) moved += distance<I>(e, at);
      values_of<I>(v)[e] = widen<T>(wanted ? p[moved] : T{});
    }
  }

  template <int I, int Slot, class T, class Place, class Sources>
  static __device__ __forceinline__ void run(scalar<Slot, T>, values& v, const fetched&, const Place& at,
                                             const Sources&) {
    const scalar_value s = at.args.scalars[Slot];
    if constexpr (std::is_floating_point_v<compute_t<T>>) values_of<I>(v)[0] = static_cast<compute_t<T>>(s.d);
    else values_of<I>(v)[0] = static_cast<compute_t<T>>(s.i);
  }

  template <int I, class T, long Bits, class Place, class Sources>
  static __device__ __forceinline__ void run(constant<T, Bits>, values& v, const fetched&, const Place&,
                                             const Sources&) {
    if constexpr (std::is_floating_point_v<compute_t<T>>) {
      constexpr auto value = static_cast<compute_t<T>>(__builtin_bit_cast(double, Bits));
      values_of<I>(v)[0] = value;
    } else {
      values_of<I>(v)[0] = static_cast<compute_t<T>>(Bits);
    }
  }

  template <class At, class Place>
  static __device__ __forceinline__ std::int64_t index_at(int e, const Place& at) {
    return offset_of<At>::at_xr(Along == loop_var::x ? at.x + e : at.x, Along == loop_var::r ? at.r + e : at.r,
                                at.args.sizes);
  }
  template <int I, class At, class Place, class Sources>
  static __device__ __forceinline__ void run(index_value<At>, values& v, const fetched&, const Place& at,
                                             const Sources&) {
#pragma unroll
    for (int e = 0; e < lanes<I>; ++e) values_of<I>(v)[e] = index_at<At>(e, at);
  }
  template <int I, class At, long Low, long High, class Place, class Sources>
  static __device__ __forceinline__ void run(inside<At, Low, High>, values& v, const fetched&, const Place& at,
                                             const Sources&) {
    const std::int64_t low = sinter::detail::resolve(Low, at.args.sizes),
                       high = sinter::detail::resolve(High, at.args.sizes);
#pragma unroll
    for (int e = 0; e < lanes<I>; ++e) {
      const std::int64_t i = index_at<At>(e, at);
      values_of<I>(v)[e] = low <= i && i < high;
    }
  }

  template <int I, class Op, class T, class Result, int A, int B, int C, class Place, class Sources>
  static __device__ __forceinline__ void run(compute<Op, T, Result, A, B, C>, values& v, const fetched&, const Place&,
                                             const Sources&) {
#pragma unroll
    for (int e = 0; e < lanes<I>; ++e) {
      using R = compute_t<Result>;
      using F = typename detail::function_of<Op, T>::type;
      if constexpr (C >= 0) values_of<I>(v)[e] = static_cast<R>(F::apply(lane<A>(v, e), lane<B>(v, e), lane<C>(v, e)));
      else if constexpr (B >= 0) values_of<I>(v)[e] = static_cast<R>(F::apply(lane<A>(v, e), lane<B>(v, e)));
      else values_of<I>(v)[e] = static_cast<R>(F::apply(lane<A>(v, e)));
    }
  }
  template <int I, class From, class To, int A, class Place, class Sources>
  static __device__ __forceinline__ void run(cast_to<From, To, A>, values& v, const fetched&, const Place&,
                                             const Sources&) {
#pragma unroll
    for (int e = 0; e < lanes<I>; ++e) values_of<I>(v)[e] = widen<To>(narrow<To>(convert<To, From>(lane<A>(v, e))));
  }
  template <int I, class From, class To, int A, class Place, class Sources>
  static __device__ __forceinline__ void run(widen_to<From, To, A>, values& v, const fetched&, const Place&,
                                             const Sources&) {
#pragma unroll
    for (int e = 0; e < lanes<I>; ++e) values_of<I>(v)[e] = convert<To, From>(lane<A>(v, e));
  }

  template <int I, int Which, class T, class Place, class Sources>
  static __device__ __forceinline__ void run(accumulator<Which, T>, values& v, const fetched&, const Place&,
                                             const Sources& sources) {
    sources.template read<Which, T>(values_of<I>(v));
  }

  template <int I, int Slot, class T, int A, class At, int Mask, class Place, class Sources>
  static __device__ __forceinline__ void run(store<Slot, T, A, At, Mask>, values& v, const fetched&, const Place& at,
                                             const Sources&) {
    T* p = static_cast<T*>(at.args.pointers[Slot]) + at.template offset<memory<I>, At>();
    T raw[Width];
    bool wanted[Width], all = true;
#pragma unroll
    for (int e = 0; e < Width; ++e) {
      raw[e] = narrow<T>(static_cast<compute_t<T>>(lane<A>(v, e)));
      wanted[e] = e < at.valid;
      if constexpr (Mask >= 0) wanted[e] = wanted[e] && lane<Mask>(v, e);
      all = all && wanted[e];
    }
    // A store is one element per position, also where its value is uniform.
    if constexpr (Width > 1) {
      if (all && at.accesses[memory<I>].kind == chunk_kind::vector) return words<T, Width>::write(p, raw);
    }
#pragma unroll
    for (int e = 0; e < Width; ++e)
      if (wanted[e]) p[Width == 1 ? 0 : e * at.accesses[memory<I>].step] = raw[e];
  }

  template <int I, int Slot, class T, int A, class At, int Index, long Coef, long Bound, int Mask, class Place,
            class Sources>
  static __device__ __forceinline__ void run(scatter_store<Slot, T, A, At, Index, Coef, Bound, Mask>, values& v,
                                             const fetched&, const Place& at, const Sources&) {
    T* p = static_cast<T*>(at.args.pointers[Slot]) + at.template offset<memory<I>, At>();
    const std::int64_t coef = sinter::detail::resolve(Coef, at.args.sizes);
    const std::int64_t bound = sinter::detail::resolve(Bound, at.args.sizes);
#pragma unroll
    for (int e = 0; e < Width; ++e) {
      std::int64_t row = static_cast<std::int64_t>(lane<Index>(v, e));
      if (row < 0) row += bound;
      bool wanted = e < at.valid && row >= 0 && row < bound;
      if constexpr (Mask >= 0) wanted = wanted && lane<Mask>(v, e);
      if (wanted)
        p[coef * row + (Width == 1 ? 0 : e * at.accesses[memory<I>].step)] =
            narrow<T>(static_cast<compute_t<T>>(lane<A>(v, e)));
    }
  }

  /// Reductions accumulate in the caller; what a matmul takes it reads from the values.
  template <int I, class Op, class T, class Result, int A, class Place, class Sources>
  static __device__ __forceinline__ void run(reduce<Op, T, Result, A>, values&, const fetched&, const Place&,
                                             const Sources&) {}
  template <int I, class T, int A, class Place, class Sources>
  static __device__ __forceinline__ void run(yield_value<T, A>, values& v, const fetched&, const Place&,
                                             const Sources&) {
#pragma unroll
    for (int e = 0; e < lanes<I>; ++e) values_of<I>(v)[e] = lane<A>(v, e);
  }
};

}  // namespace sinter::cuda::mm
