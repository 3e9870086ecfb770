// The report: what the views show of a plan, read once, as text and numbers. How it looks is left to them: explain
// (text), to_dot (Graphviz) and to_html (a page). With run-time extents, bytes are those of the extents' hints.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sinter/schedule/label.hpp"
#include "sinter/schedule/plan.hpp"

namespace sinter::detail::views {

using std::operator+;  // and not the operators of expressions, which the compiler would look at for each

struct report {
  /// An input, or what a scheduler node computes. Inputs come first.
  struct item {
    std::string label;        ///< "mm_0"; an input's is its place
    std::string place;        ///< "input 0", "output 1", "input 0 in place"; empty: an intermediate result
    std::string shape;        ///< "f32[rows, 64]"
    std::int64_t bytes = 0;
    int kernel = -1;          ///< the one that computes it; an input has none
    std::vector<int> reads;   ///< items
    std::vector<int> outputs; ///< results of the function that it is

    const std::string& name() const { return place.empty() ? label : place; }
  };
  struct kernel {
    std::string name, calls;  ///< calls: "mm_0, gelu_0"
    kernel_kind kind{};
    int passes = 0;
    std::vector<int> reads, writes;  ///< items in memory
    kernel_traffic bytes;
  };
  struct buffer {
    int item = -1;
    placed_buffer where;
  };
  /// What the scheduler last said of two nodes, as a pair of items.
  struct verdict {
    int first = -1, second = -1;
    int round = 0;
    refusal reason{};
    bool fused = false;
    std::int64_t shared_bytes = 0;
    bool stands = false;  ///< the two kernels are apart, and this is why
  };

  int num_inputs = 0;
  std::vector<item> items;
  std::vector<kernel> kernels;
  std::vector<buffer> buffers;
  std::int64_t workspace_bytes = 0;
  std::vector<verdict> verdicts;
  bool forgot_verdicts = false;

