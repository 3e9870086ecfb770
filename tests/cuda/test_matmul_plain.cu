// The matmul template without prologue and epilogue: every dtype, layout, shape and alignment, on both tiles, against a
// loop in double precision.
// SPDX-License-Identifier: BSL-1.0
#include "test_matmul_support.cuh"

namespace {

using namespace matmul_test;

using plain_arguments = arguments<3, 0, num_sizes>;

struct arrangement {
  int shift_a = 0, shift_b = 0, shift_out = 0;  // elements past an aligned address
  std::int64_t pad_a = 0, pad_b = 0;            // elements between rows
};

/// Rows of `stride` elements of which `length` exist; between them poison. The last row ends where it ends.
template <class T>
std::vector<T> padded(const std::vector<T>& dense, std::int64_t length, std::int64_t stride) {
  if (length == stride || length == 0) return dense;
  const std::int64_t rows = static_cast<std::int64_t>(dense.size()) / length;
  std::vector<T> out(offset(rows > 0 ? (rows - 1) * stride + length : 0));
  if constexpr (!std::is_integral_v<T>)
    for (auto& v : out) v = element_of<T>(NAN);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t i = 0; i < length; ++i) out[offset(r * stride + i)] = dense[offset(r * length + i)];
  return out;
}

template <class T, class AtA, class AtB>
void check(const matmul_extents& e, const arrangement& where, const char* what) {
  constexpr bool a_is_transposed = std::is_same_v<AtA, a_transposed>,
                 b_is_transposed = std::is_same_v<AtB, b_transposed>;
  const auto a = random_values<T>(offset(e.batch * e.m * e.k), 1), b = random_values<T>(offset(e.batch * e.k * e.n), 2);
  const buffer<T> a_device(a_is_transposed ? a : padded(a, e.k, e.k + where.pad_a), where.shift_a);
  const buffer<T> b_device(b_is_transposed ? padded(b, e.k, e.k + where.pad_b) : b, where.shift_b);
  auto out = buffer<T>::output(offset(e.batch * e.m * e.n), where.shift_out);
  auto reference = multiply(
      e,
      [&](std::int64_t g, std::int64_t m, std::int64_t k) {
        return to_double(
            static_cast<T>(a[offset(a_is_transposed ? (g * e.k + k) * e.m + m : (g * e.m + m) * e.k + k)]));
      },
      [&](std::int64_t g, std::int64_t k, std::int64_t n) {
        return to_double(
            static_cast<T>(b[offset(b_is_transposed ? (g * e.n + n) * e.k + k : (g * e.k + k) * e.n + n)]));
      });
  if constexpr (std::is_integral_v<T>)
    for (auto& v : reference) v = static_cast<double>(element_of<T>(v));

  plain_arguments args{};
  set_sizes(args, e, where.pad_a, where.pad_b);
  args.pointers[0] = a_device.data();
  args.pointers[1] = b_device.data();
  args.pointers[2] = out.data();
  check_tiles<plain<T, 0, AtA>, store_result<T>>(
      bodies<plain<T, 1, AtB>>{}, args, out, reference, tolerance<T>(), e,
      std::string(what) + " " + std::string(name(dtype_of<T>)) + ", shifts " + std::to_string(where.shift_a) + " " +
          std::to_string(where.shift_b) + " " + std::to_string(where.shift_out) + ", pads " +
          std::to_string(where.pad_a) + " " + std::to_string(where.pad_b));
}

template <class T>
void check_layouts(int every) {
  for (const auto& e : all_shapes(every)) {
    check<T, a_row_major, b_row_major>(e, {}, "a * b");
    check<T, a_row_major, b_transposed>(e, {}, "a * b^T");
  }
  for (const auto& e : all_shapes(every + 2, 3)) check<T, a_transposed, b_row_major>(e, {}, "a^T * b, batched");
  for (const auto& e : all_shapes(every + 4, 2)) check<T, a_transposed, b_transposed>(e, {}, "a^T * b^T, batched");
}

}  // namespace

TEST_CASE("matmul of f16: every shape and layout") { check_layouts<sinter::f16>(1); }
TEST_CASE("matmul of bf16: every shape and layout") { check_layouts<sinter::bf16>(3); }
TEST_CASE("matmul of f32: every shape and layout") { check_layouts<float>(1); }
TEST_CASE("matmul of f64: every shape and layout") { check_layouts<double>(3); }

TEST_CASE("matmul of integers wraps") {
  for (const auto& e : all_shapes(7)) {
    check<std::int32_t, a_row_major, b_row_major>(e, {}, "a * b");
    check<std::int8_t, a_row_major, b_transposed>(e, {}, "a * b^T");
    check<std::int64_t, a_row_major, b_row_major>(e, {}, "a * b");
    check<bool, a_row_major, b_row_major>(e, {}, "a * b");
  }
}

TEST_CASE("matmul: misaligned pointers and padded rows") {
  const matmul_extents shapes[] = {{1, 65, 72, 72}, {1, 128, 64, 64}, {1, 17, 129, 40}, {2, 64, 128, 96}, {3, 5, 7, 9}};
  const arrangement arrangements[] = {{1, 0, 0, 0, 0}, {0, 1, 0, 0, 0}, {0, 0, 1, 0, 0}, {3, 5, 7, 0, 0},
                                      {4, 4, 4, 0, 0}, {8, 8, 8, 0, 0}, {0, 0, 0, 8, 8}, {0, 0, 0, 1, 3},
                                      {0, 0, 0, 4, 4}, {2, 8, 0, 5, 16}};
  for (const auto& e : shapes)
    for (const auto& where : arrangements) {
      check<sinter::f16, a_row_major, b_row_major>(e, where, "a * b");
      check<sinter::f16, a_row_major, b_transposed>(e, where, "a * b^T");
      check<float, a_row_major, b_row_major>(e, where, "a * b");
      check<double, a_row_major, b_transposed>(e, where, "a * b^T");
    }
}

