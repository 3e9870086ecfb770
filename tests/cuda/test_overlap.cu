// Kernels of one stream come onto the device before the one in front has ended, yet each sees all that was written
// before it: chains in which every step needs the last two, with split reductions, memsets and kernels of others in
// between, rows that are asked for before they are written, and inputs that are gathered or folded before the kernel in
// front has ended; in a stream and in a graph.
// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "on_cuda.cuh"
#include "sampling.hpp"

namespace si = sinter;

namespace {

template <class T>
class array {
 public:
  explicit array(const std::vector<T>& values) : size_(values.size()), memory_(size_ * sizeof(T)) {
    memory_.upload(values.data());
  }
  T* data() const { return static_cast<T*>(memory_.data()); }
  std::vector<T> read() const {
    place::finish();
    std::vector<T> now(size_);
    memory_.download(now.data());
    return now;
  }

 private:
  std::size_t size_;
  place::memory memory_;
};

/// Runs `steps` in the stream, or as a graph.
template <class Steps>
void run(bool as_graph, const Steps& steps) {
  const cudaStream_t stream = place::executor();
  if (!as_graph) return steps();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t launchable = nullptr;
  place::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  steps();
  place::check(cudaStreamEndCapture(stream, &graph));
  place::check(cudaGraphInstantiate(&launchable, graph, 0));
  place::check(cudaGraphLaunch(launchable, stream));
  place::finish();
  place::check(cudaGraphExecDestroy(launchable));
  place::check(cudaGraphDestroy(graph));
}

using I = si::tensor<std::int32_t, si::dyn>;
constexpr auto difference = si::fuse<I, I>([](auto a, auto b) { return b - a; });

__global__ void negate(std::int32_t* p, std::int64_t n) {
  for (std::int64_t i = blockIdx.x * std::int64_t(blockDim.x) + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    p[i] = -p[i];
}

}  // namespace

TEST_CASE("every step sees the last two") {
  for (const bool as_graph : {false, true})
    for (const std::int64_t n : {100, 5000, 70001, 3000000})
      for (const bool others : {false, true}) {
        if (!is_sampled()) continue;
        CAPTURE(as_graph);
        CAPTURE(n);
        CAPTURE(others);
        std::vector<std::int32_t> a(n), b(n);
        for (std::int64_t i = 0; i < n; ++i) a[i] = static_cast<std::int32_t>(i % 1013), b[i] = 7 - a[i] % 5;
        const array<std::int32_t> first(a), second(b), third(a);
        std::int32_t* const p[] = {first.data(), second.data(), third.data()};
        constexpr int steps = 120;  // a, b, b - a, -a, -b, a - b, a, …
        run(as_graph, [&] {
          for (int s = 0; s < steps; ++s) {
            difference(place::executor(), I(p[s % 3], n), I(p[(s + 1) % 3], n), I(p[(s + 2) % 3], n));
            if (!others) continue;
            for (int twice = 0; twice < 2; ++twice) negate<<<64, 256, 0, place::executor()>>>(p[(s + 2) % 3], n);
          }
        });
        const auto expect_same = [&](const array<std::int32_t>& what, const std::vector<std::int32_t>& expected) {
          const auto now = what.read();
          std::int64_t wrong = 0;
          for (std::int64_t i = 0; i < n; ++i) wrong += now[i] != expected[i];
          CHECK(wrong == 0);
        };
        expect_same(first, a);
        expect_same(second, b);
      }
}

TEST_CASE("a kernel whose addresses are constants, which its compiler would like to read at once") {
  using X = si::tensor<float, 6, 20>;
  using T = si::tensor<std::int64_t, 6>;
  using S = si::tensor<float>;
  constexpr auto loss = si::fuse<X, T>([](auto x, auto t) { return si::cross_entropy(x, t); });
  constexpr auto scaled = si::fuse<X, S>([](auto x, auto s) { return x * si::sin(s * 5.0f); });
  std::vector<float> x(120);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7 % 31) * 0.125f - 2;
  const array<float> logits(x), changed(x);
  const array<std::int64_t> targets({3, 0, 19, 7, 11, 2});
  constexpr int steps = 100;
  // Of each step the loss, once with and once without a wait for the kernels in front.
  const auto losses = [&](bool waits, bool as_graph) {
    const array<float> all(std::vector<float>(steps + 1, 1));
    run(as_graph, [&] {
      for (int s = 0; s < steps; ++s) {
        scaled(place::executor(), X(logits.data()), S(all.data() + s), X(changed.data()));
        if (waits) place::finish();
        loss(place::executor(), X(changed.data()), T(targets.data()), S(all.data() + s + 1));
        if (waits) place::finish();
      }
    });
    return all.read();
  };
  const std::vector<float> expected = losses(true, false);
  CHECK(losses(false, false) == expected);
  CHECK(losses(false, true) == expected);
}

