// Laws of the scheduler, on generated graphs: its passes are functions of values, so they run here at run time, as in
// run/program.hpp. Every plan is legal and deterministic, has at most as many kernels as eager execution
// (examination::few says what counts), and computes what the graph says: its lowered kernels, interpreted, against the
// reference.
//   SINTER_SEED=n runs one graph only, SINTER_STEPS=n with so many steps; what fails is shortened and printed.
// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "plan_interpreter.hpp"
#include "random_graph.hpp"
#include "sinter/schedule/concat_parts.hpp"
#include "sinter/schedule/reinplace.hpp"

namespace {

namespace si = sinter;

/// Everything a plan decides, to compare plans with.
struct decisions {
  std::vector<int> facts;
  std::vector<std::string> names;
  int num_kernels = 0, num_tied = 0;
  friend bool operator==(const decisions&, const decisions&) = default;
};

/// The user-level call of all that a kernel stores; -1: of several.
template <int Capacity>
int call_of(const si::detail::plan<Capacity>& p, int k) {
  const auto& s = p.fusion.state;
  int call = -2;
  s.each_member(p.kernels[k].group, -1, [&](int m) {
    const int origin = (*s.g)[s.list.nodes[m].root].origin;
    call = call == -2 || call == origin ? origin : -1;
  });
  return call;
}
/// The kernels of a plan, where those of one call that share too little to be worth a fusion count once.
template <int Capacity>
int count_tied(const si::detail::plan<Capacity>& p) {
  const auto& s = p.fusion.state;
  int n = 0;
  for (int k = 0; k < p.kernels.size(); ++k) {
    bool is_tied = false;
    for (int j = 0; j < k && call_of(p, k) >= 0 && !is_tied; ++j)
      is_tied = call_of(p, j) == call_of(p, k) &&
                si::detail::shared_by(s, p.kernels[j].group, p.kernels[k].group).bytes() < s.o->min_shared_bytes;
    n += !is_tied;
  }
  return n;
}

template <int Capacity>
decisions decisions_of(const si::detail::plan<Capacity>& p) {
  decisions d;
  d.num_kernels = p.kernels.size(), d.num_tied = count_tied(p);
  const auto& s = p.fusion.state;
  for (const auto& n : s.list.nodes) d.facts.insert(d.facts.end(), {n.root, n.walk});
  for (int k = 0; k < p.kernels.size(); ++k) {
    d.facts.insert(d.facts.end(), {-1, static_cast<int>(p.kernels[k].kind), static_cast<int>(p.kernels[k].walk)});
    for (int m = 0; m < s.list.nodes.size(); ++m)
      if (s.contains(p.kernels[k].group, m)) d.facts.push_back(m);
    d.names.emplace_back(si::detail::name_kernel(p, k).view());
  }
  for (const auto& b : p.buffers) d.facts.insert(d.facts.end(), {b.node, b.first, b.last});
  return d;
}

/// Something too large for the library, which says so in a sentence of its own.
struct too_large {};

/// The passes of run/program.hpp.
template <int Capacity>
struct scheduled {
  std::unique_ptr<const si::graph<Capacity>> g;
  std::unique_ptr<const si::detail::fusion_result<Capacity>> fusion;
  std::unique_ptr<const si::detail::plan<Capacity>> plan;

