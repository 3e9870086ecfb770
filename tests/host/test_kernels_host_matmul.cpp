// The host matmul against plain loops: shapes around every tile edge, both layouts of the operands, prologues (a
// normalisation, a dequantisation, a gather), epilogues with loads and several stores, two matmuls at once, all dtypes.
// SPDX-License-Identifier: BSL-1.0
#include "sinter/kernels/host/matmul.hpp"

#include "test_kernels_host_reference.hpp"

using namespace sinter;
using reference::buffer;
using reference::noise;

namespace {

using i64 = std::int64_t;
using i32 = std::int32_t;
// sizes: M, N, K, M * K, N * K
constexpr long M = dynamic_number(0), N = dynamic_number(1), K = dynamic_number(2), MK = dynamic_number(3),
               NK = dynamic_number(4);
constexpr auto X = loop_var::x, R = loop_var::r;

using a_rows = at<0, term<X, 1, 0, K>, term<R, 1, 0, 1>>;                        // A[b, m, k]
using a_columns = at<0, term<X, M, 0, MK>, term<X, 1, M, 1>, term<R, 1, 0, M>>;  // A[b, k, m]
using b_rows = at<0, term<X, N, 0, NK>, term<X, 1, N, 1>, term<R, 1, 0, N>>;     // B[b, k, n]
using b_columns = at<0, term<X, 1, 0, K>, term<R, 1, 0, 1>>;                     // B[b, n, k]
using b_shared = at<0, term<X, 1, N, 1>, term<R, 1, 0, N>>;                      // B[k, n] for every batch
using out_at = at<0, term<X, 1, 0, 1>>;
using column_at = at<0, term<X, 1, N, 1>>;

template <int Slot, class T, class At>
using plain = body<load<Slot, T, At>, yield_value<T, 0>>;

template <class A, class Bs, class Epilogue>
struct kernel;
template <class A, class... B, class Epilogue>
struct kernel<A, bodies<B...>, Epilogue> {
  template <class Args>
  static void check(Args args, matmul_extents e, std::vector<buffer*> slots, double slack = 10) {
    CAPTURE(e.batch);
    CAPTURE(e.m);
    CAPTURE(e.n);
    CAPTURE(e.k);
    for (int threads : {1, 3})
      reference::check_stores(
          args, slots, [&](const Args& a) { cpu::matmul<A, bodies<B...>, Epilogue>(a, e, threads); },
          [&](const Args& a, auto f) {
            reference::interpreter<Epilogue, Args> epilogue(a, 0);
            (epilogue.sums.push_back(multiply<B>(a, e)), ...);
            epilogue.stores(e.batch * e.m * e.n, f);
          },
          slack);
  }
  template <class Right, class Args>
  static std::vector<double> multiply(const Args& args, matmul_extents e) {
    reference::interpreter<A, Args> left(args, e.k);
    reference::interpreter<Right, Args> right(args, e.k);
    std::vector<double> a, b, sums;
    for (i64 x = 0; x < e.batch * e.m; ++x)
      for (i64 k = 0; k < e.k; ++k) a.push_back(left.yielded(x, k));
    for (i64 x = 0; x < e.batch * e.n; ++x)
      for (i64 k = 0; k < e.k; ++k) b.push_back(right.yielded(x, k));
    for (i64 i = 0; i < e.batch; ++i)
      for (i64 m = 0; m < e.m; ++m)
        for (i64 n = 0; n < e.n; ++n) {
          double sum = 0;
          for (i64 k = 0; k < e.k; ++k)
            sum += a[static_cast<std::size_t>((i * e.m + m) * e.k + k)] *
                   b[static_cast<std::size_t>((i * e.n + n) * e.k + k)];
          sums.push_back(sum);
        }
    return sums;
  }
};

const matmul_extents shapes[] = {{1, 1, 1, 1},     {1, 0, 5, 5},     {1, 5, 0, 5},     {0, 5, 5, 5},
                                 {2, 3, 4, 0},     {1, 5, 7, 9},     {1, 12, 32, 256}, {1, 13, 33, 257},
                                 {3, 11, 31, 40},  {1, 1, 700, 300}, {1, 300, 1, 100}, {2, 100, 65, 513},
                                 {1, 17, 530, 20}, {1, 301, 40, 30}, {2, 200, 90, 120}};

template <class T>
buffer values(i64 count, float scale = 1) {
  return buffer::of<T>(count, [=](i64 i) {
    if constexpr (std::is_integral_v<T>) return static_cast<int>(i * 31 % 11 - 5 * std::is_signed_v<T>);
    else return noise(i, scale);
  });
}

template <class T, class Sum, class AAt, class BAt>
void check_plain() {
  using run = kernel<plain<0, T, AAt>, bodies<plain<1, T, BAt>>, body<accumulator<0, Sum>, store<2, Sum, 0, out_at>>>;
  for (const matmul_extents& e : shapes) {
    buffer a = values<T>(e.batch * e.m * e.k), b = values<T>(e.batch * e.n * e.k),
           out = buffer::output<Sum>(e.batch * e.m * e.n);
    run::check(arguments<3, 0, 5>{{}, {}, {e.m, e.n, e.k, e.m * e.k, e.n * e.k}, 0, 0}, e, {&a, &b, &out});
  }
}

}  // namespace

