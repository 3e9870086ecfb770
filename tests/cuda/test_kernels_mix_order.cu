// Mix-order reductions over bodies written by hand, against plain loops in double: static and run-time extents, odd
// widths, misaligned pointers, rows in registers and in tiles, empty extents, every block's share.
// SPDX-License-Identifier: BSL-1.0
#include "test_kernels_support.cuh"

#include <algorithm>

#include "sinter/kernels/cuda/reduction/mix_order/mix_order_launch.cuh"

using namespace kernel_tests;

namespace {

// The row part's x is the row, the column part's x the column, of one row-major [rows, C].
template <class Row, class Column, long StaticColumns = -1, class Args>
void launch(const std::string& what, const Args& args) {
  run_with_memory(what, mix_order_workspace<Row, Column>(args.numel, args.rnumel), [&](auto& memory) {
    cuda::mix_order<Row, Column, StaticColumns>(args, memory, nullptr, "per_test");
  });
}

const std::int64_t row_counts[] = {0, 1, 3, 16, 17, 1000, 9001};
const std::int64_t column_counts[] = {1, 2, 7, 8, 31, 33, 100, 256, 768, 1000, 2048, 4097, 16384, 40000};

// ---- sums over both axes
// --------------------------------------------------------------------------------------------------

template <class T, long C>
using row_sum = body<load<0, T, at_row<C>>, reduce<ops::sum, T, float, 0>, store<1, float, 1, at_x>>;
template <class T, long C>
using column_sum = body<load<0, T, at_column<C>>, reduce<ops::sum, T, float, 0>, load<3, float, at_x>,
                        compute<ops::add, float, float, 1, 2>, store<2, float, 3, at_x>>;

template <class T, long C, long StaticColumns>
void test_sums(const char* name, std::int64_t rows, std::int64_t columns, std::size_t shift = 0) {
  if (!is_sampled()) return;
  const auto a = numbers<T>(rows * columns, 1);
  const auto bias = numbers<float>(columns, 2);
  device_array<T> da(a, shift);
  device_array<float> db(bias), of_rows(rows), of_columns(columns);
  auto args = make_args<4, 0, 1>(rows, columns);
  args.pointers[0] = da.data(), args.pointers[1] = of_rows.data(), args.pointers[2] = of_columns.data();
  args.pointers[3] = db.data(), args.sizes[0] = columns;
  const std::string what = label(name, rows, columns, shift ? "misaligned" : "");
  launch<row_sum<T, C>, column_sum<T, C>, StaticColumns>(what, args);

  std::vector<double> rows_want(rows, 0.0), columns_want(columns, 0.0);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      const double v = number(a[i * columns + j]);
      rows_want[i] += v, columns_want[j] += v;
    }
  check_close(
      what + " rows", of_rows.host(), [&](std::size_t i) { return rows_want[i]; }, 1e-5, 1e-6 * columns);
  check_close(
      what + " columns", of_columns.host(), [&](std::size_t j) { return columns_want[j] + bias[j]; }, 1e-5,
      1e-6 * rows + 1e-6);
  of_rows.check_guards(what), of_columns.check_guards(what);
}

}  // namespace

TEST_CASE("mix-order: sums over both axes") {
  for (const std::int64_t columns : column_counts)
    for (const std::int64_t rows : row_counts) {
      if (columns * rows > 8000000) continue;
      test_sums<float, d0, -1>("sums f32, dynamic", rows, columns);
      test_sums<bf16, d0, -1>("sums bf16, dynamic", rows, columns);
      if (rows < 20) test_sums<bf16, d0, -1>("sums bf16, dynamic", rows, columns, 1);
    }
  test_sums<float, d0, -1>("sums f32, dynamic", 10, 0);
  test_sums<float, d0, -1>("sums f32, dynamic", 0, 0);
  test_sums<float, d0, -1>("sums f32, dynamic", 300000, 4);
  test_sums<bf16, d0, -1>("sums bf16, dynamic", 2000003, 1);
  test_sums<bf16, d0, -1>("sums bf16, dynamic", 1000, 7001, 5);
  test_sums<float, d0, -1>("sums f32, dynamic", 40, 65537, 1);
  [&]<long... C>(std::integer_sequence<long, C...>) {
    ((test_sums<bf16, C, C>("sums bf16, static", 1000, C), test_sums<bf16, C, C>("sums bf16, static", 0, C),
      test_sums<bf16, C, C>("sums bf16, static", 33, C, 3)),
     ...);
  }
  (std::integer_sequence<long, 1, 7, 32, 100, 768, 2048, 16384, 20000>{});
}

