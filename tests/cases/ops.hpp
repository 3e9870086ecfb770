// Every pointwise op, through fuse: float domains, integers, bool, promotion, scalars, casts. Where the cases run is the
// including file's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <limits>

#include "check.hpp"

namespace {

namespace si = sinter;
using checks::check;
using checks::check_only;

template <class T>
using matrix = si::tensor<T, 3, 7>;

constexpr auto any_float = [](auto x) {
  return std::tuple(-x, si::abs(x), si::sign(x), si::square(x), si::reciprocal(x), si::exp(x), si::exp2(x), si::expm1(x),
                    si::sin(x), si::cos(x), si::atan(x), si::sinh(x), si::cosh(x), si::tanh(x), si::asinh(x), si::erf(x),
                    si::erfc(x), si::floor(x), si::ceil(x), si::round(x), si::trunc(x), si::frac(x));
};
constexpr auto activations = [](auto x) {
  return std::tuple(si::relu(x), si::relu6(x * 4.f), si::leaky_relu(x, 0.125f), si::elu(x, 1.5f), si::selu(x), si::gelu(x),
                    si::gelu_tanh(x), si::sigmoid(x), si::silu(x), si::logsigmoid(x), si::softplus(x), si::mish(x),
                    si::hardsigmoid(x), si::hardswish(x), si::hardtanh(x, -0.5f, 0.75f), si::softsign(x), si::tanhshrink(x));
};
constexpr auto positive = [](auto x) {
  return std::tuple(si::sqrt(x), si::rsqrt(x), si::log(x), si::log2(x), si::log10(x), si::log1p(x), si::lgamma(x),
                    si::acosh(x + 1.f), si::tan(x * 0.5f), si::asin(x * 0.5f), si::acos(x * 0.5f), si::atanh(x * 0.5f));
};
constexpr auto binary = [](auto x, auto y) {
  return std::tuple(x + y, x - y, x * y, x / y, si::floor_divide(x, y), x % y, si::fmod(x, y), si::pow(si::abs(x), y),
                    si::atan2(x, y), si::hypot(x, y), si::copysign(x, y), si::minimum(x, y), si::maximum(x, y), si::fmin(x, y),
                    si::fmax(x, y), si::lerp(x, y, 0.25f), si::fma(x, y, x), si::clamp(x, y, 1.f), si::where(x > y, x, y));
};
constexpr auto comparisons = [](auto x, auto y) {
  return std::tuple(x == y, x != y, x < y, x <= y, x > y, x >= y, x && y, x || y, si::logical_xor(x, y), !x, si::isnan(x),
                    si::isinf(x), si::isfinite(x));
};
constexpr auto integers = [](auto x, auto y) {
  return std::tuple(x + y, x - y, x * y, -x, si::abs(x), si::sign(x), si::square(x), si::floor_divide(x, y), x % y,
                    si::fmod(x, y), si::pow(x, si::abs(y)), si::minimum(x, y), si::maximum(x, y), x & y, x | y, x ^ y,
                    si::bitwise_not(x), si::bitwise_left_shift(x, si::abs(y)), si::bitwise_right_shift(x, si::abs(y)),
                    si::clamp(x, -3, 4), si::where(y > 0, x, 7), si::relu(x), si::floor(x), si::round(x), si::relu6(x));
};
constexpr auto into_floats = [](auto x, auto y) {
  return std::tuple(x / (y + 100), si::exp(x * 0.125f), si::sigmoid(x), si::sqrt(si::abs(x)), x + 0.5f, x * si::c<2>, si::reciprocal(x + 100));
};

template <class T>
void check_integers() {
  check_only<si::standard, matrix<T>, matrix<T>>(integers, {{}, {{-12, 12}, {-6, 6}}});
  check_only<si::standard, matrix<T>, matrix<T>>(comparisons, {{}, {{-2, 2}, {-2, 2}}});
  check_only<si::standard, matrix<T>, matrix<T>>(into_floats, {{}, {{-12, 12}, {-6, 6}}});
}
template <class T>
void check_floats() {
  check_only<si::standard, matrix<T>>(any_float);
  check_only<si::standard, matrix<T>>(activations);
  check_only<si::standard, matrix<T>>(positive, {{}, {{0.25, 1.75}}});
  check_only<si::standard, matrix<T>, matrix<T>>(binary, {{}, {{-2, 2}, {0.5, 2}}});
  check_only<si::standard, matrix<T>, matrix<T>>(comparisons);
}

TEST_CASE("pointwise: f32") {
  check_floats<float>();
  check<matrix<float>>(activations);
  check<matrix<float>, matrix<float>>(binary, {{}, {{-2, 2}, {0.5, 2}}});
}
TEST_CASE("pointwise: f64") { check_floats<double>(); }
TEST_CASE("pointwise: f16") { check_floats<si::f16>(); }
TEST_CASE("pointwise: bf16") {
  check_only<si::standard, matrix<si::bf16>>(activations);
  check_only<si::standard, matrix<si::bf16>, matrix<si::bf16>>(comparisons);
}
TEST_CASE("pointwise: i64") { check_integers<std::int64_t>(); }
TEST_CASE("pointwise: i32") { check_integers<std::int32_t>(); }
TEST_CASE("pointwise: i8") { check_integers<std::int8_t>(); }
TEST_CASE("pointwise: u8") { check_integers<std::uint8_t>(); }

TEST_CASE("pointwise: integers wrap in their own type") {
  constexpr auto f = [](auto x, auto y) { return std::tuple(x * y + x, si::sum(x * y, si::axis<1>), x * 3 - y); };
  check<matrix<std::int8_t>, matrix<std::int8_t>>(f, {{}, {{-128, 127}, {-128, 127}}});
  check<matrix<std::uint8_t>, matrix<std::uint8_t>>(f, {{}, {{0, 255}, {0, 255}}});
  check<matrix<std::int32_t>, matrix<std::int32_t>>(f, {{}, {{-2e9, 2e9}, {-2e9, 2e9}}});
  check<matrix<std::int64_t>, matrix<std::int64_t>>(f, {{}, {{-9e18, 9e18}, {-9e18, 9e18}}});
}

TEST_CASE("pointwise: bool") {
  constexpr auto f = [](auto x, auto y) {
    return std::tuple(x + y, x * y, x & y, x | y, x ^ y, !x, si::bitwise_not(x), x == y, x < y, si::where(x, y, true), x + 1, x * 0.5f,
                      si::maximum(x, y), si::minimum(x, y), si::sign(x));
  };
  check<matrix<bool>, matrix<bool>>(f);
  check<matrix<bool>>([](auto x) { return std::tuple(si::any(x, si::axis<1>), si::all(x, si::axis<0>), si::sum(x), si::mean(x)); });
}

TEST_CASE("pointwise: dtypes promote as torch's") {
  constexpr auto f = [](auto x, auto y) { return std::tuple(x + y, x * y, si::maximum(x, y), x / (y + 9), x < y, si::where(x > 0, y, x)); };
  check<matrix<std::int32_t>, matrix<float>>(f, {{}, {{-5, 5}}});
  check<matrix<std::uint8_t>, matrix<std::int8_t>>(f, {{}, {{0, 200}, {-8, 100}}});
  check<matrix<si::bf16>, matrix<si::f16>>(f);
  check<matrix<si::bf16>, matrix<float>>(f);
  check<matrix<double>, matrix<float>>(f);
  check<matrix<double>, matrix<si::f16>>(f);
  check<matrix<bool>, matrix<std::int64_t>>(f, {{}, {{}, {-8, 8}}});
  check<matrix<bool>, matrix<si::f16>>(f);
  check<matrix<std::int64_t>, matrix<si::bf16>>(f, {{}, {{-9, 9}}});
}

TEST_CASE("pointwise: cast goes between all dtypes and rounds") {
  constexpr auto f = [](auto x) {
    return std::tuple(si::cast<bool>(x), si::cast<std::int8_t>(x), si::cast<std::int32_t>(x), si::cast<std::int64_t>(x),
                      si::cast<si::f16>(x), si::cast<si::bf16>(x), si::cast<float>(x), si::cast<double>(x),
                      si::cast<float>(si::cast<si::bf16>(x * 3)) * 2, si::cast<double>(si::cast<si::f16>(x)));
  };
  check<matrix<float>>(f, {{}, {{-100, 100}}});
  check<matrix<double>>(f, {{}, {{-100, 100}}});
  check<matrix<si::f16>>(f, {{}, {{-40, 40}}});
  check<matrix<si::bf16>>(f, {{}, {{-40, 40}}});
  check<matrix<std::int64_t>>(f, {{}, {{-100000, 100000}}});
  check<matrix<std::int32_t>>(f, {{}, {{-300, 300}}});
  check<matrix<std::int8_t>>(f, {{}, {{-42, 42}}});
  check<matrix<bool>>(f);
  check<matrix<std::uint8_t>>([](auto x) { return std::tuple(si::cast<float>(x), si::cast<std::int8_t>(x), si::cast<std::uint8_t>(x * 2)); }, {{}, {{0, 255}}});
}

TEST_CASE("pointwise: literals are run-time scalars, c<> constants, value<> arguments") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  check<matrix<float>, matrix<bool>>([](auto x, auto m) { return si::softmax(si::where(m, x, -inf)); });
  check<matrix<float>>([](auto x) { return std::tuple(x * 1e30f, x + 1e300, si::where(x > 0, 2, x), 2 - x, 1.f / (x + 3), 3 * x, si::pow(2.f, x)); });
  check<matrix<float>>([](auto x) { return std::tuple(x * si::c<2>, x * si::c<1>, x + si::c<0>, x - si::c<0>, x / si::c<1>, si::c<1> / (x + 3), si::maximum(x, si::c<0>)); });
#if __cpp_nontype_template_args >= 201911L  // floating template arguments
  check<matrix<float>>([](auto x) { return std::tuple(x + si::c<0.5f>, si::where(x > 0, si::c<1e30f>, si::c<-1e30f>)); });
#endif
  check<matrix<std::int64_t>>([](auto x) { return std::tuple(x + 9007199254740993, x * si::c<9007199254740993>, x == 4, si::where(x > 0, x, si::c<true>)); }, {{}, {{-9, 9}}});
  check<matrix<float>, si::value<float>, si::value<std::int32_t>>([](auto x, auto a, auto k) { return std::tuple(x * a + k, a * 2, si::where(x > a, x, a), a + k); });
  check<matrix<float>, si::value<double>>([](auto x, auto a) { return x * a; });
  check<matrix<si::bf16>, si::value<si::bf16>, si::value<si::f16>, si::value<bool>>([](auto x, auto a, auto b, auto c) { return std::tuple(x * a, x + b, si::where(c, x, a)); });
  check<matrix<std::int64_t>, si::value<std::int64_t>>([](auto x, auto a) { return x + a; }, {{}, {{-9, 9}, {-9e18, 9e18}}});
}