TEST_CASE("all layouts") {
  check_plain<float, float, a_rows, b_rows>();
  check_plain<float, float, a_rows, b_columns>();
  check_plain<float, float, a_columns, b_rows>();
  check_plain<float, float, a_columns, b_columns>();
}
TEST_CASE("all dtypes") {
  check_plain<f16, f16, a_rows, b_rows>();
  check_plain<bf16, bf16, a_rows, b_columns>();
  check_plain<bf16, float, a_columns, b_rows>();
  check_plain<double, double, a_rows, b_rows>();
  check_plain<i64, i64, a_rows, b_columns>();
  check_plain<i32, i32, a_rows, b_rows>();
  check_plain<std::uint8_t, i32, a_rows, b_rows>();
  check_plain<std::int8_t, i64, a_columns, b_columns>();
}
TEST_CASE("bool: true where any product is") {
  using run = kernel<plain<0, bool, a_rows>, bodies<plain<1, bool, b_rows>>,
                     body<accumulator<0, bool>, store<2, bool, 0, out_at>>>;
  for (const matmul_extents& e : shapes) {
    buffer a = buffer::of<bool>(e.batch * e.m * e.k, [](i64 i) { return i % 17 == 0; });
    buffer b = buffer::of<bool>(e.batch * e.n * e.k, [](i64 i) { return i % 5 == 0; });
    buffer out = buffer::output<bool>(e.batch * e.m * e.n);
    run::check(arguments<3, 0, 5>{{}, {}, {e.m, e.n, e.k, e.m * e.k, e.n * e.k}, 0, 0}, e, {&a, &b, &out});
  }
}

TEST_CASE("epilogue: bias, activation, residual, several stores") {
  using epilogue =
      body<load<2, bf16, column_at>, accumulator<0, float>, compute<ops::add, float, float, 1, 0>,
           compute<ops::gelu_tanh, float, float, 2>, load<3, bf16, out_at>, compute<ops::add, float, float, 3, 4>,
           store<4, bf16, 5, out_at>, compute<ops::gt, float, bool, 2, 4>, store<5, bool, 7, out_at>,
           store<6, float, 2, at<0, term<X, 1, N, M>, term<X, N, 0, 1>>>>;  // transposed, batch 1
  using run = kernel<plain<0, bf16, a_rows>, bodies<plain<1, bf16, b_columns>>, epilogue>;
  for (const matmul_extents& e : shapes) {
    if (e.batch > 1) continue;
    const i64 n = e.batch * e.m * e.n;
    buffer a = values<bf16>(e.m * e.k), b = values<bf16>(e.n * e.k), bias = values<bf16>(e.n),
           residual = values<bf16>(n, 64);
    buffer out = buffer::output<bf16>(n), flags = buffer::output<bool>(n), transposed = buffer::output<float>(n);
    run::check(arguments<7, 0, 5>{{}, {}, {e.m, e.n, e.k, e.m * e.k, e.n * e.k}, 0, 0}, e,
               {&a, &b, &bias, &residual, &out, &flags, &transposed}, 40);
  }
}

namespace {

template <class At>
using rms_norm =
    body<load<0, float, At>, compute<ops::square, float, float, 0>, reduce<ops::sum, float, float, 1>, scalar<0, float>,
         compute<ops::mul, float, float, 2, 3>, scalar<1, float>, compute<ops::add, float, float, 4, 5>,
         compute<ops::rsqrt, float, float, 6>, compute<ops::mul, float, float, 0, 7>,
         load<3, float, at<0, term<R, 1, 0, 1>>>, compute<ops::mul, float, float, 8, 9>, yield_value<float, 10>>;
template <class At>
using softmax_rows = body<load<0, float, At>, reduce<ops::amax, float, float, 0>, compute<ops::sub, float, float, 0, 1>,
                          compute<ops::exp, float, float, 2>, reduce<ops::sum, float, float, 3>,
                          compute<ops::div, float, float, 3, 4>, yield_value<float, 5>>;

template <class Prologue, class BAt>
void check_prologue() {
  using run = kernel<Prologue, bodies<plain<1, float, BAt>>, body<accumulator<0, float>, store<2, float, 0, out_at>>>;
  for (const matmul_extents& e : shapes) {
    buffer a = values<float>(e.batch * e.m * e.k), b = values<float>(e.batch * e.n * e.k), w = values<float>(e.k);
    buffer out = buffer::output<float>(e.batch * e.m * e.n);
    run::check(
        arguments<4, 2, 5>{
            {}, {{1.0 / static_cast<double>(e.k + 1), 0}, {1e-3, 0}}, {e.m, e.n, e.k, e.m * e.k, e.n * e.k}, 0, 0},
        e, {&a, &b, &out, &w}, 40);
  }
}

}  // namespace

