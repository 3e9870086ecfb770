// Host reductions against plain loops: every fold, rows and columns, several phases, stores of both scopes, empty
// extents; and the same bits on any number of threads.
// SPDX-License-Identifier: BSL-1.0
#include "sinter/kernels/host/reduction.hpp"

#include "test_kernels_host_reference.hpp"

using namespace sinter;
using reference::buffer;
using reference::noise;

namespace {

using i64 = std::int64_t;
using i32 = std::int32_t;
constexpr long N = dynamic_number(0), R = dynamic_number(1);
constexpr auto X = loop_var::x, K = loop_var::r;

using per_row = at<0, term<X, 1, 0, 1>>;
using along_r = at<0, term<X, 1, 0, R>, term<K, 1, 0, 1>>;  // element (x, r) of a row-major [N, R]
using along_x = at<0, term<X, 1, 0, 1>, term<K, 1, 0, N>>;  // of a row-major [R, N]
using weight = at<0, term<K, 1, 0, 1>>;

template <class Body, orientation O, class Args>
void check_in(Args args, std::vector<buffer*>& slots, double slack) {
  for (int threads : {1, 2, 7})
    reference::check_stores(
        args, slots, [&](const Args& a) { cpu::reduction<Body, O>(a, threads); },
        [](const Args& a, auto f) { reference::interpreter<Body, Args>(a, a.rnumel).stores(a.numel, f); }, slack);
}
template <class Body, class Args>
void check(Args args, std::vector<buffer*> slots, double slack = 1) {
  check_in<Body, orientation::row>(args, slots, slack);
  check_in<Body, orientation::column>(args, slots, slack);
}

struct shape {
  i64 n, r;
};
const shape shapes[] = {{0, 5},   {5, 0},    {1, 1},    {1, 33},    {3, 31},    {33, 3},  {5, 256},
                        {257, 7}, {2, 1000}, {300, 65}, {1, 20000}, {200, 128}, {60, 129}};

template <class Op, class T, class Result, class At>
void check_fold(double slack = 4) {
  using fold = body<load<0, T, At>, reduce<Op, T, Result, 0>, store<1, Result, 1, per_row>>;
  for (const shape& e : shapes) {
    const i64 n = e.n, r = e.r;
    CAPTURE(n);
    CAPTURE(r);
    // The identity of an integer maximum is the type's own bound, which the interpreter's 64 bits do not know.
    if (r == 0 && std::is_integral_v<T> && !std::is_same_v<Result, i64>) continue;
    buffer a = buffer::of<T>(n * r, [](i64 i) {
      if constexpr (std::is_same_v<T, bool>) return i % 97 != 13;
      else if constexpr (std::is_same_v<Op, ops::prod>) return i % 13 == 5 ? -1 : i % 4999 == 7 ? 2 : 1;
      else
        return static_cast<float>(i * 37 % 101 - 50 * std::is_signed_v<compute_t<T>>) / (std::is_integral_v<T> ? 1 : 8);
    });
    buffer out = buffer::output<Result>(n);
    check<fold>(arguments<2, 0, 2>{{}, {}, {n, r}, n, r}, {&a, &out}, slack);
  }
}

}  // namespace

TEST_CASE("every fold of float") {
  check_fold<ops::sum, float, float, along_r>(100);
  check_fold<ops::prod, float, float, along_r>();
  check_fold<ops::amax, float, float, along_x>();
  check_fold<ops::amin, float, float, along_r>();
  check_fold<ops::any, float, bool, along_x>();
  check_fold<ops::all, float, bool, along_r>();
  check_fold<ops::argmax, float, i64, along_r>();
  check_fold<ops::argmin, float, i64, along_x>();
  check_fold<ops::m2, float, float, along_x>(20);
}
TEST_CASE("folds of other types") {
  check_fold<ops::sum, f16, float, along_x>(100);
  check_fold<ops::argmax, bf16, i64, along_x>();
  check_fold<ops::m2, double, double, along_r>(20);
  check_fold<ops::sum, i32, i64, along_r>();
  check_fold<ops::prod, i64, i64, along_x>();
  check_fold<ops::argmin, i32, i64, along_r>();
  check_fold<ops::amax, std::uint8_t, std::uint8_t, along_r>();
  check_fold<ops::any, std::uint8_t, bool, along_r>();
}
TEST_CASE("folds of bool") {
  check_fold<ops::sum, bool, i64, along_r>();
  check_fold<ops::any, bool, bool, along_r>();
  check_fold<ops::all, bool, bool, along_x>();
  check_fold<ops::amax, bool, bool, along_x>();
}

