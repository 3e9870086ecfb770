// Reductions of columns, of everything, and of rows and columns at once.
// SPDX-License-Identifier: BSL-1.0
#include "library.hpp"

int main(int argc, char** argv) {
  bench::reduction_cases<bench::sinter_library>();
  return bench::run(argc, argv);
}
