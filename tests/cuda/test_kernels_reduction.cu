// Reductions along memory: persistent, looped and split rows over bodies written by hand, against plain loops in
// double. SPDX-License-Identifier: BSL-1.0
#include <utility>

#include "test_kernels_rows.cuh"

using namespace kernel_tests;

namespace {

const std::int64_t row_counts[] = {0, 1, 3, 1000};
const std::int64_t column_counts[] = {1, 7, 8, 31, 32, 33, 100, 1000, 1024, 2304, 4096, 4097, 16384, 50000};

/// Calls test(columns, shift) with columns an integral_constant.
template <class F>
void for_static_columns(F&& test) {
  [&]<long... C>(std::integer_sequence<long, C...>) { (test(std::integral_constant<long, C>{}), ...); }
  (std::integer_sequence<long, 1, 7, 8, 31, 32, 33, 100, 1000, 1024, 2304, 4096, 4097, 16384, 50000>{});
}

}  // namespace

TEST_CASE("softmax, static extent") {
  for_static_columns([](auto columns) {
    constexpr long c = decltype(columns)::value;
    for (const std::int64_t rows : row_counts) {
      if (rows * c > 8000000) continue;
      test_softmax<bf16, softmax<bf16, c>, c>("softmax bf16", rows, c);
      if (rows < 4) test_softmax<bf16, softmax<bf16, c>, c>("softmax bf16", rows, c, 1, 0);
      if (rows < 4) test_softmax<bf16, softmax<bf16, c>, c>("softmax bf16", rows, c, 0, 3);
    }
  });
}

TEST_CASE("softmax, dynamic extent") {
  for (const std::int64_t columns : column_counts)
    for (const std::int64_t rows : row_counts) {
      if (rows * columns > 8000000) continue;
      test_softmax<bf16, softmax<bf16, d0>, -1>("softmax bf16, dynamic", rows, columns);
      test_softmax<f16, softmax<f16, d0>, -1>("softmax f16, dynamic", rows, columns);
      test_softmax<float, softmax<float, d0>, -1>("softmax f32, dynamic", rows, columns);
      if (rows < 4) test_softmax<float, softmax<float, d0>, -1>("softmax f32, dynamic", rows, columns, 0, 1);
      if (rows < 4) test_softmax<double, softmax<double, d0>, -1>("softmax f64, dynamic", rows, columns);
    }
}

TEST_CASE("softmax of everything") {
  for (const std::int64_t length : {1, 7, 100, 4096, 16383, 40000, 65537, 300000, 3000001})
    for (const std::size_t shift : {0, 1}) {
      test_softmax<float, softmax_at<float, at_r>, -1>("lone softmax f32", 1, length, shift, shift);
      test_softmax<bf16, softmax_at<bf16, at_r>, -1>("lone softmax bf16", 1, length, shift, 0);
    }
  test_softmax<float, softmax_at<float, at_r>, 1000>("lone softmax f32, static", 1, 1000);
  test_softmax<float, softmax_at<float, at_r>, 100000>("lone softmax f32, static", 1, 100000);
  test_softmax<bf16, softmax_at<bf16, at_r>, 100001>("lone softmax bf16, static", 1, 100001, 1, 1);
}

TEST_CASE("softmax of few long rows that are walked") {
  using from = at<0, term<loop_var::x, 1, 0, dynamic_number(1)>, term<loop_var::r, 1, 0, 2>>;
  using every_other = softmax_at<float, from, at_row<d0>>;
  for (const std::int64_t length : {16383, 16384, 20001, 300000})
    for (const std::int64_t rows : {1, 2, 37, 131, 133})
      if (rows * length < 4000000) test_softmax<float, every_other, -1>("walked softmax f32", rows, length, 0, 0, 2);
}

