// The ways that host kernels take through memory: results too large for the cache, at any alignment; rows crossed in
// tiles; values of a row that are kept for later phases, and rows too long for it; columns by whole rows; conditions
// that hold for whole blocks. SPDX-License-Identifier: BSL-1.0
#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>
#include <sinter/sinter.hpp>

namespace si = sinter;

namespace {

template <class T>
std::vector<T> values(std::int64_t count) {
  std::vector<T> v(static_cast<std::size_t>(count));
  std::uint32_t state = 1;
  for (T& x : v) {
    state = state * 1664525u + 1013904223u;
    x = si::narrow<T>(static_cast<si::compute_t<T>>(static_cast<double>(state >> 8) / (1 << 23) - 1.0));
  }
  return v;
}

/// y = 2 x + 1 where y begins `shift` elements past an allocation: nothing beside it may change.
template <class T>
void check_large(std::int64_t count, int shift) {
  constexpr auto f = si::fuse<si::tensor<T, si::dyn>>([](auto x) { return 2.0f * x + 1.0f; });
  const auto x = values<T>(count);
  std::vector<T> y(static_cast<std::size_t>(count + shift + 1), si::narrow<T>(-7.0f));
  f(si::host, si::tensor<T, si::dyn>(const_cast<T*>(x.data()), count), si::tensor<T, si::dyn>(y.data() + shift, count));
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const float exact = 2.0f * si::widen(x[static_cast<std::size_t>(i)]) + 1.0f;
    wrong += y[static_cast<std::size_t>(i + shift)] != si::narrow<T>(exact);
  }
  CHECK(wrong == 0);
  for (int i = 0; i < shift; ++i) CHECK(y[static_cast<std::size_t>(i)] == si::narrow<T>(-7.0f));
  CHECK(y.back() == si::narrow<T>(-7.0f));
}

/// x[b, i, j] + y[b, j, i].
void check_transposed(std::int64_t batch, std::int64_t rows, std::int64_t columns) {
  using X = si::tensor<float, si::dim<"b">, si::dim<"r">, si::dim<"c">>;
  using Y = si::tensor<float, si::dim<"b">, si::dim<"c">, si::dim<"r">>;
  constexpr auto f = si::fuse<X, Y>([](auto x, auto y) { return x + si::transpose(y); });
  auto x = values<float>(batch * rows * columns), y = values<float>(batch * rows * columns + 1);
  y.erase(y.begin());
  std::vector<float> z(x.size(), NAN);
  f(si::host, X(x.data(), batch, rows, columns), Y(y.data(), batch, columns, rows), X(z.data(), batch, rows, columns));
  std::int64_t wrong = 0;
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        const auto at = static_cast<std::size_t>((b * rows + i) * columns + j);
        wrong += z[at] != x[at] + y[static_cast<std::size_t>((b * columns + j) * rows + i)];
      }
  INFO(batch << " x " << rows << " x " << columns);
  CHECK(wrong == 0);
}

/// exact(row i) of f's results, for rows of exponentials that are kept.
template <class F, class Exact>
void check_kept(std::int64_t rows, std::int64_t width, F f, Exact exact) {
  using X = si::tensor<float, si::dyn, si::dim<"width">>;
  auto x = values<float>(rows * width);
  std::vector<float> y(x.size(), NAN);
  f(si::host, X(x.data(), rows, width), X(y.data(), rows, width));
  double worst = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    std::vector<double> row(x.begin() + i * width, x.begin() + (i + 1) * width);
    exact(row);
    for (std::int64_t j = 0; j < width; ++j) {
      const float found = y[static_cast<std::size_t>(i * width + j)];
      const double wanted = row[static_cast<std::size_t>(j)];
      worst = std::fmax(worst, found == found ? std::fabs(found - wanted) / wanted : INFINITY);
    }
  }
  INFO(rows << " x " << width);
  CHECK(worst < 2e-6);
}
void softmax_of(std::vector<double>& row) {
  double total = 0;
  for (double& value : row) total += value = std::exp(value);
  for (double& value : row) value /= total;
}
void check_softmax(std::int64_t rows, std::int64_t width) {
  constexpr auto f =
      si::fuse<si::tensor<float, si::dyn, si::dim<"width">>>([](auto x) { return si::softmax(x, si::axis<-1>); });
  check_kept(rows, width, f, softmax_of);
}
/// The last phase reads what is kept from the first one and from the one before it.
void check_kept_twice(std::int64_t rows, std::int64_t width) {
  constexpr auto f = si::fuse<si::tensor<float, si::dyn, si::dim<"width">>>([](auto x) {
    auto e = si::exp(x);
    return si::softmax(e, si::axis<-1>) * e;
  });
  check_kept(rows, width, f, [](std::vector<double>& row) {
    std::vector<double> e = row;
    for (double& value : e) value = std::exp(value);
    row = e;
    softmax_of(row);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] *= e[j];
  });
}

