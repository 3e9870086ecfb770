// One checked kernel launch. It goes through cudaLaunchKernel, whose status is its own: an older error is not blamed on
// this kernel.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/kernels/cuda/error.cuh"

namespace sinter::cuda::detail {

template <class T>
struct as_is {
  using type = T;
};

template <class... Parameters>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t stream, const char* name,
            const typename as_is<Parameters>::type&... arguments) {
  void* addresses[] = {const_cast<void*>(static_cast<const void*>(&arguments))...};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, addresses, 0, stream), "cudaLaunchKernel",
        name);
}

}  // namespace sinter::cuda::detail
