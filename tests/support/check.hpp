// check: runs a function fused with every preset where the translation unit says (on_host.hpp or on_cuda.cuh comes
// first), and compares with the reference. Data are pseudo-random with a fixed seed; every tensor lies between guard
// bytes, which must survive.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "interpreter.hpp"

namespace checks {

namespace si = sinter;

/// Where an input's elements come from. Integers: whole numbers of the range.
struct range {
  double low = -2, high = 2;
};

/// What a check is given besides the function: run-time extents of all tensors in order, and ranges of the inputs.
struct data {
  std::vector<std::int64_t> extents{};
  std::vector<range> ranges{};
  unsigned seed = 1;
};

inline double uniform(std::uint64_t key) {
  std::uint64_t z = key * 0x9e3779b97f4a7c15u + 0x7f4a7c15u;  // splitmix64
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

inline reference::cell random_cell(si::dtype type, const range& r, std::uint64_t key) {
  const double u = uniform(key);
  if (type == si::dtype::boolean) return {u < 0.5 ? 0. : 1., u < 0.5 ? 0 : 1};
  if (!si::is_floating(type)) {
    const double low = std::ceil(type == si::dtype::u8 && r.low < 0 ? 0 : r.low), high = std::floor(r.high);
    const auto whole = static_cast<std::int64_t>(low + std::floor(u * (high - low + 1)));
    return {static_cast<double>(whole), whole};
  }
  const reference::cell exact{r.low + u * (r.high - r.low), 0};
  char memory[8];
  reference::encode(type, exact, memory);
  return reference::decode(type, memory);
}

/// An array in memory that kernels can use, between guards.
class buffer {
 public:
  buffer(si::dtype type, std::vector<std::int64_t> shape, bool strided) : type_(type), shape_(std::move(shape)), strides_(shape_.size()) {
    std::int64_t span = 1;
    if (strided) {  // dimensions in reverse order with gaps
      for (std::size_t d = 0; d < shape_.size(); ++d) {
        strides_[d] = span;
        span = span * (shape_[d] > 0 ? shape_[d] : 1) + 3;
      }
    } else {
      for (std::size_t d = shape_.size(); d-- > 0; span *= shape_[d]) strides_[d] = span;
    }
    bytes_.assign(2 * guard + static_cast<std::size_t>(span * item()), static_cast<char>(0xa5));
    memory_ = std::make_unique<place::memory>(bytes_.size());
  }
  void write(const reference::array& a) {
    each([&](std::size_t i, std::size_t at) { reference::encode(type_, a.cells[i], &bytes_[at]); });
  }
  void upload() {
    before_ = bytes_;
    memory_->upload(bytes_.data());
  }
  reference::array read() {
    memory_->download(bytes_.data());
    reference::array a{type_, shape_, {}};
    each([&](std::size_t, std::size_t at) {
      a.cells.push_back(reference::decode(type_, &bytes_[at]));
      for (int b = 0; b < item(); ++b) before_[at + static_cast<std::size_t>(b)] = bytes_[at + static_cast<std::size_t>(b)];
    });
    return a;
  }
  /// After read: did anything but the elements change?
  bool intact() const { return before_ == bytes_; }

  // The face of std::mdspan, from which tensors are constructed.
  template <class T, int Rank>
  struct view {
    const buffer* b;
    static constexpr int rank() { return Rank; }
    T* data_handle() const { return static_cast<T*>(static_cast<void*>(static_cast<char*>(b->memory_->data()) + guard)); }
    std::int64_t extent(int d) const { return b->shape_[static_cast<std::size_t>(d)]; }
    std::int64_t stride(int d) const { return b->strides_[static_cast<std::size_t>(d)]; }
  };

 private:
  static constexpr std::size_t guard = 256;
  int item() const { return si::item_size(type_); }
  template <class F>
  void each(F f) const {
    const auto n = static_cast<std::size_t>(reference::count(shape_));
    for (std::size_t i = 0; i < n; ++i) {
      std::int64_t at = 0, rest = static_cast<std::int64_t>(i);
      for (std::size_t d = shape_.size(); d-- > 0; rest /= shape_[d]) at += rest % shape_[d] * strides_[d];
      f(i, guard + static_cast<std::size_t>(at * item()));
    }
  }
  si::dtype type_;
  std::vector<std::int64_t> shape_, strides_;
  std::vector<char> bytes_, before_;
  std::unique_ptr<place::memory> memory_;
};

/// What must come out: made once for all presets.
struct expectation {
  std::vector<reference::array> inputs, inputs_after, outputs;
  std::vector<si::dtype> precision;
};

/// Fills `inputs` and evaluates. Not a template, so that it is compiled once.
inline expectation expect(const reference::program& p, std::vector<reference::array> inputs, const data& d) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const range r = i < d.ranges.size() ? d.ranges[i] : range{};
    const auto n = static_cast<std::size_t>(reference::count(inputs[i].shape));
    for (std::size_t k = 0; k < n; ++k)
      inputs[i].cells.push_back(random_cell(inputs[i].type, r, (d.seed * 97ull + i) * 1000003ull + k));
  }
  expectation e{inputs, inputs, {}, {}};
  e.outputs = reference::evaluate(p, e.inputs_after);
  for (short id : p.outputs) e.precision.push_back(reference::coarsest(p, id));
  return e;
}

