// Asking for memory before it is read. A processor that looks ahead only inside a page waits at the start of each one;
// asked for line by line out of four pages side by side, memory gives half as much again. One that looks past the end
// of a page is disturbed by that: asked for line after line, a page ahead, it hides what instructions take away from
// its window. SPDX-License-Identifier: BSL-1.0
#pragma once

#if defined(__GNUC__) && defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstdint>
#include <utility>

#include "sinter/kernels/body.hpp"
#include "sinter/kernels/host/block.hpp"
#include "sinter/kernels/host/layout.hpp"
#include "sinter/kernels/host/storage.hpp"

namespace sinter::cpu::detail {

inline constexpr std::int64_t page_bytes = 4096, line_bytes = 64;

/// Whether the processor itself looks ahead past the end of a page, as AMD's do.
inline const bool looks_past_pages = [] {
#if defined(__GNUC__) && defined(__x86_64__)
  unsigned most = 0, name = 0, c = 0, d = 0;
  return __get_cpuid(0, &most, &name, &c, &d) != 0 && name == signature_AMD_ebx;
#else
  return false;
#endif
}();

/// Less stays in the caches from one call to the next.
inline constexpr std::int64_t least_bytes_ahead = 1 << 20;

/// Asks for as many lines as there are in the `bytes` from p, all of which lie `later` bytes and so many pages ahead,
/// give or take as many: out of one page after the other, each line once if all of the memory passes here.
template <int Pages>
void read_ahead(const void* p, std::int64_t bytes, std::int64_t later) {
  constexpr std::uintptr_t page = page_bytes, all = Pages * page, lines = Pages * line_bytes;
  const auto begin = reinterpret_cast<std::uintptr_t>(p) + static_cast<std::uintptr_t>(later) + all;
  const std::uintptr_t end = begin + static_cast<std::uintptr_t>(bytes);
  std::uintptr_t at = (begin + lines - 1) / lines * lines;
  const char* line = reinterpret_cast<const char*>(at / all * all + at % all / Pages);  // in the first page
  for (; at < end; at += lines) {
    for (std::uintptr_t i = 0; i < Pages; ++i) __builtin_prefetch(line + i * page);
    line += line_bytes;
    if (Pages > 1 && reinterpret_cast<std::uintptr_t>(line) % page == 0) line += all - page;
  }
  asm volatile("");  // or g++ takes a function that only asks for one without effects, and drops its calls
}
/// Out of as many pages as this processor likes.
inline void read_ahead(const void* p, std::int64_t bytes, std::int64_t later) {
  if (looks_past_pages) read_ahead<1>(p, bytes, later);
  else read_ahead<4>(p, bytes, later);
}

/// A longer row, what is kept of it and the next one would fill more than half of an L2 cache of 1 MiB.
inline constexpr std::int64_t longest_row_before_next = longest_kept_row / 2;

/// A short piece of a row is over before the processor has found out that it should look ahead, and what is computed in
/// between fills its window: pieces are asked for so many rows before.
inline constexpr std::int64_t rows_ahead = 4;
/// Asks for all lines of the `bytes` from p, to write them if ToWrite.
template <bool ToWrite = false>
void ask_for(const void* p, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; i += line_bytes) __builtin_prefetch(static_cast<const char*>(p) + i, ToWrite);
  asm volatile("");
}

