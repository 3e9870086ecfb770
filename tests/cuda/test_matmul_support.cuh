// What the matmul tests share: device buffers with guards, index expressions of the usual layouts, shapes, launches
// that force each tile, and the comparison with a double-precision loop. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "sinter/base/op.hpp"
#include "sinter/kernels/cuda/matmul/launch.cuh"

namespace matmul_test {

using namespace sinter;

inline void checked(cudaError_t code) {
  INFO(cudaGetErrorString(code));
  REQUIRE(code == cudaSuccess);
}

/// Device memory that begins `shift` elements past an aligned address. Allocated exactly: what reads past the end is
/// memcheck's to find. Outputs have guards on both sides.
template <class T>
class buffer {
 public:
  explicit buffer(const std::vector<T>& values, int shift = 0, int guard = 0)
      : shift_(shift), guard_(guard), size_(values.size()) {
    const std::size_t bytes = (total() > 0 ? total() : 1) * sizeof(T);
    checked(cudaMalloc(reinterpret_cast<void**>(&memory_), bytes));
    std::vector<unsigned char> fill(bytes, pattern);
    checked(cudaMemcpy(memory_, fill.data(), bytes, cudaMemcpyHostToDevice));
    std::vector<unsigned char> raw(size_ * sizeof(T));
    for (std::size_t i = 0; i < size_; ++i) {
      const T value = values[i];
      std::memcpy(raw.data() + i * sizeof(T), &value, sizeof(T));
    }
    checked(cudaMemcpy(data(), raw.data(), raw.size(), cudaMemcpyHostToDevice));
  }
  static buffer output(std::size_t size, int shift = 0) { return buffer(std::vector<T>(size), shift, 64); }
  ~buffer() { cudaFree(memory_); }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;

  T* data() const { return memory_ + shift_ + guard_; }
  std::vector<T> download() const {
    std::vector<unsigned char> raw(size_ * sizeof(T));
    checked(cudaMemcpy(raw.data(), data(), raw.size(), cudaMemcpyDeviceToHost));
    std::vector<T> values(size_);
    for (std::size_t i = 0; i < size_; ++i) {
      T value;
      std::memcpy(&value, raw.data() + i * sizeof(T), sizeof(T));
      values[i] = value;
    }
    return values;
  }
  /// Writes poison over the values, so that a launch must write them.
  void poison() {
    std::vector<unsigned char> fill(total() * sizeof(T), pattern);
    checked(cudaMemcpy(memory_, fill.data(), fill.size(), cudaMemcpyHostToDevice));
  }
  bool guards_intact() const {
    std::vector<unsigned char> raw(total() * sizeof(T));
    checked(cudaMemcpy(raw.data(), memory_, raw.size(), cudaMemcpyDeviceToHost));
    const std::size_t first = (static_cast<std::size_t>(shift_) + guard_) * sizeof(T), last = first + size_ * sizeof(T);
    for (std::size_t i = 0; i < raw.size(); ++i)
      if ((i < first || i >= last) && raw[i] != pattern) return false;
    return true;
  }

 private:
  static constexpr unsigned char pattern = 0xff;  // a NaN in every floating type
  std::size_t total() const { return static_cast<std::size_t>(shift_) + size_ + 2 * static_cast<std::size_t>(guard_); }
  T* memory_ = nullptr;
  int shift_, guard_;
  std::size_t size_;
};

template <class T>
T element_of(double value) {
  if constexpr (std::is_same_v<T, bool>) return value != 0;
  else if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<std::int64_t>(value));
  else return narrow<T>(static_cast<compute_t<T>>(value));
}
template <class T>
double to_double(T value) {
  return static_cast<double>(widen<T>(value));
}
/// Rounds to T's precision.
template <class T>
double rounded(double value) {
  return to_double(element_of<T>(value));
}

template <class T>
std::vector<T> random_values(std::size_t size, unsigned seed) {
  std::mt19937 bits(seed);
  std::vector<T> values(size);
  for (std::size_t i = 0; i < size; ++i) {
    const double unit = static_cast<double>(bits()) / 4294967296.0;
    if constexpr (std::is_same_v<T, bool>) values[i] = unit < 0.1;
    else if constexpr (std::is_same_v<T, std::uint8_t>) values[i] = static_cast<T>(unit * 8);
    else if constexpr (std::is_integral_v<T>) values[i] = static_cast<T>(std::floor(unit * 19) - 9);
    else values[i] = element_of<T>(unit * 2 - 1);
  }
  return values;
}

