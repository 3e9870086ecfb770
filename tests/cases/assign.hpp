// assign: writes into inputs keep PyTorch's order of reads and writes, whatever is fused. Where the cases run is the
// including file's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "check.hpp"

namespace {

namespace si = sinter;
using checks::check;
using W = si::tensor<float, 6, 8>;

TEST_CASE("assign: in place") {
  check<W, W, si::value<float>>([](auto w, auto g, auto lr) { return si::assign(w, w - lr * g); });
  check<W, W>([](auto w, auto g) { auto before = w * 2; si::assign(w, w - g); return std::tuple(before, w * 2); });
  check<W, W>([](auto w, auto g) { auto before = si::transpose(w) * 2; auto a = si::assign(w, w - g); return std::tuple(before, a, si::transpose(w) + 1); });
  check<W>([](auto w) { return si::assign(w, 3.f); });
  check<W>([](auto w) { return si::assign(w, w); });
  check<W, si::tensor<float, 8>>([](auto w, auto r) { return std::tuple(si::assign(w, r), w + 1); });
  check<si::tensor<si::bf16, 6, 8>, W>([](auto w, auto g) { return std::tuple(si::assign(w, w * 2 + g), si::sum(w, si::axis<1>)); });
  check<si::tensor<std::int32_t, 6, 8>>([](auto w) { return si::assign(w, w * 2.5f); }, {{}, {{-9, 9}}});
  check<si::tensor<bool, 6, 8>>([](auto w) { return si::assign(w, 0.5f); });
  check<W>([](auto w) { auto k = w + 1; si::assign(w, k); si::assign(w, w * k); return w - k; });
}

TEST_CASE("assign: values that read the target elsewhere") {
  check<W>([](auto w) { return si::assign(w, si::flip<0>(w)); });
  check<W>([](auto w) { return si::assign(w, si::flip<1>(w) * 2); });
  check<si::tensor<float, 8, 8>>([](auto w) { return si::assign(w, si::transpose(w)); });
  check<si::tensor<float, 8, 8>>([](auto w) { return si::assign(w, w + si::transpose(w)); });
  check<W>([](auto w) { return si::assign(si::slice<0, 1>(w), si::slice<0, 0, 5>(w)); });
  check<W>([](auto w) { return si::assign(si::slice<1, 0, 4>(w), si::slice<1, 4>(w) * 2); });
  check<W>([](auto w) { return si::assign(w, si::softmax(w)); });
  check<W>([](auto w) { return si::assign(w, si::softmax(w, si::axis<0>)); });
  check<W>([](auto w) { return si::assign(w, si::broadcast_to(si::slice<0, 2, 3>(w), w)); });
  check<W>([](auto w) { return si::assign(w, w - si::mean(w)); });
  check<W>([](auto w) { return si::assign(w, si::reshape<6, 8>(si::transpose(w))); });
  check<W>([](auto w) { return si::assign(w, si::pad<0, 1, 0>(si::slice<0, 0, 5>(w))); });
  check<W>([](auto w) { return si::assign(w, si::concat<0>(si::slice<0, 3>(w), si::slice<0, 0, 3>(w))); });
  check<W, si::tensor<std::int64_t, 6, 8>>([](auto w, auto i) { return si::assign(w, si::gather<1>(w, i)); }, {{}, {{}, {0, 7}}});
  check<si::tensor<float, 8, 8>>([](auto w) { return si::assign(w, si::matmul(w, w)); });
  check<si::tensor<float, 8, 8>, si::tensor<float, 8, 8>>([](auto w, auto x) { return si::assign(w, w - si::matmul(x, w)); });
  check<si::tensor<float, 8, 8>, si::tensor<float, 8, 8>>([](auto w, auto x) { return si::assign(w, si::matmul(si::relu(w), x) + 1); });
  check<si::tensor<float, 8, 8>, si::tensor<float, 8, 8>>([](auto w, auto x) { return si::assign(w, w - 0.1f * si::matmul(si::transpose(x), x)); });
  check<si::tensor<float, 8, 20>, si::tensor<float, 20, 20>>([](auto w, auto x) { return si::assign(w, si::matmul(si::rms_norm(w, 1e-5f), x)); });
}

TEST_CASE("assign: parts and views") {
  check<W, W>([](auto w, auto g) { return std::tuple(si::assign(si::slice<0, 2, 4>(w), si::slice<0, 2, 4>(g)), w * 2); });
  check<W, si::tensor<float, 8, 6>>([](auto w, auto g) { return std::tuple(si::assign(si::transpose(w), g), w + 1, si::transpose(w) + g); });
  check<W, W>([](auto w, auto g) { return std::tuple(si::assign(si::flip<0>(w), g), w + 1); });
  check<W, si::tensor<float, 48>>([](auto w, auto g) { return std::tuple(si::assign(si::flatten(w), g), w + 1); });
  check<W, si::tensor<float, 3>>([](auto w, auto g) { auto row = si::reshape<8>(si::slice<0, 1, 2>(w)); auto part = si::slice<0, 2, si::end, 2>(row); return std::tuple(si::assign(part, g), part * 2, row + 1, w - 1); });
  check<W>([](auto w) { si::assign(si::slice<1, 0, si::end, 2>(w), 0.f); si::assign(si::slice<1, 1, si::end, 2>(w), 1.f); return w * 2; });
  check<W, W>([](auto w, auto g) { auto v = si::transpose(w); auto k = v * 1; si::assign(w, g); return std::tuple(k, v, v * 2, k + v); });
}

TEST_CASE("assign: writes in order") {
  check<W, W>([](auto w, auto g) { si::assign(w, g); si::assign(si::flip<0>(w), g); return w + 0.5f; });
  check<si::tensor<float, 8, 8>, si::tensor<float, 8, 8>>([](auto w, auto g) { si::assign(w, g); return si::assign(si::transpose(w), g); });
  check<W, W>([](auto w, auto g) { si::assign(w, g * 2); auto a = w + 1; si::assign(w, g * 3); return std::tuple(a, w + 1); });
  check<W, W>([](auto w, auto g) { auto a = w + g; si::assign(w, g); auto b = w + g; si::assign(g, w * 3); return std::tuple(a, b, w + g); });
  check<W, W>([](auto w, auto g) { auto a = si::flip<0>(w); auto b = a * 2; si::assign(w, g); auto d = a * 2; si::assign(si::slice<0, 0, 3>(w), si::slice<0, 3>(w)); return std::tuple(b, d, a); });
  check<W, W>([](auto w, auto g) { auto s = si::sum(w, si::axis<1>, si::keepdim); si::assign(w, w / s); si::assign(g, g + s); return std::tuple(si::sum(w, si::axis<1>), s * 2); });
  check<W, W>([](auto w, auto g) { auto lazy = w * g; auto view = si::transpose(lazy); si::assign(w, 0.f); return std::tuple(view + 1, lazy * 3, si::sum(view, si::axis<0>)); });
  check<W>([](auto w) { auto old = si::exp(w); auto m = si::amax(w, si::axis<1>); si::assign(w, 7.f); return std::tuple(old + 1, m, w); });
  check<si::tensor<float, 6>, W>([](auto s, auto x) { si::assign(s, 0.9f * s + 0.1f * si::mean(x, si::axis<1>)); return (x - si::unsqueeze<1>(s)); });
}

TEST_CASE("assign: optimiser step of several parameters") {
  check<W, W, W, W, si::value<float>>([](auto w, auto g, auto m, auto v, auto lr) {
    si::assign(m, 0.9f * m + 0.1f * g);
    si::assign(v, 0.99f * v + 0.01f * g * g);
    return si::assign(w, w - lr * m / (si::sqrt(si::abs(v)) + 0.1f));
  });
}

TEST_CASE("assign: strided inputs") {
  check<si::strided_tensor<float, 6, 8>, W>([](auto w, auto g) { return std::tuple(si::assign(w, w - g), w * 2); });
  check<si::strided_tensor<float, 6, 8>>([](auto w) { return si::assign(si::slice<0, 1>(w), si::flip<0>(si::slice<0, 0, 5>(w))); });
}

}  // namespace