// ---- what rows and columns have beside their elements
// --------------------------------------------------------------------------------------

namespace {

// of_rows = scale * sum of a * w, most = greatest of a; of_columns = bias * sum of a * b * scale.
template <class T>
using weighted_rows = body<load<0, T, at_row<d0>>, load<2, float, at_r>, compute<ops::mul, float, float, 0, 1>,
                           reduce<ops::sum, float, float, 2>, reduce<ops::amax, T, T, 0>, load<3, float, at_x>,
                           compute<ops::mul, float, float, 3, 5>, store<4, float, 6, at_x>, store<5, T, 4, at_x>>;
template <class T>
using weighted_columns =
    body<load<0, T, at_column<d0>>, load<1, T, at_column<d0>>, compute<ops::mul, T, float, 0, 1>, load<3, float, at_r>,
         compute<ops::mul, float, float, 2, 3>, reduce<ops::sum, float, float, 4>, load<2, float, at_x>,
         compute<ops::mul, float, float, 5, 6>, store<6, float, 7, at_x>>;

template <class T>
void test_weighted(const char* name, std::int64_t rows, std::int64_t columns, std::size_t shift, std::size_t other) {
  if (!is_sampled()) return;
  const auto a = numbers<T>(rows * columns, 1), b = numbers<T>(rows * columns, 2);
  const auto w = numbers<float>(columns, 3), scale = numbers<float>(rows, 4);
  device_array<T> d_a(a, shift), d_b(b, other), d_most(rows);
  device_array<float> d_w(w, 1), d_scale(scale), of_rows(rows), of_columns(columns);
  auto args = make_args<7, 0, 1>(rows, columns);
  args.pointers[0] = d_a.data(), args.pointers[1] = d_b.data(), args.pointers[2] = d_w.data();
  args.pointers[3] = d_scale.data(), args.pointers[4] = of_rows.data(), args.pointers[5] = d_most.data();
  args.pointers[6] = of_columns.data(), args.sizes[0] = columns;
  const std::string what = label(name, rows, columns, shift ? "misaligned" : "");
  launch<weighted_rows<T>, weighted_columns<T>>(what, args);

  std::vector<double> rows_want(rows, 0.0), most(rows, -1e30), columns_want(columns, 0.0);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      const double v = number(a[i * columns + j]);
      rows_want[i] += v * w[j] * scale[i], columns_want[j] += v * number(b[i * columns + j]) * scale[i] * w[j];
      most[i] = std::max(most[i], v);
    }
  check_close(
      what + " rows", of_rows.host(), [&](std::size_t i) { return rows_want[i]; }, 1e-5, 2e-6 * columns + 1e-6);
  check_close(
      what + " greatest", d_most.host(), [&](std::size_t i) { return most[i]; }, 0, 0);
  check_close(
      what + " columns", of_columns.host(), [&](std::size_t j) { return columns_want[j]; }, 1e-5, 2e-6 * rows + 1e-6);
  of_rows.check_guards(what), d_most.check_guards(what), of_columns.check_guards(what);
}

}  // namespace

TEST_CASE("mix-order: weighted sums, greatest values, two inputs") {
  for (const std::int64_t columns : {1, 3, 9, 64, 249, 1001, 5000, 65537})
    for (const std::int64_t rows : {1, 2, 7, 9, 130, 4001}) {
      if (columns * rows > 6000000) continue;
      test_weighted<float>("weighted f32", rows, columns, 0, 0);
      test_weighted<bf16>("weighted bf16", rows, columns, 0, 0);
      test_weighted<bf16>("weighted bf16", rows, columns, 3, 3);
      if (rows == 130) test_weighted<bf16>("weighted bf16, unlike", rows, columns, 3, 1);
    }
}

