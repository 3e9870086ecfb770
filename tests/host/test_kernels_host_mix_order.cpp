// Mix-order reductions on the host against plain loops: sums over both axes, a norm's backward, masks, epilogues of
// both sides, empty extents; and the same bits on any number of threads.
// SPDX-License-Identifier: BSL-1.0
#include "sinter/kernels/host/mix_order.hpp"
#include "test_kernels_host_reference.hpp"

using namespace sinter;
using reference::buffer;
using reference::noise;

namespace {

using i64 = std::int64_t;
constexpr long C = dynamic_number(0);
constexpr auto X = loop_var::x, K = loop_var::r;

// The row part's x is the row, the column part's x the column, of one row-major [rows, C].
using per_x = at<0, term<X, 1, 0, 1>>;
using per_r = at<0, term<K, 1, 0, 1>>;
using in_row = at<0, term<X, 1, 0, C>, term<K, 1, 0, 1>>;
using in_column = at<0, term<X, 1, 0, 1>, term<K, 1, 0, C>>;

template <class Args>
Args exchanged(Args args) {
  const i64 rows = args.numel;
  args.numel = args.rnumel;
  args.rnumel = rows;
  return args;
}

template <class Row, class Column, class Args>
void check(Args args, std::vector<buffer*> slots, double slack = 1) {
  for (int threads : {1, 2, 7})
    reference::check_stores(
        args, slots, [&](const Args& a) { cpu::mix_order<Row, Column>(a, threads); },
        [](const Args& a, auto f) {
          reference::interpreter<Row, Args>(a, a.rnumel).stores(a.numel, f);
          const Args columns = exchanged(a);
          reference::interpreter<Column, Args>(columns, columns.rnumel).stores(columns.numel, f);
        },
        slack);
}

struct shape {
  i64 rows, columns;
};
const shape shapes[] = {{0, 5},   {5, 0},   {0, 0},     {1, 1},    {1, 33},  {3, 31},   {33, 3},
                        {17, 256}, {257, 7}, {1000, 65}, {40, 700}, {2, 20000}, {20000, 2}};

}  // namespace

TEST_CASE("mix-order: sums and products over both axes") {
  const auto test = [](auto zero, auto fold) {
    using T = decltype(zero);
    using Op = decltype(fold);
    using row = body<load<0, T, in_row>, reduce<Op, T, T, 0>, store<1, T, 1, per_x>>;
    using column = body<load<0, T, in_column>, reduce<Op, T, T, 0>, store<2, T, 1, per_x>>;
    for (const shape& s : shapes) {
      CAPTURE(s.rows);
      CAPTURE(s.columns);
      buffer a = buffer::of<T>(s.rows * s.columns, [](i64 i) {
        if constexpr (std::is_same_v<Op, ops::prod>) return static_cast<compute_t<T>>(i % 13 == 5 ? -1 : 1);
        else return static_cast<compute_t<T>>(noise(i) * 16);
      });
      buffer rows = buffer::output<T>(s.rows), columns = buffer::output<T>(s.columns);
      check<row, column>(arguments<3, 0, 1>{{}, {}, {s.columns}, s.rows, s.columns}, {&a, &rows, &columns}, 300);
    }
  };
  test(float(), ops::sum());
  test(bf16(), ops::sum());
  test(double(), ops::prod());
}

