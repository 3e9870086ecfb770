// Every kind of kernel at every element offset from an aligned address, and with extents of zero and one. All extents
// are known at run time, or all but the rows at compile time.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>

#include "edges.hpp"

namespace {

using namespace edges;

constexpr auto chain = [](auto x, auto y) { return si::relu(x) - y; };
constexpr auto turned = [](auto x, auto y) { return x - si::transpose(y); };
constexpr auto copy_turned = [](auto y) { return si::clone(si::transpose(y)); };
constexpr auto row_sum = [](auto x) { return si::sum(x, si::axis<1>); };
constexpr auto below_greatest = [](auto x) { return x - si::amax(x, si::axis<1>, si::keepdim); };
constexpr auto column_sum = [](auto x) { return si::sum(x, si::axis<0>); };
constexpr auto below_column = [](auto x) { return x - si::amax(x, si::axis<0>, si::keepdim); };
constexpr auto total = [](auto x) { return si::sum(x); };
constexpr auto both_sums = [](auto x) { return std::tuple(si::sum(x, si::axis<1>), si::sum(x, si::axis<0>)); };
constexpr auto side_by_side = [](auto x, auto y) { return std::tuple(si::relu(x), si::sum(y, si::axis<1>)); };
constexpr auto pick = [](auto x, auto index) { return si::embedding(x, index); };
constexpr auto put = [](auto x, auto index, auto v) { return si::assign(x, si::index_put(x, index, v)); };

constexpr si::options combo = [] {
  si::options o = si::standard;
  o.combo_kernels = true;
  return o;
}();
constexpr si::options mix_order = [] {
  si::options o = si::standard;
  o.mix_order_min_elements = o.mix_order_min_rows = o.mix_order_rows_per_column = 0;
  o.mix_order_max_columns = 1 << 20;
  return o;
}();
/// These rules make one kernel of f.
template <class Fused>
constexpr Fused as_one(Fused f) {
  static_assert(Fused::kernel_count() == 1);
  return f;
}

template <class T>
using M = si::tensor<T, rows, columns>;
template <class T>
using Turned = si::tensor<T, columns, rows>;
template <class T>
using Row = si::tensor<T, columns>;
template <class T>
using Column = si::tensor<T, rows>;
template <class T>
using One = si::tensor<T>;
template <class T>
using Picked = si::tensor<T, picks, columns>;
using Index = si::tensor<std::int64_t, picks>;

template <class T>
void check_floating(sizes s, const std::vector<arrangement>& a) {
  s.picks = std::min<std::int64_t>(s.picks, s.rows);
  check("pointwise", si::fuse<M<T>, M<T>>(chain), in<M<T>, M<T>>{}, out<M<T>>{}, s, a);
  check("transposed", si::fuse<M<T>, Turned<T>>(turned), in<M<T>, Turned<T>>{}, out<M<T>>{}, s, a);
  check("transposed copy", si::fuse<Turned<T>>(copy_turned), in<Turned<T>>{}, out<M<T>>{}, s, a);
  check("rows, one phase", si::fuse<M<T>>(row_sum), in<M<T>>{}, out<Column<T>>{}, s, a);
  check("rows, two phases", si::fuse<M<T>>(below_greatest), in<M<T>>{}, out<M<T>>{}, s, a);
  check("columns, one phase", si::fuse<M<T>>(column_sum), in<M<T>>{}, out<Row<T>>{}, s, a);
  check("columns, two phases", si::fuse<M<T>>(below_column), in<M<T>>{}, out<M<T>>{}, s, a);
  check("total", si::fuse<M<T>>(total), in<M<T>>{}, out<One<T>>{}, s, a);
  check("mix-order", as_one(si::fuse<mix_order, M<T>>(both_sums)), in<M<T>>{}, out<Column<T>, Row<T>>{}, s, a);
  check("combo", as_one(si::fuse<combo, M<T>, Turned<T>>(side_by_side)), in<M<T>, Turned<T>>{},
        out<M<T>, Row<T>>{}, s, a);
  check("gather", si::fuse<M<T>, Index>(pick), in<M<T>, Index>{}, out<Picked<T>>{}, s, a);
  check("scatter", si::fuse<M<T>, Index, Picked<T>>(put), in<M<T>, Index, Picked<T>>{}, out<>{}, s, a);
}
template <class T>
void check_bytes(sizes s, const std::vector<arrangement>& a) {
  s.picks = std::min<std::int64_t>(s.picks, s.rows);
  check("pointwise", si::fuse<M<T>, M<T>>(chain), in<M<T>, M<T>>{}, out<M<T>>{}, s, a);
  check("transposed", si::fuse<M<T>, Turned<T>>(turned), in<M<T>, Turned<T>>{}, out<M<T>>{}, s, a);
  check("rows", si::fuse<M<T>>(below_greatest), in<M<T>>{}, out<M<T>>{}, s, a);
  check("columns", si::fuse<M<T>>(below_column), in<M<T>>{}, out<M<T>>{}, s, a);
  check("gather", si::fuse<M<T>, Index>(pick), in<M<T>, Index>{}, out<Picked<T>>{}, s, a);
}
/// Rows of a length that the compiler knows: other kernels, of exactly that length.
template <class T, long Columns>
void check_static(std::int64_t n) {
  using X = si::tensor<T, rows, Columns>;
  using R = si::tensor<T, Columns>;
  const sizes s{n};
  const auto a = every_offset(sizeof(T));
  check("pointwise, static", si::fuse<X, R>(chain), in<X, R>{}, out<X>{}, s, a);
  check("rows, one phase, static", si::fuse<X>(row_sum), in<X>{}, out<Column<T>>{}, s, a);
  check("rows, two phases, static", si::fuse<X>(below_greatest), in<X>{}, out<X>{}, s, a);
  check("columns, static", si::fuse<X>(column_sum), in<X>{}, out<R>{}, s, a);
  check("mix-order, static", as_one(si::fuse<mix_order, X>(both_sums)), in<X>{}, out<Column<T>, R>{}, s, a);
}

TEST_CASE("offsets: every kind of kernel, run-time extents") {
  for (const sizes& s : {sizes{37, 136, 20}, sizes{20, 129, 5}, sizes{3, 40011, 2}, sizes{9000, 16, 70}})
    check_floating<si::f16>(s, every_offset(2));
}
TEST_CASE("offsets: elements of one byte") {
  for (const sizes& s : {sizes{37, 160, 20}, sizes{3, 40011, 2}}) check_bytes<std::uint8_t>(s, every_offset(1));
}
TEST_CASE("offsets: rows of a static length") {
  check_static<si::f16, 1024>(19);
  check_static<si::bf16, 1001>(19);
  check_static<float, 40000>(2);
}
TEST_CASE("extents: zero and one, every kind of kernel") {
  const std::vector<arrangement> aligned(1);
  for (std::int64_t r : {0, 1, 2, 300})
    for (std::int64_t c : {0, 1, 2, 9, 520}) check_floating<si::f16>({r, c, 3}, aligned);
  for (std::int64_t c : {1, 70001}) check_floating<si::f16>({1, c, 1}, aligned);
  for (std::int64_t r : {1, 70001}) check_floating<si::f16>({r, 1, 1}, aligned);
}

}  // namespace
