// Offsets and memory accesses of one body statement: element offsets from index expressions, 16-byte loads and stores,
// lane-by-lane ones where the access is strided or irregular. Which kind it is was decided in access.hpp.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <utility>

#include "sinter/kernels/cuda/access.hpp"

namespace sinter::cuda::detail {

/// u / N, N a body's number; `sizes` may know a faster way.
template <long N, class Wide, class Sizes>
__device__ __forceinline__ Wide quotient_by(Wide u, const Sizes& sizes) {
  if constexpr (sizeof(Wide) == 4 && requires { sizes.template quotient<N>(u); }) return sizes.template quotient<N>(u);
  else return u / static_cast<Wide>(sinter::detail::resolve(N, sizes));
}
template <long N, class Wide, class Sizes>
__device__ __forceinline__ Wide rest_by(Wide u, const Sizes& sizes) {
  if constexpr (sizeof(Wide) == 4 && requires { sizes.template quotient<N>(u); })
    return u - sizes.template quotient<N>(u) * static_cast<Wide>(sinter::detail::resolve(N, sizes));
  else return u % static_cast<Wide>(sinter::detail::resolve(N, sizes));
}

/// The part of an offset that comes from the terms of one variable. The linear index may be 32 bits wide (divisions are
/// then cheap), the offset never is: strides times indices may pass 2^31 long before the index does.
template <class At>
struct offset_of;
template <long Offset, class... Terms>
struct offset_of<at<Offset, Terms...>> {
  template <class Term, class Index, class Sizes>
  static __device__ __forceinline__ std::int64_t term(Index i, const Sizes& sizes) {
    using t = term_facts<Term>;
    Index value = i;  // signed, so that neighbouring items are one address apart
    if constexpr (t::div != 1 || t::mod != 0) {
      using wide = std::conditional_t<sizeof(Index) == 8, std::uint64_t, std::uint32_t>;
      wide u = static_cast<wide>(i);  // never negative; unsigned division is cheaper
      if constexpr (t::div != 1) u = quotient_by<t::div>(u, sizes);
      if constexpr (t::mod != 0) u = rest_by<t::mod>(u, sizes);
      value = static_cast<Index>(u);
    }
    constexpr bool narrow_coef = !is_dynamic(t::coef) && t::coef > -(1L << 31) && t::coef < (1L << 31);
    if constexpr (t::coef == 1) return value;
    else if constexpr (narrow_coef)
      return static_cast<std::int64_t>(value) * static_cast<int>(t::coef);  // one wide multiplication
    else return static_cast<std::int64_t>(value) * sinter::detail::resolve(t::coef, sizes);
  }

  template <class Index, class Sizes>
  static __device__ __forceinline__ std::int64_t at_xr(Index x, Index r, const Sizes& sizes) {
    std::int64_t sum = sinter::detail::resolve(Offset, sizes);
    ((sum += term<Terms>(term_facts<Terms>::variable == loop_var::x ? x : r, sizes)), ...);
    return sum;
  }
};

template <int Bytes>
struct word;
template <>
struct word<1> {
  using type = unsigned char;
};
template <>
struct word<2> {
  using type = unsigned short;
};
template <>
struct word<4> {
  using type = unsigned;
};
template <>
struct word<8> {
  using type = uint2;
};
template <>
struct word<16> {
  using type = uint4;
};

/// Where not `on`, nothing is read, and it is whatever lies in the registers: they need not be cleared for values that
/// nobody uses. The compiler must not know that, or it may conclude that all are on.
template <class Unit>
__device__ __forceinline__ Unit load_unit_where(bool on, const Unit* p) {
  unsigned words[(sizeof(Unit) + 3) / 4];
  if (on) {
    const Unit there = *p;
    if constexpr (sizeof(Unit) < 4) words[0] = there;  // a load of a whole register
    else memcpy(words, &there, sizeof(Unit));
  }
#pragma unroll
  for (unsigned& w : words) asm("" : "+r"(w));
  if constexpr (sizeof(Unit) < 4) return static_cast<Unit>(words[0]);
  Unit v;
  memcpy(&v, words, sizeof(Unit));
  return v;
}

/// A store that stays one: in the middle of other code the compiler may take a plain one apart into words.
__device__ __forceinline__ void store_whole(uint4* p, const uint4& v) {
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(p)), "r"(v.x), "r"(v.y),
               "r"(v.z), "r"(v.w)
               : "memory");
}
template <class Unit>
__device__ __forceinline__ void store_whole(Unit* p, const Unit& v) {
  *p = v;
}

