# Programs that are compiled to see what that costs; sourced by run.sh and growth.sh.

write_chain() { # write_chain OPS: alternating sums and sines, each of the value before
  local i
  cat <<END
#include <sinter/sinter.hpp>
namespace si = sinter;
constexpr auto chain = [](auto x0) {
END
  for ((i = 1; i <= $1; i++)); do
    if ((i % 2)); then echo "  auto x$i = x$((i - 1)) + x0;"; else echo "  auto x$i = si::sin(x$((i - 1)));"; fi
  done
  cat <<END
  return x$1;
};
using X = si::tensor<float, si::dyn>;
constexpr auto f = si::fuse<X>(chain);
static_assert(f.kernel_count() == 1);
#ifdef __CUDACC__
void run(cudaStream_t stream, float* in, float* out, int size) { f(stream, X{in, size}, X{out, size}); }
#else
void run(float* in, float* out, int size) { f(si::host, X{in, size}, X{out, size}); }
#endif
END
}

write_softmax() {
  cat <<END
#include <sinter/sinter.hpp>
namespace si = sinter;
using X = si::tensor<si::bf16, si::dyn, 4096>;
constexpr auto f = si::fuse<X>([](auto x) { return si::softmax(x); });
static_assert(f.kernel_count() == 1);
#ifdef __CUDACC__
void run(cudaStream_t stream, X x, X out) { f(stream, x, out); }
#else
void run(X x, X out) { f(si::host, x, out); }
#endif
END
}

write_network() { # write_network BLOCKS: residual ones, MLP and attention by turns, from primitives; 47 nodes a pair
  local blocks=$1 i
  cat <<END
#include <sinter/sinter.hpp>
namespace si = sinter;
constexpr auto attention = [](auto x, auto w, auto v) {
  auto h = si::layer_norm(x, 1e-5f);
  auto scores = si::matmul(si::matmul(h, w), si::transpose(si::matmul(h, v)));
  return x + si::matmul(si::softmax(scores * 0.125f), h);
};
constexpr auto mlp = [](auto x, auto w, auto v) {
  auto h = si::rms_norm(x, 1e-5f);
  return x + si::matmul(si::silu(si::matmul(h, w)) * si::matmul(h, v), si::transpose(w));
};
constexpr auto network = [](auto x0, [[maybe_unused]] auto w, [[maybe_unused]] auto v) {
END
  for ((i = 1; i <= blocks; i++)); do
    if ((i % 2)); then echo "  auto x$i = mlp(x$((i - 1)), w, v);"; else echo "  auto x$i = attention(x$((i - 1)), w, v);"; fi
  done
  cat <<END
  return si::exp(x$blocks);
};
using X = si::tensor<float, 256, 64>;
using W = si::tensor<float, 64, 64>;
constexpr auto f = si::fuse<X, W, W>(network);
static_assert(f.kernel_count() > 0);  // nothing is lowered
END
}
