// Random graphs, made at run time through the builder that users' functions go through: what expr/ does for types known
// to the compiler, `writer` does for shapes known only here. A graph is its seed and its number of steps, so that a
// failing one is made again, and shortened, by its numbers.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "random_pool.hpp"

namespace generated {

/// Takes random steps; each adds an expression of earlier ones to the pool.
class generator : pool {
 public:
  generator(unsigned seed, int steps, long most_elements) : pool(seed, most_elements) {
    add_inputs();
    for (int i = 0; i < steps && !t_.overflowed() && t_.nodes.size() + 60 < si::max_nodes; ++i) step();
    add_outputs();
  }
  graph_case take() { return std::move(result_); }

 private:
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
    else if (k < 95) keep(product(a));
    else if (k < 96) keep(triangle(a));
    else if (k < 97) keep(recast(a));
    else if (k < 98) list();
    else if (k < 99) keep(pick_.chance(60) ? scattered(a) : pick_.chance(60) ? hinted(a) : custom(a));
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
      const op what = static_cast<op>(pick_.below(si::num_ops));
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
    const int k = pick_.below(7);
    if (k == 0) return w_.layer_norm(a);
    if (k == 1) return w_.rms_norm(a);
    const unsigned mask = some_axes(a);
    if (k == 2) return w_.softmax(a, mask);
    if (k == 3) return w_.log_softmax(a, mask);
    if (k == 4) return w_.logsumexp(a, mask, pick_.chance(50));
    const short spread = w_.variance(a, mask, pick_.chance(50));
    return k == 5 ? spread : w_.pointwise(op::sqrt, {{spread}});
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

  short triangle(short a) {
    return w_.shape(a).rank < 2 ? short{-1} : w_.triangle(a, pick_.chance(50), pick_.below(4) - 1);
  }
  /// A wish of the user's about a value.
  short hinted(short a) { return pick_.chance(50) ? w_.realize(a) : w_.no_fuse(a); }

  /// A kernel of the user's: the first operand backwards, and every second element of another that is like it.
  static void turn_and_mix(const si::custom_call& c) {
    const std::size_t size = static_cast<std::size_t>(si::item_size(c.result.type));
    const auto at = [&](const si::custom_array& a, std::int64_t i) {
      return a.as<char>() + static_cast<std::size_t>(i) * size;
    };
    const std::int64_t n = c.result.numel();
    const bool is_mixed = c.operands[1].data != nullptr;
    for (std::int64_t i = 0; i < n; ++i) {
      const char* from = is_mixed && i % 2 == 1 ? at(c.operands[1], i) : at(c.operands[0], n - 1 - i);
      std::copy(from, from + size, at(c.result, i));
    }
  }
  short custom(short a) {
    if (!w_.has_room_for_customs()) return -1;
    std::vector<short> operands = {a};
    const short b = any();
    if (w_.type(b) == w_.type(a) && w_.shape(b) == w_.shape(a)) operands.push_back(b);
    return w_.custom({"turn_and_mix", &turn_and_mix, nullptr}, operands);
  }

  /// Every second place, from one end or the other, in or out of range: no place is written twice.
  short places(const extents& shape, int axis) {
    const double step = pick_.chance(50) ? 2 : -2, start = pick_.below(3) - 1;
    const short steps = w_.pointwise(op::mul, {{w_.iota(shape, axis)}, writer::constant(step)});
    return w_.pointwise(op::add, {{steps}, writer::constant(start)});
  }
  operand replacement(const extents& shape) {
    for (int tries = 0; tries < 6; ++tries) {
      const short v = any();
      const extents& given = w_.shape(v);
      bool fits = given.rank <= shape.rank;
      for (int i = 1; fits && i <= given.rank; ++i)
        fits = given[given.rank - i] == 1 || given[given.rank - i] == shape[shape.rank - i];
      if (fits) return {v};
    }
    return scalar();
  }
  short scattered(short a) {
    const extents all = w_.shape(a);
    const int axis = some_axis(a), k = pick_.below(3), n = 1 + pick_.below(4);
    if (actual(all[axis]) <= 2 * n) return -1;  // places from the start and from the end would meet
    extents at = all;
    at[axis] = n;
    if (!fits(at)) return -1;
    if (k == 0) return w_.scatter(a, places(at, axis), replacement(at), axis);
    if (k == 1) {
      const bool in_pairs = all.rank < 5 && n % 2 == 0 && pick_.chance(50);
      short index = places({1, {n}}, 0);
      if (in_pairs) index = w_.reshape(index, {2, {n / 2, 2}});
      return w_.index_put(a, index, replacement(si::detail::indexed_shape(all, axis, w_.shape(index))), axis);
    }
    if (axis > 1 || all.rank < 2 || actual(all[1 - axis]) == 0) return -1;
    const short unique = places({1, {n}}, 0);
    const short free = pick_.chance(30) ? w_.iota({1, {1}}, 0) : index({1, {n}}, all[1 - axis]);
    extents rows{1, {n}};
    for (int d = 2; d < all.rank; ++d) rows.push_back(all[d]);
    return axis == 0 ? w_.index_put(a, unique, free, replacement(rows))
                     : w_.index_put(a, free, unique, replacement(rows));
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
    const operand value = replacement(to);
    w_.assign(target, value);
  }
};

}  // namespace generated
