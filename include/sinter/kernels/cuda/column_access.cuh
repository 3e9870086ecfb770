// Accesses to neighbouring columns, whose rows copies move: where they begin, how far they are apart, and how many
// columns adjoin. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <utility>

#include "sinter/kernels/cuda/memory.cuh"

namespace sinter::cuda::detail {

/// Of an index expression offset + x % inner + x / inner * apart + r * pitch: `offset`, `inner` (0: all columns
/// adjoin), `apart` and `pitch`; otherwise it is not `plain`.
template <class At>
struct column_place;
template <long Offset, class... Terms>
struct column_place<at<Offset, Terms...>> {
  struct table {
    bool plain = true;
    long offset = Offset, inner = 0, apart = 0, pitch = 0;
  };
  static constexpr table facts = [] {
    table t{};
    int near = 0, far = 0, rows = 0;
    long divisor = 0;
    [[maybe_unused]] const auto add = [&]<class Term>(Term) {
      using f = term_facts<Term>;
      if (f::variable == loop_var::r) {
        ++rows, t.pitch = f::coef;
        t.plain = t.plain && f::div == 1 && f::mod == 0;
      } else if (f::div == 1) {
        ++near, t.inner = f::mod;
        t.plain = t.plain && f::coef == 1;
      } else {
        ++far, t.apart = f::coef, divisor = f::div;
        t.plain = t.plain && f::mod == 0;
      }
    };
    (add(Terms{}), ...);
    t.plain = t.plain && near == 1 && rows == 1 && (far == 0 || (far == 1 && divisor == t.inner));
    return t;
  }();
};

/// In bytes: where the first row of an access begins, how far rows are apart, and columns that do not adjoin.
struct column_bytes {
  std::int64_t first = 0, pitch = 0, apart = 0;
  /// Do all rows of both lie alike in so many bytes?
  bool is_like(const column_bytes& other, int unit) const {
    return (first - other.first) % unit == 0 && (pitch - other.pitch) % unit == 0 && (apart - other.apart) % unit == 0;
  }
};
/// A load or a store of neighbouring columns: one whose index is such an expression.
template <class S>
struct column_access {
  static constexpr bool is_store = false;
  static constexpr long offset = 0, inner = 0, pitch = 0, apart = 0;
  static constexpr int bytes_of(int) { return 0; }
  template <class Args>
  static column_bytes find(const Args&) {
    return {};
  }
  template <int, class Args>
  static bool agrees(const Args&, std::int64_t&) {
    return true;
  }
  template <int, class Args>
  static bool is_aligned(const Args&, int) {
    return true;
  }
};
template <int Slot, class T, class At>
struct column_access<load<Slot, T, At, -1>> {
  static constexpr auto place = column_place<At>::facts;
  static constexpr bool is_store = false;
  static constexpr long offset = place.offset, inner = place.inner, pitch = place.pitch, apart = place.apart;
  /// Of an element, if `width` of them are a vector; otherwise 0.
  static constexpr int bytes_of(int width) {
    return place.plain && at_pattern<At>::of(loop_var::x, width).kind == access::contiguous
               ? static_cast<int>(sizeof(T))
               : 0;
  }
  template <class Args>
  static column_bytes find(const Args& args) {
    const auto bytes = [&](long n) {
      return sinter::detail::resolve(n, args.sizes) * static_cast<std::int64_t>(sizeof(T));
    };
    const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(args.pointers[Slot]));
    return {address + bytes(place.offset), bytes(place.pitch), bytes(place.apart)};
  }
  /// Do its columns adjoin as those of the other accesses, whose `inner` it may set, and do rows ascend?
  template <int Width, class Args>
  static bool agrees(const Args& args, std::int64_t& inner) {
    if constexpr (bytes_of(Width) == 0) {
      return true;
    } else {
      const auto number = [&](long n) { return sinter::detail::resolve(n, args.sizes); };
      const std::int64_t own = place.inner == 0 ? args.numel : number(place.inner);
      if (place.inner != 0 && inner != args.numel && inner != own) return false;
      if (own < inner) inner = own;
      const auto address = reinterpret_cast<std::uintptr_t>(args.pointers[Slot]);
      return address % sizeof(T) == 0 && number(place.pitch) > 0 && number(place.apart) >= 0;
    }
  }
  /// Do its rows begin at multiples of so many bytes?
  template <int Width, class Args>
  static bool is_aligned(const Args& args, int unit) {
    return bytes_of(Width) == 0 || find(args).is_like({}, unit);
  }
};
template <int Slot, class T, int A, class At>
struct column_access<store<Slot, T, A, At, -1>> : column_access<load<Slot, T, At, -1>> {
  static constexpr bool is_store = true;
};

