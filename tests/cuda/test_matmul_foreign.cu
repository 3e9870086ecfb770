// The foreign matmul against loops in double precision: dtypes, layouts, batches, broadcast operands, alignments; that
// it is one kernel for every shape, which plans promise; that it can be captured, also as a thread's first call; that what
// is declared of cuBLASLt is what its header says.
// SPDX-License-Identifier: BSL-1.0
#include <cublasLt.h>

#include <thread>

#include "sinter/kernels/cuda/matmul/foreign.cuh"
#include "test_matmul_support.cuh"

namespace {

using namespace matmul_test;

#ifndef __CUDA_ARCH__  // where blas.cuh is read

namespace blas = sinter::cuda::blas;

template <class Ours, class Theirs>
constexpr bool passed_alike = sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs> &&
                              std::is_floating_point_v<Ours> == std::is_floating_point_v<Theirs>;
template <class Ours, class... A, class Theirs, class... B>
constexpr bool called_alike(Ours (*)(A...), Theirs (*)(B...)) {
  return passed_alike<Ours, Theirs> && (passed_alike<A, B> && ...);
}
template <class Descriptor, class Attribute>
using setter = blas::status (*)(Descriptor, Attribute, const void*, std::size_t);

static_assert(called_alike(blas::create, cublasLtCreate) && called_alike(blas::destroy, cublasLtDestroy));
static_assert(called_alike(blas::create_desc, cublasLtMatmulDescCreate) &&
              called_alike(blas::destroy_desc, cublasLtMatmulDescDestroy));
static_assert(called_alike(setter<blas::matmul_desc, blas::desc_attribute>(blas::set_attribute),
                           cublasLtMatmulDescSetAttribute));
static_assert(called_alike(blas::create_layout, cublasLtMatrixLayoutCreate) &&
              called_alike(blas::destroy_layout, cublasLtMatrixLayoutDestroy));
static_assert(called_alike(setter<blas::matrix_layout, blas::layout_attribute>(blas::set_attribute),
                           cublasLtMatrixLayoutSetAttribute));
static_assert(called_alike(blas::create_preference, cublasLtMatmulPreferenceCreate) &&
              called_alike(blas::destroy_preference, cublasLtMatmulPreferenceDestroy));
static_assert(called_alike(setter<blas::preference, blas::preference_attribute>(blas::set_attribute),
                           cublasLtMatmulPreferenceSetAttribute));
static_assert(called_alike(blas::choose, cublasLtMatmulAlgoGetHeuristic) &&
              called_alike(blas::matmul, cublasLtMatmul));

static_assert(CUBLAS_STATUS_SUCCESS == 0);
static_assert(int(blas::compute_32f) == CUBLAS_COMPUTE_32F && int(blas::compute_64f) == CUBLAS_COMPUTE_64F);
static_assert(int(blas::op_n) == CUBLAS_OP_N && int(blas::op_t) == CUBLAS_OP_T);
static_assert(int(blas::order_row) == CUBLASLT_ORDER_ROW && sizeof(blas::order) == sizeof(std::int32_t));
static_assert(int(blas::layout_order) == CUBLASLT_MATRIX_LAYOUT_ORDER &&
              int(blas::layout_batch_count) == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT &&
              int(blas::layout_strided_batch_offset) == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
static_assert(int(blas::desc_transa) == CUBLASLT_MATMUL_DESC_TRANSA &&
              int(blas::desc_transb) == CUBLASLT_MATMUL_DESC_TRANSB);
static_assert(int(blas::pref_max_workspace_bytes) == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES &&
              int(blas::pref_reduction_scheme_mask) == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK &&
              blas::reduction_scheme_none == CUBLASLT_REDUCTION_SCHEME_NONE);
static_assert(int(blas::pref_min_alignment_a_bytes) == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES &&
              int(blas::pref_min_alignment_b_bytes) == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES &&
              int(blas::pref_min_alignment_c_bytes) == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES &&
              int(blas::pref_min_alignment_d_bytes) == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
static_assert(sizeof(blas::algorithm) == sizeof(cublasLtMatmulAlgo_t) &&
              sizeof(blas::heuristic_result) == sizeof(cublasLtMatmulHeuristicResult_t) &&
              offsetof(blas::heuristic_result, algo) == offsetof(cublasLtMatmulHeuristicResult_t, algo));

#endif

struct layout_case {
  bool a_transposed = false, b_transposed = false;
  bool a_broadcast = false, b_broadcast = false;  // one matrix for all batches
  int shift = 0;                                  // elements past an aligned address
  std::int64_t pad = 0;                           // elements between rows
};

/// Kernels in what `work` puts into a stream.
template <class Work>
int captured_kernels(Work work) {
  cudaStream_t stream = nullptr;
  checked(cudaStreamCreate(&stream));
  checked(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  bool thrown = false;
  try {
    work(stream);
  } catch (const std::exception& error) {
    thrown = true;
    MESSAGE("thrown while capturing: " << error.what());
  }
  cudaGraph_t graph = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
  int kernels = -1;
  if (ended == cudaSuccess && !thrown) {
    std::size_t count = 0;
    checked(cudaGraphGetNodes(graph, nullptr, &count));
    std::vector<cudaGraphNode_t> nodes(count);
    if (count > 0) checked(cudaGraphGetNodes(graph, nodes.data(), &count));
    kernels = 0;
    for (cudaGraphNode_t node : nodes) {
      cudaGraphNodeType type{};
      checked(cudaGraphNodeGetType(node, &type));
      kernels += type == cudaGraphNodeTypeKernel ? 1 : 0;
    }
  }
  (void)cudaGetLastError();
  if (graph != nullptr) checked(cudaGraphDestroy(graph));
  checked(cudaStreamDestroy(stream));
  return kernels;
}

template <class T>
void check(const matmul_extents& e, const layout_case& where, const char* what) {
  const std::int64_t a_matrices = where.a_broadcast ? 1 : e.batch, b_matrices = where.b_broadcast ? 1 : e.batch;
  const std::int64_t a_line = (where.a_transposed ? e.m : e.k) + where.pad, a_lines = where.a_transposed ? e.k : e.m;
  const std::int64_t b_line = (where.b_transposed ? e.k : e.n) + where.pad, b_lines = where.b_transposed ? e.n : e.k;
  const auto a = random_values<T>(offset(a_matrices * a_lines * a_line), 1);
  const auto b = random_values<T>(offset(b_matrices * b_lines * b_line), 2);
  const buffer<T> a_device(a, where.shift), b_device(b, where.shift);
  auto out = buffer<T>::output(offset(e.batch * e.m * e.n), where.shift);

  foreign_matmul m{};
  m.extents = e;
  m.type = dtype_of<T>;
  m.a = a_device.data(), m.b = b_device.data(), m.out = out.data();
  m.a_row = where.a_transposed ? 1 : a_line, m.a_col = where.a_transposed ? a_line : 1;
  m.b_row = where.b_transposed ? 1 : b_line, m.b_col = where.b_transposed ? b_line : 1;
  m.a_batch = where.a_broadcast ? 0 : a_lines * a_line;
  m.b_batch = where.b_broadcast ? 0 : b_lines * b_line;
  const std::string described = std::string(what) + " " + std::string(name(dtype_of<T>)) +
                                (where.a_transposed ? ", a^T" : "") + (where.b_transposed ? ", b^T" : "") + ", shift " +
                                std::to_string(where.shift) + ", pad " + std::to_string(where.pad);
  INFO(described << ", batch " << e.batch << " m " << e.m << " n " << e.n << " k " << e.k);
  CHECK(is_blas_layout(m));
  const auto reference = multiply(
      e, [&](auto g, auto row, auto k) { return to_double(a[offset(g * m.a_batch + row * m.a_row + k * m.a_col)]); },
      [&](auto g, auto k, auto column) {
        return to_double(b[offset(g * m.b_batch + k * m.b_row + column * m.b_col)]);
      });
  try {
    sinter::cuda::matmul(m, nullptr, "foreign_test");
    checked(cudaDeviceSynchronize());
    compare(out, reference, tolerance<T>(), e, described);
    const bool empty = e.batch == 0 || e.m == 0 || e.n == 0;
    const int kernels = captured_kernels([&](cudaStream_t stream) { sinter::cuda::matmul(m, stream, "foreign_test"); });
    CHECK(kernels == (empty || e.k == 0 ? 0 : 1));
  } catch (const std::exception& error) {
    FAIL_CHECK(error.what());
  }
}

template <class T>
void check_layouts(int every) {
  for (const auto& e : all_shapes(every)) {
    check<T>(e, {}, "plain");
    check<T>(e, {.b_transposed = true}, "plain");
  }
  for (const auto& e : all_shapes(every + 2, 3)) {
    check<T>(e, {.a_transposed = true}, "batched");
    check<T>(e, {.a_transposed = true, .b_transposed = true}, "batched");
    check<T>(e, {.b_broadcast = true}, "broadcast b");
    check<T>(e, {.b_transposed = true, .a_broadcast = true}, "broadcast a");
  }
}

}  // namespace

TEST_CASE("foreign matmul of f16") { check_layouts<sinter::f16>(5); }
TEST_CASE("foreign matmul of bf16") { check_layouts<sinter::bf16>(5); }
TEST_CASE("foreign matmul of f32 without TF32") { check_layouts<float>(5); }
TEST_CASE("foreign matmul of f64") { check_layouts<double>(5); }

TEST_CASE("foreign matmul: misaligned pointers and padded rows") {
  const matmul_extents shapes[] = {{1, 65, 72, 72}, {1, 128, 64, 64}, {1, 17, 129, 41}, {2, 64, 128, 96}, {3, 5, 7, 9}};
  for (const auto& e : shapes)
    for (const int shift : {0, 1, 2, 4})
      for (const std::int64_t pad : {0, 1, 8}) {
        check<sinter::f16>(e, {.shift = shift, .pad = pad}, "arranged");
        check<sinter::bf16>(e, {.b_transposed = true, .shift = shift, .pad = pad}, "arranged");
        check<float>(e, {.a_transposed = true, .shift = shift, .pad = pad}, "arranged");
        check<double>(e, {.shift = shift, .pad = pad}, "arranged");
      }
}

TEST_CASE("foreign matmul: shapes that tempt to split k, deep and with few tiles") {
  for (const matmul_extents& e :
       {matmul_extents{1, 16, 64, 20000}, matmul_extents{1, 1, 128, 16384}, matmul_extents{1, 64, 64, 30000}}) {
    check<sinter::bf16>(e, {.b_transposed = true}, "deep");
    check<sinter::f16>(e, {}, "deep");
    check<float>(e, {}, "deep");
    check<double>(e, {}, "deep");
  }
}

TEST_CASE("foreign matmul: into a part of a larger array") {
  for (const std::int64_t k : {40, 0}) {
    const matmul_extents e{3, 33, 24, k};
    const std::int64_t row = 50, batch = 40 * row, first = 7 * row + 20;
    const auto a = random_values<float>(offset(e.batch * e.m * e.k), 1), b = random_values<float>(offset(e.batch * e.k * e.n), 2);
    const std::vector<float> before(offset(e.batch * batch), 5.0f);
    const buffer<float> a_device(a), b_device(b);
    const buffer<float> out(before);
    foreign_matmul m{};
    m.extents = e;
    m.type = dtype::f32;
    m.a = a_device.data(), m.b = b_device.data(), m.out = out.data() + first;
    m.a_row = e.k, m.a_col = 1, m.a_batch = e.m * e.k;
    m.b_row = e.n, m.b_col = 1, m.b_batch = e.k * e.n;
    m.out_row = row, m.out_batch = batch;
    sinter::cuda::matmul(m, nullptr, "foreign_test");
    checked(cudaDeviceSynchronize());
    const std::vector<float> after = out.download();
    int wrong = 0;
    for (std::int64_t at = 0; at < e.batch * batch; ++at) {
      const std::int64_t g = at / batch, i = (at % batch - first) / row, j = (at % batch - first) % row;
      double expected = 5;
      if (at % batch >= first && i < e.m && j < e.n) {
        expected = 0;
        for (std::int64_t l = 0; l < k; ++l)
          expected += to_double(a[offset((g * e.m + i) * k + l)]) * to_double(b[offset((g * k + l) * e.n + j)]);
      }
      wrong += !(std::fabs(to_double(after[offset(at)]) - expected) < 1e-3);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("foreign matmul: batches, many and none") {
  check<float>({0, 8, 8, 8}, {}, "none");
  check<sinter::f16>({1, 0, 8, 8}, {}, "none");
  check<sinter::f16>({1, 8, 0, 8}, {}, "none");
  check<sinter::bf16>({300, 17, 9, 33}, {}, "many");
  check<sinter::f16>({70000, 1, 8, 8}, {}, "many");
}

TEST_CASE("foreign matmul: captured as the first call of a thread, and from several threads") {
  int kernels[4] = {};
  std::vector<std::thread> threads;
  const auto values = random_values<float>(64 * 64, 1);
  const buffer<float> a(values), b(values), out(values);
  foreign_matmul m{};
  m.extents = {1, 64, 64, 64};
  m.type = sinter::dtype::f32;
  m.a = a.data(), m.b = b.data(), m.out = out.data();
  m.a_row = m.b_row = 64, m.a_col = m.b_col = 1, m.a_batch = m.b_batch = 64 * 64;
  std::thread first([&] {
    kernels[0] = captured_kernels([&](cudaStream_t stream) { sinter::cuda::matmul(m, stream, "foreign_test"); });
  });
  first.join();
  CHECK(kernels[0] == 1);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      kernels[i] = 0;
      for (int n = 0; n < 100; ++n) {
        foreign_matmul mine = m;
        mine.extents.m = 1 + (n * 7 + i) % 64;
        try {
          sinter::cuda::matmul(mine, cudaStreamPerThread, "foreign_test");
          kernels[i] += cudaStreamSynchronize(cudaStreamPerThread) == cudaSuccess ? 1 : 0;
        } catch (const std::exception&) {
        }
      }
    });
  for (auto& t : threads) t.join();
  for (const int count : kernels) CHECK(count == 100);
}

TEST_CASE("the template is one kernel and can be captured") {
  using a_body = body<load<0, sinter::bf16, a_row_major>, yield_value<sinter::bf16, 0>>;
  using b_body = body<load<1, sinter::bf16, b_row_major>, yield_value<sinter::bf16, 0>>;
  using end = body<accumulator<0, sinter::bf16>, store<2, sinter::bf16, 0, out_row_major>>;
  for (const auto& e :
       {matmul_extents{1, 65, 129, 1000}, matmul_extents{1, 1300, 1300, 64}, matmul_extents{2, 16, 16, 0}}) {
    const buffer<sinter::bf16> a(random_values<sinter::bf16>(offset(e.batch * e.m * e.k), 1));
    const buffer<sinter::bf16> b(random_values<sinter::bf16>(offset(e.batch * e.k * e.n), 2));
    const auto out = buffer<sinter::bf16>::output(offset(e.batch * e.m * e.n));
    arguments<3, 0, num_sizes> args{};
    set_sizes(args, e);
    args.pointers[0] = a.data(), args.pointers[1] = b.data(), args.pointers[2] = out.data();
    const int kernels = captured_kernels([&](cudaStream_t stream) {
      sinter::cuda::matmul<a_body, bodies<b_body>, end>(args, e, stream, "template_test");
    });
    CHECK(kernels == 1);
  }
}
