// A device benchmark of sinter: a case is a fused function with its tensors. Before it is timed, its results at full
// size are compared with the host's: on the first and last rows, or whole where rows meet. Timing is device.cuh's.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sinter/sinter.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "device.cuh"

namespace bench {

namespace si = sinter;

template <class T>
double to_double(T x) {
  return static_cast<double>(si::widen(x));
}

/// The run-time extent of rows that is not the number of rows.
inline constexpr auto width = si::dim<"width">;

template <class... T>
struct in {};
template <class... T>
struct out {};

inline constexpr std::int64_t whole = -1;

/// What a case may say besides its tensors.
struct settings {
  std::int64_t rows = 1;          ///< the run-time extent; of a tensor with two, the first
  std::int64_t check_rows = 128;  ///< so many, half of them first and half last, are compared; or `whole`
  std::int64_t limit = 1000;      ///< integer inputs lie below
  double bytes = 0;               ///< bytes that have to move; 0: what the plan says
  std::int64_t width = 1;         ///< the extent `width`
  float low = -1, high = 1;       ///< floating-point inputs lie in [low, high)
  std::int64_t offset = 0;        ///< elements by which all data miss their alignment
};

template <class Tensor>
inline constexpr bool has_width =
    Tensor::num_dynamic == 2 || std::is_same_v<Tensor, si::tensor<typename Tensor::element, width>>;
template <class Tensor>
inline constexpr bool has_rows = Tensor::num_dynamic > (has_width<Tensor> ? 1 : 0);

template <class Tensor>
Tensor make(typename Tensor::element* data, std::int64_t rows, std::int64_t columns = 1) {
  if constexpr (has_rows<Tensor> && has_width<Tensor>) return Tensor(data, rows, columns);
  else if constexpr (has_rows<Tensor>) return Tensor(data, rows);
  else if constexpr (has_width<Tensor>) return Tensor(data, columns);
  else return Tensor(data);
}
/// Elements from one row to the next, or of a tensor without rows.
template <class Tensor>
std::int64_t row_size(const settings& s) {
  const Tensor one = make<Tensor>(nullptr, 1, s.width);
  if constexpr (has_rows<Tensor>) return one.stride(0);
  else return one.numel();
}
template <class Tensor>
std::int64_t num_elements(const settings& s, std::int64_t rows) {
  return row_size<Tensor>(s) * (has_rows<Tensor> ? rows : 1);
}

/// nvcc cannot name a kernel of Tensor::element, but it can of what a function deduces.
template <class T, auto... Extents>
void fill_like(const si::tensor<T, Extents...>*, T* data, std::int64_t size, const range& r) {
  fill<T>(data, size, r);
}

template <class T>
double tolerance() {
  return std::is_same_v<T, double> ? 1e-10 : std::is_same_v<T, float> ? 2e-5 : std::is_same_v<T, si::f16> ? 4e-3 : 2e-2;
}

/// Two results that round differently may be apart by so much, however small they are.
template <class T>
inline constexpr double least_step = std::is_same_v<T, si::f16> ? 0x1p-24 : 0;

using bytes = std::vector<std::byte>;  // of any type: std::tuple is too deep a template for the tensors of long lists

/// What is wrong with what was found, in a sentence; empty if nothing is.
template <class T>
std::string difference(const bytes& expected_bytes, const bytes& found_bytes) {
  const std::size_t size = expected_bytes.size() / sizeof(T);
  const T *expected = reinterpret_cast<const T*>(expected_bytes.data()),
          *found = reinterpret_cast<const T*>(found_bytes.data());
  double largest = 0;
  for (std::size_t i = 0; i < size; ++i) largest = std::max(largest, std::fabs(to_double(expected[i])));
  for (std::size_t i = 0; i < size; ++i) {
    const double e = to_double(expected[i]), f = to_double(found[i]);
    // A NaN is no result, and of an infinity nothing is known.
    if (!std::isfinite(e) || !(std::fabs(e - f) <= tolerance<T>() * largest + least_step<T>))
      return "element " + std::to_string(i) + " of " + std::to_string(size) + " compared is " + in_digits(f) +
             " on the device and " + in_digits(e) + " on the host. ";
  }
  return {};
}

/// The tensors of one call, in device memory.
template <class In, class Out>
class arguments;
template <class... I, class... O>
class arguments<in<I...>, out<O...>> {
 public:
  explicit arguments(const settings& s) : settings_(s) {
    (inputs_.emplace_back(num_bytes<I>(s.rows) + displacement<I>()), ...);
    (outputs_.emplace_back(num_bytes<O>(s.rows) + displacement<O>()), ...);
    each([&]<std::size_t... K, std::size_t... L>(std::index_sequence<K...>, std::index_sequence<L...>) {
      (fill_like(static_cast<const I*>(nullptr), start<I>(inputs_[K]), num_elements<I>(s, s.rows),
                 {s.low, s.high, s.limit}),
       ...);
      (poison(start<O>(outputs_[L]), num_elements<O>(s, s.rows)), ...);
    });
  }

