// The user's vocabulary at run time: what expr/ does for types known to the compiler, on the same builder, for shapes
// that are values. What to write is random_graph.hpp's matter. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "sinter/expr/nn.hpp"

namespace generated {

namespace si = sinter;
using si::dtype;
using si::extents;
using si::node;
using si::number;
using si::op;

/// The user's vocabulary with shapes as values. An operand is a node, or a C++ scalar.
class writer {
 public:
  explicit writer(si::trace& t) : t_(t) {}

  struct operand {
    short id = -1;
    double value = 0;
    bool is_constant = false;
    si::category kind = si::category::floating;
  };
  static operand literal(double v) { return {-1, v, false, si::category::floating}; }
  static operand constant(double v) { return {-1, v, true, si::category::integral}; }

  short current(short id) { return t_.current(id); }
  const extents& shape(short id) const { return t_.shape(id); }
  dtype type(short id) const { return t_.nodes[id].type; }

  /// The shape of operands together, if no luck is needed at the call: extents are the same, or one.
  std::optional<extents> together(const std::vector<operand>& x) const {
    extents all{};
    for (const operand& a : x) {
      if (a.id < 0) continue;
      const extents& s = shape(a.id);
      for (int i = 1; i <= s.rank && i <= all.rank; ++i)
        if (s[s.rank - i] != all[all.rank - i] && s[s.rank - i] != 1 && all[all.rank - i] != 1) return {};
      all = si::broadcast(all, s).shape;
    }
    return all;
  }

  /// A pointwise op, or -1 where it does not take these operands.
  short pointwise(op what, std::vector<operand> x) {
    for (operand& a : x)
      if (a.id >= 0) a.id = current(a.id);
    const std::size_t first = si::row(what).rule == si::dtype_rule::select ? 1 : 0;
    std::optional<dtype> common;
    for (std::size_t i = first; i < x.size(); ++i)
      if (x[i].id >= 0) common = common ? si::promote(*common, type(x[i].id)) : type(x[i].id);
    for (std::size_t i = first; i < x.size(); ++i)
      if (x[i].id < 0) common = si::promote_scalar(common.value_or(dtype::boolean), x[i].kind);
    const si::op_dtypes types = si::infer_dtypes(what, *common);
    const std::optional<extents> all = together(x);
    if (!types.valid || !all) return -1;
    const si::origin_scope call(&t_, si::row(what).name);
    short ids[3] = {-1, -1, -1};
    for (std::size_t i = 0; i < x.size(); ++i)
      ids[i] = node_of(x[i], i < first ? dtype::boolean : types.operands, *all);
    return t_.add(what, types.result, *all, ids[0], ids[1], ids[2]);
  }
  short cast(short id, dtype to) {
    const si::origin_scope call(&t_, "cast");
    return t_.add(op::cast, to, shape(id), current(id));
  }

