// A planned kernel, or one part of it, as instructions: the members' lists joined, values passed in registers where a
// member reads what another wrote, and every pointer, scalar and run-time number given a slot. SPDX-License-Identifier:
// BSL-1.0
#pragma once

#include "sinter/schedule/plan.hpp"

namespace sinter::detail {

inline constexpr int max_kernel_instructions = 640;

/// One list of instructions inside a kernel; a matmul has several.
enum class section_role : unsigned char { main, left, right, second_right, epilogue };
struct section {
  section_role role = section_role::main;
  short first = 0, count = 0;
};

template <int Instructions = max_kernel_instructions, int Accesses = 192, int Slots = 96, int Numbers = 256>
struct lowered_kernel {
  fixed_vector<instruction, Instructions> code{};  ///< buffer, access: slots; operands: within the section
  fixed_vector<section, 4> sections{};
  fixed_vector<access_form, Accesses> accesses{};
  fixed_vector<short, Slots> buffers{};  ///< pointer slots: graph nodes
  fixed_vector<short, Slots> scalars{};  ///< scalar slots: positions in graph::scalars, or -2 - argument
  fixed_vector<number, Slots> sizes{};   ///< run-time numbers
  number_table<Numbers> numbers{};       ///< how to compute them
  loop_space space{};
  number batch = 1, rows = 0, columns = 0, inner = 0;  ///< of a matmul
  bool overflowed = false;
  bool blocked = false;  ///< an access could not be expressed, which fusing should have ruled out
};

/// How large a lowered kernel is: constants that stay in the compiler's memory are made to measure.
struct lowered_extent {
  int instructions = 0, accesses = 0, slots = 0, numbers = 0;
};
template <class Kernel>
constexpr lowered_extent extent_of(const Kernel& k) {
  int slots = k.buffers.size();
  if (k.scalars.size() > slots) slots = k.scalars.size();
  if (k.sizes.size() > slots) slots = k.sizes.size();
  return {k.code.size(), k.accesses.size(), slots, k.numbers.definitions.size()};
}
template <int Instructions, int Accesses, int Slots, int Numbers, class Kernel>
constexpr lowered_kernel<Instructions, Accesses, Slots, Numbers> fitted(const Kernel& from) {
  lowered_kernel<Instructions, Accesses, Slots, Numbers> k{};
  for (const auto& x : from.code) k.code.push_back(x);
  k.sections = from.sections;
  for (const auto& x : from.accesses) k.accesses.push_back(x);
  for (const auto& x : from.buffers) k.buffers.push_back(x);
  for (const auto& x : from.scalars) k.scalars.push_back(x);
  for (const auto& x : from.sizes) k.sizes.push_back(x);
  for (const auto& x : from.numbers.definitions) k.numbers.definitions.push_back(x);
  k.space = from.space;
  k.batch = from.batch, k.rows = from.rows, k.columns = from.columns, k.inner = from.inner;
  k.overflowed = from.overflowed;
  k.blocked = from.blocked;
  return k;
}

template <class T, int N>
constexpr short slot_of(fixed_vector<T, N>& slots, const T& item) {
  for (int i = 0; i < slots.size(); ++i)
    if (slots[i] == item) return static_cast<short>(i);
  return static_cast<short>(slots.push_back(item));
}

/// Calls visit(operand) for the positions that an instruction reads.
template <class Visit>
constexpr void each_operand(instruction& i, const Visit& visit) {
  if (i.code == opcode::accumulator) return;
  for (short* operand : {&i.a, &i.b, &i.c, &i.mask})
    if (*operand >= 0) visit(*operand);
}
/// Does the store round as the cast in front of it does? Halves are rounded from floats, whatever they were before.
constexpr bool rounds_as(const instruction& store, const instruction& cast) {
  const auto is_half = [](dtype t) { return t == dtype::f16 || t == dtype::bf16; };
  return store.code == opcode::store && cast.code == opcode::cast && cast.result == store.type &&
         is_half(cast.result) && (is_half(cast.type) || cast.type == dtype::f32);
}
/// Is the cast at `position` read by nothing but such stores?
template <class Code>
constexpr bool is_left_to_stores(const Code& code, int position) {
  bool stored = false;
  for (int p = position + 1; p < code.size(); ++p) {
    instruction user = code[p];
    bool reads = false;
    each_operand(user, [&](short operand) { reads = reads || operand == position; });
    if (reads && !rounds_as(user, code[position])) return false;
    stored = stored || reads;
  }
  return stored;
}

/// Appends a finished list, replacing nodes by slots. Casts that stores make anyway are left to them.
template <class Lowering>
constexpr void append_section(lowered_kernel<>& k, const Lowering& l, section_role role) {
  k.overflowed = k.overflowed || l.overflowed();
  k.blocked = k.blocked || l.blocked >= 0;
  const int first = k.code.size();
  const auto need = [&](number n) {
    if (is_symbolic(n)) slot_of(k.sizes, n);
  };
  fixed_vector<short, decltype(l.code)::capacity> gone{};
  for (int p = 0; p < l.code.size(); ++p) {
    instruction i = l.code[p];
    if (i.code == opcode::cast && is_left_to_stores(l.code, p)) {
      gone.push_back(static_cast<short>(p));
      continue;
    }
    if (i.code == opcode::store && gone.contains(i.a)) i.a = l.code[i.a].a;
    each_operand(i, [&](short& operand) {
      int before = 0;
      for (short g : gone) before += g < operand;
      operand = static_cast<short>(operand - before);
    });
    if (i.access >= 0) {
      const access_form& f = l.accesses[i.access];
      need(f.offset);
      for (int t = 0; t < f.size; ++t) need(f.terms[t].div), need(f.terms[t].mod), need(f.terms[t].coef);
      i.access = static_cast<short>(k.accesses.push_back(f));
    }
    need(i.low), need(i.high);
    if (i.code == opcode::load || i.code == opcode::gather_load || i.code == opcode::store ||
        i.code == opcode::scatter_store)
      i.buffer = slot_of(k.buffers, i.buffer);
    else if (i.code == opcode::scalar) i.buffer = slot_of(k.scalars, i.buffer);
    k.code.push_back(i);
  }
  k.sections.push_back({role, static_cast<short>(first), static_cast<short>(k.code.size() - first)});
}

template <class Table>
constexpr void finish(lowered_kernel<>& k, const Table& numbers) {
  for (const number_definition& d : numbers.definitions) k.numbers.definitions.push_back(d);
  k.overflowed = k.overflowed || k.code.overflowed || k.accesses.overflowed || k.buffers.overflowed ||
                 k.scalars.overflowed || k.sizes.overflowed || k.numbers.definitions.overflowed;
}

template <int Capacity>
constexpr lowered_kernel<> lower_group(const plan<Capacity>& p, int index, int part = 0) {
  const auto& s = p.fusion.state;
  const auto& g = *s.g;
  const int a = s.part(p.kernels[index].group, part);
  lowered_kernel<> k{};
  k.space = s.groups[a].space;
  if (part > 0 && s.groups[p.kernels[index].group].how == joint::mix_order) {  // both parts have one set of arguments
    const lowered_kernel<> rows = lower_group(p, index, 0);
    k.buffers = rows.buffers, k.scalars = rows.scalars, k.sizes = rows.sizes;
  }
  if (s.is_custom(a)) return k;  // it has no body: run/custom.hpp calls it
  auto numbers = s.list.numbers;
  using list = lowering<graph<Capacity>, decltype(numbers)>;
  const auto start = [&](number rnumel) {
    list l{&g, &s.list.buffers, &numbers};
    l.precise = s.o->precise_casts;
    l.exact = s.o->exact_math;
    l.space = {k.space.numel, rnumel};
    s.each_member(a, -1, [&](int m) { l.internal.insert(s.list.nodes[m].root); });
    return l;
  };
  const auto emit = [&](list& l, int m) { emit_member(l, s.list, m, s.needed_outside(s.list.nodes[m].root, a)); };

  if (!s.groups[a].has_template) {
    list l = start(k.space.rnumel);
    for (int m = 0; m < s.list.nodes.size(); ++m)  // graph order is an order of execution
      if (s.contains(a, m)) emit(l, m);
    append_section(k, l, section_role::main);
    finish(k, numbers);
    return k;
  }

  // A matmul: what each operand's elements are, then what happens to the products.
  int products[2] = {-1, -1};
  int num_products = 0;
  for (int m = 0; m < s.list.nodes.size(); ++m)
    if (s.contains(a, m) && s.list.nodes[m].kind == node_kind::matmul && num_products < 2)
      products[num_products++] = s.list.nodes[m].root;
  const node& matmul = g[products[0]];
  const extents& left = g.shape(matmul.operands[0]);
  const extents& result = g.shape(products[0]);
  k.rows = result[result.rank - 2], k.columns = result[result.rank - 1], k.inner = left[left.rank - 1];
  for (int d = 0; d + 2 < result.rank; ++d) k.batch = numbers.product(k.batch, result[d]);
  {
    list l = start(k.inner);
    l.emit_yield(matmul.operands[0], l.axes_coordinates(left, 1u << (left.rank - 1)));
    append_section(k, l, section_role::left);
  }
  for (int i = 0; i < num_products; ++i) {
    const int operand = g[products[i]].operands[1];
    const extents& right = g.shape(operand);
    list l = start(k.inner);
    l.emit_yield(operand, l.axes_coordinates(right, 1u << (right.rank - 2)));
    append_section(k, l, i == 0 ? section_role::right : section_role::second_right);
  }
  list l = start(1);
  for (int i = 0; i < num_products; ++i) l.accumulators[i] = static_cast<short>(products[i]);
  for (int m = 0; m < s.list.nodes.size(); ++m) {
    if (!s.contains(a, m)) continue;
    const scheduler_node& n = s.list.nodes[m];
    if (n.kind == node_kind::matmul) {
      if (!s.needed_outside(n.root, a)) continue;
      const short at = l.intern(l.root_coordinates(n.root, false));
      instruction i{};
      i.code = opcode::store, i.type = i.result = g[n.root].type, i.buffer = n.root, i.a = l.emit(n.root, at),
      i.access = l.access_of(n.root, at);
      l.push(i);
      continue;
    }
    bool is_prologue = false;
    for (int j = 0; j < num_products; ++j)
      is_prologue = is_prologue || s.list.ancestors[s.list.node_of(products[j])].contains(m);
    if (!is_prologue) emit(l, m);
  }
  append_section(k, l, section_role::epilogue);
  finish(k, numbers);
  return k;
}

}  // namespace sinter::detail
