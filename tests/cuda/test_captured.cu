// captured: replays of one CUDA graph against direct calls, with the recorded and with other arguments: pointers,
// values, extents; graphs of several kernels, of foreign matmuls, of split reductions, of scans, of none; what moves and
// throws.
// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "on_cuda.cuh"

namespace si = sinter;

/// Floats on the device: zeros, or other ones for each seed.
class floats {
 public:
  explicit floats(std::int64_t size, int seed = 0)
      : values_(static_cast<std::size_t>(size)), memory_(values_.size() * 4) {
    for (std::size_t i = 0; i < values_.size(); ++i)
      values_[i] = seed == 0 ? 0.0f : std::sin(0.37f * static_cast<float>(i) + static_cast<float>(seed));
    if (size > 0) memory_.upload(values_.data());
  }
  float* data() const { return static_cast<float*>(memory_.data()); }
  std::vector<float> read() const {
    place::finish();
    std::vector<float> now(values_.size());
    if (!now.empty()) memory_.download(now.data());
    return now;
  }

 private:
  std::vector<float> values_;
  place::memory memory_;
};

static bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * 4) == 0);
}

constexpr int width = 96;
using X = si::tensor<float, si::dyn, width>;
using W = si::tensor<float, width, width>;
constexpr auto block = [](auto x, auto w, auto scale) {
  auto h = si::softmax(x) * scale;
  return std::tuple(x + si::gelu(si::matmul(h, w)), si::sum(x, si::axis<0>));
};
using Sums = si::tensor<float, width>;

/// A captured f keeps giving what f gives, whatever changes from call to call.
template <class Fused>
void check_replays(const Fused& f) {
  constexpr std::int64_t most = 3000;
  const floats x1(most * width, 1), x2(most * width, 2), w1(width * width, 3), w2(width * width, 4);
  const floats expected(most * width), expected_sums(width), out1(most * width), out2(most * width), sums(width);
  si::captured g(f, X(x1.data(), 40), W(w1.data()), 0.5f, X(out1.data(), 40), Sums(sums.data()));
  g(place::executor());
  f(place::executor(), X(x1.data(), 40), W(w1.data()), 0.5f, X(expected.data(), 40), Sums(expected_sums.data()));
  CHECK(same_bits(out1.read(), expected.read()));
  CHECK(same_bits(sums.read(), expected_sums.read()));
  struct step {
    const floats &x, &w, &out;
    float scale;
    std::int64_t rows;
  };
  const step steps[] = {
      {x1, w1, out1, 0.5f, 40},    {x2, w1, out1, 0.5f, 40},  {x2, w2, out2, 0.5f, 40}, {x2, w2, out2, 0.25f, 40},
      {x2, w2, out2, 0.25f, 3000}, {x1, w2, out2, 1.0f, 1},   {x1, w2, out2, 1.0f, 0},  {x1, w2, out2, 1.0f, 0},
      {x1, w1, out1, 2.0f, 777},   {x1, w1, out1, 2.0f, 777}, {x1, w1, out1, 0.0f, 40}, {x1, w1, out1, -0.0f, 40},
  };
  for (const step& s : steps) {
    CAPTURE(s.rows);
    CAPTURE(s.scale);
    place::check(cudaMemset(s.out.data(), 0, most * width * 4));
    place::check(cudaMemset(expected.data(), 0, most * width * 4));
    g(place::executor(), X(s.x.data(), s.rows), W(s.w.data()), s.scale, X(s.out.data(), s.rows), Sums(sums.data()));
    f(place::executor(), X(s.x.data(), s.rows), W(s.w.data()), s.scale, X(expected.data(), s.rows),
      Sums(expected_sums.data()));
    CHECK(same_bits(s.out.read(), expected.read()));
    CHECK(same_bits(sums.read(), expected_sums.read()));
  }
}

using Scale = si::value<float>;
TEST_CASE("captured: other pointers, values and extents, one kernel per op") {
  check_replays(si::fuse<si::eager, X, W, Scale>(block));
}
TEST_CASE("captured: other pointers, values and extents, with a foreign matmul") {
  constexpr auto f = si::fuse<X, W, Scale>(block);
  static_assert(f.kernel_count() > 1);
  check_replays(f);
}
TEST_CASE("captured: other pointers, values and extents, with a matmul template") {
  check_replays(si::fuse<si::max_autotune, X, W, Scale>(block));
}

