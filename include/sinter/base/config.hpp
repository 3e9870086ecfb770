// The macros of the library: a function that kernels call on the host and on the device, and a loop in such a function
// over an array that the device must keep in registers.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#ifdef __CUDACC__
#define SINTER_HOST_DEVICE __host__ __device__
#else
#define SINTER_HOST_DEVICE
#endif

#ifdef __CUDA_ARCH__
#define SINTER_UNROLL_ON_DEVICE _Pragma("unroll")
#else
#define SINTER_UNROLL_ON_DEVICE
#endif
