// Reductions: every op over one, several and all axes; keepdim; short (unrolled), row, column and full; dtypes; empty
// rows; NaN. Where the cases run is the including file's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <limits>

#include "check.hpp"

namespace {

namespace si = sinter;
using checks::check;

template <long... Axes>
constexpr auto folds = [](auto x) {
  constexpr auto a = si::axis<Axes...>;
  return std::tuple(si::sum(x, a), si::prod(x, a), si::amax(x, a), si::amin(x, a), si::mean(x, a), si::sum(x, a, si::keepdim));
};
template <long... Axes>
constexpr auto logical_folds = [](auto x) {
  constexpr auto a = si::axis<Axes...>;
  return std::tuple(si::any(x > 1, a), si::all(x > -1, a), si::any(x, a), si::all(x, a, si::keepdim), si::argmax(x, a), si::argmin(x, a, si::keepdim));
};
template <long... Axes>
constexpr auto derived_folds = [](auto x) {
  constexpr auto a = si::axis<Axes...>;
  return std::tuple(si::var(x, a), si::var<0>(x, a, si::keepdim), si::std_dev(x, a), si::norm(x, a), si::logsumexp(x, a), si::logsumexp(x, a, si::keepdim));
};

TEST_CASE("reductions: rows, columns, all, none") {
  using X = si::tensor<float, 6, 17>;
  check<X>(folds<1>);
  check<X>(folds<0>);
  check<X>(folds<>);
  check<X>(logical_folds<1>);
  check<X>(logical_folds<0>);
  check<X>(logical_folds<>);
  check<X>(derived_folds<-1>);
  check<X>(derived_folds<-2>);
  check<X>(derived_folds<0, 1>);
}
TEST_CASE("reductions: several axes of four") {
  using X = si::tensor<float, 3, 9, 2, 10>;
  check<X>(folds<0, 2>);
  check<X>(folds<1, 3>);
  check<X>(folds<1, 2>);
  check<X>(derived_folds<0, 3>);
  check<X>([](auto x) { return std::tuple(si::sum(si::sum(x, si::axis<1>), si::axis<0, 2>), si::sum(si::amax(x, si::axis<3>, si::keepdim) * x, si::axis<1>)); });
}
TEST_CASE("reductions: short ones, which are unrolled") {
  check<si::tensor<float, 5, 3>>(folds<1>);
  check<si::tensor<float, 3, 5>>(folds<0>);
  check<si::tensor<float, 3, 5>>(logical_folds<0>);
  check<si::tensor<float, 5, 1>>(folds<1>);
  check<si::tensor<float, 5, 1>>(derived_folds<1>);
  check<si::tensor<float, 5, 1>>(logical_folds<1>);
  check<si::tensor<float, 2, 3, 4>>([](auto x) { return std::tuple(si::sum(x), si::sum(si::sum(x, si::axis<2>), si::axis<1>)); });
  check<si::tensor<float, 7, 6, 5, 4>>([](auto x) { return si::sum(si::sum(si::sum(si::sum(x, si::axis<3>), si::axis<2>), si::axis<1>), si::axis<0>); });
  check<si::tensor<float, 4, 7>>([](auto x) { return std::tuple(si::softmax(x), si::layer_norm(x, 1e-5f), x - si::mean(x, si::axis<0>, si::keepdim)); });
}
TEST_CASE("reductions: element types") {
  check<si::tensor<double, 6, 17>>(folds<1>);
  check<si::tensor<double, 6, 17>>(derived_folds<0>);
  check<si::tensor<si::f16, 6, 17>>(folds<0>, {{}, {{0.75, 1.25}}});
  check<si::tensor<si::bf16, 6, 17>>(folds<1>, {{}, {{0.75, 1.25}}});
  check<si::tensor<si::bf16, 6, 17>>(derived_folds<1>);
  check<si::tensor<std::int32_t, 6, 17>>(folds<1>, {{}, {{-3, 3}}});
  check<si::tensor<std::int64_t, 17, 6>>(folds<0>, {{}, {{-9e17, 9e17}}});
  check<si::tensor<std::int8_t, 6, 17>>(folds<>, {{}, {{-100, 100}}});
  check<si::tensor<std::uint8_t, 6, 17>>(folds<1>, {{}, {{0, 255}}});
  check<si::tensor<std::uint8_t, 6, 17>>(logical_folds<1>, {{}, {{0, 255}}});
  check<si::tensor<std::int8_t, 6, 3>>(folds<1>, {{}, {{-100, 100}}});
  check<si::tensor<std::int32_t, 6, 17>>(derived_folds<1>, {{}, {{-30, 30}}});
  check<si::tensor<bool, 6, 17>>(folds<1>);
  check<si::tensor<bool, 6, 3>>(folds<1>);
}
TEST_CASE("reductions: a mean of more elements than f16 can count") {
  check<si::tensor<si::f16, 70000>>([](auto x) { return std::tuple(si::mean(x), si::var(x)); }, {{}, {{0.5, 1}}});
}
TEST_CASE("reductions: empty rows, no rows") {
  check<si::tensor<float, 4, 0>>(folds<1>);
  check<si::tensor<float, 4, 0>>(derived_folds<1>);
  check<si::tensor<float, 0, 4>>(folds<1>);
  check<si::tensor<float, 0, 9>>(folds<0>);
  check<si::tensor<float, 0>>(folds<>);
  check<si::tensor<std::int32_t, 4, 0>>([](auto x) { return std::tuple(si::sum(x, si::axis<1>), si::amax(x, si::axis<1>), si::amin(x, si::axis<1>), si::any(x, si::axis<1>), si::all(x, si::axis<1>)); });
  check<si::tensor<float, 4, 0, 3>>([](auto x) { return std::tuple(si::sum(x, si::axis<1>) + 1, si::softmax(x, si::axis<1>), si::sum(x, si::axis<0, 2>)); });
  check<si::tensor<float>>(folds<>);
  check<si::tensor<float>>([](auto x) { return std::tuple(si::var<0>(x), si::argmax(x), si::softmax(si::unsqueeze<0>(x))); });
}
TEST_CASE("reductions: NaN and infinities") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  check<si::tensor<float, 6, 17>>([](auto x) {
    auto y = si::where(x > 1.5f, si::log(-si::abs(x) - 1), si::where(x < -1.5f, -inf, x));
    return std::tuple(si::amax(y, si::axis<1>), si::amin(y, si::axis<1>), si::argmax(y, si::axis<1>), si::argmin(y, si::axis<1>), si::sum(y, si::axis<0>));
  });
  check<si::tensor<float, 6, 17>>([](auto x) { auto y = si::where(x > -5, -inf, x); return std::tuple(si::logsumexp(y, si::axis<1>), si::amax(y, si::axis<1>)); });
  check<si::tensor<float, 6, 9>>([](auto x) { return std::tuple(si::argmax(si::floor(x), si::axis<1>), si::argmin(si::floor(x), si::axis<0>)); });
}
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
TEST_CASE("reductions: strided inputs") {
  check<si::strided_tensor<float, 6, 17>>(folds<1>);
  check<si::strided_tensor<float, si::dyn, 17>>(folds<0>, {{9}});
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