TEST_CASE("NaN and infinities") {
  using extremes = body<load<0, float, along_r>, reduce<ops::amax, float, float, 0>, store<1, float, 1, per_row>,
                        reduce<ops::argmax, float, i64, 0>, store<2, i64, 3, per_row>,
                        reduce<ops::sum, float, float, 0>, store<3, float, 5, per_row>>;
  const i64 n = 40, r = 500;
  buffer a = buffer::of<float>(n * r, [&](i64 i) {
    return i % 777 == 3 ? NAN : i / r % 4 == 1 ? -INFINITY : i % 1111 == 5 ? INFINITY : noise(i);
  });
  buffer m = buffer::output<float>(n), at = buffer::output<i64>(n), s = buffer::output<float>(n);
  check<extremes>(arguments<4, 0, 2>{{}, {}, {n, r}, n, r}, {&a, &m, &at, &s}, 10);
}

TEST_CASE_TEMPLATE("softmax: three phases", T, float, bf16, double) {
  using softmax =
      body<load<0, T, along_r>, reduce<ops::amax, T, T, 0>, compute<ops::sub, T, T, 0, 1>, compute<ops::exp, T, T, 2>,
           reduce<ops::sum, T, T, 3>, compute<ops::div, T, T, 3, 4>, store<1, T, 5, along_r>>;
  for (const shape& e : shapes) {
    const i64 n = e.n, r = e.r;
    CAPTURE(n);
    CAPTURE(r);
    buffer a = buffer::of<T>(n * r, [](i64 i) { return noise(i, 5); }), out = buffer::output<T>(n * r);
    check<softmax>(arguments<2, 0, 2>{{}, {}, {n, r}, n, r}, {&a, &out});
  }
}

TEST_CASE("layer norm with what comes before and after; stores of every scope and phase") {
  using mean_at = at<0, term<X, 1, 0, 2>>;
  using norm = body<load<0, bf16, along_r>, load<1, float, weight>, compute<ops::add, float, float, 0, 1>,  // + bias
                    store<2, bf16, 2, along_r>,  // element, phase 0
                    reduce<ops::sum, float, float, 2>, index_value<at<R>>, widen_to<i64, float, 5>,
                    compute<ops::div, float, float, 4, 6>, store<3, float, 7, mean_at>,  // row, phase 1
                    compute<ops::sub, float, float, 2, 7>, compute<ops::square, float, float, 9>,
                    reduce<ops::sum, float, float, 10>, compute<ops::div, float, float, 11, 6>, scalar<0, float>,
                    compute<ops::add, float, float, 12, 13>, compute<ops::rsqrt, float, float, 14>,
                    compute<ops::mul, float, float, 9, 15>, load<4, float, per_row>,
                    compute<ops::mul, float, float, 16, 17>, store<5, float, 18, along_r>,  // element, phase 2
                    reduce<ops::amax, float, float, 18>, store<6, f16, 20, per_row>>;       // the tail
  for (const shape& e : shapes) {
    const i64 n = e.n, r = e.r;
    CAPTURE(n);
    CAPTURE(r);
    if (r == 1) continue;  // 0 * rsqrt(eps) magnifies the rounding of the mean
    buffer a = buffer::of<bf16>(n * r, [](i64 i) { return noise(i); }),
           bias = buffer::of<float>(r, [](i64 i) { return noise(i + 9); });
    buffer sum = buffer::output<bf16>(n * r), mean = buffer::output<float>(2 * n),
           scale = buffer::of<float>(n, [](i64 i) { return noise(i); });
    buffer out = buffer::output<float>(n * r), top = buffer::output<f16>(n);
    check<norm>(arguments<7, 1, 2>{{}, {{1e-3, 0}}, {n, r}, n, r}, {&a, &bias, &sum, &mean, &scale, &out, &top}, 20);
  }
}

TEST_CASE("folds of values that do not vary along r, or along x") {
  using odd =
      body<load<0, float, per_row>, reduce<ops::sum, float, float, 0>, store<1, float, 1, per_row>,
           load<2, float, weight>, reduce<ops::sum, float, float, 3>, store<3, float, 4, per_row>,
           compute<ops::mul, float, float, 1, 3>, reduce<ops::amax, float, float, 6>, store<4, float, 7, per_row>,
           constant<i32, 3>, reduce<ops::sum, i32, i64, 9>, store<5, i64, 10, per_row>>;
  for (const shape& e : shapes) {
    const i64 n = e.n, r = e.r;
    buffer a = buffer::of<float>(n, [](i64 i) { return noise(i); }),
           w = buffer::of<float>(r, [](i64 i) { return noise(i); });
    buffer s = buffer::output<float>(n), t = buffer::output<float>(n), m = buffer::output<float>(n),
           c = buffer::output<i64>(n);
    check<odd>(arguments<6, 0, 2>{{}, {}, {n, r}, n, r}, {&a, &s, &w, &t, &m, &c}, 30);
  }
}

