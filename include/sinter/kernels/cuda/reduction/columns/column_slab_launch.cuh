// Launches reductions of slabs of columns (column_slabs.cuh): how slabs are shared out.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/base/atomic_number.hpp"
#include "sinter/kernels/cuda/cluster_launch.cuh"
#include "sinter/kernels/cuda/reduction/columns/column_slabs.cuh"
#include "sinter/kernels/cuda/reduction/columns/column_walked.hpp"
#include "sinter/kernels/two_pass.hpp"

namespace sinter::cuda::detail {

/// Bytes of a row that moves by itself: of shorter ones the copy engine takes too few.
inline constexpr int least_slab_row = 448;

/// What a choice has to know of the slabs and of the device.
struct slab_columns {
  std::int64_t inner, slabs, rows;
  std::int64_t pitches[most_slab_loads]{};    // from row to row of each load, in bytes
  int multiprocessors = 0, shared_bytes = 0;  // most that a block may ask for
  int threads = 0, most_threads = 0;          // that a multiprocessor runs; of a block
  bool adjoin = false;                        // slabs lie behind each other
  int pixels = 1;                             // columns that are reduced together
  int least_row = least_slab_row;             // bytes of a stripe's row, at least
};

/// How slabs are shared out, the threads of a block and its shared memory, and what that takes all multiprocessors, in
/// bytes that they would have moved meanwhile. No bytes: there is no such choice.
struct column_slab_choice {
  column_slab_share share;
  int threads = 0, bytes = 0;
  double cost = 0;
  constexpr explicit operator bool() const { return bytes > 0; }
};

/// What a multiprocessor keeps of its shared memory for each block.
inline constexpr int reserved_of_block = 1024;

/// Columns of a stripe if `resident` blocks shall have room beside each other for so many rows of it; 0: there is no
/// room for any. Of slabs that one block has whole, several, as long as all multiprocessors have some.
template <class Facts>
constexpr int columns_of_stripe(Facts, const slab_columns& all, std::int64_t rows, int resident) {
  const std::int64_t room = (all.shared_bytes + reserved_of_block) / resident - reserved_of_block - 512,
                     column = rows * Facts::load_bytes + 2 * Facts::state_bytes(Facts::size);
  if (all.inner * column <= room) {
    std::int64_t slabs = all.adjoin && rows == all.rows ? room / (all.inner * column) : 1;
    const std::int64_t most = all.slabs / (all.multiprocessors * resident);
    if (slabs > most) slabs = most < 1 ? 1 : most;
    return static_cast<int>(all.inner * slabs);
  }
  const std::int64_t most = (room - rows * Facts::loads * slab_row_ends) / column / all.pixels * all.pixels;
  if (most <= 0) return 0;
  const std::int64_t stripes = (all.inner + most - 1) / most;
  return static_cast<int>(sinter::detail::round_up((all.inner + stripes - 1) / stripes, all.pixels));
}

/// Where everything lies in shared memory. Rows are as far apart there as in memory, modulo 16, so that each lies as it
/// does there.
template <class Facts>
constexpr void place_slab(column_slab_choice& choice, Facts, const slab_columns& all) {
  column_slab_share& s = choice.share;
  s.length = static_cast<int>(all.rows), s.pixels = all.pixels;
  int at = s.state_columns() * Facts::state_bytes(Facts::size);
  s.left = at, at += s.deep > 1 || s.pixels > 1 ? s.deep * s.state_columns() * Facts::largest_phase : 0;
  s.told = at, at += s.blocks > 1 ? s.blocks * s.told_columns() * Facts::largest_phase : 0;
  for (int k = 0; k < Facts::loads; ++k) {
    const int row = s.columns * Facts::bytes_of(k);
    const bool adjoin = s.stripes == 1 && all.pitches[k] == s.inner * Facts::bytes_of(k);
    s.pitch[k] = adjoin ? static_cast<int>(all.pitches[k])
                        : row + slab_row_ends + static_cast<int>((all.pitches[k] - row - slab_row_ends) & 15);
    s.place[k] = static_cast<int>(sinter::detail::round_up(at, 128)),
    at = s.place[k] + s.rows * (adjoin ? row : s.pitch[k]) + 32;
  }
  choice.bytes = slab_header + at;
}

/// Of the whole launch.
constexpr std::int64_t blocks_of(const column_slab_share& s, const slab_columns& all) {
  const std::int64_t stripes =
      s.stripes > 1 ? all.slabs * s.stripes : (all.slabs * s.inner + s.columns - 1) / s.columns;
  return stripes * s.blocks;
}

/// Fitted to 5300 forms of 112 cases on an H100 (docs/performance.md). A row that moves by itself takes what 650 bytes
/// do, and its ends what 86; a block what 5 KB do, one of a cluster 6 more, and eight rows of a thread half a byte.
/// While others work, it waits for as long as 160 KB take, and its own bytes once more, and 50 KB for each turn of its
/// threads.
template <class Facts>
constexpr void reckon_slab(column_slab_choice& choice, Facts, const slab_columns& all) {
  constexpr double least_row = 650, ends = 86, of_block = 4.6e3, of_cluster = 5.7e3, rows_of_byte = 14, waits = 160e3,
                   waits_by_turn = 49e3;
  const column_slab_share& s = choice.share;
  double moved = 0;
  for (int k = 0; k < Facts::loads; ++k) {
    const int row = s.columns * Facts::bytes_of(k);
    const bool adjoin = s.stripes == 1 && all.pitches[k] == s.inner * Facts::bytes_of(k);
    moved += (Facts::is_replaced(k) ? 2 : 1) * s.rows *
             (adjoin || row + ends > least_row ? row + (adjoin ? 0 : ends) : least_row);
  }
  const std::int64_t blocks = blocks_of(s, all), of_each = (blocks + all.multiprocessors - 1) / all.multiprocessors;
  std::int64_t resident = (all.shared_bytes + reserved_of_block) / (choice.bytes + reserved_of_block);
  if (resident > all.threads / choice.threads) resident = all.threads / choice.threads;
  if (resident > of_each) resident = of_each;
  const int turns = (s.columns * s.deep + choice.threads - 1) / choice.threads, rows = (s.rows + s.deep - 1) / s.deep;
  const double each = moved + of_block + (s.blocks > 1 ? of_cluster : 0) +
                      turns * choice.threads * ((rows + 7) / 8 * 8) / rows_of_byte +
                      (waits + turns * waits_by_turn + moved) / double(resident);
  const double even = double(blocks) / all.multiprocessors;
  choice.cost = each * (even > double(resident) ? even : double(resident));
}

/// The least of the forms in which two, three, four or six blocks of a multiprocessor have room.
template <class Facts>
constexpr column_slab_choice choose_slabs(Facts, const slab_columns& all) {
  column_slab_choice best;
  for (int blocks = 1; blocks <= most_cluster_blocks && blocks <= all.rows; blocks *= 2) {
    const std::int64_t rows = (all.rows + blocks - 1) / blocks;
    if ((all.rows + rows - 1) / rows != blocks) continue;
    int before = 0;
    for (const int resident : {2, 3, 4, 6}) {
      const int columns = columns_of_stripe(Facts{}, all, rows, resident);
      if (columns == before || (columns < all.inner && columns * Facts::load_bytes < all.least_row * Facts::loads))
        continue;
      before = columns;
      for (const int threads : {128, 256, all.most_threads}) {
        column_slab_choice now;
        column_slab_share& s = now.share;
        now.threads = threads;
        s.inner = static_cast<int>(all.inner), s.columns = columns, s.stripes = (s.inner + columns - 1) / columns;
        s.rows = static_cast<int>(rows), s.blocks = blocks;
        s.deep = threads / columns < s.rows / 4 ? threads / columns : s.rows / 4;
        if (s.deep < 1) s.deep = 1;
        place_slab(now, Facts{}, all);
        if (now.bytes > all.shared_bytes) continue;
        reckon_slab(now, Facts{}, all);
        if (!best || now.cost < best.cost) best = now;
      }
    }
  }
  return best;
}

/// The body as slabs are folded: what is read again lies in shared memory, and plain sums tell less than states of
/// squared deviations; but exponentials would be computed once more.
template <class Body, long StaticRnumel>
using slab_body =
    std::conditional_t<phase_facts<Body>::folds_squares, typename sinter::detail::held_body<Body, StaticRnumel>::type,
                       typename walked_body<Body>::type>;

/// `rows` of columns of which `inner` adjoin.
template <class Body, class Args>
slab_columns find_slabs(const Args& args, std::int64_t inner, std::int64_t rows, const device_limits& limits) {
  using facts = column_slab_facts<Body>;
  constexpr slab_residence residence = slab_residence_of<Body>;
  slab_columns all{inner, args.numel / inner, rows};
  all.multiprocessors = limits.multiprocessors, all.shared_bytes = limits.shared_bytes;
  all.threads = residence.blocks * residence.threads, all.most_threads = residence.threads;
  all.adjoin = facts::adjoin(args, inner, rows);
  facts::find_pitches(args, all.pitches);
  return all;
}
template <class Body, bool Channels = false, class Args>
void launch_slabs_as(const column_slab_choice& choice, const slab_columns& all, const Args& args, cudaStream_t stream,
                     const char* name) {
  void (*const kernel)(Args, column_slab_share) = &reduction_column_slabs<Body, Channels, Args>;
  static constinit sinter::detail::atomic_number<std::uint64_t> asked{0};
  allow_shared_memory(reinterpret_cast<const void*>(kernel), all.shared_bytes, asked, name);
  const column_slab_share& share = choice.share;
  const dim3 grid(static_cast<unsigned>(blocks_of(share, all))), block(static_cast<unsigned>(choice.threads));
  if (share.blocks > 1) launch_clusters(kernel, share.blocks, grid, block, choice.bytes, stream, name, args, share);
  else launch(kernel, grid, block, choice.bytes, stream, name, args, share);
}

/// How a body is launched on the current device in slabs, if at all.
template <class Body, long StaticRnumel, class Args>
class column_slab_launch {
 public:
  using facts = column_slab_facts<Body>;
  static constexpr bool possible = facts::can && kernels_overlap;
  /// Bytes, read and written, from which on slabs are worth it: their first and last blocks leave multiprocessors idle.
  static constexpr std::int64_t least_bytes = 32 << 20;

