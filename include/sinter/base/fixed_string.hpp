// Text as a value: a string literal as a template argument, and a bounded string built during constant evaluation.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

#include "sinter/base/string_view.hpp"

namespace sinter {

/// A string literal usable as a template argument.
template <std::size_t N>
struct fixed_string {
  char text[N]{};
  constexpr fixed_string(const char (&literal)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = literal[i];
  }
  constexpr string_view view() const { return {text, N - 1}; }
};

/// A string of at most Capacity characters, growing during constant evaluation. Text past the capacity is dropped.
template <int Capacity>
struct text_buffer {
  char text[Capacity + 1]{};
  int length = 0;

  constexpr string_view view() const { return {text, static_cast<std::size_t>(length)}; }
  constexpr void append(string_view more) {
    for (char c : more)
      if (length < Capacity) text[length++] = c;
  }
  constexpr void append(long number) {
    if (number < 0) {
      append("-");
      number = -number;
    }
    char digits[24]{};
    int n = 0;
    do digits[n++] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    while (n > 0)
      if (--n, length < Capacity) text[length++] = digits[n];
  }
};

}  // namespace sinter
