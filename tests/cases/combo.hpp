// Combo kernels: independent loops in one launch. Where the cases run is the including file's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "check.hpp"
#include "with.hpp"

namespace {

namespace si = sinter;
using checks::check_only;

constexpr si::options combo = with<&si::options::combo_kernels, true>;

using A = si::tensor<float, 12, 40>;
using B = si::tensor<float, 20, 20>;

TEST_CASE("combo: pointwise loops of any size and type") {
  check_only<combo, A, B, si::tensor<float, 7>>([](auto a, auto b, auto c) { return std::tuple(si::relu(a), si::sigmoid(b), si::tanh(c)); });
  check_only<combo, si::tensor<si::bf16, 33, 5>, si::tensor<double, 20, 30>, si::tensor<std::int32_t, 11>>([](auto a, auto b, auto c) {
    return std::tuple(si::relu(a), b * 2.f, c + 1);
  });
  check_only<combo, A, si::tensor<float, 0, 5>, B>([](auto a, auto b, auto c) { return std::tuple(a + 1.f, b + 2.f, c + 3.f); });
  check_only<combo, A, B, B>([](auto a, auto b, auto c) { return std::tuple(si::relu(a), b + si::transpose(c)); });
}

TEST_CASE("combo: reductions beside pointwise loops") {
  check_only<combo, A, B, si::tensor<float, 300>>([](auto a, auto b, auto c) {
    return std::tuple(si::sum(a, si::axis<1>), si::amax(b, si::axis<0>), si::exp(c));
  });
  check_only<combo, A, B>([](auto a, auto b) { return std::tuple(si::softmax(a), si::softmax(b, si::axis<0>)); });
  check_only<combo, si::tensor<float, 100000>, si::tensor<float, 3, 70000>, B>([](auto a, auto b, auto c) {
    return std::tuple(si::sum(a), si::sum(b, si::axis<1>), si::sum(c, si::axis<0>));
  });
  check_only<combo, si::tensor<float, 4, 0>, si::tensor<float, 0, 9>, B>([](auto a, auto b, auto c) {
    return std::tuple(si::sum(a, si::axis<1>), si::sum(b, si::axis<1>), si::argmax(c, si::axis<1>));
  });
  check_only<combo, A, B>([](auto a, auto b) {
    auto s = si::mean(a), t = si::mean(b);
    return std::tuple(a - s, b - t);
  });
}

TEST_CASE("combo: run-time extents") {
  using D = si::tensor<float, si::dyn, 24>;
  using E = si::tensor<float, si::dyn>;
  for (std::int64_t rows : {0, 1, 5, 64})
    check_only<combo, D, E, B>([](auto a, auto b, auto c) { return std::tuple(si::layer_norm(a, 1e-5f), b * b, si::sum(c)); }, {{rows, rows * 37}, {}});
}

TEST_CASE("combo: all extents at run time") {
  using D = si::tensor<float, si::dyn, si::dyn>;
  for (auto [rows, columns] : {std::pair{5, 1000}, {3, 0}, {0, 4}, {70, 33}, {1, 40000}, {2, 300000}})
    check_only<combo, D, D>([](auto a, auto b) {
      return std::tuple(si::softmax(a), si::sum(b, si::axis<0>), si::exp(b));
    }, {{rows, columns, columns, rows}, {}});
}

TEST_CASE("combo: in place") {
  check_only<combo, A, A, B, B, si::value<float>>([](auto a, auto g, auto b, auto h, auto lr) {
    return std::tuple(si::assign(a, a - lr * g), si::assign(b, b - lr * h));
  });
}

/// Runs `f` on a, b, c at `shift` elements past an aligned address each; small whole numbers, so that results are exact.
template <class F>
std::vector<float> run_shifted(const F& f, int shift) {
  constexpr int sizes[] = {12 * 40, 20 * 20, 3000, 12, 20 * 20, 1};
  int total = 0;
  for (int size : sizes) total += size + 64;
  std::vector<float> memory(static_cast<std::size_t>(total));
  for (int i = 0; i < total; ++i) memory[static_cast<std::size_t>(i)] = -1;
  place::memory there(memory.size() * sizeof(float));
  float* at[6];
  int offset = 0;
  for (int k = 0; k < 6; ++k) {
    at[k] = static_cast<float*>(there.data()) + offset + shift;
    for (int i = 0; k < 3 && i < sizes[k]; ++i) memory[static_cast<std::size_t>(offset + shift + i)] = static_cast<float>((i * 7 + k) % 23 - 11);
    offset += (sizes[k] + 63) / 64 * 64;
  }
  there.upload(memory.data());
  f(place::executor(), A(at[0]), B(at[1]), si::tensor<float, 3000>(at[2]), si::tensor<float, 12>(at[3]), B(at[4]), si::tensor<float>(at[5]));
  place::finish();
  there.download(memory.data());
  std::vector<float> results;
  offset = 0;
  for (int k = 0; k < 6; ++k) {
    for (int i = 0; k >= 3 && i < sizes[k]; ++i) results.push_back(memory[static_cast<std::size_t>(offset + shift + i)]);
    offset += (sizes[k] + 63) / 64 * 64;
  }
  return results;
}

TEST_CASE("combo: any alignment") {
  constexpr auto f = si::fuse<combo, A, B, si::tensor<float, 3000>>([](auto a, auto b, auto c) {
    return std::tuple(si::sum(si::relu(a), si::axis<1>), b * 2.f, si::sum(c));
  });
  static_assert(f.kernel_count() == 1);
  const std::vector<float> aligned = run_shifted(f, 0);
  CHECK(aligned[12 + 5] == 2 * static_cast<float>((5 * 7 + 1) % 23 - 11));
  for (int shift : {1, 2, 3}) CHECK(run_shifted(f, shift) == aligned);
}

}  // namespace