TEST_CASE("layer norm") {
  for_static_columns([](auto columns) {
    constexpr long c = decltype(columns)::value;
    for (const std::int64_t rows : {1, 3, 1000}) {
      if (rows * c > 5000000) continue;
      test_layer_norm<float, float, layer_norm<float, float, c>, c>("layer norm f32", rows, c);
    }
  });
  // 64 values to a thread, beside two weights.
  for (const std::int64_t rows : {1, 3, 150}) {
    test_layer_norm<bf16, bf16, layer_norm<bf16, bf16, 18432>, 18432>("layer norm bf16", rows, 18432);
    test_layer_norm<f16, f16, layer_norm<f16, f16, 27000>, 27000>("layer norm f16", rows, 27000);
  }
  for (const std::int64_t columns : column_counts)
    for (const std::int64_t rows : {1, 3, 50}) {
      test_layer_norm<bf16, float, layer_norm<bf16, float, d0>, -1>("layer norm bf16, dynamic", rows, columns);
      test_layer_norm<f16, f16, layer_norm<f16, f16, d0>, -1>("layer norm f16, dynamic", rows, columns);
    }
}

// Of power-of-two lengths all threads hold as many values.
TEST_CASE("means and variances of held rows as one fold") {
  [&]<long... C>(std::integer_sequence<long, C...>) {
    const auto test = [](auto columns) {
      constexpr long c = decltype(columns)::value;
      for (const std::int64_t rows : {1, 9, 300})
        for (const float middle : {0, 1000}) test_moments<moments<bf16, bf16, c>, bf16, bf16, c>(rows, c, 0, 0, middle);
      test_moments<moments<bf16, bf16, c>, bf16, bf16, c>(9, c, 1, 1, 0);
    };
    (test(std::integral_constant<long, C>{}), ...);
  }
  (std::integer_sequence<long, 16, 512, 2048, 3072, 4096, 32768>{});
  test_moments<moments<f16, float, 16384>, f16, float, 16384>(300, 16384, 0, 0, 100);
  test_moments<moments<f16, f16, 1024>, f16, f16, 1024>(1000, 1024, 0, 0, 100);
  for (const std::int64_t rows : {1, 1000})
    test_fold<ops::m2, bf16, float, 8192, 8192>("m2 bf16, static", rows, 8192, 1e-4, 1e-5);
}

TEST_CASE("one-phase reductions of rows, dynamic extent") {
  for (const std::int64_t columns : column_counts)
    for (const std::int64_t rows : row_counts) {
      if (rows * columns > 5000000) continue;
      const double n = static_cast<double>(columns);
      test_fold<ops::sum, float, float, d0, -1>("sum f32", rows, columns, 1e-5, 1e-6 * n);
      test_fold<ops::argmax, float, std::int64_t, d0, -1>("argmax f32", rows, columns, 0, 0);
      test_fold<ops::m2, bf16, float, d0, -1>("m2 bf16", rows, columns, 1e-4, 1e-5);
      if (rows > 3) continue;
      test_fold<ops::amin, bf16, bf16, d0, -1>("amin bf16", rows, columns, 0, 0);
      test_fold<ops::sum, std::uint8_t, std::int64_t, d0, -1>("sum u8", rows, columns, 0, 0);
      test_fold<ops::sum, double, double, d0, -1>("sum f64", rows, columns, 1e-12, 1e-12 * n);
      test_fold<ops::any, bool, bool, d0, -1, boolean, boolean>("any bool", rows, columns, 0, 0);
      test_fold<ops::all, std::int32_t, bool, d0, -1, std::int32_t, boolean>("all i32", rows, columns, 0, 0);
      test_fold<ops::argmin, std::int8_t, std::int64_t, d0, -1>("argmin i8", rows, columns, 0, 0);
      test_fold<ops::sum, float, float, d0, -1>("sum f32", rows, columns, 1e-5, 1e-6 * n, 1);
    }
}

