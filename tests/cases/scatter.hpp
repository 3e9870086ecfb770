// index_put and scatter: writes at computed places, into copies. Places are named once where values differ. Where the
// cases run is the including file's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "scatter_places.hpp"

namespace {

TEST_CASE("index_put: into a copy of an input") {
  check<W, I3>([](auto x, auto i) { return si::index_put(x, i, 1.f); }, {{}, {{}, {-6, 5}}});
  check<W, I3>([](auto x, auto i) { return std::tuple(si::index_put<1>(x, i, 7), x, x * 2, si::index_put<-1>(x, i, 7) + x); }, {{}, {{}, {-8, 7}}});
  check<W, I3, si::tensor<float, 8>>([](auto x, auto i, auto row) { return si::index_put(x, i, row * 2); }, {{}, {{}, {0, 5}, {}}});
  check<W, I3, si::tensor<float, 3, 8>>([](auto x, auto i, auto v) { return si::index_put(x, places<6>(i), v); });
  check<W, si::tensor<float, 6, 2>, I3>([](auto x, auto v, auto i) { return si::index_put<1>(x, places<8>(si::slice<0, 0, 2>(i)), v + 1); });
  check<si::tensor<float, 5, 7, 3>, si::tensor<std::int32_t, 2, 2>>([](auto x, auto i) { return si::index_put<1>(x, i, -1.f); }, {{}, {{}, {-7, 6}}});
  check<si::tensor<float, 40>, si::tensor<std::uint8_t>>([](auto x, auto i) { return si::index_put(x, i, 3); }, {{}, {{}, {0, 39}}});
  check<W, si::tensor<std::int64_t, 0>>([](auto x, auto i) { return si::index_put(x, i, 3.f); });
  check<si::tensor<float, 0, 4>, si::tensor<std::int64_t, 0>>([](auto x, auto i) { return si::index_put(x, i, 3.f); });
}

TEST_CASE("scatter: one index for each element") {
  check<W, si::tensor<std::int64_t, 6, 3>>([](auto x, auto i) { return si::scatter<1>(x, i, 2.f); }, {{}, {{}, {-8, 7}}});
  check<W, si::tensor<float, 6, 3>>([](auto x, auto v) { return si::scatter<1>(x, places<8>(v), v * 2); });
  check<W, si::tensor<float, 6, 3>>([](auto x, auto v) { return si::sum(si::scatter<-1>(si::exp(x), places<8>(v), v), si::axis<0>); });
  check<W, si::tensor<float, 8>>([](auto x, auto row) { return si::scatter<0>(x, si::iota<0>(x), row); });
  check<si::tensor<si::bf16, 6, 8>, si::tensor<float, 6, 3>>([](auto x, auto v) { return si::scatter<1>(x, places<8>(v), v * 2); });
  check<si::tensor<std::int32_t, 6, 8>, si::tensor<float, 6, 3>>([](auto x, auto v) { return si::scatter<1>(x, places<8>(v), v * 2); });
  check<si::tensor<bool, 6, 8>, si::tensor<float, 6, 3>>([](auto x, auto v) { return si::scatter<1>(x, places<8>(v), v); });
  check<si::tensor<double, 6, 8>, si::tensor<double, 6, 3>>([](auto x, auto v) { return si::scatter<1>(x * x, places<8>(v), v) * 2; });
}

TEST_CASE("index_put: with a product, with a reduction, with run-time extents") {
  check<W, si::tensor<float, 3, 4>, si::tensor<float, 4, 8>>([](auto x, auto a, auto b) { return si::index_put(x, places<6>(si::sum(a, si::axis<1>)), si::relu(si::matmul(a, b))); });
  check<W, si::tensor<float, 8, 20>>([](auto x, auto v) { return si::index_put<1>(x, si::iota<0>(si::sum(v, si::axis<1>)), si::sum(v, si::axis<1>)); });
  check<W, si::tensor<float, 3, 8>>([](auto x, auto v) { return si::index_put(x, places<6>(si::sum(v, si::axis<1>)), si::softmax(v)); });
  check<si::tensor<float, si::dyn, 8>, si::tensor<std::int32_t, si::dyn>>([](auto x, auto i) { return std::tuple(si::index_put(x, i, 1.f), si::assign(x, si::index_put<0>(x, i, 2.f))); }, {{6, 3, 6}, {{}, {-6, 5}}});
  check<si::tensor<float, 5, si::dyn>, si::tensor<std::int32_t, 5, si::dyn>>([](auto x, auto i) { return si::scatter<1>(si::sin(x), i, 1.f); }, {{9, 3, 9}, {{}, {-9, 8}}});
}

TEST_CASE("index_put: at pairs of indices") {
  check<W, I3, I3>([](auto x, auto i, auto j) { return si::index_put(x, i, j, 1.f); }, {{}, {{}, {-6, 5}, {-8, 7}}});
  check<W, I3, I3>([](auto x, auto i, auto j) { auto y = si::index_put(si::exp(x), i, j, 1.f); return std::tuple(y, si::assign(x, si::index_put(x, i, j, 2.f)), x + 1); }, {{}, {{}, {-9, 9}, {-9, 9}}});  // some lie outside
  check<W, si::tensor<std::int32_t, 3, 1>, si::tensor<std::uint8_t, 2>, si::tensor<float, 3, 2>>([](auto x, auto i, auto j, auto v) { return si::index_put(x, si::iota<0>(i) + i * 0, si::iota<0>(j) * 3 + j * 0, v); });
  check<si::tensor<float, 4, 5, 3>, I3, si::tensor<float, 3, 3>>([](auto x, auto i, auto v) { return si::index_put(x, places<4>(i), places<5>(i), v); });
  check<si::strided_tensor<float, 6, 8>, I3, I3>([](auto x, auto i, auto j) { return std::tuple(si::assign(x, si::index_put(x, i, j, 1.f)), si::sum(x)); }, {{}, {{}, {0, 5}, {0, 7}}});
  check<si::tensor<float, si::dyn, si::dyn>, I3, I3>([](auto x, auto i, auto j) { return std::tuple(si::index_put(x, i, j, 1.f), si::assign(x, si::index_put(x, i, j, 2.f))); }, {{6, 8}, {{}, {-6, 5}, {-8, 7}}});
}

}  // namespace
