// The expression: what a user's function receives and returns. Its type says element type and extents, so that shape
// mistakes are compile errors at the very call; its value is a place in the graph that is being traced.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <type_traits>

#include "sinter/graph/build.hpp"

namespace sinter {

namespace detail::operators {
/// What is derived from it finds the operators of expressions. Nothing else does: a compiler would weigh them wherever
/// this library compares two of its own enumerators.
struct base {};
}  // namespace detail::operators

/// An array of element type `Type` and extents `Shape` that a fused function computes.
template <dtype Type, extents Shape>
class expr : detail::operators::base {
 public:
  static constexpr dtype type = Type;
  static constexpr extents shape = Shape;
  static constexpr int rank = Shape.rank;

  constexpr expr(trace* graph, short id) : graph_(graph), id_(id) {}
  constexpr trace* graph() const { return graph_; }
  /// The node, in its newest version if an input was assigned since.
  constexpr short id() const { return graph_->current(id_); }

 private:
  trace* graph_;
  short id_;
};

/// What an assignment returns: it may be returned from a fused function to say that it happens, and takes no output.
struct assigned {};

/// A compile-time constant in an expression, `x * c<2>`: the rewriter may fold it. Types: bool, integers, floating.
template <auto Value>
struct constant_operand {
  static constexpr auto value = Value;
};
template <auto Value>
inline constexpr constant_operand<Value> c{};

namespace detail {

template <class T>
inline constexpr bool is_expr = false;
template <dtype T, extents S>
inline constexpr bool is_expr<expr<T, S>> = true;

template <class T>
inline constexpr bool is_constant_operand = false;
template <auto V>
inline constexpr bool is_constant_operand<constant_operand<V>> = true;

template <class T>
concept scalar_operand = std::is_arithmetic_v<T> || is_constant_operand<T>;
template <class T>
concept operand = is_expr<T> || scalar_operand<T>;

/// The traced graph of the first expression among the operands.
template <class A, class... Rest>
constexpr trace* graph_of(const A& a, const Rest&... rest) {
  if constexpr (is_expr<A>)
    return a.graph();
  else
    return graph_of(rest...);
}

template <class T>
constexpr category category_of() {
  if constexpr (is_constant_operand<T>)
    return category_of<std::remove_const_t<decltype(T::value)>>();
  else
    return std::is_same_v<T, bool>         ? category::boolean
           : std::is_floating_point_v<T> ? category::floating
                                           : category::integral;
}

template <class T>
constexpr scalar_source scalar_of(T value) {
  if constexpr (is_constant_operand<T>)
    return scalar_of(T::value);
  else if constexpr (std::is_floating_point_v<T>)
    return {static_cast<double>(value), convert<std::int64_t, double>(static_cast<double>(value)), 0};
  else
    return {static_cast<double>(value), static_cast<long>(value), 0};
}

/// The element type of an op's operands: tensors promote among themselves, scalars only lift the category.
template <class... A>
constexpr dtype common_type() {
  bool first = true;
  dtype type = dtype::boolean;
  auto tensor = [&](dtype d) {
    type = first ? d : promote(type, d);
    first = false;
  };
  ([&] {
    if constexpr (is_expr<A>) tensor(A::type);
  }(), ...);
  ([&] {
    if constexpr (!is_expr<A>) type = promote_scalar(type, category_of<A>());
  }(), ...);
  return type;
}

/// The common shape of the operands (scalars have none).
template <class... A>
constexpr broadcast_result common_shape() {
  broadcast_result all{};
  ([&] {
    if constexpr (is_expr<A>) {
      const broadcast_result next = broadcast(all.shape, A::shape);
      const extents shape = next.shape;
      if (all.ok) all = next;
      all.shape = shape;
    }
  }(), ...);
  return all;
}

/// Operand as a node of element type `type`, by implicit promotion (no rounding in floating types).
constexpr short widened(trace* t, short id, dtype type) {
  if (t->nodes[id].type == type) return id;
  return t->add(op::widen, type, t->shape(id), id);
}
/// A node of shape `shape` with the elements of `id` repeated.
constexpr short expanded(trace* t, short id, const extents& shape) {
  if (t->shape(id) == shape) return id;
  t->require_equal(t->shape(id), shape);
  return t->add(op::broadcast, t->nodes[id].type, shape, id);
}
/// Operand as a node of shape `shape`. Scalars have no indices to broadcast over.
constexpr short broadcasted(trace* t, short id, const extents& shape) {
  return t->nodes[id].what == op::constant || t->nodes[id].what == op::scalar ? id : expanded(t, id, shape);
}

/// Any operand as a node of the given type and shape. A scalar stays rank 0: it has no indices to broadcast over.
template <class A>
constexpr short node_of(trace* t, const A& a, dtype type, const extents& shape) {
  if constexpr (is_expr<A>)
    return broadcasted(t, widened(t, a.id(), type), shape);
  else if constexpr (is_constant_operand<A>)
    return t->add_constant(type, scalar_of(a));
  else
    return t->add_scalar(type, scalar_of(a));
}

}  // namespace detail
}  // namespace sinter