/// Width neighbours, the first aligned to their size, as far as that is a power of two, or to 16 bytes. Values are read
/// in compute type.
template <class T, int Width>
struct wide {
  static constexpr int bytes = Width * static_cast<int>(sizeof(T));
  static constexpr int chunk = (bytes & -bytes) < 16 ? bytes & -bytes : 16;
  static constexpr int per_chunk = chunk / static_cast<int>(sizeof(T));
  using unit = typename word<chunk>::type;

  static __device__ __forceinline__ void read(compute_t<T> (&out)[Width], const T* p) {
    T stored[Width];
    read_stored(stored, p);
    convert(out, stored);
  }
  static __device__ __forceinline__ void read_where(bool on, compute_t<T> (&out)[Width], const T* p) {
    if constexpr (bytes % 4 == 0) {
      unsigned words[bytes / 4];
#pragma unroll
      for (int c = 0; c < bytes / chunk; ++c) {
        const unit raw = load_unit_where(on, reinterpret_cast<const unit*>(p) + c);
        memcpy(words + c * (chunk / 4), &raw, chunk);
      }
      unpack(out, words);
    } else {
      T stored[Width];
#pragma unroll
      for (int c = 0; c < bytes / chunk; ++c) {
        const unit raw = load_unit_where(on, reinterpret_cast<const unit*>(p) + c);
        memcpy(&stored[c * per_chunk], &raw, chunk);
      }
      convert(out, stored);
    }
  }
  static __device__ __forceinline__ void convert(compute_t<T> (&out)[Width], const T (&stored)[Width]) {
    if constexpr (bytes % 4 == 0) {
      unsigned words[bytes / 4];
      memcpy(words, stored, bytes);
      unpack(out, words);
    } else {
#pragma unroll
      for (int j = 0; j < Width; ++j) out[j] = widen<T>(stored[j]);
    }
  }
  /// The values of what lies in memory.
  static __device__ __forceinline__ void unpack(compute_t<T> (&out)[Width], const unsigned* words) {
    if constexpr (std::is_same_v<T, bf16>) {
      // The upper half of a word is a float but for the lower bits: one operation, where shifting it out takes two.
#pragma unroll
      for (int k = 0; k < bytes / 4; ++k) {
        out[2 * k] = __uint_as_float(words[k] << 16);
        out[2 * k + 1] = __uint_as_float(words[k] & 0xffff0000u);
      }
    } else {
      T elements[Width];
      memcpy(elements, words, bytes);
#pragma unroll
      for (int j = 0; j < Width; ++j) out[j] = widen<T>(elements[j]);
    }
  }
  static __device__ __forceinline__ void read_stored(T (&out)[Width], const T* p) {
#pragma unroll
    for (int c = 0; c < bytes / chunk; ++c) {
      const unit raw = reinterpret_cast<const unit*>(p)[c];
      memcpy(&out[c * per_chunk], &raw, chunk);
    }
  }
  template <bool Whole>
  static __device__ __forceinline__ void write(T* p, const T (&in)[Width]) {
#pragma unroll
    for (int c = 0; c < bytes / chunk; ++c) {
      unit raw;
      memcpy(&raw, &in[c * per_chunk], chunk);
      if constexpr (Whole) store_whole(reinterpret_cast<unit*>(p) + c, raw);
      else reinterpret_cast<unit*>(p)[c] = raw;
    }
  }
};