TEST_CASE("mix-order: backward of rms norm and of layer norm") {
  // dx = rstd * (dy * w - xhat * mean(dy * w * xhat)), dw = sum of dy * xhat over rows, db = sum of dy over rows.
  using dx = body<load<0, bf16, in_row>, load<1, float, in_row>, load<2, float, per_r>, load<3, float, per_x>,
                  compute<ops::mul, float, float, 0, 3>, compute<ops::mul, float, float, 1, 2>,
                  compute<ops::mul, float, float, 5, 4>, reduce<ops::sum, float, float, 6>, scalar<0, float>,
                  compute<ops::mul, float, float, 7, 8>, compute<ops::mul, float, float, 4, 9>,
                  compute<ops::sub, float, float, 5, 10>, compute<ops::mul, float, float, 11, 3>,
                  store<4, float, 12, in_row>, store<5, float, 9, per_x>>;
  using dw = body<load<0, bf16, in_column>, load<3, float, per_r>, compute<ops::mul, float, float, 0, 1>,
                  load<1, float, in_column>, compute<ops::mul, float, float, 2, 3>,
                  reduce<ops::sum, float, float, 4>, store<6, bf16, 5, per_x>, reduce<ops::sum, float, float, 3>,
                  load<2, float, per_x>, compute<ops::add, float, float, 7, 8>, store<7, float, 9, per_x>>;
  for (const shape& s : shapes) {
    CAPTURE(s.rows);
    CAPTURE(s.columns);
    const i64 n = s.rows * s.columns;
    buffer x = buffer::of<bf16>(n, [](i64 i) { return noise(i); });
    buffer dy = buffer::of<float>(n, [](i64 i) { return noise(i + 7); });
    buffer w = buffer::of<float>(s.columns, [](i64 i) { return noise(i + 3); });
    buffer rstd = buffer::of<float>(s.rows, [](i64 i) { return 1 + noise(i, 0.5f); });
    buffer out = buffer::output<float>(n), mean = buffer::output<float>(s.rows);
    buffer sums = buffer::output<bf16>(s.columns), biases = buffer::output<float>(s.columns);
    arguments<8, 1, 1> args{{}, {}, {s.columns}, s.rows, s.columns};
    args.scalars[0] = {1.0 / static_cast<double>(s.columns == 0 ? 1 : s.columns), 0};
    check<dx, dw>(args, {&x, &dy, &w, &rstd, &out, &mean, &sums, &biases}, 300);
  }
}

TEST_CASE("mix-order: softmax rows beside masked column sums with a store of their own") {
  using softmax = body<load<0, float, in_row>, reduce<ops::amax, float, float, 0>,
                       compute<ops::sub, float, float, 0, 1>, compute<ops::exp, float, float, 2>,
                       reduce<ops::sum, float, float, 3>, compute<ops::div, float, float, 3, 4>,
                       store<1, float, 5, in_row>>;
  // Also a value per column, stored once, and an element of the columns' own.
  using columns = body<load<2, float, per_x>, compute<ops::add, float, float, 0, 0>, store<3, float, 1, per_x>,
                       inside<per_r, 1, 30>, load<0, float, in_column, 3>, compute<ops::mul, float, float, 4, 1>,
                       store<4, float, 5, in_column>, reduce<ops::sum, float, float, 5>, store<5, float, 7, per_x>>;
  for (const shape& s : shapes) {
    CAPTURE(s.rows);
    CAPTURE(s.columns);
    const i64 n = s.rows * s.columns;
    buffer x = buffer::of<float>(n, [](i64 i) { return noise(i); });
    buffer w = buffer::of<float>(s.columns, [](i64 i) { return noise(i + 3); });
    buffer out = buffer::output<float>(n), twice = buffer::output<float>(s.columns), own = buffer::output<float>(n);
    buffer sums = buffer::output<float>(s.columns);
    check<softmax, columns>(arguments<6, 0, 1>{{}, {}, {s.columns}, s.rows, s.columns},
                            {&x, &out, &w, &twice, &own, &sums}, 100);
  }
}

TEST_CASE("mix-order: the number of threads changes no bit") {
  using row = body<load<0, float, in_row>, reduce<ops::sum, float, float, 0>, store<1, float, 1, per_x>>;
  using column = body<load<0, float, in_column>, reduce<ops::sum, float, float, 0>, store<2, float, 1, per_x>>;
  const i64 rows = 5000, columns = 300;
  buffer a = buffer::of<float>(rows * columns, [](i64 i) { return noise(i); });
  buffer r = buffer::output<float>(rows), c = buffer::output<float>(columns);
  arguments<3, 0, 1> args{{a.data(), r.data(), c.data()}, {}, {columns}, rows, columns};
  cpu::mix_order<row, column>(args, 1);
  const buffer rows_alone = r, columns_alone = c;
  for (int threads : {2, 3, 16}) {
    cpu::mix_order<row, column>(args, threads);
    CHECK(r.bytes == rows_alone.bytes);
    CHECK(c.bytes == columns_alone.bytes);
  }
}