TEST_CASE("a normalisation as prologue, rows first") {
  check_prologue<rms_norm<a_rows>, b_rows>();
  check_prologue<rms_norm<a_columns>, b_columns>();
  check_prologue<softmax_rows<a_rows>, b_rows>();
  check_prologue<softmax_rows<a_columns>, b_rows>();
}

TEST_CASE("two matmuls of one left operand: silu(a b0) * (a b1), weights quantised, rows gathered") {
  using left =
      body<load<0, i32, at<0, term<X, 1, 0, 1>>>, gather_load<1, bf16, at<0, term<R, 1, 0, 1>>, 0, K, 6>,
           load<2, float, at<0, term<X, 1, 0, 1>>>, compute<ops::mul, float, float, 1, 2>, yield_value<bf16, 3>>;
  using right_0 =
      body<load<3, std::int8_t, b_columns>, widen_to<std::int8_t, float, 0>, load<4, float, at<0, term<X, 1, 0, 1>>>,
           compute<ops::mul, float, float, 1, 2>, yield_value<float, 3>>;
  using right_1 = plain<5, f16, b_shared>;
  using epilogue = body<accumulator<0, float>, compute<ops::silu, float, float, 0>, accumulator<1, float>,
                        compute<ops::mul, float, float, 1, 2>, store<6, float, 3, out_at>, store<7, bf16, 2, out_at>>;
  using run = kernel<left, bodies<right_0, right_1>, epilogue>;
  for (const matmul_extents& e : shapes) {
    const i64 n = e.batch * e.m * e.n;
    buffer rows = buffer::of<i32>(e.batch * e.m, [](i64 i) { return static_cast<i32>(i * 5 % 12 - 6); });
    buffer table = values<bf16>(6 * e.k), scale = values<float>(e.batch * e.m, 0.25f);
    buffer quantised = values<std::int8_t>(e.batch * e.n * e.k), scales = values<float>(e.batch * e.n, 0.25f),
           half = values<f16>(e.n * e.k);
    buffer out = buffer::output<float>(n), second = buffer::output<bf16>(n);
    run::check(arguments<8, 0, 5>{{}, {}, {e.m, e.n, e.k, e.m * e.k, e.n * e.k}, 0, 0}, e,
               {&rows, &table, &scale, &quantised, &scales, &half, &out, &second}, 200);
  }
}

TEST_CASE("operands that do not vary along k, and masked ones") {
  using left = body<load<0, float, at<0, term<X, 1, 0, 1>>>, yield_value<float, 0>>;
  using right = body<index_value<at<0, term<R, 1, 0, 1>>>, index_value<at<0, term<X, 1, 0, 1>>>,
                     compute<ops::le, i64, bool, 0, 1>, load<1, float, b_columns, 2>, yield_value<float, 3>>;
  using run = kernel<left, bodies<right>, body<accumulator<0, float>, store<2, float, 0, out_at>>>;
  for (const matmul_extents& e : shapes) {
    buffer a = values<float>(e.batch * e.m), b = values<float>(e.batch * e.n * e.k),
           out = buffer::output<float>(e.batch * e.m * e.n);
    run::check(arguments<3, 0, 5>{{}, {}, {e.m, e.n, e.k, e.m * e.k, e.n * e.k}, 0, 0}, e, {&a, &b, &out});
  }
}

TEST_CASE("the same bits on any number of threads") {
  using A = plain<0, float, a_rows>;
  using B = bodies<plain<1, float, b_rows>>;
  using E = body<accumulator<0, float>, store<2, float, 0, out_at>>;
  const i64 m = 150, n = 330, k = 700;
  buffer a = values<float>(m * k), b = values<float>(n * k);
  std::vector<float> first;
  for (int threads : {1, 2, 3, 16}) {
    std::vector<float> out(static_cast<std::size_t>(m * n));
    cpu::matmul<A, B, E>(arguments<3, 0, 5>{{a.data(), b.data(), out.data()}, {}, {m, n, k, m * k, n * k}, 0, 0},
                         {1, m, n, k}, threads);
    if (threads == 1) first = out;
    CHECK(out == first);
  }
}
