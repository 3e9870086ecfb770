// From a lowered kernel (values) to body types: the one place where a constexpr instruction becomes a type.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <utility>

#include "sinter/kernels/body.hpp"
#include "sinter/schedule/lower_group.hpp"

namespace sinter::detail {

/// `Kernel::value` is a lowered_kernel, `Kernel::scalars` the graph's scalar table.
template <class Kernel>
struct speller {
  static constexpr long spelled(number n) {
    if (is_static(n)) return n;
    for (int i = 0; i < Kernel::value.sizes.size(); ++i)
      if (Kernel::value.sizes[i] == n) return dynamic_number(i);
    return 0;
  }
  template <int Access, class = std::make_integer_sequence<int, Kernel::value.accesses[Access].size>>
  struct access;
  template <int Access, int... T>
  struct access<Access, std::integer_sequence<int, T...>> {
    static constexpr access_form f = Kernel::value.accesses[Access];
    using type =
        at<spelled(f.offset),
           term<f.terms[T].variable, spelled(f.terms[T].div), spelled(f.terms[T].mod), spelled(f.terms[T].coef)>...>;
  };

  static constexpr long bits_of(dtype type, const scalar_source& s) {
    if (!is_floating(type)) return type == dtype::boolean ? (s.real != 0 || s.integer != 0) : s.integer;
    return std::bit_cast<long>(s.real);
  }

  template <int Position>
  static constexpr auto statement() {
    constexpr instruction i = Kernel::value.code[Position];
    using T = storage_t<i.type>;
    using Result = storage_t<i.result>;
    if constexpr (i.code == opcode::load) return load<i.buffer, T, typename access<i.access>::type, i.mask>{};
    else if constexpr (i.code == opcode::gather_load)
      return gather_load<i.buffer, T, typename access<i.access>::type, i.a, spelled(i.low), spelled(i.high), i.mask>{};
    else if constexpr (i.code == opcode::scalar) return scalar<i.buffer, T>{};
    else if constexpr (i.code == opcode::constant) return constant<T, bits_of(i.type, Kernel::scalars[i.buffer])>{};
    else if constexpr (i.code == opcode::index_value) return index_value<typename access<i.access>::type>{};
    else if constexpr (i.code == opcode::inside)
      return inside<typename access<i.access>::type, spelled(i.low), spelled(i.high)>{};
    else if constexpr (i.code == opcode::compute)
      return compute<typename op_tag_of<i.what>::type, T, Result, i.a, i.b, i.c>{};
    else if constexpr (i.code == opcode::cast) return cast_to<T, Result, i.a>{};
    else if constexpr (i.code == opcode::widen) return widen_to<T, Result, i.a>{};
    else if constexpr (i.code == opcode::reduce) return reduce<typename op_tag_of<i.what>::type, T, Result, i.a>{};
    else if constexpr (i.code == opcode::scan) return scan<typename op_tag_of<i.what>::type, T, Result, i.a>{};
    else if constexpr (i.code == opcode::store)
      return store<i.buffer, T, i.a, typename access<i.access>::type, i.mask>{};
    else if constexpr (i.code == opcode::scatter_store)
      return scatter_store<i.buffer, T, i.a, typename access<i.access>::type, i.b, spelled(i.low), spelled(i.high),
                           i.mask>{};
    else if constexpr (i.code == opcode::accumulator) return accumulator<i.a, T>{};
    else return yield_value<T, i.a>{};
  }

  template <int First, int... I>
  static constexpr auto spell(std::integer_sequence<int, I...>) {
    return body<decltype(statement<First + I>())...>{};
  }
  template <int Section>
  using section_body = decltype(spell<Kernel::value.sections[Section].first>(
      std::make_integer_sequence<int, Kernel::value.sections[Section].count>{}));
};

}  // namespace sinter::detail
