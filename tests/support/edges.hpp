// edges: runs a fused function where the translation unit says (on_host.hpp or on_cuda.cuh comes first), with every
// tensor at some elements past an aligned address and with strides of a pattern, and compares with the same plan on the
// host on aligned memory. Data are small whole numbers, so that results are exact in every order. Every tensor lies
// between guards, which must survive.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "sampling.hpp"

namespace edges {

namespace si = sinter;

/// The extents that tensor types name.
inline constexpr auto rows = si::dim<"rows">, columns = si::dim<"columns">, picks = si::dim<"picks">;
struct sizes {
  std::int64_t rows = 1, columns = 1, picks = 1;
  std::int64_t of(std::string_view name, std::int64_t otherwise) const {
    return name == "rows" ? rows : name == "columns" ? columns : name == "picks" ? picks : otherwise;
  }
};

/// How the strides of a strided tensor are laid out.
enum class layout { dense, padded, reversed, every_other, repeated };

/// A tensor's place: its elements `shift` elements past an aligned address.
template <class Tensor>
class operand {
 public:
  using element = typename Tensor::element;

  operand(const sizes& s, layout how, int shift) : shift_(static_cast<std::size_t>(shift)) {
    for (int d = 0; d < Tensor::rank; ++d)
      extents_[d] = s.of(si::detail::extent_names<Tensor>::name(d), si::detail::extent_names<Tensor>::size(d));
    if (!Tensor::strided) how = layout::dense;
    std::int64_t next = how == layout::every_other ? 2 : 1;
    for (int k = 0; k < Tensor::rank; ++k) {
      const int d = how == layout::reversed ? k : Tensor::rank - 1 - k;
      strides_[d] = how == layout::repeated && k > 0 ? 0 : next;
      next = next * (extents_[d] > 0 ? extents_[d] : 1) + (how == layout::padded ? 8 : how == layout::reversed ? 3 : 0);
    }
    values_.assign(2 * guard + shift_ + static_cast<std::size_t>(next), filler());
  }

  std::size_t count() const {
    std::size_t n = 1;
    for (int d = 0; d < Tensor::rank; ++d) n *= static_cast<std::size_t>(extents_[d]);
    return n;
  }
  /// The i-th element in row-major order.
  element& at(std::size_t i) {
    std::int64_t offset = 0, rest = static_cast<std::int64_t>(i);
    for (int d = Tensor::rank - 1; d >= 0; rest /= extents_[d--]) offset += rest % extents_[d] * strides_[d];
    return values_[guard + shift_ + static_cast<std::size_t>(offset)];
  }
  /// Whole numbers from -1 to 1; indices of `limit` places, all of them different.
  void fill(int seed, std::int64_t limit) {
    for (std::size_t i = 0; i < count(); ++i) {
      const std::uint64_t bits = (i + static_cast<std::size_t>(seed) * 7919 + 1) * 0x9E3779B97F4A7C15u;
      if constexpr (std::is_same_v<element, std::int64_t>)
        at(i) = limit > 0 ? static_cast<std::int64_t>(i + 1) % limit : 0;
      else if constexpr (std::is_integral_v<element>) at(i) = static_cast<element>(bits >> 56);
      else at(i) = si::narrow<element>(static_cast<si::compute_t<element>>(static_cast<int>(bits >> 40) % 3 - 1));
    }
  }

  /// The tensor at `base`, memory of bytes() bytes.
  Tensor tensor(void* base) const {
    struct view {
      element* data;
      const operand* of;
      static constexpr int rank() { return Tensor::rank; }
      element* data_handle() const { return data; }
      std::int64_t extent(int d) const { return of->extents_[d]; }
      std::int64_t stride(int d) const { return of->strides_[d]; }
    };
    return Tensor(view{static_cast<element*>(base) + guard + shift_, this});
  }
  Tensor on_host() { return tensor(values_.data()); }
  const void* data() const { return values_.data(); }
  void* data() { return values_.data(); }
  std::size_t bytes() const { return values_.size() * sizeof(element); }

