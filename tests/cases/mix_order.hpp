// Rows and columns of one tensor reduced in one kernel, small and odd shapes included: the thresholds are lowered. Where
// the cases run is the including file's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "check.hpp"

namespace {

namespace si = sinter;
template <long... E>
using F32 = si::tensor<float, E...>;
template <long... E>
using BF16 = si::tensor<si::bf16, E...>;

constexpr si::options any_size = [] {
  si::options o = si::standard;
  o.mix_order_min_elements = 0;
  o.mix_order_min_rows = 0;
  o.mix_order_rows_per_column = 0;
  o.unroll_reductions_threshold = 0;
  return o;
}();

/// Kernels, of which one is a mix-order reduction; then what they compute.
template <int Kernels, class... T, class Fn>
void check_mix(Fn fn, const checks::data& d = {}) {
  constexpr auto f = si::fuse<any_size, T...>(Fn{});
  static_assert(f.kernel_count() == Kernels);
  constexpr int mixes = [] {
    int n = 0;
    for (const auto& k : decltype(f)::program::plan.kernels) n += k.num_parts > 1;
    return n;
  }();
  static_assert(mixes == 1);
  checks::check_only<any_size, T...>(fn, d);
}

constexpr auto sums = [](auto x) { return std::tuple(si::sum(x, si::axis<-1>), si::sum(x, si::axis<0>)); };
constexpr auto sums3 = [](auto x) { return std::tuple(si::sum(x, si::axis<-1>), si::sum(x, si::axis<0, 1>)); };

TEST_CASE("mix-order: both axes, static shapes") {
  check_mix<1, F32<5, 3>>(sums);
  check_mix<1, F32<33, 17>>(sums);
  check_mix<1, F32<33, 33>>(sums);
  check_mix<1, BF16<64, 64>>(sums);
  check_mix<1, F32<3, 700>>(sums);
  check_mix<1, F32<600, 8>>(sums);
  check_mix<1, BF16<65, 96>>(sums);
  check_mix<1, BF16<20, 2050>>(sums);
  check_mix<1, si::tensor<double, 31, 64>>([](auto x) { return std::tuple(si::mean(x, si::axis<0>), si::mean(x, si::axis<1>)); });
  check_mix<1, F32<40, 9>>([](auto x) { return std::tuple(si::prod(x, si::axis<1>), si::prod(x, si::axis<0>)); }, {{}, {{-1.1, 1.1}}});
  check_mix<1, si::tensor<std::int32_t, 21, 50>>(sums);
  checks::check_only<any_size, F32<0, 5>>(sums);  // sums of nothing are constants
}

TEST_CASE("mix-order: run-time extents") {
  using M = F32<si::dyn, si::dyn>;
  for (long n : {0, 1, 3, 40, 300})
    for (long m : {0, 1, 7, 64, 1000}) check_mix<1, M>(sums, {{n, m}});
  for (long n : {0, 1, 129}) check_mix<1, BF16<si::dyn, 768>>(sums, {{n}});
  for (long m : {1, 33}) check_mix<1, F32<77, si::dyn>>(sums, {{m}});
  check_mix<1, M>(sums, {{2, 20000}});
}

TEST_CASE("mix-order: work before and after") {
  check_mix<1, F32<50, 24>, F32<24>>([](auto x, auto w) {
    return std::tuple(si::amax(x * w, si::axis<1>), si::sum(si::exp(x) + w, si::axis<0>) * w + 1);
  });
  check_mix<1, F32<50, 24>>([](auto x) { return std::tuple(si::softmax(x), si::sum(x * x, si::axis<0>), si::mean(x, si::axis<0>)); });
  check_mix<1, F32<50, 24>>([](auto x) { return std::tuple(si::var(x, si::axis<1>), si::argmax(x, si::axis<1>), si::sum(x, si::axis<0>)); });
  // A value per row that reads across rows, and one that waits for both parts.
  check_mix<1, F32<50, 24>>([](auto x) {
    auto r = si::sum(x, si::axis<1>);
    return std::tuple(r * si::squeeze<1>(si::slice<1, 0, 1>(x)), si::sum(x, si::axis<0>));
  });
  check_mix<2, F32<50, 24>>([](auto x) { return x - si::sum(x, si::axis<1>, si::keepdim) * si::sum(x, si::axis<0>); });
  check_mix<1, F32<50, 24>>([](auto x) { return std::tuple(si::sum(x, si::axis<1>), si::amax(x, si::axis<1>), si::sum(x, si::axis<0>), si::prod(x / 8, si::axis<0>)); });
}

TEST_CASE("mix-order: three dimensions, slices, permutations") {
  check_mix<1, F32<5, 7, 24>>(sums3);
  check_mix<1, F32<5, 7, 24>>([](auto x) { return sums3(si::permute<1, 0, 2>(x)); });
  check_mix<1, F32<si::dyn, 6, 24>>(sums3, {{9}});
  check_mix<1, F32<40, 24>>([](auto x) { return sums(si::slice<0, 0, 33>(x)); });
  check_mix<1, F32<40, 24>>([](auto x) { return sums(si::slice<1, 3, 20>(x)); });
  check_mix<1, F32<40, 9>, F32<40, 5>, F32<14>>([](auto x, auto y, auto w) { return sums(si::concat<1>(x, y) * w); });
}

TEST_CASE("mix-order: beside assignments") {
  using X = F32<50, 24>;
  // Overwritten after both parts have read it, by a third kernel; a vector that a part overwrites; what comes too late.
  check_mix<2, X>([](auto x) {
    auto s = sums(x);
    return std::tuple(std::get<0>(s), std::get<1>(s), si::assign(x, x * 2));
  });
  check_mix<1, X, F32<50>, F32<24>>([](auto x, auto r, auto c) {
    si::assign(r, r - si::sum(x, si::axis<1>));
    return std::tuple(si::assign(c, c + si::sum(x, si::axis<0>)), si::sum(x * x, si::axis<0>));
  });
  checks::check_only<any_size, X>([](auto x) {
    auto r = si::sum(x, si::axis<1>, si::keepdim);
    si::assign(x, x - r);
    return std::tuple(si::sum(x, si::axis<0>), r);
  });
  checks::check_only<any_size, X>([](auto x) {
    auto c = si::sum(x, si::axis<0>);
    si::assign(x, x * 2);
    return std::tuple(si::sum(x, si::axis<1>), c, si::sum(x + 1, si::axis<0>));
  });
}

TEST_CASE("mix-order: beside others of their kind") {
  using X = F32<50, 24>;
  // Two that share their rows only; two that share everything; a chain of them.
  check_mix<1, X, X>([](auto x, auto y) {
    return std::tuple(si::sum(x, si::axis<1>), si::sum(x, si::axis<0>), si::sum(x * y, si::axis<1>), si::sum(x * y, si::axis<0>));
  });
  checks::check_only<any_size, X, X>([](auto x, auto y) {
    return std::tuple(si::sum(x, si::axis<1>), si::sum(x, si::axis<0>), si::sum(y, si::axis<1>), si::sum(y, si::axis<0>));
  });
  checks::check_only<any_size, X, X>([](auto x, auto y) {
    return std::tuple(si::sum(x, si::axis<1>), si::sum(y, si::axis<0>), si::amax(x + y, si::axis<1>), si::sum(x - y, si::axis<0>));
  });
  checks::check_only<any_size, X>([](auto x) {
    auto y = x - si::mean(x, si::axis<0>) * si::mean(x, si::axis<1>, si::keepdim);
    auto z = si::exp(y - si::amax(y, si::axis<1>, si::keepdim));
    return std::tuple(z, si::sum(z, si::axis<1>), si::sum(z * y, si::axis<0>), si::sum(y, si::axis<0>));
  });
  checks::check_only<any_size, X, F32<24, 16>>([](auto x, auto w) {  // around a matmul
    auto y = si::relu(si::matmul(x, w));
    return std::tuple(si::sum(y, si::axis<1>), si::sum(y, si::axis<0>), y);
  });
}

TEST_CASE("mix-order: backward of the norms") {
  static constexpr auto rms = [](auto x, auto w, auto rstd, auto dy) {
    auto xhat = si::cast<float>(x) * si::unsqueeze<1>(rstd);
    auto g = si::cast<float>(dy);
    auto wg = g * si::cast<float>(w);
    auto dx = si::unsqueeze<1>(rstd) * (wg - xhat * si::mean(wg * xhat, si::axis<-1>, si::keepdim));
    return std::tuple(si::cast<si::bf16>(dx), si::cast<si::bf16>(si::sum(g * xhat, si::axis<0>)));
  };
  constexpr auto layer = [](auto x, auto w, auto mean, auto rstd, auto dy) {
    auto xhat = (x - si::unsqueeze<1>(mean)) * si::unsqueeze<1>(rstd);
    auto wg = dy * w;
    auto c1 = si::mean(wg * xhat, si::axis<-1>, si::keepdim), c2 = si::mean(wg, si::axis<-1>, si::keepdim);
    return std::tuple((wg - (xhat * c1 + c2)) * si::unsqueeze<1>(rstd), si::sum(dy * xhat, si::axis<0>), si::sum(dy, si::axis<0>));
  };
  check_mix<1, BF16<100, 64>, BF16<64>, F32<100>, BF16<100, 64>>(rms);
  check_mix<1, BF16<33, 100>, BF16<100>, F32<33>, BF16<33, 100>>(rms);
  check_mix<1, F32<100, 64>, F32<64>, F32<100>, F32<100>, F32<100, 64>>(layer);
  check_mix<1, F32<si::dyn, 48>, F32<48>, F32<si::dyn>, F32<si::dyn>, F32<si::dyn, 48>>(layer, {{70, 70, 70, 70}});
  // Rows that begin anywhere, walked in vectors.
  check_mix<1, BF16<300, 1001>, BF16<1001>, F32<300>, BF16<300, 1001>>(rms);
  check_mix<1, BF16<si::dyn, si::dyn>, BF16<si::dyn>, F32<si::dyn>, BF16<si::dyn, si::dyn>>(rms, {{150, 517, 517, 150, 150, 517}});
  // In place, by a second kernel: the columns' part needs what it would overwrite.
  constexpr auto in_place = [](auto x, auto w, auto rstd, auto dy) {
    auto [dx, dw] = rms(x, w, rstd, dy);
    return std::tuple(si::assign(dy, dx), dw);
  };
  check_mix<2, BF16<100, 64>, BF16<64>, F32<100>, BF16<100, 64>>(in_place);
}

}  // namespace
