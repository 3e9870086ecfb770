// The report: what the views show of a plan, read once, as text and numbers. How it looks is left to them: explain
// (text), to_dot (Graphviz) and to_html (a page). With run-time extents, bytes are those of the extents' hints.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include "sinter/base/list.hpp"
#include "sinter/base/text.hpp"
#include "sinter/schedule/label.hpp"
#include "sinter/schedule/plan.hpp"

namespace sinter::detail::views {

struct report {
  /// An input, or what a scheduler node computes. Inputs come first.
  struct item {
    string label;  ///< "mm_0"; an input's is its place
    string place;  ///< "input 0", "output 1", "input 0 in place"; empty: an intermediate result
    string shape;  ///< "f32[rows, 64]"
    std::int64_t bytes = 0;
    int kernel = -1;    ///< the one that computes it; an input has none
    list<int> reads;    ///< items
    list<int> outputs;  ///< results of the function that it is

    const string& name() const { return place.empty() ? label : place; }
  };
  struct kernel {
    string name, calls;  ///< calls: "mm_0, gelu_0"
    kernel_kind kind{};
    bool scans = false;       ///< a reduction that is, or has, a scan
    int num_parts = 1;        ///< loops of their own
    int passes = 0;           ///< of a looped reduction over its rows
    list<int> reads, writes;  ///< items in memory
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
  list<item> items;
  list<kernel> kernels;
  list<buffer> buffers;
  std::int64_t workspace_bytes = 0;
  list<verdict> verdicts;  ///< in the order of the kernels
  bool forgot_verdicts = false;
  list<log_entry> log;  ///< of scheduler nodes; empty in a report without log
  string hints;    ///< "rows = 4096": what the figures assume
  string preset;   ///< "standard", or "own options"

