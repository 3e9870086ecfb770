// Several independent loops in one launch: the blocks are divided among the parts, each of which runs as its own kernel
// would, with wide accesses or element by element. Parts of one type are compiled once, however many there are.
// Which block belongs to whom, and which variant a part runs, is decided at launch: combo_launch.cuh.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/overlap.cuh"
#include "sinter/kernels/cuda/pointwise/pointwise.cuh"
#include "sinter/kernels/cuda/reduction/columns/column.cuh"
#include "sinter/kernels/cuda/reduction/rows/looped.cuh"
#include "sinter/kernels/cuda/reduction/rows/persistent.cuh"

namespace sinter::cuda {

namespace detail {

inline constexpr int combo_block = 256;
static_assert(combo_block == column_block);

enum class combo_variant : unsigned char { wide, narrow, narrow_long };

/// How one part runs.
struct combo_place {
  split_part part{};  // of a reduction
  int along = 1;      // threads of a row; of a block's columns
  combo_variant variant = combo_variant::narrow;
};

/// Rows that threads of a one-dimensional block share: `along` neighbours, a power of two, each.
template <int Along>
struct block_threads {
  int along;
  __device__ __forceinline__ int count() const { return Along > 0 ? Along : along; }
  __device__ __forceinline__ int thread() const { return static_cast<int>(threadIdx.x) & (count() - 1); }
  __device__ __forceinline__ int row() const { return static_cast<int>(threadIdx.x) / count(); }
  __device__ __forceinline__ int lanes() const { return count() < 32 ? count() : 32; }
  __device__ __forceinline__ int warps() const { return count() / 32; }
  __device__ __forceinline__ void sync() const { __syncthreads(); }
};

/// MayBeLong: 2^31 elements and more are possible. Wide: in whole vectors, and what is left in a block of its own.
template <class Body, int Width, bool MayBeLong>
struct combo_pointwise {
  static constexpr int storage = 0;
  template <int W>
  static constexpr int elements = combo_block* W* pointwise_shape<Body, W>::items;

  template <class Args>
  static __device__ __forceinline__ void run(const Args& args, const combo_place& at, std::int64_t block,
                                             unsigned char*) {
    if constexpr (MayBeLong) {
      if (at.variant == combo_variant::narrow_long)
        return pointwise_tiles<Body, 1, combo_block, std::int64_t>(args, block * elements<1>, args.numel);
    }
    const int end = static_cast<int>(args.numel);
    int first = static_cast<int>(block) * elements<1>;
    if constexpr (Width > 1) {
      const int whole = end / Width * Width, wide = static_cast<int>(block) * elements<Width>;
      if (at.variant == combo_variant::wide) {
        if (wide < whole) return pointwise_tiles<Body, Width, combo_block, int>(args, wide, whole);
        first = whole;
      }
    }
    pointwise_tiles<Body, 1, combo_block, int>(args, first, end);
  }
};

/// Along > 0: a row stays in the registers of so many threads, Items times Width values each.
template <class Body, int Width, int Items, int Along, int Full>
struct combo_rows {
  static constexpr int storage = 2 * largest_phase<Body, 32>;
  static constexpr int narrow_items = 4;

  template <class Args>
  static __device__ __forceinline__ void run(const Args& args, const combo_place& at, std::int64_t block,
                                             unsigned char* memory) {
    const block_threads<0> threads{at.along};
    const std::int64_t rows = block / at.part.splits * (combo_block / threads.count()) + threads.row();
    const int split = static_cast<int>(block % at.part.splits);
    if (at.variant == combo_variant::wide) {
      if constexpr (Along > 0)
        persistent_row<Body, Width, Items, Full>(args,
                                                 block * (combo_block / Along) + block_threads<Along>{Along}.row(),
                                                 memory, block_threads<Along>{Along});
      else looped_row<Body, Width, Items, int>(args, at.part, rows, split, memory, threads);
    } else {
      looped_row<Body, 1, narrow_items, std::int64_t>(args, at.part, rows, split, memory, threads);
    }
  }
};

template <class Body, int Width>
struct combo_columns {
  static constexpr int storage = column_storage<Body, Width>;

  template <class Args>
  static __device__ __forceinline__ void run(const Args& args, const combo_place& at, std::int64_t block,
                                             unsigned char* memory) {
    const std::int64_t columns = block / at.part.splits;
    const int split = static_cast<int>(block % at.part.splits);
    if (at.variant == combo_variant::wide)
      reduce_columns_of<Body, Width, column_items<Body, Width>, int>(args, at.part, at.along, columns, split, memory);
    else
      reduce_columns_of<Body, 1, column_items<Body, 1>, std::int64_t>(args, at.part, at.along, columns, split, memory);
  }
};

/// Count parts of one type.
template <class Part, class Args, int Count>
struct combo_run {
  static constexpr int count = Count;
  using part = Part;
  Args args[Count];
  combo_place at[Count];
};

}  // namespace detail

/// What the kernel receives: the parts run by run, and the block at which each begins; the last entry is their number.
template <class... Run>
struct combo_arguments : Run... {
  static constexpr int num_parts = (0 + ... + Run::count);
  std::int64_t first[num_parts + 1];
};

namespace detail {

/// The part that a block belongs to: the last one that does not begin after it.
template <class All>
__device__ __forceinline__ int part_of_block(const All& all, std::int64_t block) {
  int low = 0, high = All::num_parts;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (all.first[middle] <= block) low = middle;
    else high = middle;
  }
  return low;
}

template <class Run>
__device__ __forceinline__ void run_if(const Run& run, int part, std::int64_t block, unsigned char* memory,
                                       int& begin) {
  const int mine = part - begin;
  begin += Run::count;
  if (mine >= 0 && mine < Run::count) Run::part::run(run.args[mine], run.at[mine], block, memory);
}

}  // namespace detail

template <class... Run>
__global__ void __launch_bounds__(detail::combo_block, 1)  // left to itself the assembler may spill for more blocks
    combo_loops(const __grid_constant__ combo_arguments<Run...> all) {
  detail::begin_kernel();
  constexpr int sizes[] = {16, Run::part::storage...};
  constexpr int largest = [](const int(&all_sizes)[sizeof...(Run) + 1]) {
    int most = 0;
    for (int size : all_sizes) most = size > most ? size : most;
    return most;
  }(sizes);
  alignas(16) __shared__ unsigned char memory[largest];

  const std::int64_t block = blockIdx.x + static_cast<std::int64_t>(gridDim.x) * blockIdx.y;
  if (block >= all.first[combo_arguments<Run...>::num_parts]) return;
  const int part = detail::part_of_block(all, block);
  int begin = 0;
  (detail::run_if(static_cast<const Run&>(all), part, block - all.first[part], memory, begin), ...);
}

}  // namespace sinter::cuda
