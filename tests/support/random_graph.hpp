// Random graphs, made at run time through the builder that users' functions go through: what expr/ does for types known
// to the compiler, `writer` does for shapes known only here. A graph is its seed and its number of steps, so that a
// failing one is made again, and shortened, by its numbers.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "graph_writer.hpp"
#include "interpreter.hpp"
#include "sinter/run/program.hpp"

namespace generated {

/// splitmix64: the same numbers on every platform.
class random {
 public:
  explicit random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
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

/// Takes random steps; each adds an expression of earlier ones to the pool.
class generator {
 public:
  generator(unsigned seed, int steps, long most_elements)
      : pick_(seed), most_(most_elements), t_(*result_.trace), w_(t_) {
    add_inputs();
    for (int i = 0; i < steps && !t_.overflowed() && t_.nodes.size() + 60 < si::max_nodes; ++i) step();
    add_outputs();
  }
  graph_case take() { return std::move(result_); }

 private:
  using operand = writer::operand;

  // ---- inputs and results
  // ---------------------------------------------------------------------------------------------

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
  // -------------------------------------------------------------------------------------------------------

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

  // ---- steps
  // ----------------------------------------------------------------------------------------------------------

  void step() {
    const int k = pick_.below(100);
    const short a = any();
    const bool has_axes = w_.shape(a).rank > 0;
    if (k < 18) keep(unary(a));
    else if (k < 46 || !has_axes) keep(several(a));
    else if (k < 55) keep(reduction(a));
    else if (k < 58) keep(scan(a));
    else if (k < 63) keep(composite(a));
    else if (k < 66) keep(permuted(a));
    else if (k < 71) keep(reshaped(a));
    else if (k < 76) keep(cut(a));
    else if (k < 78) keep(repeated(a));
    else if (k < 81) keep(joined(a));
    else if (k < 84) keep(padded(a));
    else if (k < 87) keep(fetched(a));
    else if (k < 89)
      keep(pick_.chance(60) ? w_.iota(w_.shape(a), some_axis(a)) : w_.full(w_.type(a), w_.shape(a), scalar()));
    else if (k < 96) keep(product(a));
    else if (k < 97) keep(recast(a));
    else if (k < 98) list();
    else if (pick_.chance(40)) keep(scattered(a));
    else assign();
  }
  /// A foreach: for each member the same steps, beginning with another value. (A list in a list is part of it.)
  void list() {
    const si::list_scope scope(&t_);
    std::vector<short> members(static_cast<std::size_t>(2 + pick_.below(3)));
    for (short& m : members) m = any();
    const std::vector<short> before = pool_;
    std::vector<short> after = pool_;
    const random same = pick_;
    for (std::size_t m = 0; m < members.size(); ++m) {
      pool_ = before, pool_.push_back(members[m]), pick_ = same;
      if (t_.call.empty()) t_.member = static_cast<short>(m);
      const si::origin_scope call(&t_, "foreach");
      for (int steps = 1 + pick_.below(3); steps > 0 && t_.nodes.size() + 60 < si::max_nodes; --steps) step();
      after.insert(after.end(), pool_.begin() + static_cast<std::ptrdiff_t>(before.size()) + 1, pool_.end());
    }
    pool_ = after;
  }
  void keep(short id) {
    if (id >= 0 && fits(w_.shape(id))) pool_.push_back(id);
  }

