// sinter as a library of the host benchmarks.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sinter/sinter.hpp>

#include <atomic>

#include "cases.hpp"

namespace bench {

/// Gives each thread of the pool a core of its own, once, as OMP_PROC_BIND gives the peers': on a machine that does
/// something else besides both would share one for milliseconds, and a call would take twice as long.
inline void bind_threads() {
  [[maybe_unused]] static const bool done = [] {
    std::atomic<int> here{0};
    si::cpu::parallel_for(0, threads, 1, threads, [&here](std::int64_t piece, std::int64_t) {
      for (++here; here < threads;) sched_yield();  // or one thread would take both pieces
      bind_to_core(static_cast<int>(piece));
    });
    return true;
  }();
}

struct sinter_library {
  static constexpr const char* name = "sinter";

  template <class Function, class... I, class... O>
  static void run(Function, in<I...>, out<O...>, const matrix<typename I::element>&... inputs,
                  const matrix<typename O::element>&... outputs) {
    bind_threads();
    static constexpr auto fused = si::fuse<Function::options, typename I::tensor...>(Function{});
    fused(si::host_executor{threads}, I::view(inputs)..., O::view(outputs)...);
  }
};

}  // namespace bench