  scheduled(const si::trace& t, const si::options& o) {
    std::unique_ptr<si::graph<Capacity>> rewritten(
        new auto(si::rewrite(si::resize<Capacity>(static_cast<const si::graph<si::max_nodes>&>(t)))));
    if (si::detail::merge_online_softmax(*rewritten, o)) rewritten.reset(new auto(si::rewrite(*rewritten)));
    g.reset(new auto(si::detail::reinplace(si::detail::write_concats_in_parts(*rewritten, o))));
    if (!si::detail::verify(*g)) throw std::logic_error("the rewritten graph fails its verification");
    const std::unique_ptr<const si::detail::realization<Capacity>> realized(new auto(si::detail::realize(*g, o)));
    const std::unique_ptr<const si::detail::node_list<Capacity>> nodes(
        new auto(si::detail::make_nodes(*g, *realized, o)));
    if (nodes->overflowed() || nodes->blocked) throw too_large{};
    fusion.reset(new auto(si::detail::fuse_nodes(*g, o, *nodes)));
    if (fusion->overflowed) throw too_large{};
    plan.reset(new auto(si::detail::make_plan(*fusion)));
    if (!si::detail::verify(*plan)) throw std::logic_error("the plan fails its verification");
  }
};

std::string difference(const std::vector<reference::array>& expected, const std::vector<reference::array>& found,
                       const char* what) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const reference::array &e = expected[i], &f = found[i];
    if (e.shape != f.shape || e.cells.size() != f.cells.size())
      return std::string(what) + std::to_string(i) + " has another shape";
    for (std::size_t k = 0; k < e.cells.size(); ++k) {
      const double x = e.cells[k].real, y = f.cells[k].real;
      const bool same = si::is_floating(e.type)
                            ? x == y || (std::isnan(x) && std::isnan(y)) || std::fabs(x - y) <= 1e-10 * std::fabs(x)
                            : e.cells[k].whole == f.cells[k].whole;
      if (!same)
        return std::string(what) + std::to_string(i) + ", element " + std::to_string(k) + ": expected " +
               std::to_string(x) + ", found " + std::to_string(y);
    }
  }
  return {};
}

/// One graph under all laws. Throws std::logic_error with a sentence.
class examination {
 public:
  examination(const generated::graph_case& c, unsigned seed) : c_(c), pick_(seed + 77), inputs_after_(c.inputs) {
    graph_ = reference::make_program(static_cast<const si::graph<si::max_nodes>&>(*c.trace));
    for (const si::node& n : graph_.nodes)
      has_half_ = has_half_ || n.type == si::dtype::f16 || n.type == si::dtype::bf16;
    expected_ = reference::evaluate(graph_, inputs_after_, reference::storage::exact);
  }

  int num_interpreted() const { return static_cast<int>(interpreted_.size()); }

  void run() {
    const bool has_matmul = std::any_of(graph_.nodes.begin(), graph_.nodes.end(),
                                        [](const si::node& n) { return n.what == si::op::matmul; });
    few("standard", si::standard);
    if (has_matmul) {
      few("max_autotune", si::max_autotune);
      few("max_fusion", si::max_fusion);
    }
    const si::options random = random_options();
    check(shown(random).c_str(), random);
  }

 private:
  si::options random_options() {
    si::options o{};
    o.target = pick_.chance(20) ? si::target::cpu : si::target::cuda;
    o.matmul_template = pick_.chance(70);
    o.prologue_fusion = pick_.chance(85);
    o.epilogue_fusion = pick_.chance(85);
    o.dual_matmul = pick_.chance(80);
    o.norm_prologue = pick_.chance(50);
    o.online_softmax = pick_.chance(80);
    o.combo_kernels = pick_.chance(30);
    o.mix_order_reduction = pick_.chance(80);
    o.aggressive_fusion = pick_.chance(50);
    o.epilogue_fusion_first = pick_.chance(30);
    o.loop_ordering = pick_.chance(80);
    o.index_inversion = pick_.chance(80);
    o.precise_casts = !has_half_ && pick_.chance(20);  // with halves the result is another one
    o.max_fusion_rounds = 1 + pick_.below(10);
    o.max_fusion_size = 1 << pick_.below(7);
    o.pair_window = 1 + pick_.below(64);
    o.max_fusion_distance = 1 + pick_.below(64);
    o.min_shared_bytes = pick_.below(40);
    o.min_overlap_percent = pick_.below(101);
    o.max_unique_io_buffers = pick_.chance(80) ? 0 : 2 + pick_.below(8);
    o.realize_reads_threshold = pick_.below(8);
    o.realize_ops_threshold = 1 + pick_.below(40);
    o.realize_accumulated_reads_threshold = 1 + pick_.below(10);
    o.max_inlined_ops = 1 + pick_.below(100);
    o.unroll_reductions_threshold = pick_.below(10);
    o.peak_memory_factor = pick_.below(64);
    o.prologue_read_ratio_percent = 50 + pick_.below(400);
    o.mix_order_min_elements = pick_.below(40);
    o.mix_order_min_rows = pick_.below(6);
    o.mix_order_rows_per_column = pick_.below(2);
    o.mix_order_max_columns = 1 << pick_.below(8);
    o.max_combo_size = 1 + pick_.below(8);
    o.max_combo_arguments = 2 + pick_.below(40);
    o.persistent_reduction_limit = 1 << pick_.below(14);
    o.one_kernel_per_op = pick_.chance(5);
    o.tiling_prevents_fusion = pick_.chance(20);
    o.delay_realize_cheap_outputs = pick_.chance(80);
    o.split_reduction_length = 1 + pick_.below(20);
    o.split_reduction_rows = pick_.below(8);
    return o;
  }