  template <class Fused, class Executor>
  void call(const Fused& f, const Executor& executor) const {
    each([&]<std::size_t... K, std::size_t... L>(std::index_sequence<K...>, std::index_sequence<L...>) {
      f(executor, make<I>(start<I>(inputs_[K]), settings_.rows, settings_.width)...,
        make<O>(start<O>(outputs_[L]), settings_.rows, settings_.width)...);
    });
  }

  /// Calls f on the device, and on the host for the rows that are compared. What is wrong, in sentences.
  template <class Fused, class Executor>
  std::string complaint(const Fused& f, const Executor& executor) const {
    const std::int64_t all = settings_.rows, most = settings_.check_rows, columns = settings_.width;
    const std::int64_t rows = most == whole ? all : std::min(most, all);
    std::string said;
    each([&]<std::size_t... K, std::size_t... L>(std::index_sequence<K...>, std::index_sequence<L...>) {
      std::vector<bytes> inputs{sample<I>(inputs_[K], rows)...};
      std::vector<bytes> outputs{bytes(num_bytes<O>(rows))...};
      f(si::host, make<I>(reinterpret_cast<typename I::element*>(inputs[K].data()), rows, columns)...,
        make<O>(reinterpret_cast<typename O::element*>(outputs[L].data()), rows, columns)...);
      call(f, executor);
      ((said += difference<typename O::element>(outputs[L], sample<O>(outputs_[L], rows))), ...);
      ((said += difference<typename I::element>(inputs[K], sample<I>(inputs_[K], rows))), ...);  // what is assigned to
    });
    return said;
  }

 private:
  template <class Function>
  static void each(Function function) {
    function(std::index_sequence_for<I...>{}, std::index_sequence_for<O...>{});
  }
  template <class Tensor>
  std::size_t num_bytes(std::int64_t rows) const {
    return static_cast<std::size_t>(num_elements<Tensor>(settings_, rows)) * sizeof(typename Tensor::element);
  }
  template <class Tensor>
  std::size_t displacement() const {
    return static_cast<std::size_t>(settings_.offset) * sizeof(typename Tensor::element);
  }
  template <class Tensor>
  typename Tensor::element* start(const buffer<std::byte>& b) const {
    return reinterpret_cast<typename Tensor::element*>(b.data() + displacement<Tensor>());
  }
  /// The first and last rows of a tensor, `rows` in all; whole if it has none.
  template <class Tensor>
  bytes sample(const buffer<std::byte>& from, std::int64_t rows) const {
    const std::size_t all = num_bytes<Tensor>(rows), first = has_rows<Tensor> ? num_bytes<Tensor>((rows + 1) / 2) : all;
    bytes values;
    download(from.data() + displacement<Tensor>(), first, values);
    download(from.data() + from.size() - (all - first), all - first, values);
    return values;
  }

  settings settings_;
  std::vector<buffer<std::byte>> inputs_, outputs_;
};

/// Calls `figure` with the run-time extents.
template <class Figure, class... I>
auto of_extents(const Figure& figure, in<I...>, const settings& s) {
  constexpr bool rows = (has_rows<I> || ...), columns = (has_width<I> || ...);
  if constexpr (rows && columns) return figure(s.rows, s.width);
  else if constexpr (rows) return figure(s.rows);
  else if constexpr (columns) return figure(s.width);
  else return figure();
}
template <class Fused, class... I>
double bytes_of(const Fused& f, in<I...> inputs, const settings& s) {
  if (s.bytes > 0) return s.bytes;
  return of_extents(
      [&](auto... extents) { return static_cast<double>(f.bytes_read(extents...) + f.bytes_written(extents...)); },
      inputs, s);
}

/// One benchmark: `f` on inputs I and outputs O.
template <class Fused, class... I, class... O>
void add(const std::string& name, const Fused& f, in<I...> inputs, out<O...> outputs, const settings& s) {
  add_timed(name, [=](::benchmark::State& state) {
    const double bytes = bytes_of(f, inputs, s);
    const std::int64_t needed = of_extents([&](auto... e) { return f.workspace_bytes(e...); }, inputs, s);
    const std::int64_t counted = of_extents([&](auto... e) { return f.counter_bytes(e...); }, inputs, s);
    const buffer<char> workspace(static_cast<std::size_t>(needed)), counters(static_cast<std::size_t>(counted));
    check(cudaMemsetAsync(counters.data(), 0, counters.size(), stream()), "cudaMemset");
    const si::cuda_executor executor{stream(), workspace.data(), needed, counters.data(), counted};
    std::vector<arguments<in<I...>, decltype(outputs)>> sets;
    sets.emplace_back(s);
    const std::string complaint = sets[0].complaint(f, executor);
    if (!complaint.empty()) return state.SkipWithError(complaint.c_str());
    for (int i = num_sets(bytes); i > 1; --i) sets.emplace_back(s);
    measure(state, "sinter", bytes, static_cast<int>(sets.size()),
            [&](int i) { sets[static_cast<std::size_t>(i)].call(f, executor); });
    state.counters["kernels"] = f.kernel_count();
  });
}

}  // namespace bench
