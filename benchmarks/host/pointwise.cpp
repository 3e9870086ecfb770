// Pointwise kernels: chains, broadcasts, transposed and concatenated operands, in place.
// SPDX-License-Identifier: BSL-1.0
#include "library.hpp"

int main(int argc, char** argv) {
  bench::pointwise_cases<bench::sinter_library>();
  return bench::run(argc, argv);
}
