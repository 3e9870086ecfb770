// The device's sine, cosine, tangent and GELU of float against the C library's in double: near zero, in every octave up
// to the largest float, on both sides of where the reduction becomes a call, and for what is not finite; and functions
// of 16-bit values, all of them.
// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <vector>

#include "sinter/base/math.hpp"
#include "sinter/kernels/cuda/fast_math.cuh"

namespace {

__global__ void evaluate(const float* x, float* y, int size) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= size) return;
  y[i] = sinter::math::sin(x[i]);
  y[size + i] = sinter::math::cos(x[i]);
  y[2 * size + i] = sinter::math::tan(x[i]);
  y[3 * size + i] = sinter::math::gelu(x[i]);
}

double gelu(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }

/// Distance in units of the last place of the true value.
double ulp(float got, double truth) {
  if (truth == 0) return got == 0 && std::signbit(got) == std::signbit(truth) ? 0 : 1e9;
  int exponent = 0;
  (void)std::frexp(truth, &exponent);
  return std::fabs(got - truth) / std::ldexp(1.0, std::max(exponent, -125) - 24);
}

}  // namespace

TEST_CASE("sine, cosine, tangent and GELU of float") {
  std::vector<float> x = {0.0f, -0.0f, 48000.0f, std::nextafter(48000.0f, 0.0f), -48000.0f};
  for (std::uint32_t u = 0; u < 0x7f800000u; u += 1021) {
    x.push_back(sinter::math::straight::from_bits(u));
    x.push_back(-x.back());
  }
  const int size = static_cast<int>(x.size());
  float *in = nullptr, *out = nullptr;
  REQUIRE(cudaMalloc(&in, sizeof(float) * x.size()) == cudaSuccess);
  REQUIRE(cudaMalloc(&out, 4 * sizeof(float) * x.size()) == cudaSuccess);
  REQUIRE(cudaMemcpy(in, x.data(), sizeof(float) * x.size(), cudaMemcpyHostToDevice) == cudaSuccess);
  evaluate<<<(size + 255) / 256, 256>>>(in, out, size);
  std::vector<float> y(4 * x.size());
  REQUIRE(cudaMemcpy(y.data(), out, sizeof(float) * y.size(), cudaMemcpyDeviceToHost) == cudaSuccess);
  double worst[3] = {}, worst_gelu = 0;
  for (int i = 0; i < size; ++i) {
    const double v = x[static_cast<std::size_t>(i)], truth[3] = {std::sin(v), std::cos(v), std::tan(v)};
    for (int k = 0; k < 3; ++k) worst[k] = std::max(worst[k], ulp(y[static_cast<std::size_t>(k * size + i)], truth[k]));
    const double error = std::fabs(y[static_cast<std::size_t>(3 * size + i)] - gelu(v));
    if (std::fabs(v) > 1e-30) worst_gelu = std::max(worst_gelu, error / std::fabs(v));
    else CHECK(error < 1e-37);
  }
  MESSAGE("worst ulp: sin " << worst[0] << ", cos " << worst[1] << ", tan " << worst[2]);
  CHECK(worst[0] < 1.6);
  CHECK(worst[1] < 1.6);
  CHECK(worst[2] < 3.3);
  MESSAGE("GELU: " << worst_gelu << " |x|");
  CHECK(worst_gelu < 1.5e-7);
  CHECK(cudaFree(in) == cudaSuccess);
  CHECK(cudaFree(out) == cudaSuccess);
}

