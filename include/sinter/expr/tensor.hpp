// tensor: element type and extents as a type, and a non-owning view of data as a value. What a fused function is
// declared over and called with. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "sinter/base/dtype.hpp"
#include "sinter/base/extents.hpp"

namespace sinter {
namespace detail {

// One extent of a tensor type: a size, `dyn`, or `dim<"name">`.
constexpr long static_size(long extent) { return extent; }
constexpr long static_size(const named_extent&) { return dyn; }
constexpr string_view name_of(long) { return {}; }
constexpr string_view name_of(const named_extent& extent) { return extent.name; }
constexpr long hint_of(long) { return 0; }
constexpr long hint_of(const named_extent& extent) { return extent.hint; }

/// The number an extent is in a graph, as dimension `dimension` of argument `argument`.
constexpr number number_of(long extent, int argument, int dimension) {
  return extent == dyn ? symbol(static_cast<std::uint64_t>(argument * max_rank + dimension)) : extent;
}
constexpr number number_of(const named_extent& extent, int, int) { return symbol(hash(extent.name)); }

/// Anything like std::mdspan: data_handle(), extent(i), rank(), stride(i).
template <class M>
concept mdspan_like = requires(const M& m) {
  m.data_handle();
  m.extent(0);
  m.stride(0);
  M::rank();
};
/// Anything like a vector: data() and size(). thrust::device_vector's data() yields a device_ptr with get().
template <class V>
concept vector_like = requires(V& v) {
  v.data();
  v.size();
}
&&!mdspan_like<V>;

template <class P>
constexpr auto raw_pointer(P p) {
  if constexpr (std::is_pointer_v<P>) return p;
  else return p.get();
}

}  // namespace detail

/// A view of data of element type T. Extents are sizes, `dyn`, or `dim<"name">`; row-major without gaps.
/// Constructed from a pointer and the run-time extents in order, from an mdspan-like view, or from a vector-like owner
/// (whose size then determines a single run-time extent). The data must outlive the call.
template <class T, auto... Extents>
class tensor {
  static_assert(sizeof...(Extents) <= max_rank,
                "tensor<T, extents...>: there are more than eight dimensions; merge some");
  static_assert(((detail::static_size(Extents) >= dyn) && ...),
                "tensor<T, extents...>: an extent is negative; use dyn for one known at run time");

 public:
  using element = T;
  static constexpr dtype type = dtype_of<T>;
  static constexpr int rank = sizeof...(Extents);
  static constexpr int num_dynamic = (0 + ... + (detail::static_size(Extents) == dyn ? 1 : 0));
  static constexpr bool strided = false;

  constexpr tensor() = default;
  template <class P, std::integral... Sizes>
  requires(std::is_pointer_v<P> || std::is_same_v<P, std::nullptr_t>) constexpr tensor(P data, Sizes... dynamic_extents)
      : data_(data), writable_(!is_const_pointer<P>()) {
    static_assert(
        sizeof...(Sizes) == num_dynamic,
        "tensor(data, extents...): the number of extents is wrong; give exactly those that are dyn or named, in order");
    static_assert(
        accepts<P>(),
        "tensor(data, extents...): the pointer's element type is not the tensor's; cast the data or change the tensor");
    [[maybe_unused]] const std::int64_t given[] = {static_cast<std::int64_t>(dynamic_extents)..., 0};
    [[maybe_unused]] int next = 0, d = 0;
    ((extents_[d++] = detail::static_size(Extents) == dyn ? given[next++] : detail::static_size(Extents)), ...);
    row_major();
  }
  template <detail::mdspan_like M>
  constexpr tensor(const M& view) : tensor() {
    static_assert(M::rank() == rank, "tensor(view): the ranks differ; slice the view or change the tensor");
    data_ = view.data_handle();
    writable_ = !is_const_pointer<decltype(view.data_handle())>();
    for (int d = 0; d < rank; ++d) {
      extents_[d] = static_cast<std::int64_t>(view.extent(d));
      strides_[d] = static_cast<std::int64_t>(view.stride(d));
    }
  }
  template <detail::vector_like V>
  tensor(V& owner) : tensor() {
    static_assert(num_dynamic <= 1,
                  "tensor(vector): more than one extent is unknown; pass the pointer and the extents");
    data_ = detail::raw_pointer(owner.data());
    writable_ = !is_const_pointer<decltype(detail::raw_pointer(owner.data()))>();
    std::int64_t known = 1;
    ((known *= detail::static_size(Extents) == dyn ? 1 : detail::static_size(Extents)), ...);
    const std::int64_t count = static_cast<std::int64_t>(owner.size());
    int d = 0;
    ((extents_[d++] = detail::static_size(Extents) == dyn ? (known ? count / known : 0) : detail::static_size(Extents)),
     ...);
    row_major();
    element_count_ = count;
  }

  constexpr const void* data() const { return data_; }
  constexpr bool writable() const { return writable_; }
  constexpr std::int64_t extent(int d) const { return extents_[d]; }
  constexpr std::int64_t stride(int d) const { return strides_[d]; }
  constexpr std::int64_t numel() const {
    std::int64_t n = 1;
    for (int d = 0; d < rank; ++d) n *= extents_[d];
    return n;
  }
  /// Elements the owner holds, or -1 when only a pointer is known.
  constexpr std::int64_t element_count() const { return element_count_; }
  constexpr bool contiguous() const {
    std::int64_t expected = 1;
    for (int d = rank - 1; d >= 0; --d) {
      if (extents_[d] != 1 && strides_[d] != expected) return numel() == 0;
      expected *= extents_[d];
    }
    return true;
  }
  constexpr bool empty_pointer() const { return data_ == nullptr; }

