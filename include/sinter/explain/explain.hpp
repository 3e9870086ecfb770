// explain: the plan in words. What each kernel computes, reads and writes, and why what is apart is apart.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>

#include "sinter/schedule/plan.hpp"

namespace sinter {

enum class verbosity : unsigned char {
  kernels,  ///< only the kernels and the workspace
  plan,     ///< also the reason for every fusion that did not happen
  log       ///< also every pair the scheduler looked at
};

namespace detail {

inline std::string size_text(number n) { return is_symbolic(n) ? std::string("?") : std::to_string(n); }

template <class Graph>
std::string shape_text(const Graph& g, int id) {
  std::string text = std::string(name(g[id].type)) + "[";
  for (int d = 0; d < g.shape(id).rank; ++d) text += (d ? ", " : "") + size_text(g.shape(id)[d]);
  return text + "]";
}

template <class Graph>
std::string call_text(const Graph& g, int id) {
  const origin& o = g.origins[g[id].origin];
  return std::string(o.name) + "_" + std::to_string(o.instance);
}

template <class Graph>
std::string buffer_text(const Graph& g, int id) {
  if (g[id].what == op::input) return "input " + std::to_string(g[id].attr) + " " + shape_text(g, id);
  for (int k = 0; k < g.outputs.size(); ++k)
    if (g.outputs[k] == id) return "output " + std::to_string(k) + " " + shape_text(g, id);
  if (g[id].what == op::assign) {
    int base = id;
    while (g[base].what == op::assign || is_view(g[base].what)) base = g[base].operands[0];
    return "input " + std::to_string(g[base].attr) + " in place " + shape_text(g, id);
  }
  return call_text(g, id) + " " + shape_text(g, id);
}

/// The buffers a kernel reads (or writes) in memory, each once.
template <class Plan, class F>
void each_buffer(const Plan& p, int kernel, bool written, F f) {
  const auto& s = p.fusion.state;
  const int a = p.kernels[kernel].group;
  fixed_set<decltype(s.list.nodes)::capacity> seen{};
  s.each_member(a, -1, [&](int m) {
    const scheduler_node& n = s.list.nodes[m];
    for (int k = 0; k < n.num_dependencies; ++k) {
      const dependency& d = s.list.dependencies[n.first_dependency + k];
      if (d.write != written || seen.contains(d.buffer)) continue;
      const int producer = s.list.node_of(d.buffer);
      if (written ? !s.needed_outside(d.buffer, a) : producer >= 0 && s.contains(a, producer)) continue;
      seen.insert(d.buffer);
      f(d.buffer);
    }
  });
}

constexpr std::string_view words(kernel_kind kind) {
  constexpr std::string_view kinds[] = {"pointwise", "looped reduction", "persistent reduction (each row is read once)",
                                        "matmul template", "foreign matmul", "independent loops in one launch"};
  return kinds[static_cast<int>(kind)];
}

}  // namespace detail

/// The plan of a fused function as text: one paragraph per kernel, then the refusals.
template <class Fused>
std::string explain(const Fused&, verbosity how_much = verbosity::plan) {
  constexpr const auto& p = Fused::plan();
  const auto& s = p.fusion.state;
  const auto& g = Fused::graph();
  std::string text = std::to_string(Fused::kernel_count()) + (Fused::kernel_count() == 1 ? " kernel" : " kernels") + "\n";
  for (int k = 0; k < Fused::kernel_count(); ++k) {
    text += "  " + std::to_string(k) + "  " + std::string(Fused::kernel(k).name) + ": " +
            std::string(detail::words(Fused::kernel(k).kind)) + "\n";
    text += "       computes ";
    fixed_set<decltype(s.list.nodes)::capacity> calls{};
    s.each_member(p.kernels[k].group, -1, [&](int m) { calls.insert(s.list.origins[m]); });
    bool first = true;
    for (int o = 0; o < g.origins.size(); ++o)
      if (calls.contains(o)) {
        text += (first ? "" : ", ") + std::string(g.origins[o].name) + "_" + std::to_string(g.origins[o].instance);
        first = false;
      }
    const auto list = [&](const char* verb, bool written) {
      text += std::string("\n       ") + verb + " ";
      bool none = true;
      detail::each_buffer(p, k, written, [&](int buffer) {
        text += (none ? "" : ", ") + detail::buffer_text(g, buffer);
        none = false;
      });
      if (none) text += "nothing";
    };
    list("reads", false);
    list("writes", true);
    text += "\n";
  }
  if (!p.buffers.empty()) {
    text += "workspace: " + std::to_string(p.buffers.size()) + (p.buffers.size() == 1 ? " buffer (" : " buffers (");
    for (int i = 0; i < p.buffers.size(); ++i) text += (i ? ", " : "") + detail::buffer_text(g, p.buffers[i].node);
    text += ")\n";
  }
  if (how_much == verbosity::kernels) return text;
  const auto label = [&](int n) { return detail::call_text(g, s.list.nodes[n].root); };
  for (const auto& v : p.fusion.log) {
    const bool apart = s.group_of[v.first] != s.group_of[v.second];
    const bool stands = apart && &v == detail::last_verdict(p.fusion, s.group_of[v.first], s.group_of[v.second]);
    if (how_much == verbosity::plan && (!stands || v.reason == refusal::no_shared_data)) continue;
    text += "round " + std::to_string(v.round) + ": " + label(v.first) + " with " + label(v.second) + " (" +
            std::to_string(v.shared_bytes) + " bytes shared): ";
    if (v.applied)
      text += "fused";
    else if (v.reason == refusal::none)
      text += "possible";
    else
      text += std::string(sentence(v.reason));
    text += "\n";
  }
  if (p.fusion.log.overflowed) text += "(more pairs were looked at than the log holds)\n";
  return text;
}

}  // namespace sinter
