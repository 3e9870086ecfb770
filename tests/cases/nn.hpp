// Neural-network compositions, against the reference and against formulas written here. Where the cases run is the
// including file's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "check.hpp"

namespace {

namespace si = sinter;
using checks::check;

TEST_CASE("nn: every composition") {
  using X = si::tensor<float, 6, 20>;
  using W = si::tensor<float, 20>;
  check<X>([](auto x) { return std::tuple(si::softmax(x), si::softmax(x, si::axis<0>), si::log_softmax(x), si::log_softmax(x, si::axis<0>), si::softmax(x, si::axis<0, 1>)); });
  check<X, W, W>([](auto x, auto w, auto b) { return std::tuple(si::layer_norm(x, 1e-5f), si::layer_norm(x, w, 1e-5f), si::layer_norm(x, w, b, 1e-5f), si::rms_norm(x, 1e-6f), si::rms_norm(x, w, 1e-6f)); });
  check<X, si::tensor<std::int64_t, 6>>([](auto x, auto t) { return si::cross_entropy(x, t); }, {{}, {{}, {0, 19}}});
  check<si::tensor<si::bf16, 6, 20>, si::tensor<si::bf16, 20>>([](auto x, auto w) { return std::tuple(si::softmax(x), si::rms_norm(x, w, 1e-6f)); });
  check<si::tensor<si::f16, 6, 20>, si::tensor<float, 20>>([](auto x, auto w) { return si::layer_norm(x, w, 1e-5f); });
  check<si::tensor<std::int32_t, 6, 20>>([](auto x) { return std::tuple(si::softmax(x), si::layer_norm(x, 1e-5f), si::log_softmax(x)); });
}

/// Bodies whose rows wait in more than one value, or are folded after they were.
template <class X>
void check_long_bodies() {
  check<X, X>([](auto y, auto g) { return y * (g - si::sum(y * g, si::axis<-1>, si::keepdim)); });
  check<X, X>([](auto x, auto y) { return si::softmax(x) - si::softmax(y); });
  check<X, X>([](auto x, auto y) { return si::sum(si::softmax(y) * (si::log_softmax(y) - si::log_softmax(x)), si::axis<-1>); });
  check<X>([](auto x) { return si::softmax(si::layer_norm(x, 1e-5f)); });
  check<X>([](auto x) { return std::tuple(si::softmax(x), si::logsumexp(x, si::axis<-1>)); });
  check<X>([](auto x) { return si::amax(si::softmax(x), si::axis<-1>); });
  check<X>([](auto x) { return std::tuple(si::softmax(x), si::sum(si::softmax(x) * si::log_softmax(x), si::axis<-1>)); });
}
TEST_CASE("nn: several phases over rows that registers hold") {
  check_long_bodies<si::tensor<si::bf16, 3, 4096>>();
  check_long_bodies<si::tensor<si::bf16, 3, 768>>();
  check_long_bodies<si::tensor<float, 3, 4096>>();
}
TEST_CASE("nn: entropies of rows that single elements fill") {
  using X = si::tensor<si::bf16, 3, 1001>;
  check<X>([](auto x) { return si::sum(si::softmax(x) * si::log_softmax(x), si::axis<-1>); });
  check<X>([](auto x) { return std::tuple(si::softmax(x), si::sum(si::softmax(x) * si::log_softmax(x), si::axis<-1>)); });
}
TEST_CASE("nn: several phases over rows of bytes") {
  constexpr auto body = [](auto x) { return std::tuple(si::softmax(si::cast<float>(x) * 0.1f), si::cast<si::bf16>(si::layer_norm(si::cast<float>(x), 1e-5f))); };
  check<si::tensor<std::int8_t, 3, 4096>>(body, {{}, {{-128, 127}}});
  check<si::tensor<std::uint8_t, si::dyn, si::dyn>>(body, {{3, 2056}, {{0, 255}}});
}

/// softmax, var and layer_norm of small whole numbers, by hand: the compositions themselves, not only their fusion.
template <class Fn>
std::vector<float> evaluated(Fn fn) {
  std::vector<float> in(8), out(64);
  for (int i = 0; i < 8; ++i) in[static_cast<std::size_t>(i)] = static_cast<float>(i % 4 == 3 ? 6 : i % 4);  // 0 1 2 6, twice
  reference::array a{si::dtype::f32, {2, 4}, {}};
  for (float v : in) a.cells.push_back({v, 0});
  using F = decltype(si::fuse<si::tensor<float, 2, 4>>(fn));
  std::vector<reference::array> inputs{a};
  out.clear();
  for (const reference::array& r : reference::evaluate(reference::make_program(F::program::source), inputs))
    for (const reference::cell& c : r.cells) out.push_back(static_cast<float>(si::is_floating(r.type) ? c.real : static_cast<double>(c.whole)));
  return out;
}
void check_row(const std::vector<float>& found, std::vector<double> expected) {
  REQUIRE(found.size() >= expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-5));
}

