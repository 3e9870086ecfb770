// require_fused: a fusion the user counts on. Where it was refused, the build ends with the refusal's sentence.
// Of what is no constant expression compilers print the calls that led there, with their arguments or with their source
// lines; so the two labels are arguments, and the sentence is a literal in one of these calls.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/base/refusal.hpp"

namespace sinter {

namespace detail {

void these_must_be_one_kernel(const char* first, const char* second, const char* but);  // not constexpr: the error

struct refuse_build {
  const char *first, *second;
  constexpr bool operator()(const char* sentence) const {
    if (sentence != nullptr) these_must_be_one_kernel(first, second, sentence);
    return false;
  }
};

}  // namespace detail

/// What require_fused returns if it returns: true.
struct fused_as_required {
  constexpr explicit operator bool() const { return true; }
};

/// Ends the build unless two user-level calls ("mm_0", "gelu_0": labels as in explain) are in one kernel, with why they
/// are not and the option that would allow it: `static_assert(require_fused(f, "mm_0", "gelu_0"));`, or a statement.
template <class Fused>
consteval fused_as_required require_fused(Fused, const char* first, const char* second) {
  if constexpr (requires { typename Fused::program; }) {  // if not, the compiler has said why there is no plan
    const refusal reason = Fused::why_not_fused(first, second);
    if (reason != refusal::none) in_words(reason, detail::refuse_build{first, second});
  }
  return {};
}

}  // namespace sinter