  column_slab_launch(const Args& args, const char* name) : args_(args), name_(name) {
    if constexpr (possible) {
      if (args.numel >= narrow_limit || args.rnumel >= narrow_limit) return;
      const std::int64_t inner = facts::inner(args);
      if (inner == 0 || args.numel * args.rnumel * facts::moved_bytes < least_bytes) return;
      const device_limits limits = limits_of_device(name);
      fast_memory_ = limits.fast_memory;
      all_ = find_slabs<Body>(args, inner, args.rnumel, limits);
      choice_ = choose_slabs(facts{}, all_);
      // Teams (column_teams.cuh) are better at stripes of whole sectors.
      if (is_cut() && facts::is_aligned(args, 32)) choice_ = {};
    }
  }
  explicit operator bool() const { return static_cast<bool>(choice_); }
  /// Better than columns in registers (column_held.cuh)? Those write parts of sectors where rows are no whole ones, and
  /// of long columns of run-time length take narrow sets; but threads that have whole columns wait for nobody, and
  /// vectors are as quick as the rows of a stripe. Registers would have `vectors`, `wide` sets of columns, whose parts
  /// of sectors are few: then fast memory is quicker than blocks that share slabs, and than most that have one.
  bool is_first(bool vectors, bool wide) const {
    constexpr int longest = 192, few = 24;  // rows times the bytes of an element
    if constexpr (!possible || (StaticRnumel > 0 && StaticRnumel * facts::smallest <= few)) return false;
    else if (!choice_ || is_last()) return false;
    else if (facts::is_aligned(args_, 32)) return StaticRnumel < 0 && args_.rnumel > longest * facts::smallest;
    else if (fast_memory_ && wide)
      return choice_.share.blocks == 1 &&
             (is_cut() ? !vectors && facts::smallest >= 4 : !vectors || choice_.share.columns > choice_.share.inner);
    else return !is_cut() || !vectors;
  }
  /// Slower than columns that are walked twice (column_twice.cuh), along the leading axis? Fast memory reads them once
  /// more while slabs of many rows wait.
  bool is_last() const {
    constexpr double most = 2.2;  // times what is moved
    return fast_memory_ && all_.slabs == 1 &&
           choice_.cost * all_.multiprocessors > most * facts::moved_bytes * double(all_.inner) * double(all_.rows);
  }
  void launch_columns(cudaStream_t stream) const {
    if constexpr (possible) launch_slabs_as<Body>(choice_, all_, args_, stream, name_);
  }

 private:
  bool is_cut() const { return choice_.share.stripes > 1; }
  const Args& args_;
  const char* name_;
  slab_columns all_{};
  column_slab_choice choice_;
  bool fast_memory_ = false;
};

}  // namespace sinter::cuda::detail
