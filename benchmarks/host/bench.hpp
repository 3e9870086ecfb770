// What the host benchmarks of sinter and of its peers share: a case is a function of functions.hpp with its tensors, a
// library is who computes it. Before a case is timed its results are compared with plain loops in double; reported is
// the best of many calls, and the speed as a percentage of a copy in the same run; programs that are compared take
// turns instead (peers/compare_cpu.py). Which cases there are is cases.hpp's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <benchmark/benchmark.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "functions.hpp"

namespace bench {

/// Every library uses so many threads.
inline constexpr int threads = 2;

/// Rows and columns in memory, row after row.
template <class T>
struct matrix {
  using element = T;
  T* data;
  long rows, columns;
  long size() const { return rows * columns; }
  T* row(long i) const { return data + i * columns; }
};

/// What a tensor of a case is: `all` rows are as many as the case has.
inline constexpr long all = si::dyn;
template <class T, long Rows, long... Columns>
struct of {
  using element = T;
  using tensor = si::tensor<T, Rows, Columns...>;
  static constexpr double lowest = -1;  ///< of its values
  static matrix<T> place(T* data, long rows) { return {data, Rows == all ? rows : Rows, (Columns * ... * 1)}; }
  static tensor view(const matrix<T>& m) {
    if constexpr (Rows == all) return tensor(m.data, m.rows);
    else return tensor(m.data);
  }
};
template <class T, long Rows>
struct positive : of<T, Rows> {
  static constexpr double lowest = 0;
};
/// One row; without columns a single value.
template <class T, long... Columns>
struct row_of {
  using element = T;
  using tensor = si::tensor<T, Columns...>;
  static constexpr double lowest = -1;
  static matrix<T> place(T* data, long) { return {data, 1, (Columns * ... * 1)}; }
  static tensor view(const matrix<T>& m) { return tensor(m.data); }
};
template <class... T>
struct in {};
template <class... T>
struct out {};

/// Memory as a tensor library gives it out: at the start of a cache line.
template <class T>
class buffer {
 public:
  explicit buffer(long size)
      : data_(static_cast<T*>(::operator new(static_cast<std::size_t>(size) * sizeof(T), std::align_val_t(64)))) {}
  T* data() const { return data_.get(); }

