// What random graphs are made of: numbers, a graph that begins with inputs and ends with results, and choices among
// what it has. The steps between are random_graph.hpp's matter. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "graph_writer.hpp"
#include "interpreter.hpp"
#include "sinter/run/program.hpp"

namespace generated {

/// splitmix64: the same numbers on every platform. (Steps lead from seed to seed; what they are mixed to begins apart.)
class random {
 public:
  explicit random(std::uint64_t seed) : state_(seed) { state_ = bits(); }
  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  int below(int n) { return static_cast<int>(bits() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  double uniform(double low, double high) { return low + (high - low) * static_cast<double>(bits() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

/// A graph as traced, with arguments to evaluate it on.
struct graph_case {
  std::unique_ptr<si::trace> trace = std::make_unique<si::trace>();
  std::vector<reference::array> inputs;  ///< elements in row-major order; a scalar by value has one
};

/// A pool of expressions, at first of the inputs.
class pool {
 protected:
  using operand = writer::operand;

  pool(unsigned seed, long most_elements) : pick_(seed), most_(most_elements), t_(*result_.trace), w_(t_) {}

  // ---- inputs and results

  void add_inputs() {
    const long sizes[] = {1, 2, 3, 4, 5, 6, 8, 12, 15, 16};
    for (number& s : sizes_) s = sizes[pick_.below(most_ < 200 ? 8 : 10)];
    if (pick_.chance(12)) sizes_[pick_.below(4)] = 0;
    const int num_named = pick_.chance(30) ? 1 + pick_.below(2) : 0;
    for (int i = 0; i < num_named; ++i) sizes_[i] = si::symbol(si::hash(i == 0 ? "rows" : "columns"));
    const std::int64_t actual[] = {pick_.chance(8) ? 0 : 1 + pick_.below(6), 1 + pick_.below(4)};
    const int n = 1 + pick_.below(4);
    for (int i = 0; i < n; ++i) add_input(i, actual);
  }
  void add_input(int argument, const std::int64_t* actual) {
    const bool by_value = argument > 0 && pick_.chance(8);
    extents shape{};
    const int rank = by_value ? 0 : pick_.chance(10) ? pick_.below(5) : 1 + pick_.below(3);
    for (int d = 0; d < rank; ++d) shape.push_back(pick_.chance(12) ? 1 : sizes_[pick_.below(4)]);
    node n{};
    n.what = op::input, n.type = some_type(), n.shape = t_.intern(shape), n.attr = static_cast<short>(argument);
    const short id = t_.add(n);
    t_.inputs.push_back({id, !by_value && pick_.chance(10), by_value});
    reference::array a{n.type, {}, {}};
    for (int d = 0; d < rank; ++d) {
      t_.numbers.define(shape[d], si::number_rule::input_extent, argument, d);
      a.shape.push_back(si::is_static(shape[d]) ? shape[d] : actual[shape[d] == sizes_[0] ? 0 : 1]);
    }
    result_.inputs.push_back(a);
    const std::int64_t count = reference::count(a.shape);
    for (std::int64_t i = 0; i < count; ++i) result_.inputs.back().cells.push_back(some_element(n.type));
    pool_.push_back(id);
  }
  dtype some_type() {
    if (pick_.chance(70)) return dtype::f32;
    const dtype types[] = {dtype::f64, dtype::f16, dtype::bf16, dtype::i32,
                           dtype::i64, dtype::u8,  dtype::i8,   dtype::boolean};
    return types[pick_.below(8)];
  }
  reference::cell some_element(dtype type) {
    if (type == dtype::boolean) return whole(pick_.below(2));
    if (!si::is_floating(type)) return whole(pick_.below(9) - (type == dtype::u8 ? 0 : 4));
    const double special[] = {0, 1, -1, 1e30, HUGE_VAL, -HUGE_VAL, NAN};
    return reference::rounded(type, {pick_.chance(1) ? special[pick_.below(7)] : pick_.uniform(-2, 2), 0});
  }
  static reference::cell whole(int v) { return {static_cast<double>(v), v}; }

  void add_outputs() {
    const int n = pick_.chance(60) ? 1 : 1 + pick_.below(4);
    if (!t_.assigns.empty() && pick_.chance(30)) return;
    for (int i = 0; i < n; ++i) {
      const short id = w_.current(
          pool_[i == 0 ? pool_.size() - 1 : static_cast<std::size_t>(pick_.below(static_cast<int>(pool_.size())))]);
      si::detail::add_output(t_, id, w_.shape(id));
    }
  }

  // ---- choosing

  /// The value of a number for these inputs.
  std::int64_t actual(number n) const {
    if (si::is_static(n)) return n;
    const si::number_definition& d = t_.numbers.definitions[t_.numbers.find(n)];
    switch (d.rule) {
      case si::number_rule::product:
        return actual(d.a) * actual(d.b);
      case si::number_rule::sum:
        return actual(d.a) + actual(d.b);
      case si::number_rule::quotient:
        return actual(d.b) == 0 ? 0 : actual(d.a) / actual(d.b);
      default:
        return result_.inputs[static_cast<std::size_t>(d.a)].shape[static_cast<std::size_t>(d.b)];
    }
  }
  std::int64_t count(const extents& e) const {
    std::int64_t n = 1;
    for (int d = 0; d < e.rank; ++d) n *= actual(e[d]);
    return n;
  }
  bool fits(const extents& e) const { return e.rank <= 5 && count(e) <= most_; }
  short any() {
    const int n = static_cast<int>(pool_.size());
    const int back = pick_.chance(60) ? pick_.below(std::min(n, 3)) : pick_.below(n);
    return w_.current(pool_[static_cast<std::size_t>(n - 1 - back)]);
  }
  /// An operand that broadcasts with the others to something small, a scalar if luck fails.
  operand beside(const std::vector<operand>& others) {
    for (int tries = 0; tries < 6; ++tries) {
      std::vector<operand> all = others;
      all.push_back({any()});
      const std::optional<extents> shape = w_.together(all);
      if (shape && fits(*shape)) return all.back();
    }
    return scalar();
  }
  operand scalar() {
    const double values[] = {0, 1, 2, -1, 0.5, 3};
    return pick_.chance(50) ? writer::literal(values[pick_.below(6)]) : writer::constant(values[pick_.below(4)]);
  }
  int some_axis(short id) { return pick_.below(w_.shape(id).rank); }
  unsigned some_axes(short id) {
    const int rank = w_.shape(id).rank;
    if (rank == 0 || pick_.chance(15)) return (1u << rank) - 1;
    const unsigned mask = 1u << pick_.below(rank);
    return mask | static_cast<unsigned>(pick_.below(1 << rank));
  }

  random pick_;
  long most_;
  graph_case result_;
  si::trace& t_;
  writer w_;
  number sizes_[4]{};
  std::vector<short> pool_;
};

}  // namespace generated
