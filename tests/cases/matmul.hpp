// Matrix products: shapes, element types, views, and where they are stored. What goes in front of them and behind is
// matmul_chains.hpp's matter; where the cases run, the including file's.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "check.hpp"

namespace {

namespace si = sinter;
using checks::check;
template <long... E>
using f = si::tensor<float, E...>;

constexpr auto product = [](auto a, auto b) { return si::matmul(a, b); };

TEST_CASE("matmul: shapes") {
  check<f<5, 7>, f<7, 9>>(product);
  check<f<1, 1>, f<1, 1>>(product);
  check<f<1, 33>, f<33, 1>>(product);
  check<f<70, 33>, f<33, 65>>(product);
  check<f<4, 0>, f<0, 3>>(product);
  check<f<0, 4>, f<4, 3>>(product);
  check<f<3, 4>, f<4, 0>>(product);
  check<f<2, 5, 7>, f<2, 7, 3>>(product);
  check<f<2, 1, 5, 7>, f<3, 7, 3>>(product);
  check<f<5, 7>, f<3, 7, 2>>(product);
  check<f<2, 5, 7>, f<7, 3>>(product);
  check<f<0, 5, 7>, f<7, 3>>(product);
}
TEST_CASE("matmul: element types") {
  check<si::tensor<double, 5, 17>, si::tensor<double, 17, 9>>(product);
  check<si::tensor<si::f16, 5, 17>, si::tensor<si::f16, 17, 9>>(product);
  check<si::tensor<si::bf16, 5, 17>, si::tensor<si::bf16, 17, 9>>(product);
  check<si::tensor<si::bf16, 5, 17>, si::tensor<float, 17, 9>>(product);
  check<si::tensor<std::int32_t, 5, 17>, si::tensor<std::int32_t, 17, 9>>(product, {{}, {{-2e9, 2e9}, {-9, 9}}});
  check<si::tensor<std::int64_t, 5, 17>, si::tensor<std::int64_t, 17, 9>>(product, {{}, {{-9, 9}, {-9e17, 9e17}}});
  check<si::tensor<std::int8_t, 5, 17>, si::tensor<std::int8_t, 17, 9>>(product, {{}, {{-9, 9}, {-9, 9}}});
}
TEST_CASE("matmul: operands that are views") {
  check<f<7, 5>, f<9, 7>>([](auto a, auto b) { return si::matmul(si::transpose(a), si::transpose(b)); });
  check<f<10, 7>, f<7, 9>>([](auto a, auto b) { return std::tuple(si::matmul(si::slice<0, 1, 9, 2>(a), b), si::matmul(si::flip<1>(a), si::flip<0>(b))); });
  check<f<4, 3, 8>, f<24, 5>>([](auto a, auto b) { return std::tuple(si::matmul(si::flatten<1>(a), b), si::matmul(si::reshape<4, 24>(si::transpose<1, 2>(a)), b)); });
  check<f<2, 6, 4, 5>, f<2, 6, 4, 5>>([](auto q, auto k) { return si::matmul(si::transpose<1, 2>(q), si::permute<0, 2, 3, 1>(k)); });
  check<f<5, 1>, f<7, 9>>([](auto a, auto b) { return si::matmul(si::broadcast_to<5, 7>(a), b); });
  check<f<3, 8>, f<4, 5>>([](auto a, auto b) { return si::matmul(si::reshape<6, 4>(si::transpose(a)), b); });
  check<f<6, 4>, f<3, 8>>([](auto a, auto b) { return si::matmul(a, si::reshape<4, 6>(si::transpose(b))); });
  check<f<5, 7>>([](auto a) { return std::tuple(si::matmul(a, si::transpose(a)), si::matmul(si::transpose(a), a)); });
  check<si::strided_tensor<float, 5, 7>, si::strided_tensor<float, 7, 3>>(product);
  check<f<5, 7>, f<7, 4>>([](auto a, auto b) { return std::tuple(si::matmul(si::full_like(a, 1.f), b), si::matmul(a, si::cast<float>(si::iota<0>(b)))); });
  check<f<5, 7>, f<4, 7>, f<9, 5>>([](auto a, auto b, auto c) { return si::matmul(si::concat<0>(a, b), si::transpose(si::pad<1, 1, 1>(c))); });
}
TEST_CASE("matmul: linear") {
  check<f<2, 3, 8>, f<5, 8>, f<5>>([](auto x, auto w, auto b) { return std::tuple(si::linear(x, w, b), si::linear(x, w)); });
  check<f<6, 8>, f<5, 8>, f<5>>([](auto x, auto w, auto b) { return si::relu(si::linear(x, w, b)); });
}

TEST_CASE("matmul: products that are a part of a larger array") {
  using A = si::tensor<float, 6, 5>;
  using B = si::tensor<float, 5, 7>;
  using C = si::tensor<float, 6, 7>;
  check<A, B, C>([](auto a, auto b, auto c) { return si::concat<0>(si::matmul(a, b), si::sin(c)); });
  check<A, B, C>([](auto a, auto b, auto c) { return si::concat<1>(c, si::cos(c), si::matmul(a, b)); });
  check<A, B, C>([](auto a, auto b, auto c) { return std::tuple(si::concat<1>(si::matmul(a, b), c, c * 2), si::sum(c)); });
  check<A, B, C>([](auto a, auto b, auto c) { return si::concat<1>(c, si::matmul(a, b), c); });
  check<A, B, C>([](auto a, auto b, auto c) { auto y = si::concat<0>(si::matmul(a, b), si::matmul(a * 2, b)); return std::tuple(y, y + 1, si::sum(y, si::axis<0>), si::concat<0>(y, c)); });
  check<A, B>([](auto a, auto b) { auto m = si::matmul(a, b); return std::tuple(m, si::concat<0>(m, m), si::concat<1>(si::matmul(a + 1, b), m)); });
  check<si::tensor<float, 2, 3, 4>, si::tensor<float, 2, 4, 5>>([](auto a, auto b) { auto m = si::matmul(a, b); auto n = si::matmul(a * 2, b); return std::tuple(si::concat<2>(m, n), si::concat<1>(si::matmul(a, b * 3), si::exp(m)), si::concat<0>(si::matmul(a + 1, b), n)); });
  check<si::tensor<float, si::dyn, 4>, si::tensor<float, 4, 5>, si::tensor<float, si::dyn, 5>>([](auto a, auto b, auto c) { return std::tuple(si::concat<0>(c, si::matmul(a, b)), si::concat<1>(si::matmul(a, b) + 1, si::matmul(a * 2, b))); }, {{3, 3}, {}});
  check<si::tensor<float, si::dyn, 4>, si::tensor<float, 4, si::dyn>, si::tensor<float, si::dyn, si::dyn>>([](auto a, auto b, auto c) { return si::concat<1>(si::matmul(a, b), c); }, {{3, 7, 3, 2}, {}});
  check<si::tensor<float, 6, 0>, si::tensor<float, 0, 7>, C>([](auto a, auto b, auto c) { return si::concat<1>(si::matmul(a, b), c); });
  check<si::tensor<float, 0, 5>, B, C>([](auto a, auto b, auto c) { return si::concat<0>(si::matmul(a, b), c); });
  check<si::tensor<si::bf16, 6, 5>, si::tensor<si::bf16, 5, 7>, C>([](auto a, auto b, auto c) { return si::concat<0>(si::matmul(a, b), c); });
}

TEST_CASE("matmul: products stored into an input") {
  using A = si::tensor<float, 6, 5>;
  using B = si::tensor<float, 5, 7>;
  check<si::tensor<float, 6, 20>, A, B>([](auto w, auto a, auto b) { return std::tuple(si::assign(si::slice<1, 3, 10>(w), si::matmul(a, b)), w + 1); });
  check<si::tensor<float, 7, 6>, A, B>([](auto w, auto a, auto b) { return si::assign(si::transpose(w), si::matmul(a, b)); });
  check<si::tensor<float, 12, 14>, A, B>([](auto w, auto a, auto b) { return si::assign(si::slice<0, 1, si::end, 2>(si::slice<1, 0, 7>(w)), si::matmul(a, b)); });
  check<si::tensor<float, 3, 16, 8>, si::tensor<float, 3, 4, 8>, si::tensor<float, 8, 8>>([](auto cache, auto x, auto w) { return std::tuple(si::assign(si::slice<1, 5, 9>(cache), si::matmul(x, w)), si::sum(cache, si::axis<1>)); });
  check<si::tensor<float, 6, 6>, si::tensor<float, 6, 6>>([](auto w, auto x) { si::assign(si::slice<0, 0, 3>(w), si::slice<0, 3>(si::matmul(x, w))); return si::assign(w, si::matmul(w, x)); });
  check<si::strided_tensor<float, 6, 7>, A, B>([](auto w, auto a, auto b) { return si::assign(w, si::matmul(a, b)); });
}

}  // namespace
