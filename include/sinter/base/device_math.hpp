// Functions of float for the device for which CUDA has none, or a dearer one; tests/cuda/test_device_math.cu repeats
// what is said of their errors. Which functions the host runs is math.hpp's matter. SPDX-License-Identifier: BSL-1.0
#pragma once

#ifdef __CUDACC__

#include <cstddef>
#include <type_traits>

#include "sinter/base/host_math.hpp"

namespace sinter::math::device {

/// Within an ulp, of neither 0 nor a subnormal, for which it is infinite.
__device__ __forceinline__ float reciprocal(float x) {
  float y = 0;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// ---- sine, cosine, tangent -----------------------------------------------------------------------------------------

// A few instructions for everyday arguments, and a call for those whose reduction by pi needs many words. CUDA's own
// functions put that long reduction at every place of use, so that a kernel with fifty sines took half a minute to
// compile. Within 1.6 ulp, the tangent 3.3.

/// Below this, quadrant times the three floats of pi/2 loses nothing that counts.
inline constexpr float reducible = 48000.0f;

// Out of line: larger arguments, infinities and NaN.
__device__ __noinline__ inline float far_sin(float x) { return ::sinf(x); }
__device__ __noinline__ inline float far_cos(float x) { return ::cosf(x); }
__device__ __noinline__ inline float far_tan(float x) { return ::tanf(x); }

/// x = quadrant * pi/2 + rest with |rest| <= pi/4.
struct reduced {
  int quadrant;
  float rest;
};
__device__ inline reduced reduce(float x) {
  constexpr float shift = 0x1.8p23f;  // a sum with it is rounded to an integer, which the last bits then hold
  const float shifted = ::__fmaf_rn(x, 0x1.45f306p-1f, shift);
  const float k = shifted - shift;  // -k is -0 for small x: a zero keeps its sign
  float rest = ::__fmaf_rn(-k, 0x1.921fb4p+0f, x);
  rest = ::__fmaf_rn(-k, 0x1.4442dp-24f, rest);
  rest = ::__fmaf_rn(-k, 0x1.846988p-48f, rest);
  return {::__float_as_int(shifted), rest};
}

/// The sine of rest, or its cosine.
__device__ inline float sine_or_cosine(float rest, bool cosine) {
  const float z = rest * rest, lead = cosine ? 1.0f : rest;
  float p = cosine ? 0x1.99ea04p-16f : 0.0f;
  p = ::__fmaf_rn(p, z, cosine ? -0x1.6c0c2ep-10f : -0x1.994cfap-13f);
  p = ::__fmaf_rn(p, z, cosine ? 0x1.55554ap-5f : 0x1.11075cp-7f);
  p = ::__fmaf_rn(p, z, cosine ? -0.5f : -0x1.555546p-3f);
  // The sum with 0 turns -0 into +0, which the product with p and the sum with lead then make lead's zero again.
  return ::__fmaf_rn(::__fmaf_rn(lead, z, 0.0f), p, lead);
}

__device__ inline float near_sin(float x, int quadrants_ahead) {
  const reduced r = reduce(x);
  const int quadrant = r.quadrant + quadrants_ahead;
  const float s = sine_or_cosine(r.rest, quadrant & 1);
  return quadrant & 2 ? -s : s;
}

__device__ inline float sin(float x) { return ::fabsf(x) < reducible ? near_sin(x, 0) : far_sin(x); }
__device__ inline float cos(float x) { return ::fabsf(x) < reducible ? near_sin(x, 1) : far_cos(x); }
__device__ inline float tan(float x) {
  if (!(::fabsf(x) < reducible)) return far_tan(x);
  const reduced r = reduce(x);
  const float sine = sine_or_cosine(r.rest, false), cosine = sine_or_cosine(r.rest, true);
  const float n = r.quadrant & 1 ? -cosine : sine, d = r.quadrant & 1 ? sine : cosine;
  const float r_d = reciprocal(d), q = n * r_d;  // no float is so close to a multiple of pi/2 that d is subnormal
  return ::fabsf(x) < 0x1p-40f ? x : ::__fmaf_rn(::__fmaf_rn(-q, d, n), r_d, q);
}

// ---- division with a remainder -------------------------------------------------------------------------------------

/// How often |y| goes into |x|, and what that leaves, exact; `known`: that may be relied on, of quotients below 2^20.
struct division {
  float times, rest;
  bool known;
};
__device__ __forceinline__ division divide(float x, float y) {
  constexpr float shift = 0x1.8p23f;
  const float a = ::fabsf(x), b = ::fabsf(y);
  const float rounded = ::__fmaf_rn(a, reciprocal(b), shift) - shift;
  // The nearest multiple, or the one next to it if both are almost as near: less than b from a, in steps of the last
  // place of b, so that the difference is a float. Where a is less than b, its own may be finer.
  const float nearest = a < b ? 0.0f : rounded, rest = ::__fmaf_rn(-nearest, b, a);
  const bool beyond = rest < 0.0f;
  return {beyond ? nearest - 1.0f : nearest, beyond ? rest + b : rest, rounded < 0x1p20f && b < 0x1p126f};
}

__device__ __noinline__ inline float far_fmod(float x, float y) { return ::fmodf(x, y); }
/// Sign of x.
__device__ inline float fmod(float x, float y) {
  const division d = divide(x, y);
  return d.known ? ::copysignf(d.rest, x) : far_fmod(x, y);
}
/// Of what `divide` knows: towards minus infinity; a zero has the quotient's sign.
__device__ inline float floor_of(const division& d, float x, float y) {
  const int sign = ::__float_as_int(x) ^ ::__float_as_int(y);
  return ::copysignf(d.rest != 0.0f && sign < 0 ? d.times + 1.0f : d.times, ::__int_as_float(sign));
}

// ---- GELU ----------------------------------------------------------------------------------------------------------

/// c[0] + c[1] x + ... in as few instructions as there are powers.
template <const auto& C, std::size_t I = 0>
__device__ __forceinline__ float horner(float x) {
  constexpr float c = C[I];
  if constexpr (I + 1 == std::extent_v<std::remove_reference_t<decltype(C)>>) return c;
  else return ::__fmaf_rn(horner<C, I + 1>(x), x, c);
}

/// As on the host (host_math.hpp), to 1.5e-7 |x|: 17 instructions. With CUDA's erf it takes 25, of which nine select
/// between two branches.
__device__ inline float gelu(float x) {
  const float half = 0.5f * x, a = ::fminf(::fabsf(x), straight::gelu_end);
  float e = a * horner<straight::gelu_root>(a);
#pragma unroll
  for (int i = 0; i < 3; ++i) e *= 2.0f - e;
  return ::__fmaf_rn(::fabsf(half), e, half);
}

}  // namespace sinter::math::device

#endif
