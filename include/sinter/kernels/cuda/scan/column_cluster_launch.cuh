// Launches scans of columns by clusters of blocks: how wide a stripe is, how many blocks and clusters share one, what a
// part has. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/base/atomic_number.hpp"
#include "sinter/kernels/cuda/scan/column_clusters.cuh"

namespace sinter::cuda::detail {

/// Places of a block, at least: as many as parts of it are on their way, folded, scanned, and on their way back. Larger
/// parts are better than more places.
inline constexpr int least_cluster_slots = 6;
/// Turns of a block, at least: fewer do not fill its places.
inline constexpr int least_cluster_turns = 6;
/// Microseconds that such a launch takes beside its work, as others do.
inline constexpr double cluster_start = 8;

/// Columns of a tensor, of which `inner` adjoin each time, and `rows` of them.
struct scanned_columns {
  std::int64_t inner, outer, rows;
  int unit;                 // stripes begin at multiples of so many columns
  int beside;               // column_cluster_share::beside
  std::int64_t states = 0;  // for which there is room in memory, where clusters share a stripe
  double memory = 0;        // microseconds that memory takes to move all
};
/// A share, and the microseconds that it takes. No stripes: there is none.
struct column_cluster_choice {
  column_cluster_share share{};
  double cost = 0;
  constexpr explicit operator bool() const { return share.stripes > 0; }
  constexpr bool is_better_than(const column_cluster_choice& other) const {
    return *this && (!other || cost < other.cost);
  }
};
/// Fitted to 337 forms of 64 cases on an H100 (docs/performance.md): the longest of what the engine takes for its
/// copies of rows, the threads for elements, the blocks for telling each other, the memory; and some of the rest.
template <class Facts>
constexpr double reckon_columns(Facts, const column_cluster_share& s, std::int64_t turns_of_stripe, double memory,
                                int multiprocessors) {
  constexpr double copies_of_us = 111, elements_of_us = 9900, telling = 1.2, telling_clusters = 1.75, rest = 0.064,
                   among_clusters = 1.13, of_round = 1.6;
  const int rounds = (s.stripes + s.at_once - 1) / s.at_once;
  const double turns = double(turns_of_stripe * rounds), rows = turns * s.rows,
               few = multiprocessors / (1.5 * s.at_once * s.sharing());
  const double parts[] = {rows * (Facts::loads + Facts::results) / copies_of_us,
                          rows * s.columns * Facts::loads / elements_of_us,
                          turns * (s.peers > 1    ? telling_clusters
                                   : s.blocks > 1 ? telling
                                                  : 0),
                          memory * (few > 1 ? few : 1)};
  double longest = 0, all = 0;
  for (const double part : parts) {
    all += part;
    if (part > longest) longest = part;
  }
  return cluster_start + of_round * rounds + (s.peers > 1 ? among_clusters : 1) * (longest + rest * (all - longest));
}
/// Stripes as wide as it takes for all of so many clusters, of `blocks` each, to have one each, or two or more where a
/// row of it would be too wide. `peers` of them share one.
template <class Facts>
constexpr column_cluster_choice share_columns(Facts, const scanned_columns& all, int blocks, int peers,
                                              std::int64_t clusters, const device_limits& limits) {
  const auto quotient = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const int most_columns =
      blocks == 1 ? column_cluster_warps<true>::most_columns : column_cluster_warps<false>::most_columns;
  constexpr int most_rounds = 4;
  const std::int64_t at_once = clusters / peers;
  for (int rounds = 1; rounds <= most_rounds; ++rounds) {
    const std::int64_t most = rounds * at_once / all.outer;
    if (most == 0) continue;
    const std::int64_t columns = quotient(quotient(all.inner, most), all.unit) * all.unit;
    if (columns + all.beside > most_columns) continue;
    const std::int64_t stripes = quotient(all.inner, columns), last = all.inner - (stripes - 1) * columns;
    if (last < blocks || columns < all.beside) break;  // each block puts some columns of a stripe in order
    column_cluster_choice choice;
    column_cluster_share& s = choice.share;
    s.inner = static_cast<int>(all.inner), s.stripes_of_inner = static_cast<int>(stripes);
    s.stripes = static_cast<int>(all.outer * stripes), s.columns = static_cast<int>(columns);
    s.beside = stripes > 1 ? all.beside : 0, s.blocks = blocks, s.peers = peers;
    s.rows = column_cluster_storage::most_rows(s, limits.shared_bytes / least_cluster_slots, Facts{});
    if (s.rows == 0) continue;
    s.parts = static_cast<int>(quotient(all.rows, s.rows));
    s.slots = limits.shared_bytes / column_cluster_storage::of(s, Facts{}).slot_bytes();
    if (s.slots > ring_most_slots) s.slots = ring_most_slots;
    const std::int64_t of_stripe = quotient(s.parts, s.sharing());
    if (of_stripe * quotient(s.stripes, at_once) < least_cluster_turns) break;
    // What one cluster has told the others have read when it has gone twice around its places.
    s.told_turns = static_cast<int>(of_stripe < 2 * s.slots ? of_stripe : 2 * s.slots);
    if (peers > 1 && std::int64_t(s.told_turns) * peers * s.stripes * s.places() > all.states) break;
    s.at_once = static_cast<int>(at_once < s.stripes ? at_once : s.stripes);
    choice.cost = reckon_columns(Facts{}, s, of_stripe, all.memory, limits.multiprocessors);
    return choice;
  }
  return {};
}

/// The quickest of those, where clusters_of(blocks) of so many run at once.
template <class Facts, class Clusters>
constexpr column_cluster_choice choose_column_clusters(Facts, const scanned_columns& all, const Clusters& clusters_of,
                                                       const device_limits& limits) {
  column_cluster_choice best;
  for (int blocks = 1; blocks <= most_cluster_blocks; blocks *= 2) {
    const int clusters = clusters_of(blocks), most = blocks == most_cluster_blocks ? most_column_peers : 1;
    for (int peers = 1; peers <= most && peers <= clusters; ++peers) {
      const auto now = share_columns(Facts{}, all, blocks, peers, clusters, limits);
      if (now.is_better_than(best)) best = now;
    }
  }
  return best;
}

/// How a body is scanned so; no stripes: it is left to rings (column_ring.cuh). Those are quicker at rows of whole
/// sectors of elements of four bytes, and as quick at other rows of whole vectors; but of few columns many blocks share
/// a stripe there, or have none. What they reach of a copy's speed is the least that a share must have. Where rows
/// begin anywhere, a stripe must not read beside its columns what another one has written over.
template <class Body, class Clusters, class Args>
column_cluster_choice find_column_clusters(const Args& args, const Clusters& clusters_of, const device_limits& limits) {
  using facts = column_cluster_facts<Body>;
  constexpr bool wide = facts::smallest >= 4;
  constexpr int in_sector = 32 / facts::smallest;
  const std::int64_t inner = facts::inner(args);
  const bool aligned = facts::is_aligned(args, 32), few = args.numel * facts::smallest < (wide ? 4224 : 1280);
  if (inner == 0 || !facts::replaces(args) || (!aligned && facts::overwrites(args)) || (wide && aligned && !few))
    return {};
  const std::int64_t parts = sinter::detail::most_scan_parts(orientation::column, args.numel, args.rnumel);
  scanned_columns all{inner, args.numel / inner, args.rnumel, aligned ? in_sector : 1, aligned ? 0 : in_sector - 1};
  if (parts > 1) all.states = sinter::detail::slots_of(orientation::column, parts) * args.numel;
  all.memory =
      limits.microseconds(double(args.numel) * double(args.rnumel) * (facts::load_bytes + facts::result_bytes));
  const auto best = choose_column_clusters(facts{}, all, clusters_of, limits);
  const double least = !facts::is_aligned(args, 16) ? 0.3 : wide && aligned ? 0.88 : few ? 0.55 : 0.82;
  return all.memory + cluster_start < least * best.cost ? column_cluster_choice{} : best;
}

template <class Body, bool Alone, class Args>
auto column_cluster_kernel(const device_limits& limits, const char* name) {
  void (*const kernel)(Args, column_cluster_share) = &scan_columns_in_clusters<Body, Alone, Args>;
  static constinit sinter::detail::atomic_number<std::uint64_t> asked{0};
  allow_shared_memory(reinterpret_cast<const void*>(kernel), limits.shared_bytes, asked, name);
  return kernel;
}

/// False: nothing was launched.
template <class... S, class Args>
bool launch_column_clusters(body<S...>, const Args& args, kernel_memory& memory, cudaStream_t stream,
                            const char* name) {
  using B = body<S...>;
  if constexpr (column_cluster_facts<B>::can && kernels_overlap) {
    const device_limits limits = limits_of_device(name);
    const auto alone = column_cluster_kernel<B, true, Args>(limits, name),
               together = column_cluster_kernel<B, false, Args>(limits, name);
    static constinit sinter::detail::atomic_number<std::uint64_t> known[64];
    const cluster_counts counts(reinterpret_cast<const void*>(together), column_cluster_warps<false>::threads,
                                limits.shared_bytes, known, name);
    const auto clusters_of = [&](int blocks) { return blocks == 1 ? limits.multiprocessors : counts.of(blocks); };
    column_cluster_share share = find_column_clusters<B>(args, clusters_of, limits).share;
    if (share.stripes == 0) return false;
    if (share.peers > 1) share.counter = memory.counters(stream, name), share.states = memory.states();
    const dim3 grid(static_cast<unsigned>(share.at_once * share.sharing()));
    const int bytes = column_cluster_storage::of(share, column_cluster_facts<B>{}).bytes(share.slots);
    if (share.blocks == 1)
      launch(alone, grid, dim3(column_cluster_warps<true>::threads), bytes, stream, name, args, share);
    else
      launch_clusters(share.peers > 1 ? start_rule::together : start_rule::overlapping, together, share.blocks, grid,
                      dim3(column_cluster_warps<false>::threads), bytes, stream, name, args, share);
    return true;
  }
  return false;
}

}  // namespace sinter::cuda::detail
