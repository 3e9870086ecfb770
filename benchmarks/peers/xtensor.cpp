// The host's cases in xtensor with xsimd: fused expressions, over blocks of rows on OpenMP's threads. There is no
// sixteen-bit type.
// SPDX-License-Identifier: BSL-1.0
#include <numeric>
#include <xtensor/xadapt.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xview.hpp>

#include "host/cases.hpp"
#include "peers/blocks.hpp"

namespace bench {

/// A part of memory as an array of one dimension.
inline auto span(float* data, long size) {
  return xt::adapt(data, static_cast<std::size_t>(size), xt::no_ownership(),
                   std::array<std::size_t, 1>{static_cast<std::size_t>(size)});
}
inline auto line(const matrix<float>& m, long i = 0, long count = 1) { return span(m.row(i), count * m.columns); }

/// By values: expressions keep what they are made of.
template <class Expression>
auto gelu_of(Expression x) {
  return 0.5f * x * (1.0f + xt::erf(x * 0.70710678f));
}
template <class Expression>
auto sigmoid_of(Expression x) {
  return 1.0f / (1.0f + xt::exp(-x));
}
template <class Expression>
float total_of(const Expression& x) {
  return xt::sum(x, xt::evaluation_strategy::immediate)();
}

struct xtensor_library {
  static constexpr const char* name = "xtensor";