 private:
  struct release {
    void operator()(T* p) const { ::operator delete(p, std::align_val_t(64)); }
  };
  std::unique_ptr<T, release> data_;
};

/// Values from `lowest` to 1, the same in every run; integers below `limit`.
template <class T>
void fill(const matrix<T>& m, double lowest, std::uint64_t seed, long limit) {
  std::uint64_t state = seed;
  for (long i = 0; i < m.size(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto bits = static_cast<std::int64_t>(state >> 40);
    if constexpr (std::is_integral_v<T>) m.data[i] = static_cast<T>(bits % limit);
    else
      m.data[i] =
          si::narrow<T>(static_cast<si::compute_t<T>>(lowest + (1 - lowest) / (1 << 24) * static_cast<double>(bits)));
  }
}

template <class T>
operand erased(const matrix<T>& m) {
  return {m.data, m.rows, m.columns,
          [](const void* p, long i) { return static_cast<double>(si::widen(static_cast<const T*>(p)[i])); }};
}
template <class T>
double tolerance() {
  return std::is_same_v<T, float> ? 2e-5 : 2e-2;
}

/// The seconds of the fastest call, of as many as fit into so much time, and so many at least.
template <class Call>
double seconds(Call call, double length = 0.2, int least = 7) {
  using clock = std::chrono::steady_clock;
  const auto timed = [&](int calls) {
    const auto start = clock::now();
    for (int i = 0; i < calls; ++i) call();
    return std::chrono::duration<double>(clock::now() - start).count() / calls;
  };
  const int batch = static_cast<int>(std::clamp(1e-4 / timed(1), 1.0, 1000.0));  // a short call is timed in batches
  double best = timed(batch), total = 0;
  for (int i = 0; i < least || (total < length && i < 1000); ++i) {
    const double time = timed(batch);
    best = std::min(best, time);
    total += time * batch;
  }
  return best;
}

/// Whether this program is told when to measure.
inline const bool takes_turns = std::getenv("SINTER_BENCH_TURNS") != nullptr;

/// Says on a line that the case is ready, and answers each line that says "go" with the seconds of a short measurement.
/// The least of them.
template <class Call>
double seconds_in_turns(const std::string& name, Call call) {
  double best = std::numeric_limits<double>::infinity();
  std::cout << "@ " << name << std::endl;
  for (std::string line; std::getline(std::cin, line) && line == "go";) {
    const double time = seconds(call, 0.01, 1);
    best = std::min(best, time);
    std::cout << "@ " << time << std::endl;
  }
  return best;
}

/// The calling thread stays on that core.
inline void bind_to_core(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(static_cast<std::size_t>(core), &cores);
  sched_setaffinity(0, sizeof(cores), &cores);
}

/// Bytes per second, read and written, of the C library's copy of 128 MB, on all threads: the memory's speed.
inline double copy_speed() {
  static const double speed = [] {
    constexpr long bytes = long(1) << 27, part = bytes / threads;
    const buffer<char> a(bytes), b(bytes);
    std::memset(a.data(), 1, bytes), std::memset(b.data(), 2, bytes);
    const double time = seconds([&] {
      std::vector<std::thread> pool;
      for (long i = 0; i < threads; ++i)
        pool.emplace_back([&, i] {
          bind_to_core(static_cast<int>(i));
          std::memcpy(b.data() + i * part, a.data() + i * part, part);
        });
      for (auto& t : pool) t.join();
    });
    return 2.0 * bytes / time;
  }();
  return speed;
}

/// The rows on which results are compared: some ten thousand elements, spread over all, the first and the last
/// included.
inline std::vector<long> rows_to_check(long rows, long columns) {
  std::vector<long> list;
  const long count = std::min(rows, 4 + 10000 / columns);
  for (long k = 0; k < count; ++k) list.push_back(count == 1 ? 0 : k * (rows - 1) / (count - 1));
  return list;
}

/// Compares one output with `expected`, whose k-th entry is row list[k] of it, or all of it.
template <class T>
std::string difference(const matrix<T>& m, const std::vector<long>& list,
                       const std::vector<std::vector<double>>& expected) {
  double largest = 0, worst = 0;
  for (std::size_t k = 0; k < expected.size(); ++k)
    for (std::size_t j = 0; j < expected[k].size(); ++j) {
      const double found = si::widen(m.row(list[k])[j]), wanted = expected[k][j];
      largest = std::max(largest, std::fabs(wanted));
      worst = found == found ? std::max(worst, std::fabs(found - wanted)) : INFINITY;
    }
  if (worst <= tolerance<T>() * largest) return "";
  return "the result is wrong by " + std::to_string(worst) + " where values reach " + std::to_string(largest);
}

/// The memory of a tensor.
template <class Tensor>
class placed {
 public:
  using element = typename Tensor::element;
  explicit placed(long rows)
      : memory_(Tensor::place(nullptr, rows).size()), view(Tensor::place(memory_.data(), rows)) {}

 private:
  buffer<element> memory_;

 public:
  const matrix<element> view;
  static constexpr double lowest = Tensor::lowest;
  double bytes() const { return static_cast<double>(sizeof(element)) * static_cast<double>(view.size()); }
};

/// One benchmark: Library computes `f`, if it can. Tensors have `rows`, unless they say how many; integers lie below
/// `limit`.
template <class Library, class Function, class... I, class... O>
void add(const std::string& name, Function f, in<I...> in_types, out<O...> out_types, long rows, long limit = 1000) {
  const auto run = [=](auto& state) {
    const std::tuple inputs{placed<I>(rows)...};
    const std::tuple outputs{placed<O>(rows)...};
    std::uint64_t seed = 1;
    std::apply([&](const auto&... x) { (fill(x.view, x.lowest, seed++, limit), ...); }, inputs);
    std::apply([&](const auto&... y) { (fill(y.view, y.lowest, seed++, limit), ...); }, outputs);
    const auto call = [&] {
      std::apply(
          [&](const auto&... x) {
            std::apply([&](const auto&... y) { Library::run(f, in_types, out_types, x.view..., y.view...); }, outputs);
          },
          inputs);
    };

    // A function without outputs writes into its inputs, and its reference gives them all.
    const auto& written = [&]() -> const auto& {
      if constexpr (sizeof...(O) == 0) return inputs;
      else return outputs;
    }
    ();
    const operands operands = std::apply([](const auto&... x) { return bench::operands{erased(x.view)...}; }, inputs);
    const matrix checked = std::get<0>(written).view;
    const auto list = Function::is_by_rows ? rows_to_check(checked.rows, checked.columns) : std::vector<long>{0};
    std::vector<std::vector<row>> expected(std::tuple_size_v<std::remove_cvref_t<decltype(written)>>);
    for (long i : list) {
      auto results = Function::reference(i, operands);
      for (std::size_t k = 0; k < results.size(); ++k) expected[k].push_back(std::move(results[k]));
    }
    call();
    std::string complaint;
    std::size_t k = 0;
    std::apply([&](const auto&... y) { ((complaint += difference(y.view, list, expected[k++])), ...); }, written);
    if (!complaint.empty()) return state.SkipWithError(complaint.c_str());

    const auto total = [](const auto&... x) { return (0.0 + ... + x.bytes()); };
    const double bytes =
        std::apply(total, inputs) + std::apply(total, outputs) + Function::num_assigned * std::get<0>(inputs).bytes();
    state.SetLabel(Library::name);
    double time = 0;
    for ([[maybe_unused]] auto _ : state) {
      time = takes_turns ? seconds_in_turns(name, call) : seconds(call);
      state.SetIterationTime(time);
    }
    if (takes_turns) return;
    state.counters["copy_%"] = 100 * bytes / time / copy_speed();
    state.counters["GB/s"] = bytes / time * 1e-9;
    state.counters["MB"] = bytes * 1e-6;
  };
  constexpr bool can = requires(matrix<typename I::element>... x, matrix<typename O::element>... y) {
    Library::run(f, in_types, out_types, x..., y...);
  };
  if constexpr (can)
    ::benchmark::RegisterBenchmark(name.c_str(), run)->UseManualTime()->Unit(::benchmark::kMicrosecond)->Iterations(1);
}

}  // namespace bench
