// Host pointwise kernels against plain loops: dtypes, extents, index expressions, masks, gathers, several stores.
// SPDX-License-Identifier: BSL-1.0
#include "sinter/kernels/host/pointwise.hpp"

#include "test_kernels_host_reference.hpp"

using namespace sinter;
using reference::buffer;
using reference::noise;

namespace {

constexpr auto X = loop_var::x;
using linear = at<0, term<X, 1, 0, 1>>;
using i64 = std::int64_t;
using i32 = std::int32_t;

template <class Body, class Args>
void check(Args args, std::vector<buffer*> slots, double slack = 1) {
  for (int threads : {1, 2, 5})
    reference::check_stores(
        args, slots, [&](const Args& a) { cpu::pointwise<Body>(a, threads); },
        [](const Args& a, auto f) { reference::interpreter<Body, Args>(a, 1).stores(a.numel, f); }, slack);
}

const i64 extents[] = {0, 1, 2, 31, 32, 33, 255, 256, 257, 1000, 16384, 16385, 40003};

}  // namespace

TEST_CASE_TEMPLATE("a chain", T, float, double, f16, bf16, i32, i64, std::uint8_t, std::int8_t) {
  using chain = body<load<0, T, linear>, load<1, T, linear>, compute<ops::mul, T, T, 0, 1>, scalar<0, T>,
                     compute<ops::add, T, T, 2, 3>, compute<ops::relu, T, T, 4>, store<2, T, 5, linear>>;
  for (i64 n : extents) {
    CAPTURE(n);
    buffer a = buffer::of<T>(n, [](i64 i) { return static_cast<float>(i % 7); });
    buffer b =
        buffer::of<T>(n, [](i64 i) { return static_cast<float>(i % 5) - 2 * std::is_floating_point_v<compute_t<T>>; });
    buffer out = buffer::output<T>(n);
    check<chain>(arguments<3, 1, 0>{{}, {{0.5, 3}}, {}, n, 1}, {&a, &b, &out});
  }
}

