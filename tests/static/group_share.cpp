// How groups of warps share long rows of bf16, of which every word of 16 bytes is read and written once: on a device of
// 132 multiprocessors that has as many clusters as an H200.
#include <sinter/kernels/cuda/reduction/rows/group_share.hpp>

using namespace sinter::cuda;
using namespace sinter::cuda::detail;

namespace {

constexpr std::int64_t room = 220 << 10;  // beside what groups need to meet

/// `weights`: vectors that all rows share, beside each of a row; `words`: of the states of a row.
constexpr group_share share_of(std::int64_t rows, std::int64_t columns, int weights, int words) {
  constexpr int clusters[] = {0, 132, 66, 39, 30, 22, 17, 15, 15};
  const auto bytes = [&](const group_share& s) {
    return std::int64_t(16) * s.vectors * (s.warps() * weights + grouped_threads / 32 * s.slots);
  };
  return choose_groups({rows, columns / 8, 4 * columns, words, rows >= 256}, room, 132, bytes,
                       [&](int parts) { return clusters[parts]; });
}
constexpr bool is(const group_share& s, int parts, int groups, int slots) {
  return s.parts == parts && s.groups == groups && s.slots == slots;
}

/// Has each warp of a team the vectors that follow those of the one before, as many as it has places for or 32 less?
constexpr bool is_even(const group_share& s) {
  const int all = s.parts * s.warps();
  for (int warp = 0; warp < all; ++warp) {
    const int vectors = s.vectors_before(warp + 1) - s.vectors_before(warp);
    if (vectors != s.vectors && vectors != s.vectors - 32) return false;
  }
  return s.vectors_before(0) == 0 && s.vectors_before(all) == 32 * s.tiles;
}

}  // namespace

static_assert(is(share_of(976, 65536, 2, 5), 4, 2, 2), "layer norm: four blocks hold the weights and four rows");
static_assert(is(share_of(976, 65536, 0, 3), 3, 2, 2), "softmax: three hold four rows");
static_assert(is(share_of(1273, 50257, 0, 3), 2, 2, 2), "shorter rows need fewer blocks");
static_assert(share_of(976, 65536, 2, 5).teams == 60, "two groups in each of 30 clusters");
static_assert(share_of(30, 65536, 0, 3).teams <= 30, "no more groups than rows");
static_assert(share_of(100, 4000000, 0, 3).slots == 0, "eight blocks do not hold such rows");
static_assert(share_of(100, 450000, 2, 5).slots == 0, "nor these beside their weights");
static_assert(is_even(share_of(976, 65536, 2, 5)) && is_even(share_of(1273, 50257, 2, 5)), "no warp idles");
static_assert(is_even(share_of(2096, 30522, 0, 3)) && is_even(share_of(639, 100001, 2, 5)), "nor in other clusters");