  int num_items() const { return static_cast<int>(items.size()); }
  int num_kernels() const { return static_cast<int>(kernels.size()); }
  const item& of_node(int n) const { return items[num_inputs + n]; }
};

/// A run-time number as users wrote it: "rows", "rows * 64".
template <class Program>
string number_text(number n) {
  if (is_static(n)) return to_string(n);
  const auto& table = Program::plan.fusion.state.list.numbers;
  const int at = table.find(n);
  if (at < 0) return "?";
  const number_definition& d = table.definitions[at];
  const char* sign = d.rule == number_rule::product ? " * " : d.rule == number_rule::sum ? " + " : " / ";
  if (d.rule != number_rule::input_extent && d.rule != number_rule::input_stride) {
    const auto operand = [&](number m) {
      const int i = table.find(m);
      const bool sum = d.rule != number_rule::sum && i >= 0 && table.definitions[i].rule == number_rule::sum;
      return sum ? text_of({"(", number_text<Program>(m), ")"}) : number_text<Program>(m);
    };
    return text_of({operand(d.a), sign, operand(d.b)});
  }
  const string_view given = Program::extent_name(static_cast<int>(d.a), static_cast<int>(d.b));
  return given.empty() ? "dyn" : string(given);
}

template <class Program>
string shape_text(int node) {
  const auto& g = Program::g;
  string text = text_of({name(g[node].type), "["});
  for (int d = 0; d < g.shape(node).rank; ++d) append(text, {d ? ", " : "", number_text<Program>(g.shape(node)[d])});
  return text += "]";
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

inline void insert_once(list<int>& list, int value) {
  for (int x : list)
    if (x == value) return;
  list.push_back(value);
}

inline string preset_of(const options& o) {
  if (o == standard) return "standard";
  if (o == eager) return "eager";
  if (o == max_autotune) return "max_autotune";
  return o == max_fusion ? "max_fusion" : "own options";
}

/// The item that a buffer is, or -1.
template <class Program>
int item_of(int buffer) {
  const auto& inputs = Program::g.inputs;
  for (int i = 0; i < inputs.size(); ++i)
    if (inputs[i].node == buffer) return i;
  const int producer = Program::plan.fusion.state.list.node_of(buffer);
  return producer < 0 ? -1 : inputs.size() + producer;
}

/// Adds the scalar arguments that the computation of a buffer uses: they lie in no memory, so no dependency says so.
template <class Program, class Visited>
void add_scalars(report::item& item, int node, Visited& visited) {
  const auto& g = Program::g;
  for (int k = 0; k < g[node].num_operands(); ++k) {
    const int operand = g[node].operands[k];
    if (visited.contains(operand)) continue;
    visited.insert(operand);
    if (g[operand].what != op::input) {
      if (!Program::plan.fusion.state.list.buffers.realized(operand)) add_scalars<Program>(item, operand, visited);
    } else if (const int place = item_of<Program>(operand); place >= 0 && g.inputs[place].by_value) {
      insert_once(item.reads, place);
    }
  }
}

template <class Program>
void read_items(report& r) {
  const auto& g = Program::g;
  const auto& s = Program::plan.fusion.state;
  const auto add = [&](int node, string label) {
    r.items.push_back({});
    report::item& item = r.items.back();
    item.label = label;
    item.shape = shape_text<Program>(node);
    item.bytes = s.bytes_of(node);
    return &item;
  };
  for (const input_info& i : g.inputs) {
    report::item& item = *add(i.node, text_of({i.by_value ? "value " : "input ", g[i.node].attr}));
    item.place = item.label;
  }
  r.num_inputs = r.num_items();
  for (int n = 0; n < s.list.nodes.size(); ++n) {
    const scheduler_node& node = s.list.nodes[n];
    report::item& item = *add(node.root, string(Program::labels[n].text().view()));
    for (int k = 0; k < g.outputs.size(); ++k)
      if (g.outputs[k] == node.root) item.outputs.push_back(k);
    if (!item.outputs.empty()) item.place = text_of({"output ", item.outputs[0]});
    const int memory = memory_of(g, node.root);
    if (memory != node.root && g[memory].what == op::input)
      item.place = text_of({"input ", g[memory].attr, " in place"});
    for (int k = 0; k < node.num_dependencies; ++k) {
      const dependency& d = s.list.dependencies[node.first_dependency + k];
      const int from = d.write ? -1 : item_of<Program>(d.buffer);
      if (from >= 0) insert_once(item.reads, from);
    }
    fixed_set<decltype(s.list.nodes)::capacity> visited{};
    add_scalars<Program>(item, node.root, visited);
  }
}

template <class Fused>
void read_kernels(report& r) {
  using program = typename Fused::program;
  const auto& p = Fused::plan();
  const auto& s = p.fusion.state;
  const auto& g = Fused::graph();
  for (int k = 0; k < Fused::kernel_count(); ++k) {
    r.kernels.push_back({});
    report::kernel& kernel = r.kernels.back();
    kernel.name = Fused::kernel(k).name;
    kernel.kind = Fused::kernel(k).kind;
    kernel.scans = s.groups[p.kernels[k].group].has_scan;
    kernel.num_parts = p.kernels[k].num_parts;
    if (kernel.kind == kernel_kind::reduction) kernel.passes = Fused::passes(k);
    kernel.bytes = traffic(p, k, [&](number n) { return static_cast<std::int64_t>(s.list.numbers.hint(n)); });
    fixed_set<decltype(s.list.nodes)::capacity> calls{};
    s.each_member(p.kernels[k].group, -1, [&](int m) {
      r.items[r.num_inputs + m].kernel = k;
      calls.insert(s.list.origins[m]);
    });
    for (int o = 0; o < g.origins.size(); ++o) {
      if (!calls.contains(o)) continue;
      append(kernel.calls, {kernel.calls.empty() ? "" : ", ", label_of(g.origins[o]).text().view()});
    }
    each_buffer(p, k, false, [&](int buffer) { kernel.reads.push_back(item_of<program>(buffer)); });
    each_buffer(p, k, true, [&](int buffer) { kernel.writes.push_back(item_of<program>(buffer)); });
  }
}

template <class Program>
void read_workspace(report& r) {
  const auto& p = Program::plan;
  list<placed_buffer> placed;
  for (const planned_buffer& b : p.buffers) placed.push_back({p.fusion.state.bytes_of(b.node), b.first, b.last});
  r.workspace_bytes = lay_out(placed.begin(), p.buffers.size());
  for (int i = 0; i < p.buffers.size(); ++i) r.buffers.push_back({item_of<Program>(p.buffers[i].node), placed[i]});
}

template <class Program>
void read_verdicts(report& r) {
  const auto& fusion = Program::plan.fusion;
  const auto& group_of = fusion.state.group_of;
  const auto later = [&](const report::verdict& v, const report::verdict& w) {
    const int a = r.items[v.first].kernel, b = r.items[w.first].kernel;
    return a != b ? a > b : r.items[v.second].kernel > r.items[w.second].kernel;
  };
  for (int i = 0; i < fusion.log.size(); ++i) {
    const fusion_verdict& v = fusion.log[i];
    const int a = group_of[v.first], b = group_of[v.second];
    r.verdicts.push_back({r.num_inputs + v.first, r.num_inputs + v.second, v.round, v.reason, v.applied, v.shared_bytes,
                          a != b && i == last_verdict(fusion, a, b)});
    for (std::size_t j = r.verdicts.size() - 1; j > 0 && later(r.verdicts[j - 1], r.verdicts[j]); --j)
      std::swap(r.verdicts[j - 1], r.verdicts[j]);
  }
  r.forgot_verdicts = fusion.log.overflowed;
}

template <class Fused>
report report_of() {
  report r;
  if constexpr (requires { typename Fused::program; }) {  // if not, the compiler has said why there is no plan
    using program = typename Fused::program;
    read_items<program>(r);
    read_kernels<Fused>(r);
    read_workspace<program>(r);
    read_verdicts<program>(r);
    r.preset = preset_of(program::chosen);
    for (const number_definition& d : program::plan.fusion.state.list.numbers.definitions)
      if (d.rule == number_rule::input_extent)
        append(r.hints, {r.hints.empty() ? "" : ", ", number_text<program>(d.value), " = ", d.hint});
  }
  return r;
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
  list<log_entry> decided, refused;
};
list<logged_round> rounds_of(const auto& r) {
  list<logged_round> rounds;
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
inline string score_text(const fusion_score& s) { return text_of({s.rank, " / ", s.weight, " / ", s.proximity}); }

/// "1 pair", "2 pairs".
inline string counted(std::size_t n, const char* noun) { return text_of({n, " ", noun, n == 1 ? "" : "s"}); }

/// What a kernel is, in words.
constexpr string_view kind_words(kernel_kind kind) {
  constexpr string_view kinds[] = {"pointwise",
                                        "looped reduction",
                                        "persistent reduction (each row is read once)",
                                        "matmul template",
                                        "foreign kernel",
                                        "independent loops in one launch",
                                        "scan of long rows, each by many blocks"};
  return kinds[static_cast<int>(kind)];
}
inline string words(const report::kernel& kernel) {
  if (kernel.kind == kernel_kind::persistent_reduction && kernel.num_parts > 1)
    return "persistent reduction of rows and columns (all is read once)";
  const string_view kind = kind_words(kernel.kind), fold = "reduction";
  string text = kind;
  if (const std::size_t at = kind.find(fold); kernel.scans && at != kind.npos)
    text = text_of({kind.substr(0, at), "scan", kind.substr(at + fold.size())});
  if (kernel.kind == kernel_kind::reduction)
    append(text, {" (", kernel.passes, kernel.passes == 1 ? " pass)" : " passes)"});
  return text;
}

}  // namespace sinter::detail::views