  short reduce(op what, short id, unsigned mask, bool keepdim) {
    id = current(id);
    const extents all = shape(id);
    const si::op_dtypes types = si::infer_dtypes(what, type(id));
    const si::origin_scope call(&t_, si::row(what).name);
    node n{};
    n.what = what;
    n.type = types.result;
    n.operands[0] =
        si::detail::widened(&t_, id, si::row(what).rule == si::dtype_rule::accumulate ? types.result : types.operands);
    n.shape = t_.intern(si::kept_axes(all, mask));
    n.attr = static_cast<short>(mask);
    const short reduced = t_.add(n);
    return keepdim ? reshape(reduced, si::detail::with_ones(all, mask)) : reduced;
  }
  short scan(op what, short id, int axis) {
    id = current(id);
    const si::op_dtypes types = si::infer_dtypes(what, type(id));
    const si::origin_scope call(&t_, si::row(what).name);
    node n{};
    n.what = what;
    n.type = types.result;
    n.operands[0] =
        si::detail::widened(&t_, id, si::row(what).rule == si::dtype_rule::accumulate ? types.result : types.operands);
    n.shape = t_.intern(shape(id));
    n.attr = static_cast<short>(1 << axis);
    return t_.add(n);
  }
  operand count(short id, unsigned mask, dtype type) {
    const extents folded = si::reduced_axes(shape(id), mask);
    const number n = si::numel(folded);
    if (si::is_static(n)) return {t_.add_constant(type, {static_cast<double>(n), n, 0})};
    return {t_.add_scalar(type, {0, 0, t_.numbers.numel(folded)})};
  }
  short mean(short id, unsigned mask, bool keepdim) {
    const si::origin_scope call(&t_, "mean");
    const dtype t = si::is_floating(type(id)) ? type(id) : dtype::f32;
    const short values = si::detail::widened(&t_, current(id), t);
    const short total = reduce(op::sum, values, mask, keepdim);
    return pointwise(op::div, {{total}, count(values, mask, t)});
  }
  short variance(short id, unsigned mask, bool keepdim) {
    const si::origin_scope call(&t_, "var");
    const short m2 = reduce(op::m2, id, mask, keepdim);
    return pointwise(op::div, {{m2}, count(id, mask, type(m2))});
  }
  short softmax(short id, unsigned mask) {
    const si::origin_scope call(&t_, "softmax");
    const short e = pointwise(op::exp, {{pointwise(op::sub, {{id}, {reduce(op::amax, id, mask, true)}})}});
    return pointwise(op::div, {{e}, {reduce(op::sum, e, mask, true)}});
  }
  short layer_norm(short id) {
    const si::origin_scope call(&t_, "layer_norm");
    const unsigned last = 1u << (shape(id).rank - 1);
    const short centred = pointwise(op::sub, {{id}, {mean(id, last, true)}});
    const short spread = pointwise(op::add, {{variance(id, last, true)}, literal(0.25)});
    return pointwise(op::mul, {{centred}, {pointwise(op::rsqrt, {{spread}})}});
  }
  short rms_norm(short id) {
    const si::origin_scope call(&t_, "rms_norm");
    const short squares = mean(pointwise(op::square, {{id}}), 1u << (shape(id).rank - 1), true);
    return pointwise(op::mul, {{id}, {pointwise(op::rsqrt, {{pointwise(op::add, {{squares}, literal(0.5)})}})}});
  }

  short log_softmax(short id, unsigned mask) {
    const si::origin_scope call(&t_, "log_softmax");
    const short shifted = pointwise(op::sub, {{id}, {reduce(op::amax, id, mask, true)}});
    const short total = reduce(op::sum, pointwise(op::exp, {{shifted}}), mask, true);
    return pointwise(op::sub, {{shifted}, {pointwise(op::log, {{total}})}});
  }
  short logsumexp(short id, unsigned mask, bool keepdim) {
    const si::origin_scope call(&t_, "logsumexp");
    const short top = reduce(op::amax, id, mask, true);
    const short safe = pointwise(op::where, {{pointwise(op::isinf, {{top}})}, constant(0), {top}});
    const short total = reduce(op::sum, pointwise(op::exp, {{pointwise(op::sub, {{id}, {safe}})}}), mask, true);
    const short result = pointwise(op::add, {{pointwise(op::log, {{total}})}, {safe}});
    return keepdim ? result : reshape(result, si::kept_axes(shape(id), mask));
  }
  short triangle(short id, bool upper, int diagonal) {
    const si::origin_scope call(&t_, upper ? "triu" : "tril");
    const extents all = shape(id);
    const short offset = pointwise(op::sub, {{iota(all, all.rank - 1)}, {iota(all, all.rank - 2)}});
    const short kept = pointwise(upper ? op::ge : op::le, {{offset}, constant(diagonal)});
    return pointwise(op::where, {{kept}, {id}, {full(type(id), all, constant(0))}});
  }
  bool has_room_for_customs() const { return t_.customs.size() < 4; }
  short custom(const si::custom_function& f, const std::vector<short>& operands) {
    const si::origin_scope call(&t_, f.name);
    node n{};
    n.what = op::custom, n.type = type(operands[0]), n.shape = t_.intern(shape(operands[0]));
    n.attr = static_cast<short>(t_.customs.push_back(f));
    for (std::size_t k = 0; k < operands.size(); ++k) n.operands[k] = current(operands[k]);
    return t_.add(n);
  }
  short realize(short id) {
    const si::origin_scope call(&t_, "realize");
    return t_.add(op::realize, type(id), shape(id), current(id));
  }
  short no_fuse(short id) {
    id = current(id);
    short base = id;
    while (si::is_view(t_.nodes[base].what)) base = t_.nodes[base].operands[0];
    if (!si::is_leaf(t_.nodes[base].what) && t_.nodes[base].what != op::assign) t_.nodes[base].set_apart = true;
    return id;
  }

