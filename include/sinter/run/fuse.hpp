// fuse: a function of expressions becomes a fused function: its plan is a constant, and it can be called.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/run/host.hpp"
#include "sinter/run/scratch.hpp"

namespace sinter {

/// One kernel of a plan.
struct kernel_info {
  kernel_kind kind;
  string_view name;
};

/// A line of the fusion log: a pair of kernels in the making, each named by its first node, and what became of it.
struct fusion_entry {
  node_label first{}, second{};
  short round = 0;
  log_event event{};
  refusal reason{};  ///< none if the pair may be fused
  fusion_score score{};
  std::int64_t shared_bytes = 0;
};

namespace detail {

// A call that cannot work, in sentences: instantiated only to fail.
template <int Given, int Inputs, int Outputs>
constexpr void number_of_arguments() {
  static_assert(
      Given == Inputs + Outputs,
      "f(executor, inputs..., outputs...): the number of arguments is wrong; give every input, then every output");
}
template <int Input, class Given, class Wanted>
constexpr void input_type() {
  static_assert(Input < 0,
                "f(executor, inputs..., outputs...): an input does not convert to its tensor type; check the order of "
                "the arguments");
}
template <int Output, class Given>
constexpr void output_kind() {
  static_assert(
      is_tensor<Given>,
      "f(executor, inputs..., outputs...): an output is not a tensor; give a tensor over the memory to write");
}
template <int Output, dtype Given, dtype Result>
constexpr void output_type() {
  static_assert(Given == Result,
                "f(executor, inputs..., outputs...): an output's element type is not the result's; cast the result or "
                "the tensor");
}
template <int Output, int Given, int Result>
constexpr void output_rank() {
  static_assert(Given == Result,
                "f(executor, inputs..., outputs...): an output's rank is not the result's; check the shapes");
}
template <int Output, int Dimension, number Given, number Result>
constexpr void output_extent() {
  static_assert(Given == Result,
                "f(executor, inputs..., outputs...): an output's extent is not the result's; check the shapes");
}
template <int Output, class Given>
constexpr void output_strides() {
  static_assert(!Given::strided,
                "f(executor, inputs..., outputs...): an output has strides; assign into a strided input instead");
}

template <>
struct runner<host_executor> {
  template <class Program, int... Index>
  static void run(call<Program>& c, const host_executor& e, std::integer_sequence<int, Index...> kernels) {
    detail::run(c, e, kernels);
  }
};
}  // namespace detail

/// A fused function: stateless, constexpr, callable from any number of threads.
template <options Options, class Fn, class... T>
class fused {
 public:
  using program = detail::program<Options, Fn, T...>;
  static constexpr int num_inputs = sizeof...(T);

  /// The traced graph after rewriting.
  static constexpr const auto& graph() { return program::g; }
  static constexpr const auto& plan() { return program::plan; }
  static constexpr int kernel_count() { return program::num_kernels; }
  static constexpr kernel_info kernel(int i) { return kernels()[i]; }
  /// How often kernel i walks its rows: once if they stay on chip, not at all without a reduction.
  static constexpr int passes(int i) { return all_passes(std::make_integer_sequence<int, program::num_kernels>{})[i]; }

  /// Bytes read from memory by all kernels. Arguments: the run-time extents, in order of first appearance.
  template <std::integral... E>
  static constexpr std::int64_t bytes_read(E... run_time_extents) {
    return total_traffic(run_time_extents...).read;
  }
  template <std::integral... E>
  static constexpr std::int64_t bytes_written(E... run_time_extents) {
    return total_traffic(run_time_extents...).written;
  }
  /// Elements of four bytes moved: Inductor's metric.
  template <std::integral... E>
  static constexpr std::int64_t numel_accessed(E... run_time_extents) {
    const auto t = total_traffic(run_time_extents...);
    return (t.read + t.written) / 4;
  }
  /// Scratch memory of one call on CUDA: intermediate buffers, and partial results of split reductions. Arguments: the
  /// run-time extents, in order of first appearance; none are needed when it is zero whatever they are.
  template <std::integral... E>
  static constexpr std::int64_t workspace_bytes(E... run_time_extents) {
    constexpr auto kernels = std::make_integer_sequence<int, program::num_kernels>{};
    if constexpr (program::plan.buffers.empty() && !detail::needs_scratch<program>(kernels)) return 0;
    else return workspace_of(kernels, program::with_extents(run_time_extents...));
  }
  /// How many of them, its first ones, are counters: at zero before and after each kernel.
  template <std::integral... E>
  static constexpr std::int64_t counter_bytes(E... run_time_extents) {
    constexpr auto kernels = std::make_integer_sequence<int, program::num_kernels>{};
    if constexpr (!detail::needs_scratch<program>(kernels)) return 0;
    else return shared_of(kernels, program::with_extents(run_time_extents...)).counters;
  }

