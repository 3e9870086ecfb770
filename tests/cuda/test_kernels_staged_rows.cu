// Rows that begin and end anywhere and wait in shared memory, whole or in parts, against plain loops in double.
// SPDX-License-Identifier: BSL-1.0
#include "test_kernels_rows.cuh"

using namespace kernel_tests;

namespace {

/// a + b and the row's sum of it, of three types. With a store in the first phase nothing may take the place of a load
/// that the second one reads.
using sum_of_two =
    body<load<0, float, at_row<d0>>, load<1, bf16, at_row<d0>>, widen_to<bf16, float, 1>,
         compute<ops::add, float, float, 0, 2>, store<2, float, 3, at_row<d0>>, reduce<ops::sum, float, float, 3>,
         compute<ops::sub, float, float, 0, 5>, store<3, float, 6, at_row<d0>>>;

void test_sum_of_two(std::int64_t rows, std::int64_t columns, std::size_t shift) {
  if (!is_sampled()) return;
  const auto a = numbers<float>(rows * columns, 1);
  const auto b = numbers<bf16>(rows * columns, 2);
  device_array<float> da(a, shift), sum(rows * columns, shift), rest(rows * columns);
  device_array<bf16> db(b, shift);
  auto args = make_args<4, 0, 1>(rows, columns);
  args.pointers[0] = da.data(), args.pointers[1] = db.data(), args.pointers[2] = sum.data();
  args.pointers[3] = rest.data();
  args.sizes[0] = columns;
  const std::string what = label("sum of two", rows, columns);
  launch<sum_of_two, -1>(what, args);
  const auto value = [&](std::size_t k) { return double(a[k]) + number(b[k]); };
  std::vector<double> sums(rows, 0.0);
  for (std::int64_t k = 0; k < rows * columns; ++k) sums[k / columns] += value(k);
  check_close(what, sum.host(), value, 1e-6, 1e-6);
  check_close(
      what + ", rest", rest.host(), [&](std::size_t k) { return a[k] - sums[k / columns]; }, 1e-5,
      1e-6 * static_cast<double>(columns));
  sum.check_guards(what), rest.check_guards(what);
}

/// Softmax of rows with something between them, which stays as it is; in place where asked for.
template <class T>
void test_softmax_of_views(std::int64_t rows, std::int64_t columns, std::int64_t pitch, std::size_t shift,
                           bool in_place) {
  if (!is_sampled()) return;
  const auto a = numbers<T>(rows * pitch, 1);
  device_array<T> da(a, shift), out(a, shift);
  auto args = make_args<2, 0, 1>(rows, columns);
  args.pointers[0] = in_place ? out.data() : da.data(), args.pointers[1] = out.data();
  args.sizes[0] = pitch;
  const std::string what = label("softmax of views", rows, columns);
  launch<softmax<T, d0>, -1>(what, args);
  std::vector<double> most(rows, -1e300), sums(rows, 0.0);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) most[i] = std::max(most[i], number(a[i * pitch + j]));
    for (std::int64_t j = 0; j < columns; ++j) sums[i] += std::exp(number(a[i * pitch + j]) - most[i]);
  }
  check_close(
      what, out.host(),
      [&](std::size_t k) {
        const std::size_t i = k / pitch;
        return static_cast<std::int64_t>(k % pitch) < columns ? std::exp(number(a[k]) - most[i]) / sums[i]
                                                              : number(a[k]);
      },
      4 * step_of<T>() + 2e-6, 1e-30);
  out.check_guards(what);
}

/// (x - mean) * rsqrt(variance), the sum and the sum of squared deviations.
template <class T>
using standardized = body<load<0, T, at_row<d0>>, row_length<float>, reduce<ops::sum, T, float, 0>,
                          compute<ops::div, float, float, 2, 1>, reduce<ops::m2, T, float, 0>,
                          compute<ops::div, float, float, 4, 1>, compute<ops::rsqrt, float, float, 5>,
                          compute<ops::sub, float, float, 0, 3>, compute<ops::mul, float, float, 7, 6>,
                          store<1, T, 8, at_row<d0>>, store<2, float, 2, at_x>, store<3, float, 4, at_x>>;

