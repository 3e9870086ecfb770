// Pointwise kernels on odd sizes, misaligned data and broadcasts, and rotated heads.
// SPDX-License-Identifier: BSL-1.0
#include "shapes.cuh"

namespace {

using namespace bench;

constexpr auto add_up = [](auto x, auto y) { return x + y; };
constexpr auto scale = [](auto x, auto y) { return x * y; };
constexpr auto select = [](auto x, auto y) { return si::where(x > y, x * 2.0f, y); };

template <class T>
void add_sizes() {
  using V = si::tensor<T, si::dyn>;
  using S = si::tensor<T>;
  constexpr auto f = si::fuse<V>(chain);
  const auto name = [](const char* family, std::int64_t size) {
    return std::string(family) + "_" + name_of<T> + "_" + std::to_string(size);
  };
  for (const std::int64_t size : {std::int64_t(1000003), std::int64_t(16777217), rows_of<T>(1) - 1}) {
    add(name("chain", size), f, in<V>{}, out<V>{}, {.rows = size});
    add(name("chain_misaligned", size), f, in<V>{}, out<V>{}, {.rows = size, .offset = 1});
  }
  const std::int64_t size = rows_of<T>(1) + 1;
  add(name("scalar", size), si::fuse<V, S>(scale), in<V, S>{}, out<V>{}, {.rows = size});
  add(name("select", size), si::fuse<V, V>(select), in<V, V>{}, out<V>{}, {.rows = size});
}

template <class T>
void add_broadcasts() {
  using X = si::tensor<T, si::dyn, width>;
  using Row = si::tensor<T, width>;
  using Column = si::tensor<T, si::dyn, 1>;
  for (const long columns : {7, 1000, 1001, 5000, 50257}) {
    const std::int64_t rows = rows_of<T>(columns);
    const settings s{.rows = rows, .width = columns};
    add(named<T>("add_row", rows, columns), si::fuse<X, Row>(add_up), in<X, Row>{}, out<X>{}, s);
    add(named<T>("scale_column", rows, columns), si::fuse<X, Column>(scale), in<X, Column>{}, out<X>{}, s);
    add(named<T>("outer", rows, columns), si::fuse<Column, Row>(scale), in<Column, Row>{}, out<X>{}, s);
  }
}

/// Functions of many instructions, of which 16-bit results need fewer.
template <class T>
void add_functions() {
  using V = si::tensor<T, si::dyn>;
  const auto one = [](const char* function, auto f) {
    add(std::string(function) + "_" + name_of<T> + "_" + std::to_string(rows_of<T>(1)), si::fuse<V>(f), in<V>{},
        out<V>{}, {.rows = rows_of<T>(1), .low = 0.1f, .high = 3});
  };
  one("pow", [](auto x) { return si::pow(x, 1.7f); });
  one("expm1", [](auto x) { return si::expm1(x); });
  one("elu", [](auto x) { return si::elu(1.5f - x, 1.0f); });
  one("log", [](auto x) { return si::log(x); });
  one("log1p", [](auto x) { return si::log1p(x); });
  one("softplus", [](auto x) { return si::softplus(x); });
  one("mish", [](auto x) { return si::mish(x); });
  one("erf", [](auto x) { return si::erf(x); });
  one("sin", [](auto x) { return si::sin(x); });
  one("atan2", [](auto x) { return si::atan2(x, 2.0f - x); });
  one("divide", [](auto x) { return 1.5f / x; });
}

/// Halves of a head, or pairs, turned: x of [batch, 2048, 16, 2 * Half].
template <long Half>
constexpr auto rope_of_halves = [](auto x, auto cosine, auto sine) {
  auto first = si::slice<-1, 0, Half>(x), second = si::slice<-1, Half>(x);
  return x * cosine + si::concat<-1>(-second, first) * sine;
};
constexpr auto rope_of_pairs = [](auto x, auto cosine, auto sine) {
  auto a = si::squeeze<-1>(si::slice<-1, 0, 1>(x)), b = si::squeeze<-1>(si::slice<-1, 1, 2>(x));
  return si::stack<-1>(a * cosine - b * sine, a * sine + b * cosine);
};
template <class T, long Half>
void add_rope() {
  const std::int64_t batch = rows_of<T>(2048 * 16 * 2 * Half), rows = batch * 2048 * 16;
  const settings s{.rows = batch, .check_rows = 1};
  using Halves = si::tensor<T, si::dyn, 2048, 16, 2 * Half>;
  using OfHalves = si::tensor<T, 2048, 1, 2 * Half>;
  add(named<T>("rope_halves", rows, 2 * Half), si::fuse<Halves, OfHalves, OfHalves>(rope_of_halves<Half>),
      in<Halves, OfHalves, OfHalves>{}, out<Halves>{}, s);
  using Pairs = si::tensor<T, si::dyn, 2048, 16, Half, 2>;
  using OfPairs = si::tensor<T, 2048, 1, Half>;
  add(named<T>("rope_pairs", rows, 2 * Half), si::fuse<Pairs, OfPairs, OfPairs>(rope_of_pairs),
      in<Pairs, OfPairs, OfPairs>{}, out<Pairs>{}, s);
}

/// Of other sizes than what they are made of.
template <class From, class To>
void add_cast(const char* name, std::int64_t size) {
  using V = si::tensor<From, si::dyn>;
  using U = si::tensor<To, si::dyn>;
  constexpr auto cast = [](auto x) { return si::cast<To>(x); };
  add(std::string("cast_") + name, si::fuse<V>(cast), in<V>{}, out<U>{}, {.rows = size});
}
template <class T>
void add_masked(std::int64_t size) {
  using V = si::tensor<T, si::dyn>;
  using M = si::tensor<bool, si::dyn>;
  constexpr auto dropout = [](auto x, auto mask) { return si::where(mask, x * 1.25f, 0.0f); };
  add(std::string("dropout_") + name_of<T>, si::fuse<V, M>(dropout), in<V, M>{}, out<V>{}, {.rows = size});
}

}  // namespace

int main(int argc, char** argv) {
  add_sizes<float>(), add_broadcasts<float>();
  add_sizes<si::bf16>(), add_broadcasts<si::bf16>();
  add_sizes<si::f16>();
  add_cast<si::bf16, float>("bf16_to_f32", 40'000'000), add_cast<float, si::bf16>("f32_to_bf16", 40'000'000);
  add_cast<std::int8_t, float>("i8_to_f32", 40'000'000), add_cast<std::int32_t, std::int64_t>("i32_to_i64", 20'000'000);
  add_masked<float>(30'000'000), add_masked<si::bf16>(60'000'000);
  add_functions<float>(), add_functions<si::bf16>(), add_functions<si::f16>();
  add_rope<si::bf16, 64>(), add_rope<si::bf16, 65>(), add_rope<float, 65>();
  return run(argc, argv);
}
