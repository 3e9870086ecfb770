// The matmul template: out tile = epilogue(prologue(A) * prologue(B) ...), with one or two B sharing A. One block per
// tile: row statistics, pipelined main loop, accumulators to shared memory, epilogue. The parts are in files of their
// own; launch shape and the choice of the tile are launch.cuh's matter. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "sinter/kernels/cuda/matmul/epilogue.cuh"
#include "sinter/kernels/cuda/matmul/operand.cuh"
#include "sinter/kernels/cuda/matmul/policy.hpp"
#include "sinter/kernels/cuda/matmul/simt.cuh"
#include "sinter/kernels/cuda/matmul/tensor.cuh"

namespace sinter::cuda {

namespace mm {

/// Operand number I; equal bodies may occur twice.
template <int I, class T>
struct operand {
  T value;
};
template <class Indices, class... T>
struct operands;
template <std::size_t... I, class... T>
struct operands<std::index_sequence<I...>, T...> : operand<static_cast<int>(I), T>... {};
template <int I, class T>
SINTER_HOST_DEVICE constexpr T& get(operand<I, T>& o) {
  return o.value;
}
template <int I, class T>
SINTER_HOST_DEVICE constexpr const T& get(const operand<I, T>& o) {
  return o.value;
}

/// What a launch decides about one problem; the kernel's second parameter.
template <class A, class Bs, class Epilogue>
struct matmul_problem;
template <class A, class... B, class Epilogue>
struct matmul_problem<A, bodies<B...>, Epilogue> {
  matmul_extents extents;
  tile_scheduler scheduler;
  operand_accesses<A> a;
  operands<std::index_sequence_for<B...>, operand_accesses<B>...> b;
  chunk_accesses<Epilogue> epilogue;
};

template <class Tile, class A, class Bs, class Epilogue>
struct matmul_block;
template <class Tile, class A, class... B, class Epilogue>
struct matmul_block<Tile, A, bodies<B...>, Epilogue> {
  using dtype = typename prologue_facts<A>::dtype;
  static_assert(sizeof...(B) == 1 || sizeof...(B) == 2, "matmul: one matmul, or two that share A");
  static_assert((std::is_same_v<typename prologue_facts<B>::dtype, dtype> && ...),
                "matmul: the operands have different dtypes; cast one of them");

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  static_assert(!uses_tensor_cores<dtype>, "matmul: f16 and bf16 need an architecture of at least sm_80");
#endif

  using mainloop =
      std::conditional_t<uses_tensor_cores<dtype>, tensor_mainloop<Tile, dtype>, simt_mainloop<Tile, dtype>>;
  using end = epilogue<Epilogue, Tile, mainloop>;
  using a_stream = operand_stream<A, mainloop, Tile::m, Tile::threads>;
  template <class Body>
  using b_stream = operand_stream<Body, mainloop, Tile::n, Tile::threads>;
  template <class First, class...>
  struct first_of {
    using type = First;
  };
  using first_b = b_stream<typename first_of<B...>::type>;
  using b_streams = operands<std::index_sequence_for<B...>, b_stream<B>...>;
  using element = typename a_stream::element;
  static constexpr int num_matmuls = sizeof...(B);

  // Shared storage: the stages, each with the tiles of all operands, later the accumulators; then row statistics.
  static constexpr int stage_bytes = a_stream::layout::bytes + (b_stream<B>::layout::bytes + ...);
  static constexpr int accumulator_bytes =
      num_matmuls * end::elements * static_cast<int>(sizeof(typename mainloop::accumulator));
  static constexpr int tile_bytes =
      stage_bytes * Tile::stages > accumulator_bytes ? stage_bytes* Tile::stages : accumulator_bytes;
  static constexpr int shared_bytes = tile_bytes + a_stream::row_bytes + (b_stream<B>::row_bytes + ...);
  /// Two blocks hide each other's waiting, if the registers suffice: not where prologues hold tiles in registers, nor
  /// where an epilogue of so many statements does.
  static constexpr int long_epilogue = 16;
  static constexpr int blocks_per_multiprocessor =
      a_stream::may_copy && (b_stream<B>::may_copy && ...) && Epilogue::size <= long_epilogue ? 2 : 1;
  static constexpr bool has_rows = a_stream::facts::has_rows || (b_stream<B>::facts::has_rows || ...);
  static SINTER_HOST_DEVICE constexpr int before(int first, int i) { return i == 0 ? 0 : first; }
  static_assert(stage_bytes % 16 == 0 && tile_bytes % 16 == 0 && a_stream::row_bytes % 16 == 0);

  /// Computes the tile that this block has.
  template <class Args>
  static __device__ __forceinline__ void run(const Args& args, const matmul_problem<A, bodies<B...>, Epilogue>& problem,
                                             unsigned char* shared) {
    run(args, problem, shared, std::index_sequence_for<B...>{});
  }

