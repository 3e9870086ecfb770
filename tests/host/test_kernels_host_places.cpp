// Lanes that do not lie beside each other: rows crossed in squares of every element size, runs too short to be walked,
// values found by indices. SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>
#include <sinter/sinter.hpp>

namespace si = sinter;

namespace {

/// All different, where T has so many values.
template <class T>
std::vector<T> numbers(std::int64_t count, std::int64_t first = 1) {
  std::vector<T> v(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = si::narrow<T>(static_cast<si::compute_t<T>>((first + static_cast<std::int64_t>(i)) % 251));
  return v;
}

/// What call(executor, y) writes is exact(i), on one thread and on two, and nothing is written past the end.
template <class T, class Call, class Exact>
void check(std::int64_t count, Call call, Exact exact) {
  const T guard = si::narrow<T>(si::compute_t<T>(77));
  for (int threads : {1, 2}) {
    std::vector<T> y(static_cast<std::size_t>(count + 1), guard);
    call(si::host_executor{threads}, y.data());
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < count; ++i) wrong += !(y[static_cast<std::size_t>(i)] == exact(i));
    CHECK(wrong == 0);
    CHECK(y.back() == guard);
  }
}
template <class T>
const T& at(const std::vector<T>& v, std::int64_t i) {
  return v[static_cast<std::size_t>(i)];
}

/// The columns of x[b, i, j] as rows, alone and beside another operand.
template <class T>
void check_turned(std::int64_t batch, std::int64_t rows, std::int64_t columns) {
  using X = si::tensor<T, si::dim<"b">, si::dim<"r">, si::dim<"c">>;
  using Y = si::tensor<T, si::dim<"b">, si::dim<"c">, si::dim<"r">>;
  constexpr auto copy = si::fuse<X>([](auto x) { return si::transpose(x); });
  constexpr auto mix = si::fuse<X, Y>([](auto x, auto y) { return si::maximum(si::transpose(x), y); });
  const std::int64_t count = batch * rows * columns;
  const auto x = numbers<T>(count), other = numbers<T>(count, 100);
  const X from(const_cast<T*>(x.data()), batch, rows, columns);
  const Y beside(const_cast<T*>(other.data()), batch, columns, rows);
  const auto turned = [&](std::int64_t i) {
    return at(x, (i / (rows * columns) * rows + i % rows) * columns + i / rows % columns);
  };
  INFO(sizeof(T) << " bytes, " << batch << " x " << rows << " x " << columns);
  check<T>(
      count, [&](auto on, T* y) { copy(on, from, Y(y, batch, columns, rows)); }, turned);
  check<T>(
      count, [&](auto on, T* y) { mix(on, from, beside, Y(y, batch, columns, rows)); },
      [&](std::int64_t i) { return si::widen(at(other, i)) > si::widen(turned(i)) ? at(other, i) : turned(i); });
}

/// All orders in which the axes of x[i, j, k] can be read where the last one is not the innermost.
template <class T>
void check_permuted(std::int64_t i, std::int64_t j, std::int64_t k) {
  using X = si::tensor<T, si::dim<"i">, si::dim<"j">, si::dim<"k">>;
  const auto x = numbers<T>(i * j * k);
  const X from(const_cast<T*>(x.data()), i, j, k);
  INFO(i << " x " << j << " x " << k);
  constexpr auto kij = si::fuse<X>([](auto x) { return si::permute<2, 0, 1>(x); });
  constexpr auto kji = si::fuse<X>([](auto x) { return si::permute<2, 1, 0>(x); });
  constexpr auto jki = si::fuse<X>([](auto x) { return si::permute<1, 2, 0>(x); });
  check<T>(
      i * j * k,
      [&](auto on, T* y) { kij(on, from, si::tensor<T, si::dim<"k">, si::dim<"i">, si::dim<"j">>(y, k, i, j)); },
      [&](std::int64_t n) { return at(x, n % (i * j) * k + n / (i * j)); });
  check<T>(
      i * j * k,
      [&](auto on, T* y) { kji(on, from, si::tensor<T, si::dim<"k">, si::dim<"j">, si::dim<"i">>(y, k, j, i)); },
      [&](std::int64_t n) { return at(x, (n % i * j + n / i % j) * k + n / (i * j)); });
  check<T>(
      i * j * k,
      [&](auto on, T* y) { jki(on, from, si::tensor<T, si::dim<"j">, si::dim<"k">, si::dim<"i">>(y, j, k, i)); },
      [&](std::int64_t n) { return at(x, n % i * j * k + n / i); });
}
/// The same with extents that the plan knows.
template <class T, long I, long J, long K>
void check_permuted() {
  constexpr auto kji = si::fuse<si::tensor<T, I, J, K>>([](auto x) { return si::permute<2, 1, 0>(x); });
  constexpr auto jki = si::fuse<si::tensor<T, I, J, K>>([](auto x) { return si::permute<1, 2, 0>(x); });
  const auto x = numbers<T>(I * J * K);
  const si::tensor<T, I, J, K> from(const_cast<T*>(x.data()));
  INFO(I << " x " << J << " x " << K);
  check<T>(
      I * J * K, [&](auto on, T* y) { kji(on, from, si::tensor<T, K, J, I>(y)); },
      [&](std::int64_t n) { return at(x, (n % I * J + n / I % J) * K + n / (I * J)); });
  check<T>(
      I * J * K, [&](auto on, T* y) { jki(on, from, si::tensor<T, J, K, I>(y)); },
      [&](std::int64_t n) { return at(x, n % I * J * K + n / I); });
}

/// Parts A, B and A columns wide beside each other.
template <class T, long A, long B>
void check_concat(std::int64_t rows) {
  using X = si::tensor<T, si::dyn, A>;
  using Y = si::tensor<T, si::dyn, B>;
  constexpr auto f = si::fuse<X, Y, X>([](auto a, auto b, auto c) { return si::concat<-1>(a, b, c); });
  const auto a = numbers<T>(rows * A), b = numbers<T>(rows * B, 50), c = numbers<T>(rows * A, 90);
  INFO(rows << " rows of " << A << ", " << B << " and " << A);
  constexpr long all = 2 * A + B;
  check<T>(
      rows * all,
      [&](auto on, T* y) {
        f(on, X(const_cast<T*>(a.data()), rows), Y(const_cast<T*>(b.data()), rows), X(const_cast<T*>(c.data()), rows),
          si::tensor<T, si::dyn, all>(y, rows));
      },
      [&](std::int64_t n) {
        const std::int64_t row = n / all, j = n % all;
        return j < A ? at(a, row * A + j) : j < A + B ? at(b, row * B + j - A) : at(c, row * A + j - A - B);
      });
}
/// Extents that the plan does not know.
void check_concat(std::int64_t rows, std::int64_t m, std::int64_t n) {
  using X = si::tensor<float, si::dim<"rows">, si::dim<"m">>;
  using Y = si::tensor<float, si::dim<"rows">, si::dim<"n">>;
  constexpr auto f = si::fuse<X, Y>([](auto x, auto y) { return si::concat<-1>(x, y); });
  const auto x = numbers<float>(rows * m), y = numbers<float>(rows * n, 50);
  INFO(rows << " rows of " << m << " and " << n);
  check<float>(
      rows * (m + n),
      [&](auto on, float* to) {
        f(on, X(const_cast<float*>(x.data()), rows, m), Y(const_cast<float*>(y.data()), rows, n),
          si::tensor<float, si::dyn, si::dyn>(to, rows, m + n));
      },
      [&](std::int64_t i) {
        const std::int64_t row = i / (m + n), j = i % (m + n);
        return j < m ? at(x, row * m + j) : at(y, row * n + j - m);
      });
}
template <class T>
void check_stacked(std::int64_t count) {
  using X = si::tensor<T, si::dyn>;
  constexpr auto two = si::fuse<X, X>([](auto a, auto b) { return si::stack<-1>(a, b); });
  constexpr auto three = si::fuse<X, X>([](auto a, auto b) { return si::stack<-1>(a, b, a); });
  const auto a = numbers<T>(count), b = numbers<T>(count, 50);
  const X x(const_cast<T*>(a.data()), count), y(const_cast<T*>(b.data()), count);
  check<T>(
      2 * count, [&](auto on, T* to) { two(on, x, y, si::tensor<T, si::dyn, 2>(to, count)); },
      [&](std::int64_t n) { return at(n % 2 == 0 ? a : b, n / 2); });
  check<T>(
      3 * count, [&](auto on, T* to) { three(on, x, y, si::tensor<T, si::dyn, 3>(to, count)); },
      [&](std::int64_t n) { return at(n % 3 == 1 ? b : a, n / 3); });
}

/// Indices in no order, some of them negative; `repeat` neighbours have the same.
template <class Index>
std::vector<Index> indices(std::int64_t count, std::int64_t bound, std::int64_t repeat = 1) {
  std::vector<Index> v(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = static_cast<Index>(static_cast<std::int64_t>(i) / repeat * 7919 % (2 * bound) - bound);
  return v;
}
std::int64_t counted(std::int64_t index, std::int64_t bound) { return index < 0 ? index + bound : index; }

/// Rows of a table: with a width that the plan knows, with one that it does not, and beside another tensor.
template <class T, class Index, long Width>
void check_embedding(std::int64_t count) {
  using Table = si::tensor<T, si::dyn, Width>;
  using Ids = si::tensor<Index, si::dyn>;
  using Open = si::tensor<T, si::dyn, si::dyn>;
  constexpr std::int64_t bound = 37;
  const auto table = numbers<T>(bound * Width), beside = numbers<T>(count, 50);
  const auto ids = indices<Index>(count, bound);
  const auto found = [&](std::int64_t row, std::int64_t j) {
    return at(table, counted(at(ids, row), bound) * Width + j);
  };
  const Ids rows(const_cast<Index*>(ids.data()), count);
  INFO(count << " rows of " << Width);
  constexpr auto f = si::fuse<Table, Ids>([](auto t, auto i) { return si::embedding(t, i); });
  check<T>(
      count * Width, [&](auto on, T* y) { f(on, Table(const_cast<T*>(table.data()), bound), rows, Table(y, count)); },
      [&](std::int64_t n) { return found(n / Width, n % Width); });
  constexpr auto open = si::fuse<Open, Ids>([](auto t, auto i) { return si::embedding(t, i); });
  check<T>(
      count * Width,
      [&](auto on, T* y) { open(on, Open(const_cast<T*>(table.data()), bound, Width), rows, Open(y, count, Width)); },
      [&](std::int64_t n) { return found(n / Width, n % Width); });
  using Column = si::tensor<T, si::dyn, 1>;
  using Wider = si::tensor<T, si::dyn, Width + 1>;
  constexpr auto more =
      si::fuse<Column, Table, Ids>([](auto x, auto t, auto i) { return si::concat<-1>(x, si::embedding(t, i)); });
  check<T>(
      count * (Width + 1),
      [&](auto on, T* y) {
        more(on, Column(const_cast<T*>(beside.data()), count), Table(const_cast<T*>(table.data()), bound), rows,
             Wider(y, count));
      },
      [&](std::int64_t n) {
        const std::int64_t row = n / (Width + 1), j = n % (Width + 1);
        return j == 0 ? at(beside, row) : found(row, j - 1);
      });
}

/// Along the last axis and the first, by indices of which `repeat` neighbours are the same.
void check_gather(std::int64_t rows, std::int64_t columns, std::int64_t repeat) {
  using X = si::tensor<float, si::dyn, si::dyn>;
  using Ids = si::tensor<std::int64_t, si::dyn, si::dyn>;
  constexpr auto along = si::fuse<X, Ids>([](auto x, auto i) { return si::gather<-1>(x, i); });
  constexpr auto down = si::fuse<X, Ids>([](auto x, auto i) { return si::gather<0>(x, i); });
  const auto x = numbers<float>(rows * columns);
  const X from(const_cast<float*>(x.data()), rows, columns);
  const auto across = indices<std::int64_t>(rows * columns, columns, repeat),
             below = indices<std::int64_t>(rows * columns, rows, repeat);
  INFO(rows << " x " << columns << ", " << repeat << " alike");
  check<float>(
      rows * columns,
      [&](auto on, float* y) {
        along(on, from, Ids(const_cast<std::int64_t*>(across.data()), rows, columns), X(y, rows, columns));
      },
      [&](std::int64_t n) { return at(x, n / columns * columns + counted(at(across, n), columns)); });
  check<float>(
      rows * columns,
      [&](auto on, float* y) {
        down(on, from, Ids(const_cast<std::int64_t*>(below.data()), rows, columns), X(y, rows, columns));
      },
      [&](std::int64_t n) { return at(x, counted(at(below, n), rows) * columns + n % columns); });
}

/// The runs of an index expression, from anywhere on, are where it says; `sizes` are its dynamic numbers.
template <class At>
void check_runs(const std::vector<std::int64_t>& sizes = {0}) {
  using si::cpu::detail::for_runs;
  for (const std::int64_t x : {0l, 1l, 255l, 256l, 1000l, 123456789l, 1l << 40})
    for (const int count : {1, 2, 31, 33, 200, 256}) {
      std::int64_t wrong = 0, seen = 0;
      const auto compare = [&](int first, int n, std::int64_t offset, auto step) {
        for (int i = 0; i < n; ++i, ++seen)
          wrong += offset + si::cpu::detail::along(step, i) !=
                   si::detail::at_facts<At>::template offset<std::int64_t>(x + first + i, 0, sizes);
      };
      for_runs<At, si::loop_var::x, 256, false, 24>(x, 0, count, sizes, compare);
      for_runs<At, si::loop_var::x, 256, false, 0>(x, 0, count, sizes, compare);
      INFO(count << " lanes from " << x);
      CHECK(wrong == 0);
      CHECK(seen == 2 * count);
    }
}
template <long Div, long Mod, long Coef>
using x_term = si::term<si::loop_var::x, Div, Mod, Coef>;

}  // namespace

TEST_CASE("matrices of every element size are turned") {
  const auto all = [](std::int64_t batch, std::int64_t rows, std::int64_t columns) {
    check_turned<std::uint8_t>(batch, rows, columns);
    check_turned<si::bf16>(batch, rows, columns);
    check_turned<float>(batch, rows, columns);
    check_turned<double>(batch, rows, columns);
  };
  for (std::int64_t rows : {1, 2, 3, 8, 33, 100, 257})
    for (std::int64_t columns : {1, 7, 8, 65, 300}) all(1, rows, columns);
  all(1, 512, 320);
  all(3, 47, 70);
  all(5, 270, 3);
  all(300, 5, 3);
  check_turned<float>(2, 0, 3);
  check_turned<float>(2, 3, 0);
}

TEST_CASE("axes are read in any order") {
  for (std::int64_t i : {1, 3, 40})
    for (std::int64_t j : {1, 5, 66})
      for (std::int64_t k : {1, 2, 17, 300}) check_permuted<float>(i, j, k);
  check_permuted<si::bf16>(33, 18, 100);
  check_permuted<float, 3, 40, 50>();
  check_permuted<float, 64, 16, 48>();
  check_permuted<std::uint8_t, 4, 7, 300>();
}

TEST_CASE("parts of any width lie beside each other") {
  for (std::int64_t rows : {1, 2, 100, 7000}) {
    check_concat<float, 1, 2>(rows);
    check_concat<float, 3, 7>(rows);
    check_concat<si::bf16, 2, 31>(rows);
    check_concat<std::uint8_t, 1, 1>(rows);
    check_concat<double, 40, 5>(rows);
    check_concat(rows, 1, 1);
    check_concat(rows, 3, 2);
    check_concat(rows, 1, 40);
  }
  for (std::int64_t count : {1, 3, 255, 20000}) {
    check_stacked<float>(count);
    check_stacked<std::int64_t>(count);
    check_stacked<std::uint8_t>(count);
  }
}

TEST_CASE("indices find rows of a table and single values") {
  for (std::int64_t count : {1, 5, 1000}) {
    check_embedding<float, std::int64_t, 1>(count);
    check_embedding<float, std::int32_t, 7>(count);
    check_embedding<si::bf16, std::int64_t, 64>(count);
    check_embedding<std::uint8_t, std::int64_t, 300>(count);
    check_embedding<float, std::int64_t, 1024>(count);
  }
  for (std::int64_t repeat : {1, 5, 700})
    for (std::int64_t columns : {1, 3, 64, 1000}) check_gather(50, columns, repeat);
}

TEST_CASE("an index out of range leaves memory alone") {
  using Table = si::tensor<float, si::dyn, 300>;
  using Ids = si::tensor<std::int64_t, si::dyn>;
  constexpr auto f = si::fuse<Table, Ids>([](auto t, auto i) { return si::embedding(t, i); });
  auto table = numbers<float>(600);
  std::vector<std::int64_t> ids{2, -3, INT64_MAX, INT64_MIN, 1};
  std::vector<float> y(1500);
  f(si::host, Table(table.data(), 2), Ids(ids.data(), 5), Table(y.data(), 5));
  CHECK(std::equal(y.begin() + 1200, y.end(), table.begin() + 300));
  // Of no rows there is nothing to read.
  f(si::host, Table(table.data(), 0), Ids(ids.data(), 5), Table(y.data(), 5));
  CHECK(y == std::vector<float>(1500));
}

TEST_CASE("runs of lanes lie where an index expression says") {
  check_runs<si::at<3, x_term<1, 2, 5>>>();
  check_runs<si::at<-4, x_term<2, 0, 1>>>();
  check_runs<si::at<0, x_term<1, 3, 1000>, x_term<3, 0, 1>>>();
  check_runs<si::at<0, x_term<1, 7, -1>, x_term<7, 5, 7>, x_term<35, 0, 100>>>();
  check_runs<si::at<0, x_term<1, 0, 1>, x_term<31, 11, -3>>>();
  check_runs<si::at<0, x_term<1, 1000, 1>, x_term<1000, 0, 1>>>();
  check_runs<si::at<0, x_term<1, 70000, 1>, x_term<3, 70001, 9>>>();
  // Further apart than 32 bits say.
  check_runs<si::at<0, x_term<1, 3, (1l << 33)>, x_term<3, 0, 1>>>();
  check_runs<si::at<0, x_term<2, (1l << 22), 4096>, x_term<(1l << 23), 0, 1>>>();
  constexpr long a = si::dynamic_number(0), b = si::dynamic_number(1);
  for (std::int64_t m : {1, 2, 3, 40})
    for (std::int64_t n : {1, 5, 70}) check_runs<si::at<1, x_term<1, a, b>, x_term<a, b, 1>, x_term<a, 0, 3>>>({m, n});
}
