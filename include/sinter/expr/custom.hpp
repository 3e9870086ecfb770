// custom<Op>(x, ...): a kernel of the user's as a node of the graph. The plan gives it memory, its place in the order
// and a name; nothing is fused with it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include "sinter/expr/expr.hpp"

namespace sinter {
namespace detail {

template <class Op>
concept names_itself = requires { string_view(Op::name); };
template <class Op>
concept runs_on_host = requires(const custom_call& c) { Op::host(c); };
template <class Op>
concept runs_on_cuda = requires(const custom_call& c) { Op::cuda(c); };
template <class Op, class... X>
concept says_its_result = requires(X... x) { Op::like(x...); };

/// An expression type of the result's dtype and extents: what Op::like returns, else the first operand's.
template <class Op, class First, class... X>
constexpr auto result_type() {
  if constexpr (says_its_result<Op, First, X...>)
    return static_cast<decltype(Op::like(std::declval<First>(), std::declval<X>()...))*>(nullptr);
  else
    return static_cast<First*>(nullptr);
}

template <class Op, int Operands>
constexpr void custom_op() {
  static_assert(names_itself<Op>,
                "custom<Op>(x...): Op has no static constexpr name; the plan's kernels are named by it");
  static_assert(runs_on_host<Op> || runs_on_cuda<Op>,
                "custom<Op>(x...): Op has neither host(const custom_call&) nor cuda(const custom_call&); give it one");
  static_assert(Operands <= max_custom_operands,
                "custom<Op>(x...): there are more than three operands; concat some of them");
}

}  // namespace detail

/// The result of Op on x...: an array of Op::like(x...)'s dtype and extents, by default those of the first operand. Op
/// is a type with `static constexpr const char* name`, or any text, and `static void host(const custom_call&)` or
/// `static void cuda(const custom_call&)` or both, which write every element of call.result and only those.
template <class Op, dtype T, extents S, class... X>
  requires(detail::is_expr<X> && ...)
constexpr auto custom(expr<T, S> first, X... rest) {
  using result = std::remove_pointer_t<decltype(detail::result_type<Op, expr<T, S>, X...>())>;
  constexpr int num_operands = 1 + sizeof...(X);
  constexpr bool fits = detail::names_itself<Op> && (detail::runs_on_host<Op> || detail::runs_on_cuda<Op>) &&
                        num_operands <= max_custom_operands;
  trace* t = first.graph();
  if constexpr (!fits) {
    detail::custom_op<Op, num_operands>();
    t->refused = true;
    return result(t, first.id());
  } else {
    const origin_scope call(t, Op::name);
    custom_function f{};
    f.name = Op::name;
    if constexpr (detail::runs_on_host<Op>) f.host = &Op::host;
    if constexpr (detail::runs_on_cuda<Op>) f.cuda = &Op::cuda;
    node n{};
    n.what = op::custom;
    n.type = result::type;
    n.shape = t->intern(result::shape);
    n.attr = static_cast<short>(t->customs.push_back(f));  // a place of its own: two calls are never merged
    const short operands[] = {first.id(), rest.id()...};
    for (int k = 0; k < num_operands; ++k) n.operands[k] = operands[k];
    return result(t, t->add(n));
  }
}

}  // namespace sinter
