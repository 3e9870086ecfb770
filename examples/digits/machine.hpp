// Where the digits example runs: on the host or, when nvcc compiled it and a GPU is there at run time, on the GPU. Both
// machines offer the same few words, so that the training is written once.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sinter/sinter.hpp>

#include <stdexcept>
#include <vector>

namespace digits {

struct host_machine {
  static constexpr const char* name = "host";
  auto executor() const { return sinter::host; }
  void wait() const {}
  template <class T>
  std::vector<T> put(const std::vector<T>& values) const {
    return values;
  }
  template <class T>
  std::vector<T> get(const std::vector<T>& array) const {
    return array;
  }
};

#ifdef __CUDACC__

inline void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

/// Memory on the GPU. sinter's tensors take whatever has data() and size().
template <class T>
class device_array {
 public:
  explicit device_array(std::size_t size) : size_(size) { check(cudaMalloc(&data_, size * sizeof(T))); }
  ~device_array() { cudaFree(data_); }
  device_array(device_array&& other) noexcept : data_(other.data_), size_(other.size_) { other.data_ = nullptr; }
  device_array& operator=(device_array&& other) noexcept {
    std::swap(data_, other.data_), std::swap(size_, other.size_);
    return *this;
  }
  T* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

class cuda_machine {
 public:
  static constexpr const char* name = "GPU";
  static bool is_there() {
    int devices = 0;
    return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
  }
  cuda_machine() { check(cudaStreamCreate(&stream_)); }
  ~cuda_machine() { cudaStreamDestroy(stream_); }
  cuda_machine(const cuda_machine&) = delete;
  cuda_machine& operator=(const cuda_machine&) = delete;

  cudaStream_t executor() const { return stream_; }
  void wait() const { check(cudaStreamSynchronize(stream_)); }
  template <class T>
  device_array<T> put(const std::vector<T>& values) const {
    device_array<T> array(values.size());
    check(cudaMemcpyAsync(array.data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice, stream_));
    wait();
    return array;
  }
  template <class T>
  std::vector<T> get(const device_array<T>& array) const {
    std::vector<T> values(array.size());
    check(cudaMemcpyAsync(values.data(), array.data(), values.size() * sizeof(T), cudaMemcpyDeviceToHost, stream_));
    wait();
    return values;
  }

 private:
  cudaStream_t stream_ = nullptr;
};

#endif

}  // namespace digits
