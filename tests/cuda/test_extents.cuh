// Plans of static extents drawn at random, on the device: what each must give is what the plan of run-time extents
// gives on the host. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "on_cuda.cuh"
#include "test_kernels_support.cuh"

namespace extents {

namespace si = sinter;
using namespace kernel_tests;

/// The i-th extent of a seed, as likely from 2^least to twice that as from half of 2^most to 2^most. Of four one is any
/// number, the others are multiples of what kernels take at a time.
constexpr long drawn(unsigned seed, unsigned i, unsigned least, unsigned most) {
  std::uint64_t s = seed * 1000003ull + i * 7919ull + 12345;
  const auto next = [&] { return (s = s * 6364136223846793005ull + 1442695040888963407ull) >> 33; };
  next();
  const std::uint64_t top = 1ull << (least + next() % (most - least)), any = top + next() % top;
  const std::uint64_t unit = std::array{1, 8, 256, 1024}[i % 4];
  return static_cast<long>(any < unit ? any : any / unit * unit);
}

// What a plan over rows and columns reads and writes.
struct matrix {
  static constexpr bool has_rows = true, has_columns = true;
  template <class T, auto Rows, auto Columns>
  using tensor = si::tensor<T, Rows, Columns>;
};
struct row {
  static constexpr bool has_rows = false, has_columns = true;
  template <class T, auto Rows, auto Columns>
  using tensor = si::tensor<T, Columns>;
};
struct column {
  static constexpr bool has_rows = true, has_columns = false;
  template <class T, auto Rows, auto Columns>
  using tensor = si::tensor<T, Rows>;
};

/// Row-major data of these extents, for a tensor whose type may say some of them.
template <class Operand, class T>
struct view {
  T* data;
  std::int64_t rows, columns;
  static constexpr int rank() { return Operand::has_rows + Operand::has_columns; }
  T* data_handle() const { return data; }
  std::int64_t extent(int d) const { return d == 0 && Operand::has_rows ? rows : columns; }
  std::int64_t stride(int d) const { return d + 1 < rank() ? columns : 1; }
};
template <class Operand>
std::size_t count(std::int64_t rows, std::int64_t columns) {
  return static_cast<std::size_t>((Operand::has_rows ? rows : 1) * (Operand::has_columns ? columns : 1));
}

inline constexpr auto any_rows = si::dim<"rows">, any_columns = si::dim<"columns">;

/// `fn` of operands In... of Ts gives an Out of Results, wherever its data begin.
template <class T, class Result, auto Rows, auto Columns, class Out, class... In, class Fn>
void check(const char* name, std::int64_t rows, std::int64_t columns, const Fn&, double absolute) {
  unsigned seed = 0;
  const std::array inputs{numbers<T>(count<In>(rows, columns), ++seed)...};
  std::vector<Result> expected(count<Out>(rows, columns));
  constexpr auto on_host = si::fuse<typename In::template tensor<T, any_rows, any_columns>...>(Fn{});
  constexpr auto on_device = si::fuse<typename In::template tensor<T, Rows, Columns>...>(Fn{});
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    on_host(si::host, view<In, const T>{inputs[I].data(), rows, columns}...,
            typename Out::template tensor<Result, any_rows, any_columns>(
                view<Out, Result>{expected.data(), rows, columns}));
    for (const std::size_t shift : {0, 1}) {
      if (!is_sampled()) continue;
      const std::string what = label(name, rows, columns, shift ? "misaligned" : "");
      const device_array<T> on[]{device_array<T>(inputs[I], shift)...};
      const device_array<Result> out(expected.size(), shift);
      run(what, [&] {
        on_device(place::executor(), view<In, const T>{on[I].data(), rows, columns}...,
                  typename Out::template tensor<Result, Rows, Columns>(view<Out, Result>{out.data(), rows, columns}));
      });
      check_close(
          what, out.host(), [&](std::size_t k) { return kernel_tests::number(expected[k]); },
          2 * step_of<Result>() + 2e-5, absolute);
      out.check_guards(what);
    }
  }
  (std::index_sequence_for<In...>{});
}