TEST_CASE("pointwise: broadcasting") {
  constexpr auto f = [](auto a, auto b) { return std::tuple(a + b, a * b - a, si::where(a > b, a, b)); };
  check<si::tensor<float, 4, 1, 5>, si::tensor<float, 3, 1>>(f);
  check<si::tensor<float, 5>, si::tensor<float, 2, 3, 5>>(f);
  check<si::tensor<float, 1>, si::tensor<float, 2, 3>>(f);
  check<si::tensor<float>, si::tensor<float, 2, 3>>(f);
  check<si::tensor<float>, si::tensor<float>>(f);
  check<si::tensor<float, 1, 1>, si::tensor<float, 1>>(f);
  check<si::tensor<float, 0>, si::tensor<float, 1>>(f);
  check<si::tensor<float, 3, 0, 2>, si::tensor<float, 0, 1>>(f);
  check<si::tensor<float, 2, 1, 3, 1, 2, 1, 2, 1>, si::tensor<float, 2, 1, 3, 1, 2, 1, 2>>(f);
  check<si::tensor<float, 1000>, si::tensor<float, 33, 1000>>(f);
}

TEST_CASE("pointwise: strided inputs") {
  constexpr auto f = [](auto a, auto b) { return std::tuple(a + b, si::exp(a) * b, si::transpose(a) * 2); };
  check<si::strided_tensor<float, 5, 6>, si::tensor<float, 5, 6>>(f);
  check<si::strided_tensor<float, si::dyn, 6>, si::strided_tensor<float, si::dyn, 6>>(f, {{5, 5}});
  check<si::strided_tensor<si::bf16, 7, 3, 2>, si::tensor<si::bf16, 7, 1, 2>>(f);
}

