// Copies from memory to shared memory that take no registers and that nobody waits for until they are needed.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <cstring>

namespace sinter::cuda::detail {

__device__ __forceinline__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
/// 16 bytes, both ends aligned to them.
__device__ __forceinline__ void copy_async(unsigned shared, const void* global) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  *static_cast<uint4*>(__cvta_shared_to_generic(shared)) = *static_cast<const uint4*>(global);
#else
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(global) : "memory");
#endif
}
__device__ __forceinline__ void copy_async(void* shared, const void* global) {
  copy_async(shared_address(shared), global);
}
/// The first `bytes` of 16 bytes, of which no others are read, and zeros after them. Both ends aligned to 16.
__device__ __forceinline__ void copy_async_some(void* shared, const void* global, int bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  memcpy(shared, global, static_cast<std::size_t>(bytes));
#else
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(global), "r"(bytes) : "memory");
#endif
}
/// 4, 8 or 16 bytes, or a multiple of that.
template <int Bytes>
__device__ __forceinline__ void copy_async_of(void* shared, const void* global) {
  if constexpr (Bytes % 16 == 0) {
#pragma unroll
    for (int at = 0; at < Bytes; at += 16)
      copy_async(static_cast<unsigned char*>(shared) + at, static_cast<const unsigned char*>(global) + at);
  } else {
    static_assert(Bytes == 4 || Bytes == 8);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    memcpy(shared, global, Bytes);
#else
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address), "l"(global), "n"(Bytes) : "memory");
#endif
  }
}
/// Ends a group of copies.
__device__ __forceinline__ void copy_commit() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
/// Waits until at most Pending groups of this thread are still under way.
template <int Pending>
__device__ __forceinline__ void copy_wait() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
#endif
}

// ---- the copy engine -----------------------------------------------------------------------------------------------

/// The way of many bytes at once, both ends aligned to 16, without a loop: one thread sends for them. Compute
/// capability 9.0 brings it; where it is not, what follows does nothing.
#if __CUDA_ARCH__ >= 900
inline constexpr bool has_copy_engine = true;
#else
inline constexpr bool has_copy_engine = false;
#endif

/// Barriers in shared memory, by their addresses: complete when `threads` threads have arrived and all bytes that they
/// expect.
__device__ __forceinline__ void barrier_begin([[maybe_unused]] unsigned barrier, [[maybe_unused]] int threads = 1) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(threads) : "memory");
#endif
}
/// Before the engine sees them.
__device__ __forceinline__ void barriers_begun() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}
__device__ __forceinline__ void barrier_expect([[maybe_unused]] unsigned barrier, [[maybe_unused]] int bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
#endif
}
__device__ __forceinline__ void barrier_arrive([[maybe_unused]] unsigned barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n\t.reg .b64 t;\n\tmbarrier.arrive.shared::cta.b64 t, [%0];\n\t}" ::"r"(barrier) : "memory");
#endif
}
/// Both. What has come already counts as well.
__device__ __forceinline__ void barrier_arrive([[maybe_unused]] unsigned barrier, [[maybe_unused]] int bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n\t.reg .b64 t;\n\tmbarrier.arrive.expect_tx.shared::cta.b64 t, [%0], %1;\n\t}" ::"r"(barrier),
               "r"(bytes)
               : "memory");
#endif
}
/// Arrivals of a warp: that of one lane says that all are done. racecheck, of compute-sanitizer, follows each lane by
/// itself, and is told of all.
#if defined(SINTER_EACH_LANE_ARRIVES)
inline constexpr int warp_arrivals = 32;
#else
inline constexpr int warp_arrivals = 1;
#endif
__device__ __forceinline__ void barrier_arrive_as_warp(unsigned barrier) {
  __syncwarp();
  if (warp_arrivals == 32 || threadIdx.x % 32 == 0) barrier_arrive(barrier);
}
/// Once all that this thread has sent for with copy_async is there.
__device__ __forceinline__ void barrier_arrive_after_copies([[maybe_unused]] unsigned barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
#endif
}
/// `odd`: for the second time, the fourth, and so on.
__device__ __forceinline__ void barrier_wait([[maybe_unused]] unsigned barrier, [[maybe_unused]] unsigned odd) {
#if __CUDA_ARCH__ >= 900
  unsigned done = 0;
  while (done == 0)
    asm volatile(
        "{\n\t.reg .pred p;\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, p;\n\t}"
        : "=r"(done)
        : "r"(barrier), "r"(odd)
        : "memory");
#endif
}
/// Bytes that the barrier counts.
__device__ __forceinline__ void copy_bulk([[maybe_unused]] unsigned shared, [[maybe_unused]] const void* global,
                                          [[maybe_unused]] int bytes, [[maybe_unused]] unsigned barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared),
               "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(barrier)
               : "memory");
#endif
}
__device__ __forceinline__ void copy_bulk(void* shared, const void* global, int bytes, unsigned barrier) {
  copy_bulk(shared_address(shared), global, bytes, barrier);
}

