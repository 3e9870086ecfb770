// Search by cosine similarity: what the application knows of its kernels. Plain functions on device pointers, so that
// neither sinter nor CUDA's language reaches the code that calls them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace search {

inline constexpr int width = 96;  ///< numbers in one vector

/// Scales each vector to length one, in place.
void normalize(cudaStream_t stream, float* vectors, std::int64_t count);

/// For each query the nearest of the vectors, and how similar it is.
void find_nearest(cudaStream_t stream, const float* queries, std::int64_t num_queries, const float* vectors,
                  std::int64_t count, std::int64_t* nearest, float* similarity);

}  // namespace search
