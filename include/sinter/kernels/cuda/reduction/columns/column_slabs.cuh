// Reductions across memory (orientation column) in several phases, of rows that begin anywhere: the copy engine moves
// them, as many at once as lie behind each other in memory, as all rows of columns around a middle axis do. The blocks
// of a cluster share a set of columns, each some of its rows, which wait in shared memory from phase to phase, and tell
// each other by distributed shared memory. A result lies where a load lay, and goes back as that came. What lies where
// is column_slab_parts.cuh's matter, launching column_slab_launch.cuh's. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/cluster.cuh"
#include "sinter/kernels/cuda/copied_row.cuh"
#include "sinter/kernels/cuda/overlap.cuh"
#include "sinter/kernels/cuda/reduction/columns/column_slab_parts.cuh"
#include "sinter/kernels/cuda/reduction/columns/column_team_states.cuh"
#include "sinter/kernels/cuda/reduction/rows/streamed.cuh"
#include "sinter/kernels/cuda/scan/places.cuh"

namespace sinter::cuda {

namespace detail {

/// A thread's column in several rows, which lie in shared memory.
template <class Body>
struct column_slab_tiling : tiling<loop_var::x, loop_var::r, 1, 8, int> {
  using facts = column_slab_facts<Body>;
  static constexpr bool guards = true, skips = true, even = true, streamed = true, reads_ahead = true, adjoining = true;
  template <int I>
  static constexpr bool stages = facts::template stages<I>;
  struct staging : items_of_column<facts> {
    /// An item past the end is the first one once more.
    template <int I, class T>
    __device__ __forceinline__ void read(compute_t<T> (&out)[1], int u, bool on) const {
      read_vector<T>(out, this->template address<I>(on ? u : 0));
    }
  };
};

/// Threads of a warp as those that move a row.
struct lanes_of_warp {
  static __device__ __forceinline__ int thread() { return static_cast<int>(threadIdx.x) % 32; }
  static constexpr __device__ __forceinline__ int count() { return 32; }
};

/// A block's rows of a stripe. Channels: of share.pixels columns each, which are reduced together.
template <class Body, bool Channels, class Args>
class column_slab {
 public:
  using facts = column_slab_facts<Body>;
  using tiling = column_slab_tiling<Body>;
  static constexpr int phases = body_facts<Body>::num_phases;

