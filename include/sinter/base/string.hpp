// Text with an owner: what sentences of errors and views of plans are. Instead of std::string, for the reason that
// string_view.hpp gives. SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/base/owned.hpp"
#include "sinter/base/string_view.hpp"

namespace sinter {

/// Characters of its own, with a zero after them. Becomes a std::string or std::string_view by itself, and can be
/// written to streams.
class string {
 public:
  string() = default;
  string(const char* text) { *this += text; }
  string(string_view text) { *this += text; }
  string(const string& other) { *this += other; }
  string(string&& other) noexcept
      : text_(std::move(other.text_)), size_(std::exchange(other.size_, 0)), room_(std::exchange(other.room_, 0)) {}
  string& operator=(string other) noexcept {
    text_ = std::move(other.text_);
    size_ = std::exchange(other.size_, 0);
    room_ = std::exchange(other.room_, 0);
    return *this;
  }
  template <detail::made_of_characters Text>
  requires(!std::same_as<Text, string_view>) operator Text() const { return Text(data(), size_); }

  const char* data() const { return text_ ? text_.get() : ""; }
  const char* c_str() const { return data(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  string& operator+=(string_view more);
  string& operator+=(char c) { return *this += string_view(&c, 1); }
  friend string operator+(string a, string_view b) { return std::move(a += b); }
  friend bool operator==(const string& a, const string& b) { return string_view(a) == string_view(b); }
  friend bool operator==(const string& a, string_view b) { return string_view(a) == b; }
  friend bool operator==(const string& a, const char* b) { return string_view(a) == string_view(b); }
  template <class Stream>
  friend auto operator<<(Stream& stream, const string& text) -> decltype(stream << string_view(text)) {
    return stream << string_view(text);
  }

 private:
  detail::heap_array<char> text_;
  std::size_t size_ = 0, room_ = 0;
};

/// `more` may be a part of this text.
inline string& string::operator+=(string_view more) {
  if (more.empty()) return *this;
  detail::heap_array<char> old;
  if (size_ + more.size() >= room_) {
    room_ = 2 * (size_ + more.size()) + 16;
    detail::heap_array<char> moved(new char[room_]);
    __builtin_memcpy(moved.get(), data(), size_);
    old = std::exchange(text_, std::move(moved));
  }
  __builtin_memcpy(text_.get() + size_, more.data(), more.size());
  size_ += more.size();
  text_.get()[size_] = 0;
  return *this;
}

}  // namespace sinter
