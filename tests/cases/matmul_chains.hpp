// Matrix products with what goes in front of them and behind, and chains of them. Where the cases run is the including
// file's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "check.hpp"

namespace {

namespace si = sinter;
using checks::check;
template <long... E>
using f = si::tensor<float, E...>;

TEST_CASE("matmul: epilogues") {
  check<f<6, 7>, f<7, 9>, f<9>>([](auto a, auto b, auto c) { return si::gelu(si::matmul(a, b) + c); });
  check<f<6, 7>, f<7, 9>, f<6, 9>>([](auto a, auto b, auto c) { auto p = si::matmul(a, b); return std::tuple(p * 2 + c, p); });
  check<f<6, 7>, f<7, 9>>([](auto a, auto b) { auto p = si::matmul(a, b); return std::tuple(si::relu(p), si::transpose(p) * 2, si::reshape<9, 6>(p) + 1); });
  check<f<6, 7>, f<7, 9>>([](auto a, auto b) { return std::tuple(si::softmax(si::matmul(a, b)), si::sum(si::matmul(a, b), si::axis<0>)); });
  check<f<6, 7>, f<7, 9>>([](auto a, auto b) { return si::cast<si::bf16>(si::tanh(si::matmul(a, b))); });
  check<f<6, 7>, f<7, 6>, f<6>>([](auto a, auto b, auto r) { auto p = si::matmul(a, b); return p * si::unsqueeze<1>(r) + si::transpose(p); });
  check<f<2, 6, 7>, f<2, 7, 9>, f<2, 1, 9>>([](auto a, auto b, auto c) { return si::sigmoid(si::matmul(a, b) + c); });
  check<f<6, 7>, f<7, 9>>([](auto a, auto b) { return si::concat<1>(si::matmul(a, b), si::matmul(a, b) * 2) + 1; });
}
TEST_CASE("matmul: prologues") {
  check<f<6, 7>, f<7, 9>>([](auto a, auto b) { return si::matmul(si::relu(a), b * 2); });
  check<f<6, 7>, f<9, 7>>([](auto a, auto b) { return si::matmul(si::exp(a), si::transpose(si::relu(b))); });
  check<f<6, 7>, f<7, 9>>([](auto a, auto b) { auto h = si::relu(a); return std::tuple(si::matmul(h, b), h); });
  check<f<6, 7>, f<7, 7>>([](auto a, auto b) { auto h = si::silu(a); return si::matmul(h, b) + h; });
  check<f<6, 7>, f<7, 7>>([](auto a, auto b) { auto h = si::rms_norm(a, 1e-5f); return si::matmul(h, b) + h; });
  check<f<6, 20>, f<20, 9>>([](auto a, auto b) { return si::matmul(si::rms_norm(a, 1e-5f), b); });
  check<f<6, 20>, f<20>, f<20, 9>, f<9>>([](auto a, auto w, auto b, auto c) { return si::gelu(si::linear(si::layer_norm(a, w, 1e-5f), si::transpose(b), c)); });
  check<f<6, 20>, f<20, 9>>([](auto a, auto b) { return si::matmul(si::softmax(a), b); });
  check<f<20, 6>, f<20, 9>>([](auto a, auto b) { return si::matmul(si::transpose(si::softmax(a, si::axis<0>)), b); });
  check<f<6, 20>, f<20, 9>>([](auto a, auto b) { return si::matmul(a, si::softmax(b)); });
  check<si::tensor<std::int8_t, 6, 20>, f<20, 9>>([](auto a, auto b) { return si::matmul(a, b); }, {{}, {{-9, 9}}});
  check<f<6, 7>, f<7, 9>, f<6>>([](auto a, auto b, auto r) { return si::matmul(a * si::unsqueeze<1>(r), b); });
  check<si::tensor<std::int64_t, 6>, f<11, 7>, f<7, 9>>([](auto i, auto w, auto b) { return si::matmul(si::embedding(w, i), b); }, {{}, {{0, 10}}});
  check<si::tensor<std::int64_t, 6>, f<11, 7>, f<7, 9>>([](auto i, auto w, auto b) { return si::matmul(si::embedding(si::exp(w), i), b); }, {{}, {{0, 10}}});
}
TEST_CASE("matmul: one left operand, two products; chains") {
  check<f<6, 20>, f<20, 9>, f<20, 9>>([](auto a, auto b, auto c) { return si::silu(si::matmul(a, b)) * si::matmul(a, c); });
  check<f<6, 20>, f<20, 9>, f<20, 9>>([](auto a, auto b, auto c) { return std::tuple(si::matmul(a, b), si::matmul(a, c) + 1); });
  check<f<6, 20>, f<20, 9>, f<20, 5>>([](auto a, auto b, auto c) { return std::tuple(si::matmul(a, b), si::matmul(a, c)); });
  check<f<6, 20>, f<20, 9>, f<20, 9>, f<20, 9>>([](auto a, auto b, auto c, auto d) { return si::matmul(a, b) + si::matmul(a, c) * si::matmul(a, d); });
  check<f<6, 20>, f<20, 9>, f<20, 9>>([](auto a, auto b, auto c) { auto h = si::layer_norm(a, 1e-5f); return si::silu(si::matmul(h, b)) * si::matmul(h, c); });
  check<f<6, 6>, f<6, 6>, f<6, 6>>([](auto a, auto b, auto c) { return si::matmul(si::matmul(a, b), c); });
  check<f<6, 6>>([](auto a) { auto p = si::matmul(a, a); return si::matmul(p, p) + a; });
  check<f<6, 6>, f<6, 6>>([](auto a, auto b) { return si::matmul(si::matmul(a, b), si::matmul(b, a)); });
  check<f<2, 3, 9, 8>, f<2, 3, 11, 8>, f<2, 3, 11, 8>>([](auto q, auto k, auto v) { return si::matmul(si::softmax(si::matmul(q, si::transpose(k)) * 0.35f), v); });
}

}  // namespace
