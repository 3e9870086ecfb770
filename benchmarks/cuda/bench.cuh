// What the device benchmarks share: a case is a fused function with its tensors. Before it is timed, its result on the
// first rows is compared with the host's. Timed is one CUDA graph of launches over sets of inputs that rotate, so that
// none is still in the L2 when its turn comes again; reported is the speed as a percentage of a copy in the same run.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <benchmark/benchmark.h>
#include <sinter/sinter.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

namespace bench {

namespace si = sinter;

inline void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
  std::exit(1);
}

inline cudaStream_t stream() {
  static const cudaStream_t s = [] {
    cudaStream_t created = nullptr;
    check(cudaStreamCreateWithFlags(&created, cudaStreamNonBlocking), "cudaStreamCreate");
    return created;
  }();
  return s;
}

/// Device memory.
template <class T>
class buffer {
 public:
  explicit buffer(std::int64_t size) : size_(size) {
    check(cudaMalloc(&data_, static_cast<std::size_t>(std::max<std::int64_t>(size, 1)) * sizeof(T)), "cudaMalloc");
  }
  buffer(buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
  ~buffer() { (void)cudaFree(data_); }
  T* data() const { return data_; }
  void upload(const std::vector<T>& values) const {
    check(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  std::vector<T> download(std::int64_t size) const {
    std::vector<T> values(static_cast<std::size_t>(size));
    check(cudaMemcpy(values.data(), data_, values.size() * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return values;
  }

 private:
  T* data_ = nullptr;
  std::int64_t size_;
};

template <class T>
double to_double(T x) {
  return static_cast<double>(si::widen(x));
}

/// Values of about unit size, other ones at each call, the same in every run; integers below `limit`.
template <class T>
std::vector<T> values(std::int64_t size, std::int64_t limit) {
  static std::uint64_t state = 1;
  std::vector<T> v(static_cast<std::size_t>(size));
  for (auto& x : v) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto bits = static_cast<std::int64_t>(state >> 40);
    if constexpr (std::is_integral_v<T>) x = static_cast<T>(bits % limit);
    else x = si::narrow<T>(static_cast<si::compute_t<T>>(static_cast<double>(bits) / (1 << 23) - 1.0));
  }
  return v;
}

/// Microseconds of one of `count` launches in a CUDA graph: the median of seven replays, after two to warm up.
template <class Launch>
double microseconds(int count, Launch launch) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  check(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  for (int i = 0; i < count; ++i) launch(i);
  check(cudaStreamEndCapture(stream(), &graph), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&ready, graph, 0), "cudaGraphInstantiate");
  cudaEvent_t from = nullptr, to = nullptr;
  check(cudaEventCreate(&from), "cudaEventCreate");
  check(cudaEventCreate(&to), "cudaEventCreate");
  std::vector<float> times;
  for (int i = 0; i < 9; ++i) {
    float milliseconds = 0;
    check(cudaEventRecord(from, stream()), "cudaEventRecord");
    check(cudaGraphLaunch(ready, stream()), "cudaGraphLaunch");
    check(cudaEventRecord(to, stream()), "cudaEventRecord");
    check(cudaEventSynchronize(to), "cudaEventSynchronize");
    check(cudaEventElapsedTime(&milliseconds, from, to), "cudaEventElapsedTime");
    if (i >= 2) times.push_back(milliseconds);
  }
  (void)cudaEventDestroy(from), (void)cudaEventDestroy(to);
  (void)cudaGraphExecDestroy(ready), (void)cudaGraphDestroy(graph);
  std::nth_element(times.begin(), times.begin() + 3, times.end());
  return 1000.0 * static_cast<double>(times[3]) / count;
}

/// Bytes per microsecond, read and written, of the runtime's own copy of 256 MB: the memory's speed in this run.
inline double copy_speed() {
  static const double speed = [] {
    constexpr std::int64_t bytes = std::int64_t(1) << 28;
    const buffer<char> a(bytes), b(bytes);
    return 2.0 * bytes / microseconds(4, [&](int) {
             check(cudaMemcpyAsync(b.data(), a.data(), bytes, cudaMemcpyDeviceToDevice, stream()), "cudaMemcpyAsync");
           });
  }();
  return speed;
}

template <class Tensor>
Tensor make(typename Tensor::element* data, std::int64_t rows) {
  if constexpr (Tensor::num_dynamic == 1) return Tensor(data, rows);
  else return Tensor(data);
}
template <class Tensor>
std::int64_t numel(std::int64_t rows) {
  return make<Tensor>(nullptr, rows).numel();
}

template <class... T>
struct in {};
template <class... T>
struct out {};

/// What a case may say besides its tensors.
struct settings {
  std::int64_t rows = 1;        ///< the run-time extent
  std::int64_t check_rows = 0;  ///< rows on which results are compared; 0: 64 or all
  std::int64_t limit = 1000;    ///< integer inputs lie below
  double bytes = 0;             ///< bytes that have to move; 0: what the plan says
};

template <class T>
double tolerance() {
  return std::is_same_v<T, double> ? 1e-10 : std::is_same_v<T, float> ? 2e-5 : std::is_same_v<T, si::f16> ? 4e-3 : 2e-2;
}

template <class Fused, class... I, class... O>
bool results_agree(const Fused& f, in<I...>, out<O...>, const settings& s, std::string& complaint) {
  const std::int64_t rows = s.check_rows > 0 ? s.check_rows : std::min<std::int64_t>(s.rows, 64);
  const std::tuple inputs{values<typename I::element>(numel<I>(rows), s.limit)...};
  std::tuple outputs{std::vector<typename O::element>(static_cast<std::size_t>(numel<O>(rows)))...};
  std::tuple device_inputs{buffer<typename I::element>(numel<I>(rows))...};
  std::tuple device_outputs{buffer<typename O::element>(numel<O>(rows))...};
  return [&]<std::size_t... K, std::size_t... L>(std::index_sequence<K...>, std::index_sequence<L...>) {
    std::tuple host_inputs = inputs;  // an assignment writes into them
    (std::get<K>(device_inputs).upload(std::get<K>(inputs)), ...);
    f(si::host, make<I>(std::get<K>(host_inputs).data(), rows)..., make<O>(std::get<L>(outputs).data(), rows)...);
    f(stream(), make<I>(std::get<K>(device_inputs).data(), rows)...,
      make<O>(std::get<L>(device_outputs).data(), rows)...);
    check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
    bool good = true;
    const auto compare = [&]<class T>(const std::vector<T>& expected, const std::vector<T>& found) {
      double largest = 0, worst = 0;
      for (const T& x : expected) largest = std::max(largest, std::fabs(to_double(x)));
      for (std::size_t i = 0; i < expected.size(); ++i)
        worst = std::max(worst, std::fabs(to_double(expected[i]) - to_double(found[i])));
      if (worst <= tolerance<T>() * largest) return;
      good = false;
      complaint =
          "the device's result differs from the host's by " + std::to_string(worst) + " of " + std::to_string(largest);
    };
    (compare(std::get<L>(outputs), std::get<L>(device_outputs).download(numel<O>(rows))), ...);
    (compare(std::get<K>(host_inputs), std::get<K>(device_inputs).download(numel<I>(rows))), ...);
    return good;
  }
  (std::index_sequence_for<I...>{}, std::index_sequence_for<O...>{});
}

/// One benchmark: `f` on inputs I and outputs O.
template <class Fused, class... I, class... O>
void add(const char* name, const Fused& f, in<I...> inputs, out<O...> outputs, const settings& s) {
  ::benchmark::RegisterBenchmark(
      name,
      [=](::benchmark::State& state) {
        std::string complaint;
        if (!results_agree(f, inputs, outputs, s, complaint)) return state.SkipWithError(complaint.c_str());
        constexpr int num_dynamic = (0 + ... + I::num_dynamic) > 0;
        double plan_bytes = 0;
        if constexpr (num_dynamic > 0) plan_bytes = static_cast<double>(f.bytes_read(s.rows) + f.bytes_written(s.rows));
        else plan_bytes = static_cast<double>(f.bytes_read() + f.bytes_written());
        const double bytes = s.bytes > 0 ? s.bytes : plan_bytes;
        // Three times the L2 between two uses of the same memory.
        const int sets = static_cast<int>(std::clamp(180e6 / bytes + 1, 1.0, 64.0));
        using set = std::tuple<std::tuple<buffer<typename I::element>...>, std::tuple<buffer<typename O::element>...>>;
        std::vector<set> memory;
        for (int i = 0; i < sets; ++i) {
          memory.emplace_back(std::tuple{buffer<typename I::element>(numel<I>(s.rows))...},
                              std::tuple{buffer<typename O::element>(numel<O>(s.rows))...});
          std::apply(
              [&](const auto&... b) {
                const auto fill = [&]<class T>(const buffer<T>& to, std::int64_t size) {
                  if (i == 0) to.upload(values<T>(size, s.limit));
                };
                (fill(b, numel<I>(s.rows)), ...);
              },
              std::get<0>(memory.back()));
          if (i > 0)  // the same values in every set
            [&]<std::size_t... K>(std::index_sequence<K...>) {
              (check(cudaMemcpy(std::get<K>(std::get<0>(memory.back())).data(),
                                std::get<K>(std::get<0>(memory[0])).data(),
                                static_cast<std::size_t>(numel<I>(s.rows)) * sizeof(typename I::element),
                                cudaMemcpyDeviceToDevice),
                     "cudaMemcpy"),
               ...);
            }
          (std::index_sequence_for<I...>{});
        }
        const auto launch = [&](int i) {
          const set& m = memory[static_cast<std::size_t>(i % sets)];
          [&]<std::size_t... K, std::size_t... L>(std::index_sequence<K...>, std::index_sequence<L...>) {
            f(stream(), make<I>(std::get<K>(std::get<0>(m)).data(), s.rows)...,
              make<O>(std::get<L>(std::get<1>(m)).data(), s.rows)...);
          }
          (std::index_sequence_for<I...>{}, std::index_sequence_for<O...>{});
        };
        const double speed = copy_speed();
        double time = 0;
        for (auto _ : state) {
          time = microseconds(std::max(sets, 8), launch);
          state.SetIterationTime(time * 1e-6);
        }
        // Host time of a call: a batch that the stream can queue, without waiting for the device.
        check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
        constexpr int calls = 100;
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < calls; ++i) launch(i);
        const std::chrono::duration<double, std::micro> host = std::chrono::steady_clock::now() - start;
        check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
        state.counters["copy_%"] = 100 * bytes / time / speed;
        state.counters["TB/s"] = bytes / time * 1e-6;
        state.counters["MB"] = bytes * 1e-6;
        state.counters["kernels"] = f.kernel_count();
        state.counters["host_us"] = host.count() / calls;
      })
      ->UseManualTime()
      ->Unit(::benchmark::kMicrosecond)
      ->Iterations(3);
}

}  // namespace bench
