// The plan interpreter; see plan_interpreter.hpp. Scopes and phases are those of kernels/body.hpp.
// SPDX-License-Identifier: BSL-1.0
#include "plan_interpreter.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace reference {
namespace {

using sinter::dtype;
using sinter::loop_var;
using sinter::node;
using sinter::number;
using sinter::op;
using sinter::detail::instruction;
using sinter::detail::opcode;

[[noreturn]] void fail(const std::string& sentence) { throw std::logic_error(sentence); }

/// When an element was touched: by which kernel, in which iteration of x and r (-1: all threads of x), in which phase.
struct moment {
  int kernel = -1, part = 0;
  std::int64_t x = 0, r = -1;
  int phase = 0;
};
/// Phases of one x follow each other; everything else in a kernel runs at once.
bool at_once(const moment& a, const moment& b) {
  return a.kernel == b.kernel && (a.part != b.part || a.x != b.x || (a.phase == b.phase && a.r != b.r));
}

struct element {
  cell value{};
  int owner = -1;  ///< the buffer (graph node) that lies here
  int writes = 0;
  moment written{}, read{};
  bool read_by_others = false;  ///< in the kernel of `read`, also in iterations that run at once with it
};

struct term {
  bool uses_r;
  std::int64_t div, mod, coef;
};
struct access {
  std::int64_t offset = 0;
  std::vector<term> terms;
  bool uses_r = false;

  std::int64_t at(std::int64_t x, std::int64_t r) const {
    std::int64_t sum = offset;
    for (const term& t : terms) {
      const std::int64_t v = (t.uses_r ? r : x) / t.div;
      sum += t.coef * (t.mod == 0 ? v : v % t.mod);
    }
    return sum;
  }
};

class execution {
 public:
  execution(const lowered_plan& p, std::vector<array>& inputs) : p_(p), g_(p.graph), inputs_(inputs) {
    place_inputs();
    for (short id : g_.outputs) outputs_.emplace_back(static_cast<std::size_t>(count(shape(id))));
    place_buffers();
  }

  std::vector<array> run() {
    for (const auto& parts : p_.kernels) {
      const int custom = p_.customs[static_cast<std::size_t>(kernel_)];
      if (custom >= 0) run_custom(custom);
      else
        for (part_ = 0; part_ < static_cast<int>(parts.size()); ++part_)
          run_part(parts[static_cast<std::size_t>(part_)]);
      ++kernel_;
    }
    std::vector<array> results;
    for (std::size_t i = 0; i < g_.outputs.size(); ++i) {
      array a{g_.nodes[g_.outputs[i]].type, shape(g_.outputs[i]), {}};
      for (const element& e : outputs_[i]) {
        if (e.writes == 0) fail("an element of a result is not written");
        a.cells.push_back(e.value);
      }
      results.push_back(a);
    }
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      for (std::size_t k = 0; k < inputs_[i].cells.size(); ++k)
        inputs_[i].cells[k] = arguments_[i][position(i, k)].value;
    return results;
  }

 private:
  // ---- numbers and memory
  // ---------------------------------------------------------------------------------------------

  std::int64_t value(number n) const {
    if (sinter::is_static(n)) return n;
    for (const auto& [name, v] : known_)
      if (name == n) return v;
    fail("a run-time number is not defined");
  }
  template <class Definitions>
  void know(const Definitions& definitions) {
    known_.clear();
    for (const sinter::number_definition& d : definitions) {
      std::int64_t v = 0;
      switch (d.rule) {
        case sinter::number_rule::input_extent:
          v = inputs_[static_cast<std::size_t>(d.a)].shape[static_cast<std::size_t>(d.b)];
          break;
        case sinter::number_rule::input_stride:
          v = strides_[static_cast<std::size_t>(d.a)][static_cast<std::size_t>(d.b)];
          break;
        case sinter::number_rule::product:
          v = value(d.a) * value(d.b);
          break;
        case sinter::number_rule::sum:
          v = value(d.a) + value(d.b);
          break;
        case sinter::number_rule::quotient:
          v = value(d.b) == 0 ? 0 : value(d.a) / value(d.b);
          break;
      }
      known_.emplace_back(d.value, v);
    }
  }
  std::vector<std::int64_t> shape(int id) {
    know(g_.numbers);
    std::vector<std::int64_t> s;
    const sinter::extents& e = g_.lists[g_.nodes[id].shape];
    for (int d = 0; d < e.rank; ++d) s.push_back(value(e[d]));
    return s;
  }

