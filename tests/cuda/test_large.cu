// Tensors of more than 2^31 elements in every kind of kernel. An element is one where its position leaves a certain
// rest, else zero, so that results follow from positions and sums are exact in every order. Looked at are windows: the
// beginning, where 32-bit positions end, the end.
// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "on_cuda.cuh"

namespace si = sinter;

constexpr std::int64_t period = 251, two_31 = std::int64_t(1) << 31;
static double value_at(std::int64_t i) { return i % period == 7 ? 1 : 0; }

template <class T>
__global__ void fill(T* data, std::int64_t size, T zero, T one) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size; i += step)
    data[i] = i % period == 7 ? one : zero;
}

template <class T>
T number(double x) {
  return si::narrow<T>(static_cast<si::compute_t<T>>(x));
}

/// Device memory with the values above, or what kernels leave in it.
template <class T>
class large {
 public:
  explicit large(std::int64_t size) : size_(size), memory_(static_cast<std::size_t>(size) * sizeof(T)) {
    fill<<<4096, 256>>>(data(), size, number<T>(0), number<T>(1));
    place::check(cudaDeviceSynchronize());
  }
  T* data() const { return static_cast<T*>(memory_.data()); }

  /// Windows around some positions against expected(i).
  template <class Expected>
  void check(const Expected& expected) const {
    place::finish();
    constexpr std::int64_t width = 3000;
    for (const std::int64_t middle : {std::int64_t(0), size_ / 3, two_31, 2 * two_31, size_ - 1}) {
      const std::int64_t last = std::max<std::int64_t>(size_ - width, 0);
      const std::int64_t begin = std::clamp<std::int64_t>(middle - width / 2, 0, last);
      std::vector<T> window(static_cast<std::size_t>(std::min(width, size_ - begin)));
      place::check(cudaMemcpy(window.data(), data() + begin, window.size() * sizeof(T), cudaMemcpyDeviceToHost));
      std::int64_t wrong = 0, first = -1;
      for (std::size_t i = 0; i < window.size(); ++i) {
        const std::int64_t at = begin + static_cast<std::int64_t>(i);
        if (static_cast<double>(si::widen(window[i])) == expected(at)) continue;
        if (wrong++ == 0) first = at;
      }
      CHECK_MESSAGE(wrong == 0, wrong << " of " << window.size() << " wrong, first at " << first);
    }
  }

 private:
  std::int64_t size_;
  place::memory memory_;
};

/// The ones among `count` elements from `first` on, `step` apart.
static double ones(std::int64_t first, std::int64_t step, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < std::min(count, period); ++i)
    sum += value_at(first + i * step) * static_cast<double>((count - i + period - 1) / period);
  return sum;
}

constexpr auto twice = [](auto x) { return x + x; };
constexpr auto add_turned = [](auto x, auto y) { return x + si::transpose(y); };
constexpr auto add_row = [](auto x, auto row) { return x + row; };
constexpr auto extremes = [](auto x) { return si::amax(x, si::axis<1>) + 2 * si::amin(x, si::axis<1>); };
constexpr auto row_sum = [](auto x) { return si::sum(si::cast<float>(x), si::axis<1>); };
constexpr auto below_greatest = [](auto x) { return x - si::amax(x, si::axis<1>, si::keepdim); };
constexpr auto column_sum = [](auto x) { return si::sum(si::cast<float>(x), si::axis<0>); };
constexpr auto below_column = [](auto x) { return x - si::amax(x, si::axis<0>, si::keepdim); };
constexpr auto total = [](auto x) { return si::sum(si::cast<float>(x)); };
constexpr auto both_sums = [](auto x) {
  auto wide = si::cast<float>(x);
  return std::tuple(si::sum(wide, si::axis<1>), si::sum(wide, si::axis<0>));
};
constexpr auto pick = [](auto x, auto index) { return si::embedding(x, index); };
constexpr auto put = [](auto x, auto index, auto v) { return si::assign(x, si::index_put(x, index, v)); };

