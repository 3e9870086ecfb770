// What the tests of the host kernels compare with: a body read statement by statement with plain loops, floating values
// in double and integers in 64 bits, every value computed anew where it is used. Slow and obvious.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <tuple>
#include <vector>

#include "sinter/base/op.hpp"
#include "sinter/kernels/body.hpp"

namespace reference {

using namespace sinter;

/// float and the 16-bit types as double, integers as int64, bool as bool.
template <class T>
using wide_t = std::conditional_t<std::is_same_v<compute_t<T>, bool>, bool,
                                  std::conditional_t<std::is_floating_point_v<compute_t<T>>, double, std::int64_t>>;

template <class T>
double relative_tolerance() {
  if constexpr (std::is_same_v<T, f16>) return 2e-3;
  else if constexpr (std::is_same_v<T, bf16>) return 1.6e-2;
  else if constexpr (std::is_same_v<T, float>) return 2e-5;
  else return 1e-12;
}

/// Memory of one pointer slot, with guard elements on both sides that nobody may touch.
struct buffer {
  static constexpr std::size_t guard = 64;
  std::vector<unsigned char> bytes;
  std::size_t count = 0, item = 0;

  template <class T, class F>
  static buffer of(std::int64_t count, F value) {
    buffer b;
    b.count = static_cast<std::size_t>(count);
    b.item = sizeof(T);
    b.bytes.assign(b.count * b.item + 2 * guard, 0x5a);
    for (std::size_t i = 0; i < b.count; ++i) b.template at<T>(i) = T(value(static_cast<std::int64_t>(i)));
    return b;
  }
  template <class T>
  static buffer output(std::int64_t count) {
    return of<T>(count, [](std::int64_t) { return T(1); });
  }
  void* data() { return bytes.data() + guard; }
  template <class T>
  T& at(std::size_t i) {
    return static_cast<T*>(data())[i];
  }
};

/// A repeatable value in [-scale, scale].
inline float noise(std::int64_t i, float scale = 2.0f) {
  std::uint64_t h = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15ull + 0x1234567;
  h ^= h >> 29;
  h *= 0xbf58476d1ce4e5b9ull;
  h ^= h >> 32;
  return (static_cast<float>(h % 20001) / 10000.0f - 1.0f) * scale;
}

template <class Body, class Args>
class interpreter;
template <class... S, class Args>
class interpreter<body<S...>, Args> {
 public:
  template <int N>
  using statement = std::tuple_element_t<N, std::tuple<S...>>;

  interpreter(const Args& args, std::int64_t rnumel) : args_(args), rnumel_(rnumel) {}

  std::vector<std::vector<double>> sums;  // per matmul, per x

  template <int N>
  auto value(std::int64_t x, std::int64_t r) {
    return get<N>(statement<N>{}, x, r);
  }
  /// The value that the body yields.
  double yielded(std::int64_t x, std::int64_t r) { return yield(std::get<sizeof...(S) - 1>(std::tuple<S...>{}), x, r); }
  /// Calls f(slot, type, offset, value) for every store.
  template <class F>
  void stores(std::int64_t numel, F f) {
    each_store(std::make_integer_sequence<int, sizeof...(S)>{}, numel, f);
  }

 private:
  template <class At>
  std::int64_t offset(At, std::int64_t x, std::int64_t r) const {
    return offset_of(At{}, x, r);
  }
  std::int64_t size(long n) const { return is_dynamic(n) ? args_.sizes[dynamic_slot(n)] : n; }
  template <loop_var V, long Div, long Mod, long Coef>
  std::int64_t term_of(term<V, Div, Mod, Coef>, std::int64_t x, std::int64_t r) const {
    std::int64_t i = (V == loop_var::x ? x : r) / size(Div);
    if (Mod != 0) i %= size(Mod);
    return i * size(Coef);
  }
  template <long Offset, class... Terms>
  std::int64_t offset_of(at<Offset, Terms...>, [[maybe_unused]] std::int64_t x, [[maybe_unused]] std::int64_t r) const {
    return (size(Offset) + ... + term_of(Terms{}, x, r));
  }
  template <int Mask>
  bool lit(std::int64_t x, std::int64_t r) {
    if constexpr (Mask < 0) return true;
    else return value<Mask>(x, r);
  }

