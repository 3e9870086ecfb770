// error: Registers are spilled to local memory in function
// A thread of 1024 has 64 registers; this kernel holds 128 values across a barrier.
// SPDX-License-Identifier: BSL-1.0
__global__ void __launch_bounds__(1024) holds_too_much(const float* in, float* out) {
  float values[128], sum = 0;
#pragma unroll
  for (int i = 0; i < 128; ++i) values[i] = in[i * 1024 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 128; ++i) sum += values[i] * values[127 - i];
#pragma unroll
  for (int i = 0; i < 128; ++i) out[i * 1024 + threadIdx.x] = values[i] * sum;
}