// ---- the backward of a normalisation
// --------------------------------------------------------------------------------------

namespace {

// dx = rstd * (dy * w - xhat * mean(dy * w * xhat)), dw = sum of dy * xhat over rows, db = sum of dy over rows.
template <class T, long C>
using backward_rows =
    body<load<0, T, at_row<C>>, load<1, T, at_row<C>>, load<2, float, at_r>, load<3, float, at_x>,
         compute<ops::mul, float, float, 0, 3>, compute<ops::mul, float, float, 1, 2>,
         compute<ops::mul, float, float, 5, 4>, reduce<ops::sum, float, float, 6>, scalar<0, float>,
         compute<ops::mul, float, float, 7, 8>, compute<ops::mul, float, float, 4, 9>,
         compute<ops::sub, float, float, 5, 10>, compute<ops::mul, float, float, 11, 3>, store<4, T, 12, at_row<C>>>;
template <class T, long C>
using backward_columns =
    body<load<0, T, at_column<C>>, load<3, float, at_r>, compute<ops::mul, float, float, 0, 1>,
         load<1, T, at_column<C>>, compute<ops::mul, float, float, 2, 3>, reduce<ops::sum, float, float, 4>,
         store<5, float, 5, at_x>, reduce<ops::sum, T, float, 3>, store<6, T, 7, at_x>>;

// Rows of halves that begin anywhere are walked in vectors, those of floats one by one.
static_assert(cuda::detail::shifted_walk_width<backward_rows<bf16, d0>, backward_columns<bf16, d0>> == 8);
static_assert(cuda::detail::shifted_walkers<backward_rows<bf16, 1001>, backward_columns<bf16, 1001>>(8) >= 512);
static_assert(cuda::detail::shifted_walk_width<backward_rows<float, d0>, backward_columns<float, d0>> == 0);
// Long rows of floats have threads of their own, so that the next one's loads are on their way.
static_assert(cuda::detail::walkers_alone<backward_rows<float, d0>, backward_columns<float, d0>, 4, 2> == 768);

template <class T, long C, long StaticColumns>
void test_backward(const char* name, std::int64_t rows, std::int64_t columns, std::size_t shift = 0,
                   std::size_t others = 0) {
  if (!is_sampled()) return;
  const auto x = numbers<T>(rows * columns, 1), dy = numbers<T>(rows * columns, 2);
  const auto w = numbers<float>(columns, 3), rstd = numbers<float>(rows, 4);
  device_array<T> d_x(x, shift), d_dy(dy, others), d_dx(rows * columns, others), d_db(columns);
  device_array<float> d_w(w), d_rstd(rstd), d_dw(columns);
  auto args = make_args<7, 1, 1>(rows, columns);
  args.pointers[0] = d_x.data(), args.pointers[1] = d_dy.data(), args.pointers[2] = d_w.data();
  args.pointers[3] = d_rstd.data(), args.pointers[4] = d_dx.data(), args.pointers[5] = d_dw.data();
  args.pointers[6] = d_db.data(), args.sizes[0] = columns;
  args.scalars[0].d = 1.0 / static_cast<double>(columns);
  const std::string what = label(name, rows, columns, shift ? "misaligned" : "");
  launch<backward_rows<T, C>, backward_columns<T, C>, StaticColumns>(what, args);

  std::vector<double> mean(rows, 0.0), dw(columns, 0.0), db(columns, 0.0);
  const auto xhat = [&](std::size_t k) { return number(x[k]) * rstd[k / columns]; };
  for (std::size_t k = 0; k < x.size(); ++k) {
    mean[k / columns] += number(dy[k]) * w[k % columns] * xhat(k) / columns;
    dw[k % columns] += number(dy[k]) * xhat(k);
    db[k % columns] += number(dy[k]);
  }
  check_close(
      what + " dx", d_dx.host(),
      [&](std::size_t k) { return (number(dy[k]) * w[k % columns] - xhat(k) * mean[k / columns]) * rstd[k / columns]; },
      2 * step_of<T>() + 1e-5, 2e-5);
  check_close(
      what + " dw", d_dw.host(), [&](std::size_t j) { return dw[j]; }, 1e-5, 4e-6 * rows + 1e-6);
  check_close(
      what + " db", d_db.host(), [&](std::size_t j) { return db[j]; }, 2 * step_of<T>() + 1e-5, 4e-6 * rows + 1e-6);
  d_dx.check_guards(what), d_dw.check_guards(what), d_db.check_guards(what);
}

}  // namespace

