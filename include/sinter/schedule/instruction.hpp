// What a lowered node is made of, as values: the statements of kernels/body.hpp are these, spelled as types.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/base/dtype.hpp"
#include "sinter/base/number.hpp"
#include "sinter/base/op.hpp"

namespace sinter::detail {

enum class opcode : unsigned char {
  load,
  gather_load,
  scalar,
  constant,
  index_value,
  inside,
  compute,
  cast,
  widen,
  reduce,
  scan,
  store,
  scatter_store,
  accumulator,
  yield
};

/// One statement of a body, as a value. Operands are positions in the same section.
struct instruction {
  opcode code{};
  op what{};
  dtype type{}, result{};
  short a = -1, b = -1, c = -1;
  short mask = -1;
  short buffer = -1;         ///< load, store: the graph node stored there; scalar, constant: position in graph::scalars
  short access = -1;         ///< position in lowered::accesses
  number low = 0, high = 0;  ///< inside: range; gather_load, scatter_store: stride and extent of the indexed axis
  friend constexpr bool operator==(const instruction&, const instruction&) = default;
};

/// A loop space: x runs over numel elements, r over rnumel.
struct loop_space {
  number numel = 1, rnumel = 1;
  friend constexpr bool operator==(const loop_space&, const loop_space&) = default;
};

inline constexpr int max_instructions = 320;

}  // namespace sinter::detail
