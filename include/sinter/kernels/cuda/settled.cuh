// What a kernel reads before the one in front of it has ended: memory that is settled (run/settled.hpp).
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/kernels/cuda/combine.cuh"
#include "sinter/kernels/split.hpp"

namespace sinter::cuda::detail {

/// Which statements of a body have to wait, for memory that is not settled or because they write, and which are loads
/// of elements that need not, or gathers whose index is one of those.
template <class Body, class Args>
struct settled_facts;
template <class... S, class Args>
struct settled_facts<body<S...>, Args> {
  struct table {
    bool waits[sizeof...(S) + 1]{}, loads[sizeof...(S) + 1]{};
    bool gathers = false;  // is any of those loads a gather
  };
  static constexpr table facts = [] {
    using facts = body_facts<body<S...>>;
    constexpr touch touches[] = {touch_of<S>::at(loop_var::r, 1)..., touch{}};
    table t;
    for (int s = 0; s < static_cast<int>(sizeof...(S)); ++s) {
      const auto& info = facts::facts.info[s];
      const int slot = touches[s].slot;
      const bool settled = slot >= 0 && slot < 64 && (Args::settled >> slot & 1) != 0;
      bool waits = info.kind == statement_kind::store || (slot >= 0 && !settled);
      bool load = info.kind == statement_kind::source && facts::where(s) == scope::element && settled;
      for (int operand : info.operands) {
        waits = waits || (operand >= 0 && t.waits[operand]);
        load = load && (operand < 0 || t.loads[operand]);
      }
      t.waits[s] = waits, t.loads[s] = load;
      t.gathers = t.gathers || (load && touches[s].gather);
    }
    return t;
  }();
};

/// The loads of elements that need not wait, and the other elements of the only phase.
template <class Body, class Args>
struct settled_loads {
  static constexpr bool select(int s) { return settled_facts<Body, Args>::facts.loads[s]; }
};
template <class Body, class Args>
struct elements_beside_settled {
  static constexpr bool select(int s) {
    return elements_of_phase<Body, 0>::select(s) && !settled_loads<Body, Args>::select(s);
  }
};

/// Is a row's first tile gathered before the kernel in front has ended?
template <class Body, class Args>
inline constexpr bool gathers_ahead =
    [] { return settled_facts<Body, Args>::facts.gathers && sinter::detail::split_facts<Body>::can_split; }();

/// Are columns folded before the kernel in front has ended? Nothing that is folded has to wait then (run/settled.hpp);
/// what follows does, and some row statements may.
template <class Args>
inline constexpr bool folds_ahead = Args::settled != 0;
template <class Body, class Args, bool Waits>
struct rows_before_fold {
  static constexpr bool select(int s) {
    return rows_of_phase<Body, 0>::select(s) && settled_facts<Body, Args>::facts.waits[s] == Waits;
  }
};

}  // namespace sinter::cuda::detail
