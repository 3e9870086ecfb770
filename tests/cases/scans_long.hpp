// Scans of long rows and columns, which many threads or blocks share; scans assigned, gathered at, joined. Where the cases
// run is the including file's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "check.hpp"

namespace {

namespace si = sinter;
using checks::check;

template <long Axis>
constexpr auto cumsum = [](auto x) { return si::cumsum(x, si::axis<Axis>); };

TEST_CASE("scans: assigned, gathered at, concatenated") {
  using X = si::tensor<float, 12, 40>;
  check<X>([](auto x) { return std::tuple(si::assign(x, si::cumsum(x, si::axis<1>)), x * 2); });
  check<X>([](auto x) { return si::assign(x, si::cumsum(x, si::axis<0>)); });
  check<X, si::tensor<bool, 12>>([](auto x, auto m) { return si::embedding(x, si::cumsum(m, si::axis<0>) - 1); });
  check<X>([](auto x) { return si::concat<1>(si::cumsum(x, si::axis<1>), x); });
  check<X>([](auto x) { return si::pad<1, 2, 3>(si::cumsum(si::pad<1, 1, 0>(x), si::axis<1>)); });
}
TEST_CASE("scans: long rows and columns") {
  const checks::data small{{}, {{0, 1}}};
  check<si::tensor<float, 3, 4096>>([](auto x) { return std::tuple(si::cumprod(x, si::axis<1>), si::logcumsumexp(x, si::axis<1>)); }, {{}, {{0.999, 1.001}}});
  check<si::tensor<float, 3, 20011>>(cumsum<1>, small);
  check<si::tensor<float, 3, 20012>>(cumsum<1>, small);
  check<si::tensor<float, 20011, 3>>(cumsum<0>, small);
  check<si::tensor<float, 5000, 40>>(cumsum<0>, small);
  check<si::tensor<std::int64_t, 70001>>(cumsum<0>, {{}, {{-9e17, 9e17}}});
  check<si::tensor<float, 300000>>([](auto x) { return si::exp(-si::cumsum(x, si::axis<0>)) + x; }, small);
  check<si::tensor<float, 2, 20000>>([](auto x) { return std::tuple(si::softmax(si::cumsum(x - 0.5f, si::axis<1>) * 0.01f), si::cummax(x, si::axis<1>)); }, small);
  check<si::tensor<float, 2, 20000>>([](auto x) { return si::cumsum(si::cumsum(x, si::axis<1>) * 0.001f, si::axis<1>); }, small);
  check<si::tensor<float, 20000, 2>>([](auto x) { return si::cumsum(si::cumsum(x, si::axis<0>) * 0.001f, si::axis<0>); }, small);
  check<si::tensor<si::bf16, 2, 40000>>([](auto x) { return si::cumsum(x, si::axis<1>) / 100; }, small);
  check<si::tensor<std::int32_t, si::dyn>>(cumsum<0>, {{1 << 17}, {{-9, 9}}});
}

}  // namespace
