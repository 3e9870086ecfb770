// Binding a call's arguments: tensors become views of one type, and everything a wrong call can get wrong is found
// here, before anything runs. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/base/text.hpp"
#include "sinter/expr/tensor.hpp"
#include "sinter/kernels/body.hpp"
#include "sinter/run/error.hpp"

namespace sinter::detail {

/// One argument, whatever its type.
struct bound_argument {
  void* data = nullptr;
  scalar_value scalar{};
  int rank = 0;
  bool by_value = false, writable = false, contiguous = true, strided = false;
  int wrong_stride = -1;  ///< the dimension whose stride is not the type's
  std::int64_t wanted_stride = 0;
  std::int64_t element_count = -1;
  std::int64_t bytes = 0;  ///< from the first to past the last element
  std::int64_t extents[max_rank]{};
  std::int64_t strides[max_rank]{};

  friend bool operator==(const bound_argument&, const bound_argument&) = default;
};

template <class T>
bound_argument bind_argument(const T& argument) {
  bound_argument b{};
  b.rank = T::rank;
  if constexpr (is_value<T>) {
    b.by_value = true;
    const auto v = widen(argument.get());
    b.scalar = {static_cast<double>(v), convert<std::int64_t, typename T::element>(v)};
  } else {
    b.data = const_cast<void*>(argument.data());
    b.writable = argument.writable();
    b.contiguous = argument.contiguous();
    b.strided = T::strided;
    if constexpr (has_layout<T>)
      for (int d = 0; d < T::rank; ++d)
        if (argument.extent(d) > 1 && argument.stride(d) != T::layout[d])
          b.wrong_stride = d, b.wanted_stride = T::layout[d];
    b.element_count = argument.element_count();
    std::int64_t last = 0;
    bool empty = false;
    for (int d = 0; d < T::rank; ++d) {
      b.extents[d] = argument.extent(d);
      b.strides[d] = argument.stride(d);
      empty = empty || b.extents[d] == 0;
      if (b.extents[d] > 0 && b.strides[d] > 0) last += (b.extents[d] - 1) * b.strides[d];
    }
    b.bytes = empty ? 0 : (last + 1) * item_size(T::type);
  }
  return b;
}

/// How messages name an argument.
inline string argument_name(int position, int num_inputs) {
  return position < num_inputs ? text_of({"input ", position}) : text_of({"output ", position - num_inputs});
}

/// "dimension 0 (\"rows\")".
inline string dimension_name(int d, string_view name) {
  string text = text_of({"dimension ", d});
  if (!name.empty()) append(text, {" (\"", name, "\")"});
  return text;
}

inline void check_pointer(const bound_argument& b, int position, int num_inputs) {
  if (b.by_value) return;
  const auto fail = [&](const char* what) {
    throw argument_error(text_of({argument_name(position, num_inputs), what}));
  };
  if (b.data == nullptr && b.bytes > 0) fail(" is a null pointer");
  if (!b.contiguous && !b.strided)
    fail(" is not contiguous: declare it as strided_tensor<...> when fusing, or copy it");
  if (b.wrong_stride >= 0)
    throw argument_error(text_of({argument_name(position, num_inputs), ", dimension ", b.wrong_stride,
                                  ": expected a stride of ", b.wanted_stride, ", found ", b.strides[b.wrong_stride]}));
  if (position >= num_inputs && !b.writable && b.bytes > 0) fail(" is read-only");
  for (int d = 0; d < b.rank; ++d)
    if (b.extents[d] < 0) fail(" has a negative extent");
  if (b.element_count >= 0 && !b.strided) {
    std::int64_t n = 1;
    for (int d = 0; d < b.rank; ++d) n *= b.extents[d];
    if (n != b.element_count)
      throw shape_error(text_of({argument_name(position, num_inputs), " holds ", b.element_count,
                                 " elements, which do not make whole extents"}));
  }
}

inline bool overlap(const bound_argument& a, const bound_argument& b) {
  if (a.by_value || b.by_value || a.bytes == 0 || b.bytes == 0) return false;
  const auto x = reinterpret_cast<std::uintptr_t>(a.data), y = reinterpret_cast<std::uintptr_t>(b.data);
  return x < y + static_cast<std::uintptr_t>(b.bytes) && y < x + static_cast<std::uintptr_t>(a.bytes);
}

}  // namespace sinter::detail