  short unary(short a) {
    const op common[] = {op::relu,   op::exp,  op::tanh, op::sigmoid, op::neg, op::abs,
                         op::square, op::sqrt, op::gelu, op::silu,    op::sin};
    if (pick_.chance(85)) return w_.pointwise(common[pick_.below(11)], {{a}});
    return w_.pointwise(any_op(1), {{a}});
  }
  op any_op(int arity) {
    while (true) {
      const op what = static_cast<op>(pick_.below(si::num_ops - 1));  // the last is a scan; seeds keep their graphs
      if (si::is_pointwise(what) && si::row(what).arity == arity && what != op::cast && what != op::widen &&
          what != op::clone)
        return what;
    }
  }
  /// A cast from f32 to f32 changes nothing in f32 and is dropped; where everything is computed in double it would
  /// round.
  short recast(short a) {
    const dtype to = pick_.chance(50) ? dtype::f32 : some_type();
    return to == dtype::f32 && w_.type(a) == to ? short{-1} : w_.cast(a, to);
  }
  short several(short a) {
    const op common[] = {op::add, op::sub, op::mul, op::div, op::maximum, op::minimum, op::add, op::mul};
    if (pick_.chance(12)) {
      std::vector<operand> x = {{a}};
      x.push_back(beside(x)), x.push_back(beside(x));
      return w_.pointwise(pick_.chance(60) ? op::where : any_op(3), x);
    }
    std::vector<operand> x = {{a}, beside({{a}})};
    if (pick_.chance(20)) std::swap(x[0], x[1]);
    return w_.pointwise(pick_.chance(85) ? common[pick_.below(8)] : any_op(2), x);
  }

  short reduction(short a) {
    const op ops[] = {op::sum, op::sum, op::amax, op::amin, op::prod, op::any, op::all, op::m2, op::argmax, op::argmin};
    const op what = ops[pick_.below(10)];
    unsigned mask = some_axes(a);
    const bool keepdim = pick_.chance(50);
    if (what == op::argmax || what == op::argmin) {
      if (pick_.chance(70)) mask = 1u << some_axis(a);
      else mask = (1u << w_.shape(a).rank) - 1;
      if (count(si::reduced_axes(w_.shape(a), mask)) == 0) return -1;
    }
    if (pick_.chance(20)) return w_.mean(a, mask, keepdim);
    return w_.reduce(what, a, mask, keepdim);
  }
  short scan(short a) {
    const op ops[] = {op::cumsum, op::cumsum, op::cumprod, op::cummax, op::cummin, op::logcumsumexp};
    return w_.scan(ops[pick_.below(6)], a, some_axis(a));
  }
  short composite(short a) {
    if (!si::is_floating(w_.type(a))) a = w_.cast(a, dtype::f32);
    const int k = pick_.below(4);
    if (k == 0) return w_.softmax(a, some_axes(a));
    if (k == 1) return w_.layer_norm(a);
    if (k == 2) return w_.rms_norm(a);
    const unsigned mask = some_axes(a);
    return w_.variance(a, mask, pick_.chance(50));
  }

