// Views, indexing and what reads through them: permute, reshape, slice, flip, broadcast, concat, pad, gather, embedding,
// iota. Where the cases run is the including file's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "check.hpp"

namespace {

namespace si = sinter;
using checks::check;
using f32_345 = si::tensor<float, 3, 4, 5>;

TEST_CASE("views: one each, copied and computed on") {
  check<f32_345>([](auto x) { return std::tuple(si::permute<2, 0, 1>(x), si::transpose(x) * 2, si::transpose<0, -1>(x), si::permute<1, 0, 2>(x) + 1); });
  check<f32_345>([](auto x) { return std::tuple(si::reshape<12, 5>(x) + 1, si::reshape<5, si::infer>(x), si::reshape<2, 3, 2, 5>(x) * 2, si::flatten(x) + 1, si::flatten<1>(x)); });
  check<f32_345>([](auto x) { return std::tuple(si::slice<0, 1>(x) + 1, si::slice<1, 0, 3>(x), si::slice<2, 1, -1>(x) * 2, si::slice<2, 0, si::end, 2>(x) + 1, si::slice<1, -2>(x), si::slice<0, 2, 2>(x)); });
  check<f32_345>([](auto x) { return std::tuple(si::flip<0>(x) + 1, si::flip<1, 2>(x), si::flip<-1>(x) * x); });
  check<f32_345>([](auto x) { return std::tuple(si::unsqueeze<0>(x) + 1, si::unsqueeze<-1>(x), si::squeeze<0>(si::slice<0, 1, 2>(x)) * 2, si::unsqueeze<2>(x)); });
  check<si::tensor<float, 4, 1>, f32_345>([](auto x, auto y) { return std::tuple(si::broadcast_to(x, y), si::broadcast_to<2, 4, 7>(x) + 1, si::reshape_as(y, si::transpose(y)) * 2); });
}

TEST_CASE("views: compositions that are index expressions, and those that need a copy") {
  check<si::tensor<float, 6, 4>>([](auto x) { return si::reshape<3, 8>(si::transpose(x)) + 1; });
  check<si::tensor<float, 6, 4>>([](auto x) { return si::transpose(si::reshape<8, 3>(si::transpose(x))) * 2; });
  check<si::tensor<float, 6, 4>>([](auto x) { return si::reshape<2, 3, 2, 2>(si::transpose(si::reshape<4, 6>(x))) - 1; });
  check<si::tensor<float, 6, 4>>([](auto x) { return si::reshape<24>(si::flip<1>(x)) + 1; });
  check<si::tensor<float, 6, 4>>([](auto x) { return si::reshape<4, 3>(si::slice<0, 0, si::end, 2>(x)) + 1; });
  check<si::tensor<float, 6, 4>>([](auto x) { return si::reshape<10>(si::slice<1, 1, 3>(si::slice<0, 1>(x))) + 1; });
  check<si::tensor<float, 8, 6>>([](auto x) { return si::flip<0>(si::flip<0>(x)) + si::slice<0, 0, si::end>(x); });
  check<si::tensor<float, 8, 6>>([](auto x) { return si::reshape<2, 24>(si::slice<1, 0, 6, 1>(si::permute<1, 0>(si::permute<1, 0>(x)))) + 1; });
  check<si::tensor<float, 4, 1, 3>>([](auto x) { return si::reshape<4, 6>(si::broadcast_to<4, 2, 3>(x)) + 1; });
  check<si::tensor<float, si::dyn, 1, 3>>([](auto x) { return si::broadcast_to<2, si::dyn, 5, si::dyn>(x) + 1; }, {{4}});
  check<si::tensor<float, 4, 1, 3>>([](auto x) { return si::transpose(si::reshape<8, 3>(si::broadcast_to<4, 2, 3>(x))) * 2; });
  check<si::tensor<float, 2, 3, 4>>([](auto x) { return si::reshape<4, 6>(si::exp(si::permute<2, 1, 0>(x))) + si::reshape<4, 6>(x); });
  check<si::tensor<float, 2, 3, 4>, si::tensor<float, 4, 3>>([](auto x, auto y) { return si::transpose(x * 2 + si::transpose(y)) * si::unsqueeze<0>(y); });
  check<si::tensor<float, 4, 6>>([](auto x) { auto y = si::exp(x); return std::tuple(si::transpose(y), y + 1, si::reshape<6, 4>(y), si::flip<0>(y) * y); });
  check<si::tensor<float, 2, 3, 2, 2, 1, 2, 2, 3>>([](auto x) { return si::reshape<6, 4, 12>(si::permute<7, 1, 2, 3, 4, 5, 6, 0>(x)) + 1; });
  check<si::tensor<float, 0, 4>>([](auto x) { return std::tuple(si::transpose(x) + 1, si::reshape<4, 0>(x), si::flip<0>(x) * 2, si::slice<0, 0>(x)); });
  check<si::tensor<float, 3, 0, 2>>([](auto x) { return std::tuple(si::transpose(x) + 1, si::reshape<0, 7>(x) * 2, si::flatten(x) + 1); });
}

TEST_CASE("views of a result that is read elsewhere") {
  check<si::tensor<float, 6, 4>>([](auto x) { auto s = si::sum(x, si::axis<1>); return std::tuple(s, si::flip<0>(s) + s, si::unsqueeze<-1>(s) * x); });
  check<si::tensor<float, 6, 6>>([](auto x) { auto s = si::softmax(x); return s + si::transpose(s); });
  check<si::tensor<float, 6, 6>>([](auto x) { auto m = si::amax(x, si::axis<0>); return x - si::unsqueeze<-1>(m) + m; });
}

TEST_CASE("concat and pad") {
  check<f32_345, f32_345>([](auto x, auto y) { return std::tuple(si::concat<0>(x, y), si::concat<1>(x * 2, y), si::concat<-1>(x, y, x) + 1); });
  check<si::tensor<float, 3, 2>, si::tensor<float, 3, 0>, si::tensor<float, 3, 5>>([](auto x, auto y, auto z) { return std::tuple(si::concat<1>(x, y, z), si::concat<1>(y, y), si::exp(si::concat<1>(y, z))); });
  check<si::tensor<float, 3, 2>, si::tensor<std::int32_t, 4, 2>>([](auto x, auto y) { return si::concat<0>(x, y); });
  check<f32_345>([](auto x) { return std::tuple(si::pad<0, 1, 2>(x), si::pad<-1, 0, 3>(x, 7.f) * 2, si::pad<1, 2, 0>(si::pad<2, 1, 1>(x), -1.f), si::pad<0, 0, 0>(x)); });
  check<si::tensor<float, 0, 2>>([](auto x) { return si::pad<0, 2, 1>(x, 3) + 1; });
  check<si::tensor<float, 3, 4>>([](auto x) { return si::pad<0, 1, 1>(si::transpose(si::exp(x))) + si::concat<0>(si::transpose(x), si::slice<0, 0, 2>(si::transpose(x))); });
  check<si::tensor<float, 5, 6>>([](auto x) { return si::slice<1, 2, 8>(si::pad<1, 3, 3>(si::concat<0>(x, si::flip<0>(x)))) * 2; });
  check<si::tensor<float, 5, 6>>([](auto x) { return std::tuple(si::sum(si::concat<1>(x, x * 2), si::axis<1>), si::sum(si::pad<0, 2, 2>(x), si::axis<0>), si::softmax(si::pad<1, 1, 1>(x, -1.f))); });
  check<si::tensor<float, 4, 6>>([](auto x) {  // rotary embedding
    auto half = si::concat<-1>(-si::slice<-1, 3>(x), si::slice<-1, 0, 3>(x));
    return x * si::cos(x) + half * si::sin(x);
  });
  check<si::tensor<float, 5, 6>>([](auto x) { auto s = si::sum(x, si::axis<1>, si::keepdim); return si::concat<1>(x * s, s); });
  check<si::tensor<float, 5, 6>>([](auto x) { return si::reshape<6, 10>(si::concat<0>(x, x + 1)); });
}

TEST_CASE("stack, masks and triangles") {
  check<si::tensor<float, 6, 20>, si::tensor<float, 20>, si::tensor<std::int64_t, 6>>([](auto x, auto w, auto t) { return std::tuple(si::mse_loss(x, w), si::masked_fill(x, x > w, -1.f), si::tril<-1>(x), si::softmax(si::masked_fill(x, si::triu<2>(x) != 0.f, -1e9f)), si::sum(x * si::one_hot<20>(t), si::axis<1>)); }, {{}, {{}, {}, {0, 19}}});
  check<si::tensor<float, 6, 20>, si::tensor<float, 20>>([](auto x, auto w) { return si::stack<1>(x, si::broadcast_to(w, x), x * 2.f); });
  check<si::tensor<std::int32_t, si::dyn>, si::tensor<float, si::dyn, si::dyn>>([](auto i, auto x) { return std::tuple(si::one_hot<5>(i), si::tril(x), si::triu<-1>(x), si::stack<0>(x, x + 1)); }, {{4, 3, 5}, {{-1, 5}}});
}
TEST_CASE("gather and embedding") {
  using index = si::tensor<std::int64_t, 3, 4, 2>;
  check<f32_345, index>([](auto x, auto i) { return std::tuple(si::gather<2>(x, i), si::gather<2>(x * 2, i) + 1); }, {{}, {{}, {-5, 4}}});
  check<si::tensor<float, 7, 4>, si::tensor<std::int32_t, 3, 4>>([](auto x, auto i) { return si::gather<0>(x, i) * 2; }, {{}, {{}, {-7, 6}}});
  check<si::tensor<float, 7, 4>, si::tensor<std::uint8_t, 3, 5>>([](auto w, auto i) { return std::tuple(si::embedding(w, i), si::embedding(w, i) * 2 + 1); }, {{}, {{}, {0, 6}}});
  check<si::tensor<float, 7>, si::tensor<std::int64_t, 9>>([](auto w, auto i) { return si::embedding(w, i); }, {{}, {{}, {-7, 6}}});
  check<si::tensor<float, 7>, si::tensor<std::int64_t>>([](auto w, auto i) { return si::embedding(w, i); }, {{}, {{}, {-7, 6}}});
  check<si::tensor<float, 4, 7>, si::tensor<std::int64_t, 9>>([](auto w, auto i) { return si::embedding(si::transpose(w), i); }, {{}, {{}, {-7, 6}}});
  check<si::tensor<float, 9, 7>, si::tensor<std::int64_t, 4, 7>>([](auto x, auto i) { return std::tuple(si::gather<0>(si::flip<0>(x), i), si::gather<0>(si::slice<0, 2>(x), i), si::gather<0>(si::reshape<9, 7>(si::transpose(x)), i) + 1); }, {{}, {{}, {-7, 6}}});
  check<si::tensor<float, 5, 6>>([](auto x) { return si::gather<1>(x, (si::iota<1>(x) * 5 + 1) % 6); });
  check<si::tensor<float, 5, 6>, si::tensor<std::int64_t, 5, 6>>([](auto x, auto i) { return std::tuple(si::gather<1>(si::iota<1>(x) * 3, i), si::gather<1>(si::full_like(x, 2.f), i)); }, {{}, {{}, {-6, 5}}});
  check<si::tensor<float, 5, 6>, si::tensor<std::int64_t, 5, 3>>([](auto x, auto i) { return si::softmax(si::gather<1>(si::softmax(x), i)); }, {{}, {{}, {0, 5}}});
  check<si::tensor<float, 9, 4>, si::tensor<std::int64_t, 6>>([](auto w, auto i) { return std::tuple(si::sum(si::embedding(w, i), si::axis<0>), si::rms_norm(si::embedding(w, i), 1e-5f)); }, {{}, {{}, {0, 8}}});
  check<si::strided_tensor<float, 9, 4>, si::strided_tensor<std::int64_t, 6>>([](auto w, auto i) { return si::embedding(w, i); }, {{}, {{}, {0, 8}}});
  check<si::tensor<float, 5, 6>, si::tensor<std::int64_t, 5, 6>>([](auto x, auto i) { return si::transpose(si::gather<1>(x, i)) + si::reshape<6, 5>(si::gather<1>(x, i)); }, {{}, {{}, {0, 5}}});
  check<si::tensor<float, 5, 8>, si::tensor<std::int64_t, 5, 8>>([](auto x, auto i) { return si::pad<1, 1, 1>(si::gather<1>(x, i)) * si::concat<1>(si::gather<1>(x, i), si::slice<1, 0, 2>(x)); }, {{}, {{}, {0, 7}}});
}

TEST_CASE("iota under views") {
  check<si::tensor<float, 4, 6>>([](auto x) { return std::tuple(si::transpose(si::iota<0>(x)) * 2, si::where(si::iota<0>(x) >= si::iota<1>(x), x, 0.f), si::reshape<24>(si::iota<1>(x)), si::flip<1>(si::iota<1>(x)) + si::pad<1, 1, 0>(si::slice<1, 1>(si::iota<1>(x)), 9)); });
  check<si::tensor<float, 4, 6>>([](auto x) { return std::tuple(si::sum(si::iota<1>(x), si::axis<1>), si::reshape<3, 8>(si::transpose(si::iota<1>(x))), si::argmax(si::iota<1>(x), si::axis<1>)); });
}

TEST_CASE("realize: a buffer in the middle") {
  check<f32_345>([](auto x) { return si::realize(si::exp(x) + 1) * 2; });
  check<f32_345>([](auto x) { auto y = si::realize(si::transpose(x)); return std::tuple(y, y + 1, si::sum(y, si::axis<1>)); });
  check<f32_345>([](auto x) { return si::realize(si::realize(si::sum(si::realize(x), si::axis<0>)) - 1); });
  check<si::tensor<float, 6, 4>>([](auto x) { return si::realize(si::full_like(x, 2.f)) * x + si::realize(si::iota<0>(x)); });
  check<si::tensor<float, 6, 6>>([](auto x) { auto k = si::clone(x), r = si::realize(x * 1); si::assign(x, si::transpose(x)); return std::tuple(k, r, x, k + x); });
}

TEST_CASE("gather at places known from positions") {
  using V = si::tensor<float, 12>;
  using X = si::tensor<float, 6, 8>;
  check<V>([](auto x) { auto i = si::iota<0>(x); return std::tuple(si::gather<0>(x, i), si::gather<0>(x, si::c<11> - i), si::gather<0>(x, si::flip<0>(i)), si::gather<0>(x, -i), si::gather<0>(x, -i - si::c<1>)); });
  check<V>([](auto x) { auto i = si::iota<0>(x); return std::tuple(si::gather<0>(x, si::floor_divide(i, si::c<5>)), si::gather<0>(x, i % si::c<5>), si::gather<0>(x, (i * si::c<5>) % si::c<12>), si::gather<0>(x, si::abs(i - si::c<4>)), si::gather<0>(x, si::floor_divide(i, si::c<12>))); });
  check<V>([](auto x) { auto i = si::iota<0>(x); return std::tuple(si::gather<0>(x, i % si::c<1>), si::gather<0>(x, si::floor_divide(i, si::c<1>)), si::gather<0>(x, si::floor_divide(i + si::c<1>, si::c<4>)), si::gather<0>(x, (i + si::c<2>) % si::c<7>), si::gather<0>(x, si::cast<std::int32_t>(i) * 0)); });
  check<X>([](auto x) { auto i = si::iota<1>(x), j = si::iota<0>(x); return std::tuple(si::gather<1>(x, si::floor_divide(i, si::c<3>)), si::gather<1>(x, i % si::c<4>), si::gather<1>(x, j), si::gather<0>(x, j % si::c<4>), si::gather<1>(x, si::abs(i - si::c<3>)) + x); });
  check<X>([](auto x) { auto i = si::iota<1>(x), j = si::iota<0>(x); return std::tuple(si::gather<1>(x, (i + j) % si::c<8>), si::gather<1>(x, si::floor_divide(i + j * si::c<8>, si::c<8>)), si::gather<1>(x, (j * si::c<8> + i) % si::c<8>), si::transpose(si::gather<0>(x, si::floor_divide(i, si::c<2>)))); });
  check<X>([](auto x) { auto rows = si::iota<0>(si::slice<1, 0, 1>(x)); return std::tuple(si::embedding(x, rows % si::c<3>), si::embedding(si::exp(x), si::c<5> - rows), si::sum(si::embedding(x, si::reshape<3, 2>(rows)), si::axis<0>)); });
  check<X>([](auto x) { auto j = si::iota<1>(si::pad<1, 2, 2>(x)); return si::where(j < 8, si::gather<1>(si::concat<1>(x, si::slice<1, 0, 4>(x)), si::c<11> - j), 0.f); });
  check<X>([](auto x) { return si::gather<1>(si::softmax(x), si::iota<1>(x)) + si::gather<1>(si::exp(x), si::c<7> - si::iota<1>(x)); });
  check<X>([](auto x) { auto reversed = si::c<7> - si::iota<1>(x); return std::tuple(si::gather<1>(x, reversed), reversed, reversed * 2); });
  check<si::tensor<float, si::dyn, 8>>([](auto x) { return std::tuple(si::gather<0>(x, si::iota<0>(x)), si::gather<1>(x, si::c<7> - si::iota<1>(x)), si::iota<0>(x), si::gather<0>(x, si::iota<0>(x) % si::c<2>)); }, {{5}, {}});
}

}  // namespace
