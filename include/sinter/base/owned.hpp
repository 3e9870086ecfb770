// What ends with its owner. Instead of std::unique_ptr: <memory> brings streams along, and costs each translation unit
// of nvcc half a second. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

namespace sinter::detail {

/// A handle, or none; End{}(handle) ends it. Movable.
template <class Handle, class End>
class owned {
 public:
  owned() = default;
  explicit owned(Handle handle) : handle_(handle) {}
  owned(owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  owned& operator=(owned&& other) noexcept {
    reset(std::exchange(other.handle_, nullptr));
    return *this;
  }
  ~owned() { reset(); }

  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }
  void reset(Handle handle = nullptr) {
    const Handle old = std::exchange(handle_, handle);
    if (old != nullptr) End{}(old);
  }

 private:
  Handle handle_ = nullptr;
};

struct delete_array {
  template <class T>
  void operator()(T* array) const {
    delete[] array;
  }
};
template <class T>
using heap_array = owned<T*, delete_array>;

}  // namespace sinter::detail
