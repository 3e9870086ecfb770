// Reductions of columns, of everything, and of rows and columns at once.
// SPDX-License-Identifier: BSL-1.0
#include "bench.cuh"
#include "functions.cuh"

using namespace bench;

int main(int argc, char** argv) {
  {
    using X = si::tensor<float, si::dyn, 8192>;
    add("colsum_f32_16384x8192", si::fuse<X>(column_sum), in<X>{}, out<si::tensor<float, 8192>>{},
        {.rows = 16384, .check_rows = whole});
  }
  {
    using X = si::tensor<float, si::dyn>;
    add("fullsum_sq_f32_128M", si::fuse<X>(sum_of_squares), in<X>{}, out<si::tensor<float>>{},
        {.rows = 128 << 20, .check_rows = whole});
  }
  {
    using X = si::tensor<float, 8192, 8192>;
    using V = si::tensor<float, 8192>;
    add("rowcol_sum_f32_8192", si::fuse<si::max_fusion, X>(row_and_column_sums), in<X>{}, out<V, V>{},
        {.bytes = 4.0 * (8192.0 * 8192 + 2 * 8192)});
  }
  return bench::run(argc, argv);
}
