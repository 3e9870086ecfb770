// Everyday bodies that the other programs have not: of several phases over rows and over whole tensors, and element
// results beside sums of columns.
// SPDX-License-Identifier: BSL-1.0
#include "shapes.cuh"

namespace {

using namespace bench;

constexpr auto last = si::axis<-1>;
constexpr auto entropy = [](auto x) { return -si::sum(si::softmax(x, last) * si::log_softmax(x, last), last); };
constexpr auto softmax_and_entropy = [](auto x) {
  auto p = si::softmax(x, last);
  return std::tuple(p, -si::sum(p * si::log_softmax(x, last), last));
};
constexpr auto confidence = [](auto x) { return si::amax(si::softmax(x, last), last); };
constexpr auto divergence = [](auto x, auto y) {
  return si::sum(si::softmax(y, last) * (si::log_softmax(y, last) - si::log_softmax(x, last)), last);
};
constexpr auto normed_softmax = [](auto x) { return si::softmax(si::layer_norm(x, 1e-5f), last); };
constexpr auto unit_rows = [](auto x) { return x / si::sqrt(si::sum(x * x, last, si::keepdim) + 1e-6f); };
constexpr auto softmax_gradient = [](auto x, auto dy) { return x * (dy - si::sum(x * dy, last, si::keepdim)); };
constexpr auto quantized = [](auto x) {
  auto scale = si::amax(si::abs(x), last, si::keepdim);
  return std::tuple(si::cast<std::int8_t>(si::round(x / (scale + 1e-6f) * 100.0f)), scale);
};

template <class T, auto Width>
void add_rows(std::int64_t columns, const std::string& suffix) {
  using X = si::tensor<T, si::dyn, Width>;
  using Q = si::tensor<std::int8_t, si::dyn, Width>;
  using V = si::tensor<T, si::dyn>;
  using Each = si::tensor<T, si::dyn, 1>;
  const std::int64_t rows = rows_of<T>(columns);
  const settings s{.rows = rows, .width = columns}, of_two{.rows = rows / 2, .width = columns};
  const auto name = [&](const char* family) { return named<T>(family, rows, columns) + suffix; };
  const auto name_of_two = [&](const char* family) { return named<T>(family, rows / 2, columns) + suffix; };
  add(name("entropy"), si::fuse<X>(entropy), in<X>{}, out<V>{}, s);
  add(name("softmax_and_entropy"), si::fuse<X>(softmax_and_entropy), in<X>{}, out<X, V>{}, s);
  add(name("confidence"), si::fuse<X>(confidence), in<X>{}, out<V>{}, s);
  add(name("normed_softmax"), si::fuse<X>(normed_softmax), in<X>{}, out<X>{}, s);
  add(name("unit_rows"), si::fuse<X>(unit_rows), in<X>{}, out<X>{}, s);
  add(name("quantized"), si::fuse<X>(quantized), in<X>{}, out<Q, Each>{}, s);
  add(name_of_two("divergence"), si::fuse<X, X>(divergence), in<X, X>{}, out<V>{}, of_two);
  add(name_of_two("softmax_gradient"), si::fuse<X, X>(softmax_gradient), in<X, X>{}, out<X>{}, of_two);
}

/// Rows of bytes, as quantized tensors are read back.
constexpr auto norm_of_bytes = [](auto x) {
  return si::cast<si::bf16>(si::layer_norm(si::cast<float>(x) * 0.1f, 1e-5f));
};
constexpr auto softmax_of_bytes = [](auto x) { return si::softmax(si::cast<float>(x) * 0.1f, last); };

template <auto Width>
void add_rows_of_bytes(std::int64_t columns, const std::string& suffix) {
  using X = si::tensor<std::int8_t, si::dyn, Width>;
  const std::int64_t rows = shape_bytes() / 2 / columns;
  const settings s{.rows = rows, .width = columns};
  const std::string at = "_i8_" + std::to_string(rows) + "x" + std::to_string(columns) + suffix;
  add("layernorm" + at, si::fuse<X>(norm_of_bytes), in<X>{}, out<si::tensor<si::bf16, si::dyn, Width>>{}, s);
  add("softmax" + at, si::fuse<X>(softmax_of_bytes), in<X>{}, out<si::tensor<float, si::dyn, Width>>{}, s);
}

constexpr auto unit_length = [](auto x) { return x / si::sqrt(si::sum(x * x) + 1e-6f); };
constexpr auto standardised = [](auto x) { return (x - si::mean(x)) / (si::std_dev(x) + 1e-6f); };
constexpr auto clipped_step = [](auto x, auto gradient) {
  return x - gradient * (0.1f / si::maximum(si::sqrt(si::mean(gradient * gradient)), 1.0f));
};

template <class T>
void add_whole(std::int64_t size) {
  using X = si::tensor<T, si::dyn>;
  const settings s{.rows = size, .check_rows = whole, .low = 0};
  const auto name = [&](const char* family) {
    return std::string(family) + "_" + name_of<T> + "_" + std::to_string(size);
  };
  add(name("unit_length"), si::fuse<X>(unit_length), in<X>{}, out<X>{}, s);
  add(name("standardised"), si::fuse<X>(standardised), in<X>{}, out<X>{}, s);
  add(name("clipped_step"), si::fuse<X, X>(clipped_step), in<X, X>{}, out<X>{}, s);
}

constexpr auto relu_and_sum = [](auto x) {
  auto y = si::relu(x - 0.5f);
  return std::tuple(y, si::sum(y, si::axis<0>));
};

template <class T>
void add_columns(std::int64_t columns) {
  using X = si::tensor<T, si::dyn, width>;
  const std::int64_t rows = rows_of<T>(columns);
  add(named<T>("relu_and_sum", rows, columns), si::fuse<X>(relu_and_sum), in<X>{}, out<X, si::tensor<T, width>>{},
      {.rows = rows, .check_rows = whole, .width = columns, .low = 0});
}

template <class T>
void add_all() {
  for (const long columns : {264, 1000, 1001, 5000, 12289}) add_rows<T, width>(columns, "");
  add_rows<T, 4096>(4096, "_static");
  for (const std::int64_t size : {std::int64_t(16777259), rows_of<T>(1)}) add_whole<T>(size);
  for (const long columns : {65, 768, 1001, 5000}) add_columns<T>(columns);
}

}  // namespace

int main(int argc, char** argv) {
  add_all<float>();
  add_all<si::bf16>();
  for (const long columns : {264, 1000, 1001, 5000, 12289}) add_rows_of_bytes<width>(columns, "");
  add_rows_of_bytes<4096>(4096, "_static");
  return run(argc, argv);
}
