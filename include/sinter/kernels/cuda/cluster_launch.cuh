// Launches kernels whose blocks form clusters: those of one run at once, close to each other. What they do with that is
// cluster.cuh's matter. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/base/atomic_number.hpp"
#include "sinter/kernels/cuda/cluster.cuh"
#include "sinter/kernels/cuda/launch.cuh"

namespace sinter::cuda::detail {

template <class... Parameters>
void launch_clusters(start_rule rule, void (*kernel)(Parameters...), int cluster, dim3 grid, dim3 block,
                     int shared_bytes, cudaStream_t stream, const char* name,
                     const typename as_is<Parameters>::type&... arguments) {
  void* addresses[] = {const_cast<void*>(static_cast<const void*>(&arguments))...};
  launch_rules rules;
  rules.clusters(static_cast<unsigned>(cluster));
  rules.start(rule);
  launch_by(rules, reinterpret_cast<const void*>(kernel), grid, block, shared_bytes, stream, name, addresses);
}
/// Clusters that wait for nobody else may start before the kernel in front has ended.
template <class... Parameters>
void launch_clusters(void (*kernel)(Parameters...), int cluster, dim3 grid, dim3 block, int shared_bytes,
                     cudaStream_t stream, const char* name, const typename as_is<Parameters>::type&... arguments) {
  launch_clusters(start_rule::overlapping, kernel, cluster, grid, block, shared_bytes, stream, name, arguments...);
}

/// How many clusters of a kernel's blocks run at once on the current device, for each size: multiprocessors of one
/// share a part of the chip, so that some are left over.
class cluster_counts {
 public:
  cluster_counts() = default;
  /// Asked for once on each device, of which `known` has a byte for each size.
  cluster_counts(const void* kernel, int threads, int shared_bytes,
                 sinter::detail::atomic_number<std::uint64_t> (&known)[64], const char* name) {
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice", name);
    if (device < 64) counts_ = known[device].load();
    if (counts_ != 0) return;
    counts_ = 1;  // from now on they are known
    for (unsigned blocks = 2; blocks <= most_cluster_blocks; ++blocks) {
      launch_rules rules;
      rules.clusters(blocks);
      cudaLaunchConfig_t config{};
      config.gridDim = dim3(blocks);
      config.blockDim = dim3(static_cast<unsigned>(threads));
      config.dynamicSmemBytes = static_cast<std::size_t>(shared_bytes);
      rules.apply_to(config);
      int clusters = 0;
      check(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config), "cudaOccupancyMaxActiveClusters", name);
      counts_ |= static_cast<std::uint64_t>(clusters < 255 ? clusters : 255) << 8 * (blocks - 1);
    }
    if (device < 64) known[device].store(counts_);
  }
  /// 0: there are none of this size.
  int of(int blocks) const {
    return blocks > 1 && blocks <= most_cluster_blocks ? static_cast<int>(counts_ >> 8 * (blocks - 1) & 0xff) : 0;
  }

 private:
  std::uint64_t counts_ = 0;
};

}  // namespace sinter::cuda::detail
