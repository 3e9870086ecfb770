// Reductions across memory (orientation column) of short columns, in several phases: each thread has neighbouring
// columns to itself, whole, and takes one set of them after another. It copies what it reads to shared memory itself,
// some sets ahead, so that no thread ever waits for another. Launching is launch.cuh's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/reduction/columns/column_teams.cuh"

namespace sinter::cuda {

/// `sets` of columns, for `depth` of which a block has places; of each its rows in `tiles`.
struct alone_share {
  int sets, depth, tiles;
};

namespace detail {

/// Vectors wait in shared memory, single columns come from memory, or the L1, in every phase.
template <class Body, int Width, int Items>
struct alone_tiling : team_tiling<Body, Width, Items, int> {};
template <class Body, int Items>
struct alone_tiling<Body, 1, Items> : tiling<loop_var::x, loop_var::r, 1, Items, int> {
  static constexpr bool streamed = true, guards = true, even = true;
};

/// Until at most `groups` of the thread's copies are on their way; perhaps fewer.
__device__ __forceinline__ void copy_wait_some(int groups) {
  if (groups >= 8) copy_wait<8>();
  else if (groups >= 4) copy_wait<4>();
  else if (groups >= 2) copy_wait<2>();
  else if (groups == 1) copy_wait<1>();
  else copy_wait<0>();
}

/// A thread's columns of the sets that its block takes.
template <class Body, class Tiling, class Args>
class alone_columns {
 public:
  static constexpr int width = Tiling::width, items = Tiling::items, phases = body_facts<Body>::num_phases;
  static constexpr bool staged = width > 1;

  __device__ __forceinline__ alone_columns(const Args& args, const alone_share& share, unsigned char* memory)
      : args_(args), share_(share), memory_(memory) {}

  __device__ __forceinline__ void walk_sets() {
    if constexpr (staged) {
#pragma unroll 1
      for (int ahead = 0; ahead < share_.depth; ++ahead) {
        const int set = set_ + ahead * static_cast<int>(gridDim.x);
#pragma unroll 1
        for (int k = 0; k < share_.tiles; ++k) send(set, ahead, k);
      }
    }
#pragma unroll 1
    for (; set_ < share_.sets; set_ += static_cast<int>(gridDim.x)) {
      tile<Tiling> t;
      frame<Body, Tiling> f;
      t.fixed_ok = is_there(set_);
      t.fixed = first_of(set_);
      run_phases(std::make_integer_sequence<int, phases + 1>{}, f, t);
      if (++place_ == share_.depth) place_ = 0;
    }
  }

 private:
  const Args& args_;
  const alone_share& share_;
  unsigned char* const memory_;
  int set_ = static_cast<int>(blockIdx.x), place_ = 0;

  static __device__ __forceinline__ std::int64_t column_of(int set) {
    return (static_cast<std::int64_t>(set) * team_threads + threadIdx.x) * width;
  }
  __device__ __forceinline__ bool is_there(int set) const { return column_of(set) < args_.numel; }
  /// The last ones once more where there are no others, which are not stored.
  __device__ __forceinline__ int first_of(int set) const {
    return static_cast<int>(is_there(set) ? column_of(set) : args_.numel - width);
  }

  __device__ __forceinline__ unsigned char* tile_at(int place, int k) const {
    if constexpr (staged) return memory_ + (place * share_.tiles + k) * (items * Tiling::staging::item_bytes);
    else return nullptr;
  }
  /// A group of copies: rows of tile k, if there is such a set.
  __device__ __forceinline__ void send(int set, int place, int k) const {
    if constexpr (staged) {
      if (set < share_.sets) {
        const int x = first_of(set), rows = static_cast<int>(args_.rnumel);
#pragma unroll
        for (int u = 0; u < items; ++u)
          if (k * items + u < rows)
            Tiling::staging::loads::send(tile_at(place, k) + u * Tiling::staging::item_bytes, args_, x, k * items + u);
      }
      copy_commit();
    }
  }
  /// Calls visit() for each tile, in whose place, after the last phase, another set's comes.
  template <int P, class Visit>
  __device__ __forceinline__ void walk(tile<Tiling>& t, const Visit& visit) const {
    const int rows = static_cast<int>(args_.rnumel), next = set_ + share_.depth * static_cast<int>(gridDim.x);
    const auto go = [&]<bool Whole>(std::bool_constant<Whole>, int k) {
      if constexpr (staged) {
        if (P == 0) copy_wait_some(share_.tiles * share_.depth - 1 - k);
        t.staging.place = tile_at(place_, k);
      }
      t.template place<Whole ? items : 0>(k * items, 1, rows - 1);
      visit();
      if (P + 1 == phases) send(next, place_, k);
    };
    int k = 0;
#pragma unroll 1
    for (; k < rows / items; ++k) go(std::true_type{}, k);
    if (k < share_.tiles) go(std::false_type{}, k);
  }

  template <int P>
  __device__ __forceinline__ void run_phase(frame<Body, Tiling>& f, tile<Tiling>& t) const {
    evaluate<rows_of_phase<Body, P>>(f, t, args_, t.fixed_ok);
    if constexpr (P < phases) {
      accumulators<Body, width> acc;
      start<P, width>(Body{}, std::make_index_sequence<Body::size>{}, acc);
      walk<P>(t, [&] {
        using which = elements_of_phase<Body, P>;
        evaluate_first<which>(f, t, args_);
        evaluate_rest<which>(f, t, args_, false, [&](int u) {
          states_of_phase<Body, P>::each(
              [&]<int N, class S>(std::integral_constant<int, N>, S) { step_item<true, N, S, width>(acc, f, t, u); });
        });
        states_of_phase<Body, P>::each(
            [&]<int N, class S>(std::integral_constant<int, N>, S) { step_tile<true, N, S>(acc, f, t); });
      });
      reductions_of_phase<Body, P>::each([&]<int N, class S>(std::integral_constant<int, N>, S) {
        constexpr int known = known_greatest<Body>::template is<N>;
#pragma unroll
        for (int j = 0; j < width; ++j) {
          if constexpr (known < 0) lanes_of<N>(f)[j] = reduction_of<S>::finish(lanes_of<N>(acc)[j]);
          else lanes_of<N>(f)[j] = reduction_of<S>::finish({lanes_of<known>(acc)[j].greatest});
        }
      });
    }
  }
  template <int... P>
  __device__ __forceinline__ void run_phases(std::integer_sequence<int, P...>, frame<Body, Tiling>& f,
                                             tile<Tiling>& t) const {
    (run_phase<P>(f, t), ...);
  }
};

}  // namespace detail

/// Fewer than 2^31 columns, whole vectors of Width.
template <class Body, int Width, int Items, class Args>
__global__ void __launch_bounds__(detail::team_threads, 2)
    reduction_column_alone(const Args args, const alone_share share) {
  detail::begin_kernel();
  extern __shared__ __align__(128) unsigned char team_memory[];
  detail::alone_columns<Body, detail::alone_tiling<Body, Width, Items>, Args>(args, share, team_memory).walk_sets();
}

}  // namespace sinter::cuda
