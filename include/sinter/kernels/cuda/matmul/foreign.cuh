// Foreign matmul: one call of cuBLASLt, one kernel. Handles are per thread and device, descriptors and algorithms are
// remembered per problem, so a repeated call only launches; nothing synchronises, so it can be captured.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/kernels/foreign.hpp"

#ifdef __CUDA_ARCH__

namespace sinter::cuda {
void matmul(const foreign_matmul& m, cudaStream_t stream, const char* name);  // all that the device pass needs
}

#else

#include <type_traits>

#include "sinter/base/owned.hpp"
#include "sinter/kernels/cuda/error.cuh"
#include "sinter/kernels/cuda/matmul/blas.cuh"

namespace sinter::cuda {
namespace detail {

inline void check_blas(blas::status status, const char* call, const char* kernel) {
  if (status != 0) throw cuda_error(call, kernel, sinter::detail::text_of({"cuBLASLt status ", status}));
}

/// What the library has made ends with its owner.
struct end_blas {
  void operator()(blas::handle h) const { (void)blas::destroy(h); }
  void operator()(blas::matmul_desc d) const { (void)blas::destroy_desc(d); }
  void operator()(blas::matrix_layout l) const { (void)blas::destroy_layout(l); }
  void operator()(blas::preference p) const { (void)blas::destroy_preference(p); }
};
template <class Made>
using owned_blas = sinter::detail::owned<Made, end_blas>;

/// What `create` makes of the arguments. Errors: cuda_error.
template <class Made, class... Args>
owned_blas<Made> made_by(blas::status (*create)(Made*, Args...), const char* call, const char* name,
                         std::type_identity_t<Args>... arguments) {
  Made made = nullptr;
  check_blas(create(&made, arguments...), call, name);
  return owned_blas<Made>(made);
}

/// One handle for each device, made at first use; a thread's own, so that calls need no lock.
inline blas::handle blas_handle(int device, const char* name) {
  constexpr int max_devices = 64;
  static thread_local owned_blas<blas::handle> mine[max_devices];
  if (device < 0 || device >= max_devices) throw cuda_error("cublasLtCreate", name, "the device number is above 63");
  if (!mine[device]) mine[device] = made_by(blas::create, "cublasLtCreate", name);
  return mine[device].get();
}

template <class Descriptor, class Attribute, class T>
void set_attribute(const owned_blas<Descriptor>& of, Attribute attribute, const T& value, const char* name) {
  check_blas(blas::set_attribute(of.get(), attribute, &value, sizeof(value)), "setting cuBLASLt's attributes", name);
}

inline cudaDataType_t blas_type(dtype type) {
  switch (type) {
    case dtype::f16:
      return CUDA_R_16F;
    case dtype::bf16:
      return CUDA_R_16BF;
    case dtype::f64:
      return CUDA_R_64F;
    default:
      return CUDA_R_32F;
  }
}

/// A matrix of a call. A column-major one is told to be the transpose of a row-major one.
struct blas_matrix {
  owned_blas<blas::matrix_layout> layout;
  bool transposed = false;

  void describe(cudaDataType_t type, std::int64_t rows, std::int64_t cols, std::int64_t row, std::int64_t col,
                std::int64_t batch, std::int64_t batches, const char* name) {
    const bool row_major = (col == 1 || cols == 1) && (row >= cols || rows == 1);
    transposed = !row_major;
    const std::int64_t stored_rows = row_major ? rows : cols, stored_cols = row_major ? cols : rows;
    std::int64_t leading = row_major ? row : col;
    if (leading < stored_cols) leading = stored_cols;  // a single row: its stride is never used
    layout = made_by(blas::create_layout, "cublasLtMatrixLayoutCreate", name, type,
                     static_cast<std::uint64_t>(stored_rows), static_cast<std::uint64_t>(stored_cols), leading);
    set_attribute(layout, blas::layout_order, blas::order_row, name);
    set_attribute(layout, blas::layout_batch_count, static_cast<std::int32_t>(batches), name);
    set_attribute(layout, blas::layout_strided_batch_offset, batch, name);
  }
};

/// What a call's descriptors and algorithm depend on: extents, strides, type, device, how the pointers are aligned.
struct blas_problem {
  foreign_matmul call{};
  int device = 0;
  std::uint32_t alignment = 0;

  friend bool operator==(const blas_problem& x, const blas_problem& y) {
    const foreign_matmul& a = x.call;
    const foreign_matmul& b = y.call;
    return x.device == y.device && x.alignment == y.alignment && a.type == b.type &&
           a.extents.batch == b.extents.batch && a.extents.m == b.extents.m && a.extents.n == b.extents.n &&
           a.extents.k == b.extents.k && a.a_row == b.a_row && a.a_col == b.a_col && a.a_batch == b.a_batch &&
           a.b_row == b.b_row && a.b_col == b.b_col && a.b_batch == b.b_batch && a.out_row == b.out_row &&
           a.out_batch == b.out_batch;
  }
};

inline std::uint32_t alignment_of(const void* p) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  std::uint32_t alignment = 256;
  while (address % alignment != 0) alignment /= 2;
  return alignment;
}

/// What cublasLtMatmul is given besides the pointers. The algorithm is the library's first choice among those that are
/// one kernel: no workspace, no split of k that a second would add up.
struct blas_call {
  blas_matrix a, b, out;
  owned_blas<blas::matmul_desc> operation;
  blas::algorithm algorithm{};