  /// `memory`: the block's shared memory.
  __device__ __forceinline__ column_slab(const Args& args, const column_slab_share& share, unsigned char* memory)
      : args_(args),
        share_(share),
        arrival_(*reinterpret_cast<copy_arrival*>(memory)),
        meeting_(shared_address(memory) + 16),
        memory_(memory + slab_header) {
    const int cluster = static_cast<int>(blockIdx.x) / share.blocks;
    part_ = static_cast<int>(blockIdx.x) - cluster * share.blocks;
    int end = static_cast<int>(args.numel);
    if (share.stripes == 1) {
      x_ = cluster * share.columns;
    } else {
      const int slab = cluster / share.stripes;
      x_ = slab * share.inner + (cluster - slab * share.stripes) * share.columns, end = (slab + 1) * share.inner;
    }
    columns_ = end - x_ < share.columns ? end - x_ : share.columns;
    top_ = part_ * share.rows;
    rows_ = share.length - top_ < share.rows ? share.length - top_ : share.rows;
    each_column_access<facts, false>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int k = facts::template number<I>;
      places_[k] = shared_address(memory_ + share.place[k]) +
                   static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(first<I>()) & 15);
    });
  }

  /// Brings all that waits; until it is there.
  __device__ __forceinline__ void fetch() {
    if (threadIdx.x == 0) {
      barrier_begin(meeting_), barrier_begin(meeting_ + 8);
      arrival_.begin();
    }
    __syncthreads();
    if (share_.blocks > 1) arrive_in_cluster();  // before anything is told, all wait for that
    each_column_access<facts, false>([&]<int I>(std::integral_constant<int, I>) {
      using in = rows_of<I>;
      const int last_column = static_cast<int>(args_.numel) - 1, last_row = share_.length - 1;
      const unsigned char* const begin_of_all = in::in_memory(args_, 0, 0);
      const unsigned char* const end_of_all = in::in_memory(args_, last_column, last_row) + in::size;
      each_piece<I>([&](const auto& row, unsigned char* place) {
        const bool begins = begin_of_all > row.memory, ends = row.memory + ((row.end + 15) & ~15) > end_of_all;
        row.fetch(place, begins, ends, arrival_, lanes_of_warp{});
      });
    });
    __syncthreads();
    if (threadIdx.x == 0) arrival_.end();
    arrival_.wait();
    if (share_.blocks > 1) wait_for_cluster();
  }
  /// Puts what has replaced it.
  __device__ __forceinline__ void put() const {
    copy_back_ready();
    __syncthreads();
    each_column_access<facts, true>([&]<int I>(std::integral_constant<int, I>) {
      each_piece<I>([&](const auto& row, unsigned char* place) { row.put(place, lanes_of_warp{}); });
    });
    if (lanes_of_warp::thread() == 0) copy_back_wait();
  }

  template <int P>
  __device__ __forceinline__ void phase() const {
    constexpr bool reduces = reduces_phase<Body, P>;
    if constexpr (P < phases || has_rows<P>) {
      const int units = columns_ * share_.deep;
#pragma unroll 1
      for (int unit = static_cast<int>(threadIdx.x); unit < units; unit += static_cast<int>(blockDim.x)) {
        const int deep = share_.deep == 1 ? 0 : unit / columns_, column = unit - deep * columns_;
        tile<tiling> t;
        t.fixed = x_ + column;
        frame<Body, tiling> f;
        recall(std::make_integer_sequence<int, P>{}, f, t, column);
        evaluate<rows_of_phase<Body, P>>(f, t, args_,
                                         deep == 0 && part_ == 0 && (!Channels || column % share_.pixels == 0));
        if constexpr (P < phases) {
          accumulators<Body, 1> acc;
          start<P, 1>(Body{}, std::make_index_sequence<Body::size>{}, acc);
          walk(t, deep, column, [&] {
            using which = elements_of_phase<Body, P>;
            evaluate_first<which>(f, t, args_);
            evaluate_rest<which>(f, t, args_, false, [&](int u) {
              states_of_phase<Body, P>::each(
                  [&]<int N, class S>(std::integral_constant<int, N>, S) { step_item<true, N, S, 1>(acc, f, t, u); });
            });
            states_of_phase<Body, P>::each(
                [&]<int N, class S>(std::integral_constant<int, N>, S) { step_tile<true, N, S>(acc, f, t); });
          });
          states_of_phase<Body, P>::each([&]<int N, class S>(std::integral_constant<int, N>, S) {
            if (Channels || share_.deep > 1) left<P, N>()[deep * share_.state_columns() + column] = lanes_of<N>(acc)[0];
            else leave<P, N>(column, lanes_of<N>(acc)[0]);
          });
        }
      }
      if constexpr (reduces) meet<P>();
    }
  }
  template <int... P>
  __device__ __forceinline__ void all_phases(std::integer_sequence<int, P...>) const {
    (phase<P>(), ...);
  }

 private:
  template <int P>
  static constexpr bool has_rows = [] {
    for (int s = 0; s < Body::size; ++s)
      if (rows_of_phase<Body, P>::select(s)) return true;
    return false;
  }();
  template <int N>
  using state_of = typename reduction_of<sinter::detail::statement_of<Body, N>>::state;

  template <int I>
  using rows_of = column_rows_of<sinter::detail::statement_of<Body, I>>;
  template <int I>
  __device__ __forceinline__ unsigned char* first() const {
    return rows_of<I>::in_memory(args_, x_, top_);
  }

  /// Calls visit(copied_row, where its first vector lies in shared memory) for each row of access I, or once if they
  /// lie behind each other. Warps take them in turn.
  template <int I, class Visit>
  __device__ __forceinline__ void each_piece(const Visit& visit) const {
    using in = rows_of<I>;
    using T = typename in::type;
    constexpr int k = facts::template number<I>;
    const std::int64_t apart = in::apart(args_);
    const int pitch = share_.pitch[k];
    const bool adjoin = share_.stripes == 1 && pitch == apart && pitch == share_.inner * in::size;
    const int pieces = adjoin ? 1 : rows_, length = adjoin ? columns_ * rows_ : columns_;
    unsigned char* const from = first<I>();
    auto* const place = static_cast<unsigned char*>(__cvta_shared_to_generic(places_[k]));
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x) / 32; i < pieces; i += static_cast<int>(blockDim.x) / 32) {
      const copied_row<T> row(reinterpret_cast<T*>(from + i * apart), length);
      visit(row, place + i * pitch - row.lead);
    }
  }

  /// Calls visit() for the rows of thread `deep` of so many, where the tile is placed.
  template <class Visit>
  __device__ __forceinline__ void walk(tile<tiling>& t, int deep, int column, const Visit& visit) const {
    const int stride = share_.deep, last = rows_ - 1;
    const int slab = columns_ > share_.inner ? column / share_.inner : 0, first = slab * rows_ + deep,
              beside = column - slab * share_.inner;
    each_column_access<facts, false>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int k = facts::template number<I>;
      t.staging.at[k] = places_[k] + static_cast<unsigned>(first * share_.pitch[k] + beside * rows_of<I>::size);
      t.staging.step[k] = stride * share_.pitch[k];
    });
    const auto go = [&]<bool Whole>(std::bool_constant<Whole>, int row) {
      t.template place<Whole ? tiling::items : 0>(top_ + row, stride, top_ + last);
      visit();
      t.staging.advance(tiling::items);
    };
    int row = deep;
