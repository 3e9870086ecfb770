// Scans on the host. A row falls into chunks as it does for a reduction; an element's value is the fold of the chunks
// before its own, combined with the fold inside it, so that it does not depend on how many threads share the row.
// Which chunks there are and who folds them is reduction.hpp's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "sinter/base/owned.hpp"
#include "sinter/kernels/body.hpp"
#include "sinter/kernels/host/lanes.hpp"
#include "sinter/kernels/host/layout.hpp"
#include "sinter/kernels/host/parallel.hpp"
#include "sinter/kernels/host/width.hpp"

SINTER_WIDE_VECTORS

namespace sinter::cpu::detail {

/// What one scan has folded: the chunks before, and this chunk so far. A state for each row.
template <int I, class Statement, int Rows>
struct scan_slot {};
template <int I, class Op, class T, class Result, int A, int Rows>
struct scan_slot<I, scan<Op, T, Result, A>, Rows> {
  using state = typename Op::template state<compute_t<T>>;
  alignas(64) state before[Rows];
  alignas(64) state inside[Rows];

  static state init() { return Op::template init<compute_t<T>>(); }
  static void step(state& s, compute_t<T> value, std::int64_t r) { Op::template step<compute_t<T>>(s, value, r); }
  static state combine(state a, state b) { return Op::template combine<compute_t<T>>(a, b); }
  static compute_t<Result> finish(state s) {
    return static_cast<compute_t<Result>>(Op::template finish<compute_t<T>>(s));
  }

  void begin_row() {
    for (state& s : before) s = init();
  }
  void begin_chunk() {
    for (state& s : inside) s = init();
  }
  void end_chunk() {
    for (int i = 0; i < Rows; ++i) before[i] = combine(before[i], inside[i]);
  }
  /// The chunk `next` begins where this one ends.
  void lead(scan_slot& next) const {
    for (int i = 0; i < Rows; ++i) next.before[i] = combine(before[i], inside[i]);
  }
};

template <class Indices, class Body, int Rows>
struct scans_of;
template <int... I, class... S, int Rows>
struct scans_of<std::integer_sequence<int, I...>, body<S...>, Rows> : scan_slot<I, S, Rows>... {
  void begin_row() {
    (each<I, S>([](auto& slot) { slot.begin_row(); }), ...);
  }
  void begin_chunk() {
    (each<I, S>([](auto& slot) { slot.begin_chunk(); }), ...);
  }
  void end_chunk() {
    (each<I, S>([](auto& slot) { slot.end_chunk(); }), ...);
  }
  void lead(scans_of& next) {
    (each<I, S>([&](auto& slot) { slot.lead(next); }), ...);
  }

 private:
  template <int N, class Statement, class F>
  void each(F f) {
    if constexpr (statement_facts<Statement>::info.kind == statement_kind::scan)
      f(static_cast<scan_slot<N, Statement, Rows>&>(*this));
  }
};
template <int N, class Statement, int Rows>
scan_slot<N, Statement, Rows>& state_of(scan_slot<N, Statement, Rows>& slot, Statement) {
  return slot;
}

/// The scan's values for the block of lanes from r on. Lanes along r: runs of the block are scanned side by side, since
/// a step waits for the one before, then each begins where the one before ended.
template <loop_var V, int Lanes, class Scan, class Operand, class Value>
void scan_block(Scan& scan, Operand operand, Value* out, std::int64_t r, int count) {
  using state = typename Scan::state;
  if constexpr (V == loop_var::x) {
    for_lanes(count, [&scan, operand, out, r](int i) {
      Scan::step(scan.inside[i], operand(i), r);
      out[i] = Scan::finish(Scan::combine(scan.before[i], scan.inside[i]));
    });
  } else {
    constexpr int length = 32, runs = Lanes / length;
    alignas(64) state local[Lanes];
    state total[runs];
    for (state& s : total) s = Scan::init();
    if (count == Lanes) {
      for (int j = 0; j < length; ++j)
        for (int k = 0; k < runs; ++k) {
          const int i = k * length + j;
          Scan::step(total[k], operand(i), r + i);
          local[i] = total[k];
        }
    } else {
      for (int i = 0; i < count; ++i) {
        Scan::step(total[i / length], operand(i), r + i);
        local[i] = total[i / length];
      }
    }
    for (int first = 0; first < count; first += length) {
      const state start = Scan::combine(scan.before[0], scan.inside[0]);
      for_lanes(count - first < length ? count - first : length, [&local, start, out, first](int i) {
        out[first + i] = Scan::finish(Scan::combine(start, local[first + i]));
      });
      scan.inside[0] = Scan::combine(scan.inside[0], total[first / length]);
    }
  }
}

/// Does phase P scan? Does one of its scans need another one? Then chunks cannot be folded ahead.
template <class Body, int P>
struct scan_phase {
  static constexpr auto& facts = body_facts<Body>::facts;
  static constexpr bool is_scan(int s) { return facts.info[s].kind == statement_kind::scan; }
  static constexpr bool any = [] {
    bool found = false;
    for (int s = 0; s < Body::size; ++s) found = found || (body_facts<Body>::needed(P, s) && is_scan(s));
    return found;
  }();
  static constexpr bool nested = [] {
    bool after[Body::size + 1] = {}, found = false;
    for (int s = 0; s < Body::size; ++s)
      for (int operand : facts.info[s].operands) {
        if (operand < 0 || facts.where[operand] != scope::element) continue;
        after[s] = after[s] || after[operand] || is_scan(operand);
        found = found || (after[s] && is_scan(s) && body_facts<Body>::needed(P, s));
      }
    return found;
  }();
};

/// What each chunk of the rows at x, where `e` sits, begins with, folded ahead by all threads; null where there is no
/// memory for it.
template <int P, class Evaluator, class Args>
sinter::detail::heap_array<typename Evaluator::scan_states> fold_ahead(const Evaluator& e, const Args& args,
                                                                       std::int64_t x, int rows, std::int64_t chunk,
                                                                       std::int64_t chunks, int threads) {
  using states = typename Evaluator::scan_states;
  constexpr bool along_r = Evaluator::lane_variable == loop_var::r;
  constexpr std::int64_t block = along_r ? Evaluator::lanes : 1;
  sinter::detail::heap_array<states> at(new (std::nothrow) states[static_cast<std::size_t>(chunks)]);
  if (!at) return at;
  parallel_for(0, chunks, 1, threads, [&](std::int64_t c, std::int64_t) {
    Evaluator own(args);
    own.seat(x, 0, along_r ? 1 : rows);
    own.template copy_rows<P>(e);
    own.scans().begin_row();
    own.scans().begin_chunk();
    const std::int64_t last = c + 1 < chunks ? (c + 1) * chunk : args.rnumel;
    for (std::int64_t r = c * chunk; r < last; r += block) {
      own.seat(x, r, along_r ? static_cast<int>(last - r < block ? last - r : block) : rows);
      own.template element_values<P>();
    }
    at.get()[c] = own.scans();
  });
  for (std::int64_t c = 1; c < chunks; ++c) at.get()[c - 1].lead(at.get()[c]);
  return at;
}

}  // namespace sinter::cpu::detail

SINTER_END_WIDE_VECTORS
