// Rows of a few elements, of every alignment, thousands and hardly any of them, against plain loops in double.
// SPDX-License-Identifier: BSL-1.0
#include <tuple>
#include <utility>

#include "test_kernels_rows.cuh"

using namespace kernel_tests;

namespace {

const std::int64_t row_counts[] = {0, 1, 2, 31, 127, 1009, 10007};
const std::int64_t column_counts[] = {1, 2, 3, 5, 7, 8, 9, 31, 33, 65, 127, 128, 255, 256, 257, 511, 1001};

template <class F>
void for_static_columns(F&& test) {
  [&]<long... C>(std::integer_sequence<long, C...>) { (test(std::integral_constant<long, C>{}), ...); }
  (std::integer_sequence<long, 1, 3, 7, 31, 65, 66, 124, 127, 1001>{});
}

/// a + b and the row's sum of it, where a, b and the result are of three types: three alignments, one of them the
/// widest's.
template <long C>
using sum_of_two = body<load<0, float, at_row<C>>, load<1, bf16, at_row<C>>, widen_to<bf16, float, 1>,
                        compute<ops::add, float, float, 0, 2>, reduce<ops::sum, float, float, 3>,
                        store<2, double, 3, at_row<C>>, store<3, float, 4, at_x>>;

template <long C, long StaticRnumel>
void test_sum_of_two(std::int64_t rows, std::int64_t columns, std::size_t shift_a, std::size_t shift_b) {
  if (!is_sampled()) return;
  const auto a = numbers<float>(rows * columns, 1);
  const auto b = numbers<bf16>(rows * columns, 2);
  device_array<float> da(a, shift_a), sums(rows);
  device_array<bf16> db(b, shift_b);
  device_array<double> out(rows * columns);
  auto args = make_args<4, 0, 1>(rows, columns);
  args.pointers[0] = da.data(), args.pointers[1] = db.data(), args.pointers[2] = out.data();
  args.pointers[3] = sums.data();
  args.sizes[0] = columns;
  const std::string what = label("sum of two", rows, columns);
  launch<sum_of_two<C>, StaticRnumel>(what, args);
  const auto value = [&](std::size_t k) { return double(a[k]) + number(b[k]); };
  check_close(what, out.host(), value, 1e-6, 1e-6);
  check_close(
      what + ", row sums", sums.host(),
      [&](std::size_t i) { return fold<ops::sum>(columns, [&](std::int64_t j) { return value(i * columns + j); }); },
      1e-5, 1e-6 * static_cast<double>(columns));
  out.check_guards(what), sums.check_guards(what);
}

/// a - b, a * b and the row's sum of a, all of eight bytes: runs are shorter where there are many accesses.
template <long C>
using wide_pair = body<load<0, double, at_row<C>>, load<1, double, at_row<C>>, compute<ops::sub, double, double, 0, 1>,
                       compute<ops::mul, double, double, 0, 1>, reduce<ops::sum, double, double, 0>,
                       store<2, double, 2, at_row<C>>, store<3, double, 3, at_row<C>>, store<4, double, 4, at_x>>;

template <long C, long StaticRnumel>
void test_wide_pair(std::int64_t rows, std::int64_t columns) {
  if (!is_sampled()) return;
  const auto a = numbers<double>(rows * columns, 1), b = numbers<double>(rows * columns, 2);
  device_array<double> da(a, 1), db(b), difference(rows * columns), product(rows * columns, 1), sums(rows);
  auto args = make_args<5, 0, 1>(rows, columns);
  args.pointers[0] = da.data(), args.pointers[1] = db.data(), args.pointers[2] = difference.data();
  args.pointers[3] = product.data(), args.pointers[4] = sums.data();
  args.sizes[0] = columns;
  const std::string what = label("wide pair", rows, columns);
  launch<wide_pair<C>, StaticRnumel>(what, args);
  check_close(
      what, difference.host(), [&](std::size_t k) { return a[k] - b[k]; }, 0, 0);
  check_close(
      what, product.host(), [&](std::size_t k) { return a[k] * b[k]; }, 0, 0);
  check_close(
      what, sums.host(),
      [&](std::size_t i) { return fold<ops::sum>(columns, [&](std::int64_t j) { return a[i * columns + j]; }); }, 1e-12,
      1e-12 * static_cast<double>(columns));
  difference.check_guards(what), product.check_guards(what), sums.check_guards(what);
}

/// So many wide accesses that no run holds a row of eight for each thread.
using six_wide =
    body<load<0, double, at_row<d0>>, load<1, double, at_row<d0>>, load<2, double, at_row<d0>>,
         compute<ops::add, double, double, 0, 1>, compute<ops::add, double, double, 3, 2>,
         reduce<ops::sum, double, double, 4>, store<3, double, 3, at_row<d0>>, store<4, double, 4, at_row<d0>>,
         compute<ops::sub, double, double, 4, 5>, store<5, double, 8, at_row<d0>>>;

void test_six_wide(std::int64_t rows, std::int64_t columns) {
  if (!is_sampled()) return;
  const std::int64_t size = rows * columns;
  const auto a = numbers<double>(size, 1), b = numbers<double>(size, 2), c = numbers<double>(size, 3);
  device_array<double> da(a, 1), db(b), dc(c, 1), of_two(size), of_three(size, 1), difference(size);
  auto args = make_args<6, 0, 1>(rows, columns);
  args.pointers[0] = da.data(), args.pointers[1] = db.data(), args.pointers[2] = dc.data();
  args.pointers[3] = of_two.data(), args.pointers[4] = of_three.data(), args.pointers[5] = difference.data();
  args.sizes[0] = columns;
  const std::string what = label("six wide", rows, columns);
  launch<six_wide>(what, args);
  std::vector<double> sums(rows, 0.0);
  for (std::int64_t k = 0; k < size; ++k) sums[k / columns] += a[k] + b[k] + c[k];
  check_close(
      what, of_two.host(), [&](std::size_t k) { return a[k] + b[k]; }, 0, 0);
  check_close(
      what, of_three.host(), [&](std::size_t k) { return a[k] + b[k] + c[k]; }, 0, 0);
  check_close(
      what, difference.host(), [&](std::size_t k) { return a[k] + b[k] + c[k] - sums[k / columns]; }, 1e-12, 1e-11);
  of_two.check_guards(what), of_three.check_guards(what), difference.check_guards(what);
}

/// Softmax of 16-bit rows in place.
template <class T, long C, long StaticRnumel>
void test_in_place(std::int64_t rows, std::int64_t columns) {
  if (!is_sampled()) return;
  const auto a = numbers<T>(rows * columns, 1);
  device_array<T> da(a, 1), apart(a, 1), out(rows * columns, 1);
  auto args = make_args<2, 0, 1>(rows, columns);
  args.sizes[0] = columns;
  const std::string what = label("softmax in place", rows, columns);
  args.pointers[0] = args.pointers[1] = da.data();
  launch<softmax<T, C>, StaticRnumel>(what, args);
  args.pointers[0] = apart.data(), args.pointers[1] = out.data();
  launch<softmax<T, C>, StaticRnumel>(what, args);
  const auto expected = out.host();
  check_close(
      what, da.host(), [&](std::size_t k) { return number(expected[k]); }, 0, 0);
  da.check_guards(what);
}

/// a + b, written before the row's sum of it is known, and what it differs from that sum by: of four 16-bit rows each
/// may begin with another half of a word.
using difference_of_two =
    body<load<0, bf16, at_row<d0>>, load<1, bf16, at_row<d0>>, compute<ops::add, float, float, 0, 1>,
         reduce<ops::sum, float, float, 2>, store<2, bf16, 2, at_row<d0>>, compute<ops::sub, float, float, 2, 3>,
         store<3, bf16, 5, at_row<d0>>>;

void test_difference_of_two(std::int64_t rows, std::int64_t columns, const std::size_t (&shifts)[4]) {
  if (!is_sampled()) return;
  const auto a = numbers<bf16>(rows * columns, 1), b = numbers<bf16>(rows * columns, 2);
  device_array<bf16> da(a, shifts[0]), db(b, shifts[1]), sum(rows * columns, shifts[2]),
      difference(rows * columns, shifts[3]);
  auto args = make_args<4, 0, 1>(rows, columns);
  args.pointers[0] = da.data(), args.pointers[1] = db.data();
  args.pointers[2] = sum.data(), args.pointers[3] = difference.data();
  args.sizes[0] = columns;
  const std::string what = label("difference of two", rows, columns);
  launch<difference_of_two>(what, args);
  const auto value = [&](std::size_t k) { return number(a[k]) + number(b[k]); };
  std::vector<double> sums(rows, 0.0);
  for (std::int64_t k = 0; k < rows * columns; ++k) sums[k / columns] += value(k);
  check_close(what, sum.host(), value, step_of<bf16>(), 1e-30);
  check_close(
      what, difference.host(), [&](std::size_t k) { return value(k) - sums[k / columns]; }, step_of<bf16>(), 1e-3);
  sum.check_guards(what), difference.check_guards(what);
}

}  // namespace

