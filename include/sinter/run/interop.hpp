// Data of other libraries as tensors. mdspan-like views and vector-like owners convert in tensor's constructors;
// DLPack's structure is read here, by its member names, so that no header of DLPack's is needed.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>

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
    throw argument_error("from_dlpack: the elements are not " + std::string(name(Tensor::type)));
  if (t.ndim != Tensor::rank)
    throw shape_error("from_dlpack: expected " + std::to_string(Tensor::rank) + " dimensions, found " +
                      std::to_string(t.ndim));
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
      throw shape_error("from_dlpack: dimension " + std::to_string(d) + ": expected " + std::to_string(expected) +
                        ", found " + std::to_string(t.shape[d]));
  }
  return Tensor(view{&t});
}

}  // namespace sinter
