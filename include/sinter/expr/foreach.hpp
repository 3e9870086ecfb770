// foreach: one function applied to the members of lists, side by side, as one kernel. Which of its results are stored,
// and what else the kernel takes in, is the scheduler's matter (schedule/foreach.hpp).
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tuple>
#include <utility>

#include "sinter/expr/expr.hpp"
#include "sinter/expr/refuse.hpp"

namespace sinter {
namespace detail {

template <class T>
inline constexpr int length_of_list = -1;  // not a list: for all members
template <class... T>
inline constexpr int length_of_list<std::tuple<T...>> = static_cast<int>(sizeof...(T));

/// The common length of the lists among A, -1 if there are none, -2 if they differ.
template <class... A>
constexpr int common_length() {
  int length = -1;
  for (int n : {length_of_list<A>..., -1})
    if (n >= 0) length = length == -1 || length == n ? n : -2;
  return length;
}

template <std::size_t I, class A>
constexpr const auto& member_of(const A& a) {
  if constexpr (length_of_list<A> >= 0) return std::get<I>(a);
  else return a;
}

/// The graph that the first expression among the arguments and the lists' members belongs to, or null.
template <class... A>
constexpr trace* graph_in(const A&... a) {
  trace* found = nullptr;
  const auto look = [&found](const auto& one) {
    using type = std::remove_cvref_t<decltype(one)>;
    if (found != nullptr) return;
    if constexpr (is_expr<type>) found = one.graph();
    else if constexpr (length_of_list<type> > 0)
      found = std::apply([](const auto&... each) { return graph_in(each...); }, one);
  };
  (look(a), ...);
  return found;
}
template <class T>
inline constexpr bool has_expression = is_expr<T>;
template <class... T>
inline constexpr bool has_expression<std::tuple<T...>> = (has_expression<T> || ...);

/// What fn returns for one member; nothing is something as well.
template <class Fn, class... A>
constexpr auto call_member(const Fn& fn, const A&... a) {
  if constexpr (std::is_void_v<std::invoke_result_t<const Fn&, const A&...>>) {
    fn(a...);
    return assigned{};
  } else {
    return fn(a...);
  }
}

/// fn for the I-th members: a user-level call of its own, and a member of the list that is open. No origin_scope: of
/// many that live while a result is returned, nvcc's front end forgets some destructors, and the host compiler none.
template <std::size_t I, class Fn, class... A>
constexpr auto foreach_member(trace* t, const Fn& fn, const A&... a) {
  if (t->call.empty()) t->member = static_cast<short>(I);
  const bool outermost = t->call.empty();
  if (outermost) t->call = "foreach", t->call_origin = -1;
  auto result = call_member(fn, member_of<I>(a)...);
  if (outermost) t->call = {}, t->call_origin = -1;
  return result;
}
template <class Fn, class... A, std::size_t... I>
constexpr auto foreach_members(trace* t, std::index_sequence<I...>, const Fn& fn, const A&... a) {
  using results = std::tuple<decltype(foreach_member<I>(t, fn, a...))...>;
  const list_scope list(t);
  return results{foreach_member<I>(t, fn, a...)...};  // braces: in order
}

template <std::size_t I, class Fn, class... A>
inline constexpr bool takes_member =
    std::is_invocable_v<const Fn&, decltype(member_of<I>(std::declval<const A&>()))...>;
template <class Fn, class... A, std::size_t... I>
constexpr bool takes_members(std::index_sequence<I...>) {
  return (takes_member<I, Fn, A...> && ... && true);
}

template <class Fn, class... A>
constexpr auto foreach_of(const Fn& fn, const A&... a) {
  constexpr int length = common_length<A...>();
  constexpr bool has_graph = (has_expression<A> || ...);
  using members = std::make_index_sequence < length<0 ? 0 : length>;
  constexpr bool fits = takes_members<Fn, A...>(members{});
  foreach_lists<length, has_graph>();
  foreach_function<fits>();
  if constexpr (has_graph && length >= 0 && fits) {
    return foreach_members(graph_in(a...), members{}, fn, a...);
  } else {
    if (trace* t = graph_in(a...)) t->refused = true;
    return std::tuple<>{};
  }
}

template <std::size_t... I, class All>
constexpr auto foreach_all(std::index_sequence<I...>, const All& all) {
  return foreach_of(std::get<sizeof...(I)>(all), std::get<I>(all)...);
}

}  // namespace detail

/// foreach(lists..., fn): fn applied to the first members of the lists, to the second ones, …, all in one kernel where
/// the results are pointwise or reductions; returns the std::tuple of what fn returns. A list is a std::tuple of
/// expressions or scalars, all of one length; any other argument (an expression, a scalar) is the same for all members.
/// fn may capture, may assign, may return a tuple or nothing. Source: torch._foreach_*.
template <class... A>
requires(sizeof...(A) >= 2) constexpr auto foreach (const A&... arguments) {
  return detail::foreach_all(std::make_index_sequence<sizeof...(A) - 1>{}, std::tuple<const A&...>(arguments...));
}

}  // namespace sinter
