// to_dot: the plan as Graphviz. Nodes are grouped by kernel; a refused fusion is a dashed line with its reason.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/explain/report.hpp"
#include "sinter/explain/views.hpp"

namespace sinter {

namespace detail::views {

/// A string in Graphviz's language. "\n" in `text` is a line break.
inline string dot_string(string_view text) {
  string quoted = "\"";
  for (char c : text) {
    if (c == '\n')
      quoted += "\\n";
    else if (c == '&')
      quoted += "&amp;";
    else if (c == '"' || c == '\\')
      append(quoted, {"\\", string_view(&c, 1)});
    else
      quoted += c;
  }
  return quoted + "\"";
}

/// Lines of about `width` characters, broken at spaces.
inline string wrapped(string_view text, std::size_t width) {
  string lines;
  std::size_t column = 0;
  for (char c : text) {
    const bool breaks = c == ' ' && column >= width;
    lines += breaks ? '\n' : c;
    column = breaks ? 0 : column + 1;
  }
  return lines;
}

string dot_text(const auto& r) {
  const auto id = [](int i) { return text_of({"n", i}); };
  const auto node = [&](int i) { return id(i) + " [label=" + dot_string(r.items[i].label + "\n" + r.items[i].shape); };
  string text = "digraph plan {\n  rankdir=TB;\n  node [shape=box, style=rounded];\n";
  for (int i = 0; i < r.num_inputs; ++i) text += "  " + node(i) + ", shape=ellipse];\n";
  for (int k = 0; k < r.num_kernels(); ++k) {
    text += "  subgraph cluster_" + to_string(k) + " {\n    label=" + dot_string(r.kernels[k].name) + ";\n";
    for (int i = r.num_inputs; i < r.num_items(); ++i)
      if (r.items[i].kernel == k) text += "    " + node(i) + "];\n";
    text += "  }\n";
  }
  for (int i = r.num_inputs; i < r.num_items(); ++i) {
    for (int from : r.items[i].reads) text += "  " + id(from) + " -> " + id(i) + ";\n";
    for (int k : r.items[i].outputs) {
      const string output = "out" + to_string(k);
      text += "  " + output + " [label=\"output " + to_string(k) + "\", shape=ellipse];\n";
      text += "  " + id(i) + " -> " + output + ";\n";
    }
  }
  for (const report::verdict& v : r.verdicts)
    if (v.stands && v.reason != refusal::no_shared_data)
      text += "  " + id(v.first) + " -> " + id(v.second) +
              " [style=dashed, dir=none, constraint=false, color=gray, fontsize=10, label=" +
              dot_string(wrapped(sentence(v.reason), 24)) + "];\n";
  return text + "}\n";
}

}  // namespace detail::views

template <class Fused>
string to_dot(const Fused&) {
  return detail::views::dot_text(detail::views::report_of<Fused>());
}

}  // namespace sinter