TEST_CASE("matmul: batches, and enough tiles for the large one to be chosen") {
  check<sinter::f16, a_row_major, b_row_major>({0, 64, 64, 64}, {}, "a * b");
  check<sinter::f16, a_row_major, b_row_major>({1, 0, 64, 64}, {}, "a * b");
  check<sinter::f16, a_row_major, b_row_major>({1, 64, 0, 64}, {}, "a * b");
  check<float, a_row_major, b_row_major>({5, 3, 2, 0}, {}, "a * b");
  check<sinter::f16, a_row_major, b_row_major>({100, 17, 9, 33}, {}, "a * b");
  check<float, a_row_major, b_transposed>({70, 5, 130, 8}, {}, "a * b^T");
  check<sinter::bf16, a_row_major, b_transposed>({1, 1300, 1290, 72}, {}, "a * b^T");
  check<sinter::f16, a_row_major, b_row_major>({11, 300, 300, 48}, {}, "a * b");
  check<float, a_row_major, b_row_major>({1, 1300, 1290, 24}, {}, "a * b");
}

TEST_CASE("matmul: operands and results of more than 2^31 elements") {
  using T = sinter::f16;
  const matmul_extents cases[] = {{1, 33600000, 8, 64}, {1, 70000, 40000, 16}, {1, 8, 33600000, 64}};
  for (const auto& e : cases) {
    INFO("m " << e.m << " n " << e.n << " k " << e.k);
    const std::size_t sizes[] = {offset(e.m * e.k), offset(e.k * e.n), offset(e.m * e.n)};
    T* memory[3] = {};
    bool enough = true;
    for (int i = 0; i < 3; ++i)
      enough = enough && cudaMalloc(reinterpret_cast<void**>(&memory[i]), sizes[i] * sizeof(T)) == cudaSuccess;
    if (enough) {
      // All the same value, except the first and last rows of a and of b^T.
      const double usual = to_double(T::from_bits(0x2c2c));
      for (int i = 0; i < 3; ++i) checked(cudaMemset(memory[i], 0x2c, sizes[i] * sizeof(T)));
      const auto row = random_values<T>(offset(e.k), 1), column = random_values<T>(offset(e.k), 2);
      checked(cudaMemcpy(memory[0] + (e.m - 1) * e.k, row.data(), offset(e.k) * sizeof(T), cudaMemcpyHostToDevice));
      checked(cudaMemcpy(memory[1] + (e.n - 1) * e.k, column.data(), offset(e.k) * sizeof(T), cudaMemcpyHostToDevice));
      plain_arguments args{};
      set_sizes(args, e);
      for (int i = 0; i < 3; ++i) args.pointers[i] = memory[i];
      run<plain<T, 0, a_row_major>, store_result<T>>(which_tile::chosen, bodies<plain<T, 1, b_transposed>>{}, args, e);
      double ordinary = 0, last_row = 0, last_column = 0, corner = 0;
      for (std::int64_t k = 0; k < e.k; ++k) {
        const double r = to_double(static_cast<T>(row[offset(k)])), c = to_double(static_cast<T>(column[offset(k)]));
        ordinary += usual * usual;
        last_row += r * usual;
        last_column += usual * c;
        corner += r * c;
      }
      const auto at = [&](std::int64_t m, std::int64_t n) {
        T value{};
        checked(cudaMemcpy(&value, memory[2] + m * e.n + n, sizeof(T), cudaMemcpyDeviceToHost));
        return to_double(value);
      };
      for (const std::int64_t m : {std::int64_t(0), e.m / 2, e.m - 2}) {
        CHECK(at(m, 0) == doctest::Approx(ordinary).epsilon(2e-3));
        CHECK(at(m, e.n - 2) == doctest::Approx(ordinary).epsilon(2e-3));
        CHECK(at(m, e.n - 1) == doctest::Approx(last_column).epsilon(2e-3));
      }
      CHECK(at(e.m - 1, e.n / 2) == doctest::Approx(last_row).epsilon(2e-3));
      CHECK(at(e.m - 1, e.n - 1) == doctest::Approx(corner).epsilon(2e-3));
    } else {
      MESSAGE("not enough device memory for this case");
      (void)cudaGetLastError();
    }
    for (T* p : memory) checked(cudaFree(p));
  }
}

TEST_CASE("matmul: more tiles than a grid has blocks is an error, not a wrong result") {
  const matmul_extents e{1, std::int64_t(1) << 40, std::int64_t(1) << 40, 8};
  plain_arguments args{};
  set_sizes(args, e);
  using T = sinter::f16;
  CHECK_THROWS_AS((sinter::cuda::matmul<plain<T, 0, a_row_major>, bodies<plain<T, 1, b_row_major>>, store_result<T>>(
                      args, e, nullptr, "matmul_test")),
                  sinter::cuda_error);
}

TEST_CASE("matmul: batches beyond any grid dimension but the first") {
  check<sinter::f16, a_row_major, b_row_major>({70000, 1, 3, 5}, {}, "a * b");
}
