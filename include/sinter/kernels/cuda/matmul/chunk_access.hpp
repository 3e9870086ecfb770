// How a matmul's tile loads and epilogue touch memory: a chunk is `width` neighbours along one index variable that
// never leaves a row of the tile's matrix. Decided at launch from the real extents and pointers, because the row
// length, which says where chunks start, is known there. chunk.cuh acts on it. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/body.hpp"

namespace sinter::cuda::mm {

/// Chunks along `along`: positions are row * inner + i, chunk starts are multiples of width in i.
struct chunk_shape {
  loop_var along;
  int width;
  std::int64_t inner;               // length of a row of `along`
  std::int64_t x_extent, r_extent;  // all positions
};

enum class chunk_kind : int {
  irregular,  // element by element, offsets computed for each
  strided,    // a constant distance apart
  vector      // contiguous and aligned: wide accesses
};

struct chunk_access {
  std::int64_t step = 0;
  chunk_kind kind = chunk_kind::irregular;
};

struct term_value {
  loop_var variable;
  std::int64_t div, mod, coef;
};

inline chunk_access classify(const term_value* terms, int num_terms, std::int64_t offset, const chunk_shape& shape,
                             const void* pointer, int item_size) {
  const int bytes = shape.width * item_size < 16 ? shape.width * item_size : 16;
  const int vector = bytes / item_size;  // elements one access wants aligned
  const std::int64_t total = shape.along == loop_var::x ? shape.x_extent : shape.r_extent;
  const auto starts_at_multiples_of = [&](std::int64_t n) { return total <= shape.inner || shape.inner % n == 0; };

  std::int64_t step = 0;
  bool aligned = offset % vector == 0 && reinterpret_cast<std::uintptr_t>(pointer) % static_cast<unsigned>(bytes) == 0;
  for (int t = 0; t < num_terms; ++t) {
    const auto [variable, div, mod, coef] = terms[t];
    const std::int64_t extent = variable == loop_var::x ? shape.x_extent : shape.r_extent;
    if (extent <= 1 || div >= extent) continue;  // always 0
    const bool wraps = mod != 0 && mod < (extent + div - 1) / div;
    if (variable == shape.along) {
      if (div == 1) {
        if (wraps && mod % shape.inner != 0 && !(starts_at_multiples_of(shape.width) && mod % shape.width == 0))
          return {};
        step += coef;
      } else if (div % shape.inner != 0 && !(starts_at_multiples_of(shape.width) && div % shape.width == 0)) {
        return {};
      }
    }
    if (coef % vector == 0) continue;
    const bool starts_aligned =
        variable == shape.along && div == 1 &&
        ((wraps && mod == shape.inner) || (starts_at_multiples_of(vector) && (!wraps || mod % vector == 0)));
    aligned = aligned && starts_aligned;
  }
  return {step, step == 1 && aligned ? chunk_kind::vector : chunk_kind::strided};
}

namespace statement_detail {

template <class At>
struct terms_of;
template <long Offset, class... Terms>
struct terms_of<at<Offset, Terms...>> {
  static constexpr int size = sizeof...(Terms);
  template <class Sizes>
  static chunk_access classify_at(const chunk_shape& shape, const void* pointer, int item_size, const Sizes& sizes) {
    using sinter::detail::resolve;
    using sinter::detail::term_facts;
    const term_value terms[size + 1] = {
        {term_facts<Terms>::variable, resolve(term_facts<Terms>::div, sizes), resolve(term_facts<Terms>::mod, sizes),
         resolve(term_facts<Terms>::coef, sizes)}...,
        {}};
    return classify(terms, size, resolve(Offset, sizes), shape, pointer, item_size);
  }
  /// Without division and modulo a chunk is strided whatever the sizes are.
  static constexpr bool always_regular(loop_var along) {
    return ((sinter::detail::term_facts<Terms>::variable != along ||
             (sinter::detail::term_facts<Terms>::div == 1 && sinter::detail::term_facts<Terms>::mod == 0)) &&
            ... && true);
  }
};

/// What chunks need of one statement: its memory access, if it has one.
template <class S>
struct memory_of {
  static constexpr bool touches = false;
  static constexpr bool always_regular(loop_var) { return true; }
};
template <int Slot, class T, class At>
struct memory_at {
  static constexpr bool touches = true;
  static constexpr bool always_regular(loop_var along) { return terms_of<At>::always_regular(along); }
  template <class Args>
  static chunk_access classify_in(const chunk_shape& shape, const Args& args) {
    return terms_of<At>::classify_at(shape, args.pointers[Slot], static_cast<int>(sizeof(T)), args.sizes);
  }
};
template <int Slot, class T, class At, int Mask>
struct memory_of<load<Slot, T, At, Mask>> : memory_at<Slot, T, At> {};
template <int Slot, class T, class At, int Index, long Coef, long Bound, int Mask>
struct memory_of<gather_load<Slot, T, At, Index, Coef, Bound, Mask>> : memory_at<Slot, T, At> {};
template <int Slot, class T, int A, class At, int Mask>
struct memory_of<store<Slot, T, A, At, Mask>> : memory_at<Slot, T, At> {};

template <int Slot, class T, int A, class At, int Index, long Coef, long Bound, int Mask>
struct memory_of<scatter_store<Slot, T, A, At, Index, Coef, Bound, Mask>> : memory_at<Slot, T, At> {};

}  // namespace statement_detail

template <class Body>
struct memory_facts;
template <class... S>
struct memory_facts<body<S...>> {
  template <class Statement>
  using memory = statement_detail::memory_of<Statement>;
  static constexpr int size = (0 + ... + (memory<S>::touches ? 1 : 0));
  template <loop_var Along>
  static constexpr bool always_regular = (memory<S>::always_regular(Along) && ... && true);

  /// The number of statement s among those that touch memory.
  static constexpr int number_of(int s) {
    const bool touches[] = {memory<S>::touches..., false};
    int n = 0;
    for (int i = 0; i < s; ++i) n += touches[i] ? 1 : 0;
    return n;
  }
};

/// The accesses of a body in order of its memory statements, and whether all are regular.
template <class Body>
struct chunk_accesses {
  static constexpr int size = memory_facts<Body>::size;
  chunk_access at[size > 0 ? size : 1];
  bool regular;
};

template <class... S, class Args>
chunk_accesses<body<S...>> classify_all(body<S...>, const chunk_shape& shape, const Args& args) {
  chunk_accesses<body<S...>> all{};
  all.regular = true;
  [[maybe_unused]] int n = 0;
  [[maybe_unused]] const auto one = [&]<class Statement>(Statement) {
    if constexpr (statement_detail::memory_of<Statement>::touches) {
      all.at[n] = statement_detail::memory_of<Statement>::classify_in(shape, args);
      all.regular = all.regular && all.at[n].kind != chunk_kind::irregular;
      ++n;
    }
  };
  (one(S{}), ...);
  return all;
}

}  // namespace sinter::cuda::mm
