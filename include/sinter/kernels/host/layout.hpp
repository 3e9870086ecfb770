// Where each value of a body lives while a block of it is evaluated on the host: a constant per (body, lane variable).
// How the values are computed is evaluate.hpp's matter.
//
// A block is up to `lanes` consecutive values of one index variable, the lane variable; the other one stands still.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>

#include "sinter/base/op.hpp"
#include "sinter/kernels/body.hpp"
#include "sinter/kernels/host/widening.hpp"

namespace sinter::cpu::detail {

using sinter::detail::at_facts;
using sinter::detail::resolve;
using sinter::detail::statement_facts;
using sinter::detail::statement_info;
using sinter::detail::statement_kind;
using sinter::detail::term_facts;

enum class residence : unsigned char {
  none,     // no value
  uniform,  // one value for all lanes
  lanes,    // an array, one per lane
  memory,   // the tensor itself: contiguous, no conversion, read where it is used
  kept,     // one per element of the row, computed in its own phase and read again in later ones
  inlined   // no place: computed where its one user computes
};

/// The step of an offset from lane to lane, where it is a constant. `aligned`: blocks start at multiples of `lanes`.
template <class At>
struct lane_step;
template <long Offset, class... Terms>
struct lane_step<at<Offset, Terms...>> {
  static constexpr bool plain([[maybe_unused]] loop_var v) {
    return ((term_facts<Terms>::variable != v ||
             (term_facts<Terms>::div == 1 && term_facts<Terms>::mod == 0 && !is_dynamic(term_facts<Terms>::coef))) &&
            ... && true);
  }
  static constexpr long of(loop_var v, int lanes, bool aligned) {
    using facts = at_facts<at<Offset, Terms...>>;
    return aligned || plain(v) ? facts::step(v, lanes) : facts::irregular;
  }
};

/// Whether a condition on an index is the same for all lanes of a block, wherever one starts.
template <class Statement>
struct steadiness {
  static constexpr bool holds(loop_var, int) { return true; }
};
template <class At, long Low, long High>
struct steadiness<inside<At, Low, High>> {
  static constexpr bool holds(loop_var v, int lanes) {
    using facts = at_facts<At>;
    const long step = facts::step(v, lanes);
    const bool bounded = !is_dynamic(Low) && !is_dynamic(High) && Low % lanes == 0 && High % lanes == 0;
    return step == 0 || (step == 1 && bounded && facts::aligned(v, lanes));
  }
};
/// Whether what a statement reads or computes is the same for all lanes of a block, although its index expression uses
/// the lane variable.
template <class Statement, loop_var V, int Lanes, bool Aligned>
inline constexpr bool stands_still = false;
template <class At, long Low, long High, loop_var V, int Lanes, bool Aligned>
inline constexpr bool stands_still<inside<At, Low, High>, V, Lanes, Aligned> =
    Aligned&& steadiness<inside<At, Low, High>>::holds(V, Lanes);
template <int Slot, class T, class At, int Mask, loop_var V, int Lanes, bool Aligned>
inline constexpr bool stands_still<load<Slot, T, At, Mask>, V, Lanes, Aligned> = lane_step<At>::of(V, Lanes, Aligned) ==
                                                                                 0;
template <class Body>
struct conditions;
template <class... S>
struct conditions<body<S...>> {
  static constexpr bool are_steady(loop_var v, int lanes) { return (steadiness<S>::holds(v, lanes) && ...); }
};

/// A block's arrays have to stay in the L1 cache (32 KiB and more on the hosts of today), so a long body gets fewer
/// lanes; below 64 the cost of a loop's start shows, and in the folds of a row below 512. Without a fold shorter blocks
/// are better: memory is read, computed with and written at the same time, and parts of a concatenation need no masks.
inline constexpr int most_lanes = 512;
template <class Body>
inline constexpr int lanes_of = [] {
  int lanes = Body::size <= 16 ? most_lanes : Body::size <= 24 ? 256 : Body::size <= 64 ? 128 : 64;
  if (body_facts<Body>::num_phases > 0) return lanes;
  if (lanes > 256) lanes = 256;
  for (int shorter = lanes; shorter >= 64; shorter /= 2)
    if (conditions<Body>::are_steady(loop_var::x, shorter)) return shorter;
  return lanes;
}();

/// Ops that do not work on arrays (roots, quick.hpp's, folds of pairs) and whose code is vector code: a loop around any
/// other is computed from arrays to arrays, and the loops before and after it stay vectors.
constexpr bool is_simple(op o, dtype t) {
  switch (o) {
    case op::sqrt:
    case op::rsqrt:
    case op::argmax:
    case op::argmin:
    case op::m2:
    case op::sumexp:
    case op::logsumexp:
      return false;
    default:
      return is_vector_code(o, t);
  }
}

/// The pointer that a statement reads through; -1: none.
template <class Statement>
inline constexpr int slot_read = -1;
template <int Slot, class T, class At, int Mask>
inline constexpr int slot_read<load<Slot, T, At, Mask>> = Slot;
template <int Slot, class T, class At, int Index, long Coef, long Bound, int Mask>
inline constexpr int slot_read<gather_load<Slot, T, At, Index, Coef, Bound, Mask>> = Slot;

/// The size of what a load reads.
template <class Statement>
inline constexpr std::int64_t storage_bytes = 0;
template <int Slot, class T, class At, int Mask>
inline constexpr std::int64_t storage_bytes<load<Slot, T, At, Mask>> = sizeof(T);

/// What the layout must know of a statement beyond statement_info.
struct residence_hints {
  bool in_memory = false;  // a contiguous load that is read where it lies
  bool converts = false;   // a load whose storage type is not its compute type
  bool is_simple = true;
  bool is_own = false;  // in memory that no store reaches
  bool is_costly = false;
};
template <class Statement, loop_var V, int Lanes, bool Aligned>
inline constexpr residence_hints hints_of{};
template <int Slot, class T, class At, int Mask, loop_var V, int Lanes, bool Aligned>
inline constexpr residence_hints hints_of<load<Slot, T, At, Mask>, V, Lanes, Aligned>{
    lane_step<At>::of(V, Lanes, Aligned) == 1 && !widens_runs<T>, !std::is_same_v<T, compute_t<T>>};
template <int Which, class T, loop_var V, int Lanes, bool Aligned>
inline constexpr residence_hints hints_of<accumulator<Which, T>, V, Lanes, Aligned>{
    std::is_floating_point_v<compute_t<T>>, false, true, true};  // integers accumulate in another type
template <class Op, class T, class Result, int A, int B, int C, loop_var V, int Lanes, bool Aligned>
inline constexpr residence_hints hints_of<compute<Op, T, Result, A, B, C>, V, Lanes, Aligned>{
    false, false, is_simple(Op::id, dtype_of<compute_t<T>>), false, is_costly(Op::id)};
template <class Op, class T, class Result, int A, loop_var V, int Lanes, bool Aligned>
inline constexpr residence_hints hints_of<reduce<Op, T, Result, A>, V, Lanes, Aligned>{
    false, false, is_simple(Op::id, dtype_of<compute_t<T>>)};

template <class Op, class T, class Result, int A, loop_var V, int Lanes, bool Aligned>
inline constexpr residence_hints hints_of<scan<Op, T, Result, A>, V, Lanes, Aligned>{false, false, false};

/// Most statements computed in one loop: past it registers run out (16 vectors on x86 without AVX-512).
inline constexpr int max_inlined = 8;

template <class Body, loop_var V, bool Aligned>
struct layout;
template <class... S, loop_var V, bool Aligned>
struct layout<body<S...>, V, Aligned> {
  using body_type = body<S...>;
  static constexpr int size = sizeof...(S);
  static constexpr int lanes = lanes_of<body_type>;