  int num_items() const { return static_cast<int>(items.size()); }
  int num_kernels() const { return static_cast<int>(kernels.size()); }
  const item& of_node(int n) const { return items[num_inputs + n]; }
  std::vector<log_entry> log;  ///< of scheduler nodes; empty unless read_log was asked
  std::string hints;          ///< "rows = 4096": what the figures assume
  std::string preset;         ///< "standard", or "own options"
};

/// A run-time number as users wrote it: "rows", "rows * 64".
template <class Program>
std::string number_text(number n) {
  if (is_static(n)) return std::to_string(n);
  const auto& table = Program::plan.fusion.state.list.numbers;
  const int at = table.find(n);
  if (at < 0) return "?";
  const number_definition& d = table.definitions[at];
  const char* sign = d.rule == number_rule::product ? " * " : d.rule == number_rule::sum ? " + " : " / ";
  if (d.rule != number_rule::input_extent && d.rule != number_rule::input_stride) {
    const auto operand = [&](number m) {
      const int i = table.find(m);
      const bool sum = d.rule != number_rule::sum && i >= 0 && table.definitions[i].rule == number_rule::sum;
      return sum ? "(" + number_text<Program>(m) + ")" : number_text<Program>(m);
    };
    return operand(d.a) + sign + operand(d.b);
  }
  const std::string_view given = Program::extent_name(static_cast<int>(d.a), static_cast<int>(d.b));
  return given.empty() ? "dyn" : std::string(given);
}

template <class Program>
std::string shape_text(int node) {
  const auto& g = Program::g;
  std::string text = std::string(name(g[node].type)) + "[";
  for (int d = 0; d < g.shape(node).rank; ++d) text += (d ? ", " : "") + number_text<Program>(g.shape(node)[d]);
  return text + "]";
}

/// Calls f(buffer) for what a kernel reads (or writes) in memory, each once.
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

inline void insert_once(std::vector<int>& list, int value) {
  for (int x : list)
    if (x == value) return;
  list.push_back(value);
}

inline std::string preset_of(const options& o) {
  if (o == standard) return "standard";
  if (o == eager) return "eager";
  if (o == max_autotune) return "max_autotune";
  return o == max_fusion ? "max_fusion" : "own options";
}

template <class Program>
std::vector<report::item> items_of() {
  const auto& g = Program::g;
  const auto& s = Program::plan.fusion.state;
  std::vector<report::item> items;
  const auto add = [&](int node) {
    items.emplace_back();
    items.back().shape = shape_text<Program>(node);
    items.back().bytes = s.bytes_of(node);
  };
  for (const input_info& i : g.inputs) {
    add(i.node);
    items.back().label = items.back().place = (i.by_value ? "value " : "input ") + std::to_string(g[i.node].attr);
  }
  const auto item_of = [&](int buffer) {
    for (int i = 0; i < g.inputs.size(); ++i)
      if (g.inputs[i].node == buffer) return i;
    const int producer = s.list.node_of(buffer);
    return producer < 0 ? -1 : g.inputs.size() + producer;
  };
  for (int n = 0; n < s.list.nodes.size(); ++n) {
    const scheduler_node& node = s.list.nodes[n];
    add(node.root);
    report::item& item = items.back();
    item.label = Program::labels[n].text().view();
    for (int k = 0; k < g.outputs.size(); ++k)
      if (g.outputs[k] == node.root) item.outputs.push_back(k);
    if (!item.outputs.empty()) item.place = "output " + std::to_string(item.outputs.front());
    const int memory = memory_of(g, node.root);
    if (memory != node.root && g[memory].what == op::input) item.place = "input " + std::to_string(g[memory].attr) + " in place";
    for (int k = 0; k < node.num_dependencies; ++k) {
      const dependency& d = s.list.dependencies[node.first_dependency + k];
      if (!d.write && item_of(d.buffer) >= 0) insert_once(item.reads, item_of(d.buffer));
    }
  }
  return items;
}

template <class Fused>
report read_plan() {
  using program = typename Fused::program;
  const auto& p = Fused::plan();
  const auto& s = p.fusion.state;
  const auto& g = Fused::graph();
  report r;
  r.num_inputs = g.inputs.size();
  r.items = items_of<program>();
  r.preset = preset_of(*s.o);
  const auto hint = [&](number n) { return static_cast<std::int64_t>(s.list.numbers.hint(n)); };
  const auto item_of = [&](int buffer) {
    const int producer = s.list.node_of(buffer);
    if (producer >= 0) return r.num_inputs + producer;
    for (int i = 0; i < r.num_inputs; ++i)
      if (g.inputs[i].node == buffer) return i;
    return -1;
  };

  for (int k = 0; k < Fused::kernel_count(); ++k) {
    r.kernels.emplace_back();
    report::kernel& kernel = r.kernels.back();
    kernel.name = Fused::kernel(k).name;
    kernel.kind = Fused::kernel(k).kind;
    if (kernel.kind == kernel_kind::reduction) kernel.passes = Fused::passes(k);
    kernel.bytes = traffic(p, k, hint);
    fixed_set<decltype(s.list.nodes)::capacity> calls{};
    s.each_member(p.kernels[k].group, -1, [&](int m) {
      r.items[r.num_inputs + m].kernel = k;
      calls.insert(s.list.origins[m]);
    });
    for (int o = 0; o < g.origins.size(); ++o) {
      if (!calls.contains(o)) continue;
      kernel.calls += (kernel.calls.empty() ? "" : ", ") + std::string(label_of(g.origins[o]).text().view());
    }
    each_buffer(p, k, false, [&](int buffer) { kernel.reads.push_back(item_of(buffer)); });
    each_buffer(p, k, true, [&](int buffer) { kernel.writes.push_back(item_of(buffer)); });
  }

  std::vector<placed_buffer> placed;
  for (const planned_buffer& b : p.buffers) placed.push_back({s.bytes_of(b.node), b.first, b.last});
  r.workspace_bytes = lay_out(placed.data(), static_cast<int>(placed.size()));
  for (int i = 0; i < p.buffers.size(); ++i)
    r.buffers.push_back({item_of(p.buffers[i].node), placed[i]});

  for (int i = 0; i < p.fusion.log.size(); ++i) {
    const fusion_verdict& v = p.fusion.log[i];
    const int a = s.group_of[v.first], b = s.group_of[v.second];
    r.verdicts.push_back({r.num_inputs + v.first, r.num_inputs + v.second, v.round, v.reason, v.applied, v.shared_bytes,
                          a != b && i == last_verdict(p.fusion, a, b)});
  }
  // In the order of the kernels, for the views.
  const auto later = [&](const report::verdict& v, const report::verdict& w) {
    const int a = r.items[v.first].kernel, b = r.items[w.first].kernel;
    return a != b ? a > b : r.items[v.second].kernel > r.items[w.second].kernel;
  };
  for (std::size_t i = 1; i < r.verdicts.size(); ++i)
    for (std::size_t j = i; j > 0 && later(r.verdicts[j - 1], r.verdicts[j]); --j) std::swap(r.verdicts[j - 1], r.verdicts[j]);
  r.forgot_verdicts = p.fusion.log.overflowed;
  for (const number_definition& d : s.list.numbers.definitions)
    if (d.rule == number_rule::input_extent)
      r.hints += (r.hints.empty() ? "" : ", ") + number_text<program>(d.value) + " = " + std::to_string(d.hint);
  return r;
}

template <class Fused>
report report_of() {
  if constexpr (requires { typename Fused::program; })
    return read_plan<Fused>();
  else
    return {};  // the compiler has said why there is no plan
}

/// The report with the log of the rounds, which the compiler evaluates only for who calls this.
template <class Fused>
report report_with_log() {
  report r = report_of<Fused>();
  if constexpr (requires { typename Fused::program; }) {
    using program = typename Fused::program;
    constexpr int length = program::template recorded<0>.length;
    for (const log_entry& e : program::template recorded<length>.entries) r.log.push_back(e);
  }
  return r;
}

/// One round of the log: what was asked, and what became of the candidates, best first.
struct logged_round {
  int number = 0;
  std::size_t num_pairs = 0, num_candidates = 0;
  std::vector<log_entry> decided, refused;
};
std::vector<logged_round> rounds_of(const auto& r) {
  std::vector<logged_round> rounds;
  for (const log_entry& e : r.log) {
    if (rounds.empty() || rounds.back().number != e.round) rounds.push_back({e.round, 0, 0, {}, {}});
    logged_round& round = rounds.back();
    const bool candidate = e.event == log_event::considered && e.reason == refusal::none;
    round.num_pairs += e.event == log_event::considered;
    round.num_candidates += candidate;
    if (!candidate) (e.event == log_event::considered ? round.refused : round.decided).push_back(e);
  }
  return rounds;
}
/// The parts of a score in the order in which they are compared.
inline std::string score_text(const fusion_score& s) {
  return std::to_string(s.rank) + " / " + std::to_string(s.weight) + " / " + std::to_string(s.proximity);
}

/// "1 pair", "2 pairs".
inline std::string counted(std::size_t n, const char* noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

/// What a kernel is, in words.
constexpr std::string_view words(kernel_kind kind) {
  constexpr std::string_view kinds[] = {"pointwise", "looped reduction", "persistent reduction (each row is read once)",
                                        "matmul template", "foreign matmul", "independent loops in one launch"};
  return kinds[static_cast<int>(kind)];
}

}  // namespace sinter::detail::views
