// What device benchmarks share, sinter's and its peers': memory, inputs, timing, and what is reported. Timed is one
// CUDA graph of launches over sets of inputs and outputs that rotate, so that none is still in the L2 when its turn
// comes again; reported is the speed as a percentage of a plain copy in the same run. With SINTER_PROFILED set in the
// environment one call of each case is shown to a profiler instead. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <benchmark/benchmark.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench {

inline void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(code));
}

inline std::string in_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.7g", value);
  return text;
}

inline cudaStream_t stream() {
  static const cudaStream_t s = [] {
    cudaStream_t created = nullptr;
    check(cudaStreamCreateWithFlags(&created, cudaStreamNonBlocking), "cudaStreamCreate");
    return created;
  }();
  return s;
}

inline const cudaDeviceProp& device() {
  static const cudaDeviceProp properties = [] {
    cudaDeviceProp p{};
    check(cudaGetDeviceProperties(&p, 0), "cudaGetDeviceProperties");
    return p;
  }();
  return properties;
}

/// Where inputs lie: floats in [low, high), integers in [0, limit).
struct range {
  float low = -1, high = 1;
  std::int64_t limit = 1000;
};

template <class T>
__global__ void fill_kernel(T* data, std::int64_t size, range r, std::uint64_t seed) {
  const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < size; i += step) {
    std::uint64_t h = (static_cast<std::uint64_t>(i) + seed) * 0x9e3779b97f4a7c15u;  // the mixing steps of splitmix64
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    const auto bits = static_cast<std::int64_t>(h >> 40);
    if constexpr (std::is_integral_v<T>) data[i] = static_cast<T>(bits % r.limit);
    else data[i] = static_cast<T>(r.low + (r.high - r.low) * (static_cast<float>(bits) * 0x1p-24f));
  }
}

