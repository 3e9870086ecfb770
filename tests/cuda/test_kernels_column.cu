// Reductions across memory over bodies written by hand, against plain loops in double.
// SPDX-License-Identifier: BSL-1.0
#include <limits>

#include "test_kernels_columns.cuh"

using namespace kernel_tests;

namespace {

template <class Body, long StaticNumel = -1, class Args>
void launch(const std::string& what, const Args& args) {
  run_with_memory(what, reduction_workspace<Body, orientation::column>(args.numel, args.rnumel), [&](auto& memory) {
    cuda::reduction<Body, orientation::column, -1, StaticNumel>(args, memory, nullptr, "red_test");
  });
}

/// As columns that are too many to be held on the chip, whatever their number, if these can go that way.
template <class Body, class Args>
void launch_twice(const std::string& what, const Args& args) {
  using facts = cuda::detail::column_shift_facts<Body>;
  cuda::detail::row_shift shift;
  if (args.numel < facts::width || !facts::find(args, shift)) return launch<Body>(what, args);
  run_with_memory(what, sinter::detail::twice_workspace<Body>(args.numel, args.rnumel), [&](auto& memory) {
    cuda::detail::launch_columns_twice(Body{}, args, shift, memory, nullptr, "red_test");
  });
}

/// sum, m2 and argmax per column, plus a bias along x and a scaled sum in T.
template <class T, long N>
using statistics = body<load<0, T, at_column<N>>, reduce<ops::sum, T, float, 0>, reduce<ops::m2, T, float, 0>,
                        reduce<ops::argmax, T, std::int64_t, 0>, load<1, float, at_x>,
                        compute<ops::add, float, float, 1, 4>, store<2, float, 5, at_x>, store<3, float, 2, at_x>,
                        store<4, std::int64_t, 3, at_x>, compute<ops::mul, float, float, 4, 4>, store<5, T, 9, at_x>>;

template <class T, long N, long StaticNumel>
void test_statistics(const char* name, std::int64_t columns, std::int64_t rows, std::size_t shift = 0) {
  if (!is_sampled()) return;
  const auto a = numbers<T>(rows * columns, 1);
  const auto bias = numbers<float>(columns, 2);
  device_array<T> da(a, shift), early(columns);
  device_array<float> db(bias), sums(columns), m2(columns);
  device_array<std::int64_t> where(columns);
  auto args = make_args<6, 0, 1>(columns, rows);
  args.pointers[0] = da.data(), args.pointers[1] = db.data(), args.pointers[2] = sums.data();
  args.pointers[3] = m2.data(), args.pointers[4] = where.data(), args.pointers[5] = early.data();
  args.sizes[0] = columns;
  const std::string what = label(name, rows, columns, shift ? "misaligned" : "");
  launch<statistics<T, N>, StaticNumel>(what, args);

  std::vector<double> mean(columns, 0.0), total(columns, 0.0), squares(columns, 0.0), best(columns, 0.0),
      at(columns, 0.0);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t x = 0; x < columns; ++x) {
      const double v = number(a[r * columns + x]);
      total[x] += v;
      if (r == 0 || v > best[x]) best[x] = v, at[x] = static_cast<double>(r);
    }
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t x = 0; x < columns; ++x) squares[x] += std::pow(number(a[r * columns + x]) - total[x] / rows, 2);
  const double n = static_cast<double>(rows);
  check_close(
      what + " sum", sums.host(), [&](std::size_t x) { return total[x] + bias[x]; }, 1e-5, 1e-6 * n + 1e-6);
  check_close(
      what + " m2", m2.host(), [&](std::size_t x) { return squares[x]; }, 1e-4, 1e-5);
  check_close(
      what + " argmax", where.host(), [&](std::size_t x) { return at[x]; }, 0, 0);
  check_close(
      what + " early row store", early.host(), [&](std::size_t x) { return bias[x] * bias[x]; }, step_of<T>(), 0);
  sums.check_guards(what), m2.check_guards(what), where.check_guards(what), early.check_guards(what);
}

}  // namespace