// Of 16 bits four or eight vectors to a thread, the last of which are not in every row.
TEST_CASE("one-phase reductions of rows that registers hold, dynamic extent") {
  for (const std::int64_t columns : {128, 136, 200, 264, 520, 1000, 1032, 1544, 2056, 4104, 20000, 32760, 32768, 32776})
    for (const std::int64_t rows : {1, 9, 300}) {
      const double n = static_cast<double>(columns);
      test_fold<ops::sum, bf16, float, d0, -1>("sum bf16", rows, columns, 1e-5, 1e-6 * n);
      test_fold<ops::argmax, bf16, std::int64_t, d0, -1>("argmax bf16", rows, columns, 0, 0);
      test_fold<ops::argmin, f16, std::int64_t, d0, -1>("argmin f16", rows, columns, 0, 0);
      test_fold<ops::amax, f16, f16, d0, -1>("amax f16", rows, columns, 0, 0);
      test_fold<ops::m2, bf16, float, d0, -1>("m2 bf16", rows, columns, 1e-4, 1e-5);
    }
}

// Of 16 bits it is looked for in words, 32 of which a thread may have.
TEST_CASE("where the first of equals is, of rows that registers hold") {
  for (const bool nans : {false, true}) {
    for (const std::int64_t columns : {136, 264, 520, 1000, 1032, 2056, 4104, 20000})
      for (const std::int64_t rows : {1, 150}) {
        test_ties<bf16>(rows, columns, 0, nans);
        test_ties<f16>(rows, columns, 0, nans);
        test_ties<float>(rows, columns, 0, nans);
      }
    [nans]<long... C>(std::integer_sequence<long, C...>) {
      (test_ties<bf16, C, C>(150, C, 0, nans), ...);
      (test_ties<f16, C, C>(150, C, 0, nans), ...);
    }
    (std::integer_sequence<long, 264, 1000, 4096, 12288, 32768>{});
  }
}

TEST_CASE("one-phase reductions of rows, static extent") {
  for_static_columns([](auto columns) {
    constexpr long c = decltype(columns)::value;
    for (const std::int64_t rows : {1, 3, 100}) {
      test_fold<ops::sum, bf16, float, c, c>("sum bf16, static", rows, c, 1e-5, 1e-6 * c);
      test_fold<ops::argmax, float, std::int64_t, c, c>("argmax f32, static", rows, c, 0, 0);
      test_fold<ops::argmin, bf16, std::int64_t, c, c>("argmin bf16, static", rows, c, 0, 0);
    }
  });
}

// So many that a kernel whose blocks stay would take them in turn: such rows of one phase are swept or walked.
TEST_CASE("one-phase reductions of many long rows, static extent") {
  [&]<long... C>(std::integer_sequence<long, C...>) {
    (test_fold<ops::m2, float, float, C, C>("m2 f32, static", 300, C, 1e-4, 1e-5), ...);
    (test_fold<ops::argmax, float, std::int64_t, C, C>("argmax f32, static", 300, C, 0, 0), ...);
  }
  (std::integer_sequence<long, 20001, 32001, 40000, 48002>{});
  test_fold<ops::m2, bf16, float, 65536, 65536>("m2 bf16, static", 300, 65536, 1e-4, 1e-5);
  test_fold<ops::m2, bf16, float, 65537, 65537>("m2 bf16, static", 300, 65537, 1e-4, 1e-5);
}

TEST_CASE("an empty row gives the identity") {
  const auto test = [](auto extent) {
    constexpr long c = decltype(extent)::value;
    test_fold<ops::sum, float, float, 0, c>("sum of nothing", 5, 0, 0, 0);
    test_fold<ops::prod, float, float, 0, c>("product of nothing", 5, 0, 0, 0);
    test_fold<ops::argmax, float, std::int64_t, 0, c>("argmax of nothing", 5, 0, 0, 0);
    test_fold<ops::all, float, bool, 0, c, float, boolean>("all of nothing", 5, 0, 0, 0);
    test_softmax<float, softmax<float, 0>, c>("softmax of nothing", 5, 0);
  };
  test(std::integral_constant<long, 0>{});
  test(std::integral_constant<long, -1>{});
}

// ---- full and few-row reductions: split over blocks
// ----------------------------------------------------------------------

