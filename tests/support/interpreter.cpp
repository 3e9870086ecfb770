// The reference interpreter; see interpreter.hpp.
// SPDX-License-Identifier: BSL-1.0
#include "interpreter.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "tolerance.hpp"

namespace reference {
namespace {

using sinter::dtype;
using sinter::extents;
using sinter::node;
using sinter::number;
using sinter::op;
using indices = std::vector<std::int64_t>;

/// Calls f with a value of the type in which elements of `type` are computed here: double for all floating types.
template <class F>
auto visit(dtype type, F f) {
  switch (type) {
    case dtype::boolean: return f(bool{});
    case dtype::u8: return f(std::uint8_t{});
    case dtype::i8: return f(std::int8_t{});
    case dtype::i32: return f(std::int32_t{});
    case dtype::i64: return f(std::int64_t{});
    default: return f(double{});
  }
}
template <class T>
T get(const cell& c) {
  if constexpr (std::is_same_v<T, double>) return c.real;
  else return static_cast<T>(c.whole);
}
template <class T>
cell put(T value) {
  if constexpr (std::is_same_v<T, double>) return {value, 0};
  else return {static_cast<double>(value), static_cast<std::int64_t>(value)};
}

}  // namespace

cell rounded(dtype type, cell c) {
  switch (type) {
    case dtype::f16: return {static_cast<float>(sinter::f16(static_cast<float>(c.real))), 0};
    case dtype::bf16: return {static_cast<float>(sinter::bf16(static_cast<float>(c.real))), 0};
    case dtype::f32: return {static_cast<float>(c.real), 0};
    default: return c;
  }
}
cell converted(dtype from, dtype to, const cell& c) {
  return visit(from, [&](auto x) {
    return visit(to, [&](auto y) { return put(sinter::convert<decltype(y), decltype(x)>(get<decltype(x)>(c))); });
  });
}

namespace {

template <class Op>
cell apply_op(dtype type, const cell* x) {
  constexpr sinter::op_row r = sinter::row(Op::id);
  return visit(type, [&](auto zero) -> cell {
    using T = decltype(zero);
    constexpr sinter::op_dtypes types = sinter::infer_dtypes(Op::id, sinter::dtype_of<T>);
    if constexpr (types.valid && types.operands == sinter::dtype_of<T>) {
      if constexpr (r.arity == 1) return put(Op::apply(get<T>(x[0])));
      else if constexpr (r.arity == 2) return put(Op::apply(get<T>(x[0]), get<T>(x[1])));
      else if constexpr (r.rule == sinter::dtype_rule::select) return put(Op::apply(x[0].whole != 0, get<T>(x[1]), get<T>(x[2])));
      else return put(Op::apply(get<T>(x[0]), get<T>(x[1]), get<T>(x[2])));
    } else {
      throw std::logic_error(std::string(r.name) + " does not take " + std::string(sinter::name(type)));
    }
  });
}

}  // namespace

cell pointwise(op what, dtype type, const cell* x) {
  switch (what) {
#define SINTER_ROW(name, ...) \
  case op::name: return apply_op<sinter::ops::name>(type, x);
    SINTER_POINTWISE_OPS(SINTER_ROW)
#undef SINTER_ROW
    default: throw std::logic_error("not pointwise");
  }
}

cell literal(const sinter::scalar_source& s, dtype type, std::int64_t size) {
  if (sinter::is_symbolic(s.size)) return converted(dtype::i64, type, put(size));
  if (sinter::is_floating(type)) return {s.real, 0};
  return converted(dtype::i64, type, put(static_cast<std::int64_t>(s.integer)));
}

cell multiplied(dtype type, const std::vector<cell>& a, const std::vector<cell>& b) {
  double real = 0;
  std::uint64_t whole = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    real += a[k].real * b[k].real;
    whole += static_cast<std::uint64_t>(a[k].whole) * static_cast<std::uint64_t>(b[k].whole);
  }
  if (sinter::is_floating(type)) return {real, 0};
  if (type == dtype::boolean) return put(whole != 0);
  return converted(dtype::i64, type, put(static_cast<std::int64_t>(whole)));
}

