// What a kernel of a plan may read before the kernel in front of it has ended, on devices on which they overlap.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/run/recipe.hpp"

namespace sinter::detail {

/// Is a kernel one loop, and is that reduced to one element?
template <class Program, int Index>
constexpr bool is_single_loop() {
  return is_loop(Program::plan.kernels[Index].kind) && Program::template num_parts<Index> == 1;
}
template <class Program, int Index>
constexpr bool is_single_row() {
  return is_single_loop<Program, Index>() && Program::plan.kernels[Index].kind != kernel_kind::pointwise &&
         Program::plan.kernels[Index].walk == orientation::row &&
         Program::template kernel<Index>::value.space.numel == 1;
}

/// Does kernel `Index` read what the one in front leaves? Then that was launched, if this one finds anything to read.
template <class Program, int Index>
constexpr bool follows() {
  const auto& front = Program::template kernel<Index - 1>::value;
  const auto& kernel = Program::template kernel<Index>::value;
  for (const instruction& i : kernel.code)
    for (const instruction& left : front.code)
      if (i.code == opcode::load && left.code == opcode::store &&
          memory_of(Program::g, kernel.buffers[i.buffer]) == memory_of(Program::g, front.buffers[left.buffer]))
        return true;
  return false;
}

/// A bit for each pointer of kernel `Index` to an input that the plan does not write. Only kernels that gather for one
/// element have any, as the mean of a loss does: the plan ends with them, and they wait for memory twice.
template <class Program, int Index>
inline constexpr std::uint64_t settled_pointers = [] {
  std::uint64_t settled = 0;
  if constexpr (Index > 0 && Index < Program::num_kernels) {
    if constexpr (is_single_loop<Program, Index - 1>() && is_single_row<Program, Index>()) {
      using plan = recipe<Program>;
      bool gathers = false;
      for (const instruction& i : Program::template kernel<Index>::value.code)
        gathers = gathers || i.code == opcode::gather_load;
      if (!gathers || !follows<Program, Index>()) return settled;
      std::uint64_t bit = 1;
      for (const pointer_source& p : plan::template kernel<Index>::pointers) {
        if (!p.in_workspace && p.index < plan::num_inputs && !plan::assigned[static_cast<std::size_t>(p.index)])
          settled |= bit;
        bit <<= 1;
      }
    }
  }
  return settled;
}();

}  // namespace sinter::detail