/// The distance of two neighbours along v, if it is the same everywhere and known.
template <class At>
struct linear_step;
template <long Offset, class... Terms>
struct linear_step<at<Offset, Terms...>> {
  static constexpr int terms = sizeof...(Terms);
  SINTER_HOST_DEVICE static constexpr bool known([[maybe_unused]] loop_var v) {
    return ((term_facts<Terms>::variable != v ||
             (term_facts<Terms>::div == 1 && term_facts<Terms>::mod == 0 && !is_dynamic(term_facts<Terms>::coef))) &&
            ... && true);
  }
  SINTER_HOST_DEVICE static constexpr long of([[maybe_unused]] loop_var v) {
    return ((term_facts<Terms>::variable == v ? term_facts<Terms>::coef : 0) + ... + 0);
  }
  /// Does an offset take a division by a number that is known at run time only?
  static constexpr bool divides_by_size =
      ((is_dynamic(term_facts<Terms>::div) || is_dynamic(term_facts<Terms>::mod)) || ... || false);
  /// The same if it is known at run time only.
  SINTER_HOST_DEVICE static constexpr bool even([[maybe_unused]] loop_var v) {
    return ((term_facts<Terms>::variable != v || (term_facts<Terms>::div == 1 && term_facts<Terms>::mod == 0)) && ... &&
            true);
  }
  template <class Sizes>
  static __device__ __forceinline__ std::int64_t of([[maybe_unused]] loop_var v, const Sizes& sizes) {
    return ((term_facts<Terms>::variable == v ? sinter::detail::resolve(term_facts<Terms>::coef, sizes) : 0) + ... + 0);
  }
};
/// The offset of item u: where possible a constant from that of the first, so that they share an address.
template <class At, class Tile, class Sizes>
__device__ __forceinline__ std::int64_t item_offset(const Tile& t, int u, const Sizes& sizes) {
  constexpr bool known = linear_step<At>::known(Tile::tiling::item);
  if constexpr (known) {
    constexpr std::int64_t step = linear_step<At>::of(Tile::tiling::item);
    return offset_of<At>::at_xr(t.x(0), t.r(0), sizes) + static_cast<std::int64_t>(t.at[u] - t.at[0]) * step;
  } else if constexpr (Tile::tiling::even && Tile::tiling::items > 1 && linear_step<At>::even(Tile::tiling::item)) {
    const std::int64_t step = (t.at[1] - t.at[0]) * linear_step<At>::of(Tile::tiling::item, sizes);
    return offset_of<At>::at_xr(t.x(0), t.r(0), sizes) + u * step;
  } else {
    return offset_of<At>::at_xr(t.x(u), t.r(u), sizes);
  }
}

/// The offsets of neighbours along V, one after another: each term divides once, and counts from there.
template <int N, class Term, loop_var V, class Index>
class term_walk {
 public:
  template <class Sizes>
  __device__ __forceinline__ term_walk(Index i, const Sizes& sizes) {
    using wide = std::conditional_t<sizeof(Index) == 8, std::uint64_t, std::uint32_t>;
    wide u = static_cast<wide>(i);
    if constexpr (t::div != 1) {
      div_ = static_cast<Index>(sinter::detail::resolve(t::div, sizes));
      rest_ = static_cast<Index>(rest_by<t::div>(u, sizes));
      u = quotient_by<t::div>(u, sizes);
    }
    if constexpr (t::mod != 0) {
      mod_ = static_cast<Index>(sinter::detail::resolve(t::mod, sizes));
      u = rest_by<t::mod>(u, sizes);
    }
    value_ = static_cast<Index>(u);
  }
  __device__ __forceinline__ void step() {
    if constexpr (t::variable == V) {
      bool begins = true;
      if constexpr (t::div != 1) {
        begins = ++rest_ == div_;
        if (begins) rest_ = 0;
      }
      value_ += begins ? 1 : 0;
      if constexpr (t::mod != 0)
        if (value_ == mod_) value_ = 0;
    }
  }
  template <class Sizes>
  __device__ __forceinline__ std::int64_t offset(const Sizes& sizes) const {
    return offset_of<at<0, term<t::variable, 1, 0, t::coef>>>::at_xr(value_, value_, sizes);
  }

 private:
  using t = term_facts<Term>;
  Index div_ = 1, mod_ = 0, rest_ = 0, value_;
};
template <class At, loop_var V, class Index, class Numbers = std::make_index_sequence<linear_step<At>::terms>>
struct offset_walk;
template <long Offset, class... Terms, loop_var V, class Index, std::size_t... N>
struct offset_walk<at<Offset, Terms...>, V, Index, std::index_sequence<N...>>
    : term_walk<static_cast<int>(N), Terms, V, Index>... {
  template <class Sizes>
  __device__ __forceinline__ offset_walk([[maybe_unused]] Index x, [[maybe_unused]] Index r, const Sizes& sizes)
      : term_walk<static_cast<int>(N), Terms, V, Index>(term_facts<Terms>::variable == loop_var::x ? x : r, sizes)... {}
  __device__ __forceinline__ void step() { (term_walk<static_cast<int>(N), Terms, V, Index>::step(), ...); }
  template <class Sizes>
  __device__ __forceinline__ std::int64_t offset(const Sizes& sizes) const {
    return (sinter::detail::resolve(Offset, sizes) + ... +
            term_walk<static_cast<int>(N), Terms, V, Index>::offset(sizes));
  }
};

