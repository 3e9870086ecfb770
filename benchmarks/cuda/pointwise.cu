// Pointwise kernels: chains, broadcasts, two-dimensional tiles, in place.
// SPDX-License-Identifier: BSL-1.0
#include "bench.cuh"
#include "functions.cuh"

namespace {

using namespace bench;

template <class T>
using Vector = si::tensor<T, si::dyn>;
template <class T, long Width>
using Rows = si::tensor<T, si::dyn, Width>;

constexpr auto copy = [](auto x) { return x; };
constexpr auto bias_gelu = [](auto x, auto bias) { return si::gelu(x + bias); };
constexpr auto swiglu = [](auto gate, auto up) { return si::silu(gate) * up; };
constexpr auto transpose_add = [](auto x, auto y) { return x + si::transpose(y); };
constexpr auto rope = [](auto x, auto cosine, auto sine) {
  auto first = si::slice<-1, 0, 64>(x), second = si::slice<-1, 64, 128>(x);
  auto rotated = si::concat<-1>(-second, first);
  return x * cosine + rotated * sine;
};
constexpr auto adam = [](auto p, auto g, auto m, auto v) {
  auto first = 0.9f * m + 0.1f * g;
  auto second = 0.999f * v + 0.001f * g * g;
  return std::tuple(si::assign(p, p - 1e-3f * first / (si::sqrt(second) + 1e-8f)), si::assign(m, first),
                    si::assign(v, second));
};

}  // namespace

int main(int argc, char** argv) {
  using F = Vector<float>;
  using B = Vector<si::bf16>;
  add("copy_f32_256M", si::fuse<F>(copy), in<F>{}, out<F>{}, {.rows = 64 << 20});
  add("chain_f32_64M", si::fuse<F>(chain), in<F>{}, out<F>{}, {.rows = 64 << 20});
  add("chain_bf16_128M", si::fuse<B>(chain), in<B>{}, out<B>{}, {.rows = 128 << 20});
  add("small_chain_f32_4096", si::fuse<F>(chain), in<F>{}, out<F>{}, {.rows = 4096});
  {
    using X = Rows<si::bf16, 8192>;
    using W = si::tensor<si::bf16, 8192>;
    add("bias_gelu_bf16_16384x8192", si::fuse<X, W>(bias_gelu), in<X, W>{}, out<X>{}, {.rows = 16384});
  }
  {
    using X = Rows<si::bf16, 11008>;
    add("swiglu_bf16_16384x11008", si::fuse<X, X>(swiglu), in<X, X>{}, out<X>{}, {.rows = 16384});
  }
  {
    using X = si::tensor<float, 8192, 8192>;
    add("transpose_add_f32_8192", si::fuse<X, X>(transpose_add), in<X, X>{}, out<X>{}, {});
  }
  {
    using X = si::tensor<si::bf16, si::dyn, 4096, 32, 128>;
    using C = si::tensor<si::bf16, 4096, 1, 128>;
    add("rope_bf16_4x4096x32x128", si::fuse<X, C, C>(rope), in<X, C, C>{}, out<X>{}, {.rows = 4, .check_rows = 2});
  }
  add("adam_f32_32M", si::fuse<F, F, F, F>(adam), in<F, F, F, F>{}, out<>{}, {.rows = 32 << 20, .low = 0});
  return bench::run(argc, argv);
}