/// Device memory.
template <class T>
class buffer {
 public:
  explicit buffer(std::size_t size) : size_(size) {
    check(cudaMalloc(&data_, std::max<std::size_t>(size, 1) * sizeof(T)), "cudaMalloc");
  }
  buffer(buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
  ~buffer() { (void)cudaFree(data_); }
  T* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

/// Other values at each call, the same in every run.
template <class T>
void fill(T* data, std::int64_t size, const range& r) {
  static std::uint64_t seed = 0;
  seed += std::uint64_t(1) << 40;
  fill_kernel<<<4 * device().multiProcessorCount, 256, 0, stream()>>>(data, size, r, seed);
  check(cudaGetLastError(), "fill");
}
/// Bits that are NaN in every floating-point type: what nothing writes is found.
template <class T>
void poison(T* data, std::int64_t size) {
  check(cudaMemsetAsync(data, 0xff, static_cast<std::size_t>(size) * sizeof(T), stream()), "cudaMemset");
}
/// Appends `size` elements to `to`, once the stream is done.
template <class T>
void download(const T* from, std::size_t size, std::vector<T>& to) {
  const std::size_t before = to.size();
  to.resize(before + size);
  check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
  check(cudaMemcpy(to.data() + before, from, size * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
}

/// Microseconds of one of `count` launches in a CUDA graph: the median of seven replays, once the clocks are up.
template <class Launch>
double microseconds(int count, Launch launch) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  check(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  try {
    for (int i = 0; i < count; ++i) launch(i);
  } catch (...) {
    (void)cudaStreamEndCapture(stream(), &graph);
    throw;
  }
  check(cudaStreamEndCapture(stream(), &graph), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&ready, graph, 0), "cudaGraphInstantiate");
  cudaEvent_t from = nullptr, to = nullptr;
  check(cudaEventCreate(&from), "cudaEventCreate");
  check(cudaEventCreate(&to), "cudaEventCreate");
  const auto replay = [&] {
    float milliseconds = 0;
    check(cudaEventRecord(from, stream()), "cudaEventRecord");
    check(cudaGraphLaunch(ready, stream()), "cudaGraphLaunch");
    check(cudaEventRecord(to, stream()), "cudaEventRecord");
    check(cudaEventSynchronize(to), "cudaEventSynchronize");
    check(cudaEventElapsedTime(&milliseconds, from, to), "cudaEventElapsedTime");
    return milliseconds;
  };
  float warm = 0;
  for (int i = 0; i < 2 || (warm < 20 && i < 100); ++i) warm += replay();
  std::vector<float> times;
  for (int i = 0; i < 7; ++i) times.push_back(replay());
  (void)cudaEventDestroy(from), (void)cudaEventDestroy(to);
  (void)cudaGraphExecDestroy(ready), (void)cudaGraphDestroy(graph);
  std::nth_element(times.begin(), times.begin() + 3, times.end());
  return 1000.0 * static_cast<double>(times[3]) / count;
}

/// Bytes per microsecond, read and written, of the runtime's own copy of 256 MB: the memory's speed in this run.
inline double copy_speed() {
  static const double speed = [] {
    constexpr std::size_t bytes = std::size_t(1) << 28;
    const buffer<char> a(bytes), b(bytes);
    return 2.0 * bytes / microseconds(4, [&](int) {
             check(cudaMemcpyAsync(b.data(), a.data(), bytes, cudaMemcpyDeviceToDevice, stream()), "cudaMemcpyAsync");
           });
  }();
  return speed;
}

/// Does a profiler look on?
inline bool profiled() {
  static const bool asked = std::getenv("SINTER_PROFILED") != nullptr;
  return asked;
}

/// How many sets of inputs and outputs of so many bytes pass three times the L2 between two uses of the same memory.
inline int num_sets(double bytes) {
  return profiled() ? 1
                    : static_cast<int>(std::clamp(1 + 3.0 * device().l2CacheSize / std::max(bytes, 1.0), 1.0, 64.0));
}

/// Times launch(set) and reports it; `bytes` have to move at each.
template <class Launch>
void measure(::benchmark::State& state, const char* implementation, double bytes, int sets, Launch launch) {
  if (profiled()) {
    for (auto _ : state) state.SetIterationTime(0);
    check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
    check(cudaProfilerStart(), "cudaProfilerStart");
    launch(0);
    check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
    check(cudaProfilerStop(), "cudaProfilerStop");
    return;
  }
  const double speed = copy_speed();
  double time = 0;
  for (auto _ : state) {
    time = microseconds(std::max(sets, 8), [&](int i) { launch(i % sets); });
    state.SetIterationTime(time * 1e-6);
  }
  // Host time of a call: a batch that the stream can queue, without waiting for the device.
  check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
  constexpr int calls = 100;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) launch(i % sets);
  const std::chrono::duration<double, std::micro> host = std::chrono::steady_clock::now() - start;
  check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
  state.SetLabel(implementation);
  state.counters["copy_%"] = 100 * bytes / time / speed;
  state.counters["TB/s"] = bytes / time * 1e-6;
  state.counters["MB"] = bytes * 1e-6;
  state.counters["host_us"] = host.count() / calls;
}

/// Registers a benchmark that calls measure once. A case that throws does not cost the others.
template <class Body>
void add_timed(const std::string& name, Body body) {
  const auto guarded = [=](::benchmark::State& state) {
    nvtxRangePushA(name.c_str());  // a profiler names kernels so
    try {
      body(state);
    } catch (const std::exception& error) {
      state.SkipWithError(error.what());
    }
    nvtxRangePop();
  };
  ::benchmark::RegisterBenchmark(name.c_str(), guarded)
      ->UseManualTime()
      ->Unit(::benchmark::kMicrosecond)
      ->Iterations(1);
}

/// What main does with its arguments once the benchmarks are registered.
inline int run(int argc, char** argv) try {
  int devices = 0, driver = 0, runtime = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "There is no CUDA device.\n");
    return 77;  // what CTest and ./dev bench take for: not on this machine
  }
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  const auto version = [](int v) { return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10); };
  ::benchmark::AddCustomContext("device", "cuda");
  ::benchmark::AddCustomContext("gpu", device().name);
  ::benchmark::AddCustomContext("cuda", version(runtime) + ", driver's " + version(driver));
  ::benchmark::AddCustomContext("copy_TB/s", std::to_string(copy_speed() * 1e-6));
  ::benchmark::Initialize(&argc, argv);
  if (::benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  ::benchmark::RunSpecifiedBenchmarks();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

}  // namespace bench
