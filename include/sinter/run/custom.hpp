// Calls a custom op: its arrays with their pointers, extents and strides.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/run/call.hpp"

namespace sinter::detail {

/// The custom op that kernel Index is, or -1.
template <class Program, int Index>
inline constexpr int custom_node = [] {
  const auto& s = Program::plan.fusion.state;
  const int root = s.list.nodes[s.groups[Program::plan.kernels[Index].group].min_order].root;
  return Program::g[root].what == op::custom ? root : -1;
}();

template <class Program, int Node>
custom_array custom_array_of(const call<Program>& c) {
  using plan = recipe<Program>;
  constexpr int memory = memory_of(Program::g, Node);
  constexpr auto extents_of = [] {
    std::array<number_source, max_rank> e{};
    const extents& shape = Program::g.shape(Node);
    for (int d = 0; d < shape.rank; ++d) e[static_cast<std::size_t>(d)] = plan::source(shape[d]);
    return e;
  }();
  constexpr pointer_source where = plan::pointer(Node);
  custom_array a{};
  a.data = c.pointer(where);
  a.type = Program::g[Node].type;
  a.rank = Program::g.shape(Node).rank;
  std::int64_t stride = 1;
  for (int d = a.rank - 1; d >= 0; --d) {
    a.extents[d] = c.value(extents_of[static_cast<std::size_t>(d)]);
    a.strides[d] = Program::g[memory].what == op::input ? c.arguments[Program::g[memory].attr].strides[d] : stride;
    stride *= a.extents[d];
  }
  return a;
}

template <class Program, int Index>
void run_custom(const call<Program>& c, bool on_cuda, void* stream) {
  constexpr int id = custom_node<Program, Index>;
  constexpr node n = Program::g[id];
  constexpr custom_function f = Program::g.customs[n.attr];
  const auto function = on_cuda ? f.cuda : f.host;
  if (function == nullptr)
    throw argument_error(text_of({"custom op ", f.name, " has no function for ", on_cuda ? "CUDA" : "the host",
                                  "; give it one, or run elsewhere"}));
  custom_call arrays{};
  [&]<int... K>(std::integer_sequence<int, K...>) {
    ((arrays.operands[K] = custom_array_of<Program, n.operands[K]>(c)), ...);
  }
  (std::make_integer_sequence<int, n.num_operands()>{});
  arrays.result = custom_array_of<Program, id>(c);
  arrays.stream = stream;
  if (arrays.result.numel() > 0) function(arrays);
}

}  // namespace sinter::detail
