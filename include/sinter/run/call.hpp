// A call, independent of where it runs: checked arguments, the values of all run-time numbers, pointers for every
// buffer. SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/kernels/combo.hpp"
#include "sinter/run/bind.hpp"
#include "sinter/run/recipe.hpp"
#include "sinter/run/settled.hpp"

namespace sinter::detail {

inline std::int64_t value_of(const number_source& n, const std::int64_t* values) {
  return n.position < 0 ? n.constant : values[n.position];
}

/// The values of a call's run-time numbers. Throws shape_error where an extent does not divide.
inline void evaluate_numbers(const number_step* steps, int count, const bound_argument* arguments,
                             std::int64_t* values) {
  for (int i = 0; i < count; ++i) {
    const std::int64_t a = value_of(steps[i].a, values), b = value_of(steps[i].b, values);
    switch (steps[i].rule) {
      case number_rule::input_extent:
        values[i] = arguments[a].extents[b];
        break;
      case number_rule::input_stride:
        values[i] = arguments[a].strides[b];
        break;
      case number_rule::product:
        values[i] = a * b;
        break;
      case number_rule::sum:
        values[i] = a + b;
        break;
      case number_rule::quotient:
        if (b == 0 ? a != 0 : a % b != 0)
          throw shape_error(text_of({"reshape: ", a, " elements do not divide evenly by ", b}));
        values[i] = b == 0 ? 0 : a / b;
        break;
    }
  }
}

template <class Program>
struct call {
  using plan = recipe<Program>;
  static constexpr int num_inputs = plan::num_inputs, num_arguments = plan::num_arguments;

  bound_argument arguments[num_arguments + 1]{};
  std::int64_t numbers[plan::num_numbers + 1]{};
  placed_buffer buffers[plan::num_buffers + 1]{};
  std::int64_t intermediate_bytes = 0;
  char* workspace = nullptr;

  std::int64_t value(const number_source& n) const { return value_of(n, numbers); }

  /// Checks everything that can be wrong with a call. Throws shape_error or argument_error.
  void check() {
    for (int i = 0; i < num_arguments; ++i) check_pointer(arguments[i], i, num_inputs);
    evaluate_numbers(plan::steps.data(), plan::num_numbers, arguments, numbers);
    for (const extent_check& c : plan::checks)
      if (const bound_argument& b = arguments[c.argument]; !b.by_value && b.extents[c.dimension] != value(c.expected))
        throw shape_error(text_of({argument_name(c.argument, num_inputs), ", ",
                                   dimension_name(c.dimension, Program::extent_name(c.argument, c.dimension)),
                                   ": expected ", value(c.expected), ", found ", b.extents[c.dimension]}));
    for (const auto& e : plan::equalities)
      if (value(e[0]) != value(e[1]))
        throw shape_error(text_of({"two extents that must be equal are ", value(e[0]), " and ", value(e[1])}));
    for (int i = 0; i < num_inputs; ++i)
      if (is_written(i) && !arguments[i].writable)
        throw argument_error(text_of({argument_name(i, num_inputs), " is assigned to but read-only"}));
    check_overlaps();
    for (int i = 0; i < plan::num_buffers; ++i) {
      const buffer_source& b = plan::buffers[static_cast<std::size_t>(i)];
      buffers[i] = {value(b.numel) * b.item_bytes, b.first, b.last};
    }
    intermediate_bytes = lay_out(buffers, plan::num_buffers);
  }