TEST_CASE("short rows of static length") {
  for_static_columns([](auto columns) {
    constexpr long c = decltype(columns)::value;
    for (const std::int64_t rows : row_counts) {
      test_softmax<bf16, softmax<bf16, c>, c>("softmax bf16", rows, c);
      if (rows > 31) continue;
      for (std::size_t shift = 1; shift < 8; ++shift)
        test_softmax<bf16, softmax<bf16, c>, c>("softmax bf16", rows, c, shift, 7 * shift % 8);
    }
  });
}

TEST_CASE("short rows with weights, of static length") {
  for_static_columns([](auto columns) {
    constexpr long c = decltype(columns)::value;
    for (const std::int64_t rows : {1, 31, 1009})
      test_layer_norm<f16, f16, layer_norm<f16, f16, c>, c>("layer norm f16", rows, c);
  });
}

TEST_CASE("short rows of run-time length") {
  for (const std::int64_t columns : column_counts)
    for (const std::int64_t rows : row_counts) {
      test_softmax<f16, softmax<f16, d0>, -1>("softmax f16, dynamic", rows, columns);
      test_fold<ops::argmax, float, std::int64_t, d0, -1>("argmax f32", rows, columns, 0, 0);
      test_fold<ops::m2, bf16, float, d0, -1>("m2 bf16", rows, columns, 1e-4, 1e-5);
      if (rows > 1009) continue;
      test_layer_norm<bf16, float, layer_norm<bf16, float, d0>, -1>("layer norm bf16, dynamic", rows, columns);
      test_fold<ops::any, bool, bool, d0, -1, boolean, boolean>("any bool", rows, columns, 0, 0, 3);
      test_softmax<double, softmax<double, d0>, -1>("softmax f64, dynamic", rows, columns, 1, 0);
    }
}

