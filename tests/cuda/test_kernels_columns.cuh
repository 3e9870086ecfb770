// A norm of columns in place, written by hand, with what it must give.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>

#include "sinter/kernels/cuda/reduction/launch.cuh"
#include "test_kernels_support.cuh"

namespace kernel_tests {

/// (x - mean) * rsqrt(m2 / rows + 1e-5) * weight[r] + bias[x] over what lies At, the greatest of each column, and More,
/// whose first statement is number 18.
template <class T, class At, class... More>
using norm_at =
    body<load<0, T, At>, reduce<ops::m2, T, float, 0>, reduce<ops::sum, T, float, 0>,
         reduce<ops::amax, T, float, 0>, store<3, float, 3, at_x>, row_length<float>,
         compute<ops::div, float, float, 2, 5>, compute<ops::div, float, float, 1, 5>,
         constant<float, __builtin_bit_cast(long, 1e-5)>, compute<ops::add, float, float, 7, 8>,
         compute<ops::rsqrt, float, float, 9>, compute<ops::sub, float, float, 0, 6>,
         compute<ops::mul, float, float, 11, 10>, load<1, float, at_r>, compute<ops::mul, float, float, 12, 13>,
         load<2, float, at_x>, compute<ops::add, float, float, 14, 15>, store<0, T, 16, At>, More...>;
template <class T, class... More>
using norm_in_place = norm_at<T, at_column<d0>, More...>;

/// The same every time. launch(what, args) runs it, with `place` as pointer 4; false: it does not. Returns the values
/// it was given; none: it was not run.
template <class T, class Launch>
std::vector<T> test_norm_in_place(const char* name, std::int64_t columns, std::int64_t rows, std::size_t shift,
                                  std::int64_t* place, const Launch& launch) {
  const auto a = numbers<T>(rows * columns, 1);
  const auto weight = numbers<float>(rows, 2), bias = numbers<float>(columns, 3);
  device_array<float> dw(weight), db(bias), most(columns);
  auto args = make_args<5, 0, 1>(columns, rows);
  args.pointers[1] = dw.data(), args.pointers[2] = db.data(), args.pointers[3] = most.data();
  args.pointers[4] = place, args.sizes[0] = columns;
  const std::string what = label(name, rows, columns, shift ? "misaligned" : "");
  std::vector<T> first;
  for (int repeat = 0; repeat < 3; ++repeat) {
    device_array<T> data(a, shift);
    args.pointers[0] = data.data();
    if (!launch(what, args)) return {};
    data.check_guards(what);
    const auto now = data.host();
    if (repeat == 0) first = now;
    else
      check_close(
          what + " again", now, [&](std::size_t k) { return number(first[k]); }, 0, 0);
  }
  std::vector<double> mean(columns, 0.0), squares(columns, 0.0), greatest(columns, -1e300);
  for (std::size_t k = 0; k < a.size(); ++k) mean[k % columns] += number(a[k]) / static_cast<double>(rows);
  for (std::size_t k = 0; k < a.size(); ++k) {
    squares[k % columns] += std::pow(number(a[k]) - mean[k % columns], 2);
    greatest[k % columns] = std::max(greatest[k % columns], number(a[k]));
  }
  check_close(
      what, first,
      [&](std::size_t k) {
        const std::size_t x = k % columns;
        const double scale = 1 / std::sqrt(squares[x] / static_cast<double>(rows) + 1e-5);
        return (number(a[k]) - mean[x]) * scale * weight[k / columns] + bias[x];
      },
      step_of<T>(), 2e-5);
  check_close(
      what + " greatest", most.host(), [&](std::size_t x) { return greatest[x]; }, 0, 0);
  most.check_guards(what);
  return a;
}

}  // namespace kernel_tests
