// Lesson: extents known at run time. `dyn` is an extent of its own; `dim<"name">` is one extent wherever the name
// stands, which the scheduler relies on and the call checks before anything runs. Neither changes the kernel count.
// SPDX-License-Identifier: BSL-1.0
#include <sinter/sinter.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace si = sinter;

// The name makes both loops one; with two dyn, adding them tells the library that they are equal.
constexpr auto rows = si::dim<"rows">;
using Matrix = si::tensor<float, rows, si::dyn>;
using Column = si::tensor<float, rows>;
constexpr auto f = si::fuse<Matrix, Column>([](auto x, auto weight) { return si::sum(x, si::axis<-1>) * weight; });
static_assert(f.kernel_count() == 1);

// Bytes follow from the extents, in order of first appearance: 100 rows of 20, and a weight and a result for each.
static_assert(f.bytes_read(100, 20) == 4 * (100 * 20 + 100) && f.bytes_written(100, 20) == 4 * 100);

int main() {
  // Any extents, also zero, run the same kernel.
  for (int m : {5, 1, 0, 300})
    for (int n : {7, 1, 0, 1000}) {
      std::vector<float> x(static_cast<std::size_t>(m * n), 0.5f), weight(m), out(m, -1);
      for (int r = 0; r < m; ++r) weight[r] = static_cast<float>(r);
      f(si::host, Matrix(x.data(), m, n), weight, Column(out));
      for (int r = 0; r < m; ++r)
        if (out[r] != 0.5f * static_cast<float>(n * r)) return 1;
    }

  // A wrong call is an exception that says where, what was expected and what was found. No output was touched.
  std::vector<float> x(5 * 7), weight(6), out(5, -1);
  try {
    f(si::host, Matrix(x.data(), 5, 7), weight, Column(out));
    return 1;
  } catch (const si::shape_error& error) {
    const std::string text = error.what();
    std::printf("%s\n", text.c_str());
    const bool helps =
        text.find("rows") != text.npos && text.find("expected 5") != text.npos && text.find("found 6") != text.npos;
    return helps && out[0] == -1 ? 0 : 1;
  }
}