  /// Strided inputs lie with their dimensions in reverse order and with gaps.
  void place_inputs() {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const auto& sizes = inputs_[i].shape;
      std::vector<std::int64_t> strides(sizes.size());
      std::int64_t span = 1;
      if (g_.inputs[i].strided)
        for (std::size_t d = 0; d < sizes.size(); ++d)
          strides[d] = span, span = span * std::max<std::int64_t>(sizes[d], 1) + 3;
      else
        for (std::size_t d = sizes.size(); d-- > 0; span *= sizes[d]) strides[d] = span;
      strides_.push_back(strides);
      arguments_.emplace_back(static_cast<std::size_t>(span));
      for (std::size_t k = 0; k < inputs_[i].cells.size(); ++k) {
        element& e = arguments_[i][position(i, k)];
        e.value = inputs_[i].cells[k], e.owner = g_.inputs[i].node, e.writes = 1;
      }
    }
  }
  std::size_t position(std::size_t input, std::size_t k) const {
    const auto& sizes = inputs_[input].shape;
    std::int64_t at = 0, rest = static_cast<std::int64_t>(k);
    for (std::size_t d = sizes.size(); d-- > 0; rest /= sizes[d]) at += rest % sizes[d] * strides_[input][d];
    return static_cast<std::size_t>(at);
  }

  /// The workspace has an element for each byte: buffers of any types may follow each other in it.
  void place_buffers() {
    for (const auto& b : p_.buffers) {
      const std::int64_t bytes = count(shape(b.node)) * sinter::item_size(g_.nodes[b.node].type);
      placed_.push_back({bytes, b.first, b.last, 0});
    }
    workspace_.resize(
        static_cast<std::size_t>(sinter::detail::lay_out(placed_.data(), static_cast<int>(placed_.size()))));
    for (std::size_t i = 0; i < placed_.size(); ++i) {
      const auto& a = placed_[i];
      if (a.offset % sinter::detail::workspace_alignment != 0) fail("a buffer is not aligned in the workspace");
      if (a.offset + a.bytes > static_cast<std::int64_t>(workspace_.size())) fail("a buffer is outside the workspace");
      for (std::size_t j = 0; j < i; ++j) {
        const auto& b = placed_[j];
        if (a.first <= b.last && b.first <= a.last && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes)
          fail("two live buffers overlap in the workspace");
      }
    }
  }

  /// Where buffer `id` lies: as the calls' recipe says.
  struct place {
    std::vector<element>* memory;
    std::int64_t base, width;
  };
  place place_of(int id) {
    const int memory = memory_of(id);
    for (std::size_t i = 0; i < g_.outputs.size(); ++i)
      if (memory_of(g_.outputs[i]) == memory) return {&outputs_[i], 0, 1};
    for (std::size_t i = 0; i < p_.buffers.size(); ++i)
      if (p_.buffers[i].node == memory)
        return {&workspace_, placed_[i].offset, sinter::item_size(g_.nodes[memory].type)};
    if (g_.nodes[memory].what != op::input) fail("a kernel touches %" + std::to_string(id) + ", which has no memory");
    return {&arguments_[static_cast<std::size_t>(g_.nodes[memory].attr)], 0, 1};
  }
  /// The buffer that `id` is a version of.
  int memory_of(int id) const {
    while (sinter::overwrites(g_.nodes[id].what)) {
      id = g_.nodes[id].operands[0];
      while (sinter::is_view(g_.nodes[id].what)) id = g_.nodes[id].operands[0];
    }
    return id;
  }

  cell read(int id, std::int64_t at, const moment& now) {
    const place p = place_of(id);
    element& e = element_at(p, id, at);
    if (e.writes == 0) fail("%" + std::to_string(id) + " is read before it is written");
    if (p.memory == &workspace_ && memory_of(e.owner) != memory_of(id))
      fail("%" + std::to_string(id) + " is read after its memory was given away");
    if (at_once(e.written, now)) fail("%" + std::to_string(id) + " is read while the same kernel writes it");
    e.read_by_others = e.read.kernel == now.kernel && (e.read_by_others || at_once(e.read, now));
    e.read = now;
    return e.value;
  }
  void write(int id, std::int64_t at, const cell& value, const moment& now) {
    const place p = place_of(id);
    if (g_.nodes[id].what == op::input) fail("an input is overwritten");
    element& e = element_at(p, id, at);
    if (e.owner == id) fail("%" + std::to_string(id) + " is written twice");
    if (e.read.kernel == kernel_ && (e.read_by_others || at_once(e.read, now)))
      fail("%" + std::to_string(id) + " is written while the same kernel reads it");
    for (std::int64_t k = 0; k < p.width; ++k) {
      element& byte = (&e)[k];
      byte.owner = id, byte.writes = byte.writes + 1, byte.written = now, byte.value = value;
    }
  }
  static element& element_at(const place& p, int id, std::int64_t at) {
    const std::int64_t i = p.base + at * p.width;
    if (at < 0 || i < 0 || i + p.width > static_cast<std::int64_t>(p.memory->size()))
      fail("%" + std::to_string(id) + " is indexed outside its memory");
    return (*p.memory)[static_cast<std::size_t>(i)];
  }

