// The functions that the host benchmarks time, each twice: for sinter, and as plain loops in double, with which every
// library's results are compared.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sinter/sinter.hpp>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

namespace bench {

namespace si = sinter;

/// A matrix of any element type, read in double.
struct operand {
  const void* data;
  long rows, columns;
  double (*read)(const void*, long);
  double operator()(long i, long j = 0) const { return read(data, i * columns + j); }
};
using operands = std::vector<operand>;
using row = std::vector<double>;
/// For each result its row i, or all of it where a function is not by rows.
using rows_of_results = std::vector<row>;

struct by_rows {
  static constexpr bool is_by_rows = true;
  static constexpr int num_assigned = 0;  ///< inputs written in place, of the first one's size
  static constexpr si::options options{.target = si::target::cpu};
};
struct as_a_whole : by_rows {
  static constexpr bool is_by_rows = false;
};

template <class F>
row each(long count, F f) {
  row r(static_cast<std::size_t>(count));
  for (long j = 0; j < count; ++j) r[static_cast<std::size_t>(j)] = f(j);
  return r;
}
template <class F>
double sum(long count, F f) {
  double total = 0;
  for (long j = 0; j < count; ++j) total += f(j);
  return total;
}
inline double gelu(double x) { return 0.5 * x * (1 + std::erf(x * std::sqrt(0.5))); }

// ---- pointwise -----------------------------------------------------------------------------------------------------

struct chain : by_rows {
  constexpr auto operator()(auto x) const { return si::relu(si::tanh(x * 1.5f + 0.5f) - si::sigmoid(x)) * x; }
  static rows_of_results reference(long i, const operands& in) {
    const double x = in[0](i);
    return {{std::max(std::tanh(x * 1.5 + 0.5) - 1 / (1 + std::exp(-x)), 0.0) * x}};
  }
};

struct bias_gelu : by_rows {
  constexpr auto operator()(auto x, auto bias) const { return si::gelu(x + bias); }
  static rows_of_results reference(long i, const operands& in) {
    return {each(in[0].columns, [&](long j) { return gelu(in[0](i, j) + in[1](0, j)); })};
  }
};

struct swiglu : by_rows {
  constexpr auto operator()(auto gate, auto up) const { return si::silu(gate) * up; }
  static rows_of_results reference(long i, const operands& in) {
    return {each(in[0].columns, [&](long j) { return in[0](i, j) / (1 + std::exp(-in[0](i, j))) * in[1](i, j); })};
  }
};

struct transpose_add : by_rows {
  constexpr auto operator()(auto x, auto y) const { return x + si::transpose(y); }
  static rows_of_results reference(long i, const operands& in) {
    return {each(in[0].columns, [&](long j) { return in[0](i, j) + in[1](j, i); })};
  }
};

/// Row i of x is a position of 32 heads, of cosine and sine that position's angles.
struct rope : by_rows {
  constexpr auto operator()(auto x, auto cosine, auto sine) const {
    auto first = si::slice<-1, 0, 64>(x), second = si::slice<-1, 64, 128>(x);
    auto rotated = si::concat<-1>(-second, first);
    return x * cosine + rotated * sine;
  }
  static rows_of_results reference(long i, const operands& in) {
    return {each(in[0].columns, [&](long j) {
      const double rotated = j % 128 < 64 ? -in[0](i, j + 64) : in[0](i, j - 64);
      return in[0](i, j) * in[1](i, j % 128) + rotated * in[2](i, j % 128);
    })};
  }
};

/// In place: p, m and v are results too.
struct adam : by_rows {
  static constexpr int num_assigned = 3;
  constexpr auto operator()(auto p, auto g, auto m, auto v) const {
    auto first = 0.9f * m + 0.1f * g;
    auto second = 0.999f * v + 0.001f * g * g;
    return std::tuple(si::assign(p, p - 1e-3f * first / (si::sqrt(second) + 1e-8f)), si::assign(m, first),
                      si::assign(v, second));
  }
  static rows_of_results reference(long i, const operands& in) {
    const double p = in[0](i), g = in[1](i), m = 0.9 * in[2](i) + 0.1 * g, v = 0.999 * in[3](i) + 0.001 * g * g;
    return {{p - 1e-3 * m / (std::sqrt(v) + 1e-8)}, {g}, {m}, {v}};
  }
};

// ---- rows ----------------------------------------------------------------------------------------------------------

struct softmax : by_rows {
  constexpr auto operator()(auto x) const { return si::softmax(x, si::axis<-1>); }
  static rows_of_results reference(long i, const operands& in) {
    const long n = in[0].columns;
    const double total = sum(n, [&](long j) { return std::exp(in[0](i, j)); });
    return {each(n, [&](long j) { return std::exp(in[0](i, j)) / total; })};
  }
};

/// x, scaled and shifted to mean 0 and variance 1.
inline row normalised(const row& x) {
  const long n = static_cast<long>(x.size());
  const double mean = sum(n, [&](long j) { return x[j]; }) / static_cast<double>(n);
  const double variance = sum(n, [&](long j) { return (x[j] - mean) * (x[j] - mean); }) / static_cast<double>(n);
  return each(n, [&](long j) { return (x[j] - mean) / std::sqrt(variance + 1e-5); });
}

struct layer_norm : by_rows {
  constexpr auto operator()(auto x, auto weight, auto bias) const { return si::layer_norm(x, weight, bias, 1e-5f); }
  static rows_of_results reference(long i, const operands& in) {
    const long n = in[0].columns;
    const row x = normalised(each(n, [&](long j) { return in[0](i, j); }));
    return {each(n, [&](long j) { return x[j] * in[1](0, j) + in[2](0, j); })};
  }
};

struct layer_norm_gelu : by_rows {
  constexpr auto operator()(auto x, auto weight, auto bias) const {
    return si::gelu(si::layer_norm(x, weight, bias, 1e-5f));
  }
  static rows_of_results reference(long i, const operands& in) {
    const row x = layer_norm::reference(i, in)[0];
    return {each(in[0].columns, [&](long j) { return gelu(x[j]); })};
  }
};

struct rms_norm : by_rows {
  constexpr auto operator()(auto x, auto weight) const { return si::rms_norm(x, weight, 1e-6f); }
  static row of(const row& x, const operand& weight) {
    const long n = static_cast<long>(x.size());
    const double square = sum(n, [&](long j) { return x[j] * x[j]; }) / static_cast<double>(n);
    return each(n, [&](long j) { return x[j] / std::sqrt(square + 1e-6) * weight(0, j); });
  }
  static rows_of_results reference(long i, const operands& in) {
    return {of(each(in[0].columns, [&](long j) { return in[0](i, j); }), in[1])};
  }
};

struct add_rms_norm : by_rows {
  constexpr auto operator()(auto x, auto residual, auto weight) const {
    auto sum = x + residual;
    return std::tuple(sum, si::rms_norm(sum, weight, 1e-6f));
  }
  static rows_of_results reference(long i, const operands& in) {
    const row x = each(in[0].columns, [&](long j) { return in[0](i, j) + in[1](i, j); });
    return {x, rms_norm::of(x, in[2])};
  }
};

/// Sample variance and mean of each row.
struct var_mean : by_rows {
  constexpr auto operator()(auto x) const { return std::tuple(si::var(x, si::axis<-1>), si::mean(x, si::axis<-1>)); }
  static rows_of_results reference(long i, const operands& in) {
    const long n = in[0].columns;
    const double mean = sum(n, [&](long j) { return in[0](i, j); }) / static_cast<double>(n);
    const double square = sum(n, [&](long j) { return (in[0](i, j) - mean) * (in[0](i, j) - mean); });
    return {{square / static_cast<double>(n - 1)}, {mean}};
  }
};

/// The mean over all rows of log(sum(exp(row))) - row[target].
struct cross_entropy : as_a_whole {
  constexpr auto operator()(auto logits, auto targets) const { return si::cross_entropy(logits, targets); }
  static rows_of_results reference(long, const operands& in) {
    const long rows = in[0].rows;
    return {{sum(rows,
                 [&](long i) {
                   const double total = sum(in[0].columns, [&](long j) { return std::exp(in[0](i, j)); });
                   return std::log(total) - in[0](i, static_cast<long>(in[1](i)));
                 }) /
             static_cast<double>(rows)}};
  }
};

// ---- reductions ----------------------------------------------------------------------------------------------------

struct column_sum : as_a_whole {
  constexpr auto operator()(auto x) const { return si::sum(x, si::axis<0>); }
  static rows_of_results reference(long, const operands& in) {
    row total(static_cast<std::size_t>(in[0].columns));
    for (long i = 0; i < in[0].rows; ++i)
      for (long j = 0; j < in[0].columns; ++j) total[static_cast<std::size_t>(j)] += in[0](i, j);
    return {total};
  }
};

struct sum_of_squares : as_a_whole {
  constexpr auto operator()(auto x) const { return si::sum(x * x); }
  static rows_of_results reference(long, const operands& in) {
    return {{sum(in[0].rows, [&](long i) { return in[0](i) * in[0](i); })}};
  }
};

struct row_and_column_sums : as_a_whole {
  static constexpr si::options options = [] {
    si::options o = si::max_fusion;  // one pass: by default wide matrices are read twice
    o.target = si::target::cpu;
    return o;
  }();
  constexpr auto operator()(auto x) const { return std::tuple(si::sum(x, si::axis<1>), si::sum(x, si::axis<0>)); }
  static rows_of_results reference(long, const operands& in) {
    const row rows = each(in[0].rows, [&](long i) { return sum(in[0].columns, [&](long j) { return in[0](i, j); }); });
    return {rows, column_sum::reference(0, in)[0]};
  }
};

}  // namespace bench
