// Data of other libraries as tensors: DLPack, mdspan-like views, vectors; and what is refused.
// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <cstdint>
#include <tuple>
#include <vector>

#include "sinter/sinter.hpp"

namespace {

namespace si = sinter;

// DLPack's structure, as its header declares it.
struct data_type {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct dl_tensor {
  void* data;
  std::int32_t ndim;
  data_type dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};

using matrix = si::tensor<float, si::dyn, 3>;
using any_matrix = si::strided_tensor<float, si::dyn, 3>;
constexpr auto twice = si::fuse<matrix>([](auto x) { return x * 2; });
constexpr auto twice_any = si::fuse<any_matrix>([](auto x) { return x * 2; });

TEST_CASE("DLPack: contiguous, strided, refused") {
  float data[12], out[6];
  for (int i = 0; i < 12; ++i) data[i] = static_cast<float>(i);
  std::int64_t shape[] = {2, 3}, columns[] = {1, 2};
  dl_tensor t{data, 2, {2, 32, 1}, shape, nullptr, 4 * sizeof(float)};
  twice(si::host, si::from_dlpack<matrix>(t), matrix{out, 2});
  for (int i = 0; i < 6; ++i) CHECK(out[i] == 2 * (i + 4));
  t.strides = columns;  // column-major
  twice_any(si::host, si::from_dlpack<any_matrix>(t), matrix{out, 2});
  for (int i = 0; i < 6; ++i) CHECK(out[i] == 2 * (4 + i / 3 + 2 * (i % 3)));
  CHECK_THROWS_AS(twice(si::host, si::from_dlpack<matrix>(t), matrix{out, 2}), si::argument_error);  // not contiguous
  t.dtype.bits = 64;
  CHECK_THROWS_AS(si::from_dlpack<matrix>(t), si::argument_error);
  t.dtype.bits = 32, shape[1] = 4;
  CHECK_THROWS_AS(si::from_dlpack<matrix>(t), si::shape_error);
  t.ndim = 1;
  CHECK_THROWS_AS(si::from_dlpack<matrix>(t), si::shape_error);
}

TEST_CASE("a vector's size gives the run-time extent") {
  std::vector<float> x(6, 1.5f), out(6);
  matrix result{out.data(), 2};
  twice(si::host, x, result);
  CHECK(out == std::vector<float>(6, 3.f));
  std::vector<float> odd(7);
  CHECK_THROWS_AS(twice(si::host, odd, result), si::shape_error);
}

TEST_CASE("wrong calls throw before anything is written") {
  float x[6] = {1, 2, 3, 4, 5, 6}, out[6] = {7, 7, 7, 7, 7, 7};
  CHECK_THROWS_AS(twice(si::host, matrix{nullptr, 2}, matrix{out, 2}), si::argument_error);
  CHECK_THROWS_AS(twice(si::host, matrix{x, 2}, matrix{out, 1}), si::shape_error);
  CHECK_THROWS_AS(twice(si::host, matrix{x, 2}, matrix{x, 2}), si::argument_error);       // overlaps
  CHECK_THROWS_AS(twice(si::host, matrix{x, 1}, matrix{x + 2, 1}), si::argument_error);   // overlaps in part
  CHECK_THROWS_AS(twice(si::host, matrix{x, 2}, matrix{static_cast<const float*>(out), 2}), si::argument_error);  // read-only
  for (float o : out) CHECK(o == 7);
  twice(si::host, matrix{nullptr, 0}, matrix{nullptr, 0});
}

TEST_CASE("what is written to overlaps no other argument, in whatever order they lie") {
  using V = si::tensor<float, si::dyn>;
  constexpr auto grow = [](auto x, auto y, auto z) { return std::tuple(si::assign(y, x + y), x + z); };
  constexpr auto f = si::fuse<V, V, V>(grow);
  float m[80] = {};
  const auto at = [&](int i) { return V(m + i, 10); };
  const auto call = [&](int x, int y, int z, int out) { f(si::host, at(x), at(y), at(z), at(out)); };
  // Neighbours touch; what is only read may be one, or overlap.
  CHECK_NOTHROW(call(0, 10, 20, 30));
  CHECK_NOTHROW(call(30, 20, 10, 0));
  CHECK_NOTHROW(call(10, 0, 10, 20));
  CHECK_NOTHROW(call(20, 0, 25, 50));
  const char* const y_x = "input 1 overlaps input 0; use assign to write into an input";
  const char* const y_z = "input 1 overlaps input 2; use assign to write into an input";
  const char* const y_out = "input 1 overlaps output 0; use assign to write into an input";
  const char* const out_z = "output 0 overlaps input 2; use assign to write into an input";
  CHECK_THROWS_WITH_AS(call(0, 0, 20, 40), y_x, si::argument_error);
  CHECK_THROWS_WITH_AS(call(0, 9, 20, 40), y_x, si::argument_error);
  CHECK_THROWS_WITH_AS(call(9, 0, 20, 40), y_x, si::argument_error);
  CHECK_THROWS_WITH_AS(call(60, 20, 29, 40), y_z, si::argument_error);
  CHECK_THROWS_WITH_AS(call(60, 20, 40, 11), y_out, si::argument_error);
  CHECK_THROWS_WITH_AS(call(60, 20, 40, 45), out_z, si::argument_error);
  CHECK_THROWS_WITH_AS(call(5, 60, 0, 9), "output 0 overlaps input 0; use assign to write into an input",
                       si::argument_error);
  // A long one that begins before others and reaches past them.
  using A = si::tensor<float, 60>;
  using B = si::tensor<float, 5>;
  constexpr auto sums = [](auto a, auto b) { return std::tuple(si::sum(a), b + 1); };
  constexpr auto g = si::fuse<A, B>(sums);
  CHECK_THROWS_WITH_AS(g(si::host, A(m), B(m + 2), si::tensor<float>(m + 70), B(m + 50)),
                       "output 1 overlaps input 0; use assign to write into an input", si::argument_error);
  CHECK_NOTHROW(g(si::host, A(m), B(m + 2), si::tensor<float>(m + 70), B(m + 60)));
}

TEST_CASE("strides known at compile time") {
  using part = si::with_strides<si::tensor<float, si::dyn, 3>, si::strides<1, 4>>;  // columns, with gaps
  constexpr auto f = si::fuse<part, part>([](auto x, auto y) { return std::tuple(x * 2, si::assign(y, x + 1)); });
  float x[12], y[12] = {}, out[9];
  for (int i = 0; i < 12; ++i) x[i] = static_cast<float>(i);
  f(si::host, part(x, 3), part(y, 3), matrix{out, 3});
  for (int i = 0; i < 9; ++i) CHECK(out[i] == 2 * x[i / 3 + 4 * (i % 3)]);
  for (int i = 0; i < 12; ++i) CHECK(y[i] == (i % 4 == 3 ? 0 : x[i] + 1));
  // Other strides are refused, whoever brings them; of one element any stride will do.
  std::int64_t shape[] = {3, 3}, columns[] = {1, 4};
  dl_tensor t{x, 2, {2, 32, 1}, shape, columns, 0};
  CHECK_NOTHROW(f(si::host, si::from_dlpack<part>(t), part(y, 3), matrix{out, 3}));
  columns[1] = 3;
  CHECK_THROWS_WITH_AS(f(si::host, si::from_dlpack<part>(t), part(y, 3), matrix{out, 3}),
                       "input 0, dimension 1: expected a stride of 4, found 3", si::argument_error);
  columns[0] = 7, columns[1] = 4, shape[0] = 1;
  CHECK_NOTHROW(f(si::host, si::from_dlpack<part>(t), part(y, 1), matrix{out, 1}));
}

}  // namespace