  static std::string shown(const si::options& o) {
    std::string s = "options";
    for (int v : {int{o.target == si::target::cpu},
                  int{o.matmul_template},
                  int{o.prologue_fusion},
                  int{o.epilogue_fusion},
                  int{o.dual_matmul},
                  int{o.norm_prologue},
                  int{o.online_softmax},
                  int{o.combo_kernels},
                  int{o.mix_order_reduction},
                  int{o.aggressive_fusion},
                  int{o.epilogue_fusion_first},
                  int{o.loop_ordering},
                  int{o.index_inversion},
                  int{o.precise_casts},
                  o.max_fusion_rounds,
                  o.max_fusion_size,
                  o.pair_window,
                  o.max_fusion_distance,
                  o.min_shared_bytes,
                  o.min_overlap_percent,
                  o.max_unique_io_buffers,
                  o.realize_reads_threshold,
                  o.realize_ops_threshold,
                  o.realize_accumulated_reads_threshold,
                  o.max_inlined_ops,
                  o.unroll_reductions_threshold,
                  o.peak_memory_factor,
                  o.prologue_read_ratio_percent,
                  o.mix_order_min_elements,
                  o.mix_order_min_rows,
                  o.mix_order_rows_per_column,
                  o.mix_order_max_columns,
                  o.max_combo_size,
                  o.max_combo_arguments,
                  o.persistent_reduction_limit,
                  int{o.one_kernel_per_op},
                  int{o.tiling_prevents_fusion},
                  int{o.delay_realize_cheap_outputs},
                  o.split_reduction_length,
                  o.split_reduction_rows})
      s += " " + std::to_string(v);
    return s;
  }

  /// A plan has at most as many kernels as eager execution. Two rules of Inductor's can leave more, where it is not
  /// worth a fusion. Parts of one call that share next to nothing stay apart, unless a value that only eager stores
  /// ties them. And a short reduction that is unrolled, of what eager stores and a plan computes again, can load so
  /// much that it is stored itself: then the law holds of the same plans with nothing unrolled.
  void few(const char* name, si::options o) {
    si::options eager = si::eager;
    const int limit = check("eager", eager).num_kernels, count = check(name, o).num_tied;
    if (count <= limit) return;
    o.unroll_reductions_threshold = eager.unroll_reductions_threshold = 0;
    if (check(name, o).num_tied <= check("eager", eager).num_kernels) return;
    throw std::logic_error(std::string(name) + ": " + std::to_string(count) + " kernels, " + std::to_string(limit) +
                           " in eager execution");
  }

  /// Plans and checks.
  decisions check(const char* name, const si::options& o) {
    try {
      const int tier = si::detail::tier_of(*c_.trace);
      return tier <= 64 ? check_in<64>(o) : tier <= 256 ? check_in<256>(o) : check_in<si::max_nodes>(o);
    } catch (const std::logic_error& e) {
      throw std::logic_error(std::string(name) + ": " + e.what());
    }
  }