namespace {

/// sum, m2 and argmax of one input, with a tail: sqrt(sum of squares) * scalar.
using full_statistics =
    body<load<0, float, at_row<d0>>, compute<ops::mul, float, float, 0, 0>, reduce<ops::sum, float, float, 1>,
         reduce<ops::m2, float, float, 0>, reduce<ops::argmax, float, std::int64_t, 0>, scalar<0, float>,
         compute<ops::sqrt, float, float, 2>, compute<ops::mul, float, float, 6, 5>, store<1, float, 7, at_x>,
         store<2, float, 3, at_x>, store<3, std::int64_t, 4, at_x>>;

void test_full(std::int64_t rows, std::int64_t columns, std::size_t shift = 0) {
  if (!is_sampled()) return;
  const auto a = numbers<float>(rows * columns, 7);
  device_array<float> da(a, shift), norm(rows), m2(rows);
  device_array<std::int64_t> where(rows);
  auto args = make_args<4, 1, 1>(rows, columns);
  args.pointers[0] = da.data(), args.pointers[1] = norm.data(), args.pointers[2] = m2.data(),
  args.pointers[3] = where.data();
  args.scalars[0] = {2.0, 2};
  args.sizes[0] = columns;
  const std::string what = label("full statistics", rows, columns, shift ? "misaligned" : "");
  launch<full_statistics>(what, args);
  const auto at = [&](std::size_t i) {
    return [&a, i, columns](std::int64_t j) { return double(a[i * columns + j]); };
  };
  check_close(
      what + " norm", norm.host(),
      [&](std::size_t i) {
        double s = 0;
        for (std::int64_t j = 0; j < columns; ++j) s += at(i)(j) * at(i)(j);
        return 2 * std::sqrt(s);
      },
      1e-5, 0);
  check_close(
      what + " m2", m2.host(), [&](std::size_t i) { return fold<ops::m2>(columns, at(i)); }, 1e-4, 1e-6);
  check_close(
      what + " argmax", where.host(), [&](std::size_t i) { return fold<ops::argmax>(columns, at(i)); }, 0, 0);
  norm.check_guards(what), m2.check_guards(what), where.check_guards(what);
  // Same inputs, same bits: whichever block was last.
  const auto first = norm.host();
  for (int repeat = 0; repeat < 3; ++repeat) {
    launch<full_statistics>(what + " again", args);
    check_close(
        what + " is deterministic", norm.host(), [&](std::size_t i) { return first[i]; }, 0, 0);
  }
}

}  // namespace

TEST_CASE("full reductions and few long rows") {
  for (const std::int64_t n : {1, 1000, 32767, 32768, 32769, 100000, 1000000, 1000003}) test_full(1, n);
  test_full(1, 1000000, 1);
  test_full(3, 200000);
  test_full(3, 200003);
  test_full(100, 65536);
  test_full(255, 40000);
  // More than are split, of which a block can hold one, or cannot.
  test_full(300, 40000);
  test_full(488, 65537);
}