  short permute(short id, const extents& order) {
    id = current(id);
    return si::detail::add_permute(&t_, id, si::detail::permuted(shape(id), order), order);
  }
  short transpose(short id) {
    extents order = si::detail::identity_order(shape(id).rank);
    std::swap(order.sizes[order.rank - 1], order.sizes[order.rank - 2]);
    return permute(id, order);
  }
  short reshape(short id, const extents& to) {
    id = current(id);
    return shape(id) == to ? id : si::detail::add_view(&t_, op::reshape, id, to);
  }
  short broadcast(short id, const extents& to) { return si::detail::broadcasted(&t_, current(id), to); }
  short slice(short id, const extents& to, const extents& starts, const extents& steps) {
    return si::detail::add_slice(&t_, current(id), to, starts, steps);
  }
  short flip(short id, int axis) {
    extents starts{shape(id).rank, {}}, steps{shape(id).rank, {}};
    for (int d = 0; d < steps.rank; ++d) steps[d] = d == axis ? -1 : 1;
    starts[axis] = shape(id)[axis] - 1;
    return slice(id, shape(id), starts, steps);
  }

  short iota(const extents& like, int axis) {
    const si::origin_scope call(&t_, "iota");
    node n{};
    n.what = op::iota, n.type = dtype::i64, n.shape = t_.intern(like), n.attr = static_cast<short>(axis);
    return t_.add(n);
  }
  short full(dtype type, const extents& like, operand value) {
    const si::origin_scope call(&t_, "full");
    return si::detail::expanded(&t_, node_of(value, type, extents{}), like);
  }
  short gather(short source, short index, const extents& shape, const extents& map) {
    const si::origin_scope call(&t_, "gather");
    node n{};
    n.what = op::gather, n.type = type(source);
    n.operands[0] = current(source);
    n.operands[1] = si::detail::broadcasted(&t_, si::detail::widened(&t_, current(index), dtype::i64), shape);
    n.shape = t_.intern(shape), n.list = t_.intern(map);
    return t_.add(n);
  }
  /// `target` with the elements at `index` along one axis replaced; the value broadcasts to the index.
  short scatter(short target, short index, const operand& value, int axis) {
    const si::origin_scope call(&t_, "scatter");
    const extents to = shape(index);
    extents map{to.rank, {}};
    for (int d = 0; d < to.rank; ++d) map[d] = d == axis ? -1 : d;
    return put(target, index, value, to, map);
  }
  /// The same with rows: those at `index` along one axis, whose place in the value's shape the index's dimensions take.
  short index_put(short target, short index, const operand& value, int axis) {
    const si::origin_scope call(&t_, "index_put");
    const int more = shape(index).rank - 1;
    extents map{shape(target).rank, {}}, aligned = shape(index);
    for (int d = 0; d < map.rank; ++d) map[d] = d < axis ? d : d == axis ? -1 : d + more;
    for (int d = axis + 1; d < map.rank; ++d) aligned.push_back(1);
    return put(target, reshape(index, aligned), value, si::detail::indexed_shape(shape(target), axis, shape(index)),
               map);
  }
  /// And at rows i and columns j, together or apart.
  short index_put(short target, short i, short j, const operand& value) {
    const si::origin_scope call(&t_, "index_put");
    const std::optional<extents> both = together({{i}, {j}});
    const operand rows = count(target, 1, dtype::i64), columns = count(target, 2, dtype::i64), zero = constant(0);
    const auto binary = [&](op what, operand x, operand y) { return operand{pointwise(what, {x, y})}; };
    const auto from_start = [&](short index, operand extent) {
      return operand{pointwise(op::where, {binary(op::lt, {index}, zero), binary(op::add, {index}, extent), {index}})};
    };
    const operand row = from_start(i, rows), column = from_start(j, columns);
    const operand is_there =
        binary(op::logical_and, binary(op::logical_and, binary(op::ge, row, zero), binary(op::lt, row, rows)),
               binary(op::logical_and, binary(op::ge, column, zero), binary(op::lt, column, columns)));
    const short position = pointwise(
        op::where, {is_there, binary(op::add, binary(op::mul, row, columns), column), binary(op::mul, rows, columns)});
    const extents rest = si::detail::kept_last(shape(target), 2);
    extents map{shape(target).rank, {-2, -1}};
    for (int d = 2; d < map.rank; ++d) map[d] = both->rank + d - 2;
    return put(target, reshape(position, si::detail::joined(*both, si::detail::with_ones(rest, ~0u))), value,
               si::detail::joined(*both, rest), map);
  }
  short put(short target, short index, const operand& value, const extents& to, const extents& map) {
    node n{};
    n.what = op::scatter, n.type = type(target);
    n.operands[0] = current(target);
    n.operands[1] = node_of({value.id < 0 ? value.id : current(value.id), value.value, value.is_constant}, n.type, to);
    n.operands[2] = si::detail::broadcasted(&t_, si::detail::widened(&t_, current(index), dtype::i64), to);
    n.shape = t_.intern(shape(target)), n.list = t_.intern(map);
    return t_.add(n);
  }
  short concat(short a, short b, int axis) {
    const si::origin_scope call(&t_, "cat");
    a = current(a), b = current(b);
    extents joined = shape(a);
    joined[axis] = t_.numbers.sum(shape(a)[axis], shape(b)[axis]);
    node n{};
    n.what = op::concat, n.type = si::promote(type(a), type(b));
    n.operands[0] = si::detail::widened(&t_, a, n.type), n.operands[1] = si::detail::widened(&t_, b, n.type);
    n.shape = t_.intern(joined), n.attr = static_cast<short>(axis);
    return t_.add(n);
  }
  short pad(short id, int axis, long before_it, long after_it, operand value) {
    const si::origin_scope call(&t_, "pad");
    id = current(id);
    extents padded = shape(id), before{padded.rank, {}};
    padded[axis] = t_.numbers.sum(padded[axis], before_it + after_it);
    before[axis] = before_it;
    node n{};
    n.what = op::pad, n.type = type(id);
    n.operands[0] = id, n.operands[1] = node_of(value, n.type, extents{});
    n.shape = t_.intern(padded), n.list = t_.intern(before);
    return t_.add(n);
  }

