// An array that grows. Instead of std::vector: <vector> and what is made of it were 4 % of nvcc's work for a softmax.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <utility>

#include "sinter/base/owned.hpp"

namespace sinter::detail {

/// Items side by side, which have a default value. Movable.
template <class T>
class list {
 public:
  list() = default;
  list(std::initializer_list<T> items) {
    for (const T& item : items) push_back(item);
  }
  list(std::size_t size, const T& value) {
    while (size_ < size) push_back(value);
  }
  list(list&& other) noexcept
      : items_(std::move(other.items_)), size_(std::exchange(other.size_, 0)), room_(std::exchange(other.room_, 0)) {}
  list& operator=(list&& other) noexcept {
    items_ = std::move(other.items_);
    size_ = std::exchange(other.size_, 0);
    room_ = std::exchange(other.room_, 0);
    return *this;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return items_.get()[i]; }
  const T& operator[](std::size_t i) const { return items_.get()[i]; }
  T& back() { return (*this)[size_ - 1]; }
  const T& back() const { return (*this)[size_ - 1]; }
  T* begin() { return items_.get(); }
  T* end() { return begin() + size_; }
  const T* begin() const { return items_.get(); }
  const T* end() const { return begin() + size_; }

  void push_back(T item) {
    if (size_ == room_) grow();
    (*this)[size_++] = std::move(item);
  }
  void pop_back() { --size_; }

  friend bool operator==(const list& a, const list& b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i)
      if (!(a[i] == b[i])) return false;
    return true;
  }

 private:
  void grow() {
    const std::size_t room = 2 * room_ + 4;
    heap_array<T> moved(new T[room]);
    for (std::size_t i = 0; i < size_; ++i) moved.get()[i] = std::move((*this)[i]);
    items_ = std::move(moved);
    room_ = room;
  }

  heap_array<T> items_;
  std::size_t size_ = 0, room_ = 0;
};

}  // namespace sinter::detail
