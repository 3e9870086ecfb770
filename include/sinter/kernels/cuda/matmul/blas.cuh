// cuBLASLt as far as one matmul needs it. <cublasLt.h> brings 20,000 lines along, the arithmetic of 16-bit floats among
// them, for which every program without a matmul would pay. tests/cuda/test_matmul_foreign.cu compares this with it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinter::cuda::blas {

// What the library has made, by its address.
using handle = struct handle_of_library*;
using matmul_desc = struct matmul_desc_of_library*;
using matrix_layout = struct matrix_layout_of_library*;
using preference = struct preference_of_library*;

// Enumerations of the library, of which only these are used. A status of 0 is success.
using status = int;
enum compute_type : int { compute_32f = 68, compute_64f = 70 };
enum operation : int { op_n = 0, op_t = 1 };
enum order : int { order_row = 1 };
enum layout_attribute : int { layout_order = 1, layout_batch_count = 5, layout_strided_batch_offset = 6 };
enum desc_attribute : int { desc_transa = 3, desc_transb = 4 };
enum preference_attribute : int {
  pref_max_workspace_bytes = 1,
  pref_reduction_scheme_mask = 3,
  pref_min_alignment_a_bytes = 5,
  pref_min_alignment_b_bytes = 6,
  pref_min_alignment_c_bytes = 7,
  pref_min_alignment_d_bytes = 8
};
inline constexpr std::uint32_t reduction_scheme_none = 0;

struct algorithm {
  std::uint64_t data[8];
};
struct heuristic_result {
  algorithm algo;
  std::size_t workspace_size;
  status state;
  float waves_count;
  int reserved[4];
};

// Known by the library's names to the linker alone, so that a program may include <cublasLt.h> as well.
status create(handle*) __asm__("cublasLtCreate");
status destroy(handle) __asm__("cublasLtDestroy");
status create_desc(matmul_desc*, compute_type, cudaDataType_t scale) __asm__("cublasLtMatmulDescCreate");
status destroy_desc(matmul_desc) __asm__("cublasLtMatmulDescDestroy");
status set_attribute(matmul_desc, desc_attribute, const void*, std::size_t) __asm__("cublasLtMatmulDescSetAttribute");
status create_layout(matrix_layout*, cudaDataType_t, std::uint64_t rows, std::uint64_t columns,
                     std::int64_t leading) __asm__("cublasLtMatrixLayoutCreate");
status destroy_layout(matrix_layout) __asm__("cublasLtMatrixLayoutDestroy");
status set_attribute(matrix_layout, layout_attribute, const void*,
                     std::size_t) __asm__("cublasLtMatrixLayoutSetAttribute");
status create_preference(preference*) __asm__("cublasLtMatmulPreferenceCreate");
status destroy_preference(preference) __asm__("cublasLtMatmulPreferenceDestroy");
status set_attribute(preference, preference_attribute, const void*,
                     std::size_t) __asm__("cublasLtMatmulPreferenceSetAttribute");
status choose(handle, matmul_desc, matrix_layout a, matrix_layout b, matrix_layout c, matrix_layout d, preference,
              int wanted, heuristic_result*, int* found) __asm__("cublasLtMatmulAlgoGetHeuristic");
status matmul(handle, matmul_desc, const void* alpha, const void* a, matrix_layout, const void* b, matrix_layout,
              const void* beta, const void* c, matrix_layout, void* d, matrix_layout, const algorithm*, void* workspace,
              std::size_t workspace_bytes, cudaStream_t) __asm__("cublasLtMatmul");

}  // namespace sinter::cuda::blas
