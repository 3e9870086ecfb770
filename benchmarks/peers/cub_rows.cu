// Row cases as kernels of a block for each row: the row stays on chip, cub::BlockReduce reduces it.
// SPDX-License-Identifier: BSL-1.0
#include <cub/device/device_reduce.cuh>

#include "cub.cuh"

namespace {

using namespace bench;

/// The reduction of all threads' values, for all threads.
template <int Threads, class Op>
__device__ float reduce(float value, Op op) {
  using block = cub::BlockReduce<float, Threads>;
  __shared__ typename block::TempStorage storage;
  __shared__ float result;
  const float reduced = block(storage).Reduce(value, op);
  if (threadIdx.x == 0) result = reduced;
  __syncthreads();
  const float total = result;
  __syncthreads();  // before the storage is used again
  return total;
}

extern __shared__ uint4 shared_row[];

/// A thread's part of a row: every Threads-th of its vectors, in registers or, where those are too few, shared memory.
template <class T, int Threads, int Vectors>
struct row_part {
  static constexpr int size = vector<T>::size;
  static constexpr std::size_t shared_bytes = Vectors > 4 ? 16u * Threads* Vectors : 0;
  vector<T> held[shared_bytes > 0 ? 1 : Vectors];

  __device__ static int index(int v) { return v * Threads + static_cast<int>(threadIdx.x); }
  __device__ vector<T>& at(int v) {
    if constexpr (shared_bytes > 0) return reinterpret_cast<vector<T>*>(shared_row)[index(v)];
    else return held[v];
  }
  __device__ void load(const T* row, int width) {
#pragma unroll
    for (int v = 0; v < Vectors; ++v)
      if (index(v) * size < width) at(v) = vectors(row)[index(v)];
  }
  __device__ void store(T* row, int width) {
#pragma unroll
    for (int v = 0; v < Vectors; ++v)
      if (index(v) * size < width) vectors(row)[index(v)] = at(v);
  }
  /// f(value, column) of each; what it returns, if anything, takes the value's place.
  template <class F>
  __device__ void each(int width, F f) {
#pragma unroll
    for (int v = 0; v < Vectors; ++v) {
      if (index(v) * size >= width) continue;
#pragma unroll
      for (int k = 0; k < size; ++k) {
        const auto value = static_cast<float>(at(v).values[k]);
        if constexpr (std::is_void_v<decltype(f(value, 0))>) f(value, index(v) * size + k);
        else at(v).values[k] = static_cast<T>(f(value, index(v) * size + k));
      }
    }
  }
};

template <class T, int Threads, int Vectors>
__global__ __launch_bounds__(Threads) void softmax_kernel(const T* x, T* y, int width) {
  const std::int64_t row = std::int64_t(blockIdx.x) * width;
  row_part<T, Threads, Vectors> part;
  part.load(x + row, width);
  float largest = -INFINITY, total = 0;
  part.each(width, [&](float v, int) { largest = fmaxf(largest, v); });
  largest = reduce<Threads>(largest, cuda::maximum<>{});
  part.each(width, [&](float v, int) { total += __expf(v - largest); });
  const float scale = 1 / reduce<Threads>(total, cuda::std::plus<>{});
  part.each(width, [&](float v, int) { return __expf(v - largest) * scale; });
  part.store(y + row, width);
}

enum class norm { layer, rms, add_rms, layer_gelu };

template <norm Kind, class T, int Threads, int Vectors>
__global__ __launch_bounds__(Threads) void norm_kernel(const T* x, const T* residual, const T* weight, const T* bias,
                                                       T* sum, T* y, int width) {
  const std::int64_t row = std::int64_t(blockIdx.x) * width;
  row_part<T, Threads, Vectors> part;
  part.load(x + row, width);
  if constexpr (Kind == norm::add_rms) {
    part.each(width, [&](float v, int i) { return v + static_cast<float>(residual[row + i]); });
    part.store(sum + row, width);
  }
  float mean = 0, squares = 0;
  if constexpr (Kind == norm::layer || Kind == norm::layer_gelu) {
    part.each(width, [&](float v, int) { mean += v; });
    mean = reduce<Threads>(mean, cuda::std::plus<>{}) / width;
  }
  part.each(width, [&](float v, int) { squares += (v - mean) * (v - mean); });
  squares = reduce<Threads>(squares, cuda::std::plus<>{}) / width;
  const float scale = rsqrtf(squares + (Kind == norm::layer || Kind == norm::layer_gelu ? 1e-5f : 1e-6f));
  part.each(width, [&](float v, int i) {
    v = (v - mean) * scale * static_cast<float>(weight[i]);
    if constexpr (Kind == norm::layer || Kind == norm::layer_gelu) v += static_cast<float>(bias[i]);
    if constexpr (Kind == norm::layer_gelu) v = 0.5f * v * (1 + erff(v * 0.70710678f));
    return v;
  });
  part.store(y + row, width);
}

template <class T, int Threads, int Vectors>
__global__ __launch_bounds__(Threads) void cross_entropy_kernel(const T* x, const std::int64_t* targets, float* losses,
                                                                int width) {
  const std::int64_t row = std::int64_t(blockIdx.x) * width;
  row_part<T, Threads, Vectors> part;
  part.load(x + row, width);
  float largest = -INFINITY, total = 0;
  part.each(width, [&](float v, int) { largest = fmaxf(largest, v); });
  largest = reduce<Threads>(largest, cuda::maximum<>{});
  part.each(width, [&](float v, int) { total += __expf(v - largest); });
  total = reduce<Threads>(total, cuda::std::plus<>{});
  if (threadIdx.x == 0) losses[blockIdx.x] = logf(total) + largest - static_cast<float>(x[row + targets[blockIdx.x]]);
}

/// A block for each row.
template <int Threads, class... P, class... A>
void launch_rows(void (*kernel)(P...), int rows, std::size_t shared_bytes, A... arguments) {
  const auto most = cudaFuncAttributeMaxDynamicSharedMemorySize;
  check(cudaFuncSetAttribute(kernel, most, static_cast<int>(shared_bytes)), "cudaFuncSetAttribute");
  kernel<<<rows, Threads, shared_bytes, stream()>>>(arguments...);
}

/// What a row's results are in double, read again for each element.
template <class T>
struct row_reference {
  const T *x, *residual, *weight, *bias;
  std::int64_t width;
  bool is_softmax, is_centred, with_gelu;
  __device__ double value(std::int64_t i) const {
    const double v = static_cast<float>(x[i]);
    return residual == nullptr ? v : v + static_cast<float>(residual[i]);
  }
  __device__ double operator()(std::int64_t i) const {
    const std::int64_t first = i / width * width, column = i - first;
    double largest = value(first), total = 0, exponentials = 0, squares = 0;
    for (std::int64_t k = first; k < first + width; ++k) largest = fmax(largest, value(k)), total += value(k);
    const double mean = is_centred ? total / width : 0;
    for (std::int64_t k = first; k < first + width; ++k) {
      if (is_softmax) exponentials += exp(value(k) - largest);
      else squares += (value(k) - mean) * (value(k) - mean);
    }
    if (is_softmax) return exp(value(i) - largest) / exponentials;
    double v =
        (value(i) - mean) / sqrt(squares / width + (is_centred ? 1e-5 : 1e-6)) * static_cast<float>(weight[column]);
    if (is_centred) v += static_cast<float>(bias[column]);
    return with_gelu ? 0.5 * v * (1 + erf(v * 0.7071067811865476)) : v;
  }
};

template <class T, int Threads, int Vectors>
struct softmax {
  int rows, width;
  buffer<T> x = filled<T>(std::int64_t(rows) * width), y = poisoned<T>(std::int64_t(rows) * width);
  void launch() {
    launch_rows<Threads>(softmax_kernel<T, Threads, Vectors>, rows, row_part<T, Threads, Vectors>::shared_bytes,
                         x.data(), y.data(), width);
  }
  double bytes() const { return 2.0 * sizeof(T) * rows * width; }
  std::string complaint() const {
    return compare(y, row_reference<T>{x.data(), nullptr, nullptr, nullptr, width, true, false, false});
  }
};

template <norm Kind, class T, int Threads, int Vectors>
struct normalise {
  static constexpr bool is_centred = Kind == norm::layer || Kind == norm::layer_gelu, adds = Kind == norm::add_rms;
  int rows, width;
  std::int64_t n = std::int64_t(rows) * width;
  buffer<T> x = filled<T>(n), residual = filled<T>(adds ? n : 0), weight = filled<T>(width), bias = filled<T>(width);
  buffer<T> sum = poisoned<T>(adds ? n : 0), y = poisoned<T>(n);
  void launch() {
    launch_rows<Threads>(norm_kernel<Kind, T, Threads, Vectors>, rows, row_part<T, Threads, Vectors>::shared_bytes,
                         x.data(), residual.data(), weight.data(), bias.data(), sum.data(), y.data(), width);
  }
  double bytes() const { return sizeof(T) * ((adds ? 4.0 : 2.0) * n + (is_centred ? 2.0 : 1.0) * width); }
  std::string complaint() const {
    return compare(y, row_reference<T>{x.data(), adds ? residual.data() : nullptr, weight.data(), bias.data(), width,
                                       false, is_centred, Kind == norm::layer_gelu});
  }
};

struct cross_entropy {
  int rows, width;
  buffer<bf16> x = filled<bf16>(std::int64_t(rows) * width);
  buffer<std::int64_t> targets = filled<std::int64_t>(rows, {.limit = width});
  buffer<float> losses = poisoned<float>(rows), loss = poisoned<float>(1);
  scratch memory{};
  struct mean {
    float rows;
    __device__ float operator()(float v) const { return v / rows; }
  };
  void launch() {
    launch_rows<512>(cross_entropy_kernel<bf16, 512, 8>, rows, row_part<bf16, 512, 8>::shared_bytes, x.data(),
                     targets.data(), losses.data(), width);
    memory.run([&](void* storage, std::size_t& size) {
      return cub::DeviceReduce::TransformReduce(storage, size, losses.data(), loss.data(), rows, cuda::std::plus<>{},
                                                mean{static_cast<float>(rows)}, 0.0f, stream());
    });
  }
  double bytes() const { return 2.0 * rows * width + 8.0 * rows + 2; }
  struct reference {
    const bf16* x;
    const std::int64_t* targets;
    std::int64_t width;
    __device__ double operator()(std::int64_t row) const {
      double total = 0;
      for (std::int64_t k = row * width; k < (row + 1) * width; ++k) total += exp(double(float(x[k])));
      return log(total) - float(x[row * width + targets[row]]);
    }
  };
  std::string complaint() const {
    const std::string of_rows = compare(losses, reference{x.data(), targets.data(), width});
    std::vector<float> all, mean_of_all;
    download(losses.data(), losses.size(), all);
    download(loss.data(), 1, mean_of_all);
    double expected = 0;
    for (const float v : all) expected += v / rows;
    const bool right = std::fabs(mean_of_all[0] - expected) <= 1e-4 * expected;
    return right ? of_rows : of_rows + "The mean is " + std::to_string(mean_of_all[0]) + ". ";
  }
};

template <int Threads, int Vectors>
void add_norms(const std::string& shape, int rows, int width) {
  add("softmax_" + shape, [=] { return softmax<bf16, Threads, Vectors>{rows, width}; });
  add("layernorm_" + shape, [=] { return normalise<norm::layer, bf16, Threads, Vectors>{rows, width}; });
  add("rmsnorm_" + shape, [=] { return normalise<norm::rms, bf16, Threads, Vectors>{rows, width}; });
}

}  // namespace

int main(int argc, char** argv) {
  add_norms<128, 1>("bf16_65536x1024", 65536, 1024);
  add_norms<512, 1>("bf16_16384x4096", 16384, 4096);
  add_norms<1024, 2>("bf16_4096x16384", 4096, 16384);
  add_norms<1024, 8>("bf16_2048x65536", 2048, 65536);
  add("add_rmsnorm_bf16_16384x4096", [] { return normalise<norm::add_rms, bf16, 512, 1>{16384, 4096}; });
  add("layernorm_gelu_f32_16384x4096", [] { return normalise<norm::layer_gelu, float, 512, 2>{16384, 4096}; });
  add("cross_entropy_bf16_8192x32000", [] { return cross_entropy{8192, 32000}; });
  return run(argc, argv);
}
