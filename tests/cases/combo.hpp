// Combo kernels: independent loops in one launch. Where the cases run is the including file's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "check.hpp"

namespace {

namespace si = sinter;
using checks::check_only;

constexpr si::options combo = [] {
  si::options o = si::standard;
  o.combo_kernels = true;
  return o;
}();

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

TEST_CASE("combo: in place") {
  check_only<combo, A, A, B, B, si::value<float>>([](auto a, auto g, auto b, auto h, auto lr) {
    return std::tuple(si::assign(a, a - lr * g), si::assign(b, b - lr * h));
  });
}

}  // namespace
