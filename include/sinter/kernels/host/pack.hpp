// One operand of a host matmul: evaluates its body block by block into panels that the micro kernel reads in order.
// A panel holds `width` neighbouring x (rows of A, columns of B) for all k of a block: panel[k][x].
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <new>
#include <type_traits>

#include "sinter/base/owned.hpp"
#include "sinter/kernels/body.hpp"
#include "sinter/kernels/host/evaluate.hpp"
#include "sinter/kernels/host/micro_kernel.hpp"
#include "sinter/kernels/host/reduction.hpp"

namespace sinter::cpu::detail {

/// Along which index an operand's loads are contiguous: +1 for every load along r, -1 along x.
template <class At>
struct unit_terms;
template <long Offset, class... Terms>
struct unit_terms<at<Offset, Terms...>> {
  static constexpr int votes = ((term_facts<Terms>::div == 1 && term_facts<Terms>::coef == 1
                                     ? (term_facts<Terms>::variable == loop_var::r ? 1 : -1)
                                     : 0) +
                                ... + 0);
};
template <class Statement>
inline constexpr int votes_for_r = 0;
template <int Slot, class T, class At, int Mask>
inline constexpr int votes_for_r<load<Slot, T, At, Mask>> = unit_terms<At>::votes;
template <int Slot, class T, class At, int Index, long Coef, long Bound, int Mask>
inline constexpr int votes_for_r<gather_load<Slot, T, At, Index, Coef, Bound, Mask>> = unit_terms<At>::votes;

template <class Body>
struct operand_facts;
template <class... S>
struct operand_facts<body<S...>> {
  using facts = body_facts<body<S...>>;
  static constexpr loop_var lane_variable = (votes_for_r<S> + ... + 0) >= 0 ? loop_var::r : loop_var::x;
  /// The position of the yield.
  static constexpr int yield = [] {
    for (int s = 0; s < facts::size; ++s)
      if (facts::facts.info[s].kind == statement_kind::yield) return s;
    return -1;
  }();
  static_assert(yield >= 0, "sinter::cpu::matmul: the body of an operand ends in yield_value");
  static constexpr int value = facts::facts.info[yield].operands[0];
  static constexpr bool is_element = facts::where(value) == scope::element;
  static constexpr int phase = facts::phase(yield);
};

/// Evaluates the matrix [extent x depth] per batch that Body describes (x = batch * extent + row, r = k).
template <class Body, class Args>
class operand {
 public:
  using facts = operand_facts<Body>;
  static constexpr loop_var V = facts::lane_variable;
  using evaluator_type = evaluator<Body, V, Args, V == loop_var::r>;
  using results = typename evaluator_type::row_results;

  operand(const Args& args, std::int64_t rows, std::int64_t depth) : args_(args) {
    args_.numel = rows;
    args_.rnumel = depth;
  }

  /// Runs the reductions that the values need, once for every row.
  void prepare(int threads) {
    if constexpr (facts::phase > 0) {
      results_.reset(new results[args_.numel > 0 ? args_.numel : 1]);
      run_rows(reduced_rows{{args_}, results_.get()}, threads);
    }
  }

  /// The phases before the values, and what they leave of each row.
  struct reduced_rows : unit_of_rows<evaluator<Body, V, Args>, Args> {
    results* to;
    void operator()(evaluator<Body, V, Args>& e, std::int64_t x, int rows, int share) const {
      run_phases<facts::phase>(e, this->args, x, rows, share);
      e.export_results(to + x, rows);
    }
  };

  /// Packs `count` x from x0 and `depth` k from k0 (a multiple of the lanes). The last panel is filled up with zeros.
  template <class T>
  void pack(std::int64_t x0, std::int64_t count, std::int64_t k0, std::int64_t depth, int width, T* out) const {
    evaluator_type e(args_);
    const std::int64_t panels = (count + width - 1) / width;
    if (count < panels * width)
      for (T *p = out + (panels - 1) * width * depth, *end = p + width * depth; p < end; ++p) *p = T();
    if constexpr (V == loop_var::r) {
      for (std::int64_t i = 0; i < count; ++i) {
        T* const column = out + i / width * width * depth + i % width;
        start_row(e, x0 + i, k0, 1);
        for (std::int64_t k = 0; k < depth; k += evaluator_type::lanes) {
          const int n = depth - k < evaluator_type::lanes ? static_cast<int>(depth - k) : evaluator_type::lanes;
          e.seat(x0 + i, k0 + k, n);
          evaluate_block(e);
          T* to = column + k * width;
          for (int j = 0; j < n; ++j, to += width) *to = static_cast<T>(e.template value<facts::value>(j));
          keep_stores();
        }
      }
    } else {
      const int step = evaluator_type::lanes / width * width;  // whole panels per block
      for (std::int64_t i = 0; i < count; i += step) {
        const int n = count - i < step ? static_cast<int>(count - i) : step;
        start_row(e, x0 + i, k0, n);
        for (std::int64_t k = 0; k < depth; ++k) {
          e.seat(x0 + i, k0 + k, n);
          evaluate_block(e);
          T* to = out + i * depth + k * width;
          for (int first = 0; first < n; first += width, to += width * depth)
            for_lanes(n - first < width ? n - first : width,
                      [&e, first, to](int j) { to[j] = static_cast<T>(e.template value<facts::value>(first + j)); });
        }
      }
    }
  }

 private:
  void start_row(evaluator_type& e, std::int64_t x, std::int64_t k, int count) const {
    e.seat(x, k, count);
    if constexpr (facts::phase > 0) e.import_results(results_.get() + x);
    e.template rows<-1>();
  }
  static void evaluate_block(evaluator_type& e) {
    if constexpr (facts::is_element) e.template element_values<facts::phase>();
  }

  Args args_;
  sinter::detail::heap_array<results> results_;
};

}  // namespace sinter::cpu::detail