template <class T>
constexpr double tolerance() {
  if (std::is_same_v<T, double>) return 1e-13;
  if (std::is_same_v<T, float>) return 1e-5;
  if (std::is_same_v<T, f16>) return 2e-3;
  if (std::is_same_v<T, bf16>) return 1e-2;
  return 0;
}

/// Every pair of m and n, or one in `every`, the k's taken in turn. SINTER_TEST_SAMPLING thins them further, for tools
/// under which a kernel runs a thousand times slower.
inline std::vector<matmul_extents> all_shapes(int every = 1, std::int64_t batch = 1) {
  const char* sampling = std::getenv("SINTER_TEST_SAMPLING");
  if (sampling != nullptr) every *= std::max(1, std::atoi(sampling));
  const std::int64_t sizes[] = {1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 129, 300};
  const std::int64_t depths[] = {64, 1, 300, 8, 31, 1000, 0};
  std::vector<matmul_extents> shapes;
  int i = 0, depth = 0;
  for (std::int64_t m : sizes)
    for (std::int64_t n : sizes)
      if (i++ % every == 0) shapes.push_back({batch, m, n, depths[depth++ % 7]});
  return shapes;
}

// ---- index expressions of the usual layouts; x = batch * rows + row, r = k; the numbers are slots of sizes
// ------------

inline constexpr long rows_ = dynamic_number(0), columns_ = dynamic_number(1), depth_ = dynamic_number(2);
inline constexpr long rows_depth_ = dynamic_number(3), depth_columns_ = dynamic_number(4);
inline constexpr long stride_a_ = dynamic_number(5), stride_b_ = dynamic_number(6);
inline constexpr int num_sizes = 7;

using a_row_major = at<0, term<loop_var::x, 1, 0, stride_a_>, term<loop_var::r, 1, 0, 1>>;
using a_transposed =
    at<0, term<loop_var::x, rows_, 0, rows_depth_>, term<loop_var::x, 1, rows_, 1>, term<loop_var::r, 1, 0, rows_>>;
using b_row_major = at<0, term<loop_var::x, columns_, 0, depth_columns_>, term<loop_var::x, 1, columns_, 1>,
                       term<loop_var::r, 1, 0, columns_>>;
using b_transposed = at<0, term<loop_var::x, 1, 0, stride_b_>, term<loop_var::r, 1, 0, 1>>;
using out_row_major = at<0, term<loop_var::x, 1, 0, 1>>;
using along_n = at<0, term<loop_var::x, 1, columns_, 1>>;

/// An operand as it lies in pointers[Slot].
template <class T, int Slot, class At>
using plain = body<load<Slot, T, At>, yield_value<T, 0>>;
/// The product as it is, to pointers[2].
template <class T>
using store_result = body<accumulator<0, T>, store<2, T, 0, out_row_major>>;

template <int Pointers, int Scalars>
void set_sizes(arguments<Pointers, Scalars, num_sizes>& args, const matmul_extents& e, std::int64_t pad_a = 0,
               std::int64_t pad_b = 0) {
  args.sizes[0] = e.m;
  args.sizes[1] = e.n;
  args.sizes[2] = e.k;
  args.sizes[3] = e.m * e.k;
  args.sizes[4] = e.k * e.n;
  args.sizes[5] = e.k + pad_a;
  args.sizes[6] = e.k + pad_b;
}

inline std::size_t offset(std::int64_t i) { return static_cast<std::size_t>(i); }

// ---- launches -------------------------------------------------------------------------------------------------------

enum class which_tile { chosen, large, small };
constexpr which_tile every_tile[] = {which_tile::large, which_tile::small, which_tile::chosen};
inline const char* name_of(which_tile t) {
  return t == which_tile::chosen ? "chosen tile" : t == which_tile::large ? "large tile" : "small tile";
}

