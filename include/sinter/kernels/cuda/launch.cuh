// One checked kernel launch. It goes through cudaLaunchKernel, whose status is its own: an older error is not blamed on
// this kernel.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/base/atomic_number.hpp"
#include "sinter/kernels/cuda/error.cuh"
#include "sinter/kernels/cuda/overlap.cuh"
#include "sinter/kernels/cuda/start_rule.hpp"

namespace sinter::cuda::detail {

template <class T>
struct as_is {
  using type = T;
};

/// Dynamic shared memory of a block, in bytes; and how much of a multiprocessor's its blocks shall have together, in
/// percent, the rest of which is the L1's. -1: as much as they fill.
struct shared_memory {
  int bytes, share = -1;
  shared_memory(int bytes, int share = -1) : bytes(bytes), share(share) {}
};

/// What a launch asks for besides its shape.
class launch_rules {
 public:
  void overlap() {
    auto& value = add(cudaLaunchAttributeProgrammaticStreamSerialization);
    value.programmaticStreamSerializationAllowed = 1;
  }
  void together() { add(cudaLaunchAttributeCooperative).cooperative = 1; }
  void start(start_rule rule) {
    if (rule == start_rule::together) together();
    else if (rule == start_rule::overlapping && kernels_overlap) overlap();
  }
  void share(int percent) {
    add(cudaLaunchAttributePreferredSharedMemoryCarveout).sharedMemCarveout = static_cast<unsigned>(percent);
  }
  /// Of so many blocks, side by side in the grid.
  void clusters(unsigned blocks) { add(cudaLaunchAttributeClusterDimension).clusterDim = {blocks, 1, 1}; }

  /// They must outlive the launch.
  void apply_to(cudaLaunchConfig_t& config) {
    config.attrs = rules_;
    config.numAttrs = count_;
  }

 private:
  cudaLaunchAttributeValue& add(cudaLaunchAttributeID id) {
    rules_[count_].id = id;
    return rules_[count_++].val;
  }
  cudaLaunchAttribute rules_[2]{};
  unsigned count_ = 0;
};

inline void launch_by(launch_rules& rules, const void* kernel, dim3 grid, dim3 block, int shared_bytes,
                      cudaStream_t stream, const char* name, void** arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = static_cast<std::size_t>(shared_bytes);
  config.stream = stream;
  rules.apply_to(config);
  check(cudaLaunchKernelExC(&config, kernel, arguments), "cudaLaunchKernelExC", name);
}

template <class... Parameters>
void launch(start_rule rule, void (*kernel)(Parameters...), dim3 grid, dim3 block, const shared_memory& shared,
            cudaStream_t stream, const char* name, const typename as_is<Parameters>::type&... arguments) {
  void* addresses[] = {const_cast<void*>(static_cast<const void*>(&arguments))...};
  launch_rules rules;
  rules.start(rule);
  if (shared.share >= 0) rules.share(shared.share);
  launch_by(rules, reinterpret_cast<const void*>(kernel), grid, block, shared.bytes, stream, name, addresses);
}
template <class... Parameters>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, const shared_memory& shared, cudaStream_t stream,
            const char* name, const typename as_is<Parameters>::type&... arguments) {
  launch(start_rule::overlapping, kernel, grid, block, shared, stream, name, arguments...);
}
template <class... Parameters>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t stream, const char* name,
            const typename as_is<Parameters>::type&... arguments) {
  launch(kernel, grid, block, 0, stream, name, arguments...);
}

/// Lets a kernel have more dynamic shared memory than 48 KB. Asked for once on each device, of which `asked` has a bit.
inline void allow_shared_memory(const void* kernel, int bytes, sinter::detail::atomic_number<std::uint64_t>& asked,
                                const char* name) {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice", name);
  const std::uint64_t bit = device < 64 ? std::uint64_t(1) << device : 0;
  if ((asked.load() & bit) != 0) return;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "cudaFuncSetAttribute", name);
  asked.fetch_or(bit);
}

/// What choices at launch have to know of the current device.
struct device_limits {
  int multiprocessors, shared_bytes;  // most that a block may ask for
  /// Does memory move more than 16 bytes in a cycle of each multiprocessor (an H200's 19, an H100's 13)? Then kernels
  /// of few instructions are chosen where others wait less.
  bool fast_memory;
  /// What memory takes to move so many bytes, as a copy does: 3.0 TB/s on an H100, 4.2 on an H200.
  constexpr double microseconds(double bytes) const {
    return bytes / (multiprocessors * (fast_memory ? 32e3 : 22.7e3));
  }
};
inline device_limits limits_of_device(const char* name) {
  static constinit sinter::detail::atomic_number<std::uint64_t> known[64];
  constexpr std::uint64_t fast_memory = std::uint64_t(1) << 63;
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice", name);
  std::uint64_t all = device < 64 ? known[device].load() : 0;
  if (all == 0) {
    const auto ask = [&](cudaDeviceAttr attribute) -> std::int64_t {
      int value = 0;
      check(cudaDeviceGetAttribute(&value, attribute, device), "cudaDeviceGetAttribute", name);
      return value;
    };
    const std::int64_t count = ask(cudaDevAttrMultiProcessorCount),
                       bytes = ask(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    const std::int64_t moved = 2 * ask(cudaDevAttrMemoryClockRate) * ask(cudaDevAttrGlobalMemoryBusWidth) / 8;
    all = static_cast<std::uint64_t>(count << 32 | bytes);
    if (moved > 16 * count * ask(cudaDevAttrClockRate)) all |= fast_memory;
    if (device < 64) known[device].store(all);
  }
  return {static_cast<int>(all >> 32 & 0x7fffffffu), static_cast<int>(all & 0xffffffffu), (all & fast_memory) != 0};
}

}  // namespace sinter::cuda::detail