TEST_CASE("short 16-bit rows of run-time length, in words that rows share") {
  const auto test = [](std::int64_t rows, std::int64_t columns) {
    for (const auto& [shift, shift_out] : {std::pair{1, 1}, {6, 2}, {0, 1}, {3, 6}, {7, 0}})
      test_softmax<bf16, softmax<bf16, d0>, -1>("softmax bf16, dynamic", rows, columns, shift, shift_out);
    for (const auto& [shift, weight, bias] : {std::tuple{0, 0, 0}, {1, 0, 1}, {0, 3, 6}, {5, 2, 7}, {2, 1, 1}})
      test_layer_norm<f16, f16, layer_norm<f16, f16, d0>, -1>("layer norm f16, dynamic", rows, columns, shift, weight,
                                                              bias);
    for (const std::size_t shift : {0, 1})
      test_fold<ops::argmax, bf16, std::int64_t, d0, -1>("argmax bf16", rows, columns, 0, 0, shift);
    test_difference_of_two(rows, columns, {0, 0, 0, 0});
    test_difference_of_two(rows, columns, {1, 1, 1, 1});
    test_difference_of_two(rows, columns, {1, 4, 6, 3});
    test_difference_of_two(rows, columns, {2, 3, 3, 2});
  };
  for (const std::int64_t columns : column_counts)
    for (const std::int64_t rows : {1, 2, 127, 1009}) test(rows, columns);
  for (const std::int64_t columns : {1023, 1501, 2047, 2048, 2049}) test(129, columns);
}