namespace {

template <class T>
cell folded(op what, const std::vector<cell>& row) {
  constexpr bool real = std::is_same_v<T, double>;
  const auto greater = [](T x, T y) { return x > y || (x != x && y == y); };
  const auto less = [](T x, T y) { return x < y || (x != x && y == y); };
  switch (what) {
    case op::sum: {
      if constexpr (real) {
        double total = row.empty() ? 0 : -0.;  // which is neutral: a sum of -0 alone is -0, as where it is unrolled
        for (const cell& c : row) total += c.real;
        return put(total);
      } else {
        std::uint64_t total = 0;
        for (const cell& c : row) total += static_cast<std::uint64_t>(c.whole);
        return put(static_cast<std::int64_t>(total));
      }
    }
    case op::prod: {
      if constexpr (real) {
        double total = 1;
        for (const cell& c : row) total *= c.real;
        return put(total);
      } else {
        std::uint64_t total = 1;
        for (const cell& c : row) total *= static_cast<std::uint64_t>(c.whole);
        return put(static_cast<std::int64_t>(total));
      }
    }
    case op::amax: {
      T best = real ? static_cast<T>(-std::numeric_limits<double>::infinity()) : std::numeric_limits<T>::lowest();
      for (const cell& c : row)
        if (greater(get<T>(c), best)) best = get<T>(c);
      return put(best);
    }
    case op::amin: {
      T best = real ? static_cast<T>(std::numeric_limits<double>::infinity()) : std::numeric_limits<T>::max();
      for (const cell& c : row)
        if (less(get<T>(c), best)) best = get<T>(c);
      return put(best);
    }
    case op::argmax:
    case op::argmin: {
      std::size_t best = 0;
      for (std::size_t i = 1; i < row.size(); ++i)
        if (what == op::argmax ? greater(get<T>(row[i]), get<T>(row[best])) : less(get<T>(row[i]), get<T>(row[best]))) best = i;
      return put(static_cast<std::int64_t>(best));
    }
    case op::any: {
      bool found = false;
      for (const cell& c : row) found = found || get<T>(c) != T(0);
      return put(found);
    }
    case op::all: {
      bool all = true;
      for (const cell& c : row) all = all && get<T>(c) != T(0);
      return put(all);
    }
    case op::m2: {
      double mean = 0, total = 0;
      for (const cell& c : row) mean += c.real / static_cast<double>(row.size());
      for (const cell& c : row) total += (c.real - mean) * (c.real - mean);
      return put(total);
    }
    case op::sumexp: {
      double top = -std::numeric_limits<double>::infinity(), total = 0;
      for (const cell& c : row)
        if (greater(get<T>(c), static_cast<T>(top))) top = static_cast<double>(get<T>(c));
      for (const cell& c : row) total += std::exp(c.real - top);
      return put(total);
    }
    case op::logsumexp: {
      double top = -std::numeric_limits<double>::infinity(), total = 0;
      for (const cell& c : row)
        if (greater(get<T>(c), static_cast<T>(top))) top = static_cast<double>(get<T>(c));
      if (std::isinf(top)) return put(top);
      for (const cell& c : row) total += std::exp(c.real - top);
      return put(top + std::log(total));
    }
    default: throw std::logic_error("not a reduction");
  }
}

}  // namespace

cell fold(op reduction, dtype type, const std::vector<cell>& row) {
  return visit(type, [&](auto zero) { return folded<decltype(zero)>(reduction, row); });
}

cell scanned(op scan, dtype type, const cell& before, const cell& next) {
  switch (scan) {
    case op::cumsum: return fold(op::sum, type, {before, next});
    case op::cumprod: return fold(op::prod, type, {before, next});
    case op::cummax: return fold(op::amax, type, {before, next});
    case op::cummin: return fold(op::amin, type, {before, next});
    case op::logcumsumexp: {
      const double x = before.real, y = next.real;
      if (std::isnan(x) || std::isnan(y)) return put(x + y);
      const double top = std::max(x, y);
      return put(std::isinf(top) ? top : top + std::log(std::exp(x - top) + std::exp(y - top)));
    }
    default: throw std::logic_error("not a scan");
  }
}

namespace {

/// Row-major position, and the way back.
std::int64_t position(const indices& at, const indices& shape) {
  std::int64_t p = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (at[d] < 0 || at[d] >= shape[d]) throw std::logic_error("an index is outside its dimension");
    p = p * shape[d] + at[d];
  }
  return p;
}
indices indices_of(std::int64_t p, const indices& shape) {
  indices at(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; p /= shape[d]) at[d] = p % shape[d];
  return at;
}

