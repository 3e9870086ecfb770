// Values that pass between threads: from lane to lane of a warp, word by word, and from block to block through memory.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <cstring>

namespace sinter::cuda::detail {

inline constexpr unsigned all_lanes = 0xffffffffu;

template <class T>
struct words_of {
  static constexpr int count = (static_cast<int>(sizeof(T)) + 3) / 4;
  unsigned w[count];
  __device__ __forceinline__ explicit words_of(const T& value) {
    w[count - 1] = 0;
    memcpy(w, &value, sizeof(T));
  }
  __device__ __forceinline__ T value() const {
    T v;
    memcpy(&v, w, sizeof(T));
    return v;
  }
};

template <class T>
__device__ __forceinline__ T from_lane_xor(const T& value, int offset) {
  words_of<T> words(value);
#pragma unroll
  for (unsigned& w : words.w) w = __shfl_xor_sync(all_lanes, w, offset);
  return words.value();
}

/// One of two values, word by word: of two addresses to choose from, both values would have to lie in memory.
template <class T>
__device__ __forceinline__ T either(bool first, const T& a, const T& b) {
  words_of<T> chosen(a);
  const words_of<T> other(b);
#pragma unroll
  for (int i = 0; i < words_of<T>::count; ++i) chosen.w[i] = first ? chosen.w[i] : other.w[i];
  return chosen.value();
}

/// The value of lane 0 of each group of `lanes`.
template <class T>
__device__ __forceinline__ T from_first_lane(const T& value, int lanes) {
  words_of<T> words(value);
#pragma unroll
  for (unsigned& w : words.w) w = __shfl_sync(all_lanes, w, 0, lanes);
  return words.value();
}

/// Neighbouring columns' states, which memory gives and takes as one.
template <class State, int Count>
struct alignas(Count * sizeof(State) % 16 == 0 ? 16 : alignof(State)) state_group {
  State states[Count];
};

/// Reads what another block wrote: past the L1 cache, which nobody invalidates.
template <class T>
__device__ __forceinline__ T read_shared_by_blocks(const T* p) {
  T v;
  if constexpr (sizeof(T) % 16 == 0 && alignof(T) >= 16) {
    uint4 w[sizeof(T) / 16];
#pragma unroll
    for (int i = 0; i < static_cast<int>(sizeof(T) / 16); ++i) w[i] = __ldcg(reinterpret_cast<const uint4*>(p) + i);
    memcpy(&v, w, sizeof(T));
  } else if constexpr (sizeof(T) % 4 == 0 && alignof(T) >= 4) {
    unsigned w[sizeof(T) / 4];
#pragma unroll
    for (int i = 0; i < static_cast<int>(sizeof(T) / 4); ++i) w[i] = __ldcg(reinterpret_cast<const unsigned*>(p) + i);
    memcpy(&v, w, sizeof(T));
  } else {
    unsigned char b[sizeof(T)];
#pragma unroll
    for (int i = 0; i < static_cast<int>(sizeof(T)); ++i) b[i] = __ldcg(reinterpret_cast<const unsigned char*>(p) + i);
    memcpy(&v, b, sizeof(T));
  }
  return v;
}

/// A state whose words are marked as written, so that whoever sees them all has it: no fence, no flag beside it. Every
/// word is at zero, or marked otherwise, before.
template <class T>
struct marked {
  static constexpr int count = words_of<T>::count;
  std::uint64_t words[count];

  __device__ __forceinline__ void write(const T& value, unsigned mark = 1) {
    const words_of<T> from(value);
#pragma unroll
    for (int i = 0; i < count; ++i)
      asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(words + i), "l"(std::uint64_t(mark) << 32 | from.w[i])
                   : "memory");
  }
  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < count; ++i)
      asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(words + i), "l"(std::uint64_t(0)) : "memory");
  }
  __device__ __forceinline__ marked read() const {
    marked seen;
#pragma unroll
    for (int i = 0; i < count; ++i)
      asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(seen.words[i]) : "l"(words + i) : "memory");
    return seen;
  }
  __device__ __forceinline__ bool is_there(unsigned mark = 1) const {
    bool all = true;
#pragma unroll
    for (int i = 0; i < count; ++i) all &= words[i] >> 32 == mark;
    return all;
  }
  __device__ __forceinline__ T value() const {
    unsigned w[count];
#pragma unroll
    for (int i = 0; i < count; ++i) w[i] = static_cast<unsigned>(words[i]);
    T v;
    memcpy(&v, w, sizeof(T));
    return v;
  }
};

}  // namespace sinter::cuda::detail