/// One lane of a warp, always the same, of which the compiler knows that it is one: the engine's instructions take what
/// a warp has in common, and for lanes that differ a loop.
__device__ __forceinline__ bool is_elected_lane() {
  unsigned elected = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{\n\t.reg .pred p;\n\t"
      "elect.sync _|p, 0xffffffff;\n\t"
      "selp.u32 %0, 1, 0, p;\n\t}"
      : "=r"(elected));
#endif
  return elected != 0;
}

/// Sends `bytes` from `global` on, as far as they are whole multiples of 16 bytes, into the L2, if there are any. All
/// kernels share that: whoever still writes there writes to it, too. (A branch would cost rows in registers one more.)
__device__ __forceinline__ void prefetch_bulk([[maybe_unused]] const void* global, [[maybe_unused]] int bytes) {
#if __CUDA_ARCH__ >= 900
  const auto at = static_cast<unsigned long long>(__cvta_generic_to_global(global)), first = (at + 15) / 16 * 16;
  const auto size = static_cast<int>(at + static_cast<unsigned>(bytes) - first) / 16 * 16;
  asm volatile(
      "{\n\t.reg .pred p;\n\t"
      "setp.gt.s32 p, %1, 0;\n\t"
      "@p cp.async.bulk.prefetch.L2.global [%0], %1;\n\t}" ::"l"(first),
      "r"(size)
      : "memory");
#endif
}

/// What has arrived of copies to shared memory that one thread sends for. Others may wait once they know that it has
/// begun.
class copy_arrival {
 public:
  __device__ __forceinline__ void begin() {
    barrier_begin(address());
    barriers_begun();
  }
  __device__ __forceinline__ void send(void* shared, const void* global, int bytes) {
    barrier_expect(address(), bytes);
    copy_bulk(shared, global, bytes, address());
  }
  /// No more copies are sent.
  __device__ __forceinline__ void end() { barrier_arrive(address()); }
  /// `odd`: it has been waited for before, an odd number of times.
  __device__ __forceinline__ void wait(unsigned odd = 0) const { barrier_wait(address(), odd); }

 private:
  __device__ __forceinline__ unsigned address() const { return shared_address(&barrier_); }
  std::uint64_t barrier_;
};

/// The way back, of which one thread sends too. Before it does, all that wrote to shared memory call copy_back_ready()
/// and meet; before it ends, it waits until shared memory has been read.
__device__ __forceinline__ void copy_back_ready() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
__device__ __forceinline__ void copy_back([[maybe_unused]] void* global, [[maybe_unused]] unsigned shared,
                                          [[maybe_unused]] int bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(global)),
               "r"(shared), "r"(bytes)
               : "memory");
#endif
}
__device__ __forceinline__ void copy_back(void* global, const void* shared, int bytes) {
  copy_back(global, shared_address(shared), bytes);
}
/// Ends a group of copies of this thread.
__device__ __forceinline__ void copy_back_commit() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#endif
}
/// One copy as a group of its own; until shared memory has been read for all groups but the last Pending.
__device__ __forceinline__ void copy_back_group(void* global, unsigned shared, int bytes) {
  copy_back(global, shared, bytes);
  copy_back_commit();
}
template <int Pending>
__device__ __forceinline__ void copy_back_wait_for() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
#endif
}
__device__ __forceinline__ void copy_back_wait() {
  copy_back_commit();
  copy_back_wait_for<0>();
}

/// The engine as a block uses it whose first thread sends for all.
class block_copies {
 public:
  __device__ __forceinline__ explicit block_copies(copy_arrival& arrival, bool begins = true) : arrival_(arrival) {
    if (begins && leads()) arrival_.begin();
  }
  __device__ __forceinline__ void fetch(void* shared, const void* global, int bytes) const {
    if (leads() && bytes > 0) arrival_.send(shared, global, bytes);
  }
  /// For all that was fetched, and for what the threads wrote.
  __device__ __forceinline__ void wait(unsigned odd = 0) const {
    if constexpr (has_copy_engine) {
      if (leads()) arrival_.end();
      __syncthreads();
      arrival_.wait(odd);
    } else {
      copy_commit();
      copy_wait<0>();
      __syncthreads();
    }
  }
  /// Before it puts what all threads wrote.
  __device__ __forceinline__ void sync() const {
    copy_back_ready();
    __syncthreads();
  }
  __device__ __forceinline__ void put(void* global, const void* shared, int bytes) const {
    if (leads() && bytes > 0) copy_back(global, shared, bytes);
  }
  /// Shared memory stays until all of it is read: known to the first thread, to others behind the next barrier.
  __device__ __forceinline__ void finish() const {
    if (leads()) copy_back_wait();
  }

 private:
  static __device__ __forceinline__ bool leads() { return threadIdx.x == 0; }
  copy_arrival& arrival_;
};

}  // namespace sinter::cuda::detail