  /// What differs from the expected, in words; empty if nothing does.
  std::string difference(operand& expected) {
    for (std::size_t i = 0; i < count(); ++i)
      if (std::memcmp(&at(i), &expected.at(i), sizeof(element)) != 0)
        return "element " + std::to_string(i) + " of " + std::to_string(count()) + ": expected " +
               text(expected.at(i)) + ", found " + text(at(i));
    for (std::size_t i = 0; i < count(); ++i) at(i) = filler();
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (const element kept = filler(); std::memcmp(&values_[i], &kept, sizeof(element)) != 0)
        return "place " + std::to_string(i) + " beside the tensor was written";
    return {};
  }

 private:
  static constexpr std::size_t guard = 256 / sizeof(element);  // 256 bytes: keeps the alignment
  static element filler() {
    element e{};
    std::memset(static_cast<void*>(&e), 0x5a, sizeof(element));
    return e;
  }
  static std::string text(element e) { return std::to_string(static_cast<double>(si::widen(e))); }

  std::size_t shift_;
  std::int64_t extents_[Tensor::rank + 1]{}, strides_[Tensor::rank + 1]{};
  std::vector<element> values_;
};

template <class... T>
struct in {};
template <class... T>
struct out {};

/// How one run lays its tensors out: tensor k is `shift + step * k` elements past an aligned address.
struct arrangement {
  layout how = layout::dense;
  int shift = 0, step = 0;
};

template <class Fused, class... I, class... O>
void check(const std::string& what, const Fused& f, in<I...>, out<O...>, const sizes& s,
           const std::vector<arrangement>& arrangements) {
  for (const arrangement& a : arrangements) {
    if (!is_sampled()) continue;
    CAPTURE(what);
    CAPTURE(s.rows);
    CAPTURE(s.columns);
    CAPTURE(static_cast<int>(a.how));
    CAPTURE(a.shift);
    CAPTURE(a.step);
    int k = 0;
    const auto shift_of = [&](int item) { return (a.shift + a.step * k++) % (16 / item); };
    std::tuple<operand<I>..., operand<O>...> expected{operand<I>(s, a.how, 0)..., operand<O>(s, a.how, 0)...};
    std::tuple<operand<I>..., operand<O>...> found{
        operand<I>(s, a.how, shift_of(sizeof(typename I::element)))...,
        operand<O>(s, a.how, shift_of(sizeof(typename O::element)))...};
    [&]<std::size_t... N, std::size_t... M>(std::index_sequence<N...>, std::index_sequence<M...>) {
      (std::get<N>(expected).fill(static_cast<int>(N), s.rows), ...);
      (std::get<N>(found).fill(static_cast<int>(N), s.rows), ...);
      f(si::host, std::get<N>(expected).on_host()..., std::get<sizeof...(I) + M>(expected).on_host()...);
      const place::memory memory[] = {place::memory(std::get<N>(found).bytes())...,
                                      place::memory(std::get<sizeof...(I) + M>(found).bytes())...};
      (memory[N].upload(std::get<N>(found).data()), ...);
      (memory[sizeof...(I) + M].upload(std::get<sizeof...(I) + M>(found).data()), ...);
      f(place::executor(), std::get<N>(found).tensor(memory[N].data())...,
        std::get<sizeof...(I) + M>(found).tensor(memory[sizeof...(I) + M].data())...);
      place::finish();
      const auto compare = [&](auto& was, auto& is, const place::memory& from, std::size_t number) {
        CAPTURE(number);
        from.download(is.data());
        CHECK(is.difference(was) == "");
      };
      (compare(std::get<N>(expected), std::get<N>(found), memory[N], N), ...);
      (compare(std::get<sizeof...(I) + M>(expected), std::get<sizeof...(I) + M>(found), memory[sizeof...(I) + M],
               sizeof...(I) + M),
       ...);
    }
    (std::index_sequence_for<I...>{}, std::index_sequence_for<O...>{});
  }
}

/// Every offset of elements of `item` bytes, alike for all tensors and different from tensor to tensor.
inline std::vector<arrangement> every_offset(int item) {
  std::vector<arrangement> all;
  for (int k = 0; k < 16 / item; ++k)
    for (int step : {0, 1}) all.push_back({layout::dense, k, step});
  return all;
}

}  // namespace edges
