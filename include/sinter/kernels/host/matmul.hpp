// The host matmul: out[batch, m, n] = epilogue(a[batch, m, k] * b[batch, k, n]) for one or two b that share a, operands
// and epilogue described by bodies. Tiles of C go to threads; within a tile, packed panels go through the micro kernel.
// The order of every sum over k is the same whatever the tiles and threads.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/base/atomic_number.hpp"
#include "sinter/base/owned.hpp"
#include "sinter/kernels/body.hpp"
#include "sinter/kernels/host/evaluate.hpp"
#include "sinter/kernels/host/micro_kernel.hpp"
#include "sinter/kernels/host/pack.hpp"
#include "sinter/kernels/host/parallel.hpp"

namespace sinter::cpu {

namespace detail {

/// A block of k: with 32 columns of floats a panel of B takes 32 KiB, what an L1 cache has at least.
inline constexpr std::int64_t block_depth = 256;
/// A tile of C: its panels of A (288 x 256 floats, 288 KiB) are read again for every panel of B and stay in L2, and
/// each packed value serves 288 and more multiplications, which makes packing a few percent of the time.
inline constexpr std::int64_t tile_rows = 288, tile_columns = 512;

/// Fewer multiplications than these (some ten microseconds) are not worth waking a thread.
inline constexpr std::int64_t thread_multiplications = 1 << 20;

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The extent of equal tiles, multiples of `unit`, none above `largest`.
constexpr std::int64_t tile_extent(std::int64_t extent, std::int64_t largest, std::int64_t unit) {
  const std::int64_t tiles = ceil_div(extent, largest);
  return ceil_div(ceil_div(extent, tiles), unit) * unit;
}

/// How C is cut. More tiles than the caches ask for only where threads would have none.
struct tiling {
  std::int64_t rows, columns, across, down, count;

