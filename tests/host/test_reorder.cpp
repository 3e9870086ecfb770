// Loops that follow other loops: whatever order the scheduler chooses, the results are the same.
// SPDX-License-Identifier: BSL-1.0
#include "on_host.hpp"

#include "check.hpp"

namespace {

namespace si = sinter;
using checks::check;
using std::tuple;
using X = si::tensor<float, 6, 8>;
using Y = si::tensor<float, 8, 6>;
using C = si::tensor<float, 4, 6, 10>;
using D = si::tensor<float, si::dyn, 8>;

TEST_CASE("reorder: permuted copies") {
  check<X>([](auto x) { auto y = si::exp(x); return tuple(y, si::transpose(y) * 2.f); });
  check<X>([](auto x) { auto y = si::exp(x); return tuple(y, si::clone(si::transpose(y)), si::sum(y, si::axis<0>)); });
  check<C>([](auto c) { auto y = c + 1.f; return tuple(y, si::permute<2, 0, 1>(y) * 2.f); });
  check<C>([](auto c) {
    auto y = c + 1.f;
    return tuple(y, si::permute<1, 0, 2>(y) * 2.f, si::permute<0, 2, 1>(y) * 3.f);
  });
  // Digits that are no dimensions of either side: split, permuted, merged.
  check<C>([](auto c) { auto y = c + 1.f; return tuple(y, si::reshape<12, 20>(si::permute<1, 0, 2>(y)) * 2.f); });
  check<si::tensor<float, 24, 10>>([](auto c) {
    auto y = c * 0.5f;
    return tuple(y, si::reshape<60, 4>(si::permute<1, 2, 0>(si::reshape<4, 6, 10>(y))) + 1.f);
  });
  check<si::tensor<float, 240>>([](auto c) {
    auto y = c * 0.5f;
    auto turned = si::reshape<240>(si::transpose(si::reshape<12, 20>(y))) + 1.f;
    return tuple(y, turned, si::sum(si::reshape<24, 10>(y), si::axis<1>));
  });
  check<D>([](auto x) { auto y = si::exp(x); return tuple(y, si::transpose(y) * 2.f); }, {{5}});
  check<D>([](auto x) { auto y = si::exp(x); return tuple(y, si::transpose(y) * 2.f); }, {{0}});
  check<si::tensor<float, 0, 8>>([](auto x) { auto y = si::exp(x); return tuple(y, si::transpose(y) * 2.f); });
}

TEST_CASE("reorder: of two pointwise loops") {
  // Too much besides for an overlap: one follows the other's order.
  check<X, X, X, Y, Y>([](auto a, auto b, auto c, auto d, auto e) {
    return tuple(a * b + c, si::transpose(a) * d - e);
  });
  check<X, X, Y>([](auto a, auto b, auto d) {
    auto y = a + b;
    return tuple(y, si::transpose(y) * d, si::transpose(y) - d);
  });
  check<C, C, si::tensor<float, 10, 4, 6>, si::tensor<float, 10, 4, 6>>([](auto a, auto b, auto d, auto e) {
    auto y = a + b;
    return tuple(y, si::permute<2, 0, 1>(y) * d, si::permute<2, 0, 1>(y) - e, si::amax(y, si::axis<1>));
  });
  check<X>([](auto x) { return tuple(si::exp(x), si::sin(si::transpose(x))); });
}

TEST_CASE("reorder: pointwise loops of a reduction") {
  check<X>([](auto x) { return tuple(si::sum(x, si::axis<0>), si::cos(x)); });
  check<X>([](auto x) { return si::softmax(x, si::axis<0>); });
  check<si::tensor<float, 8, 8>>([](auto x) { return tuple(si::sum(si::transpose(x), si::axis<1>), si::cos(x)); });
  check<C>([](auto x) { return tuple(si::sum(x, si::axis<1>), si::cos(x)); });
  check<C>([](auto x) { return x - si::mean(x, si::axis<0, 2>, si::keepdim); });
  check<C>([](auto x) { return tuple(si::amax(si::permute<2, 1, 0>(x), si::axis<0>), si::permute<1, 0, 2>(x) * 2.f); });
  check<D>([](auto x) { return tuple(si::sum(x, si::axis<0>), si::cos(x)); }, {{7}});
  check<D>([](auto x) { return si::softmax(x, si::axis<0>); }, {{7}});
  check<C>([](auto x) {
    auto y = si::exp(x);
    return tuple(si::sum(y, si::axis<2>), si::permute<2, 0, 1>(y) * 2.f, y);
  });
}

TEST_CASE("reorder: stored values that one reduction of everything reads") {
  check<X>([](auto x) { auto y = si::realize(si::exp(x)); return tuple(y, si::sum(y)); });
  check<X>([](auto x) { auto y = si::realize(si::exp(si::transpose(x))); return tuple(y, si::amax(y), si::mean(y)); });
  check<D>([](auto x) { auto y = si::realize(si::concat<0>(x, x * 2.f)); return tuple(y, si::sum(y)); }, {{3}});
  check<si::tensor<float, 1, 9>>([](auto x) { auto y = si::realize(x * 2.f); return tuple(y, si::softmax(y)); });
  check<C>([](auto x) {
    auto y = si::realize(si::pad<1, 1, 2>(x));
    return tuple(y, si::sum(si::reshape<36, 10>(y), si::axis<1>));
  });
}

TEST_CASE("reorder: writes in place keep their order") {
  check<si::tensor<float, 8, 8>>([](auto x) { return tuple(si::assign(x, x + 1.f), si::exp(si::transpose(x))); });
  check<si::tensor<float, 8, 8>>([](auto x) {
    auto y = si::transpose(x) * 2.f;
    return tuple(y, si::assign(x, x + 1.f));
  });
}

TEST_CASE("reorder: siblings of a matmul") {
  using S = si::tensor<float, 16, 16>;
  check<S, S>([](auto x, auto y) { return tuple(si::matmul(x, y), x + 1.f); });
  check<S, S>([](auto x, auto y) { return tuple(si::relu(si::matmul(si::sin(x), y)), y * 2.f); });
}

TEST_CASE("reorder: what is kept apart") {
  check<X>([](auto x) { return si::softmax(si::no_fuse(si::exp(x))); });
  check<X>([](auto x) { auto y = si::no_fuse(si::transpose(si::sin(x))); return si::sum(y * 2.f, si::axis<1>); });
}

}  // namespace
