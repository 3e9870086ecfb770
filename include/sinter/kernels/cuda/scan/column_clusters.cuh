// Columns scanned by blocks that stay. The copy engine moves whole rows of a stripe of columns in both directions; a
// stripe is as wide as it takes for all multiprocessors to have as much to do. A block has a stripe alone, or those of
// a cluster take its parts in turn: each folds its own and learns from the others, through their shared memory, what is
// before it; or those of several clusters, which tell each other in memory what all their parts of a turn fold to. A
// thread has a column and walks down the rows of a part.
// Warps have different duties, and those of a block meet at barriers in shared memory only: some send for parts, some
// fold them, some put the blocks in order, some tell other clusters, some scan, some store. The same states are always
// combined in the same order.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/scan/column_cluster_telling.cuh"
#include "sinter/kernels/cuda/scan/column_rows.cuh"

namespace sinter::cuda {

namespace detail {

/// A block's work, by the duties of its warps, `number` of those that have it.
template <class Body, bool Alone, class Args>
class column_clusters : public column_cluster_telling<Body, Alone> {
  using telling = column_cluster_telling<Body, Alone>;
  using telling::arrived;
  using telling::for_each_turn;
  using telling::lane;
  using telling::place;
  using telling::scanned;
  using telling::share_;
  using telling::stored;

 public:
  using typename telling::facts;
  using typename telling::position;
  using typename telling::scans;
  using typename telling::warps;
  using tiling = column_cluster_tiling<Body>;
  static constexpr int items = facts::items;

  __device__ __forceinline__ column_clusters(const Args& a, const column_cluster_share& s, unsigned char* memory)
      : telling(s, memory), args_(a), rows_(a, s) {}

  /// Fills the places in turn.
  __device__ __forceinline__ void send(int number) const {
    int turn = 0;
    for_each_turn([&](const position& at) {
      if (turn++ >= share_.slots) barrier_wait(stored(at.slot), at.odd ^ 1);
      const int bytes = rows_.template send<warps::senders>(at, place(at.slot), arrived(at.slot), number);
      if (lane() == 0) barrier_expect(arrived(at.slot), bytes);
      barrier_arrive_as_warp(arrived(at.slot));
    });
  }

  /// Scans the warp's columns, part after part.
  __device__ __forceinline__ void scan(int number) const {
    scanner own(*this, number);
    for_each_turn([&](const position& at) { own.take(at); });
  }
  /// Folds them, ahead of that, and tells what they fold to.
  __device__ __forceinline__ void fold(int number) const {
    folder own(*this, number);
    for_each_turn([&](const position& at) { own.take(at); });
  }

  /// Empties them, once they are scanned. Sets of warps do so in turn: one waits until its place has been read while
  /// the next one sends what is in the next.
  __device__ __forceinline__ void store(int number) const {
    const int set = number / warps::storers;
    int turn = 0;
    for_each_turn([&](const position& at) {
      if (turn++ % warps::store_sets != set) return;
      barrier_wait(scanned(at.slot), at.odd);
      rows_.template store<warps::storers>(at, place(at.slot), number % warps::storers);
      if (is_elected_lane()) copy_back_wait();
      barrier_arrive_as_warp(stored(at.slot));
    });
  }

 private:
  const Args& args_;
  const column_rows<Body, Args> rows_;

  // ---- columns -----------------------------------------------------------------------------------------------------

  /// A lane's column, in a stripe.
  struct lane_column {
    const column_clusters& all;
    const int warp, column;
    tile<tiling> t;
    frame<Body, tiling> f;

    __device__ __forceinline__ lane_column(const column_clusters& c, int number)
        : all(c), warp(number), column(number * 32 + lane()) {}
    /// Has one of the warp's lanes a column?
    __device__ __forceinline__ bool has_work(const position& at) const { return warp * 32 < at.count; }

    __device__ __forceinline__ void begin_stripe(const position& at) {
      t.fixed_ok = column < at.count;
      t.fixed = at.first + (t.fixed_ok ? column : at.count - 1);
      each_column_access<column_cluster_facts<Body>, false>([&]<int I>(std::integral_constant<int, I>) {
        using rows_of = column_cluster_rows<Body, I>;
        constexpr int k = facts::template number<I>;
        t.staging.step[k] = rows_of::pitch(all.args_, all.share_);
        t.staging.column[k] = static_cast<unsigned>(rows_of::before(all.share_) + column * rows_of::size);
        t.staging.low[k] =
            static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(rows_of::in_memory(all.args_, at.first, 0)));
        t.staging.apart[k] = static_cast<unsigned>(rows_of::apart(all.args_));
      });
    }
    __device__ __forceinline__ void begin_part(const position& at) {
      t.staging.begin_part(all.place(at.slot), at.top());
    }
    /// Calls f() for every few rows of a part, at which it puts the tile.
    template <class F>
    __device__ __forceinline__ void each_rows(const position& at, const F& each) {
      const int rows = at.rows(all.args_), top = at.top();
      const auto walk = [&]<int Full>(std::integral_constant<int, Full>) {
#pragma unroll 1
        for (int row = 0; row < rows; row += items, t.staging.advance(items)) {
          t.template place<Full>(top + row, 1, static_cast<int>(all.args_.rnumel) - 1);
          each();
        }
      };
      if (rows == all.share_.rows) walk(std::integral_constant<int, items>{});
      else walk(std::integral_constant<int, 0>{});
    }
  };

  /// Tells what a column of a part folds to: the block of the cluster that puts it in order.
  struct folder : lane_column {
    using lane_column::all;
    using lane_column::column;
    using lane_column::f;
    using lane_column::lane_column;
    using lane_column::t;
    unsigned owner = 0;
    int number = 0, theirs = 0;  // of the column among the owner's, and how many those are