  static constexpr bool is_written(int argument) {
    return argument >= num_inputs || plan::assigned[static_cast<std::size_t>(argument)];
  }
  /// What is written to overlaps no other argument. They are looked at in the order of their addresses: each has to
  /// begin where those before it end.
  void check_overlaps() const {
    struct span {
      std::uintptr_t begin, end;
      bool written;
    };
    span spans[num_arguments + 1];
    int count = 0;
    for (int i = 0; i < num_arguments; ++i) {
      const bound_argument& b = arguments[i];
      if (b.by_value || b.bytes == 0) continue;
      const auto begin = reinterpret_cast<std::uintptr_t>(b.data);
      int at = count++;
      for (; at > 0 && spans[at - 1].begin > begin; --at) spans[at] = spans[at - 1];
      spans[at] = {begin, begin + static_cast<std::uintptr_t>(b.bytes), is_written(i)};
    }
    std::uintptr_t any_end = 0, written_end = 0;
    for (int i = 0; i < count; ++i) {
      if (spans[i].begin < (spans[i].written ? any_end : written_end)) name_overlap();
      if (spans[i].end > any_end) any_end = spans[i].end;
      if (spans[i].written && spans[i].end > written_end) written_end = spans[i].end;
    }
  }
  /// Throws for the first argument written to that overlaps another.
  void name_overlap() const {
    for (int out = 0; out < num_arguments; ++out)
      for (int other = 0; other < num_arguments; ++other)
        if (is_written(out) && other != out && overlap(arguments[out], arguments[other]))
          throw argument_error(text_of({argument_name(out, num_inputs), " overlaps ", argument_name(other, num_inputs),
                                        "; use assign to write into an input"}));
  }

  void* pointer(const pointer_source& p) const {
    return p.in_workspace ? workspace + buffers[p.index].offset : arguments[p.index].data;
  }

  /// What kernel `Index`, or one part of it, receives.
  template <int Index, int Part = 0>
  auto kernel_arguments() const {
    using k = typename plan::template kernel<Index, Part>;
    sinter::arguments<k::num_pointers, k::num_scalars, k::num_sizes, settled_pointers<Program, Index>,
                      settled_pointers<Program, Index + 1> != 0>
        a{};
    for (int i = 0; i < k::num_pointers; ++i) a.pointers[i] = pointer(k::pointers[static_cast<std::size_t>(i)]);
    for (int i = 0; i < k::num_scalars; ++i) {
      const auto& s = k::scalars[static_cast<std::size_t>(i)];
      a.scalars[i] = s.argument >= 0 ? arguments[s.argument].scalar : s.literal;
      if (s.is_size) a.scalars[i] = {static_cast<double>(value(s.size)), value(s.size)};
    }
    for (int i = 0; i < k::num_sizes; ++i) a.sizes[i] = value(k::sizes[static_cast<std::size_t>(i)]);
    a.numel = value(k::numel);
    a.rnumel = value(k::rnumel);
    return a;
  }
  template <int Index>
  matmul_extents matmul_shape() const {
    using k = typename plan::template kernel<Index>;
    return {value(k::batch), value(k::rows), value(k::columns), value(k::inner)};
  }
};

/// A number, or -1 if only the call knows it.
constexpr long fixed_or_unknown(number n) { return is_static(n) ? n : -1; }

/// One part of a kernel as the loop that it is.
template <class Kernel>
constexpr auto loop_of() {
  using body = typename speller<Kernel>::template section_body<0>;
  constexpr long numel = fixed_or_unknown(Kernel::value.space.numel),
                 rnumel = fixed_or_unknown(Kernel::value.space.rnumel);
  if constexpr (Kernel::planned.kind == kernel_kind::pointwise) return pointwise_loop<body, numel>{};
  else return reduction_loop<body, Kernel::planned.walk, rnumel, numel>{};
}

/// What both parts of a mix-order reduction receive: numel rows of rnumel columns. The column part's pointers, scalars
/// and sizes begin with the row part's.
template <class Program, int Index>
auto mix_order_arguments(const call<Program>& c) {
  auto a = c.template kernel_arguments<Index, 1>();
  const std::int64_t columns = a.numel;
  a.numel = a.rnumel;
  a.rnumel = columns;
  return a;
}

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
    else return bodies<typename spelled::template section_body<1>>{};
  }
};

}  // namespace sinter::detail
