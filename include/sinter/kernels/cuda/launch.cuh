// One checked kernel launch. It goes through cudaLaunchKernel, whose status is its own: an older error is not blamed on
// this kernel.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstdint>

#include "sinter/kernels/cuda/error.cuh"
#include "sinter/kernels/cuda/overlap.cuh"

namespace sinter::cuda::detail {

template <class T>
struct as_is {
  using type = T;
};

template <class... Parameters>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t stream, const char* name,
            const typename as_is<Parameters>::type&... arguments) {
  void* addresses[] = {const_cast<void*>(static_cast<const void*>(&arguments))...};
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = kernels_overlap ? 1 : 0;
  check(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), addresses), "cudaLaunchKernelExC", name);
}

/// Lets a kernel have more dynamic shared memory than 48 KB. Asked for once on each device, of which `asked` has a bit.
inline void allow_shared_memory(const void* kernel, int bytes, std::atomic<std::uint64_t>& asked, const char* name) {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice", name);
  const std::uint64_t bit = device < 64 ? std::uint64_t(1) << device : 0;
  if ((asked.load(std::memory_order_acquire) & bit) != 0) return;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "cudaFuncSetAttribute", name);
  asked.fetch_or(bit, std::memory_order_release);
}

}  // namespace sinter::cuda::detail
