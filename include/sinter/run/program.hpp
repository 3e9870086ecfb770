// The constants of a fused function: its graph, its plan, its lowered kernels. Each is an evaluation of its own, made
// only when something asks for it: a static_assert on the kernel count never lowers a kernel.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "sinter/expr/foreach.hpp"
#include "sinter/expr/hint.hpp"
#include "sinter/expr/nn.hpp"
#include "sinter/expr/tensor.hpp"
#include "sinter/graph/rewrite.hpp"
#include "sinter/graph/verify.hpp"
#include "sinter/kernels/body.hpp"
#include "sinter/schedule/concat_parts.hpp"
#include "sinter/schedule/label.hpp"
#include "sinter/schedule/lower_group.hpp"
#include "sinter/schedule/online_softmax.hpp"
#include "sinter/schedule/reinplace.hpp"
#include "sinter/schedule/verify.hpp"

namespace sinter::detail {

/// Replacements of run-time extents that a first tracing found to be one extent.
struct extent_map {
  fixed_vector<trace::equality, 64> entries{};                          ///< a becomes b
  bool refused = false, assigned_to_value = false, overflowed = false;  ///< what that tracing says of the function

  constexpr number operator()(number n) const {
    for (const auto& e : entries)
      if (e.a == n) return e.b;
    return n;
  }
  constexpr extents operator()(extents e) const {
    for (int d = 0; d < e.rank; ++d) e[d] = (*this)(e[d]);
    return e;
  }
};

/// What a traced function returns, as outputs.
template <class R>
inline constexpr bool is_result = is_expr<R> || std::is_same_v<R, assigned>;
template <class... R>
inline constexpr bool is_result<std::tuple<R...>> = (is_result<R> && ...);

/// What lies in memory already, or is a result already, is copied.
constexpr void add_output(trace& t, short id, const extents& shape) {
  const op what = t.nodes[id].what;
  if (t.outputs.contains(id) || what == op::input || what == op::constant || what == op::scalar || what == op::assign) {
    const origin_scope call(&t, "clone");
    node n{};
    n.what = op::clone;
    n.type = t.nodes[id].type;
    n.shape = t.intern(shape);
    n.operands[0] = broadcasted(&t, id, shape);
    n.attr = static_cast<short>(t.outputs.size());
    id = t.add(n);
  }
  t.outputs.push_back(id);
}
template <class R>
constexpr void add_outputs(trace& t, const R& result) {
  if constexpr (is_expr<R>) add_output(t, result.id(), R::shape);
  else if constexpr (!std::is_same_v<R, assigned>)
    std::apply([&](const auto&... each) { (add_outputs(t, each), ...); }, result);
}

template <const extent_map& Map, class Fn, class... T>
struct tracer {
  template <int Argument, class Tensor>
  static constexpr extents shape = Map(argument_extents<Tensor, Argument>::shape);

  template <int Argument, class Tensor>
  static constexpr short add_input(trace& t) {
    node n{};
    n.what = op::input;
    n.type = Tensor::type;
    n.shape = t.intern(shape<Argument, Tensor>);
    n.attr = Argument;
    const short id = t.add(n);
    if constexpr (is_value<Tensor>) {
      t.inputs.push_back({id, false, true, {}});
    } else {
      t.inputs.push_back({id, Tensor::strided, false, layout_of_type<Tensor>()});
      for (int d = 0; d < Tensor::rank; ++d)
        t.numbers.define(shape<Argument, Tensor>[d], number_rule::input_extent, Argument, d,
                         hint_of(extent_names<Tensor>::hint(d)));
    }
    return id;
  }
  template <class Tensor>
  static constexpr extents layout_of_type() {
    if constexpr (has_layout<Tensor>) return Tensor::layout;
    else return {};
  }
  static constexpr long hint_of(long hint) { return hint > 0 ? hint : default_hint; }

