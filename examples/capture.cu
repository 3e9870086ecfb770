// Lesson: a fused function in a CUDA graph. Calls are asynchronous and capture-safe: captured once, the whole sequence
// is launched again with one call. The executor may bring a workspace of the caller's; its size is a constant of the
// plan. SPDX-License-Identifier: BSL-1.0
#include <sinter/sinter.hpp>

#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <vector>

namespace si = sinter;

constexpr int size = 256;
using Matrix = si::tensor<float, size, size>;
constexpr auto smooth = [](auto x, auto mixing) { return si::assign(x, si::tanh(si::matmul(x, mixing))); };
constexpr auto f = si::fuse<Matrix, Matrix>(smooth);
static_assert(f.kernel_count() == 2 && f.workspace_bytes() > 0);

void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

int main() {
  // The matrix takes the mean of an element and its neighbour.
  std::vector<float> x(size * size), mixing(size * size), result(size * size);
  for (int i = 0; i < size * size; ++i) x[i] = std::sin(0.01f * static_cast<float>(i));
  for (int i = 0; i < size; ++i) mixing[i * size + i] = mixing[(i + 1) % size * size + i] = 0.5f;

  float *device_x, *device_mixing;
  si::cuda_executor executor{};
  executor.workspace_bytes = f.workspace_bytes();
  check(cudaMalloc(&device_x, x.size() * sizeof(float)));
  check(cudaMalloc(&device_mixing, mixing.size() * sizeof(float)));
  check(cudaMalloc(&executor.workspace, static_cast<std::size_t>(executor.workspace_bytes)));
  check(cudaMemcpy(device_x, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice));
  check(cudaMemcpy(device_mixing, mixing.data(), mixing.size() * sizeof(float), cudaMemcpyHostToDevice));

  check(cudaStreamCreate(&executor.stream));
  cudaGraph_t graph;
  cudaGraphExec_t launchable;
  check(cudaStreamBeginCapture(executor.stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 10; ++i) f(executor, Matrix(device_x), Matrix(device_mixing));
  check(cudaStreamEndCapture(executor.stream, &graph));
  check(cudaGraphInstantiate(&launchable, graph, 0));
  for (int i = 0; i < 3; ++i) check(cudaGraphLaunch(launchable, executor.stream));
  check(cudaStreamSynchronize(executor.stream));
  check(cudaMemcpy(result.data(), device_x, result.size() * sizeof(float), cudaMemcpyDeviceToHost));

  double worst = 0;
  for (int row = 0; row < size; ++row) {
    std::vector<double> now(x.begin() + row * size, x.begin() + (row + 1) * size), next(size);
    for (int step = 0; step < 30; ++step, now.swap(next))
      for (int i = 0; i < size; ++i) next[i] = std::tanh(0.5 * (now[i] + now[(i + 1) % size]));
    for (int i = 0; i < size; ++i) worst = std::fmax(worst, std::fabs(result[row * size + i] - now[i]));
  }
  std::printf("30 steps in 3 launches of a graph, largest error %.2g\n", worst);
  return worst < 1e-2 ? 0 : 1;
}