/// The greatest and the least of rows, whose last one has a NaN, and what is left above the least of all.
template <class T>
void test_extremes(const char* name) {
  using extremes = body<load<0, T, at_row<d0>>, reduce<ops::amax, T, T, 0>, reduce<ops::amin, T, T, 0>,
                        store<1, T, 1, at_x>, store<2, T, 2, at_x>>;
  using below = body<load<0, T, at_row<d0>>, reduce<ops::amax, T, T, 0>, compute<ops::sub, T, T, 0, 1>,
                     store<3, T, 2, at_row<d0>>>;
  for (const std::int64_t columns : {1, 2, 7, 8, 255, 1000, 1001, 4096, 8000, 10007, 20000, 40000})
    for (const std::int64_t rows : {1, 5, 130}) {
      auto a = numbers<T>(rows * columns, 1);
      if (rows > 1) a[(rows - 1) * columns + columns / 2] = T(std::numeric_limits<float>::quiet_NaN());
      device_array<T> da(a), greatest(rows), least(rows), beside(rows * columns);
      auto args = make_args<4, 0, 1>(rows, columns);
      args.pointers[0] = da.data(), args.pointers[1] = greatest.data(), args.pointers[2] = least.data();
      args.pointers[3] = beside.data();
      args.sizes[0] = columns;
      const std::string what = label(name, rows, columns);
      launch<extremes>(what, args);
      launch<below>(what + ", below the greatest", args);
      const auto most = greatest.host(), fewest = least.host(), rest = beside.host();
      int wrong = 0;
      for (std::int64_t i = 0; i < rows; ++i) {
        const auto first = a.begin() + i * columns, last = first + columns;
        const auto less = [](T x, T y) { return number(x) < number(y); };
        const bool has_nan = std::any_of(first, last, [](T x) { return std::isnan(number(x)); });
        const double top = number(*std::max_element(first, last, less));
        wrong += has_nan
                     ? !std::isnan(number(most[i])) + !std::isnan(number(fewest[i]))
                     : (number(most[i]) != top) + (number(fewest[i]) != number(*std::min_element(first, last, less)));
        for (std::int64_t r = 0; r < columns; ++r) {
          const double found = number(rest[i * columns + r]);
          wrong +=
              has_nan ? !std::isnan(found) : found != number(T(static_cast<float>(number(a[i * columns + r]) - top)));
        }
      }
      CHECK_MESSAGE(wrong == 0, what);
      greatest.check_guards(what), least.check_guards(what), beside.check_guards(what);
    }
}
TEST_CASE("the greatest and the least of rows of 16 bits; NaN wins") {
  test_extremes<bf16>("extremes bf16");
  test_extremes<f16>("extremes f16");
}

TEST_CASE("splits are a function of the extents") {
  static_assert(num_splits(orientation::row, 1, 1000) == 1);
  static_assert(num_splits(orientation::row, 1, std::int64_t(1) << 40) == 528);
  static_assert(num_splits(orientation::row, 100000, 1000000) == 1);
  static_assert(num_splits(orientation::column, 8192, 16384) == 20);
  static_assert(num_splits(orientation::column, 0, 16384) == 1);
  static_assert(reduction_workspace<full_statistics, orientation::row>(1, 1000).total() == 0);
  static_assert(reduction_workspace<softmax<float, d0>, orientation::row>(1000, 16000).total() == 0);
  static_assert(reduction_workspace<softmax<float, d0>, orientation::row>(1000, 40000).total() ==
                16);  // whose turn it is
  // Blocks share one row of several phases: a counter for each, and a state for each part.
  static_assert(reduction_workspace<softmax<float, d0>, orientation::row>(1, 1000000).total() > 0);
  static constexpr std::int64_t splits = num_splits(orientation::row, 1, 1000000);
  static_assert(splits == 122);
  // A counter, and for each part the words of a sum, of a mean, a sum and a count, and of a value and its place.
  static_assert(reduction_workspace<full_statistics, orientation::row>(1, 1000000).total() ==
                (4 * (2 + 2 * splits * (1 + 4 + 4)) + 15) / 16 * 16);
  CHECK(true);
}

TEST_CASE("element stores beside a split reduction") {
  // (sum(a), cos(a)) in one kernel, of one row and of many.
  using B = body<load<0, float, at_row<d0>>, reduce<ops::sum, float, float, 0>, compute<ops::cos, float, float, 0>,
                 store<1, float, 1, at_x>, store<2, bf16, 2, at_row<d0>>>;
  const std::pair<std::int64_t, std::int64_t> shapes[] = {{1, 1000003}, {1, 100000}, {500, 1024}, {2, 50001}, {7, 3}};
  for (const auto& [rows, columns] : shapes) {
    const auto a = numbers<float>(rows * columns, 1);
    device_array<float> da(a), sums(rows);
    device_array<bf16> cosines(rows * columns);
    auto args = make_args<3, 0, 1>(rows, columns);
    args.pointers[0] = da.data(), args.pointers[1] = sums.data(), args.pointers[2] = cosines.data();
    args.sizes[0] = columns;
    const std::string what = label("sum and cos", rows, columns);
    launch<B>(what, args);
    check_close(
        what, sums.host(),
        [&, c = columns](std::size_t i) {
          return fold<ops::sum>(c, [&](std::int64_t j) { return double(a[i * c + j]); });
        },
        1e-5, 1e-6 * columns);
    check_close(
        what, cosines.host(), [&](std::size_t k) { return std::cos(double(a[k])); }, 0x1p-8, 1e-6);
    sums.check_guards(what), cosines.check_guards(what);
  }
}

