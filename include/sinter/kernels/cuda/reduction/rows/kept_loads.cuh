// What all rows share, such as weights: a block that goes from row to row may keep its part of it in shared memory.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/copy_async.cuh"
#include "sinter/kernels/cuda/loose_words.cuh"
#include "sinter/kernels/cuda/reduction/rows/stream_share.cuh"

namespace sinter::cuda::detail {

/// Of each load the elements from one on, which lie there as they do in memory beside multiples of 16 bytes.
template <class Body, class Numbers = std::make_index_sequence<Body::size>>
class kept_loads;
template <class... S, std::size_t... I>
class kept_loads<body<S...>, std::index_sequence<I...>> {
 public:
  using facts = stream_facts<body<S...>>;

  /// Bytes of shared memory for so many elements of each.
  SINTER_HOST_DEVICE static constexpr int bytes(int elements) { return (0 + ... + bytes_of<S>(elements)); }

  /// Elements begin to end, for which all threads of the block send. `memory`: the block's, in which they lie from byte
  /// `at` on, a multiple of 16.
  template <class Args>
  __device__ __forceinline__ void bring(const Args& args, unsigned char* memory, int at, int begin, int end) {
    (bring_load<static_cast<int>(I)>(S{}, args, memory, at, begin, end), ...);
    copy_commit();
  }
  /// By all threads of the block, before they read.
  static __device__ __forceinline__ void wait() {
    copy_wait<0>();
    __syncthreads();
  }
  /// Load N: element 0, if all of it were there.
  template <int N, class T>
  __device__ __forceinline__ const T* first(const unsigned char* memory) const {
    return reinterpret_cast<const T*>(memory + origin_[facts::shared_before(N)]);
  }

 private:
  template <class Statement>
  SINTER_HOST_DEVICE static constexpr int bytes_of(int elements) {
    return shared_bytes<Statement> > 0 ? (elements * shared_bytes<Statement> + 30) / 16 * 16 : 0;
  }
  template <int N, class Statement, class Args>
  __device__ __forceinline__ void bring_load(Statement, const Args&, unsigned char*, int&, int, int) {}
  template <int N, int Slot, class T, class At, class Args>
  __device__ __forceinline__ void bring_load(load<Slot, T, At, -1>, const Args& args, unsigned char* memory, int& at,
                                             int begin, int end) {
    if constexpr (facts::is_shared(N)) {
      const auto place = [&](int r) {
        return reinterpret_cast<const unsigned char*>(static_cast<const T*>(args.pointers[Slot]) +
                                                      offset_of<At>::at_xr(0, r, args.sizes));
      };
      const unsigned char *const from = place(begin), *const to = place(end);
      const int past = static_cast<int>(bytes_past<16>(from)), size = static_cast<int>(to - from) + past;
      // What lies before the first element in its 16 bytes is copied, too, where it is another element.
      const int whole = begin > 0 ? 0 : past;
      for (int b = static_cast<int>(threadIdx.x) * 16; b < size; b += static_cast<int>(blockDim.x) * 16)
        if (b >= whole) copy_async_some(memory + at + b, from - past + b, min(16, size - b));
      // Each by another thread: one after another they would wait for each other.
      const int k = static_cast<int>(threadIdx.x) * static_cast<int>(sizeof(T));
      if (whole > 0 && k >= past && k < min(16, size))
        *reinterpret_cast<T*>(memory + at + k) = *reinterpret_cast<const T*>(from - past + k);
      // Where element 0 is meant to lie may be before shared memory: only what is added to it leads there.
      const auto before = from - static_cast<const unsigned char*>(args.pointers[Slot]);
      origin_[facts::shared_before(N)] = at + past - static_cast<int>(before);
      at += bytes_of<load<Slot, T, At, -1>>(end - begin);
    }
  }

  int origin_[facts::shared_loads > 0 ? facts::shared_loads : 1];
};

}  // namespace sinter::cuda::detail
