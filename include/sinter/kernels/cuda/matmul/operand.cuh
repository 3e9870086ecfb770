// Brings the tiles of one operand from global into shared memory: plain aligned operands by asynchronous copies, all
// others through registers, where the prologue is evaluated; loads of a later tile are issued before the multiplication
// of the current one and used after it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "sinter/kernels/cuda/matmul/mma.cuh"
#include "sinter/kernels/cuda/matmul/prologue.cuh"

namespace sinter::cuda::mm {

/// What the launch found out about an operand.
template <class Body>
struct operand_accesses {
  struct nothing {};
  std::int64_t positions;  // of a batch: rows of A, columns of B
  chunk_accesses<Body> tile;
  std::conditional_t<prologue_facts<Body>::has_rows, chunk_accesses<Body>, nothing> rows;
};

template <class Body, class Mainloop, int Extent, int Threads>
struct operand_stream {
  using facts = prologue_facts<Body>;
  using layout = typename Mainloop::template layout<Extent, facts::along>;
  using element = typename layout::element;
  using row_values = typename facts::row_values;
  static constexpr loop_var along = facts::along;
  static constexpr int width = layout::width;
  static constexpr int chunks = layout::lines * layout::chunks / Threads;  // per thread
  static constexpr int num_memory = memory_facts<Body>::size;
  static constexpr bool may_copy = Mainloop::asynchronous && is_plain<Body>;
  static constexpr bool may_be_irregular = !memory_facts<Body>::template always_regular<along>;
  static constexpr int row_bytes = facts::has_rows ? Extent * static_cast<int>(sizeof(row_values)) : 0;
  static_assert(chunks * Threads == layout::lines * layout::chunks, "matmul tile: all threads load alike");
  using walk = chunk<Body, width, along>;

  unsigned batch, number;  // the tile's
  int extent;              // its positions that exist
  // The share of every offset that k does not move: x's, and where r is linear, that of the place in the tile.
  std::int64_t offsets[chunks][num_memory > 0 ? num_memory : 1];
  typename walk::fetched raw[chunks];

  /// Turns to tile `tile` of this batch, which has `positions`.
  template <class Args>
  __device__ __forceinline__ void begin(const Args& args, unsigned of_batch, unsigned tile, std::int64_t positions) {
    batch = of_batch;
    number = tile;
    const std::int64_t i = static_cast<std::int64_t>(tile) * Extent;
    extent = positions - i < Extent ? static_cast<int>(positions - i) : Extent;
#pragma unroll
    for (int c = 0; c < chunks; ++c) hoist(args, c, first_x(positions), Body{});
  }

  /// The row statistics of the tile; the block synchronises afterwards.
  template <class Args>
  __device__ __forceinline__ void compute_rows(row_values* rows, const Args& args,
                                               const operand_accesses<Body>& accesses, std::int64_t k_extent) const {
    if constexpr (facts::has_rows) {
      for (int i = static_cast<int>(threadIdx.x) / 32; i < Extent; i += Threads / 32) {
        if (i >= extent) break;
        row_values kept;
        if (memory_facts<Body>::template always_regular<loop_var::r> || accesses.rows.regular)
          row_statistics<Body, width>::of_row(kept, args, accesses.rows.at, first_x(accesses.positions) + i, k_extent);
        else row_statistics<Body, 1>::of_row(kept, args, accesses.rows.at, first_x(accesses.positions) + i, k_extent);
        if (threadIdx.x % 32 == 0) rows[i] = kept;
      }
    }
  }

  __device__ __forceinline__ std::int64_t first_x(std::int64_t positions) const {
    return batch * positions + static_cast<std::int64_t>(number) * Extent;
  }

  /// Issues the loads of the tile that begins at k. An operand that could have been copied but is misaligned is loaded
  /// when it is stored: registers for it would cost all the others.
  template <class Args>
  __device__ __forceinline__ void start(element* tile, const Args& args, const operand_accesses<Body>& accesses,
                                        std::int64_t k, std::int64_t k_extent) {
    if constexpr (may_copy) {
      if (accesses.tile.at[0].kind == chunk_kind::vector) return copy(tile, args, accesses, k, k_extent, Body{});
    }
    if constexpr (!may_copy) {
      if (!may_be_irregular || accesses.tile.regular) fetch(args, accesses, k, k_extent);
    }
  }

