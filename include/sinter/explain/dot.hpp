// to_dot: the plan as Graphviz. Nodes are grouped by kernel; a refused fusion is a dashed edge with its reason.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/explain/explain.hpp"

namespace sinter {

/// The graph and plan of a fused function in Graphviz's language: `dot -Tsvg`.
template <class Fused>
std::string to_dot(const Fused&) {
  constexpr const auto& p = Fused::plan();
  const auto& s = p.fusion.state;
  const auto& g = Fused::graph();
  const auto node_name = [](int n) { return std::string("n") + std::to_string(n); };
  const auto buffer_name = [](int b) { return std::string("b") + std::to_string(b); };
  std::string text = "digraph plan {\n  rankdir=TB;\n  node [shape=box, style=rounded];\n";
  for (const input_info& i : g.inputs)
    text += "  " + buffer_name(i.node) + " [label=\"" + detail::buffer_text(g, i.node) + "\", shape=ellipse];\n";
  for (int k = 0; k < Fused::kernel_count(); ++k) {
    text += "  subgraph cluster_" + std::to_string(k) + " {\n    label=\"" + std::string(Fused::kernel(k).name) + "\";\n";
    s.each_member(p.kernels[k].group, -1, [&](int m) {
      const int root = s.list.nodes[m].root;
      text += "    " + node_name(m) + " [label=\"" + detail::call_text(g, root) + "\\n" + detail::shape_text(g, root) + "\"];\n";
    });
    text += "  }\n";
  }
  for (int k = 0; k < g.outputs.size(); ++k) {
    text += "  out" + std::to_string(k) + " [label=\"output " + std::to_string(k) + "\", shape=ellipse];\n";
    text += "  " + node_name(s.list.node_of(g.outputs[k])) + " -> out" + std::to_string(k) + ";\n";
  }
  for (int m = 0; m < s.list.nodes.size(); ++m)
    for (int k = 0; k < s.list.nodes[m].num_dependencies; ++k) {
      const detail::dependency& d = s.list.dependencies[s.list.nodes[m].first_dependency + k];
      if (d.write) continue;
      const int producer = s.list.node_of(d.buffer);
      text += "  " + (producer < 0 ? buffer_name(d.buffer) : node_name(producer)) + " -> " + node_name(m) + ";\n";
    }
  for (const auto& v : p.fusion.log) {
    if (s.group_of[v.first] == s.group_of[v.second] || v.reason == refusal::none) continue;
    text += "  " + node_name(v.first) + " -> " + node_name(v.second) + " [style=dashed, constraint=false, color=gray, label=\"" +
            std::string(sentence(v.reason)) + "\"];\n";
  }
  return text + "}\n";
}

}  // namespace sinter
