// Why two nodes are not one kernel: every reason the scheduler can give, as a value with a sentence.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/base/string_view.hpp"

namespace sinter {

/// In the order in which can_fuse asks. Source: TorchInductor's Scheduler.can_fuse; ours are marked.
enum class refusal : unsigned char {
  none,
  same_kernel,
  different_ops,  // ours: eager
  custom_op,      // ours
  producer_is_foreign,
  consumer_is_foreign,
  wrong_direction,
  prologue_off,
  prologue_not_pointwise,
  prologue_overwrites,
  prologue_inner_is_shared,
  prologue_result_is_shared,
  prologue_reads_more,
  prologue_only_pads,
  prologue_not_expressible,
  templates_differ,  // ours: dual matmul
  epilogue_off,
  epilogue_not_pointwise,
  epilogue_is_prologue,  // ours
  before_mix_order,
  mix_order_both_parts,
  set_apart,
  no_shared_data,
  mix_order_off,
  mix_order_strided,
  mix_order_extents,
  mix_order_columns,
  too_many_nodes,
  peak_memory,
  too_many_buffers,
  too_few_shared_bytes,
  too_far_apart,
  too_many_siblings,
  extents_differ,
  reduced_extents_differ,
  loops_incompatible,
  tilings_differ,
  index_mismatch,
  split_reduction,
  split_scan,
  intermediate_nodes,
  overwrites_operand,
  would_make_cycle,
  lists_differ,
  list_members_cross,  // ours
  list_takes_pointwise,
  list_member_not_one,
  unknown_label,  // ours: the question named no call of this plan
  num_refusals
};

/// Calls `say` with the refusal as a sentence for users; it names the option that would allow the fusion if one does.
/// A call for each: a compiler that refuses it in a constant expression quotes its line. require_fused lives on that.
template <class Say>
constexpr auto in_words(refusal reason, Say say) {
  switch (reason) {
    case refusal::none:
      return say("fused: both are in one kernel");
    case refusal::same_kernel:
      return say("both are already in one kernel");
    case refusal::different_ops:
      return say("eager runs one kernel per user-level op; use the preset standard");
    case refusal::custom_op:
      return say("a custom op is a kernel of its own, which takes no fused work");
    case refusal::producer_is_foreign:
      return say("the producer is a foreign kernel, which takes no fused work; use the preset max_autotune");
    case refusal::consumer_is_foreign:
      return say("the consumer is a foreign kernel, which takes no fused work; use the preset max_autotune");
    case refusal::wrong_direction:
      return say("the first would have to run after the second");
    case refusal::prologue_off:
      return say("prologue fusion is switched off; set options.prologue_fusion");
    case refusal::prologue_not_pointwise:
      return say("only pointwise work can enter a matmul as its prologue; max_fusion also lets row normalisations in");
    case refusal::prologue_overwrites:
      return say("the producer overwrites an input, which cannot be done on a matmul's loads");
    case refusal::prologue_inner_is_shared:
      return say("a value inside the prologue is needed outside the matmul as well");
    case refusal::prologue_result_is_shared:
      return say("the producer's result is needed outside the matmul as well");
    case refusal::prologue_reads_more:
      return say("the prologue would read more bytes than options.prologue_read_ratio_percent of what it hands over");
    case refusal::prologue_only_pads:
      return say("padding is not fused into a matmul because it makes its reads unaligned");
    case refusal::prologue_not_expressible:
      return say("the matmul would read the producer's result through a view that cannot be indexed in its loop");
    case refusal::templates_differ:
      return say("two matmuls become one only with the same left operand, equal extents and equal dtype");
    case refusal::epilogue_off:
      return say("epilogue fusion is switched off; set options.epilogue_fusion");
    case refusal::epilogue_not_pointwise:
      return say("a reduction cannot be the epilogue of a matmul");
    case refusal::epilogue_is_prologue:
      return say("it is worth more on the loads of the matmul that reads it than beside another");
    case refusal::before_mix_order:
      return say("nothing is fused before a kernel that reduces both rows and columns");
    case refusal::mix_order_both_parts:
      return say("it waits for both parts of a kernel that reduces rows and columns, or one part waits for it");
    case refusal::set_apart:
      return say("no_fuse keeps the result of one of them apart");
    case refusal::no_shared_data:
      return say("they share no data; with options.aggressive_fusion pointwise kernels of equal extents need not");
    case refusal::mix_order_off:
      return say("one reduces rows, the other columns; options.mix_order_reduction makes them one kernel");
    case refusal::mix_order_strided:
      return say("rows and columns share a kernel only where both walk memory row by row");
    case refusal::mix_order_extents:
      return say("too small or too wide to reduce rows and columns in one kernel; see options.mix_order_min_elements");
    case refusal::mix_order_columns:
      return say("beside the rows, columns are summed or multiplied only, in one pass over the rows");
    case refusal::too_many_nodes:
      return say("one kernel would hold more nodes than options.max_fusion_size");
    case refusal::peak_memory:
      return say("fusing them would increase the peak memory; options.peak_memory_factor weighs saved bytes");
    case refusal::too_many_buffers:
      return say("one kernel would read and write more buffers than options.max_unique_io_buffers, or 96");
    case refusal::too_few_shared_bytes:
      return say("they share fewer bytes than options.min_shared_bytes");
    case refusal::too_far_apart:
      return say("they are further apart than options.max_fusion_distance, which may increase the peak memory");
    case refusal::too_many_siblings:
      return say("one kernel would hold more siblings than options.target takes");
    case refusal::extents_differ:
      return say("their extents differ");
    case refusal::reduced_extents_differ:
      return say("they reduce different extents");
    case refusal::loops_incompatible:
      return say("the pointwise loop cannot be split into the reduction's loops");
    case refusal::tilings_differ:
      return say("they want different tiles, and options.tiling_prevents_fusion is set");
    case refusal::index_mismatch:
      return say("the consumer reads the producer's result at other indices than those it is written at");
    case refusal::split_reduction:
      return say("the long reduction is split over many blocks, and the consumer needs its result for every element");
    case refusal::split_scan:
      return say("the long scan is split over many blocks, which take no reductions");
    case refusal::intermediate_nodes:
      return say("another kernel has to run between them");
    case refusal::overwrites_operand:
      return say("one would overwrite an input that the other still reads at other indices");
    case refusal::would_make_cycle:
      return say("fusing them would make the plan cyclic");
    case refusal::lists_differ:
      return say("two foreach lists become one only if they are equally long");
    case refusal::list_members_cross:
      return say("a member of one foreach list needs another member's result of the other list");
    case refusal::list_takes_pointwise:
      return say("a foreach list takes in pointwise work only");
    case refusal::list_member_not_one:
      return say("it neither feeds nor follows exactly one member of the foreach list");
    case refusal::unknown_label:
      return say("no call of the plan has this label; explain(f) lists them");
    case refusal::num_refusals:
      break;
  }
  return say("");
}
constexpr string_view sentence(refusal reason) {
  return in_words(reason, [](string_view words) { return words; });
}

}  // namespace sinter