TEST_CASE("columns: statistics") {
  for (const std::int64_t columns : {1, 2, 3, 8, 31, 32, 33, 100, 249, 256, 1000, 1001, 4096})
    for (const std::int64_t rows : {0, 1, 7, 32, 33, 255, 256, 1000, 5000}) {
      if (columns * rows > 4000000) continue;
      test_statistics<float, d0, -1>("columns f32, dynamic", columns, rows);
      if (columns % 2 != 0) test_statistics<bf16, d0, -1>("columns bf16, dynamic", columns, rows, rows % 8);
      if (rows == 0 || rows == 33 || rows == 1000) {
        test_statistics<bf16, d0, -1>("columns bf16, dynamic", columns, rows);
        test_statistics<float, d0, -1>("columns f32, dynamic", columns, rows, 1);
      }
    }
  test_statistics<float, d0, -1>("columns f32, dynamic", 0, 10);
  test_statistics<bf16, 1024, 1024>("columns bf16, static", 1024, 3000);
  test_statistics<bf16, 100, 100>("columns bf16, static", 100, 3000);
  test_statistics<float, 7, 7>("columns f32, static", 7, 3000);
  test_statistics<float, d0, -1>("columns f32, dynamic", 3, 100000);
  test_statistics<float, d0, -1>("columns f32, dynamic", 1, 300001);
  test_statistics<float, d0, -1>("columns f32, dynamic", 8192, 300);
}

TEST_CASE("columns: rows that begin anywhere, with operands of one column and of one row") {
  // sum((a - mean[x]) * b * weight[r]) in T.
  const auto test = [](auto zero, std::int64_t columns, std::int64_t rows, std::size_t shift) {
    using T = decltype(zero);
    using B = body<load<3, float, at_x>, load<0, T, at_column<d0>>, compute<ops::sub, float, float, 1, 0>,
                   load<1, T, at_column<d0>>, compute<ops::mul, float, float, 2, 3>, load<4, float, at_r>,
                   compute<ops::mul, float, float, 4, 5>, reduce<ops::sum, float, float, 6>, store<2, float, 7, at_x>>;
    static_assert(cuda::detail::column_shift_facts<B>::width == 16 / sizeof(T));
    const auto a = numbers<T>(rows * columns, 1), b = numbers<T>(rows * columns, 2);
    const auto mean = numbers<float>(columns, 3), weight = numbers<float>(rows, 4);
    device_array<T> da(a, shift), db(b, shift);
    device_array<float> dm(mean, shift), dw(weight), out(columns, shift);
    auto args = make_args<5, 0, 1>(columns, rows);
    args.pointers[0] = da.data(), args.pointers[1] = db.data(), args.pointers[2] = out.data();
    args.pointers[3] = dm.data(), args.pointers[4] = dw.data(), args.sizes[0] = columns;
    const std::string what = label("shifted columns", rows, columns, shift ? "misaligned" : "");
    launch<B>(what, args);
    check_close(
        what, out.host(),
        [&](std::size_t x) {
          double s = 0;
          for (std::int64_t r = 0; r < rows; ++r)
            s += (number(a[r * columns + x]) - mean[x]) * number(b[r * columns + x]) * weight[r];
          return s;
        },
        1e-4, 1e-5 * static_cast<double>(rows) + 1e-5);
    out.check_guards(what);
  };
  for (const std::int64_t columns : {2, 3, 7, 9, 64, 247, 248, 257, 1001, 3000})
    for (const std::int64_t rows : {1, 2, 6, 15, 16, 130, 1500})
      for (const std::size_t shift : {0, 1, 3}) {
        test(bf16{}, columns, rows, shift);
        test(float{}, columns, rows, shift);
      }
  test(bf16{}, 200001, 3, 5);
  test(bf16{}, 7, 400000, 1);
}

TEST_CASE("columns: a thread with all rows of its columns") {
  const auto test = [](auto zero, std::int64_t columns, std::int64_t rows) {
    using T = decltype(zero);
    using B = body<load<0, T, at_column<d0>>, reduce<ops::sum, T, float, 0>, load<1, float, at_x>,
                   compute<ops::add, float, float, 1, 2>, store<2, T, 3, at_x>>;
    const auto a = numbers<T>(rows * columns, 1);
    const auto bias = numbers<float>(columns, 2);
    device_array<T> da(a), out(columns);
    device_array<float> db(bias);
    auto args = make_args<3, 0, 1>(columns, rows);
    args.pointers[0] = da.data(), args.pointers[1] = db.data(), args.pointers[2] = out.data();
    args.sizes[0] = columns;
    const std::string what = label("whole columns", rows, columns, "");
    launch<B>(what, args);
    check_close(
        what, out.host(),
        [&](std::size_t x) {
          double s = bias[x];
          for (std::int64_t r = 0; r < rows; ++r) s += number(a[r * columns + x]);
          return s;
        },
        step_of<T>(), 1e-5);
    out.check_guards(what);
  };
  for (const std::int64_t columns : {2048, 100000, 100003, 800008})
    for (const std::int64_t rows : {1, 2, 5, 16}) test(bf16{}, columns, rows), test(float{}, columns, rows);
}