  void make(blas::handle handle, const blas_problem& problem, const char* name) {
    const foreign_matmul& m = problem.call;
    const matmul_extents& e = m.extents;
    const cudaDataType_t type = blas_type(m.type);
    a.describe(type, e.m, e.k, m.a_row, m.a_col, m.a_batch, e.batch, name);
    b.describe(type, e.k, e.n, m.b_row, m.b_col, m.b_batch, e.batch, name);
    out.describe(type, e.m, e.n, m.out_row, 1, m.out_batch, e.batch, name);
    const bool twofold = m.type == dtype::f64;
    operation = made_by(blas::create_desc, "cublasLtMatmulDescCreate", name,
                        twofold ? blas::compute_64f : blas::compute_32f, twofold ? CUDA_R_64F : CUDA_R_32F);
    set_attribute(operation, blas::desc_transa, a.transposed ? blas::op_t : blas::op_n, name);
    set_attribute(operation, blas::desc_transb, b.transposed ? blas::op_t : blas::op_n, name);
    choose_algorithm(handle, problem.alignment, name);
  }

 private:
  void choose_algorithm(blas::handle handle, std::uint32_t alignment, const char* name) {
    const auto preference = made_by(blas::create_preference, "cublasLtMatmulPreferenceCreate", name);
    set_attribute(preference, blas::pref_max_workspace_bytes, std::uint64_t{0}, name);
    set_attribute(preference, blas::pref_reduction_scheme_mask, blas::reduction_scheme_none, name);
    for (const auto side : {blas::pref_min_alignment_a_bytes, blas::pref_min_alignment_b_bytes,
                            blas::pref_min_alignment_c_bytes, blas::pref_min_alignment_d_bytes})
      set_attribute(preference, side, alignment, name);
    blas::heuristic_result result{};
    int found = 0;
    check_blas(blas::choose(handle, operation.get(), a.layout.get(), b.layout.get(), out.layout.get(), out.layout.get(),
                            preference.get(), 1, &result, &found),
               "cublasLtMatmulAlgoGetHeuristic", name);
    if (found == 0)
      throw cuda_error("cublasLtMatmulAlgoGetHeuristic", name, "the library knows no algorithm for these operands");
    algorithm = result.algo;
  }
};

/// The thread's last problems keep their calls, so that a repeated one asks the library nothing.
inline blas_call& call_for(blas::handle handle, const blas_problem& problem, const char* name) {
  struct remembered {
    blas_problem problem{};
    blas_call call{};
    bool used = false;
  };
  constexpr int capacity = 32;
  static thread_local remembered memory[capacity];
  static thread_local int next = 0;
  for (remembered& r : memory)
    if (r.used && r.problem == problem) return r.call;
  remembered& place = memory[next];
  place.used = false;
  place.call.make(handle, problem, name);
  place.problem = problem, place.used = true;
  next = (next + 1) % capacity;
  return place.call;
}

}  // namespace detail

/// Runs the matmul in `stream`. f16 and bf16 accumulate in fp32, f32 without TF32, f64 in fp64. Requires
/// is_blas_layout. Without elements nothing is launched; without k the result is zero. Errors: cuda_error.
inline void matmul(const foreign_matmul& m, cudaStream_t stream, const char* name) {
  using namespace detail;
  const matmul_extents& e = m.extents;
  if (e.batch <= 0 || e.m <= 0 || e.n <= 0) return;
  const std::int64_t out_row = m.out_row > 0 ? m.out_row : e.n,
                     out_batch = m.out_batch > 0 ? m.out_batch : e.m * out_row;
  if (e.k <= 0) {
    const auto bytes = [&](std::int64_t elements) { return static_cast<std::size_t>(elements * item_size(m.type)); };
    if (out_row == e.n && out_batch == e.m * e.n)
      return check(cudaMemsetAsync(m.out, 0, bytes(e.batch * out_batch), stream), "cudaMemsetAsync", name);
    for (std::int64_t i = 0; i < e.batch; ++i)
      check(cudaMemset2DAsync(static_cast<char*>(m.out) + bytes(i * out_batch), bytes(out_row), 0, bytes(e.n),
                              static_cast<std::size_t>(e.m), stream),
            "cudaMemset2DAsync", name);
    return;
  }
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice", name);
  const blas::handle handle = blas_handle(device, name);
  std::uint32_t alignment = alignment_of(m.out);
  for (const void* p : {m.a, m.b}) alignment = alignment_of(p) < alignment ? alignment_of(p) : alignment;
  foreign_matmul problem = m;
  problem.out_row = out_row, problem.out_batch = out_batch;
  blas_call& call = call_for(handle, {problem, device, alignment}, name);
  const float one = 1, zero = 0;
  const double one_twofold = 1, zero_twofold = 0;
  const void* alpha = m.type == dtype::f64 ? static_cast<const void*>(&one_twofold) : &one;
  const void* beta = m.type == dtype::f64 ? static_cast<const void*>(&zero_twofold) : &zero;
  check_blas(
      blas::matmul(handle, call.operation.get(), alpha, m.a, call.a.layout.get(), m.b, call.b.layout.get(), beta, m.out,
                   call.out.layout.get(), m.out, call.out.layout.get(), &call.algorithm, nullptr, 0, stream),
      "cublasLtMatmul", name);
}

}  // namespace sinter::cuda

#endif
