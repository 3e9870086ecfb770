// Pointwise cases: cub::DeviceTransform where one operation on equal indices is all, else an index and cub::DeviceFor.
// SPDX-License-Identifier: BSL-1.0
#include <cub/device/device_for.cuh>
#include <cub/device/device_transform.cuh>
#include <cuda/std/tuple>

#include "cub.cuh"

namespace {

using namespace bench;

struct identity {
  template <class R>
  __host__ __device__ static R compute(R x) {
    return x;
  }
};
struct chain {
  template <class R>
  __host__ __device__ static R compute(R x) {
    return fmax(tanh(x * R(1.5) + R(0.5)) - 1 / (1 + exp(-x)), R(0)) * x;
  }
};
struct swiglu {
  template <class R>
  __host__ __device__ static R compute(R gate, R up) {
    return gate / (1 + exp(-gate)) * up;
  }
};
struct scale_add {
  template <class R>
  __host__ __device__ static R compute(R x, R y) {
    return x * 2 + y;
  }
};

/// Op on values of T, in float.
template <class Op>
struct in_float {
  template <class T, class... More>
  __device__ T operator()(T x, More... more) const {
    return static_cast<T>(Op::compute(static_cast<float>(x), static_cast<float>(more)...));
  }
};

template <class Op, class T>
struct unary {
  std::int64_t n;
  buffer<T> x = filled<T>(n), y = poisoned<T>(n);
  void launch() {
    check(cub::DeviceTransform::Transform(x.data(), y.data(), n, in_float<Op>{}, stream()), "Transform");
  }
  double bytes() const { return 2.0 * sizeof(T) * n; }
  struct reference {
    const T* x;
    __device__ double operator()(std::int64_t i) const { return Op::compute(static_cast<double>(float(x[i]))); }
  };
  std::string complaint() const { return compare(y, reference{x.data()}); }
};

template <class Op, class T>
struct binary {
  std::int64_t n;
  int lists = 1;  ///< as many launches, on as many pieces
  buffer<T> x = filled<T>(n), y = filled<T>(n), z = poisoned<T>(n);
  void launch() {
    const std::int64_t piece = n / lists;
    for (std::int64_t i = 0; i < n; i += piece)
      check(cub::DeviceTransform::Transform(cuda::std::make_tuple(x.data() + i, y.data() + i), z.data() + i, piece,
                                            in_float<Op>{}, stream()),
            "Transform");
  }
  double bytes() const { return 3.0 * sizeof(T) * n; }
  struct reference {
    const T *x, *y;
    __device__ double operator()(std::int64_t i) const {
      return Op::compute(static_cast<double>(float(x[i])), static_cast<double>(float(y[i])));
    }
  };
  std::string complaint() const { return compare(z, reference{x.data(), y.data()}); }
};

struct bias_gelu {
  std::int64_t rows, width;
  buffer<bf16> x = filled<bf16>(rows * width), bias = filled<bf16>(width), y = poisoned<bf16>(rows * width);
  template <class R>
  __device__ static R compute(R v) {
    return R(0.5) * v * (1 + erf(v * R(0.7071067811865476)));
  }
  struct op {
    const bf16 *x, *bias;
    bf16* y;
    std::int64_t width;
    __device__ void operator()(std::int64_t i) const {
      vector<bf16> v = vectors(x)[i];
      const vector<bf16> b = vectors(bias)[i % (width / v.size)];
      for (int k = 0; k < v.size; ++k) v.values[k] = compute(float(v.values[k]) + float(b.values[k]));
      vectors(y)[i] = v;
    }
  };
  void launch() {
    check(cub::DeviceFor::Bulk(rows * width / 8, op{x.data(), bias.data(), y.data(), width}, stream()), "Bulk");
  }
  double bytes() const { return 2.0 * (2.0 * rows * width + width); }
  struct reference {
    const bf16 *x, *bias;
    std::int64_t width;
    __device__ double operator()(std::int64_t i) const {
      return compute(static_cast<double>(float(x[i])) + float(bias[i % width]));
    }
  };
  std::string complaint() const { return compare(y, reference{x.data(), bias.data(), width}); }
};

struct rope {
  static constexpr std::int64_t batch = 4, tokens = 4096, heads = 32, width = 128, n = batch * tokens * heads * width;
  buffer<bf16> x = filled<bf16>(n), cosine = filled<bf16>(tokens * width), sine = filled<bf16>(tokens * width);
  buffer<bf16> y = poisoned<bf16>(n);
  struct op {
    const bf16 *x, *cosine, *sine;
    bf16* y;
    template <class R>
    __device__ R compute(std::int64_t i) const {
      const std::int64_t column = i % width, table = i / (heads * width) % tokens * width + column;
      const R partner = column < width / 2 ? -R(float(x[i + width / 2])) : R(float(x[i - width / 2]));
      return R(float(x[i])) * R(float(cosine[table])) + partner * R(float(sine[table]));
    }
    __device__ void operator()(std::int64_t v) const {
      vector<bf16> result;
      for (int k = 0; k < result.size; ++k) result.values[k] = compute<float>(v * result.size + k);
      vectors(y)[v] = result;
    }
  };
  struct reference {
    op f;
    __device__ double operator()(std::int64_t i) const { return f.compute<double>(i); }
  };
  op make() const { return {x.data(), cosine.data(), sine.data(), y.data()}; }
  void launch() { check(cub::DeviceFor::Bulk(n / 8, make(), stream()), "Bulk"); }
  double bytes() const { return 2.0 * (2.0 * n + 2.0 * tokens * width); }
  std::string complaint() const { return compare(y, reference{make()}); }
};

struct adam {
  std::int64_t n;
  buffer<float> p = filled<float>(n), g = filled<float>(n), m = filled<float>(n), v = filled<float>(n, {.low = 0});
  buffer<float> old_p = copy(p), old_m = copy(m), old_v = copy(v);  // of the first call
  static buffer<float> copy(const buffer<float>& from) {
    buffer<float> to(from.size());
    check(cudaMemcpyAsync(to.data(), from.data(), from.size() * sizeof(float), cudaMemcpyDeviceToDevice, stream()),
          "cudaMemcpy");
    return to;
  }
  struct op {
    float *p, *g, *m, *v;
    __device__ void operator()(std::int64_t i) const {
      vector<float> ps = vectors(p)[i], gs = vectors(g)[i], ms = vectors(m)[i], vs = vectors(v)[i];
      for (int k = 0; k < ps.size; ++k) {
        ms.values[k] = 0.9f * ms.values[k] + 0.1f * gs.values[k];
        vs.values[k] = 0.999f * vs.values[k] + 0.001f * gs.values[k] * gs.values[k];
        ps.values[k] -= 1e-3f * ms.values[k] / (sqrtf(vs.values[k]) + 1e-8f);
      }
      vectors(p)[i] = ps, vectors(m)[i] = ms, vectors(v)[i] = vs;
    }
  };
  void launch() { check(cub::DeviceFor::Bulk(n / 4, op{p.data(), g.data(), m.data(), v.data()}, stream()), "Bulk"); }
  double bytes() const { return 7.0 * sizeof(float) * n; }
  struct reference {
    const float *p, *g, *m, *v;
    __device__ double operator()(std::int64_t i) const {
      const double first = 0.9 * m[i] + 0.1 * g[i], second = 0.999 * v[i] + 0.001 * g[i] * g[i];
      return p[i] - 1e-3 * first / (sqrt(second) + 1e-8);
    }
  };
  std::string complaint() const { return compare(p, reference{old_p.data(), g.data(), old_m.data(), old_v.data()}); }
};

/// x + transpose(y): tiles through shared memory, padded against bank conflicts.
__global__ void transpose_add_kernel(const float* x, const float* y, float* z, int n) {
  __shared__ float tile[32][33];
  const int column = blockIdx.x * 32, row = blockIdx.y * 32;
  for (int k = threadIdx.y; k < 32; k += blockDim.y)
    tile[k][threadIdx.x] = y[std::int64_t(column + k) * n + row + threadIdx.x];
  __syncthreads();
  for (int k = threadIdx.y; k < 32; k += blockDim.y) {
    const std::int64_t i = std::int64_t(row + k) * n + column + threadIdx.x;
    z[i] = x[i] + tile[threadIdx.x][k];
  }
}
struct transpose_add {
  int n;
  buffer<float> x = filled<float>(std::int64_t(n) * n), y = filled<float>(std::int64_t(n) * n);
  buffer<float> z = poisoned<float>(std::int64_t(n) * n);
  void launch() {
    transpose_add_kernel<<<dim3(n / 32, n / 32), dim3(32, 8), 0, stream()>>>(x.data(), y.data(), z.data(), n);
  }
  double bytes() const { return 3.0 * sizeof(float) * n * n; }
  struct reference {
    const float *x, *y;
    std::int64_t n;
    __device__ double operator()(std::int64_t i) const { return double(x[i]) + y[i % n * n + i / n]; }
  };
  std::string complaint() const { return compare(z, reference{x.data(), y.data(), n}); }
};

}  // namespace

int main(int argc, char** argv) {
  add("copy_f32_256M", [] { return unary<identity, float>{64 << 20}; });
  add("chain_f32_64M", [] { return unary<chain, float>{64 << 20}; });
  add("chain_bf16_128M", [] { return unary<chain, bf16>{128 << 20}; });
  add("small_chain_f32_4096", [] { return unary<chain, float>{4096}; });
  add("bias_gelu_bf16_16384x8192", [] { return bias_gelu{16384, 8192}; });
  add("swiglu_bf16_16384x11008", [] { return binary<swiglu, bf16>{16384 * 11008}; });
  add("transpose_add_f32_8192", [] { return transpose_add{8192}; });
  add("rope_bf16_4x4096x32x128", [] { return rope{}; });
  add("adam_f32_32M", [] { return adam{32 << 20}; });
  add("foreach_scale_add_64x1M_f32", [] { return binary<scale_add, float>{64 << 20, 64}; });
  return run(argc, argv);
}
