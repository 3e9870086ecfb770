// Why two nodes are not one kernel: every reason the scheduler can give, as a value with a sentence.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string_view>

namespace sinter {

/// In the order in which can_fuse asks. Source: TorchInductor's Scheduler.can_fuse; ours are marked.
enum class refusal : unsigned char {
  none,
  same_kernel,
  different_ops,          // ours: eager
  producer_is_foreign,
  consumer_is_foreign,
  wrong_direction,
  prologue_off,
  prologue_not_pointwise,
  prologue_result_is_shared,
  prologue_reads_more,
  prologue_only_pads,
  prologue_not_expressible,
  templates_differ,       // ours: dual matmul
  epilogue_off,
  epilogue_not_pointwise,
  no_shared_data,
  too_many_nodes,
  peak_memory,
  index_mismatch,
  intermediate_nodes,
  overwrites_operand,
  extents_differ,
  reduced_extents_differ,
  loops_incompatible,
  too_few_shared_bytes,
  too_far_apart,
  would_make_cycle,
  unknown_label,          // ours: the question named no call of this plan
  num_refusals
};

/// The refusal as a sentence for the user.
constexpr std::string_view sentence(refusal r) {
  constexpr std::string_view sentences[] = {
      "fused: both are in one kernel",
      "both are already in one kernel",
      "eager runs one kernel per user-level op; use the preset standard",
      "the producer is a foreign kernel, which takes no fused work; use the preset max_autotune",
      "the consumer is a foreign kernel, which takes no fused work; use the preset max_autotune",
      "the first would have to run after the second",
      "prologue fusion is switched off; set options.prologue_fusion",
      "only pointwise work can enter a matmul as its prologue; the preset max_fusion also lets a row normalisation in",
      "the producer's result is needed outside the matmul as well",
      "the prologue would read more bytes than options.prologue_read_ratio_percent of what it hands to the matmul",
      "padding is not fused into a matmul because it makes its reads unaligned",
      "the matmul would read the producer's result through a view that cannot be indexed in its loop",
      "two matmuls become one only with the same left operand, equal extents and equal dtype",
      "epilogue fusion is switched off; set options.epilogue_fusion",
      "a reduction cannot be the epilogue of a matmul",
      "they share no data",
      "one kernel would hold more nodes than options.max_fusion_size",
      "fusing them would increase the peak memory",
      "the consumer reads the producer's result at other indices than those it is written at",
      "another kernel has to run between them",
      "one would overwrite an input that the other still reads at other indices",
      "their extents differ",
      "they reduce different extents",
      "the pointwise loop cannot be split into the reduction's loops",
      "they share fewer bytes than options.min_shared_bytes",
      "they are further apart than options.max_fusion_distance, which may increase the peak memory",
      "fusing them would make the plan cyclic",
      "no call of the plan has this label; explain(f) lists them",
  };
  static_assert(sizeof(sentences) / sizeof(sentences[0]) == static_cast<int>(refusal::num_refusals));
  return sentences[static_cast<int>(r)];
}

}  // namespace sinter
