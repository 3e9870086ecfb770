// The cases of benchmarks/cuda without sinter: what CUB has an answer for is CUB's, the rest are kernels as a competent
// user would write them. A case is a class with its data: launch(), bytes(), complaint(). Timing is device.cuh's.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cuda_bf16.h>

#include <algorithm>
#include <cmath>
#include <cub/block/block_reduce.cuh>
#include <cuda/functional>
#include <memory>

#include "cuda/device.cuh"

namespace bench {

using bf16 = __nv_bfloat16;

/// Sixteen bytes, which a thread moves at once.
template <class T>
struct alignas(16) vector {
  static constexpr int size = 16 / sizeof(T);
  T values[size];
};

/// A pointer to elements as one to vectors.
template <class T>
__host__ __device__ vector<T>* vectors(T* p) {
  return reinterpret_cast<vector<T>*>(p);
}
template <class T>
__host__ __device__ const vector<T>* vectors(const T* p) {
  return reinterpret_cast<const vector<T>*>(p);
}

template <class T>
buffer<T> filled(std::int64_t size, const range& r = {}) {
  buffer<T> b(static_cast<std::size_t>(size));
  fill(b.data(), size, r);
  return b;
}
template <class T>
buffer<T> poisoned(std::int64_t size) {
  buffer<T> b(static_cast<std::size_t>(size));
  poison(b.data(), size);
  return b;
}

/// CUB's scratch memory: call(nullptr, bytes) says how much, call(memory, bytes) runs.
class scratch {
 public:
  template <class Call>
  void run(Call call) {
    std::size_t bytes = 0;
    if (!memory_) {
      check(call(nullptr, bytes), "CUB");
      memory_ = std::make_unique<buffer<char>>(bytes);
    }
    bytes = memory_->size();
    check(call(static_cast<void*>(memory_->data()), bytes), "CUB");
  }

 private:
  std::unique_ptr<buffer<char>> memory_;
};

template <class T, class Reference>
__global__ void sample_kernel(const T* results, std::int64_t size, Reference reference, double2* pairs, int samples) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= samples) return;
  const auto mixed = static_cast<std::uint64_t>(k) * 0x9e3779b97f4a7c15u;
  const std::int64_t i = k == samples - 1 ? size - 1 : static_cast<std::int64_t>((mixed >> 8) % size);
  pairs[k] = {static_cast<double>(static_cast<float>(results[i])), reference(i)};
}

/// Compares results with reference(i), which is computed naively in double; on a sample. In a sentence; empty if right.
template <class T, class Reference>
std::string compare(const buffer<T>& results, Reference reference) {
  constexpr int samples = 4096;
  const buffer<double2> pairs(samples);
  sample_kernel<<<samples / 64, 64, 0, stream()>>>(results.data(), static_cast<std::int64_t>(results.size()), reference,
                                                   pairs.data(), samples);
  check(cudaGetLastError(), "sample");
  std::vector<double2> values;
  download(pairs.data(), samples, values);
  double largest = 0;
  for (const double2& v : values) largest = std::max(largest, std::fabs(v.y));
  for (const double2& v : values)
    if (!(std::fabs(v.x - v.y) <= (sizeof(T) == 2 ? 2e-2 : 2e-5) * largest))
      return "the result is " + in_digits(v.x) + " and should be " + in_digits(v.y) + ". ";
  return {};
}

/// One benchmark; make() returns a case with data of its own.
template <class Make>
void add(const std::string& name, Make make) {
  add_timed(name, [=](::benchmark::State& state) {
    std::vector<decltype(make())> sets;
    sets.push_back(make());
    sets[0].launch();
    check(cudaGetLastError(), "launch");
    const std::string complaint = sets[0].complaint();
    if (!complaint.empty()) return state.SkipWithError(complaint.c_str());
    const double bytes = sets[0].bytes();
    for (int i = num_sets(bytes); i > 1; --i) {
      sets.push_back(make());
      sets.back().launch();  // takes its scratch memory before launches are captured
    }
    measure(state, "CUB", bytes, static_cast<int>(sets.size()),
            [&](int i) { sets[static_cast<std::size_t>(i)].launch(); });
  });
}

}  // namespace bench
