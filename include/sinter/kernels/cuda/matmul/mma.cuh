// The tensor-core instructions of sm_80 and what feeds them, one function per instruction.
// Fragments: lane l holds row l / 4 and columns 2 * (l % 4), +1 of an 8 x 8 matrix, two 16-bit values per register.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>

#include "sinter/base/dtype.hpp"
#include "sinter/kernels/cuda/copy_async.cuh"

namespace sinter::cuda::mm {

using detail::copy_async;
using detail::copy_commit;
using detail::copy_wait;
using detail::shared_address;

/// Four 8 x 8 matrices; lane l gives the address of row l % 8 of matrix l / 8. Transposed: rows become columns.
template <bool Transposed>
__device__ __forceinline__ void load_matrices(unsigned (&out)[4], const void* row) {
  if constexpr (Transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(shared_address(row))
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(shared_address(row))
                 : "memory");
}

/// c[16, 8] += a[16, 16] * b[16, 8], in float.
template <class T>
__device__ __forceinline__ void multiply_add(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  if constexpr (std::is_same_v<T, f16>)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

}  // namespace sinter::cuda::mm
