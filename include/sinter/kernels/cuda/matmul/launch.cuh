// Launches a matmul: classifies the memory accesses of its bodies for the extents and pointers at hand, takes one of
// two tiles, and starts one block per tile. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <utility>

#include "sinter/base/atomic_number.hpp"
#include "sinter/kernels/cuda/launch.cuh"
#include "sinter/kernels/cuda/matmul/matmul.cuh"

namespace sinter::cuda {

namespace mm {

template <int Width, class Body, class Args>
operand_accesses<Body> classify_operand(const Args& args, const matmul_extents& e, std::int64_t positions) {
  constexpr loop_var along = prologue_facts<Body>::along;
  const auto shape = [&](loop_var v) {
    return chunk_shape{v, Width, v == loop_var::x ? positions : e.k, e.batch * positions, e.k};
  };
  operand_accesses<Body> out{};
  out.positions = positions;
  out.tile = classify_all(Body{}, shape(along), args);
  if constexpr (prologue_facts<Body>::has_rows) out.rows = classify_all(Body{}, shape(loop_var::r), args);
  return out;
}

template <int Width, class A, class... B, class Epilogue, class Args, std::size_t... I>
matmul_problem<A, bodies<B...>, Epilogue> classify_problem(A, bodies<B...>, Epilogue, const Args& args,
                                                           const matmul_extents& e, std::index_sequence<I...>) {
  matmul_problem<A, bodies<B...>, Epilogue> p{};
  p.extents = e;
  p.a = classify_operand<Width, A>(args, e, e.m);
  ((get<I>(p.b) = classify_operand<Width, B>(args, e, e.n)), ...);
  p.epilogue = classify_all(Epilogue{}, chunk_shape{loop_var::x, Width, e.n, e.batch * e.m * e.n, 1}, args);
  return p;
}

template <class Tile, class A, class Bs, class Epilogue, class Args>
void launch_tiles(matmul_problem<A, Bs, Epilogue>& problem, const Args& args, cudaStream_t stream, const char* name) {
  using block = matmul_block<Tile, A, Bs, Epilogue>;
  constexpr int shared_without_asking = 48 * 1024;
  const matmul_extents& e = problem.extents;
  const std::int64_t columns = num_tiles(e.n, Tile::n), rows = num_tiles(e.m, Tile::m),
                     limit = (std::int64_t(1) << 31) - 1;
  if (columns > limit || rows > limit / columns || e.batch > limit / (rows * columns))
    detail::check(cudaErrorInvalidConfiguration, "matmul of more than 2^31 - 1 tiles", name);
  problem.scheduler = tile_scheduler::of<Tile>(e);

  void (*const kernel)(Args, matmul_problem<A, Bs, Epilogue>) = &matmul_kernel<Tile, A, Bs, Epilogue, Args>;
  const void* const function = reinterpret_cast<const void*>(kernel);
  if constexpr (block::shared_bytes > shared_without_asking) {
    static constinit sinter::detail::atomic_number<std::uint64_t> asked{0};
    detail::allow_shared_memory(function, block::shared_bytes, asked, name);
  }
  void* parameters[] = {const_cast<Args*>(&args), &problem};
  detail::check(cudaLaunchKernel(function, dim3(problem.scheduler.total), dim3(Tile::threads), parameters,
                                 block::shared_bytes, stream),
                "cudaLaunchKernel", name);
}

// The bodies arrive deduced, so that the kernel's name spells them and not how they were computed.
template <matmul_extents Known, class... A, class... B, class... Epilogue, class Args>
void launch_matmul(body<A...>, bodies<B...> bs, body<Epilogue...>, const Args& args, const matmul_extents& e,
                   cudaStream_t stream, const char* name) {
  using dtype = typename prologue_facts<body<A...>>::dtype;
  using choice = tiles<dtype, sizeof...(B)>;
  using large = typename choice::large;
  constexpr int width = matmul_block<large, body<A...>, bodies<B...>, body<Epilogue...>>::end::width;
  auto problem =
      classify_problem<width>(body<A...>{}, bs, body<Epilogue...>{}, args, e, std::index_sequence_for<B...>{});
  constexpr bool may_occupy = occupies<large>(filled(Known, std::int64_t(1) << 20)),
                 always_occupies = occupies<large>(filled(Known, 1));
  if constexpr (may_occupy)
    if (always_occupies || occupies<large>(e)) return launch_tiles<large>(problem, args, stream, name);
  if constexpr (!always_occupies) launch_tiles<typename choice::small>(problem, args, stream, name);
}

template <class... B0>
auto spell(bodies<body<B0...>>) {
  return bodies<body<B0...>>{};
}
template <class... B0, class... B1>
auto spell(bodies<body<B0...>, body<B1...>>) {
  return bodies<body<B0...>, body<B1...>>{};
}

}  // namespace mm

/// Epilogue(prologue(A) x prologue(B) ...) for every element of the result; `name` is the kernel's, for errors.
/// Without elements nothing is launched; without k the accumulators are zero. Extents that are Known (the others are
/// negative) save the user the compilation of a tile that cannot be chosen.
template <class ABody, class BBodies, class Epilogue, matmul_extents Known = matmul_extents{-1, -1, -1, -1}, class Args>
void matmul(const Args& args, const matmul_extents& extents, cudaStream_t stream, const char* name) {
  if (extents.batch <= 0 || extents.m <= 0 || extents.n <= 0) return;
  mm::launch_matmul<Known>(ABody{}, mm::spell(BBodies{}), Epilogue{}, args, extents, stream, name);
}

}  // namespace sinter::cuda