TEST_CASE("of what is not finite the sine is NaN, and GELU what it is") {
  const float x[] = {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                     std::numeric_limits<float>::quiet_NaN()};
  float *in = nullptr, y[12];
  REQUIRE(cudaMalloc(&in, sizeof x + sizeof y) == cudaSuccess);
  REQUIRE(cudaMemcpy(in, x, sizeof x, cudaMemcpyHostToDevice) == cudaSuccess);
  evaluate<<<1, 32>>>(in, in + 3, 3);
  REQUIRE(cudaMemcpy(y, in + 3, sizeof y, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (int i = 0; i < 9; ++i) CHECK(std::isnan(y[i]));
  CHECK(y[9] == x[0]);
  CHECK(std::isnan(y[11]));
  CHECK(cudaFree(in) == cudaSuccess);
}

namespace {

__global__ void divide_pairs(const float* x, const float* y, float* out, int size) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= size) return;
  out[i] = sinter::math::fmod(x[i], y[i]);
  out[size + i] = sinter::math::remainder(x[i], y[i]);
  out[2 * size + i] = sinter::math::floor_divide(x[i], y[i]);
}

bool same(float x, float y) { return x == y ? std::signbit(x) == std::signbit(y) : x != x && y != y; }

/// Pairs of floats of every size and sign, and next to multiples and to the middle between them, up to large quotients.
void collect_pairs(std::vector<float>& x, std::vector<float>& y) {
  std::vector<float> values;
  using bounds = std::numeric_limits<float>;
  for (int e = -126; e <= 127; e += e < -30 || e > 30 ? 12 : 1)
    for (float d : {0x1p0f, 0x1p0f + 0x1p-23f, 0x1.8p0f, 0x1.fffffep0f, 0x1.921fb6p0f}) values.push_back(std::ldexp(d, e));
  for (float v : {0.0f, bounds::denorm_min(), bounds::min(), bounds::max(), bounds::infinity(), bounds::quiet_NaN()})
    values.push_back(v);
  const auto add = [&](float a, float b) {
    for (int signs = 0; signs < 4; ++signs) x.push_back(signs & 1 ? -a : a), y.push_back(signs & 2 ? -b : b);
  };
  for (float b : values) {
    for (float a : values) add(a, b);
    for (int k : {1, 2, 3, 4, 5, 11, 60, 4095, 65537, (1 << 20) + 1, (1 << 21) - 3, (1 << 21) + 1, (1 << 23) - 1})
      for (int d = -3; d <= 3; ++d) {
        float a = b * static_cast<float>(k) / 2;
        for (int step = d; step != 0; step += step < 0 ? 1 : -1) a = std::nextafter(a, step < 0 ? 0.0f : bounds::max());
        add(a, b);
      }
  }
}

}  // namespace

