// Elements that adjoin in memory, from anywhere to anywhere, on their way to shared memory and back, where they lie
// alike in 16 bytes: by the copy engine where there is one. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/copy_async.cuh"

namespace sinter::cuda::detail {

/// Neighbouring elements, from the multiple of 16 bytes before the first.
template <class T>
struct copied_row {
  static constexpr int bytes = static_cast<int>(sizeof(T));
  unsigned char* memory;
  int lead, end;  // in bytes

  __device__ __forceinline__ copied_row(T* first, int length)
      : memory(reinterpret_cast<unsigned char*>(first)),
        lead(static_cast<int>(reinterpret_cast<std::uintptr_t>(first)) & 15),
        end(lead + length * bytes) {
    memory -= lead;
  }

  /// 16 bytes in which it begins or ends are read with what is around it, but for the first row's and the last one's.
  template <class Threads>
  __device__ __forceinline__ void fetch(unsigned char* to, bool first_of_all, bool last_of_all, copy_arrival& arrival,
                                        const Threads& threads) const {
    const int first = first_of_all && lead > 0 ? 16 : 0, past = max((last_of_all ? end : end + 15) & ~15, first);
    if constexpr (has_copy_engine) {
      if (threads.thread() == 0 && past > first) arrival.send(to + first, memory + first, past - first);
    } else {
      for (int at = first + threads.thread() * 16; at < past; at += threads.count() * 16)
        copy_async(to + at, memory + at);
    }
    if (first > 0) move(to, memory, lead + threads.thread() * bytes, min(end, 16));
    if (past < end) move(to, memory, past + threads.thread() * bytes, end);
  }
  template <class Threads>
  __device__ __forceinline__ void put(const unsigned char* from, const Threads& threads) const {
    const int first = lead > 0 ? 16 : 0, past = max(end & ~15, first);
    if constexpr (has_copy_engine) {
      if (threads.thread() == 0 && past > first) copy_back(memory + first, from + first, past - first);
    } else {
      for (int at = first + threads.thread() * 16; at < past; at += threads.count() * 16)
        *reinterpret_cast<uint4*>(memory + at) = *reinterpret_cast<const uint4*>(from + at);
    }
    if (first > 0) move(memory, from, lead + threads.thread() * bytes, min(end, 16));
    move(memory, from, past + threads.thread() * bytes, end);
  }

 private:
  static __device__ __forceinline__ void move(unsigned char* to, const unsigned char* from, int at, int limit) {
    if (at < limit) *reinterpret_cast<T*>(to + at) = *reinterpret_cast<const T*>(from + at);
  }
};

}  // namespace sinter::cuda::detail