  template <int N, int Slot, class T, class At, int Mask>
  wide_t<T> get(load<Slot, T, At, Mask>, std::int64_t x, std::int64_t r) {
    if (!lit<Mask>(x, r)) return {};
    return static_cast<wide_t<T>>(widen(static_cast<const T*>(args_.pointers[Slot])[offset(At{}, x, r)]));
  }
  template <int N, int Slot, class T, class At, int Index, long Coef, long Bound, int Mask>
  wide_t<T> get(gather_load<Slot, T, At, Index, Coef, Bound, Mask>, std::int64_t x, std::int64_t r) {
    if (!lit<Mask>(x, r)) return {};
    std::int64_t index = value<Index>(x, r);
    if (index < 0) index += size(Bound);
    return static_cast<wide_t<T>>(
        widen(static_cast<const T*>(args_.pointers[Slot])[offset(At{}, x, r) + size(Coef) * index]));
  }
  template <int N, int Slot, class T>
  wide_t<T> get(scalar<Slot, T>, std::int64_t, std::int64_t) {
    if constexpr (std::is_same_v<wide_t<T>, double>) return args_.scalars[Slot].d;
    else return static_cast<wide_t<T>>(args_.scalars[Slot].i);
  }
  template <int N, class T, long Bits>
  wide_t<T> get(constant<T, Bits>, std::int64_t, std::int64_t) {
    if constexpr (std::is_same_v<wide_t<T>, double>) return __builtin_bit_cast(double, Bits);
    else return static_cast<wide_t<T>>(Bits);
  }
  template <int N, class At>
  std::int64_t get(index_value<At>, std::int64_t x, std::int64_t r) {
    return offset(At{}, x, r);
  }
  template <int N, class At, long Low, long High>
  bool get(inside<At, Low, High>, std::int64_t x, std::int64_t r) {
    const std::int64_t o = offset(At{}, x, r);
    return size(Low) <= o && o < size(High);
  }
  template <int N, class Op, class T, class Result, int A, int B, int C>
  wide_t<Result> get(compute<Op, T, Result, A, B, C>, std::int64_t x, std::int64_t r) {
    if constexpr (C >= 0) return static_cast<wide_t<Result>>(Op::apply(value<A>(x, r), value<B>(x, r), value<C>(x, r)));
    else if constexpr (B >= 0) return static_cast<wide_t<Result>>(Op::apply(value<A>(x, r), value<B>(x, r)));
    else return static_cast<wide_t<Result>>(Op::apply(value<A>(x, r)));
  }
  template <int N, class From, class To, int A>
  wide_t<To> get(cast_to<From, To, A>, std::int64_t x, std::int64_t r) {
    return static_cast<wide_t<To>>(widen(narrow<To>(convert<To, From>(static_cast<compute_t<From>>(value<A>(x, r))))));
  }
  template <int N, class From, class To, int A>
  wide_t<To> get(widen_to<From, To, A>, std::int64_t x, std::int64_t r) {
    return static_cast<wide_t<To>>(value<A>(x, r));
  }
  template <int N, int Which, class T>
  wide_t<T> get(accumulator<Which, T>, std::int64_t x, std::int64_t) {
    return static_cast<wide_t<T>>(sums[Which][static_cast<std::size_t>(x)]);
  }
  template <int N, class Op, class T, class Result, int A>
  wide_t<Result> get(reduce<Op, T, Result, A>, std::int64_t x, std::int64_t) {
    const auto known = reduced_.find({N, x});
    if (known != reduced_.end()) return static_cast<wide_t<Result>>(known->second);
    using W = wide_t<T>;
    auto state = Op::template init<W>();
    for (std::int64_t r = 0; r < rnumel_; ++r) Op::template step<W>(state, value<A>(x, r), r);
    const double result = static_cast<double>(Op::template finish<W>(state));
    reduced_[{N, x}] = result;
    return static_cast<wide_t<Result>>(result);
  }

  template <class T, int A>
  double yield(yield_value<T, A>, std::int64_t x, std::int64_t r) {
    return static_cast<double>(value<A>(x, r));
  }

