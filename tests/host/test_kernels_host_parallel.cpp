// parallel_for: every index once, from many threads at once, and nested.
// SPDX-License-Identifier: BSL-1.0
#include "sinter/kernels/host/parallel.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <thread>
#include <vector>

using sinter::cpu::parallel_for;

namespace {

bool covers(std::int64_t begin, std::int64_t end, std::int64_t grain, int threads) {
  const auto count = static_cast<std::size_t>(end > begin ? end - begin : 0);
  const std::unique_ptr<std::atomic<int>[]> seen(new std::atomic<int>[count + 1]());
  std::atomic<bool> good{true};
  parallel_for(begin, end, grain, threads, [&](std::int64_t first, std::int64_t last) {
    if (last <= first || last - first > grain || (first - begin) % grain != 0) good = false;
    for (std::int64_t i = first; i < last; ++i) ++seen[static_cast<std::size_t>(i - begin)];
  });
  for (std::size_t i = 0; i < count; ++i)
    if (seen[i] != 1) good = false;
  return good;
}

}  // namespace

TEST_CASE("every index once, in pieces that start at multiples of the grain") {
  for (int threads : {0, 1, 2, 3, 16})
    for (std::int64_t n : {0, 1, 2, 7, 100, 10007})
      for (std::int64_t grain : {1, 3, 64, 20000}) {
        CHECK(covers(0, n, grain, threads));
        CHECK(covers(-5, n, grain, threads));
      }
}

TEST_CASE("many callers at once, nested loops, one small loop after the other") {
  std::vector<std::thread> callers;
  std::atomic<int> failures{0};
  for (int c = 0; c < 6; ++c)
    callers.emplace_back([&failures, c] {
      for (int i = 0; i < 200; ++i)
        if (!covers(c, 50 + i, 1 + i % 9, 1 + c)) ++failures;
    });
  for (std::thread& t : callers) t.join();
  CHECK(failures == 0);

  std::atomic<int> inner{0};
  parallel_for(0, 20, 1, 4, [&](std::int64_t, std::int64_t) {
    parallel_for(0, 30, 4, 4, [&](std::int64_t first, std::int64_t last) { inner += static_cast<int>(last - first); });
  });
  CHECK(inner == 600);
}
