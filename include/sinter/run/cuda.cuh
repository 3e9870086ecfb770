// Running a plan on CUDA: kernel after kernel in one stream, asynchronous and capture-safe. The workspace comes from
// the executor or, for one call, from the stream's memory pool. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cuda_runtime.h>

#include "sinter/kernels/cuda/combo_launch.cuh"
#include "sinter/kernels/cuda/error.cuh"
#include "sinter/kernels/cuda/matmul/foreign.cuh"
#include "sinter/kernels/cuda/matmul/launch.cuh"
#include "sinter/kernels/cuda/pointwise/launch.cuh"
#include "sinter/kernels/cuda/reduction/launch.cuh"
#include "sinter/kernels/cuda/reduction/mix_order/mix_order_launch.cuh"
#include "sinter/kernels/cuda/scan/launch.cuh"
#include "sinter/run/call.hpp"
#include "sinter/run/custom.hpp"
#include "sinter/run/device_memory.cuh"
#include "sinter/run/executor.hpp"
#include "sinter/run/scratch.hpp"
#include "sinter/schedule/operand_layout.hpp"

namespace sinter {

/// A stream with a workspace of the caller's: at least f.workspace_bytes(...) bytes of device memory, 256-byte aligned,
/// of any content, not used by anything else while the call runs. Its first f.counter_bytes(...) are cleared by each
/// call; with `counters`, so many bytes at zero, it is done without: a call leaves them at zero for the next one, of
/// whichever function.
struct cuda_executor {
  cudaStream_t stream = nullptr;
  void* workspace = nullptr;
  std::int64_t workspace_bytes = 0;
  void* counters = nullptr;
  std::int64_t counter_bytes = 0;
};

namespace detail {

template <class Program, int Index>
void run_foreign(const call<Program>& c, cudaStream_t stream, const char* name) {
  using kernel = typename Program::template kernel<Index>;
  using plan = recipe<Program>;
  constexpr operand_layout left = layout_of(kernel::value, 0, kernel::value.rows);
  constexpr operand_layout right = layout_of(kernel::value, 1, kernel::value.columns);
  constexpr instruction product = kernel::value.code[kernel::value.sections[2].first + 1];
  constexpr product_layout stored = layout_of_product(kernel::value.accesses[product.access], kernel::value.rows,
                                                      kernel::value.columns, kernel::value.numbers);
  constexpr number_source written[] = {plan::source(stored.offset), plan::source(stored.row),
                                       plan::source(stored.batch)};
  constexpr const auto& pointers = plan::template kernel<Index>::pointers;
  constexpr number_source strides[] = {plan::source(left.offset), plan::source(left.outer),   plan::source(left.inner),
                                       plan::source(left.batch),  plan::source(right.offset), plan::source(right.outer),
                                       plan::source(right.inner), plan::source(right.batch)};
  const auto data = [&](short slot, const number_source& offset) {
    return static_cast<char*>(c.pointer(pointers[static_cast<std::size_t>(slot)])) +
           c.value(offset) * item_size(product.type);
  };
  foreign_matmul m{};
  m.extents = c.template matmul_shape<Index>();
  m.type = product.type;
  m.a = data(left.slot, strides[0]), m.b = data(right.slot, strides[4]), m.out = data(product.buffer, written[0]);
  m.out_row = c.value(written[1]), m.out_batch = c.value(written[2]);
  m.a_row = c.value(strides[1]), m.a_col = c.value(strides[2]), m.a_batch = c.value(strides[3]);
  m.b_row = c.value(strides[6]), m.b_col = c.value(strides[5]), m.b_batch = c.value(strides[7]);
  cuda::matmul(m, stream, name);
}

/// Can the foreign library compute this kernel? Otherwise the template does: the plan is the same.
template <class Kernel>
constexpr bool is_foreign() {
  constexpr const auto& k = Kernel::value;
  return Kernel::planned.kind == kernel_kind::foreign && stores_plainly(k) &&
         layout_of_product(k.accesses[k.code[k.sections[2].first + 1].access], k.rows, k.columns, k.numbers).ok &&
         layout_of(k, 0, k.rows).is_blas(k.rows, k.inner) && layout_of(k, 1, k.columns).is_blas(k.columns, k.inner) &&
         is_floating(k.code[k.sections[2].first + 1].type);
}

/// A kernel of several parts.
template <class Program, int Index, int... Part>
void launch_kernel(const call<Program>& c, cuda::kernel_memory& memory, cudaStream_t stream,
                   std::integer_sequence<int, Part...>) {
  const char* name = Program::template name<Index>.text;
  if constexpr (Program::template is_mix_order<Index>)
    cuda::mix_order<typename kernel_bodies<typename Program::template kernel<Index, Part>>::main...,
                    fixed_or_unknown(Program::template kernel<Index>::value.space.rnumel)>(
        mix_order_arguments<Program, Index>(c), memory, stream, name);
  else
    cuda::combo<decltype(loop_of<typename Program::template kernel<Index, Part>>())...>(
        memory, stream, name, c.template kernel_arguments<Index, Part>()...);
}
template <class Program, int Index>
void launch_kernel(const call<Program>& c, [[maybe_unused]] cuda::kernel_memory& memory, cudaStream_t stream,
                   std::integer_sequence<int, 0>) {
  using kernel = typename Program::template kernel<Index>;
  using parts = kernel_bodies<kernel>;
  constexpr kernel_kind kind = kernel::planned.kind;
  const char* name = Program::template name<Index>.text;
  if constexpr (custom_node<Program, Index> >= 0) {
    run_custom<Program, Index>(c, true, stream);
  } else if constexpr (kind == kernel_kind::pointwise) {
    cuda::pointwise<typename parts::main, fixed_or_unknown(kernel::value.space.numel), Program::chosen.few_blocks>(
        c.template kernel_arguments<Index>(), stream, name);
  } else if constexpr (is_loop(kind)) {
    constexpr long numel = fixed_or_unknown(kernel::value.space.numel),
                   rnumel = fixed_or_unknown(kernel::value.space.rnumel);
    const auto args = c.template kernel_arguments<Index>();
    if constexpr (body_facts<typename parts::main>::has_scan)
      cuda::scan_kernel<typename parts::main, kernel::planned.walk, rnumel, numel>(args, memory, stream, name);
    else
      cuda::reduction<typename parts::main, kernel::planned.walk, rnumel, numel, Program::chosen.row_kernel>(
          args, memory, stream, name);
  } else if constexpr (is_foreign<kernel>()) {
    run_foreign<Program, Index>(c, stream, name);
  } else {
    constexpr matmul_extents known = {fixed_or_unknown(kernel::value.batch), fixed_or_unknown(kernel::value.rows),
                                      fixed_or_unknown(kernel::value.columns), fixed_or_unknown(kernel::value.inner)};
    cuda::matmul<typename parts::main, decltype(parts::right()), typename parts::epilogue, known>(
        c.template kernel_arguments<Index>(), c.template matmul_shape<Index>(), stream, name);
  }
}

/// Device memory that a checked call needs: its counters, its intermediate buffers, then what its split reductions
/// share.
struct call_memory {
  std::int64_t counters, buffers, states;
  std::int64_t total() const { return counters + buffers + states; }
};
template <class Program, int... Index>
call_memory memory_of(const call<Program>& c, std::integer_sequence<int, Index...>) {
  const workspace_size shared = shared_workspace<Program, Index...>([&](const number_source& n) { return c.value(n); });
  return {shared.counters, c.intermediate_bytes, shared.states};
}
/// Kernel after kernel, with so much memory; `counters`, if not null, are at zero.
template <class Program, int... Index>
void launch_kernels(call<Program>& c, void* memory, const call_memory& size, void* counters, cudaStream_t stream,
                    std::integer_sequence<int, Index...>) {
  c.workspace = static_cast<char*>(memory) + size.counters;
  cuda::kernel_memory shared(counters == nullptr ? memory : counters, size.counters, c.workspace + size.buffers,
                             counters != nullptr);
  (launch_kernel<Program, Index>(c, shared, stream,
                                 std::make_integer_sequence<int, Program::template num_parts<Index>>{}),
   ...);
}

template <>
struct runner<cuda_executor> {
  template <class Program, class Kernels>
  static void run(call<Program>& c, const cuda_executor& e, Kernels kernels) {
    check_device(c);
    const call_memory size = memory_of(c, kernels);
    if (e.workspace != nullptr) check_size("workspace", e.workspace_bytes, size.total());
    if (e.counters != nullptr) check_size("counters", e.counter_bytes, size.counters);
    if (size.total() == 0 || e.workspace != nullptr)
      return launch_kernels(c, e.workspace, size, e.counters, e.stream, kernels);
    void* memory = nullptr;
    cuda::detail::check(cudaMallocAsync(&memory, static_cast<std::size_t>(size.total()), e.stream), "cudaMallocAsync",
                        "fuse");
    try {
      launch_kernels(c, memory, size, e.counters, e.stream, kernels);
    } catch (...) {
      (void)cudaFreeAsync(memory, e.stream);
      throw;
    }
    cuda::detail::check(cudaFreeAsync(memory, e.stream), "cudaFreeAsync", "fuse");
  }

 private:
  static void check_size(const char* what, std::int64_t bytes, std::int64_t needed) {
    if (bytes < needed)
      throw argument_error(text_of({"the executor's ", what, " has ", bytes, " bytes, this call needs ", needed}));
  }
};

template <>
struct runner<cudaStream_t> {
  template <class Program, class Kernels>
  static void run(call<Program>& c, cudaStream_t stream, Kernels kernels) {
    runner<cuda_executor>::run(c, cuda_executor{stream}, kernels);
  }
};

}  // namespace detail
}  // namespace sinter
