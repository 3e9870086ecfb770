// Run-time extents: dyn and named, of one, zero and many; unification; derived extents. Where the cases run is the
// including file's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "check.hpp"

namespace {

namespace si = sinter;
using checks::check;
using X = si::tensor<float, si::dyn, 24>;
constexpr auto rows = si::dim<"rows">;
constexpr auto cols = si::dim<"cols", 64>;
using N = si::tensor<float, rows, cols>;

TEST_CASE("dynamic: pointwise, views") {
  for (long n : {0, 1, 3, 40}) {
    check<X>([](auto x) { return std::tuple(si::relu(x) * 2, si::transpose(x) + 1, si::reshape<si::infer, 6>(x) + 1, si::flatten(x), si::unsqueeze<1>(x)); }, {{n}});
    check<X, X>([](auto x, auto y) { return std::tuple(x + y, si::concat<0>(x, y), si::concat<1>(x, y * 2), si::pad<0, 1, 2>(x)); }, {{n, n}});
    check<X>([](auto x) { return std::tuple(si::reshape<si::infer>(si::transpose(x)) + 1, si::reshape<4, si::infer, 6>(x) * 2, si::iota<0>(x)); }, {{n}});
  }
  check<X>([](auto x) { return std::tuple(si::slice<0, 2>(x) + 1, si::slice<1, 3, 20, 2>(x)); }, {{7}});
  check<si::tensor<float, si::dyn>, si::tensor<float, si::dyn, 1>>([](auto x, auto y) { return x * y; }, {{5, 3}});
}

TEST_CASE("dynamic: reductions") {
  constexpr auto f = [](auto x) { return std::tuple(si::sum(x, si::axis<1>), si::sum(x, si::axis<0>), si::mean(x), si::softmax(x), si::softmax(x, si::axis<0>), si::var(x, si::axis<0>)); };
  for (long n : {1, 2, 40}) {
    check<X>(f, {{n}});
    check<N>(f, {{n, 2 * n}});
    check<si::tensor<float, si::dyn, si::dyn>>(f, {{n, 31}});
  }
  check<N>([](auto x) { return std::tuple(si::sum(x, si::axis<1>), si::amax(x, si::axis<0>), si::mean(x, si::axis<0>)); }, {{0, 5}});
  check<N>([](auto x) { return std::tuple(si::sum(x, si::axis<1>), si::amax(x, si::axis<1>), si::mean(x, si::axis<1>), si::softmax(x)); }, {{5, 0}});
  check<N>([](auto x) { return si::layer_norm(x, 1e-5f); }, {{6, 12000}});
  constexpr auto both = [](auto x, auto w) { return std::tuple(si::sum(x * w, si::axis<1>), si::sum(x, si::axis<0>) * w, si::amax(x, si::axis<1>)); };
  for (auto [m, n] : {std::pair{1, 1}, {3, 0}, {0, 3}, {1, 600}, {700, 1}, {90, 31}, {300, 517}})
    check<si::tensor<float, si::dyn, cols>, si::tensor<float, cols>>(both, {{m, n, n}});
  check<si::tensor<float, si::dyn, 6, si::dyn>>([](auto x) { return std::tuple(si::sum(x, si::axis<0, 2>), si::mean(x, si::axis<1, 2>, si::keepdim) * x, si::sum(si::flatten<1>(x), si::axis<1>)); }, {{3, 9}});
}

TEST_CASE("dynamic: extents that are one") {
  using R = si::tensor<float, rows>;
  for (long n : {1, 7}) {
    check<N, R>([](auto x, auto r) { return std::tuple(si::sum(x, si::axis<1>) * r, x + si::unsqueeze<1>(r)); }, {{n, 5, n}});
    check<si::tensor<float, si::dyn, si::dyn>, si::tensor<float, si::dyn>>([](auto x, auto r) { return x * r + si::sum(x, si::axis<0>); }, {{4, n, n}});
    check<si::tensor<float, si::dyn>, si::tensor<float, 7>>([](auto x, auto y) { return std::tuple(x + y, si::sum(x)); }, {{7, n}});
  }
}

TEST_CASE("dynamic: matmul") {
  constexpr auto f = [](auto x, auto w) { return std::tuple(si::relu(si::matmul(x, w)), si::matmul(si::rms_norm(x, 1e-5f), w)); };
  for (long n : {0, 1, 37}) {
    check<X, si::tensor<float, 24, 16>>(f, {{n}});
    check<si::tensor<float, 16, si::dyn>, si::tensor<float, si::dyn, 5>>(f, {{n, n}});
    check<si::tensor<float, 2, 5, 8>, si::tensor<float, 8, si::dyn>>([](auto x, auto w) { return si::matmul(x, w) + 1; }, {{n}});
  }
  check<si::tensor<float, si::dyn, si::dyn, 8>, si::tensor<float, 8, 8>>([](auto x, auto w) { return std::tuple(si::linear(x, w) + x, si::matmul(x, si::transpose(x))); }, {{3, 5}});
  check<si::tensor<float, si::dyn, rows, 8>, si::tensor<float, si::dyn, cols, 8>, si::tensor<float, si::dyn, cols, 8>>([](auto q, auto k, auto v) { return si::matmul(si::softmax(si::matmul(q, si::transpose(k)) * 0.35f), v); }, {{2, 9, 2, 13, 2, 13}});
}

TEST_CASE("dynamic: gather, assign, strides") {
  check<si::tensor<float, si::dyn, 8>, si::tensor<std::int64_t, si::dyn>>([](auto w, auto i) { return std::tuple(si::embedding(w, i) * 2, si::sum(si::embedding(w, i), si::axis<0>)); }, {{9, 14}, {{}, {-9, 8}}});
  check<X, X>([](auto w, auto g) { si::assign(w, w - g); return si::sum(w, si::axis<1>); }, {{6, 6}});
  check<X>([](auto w) { return si::assign(w, w - si::mean(w, si::axis<0>)); }, {{6}});
  check<si::strided_tensor<float, si::dyn, si::dyn>>([](auto x) { return std::tuple(si::transpose(x) * 2, si::sum(x, si::axis<1>), si::softmax(x, si::axis<0>)); }, {{6, 11}});
}

}  // namespace