constexpr auto softmax = [](auto x) { return si::softmax(x); };
constexpr auto layer_norm = [](auto x, auto w, auto b) { return si::layer_norm(x, w, b, 1e-5f); };
constexpr auto gated_norm = [](auto x, auto gate, auto w) { return si::rms_norm(x * si::silu(gate), w, 1e-6f); };
constexpr auto softmax_gradient = [](auto y, auto g) { return y * (g - si::sum(y * g, si::axis<-1>, si::keepdim)); };
constexpr auto norm_gradient = [](auto x, auto g, auto w) {
  const auto mean = [](auto y) { return si::mean(y, si::axis<-1>, si::keepdim); };
  const auto scale = si::rsqrt(mean(x * x) + 1e-6f);
  const auto scaled = x * scale;
  const auto weighted = g * w;
  return scale * (weighted - scaled * mean(weighted * scaled));
};
constexpr auto variance = [](auto x) { return si::var(x, si::axis<-1>); };
constexpr auto greatest = [](auto x) { return si::argmax(x, si::axis<-1>); };
constexpr auto running = [](auto x) { return si::cumsum(x, si::axis<-1>); };
constexpr auto running_products = [](auto x, auto y) { return si::cumsum(x * y, si::axis<-1>) + x; };
constexpr auto softmax_down = [](auto x) { return si::softmax(x, si::axis<0>); };
constexpr auto norm_down = [](auto x) {
  const auto centre = x - si::mean(x, si::axis<0>, si::keepdim);
  return centre * si::rsqrt(si::mean(centre * centre, si::axis<0>, si::keepdim) + 1e-5f);
};
constexpr auto sum_down = [](auto x) { return si::sum(x, si::axis<0>); };
constexpr auto running_down = [](auto x) { return si::cumsum(x, si::axis<0>); };

/// The families of row kernels, with rows as few and as many as fit in some millions of values.
template <long Columns>
void check_rows() {
  using si::bf16, si::f16;
  for (const std::int64_t rows : {1l, 9l, 150l, std::min(4000l, 3'000'000 / Columns)}) {
    check<bf16, bf16, any_rows, Columns, matrix, matrix>("softmax bf16", rows, Columns, softmax, 1e-6);
    check<bf16, bf16, any_rows, Columns, matrix, matrix, matrix>("softmax's gradient bf16", rows, Columns,
                                                                 softmax_gradient, 5e-2);
    check<bf16, bf16, any_rows, Columns, matrix, matrix, row, row>("layer norm bf16", rows, Columns, layer_norm, 2e-2);
    check<float, float, any_rows, Columns, matrix, matrix, row, row>("layer norm f32", rows, Columns, layer_norm, 1e-4);
    check<bf16, bf16, any_rows, Columns, matrix, matrix, matrix, row>("gated norm bf16", rows, Columns, gated_norm,
                                                                      2e-2);
    check<float, float, any_rows, Columns, matrix, matrix, matrix, row>("gated norm f32", rows, Columns, gated_norm,
                                                                        1e-4);
    check<bf16, bf16, any_rows, Columns, matrix, matrix, matrix, row>("gradient of RMS norm bf16", rows, Columns,
                                                                      norm_gradient, 5e-2);
    check<f16, f16, any_rows, Columns, column, matrix>("variance f16", rows, Columns, variance, 1e-4);
    check<float, std::int64_t, any_rows, Columns, column, matrix>("argmax f32", rows, Columns, greatest, 0);
    check<float, float, any_rows, Columns, matrix, matrix>("cumsum f32", rows, Columns, running, 1e-2);
    check<float, float, any_rows, Columns, matrix, matrix, matrix>("cumsum of products f32", rows, Columns,
                                                                   running_products, 2e-2);
  }
}
/// Those of columns.
template <long Rows, long Columns>
void check_columns() {
  using si::bf16, si::f16;
  check<bf16, bf16, Rows, Columns, matrix, matrix>("softmax of columns bf16", Rows, Columns, softmax_down, 1e-6);
  check<float, float, Rows, Columns, matrix, matrix>("softmax of columns f32", Rows, Columns, softmax_down, 1e-6);
  check<f16, f16, Rows, Columns, matrix, matrix>("norm of columns f16", Rows, Columns, norm_down, 1e-2);
  check<float, float, Rows, Columns, row, matrix>("sum of columns f32", Rows, Columns, sum_down, 1e-3);
  check<bf16, bf16, Rows, Columns, matrix, matrix>("cumsum of columns bf16", Rows, Columns, running_down, 2e-2);
}

template <unsigned Seed, unsigned... Turn>
void check_drawn(std::integer_sequence<unsigned, Turn...>) {
  (check_rows<drawn(Seed, Turn, 1, 16)>(), ...);
  (check_columns<std::min(drawn(Seed, Turn, 1, 15), 2'000'000 / drawn(Seed, Turn + 101, 1, 13)),
                 drawn(Seed, Turn + 101, 1, 13)>(),
   ...);
}

}  // namespace extents
