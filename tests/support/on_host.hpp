// Where the cases of this translation unit run: on the host. support/on_cuda.cuh is its twin.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>

#include "sinter/sinter.hpp"

namespace place {

inline constexpr const sinter::host_executor& executor() { return sinter::host; }

/// Memory that kernels can use, aligned as cudaMalloc's.
class memory {
 public:
  explicit memory(std::size_t bytes) : bytes_(bytes), owner_(new char[bytes + alignment]) {
    const auto address = reinterpret_cast<std::uintptr_t>(owner_.get());
    data_ = owner_.get() + (alignment - address % alignment) % alignment;
  }
  void* data() const { return data_; }
  void upload(const void* from) const { std::memcpy(data_, from, bytes_); }
  void download(void* to) const { std::memcpy(to, data_, bytes_); }

 private:
  static constexpr std::size_t alignment = 256;
  std::size_t bytes_;
  std::unique_ptr<char[]> owner_;
  char* data_;
};

inline void finish() {}

}  // namespace place
