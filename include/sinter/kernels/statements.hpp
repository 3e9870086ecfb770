// The vocabulary of a lowered body, the only description of a fused group that a kernel sees: a flat list of small
// types, which host and CUDA kernels walk alike. What follows from a list is body.hpp's matter.
//
// Index variables: x is the linear (row-major) index over the kept space of numel elements, r the linear index over the
// reduced space of rnumel elements. A pointwise body has no r. A value that depends on r lives in `scope::element`
// (one per (x, r)), every other value in `scope::row` (one per x).
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstdint>

#include "sinter/base/config.hpp"
#include "sinter/base/loop_var.hpp"

namespace sinter {

/// Numbers inside a body are static, or name an entry of `arguments::sizes` that the launch fills in.
inline constexpr long dynamic_base = -(1L << 62);
constexpr long dynamic_number(int slot) { return dynamic_base + slot; }
SINTER_HOST_DEVICE constexpr bool is_dynamic(long number) { return number < dynamic_base / 2; }
SINTER_HOST_DEVICE constexpr int dynamic_slot(long number) { return static_cast<int>(number - dynamic_base); }

/// Coef * ((Variable / Div) % Mod); Mod 0 means no modulo. Div >= 1.
template <loop_var Variable, long Div, long Mod, long Coef>
struct term {};

/// An element offset: Offset + the sum of the terms.
template <long Offset, class... Terms>
struct at {};

// ---- statements; operand numbers are positions in the body; -1 is "none" ------------------------------------------

/// pointers[Slot][At] of element type T (f16 and bf16 widen to float). With Mask >= 0: only where value Mask (bool) is
/// true, else zero, and memory is not touched.
template <int Slot, class T, class At, int Mask = -1>
struct load {};

/// pointers[Slot][At + Coef * index], index = value of statement Index (an integer; negative counts from Bound, the
/// extent of the gathered axis). Same Mask rule.
template <int Slot, class T, class At, int Index, long Coef, long Bound, int Mask = -1>
struct gather_load {};

/// A run-time scalar argument: scalars[Slot], converted to T's compute type.
template <int Slot, class T>
struct scalar {};

/// A compile-time constant of T: Bits is the value itself for integers and bool, the bits of a double otherwise.
template <class T, long Bits>
struct constant {};

/// The extent of r, as T.
template <class T>
struct row_length {};

/// The value of an index expression, as std::int64_t.
template <class At>
struct index_value {};

/// bool: Low <= At < High.
template <class At, long Low, long High>
struct inside {};

/// Op applied to earlier values; T is the dtype tag (storage type) of the *operands*' computation, Result of the value.
/// Op::apply works on compute types. Rounding to Result happens only for ops::cast (and when precise).
template <class Op, class T, class Result, int A, int B = -1, int C = -1>
struct compute {};

/// Explicit rounding cast of value A (of storage type From) to To, e.g. float -> bf16 -> float.
template <class From, class To, int A>
struct cast_to {};

/// Type change without rounding (implicit promotion): value A to the compute type of To.
template <class From, class To, int A>
struct widen_to {};

/// Fold of element value A over r with reduction Op; T is A's storage type. The result is a row value.
template <class Op, class T, class Result, int A>
struct reduce {};

/// Fold of value A over all r up to the element's own with Op, an op of a scan. The result is an element value, known
/// in the same loop over r.
template <class Op, class T, class Result, int A>
struct scan {};

/// pointers[Slot][At] = value A rounded to T. Where At uses r it runs once per element, else once per row. Mask as in
/// load.
template <int Slot, class T, int A, class At, int Mask = -1>
struct store {};

/// pointers[Slot][At + Coef * index] = value A rounded to T, index as in gather_load; out of range nothing is stored.
/// Which of two values for one place stays is not said.
template <int Slot, class T, int A, class At, int Index, long Coef, long Bound, int Mask = -1>
struct scatter_store {};

/// The accumulator of matmul number Which inside a matmul's epilogue (compute type of T).
template <int Which, class T>
struct accumulator {};

/// The value a prologue hands to its matmul.
template <class T, int A>
struct yield_value {};

/// A fused group, in evaluation order.
template <class... Statements>
struct body {
  static constexpr int size = sizeof...(Statements);
};

/// The B operands of a matmul group: one body each; two share one A (a dual matmul).
template <class... Bodies>
struct bodies {};

// ---- arguments of one launch --------------------------------------------------------------------------------------

/// A run-time scalar: floating values in d, integers and bool in i.
struct scalar_value {
  double d;
  std::int64_t i;

  /// The same bits: 0.0 is not -0.0.
  friend constexpr bool operator==(const scalar_value& a, const scalar_value& b) {
    return a.i == b.i && std::bit_cast<std::uint64_t>(a.d) == std::bit_cast<std::uint64_t>(b.d);
  }
};

/// What a kernel receives by value. numel and rnumel are the extents of x and r. Settled: a bit for each pointer to
/// what the kernel may read before the one in front has ended (run/settled.hpp); NextReadsAhead: the next kernel has
/// some.
template <int NumPointers, int NumScalars, int NumSizes, std::uint64_t Settled = 0, bool NextReadsAhead = false>
struct arguments {
  static constexpr std::uint64_t settled = Settled;
  static constexpr bool next_reads_ahead = NextReadsAhead;
  void* pointers[NumPointers > 0 ? NumPointers : 1];
  scalar_value scalars[NumScalars > 0 ? NumScalars : 1];
  std::int64_t sizes[NumSizes > 0 ? NumSizes : 1];
  std::int64_t numel;
  std::int64_t rnumel;
};

/// The extents of a (batched) matmul: out[batch, m, n] = a[batch, m, k] * b[batch, k, n].
struct matmul_extents {
  std::int64_t batch, m, n, k;
};

}  // namespace sinter
