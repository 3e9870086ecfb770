// A call, independent of where it runs: checked arguments, the values of all run-time numbers, pointers for every buffer.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/kernels/spell.hpp"
#include "sinter/run/bind.hpp"
#include "sinter/run/program.hpp"

namespace sinter::detail {

template <class Program>
struct call {
  static constexpr int num_inputs = Program::num_inputs, num_arguments = num_inputs + Program::num_outputs;
  static constexpr int num_numbers = Program::plan.fusion.state.list.numbers.definitions.size();

  bound_argument arguments[num_arguments > 0 ? num_arguments : 1]{};
  std::int64_t numbers[num_numbers + 1]{};
  workspace_layout<Program::traced.capacity> workspace{};
  char* workspace_data = nullptr;

  std::int64_t value(number n) const { return evaluate(n, Program::plan.fusion.state.list.numbers, numbers); }

  /// Checks everything that can be wrong with a call. Throws shape_error or argument_error.
  void check() {
    const auto& g = Program::g;
    for (int i = 0; i < num_arguments; ++i) check_pointer(arguments[i], i, num_inputs);
    evaluate_numbers(Program::plan.fusion.state.list.numbers, arguments, numbers);
    for (int i = 0; i < num_arguments; ++i) {
      const extents& shape = g.shape(i < num_inputs ? g.inputs[i].node : g.outputs[i - num_inputs]);
      for (int d = 0; d < shape.rank; ++d)
        if (!arguments[i].by_value && arguments[i].extents[d] != value(shape[d])) extents_disagree(i, d, value(shape[d]));
    }
    for (const auto& e : Program::equalities)
      if (is_known(e.a) && is_known(e.b) && value(e.a) != value(e.b))
        throw shape_error("two extents that must be equal are " + std::to_string(value(e.a)) + " and " + std::to_string(value(e.b)));
    for (int out = 0; out < num_arguments; ++out) {
      if (out < num_inputs && !is_assigned(out)) continue;
      if (out < num_inputs && !arguments[out].writable) throw argument_error(argument_name(out, num_inputs) + " is assigned to but read-only");
      for (int other = 0; other < num_arguments; ++other)
        if (other != out && overlap(arguments[out], arguments[other]))
          throw argument_error(argument_name(out, num_inputs) + " overlaps " + argument_name(other, num_inputs) +
                               "; use assign to write into an input");
    }
    workspace = lay_out(Program::plan, [&](number n) { return value(n); });
  }

  static bool is_known(number n) { return is_static(n) || Program::plan.fusion.state.list.numbers.find(n) >= 0; }
  static bool is_assigned(int input) {
    const auto& g = Program::g;
    for (int a : g.assigns) {
      int base = g[a].operands[0];
      while (is_view(g[base].what) || g[base].what == op::assign) base = g[base].operands[0];
      if (g[base].attr == input) return true;
    }
    return false;
  }
  [[noreturn]] void extents_disagree(int i, int d, std::int64_t expected) const {
    std::string text = argument_name(i, num_inputs) + ", " + dimension_name(d, Program::extent_name(i, d)) + ": expected " +
                       std::to_string(expected) + ", found " + std::to_string(arguments[i].extents[d]);
    throw shape_error(text);
  }

  /// Memory of a graph node's buffer.
  void* pointer(int node) const {
    const auto& g = Program::g;
    for (int k = 0; k < Program::num_outputs; ++k)
      if (g.outputs[k] == node) return arguments[num_inputs + k].data;
    int base = node;
    while (g[base].what == op::assign || (is_view(g[base].what) && base != node)) base = g[base].operands[0];
    if (g[base].what == op::input) return arguments[g[base].attr].data;
    for (int i = 0; i < Program::plan.buffers.size(); ++i)
      if (Program::plan.buffers[i].node == node) return workspace_data + workspace.offsets[i];
    return nullptr;
  }

  /// What kernel `Index` receives.
  template <int Index>
  auto kernel_arguments() const {
    using kernel = typename Program::template kernel<Index>;
    constexpr auto& k = kernel::value;
    sinter::arguments<k.buffers.size(), k.scalars.size(), k.sizes.size()> a{};
    std::int64_t values[k.numbers.definitions.size() + 1];
    evaluate_numbers(k.numbers, arguments, values);
    for (int i = 0; i < k.buffers.size(); ++i) a.pointers[i] = pointer(k.buffers[i]);
    for (int i = 0; i < k.scalars.size(); ++i) {
      const int s = k.scalars[i];
      if (s < 0) {
        a.scalars[i] = arguments[-2 - s].scalar;
      } else {
        const scalar_source& source = Program::scalar_values[s];
        const bool is_size = is_symbolic(source.size);
        const std::int64_t size = is_size ? evaluate(source.size, k.numbers, values) : 0;
        a.scalars[i] = is_size ? scalar_value{static_cast<double>(size), size} : scalar_value{source.real, source.integer};
      }
    }
    for (int i = 0; i < k.sizes.size(); ++i) a.sizes[i] = evaluate(k.sizes[i], k.numbers, values);
    a.numel = evaluate(k.space.numel, k.numbers, values);
    a.rnumel = evaluate(k.space.rnumel, k.numbers, values);
    return a;
  }
  template <int Index>
  matmul_extents matmul_shape() const {
    using kernel = typename Program::template kernel<Index>;
    constexpr auto& k = kernel::value;
    std::int64_t values[k.numbers.definitions.size() + 1];
    evaluate_numbers(k.numbers, arguments, values);
    return {evaluate(k.batch, k.numbers, values), evaluate(k.rows, k.numbers, values), evaluate(k.columns, k.numbers, values),
            evaluate(k.inner, k.numbers, values)};
  }
};

/// The bodies of a kernel's sections, as types.
template <class Kernel>
struct kernel_bodies {
  using spelled = speller<Kernel>;
  static constexpr int num_sections = Kernel::value.sections.size();
  using main = typename spelled::template section_body<0>;
  using epilogue = typename spelled::template section_body<num_sections - 1>;
  static constexpr auto right() {
    if constexpr (num_sections == 4)
      return bodies<typename spelled::template section_body<1>, typename spelled::template section_body<2>>{};
    else
      return bodies<typename spelled::template section_body<1>>{};
  }
};

}  // namespace sinter::detail