/// Loads of Body that look ahead: those that read all of a tensor once, from front to back.
template <class Indices, class Body, loop_var V, class Args, bool Aligned>
class ahead;
template <int... I, class... S, loop_var V, class Args, bool Aligned>
class ahead<std::integer_sequence<int, I...>, body<S...>, V, Args, Aligned>
    : public block<Args, V, lanes_of<body<S...>>, Aligned> {
 public:
  using base = block<Args, V, lanes_of<body<S...>>, Aligned>;
  using facts = body_facts<body<S...>>;
  template <int N>
  using statement = decltype(pick<N>(static_cast<numbering<std::integer_sequence<int, I...>, S...>*>(nullptr)));

  explicit ahead(const Args& args) : base(args), walked_{(is_first_read<I> && walks(S{}))..., false} {}

  /// The rows up to `end` pass here; the last phase of each comes `late` rows later.
  void pass_rows(std::int64_t end, int late = 0) {
    end_ = end;
    late_ = late;
    passes_rows_ = args_.rnumel <= longest_row_before_next;
  }
  /// Lanes run across rows: all columns of a row pass here, then those of the next one.
  void pass_columns() { passes_columns_ = true; }
  /// Squares of a matrix of so many columns pass here, row after row.
  void pass_squares(std::int64_t columns) { columns_ = columns; }
  /// Whether a row of what is read across rows is one piece of memory, and all of it so large that this matters.
  bool has_whole_rows() const {
    bool any = false;
    for (bool walked : walked_) any = any || walked;
    return any && (has_whole_rows(S{}) && ...);
  }

 protected:
  using base::args_, base::x_, base::count_;

  /// Asks for what statement N, if it is such a load, will read soon, or so many bytes later.
  template <int N>
  void look_ahead(std::int64_t later = 0) const {
    if constexpr (is_first_read<N>)
      if (walked_[N]) read_after(statement<N>{}, later);
  }
  /// The same where lanes run across rows.
  template <int N>
  void look_ahead_down() const {
    if (passes_columns_) look_ahead<N>();
  }
  /// The same in phase P of a row. What is read once is asked for shortly before; what is read in several phases stays
  /// in the cache meanwhile, and the last of them, which often writes, asks for the next row.
  template <int P, int N>
  void look_ahead_in() const {
    if constexpr (is_first_read<N>) {
      constexpr int first = [] {
        int p = 0;
        while (!facts::needed(p, N)) ++p;
        return p;
      }();
      constexpr int last = [] {
        int p = facts::num_phases - 1;
        while (!facts::needed(p, N)) --p;
        return p;
      }();
      if constexpr (P == first || P == last) {
        const int rows = P == facts::num_phases - 1 ? 1 + late_ : 1;
        if (first == last || !passes_rows_) look_ahead<N>();
        else if (P == last && x_ + rows < end_) look_ahead<N>(rows * row_bytes<N>(args_.rnumel));
      }
    }
  }

 private:
  /// Whether statement N is a load, and the first one of its tensor.
  template <int N>
  static constexpr bool is_first_read = [] {
    constexpr int slots[] = {slot_read<S>...};
    for (int s = 0; s < N; ++s)
      if (slots[s] == slots[N]) return false;
    return slots[N] >= 0;
  }();
  template <class Statement>
  bool walks(Statement) const {
    return false;
  }
  template <int Slot, class T, class At>
  bool walks(load<Slot, T, At, -1>) const {
    using index = at_facts<At>;
    const std::int64_t rows = index::uses(loop_var::x) ? args_.numel : 1,
                       columns = index::uses(loop_var::r) ? args_.rnumel : 1, all = rows * columns;
    return base::template is_contiguous<At> && all * static_cast<std::int64_t>(sizeof(T)) >= least_bytes_ahead &&
           index::template offset<std::int64_t>(rows - 1, columns - 1, args_.sizes) -
                   index::template offset<std::int64_t>(0, 0, args_.sizes) ==
               all - 1;
  }
  /// Of so many elements of statement N, in whole lines.
  template <int N>
  static std::int64_t row_bytes(std::int64_t count) {
    return (count * storage_bytes<statement<N>> + line_bytes - 1) / line_bytes * line_bytes;
  }

  template <class Statement>
  bool has_whole_rows(Statement) const {
    return true;
  }
  template <int Slot, class T, class At, int Mask>
  bool has_whole_rows(load<Slot, T, At, Mask>) const {
    using index = at_facts<At>;
    return !index::uses(loop_var::x) || !index::uses(loop_var::r) ||
           index::template offset<std::int64_t>(args_.numel - 1, 0, args_.sizes) -
                   index::template offset<std::int64_t>(0, 0, args_.sizes) ==
               args_.numel - 1;
  }

  template <class Statement>
  void read_after(Statement, std::int64_t) const {}
  template <int Slot, class T, class At>
  void read_after(load<Slot, T, At, -1>, std::int64_t later) const {
    const std::int64_t bytes = count_ * static_cast<std::int64_t>(sizeof(T));
    const T* const p = static_cast<const T*>(args_.pointers[Slot]);
    if (columns_ == 0) return read_ahead(p + base::template offset<At>(), bytes, later);
    const std::int64_t below = x_ + rows_ahead * columns_;
    if (below < args_.numel) ask_for(p + at_facts<At>::template offset<std::int64_t>(below, 0, args_.sizes), bytes);
  }

  bool walked_[sizeof...(S) + 1];
  bool passes_rows_ = false, passes_columns_ = false;
  int late_ = 0;
  std::int64_t end_ = 0, columns_ = 0;
};

}  // namespace sinter::cpu::detail
