// Is the receipt true? Runs each plan once and prints how many kernels of sinter's it promises; ./dev gpu lets a
// profiler count the launches. Foreign kernels are the vendor's business: one call may launch several.
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

static int promised = 0;

template <class Plan, class... Tensors>
void run(Plan plan, Tensors... tensors) {
  for (int i = 0; i < plan.kernel_count(); ++i) promised += !std::string_view(plan.kernel(i).name).starts_with("for_");
  plan(cudaStream_t{}, tensors...);
  check(cudaDeviceSynchronize());
}

constexpr int rows = 64, hidden = 64, inner = 160;
using X = si::tensor<float, si::dyn, hidden>;
using H = si::tensor<float, hidden>;
using Up = si::tensor<float, hidden, inner>;
using B = si::tensor<float, inner>;
using Down = si::tensor<float, inner, hidden>;

constexpr auto ffn = [](auto x, auto gamma, auto beta, auto w_gate, auto b_gate, auto w_up, auto b_up, auto w_down) {
  auto h = si::layer_norm(x, gamma, beta, 1e-5f);
  return si::matmul(si::silu(si::matmul(h, w_gate) + b_gate) * (si::matmul(h, w_up) + b_up), w_down);
};
constexpr auto softmax = [](auto x) { return si::softmax(x, si::axis<-1>); };

int main() {
  X x{zeros(rows * hidden), rows}, out{zeros(rows * hidden), rows};
  H gamma{zeros(hidden)};
  Up up{zeros(hidden * inner)};
  B bias{zeros(inner)};
  Down down{zeros(inner * hidden)};

  run(si::fuse<X>(softmax), x, out);
  run(si::fuse<si::eager, X>(softmax), x, out);
  run(si::fuse<X, H>([](auto a, auto g) { return si::gelu(si::rms_norm(a, g, 1e-6f)); }), x, gamma, out);
  run(si::fuse<si::eager, X, H, H, Up, B, Up, B, Down>(ffn), x, gamma, gamma, up, bias, up, bias, down, out);
  run(si::fuse<X, H, H, Up, B, Up, B, Down>(ffn), x, gamma, gamma, up, bias, up, bias, down, out);
  run(si::fuse<si::max_autotune, X, H, H, Up, B, Up, B, Down>(ffn), x, gamma, gamma, up, bias, up, bias, down, out);
  run(si::fuse<si::max_fusion, X, H, H, Up, B, Up, B, Down>(ffn), x, gamma, gamma, up, bias, up, bias, down, out);
  std::printf("promised %d\n", promised);
}