  template <std::size_t... I>
  static constexpr trace run(std::index_sequence<I...>) {
    trace t{};
    const short ids[] = {add_input<static_cast<int>(I), T>(t)..., 0};
    using result = std::invoke_result_t<Fn, expr<T::type, shape<static_cast<int>(I), T>>...>;
    static_assert(
        is_result<result>,
        "fuse(fn): fn returns something else than an expression, a std::tuple of them, or what assign returns");
    if constexpr (is_result<result>) add_outputs(t, Fn{}(expr<T::type, shape<static_cast<int>(I), T>>(&t, ids[I])...));
    else t.refused = true;
    return t;
  }
  static constexpr trace run() { return run(std::index_sequence_for<T...>{}); }
};

inline constexpr extent_map no_extent_map{};

/// Which run-time extents are one: the classes of the equalities that a first tracing met.
template <class Fn, class... T>
constexpr extent_map unify_extents() {
  extent_map map{};
  const trace t = tracer<no_extent_map, Fn, T...>::run();
  map.refused = t.refused, map.assigned_to_value = t.assigned_to_value;
  map.overflowed = t.overflowed() || t.equalities.overflowed || t.versions.overflowed;
  const auto is_argument_extent = [&](number n) {
    const int i = t.numbers.find(n);
    return i >= 0 && t.numbers.definitions[i].rule == number_rule::input_extent;
  };
  for (const auto& e : t.equalities) {
    const number a = map(e.a), b = map(e.b);
    if (a == b) continue;
    const bool keep_a = is_static(a) || !is_argument_extent(b);
    const number gone = keep_a ? b : a, kept = keep_a ? a : b;
    if (!is_argument_extent(gone)) continue;  // a derived extent: only the call can check
    for (int i = 0; i < map.entries.size(); ++i)
      if (map.entries[i].b == gone) map.entries.items[i].b = kept;
    map.entries.push_back({gone, kept});
  }
  return map;
}

template <class Fn, class... T>
inline constexpr extent_map unified_extents = unify_extents<Fn, T...>();

/// The smallest graph size that holds a trace. Small ones are few, so that programs share their passes; sets of a large
/// one are no larger than they must be.
constexpr int tier_of(const trace& t) {
  for (int capacity = 32; capacity < max_nodes; capacity += capacity < 128 ? capacity : 64)
    if (t.nodes.size() + 8 <= capacity && t.lists.size() + 8 <= capacity / 2 + 32 &&
        t.scalars.size() + 8 <= capacity / 2 + 16 && t.inputs.size() <= capacity / 4 + 32 &&
        t.outputs.size() <= capacity / 4 + 32 && t.numbers.definitions.size() + 32 <= capacity / 2 + 64)
      return capacity;
  return max_nodes;
}

/// Instantiated only to fail.
template <int Given, int Wanted>
constexpr void run_time_extents() {
  static_assert(
      Given == Wanted,
      "f.figure(extents...): the number of extents is wrong; give each run-time extent, in order of first appearance");
}

struct trace_facts {
  int capacity = 0;
  bool overflowed = false;
};

inline constexpr int max_parameter_bytes = 32764;  // CUDA's limit since 12.1, compute capability 7.0

template <options Options, class Fn, class... T>
struct program {
  using trace_run = tracer<unified_extents<Fn, T...>, Fn, T...>;
  static constexpr trace_facts traced = [] {
    const trace t = trace_run::run();
    return trace_facts{tier_of(t), t.overflowed() || t.equalities.overflowed || t.versions.overflowed};
  }();
  static_assert(!traced.overflowed,
                "fuse(fn): the function has more than 1024 nodes; split it into several fused functions");

  static constexpr options chosen = Options;
  static constexpr auto source = resize<traced.capacity>(static_cast<const graph<max_nodes>&>(trace_run::run()));
  static constexpr auto g = [] {
    auto rewritten = rewrite(source);
    if (merge_online_softmax(rewritten, chosen)) rewritten = rewrite(rewritten);
    return reinplace(write_concats_in_parts(rewritten, chosen));
  }();
  static_assert(verify(g), "sinter: the graph failed its own verification; please report this function");
  static constexpr int num_inputs = sizeof...(T);
  static constexpr int num_outputs = g.outputs.size();

  static constexpr auto realized = realize(g, chosen);
  static constexpr auto nodes = make_nodes(g, realized, chosen);
  static_assert(!nodes.blocked,
                "assign(target, value): the target is a part of a reshape that no index expression describes; assign "
                "to a slice of the input itself");
  static_assert(!nodes.overflowed(),
                "fuse(fn): the plan has more dependencies than the scheduler holds; split the function");
  static constexpr auto fusion = fuse_nodes(g, chosen, nodes);
  static_assert(!fusion.overflowed, "fuse(fn): more pairs can be fused than one round holds; split the function");
  static constexpr auto plan = make_plan(fusion);
  static_assert(verify(plan), "sinter: the plan failed its own verification; please report this function");

  static constexpr int num_kernels = plan.kernels.size();

  /// Run-time extents that only the call can compare.
  static constexpr auto equalities = [] {
    fixed_vector<trace::equality, 64> left{};
    const trace t = trace_run::run();
    for (const auto& e : t.equalities) left.push_back(e);
    return left;
  }();