/// An input without elements; its run-time extents are the next ones of d.
template <class T>
reference::array empty_input(const data& d, std::size_t& next) {
  reference::array a{T::type, {}, {}};
  constexpr si::extents shape = si::detail::argument_extents<T, 0>::shape;
  for (int k = 0; k < shape.rank; ++k) a.shape.push_back(si::is_static(shape[k]) ? shape[k] : d.extents.at(next++));
  return a;
}

template <class T>
T argument(const buffer& b, const reference::array& a) {
  if constexpr (si::detail::is_value<T>) {
    char memory[8];
    reference::encode(T::type, a.cells[0], memory);
    typename T::element v{};
    __builtin_memcpy(&v, memory, sizeof v);
    return T(v);
  } else {
    return T(buffer::view<typename T::element, T::rank>{&b});
  }
}

template <class F, int Output>
struct output_type {
  template <int... D>
  static auto make(std::integer_sequence<int, D...>) {
    using element = si::storage_t<F::program::g[F::program::g.outputs[Output]].type>;
    return si::tensor<element, (static_cast<void>(D), si::dyn)...>{};
  }
  using type = decltype(make(std::make_integer_sequence<int, F::program::g.shape(F::program::g.outputs[Output]).rank>{}));
};

inline void compare(std::vector<buffer>& buffers, const expectation& e, const char* preset) {
  place::finish();
  const std::size_t inputs = e.inputs.size();
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const reference::array found = buffers[i].read();
    const bool is_input = i < inputs;
    const std::string name = std::string(preset) + (is_input ? ", input " : ", output ") + std::to_string(is_input ? i : i - inputs);
    const reference::array& expected = is_input ? e.inputs_after[i] : e.outputs[i - inputs];
    const std::string error = reference::difference(expected, found, is_input ? expected.type : e.precision[i - inputs]);
    CHECK_MESSAGE(error.empty(), name << ": " << error);
    CHECK_MESSAGE(buffers[i].intact(), name << ": memory around the tensor was written");
  }
}

/// Runs one fused function.
template <class... T, class F>
void run(const F& f, const expectation& e, const char* preset) {
  constexpr int num_outputs = F::program::num_outputs;
  std::vector<buffer> buffers;
  const bool strided[] = {T::rank > 0 && [] {
    if constexpr (si::detail::is_value<T>) return false;
    else return T::strided;
  }()..., false};
  for (std::size_t i = 0; i < sizeof...(T); ++i) {
    buffers.emplace_back(e.inputs[i].type, e.inputs[i].shape, strided[i]);
    buffers.back().write(e.inputs[i]);
  }
  for (const reference::array& a : e.outputs) buffers.emplace_back(a.type, a.shape, false);
  for (buffer& b : buffers) b.upload();
  [&]<int... I, int... O>(std::integer_sequence<int, I...>, std::integer_sequence<int, O...>) {
    f(place::executor(), argument<T>(buffers[I], e.inputs[I])...,
      typename output_type<F, O>::type(
          buffer::view<typename output_type<F, O>::type::element, output_type<F, O>::type::rank>{&buffers[sizeof...(T) + O]})...);
  }(std::make_integer_sequence<int, sizeof...(T)>{}, std::make_integer_sequence<int, num_outputs>{});
  compare(buffers, e, preset);
}

template <class F>
constexpr bool has_matmul() {
  for (const si::node& n : F::program::source.nodes)
    if (n.what == si::op::matmul) return true;
  return false;
}

/// The reference against a preset's result, and never more kernels than eager.
template <si::options Options, class... T, class Fn>
void check_preset(Fn, const expectation& e, const char* name) {
  constexpr auto f = si::fuse<Options, T...>(Fn{});
  constexpr int count = f.kernel_count(), most = decltype(si::fuse<si::eager, T...>(Fn{}))::kernel_count();
  CHECK_MESSAGE(count <= most, name << ": more kernels than eager");
  run<T...>(f, e, name);
}

template <class... T, class Fn>
expectation expect_of(Fn fn, const data& d) {
  using eager = decltype(si::fuse<si::eager, T...>(fn));
  std::size_t next = 0;
  std::vector<reference::array> inputs;
  (inputs.push_back(empty_input<T>(d, next)), ...);
  return expect(reference::make_program(eager::program::source), std::move(inputs), d);  // as traced, before rewriting
}

/// Vectors, however few elements there are.
constexpr si::options wide = [] {
  si::options o = si::standard;
  o.few_blocks = 0;
  return o;
}();

/// The law: every preset = reference. Presets that differ only in what they do with matmul are skipped without one.
template <class... T, class Fn>
void check(Fn fn, const data& d = {}) {
  const expectation e = expect_of<T...>(fn, d);
  check_preset<si::eager, T...>(fn, e, "eager");
  check_preset<wide, T...>(fn, e, "standard");
  if constexpr (has_matmul<decltype(si::fuse<si::eager, T...>(fn))>()) {
    check_preset<si::max_autotune, T...>(fn, e, "max_autotune");
    check_preset<si::max_fusion, T...>(fn, e, "max_fusion");
  }
}

/// The same with one preset: for long lists of ops.
template <si::options Options, class... T, class Fn>
void check_only(Fn fn, const data& d = {}) {
  check_preset<Options, T...>(fn, expect_of<T...>(fn, d), "this preset");
}

}  // namespace checks
