// Ops as values and as types, both from the op table: `op::relu` is what graphs and the scheduler handle,
// `ops::relu` what a lowered body names and kernels call.
// Which ops exist is op_table.hpp's matter; shapes are the graph's.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/base/config.hpp"
#include "sinter/base/dtype.hpp"
#include "sinter/base/op_table.hpp"
#include "sinter/base/reduction_ops.hpp"
#include "sinter/base/string_view.hpp"

namespace sinter {

enum class op : unsigned char {
#define SINTER_ROW(name, ...) name,
  SINTER_STRUCTURAL_OPS(SINTER_ROW) SINTER_POINTWISE_OPS(SINTER_ROW) SINTER_REDUCTION_OPS(SINTER_ROW)
      SINTER_SCAN_OPS(SINTER_ROW)
#undef SINTER_ROW
};

/// source: no operands. view: changes indexing only. indexing: like pointwise, but its operands are read elsewhere.
/// memory: has an effect on a buffer. custom: a kernel of the user's.
enum class op_kind : unsigned char { source, view, pointwise, indexing, memory, reduction, scan, matmul, custom };

/// From the operands' common dtype to the dtype they are computed in and the result's.
enum class dtype_rule : unsigned char {
  none,        ///< structural: the node says
  keep,        ///< T -> T
  numeric,     ///< T -> T, bool refused
  floating,    ///< T -> T, integers and bool as f32
  comparison,  ///< T -> bool
  logical,     ///< bool -> bool
  bitwise,     ///< T -> T, integers and bool only
  shift,       ///< T -> T, integers only
  select,      ///< bool, T, T -> T
  accumulate,  ///< T -> T, integers and bool to i64
  index,       ///< T -> i64
};

struct op_row {
  string_view name;
  int arity;
  op_kind kind;
  dtype_rule rule;
};

namespace detail {

inline constexpr op_row op_rows[] = {
#define SINTER_ROW(name, arity, kind) {#name, arity, op_kind::kind, dtype_rule::none},
    SINTER_STRUCTURAL_OPS(SINTER_ROW)
#undef SINTER_ROW
#define SINTER_ROW(name, arity, rule, ...) {#name, arity, op_kind::pointwise, dtype_rule::rule},
        SINTER_POINTWISE_OPS(SINTER_ROW)
#undef SINTER_ROW
#define SINTER_ROW(name, rule) {#name, 1, op_kind::reduction, dtype_rule::rule},
            SINTER_REDUCTION_OPS(SINTER_ROW)
#undef SINTER_ROW
#define SINTER_ROW(name, rule, fold) {#name, 1, op_kind::scan, dtype_rule::rule},
                SINTER_SCAN_OPS(SINTER_ROW)
#undef SINTER_ROW
};

}  // namespace detail

inline constexpr int num_ops = sizeof(detail::op_rows) / sizeof(op_row);

constexpr const op_row& row(op o) { return detail::op_rows[static_cast<int>(o)]; }
constexpr string_view name(op o) { return row(o).name; }
constexpr bool is_pointwise(op o) { return row(o).kind == op_kind::pointwise; }
constexpr bool is_reduction(op o) { return row(o).kind == op_kind::reduction; }
constexpr bool is_scan(op o) { return row(o).kind == op_kind::scan; }
/// Ops that cost more than to write a value down and read it again: eight instructions at least.
constexpr bool is_costly(op o) { return (o >= op::exp && o <= op::lgamma) || (o >= op::elu && o <= op::mish); }

/// Whether a host loop around the scalar meaning of a pointwise op, in compute type t, is vector code: neither calls of
/// the C library nor 64-bit division nor loops inside.
constexpr bool is_vector_code(op o, dtype t) {
  if (o == op::floor_divide || o == op::remainder || o == op::fmod) return !is_floating(t) && t != dtype::i64;
  if (o == op::lgamma || (o >= op::sin && o <= op::tan)) return false;
  if (o == op::pow) return t == dtype::f32 && math::straight::has_fast_pow;
  if (t != dtype::f64) return true;
  // Of double host_math_double.hpp has some; the others are the C library's.
  const bool found = (o >= op::exp && o <= op::log1p) || o == op::tanh || o == op::tanhshrink ||
                     (o >= op::elu && o <= op::mish && o != op::gelu);
  if (found) return math::straight::has_fast_double;
  return !(o >= op::sqrt && o <= op::frac) && o != op::atan2 && o != op::hypot && o != op::gelu;
}

/// What an op makes of its operands' common dtype (of select: of the last two).
struct op_dtypes {
  bool valid;      ///< the op takes such operands
  dtype operands;  ///< what they are converted to first (of select: the last two; the first is bool)
  dtype result;
};

constexpr op_dtypes infer_dtypes(op o, dtype common) {
  const bool boolean = common == dtype::boolean;
  switch (row(o).rule) {
    case dtype_rule::numeric:
      return {!boolean, common, common};
    case dtype_rule::floating: {
      const dtype t = is_floating(common) ? common : dtype::f32;
      return {true, t, t};
    }
    case dtype_rule::comparison:
      return {true, common, dtype::boolean};
    case dtype_rule::logical:
      return {true, dtype::boolean, dtype::boolean};
    case dtype_rule::bitwise:
      return {!is_floating(common), common, common};
    case dtype_rule::shift:
      return {is_integral(common), common, common};
    case dtype_rule::accumulate:
      return {true, common, is_floating(common) ? common : dtype::i64};
    case dtype_rule::index:
      return {true, common, dtype::i64};
    case dtype_rule::none:
    case dtype_rule::keep:
    case dtype_rule::select:
      break;
  }
  return {true, common, common};
}

// ---- tags ----------------------------------------------------------------------------------------------------------

namespace ops {

#define SINTER_PARAMETERS_1 T x
#define SINTER_PARAMETERS_2 T x, T y
#define SINTER_PARAMETERS_3 First x, T y, T z  // where's first operand is bool
#define SINTER_TYPES_1 class T
#define SINTER_TYPES_2 class T
#define SINTER_TYPES_3 class First, class T
#define SINTER_ROW(name, arity, rule, ...)                                      \
  struct name {                                                                 \
    static constexpr op id = op::name;                                          \
    template <SINTER_TYPES_##arity>                                             \
    SINTER_HOST_DEVICE static constexpr auto apply(SINTER_PARAMETERS_##arity) { \
      return __VA_ARGS__;                                                       \
    }                                                                           \
  };
SINTER_POINTWISE_OPS(SINTER_ROW)
#undef SINTER_ROW
#undef SINTER_PARAMETERS_1
#undef SINTER_PARAMETERS_2
#undef SINTER_PARAMETERS_3
#undef SINTER_TYPES_1
#undef SINTER_TYPES_2
#undef SINTER_TYPES_3

#define SINTER_ROW(name, rule)         \
  struct name : detail::folds::name {  \
    static constexpr op id = op::name; \
  };
SINTER_REDUCTION_OPS(SINTER_ROW)
#undef SINTER_ROW

#define SINTER_ROW(name, rule, fold)   \
  struct name : detail::folds::fold {  \
    static constexpr op id = op::name; \
  };
SINTER_SCAN_OPS(SINTER_ROW)
#undef SINTER_ROW

}  // namespace ops

/// op::relu -> ops::relu, for lowering. Structural ops have no tag.
template <op O>
struct op_tag_of;
#define SINTER_ROW(name, ...)  \
  template <>                  \
  struct op_tag_of<op::name> { \
    using type = ops::name;    \
  };
SINTER_POINTWISE_OPS(SINTER_ROW)
SINTER_REDUCTION_OPS(SINTER_ROW)
SINTER_SCAN_OPS(SINTER_ROW)
#undef SINTER_ROW

}  // namespace sinter