TEST_CASE("so many short rows of run-time length that runs are full") {
  for (const auto& [rows, columns] : {std::pair{200003, 7}, {150001, 40}, {13001, 101}, {5301, 256}})
    test_sum_of_two<d0, -1>(rows, columns, 2, 3);
  test_softmax<bf16, softmax<bf16, d0>, -1>("softmax bf16, dynamic", 1500001, 5, 3, 1);
}

TEST_CASE("short rows of whole vectors") {
  for (const std::int64_t rows : {1, 2, 33, 1009})
    for (const std::int64_t columns : {4, 8, 12, 16, 24, 40, 64, 72, 100, 128, 136, 256, 264}) {
      test_softmax<bf16, softmax<bf16, d0>, -1>("softmax bf16, dynamic", rows, columns);
      test_softmax<float, softmax<float, d0>, -1>("softmax f32, dynamic", rows, columns);
      test_layer_norm<f16, f16, layer_norm<f16, f16, d0>, -1>("layer norm f16, dynamic", rows, columns);
      test_layer_norm<bf16, float, layer_norm<bf16, float, d0>, -1>("layer norm bf16, dynamic", rows, columns);
      test_fold<ops::argmax, float, std::int64_t, d0, -1>("argmax f32", rows, columns, 0, 0);
      test_fold<ops::m2, bf16, float, d0, -1>("m2 bf16", rows, columns, 1e-4, 1e-5);
    }
}

TEST_CASE("short rows of several types and alignments") {
  for (const std::int64_t rows : row_counts) {
    test_sum_of_two<7, 7>(rows, 7, 0, 0);
    test_sum_of_two<7, 7>(rows, 7, 3, 5);
    test_sum_of_two<65, 65>(rows, 65, 1, 7);
    for (const std::int64_t columns : column_counts) test_sum_of_two<d0, -1>(rows, columns, 2, 3);
  }
}

TEST_CASE("short rows with many wide accesses") {
  for (const std::int64_t rows : row_counts) {
    test_wide_pair<127, 127>(rows, 127);
    test_wide_pair<511, 511>(rows, 511);
    for (const std::int64_t columns : column_counts) {
      test_wide_pair<d0, -1>(rows, columns);
      if (rows <= 1009) test_six_wide(rows, columns);
    }
  }
}

TEST_CASE("short rows in place") {
  for (const std::int64_t rows : row_counts) {
    test_in_place<bf16, 7, 7>(rows, 7);
    test_in_place<bf16, 65, 65>(rows, 65);
    test_in_place<bf16, d0, -1>(rows, 31);
  }
}

// ---- rows of odd length that are not short: vectors aligned in memory, weights that are aligned otherwise -----------

TEST_CASE("long odd rows with weights") {
  [&]<long... C>(std::integer_sequence<long, C...>) {
    const auto test = [](auto columns) {
      constexpr long c = decltype(columns)::value;
      for (const std::int64_t rows : {1, 9, 129}) {
        test_layer_norm<bf16, bf16, layer_norm<bf16, bf16, c>, c>("layer norm bf16", rows, c);
        test_layer_norm<bf16, float, layer_norm<bf16, float, c>, c>("layer norm bf16, weights f32", rows, c);
        test_layer_norm<float, f16, layer_norm<float, f16, c>, c>("layer norm f32, weights f16", rows, c);
      }
    };
    (test(std::integral_constant<long, C>{}), ...);
  }
  (std::integer_sequence<long, 5003>{});
  for (const std::int64_t columns : {257, 383, 1001, 2049, 5003, 10007, 12289, 20001})
    for (const std::int64_t rows : {1, 9, 129})
      test_layer_norm<bf16, bf16, layer_norm<bf16, bf16, d0>, -1>("layer norm bf16, dynamic", rows, columns);
}
