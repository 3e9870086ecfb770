// The host kernel of several independent loops: the pieces of all of them are handed out together, so that many small
// loops fill all cores. A reduction of few long rows shares each row between threads instead, after the others.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "sinter/kernels/combo.hpp"
#include "sinter/kernels/host/pointwise.hpp"
#include "sinter/kernels/host/reduction.hpp"
#include "sinter/kernels/host/width.hpp"

SINTER_WIDE_VECTORS

namespace sinter::cpu {

namespace detail {

/// One of the loops, whatever its type: units of work in pieces of `grain`.
struct combo_part {
  void (*run)(const void* args, std::int64_t first, std::int64_t last);
  const void* args;
  std::int64_t units, grain;
  bool alone;  // not to be handed out in pieces
  std::int64_t pieces() const { return alone ? 0 : (units + grain - 1) / grain; }
};

template <class Loop>
struct combo_loop;
template <class Body, long Numel>
struct combo_loop<pointwise_loop<Body, Numel>> {
  template <class Args>
  static combo_part part(const Args& args, int) {
    const auto run = [](const void* a, std::int64_t first, std::int64_t last) {
      pointwise_between<Body>(*static_cast<const Args*>(a), first, last);
    };
    return {run, &args, args.numel, piece_elements, false};
  }
  template <class Args>
  static void run_alone(const Args&, int) {}
};
template <class Body, orientation O, long Rnumel, long Numel>
struct combo_loop<reduction_loop<Body, O, Rnumel, Numel>> {
  template <class Args>
  static combo_part part(const Args& args, int threads) {
    using rows =
        std::conditional_t<always_turns_rows<Body, O, Rnumel>, turned_rows<Body, Args>, whole_rows<Body, O, Args>>;
    const auto run = [](const void* a, std::int64_t first, std::int64_t last) {
      run_units(rows{{*static_cast<const Args*>(a)}}, first, last, 1);
    };
    const std::int64_t units = num_units(rows{{args}});
    const bool long_rows = args.rnumel > chunk_length(args.rnumel, rows::evaluator::lanes, O == orientation::row);
    return {run, &args, units, units_per_piece(rows{{args}}, threads), units < threads && long_rows};
  }
  template <class Args>
  static void run_alone(const Args& args, int threads) {
    reduction<Body, O, Rnumel>(args, threads);
  }
};

}  // namespace detail

/// Runs each loop over its arguments. `threads`: at most so many; 0 is one per core.
template <class... Loop, class... Args>
void combo(int threads, const Args&... args) {
  if (threads <= 0) threads = default_threads();
  const detail::combo_part parts[] = {detail::combo_loop<Loop>::part(args, threads)...};
  std::int64_t pieces = 0;
  for (const auto& p : parts) pieces += p.pieces();
  parallel_for(0, pieces, 1, threads, [&](std::int64_t piece, std::int64_t) {
    const detail::combo_part* p = parts;
    for (; piece >= p->pieces(); ++p) piece -= p->pieces();
    const std::int64_t first = piece * p->grain, end = first + p->grain;
    p->run(p->args, first, end < p->units ? end : p->units);
  });
  int i = 0;
  ((parts[i++].alone ? detail::combo_loop<Loop>::run_alone(args, threads) : void()), ...);
}

}  // namespace sinter::cpu

SINTER_END_WIDE_VECTORS
