// The host's cases in Eigen: fused array expressions, over blocks of rows on OpenMP's threads.
// SPDX-License-Identifier: BSL-1.0
#include <Eigen/Core>
#include <unsupported/Eigen/SpecialFunctions>

#include <numeric>

#include "host/cases.hpp"
#include "peers/blocks.hpp"

namespace bench {

template <class T>
using array = Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

inline auto map(const matrix<float>& m) { return Eigen::Map<array<float>>(m.data, m.rows, m.columns); }
inline auto map(const matrix<si::bf16>& m) {
  return Eigen::Map<array<Eigen::bfloat16>>(reinterpret_cast<Eigen::bfloat16*>(m.data), m.rows, m.columns);
}
/// A row, or a block of one column, as one line.
inline auto line(const matrix<float>& m, long i = 0, long count = 0) {
  return Eigen::Map<Eigen::ArrayXf>(m.row(i), count > 0 ? count * m.columns : m.columns);
}
inline auto line(const matrix<si::bf16>& m, long i = 0, long count = 0) {
  return Eigen::Map<Eigen::Array<Eigen::bfloat16, Eigen::Dynamic, 1>>(reinterpret_cast<Eigen::bfloat16*>(m.row(i)),
                                                                      count > 0 ? count * m.columns : m.columns);
}
template <class Expression>
auto gelu_of(const Expression& x) {
  return 0.5f * x * (1.0f + (x * 0.70710678f).erf());
}

struct eigen_library {
  static constexpr const char* name = "Eigen";

