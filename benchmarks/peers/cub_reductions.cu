// Reductions and scans: cub::DeviceReduce, DeviceSegmentedReduce and DeviceScan; sums of columns by two kernels.
// SPDX-License-Identifier: BSL-1.0
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_for.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>

#include "cub.cuh"

namespace {

using namespace bench;

struct times {
  std::int64_t width;
  __host__ __device__ std::int64_t operator()(std::int64_t i) const { return i * width; }
};
struct over {
  std::int64_t width;
  __host__ __device__ std::int64_t operator()(std::int64_t i) const { return i / width; }
};
/// Where rows of a matrix begin.
inline auto row_starts(std::int64_t width) {
  return thrust::make_transform_iterator(thrust::make_counting_iterator(std::int64_t(0)), times{width});
}

/// The sum of every step-th element from start(i) on, `count` of them.
struct sum_reference {
  const float* x;
  std::int64_t count, start_step, step;
  __device__ double operator()(std::int64_t i) const {
    double total = 0;
    for (std::int64_t k = 0; k < count; ++k) total += x[i * start_step + k * step];
    return total;
  }
};

struct sum_of_squares {
  std::int64_t n;
  buffer<float> x = filled<float>(n), y = poisoned<float>(1);
  scratch memory{};
  struct square {
    __device__ float operator()(float v) const { return v * v; }
  };
  void launch() {
    memory.run([&](void* storage, std::size_t& size) {
      return cub::DeviceReduce::TransformReduce(storage, size, x.data(), y.data(), n, cuda::std::plus<>{}, square{},
                                                0.0f, stream());
    });
  }
  double bytes() const { return 4.0 * n + 4; }
  std::string complaint() const {
    std::vector<float> all, found;
    download(x.data(), x.size(), all);
    download(y.data(), 1, found);
    double expected = 0;
    for (const float v : all) expected += static_cast<double>(v) * v;
    if (std::fabs(found[0] - expected) <= 2e-5 * expected) return {};
    return "the sum is " + std::to_string(found[0]) + " and should be " + std::to_string(expected) + ". ";
  }
};

struct var_mean {
  std::int64_t rows, width;
  buffer<float> x = filled<float>(rows * width, {.low = 0}), variance = poisoned<float>(rows),
                mean = poisoned<float>(rows);
  scratch memory{};
  struct moments {
    float mean, squares, count;  ///< squares: of the distances from the mean
  };
  struct one {
    __host__ __device__ moments operator()(float v) const { return {v, 0, 1}; }
  };
  struct combine {
    __host__ __device__ moments operator()(moments a, moments b) const {
      const float count = a.count + b.count, difference = b.mean - a.mean;
      if (count == 0) return a;
      return {a.mean + difference * b.count / count,
              a.squares + b.squares + difference * difference * a.count * b.count / count, count};
    }
  };
  struct finish {
    const moments* all;
    float *variance, *mean;
    __device__ void operator()(std::int64_t i) const {
      variance[i] = all[i].squares / (all[i].count - 1), mean[i] = all[i].mean;
    }
  };
  buffer<moments> all{static_cast<std::size_t>(rows)};
  void launch() {
    memory.run([&](void* storage, std::size_t& size) {
      return cub::DeviceSegmentedReduce::Reduce(storage, size, thrust::make_transform_iterator(x.data(), one{}),
                                                all.data(), rows, row_starts(width), row_starts(width) + 1, combine{},
                                                moments{0, 0, 0}, stream());
    });
    check(cub::DeviceFor::Bulk(rows, finish{all.data(), variance.data(), mean.data()}, stream()), "Bulk");
  }
  double bytes() const { return 4.0 * (rows * width + 2 * rows); }
  struct variance_reference {
    const float* x;
    std::int64_t width;
    __device__ double operator()(std::int64_t i) const {
      double total = 0, squares = 0;
      for (std::int64_t k = i * width; k < (i + 1) * width; ++k) total += x[k];
      for (std::int64_t k = i * width; k < (i + 1) * width; ++k)
        squares += (x[k] - total / width) * (x[k] - total / width);
      return squares / (width - 1);
    }
  };
  struct mean_reference {
    sum_reference sum;
    __device__ double operator()(std::int64_t i) const { return sum(i) / sum.count; }
  };
  std::string complaint() const {
    return compare(variance, variance_reference{x.data(), width}) +
           compare(mean, mean_reference{{x.data(), width, width, 1}});
  }
};

/// A block sums 128 columns of its share of the rows; then the blocks' sums are added.
__global__ void column_sums_kernel(const float* x, float* partial, std::int64_t rows, std::int64_t width) {
  __shared__ vector<float> sums[8][32];
  const std::int64_t column = std::int64_t(blockIdx.x) * 32 + threadIdx.x, share = (rows + gridDim.y - 1) / gridDim.y;
  const std::int64_t end = share * (blockIdx.y + 1) < rows ? share * (blockIdx.y + 1) : rows;
  vector<float> sum{};
  for (std::int64_t r = share * blockIdx.y + threadIdx.y; r < end; r += 8) {
    const vector<float> v = vectors(x + r * width)[column];
    for (int k = 0; k < 4; ++k) sum.values[k] += v.values[k];
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y > 0) return;
  for (int w = 1; w < 8; ++w)
    for (int k = 0; k < 4; ++k) sum.values[k] += sums[w][threadIdx.x].values[k];
  vectors(partial + blockIdx.y * width)[column] = sum;
}
__global__ void add_partial_kernel(const float* partial, float* y, int parts, std::int64_t width) {
  const std::int64_t column = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int p = 0; p < parts; ++p) sum += partial[p * width + column];
  y[column] = sum;
}
struct column_sums {
  static constexpr int parts = 32;
  std::int64_t rows, width;
  buffer<float> x = filled<float>(rows * width, {.low = 0}), partial{std::size_t(parts * width)},
                y = poisoned<float>(width);
  void launch() {
    const auto strips = static_cast<unsigned>(width / 128);
    column_sums_kernel<<<dim3(strips, parts), dim3(32, 8), 0, stream()>>>(x.data(), partial.data(), rows, width);
    add_partial_kernel<<<strips, 128, 0, stream()>>>(partial.data(), y.data(), parts, width);
  }
  double bytes() const { return 4.0 * (rows * width + width); }
  std::string complaint() const { return compare(y, sum_reference{x.data(), rows, 1, width}); }
};
struct row_and_column_sums : column_sums {
  buffer<float> sums = poisoned<float>(rows);
  scratch memory{};
  void launch() {
    column_sums::launch();
    memory.run([&](void* storage, std::size_t& size) {
      return cub::DeviceSegmentedReduce::Sum(storage, size, x.data(), sums.data(), rows, row_starts(width),
                                             row_starts(width) + 1, stream());
    });
  }
  double bytes() const { return column_sums::bytes() + 4.0 * rows; }
  std::string complaint() const {
    return column_sums::complaint() + compare(sums, sum_reference{x.data(), width, width, 1});
  }
};