  struct table {
    residence where[size + 1]{};
    bool varies[size + 1]{};  // from lane to lane
  };

  static constexpr table facts = [] {
    table t{};
    const auto& body = body_facts<body_type>::facts;
    const residence_hints hints[] = {hints_of<S, V, lanes, Aligned>..., residence_hints{}};
    const bool is_still[] = {stands_still<S, V, lanes, Aligned>..., false};
    int uses[size + 1] = {}, user[size + 1] = {}, weight[size + 1] = {}, read_at[size + 1] = {};
    bool costly[size + 1] = {};
    for (int s = 0; s < size; ++s) {
      const statement_info& info = body.info[s];
      t.varies[s] = V == loop_var::x ? info.reads_x || info.kind == statement_kind::reduce : info.reads_r;
      if (is_still[s]) t.varies[s] = false;
      for (int operand : info.operands)
        if (operand >= 0) {
          if (t.varies[operand] && info.kind != statement_kind::reduce) t.varies[s] = true;
          ++uses[operand];
          user[operand] = s;
        }
    }
    for (int s = 0; s < size; ++s) {
      const auto kind = body.info[s].kind;
      if (kind == statement_kind::store || kind == statement_kind::yield) continue;
      t.where[s] = t.varies[s] ? residence::lanes : residence::uniform;
      costly[s] = costly[s] || hints[s].is_costly;
      if (V == loop_var::r && (costly[s] || hints[s].converts) && body.where[s] == scope::element)
        for (int p = body.phase[s] + 1; p < body.num_phases; ++p)
          if (body_facts<body_type>::needed(p, s) && uses[s] != 1) t.where[s] = residence::kept;
      if (kind != statement_kind::compute || !t.varies[s] || uses[s] != 1) continue;
      // Inlined: one user that reads it once, lane by lane, in the same loop.
      const int u = user[s];
      const auto used_by = body.info[u].kind;
      const bool lane_by_lane = used_by != statement_kind::source &&
                                (used_by != statement_kind::store || body.info[u].operands[0] == s) &&
                                (t.varies[u] || used_by == statement_kind::reduce || used_by == statement_kind::store);
      const bool same_loop =
          used_by == statement_kind::reduce ? body.where[s] == scope::element : body.where[s] == body.where[u];
      ++weight[s];
      if (lane_by_lane && same_loop && body.phase[s] == body.phase[u] && hints[s].is_simple && hints[u].is_simple &&
          weight[u] + weight[s] <= max_inlined) {
        t.where[s] = residence::inlined;
        weight[u] += weight[s];
        costly[u] = costly[u] || costly[s];
      }
    }
    // In memory: where nothing can have been stored over it by the time it is read.
    for (int s = size - 1; s >= 0; --s) {
      for (int operand : body.info[s].operands)
        if (operand >= 0) {
          const int at = t.where[s] == residence::inlined ? read_at[s] : s;
          if (at > read_at[operand]) read_at[operand] = at;
        }
      const bool stays = body.where[s] == scope::element || !body.has_reduction;
      if (t.where[s] != residence::lanes || !hints[s].in_memory || !stays) continue;
      if (body.info[s].kind == statement_kind::source && body.info[s].operands[0] >= 0 &&
          t.varies[body.info[s].operands[0]])
        continue;  // here and there only
      if (hints[s].converts && (uses[s] != 1 || !hints[user[s]].is_simple)) continue;
      bool overwritten = false;
      for (int store = s + 1; store < read_at[s]; ++store)
        if (body.info[store].kind == statement_kind::store && body.where[store] == body.where[s] && !hints[s].is_own)
          overwritten = true;  // a row's results are not stored between its blocks
      if (!overwritten) t.where[s] = residence::memory;
    }
    return t;
  }();
};

}  // namespace sinter::cpu::detail
