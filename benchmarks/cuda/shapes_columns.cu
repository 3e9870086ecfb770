// Reductions of columns, of everything, of rows and columns at once, and of rows in two ways, at odd extents.
// SPDX-License-Identifier: BSL-1.0
#include "shapes.cuh"

namespace {

using namespace bench;

constexpr auto var_mean = [](auto x) { return std::tuple(si::var(x, si::axis<-1>), si::mean(x, si::axis<-1>)); };
constexpr auto argmax = [](auto x) { return si::argmax(x, si::axis<-1>); };

template <class T>
void add_column_sum(std::int64_t rows, std::int64_t columns) {
  using X = si::tensor<T, si::dyn, width>;
  add(named<T>("colsum", rows, columns), si::fuse<X>(column_sum), in<X>{}, out<si::tensor<T, width>>{},
      {.rows = rows, .check_rows = whole, .width = columns, .low = 0});
}

template <class T>
void add_column_folds(std::int64_t rows, std::int64_t columns) {
  using X = si::tensor<T, si::dyn, width>;
  using W = si::tensor<T, width>;
  const auto name = [&](const char* family) { return named<T>(family, rows, columns); };
  const settings s{.rows = rows, .check_rows = whole, .width = columns};
  add(name("colvar"), si::fuse<X>([](auto x) { return si::var(x, si::axis<0>); }), in<X>{}, out<W>{}, s);
  add(name("collse"), si::fuse<X>([](auto x) { return si::logsumexp(x, si::axis<0>); }), in<X>{}, out<W>{}, s);
  add(name("colargmax"), si::fuse<X>([](auto x) { return si::argmax(x, si::axis<0>); }), in<X>{},
      out<si::tensor<std::int64_t, width>>{}, s);
  add(name("coldot"), si::fuse<X, X>([](auto x, auto y) { return si::sum(x * y, si::axis<0>); }), in<X, X>{}, out<W>{},
      {.rows = rows, .check_rows = whole, .width = columns, .low = 0});
}

/// [batch, 512, 768]: the mean over what a mask leaves of a sequence.
template <class T>
void add_masked_mean() {
  using X = si::tensor<T, si::dyn, 512, 768>;
  using Mask = si::tensor<T, si::dyn, 512, 1>;
  const std::int64_t batch = rows_of<T>(512 * 768);
  add(named<T>("masked_mean", batch, 512) + "x768",
      si::fuse<X, Mask>([](auto x, auto mask) { return si::sum(x * mask, si::axis<1>) / si::sum(mask, si::axis<1>); }),
      in<X, Mask>{}, out<si::tensor<T, si::dyn, 768>>{}, {.rows = batch, .check_rows = 8, .low = 0.5f});
}

template <class T>
void add_row_folds(std::int64_t rows, std::int64_t columns) {
  using X = si::tensor<T, si::dyn, width>;
  using V = si::tensor<T, si::dyn>;
  add(named<T>("var_mean", rows, columns), si::fuse<X>(var_mean), in<X>{}, out<V, V>{},
      {.rows = rows, .width = columns, .low = 0});
  add(named<T>("argmax", rows, columns), si::fuse<X>(argmax), in<X>{}, out<si::tensor<std::int64_t, si::dyn>>{},
      {.rows = rows, .width = columns});
}

template <class T>
void add_all() {
  using X = si::tensor<T, si::dyn, width>;
  using V = si::tensor<T, si::dyn>;
  using W = si::tensor<T, width>;
  for (const long columns : odd_widths) add_column_sum<T>(rows_of<T>(columns), columns);
  for (const auto& [rows, columns] :
       {std::pair{1, 16777216}, {16, 1000000}, {1000000, 64}, {1000000, 7}, {16777259, 1}})
    add_column_sum<T>(rows, columns);
  for (const std::int64_t size : {std::int64_t(1000003), std::int64_t(33554431), rows_of<T>(1)})
    add(std::string("fullsum_sq_") + name_of<T> + "_" + std::to_string(size), si::fuse<V>(sum_of_squares), in<V>{},
        out<si::tensor<T>>{}, {.rows = size, .check_rows = whole});
  for (const long columns : {1001, 5000, 12289, 65537}) {
    const std::int64_t rows = rows_of<T>(columns);
    const double one_pass = sizeof(T) * (static_cast<double>(rows) * columns + rows + columns);
    add(named<T>("rowcol_sum", rows, columns), si::fuse<X>(row_and_column_sums), in<X>{}, out<V, W>{},
        {.rows = rows, .check_rows = whole, .bytes = one_pass, .width = columns, .low = 0});
  }
  for (const long columns : {264, 1001, 1032, 5000, 12289, 65537}) add_row_folds<T>(rows_of<T>(columns), columns);
  for (const long columns : {1001, 5000}) add_column_folds<T>(rows_of<T>(columns), columns);
  add_masked_mean<T>();
}

}  // namespace

int main(int argc, char** argv) {
  add_all<float>();
  add_all<si::bf16>();
  return run(argc, argv);
}
