// Lesson: a plan of several kernels as one CUDA graph. captured records a call once; a replay is one launch, whatever
// the number of kernels. Called with other arguments it updates the graph first. The workspace is the graph's own.
// SPDX-License-Identifier: BSL-1.0
#include <sinter/sinter.hpp>

#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <vector>

namespace si = sinter;

constexpr int size = 256;
using Matrix = si::tensor<float, size, size>;
constexpr auto smooth = [](auto x, auto mixing, auto gain) {
  return si::assign(x, si::tanh(gain * si::matmul(x, mixing)));
};
constexpr auto f = si::fuse<Matrix, Matrix, si::value<float>>(smooth);
static_assert(f.kernel_count() == 2);

void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

int main() {
  // The matrix takes the mean of an element and its neighbour.
  std::vector<float> x(size * size), mixing(size * size), result(size * size);
  for (int i = 0; i < size * size; ++i) x[i] = std::sin(0.01f * static_cast<float>(i));
  for (int i = 0; i < size; ++i) mixing[i * size + i] = mixing[(i + 1) % size * size + i] = 0.5f;

  float *device_x, *device_mixing;
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));
  check(cudaMalloc(&device_x, x.size() * sizeof(float)));
  check(cudaMalloc(&device_mixing, mixing.size() * sizeof(float)));
  check(cudaMemcpy(device_x, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice));
  check(cudaMemcpy(device_mixing, mixing.data(), mixing.size() * sizeof(float), cudaMemcpyHostToDevice));

  const Matrix state(device_x), weights(device_mixing);
  si::captured step(f, state, weights, 1.0f);                       // records, runs nothing
  for (int i = 0; i < 20; ++i) step(stream);                        // replays
  for (int i = 0; i < 10; ++i) step(stream, state, weights, 1.1f);  // the first one updates the graph
  check(cudaStreamSynchronize(stream));
  check(cudaMemcpy(result.data(), device_x, result.size() * sizeof(float), cudaMemcpyDeviceToHost));

  double worst = 0;
  for (int row = 0; row < size; ++row) {
    std::vector<double> now(x.begin() + row * size, x.begin() + (row + 1) * size), next(size);
    for (int i = 0; i < 30; ++i, now.swap(next))
      for (int k = 0; k < size; ++k) next[k] = std::tanh((i < 20 ? 0.5 : 0.55) * (now[k] + now[(k + 1) % size]));
    for (int k = 0; k < size; ++k) worst = std::fmax(worst, std::fabs(result[row * size + k] - now[k]));
  }
  std::printf("30 steps of %d kernels in 30 launches, largest error %.2g\n", f.kernel_count(), worst);
  return worst < 1e-2 ? 0 : 1;
}