TEST_CASE("outputs: several, equal, inputs, views, constants") {
  check<matrix<float>, matrix<float>>([](auto x, auto y) {
    auto z = x * y;
    return std::tuple(x, z, z, si::transpose(x), z, y, si::reshape<21>(z), x);
  });
  check<matrix<float>>([](auto x) { return x; });
  check<matrix<float>>([](auto x) { return si::transpose(x); });
  check<matrix<float>>([](auto x) { return si::full_like(x, 2.5f); });
  check<matrix<float>>([](auto x) { return std::tuple(si::full_like(x, si::c<3>), si::full_like(x, si::c<3>), x + si::full_like(x, si::c<3>)); });
  check<matrix<float>>([](auto x) { return std::tuple(si::full_like(x, si::c<3>) + si::c<2>, si::full_like(x, si::c<3>) * si::full_like(x, si::c<2>), si::transpose(si::full_like(x, 1.f)) * 2); });
  check<matrix<float>>([](auto x) { return std::tuple(si::sum(si::full_like(x, 1.f)), si::sum(si::full_like(x, si::c<1>) + si::c<1>, si::axis<0>), si::amax(si::full_like(x, 1.f), si::axis<1>)); });
  check<si::value<float>, matrix<float>>([](auto a, auto) { return a; });
  check<matrix<float>>([](auto x) { return std::tuple(si::iota<0>(x), si::iota<1>(x), si::iota(x) * 2 + 1, si::iota<1>(si::transpose(x))); });
  check<matrix<float>, matrix<float>>([](auto x, auto) { return x + 1; });
}

TEST_CASE("more elements than one block") {
  check<si::tensor<float, 70001>, si::tensor<float, 1>>([](auto x, auto y) { return std::tuple(si::relu(x * 2 + y), si::exp(x)); });
  check<si::tensor<std::int8_t, 257, 130>, si::tensor<std::int8_t, 130>>([](auto x, auto y) { return x + y; }, {{}, {{-40, 40}, {-40, 40}}});
}

}  // namespace