  /// Every pair of every round with its score and verdict, what was fused, and which candidates that invalidated.
  static constexpr auto fusion_log() {
    constexpr int length = program::template recorded<0>.length;
    fixed_vector<fusion_entry, length> entries{};
    for (const log_entry& e : program::template recorded<length>.entries)
      entries.push_back(
          {program::labels[e.first], program::labels[e.second], e.round, e.event, e.reason, e.score, e.shared_bytes});
    return entries;
  }

  /// Why two user-level calls ("mm_0", "gelu_0": name and count) are not one kernel; refusal::none if they are.
  static constexpr refusal why_not_fused(string_view first, string_view second) {
    return program::why_not_fused(first, second);
  }

  /// Runs the plan: inputs in order, then outputs in order. Host: returns when done. CUDA: asynchronous in the stream.
  /// Throws shape_error or argument_error before anything runs, cuda_error if CUDA fails.
  template <class Executor, class... A>
  void operator()(const Executor& executor, A&&... arguments) const {
    if constexpr (sizeof...(A) != num_inputs + program::num_outputs)
      detail::number_of_arguments<sizeof...(A), num_inputs, program::num_outputs>();
    if constexpr (sizeof...(A) == num_inputs + program::num_outputs) {
      auto c = bind(std::index_sequence_for<A...>{}, arguments...);
      c.check();
      detail::runner<Executor>::run(c, executor, std::make_integer_sequence<int, program::num_kernels>{});
    }
  }

 private:
  template <std::size_t... I, class... A>
  static detail::call<program> bind(std::index_sequence<I...>, A&... arguments) {
    return {{bind_one<static_cast<int>(I)>(arguments)...}};
  }
  template <int I, class A>
  static detail::bound_argument bind_one(A& argument) {
    using given = std::remove_cvref_t<A>;
    if constexpr (I < num_inputs) {
      using wanted = std::tuple_element_t<static_cast<std::size_t>(I), std::tuple<T...>>;
      constexpr bool converts = std::is_convertible_v<A&, wanted>;
      if constexpr (converts) return detail::bind_argument<wanted>(argument);
      else detail::input_type<I, given, wanted>();
      return {};
    } else {
      constexpr int node = program::g.outputs[I - num_inputs];
      constexpr int output = I - num_inputs;
      if constexpr (!detail::is_tensor<given>) {
        detail::output_kind<output, given>();
        return {};
      } else {
        constexpr extents expected = program::g.shape(node), found = detail::argument_extents<given, I>::shape;
        constexpr int conflict =
            detail::other_axis_conflict(expected, expected.rank == found.rank ? found : expected, -1);
        if constexpr (given::type != program::g[node].type)
          detail::output_type<output, given::type, program::g[node].type>();
        if constexpr (found.rank != expected.rank) detail::output_rank<output, found.rank, expected.rank>();
        if constexpr (conflict >= 0) detail::output_extent<output, conflict, found[conflict], expected[conflict]>();
        if constexpr (given::strided) detail::output_strides<output, given>();
        return detail::bind_argument<given>(argument);
      }
    }
  }

  template <std::integral... E>
  static constexpr detail::kernel_traffic total_traffic(E... run_time_extents) {
    const auto value = program::with_extents(run_time_extents...);
    detail::kernel_traffic total{};
    for (int k = 0; k < kernel_count(); ++k) {
      const detail::kernel_traffic t = detail::traffic(program::plan, k, value);
      total.read += t.read, total.written += t.written;
    }
    return total;
  }

  template <int... I, class Value>
  static constexpr workspace_size shared_of(std::integer_sequence<int, I...>, const Value& value) {
    return detail::shared_workspace<program, I...>([&](const detail::number_source& n) {
      return n.position < 0 ? n.constant : value(detail::recipe<program>::table.definitions[n.position].value);
    });
  }
  template <class Kernels, class Value>
  static constexpr std::int64_t workspace_of(Kernels kernels, const Value& value) {
    using plan = detail::recipe<program>;
    detail::placed_buffer buffers[plan::num_buffers + 1]{};
    for (int i = 0; i < plan::num_buffers; ++i) {
      const detail::buffer_source& b = plan::buffers[static_cast<std::size_t>(i)];
      buffers[i] = {value(numel(program::g.shape(program::plan.buffers[i].node))) * b.item_bytes, b.first, b.last};
    }
    return detail::lay_out(buffers, plan::num_buffers) + shared_of(kernels, value).total();
  }