  // ---- bodies
  // ---------------------------------------------------------------------------------------------------------

  /// One section of a kernel with the facts that body_facts derives from the type it will become.
  struct body {
    std::vector<instruction> code;
    std::vector<access> accesses;
    std::vector<bool> is_element;
    std::vector<int> phase;
    std::vector<std::vector<bool>> needed;  ///< in each phase
  };

  body make_body(const sinter::detail::lowered_kernel<>& k, const sinter::detail::section& s) {
    body b;
    std::vector<int> ready;
    int num_phases = 0;
    for (int n = s.first; n < s.first + s.count; ++n) {
      const instruction& i = k.code[n];
      access a;
      if (i.access >= 0) a = make_access(k.accesses[i.access]);
      bool is_element = a.uses_r || i.code == opcode::scan;
      int phase = 0;
      for (int operand : operands(i)) {
        if (operand < 0) continue;
        const auto o = static_cast<std::size_t>(operand);
        if (b.is_element[o] && b.code[o].code != opcode::reduce) is_element = true;
        phase = std::max(phase, ready[o]);
      }
      const bool is_reduce = i.code == opcode::reduce;
      b.code.push_back(i), b.accesses.push_back(a);
      b.is_element.push_back(is_element && !is_reduce), b.phase.push_back(phase);
      ready.push_back(is_reduce ? phase + 1 : phase);
      if (is_reduce || is_element) num_phases = std::max(num_phases, phase + 1);
    }
    for (int p = 0; p < num_phases; ++p) {
      std::vector<bool> needed(b.code.size());
      for (std::size_t n = b.code.size(); n-- > 0;) {
        const opcode c = b.code[n].code;
        if (b.phase[n] == p &&
            (c == opcode::reduce ||
             (b.is_element[n] && (c == opcode::store || c == opcode::scatter_store || c == opcode::yield))))
          needed[n] = true;
        if (!needed[n]) continue;
        for (int operand : operands(b.code[n]))
          if (operand >= 0 && b.is_element[static_cast<std::size_t>(operand)])
            needed[static_cast<std::size_t>(operand)] = true;
      }
      b.needed.push_back(needed);
    }
    return b;
  }
  static std::array<int, 4> operands(const instruction& i) {
    switch (i.code) {
      case opcode::accumulator:
        return {-1, -1, -1, -1};
      default:
        return {i.a, i.b, i.c, i.mask};
    }
  }
  access make_access(const sinter::detail::access_form& f) const {
    access a;
    a.offset = value(f.offset);
    for (int t = 0; t < f.size; ++t) {
      const bool uses_r = f.terms[t].variable == loop_var::r;
      a.terms.push_back({uses_r, value(f.terms[t].div), value(f.terms[t].mod), value(f.terms[t].coef)});
      a.uses_r = a.uses_r || uses_r;
    }
    return a;
  }