/// The Width neighbours along Vector that begin at (x, r). Extra is added to every offset (a gather's own part).
template <class T, class At, loop_var Vector, int Width, access Kind, long Step>
struct lanes_at {
  template <class Index>
  using walk = offset_walk<At, Vector, Index>;
  template <class Tile, class Sizes>
  static __device__ __forceinline__ std::int64_t offset(int lane, const Tile& t, int u, const Sizes& sizes) {
    if constexpr (Kind == access::irregular && !(Width == 1 && Tile::tiling::even)) {
      using index = typename Tile::index;
      return offset_of<At>::at_xr(static_cast<index>(Vector == loop_var::x ? t.x(u) + lane : t.x(u)),
                                  static_cast<index>(Vector == loop_var::r ? t.r(u) + lane : t.r(u)), sizes);
    } else {
      return item_offset<At>(t, u, sizes) + lane * Step;
    }
  }

  template <class Tile, class Sizes>
  static __device__ __forceinline__ T element(const T* base, int lane, const Tile& t, int u, const Sizes& sizes) {
    T value[1];
    wide<T, 1>::read_stored(value, base + offset(lane, t, u, sizes));
    return value[0];
  }
  /// Of a lane that may lie beside the numel columns.
  template <class Tile, class Sizes>
  static __device__ __forceinline__ compute_t<T> nearest(const T* base, int lane, const Tile& t, int u,
                                                         std::int64_t numel, const Sizes& sizes) {
    using index = typename Tile::index;
    Tile there = t;
    const index x = t.fixed + lane, last = static_cast<index>(numel - 1);
    there.fixed = x < 0 ? 0 : x < last ? x : last;
    return widen<T>(element(base, 0, there, u, sizes));
  }
  template <class Tile, class Sizes>
  static __device__ __forceinline__ void read(compute_t<T> (&out)[Width], const T* base, const Tile& t, int u,
                                              const Sizes& sizes) {
    if constexpr (Kind == access::contiguous) {
      wide<T, Width>::read(out, base + offset(0, t, u, sizes));
    } else if constexpr (Kind == access::uniform) {
      const compute_t<T> value = widen<T>(element(base, 0, t, u, sizes));
#pragma unroll
      for (int j = 0; j < Width; ++j) out[j] = value;
    } else if constexpr (Kind == access::irregular && Width > 1) {
      walk<typename Tile::index> along(t.x(u), t.r(u), sizes);
#pragma unroll
      for (int j = 0; j < Width; ++j) {
        T value[1];
        wide<T, 1>::read_stored(value, base + along.offset(sizes));
        out[j] = widen<T>(value[0]);
        along.step();
      }
    } else {
      if constexpr (Tile::tiling::aligns && Kind == access::strided && Step == 1)
        if (t.staging.shared_aligned) return wide<T, Width>::read(out, base + offset(0, t, u, sizes));
#pragma unroll
      for (int j = 0; j < Width; ++j) out[j] = widen<T>(element(base, j, t, u, sizes));
    }
  }
  /// The elements as they lie in memory.
  template <class Tile, class Sizes>
  static __device__ __forceinline__ void read_stored(T (&out)[Width], const T* base, const Tile& t, int u,
                                                     const Sizes& sizes) {
    if constexpr (Kind == access::contiguous) {
      wide<T, Width>::read_stored(out, base + offset(0, t, u, sizes));
    } else {
#pragma unroll
      for (int j = 0; j < Width; ++j) out[j] = element(base, j, t, u, sizes);
    }
  }
  template <class Tile, class Sizes>
  static __device__ __forceinline__ void write(T* base, const T (&in)[Width], const Tile& t, int u,
                                               const Sizes& sizes) {
    if constexpr (Kind == access::contiguous) {
      wide<T, Width>::template write<Tile::tiling::loose || Tile::tiling::unsplit>(base + offset(0, t, u, sizes), in);
    } else if constexpr (Kind == access::irregular && Width > 1) {
      walk<typename Tile::index> along(t.x(u), t.r(u), sizes);
#pragma unroll
      for (int j = 0; j < Width; ++j) {
        base[along.offset(sizes)] = in[j];
        along.step();
      }
    } else {
#pragma unroll
      for (int j = 0; j < Width; ++j) base[offset(j, t, u, sizes)] = in[j];
    }
  }
};

}  // namespace sinter::cuda::detail