/// Rows far from zero; the first one's first value is infinite, those of others are far from all that follow.
template <class T>
void test_standardized(std::int64_t rows, std::int64_t columns, std::size_t shift) {
  if (!is_sampled()) return;
  auto a = numbers<T>(rows * columns, 1);
  for (T& one : a) one = narrow<T>(widen<T>(one) + 100);
  for (std::int64_t i = 0; i < rows; ++i) a[i * columns] = narrow<T>(i == 0 ? INFINITY : -3000.0f);
  device_array<T> da(a, shift), out(rows * columns, shift);
  device_array<float> sum(rows), squares(rows);
  auto args = make_args<4, 0, 1>(rows, columns);
  args.pointers[0] = da.data(), args.pointers[1] = out.data();
  args.pointers[2] = sum.data(), args.pointers[3] = squares.data();
  args.sizes[0] = columns;
  const std::string what = label("standardized", rows, columns, shift ? "misaligned" : "");
  launch<standardized<T>, -1>(what, args);
  std::vector<double> sums(rows), deviations(rows);
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto value = [&](std::int64_t j) { return number(a[i * columns + j]); };
    sums[i] = fold<ops::sum>(columns, value), deviations[i] = fold<ops::m2>(columns, value);
  }
  const auto expected = [&](std::size_t k) {
    const std::size_t i = k / columns;
    return (number(a[k]) - sums[i] / columns) / std::sqrt(deviations[i] / columns);
  };
  check_close(what, out.host(), expected, 4 * step_of<T>() + 2e-5, 4 * step_of<T>() + 2e-5);
  check_close(
      what + ", sums", sum.host(), [&](std::size_t i) { return sums[i]; }, 1e-5, 1e-2);
  check_close(
      what + ", squares", squares.host(), [&](std::size_t i) { return deviations[i]; }, 2e-5, 1e-3);
  out.check_guards(what), sum.check_guards(what), squares.check_guards(what);
}

}  // namespace

TEST_CASE("rows far from zero and rows that are infinite") {
  for (const std::int64_t rows : {2, 37})
    for (const std::int64_t columns : {3, 33, 100, 257, 1001, 2047, 3001, 12289})
      for (const std::size_t shift : {0, 1}) {
        test_standardized<float>(rows, columns, shift);
        test_standardized<bf16>(rows, columns, shift);
        test_standardized<f16>(rows, columns, shift);
      }
}

TEST_CASE("staged rows of every alignment") {
  for (const std::int64_t rows : {1, 2, 5, 133})
    for (std::size_t shift = 0; shift < 8; ++shift)
      for (const std::int64_t columns : {257, 258, 509, 1024, 2049, 2303, 4097}) {
        test_softmax<bf16, softmax<bf16, d0>, -1>("softmax bf16", rows, columns, shift, shift);
        if (shift < 4) test_softmax<float, softmax<float, d0>, -1>("softmax f32", rows, columns, shift, 3 - shift);
      }
}

TEST_CASE("staged rows that lie differently") {
  for (const std::int64_t columns : {300, 1001, 3001}) {
    test_softmax<bf16, softmax<bf16, d0>, -1>("softmax bf16", 7, columns, 3, 5);
    test_softmax<f16, softmax<f16, d0>, -1>("softmax f16", 7, columns, 2, 5);
  }
}

TEST_CASE("staged rows of several types") {
  for (const std::int64_t rows : {1, 9, 129})
    for (const std::int64_t columns : {259, 1001, 5003, 10007, 40009})
      for (const std::size_t shift : {0, 1, 2}) test_sum_of_two(rows, columns, shift);
}

TEST_CASE("staged rows that do not stay whole") {
  for (const std::int64_t rows : {1, 3, 140}) {
    for (const std::int64_t columns : {50257, 57345, 65535, 65537, 120001}) {
      test_softmax<bf16, softmax<bf16, d0>, -1>("softmax bf16", rows, columns, 1, 1);
      test_fold<ops::argmax, bf16, std::int64_t, d0, -1>("argmax bf16", rows, columns, 0, 0);
      test_fold<ops::m2, f16, float, d0, -1>("m2 f16", rows, columns, 1e-4, 1e-5);
    }
    test_softmax<float, softmax<float, d0>, -1>("softmax f32", rows, 65537);
    test_layer_norm<bf16, bf16, layer_norm<bf16, bf16, d0>, -1>("layer norm bf16", rows, 65537);
    test_layer_norm<float, float, layer_norm<float, float, d0>, -1>("layer norm f32", rows, 50257);
  }
}

TEST_CASE("long rows of whole vectors") {
  for (const std::int64_t rows : {1, 3, 131})
    for (const std::int64_t columns :
         {8192, 12296, 16384, 16392, 20000, 28672, 32768, 32776, 40000, 50264, 56824, 65544})
      for (const bool in_place : {false, true}) {
        if (rows > 3 && columns > 20000 && in_place) continue;
        test_softmax_of_views<bf16>(rows, columns, columns + (in_place ? 8 : 0), 0, in_place);
        test_softmax_of_views<float>(rows, columns, columns + (in_place ? 4 : 0), 0, in_place);
      }
  for (const std::int64_t columns : {16392, 20000, 32776, 50264}) {
    test_layer_norm<bf16, bf16, layer_norm<bf16, bf16, d0>, -1>("layer norm bf16", 130, columns);
    test_layer_norm<float, float, layer_norm<float, float, d0>, -1>("layer norm f32", 130, columns);
    test_fold<ops::argmax, bf16, std::int64_t, d0, -1>("argmax bf16", 130, columns, 0, 0);
    test_fold<ops::m2, f16, float, d0, -1>("m2 f16", 130, columns, 1e-4, 1e-5);
    test_sum_of_two(130, columns, 0);
  }
}

