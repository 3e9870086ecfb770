// Kernels of one stream that overlap: a kernel's blocks take the places that the last blocks of the kernel in front
// leave, and wait there for its end (CUDA: programmatic dependent launch). Both halves of the bargain are here.
// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace sinter::cuda::detail {

/// Whether every kernel of this program is compiled for devices on which a kernel can start before the one in front of
/// it has ended, which compute capability 9.0 brings.
#if defined(__CUDA_ARCH_LIST__)
inline constexpr bool kernels_overlap = [](auto... arch) { return ((arch >= 900) && ...); }(__CUDA_ARCH_LIST__);
#else
inline constexpr bool kernels_overlap = false;
#endif

/// The first statement of every kernel that launch() launches: the next kernel may take the places that this one
/// leaves, and this one waits until the one in front has ended and what it wrote can be seen. Every thread waits, also
/// one that has nothing to do: a kernel that ended early would let the next overtake the one in front.
/// Before it waits it calls `ahead`, which may ask for what will be read, and write nothing. What it reads must be
/// settled (run/settled.hpp): if the next kernel so reads, it is let in only now that all before this one has ended.
/// Loads of what the kernel only reads must stay plain ones: those that say so (__ldg) the assembler moves before the
/// wait.
template <bool NextReadsAhead = false, class Ahead>
__device__ __forceinline__ void begin_kernel(const Ahead& ahead) {
  [[maybe_unused]] const auto let_next_in = [] {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
  };
  if constexpr (!NextReadsAhead) let_next_in();
  ahead();
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  if constexpr (NextReadsAhead) let_next_in();
}
template <bool NextReadsAhead = false>
__device__ inline void begin_kernel() {
  begin_kernel<NextReadsAhead>([] {});
}
/// Instead, for a kernel whose `ahead` reads what is settled.
template <class Args, class Ahead>
__device__ __forceinline__ void begin_ahead(const Ahead& ahead) {
  begin_kernel<Args::next_reads_ahead>([&] {
    __threadfence();  // the L1 may have what was there before kernels that have ended wrote
    ahead();
  });
}

}  // namespace sinter::cuda::detail
