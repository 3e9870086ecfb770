// Reductions: every op over one, several and all axes; keepdim; short (unrolled), row, column and full. Where the cases
// run is the including file's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "check.hpp"
#include "folds.hpp"

namespace {

namespace si = sinter;
using checks::check;

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
TEST_CASE("reductions: over a middle axis, with a mask along it") {
  check<si::tensor<float, 3, 19, 24>, si::tensor<float, 3, 19, 1>>([](auto x, auto mask) { return std::tuple(si::sum(x * mask, si::axis<1>), si::amax(x + mask, si::axis<1>)); });
  check<si::tensor<float, 3, 19, 7>, si::tensor<float, 3, 19, 1>>([](auto x, auto mask) { return si::softmax(x * mask, si::axis<1>); });
}
template <int Axis>
constexpr auto weighted_mean = [](auto x, auto v) { return si::sum(x * (si::square(v) + 1), si::axis<Axis>) / si::sum(si::square(v) + 1, si::axis<Axis>); };
TEST_CASE("reductions: weighted means, whose last operand another kernel computes") {
  check<si::tensor<float, 3, 70, 24>, si::tensor<float, 3, 70, 1>>(weighted_mean<1>);
  check<si::tensor<float, 3000, 40>, si::tensor<float, 3000, 1>>(weighted_mean<0>);
  check<si::tensor<si::bf16, si::dyn, 37>, si::tensor<si::bf16, si::dyn, 1>>(weighted_mean<0>, {{2500, 2500}});
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
TEST_CASE("reductions: over images and pixels, for each channel") {
  check<si::tensor<float, 40, 6, 7, 7>>(folds<0, 2, 3>);
  check<si::tensor<si::bf16, 33, 5, 3, 3>>(derived_folds<0, 2, 3>);
  check<si::tensor<si::bf16, si::dyn, si::dyn, si::dyn>, si::tensor<float, si::dyn, 1>>([](auto x, auto m) { return std::tuple(si::sum(x, si::axis<0, 2>), si::sum(x * (x - m), si::axis<0, 2>)); }, {{700, 3, 20, 3}});
  check<si::tensor<float, si::dyn, 12, si::dyn>>([](auto x) { return si::var(si::slice<1, 3, 10>(x), si::axis<0, 2>); }, {{50, 21}});
}
TEST_CASE("reductions: strided inputs") {
  check<si::strided_tensor<float, 6, 17>>(folds<1>);
  check<si::strided_tensor<float, si::dyn, 17>>(folds<0>, {{9}});
}

}  // namespace
