// How long rows are shared out among blocks that go from one to the next: for 132 multiprocessors of which each holds
// seven tiles of 32 KB, and a softmax, whose blocks meet once.
#include <sinter/kernels/cuda/choose.hpp>
#include <sinter/kernels/split.hpp>

using namespace sinter::cuda::detail;

namespace {

constexpr team_shape share_out(std::int64_t rows, std::int64_t tiles, int most_parts) {
  return choose_teams(rows, tiles, 7, 1, most_parts, 132, [](int) { return 0; });
}
/// Where up to eight blocks are a cluster, of which an H200 has so many at once.
constexpr team_shape share_out_in_clusters(std::int64_t rows, std::int64_t tiles, int most_parts) {
  constexpr int clusters[] = {0, 0, 66, 39, 30, 22, 17, 15, 15};
  return choose_teams(rows, tiles, 7, 1, most_parts, 132, [&](int parts) { return parts <= 8 ? clusters[parts] : 0; });
}
constexpr bool is(const team_shape& s, int tiles, int parts, int teams, bool cluster = false) {
  return s.tiles == tiles && s.parts == parts && s.teams == teams && s.cluster == cluster;
}

}  // namespace

static_assert(is(share_out(2048, 4, 1), 4, 1, 132), "2048 x 65536 bf16: a block takes a row");
static_assert(is(share_out(1335, 7, 6), 7, 1, 132), "1335 x 50257 f32: it still holds one");
static_assert(is(share_out(64, 4, 8), 2, 2, 64), "fewer rows than blocks: two take one");
static_assert(is(share_out(16, 123, 122), 8, 16, 8),
              "16 x 1,000,000 f32: two turns, of which a block holds seven tiles");
static_assert(is(share_out(2, 611, 512), 10, 62, 2), "2 x 5,000,011 f32: both at once");
static_assert(is(share_out(1, 2048, 512), 16, 128, 1), "2^24 f32 are more than all blocks hold");
static_assert(is(share_out(1, 2048, 1), 2048, 1, 1), "no workspace: one block");

static_assert(is(share_out_in_clusters(488, 8, 8), 4, 2, 66, true), "488 x 65536 f32: two blocks hold a row");
static_assert(is(share_out_in_clusters(132, 8, 16), 8, 1, 132), "132 x 131072 bf16: an eighth is read again");
static_assert(is(share_out_in_clusters(300, 10, 9), 5, 2, 66, true), "300 x 75001 f32: two blocks hold a row");
static_assert(is(share_out_in_clusters(100, 32, 32), 4, 8, 15, true), "100 x 262144 f32");
static_assert(is(share_out_in_clusters(636, 7, 6), 7, 1, 132), "636 x 50257 f32: one block holds a row");
static_assert(is(share_out_in_clusters(16, 62, 122), 8, 8, 16), "16 x 1,000,000 bf16: no 16 clusters run at once");

static_assert(share_out(2048, 4, 1).piece(7) == 2 && share_out(1335, 7, 6).piece(7) == 1);
static_assert(share_out(2, 306, 512).piece(7) == 1, "five tiles in pieces of two would take the room of six");
static_assert(share_out(1, 2048, 512).piece(7) == 2);

static_assert(sinter::detail::most_parts(2048, 65536, 2) == 1, "a block holds 128 KB, and rows are enough");
static_assert(sinter::detail::most_parts(16, 1000000, 4) == 122);
static_assert(sinter::detail::most_parts(2048, 100000, 4) == 12, "a block does not hold 400 KB");
static_assert(sinter::detail::most_parts(16, 1000, 4) == 1 && sinter::detail::most_parts(16, 1000000, 0) == 1);

// A whole tensor by its norm is one row, however long: blocks share it, and need room to meet.
namespace {

using sinter::body, sinter::load, sinter::store, sinter::reduce, sinter::compute, sinter::at, sinter::term;
using along = at<0, term<sinter::loop_var::r, 1, 0, 1>>;
template <class At>
using centered = body<load<0, float, At>, reduce<sinter::ops::amax, float, float, 0>,
                      compute<sinter::ops::sub, float, float, 0, 1>, store<1, float, 2, At>>;
using everything = centered<along>;
using rows = centered<at<0, term<sinter::loop_var::x, 1, 0, 64>, term<sinter::loop_var::r, 1, 0, 1>>>;
using summed = body<load<0, float, along>, reduce<sinter::ops::sum, float, float, 0>, store<1, float, 1, at<0>>>;

template <class Body>
constexpr std::int64_t counters(std::int64_t length) {
  return sinter::reduction_workspace<Body, sinter::orientation::row>(1, length).counters;
}

}  // namespace

static_assert(sinter::detail::is_lone_row<everything> && !sinter::detail::is_lone_row<rows>);
static_assert(std::is_same_v<sinter::detail::lone_row<everything>::type, rows>);
static_assert(!sinter::detail::is_lone_row<summed>, "one walk: parts of it are folded by themselves");
static_assert(counters<everything>(1000) == 0 && counters<everything>(100000000) == counters<rows>(100000000));
static_assert(counters<everything>(100000000) > 0);
