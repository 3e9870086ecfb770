// Bodies over rows, written by hand, with what they must give: softmax, layer norm, one-phase folds.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <limits>

#include "sinter/kernels/cuda/reduction/launch.cuh"
#include "test_kernels_support.cuh"

namespace kernel_tests {

template <class Body, long StaticRnumel = -1, class Args>
void launch(const std::string& what, const Args& args) {
  run_with_memory(what, reduction_workspace<Body, orientation::row>(args.numel, args.rnumel), [&](auto& memory) {
    cuda::reduction<Body, orientation::row, StaticRnumel>(args, memory, nullptr, "per_test");
  });
}

// ---- softmax
// ------------------------------------------------------------------------------------------------------------

template <class T, class From, class To = From>
using softmax_at =
    body<load<0, T, From>, reduce<ops::amax, T, compute_t<T>, 0>, compute<ops::sub, compute_t<T>, compute_t<T>, 0, 1>,
         compute<ops::exp, compute_t<T>, compute_t<T>, 2>, reduce<ops::sum, compute_t<T>, compute_t<T>, 3>,
         compute<ops::div, compute_t<T>, compute_t<T>, 3, 4>, store<1, T, 5, To>>;
template <class T, long C>
using softmax = softmax_at<T, at_row<C>>;

template <class T, class Body, long StaticRnumel>
void test_softmax(const char* name, std::int64_t rows, std::int64_t columns, std::size_t shift = 0,
                  std::size_t shift_out = 0, std::int64_t apart = 1) {
  if (!is_sampled()) return;
  const auto a = numbers<T>(rows * columns, 1);
  std::vector<T> given(apart * rows * columns, T(0));  // what is read lies `apart`
  for (std::size_t k = 0; k < a.size(); ++k) given[apart * k] = a[k];
  device_array<T> da(given, shift), out(rows * columns, shift_out);
  auto args = make_args<2, 0, 2>(rows, columns);
  args.pointers[0] = da.data(), args.pointers[1] = out.data();
  args.sizes[0] = columns, args.sizes[1] = apart * columns;
  const std::string what = label(name, rows, columns, shift || shift_out ? "misaligned" : "");
  launch<Body, StaticRnumel>(what, args);
  std::vector<double> most(rows, -1e300), sums(rows, 0.0);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) most[i] = std::max(most[i], number(a[i * columns + j]));
    for (std::int64_t j = 0; j < columns; ++j) sums[i] += std::exp(number(a[i * columns + j]) - most[i]);
  }
  check_close(
      what, out.host(), [&](std::size_t k) { return std::exp(number(a[k]) - most[k / columns]) / sums[k / columns]; },
      4 * step_of<T>() + (sizeof(T) < 8 ? 2e-6 : 1e-12), std::is_same_v<T, f16> ? 0x1p-24 : 1e-30);
  out.check_guards(what);
}

// ---- layer norm: three phases, weights along r
// -------------------------------------------------------------------------

/// (x - mean) * rsqrt(var + eps) * w + b, and the mean; scalar 0 is 1 / C, scalar 1 eps.
template <class T, class W, long C>
using layer_norm = body<load<0, T, at_row<C>>, scalar<0, float>, scalar<1, float>, reduce<ops::sum, T, float, 0>,
                        compute<ops::mul, float, float, 3, 1>, compute<ops::sub, float, float, 0, 4>,
                        compute<ops::mul, float, float, 5, 5>, reduce<ops::sum, float, float, 6>,
                        compute<ops::mul, float, float, 7, 1>, compute<ops::add, float, float, 8, 2>,
                        compute<ops::rsqrt, float, float, 9>, compute<ops::mul, float, float, 5, 10>, load<1, W, at_r>,
                        load<2, W, at_r>, compute<ops::mul, float, float, 11, 12>,
                        compute<ops::add, float, float, 14, 13>, store<3, T, 15, at_row<C>>, store<4, float, 4, at_x>>;