  static constexpr string_view extent_name(int argument, int d) {
    string_view names[] = {extent_name_of<T>(argument < num_inputs ? d : 0)..., string_view{}};
    if (argument < num_inputs) return names[argument];
    // An output's dimension has the name of the input dimension with the same number.
    const number n = g.shape(g.outputs[argument - num_inputs])[d];
    for (int i = 0; i < num_inputs; ++i)
      for (int k = 0; k < g.shape(g.inputs[i].node).rank; ++k)
        if (g.shape(g.inputs[i].node)[k] == n && is_symbolic(n)) return extent_name(i, k);
    return {};
  }
  template <class Tensor>
  static constexpr string_view extent_name_of(int d) {
    if constexpr (is_value<Tensor>) return {};
    else return d < Tensor::rank ? extent_names<Tensor>::name(d) : string_view{};
  }

  /// A function from numbers to values, given the run-time extents in order of first appearance.
  template <class... E>
  static constexpr auto with_extents(E... extents) {
    constexpr const auto& table = plan.fusion.state.list.numbers;
    constexpr int wanted = [] {
      int n = 0;
      for (const auto& d : plan.fusion.state.list.numbers.definitions) n += d.rule == number_rule::input_extent;
      return n;
    }();
    if constexpr (sizeof...(E) != wanted) run_time_extents<sizeof...(E), wanted>();
    struct evaluator {
      std::int64_t values[table.definitions.size() + 1]{};
      constexpr std::int64_t operator()(number n) const { return evaluate(n, plan.fusion.state.list.numbers, values); }
    };
    evaluator e{};
    const std::int64_t given[wanted + sizeof...(E) + 1] = {static_cast<std::int64_t>(extents)...};
    int next = 0;
    for (int i = 0; i < table.definitions.size(); ++i) {
      const number_definition& d = table.definitions[i];
      switch (d.rule) {
        case number_rule::input_extent:
          e.values[i] = given[next++];
          break;
        case number_rule::input_stride:
          e.values[i] = 1;
          break;
        case number_rule::product:
          e.values[i] = e(d.a) * e(d.b);
          break;
        case number_rule::sum:
          e.values[i] = e(d.a) + e(d.b);
          break;
        case number_rule::quotient:
          e.values[i] = e(d.b) == 0 ? 0 : e(d.a) / e(d.b);
          break;
      }
    }
    return e;
  }

  static constexpr refusal why_not_fused(string_view first, string_view second) {
    const int a = node_labelled(g, nodes, first), b = node_labelled(g, nodes, second);
    const auto& s = plan.fusion.state;
    if (a < 0 || b < 0) return refusal::unknown_label;
    if (s.group_of[a] == s.group_of[b]) return refusal::none;
    const int last = last_verdict(plan.fusion, s.group_of[a], s.group_of[b]);
    return last < 0 ? refusal::no_shared_data : plan.fusion.log[last].reason;
  }

  static constexpr auto labels = [] {
    fixed_vector<node_label, nodes.nodes.size()> all{};
    for (int n = 0; n < nodes.nodes.size(); ++n) all.push_back(label_of(g, nodes, n));
    return all;
  }();
  /// The rounds once more, with everything written down: only for who asks for the log.
  template <int Length>
  static constexpr auto recorded = fuse_nodes<full_recorder<Length>>(g, chosen, nodes).log;

  /// A kernel's name, in no more memory than it needs.
  template <int Index>
  static constexpr int name_length = name_kernel(plan, Index).length;
  template <int Index>
  static constexpr auto name = [] {
    text_buffer<name_length<Index>> exact{};
    exact.append(name_kernel(plan, Index).view());
    return exact;
  }();

  template <int Index>
  static constexpr int num_parts = plan.kernels[Index].num_parts;
  /// Its two parts are rows and columns of one space, and have one set of arguments: that of part 1, x and r exchanged.
  template <int Index>
  static constexpr bool is_mix_order =
      num_parts<Index> > 1 && plan.kernels[Index].kind == kernel_kind::persistent_reduction;

  /// One kernel, or one part of it, lowered.
  template <int Index, int Part = 0>
  struct kernel {
    static constexpr lowered_extent extent = [] {
      const lowered_kernel<> all = lower_group(plan, Index, Part);  // of a temporary nvcc keeps every element: 16 MB
      return extent_of(all);
    }();
    static constexpr auto value =
        fitted<extent.instructions, extent.accesses, extent.slots, extent.numbers>(lower_group(plan, Index, Part));
    static constexpr auto& scalars = g.scalars;
    static constexpr planned_kernel planned = choose_part(plan, Index, Part);
    static_assert(!value.blocked, "sinter: a fused access cannot be indexed; please report this function");
    static_assert(!value.overflowed,
                  "fuse(fn): one kernel has more instructions than the lowering holds; lower options.max_fusion_size");
    static_assert(name_length<Index> < max_name,
                  "fuse(fn): a kernel's name is longer than 4 KiB; lower options.max_fusion_size");
  };
};

}  // namespace sinter::detail