using si::f16;
template <class T>
using V = si::tensor<T, si::dyn>;
template <class T>
using M = si::tensor<T, si::dyn, si::dyn>;

/// The tests need up to 10 GB each, and may run beside others.
static bool is_small_device() {
  std::size_t available = 0, all = 0;
  return cudaMemGetInfo(&available, &all) != cudaSuccess || all < (std::size_t(32) << 30);
}

TEST_SUITE_BEGIN("large" * doctest::skip(is_small_device()));

TEST_CASE("pointwise on two billion elements") {  // the one that the sanitizers watch, by its name
  constexpr std::int64_t n = two_31 + 12345;
  const large<f16> x(n), out(n);
  si::fuse<V<f16>>(twice)(place::executor(), V<f16>(x.data(), n), V<f16>(out.data(), n));
  out.check([](std::int64_t i) { return 2 * value_at(i); });
}
TEST_CASE("pointwise in place on bytes, 2^31 and 2^32") {
  for (const std::int64_t n : {two_31, 2 * two_31 + 4321}) {
    const large<std::uint8_t> x(n);
    constexpr auto f = si::fuse<V<std::uint8_t>>([](auto a) { return si::assign(a, a + a); });
    f(place::executor(), V<std::uint8_t>(x.data(), n));
    x.check([](std::int64_t i) { return 2 * value_at(i); });
  }
}
TEST_CASE("pointwise with a static extent, 2^31") {
  constexpr long n = two_31 + 64;
  using X = si::tensor<std::uint8_t, n>;
  const large<std::uint8_t> x(n), out(n);
  si::fuse<X>(twice)(place::executor(), X(x.data()), X(out.data()));
  out.check([](std::int64_t i) { return 2 * value_at(i); });
}
TEST_CASE("pointwise with a broadcast and a transposed operand, 2^31") {
  using T = std::uint8_t;
  constexpr std::int64_t rows = 40003, columns = 57001;
  const large<T> x(rows * columns), y(rows * columns), out(rows * columns), row(columns);
  si::fuse<M<T>, M<T>>(add_turned)(place::executor(), M<T>(x.data(), rows, columns), M<T>(y.data(), columns, rows),
                                   M<T>(out.data(), rows, columns));
  out.check([](std::int64_t i) { return value_at(i) + value_at(i % columns * rows + i / columns); });
  si::fuse<M<T>, V<T>>(add_row)(place::executor(), M<T>(x.data(), rows, columns), V<T>(row.data(), columns),
                                M<T>(out.data(), rows, columns));
  out.check([](std::int64_t i) { return value_at(i) + value_at(i % columns); });
}

