// Do plans move the bytes that they promise? Without an argument prints the names of the plans; with one, runs that
// plan once and prints the bytes it promises to read and write. ./dev gpu has a profiler count those of the DRAM. Every
// kernel moves more than 2 GB: what is still unwritten in the L2 when it ends (50 MB) is then less than 3 %.
#include <sinter/sinter.hpp>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <tuple>

namespace si = sinter;

static void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(1);
}

template <class Tensor>
Tensor zeros(std::int64_t rows) {
  const auto make = [&](typename Tensor::element* data) {
    if constexpr (Tensor::num_dynamic > 0) return Tensor(data, rows);
    else return Tensor(data);
  };
  void* data = nullptr;
  const auto bytes = static_cast<std::size_t>(make(nullptr).numel()) * sizeof(typename Tensor::element);
  check(cudaMalloc(&data, bytes));
  check(cudaMemset(data, 0, bytes));
  return make(static_cast<typename Tensor::element*>(data));
}

static std::string_view chosen;

template <class... Tensors, class Plan>
void plan(std::string_view name, Plan f, std::int64_t rows) {
  if (chosen.empty()) std::printf("%.*s\n", static_cast<int>(name.size()), name.data());
  if (chosen != name) return;
  f(cudaStream_t{}, zeros<Tensors>(rows)...);
  check(cudaDeviceSynchronize());
  std::printf("promised %lld\n", static_cast<long long>(f.bytes_read(rows) + f.bytes_written(rows)));
}

constexpr auto chain = [](auto x) { return si::relu(si::tanh(x * 1.5f + 0.5f) - si::sigmoid(x)) * x; };
constexpr auto bias_gelu = [](auto x, auto bias) { return si::gelu(x + bias); };
constexpr auto adam = [](auto p, auto g, auto m, auto v) {
  auto first = 0.9f * m + 0.1f * g;
  auto second = 0.999f * v + 0.001f * g * g;
  return std::tuple(si::assign(p, p - 1e-3f * first / (si::sqrt(second) + 1e-8f)), si::assign(m, first),
                    si::assign(v, second));
};
constexpr auto transpose_add = [](auto x, auto y) { return x + si::transpose(y); };
constexpr auto softmax = [](auto x) { return si::softmax(x); };
constexpr auto add_norm = [](auto x, auto y) {
  auto sum = x + y;
  return std::tuple(sum, si::rms_norm(sum, 1e-5f));
};
constexpr auto row_sums = [](auto x) { return si::sum(x, si::axis<1>); };
constexpr auto column_sums = [](auto x) { return si::sum(x, si::axis<0>); };
constexpr auto total = [](auto x) { return si::sum(x); };
constexpr auto both_sums = [](auto x) { return std::tuple(si::sum(x, si::axis<1>), si::sum(x, si::axis<0>)); };

template <class T>
using Vector = si::tensor<T, si::dyn>;
template <class T, long Columns>
using Matrix = si::tensor<T, si::dyn, Columns>;

int main(int argc, char** argv) {
  if (argc > 1) chosen = argv[1];
  using si::bf16;
  {
    using V = Vector<float>;
    plan<V, V>("chain", si::fuse<V>(chain), 1 << 28);
    plan<V, V, V, V>("adam_in_place", si::fuse<V, V, V, V>(adam), 1 << 27);
  }
  {
    using X = Matrix<bf16, 8192>;
    using B = si::tensor<bf16, 8192>;
    plan<X, B, X>("bias_gelu", si::fuse<X, B>(bias_gelu), 1 << 16);
    plan<X, B, X>("bias_gelu_eager", si::fuse<si::eager, X, B>(bias_gelu), 1 << 16);
    plan<X, X, X, X>("add_norm", si::fuse<X, X>(add_norm), 1 << 16);
  }
  {
    using X = Matrix<float, 16384>;
    using Y = si::tensor<float, 16384, si::dyn>;
    plan<X, Y, X>("transpose_add", si::fuse<X, Y>(transpose_add), 1 << 14);
  }
  {
    using X = Matrix<bf16, 4096>;
    plan<X, X>("softmax_4096", si::fuse<X>(softmax), 1 << 18);
  }
  {
    using X = Matrix<bf16, 65536>;
    plan<X, X>("softmax_65536", si::fuse<X>(softmax), 1 << 14);
  }
  {
    using X = Matrix<float, 4096>;
    plan<X, Vector<float>>("row_sums", si::fuse<X>(row_sums), 1 << 18);
    plan<X, si::tensor<float, 4096>>("column_sums", si::fuse<X>(column_sums), 1 << 18);
    plan<X, Vector<float>, si::tensor<float, 4096>>("row_and_column_sums", si::fuse<X>(both_sums), 1 << 18);
  }
  plan<Vector<float>, si::tensor<float>>("total", si::fuse<Vector<float>>(total), 1 << 30);
}