template <class T, class W, class Body, long StaticRnumel>
void test_layer_norm(const char* name, std::int64_t rows, std::int64_t columns, std::size_t shift = 0,
                     std::size_t shift_weight = 0, std::size_t shift_bias = 0) {
  if (!is_sampled()) return;
  const auto a = numbers<T>(rows * columns, 1);
  const auto w = numbers<W>(columns, 2), b = numbers<W>(columns, 3);
  device_array<T> da(a, shift), out(rows * columns, shift);
  device_array<W> dw(w, shift_weight), db(b, shift_bias);
  device_array<float> mean_out(rows);
  auto args = make_args<5, 2, 1>(rows, columns);
  args.pointers[0] = da.data(), args.pointers[1] = dw.data(), args.pointers[2] = db.data();
  args.pointers[3] = out.data(), args.pointers[4] = mean_out.data();
  args.scalars[0] = {1.0 / static_cast<double>(columns), 0}, args.scalars[1] = {1e-5, 0};
  args.sizes[0] = columns;
  const std::string what = label(name, rows, columns, shift || shift_weight || shift_bias ? "misaligned" : "");
  launch<Body, StaticRnumel>(what, args);
  std::vector<double> mean(rows, 0.0), scale(rows, 0.0);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) mean[i] += number(a[i * columns + j]) / columns;
    for (std::int64_t j = 0; j < columns; ++j) scale[i] += std::pow(number(a[i * columns + j]) - mean[i], 2) / columns;
    scale[i] = 1 / std::sqrt(scale[i] + 1e-5);
  }
  check_close(
      what, out.host(),
      [&](std::size_t k) {
        return (number(a[k]) - mean[k / columns]) * scale[k / columns] * number(w[k % columns]) +
               number(b[k % columns]);
      },
      4 * step_of<T>() + 1e-5, 4 * step_of<T>() + (columns == 1 ? 1e-3 : 1e-5));
  check_close(
      what + " mean", mean_out.host(), [&](std::size_t i) { return mean[i]; }, 1e-5, 1e-6);
  out.check_guards(what), mean_out.check_guards(what);
}

/// (x - mean) * rsqrt(var + eps) * w + w, whose mean and variance are one fold, and the mean; scalar 0 is 1 / C, scalar
/// 1 eps.
template <class T, class W, long C, class F = compute_t<T>>
using moments = body<load<0, T, at_row<C>>, scalar<0, F>, scalar<1, F>, reduce<ops::sum, T, F, 0>,
                     reduce<ops::m2, T, F, 0>, compute<ops::mul, F, F, 3, 1>, compute<ops::mul, F, F, 4, 1>,
                     compute<ops::add, F, F, 6, 2>, compute<ops::rsqrt, F, F, 7>, compute<ops::sub, F, F, 0, 5>,
                     compute<ops::mul, F, F, 9, 8>, load<1, W, at_r>, load<1, W, at_r>, compute<ops::mul, F, F, 10, 11>,
                     compute<ops::add, F, F, 13, 12>, store<2, T, 14, at_row<C>>, store<3, F, 5, at_x>>;