TEST_CASE("mix-order: backward of a norm") {
  for (const std::int64_t columns : {1, 5, 64, 100, 257, 514, 768, 1001, 1024, 2996, 3000, 5000, 6007, 6148, 8192, 10000})
    for (const std::int64_t rows : {1, 2, 33, 600, 5000}) {
      if (columns * rows > 8000000) continue;
      test_backward<bf16, d0, -1>("backward bf16, dynamic", rows, columns);
      test_backward<float, d0, -1>("backward f32, dynamic", rows, columns);
      if (rows == 33) test_backward<bf16, d0, -1>("backward bf16, dynamic", rows, columns, 1);
      if (rows == 600) test_backward<bf16, d0, -1>("backward bf16, dynamic", rows, columns, 3, 3);
    }
  test_backward<bf16, 768, 768>("backward bf16, static", 5000, 768);
  test_backward<float, 768, 768>("backward f32, static", 5001, 768);
  test_backward<bf16, 2048, 2048>("backward bf16, static", 3000, 2048);
  test_backward<float, 100, 100>("backward f32, static", 333, 100);
  test_backward<bf16, 300, 300>("backward bf16, static", 333, 300);
  test_backward<bf16, 16384, 16384>("backward bf16, static", 300, 16384);
  test_backward<bf16, 768, 768>("backward bf16, static", 333, 768, 1);
  test_backward<float, 1001, 1001>("backward f32, static", 2000, 1001);
  test_backward<bf16, 1001, 1001>("backward bf16, static", 2001, 1001, 1);
  test_backward<bf16, 1001, 1001>("backward bf16, static", 2001, 1001);
  test_backward<bf16, 1001, 1001>("backward bf16, static", 129, 1001, 5, 5);
  test_backward<f16, 516, 516>("backward f16, static", 3001, 516, 2, 2);
}

// ---- several phases, a store of the columns' own, masks
// --------------------------------------------------------------------