  /// Evaluates what was fetched and stores it into the tile. Elements that do not exist are zero.
  template <class Args>
  __device__ __forceinline__ void finish(element* tile, const row_values* rows, const Args& args,
                                         const operand_accesses<Body>& accesses, std::int64_t k,
                                         std::int64_t k_extent) {
    if constexpr (may_copy) {
      if (accesses.tile.at[0].kind == chunk_kind::vector) return;
    }
    if (!may_be_irregular || accesses.tile.regular) {
      if constexpr (may_copy) {
#pragma unroll 1
        for (int c = 0; c < chunks; ++c) {
          const chunk_position p = position(c, accesses, k, k_extent);
          const place<Args> at{args, accesses.tile.at, p.x, p.r, p.valid};
          typename walk::fetched now;
          walk::template fetch<typename facts::on_tile>(now, at);
          store_chunk(tile, rows, c, now, at);
        }
      } else {
#pragma unroll
        for (int c = 0; c < chunks; ++c)
          store_chunk(tile, rows, c, raw[c], chunk_place<Args>(c, args, accesses, k, k_extent));
      }
    } else if constexpr (may_be_irregular) {
      using single = chunk<Body, 1, along>;
#pragma unroll 1
      for (int n = 0; n < chunks * width; ++n) {
        const int c = n / width, e = n % width;
        const auto whole = position(c, accesses, k, k_extent);
        const place<Args> at{args, nullptr, whole.x + (along == loop_var::x ? e : 0),
                             whole.r + (along == loop_var::r ? e : 0), e < whole.valid ? 1 : 0};
        element value{};
        if (at.valid > 0) {
          typename single::values v;
          read_rows(v, rows, local_x(c) + (along == loop_var::x ? e : 0), 1, facts_indices{});
          single::template fetch_and_evaluate<typename facts::on_tile>(v, at);
          value = layout::convert(lane<Body::size - 1>(v, 0));
        }
        layout::store(tile, line(c), chunk_in_line(c), e, value);
      }
    }
  }

 private:
  template <class Place>
  static __device__ __forceinline__ void store_chunk(element* tile, const row_values* rows, int c,
                                                     const typename walk::fetched& fetched, const Place& at) {
    typename walk::values v;
    read_rows(v, rows, local_x(c), at.valid, facts_indices{});
    walk::template evaluate<typename facts::on_tile>(v, fetched, at, 0);
    element values[width];
#pragma unroll
    for (int e = 0; e < width; ++e) values[e] = e < at.valid ? layout::convert(lane<Body::size - 1>(v, e)) : element{};
    layout::store(tile, line(c), chunk_in_line(c), values);
  }

  using facts_indices = std::make_index_sequence<Body::size>;

  static __device__ __forceinline__ int line(int c) {
    return (static_cast<int>(threadIdx.x) + c * Threads) / layout::chunks;
  }
  static __device__ __forceinline__ int chunk_in_line(int c) {
    return (static_cast<int>(threadIdx.x) + c * Threads) % layout::chunks;
  }

  // Where chunk c begins in the tile.
  static __device__ __forceinline__ int local_x(int c) {
    return along == loop_var::r ? line(c) : chunk_in_line(c) * width;
  }
  static __device__ __forceinline__ int local_r(int c) {
    return along == loop_var::r ? chunk_in_line(c) * width : line(c);
  }

  struct chunk_position {
    std::int64_t x, r;
    int valid;
  };
  __device__ __forceinline__ chunk_position position(int c, const operand_accesses<Body>& accesses, std::int64_t k,
                                                     std::int64_t k_extent) const {
    const int depth = k_extent - k < layout::depth ? static_cast<int>(k_extent - k) : layout::depth;
    const int left = along == loop_var::r ? depth - local_r(c) : extent - local_x(c);
    const bool exists = along == loop_var::r ? local_x(c) < extent : local_r(c) < depth;
    return {first_x(accesses.positions) + local_x(c), k + local_r(c),
            !exists || left <= 0 ? 0
            : left < width       ? left
                                 : width};
  }

