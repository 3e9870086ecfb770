// Where the cases of this translation unit run: on the CUDA device. support/on_host.hpp is its twin.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <stdexcept>

#include "sinter/sinter.hpp"

namespace place {

inline void check(cudaError_t e) {
  if (e != cudaSuccess) throw std::runtime_error(cudaGetErrorString(e));
}

inline cudaStream_t executor() {
  static const cudaStream_t stream = [] {
    cudaStream_t s = nullptr;
    check(cudaStreamCreate(&s));
    return s;
  }();
  return stream;
}

/// Memory that kernels can use.
class memory {
 public:
  explicit memory(std::size_t bytes) : bytes_(bytes) { check(cudaMalloc(&data_, bytes > 0 ? bytes : 1)); }
  ~memory() { cudaFree(data_); }
  memory(const memory&) = delete;
  memory(memory&& other) noexcept : bytes_(other.bytes_), data_(other.data_) { other.data_ = nullptr; }
  void* data() const { return data_; }
  void upload(const void* from) const { check(cudaMemcpy(data_, from, bytes_, cudaMemcpyHostToDevice)); }
  void download(void* to) const { check(cudaMemcpy(to, data_, bytes_, cudaMemcpyDeviceToHost)); }

 private:
  std::size_t bytes_;
  void* data_ = nullptr;
};

inline void finish() { check(cudaStreamSynchronize(executor())); }

}  // namespace place
