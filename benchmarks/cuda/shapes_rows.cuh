// Row kernels of one dtype at odd widths, known at run time or compiled in, and from one row to a million.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shapes.cuh"

namespace bench {

template <class T, auto Width>
void add_rows(std::int64_t rows, std::int64_t columns, const std::string& suffix) {
  using X = si::tensor<T, si::dyn, Width>;
  using W = si::tensor<T, Width>;
  using V = si::tensor<T, si::dyn>;
  const auto name = [&](const char* family) { return named<T>(family, rows, columns) + suffix; };
  const settings s{.rows = rows, .width = columns};
  // No sum is near zero, none beyond what f16 holds.
  const float high = std::min(1.0f, 0x1p15f / static_cast<float>(columns));
  const settings positive{.rows = rows, .width = columns, .low = 0, .high = high};
  add(name("softmax"), si::fuse<X>(softmax), in<X>{}, out<X>{}, s);
  add(name("layernorm"), si::fuse<X, W, W>(layer_norm), in<X, W, W>{}, out<X>{}, s);
  add(name("rmsnorm"), si::fuse<X, W>(rms_norm), in<X, W>{}, out<X>{}, s);
  add(name("rowsum"), si::fuse<X>(row_sum), in<X>{}, out<V>{}, positive);
}

template <class T, long... Width>
void add_static_rows() {
  (add_rows<T, Width>(rows_of<T>(Width), Width, "_static"), ...);
}

template <class T>
void add_fused_norms(std::int64_t columns) {
  using X = si::tensor<T, si::dyn, width>;
  using W = si::tensor<T, width>;
  const std::int64_t rows = rows_of<T>(columns);
  const settings s{.rows = rows, .width = columns};
  add(named<T>("add_rmsnorm", rows, columns), si::fuse<X, X, W>(add_rms_norm), in<X, X, W>{}, out<X, X>{}, s);
  add(named<T>("layernorm_gelu", rows, columns), si::fuse<X, W, W>(layer_norm_gelu), in<X, W, W>{}, out<X>{}, s);
  add(named<T>("masked_softmax", rows, columns), si::fuse<X, X>(masked_softmax), in<X, X>{}, out<X>{}, s);
  add(named<T>("gated_rmsnorm", rows, columns), si::fuse<X, X, W>(gated_rms_norm), in<X, X, W>{}, out<X>{}, s);
  add(named<T>("rmsnorm_gradient", rows, columns), si::fuse<X, X, W>(rms_norm_gradient), in<X, X, W>{}, out<X>{}, s);
}

template <class T>
void add_cross_entropy(std::int64_t columns) {
  using X = si::tensor<T, si::dyn, width>;
  using Y = si::tensor<std::int64_t, si::dyn>;
  const std::int64_t rows = rows_of<T>(columns);
  const double each_read_once = static_cast<double>(rows) * (sizeof(T) * columns + sizeof(std::int64_t));
  add(named<T>("cross_entropy", rows, columns), si::fuse<X, Y>(cross_entropy), in<X, Y>{}, out<si::tensor<T>>{},
      {.rows = rows, .check_rows = whole, .limit = columns, .bytes = each_read_once, .width = columns});
}

template <class T>
int run_rows(int argc, char** argv) {
  for (const long columns : odd_widths) add_rows<T, width>(rows_of<T>(columns), columns, "");
  for (const long columns : {264, 520, 1032, 2056, 4104}) add_rows<T, width>(rows_of<T>(columns), columns, "");
  for (const auto& [rows, columns] : {std::pair{1, 16777216},
                                      {2, 5000011},
                                      {16, 1000000},
                                      {100, 262144},
                                      {262144, 100},
                                      {1000000, 64},
                                      {1000000, 7},
                                      {1000003, 1}})
    add_rows<T, width>(rows, columns, "");
  add_static_rows<T, 1000, 1032, 5000, 50257, 65536>();
  for (const long columns : {1001, 5000, 30522, 50257}) add_fused_norms<T>(columns);
  for (const long columns : {1001, 30522, 50257}) add_cross_entropy<T>(columns);
  return run(argc, argv);
}

}  // namespace bench