  /// Runs a body over its loops. `yielded(x, r, value)` takes what a matmul's operand is made of.
  template <class Yield>
  void run_body(const sinter::detail::lowered_kernel<>& k, const body& b, std::int64_t numel, std::int64_t rnumel,
                Yield yielded) {
    const int num_phases = static_cast<int>(b.needed.size());
    std::vector<cell> values(b.code.size());
    for (std::int64_t x = 0; x < numel; ++x)
      for (int p = 0; p <= num_phases; ++p) {
        for (std::size_t n = 0; n < b.code.size(); ++n)
          if (b.phase[n] == p && !b.is_element[n] && b.code[n].code != opcode::reduce) {
            run_statement(k, b, n, values, {kernel_, part_, x, -1, p}, rnumel, yielded);
          }
        if (p == num_phases) break;
        std::vector<std::vector<cell>> rows(b.code.size());
        std::vector<cell> scans(b.code.size());
        for (std::int64_t r = 0; r < rnumel; ++r)
          for (std::size_t n = 0; n < b.code.size(); ++n) {
            if (!b.needed[static_cast<std::size_t>(p)][n]) continue;
            if (b.code[n].code == opcode::reduce) rows[n].push_back(values[static_cast<std::size_t>(b.code[n].a)]);
            else if (b.code[n].code == opcode::scan) {
              const cell& next = values[static_cast<std::size_t>(b.code[n].a)];
              values[n] = scans[n] = r == 0 ? next : scanned(b.code[n].what, b.code[n].type, scans[n], next);
            } else run_statement(k, b, n, values, {kernel_, part_, x, r, p}, rnumel, yielded);
          }
        for (std::size_t n = 0; n < b.code.size(); ++n)
          if (b.code[n].code == opcode::reduce && b.phase[n] == p)
            values[n] = fold(b.code[n].what, b.code[n].type, rows[n]);
      }
  }

  template <class Yield>
  void run_statement(const sinter::detail::lowered_kernel<>& k, const body& b, std::size_t n, std::vector<cell>& values,
                     const moment& now, std::int64_t rnumel, Yield& yielded) {
    const instruction& i = b.code[n];
    const auto operand = [&](short at) -> const cell& { return values[static_cast<std::size_t>(at)]; };
    const auto buffer = [&] { return k.buffers[i.buffer]; };
    const auto index = [&] { return b.accesses[n].at(now.x, now.r); };
    const bool masked = i.mask >= 0 && operand(i.mask).whole == 0;
    cell& v = values[n];
    switch (i.code) {
      case opcode::load:
        v = masked ? cell{} : read(buffer(), index(), now);
        break;
      case opcode::gather_load: {
        std::int64_t at = operand(i.a).whole;
        if (at < 0) at += value(i.high);
        if (!masked && (at < 0 || at >= value(i.high))) fail("a gathered index is outside its axis");
        v = masked ? cell{} : read(buffer(), index() + value(i.low) * at, now);
        break;
      }
      case opcode::scalar: {
        const short at = k.scalars[i.buffer];
        if (at < 0) v = inputs_[static_cast<std::size_t>(-2 - at)].cells[0];
        else
          v = literal(g_.scalars[static_cast<std::size_t>(at)], i.type,
                      value(g_.scalars[static_cast<std::size_t>(at)].size));
        break;
      }
      case opcode::constant:
        v = literal(g_.scalars[static_cast<std::size_t>(i.buffer)], i.type, 0);
        break;
      case opcode::index_value:
        v = {static_cast<double>(index()), index()};
        break;
      case opcode::inside: {
        const bool is_inside = value(i.low) <= index() && index() < value(i.high);
        v = {is_inside ? 1. : 0., is_inside};
        break;
      }
      case opcode::compute: {
        const cell x[3] = {operand(i.a), i.b < 0 ? cell{} : operand(i.b), i.c < 0 ? cell{} : operand(i.c)};
        v = pointwise(i.what, i.type, x);
        break;
      }
      case opcode::cast:
        v = rounded(i.result, converted(i.type, i.result, operand(i.a)));
        break;
      case opcode::widen:
        v = converted(i.type, i.result, operand(i.a));
        break;
      case opcode::store: {
        // A cast to the stored type is left to it: what comes in another one is rounded here.
        const auto from = b.code[static_cast<std::size_t>(i.a)].result;
        const cell& given = operand(i.a);
        if (!masked)
          write(buffer(), index(), from == i.type ? given : rounded(i.type, converted(from, i.type, given)), now);
        break;
      }
      case opcode::scatter_store: {
        std::int64_t at = operand(i.b).whole;
        if (at < 0) at += value(i.high);
        const bool is_there = !masked && at >= 0 && at < value(i.high);
        if (is_there) write(buffer(), index() + value(i.low) * at, operand(i.a), now);
        break;
      }
      case opcode::accumulator:
        v = products_[i.a][static_cast<std::size_t>(now.x)];
        break;
      case opcode::yield:
        if (now.r >= 0) yielded(now.x, now.r, operand(i.a));
        else
          for (std::int64_t r = 0; r < rnumel; ++r) yielded(now.x, r, operand(i.a));
        break;
      case opcode::reduce:
      case opcode::scan:
        fail("a fold is not a statement");
    }
  }

  // ---- kernels
  // --------------------------------------------------------------------------------------------------------

