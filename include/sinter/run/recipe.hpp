// The recipe of a call: everything a call needs to know of its plan, as small constant tables. Numbers become
// positions, buffers become sources of pointers; neither graph nor plan survives into the program.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>

#include "sinter/kernels/spell.hpp"
#include "sinter/run/program.hpp"

namespace sinter::detail {

/// A number at run time: a constant, or a position among the call's numbers.
struct number_source {
  std::int64_t constant = 0;
  int position = -1;
};

/// How one of the call's numbers is computed.
struct number_step {
  number_rule rule = number_rule::product;
  number_source a{}, b{};
};

/// Where a pointer comes from: an argument, or an offset in the workspace.
struct pointer_source {
  bool in_workspace = false;
  int index = 0;
};

/// A scalar: a literal of the program, one of the call's numbers, or an argument passed by value.
struct scalar_source_at_run_time {
  scalar_value literal{};
  number_source size{};
  int argument = -1;
  bool is_size = false;
};

/// An intermediate buffer's size and life.
struct buffer_source {
  number_source numel{};
  int item_bytes = 0;
  short first = 0, last = 0;
};

/// An extent that an argument must have.
struct extent_check {
  int argument = 0, dimension = 0;
  number_source expected{};
};

template <class Program, class = std::make_integer_sequence<int, Program::num_kernels>>
struct recipe;

template <class Program, int... Index>
struct recipe<Program, std::integer_sequence<int, Index...>> {
  static constexpr int num_inputs = Program::num_inputs;
  static constexpr int num_arguments = num_inputs + Program::num_outputs;

  template <int K, class Add, int... Part>
  static constexpr void add_parts(const Add& add, std::integer_sequence<int, Part...>) {
    (add(Program::template kernel<K, Part>::value.numbers), ...);
  }
  /// All numbers of the plan and of its kernels' index expressions.
  static constexpr number_table<1024> merged() {
    number_table<1024> all{};
    const auto add = [&](const auto& numbers) {
      for (const number_definition& d : numbers.definitions) all.define(d.value, d.rule, d.a, d.b);
    };
    add(Program::plan.fusion.state.list.numbers);
    (add_parts<Index>(add, std::make_integer_sequence<int, Program::template num_parts<Index>>{}), ...);
    for (const planned_buffer& b : Program::plan.buffers) all.numel(Program::g.shape(b.node));
    return all;
  }
  static constexpr int num_numbers = merged().definitions.size();
  static_assert(!merged().definitions.overflowed,
                "fuse(fn): the plan has more run-time numbers than a call can compute; split the function");
  static constexpr auto table = [] {  // made to measure: it stays in the compiler's memory
    number_table<num_numbers> exact{};
    const number_table<1024> all = merged();
    for (int i = 0; i < num_numbers; ++i) exact.definitions.push_back(all.definitions[i]);
    return exact;
  }();
  static_assert(!table.definitions.overflowed,
                "fuse(fn): the plan has more run-time numbers than a call can compute; split the function");

  static constexpr number_source source(number n) {
    return is_symbolic(n) ? number_source{0, table.find(n)} : number_source{n, -1};
  }
  static constexpr auto steps = [] {
    std::array<number_step, num_numbers> s{};
    for (int i = 0; i < num_numbers; ++i) {
      const number_definition& d = table.definitions[i];
      const bool from_input = d.rule == number_rule::input_extent || d.rule == number_rule::input_stride;
      number_step& step = s[static_cast<std::size_t>(i)];
      step.rule = d.rule;
      if (from_input)  // not a conditional expression: nvcc 13's device pass crashes on one of these aggregates in a
                       // lambda
        step.a = {d.a, -1}, step.b = {d.b, -1};
      else step.a = source(d.a), step.b = source(d.b);
    }
    return s;
  }();