  short permuted(short a) {
    extents order = si::detail::identity_order(w_.shape(a).rank);
    for (int d = order.rank; d-- > 1;) std::swap(order.sizes[d], order.sizes[pick_.below(d + 1)]);
    return w_.permute(a, order);
  }
  short reshaped(short a) {
    const extents from = w_.shape(a);
    extents to{};
    const int k = pick_.below(4), axis = pick_.below(from.rank);
    if (k == 0 && from.rank > 1) {  // merge an axis into the one before
      for (int d = 0; d < from.rank; ++d)
        if (d > 0 && d == std::max(axis, 1)) to[to.rank - 1] = t_.numbers.product(to[to.rank - 1], from[d]);
        else to.push_back(from[d]);
    } else if (k == 1) {  // an axis of one comes or goes
      for (int d = 0; d < from.rank; ++d) {
        if (d == axis && from[d] != 1) to.push_back(1);
        if (d != axis || from[d] != 1) to.push_back(from[d]);
      }
    } else if (k == 2) {  // split an axis
      for (int d = 0; d < from.rank; ++d) {
        const auto [outer, inner] = factors(from[d]);
        if (d == axis) to.push_back(outer), to.push_back(inner);
        else to.push_back(from[d]);
      }
    } else {  // other extents altogether
      const number n = si::numel(from);
      if (!si::is_static(n)) return -1;
      const long f = n == 0 ? 1 : divisor(n);
      to = extents{2, {f, n / f}};
    }
    return w_.reshape(a, to);
  }
  long divisor(long n) {
    std::vector<long> all;
    for (long f = 1; f <= n; ++f)
      if (n % f == 0) all.push_back(f);
    return all[static_cast<std::size_t>(pick_.below(static_cast<int>(all.size())))];
  }
  std::pair<number, number> factors(number n) {
    if (n == 0) return {2, 0};
    if (si::is_static(n)) {
      const long f = divisor(n);
      return {f, n / f};
    }
    const si::number_definition& d = t_.numbers.definitions[t_.numbers.find(n)];
    if (d.rule == si::number_rule::product) return {d.a, d.b};
    return {n, 1};
  }
  short cut(short a) {
    const int axis = some_axis(a);
    const extents from = w_.shape(a);
    const number n = from[axis];
    if (si::is_static(n) && pick_.chance(25)) return w_.flip(a, axis);
    extents to = from, starts{from.rank, {}}, steps{from.rank, {}};
    for (int d = 0; d < from.rank; ++d) steps[d] = 1;
    if (si::is_static(n)) {
      const long start = pick_.below(static_cast<int>(n) + 1),
                 stop = pick_.chance(60) ? n : pick_.below(static_cast<int>(n) + 1);
      const si::detail::slice_bounds b = si::detail::slice_range(n, start, stop, steps[axis] = 1 + pick_.below(3));
      to[axis] = b.size, starts[axis] = b.start;
    } else {
      starts[axis] = pick_.below(static_cast<int>(std::min<std::int64_t>(actual(n), 2)) + 1);
      to[axis] = t_.numbers.sum(n, -starts[axis]);
    }
    return w_.slice(a, to, starts, steps);
  }
  short repeated(short a) {
    extents to = w_.shape(a);
    if (pick_.chance(60) && to.rank < 4) {
      to = extents{1, {sizes_[pick_.below(4)]}};
      for (int d = 0; d < w_.shape(a).rank; ++d) to.push_back(w_.shape(a)[d]);
      if (!defined(to[0])) return -1;
    }
    for (int d = 0; d < to.rank; ++d)
      if (to[d] == 1 && pick_.chance(50)) to[d] = 2 + pick_.below(3);
    return fits(to) ? w_.broadcast(a, to) : short{-1};
  }
  bool defined(number n) const { return si::is_static(n) || t_.numbers.find(n) >= 0; }

  short joined(short a) {
    const int axis = some_axis(a);
    short b = any();
    const auto same = [&] {
      if (w_.shape(b).rank != w_.shape(a).rank) return false;
      for (int d = 0; d < w_.shape(a).rank; ++d)
        if (d != axis && w_.shape(a)[d] != w_.shape(b)[d]) return false;
      return true;
    };
    for (int tries = 0; tries < 5 && !same(); ++tries) b = any();
    if (!same()) b = w_.pointwise(op::neg, {{a}});
    return b < 0 ? b : w_.concat(a, b, axis);
  }

  short padded(short a) {
    const int axis = some_axis(a), before = pick_.below(3), after = pick_.below(3);
    return w_.pad(a, axis, before, after, scalar());
  }

  /// Integers in [-n, n) made of what is at hand, whatever it is.
  short index(const extents& shape, number n) {
    short i = w_.iota(shape, pick_.below(shape.rank));
    for (int tries = 0; tries < 3; ++tries) {
      const short other = any();
      const std::optional<extents> all = w_.together({{i}, {other}});
      if (si::is_floating(w_.type(other)) || !all || !(*all == shape)) continue;
      i = w_.pointwise(op::add, {{w_.pointwise(op::mul, {{i}, writer::literal(3)})}, {w_.cast(other, dtype::i64)}});
      break;
    }
    i = w_.cast(i, dtype::i64);
    const operand extent =
        si::is_static(n) ? writer::constant(static_cast<double>(n)) : operand{t_.add_scalar(dtype::i64, {0, 0, n})};
    i = w_.pointwise(op::remainder, {{i}, extent});
    return pick_.chance(20) ? w_.pointwise(op::sub, {{i}, extent}) : i;
  }
  short fetched(short a) {
    const extents from = w_.shape(a);
    const int axis = pick_.chance(50) ? 0 : some_axis(a);
    const number n = from[axis];
    if (actual(n) == 0) return -1;
    extents to{}, map{from.rank, {}};
    if (axis == 0 && pick_.chance(50)) {  // embedding
      const short like = any();
      if (w_.shape(like).rank == 0 || w_.shape(like).rank + from.rank > 5) return -1;
      to = w_.shape(like);
      const int rank = to.rank;
      map[0] = -1;
      extents aligned = to;
      for (int d = 1; d < from.rank; ++d) to.push_back(from[d]), aligned.push_back(1), map[d] = rank + d - 1;
      return fits(to) ? w_.gather(a, w_.reshape(index(w_.shape(like), n), aligned), to, map) : short{-1};
    }
    to = from;
    if (pick_.chance(40)) to[axis] = 1 + pick_.below(5);
    for (int d = 0; d < from.rank; ++d) map[d] = d == axis ? -1 : d;
    return fits(to) ? w_.gather(a, index(to, n), to, map) : short{-1};
  }

