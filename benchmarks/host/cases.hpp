// The cases of the host benchmarks, for any library: families of functions at several widths, of 64 to 256 MB, four
// times a large cache and more. The names say the function, the element type and the shape.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "bench.hpp"

namespace bench {

template <class Library>
void pointwise_cases() {
  using si::bf16;
  add<Library>("chain_f32_16M", chain{}, in<of<float, all>>{}, out<of<float, all>>{}, 16 << 20);
  add<Library>("chain_bf16_32M", chain{}, in<of<bf16, all>>{}, out<of<bf16, all>>{}, 32 << 20);
  add<Library>("small_chain_f32_4096", chain{}, in<of<float, all>>{}, out<of<float, all>>{}, 4096);
  {
    using x = of<float, all, 4096>;
    add<Library>("bias_gelu_f32_4096x4096", bias_gelu{}, in<x, row_of<float, 4096>>{}, out<x>{}, 4096);
  }
  {
    using x = of<bf16, all, 4096>;
    add<Library>("bias_gelu_bf16_8192x4096", bias_gelu{}, in<x, row_of<bf16, 4096>>{}, out<x>{}, 8192);
  }
  {
    using x = of<float, all, 11008>;
    add<Library>("swiglu_f32_1024x11008", swiglu{}, in<x, x>{}, out<x>{}, 1024);
  }
  {
    using x = of<float, 4096, 4096>;
    add<Library>("transpose_add_f32_4096", transpose_add{}, in<x, x>{}, out<x>{}, 1);
  }
  {
    using x = of<float, all, 32, 128>;
    using angles = of<float, all, 1, 128>;
    add<Library>("rope_f32_4096x32x128", rope{}, in<x, angles, angles>{}, out<x>{}, 4096);
  }
  {
    using x = of<float, all>;
    add<Library>("adam_f32_8M", adam{}, in<x, x, x, positive<float, all>>{}, out<>{}, 8 << 20);
  }
}

template <class Library, class T, long Width>
void norm_cases(const std::string& shape, long rows) {
  using x = of<T, all, Width>;
  using weight = row_of<T, Width>;
  add<Library>("softmax_" + shape, softmax{}, in<x>{}, out<x>{}, rows);
  add<Library>("layernorm_" + shape, layer_norm{}, in<x, weight, weight>{}, out<x>{}, rows);
  add<Library>("rmsnorm_" + shape, rms_norm{}, in<x, weight>{}, out<x>{}, rows);
}

template <class Library>
void row_cases() {
  norm_cases<Library, float, 1024>("f32_16384x1024", 16384);
  norm_cases<Library, float, 4096>("f32_4096x4096", 4096);
  norm_cases<Library, float, 16384>("f32_1024x16384", 1024);
  norm_cases<Library, float, 65536>("f32_256x65536", 256);
  norm_cases<Library, float, 3001>("f32_5003x3001", 5003);
  norm_cases<Library, si::bf16, 4096>("bf16_8192x4096", 8192);
  {
    using x = of<float, all, 4096>;
    using weight = row_of<float, 4096>;
    add<Library>("add_rmsnorm_f32_4096x4096", add_rms_norm{}, in<x, x, weight>{}, out<x, x>{}, 4096);
    add<Library>("layernorm_gelu_f32_4096x4096", layer_norm_gelu{}, in<x, weight, weight>{}, out<x>{}, 4096);
  }
  {
    using logits = of<float, all, 32000>;
    using targets = of<std::int64_t, all>;
    add<Library>("cross_entropy_f32_1024x32000", cross_entropy{}, in<logits, targets>{}, out<row_of<float>>{}, 1024,
                 32000);
  }
  {
    using x = of<float, all, 8192>;
    add<Library>("var_mean_f32_4096x8192", var_mean{}, in<x>{}, out<of<float, all>, of<float, all>>{}, 4096);
  }
}

template <class Library>
void reduction_cases() {
  {
    using x = of<float, all, 8192>;
    add<Library>("colsum_f32_4096x8192", column_sum{}, in<x>{}, out<row_of<float, 8192>>{}, 4096);
  }
  add<Library>("fullsum_sq_f32_32M", sum_of_squares{}, in<of<float, all>>{}, out<row_of<float>>{}, 32 << 20);
  {
    using x = of<float, 4096, 8192>;
    add<Library>("rowcol_sum_f32_4096x8192", row_and_column_sums{}, in<x>{},
                 out<of<float, 4096>, row_of<float, 8192>>{}, 1);
  }
}

/// The main function of a program of these.
inline int run(int argc, char** argv) {
  ::benchmark::Initialize(&argc, argv);
  ::benchmark::AddCustomContext("device", "cpu");
  ::benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace bench