TEST_CASE("division of floats with a remainder is the host's, to the last bit") {
  std::vector<float> x, y;
  collect_pairs(x, y);
  const int size = static_cast<int>(x.size());
  const std::size_t bytes = sizeof(float) * x.size();
  float *dx = nullptr, *dy = nullptr, *out = nullptr;
  REQUIRE(cudaMalloc(&dx, bytes) == cudaSuccess);
  REQUIRE(cudaMalloc(&dy, bytes) == cudaSuccess);
  REQUIRE(cudaMalloc(&out, 3 * bytes) == cudaSuccess);
  REQUIRE(cudaMemcpy(dx, x.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess);
  REQUIRE(cudaMemcpy(dy, y.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess);
  divide_pairs<<<(size + 255) / 256, 256>>>(dx, dy, out, size);
  std::vector<float> found(3 * x.size());
  REQUIRE(cudaMemcpy(found.data(), out, 3 * bytes, cudaMemcpyDeviceToHost) == cudaSuccess);
  int wrong[3] = {};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float exact[] = {sinter::math::fmod(x[i], y[i]), sinter::math::remainder(x[i], y[i]),
                           sinter::math::floor_divide(x[i], y[i])};
    for (int k = 0; k < 3; ++k) {
      if (same(found[static_cast<std::size_t>(k * size) + i], exact[k])) continue;
      if (wrong[k]++ == 0) MESSAGE("function " << k << " of " << x[i] << ", " << y[i]);
    }
  }
  CHECK(wrong[0] == 0);
  CHECK(wrong[1] == 0);
  CHECK(wrong[2] == 0);
  for (float* p : {dx, dy, out}) CHECK(cudaFree(p) == cudaSuccess);
}

namespace {

template <class Op, class T, class... Others>
__global__ void evaluate_short(float* y, Others... others) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = sinter::cuda::detail::function_for<Op, T>::apply(
      sinter::widen<T>(T::from_bits(static_cast<std::uint16_t>(i))), others...);
}

/// Op of all values of T, and the others.
template <class Op, class T, class... Others>
std::vector<float> all_short(Others... others) {
  float* device = nullptr;
  std::vector<float> y(65536);
  REQUIRE(cudaMalloc(&device, sizeof(float) * y.size()) == cudaSuccess);
  evaluate_short<Op, T><<<256, 256>>>(device, others...);
  REQUIRE(cudaMemcpy(y.data(), device, sizeof(float) * y.size(), cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(cudaFree(device) == cudaSuccess);
  return y;
}

template <class Op, class T, class... Others>
bool keeps_nan(Others... others) {
  const std::vector<float> y = all_short<Op, T>(others...);
  for (unsigned i = 0; i < 65536; ++i)
    if (std::isnan(sinter::widen<T>(T::from_bits(static_cast<std::uint16_t>(i)))) && !std::isnan(y[i])) return false;
  return true;
}

/// The largest error of Op over all values of T, in units of T's last place; of less than `floor` nothing counts.
template <class Op, class T, class Truth>
double worst_of_short(int digits, double floor, Truth truth) {
  const std::vector<float> y = all_short<Op, T>();
  double worst = 0;
  for (unsigned i = 0; i < 65536; ++i) {
    const double x = sinter::widen<T>(T::from_bits(static_cast<std::uint16_t>(i))), exact = truth(x);
    if (!std::isfinite(x) || !(std::fabs(exact) < 1e38)) continue;
    int exponent = 0;
    (void)std::frexp(exact, &exponent);
    const double unit = std::ldexp(1.0, std::max(exponent, -125) - digits);
    worst = std::max(worst, std::max(std::fabs(y[i] - exact) - floor, 0.0) / unit);
  }
  return worst;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }
double selu(double x) {
  return 1.0507009873554804934 * (x < 0 ? 1.6732632423543772848 * std::expm1(x) : x);
}
double gelu_tanh(double x) { return x * sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x)); }

template <class T>
void check_short(int digits) {
  namespace ops = sinter::ops;
  CHECK(worst_of_short<ops::exp, T>(digits, 1.2e-38, [](double x) { return std::exp(x); }) < 0.25);
  CHECK(worst_of_short<ops::sigmoid, T>(digits, 1e-37, sigmoid) < 0.25);
  CHECK(worst_of_short<ops::silu, T>(digits, 1e-35, [](double x) { return x * sigmoid(x); }) < 0.25);
  CHECK(worst_of_short<ops::gelu_tanh, T>(digits, 1e-35, gelu_tanh) < 0.25);
  CHECK(worst_of_short<ops::expm1, T>(digits, 0, [](double x) { return std::expm1(x); }) < 0.25);
  CHECK(worst_of_short<ops::selu, T>(digits, 0, selu) < 0.25);
  CHECK(worst_of_short<ops::log1p, T>(digits, 0, [](double x) { return std::log1p(x); }) < 0.25);
  CHECK(worst_of_short<ops::softplus, T>(digits, 1.2e-38, softplus) < 0.25);
  CHECK(worst_of_short<ops::logsigmoid, T>(digits, 1.2e-38, [](double x) { return -softplus(-x); }) < 0.25);
}

/// Op of all x and one y after the other. C says what it is of what is not finite, and of zeros.
template <class Op, class T, class Truth>
void check_pairs(const char* name, int digits, std::initializer_list<float> others, Truth truth) {
  for (float y : others) {
    const std::vector<float> found = all_short<Op, T>(y);
    double worst = 0;
    int wrong = 0;
    for (unsigned i = 0; i < 65536; ++i) {
      const double x = sinter::widen<T>(T::from_bits(static_cast<std::uint16_t>(i))), exact = truth(x, y);
      if (std::isnan(exact) || std::isinf(exact) || exact == 0) {
        const bool same = std::isnan(exact) ? std::isnan(found[i])
                                            : found[i] == exact && std::signbit(found[i]) == std::signbit(exact);
        wrong += !same;
      } else if (std::fabs(exact) < 1e38 && std::fabs(exact) > 1.2e-38) {
        int exponent = 0;
        (void)std::frexp(exact, &exponent);
        worst = std::max(worst, std::fabs(found[i] - exact) / std::ldexp(1.0, exponent - digits));
      }
    }
    CHECK_MESSAGE(worst < 0.25, name << " of all and " << y);
    CHECK_MESSAGE(wrong == 0, name << " of all and " << y);
  }
}
template <class T>
void check_powers_and_angles(int digits) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  check_pairs<sinter::ops::pow, T>("pow", digits,
                                   {2.0f, 3.0f, -1.0f, -3.0f, 0.5f, 1.7f, -0.33333334f, 0.0f, 31.0f, 40.0f},
                                   [](double x, double y) { return std::pow(x, y); });
  check_pairs<sinter::ops::atan2, T>("atan2", digits,
                                     {0.0f, -0.0f, 1.0f, -1.0f, 0.001f, -300.0f, 1e-30f, 1e35f, -1e-40f, inf, -inf},
                                     [](double y, double x) { return std::atan2(y, x); });
}

}  // namespace

