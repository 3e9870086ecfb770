// The host kernel of a group with reductions: phases over r, then the tail, as body_facts describes them.
// The order in which a row is summed depends on rnumel and the body alone, never on the number of threads: a row falls
// into chunks, each is folded by lanes, and chunks are combined pairwise (which also keeps long sums accurate).
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <new>

#include "sinter/base/orientation.hpp"
#include "sinter/base/owned.hpp"
#include "sinter/kernels/body.hpp"
#include "sinter/kernels/host/chunks.hpp"
#include "sinter/kernels/host/columns.hpp"
#include "sinter/kernels/host/evaluate.hpp"
#include "sinter/kernels/host/parallel.hpp"
#include "sinter/kernels/host/pointwise.hpp"
#include "sinter/kernels/host/width.hpp"

SINTER_WIDE_VECTORS

namespace sinter::cpu {

namespace detail {

/// Whether the last phase of a row comes late, block by block beside the next row's: it only writes, and the phases
/// before take longer than their memory, having exponentials or folds that are not one step per value.
template <class Evaluator, class Body>
inline constexpr bool writes_late = false;
template <class Evaluator, class... S>
inline constexpr bool writes_late<Evaluator, body<S...>> = [] {
  using facts = typename Evaluator::facts;
  constexpr int last = facts::num_phases - 1;
  if (last < 1 || facts::has_scan || Evaluator::lane_variable != loop_var::r) return false;
  const residence_hints hints[] = {hints_of<S, loop_var::r, Evaluator::lanes, true>...};
  bool takes_long = false;
  for (int s = 0; s < facts::size; ++s) {
    const auto kind = facts::facts.info[s].kind;
    const bool is_fold = kind == statement_kind::reduce;
    if (kind == statement_kind::yield) return false;  // for a matmul
    if (facts::phase(s) < last) takes_long = takes_long || (is_fold ? !hints[s].is_simple : hints[s].is_costly);
    else if (is_fold) return false;
  }
  return takes_long;
}();
/// Whether the last phase of a row reads tensors along it, not just what is kept.
template <class Evaluator, class Body>
inline constexpr bool reads_late = false;
template <class Evaluator, class... S>
inline constexpr bool reads_late<Evaluator, body<S...>> = [] {
  using facts = typename Evaluator::facts;
  bool read[facts::size + 1]{};
  for (int s = facts::size - 1; s >= 0; --s) {
    const auto& info = facts::facts.info[s];
    const bool is_kept = Evaluator::layout_type::facts.where[s] == residence::kept;
    const bool is_late = facts::where(s) == scope::element && facts::phase(s) == facts::num_phases - 1;
    if (is_kept || !(is_late || read[s])) continue;
    if (info.kind == statement_kind::source && info.reads_x && info.reads_r) return true;
    for (int operand : info.operands)
      if (operand >= 0) read[operand] = true;
  }
  return false;
}();
/// A longer row, one that waits beside it to be written, one that is asked for and what is kept would fill more than
/// half of an L2 cache of 1 MiB. What is kept alone may be as long as ever.
template <class Evaluator>
inline constexpr std::int64_t longest_row_in_turn =
    reads_late<Evaluator, typename Evaluator::body_type> ? longest_kept_row / 4 : longest_kept_row;

/// The loop of phase P over r in [first, last), for the rows where `e` sits; its folds go to `into`. The last phase of
/// the row where `late` sits, if any, goes along.
template <int P, class Evaluator>
[[gnu::noinline]] void fold_chunk(Evaluator& e, std::int64_t x, int rows, std::int64_t first, std::int64_t last,
                                  typename Evaluator::finished_folds& into, Evaluator* late = nullptr) {
  constexpr int to_last = Evaluator::facts::num_phases - 1 - P;
  constexpr bool is_late = writes_late<Evaluator, typename Evaluator::body_type>;
  typename Evaluator::running_folds running;
  Evaluator::template clear<P>(running);
  if constexpr (Evaluator::lane_variable == loop_var::r) {
    for (std::int64_t r = first; r < last; r += Evaluator::lanes) {
      const int count = last - r < Evaluator::lanes ? static_cast<int>(last - r) : Evaluator::lanes;
      if constexpr (is_late && to_last == 1)
        if (late != nullptr) late->write_block(r, count);  // before what is kept of this row takes the place
      e.seat(x, r, count);
      if constexpr (is_late && to_last == 0) e.write_block(r, count);
      else e.template elements<P>(running);
    }
    Evaluator::template collect<P>(running, into, last - first);
  } else {
    for (std::int64_t r = first; r < last; ++r) {
      e.seat(x, r, rows);
      e.template elements<P>(running);
    }
    Evaluator::template collect<P>(running, into, rows);
  }
}

/// Phase P of the rows at x: row statements, loop, results. `threads` > 1 shares the loop between threads. `late` as
/// above.
template <int P, class Evaluator, class Args>
void run_phase(Evaluator& e, const Args& args, std::int64_t x, int rows, int threads, Evaluator* late = nullptr) {
  using folds = typename Evaluator::finished_folds;
  using scans = scan_phase<typename Evaluator::body_type, P>;
  constexpr bool along_r = Evaluator::lane_variable == loop_var::r;
  e.seat(x, 0, along_r ? 1 : rows);
  e.template rows<P>();
  const std::int64_t chunk = chunk_length(args.rnumel, Evaluator::lanes, along_r);
  const std::int64_t chunks = args.rnumel <= chunk ? 1 : (args.rnumel + chunk - 1) / chunk;
  const auto end_of = [&](std::int64_t c) { return c + 1 < chunks ? (c + 1) * chunk : args.rnumel; };
  chunk_tree<Evaluator, P> tree(rows);
  constexpr int worth_sharing = scans::any ? 3 : 2;  // chunks of scans are folded twice then
  const bool shared = threads >= worth_sharing && chunks > 1 && !scans::nested;
  sinter::detail::heap_array<typename Evaluator::scan_states> before;  // each chunk
  if constexpr (scans::any) {
    e.scans().begin_row();
    if (shared) before = fold_ahead<P>(e, args, x, rows, chunk, chunks, threads);
  }
  const bool may_share = shared && (!scans::any || before);
  folds* parts = may_share ? new (std::nothrow) folds[chunks] : nullptr;
  if (parts != nullptr) {
    parallel_for(0, chunks, 1, threads, [&](std::int64_t c, std::int64_t) {
      Evaluator own(args);
      own.seat(x, 0, along_r ? 1 : rows);
      own.template copy_rows<P>(e);
      if constexpr (scans::any) own.scans() = before.get()[c];
      if constexpr (scans::any) own.scans().begin_chunk();
      fold_chunk<P>(own, x, rows, c * chunk, end_of(c), parts[c]);
    });
    for (std::int64_t c = 0; c < chunks; ++c) tree.add(parts[c]);
    delete[] parts;
  } else {
    folds part;
    for (std::int64_t c = 0; c < chunks; ++c) {
      if constexpr (scans::any) e.scans().begin_chunk();
      fold_chunk<P>(e, x, rows, c * chunk, end_of(c), part, late);
      if constexpr (scans::any) e.scans().end_chunk();
      tree.add(part);
    }
  }
  e.seat(x, 0, along_r ? 1 : rows);
  e.template finish<P>(tree.total());
}

/// Phases 0 … Phases - 1.
template <int Phases, class Evaluator, class Args>
void run_phases(Evaluator& e, const Args& args, std::int64_t x, int rows, int threads, Evaluator* late = nullptr) {
  if constexpr (Phases > 0) {
    run_phases<Phases - 1>(e, args, x, rows, threads, late);
    run_phase<Phases - 1>(e, args, x, rows, threads, late);
  }
}

template <orientation O>
inline constexpr loop_var lane_variable_of = O == orientation::row ? loop_var::r : loop_var::x;

/// What one piece of work is made of, a unit of neighbouring rows: one (lanes along r) or a block of them (along x).
/// How they are computed is up to those who derive from it.
template <class Evaluator, class Args>
struct unit_of_rows {
  using evaluator = Evaluator;
  const Args& args;
  std::int64_t unit() const { return Evaluator::lane_variable == loop_var::r ? 1 : Evaluator::lanes; }
};

/// All phases.
template <class Body, orientation O, class Args>
struct whole_rows : unit_of_rows<evaluator<Body, lane_variable_of<O>, Args>, Args> {
  using evaluator = detail::evaluator<Body, lane_variable_of<O>, Args>;
  void operator()(evaluator& e, std::int64_t x, int rows, int share) const {
    constexpr int phases = body_facts<Body>::num_phases;
    if (share == 1) e.keep_rows();
    run_phases<phases>(e, this->args, x, rows, share);
    e.seat(x, 0, O == orientation::row ? 1 : rows);
    e.template rows<phases>();
  }
};

/// Rows of up to so many elements are turned: what each of them costs is shared by the lanes.
inline constexpr std::int64_t longest_turned_row = shortest_row_in_chunks;
/// Elements of a unit of them, of which copies stay in the L1 cache.
inline constexpr std::int64_t turned_elements = 8192;

/// Rows of memory, short ones, each in a lane of its own.
template <class Body, class Args>
struct turned_rows : unit_of_rows<evaluator<Body, loop_var::x, Args, false>, Args> {
  using evaluator = detail::evaluator<Body, loop_var::x, Args, false>;
  std::int64_t unit() const {
    constexpr std::int64_t most = evaluator::lanes < square ? evaluator::lanes : square;
    const std::int64_t rows = turned_elements / this->args.rnumel / fold_lanes * fold_lanes;
    return rows < fold_lanes ? fold_lanes : rows < most ? rows : most;
  }
  void operator()(evaluator& e, std::int64_t x, int rows, int) const {
    constexpr int phases = body_facts<Body>::num_phases;
    const int length = static_cast<int>(this->args.rnumel);
    e.turn_loads(x, rows, length);
    e.hold_stores(x, rows, length);
    run_phases<phases>(e, this->args, x, rows, 1);
    e.seat(x, 0, rows);
    e.template rows<phases>();
    e.turn_stores(x, rows, length);
  }
};
/// Whether a body reads or writes such rows.
template <class Body>
inline constexpr bool walks_any_rows = false;
template <class... S>
inline constexpr bool walks_any_rows<body<S...>> = (walks_rows<S> || ...);

/// Whether rows, of Rnumel elements if that is known to the compiler, may be turned, and whether they are at any rate:
/// then there is no other kernel. Of others a few are quicker one by one.
template <class Body, orientation O, long Rnumel>
inline constexpr bool may_turn_rows =
    O == orientation::row&& Rnumel <= longest_turned_row&& walks_any_rows<Body>&& body_facts<Body>::has_reduction &&
    !body_facts<Body>::has_scan;
template <class Body, orientation O, long Rnumel>
inline constexpr bool always_turns_rows = may_turn_rows<Body, O, Rnumel>&& Rnumel > 0 && Rnumel <= 32;
constexpr bool worth_turning(std::int64_t numel, std::int64_t rnumel) {
  return rnumel > 0 && rnumel <= longest_turned_row && numel * 5 >= rnumel;
}

template <class Rows>
std::int64_t num_units(const Rows& rows) {
  return rows.args.numel <= 0 ? 0 : (rows.args.numel - 1) / rows.unit() + 1;
}
/// So many units are worth handing out.
template <class Rows>
std::int64_t units_per_piece(const Rows& rows, int threads) {
  const std::int64_t elements = (rows.args.rnumel < 1 ? 1 : rows.args.rnumel) * rows.unit();
  const std::int64_t least = elements < piece_elements ? piece_elements / elements : 1;
  const std::int64_t share = num_units(rows) / (threads * pieces_per_thread);
  return share < least ? least : share;
}
/// Computes the units in [first, last); each of them is shared between so many threads.
template <class Rows>
void run_units(const Rows& rows, std::int64_t first, std::int64_t last, int share) {
  typename Rows::evaluator e(rows.args);
  const std::int64_t unit = rows.unit();
  if (share == 1) e.pass_rows(last * unit);
  for (std::int64_t u = first; u < last; ++u) {
    const std::int64_t x = u * unit, left = rows.args.numel - x;
    rows(e, x, static_cast<int>(left < unit ? left : unit), share);
  }
}

/// Computes all rows on at most `threads` threads. Where there are fewer units than threads, each one is shared between
/// them.
template <class Rows>
void run_rows(const Rows& rows, int threads) {
  if (threads <= 0) threads = default_threads();
  const std::int64_t units = num_units(rows);
  if (units < threads) return run_units(rows, 0, units, threads);
  parallel_for(0, units, units_per_piece(rows, threads), threads,
               [&rows](std::int64_t first, std::int64_t last) { run_units(rows, first, last, 1); });
}

/// The rows in [first, last), each written while the next one is computed. The memory takes writes only so fast, and a
/// row that is written in one go waits for it, while it has nothing to do as long as the next one is computed.
template <class Evaluator, class Args>
void rows_in_turn(const Args& args, std::int64_t first, std::int64_t last) {
  constexpr int phases = Evaluator::facts::num_phases;
  Evaluator turns[max_turns]{Evaluator(args), Evaluator(args)};
  for (int t = 0; t < max_turns; ++t) {
    turns[t].pass_rows(last, 1);
    turns[t].keep_rows(t);
  }
  Evaluator* late = nullptr;
  for (std::int64_t x = first; x < last; ++x) {
    Evaluator& e = turns[x % max_turns];
    run_phases<phases - 1>(e, args, x, 1, 1, late);
    e.seat(x, 0, 1);
    e.template rows<phases - 1>();
    e.template rows<phases>();
    late = &e;
  }
  for (std::int64_t r = 0; r < args.rnumel; r += Evaluator::lanes)
    late->write_block(r, args.rnumel - r < Evaluator::lanes ? static_cast<int>(args.rnumel - r) : Evaluator::lanes);
}

/// The rows in [first, last) of all of args.numel columns, as memory holds them: as many side by side as are folded at
/// once.
template <class Evaluator, class Args>
void fold_rows(const Args& args, std::int64_t first, std::int64_t last, typename Evaluator::running_folds* sums) {
  constexpr int rows = group_folder<Evaluator>::rows;
  group_folder<Evaluator> group(args);
  // A processor that looks past a page's end follows rows side by side by itself.
  if (rows == 1 || !looks_past_pages) group.pass_columns();
  clear_sums<Evaluator>(args.numel, sums);
  for (std::int64_t r = first; r < last; r += rows) group.fold(r, last - r < rows ? last : r + rows, args.numel, sums);
}

}  // namespace detail

/// Runs Body over args.numel rows of args.rnumel elements each, Rnumel if that is known to the compiler. O says along
/// which index its loads are contiguous; any body is correct in both. An empty row gives the reductions' identities.
template <class Body, orientation O, long Rnumel = -1, class Args>
void reduction(const Args& args, int threads = 0) {
  if (threads <= 0) threads = default_threads();
  constexpr bool always = detail::always_turns_rows<Body, O, Rnumel>;
  if constexpr (detail::may_turn_rows<Body, O, Rnumel>)
    if (always || detail::worth_turning(args.numel, args.rnumel))
      return detail::run_rows(detail::turned_rows<Body, Args>{{args}}, threads);
  if constexpr (!always) {
    using rows = detail::whole_rows<Body, O, Args>;
    using evaluator = typename rows::evaluator;
    if constexpr (O == orientation::column && body_facts<Body>::num_phases == 1 && !detail::scan_phase<Body, 0>::any)
      if (args.numel > evaluator::lanes && args.rnumel > detail::rows_of_chunk(args.rnumel, args.numel) &&
          evaluator(args).has_whole_rows()) {
        const auto fold = [&](std::int64_t first, std::int64_t last, typename evaluator::running_folds* sums) {
          detail::fold_rows<evaluator>(args, first, last, sums);
        };
        return detail::reduce_columns<evaluator>(args, args.rnumel, args.numel, threads, fold);
      }
    if constexpr (detail::writes_late<evaluator, Body>)
      if (args.numel >= threads && args.rnumel <= detail::longest_row_in_turn<evaluator> &&
          evaluator(args).has_streams())
        return parallel_for(
            0, args.numel, detail::units_per_piece(rows{{args}}, threads), threads,
            [&args](std::int64_t first, std::int64_t last) { detail::rows_in_turn<evaluator>(args, first, last); });
    detail::run_rows(rows{{args}}, threads);
  }
}

}  // namespace sinter::cpu

SINTER_END_WIDE_VECTORS
