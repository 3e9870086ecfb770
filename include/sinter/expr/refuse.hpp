// What cannot be computed, in sentences. Each is a function that is only instantiated to fail: its template arguments
// are the numbers involved, which compilers print beside the sentence. Who calls one sets trace::refused and goes on
// with a harmless expression, so that one mistake is one error. Pointwise ops and reductions have theirs where they are
// defined. SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/base/dtype.hpp"
#include "sinter/base/op.hpp"
#include "sinter/expr/axes.hpp"

namespace sinter::detail {

// ---- views
template <int Rank, long... Order>
constexpr void permute_order() {
  static_assert(sizeof...(Order) == Rank && distinct_axes<Rank>(axis_list<Order...>{}),
                "permute<order...>(x): this is not a permutation; name every dimension of x exactly once");
}
template <int Rank, long A, long B>
constexpr void transpose_axes() {
  static_assert(normalize_axis(A, Rank) >= 0 && normalize_axis(B, Rank) >= 0,
                "transpose<a, b>(x): an axis is out of range; x needs at least two dimensions, and axes run from -rank "
                "to rank - 1");
}
template <number Elements, long... Sizes>
constexpr void reshape_sizes() {
  constexpr int inferred = (0 + ... + (Sizes == infer ? 1 : 0));
  constexpr bool sizes_are_fine = ((Sizes >= infer) && ...) && sizeof...(Sizes) <= max_rank;
  static_assert(
      sizes_are_fine,
      "reshape<sizes...>(x): a size is negative, or there are more than eight; use infer for one that follows");
  static_assert(inferred <= 1, "reshape<sizes...>(x): more than one extent is inferred; at most one can be");
  static_assert(!sizes_are_fine || inferred > 1 || is_symbolic(Elements),
                "reshape<sizes...>(x): the element counts differ; check the extents");
  static_assert(
      !sizes_are_fine || inferred > 1 || is_static(Elements),
      "reshape<sizes...>(x): x has a run-time extent; use infer for the one that depends on it, or reshape_as");
}
template <number Elements, number ElementsOfOther>
constexpr void reshape_as_elements() {
  static_assert(Elements == ElementsOfOther, "reshape_as(x, y): the element counts differ; check the extents");
}
template <int Rank, long First, long Last>
constexpr void flatten_axes() {
  static_assert(normalize_axis(First, Rank) >= 0 && normalize_axis(Last, Rank) >= normalize_axis(First, Rank),
                "flatten<first, last>(x): the axes are out of range or in the wrong order; both are inclusive");
}
template <int Rank, long Axis>
constexpr void unsqueeze_axis() {
  static_assert(Rank < max_rank, "unsqueeze<axis>(x): the rank would exceed eight; flatten some dimensions first");
  static_assert(normalize_axis(Axis, Rank + 1) >= 0,
                "unsqueeze<axis>(x): the axis is out of range; it runs from -rank - 1 to rank");
}
template <int Rank, long Axis>
constexpr void squeeze_axis() {
  static_assert(normalize_axis(Axis, Rank) >= 0,
                "squeeze<axis>(x): the axis is out of range; it runs from -rank to rank - 1");
}
template <long Axis, number Extent>
constexpr void squeeze_extent() {
  static_assert(Extent == 1, "squeeze<axis>(x): the extent of this axis is not one; slice or reduce it first");
}
template <int Axis, number Extent, number Wanted>
constexpr void broadcast_to_extent() {
  static_assert(Extent == Wanted,
                "broadcast_to(x, like): an extent of x is neither one nor that of the target; check the shapes");
}
template <int Rank, int WantedRank>
constexpr void broadcast_to_rank() {
  static_assert(Rank <= WantedRank,
                "broadcast_to(x, like): x has more dimensions than the target; reduce or reshape it");
}
template <bool Unknown>
constexpr void broadcast_to_dyn() {
  static_assert(!Unknown,
                "broadcast_to<sizes...>(x): dyn stands for an extent of x, which has no such dimension; spell the "
                "extent out, or use broadcast_to(x, like)");
}
template <int Rank, long Axis>
constexpr void slice_axis() {
  static_assert(normalize_axis(Axis, Rank) >= 0,
                "slice<axis, start, stop, step>(x): the axis is out of range; it runs from -rank to rank - 1");
}
template <long Step>
constexpr void slice_step() {
  static_assert(Step >= 1, "slice<axis, start, stop, step>(x): the step is not positive; flip reverses an axis");
}
template <long Start, long Stop, long Step>
constexpr void slice_of_run_time_extent() {
  static_assert(Start >= 0 && Stop == (1L << 40) && Step == 1,
                "slice<axis, start, stop, step>(x): the extent is known only at run time; there only slice<axis, "
                "start> with start >= 0 works");
}
template <int Rank, long... Axes>
constexpr void flip_axes() {
  static_assert(distinct_axes<Rank>(axis_list<Axes...>{}),
                "flip<axes...>(x): an axis is out of range or named twice; axes run from -rank to rank - 1");
}
template <long... Axes>
constexpr void flip_of_run_time_extent() {
  static_assert(sizeof...(Axes) == 0,
                "flip<axes...>(x): a reversed extent is known only at run time; give the tensor a static extent there");
}

// ---- reductions
/// argmax and argmin know one axis, or the position in the whole array.
template <op What, int Rank, int NumAxes>
constexpr void arg_reduction_axes() {
  static_assert(What != op::argmax || NumAxes == 1 || NumAxes == Rank,
                "argmax(x, axis<...>): several axes have no common index; name one, or none for the flat index");
  static_assert(What != op::argmin || NumAxes == 1 || NumAxes == Rank,
                "argmin(x, axis<...>): several axes have no common index; name one, or none for the flat index");
}

// ---- matrix products
template <int RankA, int RankB>
constexpr void matmul_ranks() {
  static_assert(RankA >= 2 && RankB >= 2, "matmul(a, b): an operand has fewer than two dimensions; unsqueeze a vector");
}
template <number InnerA, number InnerB>
constexpr void matmul_inner_extents() {
  static_assert(InnerA == InnerB, "matmul(a, b): inner extents differ; transpose an operand or check the shapes");
}
template <int Axis, number ExtentA, number ExtentB>
constexpr void matmul_leading_extents() {
  static_assert(ExtentA == ExtentB,
                "matmul(a, b): the leading dimensions do not broadcast; each pair must be equal or contain a one");
}
template <int RankX, int RankWeight>
constexpr void linear_ranks() {
  static_assert(RankX >= 1, "linear(x, weight): x has no dimensions; unsqueeze a scalar");
  static_assert(RankWeight == 2, "linear(x, weight): the weight is not a matrix; it must be [out, in]");
}
template <number InnerX, number InnerWeight>
constexpr void linear_inner_extents() {
  static_assert(InnerX == InnerWeight,
                "linear(x, weight): the last extents differ; the weight must be [out, in], not [in, out]");
}
template <int BiasRank, number BiasExtent, number WeightRows>
constexpr void linear_bias() {
  static_assert(BiasRank == 1 && BiasExtent == WeightRows,
                "linear(x, weight, bias): the bias does not fit; it must have one element per row of the weight");
}

// ---- indexing
template <long Axis, int Rank>
constexpr void iota_axis() {
  static_assert(normalize_axis(Axis, Rank) >= 0,
                "iota<axis>(like): the axis is out of range; it runs from -rank to rank - 1");
}
template <long Axis, int Rank, int IndexRank>
constexpr void gather_axis() {
  static_assert(Rank == IndexRank, "gather<axis>(x, index): the ranks differ; unsqueeze the index");
  static_assert(Rank != IndexRank || normalize_axis(Axis, Rank) >= 0,
                "gather<axis>(x, index): the axis is out of range; it runs from -rank to rank - 1");
}
template <int Axis, number Extent, number IndexExtent>
constexpr void gather_extents() {
  static_assert(
      Extent == IndexExtent,
      "gather<axis>(x, index): extents differ on an axis other than the gathered one; slice or broadcast_to first");
}
template <long Axis, int Rank, int IndexRank>
constexpr void index_put_axis() {
  static_assert(normalize_axis(Axis, Rank) >= 0,
                "index_put<axis>(x, index, v): the axis is out of range; it runs from -rank to rank - 1");
  static_assert(normalize_axis(Axis, Rank) < 0 || Rank + IndexRank - 1 <= max_rank,
                "index_put<axis>(x, index, v): what is replaced has more than eight dimensions; flatten the index");
}
template <dtype Index>
constexpr void index_put_index_type() {
  static_assert(is_integral(Index),
                "index_put<axis>(x, index, v): the index has no integer element type; cast it to std::int64_t");
}
template <int Rank, int IndexRank, bool IndicesBroadcast, dtype I, dtype J>
constexpr void index_put_pair() {
  static_assert(
      Rank >= 2 && Rank + IndexRank - 2 <= max_rank,
      "index_put(x, i, j, v): x has fewer than two dimensions, or what is replaced more than eight; reshape them");
  static_assert(IndicesBroadcast, "index_put(x, i, j, v): the indices do not broadcast; check the shapes");
  static_assert(is_integral(I) && is_integral(J),
                "index_put(x, i, j, v): an index has no integer element type; cast it to std::int64_t");
}
struct index_put_refusal {
  template <int Rank, int ValueRank>
  static constexpr void rank() {
    static_assert(ValueRank <= Rank,
                  "index_put<axis>(x, index, v): v has more dimensions than what it replaces; reduce or reshape it");
  }
  template <int Axis, number Extent, number ValueExtent>
  static constexpr void extent() {
    static_assert(Extent == ValueExtent,
                  "index_put<axis>(x, index, v): v does not broadcast to what it replaces; check the shapes");
  }
};
template <long Axis, int Rank, int IndexRank>
constexpr void scatter_axis() {
  static_assert(Rank == IndexRank,
                "scatter<axis>(x, index, v): the ranks differ; unsqueeze the index, or use index_put");
  static_assert(Rank != IndexRank || normalize_axis(Axis, Rank) >= 0,
                "scatter<axis>(x, index, v): the axis is out of range; it runs from -rank to rank - 1");
}
template <int Axis, number Extent, number IndexExtent>
constexpr void scatter_extents() {
  static_assert(
      Extent == IndexExtent,
      "scatter<axis>(x, index, v): extents differ on an axis other than the indexed one; slice or broadcast_to first");
}
template <dtype Index>
constexpr void scatter_index_type() {
  static_assert(is_integral(Index),
                "scatter<axis>(x, index, v): the index has no integer element type; cast it to std::int64_t");
}
struct scatter_refusal {
  template <int Rank, int ValueRank>
  static constexpr void rank() {
    static_assert(ValueRank <= Rank,
                  "scatter<axis>(x, index, v): v has more dimensions than the index; reduce or reshape it");
  }
  template <int Axis, number Extent, number ValueExtent>
  static constexpr void extent() {
    static_assert(Extent == ValueExtent,
                  "scatter<axis>(x, index, v): v does not broadcast to the extents of the index; check the shapes");
  }
};
template <dtype Index>
constexpr void gather_index_type() {
  static_assert(is_integral(Index),
                "gather<axis>(x, index): the index has no integer element type; cast it to std::int64_t");
}
template <dtype Index>
constexpr void embedding_index_type() {
  static_assert(is_integral(Index),
                "embedding(weight, index): the index has no integer element type; cast it to std::int64_t");
}
template <int RankWeight, int RankIndex>
constexpr void embedding_ranks() {
  static_assert(RankWeight >= 1, "embedding(weight, index): the weight has no rows; it must be [count, ...]");
  static_assert(RankWeight < 1,
                "embedding(weight, index): the result would have more than eight dimensions; flatten the index");
}
template <long Axis, int RankA, int RankB>
constexpr void concat_ranks() {
  static_assert(RankA == RankB, "concat<axis>(a, b): the ranks differ; unsqueeze one");
  static_assert(RankA != RankB || normalize_axis(Axis, RankA) >= 0,
                "concat<axis>(a, b): the axis is out of range; it runs from -rank to rank - 1");
}
template <int Axis, number ExtentA, number ExtentB>
constexpr void concat_extents() {
  static_assert(ExtentA == ExtentB,
                "concat<axis>(a, b): extents differ on an axis other than the joined one; check the shapes");
}
template <long Axis, int Rank>
constexpr void pad_axis() {
  static_assert(normalize_axis(Axis, Rank) >= 0,
                "pad<axis, before, after>(x, value): the axis is out of range; it runs from -rank to rank - 1");
}
template <long Before, long After>
constexpr void pad_counts() {
  static_assert(Before >= 0 && After >= 0,
                "pad<axis, before, after>(x, value): a count is negative; slice removes elements");
}
template <int Axis, number TargetExtent, number ValueExtent>
constexpr void assign_extent() {
  static_assert(TargetExtent == ValueExtent,
                "assign(target, value): the value does not broadcast to the target; check the shapes");
}
template <int TargetRank, int ValueRank>
constexpr void assign_rank() {
  static_assert(ValueRank <= TargetRank,
                "assign(target, value): the value has more dimensions than the target; reduce or reshape it");
}

// ---- lists
template <int Length, bool HasExpression>
constexpr void foreach_lists() {
  static_assert(HasExpression,
                "foreach(lists..., fn): no list has an expression among its members; there is nothing to compute");
  static_assert(Length != -1, "foreach(lists..., fn): no argument is a list; give at least one std::tuple");
  static_assert(Length != -2,
                "foreach(lists..., fn): the lists differ in length; each needs a member for every call of fn");
}
template <bool Fits>
constexpr void foreach_function() {
  static_assert(Fits, "foreach(lists..., fn): fn cannot be called with one member of each list, in their order");
}

// ---- neural-network compositions
template <int RankWeight, number Extent, number WeightExtent>
constexpr void layer_norm_weight() {
  static_assert(RankWeight == 1 && Extent == WeightExtent,
                "layer_norm(x, weight, bias): weight or bias does not fit; each has the last extent of x");
}
template <int RankWeight, number Extent, number WeightExtent>
constexpr void rms_norm_weight() {
  static_assert(RankWeight == 1 && Extent == WeightExtent,
                "rms_norm(x, weight): the weight does not fit; it has the last extent of x");
}
template <int Rank, long... Axes>
constexpr void softmax_axes() {
  static_assert(distinct_axes<Rank>(axis_list<Axes...>{}),
                "softmax(x, axis<...>): an axis is out of range or named twice; axes run from -rank to rank - 1");
}
template <int Rank, long... Axes>
constexpr void log_softmax_axes() {
  static_assert(distinct_axes<Rank>(axis_list<Axes...>{}),
                "log_softmax(x, axis<...>): an axis is out of range or named twice; axes run from -rank to rank - 1");
}
template <int Rank>
constexpr void layer_norm_rank() {
  static_assert(Rank >= 1, "layer_norm(x): x has no dimension to normalise over; unsqueeze it");
}
template <int Rank>
constexpr void rms_norm_rank() {
  static_assert(Rank >= 1, "rms_norm(x): x has no dimension to normalise over; unsqueeze it");
}
template <int Rank>
constexpr void tril_rank() {
  static_assert(Rank >= 2, "tril(x): x has fewer than two dimensions; unsqueeze it");
}
template <int Rank>
constexpr void triu_rank() {
  static_assert(Rank >= 2, "triu(x): x has fewer than two dimensions; unsqueeze it");
}
template <long Classes, int IndexRank>
constexpr void one_hot_extents() {
  static_assert(Classes > 0, "one_hot<classes>(index): there must be a class; give a positive number");
  static_assert(Classes <= 0 || IndexRank < max_rank,
                "one_hot<classes>(index): the result would have more than eight dimensions; flatten the index");
}
template <dtype Index>
constexpr void one_hot_index_type() {
  static_assert(is_integral(Index),
                "one_hot<classes>(index): the index has no integer element type; cast it to std::int64_t");
}
template <extents Rows, extents Targets, dtype Type>
constexpr void nll_loss_operands() {
  constexpr bool ranks_fit = Rows.rank == 2 && Targets.rank == 1;
  static_assert(ranks_fit,
                "nll_loss(log_probs, targets): the ranks do not fit; log_probs are [rows, classes], targets [rows]");
  static_assert(
      !ranks_fit || may_equal(Rows[0], Targets[0]),
      "nll_loss(log_probs, targets): the number of rows differs; log_probs are [rows, classes], targets [rows]");
  static_assert(is_integral(Type),
                "nll_loss(log_probs, targets): the targets have no integer element type; they are class numbers");
}
template <extents Rows, extents Targets, dtype Type>
constexpr void cross_entropy_operands() {
  constexpr bool ranks_fit = Rows.rank == 2 && Targets.rank == 1;
  static_assert(ranks_fit,
                "cross_entropy(logits, targets): the ranks do not fit; logits are [rows, classes], targets [rows]");
  static_assert(
      !ranks_fit || may_equal(Rows[0], Targets[0]),
      "cross_entropy(logits, targets): the number of rows differs; logits are [rows, classes], targets [rows]");
  static_assert(is_integral(Type),
                "cross_entropy(logits, targets): the targets have no integer element type; they are class numbers");
}

}  // namespace sinter::detail