  template <int I>
  static constexpr int passes_of() {
    if constexpr (program::plan.kernels[I].kind == kernel_kind::reduction)
      return body_facts<typename detail::kernel_bodies<typename program::template kernel<I>>::main>::num_phases;
    else
      return program::plan.kernels[I].kind == kernel_kind::persistent_reduction ||
             program::plan.kernels[I].kind == kernel_kind::split_scan;
  }
  template <int... I>
  static constexpr auto all_passes(std::integer_sequence<int, I...>) {
    return fixed_vector<int, sizeof...(I)>{{passes_of<I>()...}, sizeof...(I)};
  }

  template <int... I>
  static constexpr auto make_kernels(std::integer_sequence<int, I...>) {
    return fixed_vector<kernel_info, sizeof...(I)>{
        {kernel_info{program::plan.kernels[I].kind, program::template name<I>.view()}...}, sizeof...(I)};
  }
  static constexpr auto kernels() { return make_kernels(std::make_integer_sequence<int, program::num_kernels>{}); }
};

/// What fuse returns once the compiler has said why there is no plan: it has the members of `fused` and does nothing,
/// so that one mistake is one error.
struct refused {
  static constexpr int kernel_count() { return 0; }
  static constexpr kernel_info kernel(int) { return {kernel_kind::pointwise, {}}; }
  static constexpr int passes(int) { return 0; }
  static constexpr std::int64_t bytes_read(...) { return 0; }
  static constexpr std::int64_t bytes_written(...) { return 0; }
  static constexpr std::int64_t numel_accessed(...) { return 0; }
  static constexpr std::int64_t workspace_bytes(...) { return 0; }
  static constexpr std::int64_t counter_bytes(...) { return 0; }
  static constexpr auto fusion_log() { return fixed_vector<fusion_entry, 0>{}; }
  static constexpr refusal why_not_fused(string_view, string_view) { return refusal::unknown_label; }
  template <class Executor, class... A>
  void operator()(const Executor&, A&&...) const {}
};

namespace detail {

/// Can fn be called with expressions for these tensor types?
template <class Fn, class... T>
constexpr bool takes_arguments() {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return std::is_invocable_v<Fn, expr<T::type, argument_extents<T, static_cast<int>(I)>::shape>...>;
  }
  (std::index_sequence_for<T...>{});
}

template <options Options, class Fn, class... T>
constexpr auto checked_fuse() {
  constexpr bool is_stateless = std::is_empty_v<Fn> && std::is_default_constructible_v<Fn>;
  static_assert(is_stateless,
                "fuse(fn): the function has captures or state; pass run-time values as value<T> or tensor arguments");
  constexpr bool are_tensors = ((is_tensor<T> || is_value<T>)&&...);
  static_assert(are_tensors,
                "fuse<T...>(fn): a T is not a tensor, strided_tensor or value type; give the type of each argument");
  if constexpr (is_stateless && are_tensors) {
    constexpr bool fits = takes_arguments<Fn, T...>();
    static_assert(fits, "fuse<T...>(fn): fn cannot be called with one expression per T; check the number of types");
    if constexpr (fits) {
      constexpr const extent_map& first = unified_extents<Fn, T...>;
      static_assert(
          !first.assigned_to_value,
          "assign(target, value): the target is neither an input nor a view of one; return the value as a result");
      static_assert(!first.overflowed,
                    "fuse(fn): the function has more than 1024 nodes; split it into several fused functions");
      if constexpr (!first.refused && !first.assigned_to_value && !first.overflowed) return fused<Options, Fn, T...>{};
      else return sinter::refused{};
    } else {
      return sinter::refused{};
    }
  } else {
    return sinter::refused{};
  }
}

}  // namespace detail

/// Schedules `fn` (a function of expressions without captures) for arguments of types T... with the preset `standard`.
/// fn returns an expression, a std::tuple of them, or what assign returns. The result is a constant; see fused.
template <class... T, class Fn>
constexpr auto fuse(Fn) {
  return detail::checked_fuse<standard, Fn, T...>();
}
/// The same with a preset (`eager`, `standard`, `max_autotune`, `max_fusion`) or options of one's own.
template <options Options, class... T, class Fn>
constexpr auto fuse(Fn) {
  return detail::checked_fuse<Options, Fn, T...>();
}

}  // namespace sinter
