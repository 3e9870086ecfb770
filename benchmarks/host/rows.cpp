// Kernels whose work is a row at a time: softmax, the norms, cross entropy, moments.
// SPDX-License-Identifier: BSL-1.0
#include "library.hpp"

int main(int argc, char** argv) {
  bench::row_cases<bench::sinter_library>();
  return bench::run(argc, argv);
}