class evaluation {
 public:
  evaluation(const program& p, std::vector<array>& inputs, storage kind)
      : p_(p), inputs_(inputs), kind_(kind), values_(p.nodes.size()) {
    for (const sinter::number_definition& d : p.numbers) {
      switch (d.rule) {
        case sinter::number_rule::input_extent: known_.push_back(inputs[d.a].shape[d.b]); break;
        case sinter::number_rule::product: known_.push_back(value(d.a) * value(d.b)); break;
        case sinter::number_rule::sum: known_.push_back(value(d.a) + value(d.b)); break;
        case sinter::number_rule::quotient: known_.push_back(value(d.b) == 0 ? 0 : value(d.a) / value(d.b)); break;
        case sinter::number_rule::input_stride: throw std::logic_error("strides have no part in a graph");
      }
    }
  }

  std::vector<array> run() {
    for (std::size_t id = 0; id < p_.nodes.size(); ++id) values_[id] = evaluate(p_.nodes[id]);
    std::vector<array> results;
    for (short id : p_.outputs) results.push_back(stored(values_[id]));
    for (short id : p_.assigns) {
      int base = id;
      while (p_.nodes[base].what != op::input) base = p_.nodes[base].operands[0];
      inputs_[p_.nodes[base].attr] = values_[id];
    }
    return results;
  }

 private:
  std::int64_t value(number n) const {
    if (sinter::is_static(n)) return n;
    for (std::size_t i = 0; i < known_.size(); ++i)
      if (p_.numbers[i].value == n) return known_[i];
    throw std::logic_error("a run-time number is not defined");
  }
  indices list(short at) const {
    indices out;
    for (int d = 0; d < p_.lists[at].rank; ++d) out.push_back(value(p_.lists[at][d]));
    return out;
  }
  cell stored(dtype type, const cell& c) const { return kind_ == storage::rounded ? rounded(type, c) : c; }
  array stored(array a) const {
    for (cell& c : a.cells) c = stored(a.type, c);
    return a;
  }
  const array& operand(const node& n, int k) const { return values_[n.operands[k]]; }

  /// Where element `at` of a view lies in its operand.
  indices through(const node& view, const indices& at) const {
    const indices& from = operand(view, 0).shape;
    indices out(from.size(), 0);
    switch (view.what) {
      case op::permute: {
        const indices order = list(view.list);
        for (std::size_t d = 0; d < order.size(); ++d) out[order[d]] = at[d];
        return out;
      }
      case op::reshape: return indices_of(position(at, list(view.shape)), from);
      case op::broadcast:
        for (std::size_t d = 0; d < from.size(); ++d) out[d] = from[d] == 1 ? 0 : at[d + at.size() - from.size()];
        return out;
      case op::slice: {
        const indices starts = list(view.list), steps = list(view.list2);
        for (std::size_t d = 0; d < from.size(); ++d) out[d] = starts[d] + steps[d] * at[d];
        return out;
      }
      default: throw std::logic_error("not a view");
    }
  }

  array evaluate(const node& n) {
    array out{n.type, list(n.shape), {}};
    if (n.what == op::input) {
      if (inputs_[n.attr].shape != out.shape) throw std::logic_error("an input has other extents than the graph says");
      return inputs_[n.attr];
    }
    if (sinter::is_reduction(n.what)) return reduced(n, out);
    if (sinter::is_scan(n.what)) return scanned_along(n, out);
    if (n.what == op::assign) return assigned(n);
    if (n.what == op::scatter) return scattered(n);
    if (n.what == op::custom) {
      std::vector<const array*> operands;
      for (int k = 0; k < n.num_operands(); ++k) operands.push_back(&operand(n, k));
      return called(p_.customs[static_cast<std::size_t>(n.attr)], operands, out);
    }
    if (n.what == op::reshape && count(out.shape) != count(operand(n, 0).shape)) throw std::logic_error("reshape changes the element count");
    const std::int64_t size = count(out.shape);
    for (std::int64_t i = 0; i < size; ++i) out.cells.push_back(element(n, indices_of(i, out.shape)));
    return out;
  }