/// All such accesses of a body.
template <class Body>
struct columns_of_body;
template <class... S>
struct columns_of_body<body<S...>> {
  /// How many columns adjoin in all of them; 0: that differs, or rows do not ascend.
  template <class Args>
  static std::int64_t inner(const Args& args) {
    std::int64_t inner = args.numel;
    return (column_access<S>::template agrees<1>(args, inner) && ...) ? inner : 0;
  }
  /// Do all rows begin at multiples of so many bytes?
  template <class Args>
  static bool is_aligned(const Args& args, int unit) {
    return (column_access<S>::template is_aligned<1>(args, unit) && ...);
  }
};

/// Where the rows of such an access lie in memory, and how many bytes they are apart.
template <class S>
struct column_rows_of;
template <int Slot, class T, class At>
struct column_rows_of<load<Slot, T, At, -1>> {
  using type = T;
  static constexpr int size = static_cast<int>(sizeof(T));
  template <class Args>
  static __device__ __forceinline__ unsigned char* in_memory(const Args& args, int x, int r) {
    return reinterpret_cast<unsigned char*>(static_cast<T*>(args.pointers[Slot]) +
                                            offset_of<At>::at_xr(x, r, args.sizes));
  }
  template <class Args>
  static __device__ __forceinline__ std::int64_t apart(const Args& args) {
    return sinter::detail::resolve(column_place<At>::facts.pitch, args.sizes) * static_cast<std::int64_t>(sizeof(T));
  }
};
template <int Slot, class T, int A, class At>
struct column_rows_of<store<Slot, T, A, At, -1>> : column_rows_of<load<Slot, T, At, -1>> {};

/// A thread's column in several rows that lie in shared memory, of each load and what replaces it.
template <class Facts>
struct items_of_column {
  unsigned at[Facts::loads]{};  // of the first item
  int step[Facts::loads]{};     // bytes from item to item

  template <int I>
  __device__ __forceinline__ unsigned address(int u) const {
    constexpr int k = Facts::template number<I>;
    return at[k] + static_cast<unsigned>(u * step[k]);
  }
  template <int I, class T>
  __device__ __forceinline__ void write(const T (&in)[1], int u) const {
    *static_cast<T*>(__cvta_shared_to_generic(address<I>(u))) = in[0];
  }
  __device__ __forceinline__ void advance(int items) {
#pragma unroll
    for (int k = 0; k < Facts::loads; ++k) at[k] += static_cast<unsigned>(items * step[k]);
  }
};

/// Calls f(std::integral_constant<int, I>) for each load, or each store, I that passes through shared memory.
template <class Facts, bool Stores, class F, std::size_t... I>
__device__ __forceinline__ void each_column_access(const F& f, std::index_sequence<I...>) {
  const auto call = [&]<int J>(std::integral_constant<int, J> number) {
    if constexpr (Facts::template stages<J> && Facts::stores[J] == Stores) f(number);
  };
  (call(std::integral_constant<int, static_cast<int>(I)>{}), ...);
}
template <class Facts, bool Stores, class F>
__device__ __forceinline__ void each_column_access(const F& f) {
  each_column_access<Facts, Stores>(f, std::make_index_sequence<Facts::size>{});
}

}  // namespace sinter::cuda::detail
