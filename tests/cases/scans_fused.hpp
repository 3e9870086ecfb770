// Scans in kernels with other work: pointwise, reductions, other scans, views, matmuls. Where the cases run is the
// including file's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "check.hpp"

namespace {

namespace si = sinter;
using checks::check;

TEST_CASE("scans: with what surrounds them") {
  using X = si::tensor<float, 12, 40>;
  check<X>([](auto x) { return si::exp(si::cumsum(x * 0.25f, si::axis<1>) - 3) + x; });
  check<X>([](auto x) { return si::exp(si::cumsum(x * 0.25f, si::axis<0>) - 3) + x; });
  check<X>([](auto x) { return std::tuple(si::cumsum(x, si::axis<1>), si::sum(x, si::axis<1>), si::cummax(x * x, si::axis<1>)); });
  check<X>([](auto x) { return std::tuple(si::cumsum(x, si::axis<0>), si::sum(x, si::axis<0>), si::cummax(x * x, si::axis<0>)); });
  check<X>([](auto x) { return si::softmax(si::cumsum(x, si::axis<1>), si::axis<1>); });
  check<X>([](auto x) { return si::softmax(si::cumsum(x, si::axis<0>), si::axis<0>); });
  check<X>([](auto x) { return si::cumsum(si::softmax(x, si::axis<1>), si::axis<1>); });
  check<X>([](auto x) { return si::cumsum(x / si::sum(x * x, si::axis<0>, si::keepdim), si::axis<0>); });
  check<X>([](auto x) { return si::cumsum(si::cummax(si::cumsum(x, si::axis<1>) + 1, si::axis<1>) * x, si::axis<1>); });
  check<X>([](auto x) { return si::cumsum(si::cummax(si::cumsum(x, si::axis<0>) + 1, si::axis<0>) * x, si::axis<0>); });
  check<X>([](auto x) { return si::cumsum(si::cumsum(x, si::axis<0>), si::axis<1>); });
  check<X>([](auto x) { return si::flip<1>(si::cumsum(si::flip<1>(x), si::axis<1>)); });
  check<X>([](auto x) { return si::transpose(si::cumsum(si::transpose(x), si::axis<0>)) - si::cumsum(x, si::axis<0>); });
  check<X>([](auto x) { auto c = si::cumsum(x, si::axis<1>); return si::reshape<24, 20>(c) + si::sum(c); });
  check<X>([](auto x) { auto c = si::cumsum(x, si::axis<1>); return c - si::sum(x, si::axis<1>, si::keepdim) + si::slice<1, 39>(c); });
  check<X, si::tensor<float, 40>>([](auto x, auto w) { return si::cumsum(x * w, si::axis<1>) * w + si::cumsum(w, si::axis<0>); });
  check<X>([](auto x) { return si::cumsum(si::where(x > 0.5f, 1, 0), si::axis<1>); });
  check<si::tensor<bool, 12, 40>>([](auto m) { return si::where(m, si::cumsum(m, si::axis<1>) - 1, -1); });
  check<si::tensor<float, 5, 8>>([](auto x) { return si::cumsum(si::broadcast_to(si::slice<1, 0, 1>(x), x), si::axis<1>); });
  check<si::tensor<float, 6, 16>, si::tensor<float, 16, 8>>([](auto x, auto w) { return si::matmul(si::cumsum(x, si::axis<1>), w) + si::cumsum(si::matmul(x, w), si::axis<1>); });
  check<X>([](auto x) { return std::tuple(si::cumsum(x, si::axis<1>), si::cumsum(x, si::axis<0>), si::cumsum(x + 1, si::axis<0>)); });
}

}  // namespace