  cell element(const node& n, const indices& at) const {
    const auto read = [&](int k, const indices& where) {
      const array& a = operand(n, k);
      return a.cells[a.shape.empty() ? 0 : position(where, a.shape)];  // scalars have no indices to broadcast over
    };
    switch (n.what) {
      case op::constant:
      case op::scalar: return literal(p_.scalars[n.attr], n.type, value(p_.scalars[n.attr].size));
      case op::empty: return {};
      case op::iota: return put(at[n.attr]);
      case op::cast: return rounded(n.type, converted(operand(n, 0).type, n.type, read(0, at)));
      case op::widen: return converted(operand(n, 0).type, n.type, read(0, at));
      case op::permute:
      case op::reshape:
      case op::broadcast:
      case op::slice: {
        const array& a = operand(n, 0);
        return a.cells[position(through(n, at), a.shape)];
      }
      case op::gather: {
        const indices map = list(n.list);
        const array& source = operand(n, 0);
        indices where(map.size());
        for (std::size_t d = 0; d < map.size(); ++d)
          if (map[d] >= 0) where[d] = at[map[d]];
          else where[d] = read(1, at).whole + (read(1, at).whole < 0 ? source.shape[d] : 0);
        return source.cells[position(where, source.shape)];
      }
      case op::concat: {
        const std::int64_t first = operand(n, 0).shape[n.attr];
        if (at[n.attr] < first) return read(0, at);
        indices where = at;
        where[n.attr] -= first;
        return read(1, where);
      }
      case op::pad: {
        const indices before = list(n.list);
        indices where = at;
        for (std::size_t d = 0; d < at.size(); ++d) {
          where[d] -= before[d];
          if (where[d] < 0 || where[d] >= operand(n, 0).shape[d]) return operand(n, 1).cells[0];
        }
        return read(0, where);
      }
      case op::matmul: return product(n, at);
      default: {
        cell x[3];
        for (int k = 0; k < n.num_operands(); ++k) x[k] = read(k, at);
        return pointwise(n.what, operand(n, n.what == op::where ? 1 : 0).type, x);
      }
    }
  }

  cell product(const node& n, indices at) const {
    const array &a = operand(n, 0), &b = operand(n, 1);
    const std::size_t rank = at.size();
    const std::int64_t row = at[rank - 2], column = at[rank - 1];
    std::vector<cell> x, y;
    for (std::int64_t k = 0; k < a.shape[rank - 1]; ++k) {
      at[rank - 2] = row, at[rank - 1] = k;
      x.push_back(a.cells[position(at, a.shape)]);
      at[rank - 2] = k, at[rank - 1] = column;
      y.push_back(b.cells[position(at, b.shape)]);
    }
    return multiplied(n.type, x, y);
  }

  array reduced(const node& n, array out) const {
    const array& a = operand(n, 0);
    if (static_cast<int>(a.shape.size()) < 32 && (static_cast<unsigned>(n.attr) >> a.shape.size()) != 0) throw std::logic_error("a reduced axis does not exist");
    std::vector<std::vector<cell>> rows(static_cast<std::size_t>(count(out.shape)));
    for (std::size_t i = 0; i < a.cells.size(); ++i) {  // row-major, so each row is in order of its reduced axes
      const indices at = indices_of(static_cast<std::int64_t>(i), a.shape);
      indices kept;
      for (std::size_t d = 0; d < at.size(); ++d)
        if (!(n.attr >> d & 1)) kept.push_back(at[d]);
      rows[static_cast<std::size_t>(position(kept, out.shape))].push_back(a.cells[i]);
    }
    for (const auto& row : rows) out.cells.push_back(fold(n.what, a.type, row));
    return out;
  }

  array scanned_along(const node& n, array out) const {
    const array& a = operand(n, 0);
    std::size_t axis = 0;
    while (axis < a.shape.size() && n.attr != 1 << axis) ++axis;
    if (axis == a.shape.size()) throw std::logic_error("a scan runs along one axis");
    for (std::size_t i = 0; i < a.cells.size(); ++i) {
      indices at = indices_of(static_cast<std::int64_t>(i), a.shape);
      if (at[axis]-- == 0) out.cells.push_back(a.cells[i]);
      else out.cells.push_back(scanned(n.what, a.type, out.cells[static_cast<std::size_t>(position(at, a.shape))], a.cells[i]));
    }
    return out;
  }

