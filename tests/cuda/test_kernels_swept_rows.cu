// Rows of bodies of one phase, wherever they begin, against plain loops in double.
// SPDX-License-Identifier: BSL-1.0
#include "test_kernels_rows.cuh"

using namespace kernel_tests;

namespace {

/// Sums over a row of a * w, and of a at a place that another tensor has; scalar row stores in between.
template <class T, class W>
using weighted =
    body<load<0, T, at_row<d0>>, load<1, W, at_r>, compute<ops::mul, float, float, 0, 1>,
         reduce<ops::sum, float, float, 2>, load<2, std::int64_t, at_x>, gather_load<0, T, at<0, x_term<d0>>, 4, 1, d0>,
         compute<ops::sub, float, float, 3, 5>, store<3, float, 6, at_x>>;

template <class T, class W>
void test_weighted(const char* name, std::int64_t rows, std::int64_t columns, std::size_t shift,
                   std::size_t shift_weight) {
  if (!is_sampled()) return;
  const auto a = numbers<T>(rows * columns, 1);
  const auto w = numbers<W>(columns, 2);
  std::vector<std::int64_t> places(rows);
  for (std::int64_t i = 0; i < rows; ++i) places[i] = i * 7919 % columns;
  device_array<T> da(a, shift);
  device_array<W> dw(w, shift_weight);
  device_array<std::int64_t> at(places);
  device_array<float> out(rows);
  auto args = make_args<4, 0, 1>(rows, columns);
  args.pointers[0] = da.data(), args.pointers[1] = dw.data(), args.pointers[2] = at.data();
  args.pointers[3] = out.data();
  args.sizes[0] = columns;
  const std::string what = label(name, rows, columns);
  launch<weighted<T, W>>(what, args);
  check_close(
      what, out.host(),
      [&](std::size_t i) {
        double sum = 0;
        for (std::int64_t j = 0; j < columns; ++j) sum += number(a[i * columns + j]) * number(w[j]);
        return sum - number(a[i * columns + places[i]]);
      },
      1e-5, 2e-6 * static_cast<double>(columns));
  out.check_guards(what);
}

/// log(sum(exp(a))), and the greatest: two reductions of one phase.
template <class T>
using log_sum = body<load<0, T, at_row<d0>>, reduce<ops::logsumexp, T, float, 0>, store<1, float, 1, at_x>,
                     reduce<ops::amax, T, float, 0>, store<2, float, 3, at_x>>;

template <class T>
void test_log_sum(const char* name, std::int64_t rows, std::int64_t columns, std::size_t shift) {
  if (!is_sampled()) return;
  auto a = numbers<T>(rows * columns, 1);
  for (auto& v : a) v = narrow<T>(static_cast<compute_t<T>>(10 * number(v)));
  device_array<T> da(a, shift);
  device_array<float> out(rows), most(rows);
  auto args = make_args<3, 0, 1>(rows, columns);
  args.pointers[0] = da.data(), args.pointers[1] = out.data(), args.pointers[2] = most.data();
  args.sizes[0] = columns;
  const std::string what = label(name, rows, columns);
  launch<log_sum<T>>(what, args);
  std::vector<double> greatest(rows, -1e300);
  for (std::int64_t k = 0; k < rows * columns; ++k)
    greatest[k / columns] = std::max(greatest[k / columns], number(a[k]));
  check_close(
      what, out.host(),
      [&](std::size_t i) {
        double sum = 0;
        for (std::int64_t j = 0; j < columns; ++j) sum += std::exp(number(a[i * columns + j]) - greatest[i]);
        return greatest[i] + std::log(sum);
      },
      1e-6, 1e-6);
  check_close(
      what + ", greatest", most.host(), [&](std::size_t i) { return greatest[i]; }, 0, 0);
  out.check_guards(what), most.check_guards(what);
}

/// Rows far from zero, whose deviations are small beside their mean; of every other one the first is far from the rest.
template <class T>
void test_deviations(std::int64_t rows, std::int64_t columns, std::size_t shift) {
  if (!is_sampled()) return;
  auto a = numbers<T>(rows * columns, 1);
  for (auto& v : a) v = narrow<T>(static_cast<compute_t<T>>(64 + number(v)));
  for (std::int64_t i = 1; i < rows; i += 2) a[i * columns] = narrow<T>(static_cast<compute_t<T>>(-1024));
  std::vector<double> mean(rows, 0.0), squares(rows, 0.0);
  for (std::int64_t k = 0; k < rows * columns; ++k) mean[k / columns] += number(a[k]) / static_cast<double>(columns);
  for (std::int64_t k = 0; k < rows * columns; ++k) {
    const double d = number(a[k]) - mean[k / columns];
    squares[k / columns] += d * d;
  }
  device_array<T> da(a, shift);
  device_array<float> out(rows);
  auto args = make_args<2, 0, 1>(rows, columns);
  args.pointers[0] = da.data(), args.pointers[1] = out.data();
  args.sizes[0] = columns;
  const std::string what = label("deviations", rows, columns);
  launch<fold_rows<ops::m2, T, float, d0>>(what, args);
  check_close(
      what, out.host(), [&](std::size_t i) { return squares[i]; }, 2e-5, 1e-6);
}

/// Rows of nothing but -inf, with +inf, with -inf among numbers, with a NaN, in turn.
template <class T>
void test_infinities(std::int64_t rows, std::int64_t columns, std::size_t shift) {
  if (!is_sampled()) return;
  const float inf = INFINITY;
  std::vector<T> a(rows * columns);
  for (std::int64_t k = 0; k < rows * columns; ++k) {
    const std::int64_t i = k / columns, j = k % columns;
    const float few = i % 4 == 1 ? inf : i % 4 == 2 ? 1.f : std::nanf("");
    a[k] = narrow<T>(i % 4 != 0 && j == i * 31 % columns ? few : -inf);
  }
  device_array<T> da(a, shift);
  device_array<float> out(rows), most(rows);
  auto args = make_args<3, 0, 1>(rows, columns);
  args.pointers[0] = da.data(), args.pointers[1] = out.data(), args.pointers[2] = most.data();
  args.sizes[0] = columns;
  const std::string what = label("infinities", rows, columns);
  launch<log_sum<T>>(what, args);
  const auto expected = [&](std::size_t i) {
    return i % 4 == 0 ? -inf : i % 4 == 1 ? inf : i % 4 == 2 ? 1.f : std::nanf("");
  };
  check_close(what, out.host(), expected, 1e-6, 0);
  check_close(what + ", greatest", most.host(), expected, 0, 0);
}

constexpr std::int64_t lengths[] = {1, 7, 301, 513, 1001, 1101, 1153, 2303, 8003, 10007, 32767, 32768, 32771, 40009};

}  // namespace