TEST_CASE("functions of 16-bit values") {
  check_short<sinter::f16>(11);
  check_short<sinter::bf16>(8);
  check_powers_and_angles<sinter::f16>(11);
  check_powers_and_angles<sinter::bf16>(8);
}

TEST_CASE("logarithms of bf16 values") {
  namespace ops = sinter::ops;
  using sinter::bf16;
  CHECK(worst_of_short<ops::log, bf16>(8, 0, [](double x) { return std::log(x); }) < 0.25);
  CHECK(worst_of_short<ops::log2, bf16>(8, 0, [](double x) { return std::log2(x); }) < 0.25);
  CHECK(worst_of_short<ops::log10, bf16>(8, 0, [](double x) { return std::log10(x); }) < 0.25);
}

TEST_CASE("tanh, erf and gelu of 16-bit values") {
  namespace ops = sinter::ops;
  const auto erf = [](double x) { return std::erf(x); };
  CHECK(worst_of_short<ops::erf, sinter::f16>(11, 0, erf) < 0.25);
  CHECK(worst_of_short<ops::erf, sinter::bf16>(8, 0, erf) < 0.25);
  const auto tanh = [](double x) { return std::tanh(x); };
  CHECK(worst_of_short<ops::tanh, sinter::f16>(11, 0, tanh) < 0.25);
  CHECK(worst_of_short<ops::tanh, sinter::bf16>(8, 0, tanh) < 0.25);
  CHECK(worst_of_short<ops::gelu, sinter::f16>(11, 1.5e-8, gelu) < 0.25);
  CHECK(worst_of_short<ops::gelu, sinter::bf16>(8, 1.5e-8, gelu) < 0.25);
}

TEST_CASE("fast functions keep NaN") {
  namespace ops = sinter::ops;
  CHECK(keeps_nan<ops::tanh, sinter::f16>());
  CHECK(keeps_nan<ops::gelu, sinter::f16>());
  CHECK(keeps_nan<ops::erf, sinter::f16>());
  CHECK(keeps_nan<ops::elu, sinter::f16>(1.0f));
  CHECK(keeps_nan<ops::log1p, sinter::f16>());
  CHECK(keeps_nan<ops::softplus, sinter::bf16>());
  CHECK(keeps_nan<ops::logsigmoid, sinter::bf16>());
  CHECK(keeps_nan<ops::log, sinter::bf16>());
  CHECK(keeps_nan<ops::tanh, sinter::bf16>());
  CHECK(keeps_nan<ops::gelu, sinter::bf16>());
}