  array assigned(const node& n) const {
    int base = n.operands[0];
    while (sinter::is_view(p_.nodes[base].what)) base = p_.nodes[base].operands[0];
    array out = values_[base];
    const indices target = list(p_.nodes[n.operands[0]].shape);
    const array& v = operand(n, 1);
    if (!v.shape.empty() && v.shape != target) throw std::logic_error("an assigned value has another shape than its target");
    for (std::int64_t i = 0; i < count(target); ++i) {
      indices at = indices_of(i, target);
      const cell c = v.cells[v.shape.empty() ? 0 : static_cast<std::size_t>(i)];
      for (int id = n.operands[0]; id != base; id = p_.nodes[id].operands[0]) at = through(p_.nodes[id], at);
      out.cells[static_cast<std::size_t>(position(at, out.shape))] = stored(out.type, c);
    }
    return out;
  }

  array scattered(const node& n) const {
    array out = operand(n, 0);
    const array &v = operand(n, 1), &index = operand(n, 2);
    const indices map = list(n.list);
    for (std::int64_t i = 0; i < count(index.shape); ++i) {
      const indices at = indices_of(i, index.shape);
      indices where(map.size());
      std::int64_t taken = 1, position_in_taken = index.cells[static_cast<std::size_t>(i)].whole;
      for (std::size_t d = 0; d < map.size(); ++d)
        if (map[d] < 0) taken *= out.shape[d];
      if (position_in_taken < 0) position_in_taken += taken;
      const bool is_there = position_in_taken >= 0 && position_in_taken < taken;
      for (std::size_t d = map.size(); is_there && d-- > 0;) {
        where[d] = map[d] >= 0 ? at[map[d]] : position_in_taken % out.shape[d];
        if (map[d] < 0) position_in_taken /= out.shape[d];
      }
      if (!is_there) continue;
      out.cells[static_cast<std::size_t>(position(where, out.shape))] = stored(out.type, v.cells[v.shape.empty() ? 0 : static_cast<std::size_t>(i)]);
    }
    return out;
  }

  const program& p_;
  std::vector<array>& inputs_;
  storage kind_;
  std::vector<array> values_;
  std::vector<std::int64_t> known_;
};

std::string shown(dtype type, const cell& c) {
  return sinter::is_floating(type) ? std::to_string(c.real) : std::to_string(c.whole);
}

}  // namespace

std::int64_t count(const std::vector<std::int64_t>& shape) {
  std::int64_t n = 1;
  for (std::int64_t s : shape) n *= s;
  return n;
}

/// On operands rounded to their element types, as they lie in memory.
array called(const sinter::custom_function& f, const std::vector<const array*>& operands, array out) {
  sinter::custom_call call{};
  std::vector<std::vector<char>> memory;
  const auto bind = [&](const array& a, sinter::custom_array& to) {
    const std::size_t item = static_cast<std::size_t>(sinter::item_size(a.type));
    memory.emplace_back(static_cast<std::size_t>(count(a.shape)) * item + 1);
    for (std::size_t i = 0; i < a.cells.size(); ++i) encode(a.type, a.cells[i], &memory.back()[i * item]);
    to.data = memory.back().data(), to.type = a.type, to.rank = static_cast<int>(a.shape.size());
    std::int64_t stride = 1;
    for (int d = to.rank - 1; d >= 0; stride *= to.extents[d--]) to.extents[d] = a.shape[static_cast<std::size_t>(d)], to.strides[d] = stride;
  };
  for (std::size_t k = 0; k < operands.size(); ++k) bind(*operands[k], call.operands[k]);
  bind(out, call.result);
  if (count(out.shape) > 0) f.host(call);
  const std::size_t item = static_cast<std::size_t>(sinter::item_size(out.type));
  for (std::int64_t i = 0; i < count(out.shape); ++i)
    out.cells.push_back(decode(out.type, static_cast<char*>(call.result.data) + static_cast<std::size_t>(i) * item));
  return out;
}

std::vector<array> evaluate(const program& p, std::vector<array>& inputs, storage kind) {
  return evaluation(p, inputs, kind).run();
}

