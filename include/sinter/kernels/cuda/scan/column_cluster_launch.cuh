// Launches scans of columns by clusters of blocks: how wide a stripe is, how many blocks share one, what a part has.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstdint>

#include "sinter/kernels/cuda/scan/column_clusters.cuh"

namespace sinter::cuda::detail {

/// What a copy of a row takes the engine, in bytes that memory moves meanwhile: it bounds how narrow rows may be.
inline constexpr int least_row_bytes = 500;
/// Places of a block, at least: as many as parts of it are on their way, folded, scanned, and on their way back. Larger
/// parts are better than more places.
inline constexpr int least_cluster_slots = 6;
/// Turns of a block, at least: fewer do not fill its places.
inline constexpr int least_cluster_turns = 6;

/// Columns of a tensor, of which `inner` adjoin each time, and `rows` of them.
struct scanned_columns {
  std::int64_t inner, outer, rows;
  int unit;    // stripes begin at multiples of so many columns
  int beside;  // column_cluster_share::beside
};
/// A share, and what it costs: the bytes that the block with the most of them moves. No stripes: there is none.
struct column_cluster_choice {
  column_cluster_share share{};
  std::int64_t cost = 0;
  explicit operator bool() const { return share.stripes > 0; }
  /// Blocks that wait for each other cost something, too.
  bool is_better_than(const column_cluster_choice& other) const {
    return *this && (!other || cost * (100 + share.blocks) < other.cost * (100 + other.share.blocks));
  }
};
/// Stripes as wide as it takes for the clusters, of `blocks` each, that run at once to have one each, or two or more
/// where a row of it would be too wide.
template <class Facts>
column_cluster_choice choose_column_clusters(Facts, const scanned_columns& all, int blocks, std::int64_t clusters,
                                             int shared_bytes) {
  const auto quotient = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const int most_columns =
      blocks == 1 ? column_cluster_warps<true>::most_columns : column_cluster_warps<false>::most_columns;
  constexpr int most_rounds = 4, bytes = Facts::load_bytes + Facts::result_bytes;
  constexpr std::int64_t least_bytes = (Facts::loads + Facts::results) * least_row_bytes;
  for (int rounds = 1; rounds <= most_rounds; ++rounds) {
    const std::int64_t most = rounds * clusters / all.outer;
    if (most == 0) continue;
    const std::int64_t columns = quotient(quotient(all.inner, most), all.unit) * all.unit;
    if (columns + all.beside > most_columns) continue;
    const std::int64_t stripes = quotient(all.inner, columns), last = all.inner - (stripes - 1) * columns;
    if (last < blocks || columns < all.beside) break;  // each block puts some columns of a stripe in order
    column_cluster_choice choice;
    column_cluster_share& s = choice.share;
    s.inner = static_cast<int>(all.inner), s.stripes_of_inner = static_cast<int>(stripes);
    s.stripes = static_cast<int>(all.outer * stripes), s.columns = static_cast<int>(columns);
    s.beside = stripes > 1 ? all.beside : 0, s.blocks = blocks;
    s.rows = column_cluster_storage::most_rows(s, shared_bytes / least_cluster_slots, Facts{});
    if (s.rows == 0) continue;
    s.parts = static_cast<int>(quotient(all.rows, s.rows));
    s.slots = shared_bytes / column_cluster_storage::of(s, Facts{}).slot_bytes();
    if (s.slots > ring_most_slots) s.slots = ring_most_slots;
    const std::int64_t turns = quotient(s.parts, blocks) * quotient(s.stripes, clusters);
    if (turns < least_cluster_turns) break;
    choice.cost = turns * s.rows * (columns * bytes > least_bytes ? columns * bytes : least_bytes);
    return choice;
  }
  return {};
}

/// How a body is launched on the current device, if at all. Alone: each stripe by one block.
template <class Body, bool Alone, class Args>
class column_cluster_launch {
 public:
  using facts = column_cluster_facts<Body>;
  using warps = column_cluster_warps<Alone>;

  column_cluster_launch(const Args& args, const scanned_columns& all, const device_limits& limits, const char* name)
      : args_(args), name_(name) {
    static constinit std::atomic<std::uint64_t> asked{0}, known[64];
    allow_shared_memory(reinterpret_cast<const void*>(kernel), limits.shared_bytes, asked, name);
    const auto choose = [&](int blocks, std::int64_t clusters) {
      if (clusters == 0) return;
      const auto now = choose_column_clusters(facts{}, all, blocks, clusters, limits.shared_bytes);
      if (now.is_better_than(choice_)) choice_ = now, clusters_ = clusters;
    };
    if constexpr (Alone) {
      choose(1, limits.multiprocessors);
    } else {
      const cluster_counts counts(reinterpret_cast<const void*>(kernel), warps::threads, limits.shared_bytes, known,
                                  name);
      for (int blocks = 2; blocks <= most_cluster_blocks; blocks *= 2) choose(blocks, counts.of(blocks));
    }
  }
  const column_cluster_choice& choice() const { return choice_; }
  void launch_columns(cudaStream_t stream) const {
    const column_cluster_share& share = choice_.share;
    const std::int64_t clusters = clusters_ < share.stripes ? clusters_ : share.stripes;
    const dim3 grid(static_cast<unsigned>(clusters * share.blocks)), block(warps::threads);
    const int bytes = column_cluster_storage::of(share, facts{}).bytes(share.slots);
    if constexpr (Alone) launch(kernel, grid, block, bytes, stream, name_, args_, share);
    else launch_clusters(kernel, share.blocks, grid, block, bytes, stream, name_, args_, share);
  }

 private:
  static constexpr void (*kernel)(Args, column_cluster_share) = &scan_columns_in_clusters<Body, Alone, Args>;
  const Args& args_;
  const char* name_;
  column_cluster_choice choice_;
  std::int64_t clusters_ = 0;
};

/// False: nothing was launched. Left to rings (column_ring.cuh) are rows of whole sectors whose elements have four
/// bytes, which are as quick there; narrow columns, which many blocks share; and, where rows begin anywhere, results
/// over what is read: a stripe must not read beside its columns then.
template <class... S, class Args>
bool launch_column_clusters(body<S...>, const Args& args, cudaStream_t stream, const char* name) {
  using B = body<S...>;
  using facts = column_cluster_facts<B>;
  if constexpr (facts::can && kernels_overlap) {
    constexpr int in_sector = 32 / facts::smallest;
    const std::int64_t inner = facts::inner(args);
    const bool aligned = facts::is_aligned(args, 32);
    if (inner == 0 || !facts::replaces(args) || (aligned ? facts::smallest >= 4 : facts::overwrites(args)))
      return false;
    const scanned_columns all{inner, args.numel / inner, args.rnumel, aligned ? in_sector : 1,
                              aligned ? 0 : in_sector - 1};
    const device_limits limits = limits_of_device(name);
    const column_cluster_launch<B, true, Args> alone(args, all, limits, name);
    const column_cluster_launch<B, false, Args> shared(args, all, limits, name);
    const bool share = shared.choice().is_better_than(alone.choice());
    const column_cluster_choice& best = share ? shared.choice() : alone.choice();
    const double even =
        double(args.numel) * double(args.rnumel) * (facts::load_bytes + facts::result_bytes) / limits.multiprocessors;
    if (!best || even < 0.7 * double(best.cost)) return false;
    share ? shared.launch_columns(stream) : alone.launch_columns(stream);
    return true;
  }
  return false;
}

}  // namespace sinter::cuda::detail
