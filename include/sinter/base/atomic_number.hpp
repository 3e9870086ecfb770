// A number that threads share. Instead of std::atomic: <atomic> costs each translation unit of nvcc half a second.
// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace sinter::detail {

/// An integer of at most a word. What a thread wrote before it changed the number is seen by a thread that reads it.
template <class T>
class atomic_number {
 public:
  constexpr atomic_number() = default;
  constexpr atomic_number(T value) : value_(value) {}
  atomic_number(const atomic_number&) = delete;
  atomic_number& operator=(const atomic_number&) = delete;

  T load() const { return __atomic_load_n(&value_, __ATOMIC_ACQUIRE); }
  void store(T value) { __atomic_store_n(&value_, value, __ATOMIC_RELEASE); }
  /// Both return what the number was before.
  T fetch_add(T more) { return __atomic_fetch_add(&value_, more, __ATOMIC_ACQ_REL); }
  T fetch_or(T bits) { return __atomic_fetch_or(&value_, bits, __ATOMIC_ACQ_REL); }

 private:
  T value_{};
};

}  // namespace sinter::detail