  tiling(const matmul_extents& e, int unit_rows, int unit_columns, int threads) {
    std::int64_t largest_rows = tile_rows, largest_columns = tile_columns;
    for (;;) {
      rows = tile_extent(e.m, largest_rows, unit_rows);
      columns = tile_extent(e.n, largest_columns, unit_columns);
      down = ceil_div(e.m, rows);
      across = ceil_div(e.n, columns);
      count = e.batch * down * across;
      const bool can_split_columns = columns >= 4 * unit_columns, can_split_rows = rows >= 4 * unit_rows;
      if (threads <= 1 || count >= 2 * threads || (!can_split_columns && !can_split_rows)) break;
      if (can_split_columns && (columns >= rows || !can_split_rows)) largest_columns = columns / 2;
      else largest_rows = rows / 2;
    }
  }
};

/// The element type of an epilogue's first accumulator.
template <class Epilogue>
struct accumulator_type_of {
  using type = float;
};
template <int Which, class T, class... S>
struct accumulator_type_of<body<accumulator<Which, T>, S...>> {
  using type = compute_t<T>;
};
template <class First, class... S>
struct accumulator_type_of<body<First, S...>> : accumulator_type_of<body<S...>> {};

template <class T>
void multiply_panels(const micro_kernel<T>& micro, std::int64_t rows, std::int64_t columns, std::int64_t depth,
                     const T* a, const T* b, T* c, std::int64_t stride_c, bool add) {
  for (std::int64_t n = 0; n < columns; n += micro.columns, b += micro.columns * depth) {
    const T* panel = a;
    for (std::int64_t m = 0; m < rows; m += micro.rows, panel += micro.rows * depth) {
      T* const to = c + m * stride_c + n;
      if (rows - m >= micro.rows) {
        micro.full(depth, panel, micro.rows, b, to, stride_c, add);
        continue;
      }
      std::int64_t i = 0;
      for (; i + micro.some_rows <= rows - m; i += micro.some_rows)
        micro.some(depth, panel + i, micro.rows, b, to + i * stride_c, stride_c, add);
      for (; i < rows - m; ++i) micro.one(depth, panel + i, micro.rows, b, to + i * stride_c, stride_c, add);
    }
  }
}

/// Evaluates the epilogue over a tile of accumulators, row by row.
template <class Epilogue, class T, class Args>
void run_epilogue(const Args& args, const matmul_extents& extents, std::int64_t row, std::int64_t rows, std::int64_t n0,
                  std::int64_t columns, const T* c, std::int64_t stride_c, std::int64_t next_c) {
  using evaluator_type = evaluator<Epilogue, loop_var::x, Args, false>;
  evaluator_type e(args);
  for (std::int64_t m = 0; m < rows; ++m, c += stride_c)
    for (std::int64_t n = 0; n < columns; n += evaluator_type::lanes) {
      const std::int64_t left = columns - n;
      e.seat((row + m) * extents.n + n0 + n, 0,
             left < evaluator_type::lanes ? static_cast<int>(left) : evaluator_type::lanes);
      e.point_accumulators(c + n, c + n + next_c);
      e.template rows<0>();
    }
}

template <class Epilogue, class Args, class A, class... Bs>
void run_matmul(const Args& args, const matmul_extents& extents, int threads, A a, Bs... b) {
  using T = accumulator_t<typename accumulator_type_of<Epilogue>::type>;
  static_assert(body_facts<Epilogue>::num_phases == 0, "sinter::cpu::matmul: an epilogue has no loop over r");
  if (extents.batch <= 0 || extents.m <= 0 || extents.n <= 0) return;
  if (threads <= 0) threads = default_threads();
  const double work = static_cast<double>(extents.batch) * static_cast<double>(extents.m) *
                      static_cast<double>(extents.n) * static_cast<double>(extents.k) /
                      static_cast<double>(thread_multiplications);
  if (work < threads) threads = static_cast<int>(work) + 1;
  if (inside_piece) threads = 1;
  a.prepare(threads);
  (b.prepare(threads), ...);

  const micro_kernel<T>& micro = choose_micro_kernel<T>();
  const tiling tiles(extents, micro.rows, micro.columns, threads);
  if (tiles.count < threads) threads = static_cast<int>(tiles.count);
  const std::int64_t depth = extents.k < block_depth ? extents.k : block_depth;
  const std::int64_t size_a = tiles.rows * depth, size_b = tiles.columns * depth, size_c = tiles.rows * tiles.columns;
  constexpr std::int64_t line = 64 / sizeof(T);
  const std::int64_t per_thread = ceil_div(size_a, line) * line + ceil_div(size_b, line) * line +
                                  ceil_div(size_c, line) * line * static_cast<std::int64_t>(sizeof...(Bs));
  const sinter::detail::heap_array<T> space(new T[per_thread * threads + line]);
  sinter::detail::atomic_number<std::int64_t> next{0};

  parallel_for(0, threads, 1, threads, [&](std::int64_t thread, std::int64_t) {
    T* const own = space.get() + thread * per_thread;
    T* const panels_a = own + (line - (reinterpret_cast<std::uintptr_t>(own) / sizeof(T)) % line) % line;
    T* const panels_b = panels_a + ceil_div(size_a, line) * line;
    T* const sums = panels_b + ceil_div(size_b, line) * line;
    for (;;) {
      const std::int64_t tile = next.fetch_add(1);
      if (tile >= tiles.count) return;
      const std::int64_t m0 = tile % tiles.down * tiles.rows, n0 = tile / tiles.down % tiles.across * tiles.columns;
      const std::int64_t batch = tile / (tiles.down * tiles.across);
      const std::int64_t rows = extents.m - m0 < tiles.rows ? extents.m - m0 : tiles.rows;
      const std::int64_t columns = extents.n - n0 < tiles.columns ? extents.n - n0 : tiles.columns;
      if (extents.k <= 0)
        for (std::int64_t i = 0; i < size_c * static_cast<std::int64_t>(sizeof...(Bs)); ++i) sums[i] = T();
      for (std::int64_t k = 0; k < extents.k; k += depth) {
        const std::int64_t block = extents.k - k < depth ? extents.k - k : depth;
        a.pack(batch * extents.m + m0, rows, k, block, micro.rows, panels_a);
        T* c = sums;
        (
            [&] {
              b.pack(batch * extents.n + n0, columns, k, block, micro.columns, panels_b);
              multiply_panels(micro, rows, columns, block, panels_a, panels_b, c, tiles.columns, k > 0);
              c += size_c;
            }(),
            ...);
      }
      run_epilogue<Epilogue>(args, extents, batch * extents.m + m0, rows, n0, columns, sums, tiles.columns, size_c);
    }
  });
}

template <class ABody, class Epilogue, class Args, class... BBodies>
void matmul_of(bodies<BBodies...>, const Args& args, const matmul_extents& extents, int threads) {
  static_assert(sizeof...(BBodies) == 1 || sizeof...(BBodies) == 2,
                "sinter::cpu::matmul: one right-hand operand, or two that share the left one");
  run_matmul<Epilogue>(args, extents, threads, operand<ABody, Args>(args, extents.batch * extents.m, extents.k),
                       operand<BBodies, Args>(args, extents.batch * extents.n, extents.k)...);
}

}  // namespace detail

/// ABody yields a[x = batch * M + m, r = k], each body of BBodies (a bodies<...>) b[x = batch * N + n, r = k]; Epilogue
/// reads accumulator<i, T> at x = (batch * M + m) * N + n and stores. Sums run in the accumulator's compute type.
/// `threads`: at most so many; 0 is one per core. May throw std::bad_alloc, before anything is written.
template <class ABody, class BBodies, class Epilogue, class Args>
void matmul(const Args& args, const matmul_extents& extents, int threads = 0) {
  detail::matmul_of<ABody, Epilogue>(BBodies{}, args, extents, threads);
}

}  // namespace sinter::cpu