TEST_CASE("columns: splits give the same bits every time") {
  for (const std::int64_t columns : {96, 97}) {
    const std::int64_t rows = 20000;
    using B = body<load<0, float, at_column<d0>>, reduce<ops::sum, float, float, 0>, store<1, float, 1, at_x>>;
    CHECK(num_splits(orientation::column, columns, rows) > 1);
    const auto a = numbers<float>(rows * columns, 1);
    device_array<float> da(a), out(columns);
    auto args = make_args<2, 0, 1>(columns, rows);
    args.pointers[0] = da.data(), args.pointers[1] = out.data(), args.sizes[0] = columns;
    launch<B>("column sum", args);
    const auto first = out.host();
    for (int repeat = 0; repeat < 10; ++repeat) {
      launch<B>("column sum again", args);
      check_close(
          "column sum is deterministic", out.host(), [&](std::size_t x) { return first[x]; }, 0, 0);
    }
  }
}

// ---- several phases: softmax along columns
// -----------------------------------------------------------------------------

namespace {

template <class T, long N>
using softmax = body<load<0, T, at_column<N>>, reduce<ops::amax, T, float, 0>, compute<ops::sub, float, float, 0, 1>,
                     compute<ops::exp, float, float, 2>, reduce<ops::sum, float, float, 3>,
                     compute<ops::div, float, float, 3, 4>, store<1, T, 5, at_column<N>>>;

template <class T, long N, long StaticNumel>
void test_softmax(const char* name, std::int64_t columns, std::int64_t rows, std::size_t shift = 0) {
  if (!is_sampled()) return;
  const auto a = numbers<T>(rows * columns, 1);
  device_array<T> da(a, shift), out(rows * columns);
  auto args = make_args<2, 0, 1>(columns, rows);
  args.pointers[0] = da.data(), args.pointers[1] = out.data(), args.sizes[0] = columns;
  const std::string what = label(name, rows, columns, shift ? "misaligned" : "");
  launch<softmax<T, N>, StaticNumel>(what, args);
  std::vector<double> most(columns, -1e300), sums(columns, 0.0);
  for (std::size_t k = 0; k < a.size(); ++k) most[k % columns] = std::max(most[k % columns], number(a[k]));
  for (std::size_t k = 0; k < a.size(); ++k) sums[k % columns] += std::exp(number(a[k]) - most[k % columns]);
  check_close(
      what, out.host(), [&](std::size_t k) { return std::exp(number(a[k]) - most[k % columns]) / sums[k % columns]; },
      4 * step_of<T>() + 2e-6, 1e-30);
  out.check_guards(what);
}

}  // namespace

TEST_CASE("columns: softmax") {
  for (const std::int64_t columns : {1, 5, 32, 100, 1000})
    for (const std::int64_t rows : {0, 1, 7, 100, 1000}) {
      test_softmax<float, d0, -1>("column softmax f32, dynamic", columns, rows);
      test_softmax<bf16, d0, -1>("column softmax bf16, dynamic", columns, rows);
      test_softmax<bf16, d0, -1>("column softmax bf16, dynamic", columns, rows, 1);
    }
  test_softmax<bf16, 512, 512>("column softmax bf16, static", 512, 777);
}

TEST_CASE("columns: softmax of many short columns, each of one thread") {
  for (const std::int64_t columns : {600001, 600008})
    for (const std::int64_t rows : {1, 3, 8, 33}) {
      test_softmax<float, d0, -1>("short columns, softmax f32", columns, rows);
      test_softmax<bf16, d0, -1>("short columns, softmax bf16", columns, rows);
    }
  test_softmax<float, d0, -1>("short columns, softmax f32", 280000, 60);
  test_softmax<bf16, d0, -1>("short columns, softmax bf16", 600008, 12, 1);
  test_softmax<bf16, 300000, 300000>("short columns, softmax bf16, static", 300000, 70);
}

TEST_CASE("columns: softmax of teams of blocks") {
  using sinter::detail::choose_column_teams;
  static_assert(choose_column_teams(4096, 16384, 32, 4).parts == 22 &&
                choose_column_teams(4096, 16384, 32, 4).teams == 12);
  static_assert(choose_column_teams(50257, 500, 32, 4).parts == 1 &&
                choose_column_teams(1, 300000, 32, 4).parts == 264);
  static_assert(choose_column_teams(64, 40, 32, 4).parts == 1 && choose_column_teams(0, 10, 32, 4).tiles == 0);
  for (const auto& [columns, rows] : {std::pair{1, 300001},
                                      {3, 70000},
                                      {31, 4001},
                                      {33, 20000},
                                      {65, 65},
                                      {256, 9000},
                                      {257, 20011},
                                      {1000, 4096},
                                      {2048, 3000},
                                      {4100, 777},
                                      {6000, 1500},
                                      {6001, 1500},
                                      {30000, 100},
                                      {50257, 33}}) {
    test_softmax<float, d0, -1>("teams, softmax f32", columns, rows);
    test_softmax<bf16, d0, -1>("teams, softmax bf16", columns, rows);
  }
  test_softmax<float, d0, -1>("teams, softmax f32", 516, 5000, 1);
  test_softmax<bf16, d0, -1>("teams, softmax bf16", 8200, 513, 3);
  test_softmax<float, d0, -1>("teams, softmax f32 that no team holds", 40, 300000);
  test_softmax<float, 1000, 1000>("teams, softmax f32, static", 1000, 8192);
  test_softmax<bf16, 2001, 2001>("teams, softmax bf16, static", 2001, 3001);
}