// ---- special operands
// ------------------------------------------------------------------------------------------------------

TEST_CASE("row values as operands, masks, gathers, iota") {
  // Per row: sum over r of b[x] (a row value); sum over r of a[x, r - 1] where r > 0; sum over r of r * a; sum over r
  // of table[index[r]] where index[r] >= 0. Row store before any reduction: 2 b.
  using B = body<
      load<0, float, at_x>, reduce<ops::sum, float, float, 0>, store<1, float, 1, at_x>,                          // 0-2
      inside<at_r, 1, d0>, load<2, float, at<-1, x_term<d0>, r_term<>>, 3>, reduce<ops::sum, float, float, 4>,    // 3-5
      store<3, float, 5, at_x>, load<2, float, at_row<d0>>, index_value<at_r>, widen_to<std::int64_t, float, 8>,  // 6-9
      compute<ops::mul, float, float, 7, 9>, reduce<ops::sum, float, float, 10>, store<4, float, 11, at_x>,  // 10-12
      load<5, std::int32_t, at_r>, constant<std::int32_t, 0>, compute<ops::ge, std::int32_t, bool, 13, 14>,  // 13-15
      gather_load<6, bf16, at_none, 13, 1, 64, 15>, reduce<ops::sum, bf16, float, 16>,
      store<7, float, 17, at_x>,  // 16-18
      compute<ops::add, float, float, 0, 0>, store<8, float, 19, at_x>>;
  const std::pair<std::int64_t, std::int64_t> shapes[] = {{5, 1},    {5, 7},    {3, 33},    {40, 256},
                                                          {3, 1000}, {2, 4097}, {1, 100000}};
  for (const auto& [rows, columns] : shapes) {
    const auto b = numbers<float>(rows, 1), a = numbers<float>(rows * columns, 2);
    const auto table = numbers<bf16>(64, 3);
    std::vector<std::int32_t> index(columns);
    for (std::int64_t j = 0; j < columns; ++j)
      index[j] = j % 4 == 1 ? -1000000000 : static_cast<std::int32_t>(j * 5 % 64);
    device_array<float> db(b), da(a), o1(rows), o3(rows), o4(rows), o7(rows), o8(rows);
    device_array<std::int32_t> di(index);
    device_array<bf16> dt(table);
    auto args = make_args<9, 0, 1>(rows, columns);
    void* pointers[] = {db.data(), o1.data(), da.data(), o3.data(), o4.data(),
                        di.data(), dt.data(), o7.data(), o8.data()};
    for (int i = 0; i < 9; ++i) args.pointers[i] = pointers[i];
    args.sizes[0] = columns;
    const std::string what = label("special operands", rows, columns);
    launch<B>(what, args);
    const std::int64_t c = columns;
    const double tolerance = 1e-6 * c;
    check_close(
        what + " row value", o1.host(), [&](std::size_t i) { return double(b[i]) * c; }, 1e-4, tolerance);
    check_close(
        what + " mask", o3.host(),
        [&](std::size_t i) { return fold<ops::sum>(c - 1, [&](std::int64_t j) { return double(a[i * c + j]); }); },
        1e-5, tolerance);
    check_close(
        what + " iota", o4.host(),
        [&](std::size_t i) { return fold<ops::sum>(c, [&](std::int64_t j) { return double(a[i * c + j]) * j; }); },
        1e-5, tolerance * c);
    check_close(
        what + " gather", o7.host(),
        [&](std::size_t) {
          return fold<ops::sum>(c, [&](std::int64_t j) { return index[j] < 0 ? 0.0 : number(table[index[j]]); });
        },
        1e-5, tolerance);
    check_close(
        what + " early row store", o8.host(), [&](std::size_t i) { return 2 * double(b[i]); }, 0, 0);
    o1.check_guards(what), o3.check_guards(what), o4.check_guards(what), o7.check_guards(what), o8.check_guards(what);
  }
}