  template <class In, class Out>
  static void run(chain, In, Out, const matrix<float>& x, const matrix<float>& y) {
    for_blocks(x.rows, x.columns, [&](long first, long count) {
      auto v = line(x, first, count), to = line(y, first, count);
      xt::noalias(to) = xt::maximum(xt::tanh(v * 1.5f + 0.5f) - 1.0f / (1.0f + xt::exp(-v)), 0.0f) * v;
    });
  }
  template <class In, class Out>
  static void run(bias_gelu, In, Out, const matrix<float>& x, const matrix<float>& bias, const matrix<float>& y) {
    for_blocks(x.rows, x.columns, [&](long first, long count) {
      for (long i = first; i < first + count; ++i) {
        auto to = line(y, i);
        xt::noalias(to) = gelu_of(line(x, i) + line(bias));
      }
    });
  }
  template <class In, class Out>
  static void run(swiglu, In, Out, const matrix<float>& gate, const matrix<float>& up, const matrix<float>& y) {
    for_blocks(y.rows, y.columns, [&](long first, long count) {
      auto g = line(gate, first, count), u = line(up, first, count), to = line(y, first, count);
      xt::noalias(to) = g / (1.0f + xt::exp(-g)) * u;
    });
  }
  template <class In, class Out>
  static void run(rope, In, Out, const matrix<float>& x, const matrix<float>& cosine, const matrix<float>& sine,
                  const matrix<float>& y) {
    for_blocks(x.rows, x.columns, [&](long first, long count) {
      for (long i = first; i < first + count; ++i)
        for (long head = 0; head < x.columns; head += 128) {
          auto a = span(x.row(i) + head, 64), b = span(x.row(i) + head + 64, 64);
          auto low = span(y.row(i) + head, 64), high = span(y.row(i) + head + 64, 64);
          xt::noalias(low) = a * span(cosine.row(i), 64) - b * span(sine.row(i), 64);
          xt::noalias(high) = b * span(cosine.row(i) + 64, 64) + a * span(sine.row(i) + 64, 64);
        }
    });
  }
  template <class In, class Out>
  static void run(adam, In, Out, const matrix<float>& p, const matrix<float>& g, const matrix<float>& m,
                  const matrix<float>& v) {
    for_parts(p.rows, [&](long, long first, long count) {
      constexpr long length = 2048;  // four arrays of it in the L1 cache
      for (long i = first; i < first + count; i += length) {
        const long n = std::min(length, first + count - i);
        auto parameter = line(p, i, n), gradient = line(g, i, n), mean = line(m, i, n), square = line(v, i, n);
        xt::noalias(mean) = 0.9f * mean + 0.1f * gradient;
        xt::noalias(square) = 0.999f * square + 0.001f * gradient * gradient;
        xt::noalias(parameter) = parameter - 1e-3f * mean / (xt::sqrt(square) + 1e-8f);
      }
    });
  }
  template <class In, class Out>
  static void run(softmax, In, Out, const matrix<float>& x, const matrix<float>& y) {
    for_blocks(x.rows, x.columns, [&](long first, long count) {
      for (long i = first; i < first + count; ++i) {
        auto row = line(x, i), to = line(y, i);
        const float most = xt::amax(row, xt::evaluation_strategy::immediate)();
        xt::noalias(to) = xt::exp(row - most);
        to *= 1.0f / total_of(to);
      }
    });
  }
  template <class In, class Out>
  static void run(layer_norm, In, Out, const matrix<float>& x, const matrix<float>& weight, const matrix<float>& bias,
                  const matrix<float>& y) {
    normalise(x, weight, bias, y, [](auto) {});
  }
  template <class In, class Out>
  static void run(layer_norm_gelu, In, Out, const matrix<float>& x, const matrix<float>& weight,
                  const matrix<float>& bias, const matrix<float>& y) {
    normalise(x, weight, bias, y, [](auto to) { xt::noalias(to) = gelu_of(to); });
  }
  template <class Epilogue>
  static void normalise(const matrix<float>& x, const matrix<float>& weight, const matrix<float>& bias,
                        const matrix<float>& y, Epilogue epilogue) {
    const auto n = static_cast<float>(x.columns);
    for_blocks(x.rows, x.columns, [&](long first, long count) {
      for (long i = first; i < first + count; ++i) {
        auto row = line(x, i), to = line(y, i);
        const float mean = total_of(row) / n;
        xt::noalias(to) = row - mean;
        const float scale = 1.0f / std::sqrt(total_of(to * to) / n + 1e-5f);
        xt::noalias(to) = to * scale * line(weight) + line(bias);
        epilogue(to);
      }
    });
  }
  template <class In, class Out>
  static void run(rms_norm, In, Out, const matrix<float>& x, const matrix<float>& weight, const matrix<float>& y) {
    for_blocks(x.rows, x.columns, [&](long first, long count) {
      for (long i = first; i < first + count; ++i) {
        auto row = line(x, i), to = line(y, i);
        const float scale = 1.0f / std::sqrt(total_of(row * row) / static_cast<float>(x.columns) + 1e-6f);
        xt::noalias(to) = row * scale * line(weight);
      }
    });
  }
  template <class In, class Out>
  static void run(add_rms_norm, In, Out, const matrix<float>& x, const matrix<float>& residual,
                  const matrix<float>& weight, const matrix<float>& total, const matrix<float>& y) {
    for_blocks(x.rows, x.columns, [&](long first, long count) {
      for (long i = first; i < first + count; ++i) {
        auto row = line(total, i), to = line(y, i);
        xt::noalias(row) = line(x, i) + line(residual, i);
        const float scale = 1.0f / std::sqrt(total_of(row * row) / static_cast<float>(x.columns) + 1e-6f);
        xt::noalias(to) = row * scale * line(weight);
      }
    });
  }
  template <class In, class Out>
  static void run(var_mean, In, Out, const matrix<float>& x, const matrix<float>& variance, const matrix<float>& mean) {
    for_blocks(x.rows, x.columns, [&](long first, long count) {
      for (long i = first; i < first + count; ++i) {
        auto row = line(x, i);
        const float m = total_of(row) / static_cast<float>(x.columns);
        mean.data[i] = m;
        variance.data[i] = total_of((row - m) * (row - m)) / static_cast<float>(x.columns - 1);
      }
    });
  }
  template <class In, class Out>
  static void run(cross_entropy, In, Out, const matrix<float>& logits, const matrix<std::int64_t>& targets,
                  const matrix<float>& loss) {
    float total[threads] = {};
    for_parts(logits.rows, [&](long t, long first, long count) {
      float sum = 0;
      for (long i = first; i < first + count; ++i) {
        auto row = line(logits, i);
        const float most = xt::amax(row, xt::evaluation_strategy::immediate)();
        sum += std::log(total_of(xt::exp(row - most))) + most - logits.row(i)[targets.data[i]];
      }
      total[t] = sum;
    });
    *loss.data = std::accumulate(total, total + threads, 0.0f) / static_cast<float>(logits.rows);
  }
  template <class In, class Out>
  static void run(column_sum, In, Out, const matrix<float>& x, const matrix<float>& y) {
    add_columns(x, y, [](long) {});
  }
  template <class In, class Out>
  static void run(row_and_column_sums, In, Out, const matrix<float>& x, const matrix<float>& rows,
                  const matrix<float>& columns) {
    add_columns(x, columns, [&](long i) { rows.data[i] = total_of(line(x, i)); });
  }
  template <class EachRow>
  static void add_columns(const matrix<float>& x, const matrix<float>& y, EachRow each_row) {
    std::vector<float> sums(static_cast<std::size_t>(threads * x.columns));
    for_parts(x.rows, [&](long t, long first, long count) {
      auto total = span(sums.data() + t * x.columns, x.columns);
      for (long i = first; i < first + count; ++i) {
        each_row(i);
        xt::noalias(total) = total + line(x, i);
      }
    });
    auto to = line(y);
    xt::noalias(to) = span(sums.data(), x.columns) + span(sums.data() + x.columns, x.columns);
  }
  template <class In, class Out>
  static void run(sum_of_squares, In, Out, const matrix<float>& x, const matrix<float>& y) {
    float total[threads] = {};
    for_parts(x.rows, [&](long t, long first, long count) {
      constexpr long length = 1 << 14;
      for (long i = first; i < first + count; i += length) {
        auto part = line(x, i, std::min(length, first + count - i));
        total[t] += total_of(part * part);
      }
    });
    *y.data = std::accumulate(total, total + threads, 0.0f);
  }
};

}  // namespace bench

int main(int argc, char** argv) {
  bench::pointwise_cases<bench::xtensor_library>();
  bench::row_cases<bench::xtensor_library>();
  bench::reduction_cases<bench::xtensor_library>();
  return bench::run(argc, argv);
}