TEST_CASE("columns: softmax in place, of rows that begin anywhere and lie apart") {
  const auto test = [](auto zero, std::int64_t columns, std::int64_t rows, std::int64_t pitch, std::size_t shift) {
    using T = decltype(zero);
    using C = compute_t<T>;
    using B = body<load<0, T, at_column<d0>>, reduce<ops::amax, T, C, 0>, reduce<ops::sumexp, T, C, 0>,
                   compute<ops::sub, C, C, 0, 1>, compute<ops::exp, C, C, 3>, compute<ops::div, C, C, 4, 2>,
                   store<0, T, 5, at_column<d0>>>;
    static_assert(sinter::detail::reads_columns_twice<B>);
    const auto a = numbers<T>((rows - 1) * pitch + columns, 1);
    device_array<T> data(a, shift);
    auto args = make_args<1, 0, 1>(columns, rows);
    args.pointers[0] = data.data(), args.sizes[0] = pitch;
    const std::string what = label("softmax in place", rows, columns, std::to_string(pitch + shift).c_str());
    launch_twice<B>(what, args);
    std::vector<double> most(columns, -1e300), sums(columns, 0.0);
    const auto each = [&](auto visit) {
      for (std::size_t k = 0; k < a.size(); ++k)
        if (static_cast<std::int64_t>(k) % pitch < columns) visit(number(a[k]), k % pitch);
    };
    each([&](double v, std::size_t x) { most[x] = std::max(most[x], v); });
    each([&](double v, std::size_t x) { sums[x] += std::exp(v - most[x]); });
    check_close(
        what, data.host(),
        [&](std::size_t k) {
          const std::size_t x = k % pitch;
          return static_cast<std::int64_t>(x) < columns ? std::exp(number(a[k]) - most[x]) / sums[x] : number(a[k]);
        },
        4 * step_of<T>() + 2e-6, 1e-30);
    data.check_guards(what);
  };
  for (const auto& [columns, rows] :
       {std::pair{1, 300}, {2, 9}, {5, 1}, {9, 700}, {16, 5000}, {57, 33}, {122, 2500}, {1001, 260}, {5003, 31}})
    for (const std::int64_t apart : {0, 1, 6})
      for (const std::size_t shift : {0, 1, 7}) {
        test(float{}, columns, rows, columns + apart, shift);
        test(bf16{}, columns, rows, columns + apart, shift);
        test(double{}, columns, rows, columns + apart, shift);
      }
  // More sets than blocks, which are not split; and nearly so many.
  test(float{}, 700001, 12, 700001, 0);
  test(bf16{}, 300001, 7, 300002, 3);
  test(double{}, 20001, 70, 20001, 1);
}

TEST_CASE("columns: two operands of different types in teams of blocks") {
  // exp(a * b - most) / sum, of rows that begin anywhere.
  const auto test = [](std::int64_t columns, std::int64_t rows, std::size_t shift) {
    using B = body<load<0, bf16, at_column<d0>>, load<1, float, at_column<d0>>, compute<ops::mul, float, float, 0, 1>,
                   reduce<ops::amax, float, float, 2>, compute<ops::sub, float, float, 2, 3>,
                   compute<ops::exp, float, float, 4>, reduce<ops::sum, float, float, 5>,
                   compute<ops::div, float, float, 5, 6>, store<2, float, 7, at_column<d0>>>;
    const auto a = numbers<bf16>(rows * columns, 1);
    const auto b = numbers<float>(rows * columns, 2);
    device_array<bf16> da(a, shift);
    device_array<float> db(b, shift), out(rows * columns);
    auto args = make_args<3, 0, 1>(columns, rows);
    args.pointers[0] = da.data(), args.pointers[1] = db.data(), args.pointers[2] = out.data(), args.sizes[0] = columns;
    const std::string what = label("two operands", rows, columns, shift ? "misaligned" : "");
    launch<B>(what, args);
    std::vector<double> most(columns, -1e300), sums(columns, 0.0);
    const auto value = [&](std::size_t k) { return static_cast<double>(widen(a[k]) * b[k]); };
    for (std::size_t k = 0; k < a.size(); ++k) most[k % columns] = std::max(most[k % columns], value(k));
    for (std::size_t k = 0; k < a.size(); ++k) sums[k % columns] += std::exp(value(k) - most[k % columns]);
    check_close(
        what, out.host(), [&](std::size_t k) { return std::exp(value(k) - most[k % columns]) / sums[k % columns]; },
        2e-5, 1e-30);
    out.check_guards(what);
  };
  for (const auto& [columns, rows] :
       {std::pair{1, 1}, {1, 5000}, {7, 33}, {64, 500}, {129, 20000}, {1001, 1500}, {9001, 130}})
    for (const std::size_t shift : {0, 1, 5}) test(columns, rows, shift);
}

