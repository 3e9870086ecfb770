// Options: every choice a user can make about fusion, and every threshold of the scheduler with where it comes from.
// Structural, so that a fused function's type says them: `options o = max_autotune; o.max_fusion_size = 32;`.
// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace sinter {

/// Whose rules the scheduler follows; see schedule/backend.hpp. A plan is one for host and CUDA whatever it is.
enum class target : unsigned char { cuda, cpu };

/// How a CUDA kernel reduces rows along memory: `chosen` at launch, by their number, length and alignment; or always so,
/// where a kernel of the kind can take them, and otherwise walked. It changes neither the plan nor what is computed.
enum class row_kernel : unsigned char {
  chosen,
  held,      ///< in registers, from the first phase to the last
  runs,      ///< short ones, many at a time through shared memory
  staged,    ///< whole in shared memory; odd ones, and of run-time length
  streamed,  ///< by blocks that stay, the next one on its way through shared memory; several phases
  grouped,   ///< so, shared by groups of warps and by clusters of blocks; long ones, compute capability 9.0
  swept,     ///< read where they lie, in aligned vectors; one phase
  looped,    ///< walked in tiles, once for each phase
};

struct options {
  sinter::target target = sinter::target::cuda;

  // ---- what may fuse
  bool one_kernel_per_op = false;      ///< eager: nothing crosses the border of a user-level op
  bool matmul_template = false;        ///< matmul is our template (takes prologues, epilogues), not a foreign kernel
  bool prologue_fusion = true;         ///< pointwise work on a template's loads (needs matmul_template)
  bool epilogue_fusion = true;         ///< pointwise work before a template's store (needs matmul_template)
  bool dual_matmul = true;             ///< two matmuls of one left operand as one template (needs matmul_template)
  bool norm_prologue = false;          ///< a row normalisation into the matmul that reads it (Inductor refuses this)
  bool online_softmax = true;          ///< maximum and sum of exponentials of a long row in one pass
  bool combo_kernels = false;          ///< independent kernels that are left share a launch
  bool mix_order_reduction = true;     ///< rows and columns of one tensor reduced in one kernel that reads it once
  bool aggressive_fusion = false;      ///< also pair pointwise nodes of equal extents, which need not share data
  bool epilogue_fusion_first = false;  ///< epilogues before ordinary pairs
  bool loop_ordering = true;           ///< a last round in which pointwise loops may follow other loops
  bool index_inversion = true;         ///< a permuted copy may read in order and write out of order
  bool tiling_prevents_fusion = false; ///< loops that want different tiles of two dimensions stay apart
  bool delay_realize_cheap_outputs = true;  ///< who uses a result that loads nothing computes it again
  bool precise_casts = false;          ///< round intermediates where eager execution would store them
  bool exact_math = false;             ///< functions of 16-bit values as good as those of float

  // ---- thresholds; Inductor's defaults (reference: torch._inductor.config)
  int max_fusion_rounds = 10;
  int max_fusion_size = 64;            ///< nodes in one kernel
  int pair_window = 64;                ///< candidates: each node with the next so many that touch the same buffer
  int max_fusion_distance = 64;        ///< horizontal pairs further apart stay apart
  int min_shared_bytes = 10;           ///< horizontal pairs sharing less stay apart
  int min_overlap_percent = 50;        ///< what two loops read in common at different indices counts from this share on
  int max_unique_io_buffers = 0;       ///< buffers one kernel may read and write in memory; 0: any number
  int realize_reads_threshold = 4;     ///< a reused value with more loads gets a buffer
  int realize_ops_threshold = 30;      ///< a reused value with more ops gets a buffer
  int realize_accumulated_reads_threshold = 8;
  int max_inlined_ops = 100;           ///< any value with more ops gets a buffer
  int unroll_reductions_threshold = 8; ///< shorter static reductions become pointwise
  int peak_memory_factor = 32;
  int prologue_read_ratio_percent = 110;  ///< a prologue may read at most this much of what it hands over
  int mix_order_min_elements = 5242880;   ///< 5 * 2^20: rows and columns share a kernel from so many elements on
  int mix_order_min_rows = 4096;          ///< and so many rows
  int mix_order_rows_per_column = 2;      ///< and so many times more rows than columns; 0 or 1: a square too
  int mix_order_max_columns = 16384;      ///< up to so many columns
  int split_reduction_length = 32768;  ///< rows from this length on, if there are few, are reduced before what needs it
  int split_reduction_rows = 16;       ///< so few: one block for each would leave most of a device idle
  int max_combo_size = 8;              ///< kernels that share a launch
  int max_combo_arguments = 250;       ///< buffers of a shared launch

  // ---- kernels
  sinter::row_kernel row_kernel = sinter::row_kernel::chosen;  ///< how rows are reduced on CUDA
  int persistent_reduction_limit = 16384;  ///< rnumel up to which a row stays on chip: 1024 threads hold 16 values each
  int few_blocks = 32;                 ///< so small a pointwise kernel takes elements one by one, on more multiprocessors

  friend constexpr bool operator==(const options&, const options&) = default;
};

/// One kernel per user-level op: the baseline of every comparison.
inline constexpr options eager = [] {
  options o{};
  o.one_kernel_per_op = true;
  o.delay_realize_cheap_outputs = false;
  o.mix_order_reduction = false;
  return o;
}();
/// Inductor's default.
inline constexpr options standard{};
/// Matmul is a template with prologues, epilogues and dual products.
inline constexpr options max_autotune = [] {
  options o{};
  o.matmul_template = true;
  return o;
}();
/// Also what Inductor refuses.
inline constexpr options max_fusion = [] {
  options o{};
  o.matmul_template = true;
  o.norm_prologue = true;
  o.mix_order_rows_per_column = 0;
  return o;
}();

}  // namespace sinter
