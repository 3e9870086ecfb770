// The memory of an evaluator: a slot per statement as its layout says. What is computed into it is evaluate.hpp's
// matter, the states of reductions are reduction_states.hpp's. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "sinter/base/dtype.hpp"
#include "sinter/base/owned.hpp"
#include "sinter/kernels/body.hpp"
#include "sinter/kernels/host/instructions.hpp"
#include "sinter/kernels/host/layout.hpp"
#include "sinter/schedule/backend.hpp"

namespace sinter::cpu::detail {

/// A value kept as a type that no tensor has: no store can change it, so a loop may read it once, ahead of its lanes.
/// (A type of one byte would not do: what is written may be part of anything in bytes.)
template <class T>
class steady_value {
  enum class two : std::uint16_t {};
  enum class four : std::uint32_t {};
  enum class eight : std::uint64_t {};
  using bits = std::conditional_t<sizeof(T) <= 2, two, std::conditional_t<sizeof(T) == 4, four, eight>>;
  using whole = std::conditional_t<sizeof(T) == 1, std::uint8_t, bits>;
  bits bits_;

 public:
  steady_value& operator=(T value) {
    bits_ = static_cast<bits>(__builtin_bit_cast(whole, value));
    return *this;
  }
  operator T() const { return __builtin_bit_cast(T, static_cast<whole>(bits_)); }
};

template <int I, class Statement, residence Where, int Lanes>
struct slot {};
template <int I, class Statement, int Lanes>
struct slot<I, Statement, residence::uniform, Lanes> {
  steady_value<typename statement_facts<Statement>::value_type> value;
};
template <int I, class Statement, int Lanes>
struct slot<I, Statement, residence::lanes, Lanes> {
  alignas(64) typename statement_facts<Statement>::value_type value[Lanes];
};
template <int I, class Statement, int Lanes>
struct slot<I, Statement, residence::kept, Lanes> {
  typename statement_facts<Statement>::value_type* value;
};
template <int I, int Slot, class T, class At, int Mask, int Lanes>
struct slot<I, load<Slot, T, At, Mask>, residence::memory, Lanes> {
  const T* value;
};
template <int I, int Which, class T, int Lanes>
struct slot<I, accumulator<Which, T>, residence::memory, Lanes> {
  const compute_t<T>* value;
};

/// What a load gives where its mask says no.
template <class T, int Lanes>
alignas(64) inline constexpr T zeros[Lanes]{};

/// A store has no value, but a way to take: past the cache or not.
template <int I, int Slot, class T, int A, class At, int Mask, int Lanes>
struct slot<I, store<Slot, T, A, At, Mask>, residence::none, Lanes> {
  bool value;
};

/// Whether a store goes past the cache: so much is written that little of it would still be there when it is read, and
/// nothing of it is read by this body.
template <class Statement>
struct streaming {
  static constexpr bool is_possible = false;
};
template <int Slot, class T, int A, class At, int Mask>
struct streaming<store<Slot, T, A, At, Mask>> {
  static constexpr bool is_possible = true;
  static constexpr std::int64_t least_bytes = std::int64_t(32) << 20;

  template <class... S, class Args>
  static bool of(body<S...>, const Args& args) {
    const auto reads = [&args](int slot) { return slot >= 0 && args.pointers[slot] == args.pointers[Slot]; };
    const std::int64_t elements = at_facts<At>::uses(loop_var::r) ? args.numel * args.rnumel : args.numel;
    return has_vector_instructions && elements * static_cast<std::int64_t>(sizeof(T)) >= least_bytes &&
           !(reads(slot_read<S>) || ...);
  }
};

/// The longest row of which values are kept.
inline constexpr std::int64_t longest_kept_row = sinter::detail::backend_of(target::cpu).row_on_chip;

/// So many evaluators take turns at most: reduction.hpp says when.
inline constexpr int max_turns = 2;

/// Memory of the calling thread for `count` values at least, from the start of a line on; Number tells several of one
/// kernel apart.
template <class T, int Number>
T* row_memory(std::int64_t count) {
  struct alignas(64) line {
    T values[64 / sizeof(T)];
  };
  constexpr std::int64_t length = 64 / sizeof(T);
  thread_local sinter::detail::heap_array<line> memory;
  thread_local std::int64_t size = 0;
  if (size < count) {
    memory.reset(new line[static_cast<std::size_t>((count + length - 1) / length)]);
    size = count;
  }
  return memory.get()->values;
}

/// Statement number N of a list, found by one overload resolution.
template <int I, class S>
struct numbered {};
template <class Indices, class... S>
struct numbering;
template <int... I, class... S>
struct numbering<std::integer_sequence<int, I...>, S...> : numbered<I, S>... {};
template <int I, class S>
S pick(numbered<I, S>*);

}  // namespace sinter::cpu::detail
