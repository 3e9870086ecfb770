// sinter: tensor expressions fused into kernels by the C++ compiler. The umbrella: everything a user needs.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/explain/views.hpp"
#include "sinter/run/fuse.hpp"
#include "sinter/run/interop.hpp"
#include "sinter/run/require.hpp"

#ifndef __CUDA_ARCH__
#include "sinter/explain/dot.hpp"
#include "sinter/explain/explain.hpp"
#include "sinter/explain/html.hpp"
#endif
#ifdef __CUDACC__
#include "sinter/run/captured.cuh"
#endif