  template <class In, class Out, class T>
  static void run(chain, In, Out, const matrix<T>& x, const matrix<T>& y) {
    for_blocks(x.rows, x.columns, [&](long first, long count) {
      const auto v = line(x, first, count).template cast<float>();
      using stored = typename decltype(line(y))::Scalar;
      line(y, first, count) = (((v * 1.5f + 0.5f).tanh() - v.logistic()).max(0.0f) * v).template cast<stored>();
    });
  }
  template <class In, class Out, class T>
  static void run(bias_gelu, In, Out, const matrix<T>& x, const matrix<T>& bias, const matrix<T>& y) {
    using stored = typename decltype(line(y))::Scalar;
    const Eigen::ArrayXf b = line(bias).template cast<float>();
    for_blocks(x.rows, x.columns, [&](long first, long count) {
      for (long i = first; i < first + count; ++i)
        line(y, i) = gelu_of(line(x, i).template cast<float>() + b).template cast<stored>();
    });
  }
  template <class In, class Out>
  static void run(swiglu, In, Out, const matrix<float>& gate, const matrix<float>& up, const matrix<float>& y) {
    for_blocks(y.rows, y.columns, [&](long first, long count) {
      line(y, first, count) = line(gate, first, count) * line(gate, first, count).logistic() * line(up, first, count);
    });
  }
  template <class In, class Out>
  static void run(transpose_add, In, Out, const matrix<float>& x, const matrix<float>& t, const matrix<float>& y) {
    constexpr long tile = 32;
    auto from = map(x), turned = map(t), to = map(y);
    for_parts(y.rows / tile, [&](long, long first, long count) {
      for (long i = first * tile; i < (first + count) * tile; i += tile)
        for (long j = 0; j < y.columns; j += tile)
          to.block<tile, tile>(i, j) = from.block<tile, tile>(i, j) + turned.block<tile, tile>(j, i).transpose();
    });
  }
  template <class In, class Out>
  static void run(rope, In, Out, const matrix<float>& x, const matrix<float>& cosine, const matrix<float>& sine,
                  const matrix<float>& y) {
    for_blocks(x.rows, x.columns, [&](long first, long count) {
      for (long i = first; i < first + count; ++i)
        for (long head = 0; head < x.columns; head += 128) {
          const auto a = line(x, i).segment<64>(head), b = line(x, i).segment<64>(head + 64);
          const auto c = line(cosine, i), s = line(sine, i);
          line(y, i).segment<64>(head) = a * c.head<64>() - b * s.head<64>();
          line(y, i).segment<64>(head + 64) = b * c.tail<64>() + a * s.tail<64>();
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
        auto gradient = line(g, i, n), mean = line(m, i, n), square = line(v, i, n);
        mean = 0.9f * mean + 0.1f * gradient;
        square = 0.999f * square + 0.001f * gradient.square();
        line(p, i, n) -= 1e-3f * mean / (square.sqrt() + 1e-8f);
      }
    });
  }
  template <class In, class Out>
  static void run(softmax, In, Out, const matrix<float>& x, const matrix<float>& y) {
    for_blocks(x.rows, x.columns, [&](long first, long count) {
      for (long i = first; i < first + count; ++i) {
        auto result = line(y, i);
        result = (line(x, i) - line(x, i).maxCoeff()).exp();
        result *= 1.0f / result.sum();
      }
    });
  }
  template <class In, class Out>
  static void run(softmax, In, Out, const matrix<si::bf16>& x, const matrix<si::bf16>& y) {
    for_blocks(x.rows, x.columns, [&](long first, long count) {
      Eigen::ArrayXf row;
      for (long i = first; i < first + count; ++i) {
        row = line(x, i).cast<float>();
        row = (row - row.maxCoeff()).exp();
        line(y, i) = (row * (1.0f / row.sum())).cast<Eigen::bfloat16>();
      }
    });
  }
  /// The epilogue takes where a row of the result lies, and the normalised row.
  template <class T, class Epilogue>
  static void normalise(const matrix<T>& x, const matrix<T>& weight, const matrix<T>& bias, const matrix<T>& y,
                        Epilogue epilogue) {
    const Eigen::ArrayXf w = line(weight).template cast<float>(), b = line(bias).template cast<float>();
    for_blocks(x.rows, x.columns, [&](long first, long count) {
      Eigen::ArrayXf widened;
      for (long i = first; i < first + count; ++i) {
        const auto one = [&](const auto& row) {
          const float mean = row.mean();
          const float scale = 1.0f / std::sqrt((row - mean).square().mean() + 1e-5f);
          epilogue(line(y, i), (row - mean) * scale * w + b);
        };
        if constexpr (std::is_same_v<T, float>) one(line(x, i));
        else one(widened = line(x, i).template cast<float>());
      }
    });
  }
  template <class In, class Out, class T>
  static void run(layer_norm, In, Out, const matrix<T>& x, const matrix<T>& weight, const matrix<T>& bias,
                  const matrix<T>& y) {
    normalise(x, weight, bias, y,
              [](auto to, const auto& row) { to = row.template cast<typename decltype(to)::Scalar>(); });
  }
  template <class In, class Out>
  static void run(layer_norm_gelu, In, Out, const matrix<float>& x, const matrix<float>& weight,
                  const matrix<float>& bias, const matrix<float>& y) {
    normalise(x, weight, bias, y, [](auto to, const auto& row) {
      to = row;
      to = gelu_of(to);
    });
  }
  template <class In, class Out, class T>
  static void run(rms_norm, In, Out, const matrix<T>& x, const matrix<T>& weight, const matrix<T>& y) {
    using stored = typename decltype(line(y))::Scalar;
    const Eigen::ArrayXf w = line(weight).template cast<float>();
    for_blocks(x.rows, x.columns, [&](long first, long count) {
      for (long i = first; i < first + count; ++i) {
        const auto row = line(x, i).template cast<float>();
        const float scale = 1.0f / std::sqrt(row.square().mean() + 1e-6f);
        line(y, i) = (row * scale * w).template cast<stored>();
      }
    });
  }
  template <class In, class Out>
  static void run(add_rms_norm, In, Out, const matrix<float>& x, const matrix<float>& residual,
                  const matrix<float>& weight, const matrix<float>& total, const matrix<float>& y) {
    for_blocks(x.rows, x.columns, [&](long first, long count) {
      for (long i = first; i < first + count; ++i) {
        auto row = line(total, i);
        row = line(x, i) + line(residual, i);
        line(y, i) = row * (1.0f / std::sqrt(row.square().mean() + 1e-6f)) * line(weight);
      }
    });
  }
  template <class In, class Out>
  static void run(var_mean, In, Out, const matrix<float>& x, const matrix<float>& variance, const matrix<float>& mean) {
    for_blocks(x.rows, x.columns, [&](long first, long count) {
      for (long i = first; i < first + count; ++i) {
        mean.data[i] = line(x, i).mean();
        variance.data[i] = (line(x, i) - mean.data[i]).square().sum() / static_cast<float>(x.columns - 1);
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
        const auto row = line(logits, i);
        const float most = row.maxCoeff();
        sum += std::log((row - most).exp().sum()) + most - row[targets.data[i]];
      }
      total[t] = sum;
    });
    *loss.data = std::accumulate(total, total + threads, 0.0f) / static_cast<float>(logits.rows);
  }
  template <class In, class Out>
  static void run(column_sum, In, Out, const matrix<float>& x, const matrix<float>& y) {
    array<float> total = array<float>::Zero(threads, x.columns);
    for_parts(x.rows, [&](long t, long first, long count) {
      for (long i = first; i < first + count; ++i) total.row(t) += line(x, i).transpose();
    });
    map(y) = total.colwise().sum();
  }
  template <class In, class Out>
  static void run(sum_of_squares, In, Out, const matrix<float>& x, const matrix<float>& y) {
    float total[threads] = {};
    for_parts(x.rows, [&](long t, long first, long count) {
      constexpr long length = 1 << 18;
      for (long i = first; i < first + count; i += length)
        total[t] += line(x, i, std::min(length, first + count - i)).square().sum();
    });
    *y.data = std::accumulate(total, total + threads, 0.0f);
  }
  template <class In, class Out>
  static void run(row_and_column_sums, In, Out, const matrix<float>& x, const matrix<float>& rows,
                  const matrix<float>& columns) {
    array<float> total = array<float>::Zero(threads, x.columns);
    for_parts(x.rows, [&](long t, long first, long count) {
      for (long i = first; i < first + count; ++i) {
        rows.data[i] = line(x, i).sum();
        total.row(t) += line(x, i).transpose();
      }
    });
    map(columns) = total.colwise().sum();
  }
};

}  // namespace bench

int main(int argc, char** argv) {
  Eigen::setNbThreads(1);  // threads are OpenMP's, over blocks
  bench::pointwise_cases<bench::eigen_library>();
  bench::row_cases<bench::eigen_library>();
  bench::reduction_cases<bench::eigen_library>();
  return bench::run(argc, argv);
}
