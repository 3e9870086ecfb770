// The block of lanes at which an evaluator sits, and the memory that an index expression walks along it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/body.hpp"
#include "sinter/kernels/host/lanes.hpp"
#include "sinter/kernels/host/layout.hpp"
#include "sinter/kernels/host/runs.hpp"
#include "sinter/kernels/host/width.hpp"

SINTER_WIDE_VECTORS

namespace sinter::cpu::detail {

/// `count` lanes of V from (x, r). Aligned: from a multiple of Lanes.
template <class Args, loop_var V, int Lanes, bool Aligned>
class block {
 public:
  static constexpr loop_var lane_variable = V;
  static constexpr int lanes = Lanes;

  explicit block(const Args& args) : args_(args) {}

  void seat(std::int64_t x, std::int64_t r, int count) {
    x_ = x;
    r_ = r;
    count_ = count;
  }

 protected:
  template <class At>
  static constexpr bool is_contiguous = lane_step<At>::of(V, Lanes, Aligned) == 1;

  template <class At>
  std::int64_t offset() const {  // unsigned: a division of what is not negative needs no correction
    return static_cast<std::int64_t>(at_facts<At>::template offset<std::uint64_t>(
        static_cast<std::uint64_t>(x_), static_cast<std::uint64_t>(r_), args_.sizes));
  }
  /// f as for_runs calls it; a Shortest of 0 is for those who need steps.
  template <class At, int Shortest = short_run, class F>
  [[gnu::always_inline]] void runs(F f) const {
    for_runs<At, V, Lanes, Aligned, Shortest>(x_, r_, count_, args_.sizes, f);
  }
  /// f(lane, offset), in order.
  template <class At, class F>
  void one_by_one(F f) const {
    runs<At>([f](int first, int count, std::int64_t offset, auto step) {
      for (int i = 0; i < count; ++i) f(first + i, offset + along(step, i));
      keep_stores();
    });
  }

  const Args& args_;
  std::int64_t x_ = 0, r_ = 0;
  int count_ = 0;
};

}  // namespace sinter::cpu::detail

SINTER_END_WIDE_VECTORS
