// Neighbours in memory that may begin anywhere, read in aligned words and shifted into place once they are here.
// Which words may be read is loose.hpp's matter. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/loose.hpp"
#include "sinter/kernels/cuda/memory.cuh"

namespace sinter::cuda::detail {

/// How far p lies past a multiple of Unit, a power of two.
template <int Unit>
__device__ __forceinline__ unsigned bytes_past(const void* p) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(p)) & (Unit - 1);
}

/// Count neighbours of type T, in words of Unit bytes at most.
template <class T, int Count, int Unit = 16>
class loose_words {
 public:
  static constexpr int bytes = Count * static_cast<int>(sizeof(T));
  static constexpr int unit_bytes = (bytes & -bytes) < Unit ? bytes & -bytes : Unit;
  using unit = typename word<unit_bytes>::type;
  static_assert(unit_bytes >= 4);

  /// Do all words that fetch(p) reads lie in `range`?
  static __device__ __forceinline__ bool lie_in(const loose_range& range, const T* p) {
    const auto address = reinterpret_cast<std::uintptr_t>(p);
    const auto first = address & ~std::uintptr_t(unit_bytes - 1);
    return first >= range.first && ((address + bytes + unit_bytes - 1) & ~std::uintptr_t(unit_bytes - 1)) <= range.end;
  }

  /// Sends for the words around p. The last is the one before it, where no other is needed.
  __device__ __forceinline__ void fetch(const T* p) { fetch(p, bytes_past<unit_bytes>(p)); }
  /// `shift`: bytes from an aligned word to p. The compiler may know part of it.
  __device__ __forceinline__ void fetch(const T* p, unsigned shift) {
    shift_ = shift;
    // Not by way of the address: the compiler would forget that it is one of global memory.
    const unit* from = reinterpret_cast<const unit*>(reinterpret_cast<const char*>(p) - shift_);
    constexpr int last = bytes / unit_bytes;
#pragma unroll
    for (int k = 0; k <= last; ++k) {
      const unit raw = from[k < last ? k : shift_ == 0 ? last - 1 : last];
      memcpy(words_ + k * (unit_bytes / 4), &raw, unit_bytes);
    }
  }

  /// Word by word, then inside of the words. Halves: by which of them values of 16 bits are shifted the compiler mostly
  /// knows; they are taken from where they are.
  template <bool Halves = false>
  __device__ __forceinline__ void read(compute_t<T> (&out)[Count]) {
    if constexpr (unit_bytes > 8) move_down<2>((shift_ & 8) != 0);
    if constexpr (unit_bytes > 4 && sizeof(T) <= 4) move_down<1>((shift_ & 4) != 0);
    if constexpr (Halves && sizeof(T) == 2) {
      compute_t<T> all[2 * (bytes / 4 + 1)];
#pragma unroll
      for (int i = 0; i <= bytes / 4; ++i) {
        asm("" : "+r"(words_[i]));  // one word: its halves are not loaded one by one
        compute_t<T> both[2];
        wide<T, 2>::unpack(both, words_ + i);
        all[2 * i] = both[0], all[2 * i + 1] = both[1];
      }
#pragma unroll
      for (int i = 0; i < Count; ++i) out[i] = (shift_ & 2) != 0 ? all[i + 1] : all[i];
      return;
    }
    if constexpr (sizeof(T) < 4) {
#pragma unroll
      for (int i = 0; i < bytes / 4; ++i) words_[i] = __funnelshift_r(words_[i], words_[i + 1], shift_ % 4 * 8);
    }
    wide<T, Count>::unpack(out, words_);
  }

 private:
  static constexpr int num_words = (bytes + unit_bytes) / 4;
  template <int By>
  __device__ __forceinline__ void move_down(bool wanted) {
#pragma unroll
    for (int i = 0; i + By < num_words; ++i) words_[i] = wanted ? words_[i + By] : words_[i];
  }

  unsigned words_[num_words];
  unsigned shift_;
};

}  // namespace sinter::cuda::detail