 protected:
  template <class P>
  static constexpr bool is_const_pointer() {
    return std::is_const_v<std::remove_pointer_t<P>>;
  }
  template <class P>
  static constexpr bool accepts() {
    if constexpr (std::is_same_v<P, std::nullptr_t>) return true;
    else if constexpr (std::is_void_v<std::remove_pointer_t<P>>) return true;
    else return dtype_of<std::remove_cv_t<std::remove_pointer_t<P>>> == type;
  }
  constexpr void row_major() {
    std::int64_t stride = 1;
    for (int d = rank - 1; d >= 0; --d) {
      strides_[d] = stride;
      stride *= extents_[d];
    }
  }

  const void* data_ = nullptr;
  bool writable_ = true;
  std::int64_t element_count_ = -1;
  std::int64_t extents_[rank > 0 ? rank : 1]{};
  std::int64_t strides_[rank > 0 ? rank : 1]{};
};

/// A tensor whose strides (in elements) are known at run time: slower than a contiguous one, never copied.
template <class T, auto... Extents>
class strided_tensor : public tensor<T, Extents...> {
  using base = tensor<T, Extents...>;

 public:
  static constexpr bool strided = true;
  using base::base;
  /// A pointer, all extents and all strides.
  template <class P>
  constexpr strided_tensor(P data, const std::int64_t (&extents)[base::rank], const std::int64_t (&strides)[base::rank])
      : base() {
    static_assert(base::template accepts<P>(),
                  "strided_tensor(data, extents, strides): the pointer's element type is not the tensor's; cast the "
                  "data or change the tensor");
    this->data_ = data;
    this->writable_ = !base::template is_const_pointer<P>();
    for (int d = 0; d < base::rank; ++d) {
      this->extents_[d] = extents[d];
      this->strides_[d] = strides[d];
    }
  }
};

/// Strides in elements, as a type.
template <long... Stride>
struct strides {};

/// A tensor with strides known at compile time: `with_strides<tensor<float, 20, 30>, strides<64, 1>>`. Index
/// expressions hold them as constants; a call checks them.
template <class Tensor, class Strides>
class with_strides;
template <class Tensor, long... Stride>
class with_strides<Tensor, strides<Stride...>> : public Tensor {
  static_assert(sizeof...(Stride) == Tensor::rank,
                "with_strides<tensor, strides<...>>: give one stride for each dimension");
  static_assert(((Stride >= 0) && ...),
                "with_strides<tensor, strides<...>>: a stride is negative; flip the expression instead");
  static_assert(!Tensor::strided, "with_strides<tensor, strides<...>>: the tensor has strides already; name a tensor");

 public:
  static constexpr bool strided = true;
  static constexpr extents layout{sizeof...(Stride), {Stride...}};
  using Tensor::Tensor;
  /// A pointer and the run-time extents in order: the strides are the type's.
  template <class P, std::integral... Sizes>
  requires(std::is_pointer_v<P> || std::is_same_v<P, std::nullptr_t>) constexpr with_strides(P data,
                                                                                             Sizes... dynamic_extents)
      : Tensor(data, dynamic_extents...) {
    for (int d = 0; d < Tensor::rank; ++d) this->strides_[d] = layout[d];
  }
};

/// A scalar passed by value at each call, `value<float>`: a learning rate, a temperature. Rank 0 in expressions.
template <class T>
class value {
 public:
  using element = T;
  static constexpr dtype type = dtype_of<T>;
  static constexpr int rank = 0;
  constexpr value(T v) : value_(v) {}
  constexpr T get() const { return value_; }

 private:
  T value_;
};

namespace detail {
template <class T>
inline constexpr bool is_tensor = false;
template <class T, auto... E>
inline constexpr bool is_tensor<tensor<T, E...>> = true;
template <class T, auto... E>
inline constexpr bool is_tensor<strided_tensor<T, E...>> = true;
template <class T, class S>
inline constexpr bool is_tensor<with_strides<T, S>> = is_tensor<T>;
template <class T>
inline constexpr bool has_layout = false;
template <class T, class S>
inline constexpr bool has_layout<with_strides<T, S>> = true;
template <class T>
inline constexpr bool is_value = false;
template <class T>
inline constexpr bool is_value<value<T>> = true;

/// Extents of a tensor type as argument `argument` of a function.
template <class T, int Argument>
struct argument_extents {
  static constexpr extents shape{};
};
template <template <class, auto...> class Tensor, class T, auto... E, int Argument>
struct argument_extents<Tensor<T, E...>, Argument> {
  static constexpr extents shape = [] {
    extents e{};
    (e.push_back(number_of(E, Argument, e.rank)), ...);
    return e;
  }();
};
template <class T, class S, int Argument>
struct argument_extents<with_strides<T, S>, Argument> : argument_extents<T, Argument> {};
/// The name of a tensor type's dimension, empty when it has none.
template <class T>
struct extent_names;
template <template <class, auto...> class Tensor, class T, auto... E>
struct extent_names<Tensor<T, E...>> {
  static constexpr string_view name(int d) {
    const string_view names[] = {name_of(E)..., string_view{}};
    return names[d];
  }
  /// The static size, or dyn.
  static constexpr long size(int d) {
    const long sizes[] = {static_size(E)..., 0};
    return sizes[d];
  }
  static constexpr long hint(int d) {
    const long hints[] = {hint_of(E)..., 0};
    return hints[d];
  }
};
template <class T, class S>
struct extent_names<with_strides<T, S>> : extent_names<T> {};
}  // namespace detail
}  // namespace sinter
