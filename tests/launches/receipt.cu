// Is the receipt true? Without an argument prints the names of the plans; with one, runs that plan once and prints how many
// kernels it promises, foreign ones included. ./dev gpu lets a profiler count the launches.
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

static float* zeros(std::size_t count) {
  void* data = nullptr;
  check(cudaMalloc(&data, count * sizeof(float)));
  check(cudaMemset(data, 0, count * sizeof(float)));
  return static_cast<float*>(data);
}

static std::string_view chosen;

template <class Plan, class... Tensors>
void plan(std::string_view name, Plan f, Tensors... tensors) {
  if (chosen.empty()) std::printf("%.*s\n", static_cast<int>(name.size()), name.data());
  if (chosen != name) return;
  f(cudaStream_t{}, tensors...);
  check(cudaDeviceSynchronize());
  std::printf("promised %d\n", f.kernel_count());
}

constexpr int rows = 64, hidden = 64, inner = 160;
using X = si::tensor<float, si::dyn, hidden>;
using Odd = si::tensor<float, si::dyn, 1001>;
using H = si::tensor<float, hidden>;
using Up = si::tensor<float, hidden, inner>;
using B = si::tensor<float, inner>;
using Down = si::tensor<float, inner, hidden>;

constexpr auto ffn = [](auto x, auto gamma, auto beta, auto w_gate, auto b_gate, auto w_up, auto b_up, auto w_down) {
  auto h = si::layer_norm(x, gamma, beta, 1e-5f);
  return si::matmul(si::silu(si::matmul(h, w_gate) + b_gate) * (si::matmul(h, w_up) + b_up), w_down);
};
constexpr auto softmax = [](auto x) { return si::softmax(x, si::axis<-1>); };
constexpr auto along_columns = [](auto x) { return si::softmax(x, si::axis<0>); };
constexpr auto total = [](auto x) { return std::tuple(si::sum(x * x), si::sum(x, si::axis<0>)); };

constexpr auto step = [](auto a, auto b, auto c, auto g, auto h, auto i) {
  return si::foreach(std::tuple(a, b, c), std::tuple(g, h, i), [](auto p, auto d) { si::assign(p, p - 0.1f * d); });
};
constexpr auto apart = [](auto x, auto w, auto b) { return std::tuple(si::softmax(x), si::relu(w), si::sum(b)); };
constexpr si::options combo = [] {
  si::options o = si::standard;
  o.combo_kernels = true;
  return o;
}();

int main(int argc, char** argv) {
  if (argc > 1) chosen = argv[1];
  X x{zeros(rows * hidden), rows}, out{zeros(rows * hidden), rows};
  H gamma{zeros(hidden)}, columns{zeros(hidden)};
  si::tensor<float> scalar{zeros(1)};
  Up up{zeros(hidden * inner)};
  B bias{zeros(inner)};
  Down down{zeros(inner * hidden)};

  plan("softmax", si::fuse<X>(softmax), x, out);
  Odd tall{zeros(8000 * 1001), 8000}, tall_out{zeros(8000 * 1001), 8000};
  plan("softmax_columns", si::fuse<Odd>(along_columns), tall, tall_out);
  plan("softmax_eager", si::fuse<si::eager, X>(softmax), x, out);
  plan("sums", si::fuse<X>(total), x, scalar, columns);
  plan("foreach", si::fuse<H, Up, B, H, Up, B>(step), gamma, up, bias, columns, Up{zeros(hidden * inner)}, B{zeros(inner)});
  plan("combo", si::fuse<combo, X, Up, B>(apart), x, up, bias, out, Up{zeros(hidden * inner)}, scalar);
  plan("combo_off", si::fuse<X, Up, B>(apart), x, up, bias, out, Up{zeros(hidden * inner)}, scalar);
  plan("ffn_eager", si::fuse<si::eager, X, H, H, Up, B, Up, B, Down>(ffn), x, gamma, gamma, up, bias, up, bias, down, out);
  plan("ffn_standard", si::fuse<X, H, H, Up, B, Up, B, Down>(ffn), x, gamma, gamma, up, bias, up, bias, down, out);
  plan("ffn_max_autotune", si::fuse<si::max_autotune, X, H, H, Up, B, Up, B, Down>(ffn), x, gamma, gamma, up, bias, up, bias, down, out);
  plan("ffn_max_fusion", si::fuse<si::max_fusion, X, H, H, Up, B, Up, B, Down>(ffn), x, gamma, gamma, up, bias, up, bias, down, out);
}