namespace {

/// [N, C, H] reduced over N and H to [C]: r = n * H + h.
template <long C, long H>
using channel_sum = body<load<0, float, at<0, x_term<H>, r_term<C, H>, r_term<1, 1, H>>>,
                         reduce<ops::sum, float, float, 0>, store<1, float, 1, at_x>>;

template <class Body, long StaticRnumel = -1>
void test_channels(const char* name, std::int64_t n, std::int64_t c, std::int64_t h) {
  if (!is_sampled()) return;
  const auto a = numbers<float>(n * c * h, 1);
  device_array<float> da(a), out(c);
  auto args = make_args<2, 0, 2>(c, n * h);
  args.pointers[0] = da.data(), args.pointers[1] = out.data();
  args.sizes[0] = c * h, args.sizes[1] = h;
  const std::string what = label(name, c, n * h);
  launch<Body, StaticRnumel>(what, args);
  check_close(
      what, out.host(),
      [&](std::size_t x) {
        double s = 0;
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < h; ++j) s += a[(i * c + x) * h + j];
        return s;
      },
      1e-5, 1e-6 * n * h);
  out.check_guards(what);
}

}  // namespace

TEST_CASE("reductions over two axes") {
  test_channels<channel_sum<16 * 64, 64>, 8 * 64>("channels, static", 8, 16, 64);
  test_channels<channel_sum<5 * 49, 49>, 6 * 49>("channels, static", 6, 5, 49);
  test_channels<channel_sum<d0, d1>>("channels, dynamic", 8, 16, 64);
  test_channels<channel_sum<d0, d1>>("channels, dynamic", 9, 5, 49);
  test_channels<channel_sum<d0, d1>>("channels, dynamic", 500, 3, 100);
}

TEST_CASE("64-bit indices give the same") {
  const std::int64_t rows = 20, columns = 3000;
  const auto a = numbers<float>(rows * columns, 1);
  device_array<float> da(a), narrow(rows * columns), wide(rows * columns);
  auto args = make_args<2, 0, 1>(rows, columns);
  args.pointers[0] = da.data(), args.sizes[0] = columns;
  cuda::kernel_memory none(nullptr, {});
  using B = softmax<float, d0>;
  args.pointers[1] = narrow.data();
  run("32-bit", [&] { cuda::detail::launch_looped<4, 4, 512, int>(B{}, args, 1, none, nullptr, "red_test"); });
  args.pointers[1] = wide.data();
  run("64-bit", [&] { cuda::detail::launch_looped<1, 4, 512, std::int64_t>(B{}, args, 1, none, nullptr, "red_test"); });
  const auto expected = narrow.host();
  check_close(
      "64-bit = 32-bit", wide.host(), [&](std::size_t i) { return expected[i]; }, 2e-6, 0);
}

TEST_CASE("reductions over more than 2^31 elements") {
  // The sum of r over [0, n) needs no memory.
  using B = body<index_value<at_r>, reduce<ops::sum, std::int64_t, std::int64_t, 0>, store<0, std::int64_t, 1, at_x>>;
  const std::int64_t n = (std::int64_t(1) << 31) + 1000;
  device_array<std::int64_t> out(1);
  auto args = make_args<1>(1, n);
  args.pointers[0] = out.data();
  launch<B>("sum of 2^31 indices", args);
  CHECK(out.host()[0] == n / 2 * (n - 1));
}