TEST_CASE("a middle axis, masks and gathers inside a row") {
  // x = (i, k) of [I, R, C] with C = sizes[2]; masked to r < length[i]; an embedding indexed by r is added.
  constexpr long C = dynamic_number(2), RC = dynamic_number(3);
  using element = at<0, term<X, C, 0, RC>, term<X, 1, C, 1>, term<K, 1, 0, C>>;
  using masked =
      body<load<0, i64, at<0, term<X, C, 0, 1>>>, index_value<weight>, compute<ops::lt, i64, bool, 1, 0>,
           load<1, float, element, 2>, load<2, i32, weight>, gather_load<3, float, at<0, term<X, 1, C, 1>>, 4, C, 5, 2>,
           compute<ops::add, float, float, 3, 5>, reduce<ops::sum, float, float, 6>, store<4, float, 7, per_row>,
           reduce<ops::argmin, float, i64, 6>, store<5, i64, 9, per_row>, store<6, float, 6, element, 2>>;
  for (i64 c : {1, 5, 300})
    for (i64 r : {1, 40, 600}) {
      const i64 i = 3, n = i * c;
      buffer length = buffer::of<i64>(i, [&](i64 at) { return r * at / 2; });
      buffer a = buffer::of<float>(n * r, [](i64 at) { return noise(at); });
      buffer index = buffer::of<i32>(r, [](i64 at) { return static_cast<i32>(at % 10 - 5); });
      buffer table = buffer::of<float>(5 * c, [](i64 at) { return noise(at); });
      buffer sum = buffer::output<float>(n), least = buffer::output<i64>(n), copy = buffer::output<float>(n * r);
      check<masked>(arguments<7, 0, 4>{{}, {}, {n, r, c, r * c}, n, r},
                    {&length, &a, &index, &table, &sum, &least, &copy}, 10);
    }
}

TEST_CASE("static extents: aligned and not") {
  using rows_256 =
      body<load<0, float, at<0, term<X, 1, 0, 512>, term<K, 1, 0, 1>>>, load<1, float, at<0, term<K, 1, 256, 1>>>,
           compute<ops::mul, float, float, 0, 1>, reduce<ops::sum, float, float, 2>, store<2, float, 3, per_row>>;
  using rows_37 =
      body<load<0, float, at<0, term<X, 1, 0, 74>, term<K, 1, 0, 1>>>, load<1, float, at<0, term<K, 1, 37, 1>>>,
           compute<ops::mul, float, float, 0, 1>, reduce<ops::sum, float, float, 2>, store<2, float, 3, per_row>>;
  buffer a = buffer::of<float>(512 * 20, [](i64 i) { return noise(i); }),
         w = buffer::of<float>(256, [](i64 i) { return noise(i); });
  buffer out = buffer::output<float>(20);
  check<rows_256>(arguments<3, 0, 1>{{}, {}, {}, 20, 512}, {&a, &w, &out}, 10);
  check<rows_37>(arguments<3, 0, 1>{{}, {}, {}, 20, 74}, {&a, &w, &out}, 10);
}

TEST_CASE("a body without a loop over r") {
  using rows_only = body<load<0, float, per_row>, compute<ops::neg, float, float, 0>, store<1, float, 1, per_row>>;
  buffer a = buffer::of<float>(1000, [](i64 i) { return noise(i); }), out = buffer::output<float>(1000);
  check<rows_only>(arguments<2, 0, 2>{{}, {}, {1000, 4}, 1000, 4}, {&a, &out});
}

TEST_CASE_TEMPLATE("the same bits on any number of threads", At, along_r, along_x) {
  using statistics =
      body<load<0, float, At>, reduce<ops::sum, float, float, 0>, store<1, float, 1, per_row>,
           reduce<ops::m2, float, float, 0>, store<2, float, 3, per_row>, compute<ops::sub, float, float, 0, 1>,
           compute<ops::exp, float, float, 5>, reduce<ops::sum, float, float, 6>, store<3, float, 7, per_row>>;
  constexpr orientation O = std::is_same_v<At, along_r> ? orientation::row : orientation::column;
  for (const shape& e :
       {shape{1, 3000001}, shape{2, 100000}, shape{3, 16385}, shape{70, 20000}, shape{600, 900}, shape{5000, 65}}) {
    const i64 n = e.n, r = e.r;
    std::vector<float> a(static_cast<std::size_t>(n * r));
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = noise(static_cast<i64>(i), 1e-3f) + 1e-4f;
    std::vector<std::vector<float>> first;
    for (int threads : {1, 2, 3, 8}) {
      std::vector<std::vector<float>> out(3, std::vector<float>(static_cast<std::size_t>(n)));
      cpu::reduction<statistics, O>(
          arguments<4, 0, 2>{{a.data(), out[0].data(), out[1].data(), out[2].data()}, {}, {n, r}, n, r}, threads);
      if (threads == 1) first = out;
      CHECK(out == first);
    }
    for (i64 x = 0; x < n; ++x) {  // long sums stay accurate
      double sum = 0;
      for (i64 k = 0; k < r; ++k)
        sum += static_cast<double>(a[static_cast<std::size_t>(O == orientation::row ? x * r + k : k * n + x)]);
      CHECK(std::fabs(static_cast<double>(first[0][static_cast<std::size_t>(x)]) - sum) <=
            1e-6 * std::fabs(sum) + 1e-5);
    }
  }
}