  template <int... I, class F>
  void each_store(std::integer_sequence<int, I...>, std::int64_t numel, F f) {
    (store_of<I>(statement<I>{}, numel, f), ...);
  }
  template <int N, class Other, class F>
  void store_of(Other, std::int64_t, F) {}
  template <int N, int Slot, class T, int A, class At, int Mask, class F>
  void store_of(store<Slot, T, A, At, Mask>, std::int64_t numel, F f) {
    const bool per_element = body_facts<body<S...>>::where(N) == scope::element;
    for (std::int64_t x = 0; x < numel; ++x)
      for (std::int64_t r = 0; r < (per_element ? rnumel_ : 1); ++r)
        if (lit<Mask>(x, r)) f(Slot, T(), offset(At{}, x, r), static_cast<double>(value<A>(x, r)));
  }

  const Args args_;
  std::int64_t rnumel_;
  std::map<std::pair<int, std::int64_t>, double> reduced_;
};

template <class T>
bool close(T got, double expected, double slack) {
  const double g = static_cast<double>(widen(got));
  if (std::isnan(expected)) return std::isnan(g);
  if constexpr (std::is_integral_v<T>) return got == static_cast<T>(static_cast<std::int64_t>(expected));
  // What rounds to infinity in T is infinity in T.
  if (std::isinf(expected) || std::isinf(g)) return static_cast<double>(widen(narrow<T>(compute_t<T>(expected)))) == g;
  return std::fabs(g - expected) <= slack * relative_tolerance<T>() * (1.0 + std::fabs(expected));
}

/// Runs `kernel` on `args` and compares every buffer with what the interpreter stores; the rest must be unchanged.
/// `slots`: the buffers that args.pointers point to (two slots may share one). `interpret(f)` reports the stores.
template <class Args, class Kernel, class Interpret>
void check_stores(Args& args, std::vector<buffer*> slots, Kernel kernel, Interpret interpret, double slack) {
  std::vector<buffer> before;
  for (buffer* b : slots) before.push_back(*b);
  struct stored {
    double value;
    int kind;
  };
  std::map<void*, std::map<std::int64_t, stored>> expected;
  std::vector<buffer> source;  // the interpreter reads what was there before the kernel ran
  for (buffer* b : slots) source.push_back(*b);
  Args reading = args;
  for (std::size_t s = 0; s < slots.size(); ++s) reading.pointers[s] = source[s].data();
  interpret(reading, [&](int slot, auto type, std::int64_t offset, double value) {
    expected[slots[static_cast<std::size_t>(slot)]->data()][offset] = {value,
                                                                       static_cast<int>(dtype_of<decltype(type)>)};
  });
  for (std::size_t s = 0; s < slots.size(); ++s) args.pointers[s] = slots[s]->data();
  kernel(args);

  long wrong = 0;
  double first_expected = 0, first_got = 0;
  std::int64_t first_at = -1;
  for (std::size_t s = 0; s < slots.size(); ++s) {
    buffer& b = *slots[s];
    const auto& here = expected[b.data()];
    for (std::size_t i = 0; i < b.count; ++i) {
      const auto want = here.find(static_cast<std::int64_t>(i));
      bool good = true;
      double got = 0;
      if (want == here.end()) {
        good = std::memcmp(b.bytes.data() + buffer::guard + i * b.item,
                           before[s].bytes.data() + buffer::guard + i * b.item, b.item) == 0;
      } else {
        const auto compare = [&](auto type) {
          using T = decltype(type);
          if (want->second.kind != static_cast<int>(dtype_of<T>)) return;
          got = static_cast<double>(widen(b.template at<T>(i)));
          good = close<T>(b.template at<T>(i), want->second.value, slack);
        };
        compare(bool());
        compare(std::uint8_t());
        compare(std::int8_t());
        compare(std::int32_t());
        compare(std::int64_t());
        compare(f16());
        compare(bf16());
        compare(float());
        compare(double());
      }
      if (good) continue;
      if (wrong++ == 0) {
        first_at = static_cast<std::int64_t>(i);
        first_got = got;
        first_expected = want == here.end() ? NAN : want->second.value;
      }
    }
    const bool guards = std::memcmp(b.bytes.data(), before[s].bytes.data(), buffer::guard) == 0 &&
                        std::memcmp(b.bytes.data() + buffer::guard + b.count * b.item,
                                    before[s].bytes.data() + buffer::guard + b.count * b.item, buffer::guard) == 0;
    CHECK(guards);
  }
  INFO("at " << first_at << ": got " << first_got << ", expected " << first_expected);
  CHECK(wrong == 0);
  for (std::size_t s = 0; s < slots.size(); ++s) *slots[s] = before[s];  // ready for the next kernel
}

}  // namespace reference
