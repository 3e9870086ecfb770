// index_put and scatter: writes at computed places, into values nothing reads later, and in place. Places are named once
// where values differ. Where the cases run is the including file's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "scatter_places.hpp"

namespace {

TEST_CASE("index_put: into a value that nothing reads later") {
  check<W, I3>([](auto x, auto i) { return si::index_put(si::cos(x), i, 1.f); }, {{}, {{}, {-6, 5}}});
  check<W, I3>([](auto x, auto i) { return si::index_put(si::cos(x), i, 1.f) * 2; }, {{}, {{}, {-6, 5}}});
  check<W, I3>([](auto x, auto i) { return si::index_put(si::full_like(x, 0.f), i, 1.f) + x; }, {{}, {{}, {0, 5}}});
  check<W, I3>([](auto x, auto i) { auto t = si::cos(x); auto before = t + 1; auto y = si::index_put(t, i, 1.f); return std::tuple(before, y, si::sum(y)); }, {{}, {{}, {0, 5}}});
  check<W, I3>([](auto x, auto i) { auto t = si::cos(x); auto y = si::index_put(t, i, 1.f); return std::tuple(t, y, t - y); }, {{}, {{}, {0, 5}}});
  check<W, I3>([](auto x, auto i) { auto t = si::softmax(x); auto y = si::index_put(si::index_put(t, i, 1.f), (i + 1) % 6, 2.f); return si::sum(y, si::axis<1>); }, {{}, {{}, {0, 5}}});
  check<W, I3>([](auto x, auto i) { auto y = si::transpose(si::exp(x)); return si::index_put(y, i, 1.f) + y; }, {{}, {{}, {0, 5}}});
  check<W, si::tensor<float, 8, 6>, I3>([](auto x, auto y, auto i) { auto m = si::matmul(x, y); return si::index_put(m, i, 0.f) * 2; }, {{}, {{}, {}, {0, 5}}});
}

TEST_CASE("index_put: values that read the target") {
  check<W, I3>([](auto x, auto i) { auto t = si::exp(x); auto p = places<6>(i); return si::index_put(t, p, si::embedding(t, p) * 2); });
  check<W, I3>([](auto x, auto i) { auto t = si::exp(x); return si::index_put(t, places<6>(i), si::slice<0, 1, 4>(t)); });
  check<W, I3>([](auto x, auto i) { auto p = places<6>(i); return si::assign(x, si::index_put(x, p, si::embedding(x, p) * 2 + si::slice<0, 3>(x))); });
  check<W>([](auto x) { auto top = si::argmax(x, si::axis<1>, si::keepdim); return std::tuple(si::assign(x, si::scatter<1>(x, top, -si::amax(x, si::axis<1>, si::keepdim))), x + 1); });
  check<si::tensor<float, 6, 6>, I3>([](auto x, auto i) { auto t = x * 2; return si::index_put(t, places<6>(i), si::slice<0, 0, 3>(si::matmul(t, t))); });
}

TEST_CASE("index_put: in place") {
  check<W, I3>([](auto x, auto i) { return si::assign(x, si::index_put(x, i, 1.f)); }, {{}, {{}, {-6, 5}}});
  check<W, I3>([](auto x, auto i) { auto before = x * 2; si::assign(x, si::index_put(x, i, 1.f)); return std::tuple(before, x * 2, x); }, {{}, {{}, {0, 5}}});
  check<W, I3>([](auto x, auto i) { auto y = si::index_put(x, i, 1.f); auto late = x * 2; si::assign(x, y); return std::tuple(late, x + y); }, {{}, {{}, {0, 5}}});
  check<W, I3>([](auto x, auto i) { auto y = si::index_put(x, i, 1.f); si::assign(x, y); return std::tuple(y, x); }, {{}, {{}, {0, 5}}});
  check<W, I3>([](auto x, auto i) { si::assign(x, si::index_put(x, i, 1.f)); si::assign(x, si::index_put<1>(x, places<8>(i), si::slice<1, 2, 5>(x) + 2)); return si::assign(x, x * 3); }, {{}, {{}, {0, 5}}});
  check<W, I3>([](auto x, auto i) { auto y = si::index_put(x, i, 1.f); si::assign(x, y); auto z = si::index_put(y, (i + 1) % 6, 2.f); return std::tuple(z * 2, x + 1); }, {{}, {{}, {0, 5}}});
  check<W, I3>([](auto x, auto i) { auto y = si::index_put(x, i, 1.f); si::assign(x, y); si::assign(x, si::index_put(x, (i + 1) % 6, 2.f)); return std::tuple(y * 2, x + 1); }, {{}, {{}, {0, 5}}});
  check<W, I3>([](auto x, auto i) { auto y = si::index_put(x, i, 1.f); si::assign(x, y); auto s = si::sum(y); si::assign(x, x * s); return x + 1; }, {{}, {{}, {0, 5}}});
  check<W, I3>([](auto x, auto i) { return std::tuple(si::assign(si::transpose(x), si::index_put(si::transpose(x), i, 1.f)), x + 1); }, {{}, {{}, {0, 5}}});
  check<si::strided_tensor<float, 6, 8>, I3>([](auto x, auto i) { return std::tuple(si::assign(x, si::index_put<1>(x, i, 1.f)), si::sum(x)); }, {{}, {{}, {0, 5}}});
  check<si::tensor<float, 2, 16, 8>, si::tensor<float, 2, 3, 8>, I3>([](auto cache, auto keys, auto i) {  // a cache of keys
    si::assign(cache, si::index_put<1>(cache, si::iota<0>(i) + 4, keys * 2));
    return si::sum(cache, si::axis<1>);
  }, {{}, {{}, {}, {0, 0}}});
}

}  // namespace
