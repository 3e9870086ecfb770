// Lesson: an application of ordinary C++ files that uses fused functions. This file is compiled by the host compiler
// and knows kernels.hpp; only kernels.cu needs nvcc, and is compiled again only when a kernel changes.
// SPDX-License-Identifier: BSL-1.0
#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

#include "kernels.hpp"

void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

struct device_deleter {
  void operator()(void* data) const { cudaFree(data); }
};
template <class T>
std::unique_ptr<T[], device_deleter> on_device(const std::vector<T>& values) {
  void* data = nullptr;
  check(cudaMalloc(&data, values.size() * sizeof(T)));
  std::unique_ptr<T[], device_deleter> array(static_cast<T*>(data));
  check(cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return array;
}
template <class T>
void to_host(std::vector<T>& values, const T* device) {
  check(cudaMemcpy(values.data(), device, values.size() * sizeof(T), cudaMemcpyDeviceToHost));
}

int main() try {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("There is no GPU here; nothing was run.");
    return 0;
  }

  // Queries are some of the vectors, scaled and a little turned: each must find the one it comes from.
  const int count = 5000, num_queries = 200, width = search::width;
  std::vector<float> vectors(count * width), queries(num_queries * width);
  unsigned state = 1;
  for (float& v : vectors) v = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) / 8388608.0f - 1;
  const auto origin = [](int query) { return 23 * query + 7; };
  for (int q = 0; q < num_queries; ++q)
    for (int i = 0; i < width; ++i)
      queries[q * width + i] = 3 * vectors[origin(q) * width + i] + 0.5f * std::sin(static_cast<float>(q + i));

  std::vector<std::int64_t> nearest(num_queries);
  std::vector<float> similarity(num_queries);
  const auto device_vectors = on_device(vectors), device_queries = on_device(queries),
             device_similarity = on_device(similarity);
  const auto device_nearest = on_device(nearest);
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));

  search::normalize(stream, device_vectors.get(), count);
  search::normalize(stream, device_queries.get(), num_queries);
  search::find_nearest(stream, device_queries.get(), num_queries, device_vectors.get(), count, device_nearest.get(),
                       device_similarity.get());

  check(cudaStreamSynchronize(stream));
  to_host(nearest, device_nearest.get());
  to_host(similarity, device_similarity.get());
  for (int q = 0; q < num_queries; ++q) {
    const float *a = &queries[q * width], *b = &vectors[origin(q) * width];
    double ab = 0, aa = 0, bb = 0;
    for (int i = 0; i < width; ++i) ab += a[i] * b[i], aa += a[i] * a[i], bb += b[i] * b[i];
    const double expected = ab / std::sqrt(aa * bb);
    if (nearest[q] != origin(q) || std::fabs(similarity[q] - expected) > 1e-3) {
      std::printf("query %d: found %ld at %g, expected %d at %g\n", q, static_cast<long>(nearest[q]), similarity[q],
                  origin(q), expected);
      return 1;
    }
  }
  std::printf("%d queries found their vector among %d.\n", num_queries, count);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "application: %s\n", error.what());
  return 1;
}
