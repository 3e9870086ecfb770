// What the kernel tests share: device memory between guards, deterministic data, a comparison that reports how many
// elements are wrong and the first of them, short names for index expressions. Nothing here stops at a failure.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "sampling.hpp"
#include "sinter/base/op.hpp"
#include "sinter/kernels/body.hpp"
#include "sinter/kernels/cuda/kernel_memory.cuh"

namespace kernel_tests {

using namespace sinter;

inline void cuda_ok(cudaError_t code, const char* what) {
  CHECK_MESSAGE(code == cudaSuccess, what, ": ", cudaGetErrorString(code));
}

/// The bytes before and after a buffer; a kernel that leaves its buffer changes them.
inline constexpr std::size_t guard_bytes = 256;
inline constexpr unsigned char guard_byte = 0xa5;

template <class T>
class device_array {
 public:
  /// `shift` elements off the 256-byte alignment of cudaMalloc.
  explicit device_array(std::size_t n, std::size_t shift = 0, bool filled = true) : n_(n), shift_(shift) {
    cuda_ok(cudaMalloc(&base_, total()), "cudaMalloc");
    if (filled) cuda_ok(cudaMemset(base_, guard_byte, total()), "cudaMemset");
  }
  explicit device_array(const std::vector<T>& host, std::size_t shift = 0) : device_array(host.size(), shift) {
    if (n_ > 0)
      cuda_ok(cudaMemcpy(data(), host.data(), n_ * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy to the device");
  }
  device_array(const device_array&) = delete;
  ~device_array() { cudaFree(base_); }

  T* data() const { return reinterpret_cast<T*>(base_ + guard_bytes) + shift_; }

  std::vector<T> host() const {
    std::vector<T> out(n_);
    if (n_ > 0)
      cuda_ok(cudaMemcpy(out.data(), data(), n_ * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy to the host");
    return out;
  }

  void check_guards(const std::string& what) const {
    const std::size_t front = guard_bytes + shift_ * sizeof(T), back = total() - front - n_ * sizeof(T);
    std::vector<unsigned char> bytes(front > back ? front : back);
    std::size_t touched = 0;
    cuda_ok(cudaMemcpy(bytes.data(), base_, front, cudaMemcpyDeviceToHost), "cudaMemcpy of a guard");
    for (std::size_t i = 0; i < front; ++i) touched += bytes[i] != guard_byte;
    cuda_ok(cudaMemcpy(bytes.data(), base_ + front + n_ * sizeof(T), back, cudaMemcpyDeviceToHost),
            "cudaMemcpy of a guard");
    for (std::size_t i = 0; i < back; ++i) touched += bytes[i] != guard_byte;
    CHECK_MESSAGE(touched == 0, what, ": ", touched, " bytes beside the buffer were written");
  }

 private:
  std::size_t total() const { return 2 * guard_bytes + (n_ + shift_) * sizeof(T); }
  std::size_t n_, shift_;
  unsigned char* base_ = nullptr;
};

// bool has no contiguous std::vector.
struct boolean {
  bool value;
};

template <class T>
double number(T value) {
  return static_cast<double>(widen<T>(value));
}
inline double number(boolean b) { return b.value ? 1 : 0; }

/// Repeatable numbers in [-2, 2), or small integers for integer types.
template <class T>
std::vector<T> numbers(std::size_t n, unsigned seed = 1) {
  std::vector<T> out(n);
  std::uint32_t s = seed * 2654435761u + 12345u;
  for (auto& v : out) {
    s = s * 1664525u + 1013904223u;
    const double unit = (s >> 8) / 16777216.0;
    if constexpr (std::is_same_v<T, boolean>) v.value = unit < 0.3;
    else if constexpr (std::is_integral_v<T>) v = static_cast<T>(std::is_unsigned_v<T> ? unit * 100 : unit * 100 - 50);
    else v = narrow<T>(static_cast<compute_t<T>>(unit * 4 - 2));
  }
  return out;
}

/// Compares with |got - want| <= absolute + relative * |want|; NaN equals NaN.
template <class T, class Want>
void check_close(const std::string& what, const std::vector<T>& got, const Want& want, double relative,
                 double absolute) {
  std::size_t wrong = 0, first = 0;
  double got_first = 0, want_first = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double g = number(got[i]), w = static_cast<double>(want(i));
    const bool ok = std::isnan(w) ? std::isnan(g) : g == w || std::fabs(g - w) <= absolute + relative * std::fabs(w);
    if (ok) continue;
    if (wrong++ == 0) first = i, got_first = g, want_first = w;
  }
  CHECK_MESSAGE(wrong == 0, what, ": ", wrong, " of ", got.size(), " wrong, first at ", first, ": got ", got_first,
                ", expected ", want_first);
}

/// A rounding step of T, relative.
template <class T>
constexpr double step_of() {
  if constexpr (std::is_same_v<T, bf16>) return 0x1p-8;
  else if constexpr (std::is_same_v<T, f16>) return 0x1p-11;
  else if constexpr (std::is_same_v<T, float>) return 0x1p-22;
  else if constexpr (std::is_same_v<T, double>) return 0x1p-50;
  else return 0;
}

/// Runs and waits; an exception or an asynchronous error is a failed check, not the end.
template <class F>
void run(const std::string& what, F&& launch) {
  try {
    launch();
    const cudaError_t code = cudaDeviceSynchronize();
    CHECK_MESSAGE(code == cudaSuccess, what, ": ", cudaGetErrorString(code));
  } catch (const std::exception& e) {
    FAIL_CHECK(what << ": " << e.what());
  }
}

/// A kernel's memory of exactly the promised size, full of rubbish and between guards. Counters that it used have to be
/// at zero afterwards.
template <class Launch>
void run_with_memory(const std::string& what, const workspace_size& size, const Launch& launch) {
  const device_array<unsigned char> workspace(static_cast<std::size_t>(size.total()));
  run(what, [&] {
    cuda::kernel_memory memory(size.total() > 0 ? workspace.data() : nullptr, size);
    launch(memory);
  });
  workspace.check_guards(what + " workspace");
  const auto bytes = workspace.host();
  std::int64_t others = 0;  // all are at zero, or nobody has cleared them
  for (std::int64_t i = 0; i < size.counters; ++i) others += bytes[static_cast<std::size_t>(i)] != bytes[0];
  CHECK_MESSAGE(others == 0, what, ": counters are not left at zero");
}

// ---- index expressions
// -------------------------------------------------------------------------------------------------

inline constexpr long d0 = dynamic_base, d1 = dynamic_base + 1, d2 = dynamic_base + 2;

template <long Coef = 1, long Div = 1, long Mod = 0>
using x_term = term<loop_var::x, Div, Mod, Coef>;
template <long Coef = 1, long Div = 1, long Mod = 0>
using r_term = term<loop_var::r, Div, Mod, Coef>;

using at_none = at<0>;
using at_x = at<0, x_term<>>;
using at_r = at<0, r_term<>>;
/// Row-major [numel, C], reduced along C.
template <long C>
using at_row = at<0, x_term<C>, r_term<>>;
/// Row-major [rnumel, N], reduced along rnumel.
template <long N>
using at_column = at<0, x_term<>, r_term<N>>;

template <int P, int S = 0, int D = 0>
arguments<P, S, D> make_args(std::int64_t numel, std::int64_t rnumel) {
  arguments<P, S, D> args{};
  args.numel = numel;
  args.rnumel = rnumel;
  return args;
}

inline std::string label(const char* name, std::int64_t rows, std::int64_t columns, const char* more = "") {
  return std::string(name) + " " + std::to_string(rows) + " x " + std::to_string(columns) + (*more ? " " : "") + more;
}

/// The reference of an op over n values, in double.
template <class Op, class F>
double fold(std::int64_t n, F&& value) {
  double result = std::is_same_v<Op, ops::prod> || std::is_same_v<Op, ops::all> ? 1 : 0;
  double best = 0, mean = 0;
  for (std::int64_t j = 0; j < n; ++j) mean += value(j) / n;
  for (std::int64_t j = 0; j < n; ++j) {
    const double v = value(j);
    if constexpr (std::is_same_v<Op, ops::sum>) result += v;
    else if constexpr (std::is_same_v<Op, ops::prod>) result *= v;
    else if constexpr (std::is_same_v<Op, ops::amax>) result = j == 0 || v > result ? v : result;
    else if constexpr (std::is_same_v<Op, ops::amin>) result = j == 0 || v < result ? v : result;
    else if constexpr (std::is_same_v<Op, ops::any>) result = result != 0 || v != 0;
    else if constexpr (std::is_same_v<Op, ops::all>) result = result != 0 && v != 0;
    else if constexpr (std::is_same_v<Op, ops::argmax>)
      result = j == 0 || v > best ? static_cast<double>(j) : result, best = j == 0 || v > best ? v : best;
    else if constexpr (std::is_same_v<Op, ops::argmin>)
      result = j == 0 || v < best ? static_cast<double>(j) : result, best = j == 0 || v < best ? v : best;
    else result += (v - mean) * (v - mean);
  }
  return result;
}

}  // namespace kernel_tests