  /// A place whose offsets are half known.
  template <class Args>
  struct hoisted_place {
    const Args& args;
    const chunk_access* accesses;
    std::int64_t x, r;
    int valid;
    std::int64_t k;  // where the tile begins
    const std::int64_t* hoisted;
    template <int Memory, class At>
    __device__ __forceinline__ std::int64_t offset() const {
      return hoisted[Memory] +
             offset_of<At>::template part<loop_var::r>(offset_of<At>::is_linear_in_r ? k : r, args.sizes);
    }
  };
  template <class Args>
  __device__ __forceinline__ hoisted_place<Args> chunk_place(int c, const Args& args,
                                                             const operand_accesses<Body>& accesses, std::int64_t k,
                                                             std::int64_t k_extent) const {
    const chunk_position p = position(c, accesses, k, k_extent);
    return {args, accesses.tile.at, p.x, p.r, p.valid, k, offsets[c]};
  }

  template <class S>
  struct index_of;
  template <int Slot, class T, class At, int Mask>
  struct index_of<load<Slot, T, At, Mask>> {
    using type = At;
  };
  template <int Slot, class T, class At, int Index, long Coef, long Bound, int Mask>
  struct index_of<gather_load<Slot, T, At, Index, Coef, Bound, Mask>> {
    using type = At;
  };
  template <class Args, class... S>
  __device__ __forceinline__ void hoist(const Args& args, int c, std::int64_t first, body<S...>) {
    [[maybe_unused]] int n = 0;
    (hoist_one<S>(args, c, first, n), ...);
  }
  template <class S, class Args>
  __device__ __forceinline__ void hoist_one(const Args& args, int c, std::int64_t first, int& n) {
    if constexpr (statement_detail::memory_of<S>::touches) {
      using at = offset_of<typename index_of<S>::type>;
      offsets[c][n] = at::template part<loop_var::x>(first + local_x(c), args.sizes);
      if constexpr (at::is_linear_in_r) offsets[c][n] += at::template part<loop_var::r>(local_r(c), args.sizes);
      ++n;
    }
  }

  template <class Args>
  __device__ __forceinline__ void fetch(const Args& args, const operand_accesses<Body>& accesses, std::int64_t k,
                                        std::int64_t k_extent) {
#pragma unroll
    for (int c = 0; c < chunks; ++c)
      walk::template fetch<typename facts::on_tile>(raw[c], chunk_place<Args>(c, args, accesses, k, k_extent));
  }

  template <class Args, int Slot, class T, class At>
  __device__ __forceinline__ void copy(element* tile, const Args& args, const operand_accesses<Body>& accesses,
                                       std::int64_t k, std::int64_t k_extent,
                                       body<load<Slot, T, At>, yield_value<T, 0>>) const {
    const T* base = static_cast<const T*>(args.pointers[Slot]);
#pragma unroll
    for (int c = 0; c < chunks; ++c) {
      const chunk_position p = position(c, accesses, k, k_extent);
      const std::int64_t offset = offsets[c][0] + offset_of<At>::template part<loop_var::r>(
                                                      offset_of<At>::is_linear_in_r ? k : p.r, args.sizes);
      element* to = tile + layout::index(line(c), chunk_in_line(c));
      if (p.valid == width) {
        copy_async(to, base + offset);
      } else {  // the rim of the matrix: nothing past it may be read
        for (int e = 0; e < width; ++e) to[e] = e < p.valid ? base[offset + e] : T{};
      }
    }
  }

  template <class Values, std::size_t... I>
  static __device__ __forceinline__ void read_rows(Values& v, const row_values* rows, int first, int valid,
                                                   std::index_sequence<I...>) {
    (read_row<static_cast<int>(I)>(v, rows, first, valid), ...);
  }
  template <int I, class Values>
  static __device__ __forceinline__ void read_row(Values& v, const row_values* rows, int first, int valid) {
    if constexpr (facts::facts.kept[I]) {
      auto& out = values_of<I>(v);
#pragma unroll
      for (int e = 0; e < static_cast<int>(sizeof(out) / sizeof(out[0])); ++e)
        if (e < valid) out[e] = lane<I>(rows[first + e], 0);
    }
  }
};

}  // namespace sinter::cuda::mm
