// Running a plan on the host: kernel after kernel, with the workspace on the heap. nvcc's device pass sees the name
// only. SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/run/call.hpp"
#include "sinter/run/executor.hpp"
#ifndef __CUDA_ARCH__
#include "sinter/base/owned.hpp"
#include "sinter/kernels/host/combo.hpp"
#include "sinter/kernels/host/matmul.hpp"
#include "sinter/kernels/host/mix_order.hpp"
#include "sinter/run/custom.hpp"
#endif

namespace sinter::detail {

template <class Program, int... Index>
void run(call<Program>& c, const host_executor& executor, std::integer_sequence<int, Index...>);

#ifndef __CUDA_ARCH__

template <class Program, int Index>
void run_kernel(const call<Program>& c, const host_executor& executor, std::integer_sequence<int, 0>) {
  using kernel = typename Program::template kernel<Index>;
  using sections = kernel_bodies<kernel>;
  constexpr kernel_kind kind = kernel::planned.kind;
  const auto args = c.template kernel_arguments<Index>();
  if constexpr (custom_node<Program, Index> >= 0) run_custom<Program, Index>(c, false, nullptr);
  else if constexpr (kind == kernel_kind::pointwise) cpu::pointwise<typename sections::main>(args, executor.threads);
  else if constexpr (is_loop(kind))
    cpu::reduction<typename sections::main, kernel::planned.walk, fixed_or_unknown(kernel::value.space.rnumel)>(
        args, executor.threads);
  else
    cpu::matmul<typename sections::main, decltype(sections::right()), typename sections::epilogue>(
        args, c.template matmul_shape<Index>(), executor.threads);
}
/// A kernel of several parts.
template <class Program, int Index, int... Part>
void run_kernel(const call<Program>& c, const host_executor& executor, std::integer_sequence<int, Part...>) {
  if constexpr (Program::template is_mix_order<Index>)
    cpu::mix_order<typename kernel_bodies<typename Program::template kernel<Index, Part>>::main...>(
        mix_order_arguments<Program, Index>(c), executor.threads);
  else
    cpu::combo<decltype(loop_of<typename Program::template kernel<Index, Part>>())...>(
        executor.threads, c.template kernel_arguments<Index, Part>()...);
}

template <class Program, int... Index>
void run(call<Program>& c, const host_executor& executor, std::integer_sequence<int, Index...>) {
  heap_array<char> workspace;
  if (c.intermediate_bytes > 0) {
    workspace.reset(new char[static_cast<std::size_t>(c.intermediate_bytes + workspace_alignment)]);
    const auto address = reinterpret_cast<std::uintptr_t>(workspace.get());
    c.workspace = workspace.get() + (workspace_alignment - static_cast<std::int64_t>(address % workspace_alignment));
  }
  (run_kernel<Program, Index>(c, executor, std::make_integer_sequence<int, Program::template num_parts<Index>>{}), ...);
}

#endif

}  // namespace sinter::detail
