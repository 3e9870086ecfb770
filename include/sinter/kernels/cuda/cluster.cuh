// Blocks of a cluster tell each other their states: each writes its own into every other's shared memory and waits for
// what comes into its own, by a barrier there. That goes from multiprocessor to multiprocessor beside the L2, where it
// would wait behind the loads that the blocks sent for. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/copy_async.cuh"
#include "sinter/kernels/cuda/reduction/rows/row_threads.cuh"

namespace sinter::cuda::detail {

/// Blocks of a cluster on all devices that have clusters at all.
inline constexpr int most_cluster_blocks = 8;

__device__ __forceinline__ unsigned rank_in_cluster() {
  unsigned rank = 0;
#if __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  return rank;
}
/// For all threads of all its blocks.
__device__ __forceinline__ void arrive_in_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ void wait_for_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}
/// The same place in the shared memory of another block.
__device__ __forceinline__ unsigned in_block([[maybe_unused]] unsigned address, [[maybe_unused]] unsigned rank) {
  unsigned there = 0;
#if __CUDA_ARCH__ >= 900
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
#endif
  return there;
}
/// A word to another block, whose barrier counts its bytes.
__device__ __forceinline__ void send_word([[maybe_unused]] unsigned address, [[maybe_unused]] unsigned word,
                                          [[maybe_unused]] unsigned barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(address), "r"(word),
               "r"(barrier)
               : "memory");
#endif
}
/// The words of a value to where it lies in shared memory of another block, whose barrier at the same place as
/// `barrier` counts them.
template <class T>
__device__ __forceinline__ void send_words(const T* place, const T& value, unsigned barrier, unsigned block) {
  const words_of<T> words(value);
  const unsigned there = in_block(shared_address(place), block), its_barrier = in_block(barrier, block);
#pragma unroll
  for (int i = 0; i < words.count; ++i) send_word(there + static_cast<unsigned>(4 * i), words.w[i], its_barrier);
}
/// Until all has come that other blocks send.
__device__ __forceinline__ void wait_for_words([[maybe_unused]] unsigned barrier, [[maybe_unused]] unsigned odd) {
#if __CUDA_ARCH__ >= 900
  unsigned done = 0;
  while (done == 0)
    asm volatile(
        "{\n\t.reg .pred p;\n\t"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, p;\n\t}"
        : "=r"(done)
        : "r"(barrier), "r"(odd)
        : "memory");
#endif
}

/// Where the blocks of a cluster meet. There are two places for what they tell, in turn: whoever is told the next has
/// told that it has read the one before.
template <class Body>
class cluster_meeting {
 public:
  using facts = sinter::detail::shared_row_facts<Body>;
  static constexpr int place_bytes = facts::words_before(facts::size) * most_cluster_blocks * 4;
  static constexpr int bytes = 2 * (place_bytes + 8);

  /// `memory`: `bytes` of them, aligned to 8, the same in all calls. One block: nobody is met.
  static __device__ __forceinline__ void begin(unsigned char* memory, int blocks) {
    if (blocks == 1) return;
    const unsigned barriers = shared_address(memory);
    if (threadIdx.x == 0) {
      barrier_begin(barriers), barrier_begin(barriers + 8);
      barriers_begun();
    }
    __syncwarp();
    arrive_in_cluster();
  }
  /// Before the first exchange: all have begun.
  static __device__ __forceinline__ void wait(int blocks) {
    if (blocks > 1) wait_for_cluster();
  }

  /// The states of phase P of all blocks, combined in the same order in all of them, from those that all threads of
  /// each block have.
  template <int P, class Accumulators>
  __device__ __forceinline__ void exchange(Accumulators& acc, unsigned char* memory, int blocks) {
    using reductions = reductions_of_phase<Body, P>;
    const unsigned barriers = shared_address(memory), place = barriers + 16 + (turn_ & 1) * place_bytes,
                   barrier = barriers + (turn_ & 1) * 8;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (threadIdx.x < 32) {
      int words = 0;
      reductions::each([&]<int N, class R>(std::integral_constant<int, N>, R) {
        words += words_of<typename reduction_of<R>::state>::count;
      });
      if (lane == 0) barrier_arrive(barrier, words * blocks * 4);
      const auto to = static_cast<unsigned>(lane < blocks ? lane : 0);
      const unsigned there = in_block(place, to) + rank_in_cluster() * 4, its_barrier = in_block(barrier, to);
      reductions::each([&]<int N, class R>(std::integral_constant<int, N>, R) {
        const words_of<typename reduction_of<R>::state> from(from_first_lane(lanes_of<N>(acc)[0], 32));
        if (lane < blocks) {
#pragma unroll
          for (int i = 0; i < from.count; ++i)
            send_word(there + (facts::words_before(N) + i) * (most_cluster_blocks * 4), from.w[i], its_barrier);
        }
      });
    }
    wait_for_words(barrier, turn_ >> 1 & 1);
    ++turn_;
    int slots = 1;
    while (slots < blocks) slots *= 2;
    const int slot = lane & (slots - 1);
    reductions::each([&]<int N, class R>(std::integral_constant<int, N>, R) {
      using fold = reduction_of<R>;
      words_of<typename fold::state> in(fold::init());
      if (slot < blocks) {
#pragma unroll
        for (int i = 0; i < in.count; ++i)
          asm volatile("ld.shared.u32 %0, [%1];"
                       : "=r"(in.w[i])
                       : "r"(place + (facts::words_before(N) + i) * (most_cluster_blocks * 4) + slot * 4)
                       : "memory");
      }
      auto state = in.value();
#pragma unroll 1
      for (int offset = slots / 2; offset > 0; offset /= 2) state = fold::combine(state, from_lane_xor(state, offset));
      lanes_of<N>(acc)[0] = state;
    });
  }

 private:
  unsigned turn_ = 0;
};

}  // namespace sinter::cuda::detail