/// Values around `middle`; every seventh row begins far from the others, another has an infinite value.
template <class Body, class T, class W, long C>
void test_moments(std::int64_t rows, std::int64_t columns, std::size_t shift, std::size_t shift_weight, float middle) {
  if (!is_sampled()) return;
  auto a = numbers<T>(rows * columns, 1);
  for (auto& x : a) x = narrow<T>(widen(x) + middle);
  for (std::int64_t i = 0; i + 1 < rows; i += 7) {
    a[i * columns] = narrow<T>(compute_t<T>(middle + 4000));
    a[(i + 1) * columns + i % columns] = narrow<T>(std::numeric_limits<compute_t<T>>::infinity());
  }
  const auto w = numbers<W>(columns, 2);
  device_array<T> da(a, shift), out(rows * columns, shift);
  device_array<W> dw(w, shift_weight);
  device_array<compute_t<T>> mean_out(rows);
  auto args = make_args<4, 2, 1>(rows, columns);
  args.pointers[0] = da.data(), args.pointers[1] = dw.data(), args.pointers[2] = out.data();
  args.pointers[3] = mean_out.data();
  args.scalars[0] = {1.0 / static_cast<double>(columns), 0}, args.scalars[1] = {1e-5, 0};
  args.sizes[0] = columns;
  const std::string what = label("moments", rows, columns);
  launch<Body, is_dynamic(C) ? -1 : C>(what, args);
  std::vector<double> mean(rows, 0.0), var(rows, 0.0);
  for (std::int64_t k = 0; k < rows * columns; ++k) mean[k / columns] += number(a[k]) / static_cast<double>(columns);
  for (std::int64_t k = 0; k < rows * columns; ++k) {
    const double d = number(a[k]) - mean[k / columns];
    var[k / columns] += d * d / static_cast<double>(columns);
  }
  check_close(
      what, out.host(),
      [&](std::size_t k) {
        const std::size_t i = k / columns;
        return ((number(a[k]) - mean[i]) / std::sqrt(var[i] + 1e-5) + 1) * number(w[k % columns]);
      },
      2 * step_of<T>() + 2e-5, 2e-4 * (1 + middle / 100));
  check_close(
      what + ", mean", mean_out.host(), [&](std::size_t i) { return mean[i]; }, 1e-6, 1e-5);
  out.check_guards(what), mean_out.check_guards(what);
}

// ---- one-phase reductions over rows
// -------------------------------------------------------------------------------------

template <class Op, class T, class Result, long C>
using fold_rows = body<load<0, T, at_row<C>>, reduce<Op, T, Result, 0>, store<1, Result, 1, at_x>>;

template <class Op, class T, class Result, long C, long StaticRnumel, class Stored = T, class StoredResult = Result>
void test_fold(const char* name, std::int64_t rows, std::int64_t columns, double relative, double absolute,
               std::size_t shift = 0) {
  if (!is_sampled()) return;
  const auto a = numbers<Stored>(rows * columns, 1);
  device_array<Stored> da(a, shift);
  device_array<StoredResult> out(rows);
  auto args = make_args<2, 0, 1>(rows, columns);
  args.pointers[0] = da.data(), args.pointers[1] = out.data();
  args.sizes[0] = columns;
  const std::string what = label(name, rows, columns, shift ? "misaligned" : "");
  launch<fold_rows<Op, T, Result, C>, StaticRnumel>(what, args);
  check_close(
      what, out.host(),
      [&](std::size_t i) { return fold<Op>(columns, [&](std::int64_t j) { return number(a[i * columns + j]); }); },
      relative, absolute);
  out.check_guards(what);
}

/// Where the first of several equal greatest values is, and the first NaN.
template <class T, long C = d0, long StaticRnumel = -1>
void test_ties(std::int64_t rows, std::int64_t columns, std::size_t shift, bool nans) {
  if (!is_sampled()) return;
  std::vector<T> a(rows * columns, narrow<T>(1.f));
  std::vector<std::int64_t> first(rows);
  for (std::int64_t i = 0; i < rows; ++i) {
    first[i] = (i * 977 + 5) % columns;
    for (std::int64_t j = first[i]; j < columns; j += 1 + i % 37)
      a[i * columns + j] = narrow<T>(nans ? std::nanf("") : 2.f);
    if (nans && first[i] > 0) a[i * columns] = narrow<T>(3.f);  // a NaN is more than it
  }
  device_array<T> da(a, shift);
  device_array<std::int64_t> out(rows);
  auto args = make_args<2, 0, 1>(rows, columns);
  args.pointers[0] = da.data(), args.pointers[1] = out.data();
  args.sizes[0] = columns;
  const std::string what = label(nans ? "first NaN" : "first of equals", rows, columns);
  launch<fold_rows<ops::argmax, T, std::int64_t, C>, StaticRnumel>(what, args);
  check_close(
      what, out.host(), [&](std::size_t i) { return first[i]; }, 0, 0);
}

}  // namespace kernel_tests
