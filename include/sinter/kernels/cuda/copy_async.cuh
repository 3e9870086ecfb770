// Copies from memory to shared memory that take no registers and that nobody waits for until they are needed.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

namespace sinter::cuda::detail {

/// 16 bytes, both ends aligned to them.
__device__ __forceinline__ void copy_async(void* shared, const void* global) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  *static_cast<uint4*>(shared) = *static_cast<const uint4*>(global);
#else
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(global) : "memory");
#endif
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

__device__ __forceinline__ unsigned address_in_shared(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

/// The way of many bytes at once, both ends aligned to 16, without a loop: one thread of a block tells the copy engine,
/// which compute capability 9.0 brings. All threads wait at a barrier in shared memory for what was fetched.
#if __CUDA_ARCH__ >= 900
class copy_engine {
 public:
  static constexpr bool exists = true;
  __device__ __forceinline__ explicit copy_engine(std::uint64_t* barrier) : barrier_(address_in_shared(barrier)) {
    if (!leads()) return;
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier_) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __device__ __forceinline__ void fetch(void* shared, const void* global, int bytes) const {
    if (!leads() || bytes <= 0) return;
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier_), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     address_in_shared(shared)),
                 "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(barrier_)
                 : "memory");
  }
  /// Of all that was fetched, and of what the threads wrote.
  __device__ __forceinline__ void wait() const {
    if (leads())
      asm volatile("{\n\t.reg .b64 t;\n\tmbarrier.arrive.shared::cta.b64 t, [%0];\n\t}" ::"r"(barrier_) : "memory");
    __syncthreads();
    unsigned done = 0;
    while (done == 0)
      asm volatile(
          "{\n\t.reg .pred p;\n\t"
          "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n\t"
          "selp.u32 %0, 1, 0, p;\n\t}"
          : "=r"(done)
          : "r"(barrier_)
          : "memory");
  }
  /// Before it puts what all threads wrote.
  __device__ __forceinline__ void sync() const {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
  }
  __device__ __forceinline__ void put(void* global, const void* shared, int bytes) const {
    if (!leads() || bytes <= 0) return;
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(global)),
                 "r"(address_in_shared(shared)), "r"(bytes)
                 : "memory");
  }
  /// Shared memory stays until all of it is read.
  __device__ __forceinline__ void finish() const {
    if (!leads()) return;
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  }

 private:
  static __device__ __forceinline__ bool leads() { return threadIdx.x == 0; }
  unsigned barrier_;
};
#else
class copy_engine {
 public:
  static constexpr bool exists = false;
  __device__ __forceinline__ explicit copy_engine(std::uint64_t*) {}
  __device__ __forceinline__ void fetch(void*, const void*, int) const {}
  __device__ __forceinline__ void wait() const {
    copy_commit();
    copy_wait<0>();
    __syncthreads();
  }
  __device__ __forceinline__ void sync() const { __syncthreads(); }
  __device__ __forceinline__ void put(void*, const void*, int) const {}
  __device__ __forceinline__ void finish() const {}
};
#endif

/// What has arrived of copies to shared memory that one thread sends for, of any multiple of 16 bytes each. Others may
/// wait once they know that it has begun; `odd`: for the second time, the fourth, and so on. Where there is no engine
/// for such copies, nothing is done.
class copy_arrival {
 public:
  __device__ __forceinline__ void begin() {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address()) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
  }
  __device__ __forceinline__ void send([[maybe_unused]] void* shared, [[maybe_unused]] const void* global,
                                       [[maybe_unused]] int bytes) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(address()), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     address_in_shared(shared)),
                 "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(address())
                 : "memory");
#endif
  }
  /// No more copies are sent.
  __device__ __forceinline__ void end() {
#if __CUDA_ARCH__ >= 900
    asm volatile("{\n\t.reg .b64 t;\n\tmbarrier.arrive.shared::cta.b64 t, [%0];\n\t}" ::"r"(address()) : "memory");
#endif
  }
  __device__ __forceinline__ void wait([[maybe_unused]] unsigned odd) const {
#if __CUDA_ARCH__ >= 900
    unsigned done = 0;
    while (done == 0)
      asm volatile(
          "{\n\t.reg .pred p;\n\t"
          "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
          "selp.u32 %0, 1, 0, p;\n\t}"
          : "=r"(done)
          : "r"(address()), "r"(odd)
          : "memory");
#endif
  }

 private:
  __device__ __forceinline__ unsigned address() const { return address_in_shared(&barrier_); }
  std::uint64_t barrier_;
};

/// The way back, of which one thread sends too. Before it does, all that wrote to shared memory call copy_back_ready()
/// and meet; before it ends, it waits until shared memory has been read.
__device__ __forceinline__ void copy_back_ready() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
__device__ __forceinline__ void copy_back([[maybe_unused]] void* global, [[maybe_unused]] const void* shared,
                                          [[maybe_unused]] int bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(global)),
               "r"(address_in_shared(shared)), "r"(bytes)
               : "memory");
#endif
}
__device__ __forceinline__ void copy_back_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
}

}  // namespace sinter::cuda::detail