  template <int Capacity>
  decisions check_in(const si::options& o) {
    const scheduled<Capacity> s(*c_.trace, o);
    const decisions d = decisions_of(*s.plan);
    if (pick_.chance(10)) {  // again, and in more memory: only the graph and the options may count
      if (!(decisions_of(*scheduled<Capacity>(*c_.trace, o).plan) == d))
        throw std::logic_error("scheduled twice, the plans differ");
      constexpr int larger = Capacity < 256 ? 256 : si::max_nodes;
      if (!(decisions_of(*scheduled<larger>(*c_.trace, o).plan) == d))
        throw std::logic_error("the plan depends on the graph's capacity");
    }
    decisions key = d;
    key.facts.push_back(o.precise_casts);
    if (!interpreted_.emplace(std::move(key.facts), true).second) return d;
    const reference::lowered_plan lowered = reference::lower(*s.plan);
    for (const auto& parts : lowered.kernels)
      for (const auto& k : parts)
        if (k.overflowed) throw too_large{};
    std::vector<reference::array> inputs = c_.inputs;
    const std::vector<reference::array> found = reference::execute(lowered, inputs);
    std::string wrong = difference(expected_, found, "result ");
    if (wrong.empty()) wrong = difference(inputs_after_, inputs, "input ");
    if (!wrong.empty()) throw std::logic_error(wrong);
    return d;
  }

  const generated::graph_case& c_;
  generated::random pick_;
  reference::program graph_;
  std::vector<reference::array> inputs_after_, expected_;
  std::map<std::vector<int>, bool> interpreted_;
  bool has_half_ = false;
};

struct size {
  int steps;
  long most_elements;
};
size size_of(unsigned seed) {
  generated::random pick(seed * 3 + 1);
  if (seed % 200 == 199) return {150 + pick.below(150), 8};
  if (seed % 10 == 9) return {20 + pick.below(25), 24};
  if (seed % 5 == 3) return {pick.below(14), 300};
  return {pick.below(20), 48};
}

enum class verdict { lawful, too_large, failed };
verdict examine(unsigned seed, const size& s, std::string& sentence, int* interpreted = nullptr) {
  try {
    generated::graph_case c = generated::generator(seed, s.steps, s.most_elements).take();
    if (c.trace->overflowed()) return verdict::too_large;
    examination e(c, seed);
    e.run();
    if (interpreted != nullptr) *interpreted += e.num_interpreted();
    return verdict::lawful;
  } catch (const too_large&) {
    return verdict::too_large;
  } catch (const std::exception& e) {
    sentence = e.what();
    return verdict::failed;
  }
}

/// The report on a seed that fails, with as few steps as still fail.
std::string report(unsigned seed, size s, std::string sentence) {
  for (int steps = 0; steps < s.steps; ++steps)
    if (examine(seed, {steps, s.most_elements}, sentence) == verdict::failed) {
      s.steps = steps;
      break;
    }
  const generated::graph_case c = generated::generator(seed, s.steps, s.most_elements).take();
  return "seed " + std::to_string(seed) + ", " + std::to_string(s.steps) + " steps: " + sentence + "\n" +
         reference::text(reference::make_program(static_cast<const si::graph<si::max_nodes>&>(*c.trace)));
}

TEST_CASE("plans of generated graphs are legal, deterministic, no worse than eager and right") {
  const char* many = std::getenv("SINTER_GRAPHS");
  const unsigned num_graphs = many != nullptr ? static_cast<unsigned>(std::atoi(many)) : 20000;
  const char *only = std::getenv("SINTER_SEED"), *steps = std::getenv("SINTER_STEPS");
  const unsigned first = only != nullptr ? static_cast<unsigned>(std::atoi(only)) : 0;
  int num_large = 0, interpreted = 0, failed = 0;
  for (unsigned seed = first; seed < (only != nullptr ? first + 1 : num_graphs) && failed < 10; ++seed) {
    size s = size_of(seed);
    if (steps != nullptr) s.steps = std::atoi(steps);
    std::string sentence;
    const verdict v = examine(seed, s, sentence, &interpreted);
    num_large += v == verdict::too_large;
    if (v != verdict::failed) continue;
    ++failed;
    CHECK_MESSAGE(false, report(seed, s, sentence));
  }
  MESSAGE(interpreted << " different plans were interpreted; " << num_large << " graphs were too large for a plan.");
  CHECK(num_large * 100 <= num_graphs);
}

}  // namespace
