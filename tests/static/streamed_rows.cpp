// How long rows are shared out among blocks that go from one to the next: for 132 multiprocessors of which each holds
// seven tiles of 32 KB, and a softmax, whose blocks exchange two states at once.
#include <sinter/kernels/cuda/choose.hpp>
#include <sinter/kernels/split.hpp>

using namespace sinter::cuda::detail;

namespace {

constexpr team_shape share_out(std::int64_t rows, std::int64_t tiles, int most_parts) {
  return choose_teams(
      rows, tiles, 7, {1, 2}, most_parts, 132, [](int parts) { return 132 / parts; }, [](int) { return false; });
}
/// Where up to eight blocks are a cluster, of which an H200 has so many at once.
constexpr team_shape share_out_in_clusters(std::int64_t rows, std::int64_t tiles, int most_parts) {
  constexpr int clusters[] = {0, 132, 66, 39, 30, 22, 17, 15, 15};
  return choose_teams(
      rows, tiles, 7, {1, 2}, most_parts, 132, [&](int parts) { return parts <= 8 ? clusters[parts] : 132 / parts; },
      [](int parts) { return parts > 1 && parts <= 8; });
}
constexpr bool is(const team_shape& s, int tiles, int parts, int teams) {
  return s.tiles == tiles && s.parts == parts && s.teams == teams;
}

}  // namespace

static_assert(is(share_out(2048, 4, 1), 4, 1, 132), "2048 x 65536 bf16: a block takes a row");
static_assert(is(share_out(1335, 7, 6), 7, 1, 132), "1335 x 50257 f32: it still holds one");
static_assert(is(share_out(64, 4, 8), 4, 1, 64), "fewer rows than blocks: an exchange would cost more than it saves");
static_assert(is(share_out(16, 123, 122), 4, 31, 4), "16 x 1,000,000 f32: four rows at a time, 31 blocks each");
static_assert(is(share_out(2, 611, 512), 5, 123, 1), "2 x 5,000,011 f32: all blocks take one row, and hold it");
static_assert(is(share_out(1, 2048, 512), 16, 128, 1), "2^24 f32 are more than all blocks hold");
static_assert(is(share_out(1, 2048, 1), 2048, 1, 1), "no workspace: one block");

static_assert(is(share_out_in_clusters(488, 8, 8), 4, 2, 66), "488 x 65536 f32: two blocks hold a row");
static_assert(is(share_out_in_clusters(100, 32, 32), 4, 8, 15), "100 x 262144 f32");
static_assert(is(share_out_in_clusters(636, 7, 6), 7, 1, 132), "636 x 50257 f32: one block holds a row");
static_assert(is(share_out_in_clusters(16, 123, 122), 4, 31, 4), "16 x 1,000,000 f32: no cluster holds one");

static_assert(share_out(2048, 4, 1).piece(7) == 2 && share_out(1335, 7, 6).piece(7) == 1);
static_assert(share_out(2, 611, 512).piece(7) == 1, "five tiles in pieces of two would take the room of six");
static_assert(share_out(1, 2048, 512).piece(7) == 2);

static_assert(sinter::detail::most_parts(2048, 65536, 2) == 1, "a block holds 128 KB, and rows are enough");
static_assert(sinter::detail::most_parts(16, 1000000, 4) == 122);
static_assert(sinter::detail::most_parts(2048, 100000, 4) == 12, "a block does not hold 400 KB");
static_assert(sinter::detail::most_parts(16, 1000, 4) == 1 && sinter::detail::most_parts(16, 1000000, 0) == 1);