/// Sums and sample variances of x[b, i, j] over i.
void check_columns(std::int64_t batch, std::int64_t rows, std::int64_t columns) {
  using X = si::tensor<float, si::dyn, si::dim<"rows">, si::dim<"columns">>;
  using Y = si::tensor<float, si::dyn, si::dim<"columns">>;
  constexpr auto f = si::fuse<X>([](auto x) { return std::tuple(si::sum(x, si::axis<1>), si::var(x, si::axis<1>)); });
  const auto x = values<float>(batch * rows * columns);
  std::vector<float> sum(static_cast<std::size_t>(batch * columns), NAN), var = sum, again = sum;
  const X in(const_cast<float*>(x.data()), batch, rows, columns);
  f(si::host_executor{3}, in, Y(sum.data(), batch, columns), Y(var.data(), batch, columns));
  double worst = 0;
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t j = 0; j < columns; ++j) {
      const auto at = [&](std::int64_t i) {
        return static_cast<double>(x[static_cast<std::size_t>((b * rows + i) * columns + j)]);
      };
      double total = 0, squares = 0;
      for (std::int64_t i = 0; i < rows; ++i) total += at(i);
      for (std::int64_t i = 0; i < rows; ++i) squares += std::pow(at(i) - total / static_cast<double>(rows), 2);
      const auto to = static_cast<std::size_t>(b * columns + j);
      const double variance = squares / static_cast<double>(rows - 1);
      worst = std::fmax(worst, sum[to] == sum[to] ? std::fabs(sum[to] - total) : INFINITY);
      worst = std::fmax(worst, var[to] == var[to] ? std::fabs(var[to] - variance) : INFINITY);
    }
  INFO(batch << " x " << rows << " x " << columns);
  CHECK(worst < 1e-4);
  f(si::host_executor{1}, in, Y(again.data(), batch, columns), Y(var.data(), batch, columns));
  CHECK(again == sum);
}

/// (x rotated left by Cut, the part that comes round negated) * x, over rows of Width.
template <long Width, long Cut>
void check_rotated(std::int64_t rows) {
  using X = si::tensor<float, si::dyn, Width>;
  constexpr auto f =
      si::fuse<X>([](auto x) { return si::concat<-1>(si::slice<-1, Cut, Width>(x), -si::slice<-1, 0, Cut>(x)) * x; });
  const auto x = values<float>(rows * Width);
  std::vector<float> y(x.size(), NAN);
  f(si::host, X(const_cast<float*>(x.data()), rows), X(y.data(), rows));
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    for (long j = 0; j < Width; ++j) {
      const float* const row = x.data() + i * Width;
      const float moved = j < Width - Cut ? row[j + Cut] : -row[j + Cut - Width];
      wrong += y[static_cast<std::size_t>(i * Width + j)] != moved * row[j];
    }
  INFO(rows << " x " << Width << ", cut at " << Cut);
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("results too large for the cache arrive whole, wherever they lie") {
  for (int shift : {0, 1, 3, 16}) check_large<float>((9 << 20) + 5, shift);
  check_large<si::bf16>((17 << 20) + 1, 5);
  check_large<double>((5 << 20) + 3, 1);
}

TEST_CASE("large assignments read what they write") {
  using V = si::tensor<float, si::dyn>;
  constexpr auto f = si::fuse<V>([](auto x) { return si::assign(x, x * 3.0f); });
  const auto before = values<float>((9 << 20) + 3);
  auto x = before;
  f(si::host, V(x.data(), static_cast<long>(x.size())));
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i) wrong += x[i] != before[i] * 3.0f;
  CHECK(wrong == 0);
}

TEST_CASE("rows are crossed in squares of any shape") {
  for (std::int64_t rows : {1, 2, 31, 32, 33, 100})
    for (std::int64_t columns : {1, 5, 63, 64, 65, 200}) check_transposed(1, rows, columns);
  check_transposed(1, 300, 600);
  // Batches end inside squares.
  for (std::int64_t rows : {1, 3, 32, 47, 270}) check_transposed(5, rows, 70);
  check_transposed(0, 4, 4);
}

TEST_CASE("exponentials are kept over rows of any length") {
  for (std::int64_t width : {1, 7, 64, 511, 513, 4096, 65536, 65537}) check_softmax(3, width);
  check_softmax(1, 200000);
  check_softmax(9000, 1024);  // and go past the cache
  check_softmax(2900, 3001);  // where a row begins and ends within a line
  check_softmax(900000, 11);  // and where it may not fill one
  check_softmax(150, 65536);  // one row while the next is computed
  check_kept_twice(3, 1000);
  check_kept_twice(2900, 3001);
  check_kept_twice(150, 65536);
}

TEST_CASE("columns are reduced by whole rows where there is much to read") {
  check_columns(1, 700, 1000);  // blocks of columns that are not full
  check_columns(1, 5000, 513);
  check_columns(1, 300, 5000);
  check_columns(3, 200, 1000);  // a batch is not one piece of memory
  check_columns(1, 2000, 200);  // one block of columns
  check_columns(1, 3, 1000);
}

TEST_CASE("the parts of a concatenation meet blocks of lanes, or do not") {
  for (std::int64_t rows : {1, 3, 1000}) {
    check_rotated<128, 64>(rows);
    check_rotated<192, 64>(rows);
    check_rotated<256, 128>(rows);
    check_rotated<128, 32>(rows);
    check_rotated<96, 48>(rows);
    check_rotated<65, 1>(rows);
  }
}
