// Every kind of kernel on strided tensors: rows with gaps, axes in reverse order, every other element, one row that is
// repeated; strides at run time and strides that the type holds. Aligned, and at some offset.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>

#include "edges.hpp"

namespace {
namespace strided {

using namespace edges;

template <class T>
using S = si::strided_tensor<T, rows, columns>;
template <class T>
using Turned = si::strided_tensor<T, columns, rows>;
template <class T>
using M = si::tensor<T, rows, columns>;
template <class T>
using Row = si::tensor<T, columns>;
template <class T>
using Column = si::tensor<T, rows>;

constexpr auto chain = [](auto x, auto y) { return si::relu(x) - y; };
constexpr auto turned = [](auto x, auto y) { return x - si::transpose(y); };
constexpr auto below_greatest = [](auto x) { return x - si::amax(x, si::axis<1>, si::keepdim); };
constexpr auto below_column = [](auto x) { return x - si::amax(x, si::axis<0>, si::keepdim); };
constexpr auto sums = [](auto x) { return std::tuple(si::sum(x, si::axis<1>), si::sum(x, si::axis<0>), si::sum(x)); };
constexpr auto pick = [](auto x, auto index) { return si::embedding(x, index); };
constexpr auto grow = [](auto x, auto y) { return si::assign(x, x + y); };

std::vector<arrangement> every_layout() {
  std::vector<arrangement> all;
  for (layout how : {layout::dense, layout::padded, layout::reversed, layout::every_other, layout::repeated})
    for (int step : {0, 1}) all.push_back({how, step, step});
  return all;
}
/// Of what is written to, no element may be repeated.
std::vector<arrangement> every_writable_layout() {
  auto all = every_layout();
  all.resize(all.size() - 2);
  return all;
}

template <class T>
void check_strides(sizes s) {
  s.picks = std::min<std::int64_t>(s.picks, s.rows);
  const auto a = every_layout();
  check("pointwise", si::fuse<S<T>, M<T>>(chain), in<S<T>, M<T>>{}, out<M<T>>{}, s, a);
  check("transposed", si::fuse<S<T>, Turned<T>>(turned), in<S<T>, Turned<T>>{}, out<M<T>>{}, s, a);
  check("rows", si::fuse<S<T>>(below_greatest), in<S<T>>{}, out<M<T>>{}, s, a);
  check("columns", si::fuse<S<T>>(below_column), in<S<T>>{}, out<M<T>>{}, s, a);
  check("sums", si::fuse<S<T>>(sums), in<S<T>>{}, out<Column<T>, Row<T>, si::tensor<T>>{}, s, a);
  using Index = si::strided_tensor<std::int64_t, picks>;
  check("gather", si::fuse<S<T>, Index>(pick), in<S<T>, Index>{}, out<si::tensor<T, picks, columns>>{}, s, a);
  check("in place", si::fuse<S<T>, S<T>>(grow), in<S<T>, S<T>>{}, out<>{}, s, every_writable_layout());
}

TEST_CASE("strides: every kind of kernel") {
  for (const sizes& s : {sizes{37, 136, 20}, sizes{20, 129, 5}, sizes{2, 30011, 2}, sizes{5000, 24, 70}, sizes{1, 1, 1},
                         sizes{0, 5, 0}, sizes{5, 0, 1}, sizes{1, 300, 1}, sizes{300, 1, 4}})
    check_strides<si::f16>(s);
  check_strides<float>({33, 72, 9});
}

/// Rows of 96 elements, 104 apart, as a type; the harness pads rows by eight.
TEST_CASE("strides: of the type") {
  using P = si::with_strides<si::tensor<si::f16, rows, 96>, si::strides<104, 1>>;
  using D = si::tensor<si::f16, rows, 96>;
  const std::vector<arrangement> padded{{layout::padded, 0, 0}, {layout::padded, 1, 0}, {layout::padded, 3, 1}};
  const sizes s{50};
  check("pointwise", si::fuse<P, D>(chain), in<P, D>{}, out<D>{}, s, padded);
  check("rows", si::fuse<P>(below_greatest), in<P>{}, out<D>{}, s, padded);
  check("columns", si::fuse<P>(below_column), in<P>{}, out<D>{}, s, padded);
  check("in place", si::fuse<P, D>(grow), in<P, D>{}, out<>{}, s, padded);
}

}  // namespace strided
}  // namespace
