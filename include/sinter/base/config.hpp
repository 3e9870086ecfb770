// The one macro of the library: a function that kernels call on the host and on the device.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#ifdef __CUDACC__
#define SINTER_HOST_DEVICE __host__ __device__
#else
#define SINTER_HOST_DEVICE
#endif
