// SPDX-License-Identifier: BSL-1.0
#include "shapes_rows.cuh"

int main(int argc, char** argv) { return bench::run_rows<sinter::f16>(argc, argv); }
