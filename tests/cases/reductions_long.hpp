// Reductions among other operations, and of what does not stay on chip. Where the cases run is the including file's
// matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <limits>

#include "check.hpp"

namespace {

namespace si = sinter;
using checks::check;

TEST_CASE("reductions: in chains, with what surrounds them") {
  using X = si::tensor<float, 12, 40>;
  check<X>([](auto x) { auto c = x - si::mean(x, si::axis<1>, si::keepdim); return si::sum(c * c, si::axis<1>) / 40; });
  check<X>([](auto x) { auto m = si::amax(x, si::axis<1>, si::keepdim); auto n = si::amin(x, si::axis<1>, si::keepdim); return std::tuple((x - n) / (m - n), si::squeeze<1>(m) + 1); });
  check<X>([](auto x) { return std::tuple(si::sum(x, si::axis<1>), si::sum(x * x, si::axis<1>), si::sum(x, si::axis<0>), si::exp(x)); });
  check<X>([](auto x) { return si::sum(si::exp(x)) * x + si::amax(x); });
  check<X>([](auto x) { return si::sum(si::sum(x, si::axis<1>) * 2); });
  check<X>([](auto x) { return std::tuple(si::sum(si::transpose(x), si::axis<1>), si::sum(si::reshape<24, 20>(x), si::axis<1>), si::amax(si::slice<1, 3, si::end, 2>(x), si::axis<1>), si::sum(si::flip<1>(x) * x, si::axis<1>)); });
  check<X>([](auto x) { return si::softmax(si::softmax(x, si::axis<1>), si::axis<0>); });
  check<X>([](auto x) { return si::layer_norm(si::transpose(si::layer_norm(x, 1e-5f)), 1e-5f); });
  check<X, X>([](auto x, auto y) { auto h = si::rms_norm(x + y, 1e-5f); return std::tuple(h, x + y, si::sum(h, si::axis<0>)); });
  check<X>([](auto x) { return si::where(x > si::mean(x), x, si::unsqueeze<1>(si::std_dev(x, si::axis<1>))); });
  check<X>([](auto x) { return std::tuple(si::reshape<3, 4>(si::sum(x, si::axis<1>)) + 1, si::reshape<3, 4, 40>(x / si::norm(x, si::axis<1>, si::keepdim))); });
}
TEST_CASE("reductions: long rows and columns") {
  check<si::tensor<float, 3, 20011>>([](auto x) { return std::tuple(si::sum(x, si::axis<1>), si::softmax(x)); }, {{}, {{0, 1}}});
  check<si::tensor<float, 20011, 3>>([](auto x) { return std::tuple(si::mean(x, si::axis<0>), si::var(x, si::axis<0>)); }, {{}, {{0, 1}}});
  check<si::tensor<float, 70001>>([](auto x) { return std::tuple(si::mean(x), si::argmax(x), si::std_dev(x)); });
  check<si::tensor<float, 5000, 9>>([](auto x) { return si::layer_norm(x, 1e-5f); });
}
TEST_CASE("reductions: logsumexp of rows of run-time length, long ones, infinite ones") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  using X = si::tensor<float, si::dyn, si::dim<"width">>;
  constexpr auto lse = [](auto x) { return si::logsumexp(x, si::axis<1>); };
  for (const long width : {1L, 7L, 1000L, 20001L}) check<X>(lse, {{5, width}, {{-40, 40}}});
  check<X>(lse, {{1, 100003}, {}});
  check<X>(lse, {{0, 9}, {}});
  check<X>(lse, {{9, 0}, {}});
  check<X>([](auto x) { return si::logsumexp(si::where(x > 1, inf, x), si::axis<1>); }, {{5, 9}, {}});
  check<X>([](auto x) { return si::logsumexp(si::where(x > -5, -inf, x), si::axis<1>); }, {{5, 9}, {}});
  check<X>([](auto x) { return std::tuple(si::logsumexp(x, si::axis<0>), x - si::logsumexp(x, si::axis<1>, si::keepdim), si::logsumexp(x)); }, {{33, 40}, {}});
  check<si::tensor<si::bf16, 3, 70001>>([](auto x) { return std::tuple(si::logsumexp(x, si::axis<1>), si::logsumexp(x)); });
  check<si::tensor<float, 70001, 3>>([](auto x) { return si::logsumexp(x, si::axis<0>); });
  // The maximum of the columns, repeated along the rows of a square, is another thing.
  check<si::tensor<float, si::dim<"width">, si::dim<"width">>>([](auto x) {
    auto top = si::amax(x, si::axis<0>);
    auto safe = si::unsqueeze<1>(si::where(si::isinf(top), 0, top));
    return si::squeeze<1>(si::log(si::sum(si::exp(x - safe), si::axis<1>, si::keepdim)) + safe);
  }, {{50, 50}, {}});
}
TEST_CASE("reductions: softmax of rows that do not stay on chip") {
  using X = si::tensor<float, 3, 17001>;
  check<X>([](auto x) { return std::tuple(si::softmax(x), si::log_softmax(x * 3)); }, {{}, {{-40, 40}}});
  check<X>([](auto x) { auto m = si::amax(x, si::axis<1>, si::keepdim); return std::tuple(m, si::sum(si::exp(x - m), si::axis<1>), si::cos(x)); });
  check<si::tensor<float, 17001, 3>>([](auto x) { return std::tuple(si::softmax(x, si::axis<0>), si::sum(x, si::axis<0>)); }, {{}, {{-40, 40}}});
  check<si::tensor<si::bf16, 2, 17001>>([](auto x) { return si::softmax(x); });
  check<si::tensor<double, 2, si::dim<"vocabulary", 50000>>>([](auto x) { return si::softmax(x); }, {{37}, {}});
  check<si::tensor<float, si::dyn, si::dim<"vocabulary", 50000>>>([](auto x) { return si::softmax(x); }, {{2, 0}, {}});
  check<si::tensor<float, 70, 3, 140>>([](auto x) { auto m = si::amax(x, si::axis<0, 2>, si::keepdim); return si::exp(x - m) / si::sum(si::exp(x - m), si::axis<0, 2>, si::keepdim); });
}

}  // namespace