TEST_CASE("nn: what the compositions mean") {
  const double e = 1 + std::exp(1.) + std::exp(2.) + std::exp(6.);
  check_row(evaluated([](auto x) { return si::softmax(x); }), {1 / e, std::exp(1.) / e, std::exp(2.) / e, std::exp(6.) / e});
  check_row(evaluated([](auto x) { return si::log_softmax(x); }), {-std::log(e), 1 - std::log(e)});
  check_row(evaluated([](auto x) { return si::logsumexp(x, si::axis<1>); }), {std::log(e), std::log(e)});
  const double mean = 9. / 4, m2 = 81. / 16 + 25. / 16 + 1. / 16 + 225. / 16;
  check_row(evaluated([](auto x) { return si::mean(x, si::axis<1>); }), {mean, mean});
  check_row(evaluated([](auto x) { return si::var(x, si::axis<1>); }), {m2 / 3, m2 / 3});
  check_row(evaluated([](auto x) { return si::var<0>(x, si::axis<1>); }), {m2 / 4, m2 / 4});
  check_row(evaluated([](auto x) { return si::std_dev(x, si::axis<1>, si::keepdim); }), {std::sqrt(m2 / 3)});
  check_row(evaluated([](auto x) { return si::norm(x, si::axis<1>); }), {std::sqrt(41.)});
  check_row(evaluated([](auto x) { return si::layer_norm(x, 0.f); }), {(0 - mean) / std::sqrt(m2 / 4), (1 - mean) / std::sqrt(m2 / 4)});
  check_row(evaluated([](auto x) { return si::rms_norm(x, 1.f); }), {0, 1 / std::sqrt(41. / 4 + 1)});
  check_row(evaluated([](auto x) { return si::cross_entropy(x, si::argmax(x, si::axis<1>)); }), {std::log(e) - 6});
  check_row(evaluated([](auto x) { return si::mse_loss(x, si::full_like(x, si::c<1>)); }), {27. / 4});
  check_row(evaluated([](auto x) { return si::masked_fill(si::cast<std::int32_t>(x), x > 1.f, 7.9f); }), {0, 1, 7, 7});
  check_row(evaluated([](auto x) { return si::tril(x + 1); }), {1, 0, 0, 0, 1, 2, 0, 0});
  check_row(evaluated([](auto x) { return si::triu<1>(x); }), {0, 1, 2, 6, 0, 0, 2, 6});
  check_row(evaluated([](auto x) { return si::one_hot<3>(si::cast<std::int32_t>(x)); }), {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0});
  check_row(evaluated([](auto x) { return si::stack<1>(x, x * 2.f); }), {0, 1, 2, 6, 0, 2, 4, 12});
  check_row(evaluated([](auto x) { return si::stack<-1>(x, x * 2.f); }), {0, 0, 1, 2, 2, 4, 6, 12});
  check_row(evaluated([](auto x) { return si::cast<std::int32_t>(x) << 1; }), {0, 2, 4, 12});
  check_row(evaluated([](auto x) { return si::cast<std::int32_t>(x) >> 1; }), {0, 0, 1, 3});
  check_row(evaluated([](auto x) { return ~si::cast<std::int32_t>(x); }), {-1, -2, -3, -7});
  check_row(evaluated([](auto x) { return si::nll_loss(si::log_softmax(x), si::argmax(x, si::axis<1>)); }), {std::log(e) - 6});
  check_row(evaluated([](auto x) { return si::transpose(x); }), {0, 0, 1, 1, 2, 2, 6, 6});
  check_row(evaluated([](auto x) { return si::slice<1, 1, si::end, 2>(x); }), {1, 6, 1, 6});
  check_row(evaluated([](auto x) { return si::slice<1, -3, -1>(x); }), {1, 2, 1, 2});
  check_row(evaluated([](auto x) { return si::flip<1>(x); }), {6, 2, 1, 0});
  check_row(evaluated([](auto x) { return si::concat<1>(si::slice<1, 0, 1>(x), si::slice<1, 3>(x)); }), {0, 6, 0, 6});
  check_row(evaluated([](auto x) { return si::pad<1, 1, 2>(x, 9.f); }), {9, 0, 1, 2, 6, 9, 9});
  check_row(evaluated([](auto x) { return si::gather<1>(x, si::iota<1>(x) - 1); }), {6, 0, 1, 2});
  check_row(evaluated([](auto x) { return si::embedding(si::transpose(x), si::argmax(x, si::axis<1>)); }), {6, 6, 6, 6});
  check_row(evaluated([](auto x) { return si::matmul(x, si::transpose(x)); }), {41, 41, 41, 41});
  check_row(evaluated([](auto x) { return si::linear(x, si::slice<0, 0, 1>(x), si::sum(si::slice<0, 0, 1>(x), si::axis<1>)); }), {50, 50});
  check_row(evaluated([](auto x) { return si::sum(x, si::axis<0>); }), {0, 2, 4, 12});
  check_row(evaluated([](auto x) { return si::permute<1, 0>(x); }), {0, 0, 1, 1});
  check_row(evaluated([](auto x) { return si::full_like(x, 2) * x + si::iota<0>(x); }), {0, 2, 4, 12, 1, 3, 5, 13});
}

}  // namespace