  /// Every second place along an axis, from one end or the other, in or out of range: no place is written twice.
  short scattered(short a) {
    const int axis = some_axis(a);
    extents at = w_.shape(a);
    if (actual(at[axis]) < 9) return -1;
    at[axis] = 1 + pick_.below(4);
    if (!fits(at)) return -1;
    const double step = pick_.chance(50) ? 2 : -2, start = pick_.below(3) - 1;
    const short steps = w_.pointwise(op::mul, {{w_.iota(at, axis)}, {-1, step, false, si::category::integral}});
    const short index =
        w_.cast(w_.pointwise(op::add, {{steps}, {-1, start, false, si::category::integral}}), dtype::i64);
    operand value = scalar();
    for (int tries = 0; tries < 6; ++tries) {
      const short v = any();
      const std::optional<extents> all = w_.together({{v}, {index}});
      if (!all || !(*all == at)) continue;
      value = {v};
      break;
    }
    return w_.scatter(a, index, value, axis);
  }

  short product(short a) {
    if (w_.shape(a).rank < 2) return -1;
    short b = any();
    for (int tries = 0; tries < 8; ++tries, b = any()) {
      const extents &left = w_.shape(a), &right = w_.shape(b);
      if (right.rank < 2) continue;
      const number inner = left[left.rank - 1];
      const short turned = right[right.rank - 2] == inner   ? b
                           : right[right.rank - 1] == inner ? w_.transpose(b)
                                                            : short{-1};
      if (turned >= 0 && batches_agree(left, w_.shape(turned))) return small_product(a, turned);
    }
    return small_product(a, w_.transpose(a));
  }
  static bool batches_agree(const extents& a, const extents& b) {
    for (int i = 3; i <= a.rank && i <= b.rank; ++i)
      if (a[a.rank - i] != b[b.rank - i] && a[a.rank - i] != 1 && b[b.rank - i] != 1) return false;
    return true;
  }
  short small_product(short a, short b) {
    const extents batch = si::broadcast(si::detail::batch_of(w_.shape(a)), si::detail::batch_of(w_.shape(b))).shape;
    const number m = w_.shape(a)[w_.shape(a).rank - 2], k = w_.shape(a)[w_.shape(a).rank - 1],
                 n = w_.shape(b)[w_.shape(b).rank - 1];
    const bool small = fits(si::detail::with_matrix(batch, m, n)) && fits(si::detail::with_matrix(batch, m, k)) &&
                       fits(si::detail::with_matrix(batch, k, n));
    return small ? w_.matmul(a, b) : short{-1};
  }

  void assign() {
    short target = pool_[static_cast<std::size_t>(pick_.below(static_cast<int>(pool_.size())))];
    for (int tries = 0; tries < 6 && !w_.is_assignable(target); ++tries)
      target = pool_[static_cast<std::size_t>(pick_.below(static_cast<int>(pool_.size())))];
    if (!w_.is_assignable(target)) return;
    if (pick_.chance(30) && w_.shape(target).rank > 0) target = cut(w_.current(target));
    const extents to = w_.shape(target);
    operand value = scalar();
    for (int tries = 0; tries < 6; ++tries) {
      const short v = any();
      const std::optional<extents> all = w_.together({{v}, {target}});
      if (all && *all == to) {
        value = {v};
        break;
      }
    }
    w_.assign(target, value);
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
