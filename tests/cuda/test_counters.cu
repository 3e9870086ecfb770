// Kernels whose blocks reduce together count each other, and leave the counters at zero: plans of several such kernels,
// one after another in one workspace of any content, with counters that are cleared once, and as graphs that are
// replayed with other inputs and extents. SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "on_cuda.cuh"

namespace si = sinter;

namespace {

/// Numbers of which every sum is exact, other ones for each seed.
class matrix {
 public:
  explicit matrix(std::int64_t size, int seed = 0)
      : values_(static_cast<std::size_t>(size)), memory_(values_.size() * 4) {
    for (std::size_t i = 0; i < values_.size(); ++i)
      values_[i] = static_cast<float>((i * 7 + i / 1000 * 13 + static_cast<std::size_t>(seed) * 5) % 8) - 3;
    memory_.upload(values_.data());
  }
  float* data() const { return static_cast<float*>(memory_.data()); }
  float* host() { return values_.data(); }
  void spoil() const { place::check(cudaMemsetAsync(data(), 0xff, values_.size() * 4, place::executor())); }
  std::vector<float> read() const {
    place::finish();
    std::vector<float> now(values_.size());
    memory_.download(now.data());
    return now;
  }

 private:
  std::vector<float> values_;
  place::memory memory_;
};

constexpr auto columns = si::dim<"columns">;
using X = si::tensor<float, si::dyn, columns>;
using C = si::tensor<float, columns>;
using R = si::tensor<float, si::dyn>;
using S = si::tensor<float>;

// Columns, all of it, and few long rows of several phases: kernel after kernel.
constexpr auto several = si::fuse<si::eager, X>([](auto x) {
  return std::tuple(si::sum(x, si::axis<0>), si::sum(x * x), si::softmax(x), si::amax(x, si::axis<-1>));
});
// In one kernel.
constexpr auto crossed =
    si::fuse<si::max_fusion, X>([](auto x) { return std::tuple(si::sum(x, si::axis<1>), si::sum(x, si::axis<0>)); });

/// What both plans give.
struct results {
  matrix of_columns, all, rows, greatest, row_sums, column_sums;
  results(std::int64_t m, std::int64_t n)
      : of_columns(n), all(1), rows(m * n), greatest(m), row_sums(m), column_sums(n) {}

  template <class Executor>
  void run_several(const Executor& e, float* x, std::int64_t m, std::int64_t n) const {
    several(e, X(x, m, n), C(of_columns.data(), n), S(all.data()), X(rows.data(), m, n), R(greatest.data(), m));
  }
  template <class Executor>
  void run_crossed(const Executor& e, float* x, std::int64_t m, std::int64_t n) const {
    crossed(e, X(x, m, n), R(row_sums.data(), m), C(column_sums.data(), n));
  }
  void spoil() const {
    for (const matrix* r : {&of_columns, &all, &rows, &greatest, &row_sums, &column_sums}) r->spoil();
  }
  /// As bits, one after the other.
  std::vector<float> read() const {
    std::vector<float> together;
    for (const matrix* r : {&of_columns, &all, &rows, &greatest, &row_sums, &column_sums}) {
      const auto one = r->read();
      together.insert(together.end(), one.begin(), one.end());
    }
    return together;
  }
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * 4) == 0;
}

struct extents {
  std::int64_t m, n;
};
// Columns by many blocks, rows by teams, both, neither.
constexpr extents shapes[] = {{40000, 67}, {3, 200'001}, {16, 100'000}, {2000, 1000}, {7, 5}, {1, 1'000'000}};

}  // namespace

TEST_CASE("sums by many blocks are exact") {
  for (const auto& [m, n] : shapes) {
    CAPTURE(m);
    CAPTURE(n);
    matrix x(m * n, 1);
    const results found(m, n);
    found.run_several(place::executor(), x.data(), m, n);
    found.run_crossed(place::executor(), x.data(), m, n);
    std::vector<float> rows(static_cast<std::size_t>(m)), sums(static_cast<std::size_t>(n));
    float squares = 0;
    for (std::int64_t i = 0; i < m * n; ++i) {
      const float v = x.host()[i];
      rows[static_cast<std::size_t>(i / n)] += v, sums[static_cast<std::size_t>(i % n)] += v, squares += v * v;
    }
    CHECK(same_bits(found.of_columns.read(), sums));
    CHECK(same_bits(found.row_sums.read(), rows));
    CHECK(same_bits(found.column_sums.read(), sums));
    CHECK(found.all.read()[0] == squares);
  }
}