namespace {

/// Of many steps `results` each, which read(where) makes of what both writers(step) leave, the one or the other last:
/// are they as if it waited for them?
template <class First, class Second, class Read>
void expect_as_if_waited(std::int64_t results, const First& write_first, const Second& write_second, const Read& read) {
  constexpr int steps = 30;
  const auto all_results = [&](bool waits, bool as_graph, bool swapped) {
    const array<float> all(std::vector<float>(static_cast<std::size_t>(steps * results), 1));
    run(as_graph, [&] {
      for (int s = 0; s < steps; ++s) {
        if (swapped) write_second(s);
        write_first(s);
        if (!swapped) write_second(s);
        if (waits) place::finish();
        read(all.data() + s * results);
        if (waits) place::finish();
      }
    });
    return all.read();
  };
  const std::vector<float> expected = all_results(true, false, false);
  for (const bool as_graph : {false, true})
    for (const bool swapped : {false, true}) CHECK(all_results(false, as_graph, swapped) == expected);
}

/// Losses of logits and targets that the kernels in front still write, over targets that name nothing.
template <class Loss>
void expect_last_written(const Loss& loss, std::int64_t rows) {
  CAPTURE(rows);
  using X = si::tensor<float, si::dyn, 200>;
  using T = si::tensor<std::int64_t, si::dyn>;
  using S = si::tensor<float>;
  constexpr auto scale = si::fuse<X, si::value<float>>([](auto x, auto by) { return x * by; });
  constexpr auto aim = si::fuse<T, si::value<std::int64_t>>([](auto near, auto far) { return near + far; });
  std::vector<float> x(static_cast<std::size_t>(rows * 200));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7 % 1009) * 0.001f;
  std::vector<std::int64_t> t(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < t.size(); ++i) t[i] = static_cast<std::int64_t>(i * 31 % 150);
  const array<float> values(x), logits(x);
  const array<std::int64_t> near(t), targets(t);
  const place::memory scratch(static_cast<std::size_t>(loss.workspace_bytes(rows)));
  const si::cuda_executor executor{place::executor(), scratch.data(), loss.workspace_bytes(rows)};
  const auto write_logits = [&](int s) {
    scale(place::executor(), X(values.data(), rows), static_cast<float>(s), X(logits.data(), rows));
  };
  const auto write_targets = [&](int s) {
    for (const std::int64_t far : {s % 2 == 0 ? std::int64_t(1) << 60 : -(std::int64_t(1) << 60), std::int64_t(s)})
      aim(place::executor(), T(near.data(), rows), far, T(targets.data(), rows));
  };
  expect_as_if_waited(1, write_logits, write_targets,
                      [&](float* found) { loss(executor, X(logits.data(), rows), T(targets.data(), rows), S(found)); });
}

}  // namespace

TEST_CASE("what is gathered, by a kernel alone and by one that reads it ahead, while those in front still write it") {
  using X = si::tensor<float, si::dyn, 200>;
  using T = si::tensor<std::int64_t, si::dyn>;
  constexpr auto alone = si::fuse<X, T>([](auto x, auto t) { return si::nll_loss(x, t); });
  constexpr auto second = si::fuse<X, T>([](auto x, auto t) { return si::cross_entropy(x, t); });
  static_assert(alone.kernel_count() == 1 && second.kernel_count() == 2);
  for (const std::int64_t rows : {1, 5, 600, 3000, 5000, 200000}) {
    if (is_sampled()) expect_last_written(alone, rows);
    if (is_sampled()) expect_last_written(second, rows);
  }
}

namespace {

/// Weighted means of values and weights that the kernels in front still write: mean(executor, values, weights, means).
template <class Mean>
void expect_last_weighted(std::int64_t values, std::int64_t weights, std::int64_t means, std::int64_t scratch_bytes,
                          const Mean& mean) {
  CAPTURE(values);
  using V = si::tensor<float, si::dyn>;
  constexpr auto raise = si::fuse<V, si::value<float>>([](auto x, auto by) { return x + by; });
  std::vector<float> x(static_cast<std::size_t>(values)), w(static_cast<std::size_t>(weights));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7 % 1009) * 0.001f;
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i * 5 % 11) * 0.125f;
  const array<float> first_values(x), first_weights(w), now_values(x), now_weights(w);
  const place::memory scratch(static_cast<std::size_t>(scratch_bytes));
  const si::cuda_executor executor{place::executor(), scratch.data(), scratch_bytes};
  const auto write_values = [&](int s) {
    raise(place::executor(), V(first_values.data(), values), static_cast<float>(s), V(now_values.data(), values));
  };
  const auto write_weights = [&](int s) {
    raise(place::executor(), V(first_weights.data(), weights), static_cast<float>(s % 7 + 1),
          V(now_weights.data(), weights));
  };
  expect_as_if_waited(means, write_values, write_weights,
                      [&](float* found) { mean(executor, now_values.data(), now_weights.data(), found); });
}

}  // namespace

