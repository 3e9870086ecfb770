// Runs a plan kernel by kernel as its lowered bodies say, in double, on memory whose every element knows who wrote it.
// What kernels/ may take for granted is checked here: each element is read after it was written, results and buffers
// are written once, buffers that live at the same time do not overlap, and no iteration depends on another one of its
// kernel. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <stdexcept>
#include <vector>

#include "interpreter.hpp"
#include "sinter/schedule/lower_group.hpp"

namespace reference {

/// A plan without the types it was made from.
struct lowered_plan {
  program graph;                                                       ///< after rewriting
  std::vector<std::vector<sinter::detail::lowered_kernel<>>> kernels;  ///< their parts, which run at once
  std::vector<int> customs;                                            ///< the custom op that a kernel is, or -1
  std::vector<sinter::detail::planned_buffer> buffers;
};

template <int Capacity>
lowered_plan lower(const sinter::detail::plan<Capacity>& p) {
  const auto& s = p.fusion.state;
  lowered_plan out{make_program(*s.g), {}, {}, {p.buffers.begin(), p.buffers.end()}};
  out.kernels.resize(static_cast<std::size_t>(p.kernels.size()));
  for (const auto& k : p.kernels)
    out.customs.push_back(s.is_custom(k.group) ? s.list.nodes[s.groups[k.group].head].root : -1);
  for (int k = 0; k < p.kernels.size(); ++k)
    for (int part = 0; part < p.kernels[k].num_parts; ++part)
      out.kernels[static_cast<std::size_t>(k)].push_back(sinter::detail::lower_group(p, k, part));
  return out;
}

/// The results, unrounded; `inputs` as in evaluate. Throws std::logic_error with a sentence where the plan is not
/// legal.
std::vector<array> execute(const lowered_plan& p, std::vector<array>& inputs);

}  // namespace reference