#pragma unroll 1
    for (; row + (tiling::items - 1) * stride <= last; row += tiling::items * stride) go(std::true_type{}, row);
    if (row <= last) go(std::false_type{}, row);
  }

  /// The columns' states of reduction N: what is known of them; what threads of phase P have left, each for itself; and
  /// what the blocks of the cluster have told this one of the columns that it puts together.
  template <int N>
  __device__ __forceinline__ state_of<N>* known() const {
    return reinterpret_cast<state_of<N>*>(memory_ + facts::template states_before<N> * share_.state_columns());
  }
  template <int P, int N>
  __device__ __forceinline__ state_of<N>* left() const {
    return reinterpret_cast<state_of<N>*>(memory_ + share_.left +
                                          facts::template states_before<N, P> * share_.deep * share_.state_columns());
  }
  template <int P, int N>
  __device__ __forceinline__ state_of<N>* told() const {
    return reinterpret_cast<state_of<N>*>(memory_ + share_.told +
                                          facts::template states_before<N, P> * share_.blocks * share_.told_columns());
  }
  /// The block's state of a column, in phase P: for the block that puts it together, or, of one that is alone, known.
  template <int P, int N>
  __device__ __forceinline__ void leave(int column, const state_of<N>& state) const {
    if (share_.blocks == 1) {
      known<N>()[column] = state;
    } else {
      const int each = share_.told_columns(), owner = column / each;
      send_words(told<P, N>() + part_ * each + column - owner * each, state, meeting_, static_cast<unsigned>(owner));
    }
  }
  /// Which of the states that are known are a column's.
  __device__ __forceinline__ int place_of(int column) const { return Channels ? column / share_.pixels : column; }
  /// What phases before this one have found of a column.
  template <int... P>
  __device__ __forceinline__ void recall(std::integer_sequence<int, P...>, frame<Body, tiling>& f, tile<tiling>& t,
                                         int column) const {
    const int state = sizeof...(P) > 0 ? place_of(column) : 0;
    (recall_phase<P>(f, t, state), ...);
  }
  template <int P>
  __device__ __forceinline__ void recall_phase(frame<Body, tiling>& f, tile<tiling>& t, int state) const {
    evaluate<rows_without_stores<Body, P>>(f, t, args_);
    reductions_of_phase<Body, P>::each([&]<int N, class S>(std::integral_constant<int, N>, S) {
      constexpr int from = known_greatest<Body>::template is<N>;
      if constexpr (from < 0) lanes_of<N>(f)[0] = reduction_of<S>::finish(known<N>()[state]);
      else lanes_of<N>(f)[0] = reduction_of<S>::finish({known<from>()[state].greatest});
    });
  }

  /// What all threads of all blocks have left of each column, or channel, becomes what is known, the same in all
  /// blocks.
  template <int P>
  __device__ __forceinline__ void meet() const {
    const int deep = share_.deep, blocks = share_.blocks, columns = share_.state_columns(), all = place_of(columns_);
    using reductions = states_of_phase<Body, P>;
    const auto each_state = [&](int first, int end, int step, const auto& visit) {
#pragma unroll 1
      for (int state = first; state < end; state += step)
        reductions::each([&]<int N, class S>(std::integral_constant<int, N> n, S s) { visit(state, n, s); });
    };
    const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    if constexpr (Channels) {
      __syncthreads();
      each_state(thread / 32, all, threads / 32, [&]<int N, class S>(int channel, std::integral_constant<int, N>, S) {
        const auto* const states = left<P, N>() + channel * share_.pixels;
        auto own = reduction_of<S>::init();
        for (int k = 0; k < deep; ++k)
          for (int pixel = thread % 32; pixel < share_.pixels; pixel += 32)
            own = reduction_of<S>::combine(own, states[k * columns + pixel]);
        own = reduction_of<S>::across(own, combined_lanes{32});
        if (thread % 32 == 0) leave<P, N>(channel, own);
      });
      __syncthreads();
    } else if (deep > 1) {
      __syncthreads();
      each_state(thread, all, threads, [&]<int N, class S>(int column, std::integral_constant<int, N>, S) {
        const auto* const states = left<P, N>() + column;
        leave<P, N>(column, combine_states<S, 4>(deep, 1, 0, [&](int k) { return states[k * columns]; }));
      });
      __syncthreads();
    } else if (P > 0 && blocks > 1) {
      __syncthreads();  // the barriers go on only when no warp waits at them for the phase before
    }
    if (blocks > 1) {
      const int each = share_.told_columns(), first = part_ * each, end = min(first + each, all);
      if (thread == 0) {
        barrier_arrive(meeting_,
                       (end > first ? end - first : 0) * blocks * facts::template states_before<Body::size, P>);
        barrier_arrive(meeting_ + 8, all * facts::template states_before<Body::size, P>);
      }
      barrier_wait(meeting_, P & 1);
      each_state(first + thread, end, threads, [&]<int N, class S>(int state, std::integral_constant<int, N>, S) {
        const auto* const states = told<P, N>() + state - first;
        const auto found = combine_states<S, 4>(blocks, 1, 0, [&](int k) { return states[k * each]; });
        for (int block = 0; block < blocks; ++block)
          send_words(known<N>() + state, found, meeting_ + 8, static_cast<unsigned>(block));
      });
      barrier_wait(meeting_ + 8, P & 1);
    }
  }

  const Args& args_;
  const column_slab_share& share_;
  copy_arrival& arrival_;
  unsigned meeting_;  // two barriers: for what is told, and for what is known
  unsigned char* memory_;
  unsigned places_[facts::loads];  // of the first row of each load
  int part_, x_, columns_, top_, rows_;
};

