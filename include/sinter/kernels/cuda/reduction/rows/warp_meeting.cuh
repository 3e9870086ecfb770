// Warps that share a row, of one block or of those of a cluster, tell each other their states: each writes its own into
// every block's shared memory and waits, by a barrier there, for those of all. No warp combines for the others, and
// none waits for more than that. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/cluster.cuh"
#include "sinter/kernels/cuda/reduction/rows/row_threads.cuh"

namespace sinter::cuda::detail {

/// All lanes of a warp, whose counts are of elements of one row.
struct whole_warp : combined_lanes {
  __device__ __forceinline__ whole_warp() : combined_lanes{32} {}
  using combined_lanes::sum;
  __device__ __forceinline__ std::int64_t sum(std::int64_t own) const {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(all_lanes, static_cast<int>(own));
#else
    return combined_lanes::sum(own);
#endif
  }
};

/// Where they meet. There are two places for what they tell, in turn: whoever tells the next has heard all of the one
/// before. On devices that have clusters.
template <class Body>
class warp_meeting {
 public:
  using facts = sinter::detail::shared_row_facts<Body>;
  static constexpr int words = facts::words_before(facts::size);  // of all states
  /// Of `warps` warps in all blocks.
  SINTER_HOST_DEVICE static constexpr int bytes(int warps) { return 32 + 2 * place_bytes(warps); }

  /// `memory`: `bytes` of them, aligned to 16, the same in all blocks. Before the first exchange all threads of all
  /// blocks meet.
  template <class Threads>
  __device__ __forceinline__ warp_meeting(unsigned char* memory, int blocks, int warps, const Threads& threads)
      : barriers_(shared_address(memory)), blocks_(blocks), warps_(warps) {
    if (threads.leads()) {
      // A block without others is no cluster: its warps write and arrive.
      const int arrivals = blocks > 1 ? 1 : warps;
      barrier_begin(barriers_, arrivals), barrier_begin(barriers_ + 8, arrivals);
      barriers_begun();
    }
    __syncwarp();
  }

  /// The states of phase P of all warps, combined in the same order in all of them. Threads: of this block. In phase 0
  /// the first block's first thread tells all of them its `word` beside that, which is returned.
  template <int P, int Ways, class Accumulators, class Threads>
  __device__ __forceinline__ int exchange(Accumulators& acc, const Threads& threads, int word) {
    using reductions = reductions_of_phase<Body, P>;
    const unsigned place = barriers_ + 32 + (turn_ & 1) * place_bytes(warps_), barrier = barriers_ + (turn_ & 1) * 8,
                   word_place = barriers_ + 16 + (turn_ & 1) * 4;
    const int lane = static_cast<int>(threadIdx.x) % 32, row = row_bytes(warps_);
    if (blocks_ > 1 && threads.leads()) {
      int told = 0;
      reductions::each([&]<int N, class R>(std::integral_constant<int, N>, R) {
        told += words_of<typename reduction_of<R>::state>::count;
      });
      barrier_arrive(barrier, (told * warps_ + (P == 0 ? 1 : 0)) * 4);
    }
    const auto to = static_cast<unsigned>(lane < blocks_ ? lane : 0);
    const unsigned own =
        rank_in_cluster() * static_cast<unsigned>(threads.warps()) + static_cast<unsigned>(threads.warp());
    const unsigned there = (blocks_ > 1 ? in_block(place, to) : place) + own * 4, its_barrier = in_block(barrier, to);
    reductions::each([&]<int N, class R>(std::integral_constant<int, N>, R) {
      using fold = reduction_of<R>;
      auto& states = lanes_of<N>(acc);
      if constexpr (!fold::folds_arrays) {  // those have but one
#pragma unroll
        for (int k = 1; k < Ways; ++k) states[0] = fold::combine(states[0], states[k]);
      }
      states[0] = fold::across(states[0], whole_warp{});
      if constexpr (!fold::same_in_all_lanes) states[0] = from_first_lane(states[0], 32);
    });
    if (P == 0 && own == 0) word = __shfl_sync(all_lanes, word, 0);
    const auto tell = [&](const auto& write) {
      reductions::each([&]<int N, class R>(std::integral_constant<int, N>, R) {
        const words_of<typename reduction_of<R>::state> out(lanes_of<N>(acc)[0]);
#pragma unroll
        for (int i = 0; i < out.count; ++i) write(there + (facts::words_before(N) + i) * row, out.w[i]);
      });
    };
    if (blocks_ == 1 && lane == 0) {
      tell([](unsigned at, unsigned w) { asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(w) : "memory"); });
      if (P == 0 && own == 0) asm volatile("st.shared.u32 [%0], %1;" ::"r"(word_place), "r"(word) : "memory");
    } else if (blocks_ > 1 && lane < blocks_) {
      tell([&](unsigned at, unsigned w) { send_word(at, w, its_barrier); });
      if (P == 0 && own == 0) send_word(in_block(word_place, to), static_cast<unsigned>(word), its_barrier);
    }
    if (blocks_ == 1 && lane == 0) barrier_arrive(barrier);
    barrier_wait(barrier, turn_ >> 1 & 1);  // what came lies in shared memory: the L1 need not be cleared for it
    ++turn_;
    if (P == 0) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(word_place) : "memory");
    reductions::each([&]<int N, class R>(std::integral_constant<int, N>, R) {
      using fold = reduction_of<R>;
      auto state = fold::init();
#pragma unroll 1
      for (int warp = lane; warp < warps_; warp += 32) {
        words_of<typename fold::state> in(fold::init());
#pragma unroll
        for (int i = 0; i < in.count; ++i)
          asm volatile("ld.shared.u32 %0, [%1];"
                       : "=r"(in.w[i])
                       : "r"(place + (facts::words_before(N) + i) * row + warp * 4)
                       : "memory");
        state = warp == lane ? in.value() : fold::combine(state, in.value());
      }
      lanes_of<N>(acc)[0] = fold::across(state, whole_warp{});
    });
    return word;
  }

 private:
  SINTER_HOST_DEVICE static constexpr int row_bytes(int warps) { return (warps + 31) / 32 * 128; }
  SINTER_HOST_DEVICE static constexpr int place_bytes(int warps) { return words * row_bytes(warps); }

  unsigned barriers_;
  int blocks_, warps_;
  unsigned turn_ = 0;
};

}  // namespace sinter::cuda::detail