  /// [..., M, K] × [..., K, N]; the caller has seen to the extents.
  short matmul(short a, short b) {
    a = current(a), b = current(b);
    const extents left = shape(a), right = shape(b);
    const number rows = left[left.rank - 2], inner = left[left.rank - 1], columns = right[right.rank - 1];
    const extents batch = si::broadcast(si::detail::batch_of(left), si::detail::batch_of(right)).shape;
    const dtype t = si::promote(type(a), type(b));
    const si::origin_scope call(&t_, batch.rank == 0 ? "mm" : "bmm");
    a = si::detail::broadcasted(&t_, si::detail::widened(&t_, a, t), si::detail::with_matrix(batch, rows, inner));
    b = si::detail::broadcasted(&t_, si::detail::widened(&t_, b, t), si::detail::with_matrix(batch, inner, columns));
    return t_.add(op::matmul, t, si::detail::with_matrix(batch, rows, columns), a, b);
  }

  bool is_assignable(short target) {
    target = current(target);
    const node& base = t_.nodes[si::detail::assigned_base(t_, target)];
    return si::detail::is_assignable(t_, target) && (base.what != op::input || !t_.inputs[base.attr].by_value);
  }
  void assign(short target, operand value) {
    const si::origin_scope call(&t_, "assign");
    const short view = current(target);
    if (value.id >= 0) value.id = current(value.id);
    const extents to = shape(view);
    si::detail::add_assign(&t_, view, node_of(value, type(view), to));
  }

  short node_of(const operand& a, dtype type, const extents& shape) {
    if (a.id >= 0) return si::detail::broadcasted(&t_, si::detail::widened(&t_, a.id, type), shape);
    const si::scalar_source s{a.value, static_cast<long>(a.value), 0};
    return a.is_constant ? t_.add_constant(type, s) : t_.add_scalar(type, s);
  }

 private:
  si::trace& t_;
};

}  // namespace generated