TEST_CASE("columns: a column by itself") {
  const auto test = [](auto zero, std::int64_t rows, std::int64_t pitch, std::size_t shift) {
    using T = decltype(zero);
    using B = body<load<0, T, at_column<d0>>, load<1, float, at_r>, compute<ops::mul, float, float, 0, 1>,
                   reduce<ops::sum, float, float, 2>, load<2, float, at_x>, compute<ops::add, float, float, 3, 4>,
                   store<3, float, 5, at_x>>;
    const auto a = numbers<T>(rows * pitch, 1);
    const auto weight = numbers<float>(rows, 2), bias = numbers<float>(1, 3);
    device_array<T> da(a, shift);
    device_array<float> dw(weight), db(bias), out(1);
    auto args = make_args<4, 0, 1>(1, rows);
    args.pointers[0] = da.data(), args.pointers[1] = dw.data(), args.pointers[2] = db.data();
    args.pointers[3] = out.data(), args.sizes[0] = pitch;
    const std::string what = label("one column", rows, pitch, shift ? "misaligned" : "");
    launch<B>(what, args);
    double sum = bias[0], size = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
      const double v = number(a[r * pitch]) * weight[r];
      sum += v, size += std::fabs(v);
    }
    check_close(
        what, out.host(), [&](std::size_t) { return sum; }, 1e-6, 1e-6 * size + 1e-6);
    out.check_guards(what);
  };
  for (const std::int64_t rows : {0, 1, 31, 8192, 16384, 16391, 1000003})
    for (const std::size_t shift : {0, 1}) {
      test(float{}, rows, 1, shift), test(bf16{}, rows, 1, shift);
      if (rows < 100000) test(float{}, rows, 5, shift), test(bf16{}, rows, 5, shift);
    }
}

TEST_CASE("columns: a norm of teams of blocks, in place and the same every time") {
  const auto test = [](auto zero, std::int64_t columns, std::int64_t rows, bool twice) {
    using T = decltype(zero);
    using B = norm_in_place<T>;
    test_norm_in_place<T>("teams, norm in place", columns, rows, 0, nullptr, [&](const auto& what, const auto& args) {
      if (twice) launch_twice<B>(what, args);
      else launch<B>(what, args);
      return true;
    });
  };
  for (const auto& [columns, rows] :
       {std::pair{1, 1}, {1, 5000}, {40, 63}, {40, 64}, {129, 20000}, {516, 4000}, {2048, 2000}, {9001, 130}, {600001, 5},
        {600008, 9}}) {
    test(float{}, columns, rows, false), test(float{}, columns, rows, true);
    test(bf16{}, columns, rows, false), test(bf16{}, columns, rows, true);
  }
}

TEST_CASE("columns: divided by their greatest value, however large or small") {
  const auto test = [](auto zero, std::int64_t columns, std::int64_t rows, float size, bool twice) {
    using T = decltype(zero);
    using B = body<load<0, T, at_column<d0>>, reduce<ops::amax, T, float, 0>, compute<ops::div, float, float, 0, 1>,
                   store<1, T, 2, at_column<d0>>>;
    auto a = numbers<T>(rows * columns, 1);
    for (T& v : a) v = sinter::narrow<T>(sinter::widen(v) * size);
    for (std::int64_t x = 0; x < columns; ++x) a[x] = sinter::narrow<T>(size * static_cast<float>(1 + x % 3));
    device_array<T> da(a), out(rows * columns);
    auto args = make_args<2, 0, 1>(columns, rows);
    args.pointers[0] = da.data(), args.pointers[1] = out.data(), args.sizes[0] = columns;
    const std::string what = label("divided by the greatest", rows, columns);
    if (twice) launch_twice<B>(what, args);
    else launch<B>(what, args);
    std::vector<double> most(columns, -1e300);
    for (std::size_t k = 0; k < a.size(); ++k) most[k % columns] = std::max(most[k % columns], number(a[k]));
    check_close(
        what, out.host(), [&](std::size_t k) { return number(a[k]) / most[k % columns]; }, step_of<T>(), 1e-6);
    out.check_guards(what);
  };
  for (const auto& [columns, rows] : {std::pair{40, 300}, {41, 300}, {1001, 777}, {1024, 777}})
    for (const float size : {1e-36f, 1.0f, 3e37f, 1e38f}) {
      test(float{}, columns, rows, size, false), test(float{}, columns, rows, size, true);
      test(bf16{}, columns, rows, size, false), test(bf16{}, columns, rows, size, true);
    }
}