TEST_CASE("columns that are folded ahead, of values and weights that the kernels in front still write") {
  using X = si::tensor<float, si::dyn, 200>;
  using W = si::tensor<float, si::dyn, 1>;
  using M = si::tensor<float, 200>;
  constexpr auto mean =
      si::fuse<X, W>([](auto x, auto w) { return si::sum(x * w, si::axis<0>) / si::sum(w, si::axis<0>); });
  using BatchX = si::tensor<float, si::dyn, 96, 40>;
  using BatchW = si::tensor<float, si::dyn, 96, 1>;
  using BatchM = si::tensor<float, si::dyn, 40>;
  constexpr auto means =
      si::fuse<BatchX, BatchW>([](auto x, auto w) { return si::sum(x * w, si::axis<1>) / si::sum(w, si::axis<1>); });
  static_assert(mean.kernel_count() == 2 && means.kernel_count() == 2);
  for (const std::int64_t n : {1, 300, 5000}) {
    if (is_sampled())
      expect_last_weighted(n * 200, n, 200, mean.workspace_bytes(n),
                           [&](const auto& on, float* x, float* w, float* m) { mean(on, X(x, n), W(w, n), M(m)); });
    if (is_sampled())
      expect_last_weighted(
          n * 3840, n * 96, n * 40, means.workspace_bytes(n),
          [&](const auto& on, float* x, float* w, float* m) { means(on, BatchX(x, n), BatchW(w, n), BatchM(m, n)); });
  }
}

TEST_CASE("a reduction with scratch memory between kernels that need it and that it needs") {
  using X = si::tensor<float, si::dyn>;
  using S = si::tensor<float>;
  constexpr auto total = si::fuse<X>([](auto x) { return si::sum(x); });
  constexpr auto centre =
      si::fuse<X, S, si::value<float>>([](auto x, auto sum, auto scale) { return x - sum * scale + 1.0f; });
  const std::int64_t n = 1 << 20;
  for (const bool as_graph : {false, true}) {
    CAPTURE(as_graph);
    std::vector<float> x(n);
    for (std::int64_t i = 0; i < n; ++i) x[i] = static_cast<float>(i % 64);
    const array<float> one(x), two(x), sum(std::vector<float>(1));
    const place::memory scratch(static_cast<std::size_t>(total.workspace_bytes(n)));
    const si::cuda_executor executor{place::executor(), scratch.data(), total.workspace_bytes(n)};
    float* const p[] = {one.data(), two.data()};
    run(as_graph, [&] {
      for (int s = 0; s < 100; ++s) {
        total(executor, X(p[s % 2], n), S(sum.data()));
        centre(place::executor(), X(p[s % 2], n), S(sum.data()), 1.0f / static_cast<float>(n), X(p[(s + 1) % 2], n));
      }
    });
    float worst = 0;
    const auto now = one.read();
    for (std::int64_t i = 0; i < n; ++i) worst = std::fmax(worst, std::fabs(now[i] - (x[i] - 31.5f + 1.0f)));
    CHECK(worst < 1e-3f);
  }
}

namespace {

/// Rows of whole numbers, which every step moves up by one, by way of the greatest: no step finds what was there
/// before.
template <class T>
void move_rows(std::int64_t rows, std::int64_t columns, bool as_graph) {
  CAPTURE(rows);
  CAPTURE(columns);
  CAPTURE(as_graph);
  using X = si::tensor<T, si::dyn, si::dim<"columns">>;
  constexpr auto moved = si::fuse<X>([](auto x) {
    auto top = si::amax(x, si::axis<-1>, si::keepdim);
    return top - (top - x) + 1.0f;
  });
  std::vector<T> x(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < rows * columns; ++i) x[i] = T(static_cast<float>(i % columns % (90 + i / columns % 7)));
  const array<T> one(x), two(x);
  const std::int64_t workspace = moved.workspace_bytes(rows, columns), counted = moved.counter_bytes(rows, columns);
  const place::memory scratch(static_cast<std::size_t>(workspace)), counters(static_cast<std::size_t>(counted));
  place::check(cudaMemset(counters.data(), 0, static_cast<std::size_t>(counted)));
  const si::cuda_executor executor{place::executor(), scratch.data(), workspace, counters.data(), counted};
  T* const p[] = {one.data(), two.data()};
  constexpr int steps = 20;
  run(as_graph, [&] {
    for (int s = 0; s < steps; ++s) moved(executor, X(p[s % 2], rows, columns), X(p[(s + 1) % 2], rows, columns));
  });
  const auto now = one.read();
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < rows * columns; ++i) wrong += si::widen(now[i]) != si::widen(x[i]) + steps;
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("rows that a kernel asks for while the one in front still writes them") {
  for (const bool as_graph : {false, true})
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{300000, 7},
                                        {20000, 100},
                                        {4000, 1001},
                                        {3000, 4096},
                                        {2000, 10007},
                                        {520, 50257},
                                        {300, 65536},
                                        {24, 262144}}) {
      if (is_sampled()) move_rows<si::bf16>(rows, columns, as_graph);
      if (is_sampled()) move_rows<float>(rows, columns, as_graph);
    }
}