template <class A, class Epilogue, class Args, class... B>
void run(which_tile which, bodies<B...> bs, const Args& args, const matmul_extents& e) {
  using namespace sinter::cuda;
  using dtype = typename mm::prologue_facts<A>::dtype;
  using choice = mm::tiles<dtype, sizeof...(B)>;
  if (which == which_tile::chosen || e.batch == 0 || e.m == 0 || e.n == 0) {
    cuda::matmul<A, bodies<B...>, Epilogue>(args, e, nullptr, "matmul_test");
  } else {
    constexpr int width = mm::matmul_block<typename choice::large, A, bodies<B...>, Epilogue>::end::width;
    auto problem = mm::classify_problem<width>(A{}, bs, Epilogue{}, args, e, std::index_sequence_for<B...>{});
    if (which == which_tile::large) mm::launch_tiles<typename choice::large>(problem, args, nullptr, "matmul_test");
    else mm::launch_tiles<typename choice::small>(problem, args, nullptr, "matmul_test");
  }
  checked(cudaDeviceSynchronize());
}

/// The result and the reference differ by at most `allowed` of the reference's norm; on failure, where. Sums of k
/// products that happen to cancel are not taken for small.
template <class T>
void compare(const buffer<T>& out, const std::vector<double>& reference, double allowed, const matmul_extents& e,
             const std::string& what) {
  const std::vector<T> got = out.download();
  REQUIRE(got.size() == reference.size());
  double difference = 0, norm = 0, worst = -1;
  std::size_t where = 0, wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double g = to_double(static_cast<T>(got[i])), d = std::abs(g - reference[i]);
    difference += d * d;
    norm += reference[i] * reference[i];
    if (!(d <= allowed * (1 + 4 * std::abs(reference[i])))) ++wrong;
    if (!(d <= worst)) worst = d, where = i;
  }
  difference = std::sqrt(difference);
  norm = std::max(std::sqrt(norm), 0.1 * std::sqrt(static_cast<double>(got.size()) * static_cast<double>(e.k)));
  const bool close = difference <= allowed * norm;  // false for NaN
  const bool intact = out.guards_intact();
  if (close && intact) return;
  const auto x = static_cast<std::int64_t>(where);
  const double at_worst = got.empty() ? 0 : to_double(static_cast<T>(got[where]));
  const double expected = got.empty() ? 0 : reference[where];
  INFO(what << ", batch " << e.batch << " m " << e.m << " n " << e.n << " k " << e.k);
  INFO("worst at batch " << x / (e.n * e.m) << " row " << x / e.n % e.m << " column " << x % e.n << ": " << at_worst
                         << " instead of " << expected << "; " << wrong << " of " << got.size() << " elements off");
  INFO("difference / norm = " << difference / norm << ", allowed " << allowed);
  CHECK(close);
  CHECK(intact);
}

/// The same after a run on each tile.
template <class A, class Epilogue, class Args, class T, class... B>
void check_tiles(bodies<B...> bs, const Args& args, buffer<T>& out, const std::vector<double>& reference,
                 double allowed, const matmul_extents& e, const std::string& what) {
  for (const auto tile : every_tile) {
    out.poison();
    run<A, Epilogue>(tile, bs, args, e);
    compare(out, reference, allowed, e, what + ", " + name_of(tile));
  }
}

/// out[b, m, n] = sum over k of a(b, m, k) * b(b, k, n), in double.
template <class FunctionA, class FunctionB>
std::vector<double> multiply(const matmul_extents& e, FunctionA a, FunctionB b) {
  std::vector<double> out(offset(e.batch * e.m * e.n), 0.0), line_a(offset(e.k)), matrix_b(offset(e.k * e.n));
  for (std::int64_t g = 0; g < e.batch; ++g) {
    for (std::int64_t k = 0; k < e.k; ++k)
      for (std::int64_t n = 0; n < e.n; ++n) matrix_b[offset(k * e.n + n)] = b(g, k, n);
    for (std::int64_t m = 0; m < e.m; ++m) {
      for (std::int64_t k = 0; k < e.k; ++k) line_a[offset(k)] = a(g, m, k);
      double* line = out.data() + (g * e.m + m) * e.n;
      for (std::int64_t k = 0; k < e.k; ++k)
        for (std::int64_t n = 0; n < e.n; ++n) line[n] += line_a[offset(k)] * matrix_b[offset(k * e.n + n)];
    }
  }
  return out;
}

}  // namespace matmul_test