// ---- element stores, operands of row scope, mixed types
// ------------------------------------------------------------------

TEST_CASE("columns: element stores, row operands, masks, two axes") {
  // [A, R, B] reduced over R: x = a * B + b. Also out2 = 2 * input as f32, the sum of a row value, a masked sum of r >
  // 0.
  using at_arb = at<0, x_term<d1, d0>, x_term<1, 1, d0>, r_term<d0>>;
  using B = body<load<0, bf16, at_arb>, reduce<ops::sum, bf16, float, 0>, store<1, float, 1, at_x>,
                 compute<ops::add, float, float, 0, 0>, store<2, float, 3, at_arb>, load<3, bf16, at_x>,
                 reduce<ops::sum, bf16, float, 5>, store<4, float, 6, at_x>, inside<at_r, 1, d2>,
                 load<0, bf16, at_arb, 8>, reduce<ops::amax, bf16, bf16, 9>, store<5, bf16, 10, at_x>>;
  const auto test = [](std::int64_t na, std::int64_t nr, std::int64_t nb) {
    const std::int64_t n = na * nb;
    const auto in = numbers<bf16>(n * nr, 1), row = numbers<bf16>(n, 2);
    device_array<bf16> din(in), drow(row), most(n);
    device_array<float> sums(n), twice(n * nr), row_sums(n);
    auto args = make_args<6, 0, 3>(n, nr);
    args.pointers[0] = din.data(), args.pointers[1] = sums.data(), args.pointers[2] = twice.data();
    args.pointers[3] = drow.data(), args.pointers[4] = row_sums.data(), args.pointers[5] = most.data();
    args.sizes[0] = nb, args.sizes[1] = nb * nr, args.sizes[2] = nr;
    const std::string what = label("A R B", na * nr, nb);
    launch<B>(what, args);
    const auto value = [&](std::size_t x, std::int64_t r) { return number(in[x / nb * nb * nr + r * nb + x % nb]); };
    check_close(
        what + " sum", sums.host(),
        [&](std::size_t x) {
          double s = 0;
          for (std::int64_t r = 0; r < nr; ++r) s += value(x, r);
          return s;
        },
        1e-5, 1e-6 * nr);
    check_close(
        what + " elements", twice.host(), [&](std::size_t k) { return 2 * number(in[k]); }, 0, 0);
    check_close(
        what + " row value", row_sums.host(), [&](std::size_t x) { return number(row[x]) * nr; }, 1e-4, 0);
    check_close(
        what + " masked", most.host(),
        [&](std::size_t x) {
          double m = 0;
          for (std::int64_t r = 1; r < nr; ++r) m = std::max(m, value(x, r));
          return m;
        },
        0, 0);
    sums.check_guards(what), twice.check_guards(what), row_sums.check_guards(what), most.check_guards(what);
  };
  test(1, 100, 64);
  test(5, 33, 24);
  test(4, 100, 7);
  test(2, 10000, 16);
  test(1, 100000, 1);
}

namespace {

/// y = 2 x - b, b of each column, over x if there is room, and the sums of y.
template <class T, class R>
void test_elements(std::int64_t columns, std::int64_t rows, std::size_t shift) {
  if (!is_sampled()) return;
  constexpr bool in_place = std::is_same_v<T, R>;
  using B = body<load<0, T, at_column<d0>>, load<1, T, at_x>, compute<ops::add, T, float, 0, 0>,
                 compute<ops::sub, float, float, 2, 1>, store<2, R, 3, at_column<d0>>,
                 reduce<ops::sum, float, float, 3>, store<3, float, 5, at_x>>;
  const std::int64_t n = columns * rows;
  const auto in = numbers<T>(n, 1), b = numbers<T>(columns, 2);
  device_array<T> x(in, shift), row(b, shift);
  device_array<R> apart(n, shift);
  device_array<float> sums(columns);
  auto args = make_args<4, 0, 1>(columns, rows);
  args.pointers[0] = x.data(), args.pointers[1] = row.data(), args.pointers[3] = sums.data();
  args.pointers[2] = in_place ? static_cast<void*>(x.data()) : static_cast<void*>(apart.data());
  args.sizes[0] = columns;
  const std::string what = label(in_place ? "elements in place" : "elements", rows, columns, shift ? "misaligned" : "");
  launch<B>(what, args);
  const auto y = [&](std::size_t k) { return 2 * number(in[k]) - number(b[k % columns]); };
  const auto check_elements = [&](const auto& out) {
    check_close(what, out.host(), y, step_of<R>() + 1e-6, 1e-6);
    out.check_guards(what);
  };
  if constexpr (in_place) check_elements(x);
  else check_elements(apart);
  check_close(
      what + " sums", sums.host(),
      [&](std::size_t c) {
        double sum = 0;
        for (std::int64_t r = 0; r < rows; ++r) sum += y(r * columns + c);
        return sum;
      },
      1e-5, 1e-6 * rows);
  sums.check_guards(what);
}

}  // namespace

