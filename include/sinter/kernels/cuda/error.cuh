// The exception of a failed CUDA call: which call, for which kernel, and CUDA's own words.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/base/error.hpp"
#include "sinter/base/text.hpp"

namespace sinter {

class cuda_error : public error {
 public:
  cuda_error(const char* call, const char* kernel, cudaError_t code)
      : error(detail::text_of(
            {call, " for kernel ", kernel, ": ", cudaGetErrorString(code), " (", cudaGetErrorName(code), ")"})),
        code_(code) {}
  cuda_error(const char* call, const char* kernel, const string& text)
      : error(detail::text_of({call, " for kernel ", kernel, ": ", text})), code_(cudaErrorUnknown) {}
  cudaError_t code() const noexcept { return code_; }

 private:
  cudaError_t code_;
};

namespace cuda::detail {

inline void check(cudaError_t code, const char* call, const char* kernel) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();  // it is reported now; the next call must not report it again
  throw cuda_error(call, kernel, code);
}

}  // namespace cuda::detail

}  // namespace sinter