struct cumulative_sum {
  std::int64_t rows, width;
  buffer<float> x = filled<float>(rows * width), y = poisoned<float>(rows * width);
  scratch memory{};
  void launch() {
    memory.run([&](void* storage, std::size_t& size) {
      const auto keys = thrust::make_transform_iterator(thrust::make_counting_iterator(std::int64_t(0)), over{width});
      return cub::DeviceScan::InclusiveSumByKey(storage, size, keys, x.data(), y.data(), rows * width,
                                                cuda::std::equal_to<>{}, stream());
    });
  }
  double bytes() const { return 8.0 * rows * width; }
  struct reference {
    const float* x;
    std::int64_t width;
    __device__ double operator()(std::int64_t i) const {
      double total = 0;
      for (std::int64_t k = i / width * width; k <= i; ++k) total += x[k];
      return total;
    }
  };
  std::string complaint() const { return compare(y, reference{x.data(), width}); }
};

}  // namespace

int main(int argc, char** argv) {
  add("fullsum_sq_f32_128M", [] { return sum_of_squares{128 << 20}; });
  add("var_mean_f32_16384x8192", [] { return var_mean{16384, 8192}; });
  add("colsum_f32_16384x8192", [] { return column_sums{16384, 8192}; });
  add("rowcol_sum_f32_8192", [] { return row_and_column_sums{{8192, 8192}}; });
  add("cumsum_f32_16384x4096", [] { return cumulative_sum{16384, 4096}; });
  return run(argc, argv);
}
