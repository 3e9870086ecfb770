// How long rows are shared by groups of warps that stay and go from row to row. No CUDA header is needed here.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/base/config.hpp"

namespace sinter::cuda {

/// Threads of a block whose warps form groups: half a multiprocessor's registers for what they hold.
inline constexpr int grouped_threads = 512;

/// `teams` groups of warps take one row after another: one of the `groups` in each of the `parts` blocks of a cluster.
/// A row's `tiles` tiles of 32 vectors are spread evenly over its warps, each of which has `slots` places for `vectors`
/// vectors, as many as any of them has. No slots: rows cannot be shared so.
struct group_share {
  int teams = 1, parts = 1, groups = 1, tiles = 1, vectors = 32, slots = 0;
  unsigned* counter = nullptr;  // by which a group takes the row that nobody has, `slots` rows before it comes to it

  /// Of a group in one block: a power of two.
  SINTER_HOST_DEVICE constexpr int warps() const { return grouped_threads / 32 / groups; }
  /// Vectors of a row before those of the warp-th warp of a team.
  SINTER_HOST_DEVICE constexpr int vectors_before(int warp) const {
    const int all = parts * warps();
    return (warp * tiles + all - 1) / all * 32;
  }
};

namespace detail {

inline constexpr int most_groups = 4, least_group_warps = grouped_threads / 32 / most_groups;

/// What has to be known of rows: how many, vectors of each, bytes that come and go with it, and words of their states;
/// and whether a counter says which is next.
struct grouped_rows {
  std::int64_t count = 0, vectors = 0, bytes = 0;
  int words = 0;
  bool counted = false;
};

/// The share whose rows are done first. bytes_of(share): of shared memory, of which a block has `room`;
/// clusters_of(parts): how many clusters of so many of the `blocks` blocks run at once. One of two groups takes for a
/// vector of a lane as long as a multiprocessor, if all are busy, for 26 KB that it moves; for a row nine times that
/// beside its vectors, three fifths of it for each word of a state, and thirty times where no row is ahead of it; and a
/// quarter more if it is alone or one of four. With a counter half a turn is lost in the end. Of what groups do and
/// what is moved the longer counts, and a fifth of the other. (Measured, 44 cases of 40 KB to 400 KB in up to 18 shares
/// each: what it takes is at most 4 % slower than the best, but for one layer norm 7 %.)
template <class BytesOf, class ClustersOf>
constexpr group_share choose_groups(const grouped_rows& rows, std::int64_t room, int blocks, const BytesOf& bytes_of,
                                    const ClustersOf& clusters_of) {
  group_share best;
  std::int64_t least = 0;
  for (int parts = 1; parts <= 8; ++parts) {
    const int clusters = parts == 1 ? blocks : clusters_of(parts);
    if (clusters == 0) continue;
    for (int groups = 1; groups <= most_groups; groups *= 2) {
      group_share share{0, parts, groups};
      const std::int64_t lanes = 32 * parts * share.warps(), tiles = (rows.vectors + lanes - 1) / lanes;
      const std::int64_t wanted = (rows.count + groups - 1) / groups, used = wanted < clusters ? wanted : clusters;
      if (tiles > 64) continue;  // no room, whatever a vector is
      share.teams = static_cast<int>(used) * groups, share.vectors = static_cast<int>(tiles) * 32;
      share.tiles = static_cast<int>((rows.vectors + 31) / 32);
      for (group_share more = share; more.slots < 30; share = more) {
        ++more.slots;
        if (bytes_of(more) > room) break;
      }
      if (share.slots * groups < 2) continue;  // nothing would arrive meanwhile
      const std::int64_t half_turns =
          rows.counted ? 2 * rows.count / share.teams + 1 : (rows.count + share.teams - 1) / share.teams * 2;
      const std::int64_t row = (5 * tiles + 45 + 3 * rows.words + (share.slots == 1 ? 150 : 0)) * (groups == 2 ? 4 : 5);
      const std::int64_t busy = half_turns * row * 648, moving = rows.count * rows.bytes / (used * parts);
      const std::int64_t cost = busy > moving ? busy + moving / 5 : moving + busy / 5;
      if (best.slots > 0 && cost >= least) continue;
      best = share, least = cost;
    }
  }
  return best;
}

}  // namespace detail
}  // namespace sinter::cuda