TEST_CASE("columns: results for each element of rows that begin anywhere") {
  for (const std::int64_t columns : {1, 5, 31, 65, 100, 257, 1001, 4099})
    for (const std::int64_t rows : {1, 2, 9, 700, 5000})
      for (const std::size_t shift : {0, 1, 3}) {
        if (columns * rows > 4000000) continue;
        test_elements<float, float>(columns, rows, shift);
        test_elements<bf16, bf16>(columns, rows, shift);
        test_elements<bf16, float>(columns, rows, shift);
      }
}

// So many rows that parts are 16 tiles long or longer; the last tile is cut.
TEST_CASE("columns: results for each element, of tiles of rows that blocks take in turn") {
  for (const std::size_t shift : {0, 1}) {
    test_elements<float, float>(65, 203003, shift);
    test_elements<float, float>(100, 203003, shift);
    test_elements<float, float>(1001, 15013, shift);
    test_elements<bf16, bf16>(1001, 26701, shift);
    test_elements<bf16, float>(100, 280001, shift);
  }
}

TEST_CASE("columns: of equals the first, of NaN too, and of infinities") {
  const auto test = [](auto op, auto zero, std::int64_t columns, std::int64_t rows, std::size_t shift) {
    if (!is_sampled()) return;
    using Op = decltype(op);
    using T = decltype(zero);
    using B = body<load<0, T, at_column<d0>>, reduce<Op, T, std::int64_t, 0>, store<1, std::int64_t, 1, at_x>>;
    constexpr float inf = std::numeric_limits<float>::infinity();
    constexpr float best = std::is_same_v<Op, ops::argmax> ? 2.5f : -2.5f, least = best > 0 ? -inf : inf;
    auto a = numbers<T>(rows * columns, 1);
    std::vector<std::int64_t> first(columns);
    for (std::int64_t x = 0; x < columns; ++x) {
      first[x] = (x * 977 + 5) % rows;
      const auto put = [&](std::int64_t r, float value) { a[r * columns + x] = narrow<T>(value); };
      for (std::int64_t r = 0; r < rows; ++r) {
        const bool from = r >= first[x], again = (r - first[x]) % (1 + x % 7) == 0;
        switch (x % 6) {
          case 0:
            put(r, least);
            break;  // nothing else
          case 1:
            put(r, from && again ? std::nanf("") : 3 * best);
            break;  // a NaN is more than any number
          case 2:
            put(r, from ? (again ? -0.f : 0.f) : -best);
            break;  // which are equal
          case 3:
            put(r, from && again ? -least : best);
            break;
          case 4:
            if (from && again) put(r, best);
            break;
          case 5:
            put(r, r == first[x] ? std::nanf("") : -least);
            break;
        }
      }
      if (x % 6 == 0) first[x] = 0;
    }
    device_array<T> da(a, shift);
    device_array<std::int64_t> where(columns);
    auto args = make_args<2, 0, 1>(columns, rows);
    args.pointers[0] = da.data(), args.pointers[1] = where.data(), args.sizes[0] = columns;
    const std::string what = label("columns, the first", rows, columns, shift ? "misaligned" : "");
    launch<B>(what, args);
    check_close(
        what, where.host(), [&](std::size_t x) { return first[x]; }, 0, 0);
    where.check_guards(what);
  };
  for (const std::int64_t columns : {6, 63, 264, 1001, 3000})
    for (const std::int64_t rows : {1, 3, 40, 1000, 7001})
      for (const std::size_t shift : {0, 1}) {
        test(ops::argmax{}, bf16{}, columns, rows, shift), test(ops::argmin{}, bf16{}, columns, rows, shift);
        test(ops::argmax{}, f16{}, columns, rows, shift), test(ops::argmin{}, float{}, columns, rows, shift);
        test(ops::argmax{}, float{}, columns, rows, shift), test(ops::argmax{}, double{}, columns, rows, shift);
      }
}

