// Data of other libraries as tensors. mdspan-like views and vector-like owners convert in tensor's constructors;
// DLPack's structure is read here, by its member names, so that no header of DLPack's is needed.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/base/text.hpp"
#include "sinter/expr/tensor.hpp"
#include "sinter/run/error.hpp"

namespace sinter {
namespace detail {

/// DLPack's type codes: kDLInt 0, kDLUInt 1, kDLFloat 2, kDLBfloat 4, kDLBool 6.
constexpr bool is_dlpack_type(dtype type, int code, int bits, int lanes) {
  if (lanes != 1 || bits != 8 * item_size(type)) return false;
  switch (type) {
    case dtype::boolean:
      return code == 6;
    case dtype::u8:
      return code == 1;
    case dtype::bf16:
      return code == 4;
    case dtype::f16:
    case dtype::f32:
    case dtype::f64:
      return code == 2;
    default:
      return code == 0;
  }
}

}  // namespace detail

/// A tensor or strided_tensor over a DLTensor (its members data, ndim, dtype, shape, strides, byte_offset). Throws
/// argument_error when the element type differs, shape_error when rank or a static extent does. The data must outlive
/// the call. Source: the DLPack specification.
template <class Tensor, class DlTensor>
Tensor from_dlpack(const DlTensor& t) {
  using element = typename Tensor::element;
  if (!detail::is_dlpack_type(Tensor::type, t.dtype.code, t.dtype.bits, t.dtype.lanes))
    throw argument_error(detail::text_of({"from_dlpack: the elements are not ", name(Tensor::type)}));
  const int rank = t.ndim;  // (nvcc 13.0 puts a list with a member of t in it in parentheses)
  if (rank != Tensor::rank)
    throw shape_error(detail::text_of({"from_dlpack: expected ", Tensor::rank, " dimensions, found ", rank}));
  struct view {
    const DlTensor* t;
    static constexpr int rank() { return Tensor::rank; }
    element* data_handle() const { return reinterpret_cast<element*>(static_cast<char*>(t->data) + t->byte_offset); }
    std::int64_t extent(int d) const { return t->shape[d]; }
    std::int64_t stride(int d) const {
      if (t->strides != nullptr) return t->strides[d];
      std::int64_t s = 1;
      for (int k = d + 1; k < rank(); ++k) s *= t->shape[k];
      return s;
    }
  };
  for (int d = 0; d < Tensor::rank; ++d) {
    const long expected = detail::extent_names<Tensor>::size(d);
    if (expected != dyn && expected != t.shape[d])
      throw shape_error(
          detail::text_of({"from_dlpack: dimension ", d, ": expected ", expected, ", found ", t.shape[d]}));
  }
  return Tensor(view{&t});
}

}  // namespace sinter
