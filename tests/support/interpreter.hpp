// The reference: evaluates a graph node by node in double (integers and bool exactly in 64 bits), without fusion,
// without views, slowly and obviously. Element types are rounded only where the contract says so: inputs, results,
// assigned inputs and `cast`. The meaning of one op on one element is the op table's; everything else is its own.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sinter/graph/graph.hpp"

namespace reference {

/// One element: `real` of floating types, `whole` of integers and bool.
struct cell {
  double real = 0;
  std::int64_t whole = 0;
};

struct array {
  sinter::dtype type = sinter::dtype::f32;
  std::vector<std::int64_t> shape;
  std::vector<cell> cells;
};

/// A graph of any capacity.
struct program {
  std::vector<sinter::node> nodes;
  std::vector<sinter::extents> lists;
  std::vector<sinter::scalar_source> scalars;
  std::vector<sinter::input_info> inputs;
  std::vector<short> outputs, assigns;
  std::vector<sinter::custom_function> customs;
  std::vector<sinter::number_definition> numbers;
};

template <int Capacity>
program make_program(const sinter::graph<Capacity>& g) {
  const auto list = [](const auto& from) { return std::vector(from.begin(), from.end()); };
  return {list(g.nodes),   list(g.lists),   list(g.scalars),           list(g.inputs),
          list(g.outputs), list(g.assigns), list(g.customs), list(g.numbers.definitions)};
}

std::int64_t count(const std::vector<std::int64_t>& shape);

/// Are results and assigned inputs rounded to their element types? Exact values serve to compare plans with.
enum class storage { rounded, exact };

/// The results. `inputs` hold the arguments in order, and afterwards what assignments made of them.
std::vector<array> evaluate(const program& p, std::vector<array>& inputs, storage kind = storage::rounded);

// The meaning of one op on elements. `type` is that of the operands; of `literal` the result's.
cell pointwise(sinter::op what, sinter::dtype type, const cell* operands);
cell scanned(sinter::op scan, sinter::dtype type, const cell& before, const cell& next);
cell fold(sinter::op reduction, sinter::dtype type, const std::vector<cell>& row);
cell multiplied(sinter::dtype type, const std::vector<cell>& a, const std::vector<cell>& b);  ///< one element of a matmul
cell converted(sinter::dtype from, sinter::dtype to, const cell& c);
cell rounded(sinter::dtype type, cell c);
/// A custom op, called with its operands in row-major order; `out` has the result's dtype and shape.
array called(const sinter::custom_function& f, const std::vector<const array*>& operands, array out);
/// A scalar of the graph; `size` is the value of its run-time number, if it has one.
cell literal(const sinter::scalar_source& s, sinter::dtype type, std::int64_t size);

/// The graph, a line for each node.
std::string text(const program& p);

/// Elements in memory.
cell decode(sinter::dtype type, const void* element);
void encode(sinter::dtype type, const cell& value, void* element);

/// The coarsest floating type in which a value of the program may lie in memory between kernels, or its result's.
sinter::dtype coarsest(const program& p, int output);

/// Empty if `found` is `expected` within the tolerance of `precision`; else where it is not.
std::string difference(const array& expected, const array& found, sinter::dtype precision);

}  // namespace reference