TEST_CASE("plans in one workspace, in turn") {
  for (const auto& [m, n] : shapes) {
    CAPTURE(m);
    CAPTURE(n);
    const matrix x(m * n, 1);
    const results expected(m, n), found(m, n);
    expected.run_several(place::executor(), x.data(), m, n);
    expected.run_crossed(place::executor(), x.data(), m, n);
    const auto want = expected.read();

    const std::int64_t bytes = std::max(several.workspace_bytes(m, n), crossed.workspace_bytes(m, n));
    const std::int64_t counter_bytes = std::max(several.counter_bytes(m, n), crossed.counter_bytes(m, n));
    const place::memory workspace(static_cast<std::size_t>(bytes)), counters(static_cast<std::size_t>(counter_bytes));
    place::check(cudaMemset(counters.data(), 0, static_cast<std::size_t>(counter_bytes)));
    for (const bool at_zero : {false, true}) {
      CAPTURE(at_zero);
      const si::cuda_executor executor{place::executor(), workspace.data(), bytes, at_zero ? counters.data() : nullptr,
                                       counter_bytes};
      for (int repeat = 0; repeat < 4; ++repeat) {
        found.spoil();
        place::check(cudaMemsetAsync(workspace.data(), 0xa5, static_cast<std::size_t>(bytes), place::executor()));
        found.run_several(executor, x.data(), m, n);
        found.run_crossed(executor, x.data(), m, n);
        found.run_several(executor, x.data(), m, n);
        CHECK(same_bits(found.read(), want));
      }
    }
    std::vector<unsigned char> left(static_cast<std::size_t>(counter_bytes));
    counters.download(left.data());
    for (const unsigned char byte : left) REQUIRE(byte == 0);
  }
}

TEST_CASE("a captured plan of several such kernels, replayed with other inputs and extents") {
  const auto& [most_m, most_n] = shapes[0];
  matrix x(std::max(most_m * most_n, std::int64_t(5'000'000)), 3);
  const results first(7, 5);  // without a counter yet
  si::captured g(several, X(x.data(), 7, 5), C(first.of_columns.data(), 5), S(first.all.data()),
                 X(first.rows.data(), 7, 5), R(first.greatest.data(), 7));
  for (int turn = 0; turn < 2; ++turn)
    for (const auto& [m, n] : shapes) {
      CAPTURE(m);
      CAPTURE(n);
      const results expected(m, n), found(m, n);
      for (int replay = 0; replay < 20; ++replay) {
        for (std::int64_t i = replay; i < m * n; i += 97) x.host()[i] = static_cast<float>((i + replay) % 5);
        place::check(cudaMemcpy(x.data(), x.host(), static_cast<std::size_t>(m * n) * 4, cudaMemcpyHostToDevice));
        found.spoil();
        g(place::executor(), X(x.data(), m, n), C(found.of_columns.data(), n), S(found.all.data()),
          X(found.rows.data(), m, n), R(found.greatest.data(), m));
        found.run_crossed(place::executor(), x.data(), m, n);
        if (replay % 5 != 4) continue;
        expected.run_several(place::executor(), x.data(), m, n);
        expected.run_crossed(place::executor(), x.data(), m, n);
        CHECK(same_bits(found.read(), expected.read()));
      }
    }
}

TEST_CASE("too few counters are refused") {
  constexpr std::int64_t m = 40000, n = 67;
  const matrix x(m * n, 1);
  const results found(m, n);
  const place::memory workspace(static_cast<std::size_t>(several.workspace_bytes(m, n))), counters(4);
  static_assert(several.counter_bytes(m, n) > 4 && several.counter_bytes(7, 5) == 0);
  const si::cuda_executor executor{place::executor(), workspace.data(), several.workspace_bytes(m, n), counters.data(),
                                   4};
  CHECK_THROWS_AS(found.run_several(executor, x.data(), m, n), si::argument_error);
}