 private:
  template <class Args, std::size_t... I>
  static __device__ __forceinline__ void run(const Args& args, const matmul_problem<A, bodies<B...>, Epilogue>& problem,
                                             unsigned char* shared, std::index_sequence<I...>) {
    const matmul_extents& extents = problem.extents;
    const tile_place<Tile> at = problem.scheduler.template at<Tile>(blockIdx.x);

    // The operands of this tile.
    a_stream a;
    b_streams b;
    a.begin(args, at.batch, at.tile_m, extents.m);
    (get<I>(b).begin(args, at.batch, at.tile_n, extents.n), ...);

    // Row statistics of normalising prologues.
    const auto a_rows = reinterpret_cast<typename a_stream::row_values*>(shared + tile_bytes);
    unsigned char* const b_rows = shared + tile_bytes + a_stream::row_bytes;
    if constexpr (has_rows) {
      a.compute_rows(a_rows, args, problem.a, extents.k);
      (get<I>(b).compute_rows(
           reinterpret_cast<typename b_stream<B>::row_values*>(b_rows + before(first_b::row_bytes, I)), args,
           get<I>(problem.b), extents.k),
       ...);
      __syncthreads();
    }

    // Main loop: a tile of k is multiplied while the next ones are on their way.
    typename mainloop::accumulators acc[num_matmuls];
#pragma unroll
    for (int i = 0; i < num_matmuls; ++i) mainloop::clear(acc[i]);

    const auto tile_a = [&](int stage) { return reinterpret_cast<element*>(shared + stage * stage_bytes); };
    const auto tile_b = [&](int stage, int i) {
      return reinterpret_cast<element*>(shared + stage * stage_bytes + a_stream::layout::bytes +
                                        before(first_b::layout::bytes, i));
    };
    const auto start = [&](int stage, unsigned t) {
      const std::int64_t k = static_cast<std::int64_t>(t) * Tile::k;
      a.start(tile_a(stage), args, problem.a, k, extents.k);
      (get<I>(b).start(tile_b(stage, I), args, get<I>(problem.b), k, extents.k), ...);
    };
    const auto finish = [&](int stage, unsigned t) {
      const std::int64_t k = static_cast<std::int64_t>(t) * Tile::k;
      a.finish(tile_a(stage), a_rows, args, problem.a, k, extents.k);
      (get<I>(b).finish(
           tile_b(stage, I),
           reinterpret_cast<const typename b_stream<B>::row_values*>(b_rows + before(first_b::row_bytes, I)), args,
           get<I>(problem.b), k, extents.k),
       ...);
    };

    const auto num_k = static_cast<unsigned>(num_tiles(extents.k, Tile::k));
#pragma unroll 1
    for (int t = 0; t < Tile::stages - 1; ++t) {
      if (const auto k = static_cast<unsigned>(t); k < num_k) start(t, k), finish(t, k);
      if constexpr (mainloop::asynchronous) copy_commit();
    }
    int current = 0, next = Tile::stages - 1;
#pragma unroll 1
    for (unsigned t = 0; t < num_k; ++t) {
      // Tile t has arrived for every thread, and every thread is done with the stage that `next` reuses.
      if constexpr (mainloop::asynchronous) copy_wait<Tile::stages - 2>();
      __syncthreads();
      const unsigned ahead = t + Tile::stages - 1;
      if (ahead < num_k) start(next, ahead);
      if constexpr (mainloop::asynchronous) copy_commit();
      mainloop::template multiply<typename a_stream::layout, typename b_stream<B>::layout...>(acc, tile_a(current),
                                                                                              {tile_b(current, I)...});
      if (ahead < num_k) finish(next, ahead);
      current = current == Tile::stages - 1 ? 0 : current + 1;
      next = next == Tile::stages - 1 ? 0 : next + 1;
    }

    // Accumulators take the place of the stages; the epilogue reads them back in its own order.
    if constexpr (mainloop::asynchronous) copy_wait<0>();
    __syncthreads();
    const auto staged = reinterpret_cast<typename mainloop::accumulator*>(shared);
#pragma unroll
    for (int i = 0; i < num_matmuls; ++i) mainloop::stage(acc[i], staged + i * end::elements, end::stride);
    __syncthreads();
    end::run(staged, args, problem.epilogue, extents, at);
  }
};

}  // namespace mm

template <class Tile, class A, class Bs, class Epilogue, class Args>
__global__ void __launch_bounds__(Tile::threads, mm::matmul_block<Tile, A, Bs, Epilogue>::blocks_per_multiprocessor)
    matmul_kernel(const __grid_constant__ Args args,
                  const __grid_constant__ mm::matmul_problem<A, Bs, Epilogue> problem) {
  extern __shared__ __align__(128) unsigned char matmul_shared_storage[];
  mm::matmul_block<Tile, A, Bs, Epilogue>::run(args, problem, matmul_shared_storage);
}

}  // namespace sinter::cuda
