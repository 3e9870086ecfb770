// Cumulative sums along rows and columns of odd extents, known at run time or compiled in, and around an axis in the
// middle.
// SPDX-License-Identifier: BSL-1.0
#include "shapes.cuh"

namespace {

using namespace bench;

template <long Axis>
constexpr auto cumsum = [](auto x) { return si::cumsum(x, si::axis<Axis>); };

template <class T, auto Width>
void add_rows(std::int64_t rows, std::int64_t columns, const std::string& suffix) {
  using X = si::tensor<T, si::dyn, Width>;
  add(named<T>("cumsum", rows, columns) + suffix, si::fuse<X>(cumsum<-1>), in<X>{}, out<X>{},
      {.rows = rows, .width = columns, .low = 0});
}
template <class T, long... Width>
void add_static_rows() {
  (add_rows<T, Width>(rows_of<T>(Width), Width, "_static"), ...);
}

template <class T, long Length, long Inner>
void add_middle(std::int64_t batches) {
  using X = si::tensor<T, si::dyn, Length, Inner>;
  add(named<T>("cumsum_middle", batches, Length) + "x" + std::to_string(Inner), si::fuse<X>(cumsum<1>), in<X>{},
      out<X>{}, {.rows = batches, .check_rows = whole, .low = 0});
}

template <class T>
void add_all() {
  using X = si::tensor<T, si::dyn, width>;
  for (const long columns : {65, 1000, 1001, 2047, 5000, 10007, 12289, 30522, 50257, 65537})
    add_rows<T, width>(rows_of<T>(columns), columns, "");
  for (const auto& [rows, columns] : {std::pair{1, 16777217}, {16, 1000000}, {100, 262144}, {1000000, 64}})
    add_rows<T, width>(rows, columns, "");
  add_static_rows<T, 65, 1001, 1002, 10007, 50257>();
  for (const auto& [rows, columns] :
       {std::pair{33000, 1000}, {33000, 1001}, {5000, 7001}, {1001, 30522}, {300, 100001}})
    add(named<T>("cumsum_columns", rows, columns), si::fuse<X>(cumsum<0>), in<X>{}, out<X>{},
        {.rows = rows, .check_rows = whole, .width = columns, .low = 0});
  add_middle<T, 2048, 768>(20);
  add_middle<T, 1000, 1001>(32);
  add_middle<T, 49, 768>(rows_of<T>(49 * 768)), add_middle<T, 7, 1001>(rows_of<T>(7 * 1001));
  add_middle<T, 128, 64>(rows_of<T>(128 * 64)), add_middle<T, 1001, 77>(rows_of<T>(1001 * 77));
}

}  // namespace

int main(int argc, char** argv) {
  add_all<float>();
  add_all<si::bf16>();
  return run(argc, argv);
}
