// foreach: lists of any extents and types as one kernel, in place as well.
// Where the cases run is the including file's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "check.hpp"

namespace {

namespace si = sinter;
using checks::check;
using checks::check_only;

using A = si::tensor<float, 12, 40>;
using B = si::tensor<float, 20, 20>;

TEST_CASE("foreach: lists with lists, with scalars, with what is around them") {
  check<A, B, A, B>([](auto a0, auto a1, auto b0, auto b1) {
    return si::foreach(std::tuple(a0, a1), std::tuple(b0, b1), 2.f, [](auto a, auto b, auto s) { return a * b + s; });
  });
  check_only<si::standard, A, B, si::tensor<si::bf16, 33>>([](auto a, auto b, auto c) {
    auto [x, y, z] = si::foreach(std::tuple(si::sin(a), b, c), [](auto v) { return v * 3.f; });
    return std::tuple(x + a, y, si::exp(y), z, si::sum(x, si::axis<1>));
  });
  check_only<si::standard, A, B>([](auto a, auto b) {
    return si::foreach(std::tuple(a, b), [](auto v) { return std::tuple(si::softmax(v), si::transpose(v) * 2.f); });
  });
  check_only<si::standard, B, B>([](auto a, auto b) {
    auto [x, y] = si::foreach(std::tuple(a, b), [](auto v) { return si::exp(v); });
    return si::foreach(std::tuple(y, x), [](auto v) { return v + 1.f; });
  });
  check_only<si::standard, B, B>([](auto a, auto b) {
    return si::foreach(std::tuple(a, b), [](auto v) { return si::relu(si::matmul(v, v)); });
  });
}

TEST_CASE("foreach: any extents") {
  using D = si::tensor<float, si::dyn>;
  using E = si::tensor<float, si::dyn, 3>;
  for (std::int64_t n : {0, 1, 4097})
    check_only<si::standard, D, E, B>([](auto a, auto b, auto c) {
      return si::foreach(std::tuple(a, b, c), [](auto v) { return si::tanh(v) * 2.f; });
    }, {{n, n / 2}, {}});
}

TEST_CASE("foreach: optimiser steps in place") {
  using C = si::tensor<float, 5>;
  check_only<si::standard, A, B, C, A, B, C, si::value<float>>([](auto p0, auto p1, auto p2, auto g0, auto g1, auto g2, auto rate) {
    return si::foreach(std::tuple(p0, p1, p2), std::tuple(g0, g1, g2), [rate](auto p, auto g) { si::assign(p, p - rate * g); });
  });
  check_only<si::standard, A, C, A, C, A, C, A, C, si::value<float>>([](auto p0, auto p1, auto g0, auto g1, auto m0, auto m1, auto v0, auto v1, auto rate) {
    return si::foreach(std::tuple(p0, p1), std::tuple(g0, g1), std::tuple(m0, m1), std::tuple(v0, v1), [rate](auto p, auto g, auto m, auto v) {
      si::assign(m, 0.9f * m + 0.1f * g);
      si::assign(v, 0.99f * v + 0.01f * g * g);
      return si::assign(p, p - rate * m / (si::sqrt(si::abs(v)) + 0.1f));
    });
  });
  // Weights and gradients in 16 bits beside master weights, as mixed precision does it.
  using H = si::tensor<si::bf16, 12, 40>;
  check_only<si::standard, H, A, H, C, C, C>([](auto w0, auto m0, auto g0, auto w1, auto m1, auto g1) {
    return si::foreach(std::tuple(w0, w1), std::tuple(m0, m1), std::tuple(g0, g1), [](auto w, auto master, auto g) {
      si::assign(master, master - 0.1f * g);
      si::assign(w, master);
    });
  });
}

TEST_CASE("foreach: members that write what others read") {
  check_only<si::standard, B, B>([](auto p, auto q) {
    return si::foreach(std::tuple(p, q), std::tuple(q, p), [](auto x, auto y) { return si::assign(x, x + y); });
  });
  check_only<si::standard, B, B, B>([](auto p, auto g, auto h) {
    si::foreach(std::tuple(p, p), std::tuple(g, h), [](auto x, auto y) { si::assign(x, si::flip<0>(x) - y); });
    return p * 2.f;
  });
  check_only<si::standard, B, B>([](auto p, auto q) {
    auto old = p * 1.f;
    auto [x, y] = si::foreach(std::tuple(p, q), [&](auto v) { return si::exp(v) + old; });
    si::foreach(std::tuple(q, p), std::tuple(x, y), [](auto t, auto v) { si::assign(t, v); });
    return std::tuple(x, p + q);
  });
  check_only<si::standard, si::tensor<float, 40>>([](auto packed) {
    auto first = si::slice<0, 0, 13>(packed);
    auto second = si::slice<0, 13>(packed);
    return si::foreach(std::tuple(first, second), [](auto v) { return si::assign(v, v * 2.f); });
  });
}

}  // namespace