std::string text(const program& p) {
  std::string out;
  const auto sizes = [&](short at) {
    std::string s = "[";
    for (int d = 0; d < p.lists[at].rank; ++d) {
      const number n = p.lists[at][d];
      s += (d > 0 ? ", " : "") + (sinter::is_static(n) ? std::to_string(n) : "n" + std::to_string(-n % 1000));
    }
    return s + "]";
  };
  for (std::size_t id = 0; id < p.nodes.size(); ++id) {
    const node& n = p.nodes[id];
    out += "  %" + std::to_string(id) + " = " + std::string(sinter::name(n.what)) + " " + std::string(sinter::name(n.type)) + sizes(n.shape);
    for (int k = 0; k < n.num_operands(); ++k) out += " %" + std::to_string(n.operands[k]);
    if (n.what == op::constant || n.what == op::scalar) out += " value " + std::to_string(p.scalars[n.attr].real);
    else if (n.attr != 0) out += " attr " + std::to_string(n.attr);
    if (n.list >= 0) out += " list " + sizes(n.list);
    if (n.list2 >= 0) out += " list2 " + sizes(n.list2);
    out += "  call " + std::to_string(n.origin) + "\n";
  }
  out += "  results:";
  for (short id : p.outputs) out += " %" + std::to_string(id);
  return out + "\n";
}

cell decode(dtype type, const void* element) {
  const auto read = [&](auto x) {
    __builtin_memcpy(&x, element, sizeof x);
    return x;
  };
  switch (type) {
    case dtype::f16: return {static_cast<float>(read(sinter::f16(0.f))), 0};
    case dtype::bf16: return {static_cast<float>(read(sinter::bf16(0.f))), 0};
    case dtype::f32: return {read(0.f), 0};
    case dtype::f64: return {read(0.), 0};
    case dtype::boolean: return put(read(std::uint8_t{}) != 0);
    case dtype::u8: return put(read(std::uint8_t{}));
    case dtype::i8: return put(read(std::int8_t{}));
    case dtype::i32: return put(read(std::int32_t{}));
    case dtype::i64: return put(read(std::int64_t{}));
  }
  return {};
}

void encode(dtype type, const cell& value, void* element) {
  const auto write = [&](auto x) { __builtin_memcpy(element, &x, sizeof x); };
  switch (type) {
    case dtype::f16: return write(sinter::f16(static_cast<float>(value.real)));
    case dtype::bf16: return write(sinter::bf16(static_cast<float>(value.real)));
    case dtype::f32: return write(static_cast<float>(value.real));
    case dtype::f64: return write(value.real);
    case dtype::boolean: return write(static_cast<std::uint8_t>(value.whole != 0));
    case dtype::u8: return write(static_cast<std::uint8_t>(value.whole));
    case dtype::i8: return write(static_cast<std::int8_t>(value.whole));
    case dtype::i32: return write(static_cast<std::int32_t>(value.whole));
    case dtype::i64: return write(value.whole);
  }
}

dtype coarsest(const program& p, int output) {
  dtype worst = p.nodes[static_cast<std::size_t>(output)].type;
  if (!sinter::is_floating(worst)) return worst;
  for (const node& n : p.nodes)
    if (!sinter::is_leaf(n.what) && !sinter::is_view(n.what) && tolerance(n.type) > tolerance(worst)) worst = n.type;
  return worst;
}

std::string difference(const array& expected, const array& found, dtype precision) {
  double largest = 1;
  for (const cell& c : expected.cells)
    if (std::isfinite(c.real) && std::fabs(c.real) > largest) largest = std::fabs(c.real);
  int wrong = 0;
  std::string first;
  double worst = 0;
  for (std::size_t i = 0; i < expected.cells.size(); ++i) {
    const cell &e = expected.cells[i], &f = found.cells[i];
    bool same = e.whole == f.whole;
    if (sinter::is_floating(expected.type)) {
      const double error = std::fabs(f.real - e.real);
      same = e.real == f.real || (std::isnan(e.real) && std::isnan(f.real)) ||
             error <= tolerance(precision) * (std::fabs(e.real) + largest);
      if (!(error <= worst)) worst = error;
    }
    if (same) continue;
    if (wrong++ == 0)
      first = "element " + std::to_string(i) + " of " + std::to_string(expected.cells.size()) + ": expected " +
              shown(expected.type, e) + ", found " + shown(expected.type, f);
  }
  if (wrong == 0) return {};
  return first + "; " + std::to_string(wrong) + " are wrong, the largest error is " + std::to_string(worst);
}

}  // namespace reference
