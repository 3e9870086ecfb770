// What a kernel of a plan may read before the kernel in front of it has ended, on devices on which they overlap.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/spell.hpp"
#include "sinter/run/recipe.hpp"

namespace sinter::detail {

/// Is a kernel one loop?
template <class Program, int Index>
constexpr bool is_single_loop() {
  return is_loop(Program::plan.kernels[Index].kind) && Program::template num_parts<Index> == 1;
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

/// A bit for each pointer of kernel `Index` to an input that the plan does not write.
template <class Program, int Index>
constexpr std::uint64_t unwritten_pointers() {
  using plan = recipe<Program>;
  std::uint64_t unwritten = 0, bit = 1;
  for (const pointer_source& p : plan::template kernel<Index>::pointers) {
    if (!p.in_workspace && p.index < plan::num_inputs && !plan::assigned[static_cast<std::size_t>(p.index)])
      unwritten |= bit;
    bit <<= 1;
  }
  return unwritten;
}

/// Does kernel `Index` reduce a row to one element, and gather for it, as the mean of a loss does? The plan ends with
/// it, and it waits for memory twice.
template <class Program, int Index>
constexpr bool gathers_for_one() {
  const auto& kernel = Program::template kernel<Index>::value;
  bool gathers = false;
  for (const instruction& i : kernel.code) gathers = gathers || i.code == opcode::gather_load;
  return gathers && Program::plan.kernels[Index].walk == orientation::row && kernel.space.numel == 1;
}

/// Does kernel `Index` walk columns once, scan and write nothing, and reduce only what lies behind `unwritten`
/// pointers, as a mean over what a mask leaves does, which is divided by a sum of the mask at last?
template <class Program, int Index>
constexpr bool folds_unwritten(std::uint64_t unwritten) {
  using body = typename speller<typename Program::template kernel<Index>>::template section_body<0>;
  const auto& code = Program::template kernel<Index>::value.code;
  bool waits[max_instructions]{};
  for (int n = 0; n < code.size(); ++n) {
    const instruction& i = code[n];
    const bool loads = i.code == opcode::load || i.code == opcode::gather_load;
    waits[n] = loads && (i.buffer >= 64 || (unwritten >> i.buffer & 1) == 0);
    for (const short operand : {i.a, i.b, i.c, i.mask}) waits[n] = waits[n] || (operand >= 0 && waits[operand]);
    const bool writes = i.code == opcode::store || i.code == opcode::scatter_store;
    if (writes && body_facts<body>::where(n) == scope::element) return false;
    if (i.code == opcode::scan || (i.code == opcode::reduce && waits[n])) return false;
  }
  return Program::plan.kernels[Index].walk == orientation::column && body_facts<body>::num_phases == 1;
}

/// A bit for each pointer of kernel `Index` to what it may read before the one in front has ended: inputs that the plan
/// does not write, where the kernel gains by that.
template <class Program, int Index>
inline constexpr std::uint64_t settled_pointers = [] {
  if constexpr (Index > 0 && Index < Program::num_kernels) {
    if constexpr (is_single_loop<Program, Index - 1>() && is_single_loop<Program, Index>()) {
      if constexpr (Program::plan.kernels[Index].kind != kernel_kind::pointwise && follows<Program, Index>()) {
        const std::uint64_t unwritten = unwritten_pointers<Program, Index>();
        if (gathers_for_one<Program, Index>() || folds_unwritten<Program, Index>(unwritten)) return unwritten;
      }
    }
  }
  return std::uint64_t(0);
}();

}  // namespace sinter::detail