TEST_CASE("long rows of static length, more than there are blocks") {
  for (const std::int64_t rows : {255, 256, 265, 300, 529}) {
    test_softmax<bf16, softmax<bf16, 65536>, 65536>("softmax bf16", rows, 65536);
    test_layer_norm<bf16, bf16, layer_norm<bf16, bf16, 65536>, 65536>("layer norm bf16", rows, 65536);
  }
  test_softmax<float, softmax<float, 32768>, 32768>("softmax f32", 700, 32768);
  test_layer_norm<bf16, bf16, layer_norm<bf16, bf16, d0>, -1>("layer norm bf16", 700, 40000);
}

TEST_CASE("long rows of any alignment, more than there are blocks") {
  for (const std::int64_t rows : {264, 265, 300})
    for (const std::int64_t columns : {65531, 65536, 65537})
      test_softmax<bf16, softmax<bf16, d0>, -1>("softmax bf16", rows, columns, 1, 1);
  test_softmax<float, softmax<float, d0>, -1>("softmax f32", 410, 30522, 1, 1);
  test_softmax<float, softmax<float, d0>, -1>("softmax f32", 270, 50257);
  for (const std::size_t shift : {0, 1, 5}) {
    test_layer_norm<bf16, bf16, layer_norm<bf16, bf16, d0>, -1>("layer norm bf16", 270, 65537, shift, shift / 5);
    test_layer_norm<bf16, float, layer_norm<bf16, float, d0>, -1>("layer norm bf16, f32", 270, 60003, shift);
    test_layer_norm<bf16, bf16, layer_norm<bf16, bf16, d0>, -1>("layer norm bf16", 270, 65537, 3, shift, shift);
    test_layer_norm<float, float, layer_norm<float, float, d0>, -1>("layer norm f32", 270, 30522, shift % 4, shift % 3,
                                                                    shift % 3);
  }
}

TEST_CASE("few long rows, which blocks share") {
  for (const auto& [rows, columns] : {std::pair{1, 1000003}, {2, 600000}, {5, 262144}, {16, 100003}, {100, 40009}}) {
    test_softmax<float, softmax<float, d0>, -1>("softmax f32", rows, columns);
    test_softmax<bf16, softmax<bf16, d0>, -1>("softmax bf16", rows, columns, 1, 1);
    test_layer_norm<bf16, bf16, layer_norm<bf16, bf16, d0>, -1>("layer norm bf16", rows, columns);
  }
}

TEST_CASE("staged rows of views and in place") {
  for (const bool in_place : {false, true})
    for (const std::int64_t columns : {263, 1001, 3333, 65537}) {
      test_softmax_of_views<bf16>(5, columns, columns, 1, in_place);
      test_softmax_of_views<bf16>(5, columns, columns + 3, 0, in_place);
      test_softmax_of_views<float>(5, columns, columns + 2, 3, in_place);
    }
}

TEST_CASE("staged rows with weights") {
  for (const std::int64_t rows : {1, 2, 3, 4, 5, 6, 130})
    for (const std::int64_t columns : {769, 1025, 2047, 3001, 12289, 28001}) {
      const auto shift = static_cast<std::size_t>(rows % 4);
      test_layer_norm<bf16, bf16, layer_norm<bf16, bf16, d0>, -1>("layer norm bf16", rows, columns, shift, 1);
      test_layer_norm<bf16, bf16, layer_norm<bf16, bf16, d0>, -1>("layer norm bf16", rows, columns, shift, 2, 4);
      test_layer_norm<bf16, float, layer_norm<bf16, float, d0>, -1>("layer norm bf16, f32", rows, columns, 3, 0, shift);
      test_layer_norm<float, float, layer_norm<float, float, d0>, -1>("layer norm f32", rows, columns, shift);
    }
}

TEST_CASE("staged rows of static length") {
  for (const std::int64_t rows : {1, 9, 129}) {
    test_softmax<bf16, softmax<bf16, 3001>, 3001>("softmax bf16", rows, 3001, 1, 1);
    test_softmax<float, softmax<float, 10007>, 10007>("softmax f32", rows, 10007, 2, 1);
    test_layer_norm<bf16, bf16, layer_norm<bf16, bf16, 50257>, 50257>("layer norm bf16", rows, 50257);
    test_layer_norm<float, float, layer_norm<float, float, 50257>, 50257>("layer norm f32", rows, 50257);
  }
}