TEST_CASE("mix-order: softmax rows beside masked column sums") {
  using softmax =
      body<load<0, float, at_row<d0>>, reduce<ops::amax, float, float, 0>, compute<ops::sub, float, float, 0, 1>,
           compute<ops::exp, float, float, 2>, reduce<ops::sum, float, float, 3>, compute<ops::div, float, float, 3, 4>,
           store<1, float, 5, at_row<d0>>>;
  using columns_of =
      body<load<2, float, at_x>, compute<ops::add, float, float, 0, 0>, store<3, float, 1, at_x>, inside<at_r, 1, d1>,
           load<0, float, at_column<d0>, 3>, compute<ops::mul, float, float, 4, 1>, store<4, float, 5, at_column<d0>>,
           reduce<ops::sum, float, double, 5>, store<5, double, 7, at_x>, reduce<ops::argmax, float, std::int64_t, 4>,
           store<6, std::int64_t, 9, at_x>>;
  for (const std::int64_t columns : {1, 6, 32, 100, 2000, 30000})
    for (const std::int64_t rows : {0, 1, 40, 700}) {
      if (columns * rows > 4000000) continue;
      const std::int64_t limit = rows / 2 + 1;
      const auto x = numbers<float>(rows * columns, 1), w = numbers<float>(columns, 2);
      device_array<float> d_x(x), d_w(w), out(rows * columns), twice(columns), own(rows * columns);
      device_array<double> sums(columns);
      device_array<std::int64_t> where(columns);
      auto args = make_args<7, 0, 2>(rows, columns);
      args.pointers[0] = d_x.data(), args.pointers[1] = out.data(), args.pointers[2] = d_w.data();
      args.pointers[3] = twice.data(), args.pointers[4] = own.data(), args.pointers[5] = sums.data();
      args.pointers[6] = where.data(), args.sizes[0] = columns, args.sizes[1] = limit;
      const std::string what = label("softmax and columns", rows, columns);
      launch<softmax, columns_of>(what, args);
      std::vector<double> most(rows, -1e300), total(rows, 0.0), sum(columns, 0.0), best(columns, 0.0), at(columns, 0.0);
      const auto masked = [&](std::size_t k) {
        const auto row = static_cast<std::int64_t>(k) / columns;
        return row >= 1 && row < limit ? number(x[k]) : 0.0;
      };
      for (std::size_t k = 0; k < x.size(); ++k) most[k / columns] = std::max(most[k / columns], number(x[k]));
      for (std::size_t k = 0; k < x.size(); ++k) {
        total[k / columns] += std::exp(number(x[k]) - most[k / columns]);
        sum[k % columns] += masked(k) * 2 * w[k % columns];
        if (masked(k) > best[k % columns]) best[k % columns] = masked(k), at[k % columns] = double(k / columns);
      }
      check_close(
          what + " softmax", out.host(),
          [&](std::size_t k) { return std::exp(number(x[k]) - most[k / columns]) / total[k / columns]; }, 1e-5, 1e-30);
      check_close(
          what + " twice", twice.host(), [&](std::size_t j) { return 2 * w[j]; }, 0, 0);
      check_close(
          what + " elements", own.host(), [&](std::size_t k) { return masked(k) * 2 * w[k % columns]; }, 1e-6, 0);
      check_close(
          what + " sums", sums.host(), [&](std::size_t j) { return sum[j]; }, 1e-4, 1e-5 * rows);
      if (rows > 0)
        check_close(
            what + " argmax", where.host(), [&](std::size_t j) { return at[j]; }, 0, 0);
      out.check_guards(what), twice.check_guards(what), own.check_guards(what), sums.check_guards(what);
      where.check_guards(what);
    }
}

TEST_CASE("mix-order: the same bits every time, and close ones in tiles and with 64-bit indices") {
  using row = row_sum<float, d0>;
  using column = column_sum<float, d0>;
  const std::int64_t rows = 20000, columns = 96;
  static_assert(blocks_of_rows(rows, columns) > 1);
  const auto a = numbers<float>(rows * columns, 1), bias = numbers<float>(columns, 2);
  device_array<float> da(a), db(bias), of_rows(rows), of_columns(columns);
  auto args = make_args<4, 0, 1>(rows, columns);
  args.pointers[0] = da.data(), args.pointers[1] = of_rows.data(), args.pointers[2] = of_columns.data();
  args.pointers[3] = db.data(), args.sizes[0] = columns;
  launch<row, column>("sums", args);
  const auto first_rows = of_rows.host(), first_columns = of_columns.host();
  for (int repeat = 0; repeat < 10; ++repeat) {
    launch<row, column>("sums again", args);
    check_close(
        "rows are deterministic", of_rows.host(), [&](std::size_t i) { return first_rows[i]; }, 0, 0);
    check_close(
        "columns are deterministic", of_columns.host(), [&](std::size_t j) { return first_columns[j]; }, 0, 0);
  }
  const auto in_tiles = [&](const char* what, auto launched) {
    run_with_memory(what, mix_order_workspace<row, column>(rows, columns), launched);
    check_close(
        what, of_rows.host(), [&](std::size_t i) { return first_rows[i]; }, 1e-5, 1e-5);
    check_close(
        what, of_columns.host(), [&](std::size_t j) { return first_columns[j]; }, 1e-5, 1e-3);
  };
  in_tiles("tiles", [&](cuda::kernel_memory& w) {
    cuda::detail::launch_looped_walk<4, 2, int>(row{}, column{}, args, w, nullptr, "per_test");
  });
  in_tiles("64-bit", [&](cuda::kernel_memory& w) {
    cuda::detail::launch_looped_walk<1, 4, std::int64_t>(row{}, column{}, args, w, nullptr, "per_test");
  });
}