TEST_CASE("columns: wide and narrow element types") {
  const auto test = [](auto zero, auto result_zero, const char* name) {
    using T = decltype(zero);
    using R = decltype(result_zero);
    using B = body<load<0, T, at_column<d0>>, reduce<ops::argmax, T, std::int64_t, 0>, reduce<ops::sum, T, R, 0>,
                   store<1, std::int64_t, 1, at_x>, store<2, R, 2, at_x>>;
    const std::int64_t columns = 64, rows = 1000;
    const auto a = numbers<T>(rows * columns, 1);
    device_array<T> da(a);
    device_array<std::int64_t> where(columns);
    device_array<R> sums(columns);
    auto args = make_args<3, 0, 1>(columns, rows);
    args.pointers[0] = da.data(), args.pointers[1] = where.data(), args.pointers[2] = sums.data(),
    args.sizes[0] = columns;
    launch<B>(name, args);
    check_close(
        std::string(name) + " argmax", where.host(),
        [&](std::size_t x) {
          std::int64_t best = 0;
          for (std::int64_t r = 0; r < rows; ++r)
            if (number(a[r * columns + x]) > number(a[best * columns + x])) best = r;
          return best;
        },
        0, 0);
    check_close(
        std::string(name) + " sum", sums.host(),
        [&](std::size_t x) {
          double s = 0;
          for (std::int64_t r = 0; r < rows; ++r) s += number(a[r * columns + x]);
          return s;
        },
        1e-12, 1e-9);
    where.check_guards(name), sums.check_guards(name);
  };
  test(std::uint8_t{}, std::int64_t{}, "columns u8");
  test(std::int8_t{}, std::int64_t{}, "columns i8");
  test(double{}, double{}, "columns f64");
  test(std::int64_t{}, std::int64_t{}, "columns i64");
}

// Sixteen in a vector, each with a state of its own.
TEST_CASE("columns: folds of bytes") {
  const auto test = [](auto op, auto zero, auto result_zero, std::int64_t rows, std::int64_t columns,
                       std::size_t shift) {
    using Op = decltype(op);
    using T = decltype(zero);
    using R = decltype(result_zero);
    using Stored = std::conditional_t<std::is_same_v<T, bool>, boolean, T>;
    using Result = std::conditional_t<std::is_same_v<R, bool>, boolean, R>;
    using B = body<load<0, T, at_column<d0>>, reduce<Op, T, R, 0>, store<1, R, 1, at_x>>;
    const auto a = numbers<Stored>(rows * columns, 1);
    const device_array<Stored> da(a, shift);
    const device_array<Result> out(columns);
    auto args = make_args<2, 0, 1>(columns, rows);
    args.pointers[0] = da.data(), args.pointers[1] = out.data(), args.sizes[0] = columns;
    const std::string what = label("columns of bytes", rows, columns, shift ? "misaligned" : "");
    launch<B>(what, args);
    check_close(
        what, out.host(),
        [&](std::size_t x) {
          return fold<Op>(rows, [&](std::int64_t r) { return number(a[r * columns + static_cast<std::int64_t>(x)]); });
        },
        0, 0);
    out.check_guards(what);
  };
  for (const std::int64_t rows : {3, 700})  // of three some have nothing that is true
    for (const std::int64_t columns : {96, 1001})
      for (const std::size_t shift : {0, 3}) {
        test(ops::amax{}, std::int8_t{}, std::int8_t{}, rows, columns, shift);
        test(ops::argmin{}, std::int8_t{}, std::int64_t{}, rows, columns, shift);
        test(ops::sum{}, std::uint8_t{}, std::int64_t{}, rows, columns, shift);
        test(ops::any{}, bool{}, bool{}, rows, columns, shift);
      }
}

TEST_CASE("columns: 64-bit indices give the same") {
  const std::int64_t columns = 100, rows = 500;
  const auto a = numbers<float>(rows * columns, 1);
  device_array<float> da(a), narrow(rows * columns), wide(rows * columns);
  auto args = make_args<2, 0, 1>(columns, rows);
  args.pointers[0] = da.data(), args.sizes[0] = columns;
  using B = softmax<float, d0>;
  const auto size = reduction_workspace<B, orientation::column>(columns, rows);
  args.pointers[1] = narrow.data();
  run_with_memory("32-bit", size, [&](auto& memory) {
    cuda::detail::launch_column_teams<4, int>(B{}, args, memory, nullptr, "red_test");
  });
  args.pointers[1] = wide.data();
  run_with_memory("64-bit", size, [&](auto& memory) {
    cuda::detail::launch_column_teams<1, std::int64_t>(B{}, args, memory, nullptr, "red_test");
  });
  const auto expected = narrow.host();
  check_close(
      "64-bit = 32-bit", wide.host(), [&](std::size_t i) { return expected[i]; }, 2e-6, 0);
}
