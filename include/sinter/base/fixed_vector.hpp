// A vector of bounded size for constant evaluation: an aggregate, so that values holding it stay structural and cheap.
// Writing past the capacity sets `overflowed` instead of failing; whoever sized it asks and says so in a sentence.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>

#include "sinter/base/config.hpp"

namespace sinter {

template <class T, int Capacity>
struct fixed_vector {
  T items[Capacity > 0 ? Capacity : 1]{};
  int count = 0;
  bool overflowed = false;

  static constexpr int capacity = Capacity;
  SINTER_HOST_DEVICE constexpr int size() const { return count; }
  SINTER_HOST_DEVICE constexpr bool empty() const { return count == 0; }
  SINTER_HOST_DEVICE constexpr T& operator[](int i) { return items[i]; }
  SINTER_HOST_DEVICE constexpr const T& operator[](int i) const { return items[i]; }
  SINTER_HOST_DEVICE constexpr const T* begin() const { return items; }
  SINTER_HOST_DEVICE constexpr const T* end() const { return items + count; }
  SINTER_HOST_DEVICE constexpr const T& back() const { return items[count - 1]; }

  /// Appends and returns the position (of the last element if there is no room left).
  constexpr int push_back(const T& value) {
    if (count >= Capacity) {
      overflowed = true;
      return Capacity > 0 ? Capacity - 1 : 0;
    }
    items[count] = value;
    return count++;
  }
  constexpr void erase(int position) {
    for (int i = position + 1; i < count; ++i) items[i - 1] = items[i];
    --count;
  }
  constexpr bool contains(const T& value) const {
    for (const T& item : *this)
      if (item == value) return true;
    return false;
  }
};

/// A set of small non-negative integers.
template <int Capacity>
struct fixed_set {
  static constexpr int num_words = (Capacity + 63) / 64;
  unsigned long words[num_words]{};

  constexpr bool contains(int i) const { return (words[i >> 6] >> (i & 63)) & 1; }
  constexpr void insert(int i) { words[i >> 6] |= 1UL << (i & 63); }
  constexpr void insert(const fixed_set& other) {
    for (int w = 0; w < num_words; ++w) words[w] |= other.words[w];
  }
  constexpr void keep(const fixed_set& other) {
    for (int w = 0; w < num_words; ++w) words[w] &= other.words[w];
  }
  constexpr void erase(const fixed_set& other) {
    for (int w = 0; w < num_words; ++w) words[w] &= ~other.words[w];
  }
  constexpr int size() const {
    int n = 0;
    for (unsigned long w : words) n += std::popcount(w);
    return n;
  }
  /// Calls f for each element, smallest first.
  template <class F>
  constexpr void each(F f) const {
    for (int w = 0; w < num_words; ++w)
      for (unsigned long rest = words[w]; rest != 0; rest &= rest - 1) f(w * 64 + std::countr_zero(rest));
  }
  constexpr bool intersects(const fixed_set& other) const {
    for (int w = 0; w < num_words; ++w)
      if (words[w] & other.words[w]) return true;
    return false;
  }
};

}  // namespace sinter
