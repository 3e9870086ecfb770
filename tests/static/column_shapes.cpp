// How columns are shared out among blocks, and which blocks start after the kernel in front.
// SPDX-License-Identifier: BSL-1.0
#include <sinter/kernels/cuda/reduction/columns/column_shift.hpp>
#include <sinter/kernels/cuda/start_rule.hpp>

using namespace sinter::cuda::detail;

namespace {

/// Of f32 rows that begin anywhere; three blocks to a multiprocessor are wanted, of which four run at once.
constexpr column_shape shape_of(std::int64_t columns, std::int64_t rows) {
  return choose_columns(columns, rows, 4, true, 1 << 20, 1, column_block, column_blocks_of(3), column_blocks_of(4));
}

constexpr bool covers_all_columns() {
  for (std::int64_t columns = 1; columns < 300000; columns += columns / 7 + 1) {
    const column_shape s = shape_of(columns, 1000);
    if (s.tiles * s.span < columns || (s.tiles - 1) * s.span >= columns || s.splits < 1) return false;
    if (column_block / s.along < 4) return false;  // rows that are shifted alike are four apart
  }
  return true;
}
static_assert(covers_all_columns());

static_assert(shape_of(1001, 32000).along == 32 && shape_of(1001, 32000).splits == 42, "384 blocks share nine sets");
static_assert(shape_of(50257, 600).tiles == 406 && shape_of(50257, 600).splits == 1, "nobody meets");
static_assert(shape_of(65537, 488).along == 64 && shape_of(65537, 488).tiles == 261,
              "529 blocks would be a wave and one");

static_assert(start_of(371, 396, true) == start_rule::evenly && start_of(372, 396, true) == start_rule::overlapping);
static_assert(start_of(100, 396, false) == start_rule::overlapping, "short ones gain by an early start");

}  // namespace