TEST_CASE_TEMPLATE("every value of 16 bits as a float, and back", T, f16, bf16) {
  using there_and_back = body<load<0, T, linear>, widen_to<T, float, 0>, store<1, float, 1, linear>,
                              cast_to<float, T, 1>, store<2, T, 3, linear>>;
  std::vector<T> all(0x10000), back(all.size());
  std::vector<float> wide(all.size());
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = T::from_bits(static_cast<std::uint16_t>(k));
  for (const i64 first : {0, 1, 7, 0x7bf9}) {  // subnormal ones, and where infinity begins, at other places of a vector
    const i64 n = static_cast<i64>(all.size()) - first;
    cpu::pointwise<there_and_back>(arguments<3, 0, 0>{{all.data() + first, wide.data(), back.data()}, {}, {}, n, 1}, 1);
    int wrong = 0;
    for (i64 k = 0; k < n; ++k) {
      const T value = all[first + k];
      if (value != value) wrong += wide[k] == wide[k] || back[k] == back[k];
      else
        wrong +=
            wide[k] != widen(value) || std::signbit(wide[k]) != (value.bits >> 15 != 0) || back[k].bits != value.bits;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("bool: comparisons, logic, where") {
  using logic = body<load<0, float, linear>, load<1, float, linear>, compute<ops::lt, float, bool, 0, 1>,
                     load<2, bool, linear>, compute<ops::logical_and, bool, bool, 2, 3>,
                     compute<ops::where, float, float, 4, 0, 1>, store<3, bool, 4, linear>, store<4, float, 5, linear>>;
  for (i64 n : extents) {
    buffer a = buffer::of<float>(n, [](i64 i) { return noise(i); });
    buffer b = buffer::of<float>(n, [](i64 i) { return noise(i + 77777); });
    buffer c = buffer::of<bool>(n, [](i64 i) { return i % 3 != 0; });
    buffer flags = buffer::output<bool>(n), out = buffer::output<float>(n);
    check<logic>(arguments<5, 0, 0>{{}, {}, {}, n, 1}, {&a, &b, &c, &flags, &out});
  }
}

TEST_CASE("casts, constants, library functions beside simple ones") {
  constexpr long half = __builtin_bit_cast(long, 0.5);
  using casts =
      body<load<0, float, linear>, compute<ops::exp, float, float, 0>, constant<float, half>,
           compute<ops::mul, float, float, 1, 2>, compute<ops::tanh, float, float, 3>, cast_to<float, bf16, 4>,
           widen_to<bf16, double, 5>, compute<ops::sqrt, double, double, 6>, store<1, double, 7, linear>,
           cast_to<float, i32, 1>, constant<i32, -3>, compute<ops::floor_divide, i32, i32, 9, 10>,
           store<2, i32, 11, linear>, cast_to<float, bool, 0>, store<3, bool, 13, linear>,
           compute<ops::erf, float, float, 3>, compute<ops::square, float, float, 15>,
           compute<ops::add, float, float, 16, 15>, store<4, f16, 17, linear>>;
  for (i64 n : {1, 77, 300, 5000}) {
    buffer a = buffer::of<float>(n, [](i64 i) { return i % 10 == 0 ? 0.0f : static_cast<float>(i % 91) / 16 - 2; });
    buffer d = buffer::output<double>(n), i = buffer::output<i32>(n), b = buffer::output<bool>(n),
           h = buffer::output<f16>(n);
    check<casts>(arguments<5, 0, 0>{{}, {}, {}, n, 1}, {&a, &d, &i, &b, &h}, 5e9);  // double of a float computation
  }
}

namespace {

// out[i, j, k] = a[k, j] + row[k] * column[j] - cube[i, ., k]: transposed, broadcast in three ways.
template <long J, long K>
using broadcasts = body<load<0, float, at<0, term<X, 1, K, J>, term<X, K, J, 1>>>,
                        load<1, bf16, at<0, term<X, 1, K, 1>>>, load<2, float, at<0, term<X, K, J, 1>>>,
                        compute<ops::mul, float, float, 1, 2>, compute<ops::add, float, float, 0, 3>,
                        load<3, double, at<0, term<X, 1, K, 1>, term<X, J == 0 ? 1 : dynamic_number(2), 0, K>>>,
                        cast_to<double, float, 5>, compute<ops::sub, float, float, 4, 6>, load<4, float, at<0>>,
                        compute<ops::mul, float, float, 7, 8>, store<5, float, 9, linear>>;

template <class Body>
void check_broadcasts(i64 i, i64 j, i64 k) {
  CAPTURE(i);
  CAPTURE(j);
  CAPTURE(k);
  const i64 n = i * j * k;
  const auto value = [](i64 at) { return noise(at); };
  buffer a = buffer::of<float>(j * k, value), row = buffer::of<bf16>(k, value), column = buffer::of<float>(j, value),
         cube = buffer::of<double>(i * k, value), one = buffer::of<float>(1, value), out = buffer::output<float>(n);
  check<Body>(arguments<6, 0, 3>{{}, {}, {j, k, j * k}, n, 1}, {&a, &row, &column, &cube, &one, &out});
}

}  // namespace

TEST_CASE_TEMPLATE("results are rounded to 16 bits wherever they lie: subnormal, infinite, NaN", T, bf16, f16) {
  using product =
      body<load<0, T, linear>, load<1, float, at<0>>, compute<ops::mul, float, float, 0, 1>, store<2, T, 2, linear>>;
  std::vector<T> x, y(65536);
  for (unsigned bits = 0; bits < 65536; ++bits) x.push_back(T::from_bits(static_cast<std::uint16_t>(bits)));
  for (float factor : {1.0f, 1.00390625f, -0.7f, 1e-30f, 3e20f, NAN}) {
    arguments<3, 0, 0> args{{x.data(), &factor, y.data()}, {}, {}, 65536, 1};
    cpu::pointwise<product>(args, 1);
    int wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float exact = widen(x[i]) * factor;
      wrong += std::isnan(exact) ? !std::isnan(widen(y[i])) : y[i].bits != narrow<T>(exact).bits;
    }
    CAPTURE(factor);
    CHECK(wrong == 0);
  }
}

TEST_CASE("broadcast and transposed operands, extents known and not") {
  check_broadcasts<broadcasts<5, 7>>(3, 5, 7);
  check_broadcasts<broadcasts<256, 512>>(2, 256, 512);
  check_broadcasts<broadcasts<1, 1000>>(9, 1, 1000);
  check_broadcasts<broadcasts<1000, 1>>(3, 1000, 1);
  using unknown = broadcasts<dynamic_number(0), dynamic_number(1)>;
  for (i64 j : {1, 3, 64, 257})
    for (i64 k : {1, 2, 63, 300}) check_broadcasts<unknown>(j % 4 + 1, j, k);
}

TEST_CASE("slices and strides, read and written") {
  using strided =
      body<load<0, float, at<3, term<X, 1, 0, 2>>>, load<0, float, at<11, term<X, 10, 0, 20>, term<X, 1, 10, -1>>>,
           compute<ops::sub, float, float, 0, 1>, store<1, float, 2, at<5, term<X, 1, 0, 3>>>>;
  for (i64 n : {1, 10, 255, 600, 20000}) {
    buffer a = buffer::of<float>(4 * n + 60, [](i64 i) { return noise(i); });
    buffer out = buffer::output<float>(3 * n + 10);
    check<strided>(arguments<2, 0, 0>{{}, {}, {}, n, 1}, {&a, &out});
  }
}

TEST_CASE("masks: padding and concatenation read nothing outside") {
  // out[x] = pad(a, 100 left): a[x - 100] inside [0, n), 0 elsewhere; then concat with b by a second mask.
  constexpr long N = dynamic_number(0);
  using position = at<-100, term<X, 1, 0, 1>>;
  using padded =
      body<inside<position, 0, N>, load<0, float, position, 0>, compute<ops::logical_not, bool, bool, 0>,
           load<1, float, linear, 2>, compute<ops::add, float, float, 1, 3>, store<2, float, 4, linear>,
           load<3, bool, linear>, store<4, float, 1, linear, 6>, scalar<0, bool>, load<0, float, position, 8>,
           store<4, float, 9, linear, 8>, store<5, float, 4, at<0, term<X, 1, 0, 2>>, 0>>;
  for (i64 n : {1, 50, 700, 3000}) {
    const i64 total = n + 230;
    buffer a = buffer::of<float>(n, [](i64 i) { return noise(i); });
    buffer b = buffer::of<float>(total, [](i64 i) { return noise(i + 5); });
    buffer keep = buffer::of<bool>(total, [](i64 i) { return i % 600 < 290 || i % 3 == 0; });
    buffer out = buffer::output<float>(total), some = buffer::output<float>(total),
           two = buffer::output<float>(2 * total);
    check<padded>(arguments<6, 1, 1>{{}, {{0, 0}}, {n}, total, 1}, {&a, &b, &out, &keep, &some, &two});
  }
}

TEST_CASE_TEMPLATE("gather: negative indices, masks, both integer types", I, i32, i64) {
  // out[x, c] = table[index[x], c], and zero where a mask says so.
  constexpr long C = dynamic_number(0), V = dynamic_number(1);
  using gather = body<load<0, I, at<0, term<X, C, 0, 1>>>, gather_load<1, bf16, at<0, term<X, 1, C, 1>>, 0, C, V>,
                      store<2, bf16, 1, linear>, load<3, bool, linear>,
                      gather_load<1, bf16, at<0, term<X, 1, C, 1>>, 0, C, V, 3>, store<4, float, 4, linear>>;
  for (i64 c : {1, 3, 40, 300}) {
    const i64 rows = 37, vocabulary = 11, n = rows * c;
    buffer index = buffer::of<I>(rows, [&](i64 i) { return static_cast<I>(i * 7 % (2 * vocabulary) - vocabulary); });
    buffer table = buffer::of<bf16>(vocabulary * c, [](i64 i) { return noise(i); });
    buffer out = buffer::output<bf16>(n), out2 = buffer::output<float>(n);
    buffer keep = buffer::of<bool>(n, [](i64 i) { return i % 5 != 2; });
    check<gather>(arguments<5, 0, 2>{{}, {}, {c, vocabulary}, n, 1}, {&index, &table, &out, &keep, &out2});
  }
}

TEST_CASE("gather: an index out of range does not leave the table") {
  using gather = body<load<0, i64, linear>, gather_load<1, float, at<0>, 0, 1, 4>, store<2, float, 1, linear>>;
  std::vector<i64> index{4, -5, 1000000000000, -1000000000000, INT64_MAX, INT64_MIN, 0};
  std::vector<float> table{1, 2, 3, 4}, out(7);
  cpu::pointwise<gather>(arguments<3, 0, 0>{{index.data(), table.data(), out.data()}, {}, {}, 7, 1});
  for (float v : out) CHECK((v >= 1 && v <= 4));
  CHECK(out[6] == 1);
}

TEST_CASE("index values and a single element") {
  using iota = body<index_value<at<5, term<X, 1, 100, 3>, term<X, 100, 0, -7>>>, store<0, i64, 0, linear>,
                    constant<i32, 42>, store<1, i32, 2, at<3>>>;
  for (i64 n : {1, 99, 100, 1234}) {
    buffer out = buffer::output<i64>(n), one = buffer::output<i32>(5);
    check<iota>(arguments<2, 0, 0>{{}, {}, {}, n, 1}, {&out, &one});
  }
}

TEST_CASE("in place: a value that was read stays what it was") {
  using in_place = body<load<0, float, linear>, load<1, float, linear>, compute<ops::add, float, float, 0, 1>,
                        store<2, float, 2, linear>, compute<ops::sub, float, float, 0, 1>, store<3, float, 4, linear>>;
  for (i64 n : {1, 300, 40000}) {
    std::vector<float> a(static_cast<std::size_t>(n)), b(a), difference(a);
    for (i64 i = 0; i < n; ++i) a[static_cast<std::size_t>(i)] = noise(i), b[static_cast<std::size_t>(i)] = noise(-i);
    const auto a0 = a;
    cpu::pointwise<in_place>(arguments<4, 0, 0>{{a.data(), b.data(), a.data(), difference.data()}, {}, {}, n, 1}, 2);
    long wrong = 0;
    for (std::size_t i = 0; i < a.size(); ++i) wrong += a[i] != a0[i] + b[i] || difference[i] != a0[i] - b[i];
    CHECK(wrong == 0);
  }
}

namespace {

template <class Indices>
struct long_body;
template <int... I>
struct long_body<std::integer_sequence<int, I...>> {  // value I + 1 = value I * 0.5 + value 0, and every tenth is
                                                      // stored
  using type = body<load<0, float, linear>, constant<float, __builtin_bit_cast(long, 0.5)>,
                    compute<ops::fma, float, float, (I == 0 ? 0 : I + 1), 1, 0>..., store<1, float, 9, linear>,
                    store<2, f16, int(sizeof...(I)) + 1, linear>>;
};

}  // namespace

TEST_CASE("long bodies") {
  const i64 n = 1000;
  buffer a = buffer::of<float>(n, [](i64 i) { return noise(i); });
  buffer b = buffer::output<float>(n), c = buffer::output<f16>(n);
  const arguments<3, 0, 0> args{{}, {}, {}, n, 1};
  check<long_body<std::make_integer_sequence<int, 20>>::type>(args, {&a, &b, &c});
  check<long_body<std::make_integer_sequence<int, 50>>::type>(args, {&a, &b, &c});
  check<long_body<std::make_integer_sequence<int, 90>>::type>(args, {&a, &b, &c});
}