    __device__ __forceinline__ void take(const position& at) {
      if (at.is_first_turn() && this->has_work(at)) begin_stripe(at);
      barrier_wait(all.arrived(at.slot), at.odd);
      if (this->warp == 0 && lane() == 0) barrier_arrive(all.known(at.slot), at.count * facts::state_bytes);
      if (this->has_work(at)) tell_part(at);
      barrier_arrive_as_warp(all.stored(at.slot));  // without work, too: no warp may fall behind by a ring
    }

   private:
    __device__ __forceinline__ void tell_part(const position& at) {
      this->begin_part(at);
      scan_states<Body, 1> own;
      each_scan<scans, Body>([&](auto of) { lanes_of<decltype(of)::number>(own)[0] = decltype(of)::init(); });
      this->each_rows(at, [&] {
        evaluate<statements_before_scans<Body>>(f, t, all.args_);
        each_scan<scans, Body>([&](auto of) {
          using scan = decltype(of);
#pragma unroll
          for (int u = 0; u < items; ++u)
            if (t.ok[u]) scan::step(lanes_of<scan::number>(own)[0], lane_of<scan::operand>(f, u), t.r(u));
        });
      });
      if (!t.fixed_ok) return;
      each_scan<scans, Body>([&](auto of) {
        using scan = decltype(of);
        all.send_state(lanes_of<scan::number>(own)[0],
                       in_block(all.template told<scan>(at.slot, at.rank * theirs + number), owner),
                       in_block(all.gathered(at.slot), owner));
      });
    }
    __device__ __forceinline__ void begin_stripe(const position& at) {
      lane_column::begin_stripe(at);
      evaluate<column_values<Body>>(f, t, all.args_);
      const int own = t.fixed_ok ? column : 0;
      owner = (static_cast<unsigned>(own + 1) * static_cast<unsigned>(all.share_.blocks) - 1) /
              static_cast<unsigned>(at.count);
      const int begin = all.begin_of(at, static_cast<int>(owner));
      number = own - begin, theirs = all.columns_of(at, static_cast<int>(owner));
    }
  };

  /// Scans a column of a part of which is known what is before it.
  struct scanner : lane_column {
    using lane_column::all;
    using lane_column::column;
    using lane_column::f;
    using lane_column::lane_column;
    using lane_column::t;
    scan_states<Body, 1> so_far;

    __device__ __forceinline__ void take(const position& at) {
      if (at.is_first_turn() && this->has_work(at)) begin_stripe(at);
      barrier_wait(all.arrived(at.slot), at.odd);
      if (this->has_work(at)) {
        if constexpr (!Alone) {
          wait_for_words(all.known(at.slot), at.odd);
          each_scan<scans, Body>([&](auto of) {
            using scan = decltype(of);
            lanes_of<scan::number>(so_far)[0] =
                all.template read_state<typename scan::state>(all.template before<scan>(at.slot, column));
          });
        }
        this->begin_part(at);
        this->each_rows(at, [&] {
          evaluate<elements_of_stage<Body, 0, false, 0>>(f, t, all.args_);
          each_scan<scans, Body>([&](auto of) {
            using scan = decltype(of);
            auto& own = lanes_of<scan::number>(so_far)[0];
#pragma unroll
            for (int u = 0; u < items; ++u) {
              scan::step(own, lane_of<scan::operand>(f, u), t.r(u));
              lanes_of<scan::number>(f)[u] = scan::finish(own);
            }
          });
          evaluate<elements_of_stage<Body, 0, false, 1>>(f, t, all.args_);
        });
        copy_back_ready();
      }
      barrier_arrive_as_warp(all.scanned(at.slot));
    }

   private:
    __device__ __forceinline__ void begin_stripe(const position& at) {
      lane_column::begin_stripe(at);
      const bool writer = at.number() == 0 && t.fixed_ok;
      evaluate<rows_of_phase<Body, 0>>(f, t, all.args_, writer);
      evaluate<rows_of_phase<Body, 1>>(f, t, all.args_, writer);
      each_scan<scans, Body>([&](auto of) { lanes_of<decltype(of)::number>(so_far)[0] = decltype(of)::init(); });
    }
  };
};

}  // namespace detail

/// Dynamic shared memory: column_cluster_storage. Blocks: clusters of share.blocks; of one, if Alone. If clusters share
/// a stripe, all must run at once.
template <class Body, bool Alone, class Args>
__global__ void __launch_bounds__(detail::column_cluster_warps<Alone>::threads, 1)
    scan_columns_in_clusters(const Args args, const column_cluster_share share) {
  detail::begin_kernel<Args::next_reads_ahead>();
  extern __shared__ __align__(128) unsigned char cluster_memory[];
  using warps = detail::column_cluster_warps<Alone>;
  const detail::column_clusters<Body, Alone, Args> columns(args, share, cluster_memory);
  int duty = __shfl_sync(detail::all_lanes, static_cast<int>(threadIdx.x) / 32, 0);
  const auto is = [&](int count) {
    if (duty >= 0 && duty < count) return true;
    duty -= count;
    return false;
  };
  if (is(warps::scanners)) {
    columns.scan(duty);
  } else if (is(warps::storers * warps::store_sets)) {
    columns.store(duty);
  } else if (is(warps::senders)) {
    columns.send(duty);
  } else if constexpr (!Alone) {
    if (is(warps::tellers)) columns.tell(duty);
    else if (is(warps::publishers)) columns.publish(duty);
    else columns.fold(duty);
  }
  columns.meet();
}

}  // namespace sinter::cuda
