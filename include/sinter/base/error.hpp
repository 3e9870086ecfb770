// What all exceptions of this library are: a sentence. They are not those of <stdexcept>, which is made of std::string;
// see string_view.hpp. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <exception>

#include "sinter/base/atomic_number.hpp"
#include "sinter/base/string.hpp"

namespace sinter {

/// Copies share the sentence, so copying throws nothing.
class error : public std::exception {
 public:
  explicit error(string sentence) : shared_(new shared{std::move(sentence)}) {}
  error(const error& other) noexcept : std::exception(other), shared_(other.shared_) { shared_->owners.fetch_add(1); }
  error& operator=(const error&) = delete;
  ~error() override {
    if (shared_->owners.fetch_add(-1) == 1) delete shared_;
  }
  const char* what() const noexcept override { return shared_->sentence.c_str(); }

 private:
  struct shared {
    string sentence;
    detail::atomic_number<int> owners = 1;
  };
  shared* shared_;
};

}  // namespace sinter