TEST_CASE("captured: a replay runs once, in any stream, and reductions split or not") {
  using V = si::tensor<float, si::dyn>;
  constexpr auto add = [](auto x, auto total) { return si::assign(total, total + si::sum(x)); };
  constexpr auto f = si::fuse<V, si::tensor<float>>(add);
  constexpr std::int64_t most = 1 << 20;
  const floats x(most), total(1);
  std::vector<float> ones(most, 1.0f);
  place::check(cudaMemcpy(x.data(), ones.data(), most * 4, cudaMemcpyHostToDevice));
  si::captured g(f, V(x.data(), 1000), si::tensor<float>(total.data()));
  CHECK(total.read()[0] == 0);
  g(place::executor());
  g(place::executor());
  CHECK(total.read()[0] == 2000);
  for (const std::int64_t size : {most, std::int64_t(10), std::int64_t(0), most / 2, most})
    g(place::executor(), V(x.data(), size), si::tensor<float>(total.data()));
  CHECK(total.read()[0] == 2010 + 2.5f * most);
  cudaStream_t other = nullptr;
  place::check(cudaStreamCreate(&other));
  for (int i = 0; i < 10; ++i) g(i % 2 ? other : place::executor());
  place::check(cudaStreamSynchronize(other));
  CHECK(total.read()[0] == 2010 + 12.5f * most);
  place::check(cudaStreamDestroy(other));
}

/// Of so many rows several clusters of blocks share the columns, and wait for each other (column_clusters.cuh).
TEST_CASE("captured: a scan whose blocks must run at once") {
  using M = si::tensor<float, si::dyn, si::dyn>;
  constexpr auto f = si::fuse<M>([](auto x) { return si::cumsum(x, si::axis<0>); });
  constexpr std::int64_t most = 17000, columns = 523;
  const floats x1(most * columns, 1), x2(most * columns, 2), out(most * columns), expected(most * columns);
  si::captured g(f, M(x1.data(), most, columns), M(out.data(), most, columns));
  for (const std::int64_t rows : {most, std::int64_t(40), most})
    for (const floats* x : {&x1, &x2}) {
      CAPTURE(rows);
      place::check(cudaMemset(out.data(), 0, most * columns * 4));
      place::check(cudaMemset(expected.data(), 0, most * columns * 4));
      f(place::executor(), M(x->data(), rows, columns), M(expected.data(), rows, columns));
      for (int i = 0; i < 3; ++i) g(place::executor(), M(x->data(), rows, columns), M(out.data(), rows, columns));
      CHECK(same_bits(out.read(), expected.read()));
    }
}

TEST_CASE("captured: a wrong call throws and leaves the graph as it was") {
  constexpr auto f = si::fuse<si::eager, X, Sums>([](auto x, auto bias) { return si::relu(x) + bias; });
  const floats x(8 * width, 1), bias(width, 2), out(8 * width), expected(8 * width);
  std::vector<float> host(8 * width);
  f(place::executor(), X(x.data(), 8), Sums(bias.data()), X(expected.data(), 8));
  const auto record = [&](X in, X result) { si::captured g(f, in, Sums(bias.data()), result); };
  CHECK_THROWS_AS(record(X(x.data(), 8), X(out.data(), 7)), si::shape_error);
  CHECK_THROWS_AS(record(X(host.data(), 8), X(out.data(), 8)), si::argument_error);
  si::captured g(f, X(x.data(), 8), Sums(bias.data()), X(out.data(), 8));
  CHECK_THROWS_AS(g(place::executor(), X(x.data(), 7), Sums(bias.data()), X(out.data(), 8)), si::shape_error);
  CHECK_THROWS_AS(g(place::executor(), X(x.data(), 8), Sums(host.data()), X(out.data(), 8)), si::argument_error);
  CHECK_THROWS_AS(g(place::executor(), X(x.data(), 8), Sums(bias.data()), X(nullptr, 8)), si::argument_error);
  CHECK(same_bits(out.read(), std::vector<float>(8 * width)));
  g(place::executor());
  CHECK(same_bits(out.read(), expected.read()));
}

TEST_CASE("captured: it moves, and who was moved from says so") {
  constexpr auto f = si::fuse<si::eager, X>([](auto x) { return si::exp(si::relu(x)); });
  const floats x(8 * width, 1), out(8 * width), expected(8 * width);
  f(place::executor(), X(x.data(), 8), X(expected.data(), 8));
  si::captured<decltype(f)> g(f, X(x.data(), 8), X(out.data(), 8));
  static_assert(!std::is_copy_constructible_v<decltype(g)> && std::is_nothrow_move_constructible_v<decltype(g)>);
  auto h = std::move(g);
  CHECK_THROWS_AS(g(place::executor()), si::argument_error);
  h(place::executor());
  CHECK(same_bits(out.read(), expected.read()));
  g = std::move(h);
  place::check(cudaMemset(out.data(), 0, 8 * width * 4));
  g(place::executor());
  CHECK(same_bits(out.read(), expected.read()));
}