  void run_part(const sinter::detail::lowered_kernel<>& k) {
    if (k.blocked) fail("a fused access cannot be indexed");
    if (k.overflowed) fail("a kernel has more instructions than the lowering holds");
    for (int s = 0; s < k.sections.size(); ++s)
      if (k.sections[s].role == sinter::detail::section_role::left) return run_matmul(k);
    know(k.numbers.definitions);
    const auto none = [](std::int64_t, std::int64_t, const cell&) { fail("a loop hands a value to no matmul"); };
    for (const auto& s : k.sections) run_body(k, make_body(k, s), value(k.space.numel), value(k.space.rnumel), none);
  }

  /// Reads all of its operands, which lie as they are said to, and writes all of its result.
  void run_custom(int id) {
    const node& n = g_.nodes[id];
    std::vector<array> operands;
    for (int k = 0; k < n.num_operands(); ++k) {
      const int operand = n.operands[k], memory = memory_of(operand);
      const node& base = g_.nodes[memory];
      array a{g_.nodes[operand].type, shape(operand), {}};
      for (std::int64_t i = 0; i < count(a.shape); ++i)
        a.cells.push_back(read(
            operand,
            base.what == op::input
                ? static_cast<std::int64_t>(position(static_cast<std::size_t>(base.attr), static_cast<std::size_t>(i)))
                : i,
            {kernel_}));
      operands.push_back(a);
    }
    std::vector<const array*> pointers;
    for (const array& a : operands) pointers.push_back(&a);
    const array out = called(g_.customs[static_cast<std::size_t>(n.attr)], pointers, {n.type, shape(id), {}});
    for (std::size_t i = 0; i < out.cells.size(); ++i)
      write(id, static_cast<std::int64_t>(i), out.cells[i], {kernel_, 0, 0, -1, 1});
  }

  void run_matmul(const sinter::detail::lowered_kernel<>& k) {
    know(k.numbers.definitions);
    const std::int64_t batch = value(k.batch), m = value(k.rows), n = value(k.columns), inner = value(k.inner);
    const auto operand = [&](const sinter::detail::section& s, std::int64_t lines) {
      std::vector<std::vector<cell>> out(static_cast<std::size_t>(lines),
                                         std::vector<cell>(static_cast<std::size_t>(inner)));
      run_body(k, make_body(k, s), lines, inner, [&](std::int64_t x, std::int64_t r, const cell& c) {
        out[static_cast<std::size_t>(x)][static_cast<std::size_t>(r)] = c;
      });
      return out;
    };
    std::vector<std::vector<cell>> left;
    int which = 0;
    for (const auto& s : k.sections) {
      const dtype type = k.code[s.first + s.count - 1].type;
      switch (s.role) {
        case sinter::detail::section_role::left:
          left = operand(s, batch * m);
          break;
        case sinter::detail::section_role::right:
        case sinter::detail::section_role::second_right: {
          const auto right = operand(s, batch * n);
          auto& product = products_[which++];
          product.clear();
          for (std::int64_t b = 0; b < batch; ++b)
            for (std::int64_t i = 0; i < m; ++i)
              for (std::int64_t j = 0; j < n; ++j)
                product.push_back(multiplied(type, left[static_cast<std::size_t>(b * m + i)],
                                             right[static_cast<std::size_t>(b * n + j)]));
          break;
        }
        default: {
          // Other tiles may still read operands while this one stores: whatever was read above was read by others.
          for (auto* memory : {&workspace_}) forget_order(*memory);
          for (auto& memory : arguments_) forget_order(memory);
          for (auto& memory : outputs_) forget_order(memory);
          run_body(k, make_body(k, s), batch * m * n, 1,
                   [](std::int64_t, std::int64_t, const cell&) { fail("an epilogue hands a value on"); });
        }
      }
    }
  }
  void forget_order(std::vector<element>& memory) {
    for (element& e : memory)
      if (e.read.kernel == kernel_) e.read_by_others = true;
  }

  const lowered_plan& p_;
  const program& g_;
  std::vector<array>& inputs_;
  std::vector<std::vector<std::int64_t>> strides_;
  std::vector<std::vector<element>> arguments_, outputs_;
  std::vector<element> workspace_;
  std::vector<sinter::detail::placed_buffer> placed_;
  std::vector<std::pair<number, std::int64_t>> known_;
  std::vector<cell> products_[2];
  int kernel_ = 0, part_ = 0;
};

}  // namespace

std::vector<array> execute(const lowered_plan& p, std::vector<array>& inputs) { return execution(p, inputs).run(); }

}  // namespace reference
