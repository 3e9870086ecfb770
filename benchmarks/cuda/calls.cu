// What a call costs the host: fused functions of one kernel and of one to eight arguments, beside the bare launch of an
// empty kernel that takes the same argument block; plans of several kernels, called and captured. Sizes are small; the
// stream's queue never fills, so nothing waits.
// SPDX-License-Identifier: BSL-1.0
#include "bench.cuh"

#include <array>
#include <chrono>

namespace {

using namespace bench;

template <class Args>
__global__ void empty(const Args) {}

constexpr auto accumulate = [](auto first, auto... rest) {
  if constexpr (sizeof...(rest) == 0) return si::assign(first, si::relu(first));
  else return si::assign(first, (first + ... + rest));
};
constexpr auto normalise = [](auto x) { return si::assign(x, si::softmax(x)); };
constexpr auto total = [](auto x) { return si::sum(x); };
constexpr auto total_of_many = si::fuse<si::tensor<float, si::dyn>>(total);
constexpr int size = 4096;
using Square = si::tensor<float, 64, 64>;
constexpr auto network = [](auto x, auto weights) {
  auto h = si::relu(si::matmul(x, weights) + x);
  auto g = si::tanh(si::matmul(h, weights)) * h;
  return si::matmul(g, weights) + x;
};
constexpr auto layers = si::fuse<si::eager, Square, Square>(network);
using Static = si::tensor<float, size>;
using Dynamic = si::tensor<float, si::dim<"n">>;
using Matrix = si::tensor<float, si::dyn, 64>;

/// Microseconds of the host for one call, of so many between two waits: a batch that the stream's queue holds.
template <class Call>
void time_calls(const std::string& name, Call call, int calls = 64) {
  const auto run = [call, calls](::benchmark::State& state) mutable {
    for (auto _ : state) {
      check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < calls; ++i) call();
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
      state.SetIterationTime(elapsed.count() / calls);
    }
    check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
  };
  ::benchmark::RegisterBenchmark(name.c_str(), run)->UseManualTime()->Unit(::benchmark::kMicrosecond)->Iterations(500);
}

/// The bare launch, by the kernel's symbol and by its handle.
template <class Fused>
void time_launches(const std::string& arguments, const Fused&) {
  using kernel = typename si::detail::recipe<typename Fused::program>::template kernel<0>;
  using block = si::arguments<kernel::num_pointers, kernel::num_scalars, kernel::num_sizes>;
  const auto launch = [](const void* what) {
    block args{};
    void* addresses[] = {&args};
    check(cudaLaunchKernel(what, dim3(4), dim3(256), addresses, 0, stream()), "cudaLaunchKernel");
  };
  const auto* symbol = reinterpret_cast<const void*>(&empty<block>);
  cudaKernel_t handle = nullptr;
  check(cudaGetKernel(&handle, symbol), "cudaGetKernel");
  time_calls("launch/" + arguments, [=] { launch(symbol); });
  time_calls("handle/" + arguments, [=] { launch(handle); });
}

template <class Tensor, std::size_t>
using each = Tensor;
template <class Tensor, std::size_t... I>
constexpr auto accumulated = si::fuse<each<Tensor, I>...>(accumulate);

/// The same function of as many tensors as there are numbers.
template <class Tensor, std::size_t... I>
void time_arguments(const std::string& extents, const std::vector<buffer<float>>& memory, std::index_sequence<I...>) {
  static_assert(accumulated<Tensor, I...>.kernel_count() == 1);
  const std::string arguments = extents + "/" + std::to_string(sizeof...(I));
  const std::array tensors{make<Tensor>(memory[I].data(), size)...};
  time_calls("call/" + arguments, [tensors] { accumulated<Tensor, I...>(stream(), tensors[I]...); });
  time_launches(arguments, accumulated<Tensor, I...>);
}

template <class Tensor, std::size_t... N>
void time_all_arguments(const char* extents, const std::vector<buffer<float>>& memory, std::index_sequence<N...>) {
  (time_arguments<Tensor>(extents, memory, std::make_index_sequence<N + 1>{}), ...);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<buffer<float>> memory;
  for (int i = 0; i < 8; ++i) {
    memory.emplace_back(size);
    check(cudaMemset(memory.back().data(), 0, size * sizeof(float)), "cudaMemset");
  }
  time_all_arguments<Static>("static", memory, std::make_index_sequence<8>{});
  time_all_arguments<Dynamic>("dyn", memory, std::make_index_sequence<8>{});

  const Matrix matrix(memory[0].data(), size / 64);
  constexpr auto rows = si::fuse<Matrix>(normalise);
  time_calls("call/softmax", [=] { rows(stream(), matrix); });
  time_launches("softmax", rows);

  // A reduction of few long rows is split, and needs scratch memory: the stream's pool, or the caller's.
  constexpr std::int64_t many = 1 << 20;
  const buffer<float> values(many), sum(1);
  const buffer<char> workspace(total_of_many.workspace_bytes(many));
  check(cudaMemset(values.data(), 0, many * sizeof(float)), "cudaMemset");
  const si::tensor<float, si::dyn> vector(values.data(), many);
  const si::tensor<float> scalar(sum.data());
  const si::cuda_executor executor{stream(), workspace.data(), total_of_many.workspace_bytes(many)};
  time_calls("call/split_sum", [=] { total_of_many(stream(), vector, scalar); });
  time_calls("call/split_sum_with_workspace", [=] { total_of_many(executor, vector, scalar); });
  time_calls(
      "call/split_sum_after_a_wait", [=] { total_of_many(stream(), vector, scalar); }, 1);
  time_calls(
      "call/split_sum_with_workspace_after_a_wait", [=] { total_of_many(executor, vector, scalar); }, 1);
  time_launches("split_sum", total_of_many);

  // Eight kernels, called and as one graph: replayed as it is, with the same arguments, with others each time.
  static_assert(layers.kernel_count() == 8);
  const Square x(memory[0].data()), weights(memory[1].data()), out(memory[2].data()), other(memory[3].data());
  si::captured graph(layers, x, weights, out);
  time_calls("call/eight_kernels", [=] { layers(stream(), x, weights, out); });
  time_calls("captured/replay", [&] { graph(stream()); });
  time_calls("captured/same", [&] { graph(stream(), x, weights, out); });
  time_calls("captured/other", [&, turn = 0]() mutable { graph(stream(), x, weights, turn++ % 2 ? out : other); });

  ::benchmark::Initialize(&argc, argv);
  ::benchmark::RunSpecifiedBenchmarks();
  return 0;
}
