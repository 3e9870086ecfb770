// The host kernel of a group without reductions: one loop over x in blocks, on all cores.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/body.hpp"
#include "sinter/kernels/host/evaluate.hpp"
#include "sinter/kernels/host/parallel.hpp"

namespace sinter::cpu {

namespace detail {

/// Elements of one piece of work. A piece of some ten microseconds hides what it costs to hand one out (about one).
inline constexpr std::int64_t piece_elements = 16384;

/// Body for x in [first, last); first is a multiple of the evaluator's lanes.
template <class Body, class Args>
void pointwise_between(const Args& args, std::int64_t first, std::int64_t last) {
  using evaluator = detail::evaluator<Body, loop_var::x, Args>;
  static_assert(piece_elements % evaluator::lanes == 0);
  evaluator e(args);
  for (std::int64_t x = first; x < last; x += evaluator::lanes) {
    e.seat(x, 0, last - x < evaluator::lanes ? static_cast<int>(last - x) : evaluator::lanes);
    e.template rows<0>();
  }
}

}  // namespace detail

/// Evaluates Body for every x in [0, args.numel). `threads`: at most so many; 0 is one per core.
template <class Body, class Args>
void pointwise(const Args& args, int threads = 0) {
  static_assert(body_facts<Body>::num_phases == 0,
                "sinter::cpu::pointwise: the body has a loop over r; sinter::cpu::reduction runs such bodies");
  parallel_for(0, args.numel, detail::piece_elements, threads, [&args](std::int64_t first, std::int64_t last) {
    detail::pointwise_between<Body>(args, first, last);
  });
}

}  // namespace sinter::cpu