struct shape {
  std::int64_t rows, columns;
};
TEST_CASE("row reductions, 2^31") {
  for (const shape s : {shape{(1 << 25) + 3, 65}, shape{(1 << 20) + 1, 2064}, shape{3, (1 << 30) + 17},
                        shape{1, two_31 + 9}}) {
    CAPTURE(s.rows);
    const std::int64_t columns = s.columns;
    const large<f16> x(s.rows * columns), greatest(s.rows);
    si::fuse<M<f16>>(extremes)(place::executor(), M<f16>(x.data(), s.rows, columns), V<f16>(greatest.data(), s.rows));
    greatest.check([&](std::int64_t row) { return ones(row * columns, 1, columns) > 0 ? 1.0 : 0.0; });
    const large<float> counts(s.rows);
    si::fuse<M<f16>>(row_sum)(place::executor(), M<f16>(x.data(), s.rows, columns), V<float>(counts.data(), s.rows));
    counts.check([&](std::int64_t row) { return ones(row * columns, 1, columns); });
  }
}
TEST_CASE("row reductions of two phases, 2^31") {
  for (const shape s : {shape{(1 << 25) + 3, 65}, shape{(1 << 20) + 1, 2064}, shape{40000, 60001},
                        shape{3, (1 << 30) + 17}}) {
    CAPTURE(s.rows);
    const std::int64_t columns = s.columns;
    const large<f16> x(s.rows * columns), out(s.rows * columns);
    si::fuse<M<f16>>(below_greatest)(place::executor(), M<f16>(x.data(), s.rows, columns),
                                     M<f16>(out.data(), s.rows, columns));
    out.check([&](std::int64_t i) {
      return value_at(i) - (ones(i / columns * columns, 1, columns) > 0 ? 1.0 : 0.0);
    });
  }
}
TEST_CASE("column reductions, 2^31") {
  for (const shape s : {shape{(1 << 25) + 3, 65}, shape{(1 << 20) + 1, 2064}, shape{40, 60000001}}) {
    CAPTURE(s.rows);
    const std::int64_t columns = s.columns, rows = s.rows;
    const large<f16> x(rows * columns), out(rows * columns);
    const large<float> sums(columns);
    si::fuse<M<f16>>(column_sum)(place::executor(), M<f16>(x.data(), rows, columns), V<float>(sums.data(), columns));
    sums.check([&](std::int64_t column) { return ones(column, columns, rows); });
    si::fuse<M<f16>>(below_column)(place::executor(), M<f16>(x.data(), rows, columns),
                                   M<f16>(out.data(), rows, columns));
    out.check([&](std::int64_t i) { return value_at(i) - (ones(i % columns, columns, rows) > 0 ? 1.0 : 0.0); });
  }
}
TEST_CASE("full reductions, 2^31") {
  constexpr std::int64_t n = two_31 + 1001;
  const large<f16> x(n);
  const large<float> sum(1);
  si::fuse<V<f16>>(total)(place::executor(), V<f16>(x.data(), n), si::tensor<float>(sum.data()));
  sum.check([](std::int64_t) { return ones(0, 1, n); });
}
TEST_CASE("rows and columns at once, 2^31") {
  constexpr std::int64_t rows = (1 << 20) + 1, columns = 2064;
  const large<f16> x(rows * columns);
  const large<float> of_rows(rows), of_columns(columns);
  si::fuse<M<f16>>(both_sums)(place::executor(), M<f16>(x.data(), rows, columns), V<float>(of_rows.data(), rows),
                              V<float>(of_columns.data(), columns));
  of_rows.check([](std::int64_t row) { return ones(row * columns, 1, columns); });
  of_columns.check([](std::int64_t column) { return ones(column, columns, rows); });
}
TEST_CASE("gather and scatter, 2^31") {
  constexpr std::int64_t rows = (1 << 24) + 5, columns = 129, count = 1000;
  using T = std::uint8_t;
  std::vector<std::int64_t> places(count);
  for (std::int64_t i = 0; i < count; ++i) places[static_cast<std::size_t>(i)] = rows - 1 - i * 16000;
  place::memory index(count * 8);
  index.upload(places.data());
  const si::tensor<std::int64_t, si::dyn> where(static_cast<std::int64_t*>(index.data()), count);
  const large<T> table(rows * columns), out(count * columns);
  si::fuse<M<T>, si::tensor<std::int64_t, si::dyn>>(pick)(place::executor(), M<T>(table.data(), rows, columns), where,
                                                          M<T>(out.data(), count, columns));
  out.check([&](std::int64_t i) {
    return value_at(places[static_cast<std::size_t>(i / columns)] * columns + i % columns);
  });
  place::check(cudaMemset(out.data(), 3, count * columns));
  si::fuse<M<T>, si::tensor<std::int64_t, si::dyn>, M<T>>(put)(place::executor(), M<T>(table.data(), rows, columns),
                                                               where, M<T>(out.data(), count, columns));
  table.check([&](std::int64_t i) {
    const std::int64_t from_end = rows - 1 - i / columns;
    return from_end % 16000 == 0 && from_end / 16000 < count ? 3.0 : value_at(i);
  });
}
TEST_CASE("the ones among elements are counted") {
  CHECK(ones(0, 1, 1000) == 4);
  CHECK(ones(7, 1, 1) == 1);
  CHECK(ones(8, 1, 250) == 0);
  CHECK(ones(8, 1, 251) == 1);
  CHECK(ones(3, 65, 1 << 20) > 4000);
}

TEST_SUITE_END();