  static constexpr const extents& argument_shape(int i) {
    return Program::g.shape(i < num_inputs ? Program::g.inputs[i].node : Program::g.outputs[i - num_inputs]);
  }
  static constexpr int num_checks = [] {
    int n = 0;
    for (int i = 0; i < num_arguments; ++i) n += argument_shape(i).rank;
    return n;
  }();
  static constexpr auto checks = [] {
    std::array<extent_check, num_checks> c{};
    std::size_t n = 0;
    for (int i = 0; i < num_arguments; ++i)
      for (int d = 0; d < argument_shape(i).rank; ++d) c[n++] = {i, d, source(argument_shape(i)[d])};
    return c;
  }();
  /// Derived extents that only the call can compare.
  static constexpr auto equalities = [] {
    std::array<std::array<number_source, 2>, static_cast<std::size_t>(Program::equalities.size())> pairs{};
    for (int i = 0; i < Program::equalities.size(); ++i)
      pairs[static_cast<std::size_t>(i)] = {source(Program::equalities[i].a), source(Program::equalities[i].b)};
    return pairs;
  }();
  /// The inputs that the function assigns to.
  static constexpr auto assigned = [] {
    std::array<bool, static_cast<std::size_t>(num_inputs) + 1> a{};
    for (int node : Program::g.assigns)
      a[static_cast<std::size_t>(Program::g[memory_of(Program::g, node)].attr)] = true;
    return a;
  }();

  static constexpr pointer_source pointer(int node) {
    const int memory = memory_of(Program::g, node);
    for (int k = 0; k < Program::num_outputs; ++k)
      if (memory_of(Program::g, Program::g.outputs[k]) == memory) return {false, num_inputs + k};
    for (int i = 0; i < Program::plan.buffers.size(); ++i)
      if (Program::plan.buffers[i].node == memory) return {true, i};
    return {false, Program::g[memory].attr};
  }

  /// Pointers, scalars and sizes of one kernel, or one part of it.
  template <int K, int Part = 0>
  struct kernel {
    using lowered = typename Program::template kernel<K, Part>;
    static constexpr int num_pointers = lowered::value.buffers.size();
    static constexpr int num_scalars = lowered::value.scalars.size();
    static constexpr int num_sizes = lowered::value.sizes.size();
    static constexpr auto pointers = [] {
      std::array<pointer_source, num_pointers> p{};
      for (int i = 0; i < num_pointers; ++i) p[static_cast<std::size_t>(i)] = pointer(lowered::value.buffers[i]);
      return p;
    }();
    static constexpr auto scalars = [] {
      std::array<scalar_source_at_run_time, num_scalars> s{};
      for (int i = 0; i < num_scalars; ++i) {
        scalar_source_at_run_time& one = s[static_cast<std::size_t>(i)];
        const int at = lowered::value.scalars[i];
        if (at < 0) {
          one.argument = -2 - at;
        } else {
          const scalar_source& given = Program::g.scalars[at];
          one.literal = {given.real, given.integer};
          one.is_size = is_symbolic(given.size);
          one.size = source(given.size);
        }
      }
      return s;
    }();
    static constexpr auto sizes = [] {
      std::array<number_source, num_sizes> n{};
      for (int i = 0; i < num_sizes; ++i) n[static_cast<std::size_t>(i)] = source(lowered::value.sizes[i]);
      return n;
    }();
    static constexpr number_source numel = source(lowered::value.space.numel),
                                   rnumel = source(lowered::value.space.rnumel);
    static constexpr number_source batch = source(lowered::value.batch), rows = source(lowered::value.rows),
                                   columns = source(lowered::value.columns), inner = source(lowered::value.inner);
  };

  /// What a kernel receives by value: its parts' arguments, and some words that say where each runs.
  template <int K, int... Part>
  static constexpr std::size_t parameter_bytes(std::integer_sequence<int, Part...>) {
    return (
        0 + ... +
        (64 +
         sizeof(arguments<kernel<K, Part>::num_pointers, kernel<K, Part>::num_scalars, kernel<K, Part>::num_sizes>)));
  }
  static_assert(((parameter_bytes<Index>(std::make_integer_sequence<int, Program::template num_parts<Index>>{}) <=
                  max_parameter_bytes) &&
                 ...),
                "fuse(fn): a kernel needs more than the 32764 bytes of parameters that CUDA allows; lower "
                "options.max_fusion_size "
                "or options.max_combo_size, or give foreach shorter lists");

  /// The workspace: each buffer's size and life, for lay_out.
  static constexpr int num_buffers = Program::plan.buffers.size();
  static constexpr auto buffers = [] {
    std::array<buffer_source, num_buffers> b{};
    for (int i = 0; i < num_buffers; ++i) {
      const planned_buffer& p = Program::plan.buffers[i];
      b[static_cast<std::size_t>(i)] = {source(numel(Program::g.shape(p.node))), item_size(Program::g[p.node].type),
                                        p.first, p.last};
    }
    return b;
  }();
};

}  // namespace sinter::detail