/// A function of floats takes more registers than one of 16-bit values.
template <class S>
inline constexpr bool is_float_function = false;
template <class Op, class T, class Result, int A, int B, int C>
inline constexpr bool is_float_function<compute<Op, T, Result, A, B, C>> =
    sizeof(T) > 2 && is_one_of<Op, ops::exp, ops::gelu, ops::sqrt>;
template <class Body>
inline constexpr int float_functions = 0;
template <class... S>
inline constexpr int float_functions<body<S...>> = (is_float_function<S> + ...);

/// Threads of a block at most, and how many such blocks a multiprocessor runs: what a thread has of eight rows at a
/// time, and of states, must fit its registers, of which these have 40, 48, 56, 72, 128.
struct slab_residence {
  int threads, blocks;
};
template <class Body>
inline constexpr slab_residence slab_residence_of = [] {
  using facts = column_slab_facts<Body>;
  if (!phase_facts<Body>::is_light || facts::loads > 2) return slab_residence{448, 1};
  const bool is_wide = facts::loads > 1 || facts::largest_phase > 8;
  const int from_memory = facts::reads - facts::loads;  // for each row
  const int more = (is_wide ? 3 : 0) + float_functions<Body> + from_memory;
  constexpr slab_residence of[] = {{448, 3}, {256, 5}, {384, 3}, {448, 2}, {448, 1}};
  return of[more < 4 ? more : 4];
}();

}  // namespace detail

/// In clusters of share.blocks, one for each stripe.
template <class Body, bool Channels, class Args>
__global__ void __launch_bounds__(detail::slab_residence_of<Body>.threads, detail::slab_residence_of<Body>.blocks)
    reduction_column_slabs(const Args args, const column_slab_share share) {
  detail::begin_kernel<Args::next_reads_ahead>();
  extern __shared__ __align__(128) unsigned char slab_memory[];
  detail::column_slab<Body, Channels, Args> slab(args, share, slab_memory);
  slab.fetch();
  slab.all_phases(std::make_integer_sequence<int, body_facts<Body>::num_phases + 1>{});
  slab.put();
}

}  // namespace sinter::cuda