TEST_CASE("swept rows of every alignment") {
  for (const std::int64_t rows : {1, 2, 5, 133, 1601})
    for (const std::int64_t columns : lengths)
      for (std::size_t shift = 0; shift < 8; ++shift) {
        if (rows > 5 && columns > 1100 && shift != 3) continue;
        if (rows * columns > 2'000'000) continue;
        test_fold<ops::sum, bf16, float, d0, -1>("sum bf16", rows, columns, 1e-5, 1e-6 * columns, shift);
        test_fold<ops::argmax, bf16, std::int64_t, d0, -1>("argmax bf16", rows, columns, 0, 0, shift);
        test_fold<ops::m2, f16, float, d0, -1>("m2 f16", rows, columns, 1e-4, 1e-5, shift);
        if (shift >= 4) continue;
        test_fold<ops::argmin, float, std::int64_t, d0, -1>("argmin f32", rows, columns, 0, 0, shift);
        test_fold<ops::m2, float, float, d0, -1>("m2 f32", rows, columns, 1e-5, 1e-5, shift);
        test_log_sum<bf16>("log-sum-exp bf16", rows, columns, shift);
        test_log_sum<float>("log-sum-exp f32", rows, columns, shift);
      }
}

TEST_CASE("swept rows beside what all of them share") {
  for (const std::int64_t rows : {1, 3, 140})
    for (const std::int64_t columns : lengths)
      for (const std::size_t shift : {0, 1, 5})
        for (const std::size_t shift_weight : {0, 1, 3}) {
          test_weighted<bf16, bf16>("weighted bf16", rows, columns, shift, shift_weight);
          test_weighted<float, float>("weighted f32", rows, columns, shift % 4, shift_weight);
          test_weighted<bf16, float>("weighted bf16 by f32", rows, columns, shift, shift_weight);
        }
}

TEST_CASE("long rows in parts") {
  for (const std::int64_t rows : {1, 2, 65, 133, 263, 265})
    for (const std::int64_t columns : {16384, 65537, 500003}) {
      if (rows * columns > 10'000'000) continue;
      test_fold<ops::sum, bf16, float, d0, -1>("sum bf16", rows, columns, 1e-5, 1e-6 * columns, 1);
      test_fold<ops::argmax, bf16, std::int64_t, d0, -1>("argmax bf16", rows, columns, 0, 0, 3);
      test_fold<ops::m2, float, float, d0, -1>("m2 f32", rows, columns, 1e-5, 1e-5, 2);
      test_weighted<bf16, bf16>("weighted bf16", rows, columns, 1, 2);
      test_log_sum<bf16>("log-sum-exp bf16", rows, columns, 1);
    }
}

TEST_CASE("the first of several wins") {
  for (const std::int64_t rows : {1, 150})
    for (const std::int64_t columns : {5, 600, 1001, 5003, 65537})
      for (const bool nans : {false, true}) {
        test_ties<bf16>(rows, columns, 1, nans);
        test_ties<f16>(rows, columns, 4, nans);
        test_ties<float>(rows, columns, 3, nans);
      }
}

TEST_CASE("folds of numbers that are hard to fold") {
  for (const std::int64_t rows : {8, 150})
    for (const std::int64_t columns : {5, 600, 1001, 5003, 40009})
      for (const std::size_t shift : {0, 3}) {
        if (rows * columns > 1'000'000) continue;
        test_deviations<bf16>(rows, columns, shift);
        test_deviations<float>(rows, columns, shift);
        test_infinities<f16>(rows, columns, shift);
        test_infinities<float>(rows, columns, shift);
      }
}

TEST_CASE("swept rows of other types") {
  for (const std::int64_t rows : {1, 41})
    for (const std::int64_t columns : {1, 130, 1027, 20011}) {
      test_fold<ops::sum, double, double, d0, -1>("sum f64", rows, columns, 1e-12, 1e-12 * columns, 1);
      test_fold<ops::sum, std::int32_t, std::int64_t, d0, -1>("sum i32", rows, columns, 0, 0, 3);
      test_fold<ops::any, bool, bool, d0, -1, boolean, boolean>("any", rows, columns, 0, 0, 5);
      test_fold<ops::amin, std::int32_t, std::int32_t, d0, -1>("amin i32", rows, columns, 0, 0, 1);
    }
}
