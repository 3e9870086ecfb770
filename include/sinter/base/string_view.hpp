// Text that lies elsewhere. Instead of std::string_view: <string_view> was 5 % of nvcc's work for a softmax, and
// <string>, which base/string.hpp stands for, 6 %. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace sinter {
namespace detail {

/// A class of text: std::string, std::string_view, ours.
template <class Text>
concept string_like = std::is_class_v<Text> && requires(const Text& t) {
  { t.data() } -> std::same_as<const char*>;
  t.size();
};
/// What text can become: std::string, std::string_view.
template <class Text>
concept made_of_characters = std::is_class_v<Text> && std::is_constructible_v<Text, const char*, std::size_t>;

}  // namespace detail

/// Characters of someone else's, as std::string_view, which it converts to and comes from.
class string_view {
 public:
  static constexpr std::size_t npos = ~std::size_t{0};

  constexpr string_view() = default;
  constexpr string_view(const char* text) : text_(text), size_(__builtin_strlen(text)) {}
  constexpr string_view(const char* text, std::size_t size) : text_(text), size_(size) {}
  template <detail::string_like Text>
  constexpr string_view(const Text& text) : text_(text.data()), size_(text.size()) {}
  template <detail::made_of_characters Text>
  constexpr operator Text() const {
    return Text(text_, size_);
  }

  constexpr const char* data() const { return text_; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr char operator[](std::size_t i) const { return text_[i]; }
  constexpr const char* begin() const { return text_; }
  constexpr const char* end() const { return text_ + size_; }

  /// At most `size` characters from `first` on, which lies within the text.
  constexpr string_view substr(std::size_t first, std::size_t size = npos) const {
    return {text_ + first, size < size_ - first ? size : size_ - first};
  }
  /// Where `part` begins first, or npos.
  constexpr std::size_t find(string_view part) const {
    for (std::size_t i = 0; i + part.size_ <= size_; ++i)
      if (substr(i, part.size_) == part) return i;
    return npos;
  }

  friend constexpr bool operator==(string_view a, string_view b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }
  template <detail::string_like Text>
  friend constexpr bool operator==(string_view a, const Text& b) {
    return a == string_view(b);
  }
  friend constexpr bool operator<(string_view a, string_view b) {
    for (std::size_t i = 0; i < a.size_ && i < b.size_; ++i)
      if (a[i] != b[i]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[i]);
    return a.size_ < b.size_;
  }
  template <class Stream>
  requires requires(Stream& s, const char* text) { s.write(text, std::ptrdiff_t{}); }
  friend Stream& operator<<(Stream& stream, string_view text) {
    stream.write(text.text_, static_cast<std::ptrdiff_t>(text.size_));
    return stream;
  }

 private:
  const char* text_ = "";
  std::size_t size_ = 0;
};

}  // namespace sinter
