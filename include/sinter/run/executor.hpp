// Executors: where a fused function runs. `host` here; a cudaStream_t, or cuda_executor, in run/cuda.cuh.
// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace sinter {

/// Runs on the calling machine's processor, synchronously. `host_executor{4}` uses at most four threads; 0 is all.
struct host_executor {
  int threads = 0;
};
inline constexpr host_executor host{};

namespace detail {
/// run(call, executor, kernels): how an executor runs a plan, specialised in its own header.
template <class Executor>
struct runner;
}  // namespace detail

}  // namespace sinter
