// Text out of pieces. One function appends them, so that a sentence costs a compiler little more than its pieces:
// sums of strings are inlined where they stand, temporary by temporary.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>

#include "sinter/base/string.hpp"

namespace sinter::detail {

/// Characters, or a whole number.
class piece {
 public:
  piece(const char* text) : text_(text) {}
  piece(string_view text) : text_(text) {}
  piece(const string& text) : text_(text) {}
  piece(std::integral auto number) { write(static_cast<std::int64_t>(number)); }
  piece(const piece&) = delete;  // of a number the text lies inside
  string_view text() const { return text_; }

 private:
  void write(std::int64_t number);

  char digits_[24];
  string_view text_;
};

inline void piece::write(std::int64_t number) {
  char* at = digits_ + sizeof(digits_);
  for (std::uint64_t rest = number < 0 ? -static_cast<std::uint64_t>(number) : number;
       rest > 0 || at == digits_ + sizeof(digits_); rest /= 10)
    *--at = static_cast<char>('0' + rest % 10);
  if (number < 0) *--at = '-';
  text_ = {at, static_cast<std::size_t>(digits_ + sizeof(digits_) - at)};
}

inline void append(string& text, std::initializer_list<piece> pieces) {
  for (const piece& p : pieces) text += p.text();
}
inline string text_of(std::initializer_list<piece> pieces) {
  string text;
  append(text, pieces);
  return text;
}

inline string to_string(std::integral auto number) { return text_of({number}); }

}  // namespace sinter::detail
