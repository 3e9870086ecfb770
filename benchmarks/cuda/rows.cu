// Kernels whose work is a row at a time: softmax, the norms, cross entropy.
// SPDX-License-Identifier: BSL-1.0
#include "bench.cuh"
#include "functions.cuh"

namespace {

using namespace bench;

template <class T, long Width>
using Rows = si::tensor<T, si::dyn, Width>;
template <class T, long Width>
using Row = si::tensor<T, Width>;

template <long Axis>
constexpr auto cumsum = [](auto x) { return si::cumsum(x, si::axis<Axis>); };
constexpr auto var_mean = [](auto x) { return std::tuple(si::var(x, si::axis<-1>), si::mean(x, si::axis<-1>)); };

template <class T, long Width>
void norms(const std::string& shape, std::int64_t rows) {
  using X = Rows<T, Width>;
  using W = Row<T, Width>;
  add("softmax_" + shape, si::fuse<X>(softmax), in<X>{}, out<X>{}, {.rows = rows});
  add("layernorm_" + shape, si::fuse<X, W, W>(layer_norm), in<X, W, W>{}, out<X>{}, {.rows = rows});
  add("rmsnorm_" + shape, si::fuse<X, W>(rms_norm), in<X, W>{}, out<X>{}, {.rows = rows});
}

}  // namespace

int main(int argc, char** argv) {
  norms<si::bf16, 1024>("bf16_65536x1024", 65536);
  norms<si::bf16, 4096>("bf16_16384x4096", 16384);
  norms<si::bf16, 16384>("bf16_4096x16384", 4096);
  norms<si::bf16, 65536>("bf16_2048x65536", 2048);
  {
    using X = Rows<si::bf16, 4096>;
    using W = Row<si::bf16, 4096>;
    add("add_rmsnorm_bf16_16384x4096", si::fuse<X, X, W>(add_rms_norm), in<X, X, W>{}, out<X, X>{}, {.rows = 16384});
  }
  {
    using X = Rows<float, 4096>;
    using W = Row<float, 4096>;
    add("layernorm_gelu_f32_16384x4096", si::fuse<X, W, W>(layer_norm_gelu), in<X, W, W>{}, out<X>{}, {.rows = 16384});
  }
  {
    using X = Rows<si::bf16, 32000>;
    using Y = si::tensor<std::int64_t, si::dyn>;
    using Loss = si::tensor<si::bf16>;
    add("cross_entropy_bf16_8192x32000",
        si::fuse<Rows<si::bf16, 32000>, si::tensor<std::int64_t, si::dyn>>(cross_entropy), in<X, Y>{}, out<Loss>{},
        {.rows = 8192, .check_rows = whole, .limit = 32000, .bytes = 8192 * (2.0 * 32000 + 8)});
  }
  {
    using X = Rows<float, 8192>;
    using V = si::tensor<float, si::dyn>;
    add("var_mean_f32_16384x8192", si::fuse<X>(var_mean), in<X>{}, out<V, V>{}, {.rows = 16384});
  }
  {
    using X = Rows<float, 4096>;
    add("cumsum_f32_16384x4096", si::fuse<X>(cumsum<-1>), in<X>{}, out<X>{}, {.rows = 16384});
    add("cumsum_columns_f32_16384x4096", si::fuse<X>(cumsum<0>), in<X>{}, out<X>{},
        {.rows = 16384, .check_rows = whole});
    using Long = si::tensor<float, si::dyn>;
    add("cumsum_f32_64M", si::fuse<Long>(cumsum<0>), in<Long>{}, out<Long>{}, {.rows = 64 << 20, .check_rows = whole});
  }
  return bench::run(argc, argv);
}
