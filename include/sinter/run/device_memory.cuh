// Does an argument lie where its kernels run? CUDA is asked once for each page of device memory that a thread meets;
// what it said is remembered by the page, so that a repeated call asks nothing. Only memory found good is remembered:
// who is refused has been looked up at this very call. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "sinter/kernels/cuda/error.cuh"
#include "sinter/run/call.hpp"

namespace sinter::detail {

/// Device memory is mapped by pages of 2 MiB: what lies in one lies on one device, and none of it is the host's.
inline constexpr int device_page_bits = 21;

/// The pages last seen, and on which device. Memory that was freed since is forgotten only when its place is taken: a
/// call on it is then not refused, and CUDA reports the error, if it is one.
class known_pages {
 public:
  bool contains(const void* p, int device) const { return keys_[place(key(p, device))] == key(p, device); }
  void insert(const void* p, int device) { keys_[place(key(p, device))] = key(p, device); }

 private:
  static constexpr int num_bits = 8;
  static std::uint64_t key(const void* p, int device) {  // never 0, which is a free place
    const std::uint64_t page = reinterpret_cast<std::uintptr_t>(p) >> device_page_bits;
    return (page << 16) + static_cast<std::uint64_t>(device) + 1;
  }
  /// Neighbours, and pages that powers of two separate, get places of their own.
  static std::size_t place(std::uint64_t key) { return key * 0x9E3779B97F4A7C15u >> (64 - num_bits); }

  std::uint64_t keys_[1 << num_bits];
};

inline known_pages& pages_known_to_thread() {
  static thread_local constinit known_pages pages{};
  return pages;
}

/// Memory of the current device, or pinned or managed memory; otherwise an exception that names the argument.
template <class Program>
void check_device(const call<Program>& c) {
  known_pages& known = pages_known_to_thread();
  int device = 0;
  cuda::detail::check(cudaGetDevice(&device), "cudaGetDevice", "fuse");
  for (int i = 0; i < c.num_arguments; ++i) {
    const bound_argument& b = c.arguments[i];
    if (b.by_value || b.bytes == 0 || known.contains(b.data, device)) continue;
    cudaPointerAttributes attributes{};
    cuda::detail::check(cudaPointerGetAttributes(&attributes, b.data), "cudaPointerGetAttributes", "fuse");
    if (attributes.type == cudaMemoryTypeUnregistered)
      throw argument_error(argument_name(i, c.num_inputs) +
                           " is host memory; copy it to the device, or run on si::host");
    if (attributes.type != cudaMemoryTypeDevice) continue;
    if (attributes.device != device)
      throw argument_error(text_of(
          {argument_name(i, c.num_inputs), " lies on device ", attributes.device, ", the current device is ", device}));
    known.insert(b.data, device);
  }
}

}  // namespace sinter::detail
